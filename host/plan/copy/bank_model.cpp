#include "host/plan/copy/bank_model.hpp"

#include <algorithm>

#include "core/integer_math.hpp"
#include "host/plan/device_rates.hpp"

namespace relayout::plan {
namespace {

/// Lanes of a warp, and words that an access of one meets, at most: 16 bytes that begin inside a word.
constexpr int kMaxLanes = 64, kLaneWords = 5;
/// Banks times phases, at most: 16 bytes of 64 lanes fill banks of 4 bytes, or there are 256 banks.
constexpr int kMaxLists = 256;

/// The different words that the lanes of an access want, those of one bank and phase in a list.
class WantedWords {
 public:
  explicit WantedWords(int lists) { std::fill(first_, first_ + lists, kNone); }

  /// Words of the list with this one.
  int add(int list, std::int64_t word) {
    int words = 1;
    for (std::int16_t i = first_[list]; i != kNone; i = next_[i], ++words)
      if (words_[i] == word) return 0;
    words_[count_] = word;
    next_[count_] = first_[list];
    first_[list] = count_++;
    return words;
  }

 private:
  static constexpr std::int16_t kNone = -1;
  std::int64_t words_[kMaxLanes * kLaneWords];
  std::int16_t next_[kMaxLanes * kLaneWords], first_[kMaxLists], count_ = 0;
};

}  // namespace

int BankModel::phase_lanes(SharedAccess access, int bytes) const {
  return std::min(lanes, banks(access) * bank_bytes / std::max(bytes, bank_bytes));
}

int BankModel::phase_of(SharedAccess access, int bytes, int lane) const {
  const int together = phase_lanes(access, bytes);
  const bool in_order = access == SharedAccess::write || bytes != 16 || together >= 32;
  if (!scattered_quads || in_order) return lane / together;
  // Phases of 8 lanes: 0-3 with 20-23, 4-7 with 16-19, 8-11 with 28-31, 12-15 with 24-27; of 16: 0-3, 12-15,
  // 20-27 and the rest. Lanes 32-63 likewise.
  const int bit0 = lane / 4 & 1, bit1 = lane / 8 & 1, bit2 = lane / 16 & 1;
  const int phase = together == 8 ? bit1 * 2 + (bit0 ^ bit2) : bit0 ^ bit1 ^ bit2;
  return lane / 32 * (32 / together) + phase;
}

BankModel bank_model(const DeviceProperties& device) {
  BankModel model;
  model.lanes = device.warp_size;
  model.read_banks = model.write_banks = device.shared_memory_banks;
  model.bank_bytes = device.bank_bytes;
  model.scattered_quads = device.warp_size == 64 || is_of_family(device, "gfx11");
  // CDNA 4 reads 256 bytes a pass and writes 128.
  if (is_of_family(device, "gfx950")) {
    model.read_banks = 64;
    model.write_banks = 32;
  }
  return model;
}

const char* bank_family(const DeviceProperties& device) {
  if (device.warp_size == 64) return "CDNA";
  return is_of_family(device, "gfx") ? "RDNA" : "NVIDIA";
}

void add_access(const BankModel& model, SharedAccess access, const std::vector<std::int64_t>& addresses,
                int bytes, BankCount& count) {
  const int banks = model.banks(access), lanes = static_cast<int>(addresses.size());
  const int phases = divide_up(model.lanes, model.phase_lanes(access, bytes));
  const int shift = model.bank_bytes == 8 ? 3 : 2;
  WantedWords wanted(phases * banks);
  int passes[kMaxLanes] = {};
  for (int lane = 0; lane < lanes; ++lane) {
    const std::int64_t begin = addresses[static_cast<std::size_t>(lane)];
    if (begin == kNoAddress) continue;
    const int phase = model.phase_of(access, bytes, lane);
    const std::int64_t last = (begin + bytes - 1) >> shift;
    for (std::int64_t word = begin >> shift; word <= last; ++word) {
      const int bank = static_cast<int>(word & (banks - 1));  // a power of two of them
      passes[phase] = std::max(passes[phase], wanted.add(phase * banks + bank, word));
    }
  }
  const std::int64_t least_before = count.least;
  for (int phase = 0; phase < phases; ++phase) {
    if (passes[phase] == 0) continue;
    count.passes += passes[phase];
    ++count.least;
    count.worst = std::max(count.worst, passes[phase]);
  }
  if (count.least > least_before) ++count.accesses;
}

SharedVisitor counting(const BankModel& model, BankReport& report) {
  return [&](SharedAccess access, const std::vector<std::int64_t>& addresses, int bytes) {
    add_access(model, access, addresses, bytes, access == SharedAccess::write ? report.fill : report.drain);
  };
}

}  // namespace relayout::plan
