#include "host/plan/device_rates.hpp"

#include <algorithm>
#include <cmath>

namespace relayout::plan {
namespace {

/// The best copies move 4.17 TB/s on an H200 and 2.86 on an H100, whose memories have a peak of 4.8 and 3.35.
constexpr double kCopyShare = 0.86;
/// Under load those two run at 1.75 GHz, of 1.98 at most.
constexpr double kClockShare = 0.885;

}  // namespace

DeviceRates device_rates(const DeviceProperties& device) {
  static const DeviceProperties kH200 = DeviceProperties::h200(), kMi300x = DeviceProperties::mi300x();
  const bool wide = device.warp_size == 64;
  const DeviceProperties& known = wide ? kMi300x : kH200;
  const double memory = device.memory_bytes_per_second > 0
                            ? static_cast<double>(device.memory_bytes_per_second)
                            : static_cast<double>(known.memory_bytes_per_second) * device.multiprocessors /
                                  known.multiprocessors;
  const double clock = kClockShare * 1e-6 *
                       static_cast<double>(device.clock_hertz > 0 ? device.clock_hertz : known.clock_hertz);
  // Four schedulers issue an instruction each a clock. Those of CDNA take four clocks for the 64 lanes of
  // one, with 16 lanes each.
  return {kCopyShare * 1e-6 * memory, (wide ? 1 : 4) * clock, clock, clock};
}

double time_together(std::initializer_list<double> times) {
  const double longest = std::max(times);
  if (longest <= 0) return 0;
  double sum = 0;
  for (const double time : times) {
    const double square = time / longest * (time / longest), fourth = square * square;
    sum += fourth * fourth;
  }
  return longest * std::sqrt(std::sqrt(std::sqrt(sum)));
}

double memory_ratio(const DeviceProperties& device) {
  const auto bytes_of_instruction = [](const DeviceProperties& properties) {
    const DeviceRates rates = device_rates(properties);
    return rates.bytes_per_microsecond /
           (rates.instructions_per_microsecond * properties.multiprocessors * properties.warp_size);
  };
  static const double kH200 = bytes_of_instruction(DeviceProperties::h200());
  return bytes_of_instruction(device) / kH200;
}

bool is_of_family(const DeviceProperties& device, const char* family) {
  return device.architecture.rfind(family, 0) == 0;
}

bool has_matrix_units(const DeviceProperties& device) {
  // Names of later architectures have a digit more.
  if (is_of_family(device, "sm_")) return device.architecture.size() > 5 || device.architecture >= "sm_80";
  return is_of_family(device, "gfx94") || is_of_family(device, "gfx95") || device.architecture == "emulated";
}

}  // namespace relayout::plan
