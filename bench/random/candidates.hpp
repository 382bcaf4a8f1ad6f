// Every way in which the library could do a problem, to be timed beside the one that its planner takes.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "bench/random/prepare.hpp"

namespace relayout::bench::random {

struct Candidate {
  std::string kind;  // the kernel, and how it works where it has several ways
  std::string name;  // the kind and what else tells it from the problem's other candidates
  bool chosen = false;
  double predicted_seconds = 0;
  std::function<void(const Stream&, const Operands&)> run;  // on operands of the layout that was planned for
};

/// Those that the planner of a GPU chooses among, kernels that its estimate rejects included, with up to
/// `tiles` tiles of a kernel; empty for families whose kernels are not chosen by predicted times.
std::vector<Candidate> candidates_of(const DeviceProperties& device, const Problem& problem,
                                     const Operands& operands, std::size_t tiles);

}  // namespace relayout::bench::random
