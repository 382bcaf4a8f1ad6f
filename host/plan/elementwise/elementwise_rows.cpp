#include "host/plan/elementwise/elementwise_rows.hpp"

#include <algorithm>
#include <cstdint>

#include "core/elementwise_chunks.hpp"
#include "core/integer_math.hpp"
#include "core/sector.hpp"
#include "host/plan/elementwise/row_vectors.hpp"

namespace relayout::plan {
namespace {

/// How many numbers a lane has registers for in the kernels for any program, and for costly and approximated
/// operations of any types: in f16, bf16 and f32, and in integers.
constexpr std::int32_t kCostlyNumbers = 4, kCostlyIntegers = 2;

/// Threads of the smallest blocks of strips and of chunks.
constexpr std::int32_t kLeastStripThreads = 64, kLeastChunkThreads = 32;

/// Threads of a block of strips in kernels with registers for 4 blocks of kStripThreads at a time. Nine of
/// these smaller blocks fit, and the last ones of a launch leave the device idle for less long.
constexpr std::int32_t kSmallStripThreads = 128;

/// Whether smaller blocks are faster. On an H100 they take 0.968 of the time for costly operations on one
/// tensor, 0.973 for mixed types, 0.988 for flat outputs and 0.977 for vectors of codes (seeds 1 to 3).
/// Others share the sectors of an operand across the output in a block, and take up to 1.22 times the time.
bool has_small_blocks(ElementwiseKernel kernel, const ElementwiseParams& p) {
  return is_flat(kernel) || kernel == ElementwiseKernel::code_vectors ||
         kernel == ElementwiseKernel::mixed_strips ||
         (kernel == ElementwiseKernel::typed_strips_costly && p.tensors == 1);
}

/// How many elements a vector has: those of the widest type fill 16 bytes; there are fewer where computing
/// takes more registers.
std::int64_t width_of(const ElementwiseParams& p) {
  std::size_t widest = size_of(p.out_type);
  for (int t = 0; t < p.tensors; ++t) widest = std::max(widest, size_of(p.tensor[t].type));
  if (p.convert) widest = std::max(widest, size_of(p.result));
  const std::int64_t fitting = kVectorBytes / static_cast<std::int64_t>(widest);
  switch (p.compute) {
    case ComputeClass::i32:
      return fitting;
    case ComputeClass::f32:
      return std::min<std::int64_t>(fitting, 8);
    case ComputeClass::i64:
    case ComputeClass::f64:
      break;
  }
  return 2;
}

/// Whether vectors of 16 bytes along `axis` are aligned wherever they begin, but for the axis's own steps.
bool aligned_along(const ElementwiseParams& p, const void* data, std::int32_t bytes,
                   const std::int64_t* strides, int axis) {
  const std::int64_t width = kVectorBytes / bytes;
  if (strides[axis] != 1 || place_of(data, bytes) % width != 0) return false;
  for (int other = 0; other < p.rank; ++other) {
    if (other != axis && strides[other] % width != 0) return false;
  }
  return true;
}

/// Finds the one operand that lies across the output's rows, beside one along them or a constant.
void find_transposed(ElementwiseParams& p) {
  const int last = p.rank - 1;
  p.transposed_tensor = -1;
  if (!aligned_along(p, p.out, p.out_bytes, p.out_strides, last)) return;
  int transposed = -1;
  for (int t = 0; t < p.tensors; ++t) {
    const TensorOperand& tensor = p.tensor[t];
    if (tensor.strides[last] == 0 || aligned_along(p, tensor.data, tensor.bytes, tensor.strides, last))
      continue;
    if (transposed >= 0) return;
    transposed = t;
  }
  if (transposed < 0) return;
  for (int axis = 0; axis < last; ++axis) {
    const TensorOperand& tensor = p.tensor[transposed];
    if (!aligned_along(p, tensor.data, tensor.bytes, tensor.strides, axis)) continue;
    p.transposed_tensor = transposed;
    p.transposed_axis = axis;
  }
}

/// Puts the axes in reverse order. Behind the first, a stride becomes what one step of the quotient adds: the
/// axis before has then gone round, and its whole extent is taken back (Strips).
void turn_axes(ElementwiseParams& p) {
  std::reverse(p.extents, p.extents + p.rank);
  const auto turn = [&](std::int64_t* strides) {
    std::reverse(strides, strides + p.rank);
    for (int axis = p.rank - 1; axis > 1; --axis) strides[axis] -= p.extents[axis - 1] * strides[axis - 1];
  };
  turn(p.out_strides);
  for (int t = 0; t < p.tensors; ++t) turn(p.tensor[t].strides);
  for (int axis = 1; axis < p.rank; ++axis) {
    const Divisor extent = make_divisor(static_cast<std::uint32_t>(p.extents[axis]));
    p.strip_axes[axis] = {extent.multiplier, extent.shift, 0, 0};
  }
}

}  // namespace

void cut_rows(ElementwiseParams& p, std::int32_t width) {
  const int last = p.rank - 1;
  p.width = width;
  p.aligned = true;
  for (int t = 0; t < p.tensors; ++t) {
    p.tensor[t].access = access_of(p, p.tensor[t]);
    p.aligned =
        p.aligned && (p.tensor[t].access == Access::repeated || p.tensor[t].access == Access::aligned);
  }
  p.rows_alike = rows_alike(p);
  p.misaligned_elements = 0;
  if (p.out_strides[last] == 1)
    p.misaligned_elements = static_cast<std::int32_t>(place_of(p.out, p.out_bytes) % p.width);
  count_vectors(p);
}

void cut_rows(ElementwiseParams& p) {
  cut_rows(p, static_cast<std::int32_t>(width_of(p)));
  find_transposed(p);
}

void cut_narrow_rows(ElementwiseParams& p) {
  cut_rows(p, static_cast<std::int32_t>(std::min<std::int64_t>(width_of(p), kMixedWidth)));
}

void cut_wide_rows(ElementwiseParams& p) {
  const bool costly = has_costly(p) || p.precision != Precision::accurate;
  const std::int32_t most = p.compute == ComputeClass::i32 ? kCostlyIntegers : kCostlyNumbers;
  if (costly && p.width > most) cut_rows(p, most);
}

void cut_program_rows(ElementwiseParams& p) {
  cut_rows(p, static_cast<std::int32_t>(std::min<std::int64_t>(width_of(p), kCostlyNumbers)));
}

std::int64_t chunk_elements(const ElementwiseParams& p) {
  return std::int64_t{kChunkLanes} * kChunkVectors * p.width;
}

void cut_chunks(ElementwiseParams& p) {
  const std::int64_t extent = p.extents[p.rank - 1];
  p.row_vectors = divide_up(extent, chunk_elements(p));
  p.row_divisor = make_divisor(static_cast<std::uint32_t>(p.row_vectors));
  p.vectors = p.elements / extent * p.row_vectors;
}

void cut_flat(ElementwiseParams& p) {
  const std::int64_t count = flat_elements(p.width), last = p.rank - 1;
  p.misaligned_elements = static_cast<std::int32_t>(place_of(p.out, p.out_bytes) % count);
  p.lanes = static_cast<std::uint32_t>(divide_up(p.misaligned_elements + p.elements, count));
  p.row_divisor = make_divisor(static_cast<std::uint32_t>(p.extents[last]));
  for (int t = 0; t < p.tensors; ++t) {
    TensorOperand& tensor = p.tensor[t];
    tensor.access = tensor.strides[last] == 0 ? Access::repeated : Access::unaligned;
  }
  turn_axes(p);
}

void cut_code_vectors(ElementwiseParams& p) {
  p.lanes = static_cast<std::uint32_t>(p.vectors);
  p.strips = Strips{};
  p.strips.extent = static_cast<std::int32_t>(p.extents[p.rank - 1]);
  turn_axes(p);
}

void share_rows(ElementwiseParams& p) {
  const std::int64_t shared = divide_up(p.row_vectors, kCodeRowVectors);
  p.row_divisor = make_divisor(static_cast<std::uint32_t>(shared));
  p.lanes = static_cast<std::uint32_t>(p.elements / p.extents[p.rank - 1] * shared);
}

void choose_block_threads(const DeviceProperties& device, ElementwiseKernel kernel, ElementwiseParams& p) {
  const bool strips = is_in_strips(kernel) || is_flat(kernel) || kernel == ElementwiseKernel::code_vectors;
  if (!strips && !is_in_chunks(kernel)) return;
  const std::int64_t lanes = strips ? std::int64_t{p.lanes} : p.vectors * kChunkLanes;
  const std::int32_t least = strips ? kLeastStripThreads : kLeastChunkThreads;
  p.block_threads = !strips                       ? kChunkThreads
                    : has_small_blocks(kernel, p) ? kSmallStripThreads
                                                  : kStripThreads;
  while (p.block_threads > least && divide_up(lanes, p.block_threads) < device.multiprocessors)
    p.block_threads /= 2;
}

}  // namespace relayout::plan
