// stream with any conversion between element types, one instance for each pair of element sizes: a lane moves
// 16 bytes of the larger type and as many elements of the other at once, the last lane what is left element
// by element. Each element crosses global memory once on either side.
#include "kernels/backend_kernels.hpp"
#include "kernels/by_format.hpp"
#include "kernels/operand_pointers.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

template <class T, class To>
struct StreamShape {
  static constexpr int kCount = piece_count<T, To>, kSteps = kStreamBytesPerThread / 16;
  static constexpr std::int64_t kElementsPerBlock = std::int64_t{kStreamThreads} * kSteps * kCount;
};

template <class T, class To>
__global__ __launch_bounds__(kStreamThreads) void stream_kernel(const StreamParams p) {
  using Shape = StreamShape<T, To>;
  using In = Piece<T, Shape::kCount>;
  using Out = Piece<To, Shape::kCount>;
  constexpr int kCount = Shape::kCount;
  const T* in = static_cast<const T*>(input_of(p));
  To* out = static_cast<To*>(output_of(p));
  const std::int64_t first =
      blockIdx.x * Shape::kElementsPerBlock + static_cast<std::int64_t>(threadIdx.x) * kCount;
  In pieces[Shape::kSteps];  // all on their way before the first is stored
#pragma unroll
  for (int step = 0; step < Shape::kSteps; ++step) {
    const std::int64_t element = first + std::int64_t{step} * kStreamThreads * kCount;
    if (element + kCount > p.elements) continue;
    if constexpr (sizeof(In) == 16) {
      load_global_16_bytes(&pieces[step], in + element);
    } else {
      pieces[step] = *reinterpret_cast<const In*>(in + element);
    }
  }
  // Round, since a conversion is long: the pieces move up.
#pragma unroll 1
  for (int step = 0; step < Shape::kSteps; ++step) {
    const std::int64_t element = first + std::int64_t{step} * kStreamThreads * kCount;
    if (element + kCount > p.elements) {
#pragma unroll 1
      for (std::int64_t e = element; e < p.elements; ++e)
        out[e] = convert_by_format<To>(p, Untyped<T>{in[e]});
      return;
    }
    const Out converted = convert_piece<T, To>(p, pieces[0]);
#pragma unroll
    for (int i = 0; i + 1 < Shape::kSteps; ++i) pieces[i] = pieces[i + 1];
    if constexpr (sizeof(Out) == 16) {
      store_global_16_bytes(out + element, &converted, p.streaming);
    } else {
      *reinterpret_cast<Out*>(out + element) = converted;
    }
  }
}

}  // namespace

void launch_stream_by_format(const LaunchContext& context, const StreamParams& p) {
  visit_both_sizes(p.in_type, p.out_type, [&](auto from, auto to) {
    using T = typename decltype(from)::type;
    using To = typename decltype(to)::type;
    constexpr std::int64_t kPerBlock = StreamShape<T, To>::kElementsPerBlock;
    LaunchShape shape;
    shape.blocks_x = (p.elements + kPerBlock - 1) / kPerBlock;
    shape.threads_x = kStreamThreads;
    launch("copy", context, shape, stream_kernel<T, To>, p);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
