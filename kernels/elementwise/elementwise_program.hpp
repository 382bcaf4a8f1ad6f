// The element-wise kernel for any program on rows of vectors: a lane makes an aligned vector of the output,
// one row's elements. What has fewer tensors has kernels that load them all beforehand
// (elementwise_kernel.hpp); what lies in no vectors goes by strips (program_strips.hpp).
#pragma once

#include "kernels/block_index.hpp"
#include "kernels/elementwise/program_steps.hpp"

namespace relayout::RELAYOUT_BACKEND {

__device__ __forceinline__ std::int64_t row_offset(const ElementwiseParams& p, const std::int64_t* strides,
                                                   std::int64_t row) {
  std::int64_t offset = 0;
  const auto add_axis = [&](int axis, std::int64_t index) { offset += index * strides[axis]; };
  if (p.fits_32_bits) {
    split_row(
        p, static_cast<std::uint32_t>(row), [&](int axis) { return p.axes[axis].extent; }, add_axis);
  } else {
    split_row(
        p, static_cast<std::uint64_t>(row),
        [&](int axis) { return static_cast<std::uint64_t>(p.extents[axis]); }, add_axis);
  }
  return offset;
}

/// A vector of the output: its row, and what of it is in the row.
struct VectorCoord {
  std::int64_t row;
  Span span;

  template <int kWidth>
  __device__ __forceinline__ Words load(const ElementwiseParams& p, int number) const {
    const TensorOperand& tensor = p.tensor[number];
    const unsigned char* const begin =
        static_cast<const unsigned char*>(tensor.data) + row_offset(p, tensor.strides, row) * tensor.bytes;
    VectorLoad<false, kWidth> vector = {};
    vector.start(tensor.access, tensor.bytes, tensor.strides[p.rank - 1], begin, span);
    return vector.words();
  }
};

template <class C, int kWidth, Steps kSteps>
__global__ RELAYOUT_LAUNCH_BOUNDS(kElementwiseThreads, 2) void program_kernel(const ElementwiseParams p) {
  const std::int64_t vector = static_cast<std::int64_t>(block_index()) * kElementwiseThreads + threadIdx.x;
  if (vector >= p.vectors) return;
  VectorCoord place;
  std::int64_t column;
  if (p.fits_32_bits) {
    std::uint32_t rest = static_cast<std::uint32_t>(vector);
    place.row = split(rest, p.row_divisor);
    column = rest;
  } else {
    std::uint64_t rest = static_cast<std::uint64_t>(vector);
    place.row = static_cast<std::int64_t>(split(rest, static_cast<std::uint64_t>(p.row_vectors)));
    column = static_cast<std::int64_t>(rest);
  }
  unsigned char* const out =
      static_cast<unsigned char*>(p.out) + row_offset(p, p.out_strides, place.row) * p.out_bytes;
  place.span = span_of<kWidth>(p, out, column);
  if (place.span.begin >= place.span.end) return;
  const std::int64_t stride = p.out_strides[p.rank - 1];
  store_vector<kWidth>(out + place.span.first * stride * p.out_bytes, stride, p.out_bytes, place.span.begin,
                       place.span.end, (run_program<C, kWidth, kSteps>(p, place)), p.streaming);
}

template <Steps kSteps>
void launch_program_of(const LaunchContext& context, const ElementwiseParams& p) {
  const NumberedBlocks shape = one_thread_each(p.vectors, kElementwiseThreads);
  visit_program_numbers(p, [&](auto number, auto width) {
    launch(program_name(p), context, shape, program_kernel<decltype(number), decltype(width)::value, kSteps>,
           p);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
