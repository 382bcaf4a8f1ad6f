// What an access of a warp to shared memory costs. Shared memory lies in banks of 4 bytes, each of which
// delivers one word a pass. A warp's access is served in phases: as many lanes at a time as fill the banks
// once. A phase takes one pass, or as many as there are different words that it wants of one bank; lanes that
// want the same word share it. The one place where conflicts are counted: plain data and host code.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "relayout/device.hpp"

namespace relayout::plan {

enum class SharedAccess { read, write };

struct BankModel {
  int lanes = 32;  // of a warp
  int read_banks = 32, write_banks = 32;
  int bank_bytes = 4;
  /// The lanes of a phase of 16-byte reads are quads of neighbours from different places of 32 lanes.
  bool scattered_quads = false;

  int banks(SharedAccess access) const { return access == SharedAccess::read ? read_banks : write_banks; }
  /// Bytes after which the banks of either access repeat.
  int period() const { return (read_banks > write_banks ? read_banks : write_banks) * bank_bytes; }
  /// Lanes that are served together in an access of `bytes` a lane.
  int phase_lanes(SharedAccess access, int bytes) const;
  int phase_of(SharedAccess access, int bytes, int lane) const;
};

/// NVIDIA: 32 banks; 4 bytes a lane go by whole warps, 8 by halves, 16 by quarters (CUDA C++ Programming
/// Guide, "Shared Memory"). AMD: docs/permute.md, "Banks", has the sources.
BankModel bank_model(const DeviceProperties& device);
/// Whose banks the model takes a device's to be: "NVIDIA", "CDNA" or "RDNA".
const char* bank_family(const DeviceProperties& device);

/// Accesses counted together.
struct BankCount {
  std::int64_t accesses = 0;
  std::int64_t passes = 0;
  std::int64_t least = 0;  // passes if no bank had to deliver two words
  int worst = 0;           // passes of the worst phase

  bool conflict_free() const { return passes == least; }
  bool operator==(const BankCount& other) const {
    return accesses == other.accesses && passes == other.passes && least == other.least &&
           worst == other.worst;
  }
};

/// A tile's accesses: written to shared memory in the input's order, read from it in the output's.
struct BankReport {
  BankCount fill, drain;

  std::int64_t passes() const { return fill.passes + drain.passes; }
  std::int64_t least() const { return fill.least + drain.least; }
  int worst() const { return fill.worst > drain.worst ? fill.worst : drain.worst; }
  bool operator==(const BankReport& other) const { return fill == other.fill && drain == other.drain; }
};

/// The address of a lane that takes no part.
constexpr std::int64_t kNoAddress = -1;

/// Adds one access of a warp: `addresses[lane]`, in bytes, each `bytes` wide. Without a lane that takes part
/// there is no access.
void add_access(const BankModel& model, SharedAccess access, const std::vector<std::int64_t>& addresses,
                int bytes, BankCount& count);

/// One access of a warp, as add_access takes it.
using SharedVisitor =
    std::function<void(SharedAccess, const std::vector<std::int64_t>& addresses, int bytes)>;

/// Counts what it visits: writes fill the tile, reads drain it.
SharedVisitor counting(const BankModel& model, BankReport& report);

}  // namespace relayout::plan
