#include "host/plan/window/window_banks.hpp"

#include <algorithm>

#include "core/sector.hpp"
#include "core/window_geometry.hpp"

namespace relayout {
namespace {

using plan::kNoAddress;
using plan::SharedAccess;

class WindowAccesses {
 public:
  WindowAccesses(const WindowParams& p, const DeviceProperties& device)
      : model_(plan::bank_model(device)),
        channels_in_pack_(kVectorBytes / static_cast<int>(size_of(p.out_type))),
        vector_(p.along_time ? kVectorBytes / static_cast<int>(size_of(p.in_type)) : 1),
        row_packs_(p.tile_channels / channels_in_pack_),
        packs_(static_cast<int>(std::min<std::int64_t>(p.tile_channels, p.channels)) / channels_in_pack_),
        tile_samples_(p.tile_samples),
        positions_(static_cast<int>(std::min<std::int64_t>(p.tile_positions, p.positions))),
        taps_(static_cast<int>(p.taps)),
        stride_(positions_ > 1 ? static_cast<int>(p.stride) : 0),
        dilation_(taps_ > 1 ? static_cast<int>(p.dilation) : 0),
        offset_(static_cast<int>(-p.pad_left & (vector_ - 1))),
        samples_(offset_ + (positions_ - 1) * stride_ + (taps_ - 1) * dilation_ + 1) {}

  plan::BankReport count() const {
    plan::BankReport report;
    if (vector_ > 1) {
      // A lane stores one pack of each of its `vector_` samples; lanes run along time.
      const int vectors = tile_samples_ / vector_;
      for_each_warp(vectors * packs_, [&](int first) {
        for (int step = 0; step < vector_; ++step) {
          add_warp(SharedAccess::write, first, report.fill, [&](int item) {
            const int pack = item / vectors, sample = item % vectors * vector_;
            return pack < packs_ && sample < samples_ ? address(sample + step, pack) : kNoAddress;
          });
        }
      });
    } else {
      add_rows(SharedAccess::write, samples_, 0, 1, report.fill);
    }
    for (int tap = 0; tap < taps_; ++tap)
      add_rows(SharedAccess::read, positions_, offset_ + tap * dilation_, stride_, report.drain);
    return report;
  }

 private:
  template <class Function>
  void for_each_warp(int items, const Function& function) const {
    for (int turn = 0; turn < items; turn += kVectorWindowThreads)
      for (int warp = 0; warp < kVectorWindowThreads; warp += model_.lanes) function(turn + warp);
  }

  template <class Function>
  void add_warp(SharedAccess access, int first, plan::BankCount& count, const Function& address) const {
    std::vector<std::int64_t> addresses;
    for (int lane = 0; lane < model_.lanes; ++lane) addresses.push_back(address(first + lane));
    add_access(model_, access, addresses, kVectorBytes, count);
  }

  /// `count` samples from `begin` on, `step` apart. Lanes run along the packs of a sample, then on to the
  /// next sample.
  void add_rows(SharedAccess access, int count, int begin, int step, plan::BankCount& banks) const {
    for_each_warp(count * row_packs_, [&](int first) {
      add_warp(access, first, banks, [&](int item) {
        const int pack = item % row_packs_, row = item / row_packs_;
        return pack < packs_ && row < count ? address(begin + row * step, pack) : kNoAddress;
      });
    });
  }

  std::int64_t address(int sample, int pack) const {
    return std::int64_t{vector_window_slot(sample, pack, row_packs_, vector_)} * kVectorBytes;
  }

  const plan::BankModel model_;
  const int channels_in_pack_, vector_;
  const int row_packs_, packs_;  // of a row of the tile; those that exist
  const int tile_samples_, positions_, taps_, stride_, dilation_;
  const int offset_,
      samples_;  // those of the tile that come before the first one needed; those that are filled
};

}  // namespace

plan::BankReport count_conflicts(const WindowParams& params, const DeviceProperties& device) {
  return WindowAccesses(params, device).count();
}

}  // namespace relayout
