// What the memory of a GPU moves at once.
#pragma once

#include <cstdint>

namespace relayout {

/// A sector, which begins on a multiple of as many bytes. One that two stores write in part takes longer.
constexpr std::int64_t kSectorBytes = 32;

}  // namespace relayout
