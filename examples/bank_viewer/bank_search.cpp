#include "bank_search.hpp"

#include <algorithm>

namespace example {
namespace {

constexpr std::size_t kSamples = 3;  // of each walk
constexpr int kMaxNodes = 600;       // of a search

std::int64_t round_up(std::int64_t value, std::int64_t to) { return (value + to - 1) / to * to; }

int log2_floor(std::int64_t value) {
  int bits = 0;
  while (value >> (bits + 1) != 0) ++bits;
  return bits;
}

std::int64_t bytes_of(const std::vector<BankDigit>& digits, const BankStrides& strides, int element_bytes) {
  std::int64_t bytes = element_bytes;
  for (std::size_t d = 0; d < digits.size(); ++d) bytes += (digits[d].extent - 1) * strides[d];
  return bytes;
}

/// Each lane makes them for its vector, one after the other.
std::size_t accesses_per_warp(const BankTile& tile, const BankWalk& walk) {
  const int together = std::max(1, walk.access_bytes / tile.element_bytes);
  return static_cast<std::size_t>((std::max(walk.vector, together) + together - 1) / together);
}

}  // namespace

BankSamples::BankSamples(const BankTile& tile, const BankModel& model, std::vector<BankDigit> digits)
    : model_(model), digits_(std::move(digits)) {
  add_walk(tile, tile.fill, SharedAccess::write);
  add_walk(tile, tile.drain, SharedAccess::read);
}

std::vector<std::int64_t> BankSamples::index_of(const BankTile& tile, const BankWalk& walk,
                                                std::int64_t element) const {
  std::vector<std::int64_t> index(tile.extents.size()), of_digits;
  for (const int axis : walk.order) {
    const std::int64_t extent = tile.extents[static_cast<std::size_t>(axis)];
    index[static_cast<std::size_t>(axis)] = element % extent;
    element /= extent;
  }
  for (const BankDigit& digit : digits_)
    of_digits.push_back(index[static_cast<std::size_t>(digit.axis)] / digit.divisor % digit.extent);
  return of_digits;
}

void BankSamples::note_steps(const std::vector<std::int64_t>& index, std::int64_t lane,
                             std::vector<LaneStep>& steps) const {
  for (std::size_t d = 0; d < digits_.size(); ++d) {
    const auto same = [&](const LaneStep& step) { return step.digit == d; };
    if (index[d] == 0 || std::any_of(steps.begin(), steps.end(), same)) continue;
    steps.push_back({d, lane, index[d], (digits_[d].extent + index[d] - 1) / index[d]});
  }
}

void BankSamples::add_walk(const BankTile& tile, const BankWalk& walk, SharedAccess access) {
  const std::vector<WarpAccess> all = warp_accesses(tile, walk, model_.lanes);
  const std::size_t taken = std::min(kSamples, all.size());
  for (std::size_t s = 0; s < taken; ++s) {
    Sample sample;
    sample.access = access;
    sample.bytes = walk.access_bytes;
    sample.weight = static_cast<double>(all.size()) / static_cast<double>(taken) *
                    std::max(1, tile.element_bytes / walk.access_bytes);
    for (const std::int64_t element : all[s * all.size() / taken].first) {
      sample.index.emplace_back();
      if (element != kNoAddress) sample.index.back() = index_of(tile, walk, element);
    }
    samples_.push_back(std::move(sample));
  }
  std::vector<LaneStep>& steps = access == SharedAccess::write ? fill_steps_ : drain_steps_;
  std::int64_t lane = 0;
  for (std::size_t one = 0; one < all.size(); one += accesses_per_warp(tile, walk)) {
    for (const std::int64_t element : all[one].first) {
      if (steps.size() == digits_.size()) return;
      if (element != kNoAddress) note_steps(index_of(tile, walk, element), lane, steps);
      ++lane;
    }
  }
}

double BankSamples::passes(const BankStrides& strides, const BankLayout& swizzle) const {
  double sum = 0;
  for (const Sample& sample : samples_) {
    std::vector<std::int64_t> addresses(sample.index.size(), kNoAddress);
    bool aligned = true;
    for (std::size_t lane = 0; lane < addresses.size(); ++lane) {
      if (sample.index[lane].empty()) continue;
      std::int64_t address = 0;
      for (std::size_t d = 0; d < strides.size(); ++d) address += sample.index[lane][d] * strides[d];
      aligned = aligned && address % sample.bytes == 0;
      addresses[lane] = swizzle.swizzled(address);
    }
    BankCount count;
    add_access(model_, sample.access, addresses, sample.bytes, count);
    // Off their boundaries the elements go one by one.
    sum += sample.weight * static_cast<double>(count.passes) * (aligned ? 1 : 4);
  }
  return sum;
}

double BankSamples::least() const {
  return passes(BankStrides(digits_.size(), 0), BankLayout());  // all lanes want the same words
}

bool BankSamples::touches(std::size_t digit) const {
  for (const Sample& sample : samples_)
    for (const std::vector<std::int64_t>& index : sample.index)
      if (!index.empty() && index[digit] != 0) return true;
  return false;
}

BankStrides dense_strides(const std::vector<BankDigit>& digits, int element_bytes) {
  BankStrides strides;
  std::int64_t stride = element_bytes;
  for (const BankDigit& digit : digits) {
    strides.push_back(stride);
    stride *= digit.extent;
  }
  return strides;
}

BankStrides rule_strides(const BankSamples& samples, const BankModel& model, SharedAccess access,
                         int element_bytes, int access_bytes, int unit) {
  const std::vector<BankDigit>& digits = samples.digits();
  const std::int64_t period = model.period(), phase = model.phase_lanes(access, access_bytes);
  std::vector<std::int64_t> targets(digits.size(), -1);
  // What the lanes cover of the banks; the leading walk's innermost digit cannot be moved, so it comes first.
  std::int64_t covered = access_bytes;
  for (const auto& step : samples.lane_steps(access)) {
    if (step.digit != 0 || step.lane >= phase) continue;
    const std::int64_t count = std::min(step.count, (phase + step.lane - 1) / step.lane);
    covered = std::max(covered, count * step.step * element_bytes);
  }
  for (const auto& step : samples.lane_steps(access)) {
    if (step.digit == 0 || covered % period == 0) continue;
    if (covered % step.step == 0) targets[step.digit] = covered / step.step;
    covered *= step.count;
  }
  BankStrides strides;
  std::int64_t dense = element_bytes;
  for (std::size_t d = 0; d < digits.size(); ++d) {
    std::int64_t stride = dense;
    if (targets[d] >= 0) {
      stride = round_up(dense, unit);
      const std::int64_t target = round_up(targets[d], unit) % period;
      while (stride % period != target) stride += unit;
    }
    strides.push_back(stride);
    dense = stride * digits[d].extent;
  }
  return strides;
}

namespace {

/// Depth first from the innermost digit on, small paddings first. What is chosen already bounds from below
/// what the rest can cost, so that most of the tree is never seen.
class PaddingSearch {
 public:
  PaddingSearch(const BankSamples& samples, int element_bytes, int unit, std::int64_t period,
                std::int64_t shared_bytes, const BankStrides& start)
      : samples_(samples),
        digits_(samples.digits()),
        element_bytes_(element_bytes),
        unit_(unit),
        period_(period),
        shared_bytes_(shared_bytes) {
    const BankStrides dense = dense_strides(digits_, element_bytes);
    take(dense);
    if (bytes_of(digits_, start, element_bytes) <= shared_bytes) take(start);
  }

  BankStrides run() {
    BankStrides strides(digits_.size(), 0);
    strides[0] = element_bytes_;
    descend(1, strides);
    return best_;
  }

 private:
  void take(const BankStrides& strides) {
    const double passes = samples_.passes(strides, plain_);
    const std::int64_t bytes = bytes_of(digits_, strides, element_bytes_);
    if (!better(passes, bytes)) return;
    best_ = strides;
    best_passes_ = passes;
    best_bytes_ = bytes;
  }
  bool better(double passes, std::int64_t bytes) const {
    return best_.empty() || passes < best_passes_ || (passes == best_passes_ && bytes < best_bytes_);
  }
  /// With the digits from `next` on laid densely.
  std::int64_t least_bytes(BankStrides strides, std::size_t next) const {
    for (std::size_t d = next; d < digits_.size(); ++d) strides[d] = strides[d - 1] * digits_[d - 1].extent;
    return bytes_of(digits_, strides, element_bytes_);
  }

  void descend(std::size_t digit, BankStrides& strides) {
    if (digit == digits_.size()) return take(strides);
    const std::int64_t dense = strides[digit - 1] * digits_[digit - 1].extent;
    const std::int64_t first = round_up(dense, unit_);
    std::vector<std::int64_t> choices{dense};
    for (std::int64_t pad = 0; pad < period_ && samples_.touches(digit); pad += unit_)
      if (first + pad != dense) choices.push_back(first + pad);
    for (const std::int64_t choice : choices) {
      if (++nodes_ > kMaxNodes) break;
      strides[digit] = choice;
      const std::int64_t bytes = least_bytes(strides, digit + 1);
      if (bytes > shared_bytes_) break;
      if (better(samples_.passes(strides, plain_), bytes)) descend(digit + 1, strides);
    }
    strides[digit] = 0;
  }

  const BankSamples& samples_;
  const std::vector<BankDigit>& digits_;
  int element_bytes_, unit_;
  std::int64_t period_, shared_bytes_;
  BankLayout plain_;
  BankStrides best_;
  double best_passes_ = 0;
  std::int64_t best_bytes_ = 0;
  int nodes_ = 0;
};

}  // namespace

BankStrides search_padding(const BankSamples& samples, const BankModel& model, int element_bytes, int unit,
                           std::int64_t shared_bytes, const BankStrides& best) {
  return PaddingSearch(samples, element_bytes, unit, model.period(), shared_bytes, best).run();
}

BankLayout search_swizzle(const BankSamples& samples, const BankModel& model, SharedAccess access,
                          int element_bytes, int access_bytes, int unit) {
  const BankStrides strides = dense_strides(samples.digits(), element_bytes);
  BankLayout best = layout_of(samples.digits(), strides, element_bytes);
  best.chunk_bytes = unit;
  const int bits = log2_floor(model.period() / unit),
            last = log2_floor(std::max<std::int64_t>(1, best.bytes / unit));
  const std::int64_t bytes = round_up(best.bytes, std::int64_t{unit} << bits);
  double passes = samples.passes(strides, best);
  const auto consider = [&](const std::vector<BankSwizzle>& swizzles) {
    BankLayout layout = best;
    layout.swizzles = swizzles;
    layout.bytes = bytes;
    const double estimate = samples.passes(strides, layout);
    if (estimate >= passes) return;
    passes = estimate;
    best = layout;
  };
  // Each bit of the lanes' number that lies above the banks goes to a bank bit that no lane moves along.
  std::vector<int> above;
  std::int64_t used = 0;
  const std::int64_t phase = model.phase_lanes(access, access_bytes);
  for (const auto& step : samples.lane_steps(access)) {
    if (step.lane >= phase) continue;
    const std::int64_t count = std::min(step.count, (phase + step.lane - 1) / step.lane);
    for (std::int64_t i = 1; i < count; i *= 2) {
      const std::int64_t chunk = step.step * i * strides[step.digit] / unit;
      if (chunk == 0) continue;
      if (log2_floor(chunk) < bits) {
        used |= std::int64_t{1} << log2_floor(chunk);
      } else {
        above.push_back(log2_floor(chunk));
      }
    }
  }
  std::vector<BankSwizzle> swizzles;
  std::size_t next = 0;
  for (int bit = 0; bit < bits && next < above.size(); ++bit) {
    if ((used >> bit & 1) == 0) swizzles.push_back({above[next++] - bit, std::int64_t{1} << bit});
  }
  consider(swizzles);
  for (int shift = bits; shift <= last; ++shift) consider({{shift, (std::int64_t{1} << bits) - 1}});
  return best;
}

BankLayout layout_of(const std::vector<BankDigit>& digits, const BankStrides& strides, int element_bytes) {
  BankLayout layout;
  layout.digits = digits;
  for (std::size_t d = 0; d < digits.size(); ++d) layout.digits[d].stride = strides[d];
  layout.bytes = bytes_of(digits, strides, element_bytes);
  return layout;
}

}  // namespace example
