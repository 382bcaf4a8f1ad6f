// Outputs whose rows lie apart, such as columns of a larger matrix, and begin or end within sectors.
#pragma once

#include "host/plan/copy/copy_plan.hpp"

namespace relayout::plan {

/// What the two ends of a row take that lies off the boundaries of vectors, in microseconds of one
/// multiprocessor. Kernels that store single elements have no ends. Tiles take so much a row; vectors of rows
/// take so much for each element that a vector may leave over.
constexpr double kOfElementRow = 0, kOfTileRow = 0.0079, kOfVectorRowElement = 0.0014;

/// Where the output has such rows: what the memory takes to complete their sectors, if the candidate was
/// predicted to be faster, and of_row for each row.
void add_output_gaps(CopyCandidate& candidate, const CopyProblem& problem, const DeviceProperties& device,
                     double of_row);

}  // namespace relayout::plan
