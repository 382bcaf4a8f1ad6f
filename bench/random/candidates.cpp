#include "bench/random/candidates.hpp"

#include <algorithm>

#include "host/api/copy.hpp"
#include "host/api/depthwise.hpp"
#include "host/api/window.hpp"
#include "host/plan/depthwise/depthwise_plan.hpp"
#include "host/plan/window/window_plan.hpp"

namespace relayout::bench::random {
namespace {

constexpr double kMicrosecond = 1e-6;

std::string kind_of(const plan::CopyCandidate& candidate) {
  std::string kind = name_of(candidate.kernel);
  if (candidate.kernel == CopyKernel::rows) {
    const RowsRead read = std::get<RowsParams>(candidate.params).read;
    kind += read == RowsRead::pieces ? " pieces" : read == RowsRead::elements ? " elements" : " lanes";
  } else if (candidate.kernel == CopyKernel::tile) {
    const Assembly assembly = candidate.tile.assembly;
    kind += assembly == Assembly::scattered ? " scattered"
            : is_unaligned(assembly)        ? " unaligned"
                                            : " aligned";
  }
  return kind;
}

std::string name_of_copy(const plan::CopyProblem& problem, const plan::CopyCandidate& candidate) {
  std::string name = kind_of(candidate);
  if (candidate.kernel != CopyKernel::tile) return name;
  for (int axis = 0; axis < problem.nest.rank(); ++axis)
    name += (axis == 0 ? " " : "x") + std::to_string(candidate.tile.extent[static_cast<std::size_t>(axis)]);
  return name + " by " + std::to_string(candidate.tile.threads);
}

/// The one of the chosen name; where it is none of them, it comes in addition.
template <class Make>
void mark_chosen(std::vector<Candidate>& candidates, const std::string& name, const Make& make) {
  const auto found = std::find_if(candidates.begin(), candidates.end(),
                                  [&](const Candidate& candidate) { return candidate.name == name; });
  if (found == candidates.end()) {
    candidates.push_back(make());
    candidates.back().chosen = true;
  } else {
    found->chosen = true;
  }
}

std::vector<Candidate> of_copy(const DeviceProperties& device, const Operands& operands, std::size_t tiles) {
  const plan::CopyProblem problem = plan::copy_problem(operands.inputs[0], operands.out, {});
  const auto candidate_of = [&](const plan::CopyCandidate& found) {
    plan::PlannedCopy planned;
    static_cast<plan::CopyProblem&>(planned) = problem;
    static_cast<plan::CopyCandidate&>(planned) = found;
    planned.operation = "cast";
    return Candidate{kind_of(found), name_of_copy(problem, found), false, found.microseconds * kMicrosecond,
                     [planned](const Stream& stream, const Operands& set) {
                       launch_copy(stream, planned, {set.inputs[0].data(), set.out.data(), nullptr, nullptr});
                     }};
  };
  std::vector<Candidate> candidates;
  for (const plan::CopyCandidate& found : plan::possible_candidates(problem, device, tiles))
    candidates.push_back(candidate_of(found));
  const plan::PlannedCopy chosen = plan::plan_copy(problem, device, false);
  mark_chosen(candidates, name_of_copy(problem, chosen), [&] { return candidate_of(chosen); });
  return candidates;
}

std::string name_of_window(const plan::PlannedWindow& window) {
  if (window.inside) return "copy " + name_of_copy(window.inside->copy, window.inside->copy) + " and ends";
  const WindowParams& p = window.parts[0].params;
  std::string name = plan::name_of(p.kernel);
  if (p.kernel == WindowKernel::tile)
    name += " " + std::to_string(p.tile_channels) + "x" + std::to_string(p.tile_positions);
  return name;
}

std::vector<Candidate> of_window(const DeviceProperties& device, const Problem& problem,
                                 const Operands& operands, std::size_t tiles) {
  const TensorView &in = operands.inputs[0], &out = operands.out;
  const WindowParams window = problem.family == Family::pad
                                  ? pad_problem(in, pad_of(problem), out)
                                  : img2col_problem(in, window_of(problem), pad_of(problem), out);
  const auto candidate_of = [&](const plan::PlannedWindow& planned) {
    const std::string kind = planned.inside ? "copy " + kind_of(planned.inside->copy) + " and ends"
                                            : plan::name_of(planned.parts[0].params.kernel);
    return Candidate{kind, name_of_window(planned), false, planned.microseconds * kMicrosecond,
                     [planned](const Stream& stream, const Operands& set) {
                       launch_window(stream, planned, set.inputs[0].data(), set.out.data());
                     }};
  };
  std::vector<Candidate> candidates;
  for (const plan::WindowCandidate& found : plan::window_candidates(device, window, tiles)) {
    if (found.refused != nullptr) continue;
    plan::PlannedWindow planned;
    planned.count = 1;
    planned.parts[0].params = found.params;
    planned.microseconds = found.microseconds;
    candidates.push_back(candidate_of(planned));
  }
  const plan::PlannedWindow parts = plan::window_in_parts(device, window);
  if (parts.inside) candidates.push_back(candidate_of(parts));
  const plan::PlannedWindow chosen = plan::plan_window(device, false, window);
  mark_chosen(candidates, name_of_window(chosen), [&] { return candidate_of(chosen); });
  return candidates;
}

DepthwiseParams params_of(const Problem& problem, const Operands& set) {
  return depthwise_params(set.inputs[0], set.inputs[1], bias_of(set.inputs), activation_of(problem), set.out);
}

std::vector<Candidate> of_depthwise(const DeviceProperties& device, const Problem& problem,
                                    const Operands& operands) {
  const DepthwiseParams params = params_of(problem, operands);
  DepthwiseParams chosen = params;
  plan::plan_depthwise(device, false, chosen);
  std::vector<Candidate> candidates;
  for (const plan::DepthwiseCandidate& found : plan::depthwise_candidates(device, params)) {
    if (found.refused != nullptr) continue;
    const std::string name = plan::name_of(found.params.kernel);
    candidates.push_back({name, name, found.params.kernel == chosen.kernel, found.microseconds * kMicrosecond,
                          [problem, planned = found.params](const Stream& stream, const Operands& set) {
                            const DepthwiseParams here = params_of(problem, set);
                            DepthwiseParams there = planned;
                            there.in = here.in;
                            there.weights = here.weights;
                            there.bias = here.bias;
                            there.out = here.out;
                            launch_depthwise(stream, there);
                          }});
  }
  return candidates;
}

}  // namespace

std::vector<Candidate> candidates_of(const DeviceProperties& device, const Problem& problem,
                                     const Operands& operands, std::size_t tiles) {
  switch (problem.family) {
    case Family::permute:
    case Family::slice:
    case Family::cast:
      return of_copy(device, operands, tiles);
    case Family::img2col:
    case Family::pad:
      return of_window(device, problem, operands, tiles);
    case Family::depthwise:
      return of_depthwise(device, problem, operands);
    default:
      return {};
  }
}

}  // namespace relayout::bench::random
