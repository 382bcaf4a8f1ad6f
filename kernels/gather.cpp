// gather: out[i] = cast(in[i]) for any loop nest. Lanes run along the output, whose writes are coalesced
// wherever its innermost axis has unit stride; the input is read wherever it lies. The kernel of last resort,
// also of copies between shapes that no nest has in common.
#include "kernels/backend_kernels.hpp"
#include "kernels/by_format.hpp"
#include "kernels/operand_pointers.hpp"
#include "kernels/scale.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kThreads = kGatherThreads;
constexpr int kElementsPerThread = kGatherElementsPerThread;
constexpr std::int64_t kElementsPerBlock = kThreads * kElementsPerThread;

/// Offset of the element of this number in C order.
template <class Index>
__device__ std::int64_t offset_of(Index number, int rank, const std::int64_t* extents,
                                  const std::int64_t* strides) {
  std::int64_t offset = 0;
  for (int axis = rank - 1; axis >= 0; --axis) {
    const Index extent = static_cast<Index>(extents[axis]), quotient = number / extent;
    offset += static_cast<std::int64_t>(number - quotient * extent) * strides[axis];
    number = quotient;
  }
  return offset;
}

/// Index: the type that the flat index fits; 32-bit divisions are several times cheaper than 64-bit ones.
template <class From, class To, class Index, bool kScaled>
__global__ __launch_bounds__(kThreads) void gather_kernel(CopyParams p) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kElementsPerBlock + threadIdx.x;
#pragma unroll
  for (int step = 0; step < kElementsPerThread; ++step) {
    const std::int64_t element = first + step * kThreads;
    if (element >= p.elements) return;
    std::int64_t in = 0, out = 0;
    if (p.in_rank > 0) {
      in = offset_of(static_cast<Index>(element), p.in_rank, p.in_extents, p.in_strides);
      out = offset_of(static_cast<Index>(element), p.rank, p.extents, p.out_strides);
    } else {
      Index rest = static_cast<Index>(element);
      for (int axis = p.rank - 1; axis >= 0; --axis) {
        const Index extent = static_cast<Index>(p.extents[axis]);
        const Index quotient = rest / extent;
        const std::int64_t index = static_cast<std::int64_t>(rest - quotient * extent);
        in += index * p.in_strides[axis];
        out += index * p.out_strides[axis];
        rest = quotient;
      }
    }
    To* address = static_cast<To*>(output_of(p)) + out;
    const From value = static_cast<const From*>(input_of(p))[in];
    if constexpr (kScaled) {
      *address = scale_into<To>(p, value, address);
    } else if constexpr (is_untyped<From>) {
      *address = convert_by_format<To>(p, value);
    } else {
      *address = convert<To>(value);
    }
  }
}

template <class From, class To, bool kScaled>
void launch_gather_of(const LaunchContext& context, const CopyParams& p) {
  LaunchShape shape;
  shape.blocks_x = (p.elements + kElementsPerBlock - 1) / kElementsPerBlock;
  shape.threads_x = kThreads;
  if (p.elements <= 0x7fffffff) {
    launch("gather", context, shape, gather_kernel<From, To, std::uint32_t, kScaled>, p);
  } else {
    launch("gather", context, shape, gather_kernel<From, To, std::uint64_t, kScaled>, p);
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
  if (p.by_format) {
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
