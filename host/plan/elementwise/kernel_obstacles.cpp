#include "host/plan/elementwise/kernel_obstacles.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/integer_math.hpp"
#include "core/sector.hpp"
#include "host/plan/elementwise/elementwise_rows.hpp"
#include "host/plan/elementwise/elementwise_strips.hpp"
#include "host/plan/small_problems.hpp"

namespace relayout::plan {
namespace {

/// The greatest distance of neighbours in a row of a tensor that chunks of rows take, in elements and in
/// bytes: beyond it they meet more sectors than they have elements for.
constexpr std::int64_t kNearElements = 4, kNearBytes = 16;
/// The least share of the chunks that rows fill.
constexpr double kLeastChunkShare = 0.65;

/// The least part of the transposed kernel's tiles that lies inside the nest, for elements of 4 bytes and of
/// 2 and 8: what is empty takes as long as what is not. On an H100 it takes 0.88 to 0.99 of the time of
/// strips with full tiles of 4 bytes, 0.9 to 1.05 with others; 1.13 and more with f16 where 0.8 are used, 1.0
/// to 1.1 with f32 where half are.
constexpr double kLeastUsedShare = 0.7, kLeastUsedShareOfOthers = 0.95;

/// Tiles of the transposed kernel for each multiprocessor from which on it is faster than strips, for
/// elements of 4 and 8 bytes and of 2. On an H100 it takes 0.97 to 1.36 of their time with f32 and fewer,
/// 0.95 to 1.04 with two and 0.91 to 0.93 with four; with bf16 1.0 to 2.3 up to three and 0.97 to 1.09 with
/// eight.
constexpr std::int64_t kLeastTiles = 1, kLeastTilesOfHalves = 8;

}  // namespace

const char* obstacle_to_cutting(const ElementwiseParams& p) {
  if (!p.fits_32_bits) return "offsets need 64 bits";
  return p.rank > kMaxRank - kStripAxes ? "there are too many axes" : nullptr;
}

const char* obstacle_to_chunks(const ElementwiseParams& p) {
  if (!is_along_rows(p)) return "the output's rows are strided";
  const std::int64_t extent = p.extents[p.rank - 1], chunks = round_up(extent, chunk_elements(p));
  if (static_cast<double>(extent) < kLeastChunkShare * static_cast<double>(chunks))
    return "rows fill too little of their chunks";
  const auto is_far = [&](const TensorOperand& tensor) {
    const std::int64_t step = std::abs(tensor.strides[p.rank - 1]);
    return step > kNearElements || step * tensor.bytes > kNearBytes;
  };
  if (std::any_of(p.tensor, p.tensor + p.tensors, is_far)) return "a tensor's rows are strided too far";
  return nullptr;
}

const char* obstacle_to_tiles(const DeviceProperties& device, const ElementwiseParams& p) {
  const std::int64_t side = kTransposedVectors * kVectorBytes / p.out_bytes;
  std::int64_t tiles = p.elements;
  for (const int axis : {p.rank - 1, p.transposed_axis})
    tiles = tiles / p.extents[axis] * divide_up(p.extents[axis], side);
  const double places = static_cast<double>(tiles) * static_cast<double>(side * side);
  if (static_cast<double>(p.elements) <
      (p.out_bytes == 4 ? kLeastUsedShare : kLeastUsedShareOfOthers) * places)
    return "too much of its tiles would be empty";
  if (plans_as_large()) return nullptr;
  const std::int64_t least = p.out_bytes == 2 ? kLeastTilesOfHalves : kLeastTiles;
  return tiles < device.multiprocessors * least ? "its tiles would be too few for the device" : nullptr;
}

bool lies_flat(const ElementwiseParams& p) {
  std::int64_t elements = 1;
  for (int axis = p.rank - 1; axis >= 0; elements *= p.extents[axis--]) {
    if (p.out_strides[axis] != elements) return false;
  }
  return p.extents[p.rank - 1] >= flat_elements(p.width) &&
         std::all_of(p.tensor, p.tensor + p.tensors, [&](const TensorOperand& tensor) {
           return tensor.strides[p.rank - 1] == 0 ||
                  std::equal(p.out_strides, p.out_strides + p.rank, tensor.strides);
         });
}

const char* obstacle_to_chain(const ElementwiseParams& p) {
  if (p.compute != ComputeClass::f32 || p.convert || p.out_type != p.common || p.result != p.common)
    return "not everything is of one of f16, bf16 and f32";
  for (int t = 0; t < p.tensors; ++t) {
    if (p.tensor[t].type != p.common || p.tensor[t].reading != Reading::value)
      return "not everything is of one of f16, bf16 and f32";
  }
  if (p.flush_to_zero || p.rounding != Rounding::nearest_even)
    return "a rounding or flush_to_zero is asked for";
  if (!p.fits_32_bits) return "offsets need 64 bits";
  if (!is_along_rows(p)) return "the output's rows are strided";
  if (!p.aligned || p.width * p.out_bytes != kVectorBytes) return "not all tensors are aligned";
  return nullptr;
}

const char* obstacle_to_vectors(const ElementwiseParams& p) {
  if (p.tensors > kMaxTypedTensors) return "there are more than three tensors";
  for (int s = 0; s < p.steps; ++s) {
    if (p.step[s].running != 0) return "a running value is not its operation's first operand";
  }
  return nullptr;
}

}  // namespace relayout::plan
