// Outputs whose rows lie apart, such as columns of a larger matrix, and begin or end within sectors.
#pragma once

#include "host/plan/copy/copy_plan.hpp"

namespace relayout::plan {

/// Microseconds of one multiprocessor that the ends of a row cost where they lie off the boundaries of
/// vectors: none in kernels that store single elements, so many a row in tiles, and in vectors of rows so
/// many for each element that a vector may leave over.
constexpr double kOfElementRow = 0, kOfTileRow = 0.0079, kOfVectorRowElement = 0.0014;

/// Where the output has such rows: what the memory takes to complete their sectors, if the candidate was
/// predicted to be faster, and of_row for each row.
void add_output_gaps(CopyCandidate& candidate, const CopyProblem& problem, const DeviceProperties& device,
                     double of_row);

}  // namespace relayout::plan
