// What the ranks of several processes tell each other before they plan: enough to find who plans something
// else, so that no rank waits for a message that nobody sends.
#pragma once

#include <array>
#include <cstdint>

#include "host/redistribute/routes.hpp"
#include "relayout/redistribute.hpp"

namespace relayout {

/// Digests of a rank's plan, which are equal on all ranks.
struct PlanDigest {
  std::array<std::uint64_t, 6> words{};  // input, axes, output, types, options, kind of device
};
PlanDigest digest_of(const Group& group, const Distribution& in, const std::vector<int>& axes,
                     const Distribution& out, DType in_type, DType out_type,
                     const RedistributeOptions& options);

/// Tells the other ranks what this one plans and where its outputs lie, or that it cannot plan (no problem);
/// waits for them. The problem gets the outputs of the other ranks, or why there are none. Error
/// {invalid_argument} on every rank that could plan, which names a rank that could not, or one whose plan is
/// another and in what; {vendor}, {timeout}. Nothing where all ranks are this process's.
void agree(const Group& group, const PlanDigest& digest, RedistributeProblem* problem);

/// Tells the other ranks how long the ways take that this one can go, or that it has none (null); waits for
/// them. A route is then possible where all ranks can go it, and takes as long as on the slowest. Errors as
/// above. Nothing where all ranks are this process's.
void agree(const Group& group, std::vector<Route>* routes);

}  // namespace relayout
