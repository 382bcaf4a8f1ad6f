// Plans of pad and img2col: checked and planned once, run many times.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <relayout/copy_plan.hpp>
#include <relayout/export.hpp>

namespace relayout {

/// What pad or img2col does: immutable, cheap to copy, safe to use from several threads at once.
class RELAYOUT_API WindowPlan {
 public:
  struct State;  ///< the library's own
  /// For the library: users have the plan_* functions.
  explicit WindowPlan(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  /// A copy.
  WindowPlan(const WindowPlan&) = default;
  /// A copy.
  WindowPlan& operator=(const WindowPlan&) = default;

  /// Queues the work between the planned views: allocates nothing on the device, waits for nothing, can be
  /// recorded in a Graph. Errors: null_pointer for a view that was planned with a null pointer;
  /// invalid_argument for a stream of another device; unsupported for a plan from DeviceProperties.
  void run(const Stream& stream) const;
  /// The same between other memory: in and out take the place of the planned views' data(), with their
  /// strides. Where the planned kernels move several bytes at once, each must lie as far behind a multiple of
  /// up to 16 bytes as the planned one; the error says of how many. Further errors: invalid_argument for an
  /// address, partial_overlap.
  void run(const Stream& stream, const void* in, void* out) const;

  /// The plan in plain words, several lines: the kernel and why it, its tile and its accesses, and why the
  /// other kernels were not chosen.
  std::string explain() const;

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace relayout
