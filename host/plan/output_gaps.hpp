// Outputs whose rows lie apart and begin or end within sectors, such as columns of a larger matrix, or every
// third element.
#pragma once

#include <cstdint>

namespace relayout::plan {

/// An axis of an output: how many elements it has, and how far apart these are, in elements.
struct OutputAxis {
  std::int64_t extent, stride;
};

/// Rows of elements that follow each other: how many there are, and the bytes of a row and from a row to the
/// next. None where they lie side by side, or are of whole sectors.
struct GappedRows {
  double count = 0, bytes = 0, pitch = 0;

  /// What the memory moves to complete the rows' sectors, beside what is written: it reads what it has of
  /// lines that are written in part, and writes them back.
  double completed_bytes() const;
};

/// Finds the rows of an output that begins at `address`. The axis of the least stride comes first.
GappedRows gapped_rows(const OutputAxis* axes, int rank, std::int64_t element_bytes, std::int64_t address);

}  // namespace relayout::plan
