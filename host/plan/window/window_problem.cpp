#include "host/plan/window/window_problem.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/bytes.hpp"

namespace relayout::plan {
namespace {

/// The widest that any kernel gains from.
constexpr std::int64_t kWidest = 4;

/// Whether `factor` channels side by side can be one element.
bool may_join(const WindowParams& p, std::int64_t factor) {
  const auto even = [&](std::int64_t extent, std::int64_t stride) {
    return step_along(extent, stride) % factor == 0;
  };
  const auto aligned = [&](const void* address) {
    return reinterpret_cast<std::uintptr_t>(address) %
               static_cast<std::uintptr_t>(factor * bytes_of(p.in_type)) ==
           0;
  };
  return p.channels % factor == 0 && aligned(p.in) && aligned(p.out) && even(p.batch, p.in_batch) &&
         even(p.length, p.in_time) && even(p.batch, p.out_batch) && even(p.groups, p.out_group) &&
         even(p.positions, p.out_position) && even(p.taps, p.out_tap);
}

void join_channels(WindowParams& p, std::int64_t factor) {
  const std::int64_t bits = 8 * bytes_of(p.in_type), bytes = factor * bytes_of(p.in_type);
  p.in_type = p.out_type = bytes == 2 ? DType::u16 : DType::u32;
  for (std::int64_t i = 1; i < factor; ++i)
    p.pad_bits |= (p.pad_bits & ((std::uint64_t{1} << bits) - 1)) << (i * bits);
  p.channels /= factor;
  // The groups of a row lie side by side, so that the channels' strides stay 1.
  for (std::int64_t* stride :
       {&p.in_batch, &p.in_time, &p.out_batch, &p.out_group, &p.out_position, &p.out_tap})
    *stride /= factor;
  p.widened = true;
}

}  // namespace

std::int64_t samples_within(const WindowParams& p) {
  const std::int64_t begin = std::max<std::int64_t>(0, p.pad_left),
                     end = std::min(p.positions, p.pad_left + p.length);
  return std::max<std::int64_t>(0, end - begin);
}

void simplify_window(WindowParams& p) {
  if (p.taps == 1 && p.channels * p.groups == 1 && p.batch > 1) {
    p.channels = p.batch;
    p.batch = 1;
    p.in_channel = p.in_batch;
    p.out_channel = p.out_batch;
    p.order = std::abs(p.out_channel) < std::abs(p.out_position) ? WriteOrder::channel : WriteOrder::position;
  }
  if (p.in_type != p.out_type || p.in_channel != 1 || p.out_channel != 1 || p.in_time == 1) return;
  for (std::int64_t factor = kWidest / bytes_of(p.in_type); factor > 1; factor /= 2) {
    if (may_join(p, factor)) return join_channels(p, factor);
  }
}

}  // namespace relayout::plan
