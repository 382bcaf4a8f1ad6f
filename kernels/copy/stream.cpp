// stream: out[i] = in[i] where both sides have rows of elements that follow each other, or are one. A block
// moves a part of one row. Neighbouring lanes move neighbouring words, as long as the alignment of both sides
// allows; the row's last lane moves the rest element by element. Each element crosses global memory once on
// either side. Casts are in stream_cast.cpp.
#include "kernels/backend_kernels.hpp"
#include "kernels/copy/operand_pointers.hpp"
#include "kernels/divide.hpp"
#include "kernels/element_ops.hpp"
#include "kernels/vector.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

/// T: the element. kAccess: bytes of a word.
template <class T, int kAccess>
__global__ __launch_bounds__(kStreamThreads) void stream_kernel(const StreamParams p) {
  constexpr int kCount = kAccess / static_cast<int>(sizeof(T)), kSteps = kStreamBytesPerThread / kAccess;
  using Word = Vector<std::conditional_t<kAccess == 8, std::uint64_t, std::uint32_t>, kAccess == 16 ? 4 : 1>;
  const auto* in = static_cast<const unsigned char*>(input_of(p));
  auto* out = static_cast<unsigned char*>(output_of(p));
  std::int64_t block = blockIdx.x;
  if (p.outer_rank > 0) {
    auto rest = static_cast<std::uint32_t>(blockIdx.x);
    std::uint32_t row = split(rest, p.row_blocks);
    block = rest;
#pragma unroll 1
    for (int axis = p.outer_rank - 1; axis >= 0; --axis) {
      std::uint32_t index = row;
      row = split(index, p.axes[axis].extent);
      in += index * p.axes[axis].in;
      out += index * p.axes[axis].out;
    }
  }
  const std::int64_t stride = std::int64_t{blockDim.x} * kCount,
                     first = block * (kSteps * stride) + std::int64_t{threadIdx.x} * kCount;
  Word words[kSteps];  // all on their way before the first is stored
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    const std::int64_t element = first + step * stride;
    const unsigned char* const from = in + element * static_cast<std::int64_t>(sizeof(T));
    if (element + kCount > p.elements) continue;
    if constexpr (kAccess == 16) {
      load_global_16_bytes(&words[step], from);
    } else {
      words[step] = *reinterpret_cast<const Word*>(from);
    }
  }
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    const std::int64_t element = first + step * stride;
    if (element + kCount > p.elements) {
      // All under way before the first is stored, which each would wait for.
      const T* const from = reinterpret_cast<const T*>(in) + element;
      T* const to = reinterpret_cast<T*>(out) + element;
      const std::int64_t left = p.elements - element;
      T rest[kCount] = {};
#pragma unroll
      for (int i = 0; i + 1 < kCount; ++i) {
        if (i < left) rest[i] = from[i];
      }
#pragma unroll
      for (int i = 0; i + 1 < kCount; ++i) {
        if (i < left) to[i] = rest[i];
      }
      return;
    }
    unsigned char* const to = out + element * static_cast<std::int64_t>(sizeof(T));
    if constexpr (kAccess == 16) {
      store_global_16_bytes(to, &words[step], p.streaming);
    } else {
      *reinterpret_cast<Word*>(to) = words[step];
    }
  }
}

template <class T, int kAccess>
void launch_stream_of(const LaunchContext& context, const StreamParams& p) {
  if constexpr (sizeof(T) <= kAccess) {
    const LaunchShape shape = launch_shape(p.blocks, p.threads);
    launch("copy", context, shape, stream_kernel<T, kAccess>, p);
  }
}

}  // namespace

void launch_stream(const LaunchContext& context, const StreamParams& p) {
  if (p.in_type != p.out_type) return launch_stream_cast(context, p);
  visit_element_sizes(p.in_type, [&](auto type) {
    using T = typename decltype(type)::type;
    switch (p.access) {
      case 4:
        return launch_stream_of<T, 4>(context, p);
      case 8:
        return launch_stream_of<T, 8>(context, p);
      default:
        return launch_stream_of<T, 16>(context, p);
    }
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
