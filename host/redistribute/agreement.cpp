#include "host/redistribute/agreement.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "host/redistribute/checks.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

/// FNV-1a, of whole words.
class Digest {
 public:
  Digest& add(std::uint64_t word) {
    for (int byte = 0; byte < 8; ++byte) value_ = (value_ ^ (word >> (8 * byte) & 0xFF)) * 0x100000001b3u;
    return *this;
  }
  template <class Words>
  Digest& add_all(const Words& words) {
    add(words.size());
    for (const auto word : words) add(static_cast<std::uint64_t>(word));
    return *this;
  }
  std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

std::uint64_t digest_of(const Distribution& distribution) {
  Digest digest;
  digest.add_all(distribution.shape()).add(static_cast<std::uint64_t>(distribution.ranks()));
  for (int rank = 0; rank < distribution.ranks(); ++rank)
    digest.add_all(distribution.box(rank).begin).add_all(distribution.box(rank).end);
  return digest.value();
}

constexpr const char* kNames[] = {"input distribution", "order of axes", "output distribution",
                                  "element types",      "cast or route", "kind of device"};

void check_could_plan(int rank, std::uint64_t could_plan) {
  if (could_plan != 1)
    fail_redistribute(ErrorCode::invalid_argument,
                      "rank " + std::to_string(rank) + " could not plan; its own error says why");
}

/// What a rank tells before its routes are planned.
struct ToldPlan {
  std::uint64_t could_plan = 0;
  PlanDigest digest;
  std::int64_t output = -1;  // which of the shared ones; -1: none, -2: it has no elements
  std::int64_t offset = 0;   // of its first element there, in bytes
  std::array<std::int64_t, kMaxRank> strides{};
};

struct ToldRoutes {
  std::uint64_t could_plan = 0;
  std::array<double, kRouteWays> microseconds{};  // of each way to go one; negative: it cannot
};

/// Where this rank's output lies among what the ranks share.
void find_output(const Group::State& group, const TensorView& out, ToldPlan& own) {
  std::copy(out.strides().begin(), out.strides().end(), own.strides.begin());
  if (out.elements() == 0) {
    own.output = -2;
    return;
  }
  const TensorView::ByteRange range = out.byte_range();
  const auto* const first = static_cast<const char*>(out.data());
  const auto rank = static_cast<std::size_t>(group.local_ranks.front());
  for (std::size_t i = 0; first != nullptr && i < group.shared_outputs.size(); ++i) {
    const SharedMemory::Part& part = group.shared_outputs[i].parts[rank];
    const std::less_equal<const char*> before;
    if (!before(part.memory, first + range.begin) || !before(first + range.end, part.memory + part.bytes))
      continue;
    own.output = static_cast<std::int64_t>(i);
    own.offset = first - part.memory;
  }
}

/// The outputs of all ranks in memory that this one reaches, or why it does not.
void take_outputs(const Group& group, const std::vector<ToldPlan>& told, RedistributeProblem& problem) {
  const auto& shared = group.state().shared_outputs;
  for (int rank = 0; rank < group.ranks() && problem.no_outputs.empty(); ++rank) {
    const ToldPlan& one = told[static_cast<std::size_t>(rank)];
    const Dims shape = problem.out_distribution.box(rank).shape();
    const Dims strides(one.strides.begin(), one.strides.begin() + static_cast<std::ptrdiff_t>(shape.size()));
    char* memory = nullptr;
    if (one.output >= 0) {
      const SharedMemory& output = shared[static_cast<std::size_t>(one.output)];
      problem.no_outputs = output.reason;
      if (output.reason.empty()) memory = output.parts[static_cast<std::size_t>(rank)].memory + one.offset;
    } else if (one.output == -1) {
      problem.no_outputs = "the output of rank " + std::to_string(rank) +
                           " is planned without memory, or in memory that is not registered "
                           "(Group::register_output)";
    }
    problem.all_outputs.emplace_back(memory, problem.out_type, shape, strides);
  }
}

}  // namespace

PlanDigest digest_of(const Group& group, const Distribution& in, const std::vector<int>& axes,
                     const Distribution& out, DType in_type, DType out_type,
                     const RedistributeOptions& options) {
  const auto number = [](auto value) { return static_cast<std::uint64_t>(value); };
  const CastOptions& cast = options.cast;
  PlanDigest digest;
  digest.words = {digest_of(in),
                  Digest().add_all(axes).value(),
                  digest_of(out),
                  Digest().add(number(in_type)).add(number(out_type)).value(),
                  Digest()
                      .add(cast.rounding ? number(*cast.rounding) + 1 : 0)
                      .add(number(cast.saturate_fp8))
                      .add(number(cast.integer_overflow))
                      .add(options.route ? number(*options.route) + 1 : 0)
                      .value(),
                  Digest().add_all(group.state().streams.front().device().properties().architecture).value()};
  return digest;
}

void agree(const Group& group, const PlanDigest& digest, RedistributeProblem* problem) {
  const Group::State& state = group.state();
  if (state.communicator == nullptr) return;
  ToldPlan own;
  own.could_plan = problem != nullptr ? 1 : 0;
  own.digest = digest;
  if (problem != nullptr) find_output(state, problem->out.front(), own);
  const std::vector<ToldPlan> all = state.told_by_all(own, "their plans");
  if (problem == nullptr) return;
  const std::string here = std::to_string(group.local_ranks().front());
  for (int rank = 0; rank < group.ranks(); ++rank) {
    const ToldPlan& one = all[static_cast<std::size_t>(rank)];
    check_could_plan(rank, one.could_plan);
    for (std::size_t i = 0; i < digest.words.size(); ++i)
      if (one.digest.words[i] != digest.words[i])
        fail_redistribute(
            ErrorCode::invalid_argument,
            "rank " + std::to_string(rank) + " plans with another " + kNames[i] + " than rank " + here);
  }
  take_outputs(group, all, *problem);
}

void agree(const Group& group, std::vector<Route>* routes) {
  const Group::State& state = group.state();
  if (state.communicator == nullptr) return;
  ToldRoutes own;
  own.could_plan = routes != nullptr ? 1 : 0;
  for (std::size_t i = 0; routes != nullptr && i < routes->size(); ++i)
    own.microseconds[i] = (*routes)[i].possible ? (*routes)[i].microseconds : -1;
  const std::vector<ToldRoutes> all = state.told_by_all(own, "their routes");
  if (routes == nullptr) return;
  for (int rank = 0; rank < group.ranks(); ++rank) {
    const ToldRoutes& one = all[static_cast<std::size_t>(rank)];
    check_could_plan(rank, one.could_plan);
    for (std::size_t i = 0; i < routes->size(); ++i) {
      Route& route = (*routes)[i];
      if (route.possible && one.microseconds[i] < 0) {
        route.possible = false;
        route.reason = "rank " + std::to_string(rank) + " cannot; its own plan says why";
      }
      route.microseconds = std::max(route.microseconds, one.microseconds[i]);
    }
  }
}

}  // namespace relayout
