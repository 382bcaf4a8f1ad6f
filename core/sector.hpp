// What the memory of a GPU moves at once.
#pragma once

#include <cstdint>

namespace relayout {

/// A sector, which begins on a multiple of as many bytes. One that two stores write in part takes longer.
constexpr std::int64_t kSectorBytes = 32;

/// A vector: the most that one access of a lane moves, from or to a multiple of as many bytes.
constexpr int kVectorBytes = 16;

}  // namespace relayout
