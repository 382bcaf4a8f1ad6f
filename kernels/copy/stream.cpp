// stream: out[i] = in[i] where both sides lie in memory in one piece that begins on a 16-byte boundary. A
// lane moves whole 16 bytes; the last lane moves the rest element by element. Each element crosses global
// memory once on either side. Casts are in stream_cast.cpp.
#include "core/integer_math.hpp"
#include "kernels/backend_kernels.hpp"
#include "kernels/copy/operand_pointers.hpp"
#include "kernels/element_ops.hpp"
#include "kernels/vector.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kSteps = kStreamBytesPerThread / 16;

template <class T>
constexpr std::int64_t kElementsPerBlock = std::int64_t{kStreamThreads} * kSteps* vector_count<T>;

template <class T>
__global__ __launch_bounds__(kStreamThreads) void stream_kernel(StreamParams p) {
  constexpr int kCount = vector_count<T>;
  const T* in = static_cast<const T*>(input_of(p));
  T* out = static_cast<T*>(output_of(p));
  const std::int64_t first =
      blockIdx.x * kElementsPerBlock<T> + static_cast<std::int64_t>(threadIdx.x) * kCount;
  Vector<T> packs[kSteps];  // all on their way before the first is stored
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    const std::int64_t element = first + std::int64_t{step} * kStreamThreads * kCount;
    if (element + kCount <= p.elements) load_global_16_bytes(&packs[step], in + element);
  }
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    const std::int64_t element = first + std::int64_t{step} * kStreamThreads * kCount;
    if (element + kCount > p.elements) {
      for (std::int64_t e = element; e < p.elements; ++e) out[e] = in[e];
      return;
    }
    store_vector(out + element, packs[step], p.streaming);
  }
}

}  // namespace

void launch_stream(const LaunchContext& context, const StreamParams& p) {
  if (p.in_type != p.out_type) return launch_stream_cast(context, p);
  visit_element_sizes(p.in_type, [&](auto type) {
    using T = typename decltype(type)::type;
    LaunchShape shape;
    shape.blocks_x = divide_up(p.elements, kElementsPerBlock<T>);
    shape.threads_x = kStreamThreads;
    launch("copy", context, shape, stream_kernel<T>, p);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
