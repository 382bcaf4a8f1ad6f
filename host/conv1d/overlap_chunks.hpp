// How Conv1dOverlap cuts an input: shared with the model that predicts its time.
#pragma once

#include <vector>

#include "host/plan/conv/conv1d_chunks.hpp"
#include "relayout/conv1d.hpp"

namespace relayout {

enum class StagedOrder { channels_first, channels_last };

struct OverlapChunks {
  StagedOrder order = StagedOrder::channels_first;  // of the samples on the link
  DType type = DType::f16;                          // on the link
  bool direct = false;                              // chunks inside the signal are copied from the input
  plan::ChunkRequest request;
  std::vector<plan::Conv1dChunk> chunks;
};

/// Error{invalid_argument} for options that cannot work.
OverlapChunks overlap_chunks(const Conv1d& problem, const Conv1dSizes& sizes, const TensorView& input,
                             const OverlapOptions& options);

}  // namespace relayout
