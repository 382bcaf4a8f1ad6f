// The rows kernel for casts whose vectors would be cut short or put together from parts: neighbouring lanes
// have neighbouring elements of the output, in the order of its memory, and load and store them one by one.
// So whole sectors are written from any address, in rows of any length, where the ends of runs cost vectors
// a store for each element, which few lanes take part in and which meets a sector of its own. A block first
// computes where the rows lie that it needs, on both sides, into shared memory.
//
// Global traffic: the sectors that the elements lie in, about once on both sides.
#include "core/copy_params.hpp"
#include "core/integer_math.hpp"
#include "kernels/backend_kernels.hpp"
#include "kernels/copy/cast_table.hpp"
#include "kernels/copy/operand_pointers.hpp"
#include "kernels/divide.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

/// Where a row begins, in bytes from the first element of either side.
struct RowOrigin {
  std::int64_t in, out;
};

/// Elements that a lane has of a chunk.
template <class T, class To>
constexpr int lane_count = sizeof(T) == 8 || sizeof(To) == 8 ? 4 : 8;

__device__ __forceinline__ void fill_origins(const RowsParams& p, std::uint32_t first, std::uint32_t rows,
                                             RowOrigin* table) {
  for (std::uint32_t i = threadIdx.x; i < rows; i += kRowsThreads) {
    std::uint32_t index = first + i;
    RowOrigin origin{};
#pragma unroll 1
    for (int axis = p.rank - 2; axis >= 0; --axis) {
      const std::uint32_t outer = split(index, p.axes[axis].extent);
      origin.in += index * p.axes[axis].in;
      origin.out += index * p.axes[axis].out;
      index = outer;
    }
    table[i] = origin;
  }
}

/// The lane's elements of a chunk. The first is number `element` of those from the begin of the table's first
/// row on, of which there are `elements`; the others follow kRowsChunkLanes apart.
template <class T, class To, int kCount>
__device__ __forceinline__ void move_chunk(const RowsParams& p, const RowOrigin* table,
                                           const unsigned char* cast_table, const unsigned char* in,
                                           unsigned char* out, std::uint32_t element,
                                           std::uint32_t elements) {
  constexpr std::uint32_t kReach = (kCount - 1) * kRowsChunkLanes;
  const Divisor& extent = p.axes[p.rank - 1].extent;
  const auto step = static_cast<std::int32_t>(p.in_step);
  Vector<T, kCount> values;
  To* to[kCount];
  std::uint32_t column = element;
  const std::uint32_t row = split(column, extent);
  const bool whole = element + kReach < elements;
  // All in one row: one address a side serves the lane's elements.
  const bool one_row = whole && column + kReach < extent.value && step == sizeof(T);
  if (one_row) {
    const RowOrigin origin = table[row];
    const T* from = reinterpret_cast<const T*>(in + origin.in) + column;
    to[0] = reinterpret_cast<To*>(out + origin.out) + column;
#pragma unroll
    for (int i = 0; i < kCount; ++i) values.values[i] = load_global(from + i * kRowsChunkLanes);
  } else {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      // What lies behind the block's last element is that one once more, and is not stored.
      std::uint32_t place = element + static_cast<std::uint32_t>(i * kRowsChunkLanes);
      place = place < elements ? place : elements - 1;
      const RowOrigin origin = table[split(place, extent)];
      const auto index = static_cast<std::int32_t>(place);
      values.values[i] = load_global(reinterpret_cast<const T*>(in + origin.in + std::int64_t{index} * step));
      to[i] = reinterpret_cast<To*>(out + origin.out) + index;
    }
  }
  const Vector<To, kCount> converted = quick_vector_by<T, To>(cast_table, p, values);
  if (one_row) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) store_global(to[0] + i * kRowsChunkLanes, converted.values[i]);
  } else {
#pragma unroll
    for (std::uint32_t i = 0; i < kCount; ++i)
      if (element + i * kRowsChunkLanes < elements) store_global(to[i], converted.values[i]);
  }
}

template <class T, class To, int kCount, class Params>
__global__ __launch_bounds__(kRowsThreads) void rows_lanes_kernel(const Params p) {
  RELAYOUT_DYNAMIC_SHARED(RowOrigin, table);
  constexpr int kSteps = rows_vectors_per_thread(RowsRead::lanes);
  constexpr std::uint32_t kStep = kRowsThreads * kCount, kBlock = kSteps * kStep;
  const std::uint32_t begin = blockIdx.x * kBlock;
  const std::uint32_t all = static_cast<std::uint32_t>(p.rows) * p.axes[p.rank - 1].extent.value;
  std::uint32_t before = begin;  // elements of the first row that belong to earlier blocks
  const std::uint32_t first = split(before, p.axes[p.rank - 1].extent);
  const std::uint32_t own = all - begin < kBlock ? all - begin : kBlock, elements = before + own;
  std::uint32_t last = elements - 1;
  fill_origins(p, first, split(last, p.axes[p.rank - 1].extent) + 1, table);
  auto* cast_table = reinterpret_cast<unsigned char*>(table + p.table_rows);
  if constexpr (has_cast_table<T, To>) fill_cast_table(p, cast_table);
  __syncthreads();
  const auto* in = static_cast<const unsigned char*>(input_of(p));
  auto* out = static_cast<unsigned char*>(output_of(p));
  const std::uint32_t chunk = threadIdx.x / kRowsChunkLanes, lane = threadIdx.x % kRowsChunkLanes;
  std::uint32_t element = before + chunk * (kCount * kRowsChunkLanes) + lane;
#pragma unroll 1
  for (int step = 0; step < kSteps; ++step, element += kStep)
    if (element < elements) move_chunk<T, To, kCount>(p, table, cast_table, in, out, element, elements);
}

template <class T, class To, class Params>
void launch_rows_lanes_of(const LaunchContext& context, const Params& p) {
  constexpr int kCount = lane_count<T, To>;
  if (p.count != kCount)
    throw Error(ErrorCode::launch, "copy: the rows kernel has no lanes of so many elements");
  const std::int64_t vectors = std::int64_t{kRowsThreads} * rows_vectors_per_thread(p.read),
                     table_bytes = p.table_rows * sizeof(RowOrigin);
  launch("copy", context,
         launch_shape(divide_up(p.vectors, vectors), kRowsThreads, table_bytes + cast_table_bytes<T, To>),
         rows_lanes_kernel<T, To, kCount, Params>, p);
}

}  // namespace

void launch_rows_lanes(const LaunchContext& context, const RowsParams& p) {
  visit_both_sizes(p.in_type, p.out_type, [&](auto from, auto to) {
    launch_rows_lanes_of<typename decltype(from)::type, typename decltype(to)::type>(context, p);
  });
}

void launch_rows_lanes_table(const LaunchContext& context, const WithTable<RowsParams>& p) {
  launch_rows_lanes_of<std::uint8_t, std::uint8_t>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
