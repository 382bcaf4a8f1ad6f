// Whether runs still end. One run at a time is followed, so that each call asks for the state of one event.
#pragma once

#include <optional>

namespace relayout {

/// Seconds are those of any clock.
class RunWatch {
 public:
  bool is_following() const noexcept { return since_.has_value(); }
  /// Follows the run that was queued now.
  void follow(double now) { since_ = now; }
  /// Whether the followed run was queued longer ago than the limit and has not ended; has_ended() says so.
  template <class HasEnded>
  bool is_late(double now, double limit, const HasEnded& has_ended) {
    if (!since_) return false;
    if (has_ended()) since_.reset();
    return since_ && now - *since_ > limit;
  }

 private:
  std::optional<double> since_;
};

}  // namespace relayout
