#include "host/cpu/elementwise/packed_boxes.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/bytes.hpp"
#include "core/integer_math.hpp"
#include "host/cpu/elementwise/elementwise_packing.hpp"
#include "host/cpu/native_table.hpp"
#include "host/cpu/parallel.hpp"
#include "host/cpu/streaming.hpp"
#include "host/cpu/strided_loop.hpp"

namespace relayout::native {
namespace {

/// Elements of the output's runs; and where two operands lie across each other and the output, beside runs of
/// a line of the second one.
constexpr std::int64_t kRun = 256, kShortRun = 64;
/// Elements from which on a box is worth a call of its own.
constexpr std::int64_t kLeastBox = 2048;

CopyParams nest_of(const ElementwiseParams& p, const std::int64_t* in_strides,
                   const std::int64_t* out_strides) {
  CopyParams copy;
  copy.rank = p.rank;
  std::copy_n(p.extents, p.rank, copy.extents);
  std::copy_n(in_strides, p.rank, copy.in_strides);
  std::copy_n(out_strides, p.rank, copy.out_strides);
  return copy;
}

/// Strides of elements that lie one behind the other in the order of the nest, but for axes along which they
/// are repeated. How many there are.
std::int64_t pack_strides(const ElementwiseParams& box, std::int64_t* strides) {
  std::int64_t elements = 1;
  for (int axis = box.rank; axis-- > 0;) {
    if (strides[axis] == 0) continue;
    strides[axis] = elements;
    elements *= box.extents[axis];
  }
  return elements;
}

/// As a copy's axes must be.
CopyParams in_order_of_output(const CopyParams& nest) {
  int order[kMaxRank];
  for (int axis = 0; axis < nest.rank; ++axis) order[axis] = axis;
  std::stable_sort(order, order + nest.rank, [&nest](int a, int b) {
    return std::abs(nest.out_strides[a]) > std::abs(nest.out_strides[b]);
  });
  CopyParams ordered = nest;
  for (int axis = 0; axis < nest.rank; ++axis) {
    ordered.extents[axis] = nest.extents[order[axis]];
    ordered.in_strides[axis] = nest.in_strides[order[axis]];
    ordered.out_strides[axis] = nest.out_strides[order[axis]];
  }
  return ordered;
}

/// How much an operand gains by a box of its own: the farther its neighbours along the output's rows lie
/// apart, the more. Repeated elements stay in the caches.
std::int64_t gain_of(const ElementwiseParams& p, const TensorOperand& tensor) {
  const MergedAxes axes(p, tensor.strides);
  return repeats(axes) ? 1 : 1 + std::abs(axes.inner_stride()) * bytes_of(tensor.type);
}

}  // namespace

PackedBoxes::PackedBoxes(const ElementwiseParams& p) : p_(p) {
  const TensorOperand* dearest = nullptr;
  output_packed_ = is_output_packed(MergedAxes(p, p.out_strides), bytes_of(p.out_type));
  std::int64_t bytes = output_packed_ ? bytes_of(p.out_type) : 1, most = 0;
  for (int i = 0; i < p.tensors; ++i) {
    packed_[i] = is_packed(MergedAxes(p, p.tensor[i].strides), bytes_of(p.tensor[i].type));
    if (!packed_[i] && !output_packed_) continue;
    const std::int64_t gain = gain_of(p, p.tensor[i]);
    if (gain > most) dearest = &p.tensor[i];
    most = std::max(most, gain);
    if (packed_[i]) bytes = std::max(bytes, bytes_of(p.tensor[i].type));
  }
  if (dearest == nullptr) return;
  const CopyParams nest = nest_of(p, dearest->strides, p.out_strides);
  if (const TensorOperand* crossing = operand_across(nest, dearest)) {
    const AlsoRead also{crossing->strides, kLineBytes / bytes};
    box_ = choose_box(nest, kShortRun, kBoxBytes / bytes, &also);
  } else {
    box_ = choose_box(nest, kRun, kBoxBytes / bytes);
  }
  any_ = box_.volume >= kLeastBox;
  part_bytes_ = divide_up(box_.volume * bytes, kLineBytes) * kLineBytes;
}

const TensorOperand* PackedBoxes::operand_across(const CopyParams& nest, const TensorOperand* dearest) const {
  const int along_out = AxisChain(nest, nest.out_strides).fastest(),
            along_in = AxisChain(nest, nest.in_strides).fastest();
  if (along_in == along_out) return nullptr;
  for (int i = 0; i < p_.tensors; ++i) {
    const TensorOperand& tensor = p_.tensor[i];
    if (!packed_[i] || &tensor == dearest || repeats(MergedAxes(p_, tensor.strides))) continue;
    const int along = AxisChain(nest, tensor.strides).fastest();
    if (along != along_out && along != along_in) return &tensor;
  }
  return nullptr;
}

void PackedBoxes::run() const {
  const auto parts =
      static_cast<std::int64_t>(std::count(packed_, packed_ + p_.tensors, true)) + (output_packed_ ? 1 : 0);
  StridedLoop boxes;
  for (int axis = 0; axis < p_.rank; ++axis) boxes.push(divide_up(p_.extents[axis], box_.sides[axis]), 0, 0);
  parallel_ranges(boxes.total(), p_.elements, [&](std::int64_t begin, std::int64_t end) {
    std::vector<char> buffers(static_cast<std::size_t>(parts * part_bytes_ + kLineBytes));
    Cursor cursor(boxes, begin);
    for (std::int64_t box = begin; box < end; ++box, cursor.next()) {
      std::int64_t first[kMaxRank];
      for (int axis = 0; axis < p_.rank; ++axis) first[axis] = cursor.index(axis) * box_.sides[axis];
      compute(first, buffers);
    }
  });
}

void PackedBoxes::compute(const std::int64_t* first, std::vector<char>& buffers) const {
  ElementwiseParams box = p_;
  std::int64_t out = 0, offsets[kMaxTensors] = {};
  box.elements = 1;
  for (int axis = 0; axis < p_.rank; ++axis) {
    box.extents[axis] = std::min(box_.sides[axis], p_.extents[axis] - first[axis]);
    box.elements *= box.extents[axis];
    out += first[axis] * p_.out_strides[axis];
    for (int i = 0; i < p_.tensors; ++i) offsets[i] += first[axis] * p_.tensor[i].strides[axis];
  }
  char* buffer = buffers.data() + bytes_to_line(buffers.data());
  box.out = static_cast<char*>(p_.out) + out * bytes_of(p_.out_type);
  for (int i = 0; i < p_.tensors; ++i) {
    TensorOperand& part = box.tensor[i];
    part.data = static_cast<const char*>(part.data) + offsets[i] * bytes_of(part.type);
    if (!packed_[i]) continue;
    pack(part, box, buffer);
    buffer += part_bytes_;
  }
  if (!output_packed_) return elementwise_pieces(box);
  const std::int64_t count = pack_strides(box, box.out_strides);
  CopyParams results = nest_of(box, box.out_strides, p_.out_strides);
  results.in = buffer;
  results.out = box.out;
  results.in_type = results.out_type = box.out_type;
  results.elements = count;
  box.out = buffer;
  elementwise_pieces(box);
  native::copy({}, in_order_of_output(results));
}

/// Into the buffer; axes along which the operand stands still stay so.
void PackedBoxes::pack(TensorOperand& part, const ElementwiseParams& box, char* buffer) {
  CopyParams copy = nest_of(box, part.strides, part.strides);
  for (int axis = 0; axis < box.rank; ++axis) {
    if (part.strides[axis] == 0) copy.extents[axis] = 1;
  }
  copy.in = part.data;
  copy.out = buffer;
  copy.in_type = copy.out_type = part.type;
  copy.elements = pack_strides(box, part.strides);
  std::copy_n(part.strides, box.rank, copy.out_strides);
  part.data = buffer;
  native::copy({}, copy);
}

}  // namespace relayout::native
