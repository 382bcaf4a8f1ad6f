#include "host/cpu/elementwise/elementwise_transposed.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/bytes.hpp"
#include "core/integer_math.hpp"
#include "host/cpu/elementwise/elementwise_operand.hpp"
#include "host/cpu/native_table.hpp"
#include "host/cpu/parallel.hpp"
#include "host/cpu/streaming.hpp"
#include "host/cpu/strided_loop.hpp"

namespace relayout::native {
namespace {

/// Elements of the output's runs.
constexpr std::int64_t kRun = 256;
/// Elements from which on a box is worth a call of its own, and of a run across the output.
constexpr std::int64_t kLeastBox = 2048, kLeastRun = 8;

CopyParams nest_of(const ElementwiseParams& p, const std::int64_t* in_strides) {
  CopyParams copy;
  copy.rank = p.rank;
  std::copy_n(p.extents, p.rank, copy.extents);
  std::copy_n(in_strides, p.rank, copy.in_strides);
  std::copy_n(p.out_strides, p.rank, copy.out_strides);
  return copy;
}

/// How many elements follow each other in memory, along whichever axes.
std::int64_t neighbours(const MergedAxes& axes) {
  std::int64_t run = 1;
  for (int found = 0; found < axes.rank; ++found) {
    const auto* const end = axes.strides + axes.rank;
    const auto* const next =
        std::find_if(axes.strides, end, [run](std::int64_t stride) { return std::abs(stride) == run; });
    if (next == end) break;
    run *= axes.extents[next - axes.strides];
  }
  return run;
}

bool repeats(const MergedAxes& axes) { return std::count(axes.strides, axes.strides + axes.rank, 0) != 0; }

/// How much an operand gains by a box of its own: the farther its neighbours along the output's rows lie
/// apart, the more. Repeated elements stay in the caches.
std::int64_t gain_of(const ElementwiseParams& p, const TensorOperand& tensor) {
  const MergedAxes axes(p, tensor.strides);
  return repeats(axes) ? 1 : 1 + std::abs(axes.inner_stride()) * bytes_of(tensor.type);
}

}  // namespace

TransposedOperands::TransposedOperands(const ElementwiseParams& p) : p_(p) {
  const TensorOperand* dearest = nullptr;
  std::int64_t bytes = 1, most = 0;
  for (int i = 0; i < p.tensors; ++i) {
    transposed_[i] = is_transposed(p.tensor[i]);
    if (!transposed_[i]) continue;
    const std::int64_t gain = gain_of(p, p.tensor[i]);
    if (gain > most) dearest = &p.tensor[i];
    most = std::max(most, gain);
    bytes = std::max(bytes, bytes_of(p.tensor[i].type));
  }
  if (dearest == nullptr) return;
  box_ = choose_box(nest_of(p, dearest->strides), kRun, kBoxBytes / bytes);
  any_ = box_.volume >= kLeastBox;
  part_bytes_ = divide_up(box_.volume * bytes, kLineBytes) * kLineBytes;
}

/// Neighbours along the output's axis lie in lines of their own, and there is an axis of neighbours in
/// memory. Without repeated elements, which are few and stay in the caches, also rows of short steps, and
/// rows shorter than a line: taken one by one, they would cost more than their elements. Rows of one pitch
/// cost so little that they stay.
bool TransposedOperands::is_transposed(const TensorOperand& tensor) const {
  const MergedAxes axes(p_, tensor.strides);
  const std::int64_t bytes = bytes_of(tensor.type), step = std::abs(axes.inner_stride());
  const bool varies = !repeats(axes);
  if (varies && axes.rank > 2 && axes.inner_extent() * bytes < kLineBytes) return true;
  if (step * bytes < kLineBytes) return varies && axes.inner_stride() != 1;
  return neighbours(axes) >= kLeastRun;
}

void TransposedOperands::run() const {
  const auto transposed = static_cast<std::int64_t>(std::count(transposed_, transposed_ + p_.tensors, true));
  StridedLoop boxes;
  for (int axis = 0; axis < p_.rank; ++axis)
    boxes.push((p_.extents[axis] + box_.sides[axis] - 1) / box_.sides[axis], 0, 0);
  parallel_ranges(boxes.total(), p_.elements, [&](std::int64_t begin, std::int64_t end) {
    std::vector<char> buffers(static_cast<std::size_t>(transposed * part_bytes_ + kLineBytes));
    Cursor cursor(boxes, begin);
    for (std::int64_t box = begin; box < end; ++box, cursor.next()) {
      std::int64_t first[kMaxRank];
      for (int axis = 0; axis < p_.rank; ++axis) first[axis] = cursor.index(axis) * box_.sides[axis];
      compute(first, buffers);
    }
  });
}

void TransposedOperands::compute(const std::int64_t* first, std::vector<char>& buffers) const {
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
    if (!transposed_[i]) continue;
    turn(part, box, buffer);
    buffer += part_bytes_;
  }
  elementwise_pieces(box);
}

/// Into the buffer, packed in the order of the nest; axes along which the operand stands still stay so.
void TransposedOperands::turn(TensorOperand& part, const ElementwiseParams& box, char* buffer) const {
  CopyParams copy = nest_of(box, part.strides);
  copy.in = part.data;
  copy.out = buffer;
  copy.in_type = copy.out_type = part.type;
  copy.elements = 1;
  for (int axis = box.rank; axis-- > 0;) {
    if (part.strides[axis] == 0) copy.extents[axis] = 1;
    copy.out_strides[axis] = part.strides[axis] == 0 ? 0 : copy.elements;
    copy.elements *= copy.extents[axis];
  }
  copy.in_axis = box_.in_axis;
  std::copy_n(copy.out_strides, box.rank, part.strides);
  part.data = buffer;
  native::copy({}, copy);
}

}  // namespace relayout::native
