// What a plan was made for.
#pragma once

#include <optional>
#include <string>

#include "relayout/copy_plan.hpp"
#include "relayout/device.hpp"
#include "relayout/stream.hpp"

namespace relayout {

/// A device, or only the properties of one; such a plan can be explained, but not run.
class PlannedFor {
 public:
  PlannedFor() = default;
  explicit PlannedFor(const PlanTarget& target);

  const DeviceProperties& properties() const noexcept { return properties_; }
  /// None where there are only properties.
  const std::optional<Device>& device() const noexcept { return device_; }
  /// "gpu(0)", for explain(); empty where there are only properties.
  std::string name() const;
  /// Whether native code runs, not a GPU's kernels.
  bool is_native() const;
  /// The check before a plan runs: Error{unsupported} where there is no device, Error{invalid_argument} for a
  /// stream of another one.
  void check(const std::string& operation, const Stream& stream) const;

 private:
  std::optional<Device> device_;
  DeviceProperties properties_;
};

/// Whether plans for the target are for native code.
bool is_native(const PlanTarget& target) noexcept;

/// What PlannedFor::check() checks.
void check_plan_stream(const std::string& operation, const Device& planned, const Stream& stream);

}  // namespace relayout
