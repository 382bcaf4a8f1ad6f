// gather: out[i] = cast(in[i]) for any loop nest. Lanes run along the output, so its writes are coalesced
// wherever its innermost axis has unit stride; the input is read element by element. It takes the copies that
// no other kernel takes, also those between shapes that no loop nest has in common.
#include "core/integer_math.hpp"
#include "kernels/backend_kernels.hpp"
#include "kernels/copy/generic_cast.hpp"
#include "kernels/copy/operand_pointers.hpp"
#include "kernels/copy/scale.hpp"
#include "kernels/divide.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kThreads = kGatherThreads;
constexpr int kElementsPerThread = kGatherElementsPerThread;
constexpr std::int64_t kElementsPerBlock = kThreads * kElementsPerThread;

/// The extents that a flat index is split by: Divisors below 2^31 elements, else plain numbers.
template <class Extent>
struct Extents {
  Extent nest[kMaxRank], in[kMaxRank];
};

static_assert(sizeof(CopyParams) + sizeof(Extents<Divisor>) < 4000, "room for a kernel's parameters");

void make_extent(std::int64_t extent, Divisor& result) {
  result = make_divisor(static_cast<std::uint32_t>(extent));
}
void make_extent(std::int64_t extent, std::uint64_t& result) { result = static_cast<std::uint64_t>(extent); }

template <class Extent>
Extents<Extent> extents_of(const CopyParams& p) {
  Extents<Extent> extents{};
  for (int axis = 0; axis < p.rank; ++axis) make_extent(p.extents[axis], extents.nest[axis]);
  for (int axis = 0; axis < p.in_rank; ++axis) make_extent(p.in_extents[axis], extents.in[axis]);
  return extents;
}

/// Elements of a lane that are on their way together, and are converted together. Those of 8 bytes take many
/// instructions, which hide the loads of other warps.
template <class From, class To>
constexpr int kTogether = is_untyped<From> && (sizeof(From) > 4 || sizeof(To) > 4) ? 2 : kElementsPerThread;

/// Adds the offsets of the elements of these numbers in C order. All take an axis together, so that its
/// extent and its stride are loaded once.
template <int kCount, class Index, class Extent>
__device__ __forceinline__ void add_offsets(Index (&numbers)[kCount], int rank, const Extent* extents,
                                            const std::int64_t* strides, std::int64_t (&offsets)[kCount]) {
#pragma unroll 1
  for (int axis = rank - 1; axis >= 0; --axis) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const Index outer = split(numbers[i], extents[axis]);
      offsets[i] += static_cast<std::int64_t>(numbers[i]) * strides[axis];
      numbers[i] = outer;
    }
  }
}

/// The same for both operands, which share the extents.
template <int kCount, class Index, class Extent>
__device__ __forceinline__ void add_both_offsets(const CopyParams& p, Index (&numbers)[kCount],
                                                 const Extent* extents, std::int64_t (&in)[kCount],
                                                 std::int64_t (&out)[kCount]) {
#pragma unroll 1
  for (int axis = p.rank - 1; axis >= 0; --axis) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const Index outer = split(numbers[i], extents[axis]);
      const std::int64_t index = static_cast<std::int64_t>(numbers[i]);
      in[i] += index * p.in_strides[axis];
      out[i] += index * p.out_strides[axis];
      numbers[i] = outer;
    }
  }
}

/// Index: a type that holds the flat index. Extent: the type of the numbers that split it.
template <class From, class To, bool kScaled, class Index, class Extent>
__global__ __launch_bounds__(kThreads) void gather_kernel(CopyParams p, Extents<Extent> extents) {
  constexpr int kCount = kTogether<From, To>;
  std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kElementsPerBlock + threadIdx.x;
#pragma unroll 1
  for (int round = 0; round < kElementsPerThread / kCount; ++round, first += kCount * kThreads) {
    const std::int64_t left = p.elements - first;
    if (left <= 0) return;
    Index numbers[kCount];
    std::int64_t in[kCount] = {}, out[kCount] = {};
#pragma unroll
    for (int i = 0; i < kCount; ++i) numbers[i] = static_cast<Index>(first + i * kThreads);
    if (p.in_rank > 0) {
      Index same[kCount];
#pragma unroll
      for (int i = 0; i < kCount; ++i) same[i] = numbers[i];
      add_offsets(same, p.in_rank, extents.in, p.in_strides, in);
      add_offsets(numbers, p.rank, extents.nest, p.out_strides, out);
    } else {
      add_both_offsets(p, numbers, extents.nest, in, out);
    }
    From values[kCount] = {};
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (i * kThreads < left) values[i] = static_cast<const From*>(input_of(p))[in[i]];
    }
    To* const to = static_cast<To*>(output_of(p));
    if constexpr (is_untyped<From>) {
      Vector<typename From::Bits, kCount> piece;
#pragma unroll
      for (int i = 0; i < kCount; ++i) piece.values[i] = values[i].bits;
      const auto converted = convert_vector<typename From::Bits, To, kCount>(p, piece);
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        if (i * kThreads < left) to[out[i]] = converted.values[i];
      }
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        if (i * kThreads >= left) return;
        To* address = to + out[i];
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

template <class From, class To, bool kScaled>
void launch_gather_of(const LaunchContext& context, const CopyParams& p) {
  LaunchShape shape;
  shape.blocks_x = divide_up(p.elements, kElementsPerBlock);
  shape.threads_x = kThreads;
  if (p.elements <= 0x7fffffff) {
    launch("gather", context, shape, gather_kernel<From, To, kScaled, std::uint32_t, Divisor>, p,
           extents_of<Divisor>(p));
  } else {
    launch("gather", context, shape, gather_kernel<From, To, kScaled, std::uint64_t, std::uint64_t>, p,
           extents_of<std::uint64_t>(p));
  }
}

}  // namespace

void launch_gather(const LaunchContext& context, const CopyParams& p) {
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
  visit_element_sizes(p.in_type, [&](auto type) {
    using T = typename decltype(type)::type;
    launch_gather_of<T, T, false>(context, p);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
