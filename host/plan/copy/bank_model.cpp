#include "host/plan/copy/bank_model.hpp"

#include <algorithm>
#include <tuple>

namespace relayout::plan {
namespace {

bool starts_with(const std::string& text, const char* beginning) { return text.rfind(beginning, 0) == 0; }

/// A word that a phase wants; words of one bank are neighbours when sorted.
struct Wanted {
  int phase, bank;
  std::int64_t word;

  bool operator<(const Wanted& other) const {
    return std::tie(phase, bank, word) < std::tie(other.phase, other.bank, other.word);
  }
};

}  // namespace

int BankModel::phase_lanes(SharedAccess access, int bytes) const {
  return std::min(lanes, banks(access) * bank_bytes / std::max(bytes, bank_bytes));
}

int BankModel::phase_of(SharedAccess access, int bytes, int lane) const {
  const int together = phase_lanes(access, bytes);
  if (!scattered_quads || access == SharedAccess::write || bytes != 16) return lane / together;
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
  model.scattered_quads = device.warp_size == 64 || starts_with(device.architecture, "gfx11");
  // CDNA 4 reads 256 bytes a pass and writes 128.
  if (starts_with(device.architecture, "gfx950")) {
    model.read_banks = 64;
    model.write_banks = 32;
  }
  return model;
}

const char* bank_family(const DeviceProperties& device) {
  if (device.warp_size == 64) return "CDNA";
  return starts_with(device.architecture, "gfx") ? "RDNA" : "NVIDIA";
}

void add_access(const BankModel& model, SharedAccess access, const std::vector<std::int64_t>& addresses,
                int bytes, BankCount& count) {
  std::vector<Wanted> wanted;
  wanted.reserve(addresses.size() * 4);
  for (std::size_t lane = 0; lane < addresses.size(); ++lane) {
    if (addresses[lane] == kNoAddress) continue;
    const int phase = model.phase_of(access, bytes, static_cast<int>(lane));
    const std::int64_t end = addresses[lane] + bytes;
    for (std::int64_t word = addresses[lane] / model.bank_bytes; word * model.bank_bytes < end; ++word)
      wanted.push_back({phase, static_cast<int>(word % model.banks(access)), word});
  }
  if (wanted.empty()) return;
  std::sort(wanted.begin(), wanted.end());
  ++count.accesses;
  int of_bank = 0, of_phase = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const bool new_phase = i == 0 || wanted[i].phase != wanted[i - 1].phase;
    if (new_phase || wanted[i].bank != wanted[i - 1].bank) {
      of_bank = 1;
    } else if (wanted[i].word != wanted[i - 1].word) {
      ++of_bank;
    }
    of_phase = new_phase ? of_bank : std::max(of_phase, of_bank);
    if (i + 1 < wanted.size() && wanted[i + 1].phase == wanted[i].phase) continue;
    count.passes += of_phase;
    ++count.least;
    count.worst = std::max(count.worst, of_phase);
  }
}

SharedVisitor counting(const BankModel& model, BankReport& report) {
  return [&](SharedAccess access, const std::vector<std::int64_t>& addresses, int bytes) {
    add_access(model, access, addresses, bytes, access == SharedAccess::write ? report.fill : report.drain);
  };
}

}  // namespace relayout::plan
