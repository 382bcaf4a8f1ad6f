// The arithmetic of the native depthwise conv1d, on lines of f32 in the cache: four taps at a time, from the
// newest sample to the oldest. Every caller uses the same functions, so that equal sums have equal bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "relayout/dtype.hpp"

namespace relayout::native {

/// Which part of its taps a line of sums receives.
struct SumPart {
  bool first;  // the sums start at 0
  bool last;   // the bias is added
};

constexpr int kTapsAtOnce = 4;

/// sums[i] += sum over d < taps of weights[d] * newest[i - d], taps <= kTapsAtOnce.
using SumAlongTime = void (*)(float* sums, const float* newest, const float* weights, int taps, float bias,
                              SumPart part, std::int64_t count);
constexpr int kTimesAtOnce = 4;
/// sums[j * pitch + i] += sum over d < taps of weights[d][i] * rows[times - 1 - j + d][i] for j < times,
/// taps <= kTapsAtOnce, times 1 or kTimesAtOnce: rows[0] is the newest of all.
using SumRows = void (*)(float* sums, std::int64_t pitch, int times, const float* const* rows,
                         const float* const* weights, int taps, const float* bias, SumPart part,
                         std::int64_t count);
/// values[i] = values[i] / (1 + exp(-values[i])).
using Silu = void (*)(float* values, std::int64_t count);

/// gradients[i] *= the derivative of v / (1 + exp(-v)) at values[i].
using SiluGradient = void (*)(float* gradients, const float* values, std::int64_t count);
/// The sum of a[i] * b[i], or of a[i] where b is null: 32 sums side by side, and then these.
using Dot = float (*)(const float* a, const float* b, std::int64_t count);

/// out[i] = f16(bias + sum over d < taps of weights[d] * newest[i - d]), taps <= kTapsAtOnce. The bits are
/// those of the sums that are rounded later; with `streamed` they go past the caches.
using SumAlongTimeToF16 = void (*)(f16* out, const float* newest, const float* weights, int taps, float bias,
                                   bool streamed, std::int64_t count);

/// The same for rows: out[j][i] for j < times. Streamed outputs begin 16-byte words.
using SumRowsToF16 = void (*)(f16* const* out, int times, const float* const* rows,
                              const float* const* weights, int taps, const float* bias, bool streamed,
                              std::int64_t count);

struct DepthwiseSums {
  SumAlongTime along_time;
  SumRows rows;
  Silu silu;
  SiluGradient silu_gradient;
  Dot dot;
  // Null where the processor has no instruction for it.
  SumAlongTimeToF16 along_time_to_f16;
  SumRowsToF16 rows_to_f16;
};

/// The fastest functions that this processor has.
const DepthwiseSums& depthwise_sums() noexcept;

}  // namespace relayout::native
