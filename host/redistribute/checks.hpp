// The checks of a redistribution, before anything is queued.
#pragma once

#include <string>
#include <vector>

#include "host/redistribute/plan_state.hpp"
#include "relayout/error.hpp"

namespace relayout {

constexpr const char* kRedistribute = "redistribute";

/// An Error whose sentence begins with the operation's name.
[[noreturn]] void fail_redistribute(ErrorCode code, const std::string& sentence);

/// Numbers of ranks, the axes, and the global shapes.
void check_distributions(const Group& group, const Distribution& in, const std::vector<int>& axes,
                         const Distribution& out);

/// One view for each local rank, of the shape of its box and of one type, which is returned.
DType check_views(const Group& group, const char* role, const Distribution& distribution,
                  const std::vector<TensorView>& views);

/// Error{invalid_argument}, {null_pointer}, {partial_overlap}: what is wrong with the views at these pointers
/// and with the workspace. Where `given` is false, null pointers and want of a workspace pass.
void check_memory(const RedistributeProblem& problem, const Route& route, const RedistributeMemory& memory,
                  bool given);

/// Whether comparisons of addresses alone show that check_memory of given memory has nothing to say, as they
/// do for nearly every run.
bool is_plainly_right(const RedistributeProblem& problem, const Route& route,
                      const RedistributeMemory& memory);

}  // namespace relayout
