// Predicted times anew, for a result with candidates that a GPU gave earlier: how a planner that was changed
// since would have chosen, without that GPU.
#pragma once

#include <string>

namespace relayout::bench::random {

struct PredictOptions {
  std::string file;  // a result of --suite random --candidates
  std::string json;  // where the same is written with the predicted times and the choices of this build
};

/// Error{invalid_argument} for a file that is no such result.
void predict(const PredictOptions& options);

}  // namespace relayout::bench::random
