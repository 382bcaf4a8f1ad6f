#include "host/cpu/elementwise/elementwise_transposed.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/bytes.hpp"
#include "host/cpu/native_table.hpp"
#include "host/cpu/parallel.hpp"
#include "host/cpu/streaming.hpp"
#include "host/cpu/strided_loop.hpp"

namespace relayout::native {
namespace {

/// Elements of the output's runs.
constexpr std::int64_t kRun = 256;
/// Elements from which on a box is worth a call of its own, and of the operand's run.
constexpr std::int64_t kLeastBox = 2048, kLeastRun = 8;

CopyParams nest_of(const ElementwiseParams& p, const std::int64_t* in_strides) {
  CopyParams copy;
  copy.rank = p.rank;
  std::copy_n(p.extents, p.rank, copy.extents);
  std::copy_n(in_strides, p.rank, copy.in_strides);
  std::copy_n(p.out_strides, p.rank, copy.out_strides);
  return copy;
}

}  // namespace

TransposedOperands::TransposedOperands(const ElementwiseParams& p) : p_(p) {
  const TensorOperand* first = nullptr;
  std::int64_t bytes = 1;
  for (int i = 0; i < p.tensors; ++i) {
    transposed_[i] = is_transposed(p.tensor[i]);
    if (!transposed_[i]) continue;
    if (first == nullptr) first = &p.tensor[i];
    bytes = std::max(bytes, bytes_of(p.tensor[i].type));
  }
  if (first == nullptr) return;
  box_ = choose_box(nest_of(p, first->strides), kRun, kBoxBytes / bytes);
  any_ = box_.volume >= kLeastBox && box_.sides[box_.in_axis] >= kLeastRun;
}

/// Neighbours along the output's axis lie in lines of their own, and there is an axis of neighbours in
/// memory.
bool TransposedOperands::is_transposed(const TensorOperand& tensor) const {
  const int last = p_.rank - 1;
  if (std::abs(tensor.strides[last]) * bytes_of(tensor.type) < kLineBytes) return false;
  for (int axis = 0; axis < last; ++axis) {
    if (std::abs(tensor.strides[axis]) == 1 && p_.extents[axis] >= kLeastRun) return true;
  }
  return false;
}

void TransposedOperands::run() const {
  const auto transposed = static_cast<std::int64_t>(std::count(transposed_, transposed_ + p_.tensors, true));
  StridedLoop boxes;
  for (int axis = 0; axis < p_.rank; ++axis)
    boxes.push((p_.extents[axis] + box_.sides[axis] - 1) / box_.sides[axis], 0, 0);
  parallel_ranges(boxes.total(), p_.elements, [&](std::int64_t begin, std::int64_t end) {
    std::vector<char> buffers(static_cast<std::size_t>(transposed * kBoxBytes + kLineBytes));
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
    buffer += kBoxBytes;
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
