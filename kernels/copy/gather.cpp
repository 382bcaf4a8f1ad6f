// gather: out[i] = cast(in[i]) for any loop nest. Lanes run along the output, so its writes are coalesced
// wherever its innermost axis has unit stride; the input is read element by element. The planner makes
// elements of up to 16 bytes of what lies together on both sides. It takes every copy, also those between
// shapes that no loop nest has in common, and begins sooner than the others.
#include <type_traits>

#include "core/integer_math.hpp"
#include "kernels/backend_kernels.hpp"
#include "kernels/block_index.hpp"
#include "kernels/copy/generic_cast.hpp"
#include "kernels/copy/operand_pointers.hpp"
#include "kernels/copy/scale.hpp"
#include "kernels/divide.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

/// An element of 16 bytes, which one access moves.
struct alignas(16) WidePair {
  std::uint64_t first, second;
};

template <class From>
constexpr int kElementsPerThread = gather_elements_per_thread(sizeof(From));
/// Elements of a lane that are on their way together, and are converted together. Those of 8 bytes take many
/// instructions, which hide the loads of other warps.
template <class From, class To>
constexpr int kTogether = is_untyped<From> && (sizeof(From) > 4 || sizeof(To) > 4) ? 2
                                                                                   : kElementsPerThread<From>;

/// Adds the offsets of the elements of these numbers in C order, modulo 2^32 or 2^64: numbers behind the last
/// element have some, too. All take an axis together, so that its numbers are loaded once.
template <int kCount, class Index, class Extent, class Offset>
__device__ __forceinline__ void add_offsets(Index (&numbers)[kCount], int rank,
                                            const GatherAxis<Extent, Offset>* axes,
                                            std::make_unsigned_t<Offset> (&in)[kCount],
                                            std::make_unsigned_t<Offset> (&out)[kCount]) {
  using Sum = std::make_unsigned_t<Offset>;
#pragma unroll 1
  for (int axis = rank - 1; axis > 0; --axis) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const Index outer = split(numbers[i], axes[axis].extent);
      in[i] += numbers[i] * static_cast<Sum>(axes[axis].in);
      out[i] += numbers[i] * static_cast<Sum>(axes[axis].out);
      numbers[i] = outer;
    }
  }
  if (rank == 0) return;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    in[i] += numbers[i] * static_cast<Sum>(axes[0].in);
    out[i] += numbers[i] * static_cast<Sum>(axes[0].out);
  }
}

template <class From, class To, bool kScaled, class Extent, class Offset>
__global__ __launch_bounds__(kMaxGatherThreads) void gather_kernel(const GatherParams<Extent, Offset> p) {
  using Index = std::conditional_t<std::is_same_v<Extent, Divisor>, std::uint32_t, std::uint64_t>;
  constexpr int kCount = kTogether<From, To>;
  const auto* const from = static_cast<const From*>(input_of(p));
  auto* const to = static_cast<To*>(output_of(p));
  const int threads = static_cast<int>(blockDim.x);
  std::int64_t first =
      static_cast<std::int64_t>(block_index()) * (kElementsPerThread<From> * threads) + threadIdx.x;
#pragma unroll 1
  for (int round = 0; round < kElementsPerThread<From> / kCount; ++round, first += kCount * threads) {
    const std::int64_t left = p.elements - first;
    if (left <= 0) return;
    Index numbers[kCount];
    std::make_unsigned_t<Offset> in[kCount] = {}, out[kCount] = {};
#pragma unroll
    for (int i = 0; i < kCount; ++i) numbers[i] = static_cast<Index>(first + i * threads);
    if (p.in_rank > 0) {
      Index same[kCount];
      std::make_unsigned_t<Offset> nowhere[kCount] = {};
#pragma unroll
      for (int i = 0; i < kCount; ++i) same[i] = numbers[i];
      add_offsets(same, p.in_rank, p.in_axes, in, nowhere);
    }
    add_offsets(numbers, p.rank, p.axes, in, out);
    From values[kCount] = {};
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (i * threads < left) values[i] = from[static_cast<Offset>(in[i])];
    }
    if constexpr (is_untyped<From>) {
      Vector<typename From::Bits, kCount> piece;
#pragma unroll
      for (int i = 0; i < kCount; ++i) piece.values[i] = values[i].bits;
      const auto converted = convert_vector<typename From::Bits, To, kCount>(p, piece);
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        if (i * threads < left) to[static_cast<Offset>(out[i])] = converted.values[i];
      }
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        if (i * threads >= left) return;
        To* const address = to + static_cast<Offset>(out[i]);
        const From value = values[i];
        if constexpr (kScaled) {
          *address = scale_into<To>(p, value, address);
        } else {
          *address = value;
        }
      }
    }
  }
}

template <class From, class To, bool kScaled, class Extent, class Offset>
void launch_gather_of(const LaunchContext& context, const GatherParams<Extent, Offset>& p) {
  const std::int64_t elements = std::int64_t{p.threads} * kElementsPerThread<From>;
  const NumberedBlocks shape = numbered_blocks(divide_up(p.elements, elements), p.threads);
  launch("gather", context, shape, gather_kernel<From, To, kScaled, Extent, Offset>, p);
}

template <class Params>
void launch_any(const LaunchContext& context, const Params& p) {
  if (p.scaled) {
    visit_floats(p.in_type, [&](auto from) {
      visit_floats(p.out_type, [&](auto to) {
        launch_gather_of<typename decltype(from)::type, typename decltype(to)::type, true>(context, p);
      });
    });
    return;
  }
  if (p.in_type != p.out_type) {
    visit_both_sizes(p.in_type, p.out_type, [&](auto from, auto to) {
      launch_gather_of<Untyped<typename decltype(from)::type>, typename decltype(to)::type, false>(context,
                                                                                                   p);
    });
    return;
  }
  if (p.in_type == DType::b128) return launch_gather_of<WidePair, WidePair, false>(context, p);
  visit_element_sizes(p.in_type, [&](auto type) {
    using T = typename decltype(type)::type;
    launch_gather_of<T, T, false>(context, p);
  });
}

}  // namespace

void launch_gather(const LaunchContext& context, const NearGatherParams& p) { launch_any(context, p); }
void launch_gather(const LaunchContext& context, const FarGatherParams& p) { launch_any(context, p); }
void launch_gather(const LaunchContext& context, const HugeGatherParams& p) { launch_any(context, p); }

}  // namespace relayout::RELAYOUT_BACKEND
