// Short rows that follow each other at one pitch, many at a time: they need neither tables of where they
// begin nor a call for each.
#pragma once

#include <cstdint>

#include "core/copy_params.hpp"
#include "host/cpu/copy/row_moves.hpp"

namespace relayout::native {

/// Fewer rows at one pitch cost more than looking up where they begin. Rows of more bytes are moved as fast
/// one by one, and where they lie apart need to be asked for ahead.
constexpr std::int64_t kLeastPitchedRows = 8, kMostPitchedBytes = 127;

/// Moves `rows` rows of as many bytes as the mover is for; pitches are in bytes, of any sign.
using MovePitchedRows = void (*)(const char* in, PitchedRows in_rows, char* out, PitchedRows out_rows,
                                 std::int64_t rows, std::int64_t bytes);
/// For rows of 1 to kMostPitchedBytes bytes.
MovePitchedRows pitched_row_mover(std::int64_t bytes) noexcept;

/// Whether a copy without a conversion has such rows on both sides, in the same order: slices, and their
/// inverse.
bool is_in_pitched_rows(const CopyParams& params);
void copy_pitched_rows(const CopyParams& params);

}  // namespace relayout::native
