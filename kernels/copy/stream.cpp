// stream: out[i] = cast(in[i]) where both sides lie in memory in one piece that begins on a 16-byte boundary.
// A lane moves whole 16 bytes on both sides; the last lane moves the rest element by element. Each element
// crosses global memory once on either side.
#include "core/integer_math.hpp"
#include "kernels/backend_kernels.hpp"
#include "kernels/copy/operand_pointers.hpp"
#include "kernels/element_ops.hpp"
#include "kernels/vector.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

template <class From, class To>
struct StreamShape {
  /// How many elements a lane moves at once: 16 bytes of the shorter type.
  static constexpr int kCount = 16 / static_cast<int>(sizeof(From) < sizeof(To) ? sizeof(From) : sizeof(To));
  static constexpr int kLoads = kCount * static_cast<int>(sizeof(From)) / 16;
  static constexpr int kStores = kCount * static_cast<int>(sizeof(To)) / 16;
  static constexpr int kSteps = kStreamBytesPerThread / (16 * (kLoads > kStores ? kLoads : kStores));
  static constexpr std::int64_t kElementsPerBlock = std::int64_t{kStreamThreads} * kSteps * kCount;
};

template <class From, class To>
__global__ __launch_bounds__(kStreamThreads) void stream_kernel(StreamParams p) {
  using Shape = StreamShape<From, To>;
  constexpr int kCount = Shape::kCount, kLoads = Shape::kLoads, kStores = Shape::kStores;
  constexpr int kRead = Vector<From>::kCount, kWritten = Vector<To>::kCount;
  const From* in = static_cast<const From*>(input_of(p));
  To* out = static_cast<To*>(output_of(p));
  const std::int64_t first =
      blockIdx.x * Shape::kElementsPerBlock + static_cast<std::int64_t>(threadIdx.x) * kCount;
  Vector<From> packs[Shape::kSteps * kLoads];  // all on their way before the first is stored
#pragma unroll
  for (int step = 0; step < Shape::kSteps; ++step) {
    const std::int64_t element = first + std::int64_t{step} * kStreamThreads * kCount;
    if (element + kCount > p.elements) continue;
#pragma unroll
    for (int i = 0; i < kLoads; ++i)
      load_global_16_bytes(&packs[step * kLoads + i], in + element + i * kRead);
  }
#pragma unroll
  for (int step = 0; step < Shape::kSteps; ++step) {
    const std::int64_t element = first + std::int64_t{step} * kStreamThreads * kCount;
    if (element + kCount > p.elements) {
      for (std::int64_t e = element; e < p.elements; ++e) out[e] = convert<To>(in[e]);
      return;
    }
#pragma unroll
    for (int i = 0; i < kStores; ++i) {
      Vector<To> converted;
#pragma unroll
      for (int k = 0; k < kWritten; ++k) {
        const int from = i * kWritten + k;
        converted.values[k] = convert<To>(packs[step * kLoads + from / kRead].values[from % kRead]);
      }
      store_vector(out + element + i * kWritten, converted, p.streaming);
    }
  }
}

}  // namespace

void launch_stream(const LaunchContext& context, const StreamParams& p) {
  if (p.generic_cast) return launch_stream_generic_cast(context, p);
  visit_element_types(p.in_type, p.out_type, [&](auto from, auto to) {
    using From = typename decltype(from)::type;
    using To = typename decltype(to)::type;
    constexpr std::int64_t kPerBlock = StreamShape<From, To>::kElementsPerBlock;
    LaunchShape shape;
    shape.blocks_x = divide_up(p.elements, kPerBlock);
    shape.threads_x = kStreamThreads;
    launch("copy", context, shape, stream_kernel<From, To>, p);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
