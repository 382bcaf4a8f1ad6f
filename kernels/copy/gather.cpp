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

/// Offset of the element of this number in C order.
template <class Index, class Extent>
__device__ std::int64_t offset_of(Index number, int rank, const Extent* extents,
                                  const std::int64_t* strides) {
  std::int64_t offset = 0;
  for (int axis = rank - 1; axis >= 0; --axis) {
    const Index outer = split(number, extents[axis]);
    offset += static_cast<std::int64_t>(number) * strides[axis];
    number = outer;
  }
  return offset;
}

/// Index: a type that holds the flat index. Extent: the type of the numbers that split it.
template <class From, class To, bool kScaled, class Index, class Extent>
__global__ __launch_bounds__(kThreads) void gather_kernel(CopyParams p, Extents<Extent> extents) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kElementsPerBlock + threadIdx.x;
#pragma unroll
  for (int step = 0; step < kElementsPerThread; ++step) {
    const std::int64_t element = first + step * kThreads;
    if (element >= p.elements) return;
    std::int64_t in = 0, out = 0;
    if (p.in_rank > 0) {
      in = offset_of(static_cast<Index>(element), p.in_rank, extents.in, p.in_strides);
      out = offset_of(static_cast<Index>(element), p.rank, extents.nest, p.out_strides);
    } else {
      Index rest = static_cast<Index>(element);
      for (int axis = p.rank - 1; axis >= 0; --axis) {
        const Index outer = split(rest, extents.nest[axis]);
        const std::int64_t index = static_cast<std::int64_t>(rest);
        in += index * p.in_strides[axis];
        out += index * p.out_strides[axis];
        rest = outer;
      }
    }
    To* address = static_cast<To*>(output_of(p)) + out;
    const From value = static_cast<const From*>(input_of(p))[in];
    if constexpr (kScaled) {
      *address = scale_into<To>(p, value, address);
    } else if constexpr (is_untyped<From>) {
      *address = generic_convert<To>(p, value);
    } else {
      *address = convert<To>(value);
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
  if (p.generic_cast) {
    visit_both_sizes(p.in_type, p.out_type, [&](auto from, auto to) {
      launch_gather_of<Untyped<typename decltype(from)::type>, typename decltype(to)::type, false>(context,
                                                                                                   p);
    });
    return;
  }
  visit_element_types(p.in_type, p.out_type, [&](auto from, auto to) {
    launch_gather_of<typename decltype(from)::type, typename decltype(to)::type, false>(context, p);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
