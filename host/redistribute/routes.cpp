#include "host/redistribute/routes.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "host/api/checks.hpp"
#include "host/api/copy.hpp"
#include "host/api/plan_checks.hpp"
#include "host/plan/copy/cast_rule.hpp"
#include "host/plan/copy/copy_nest.hpp"
#include "host/plan/copy/tile_tuning.hpp"
#include "host/redistribute/link_model.hpp"

namespace relayout {
namespace {

/// Workspaces, and messages in them, begin on a line of every cache.
constexpr std::int64_t kWorkspaceAlignment = 256;
constexpr int kMostChunks = 16;
constexpr const char* kOtherProcesses = "the ranks are processes of their own";
/// Bytes between rows that the copy engines of both vendors take.
constexpr std::int64_t kMostPitch = (std::int64_t{1} << 31) - 1;

/// A part of a tensor and where run() finds it. A null pointer is planned as an aligned one, far from every
/// other: views reach over 2^57 bytes at most.
struct Part {
  TensorView view;
  Place place;
};

TensorView with_address(const TensorView& view, Place::Memory memory) {
  if (view.data() != nullptr) return view;
  const std::uintptr_t far = std::uintptr_t{1} << (60 + static_cast<int>(memory));
  return at_address(view, reinterpret_cast<const void*>(far));  // NOLINT(performance-no-int-to-ptr)
}

/// The box within the view of what a rank holds, both in the view's axes.
Part part_of(const TensorView& planned, const Box& held, const Box& box, const Place& whole) {
  const TensorView base = with_address(planned, whole.memory);
  Part part{base, whole};
  for (int axis = 0; axis < base.rank(); ++axis) {
    const auto k = static_cast<std::size_t>(axis);
    part.view = part.view.slice(axis, box.begin[k] - held.begin[k], box.end[k] - held.begin[k]);
  }
  part.place.offset = static_cast<const char*>(part.view.data()) - static_cast<const char*>(base.data());
  return part;
}

/// Makes the parts, kernels and transfers of a route.
class RouteBuilder {
 public:
  RouteBuilder(const RedistributeProblem& problem, RedistributeRoute route)
      : p_(problem),
        state_(problem.group.state()),
        model_(plan::link_model(first().properties(), is_one_process())),
        time_(model_) {
    result_.route = route;
    result_.workspace_bytes.assign(state_.local_ranks.size(), 0);
  }

  const RedistributeProblem& problem() const noexcept { return p_; }
  const plan::LinkModel& model() const noexcept { return model_; }
  int local(int rank) const noexcept { return state_.local(rank); }
  Route& result() noexcept { return result_; }
  plan::RouteTime& time() noexcept { return time_; }

  /// What is read and what is written, each with its own axes; of local ranks.
  Part input(const plan::BoxMove& move) const {
    const int from = local(move.from);
    return part_of(p_.in[static_cast<std::size_t>(from)], p_.in_distribution.box(move.from), move.box,
                   {Place::Memory::input, from, 0});
  }
  Part output(const plan::BoxMove& move) const {
    const int to = local(move.to);
    return part_of(p_.out[static_cast<std::size_t>(to)], p_.out_distribution.box(move.to),
                   plan::permuted(move.box, p_.axes), {Place::Memory::output, to, 0});
  }
  /// Room for a message of this shape in a local rank's workspace.
  Part workspace(int local, DType type, const Dims& shape) {
    std::size_t& used = result_.workspace_bytes[static_cast<std::size_t>(local)];
    const auto offset = static_cast<std::int64_t>(used);
    const TensorView none(nullptr, type, shape);
    used += static_cast<std::size_t>((none.byte_range().end + kWorkspaceAlignment - 1) / kWorkspaceAlignment *
                                     kWorkspaceAlignment);
    return {with_address(none, Place::Memory::workspace), {Place::Memory::workspace, local, offset}};
  }

  RouteKernel kernel(int local, const plan::BoxMove& move, const Part& in, const Part& out) {
    const Device& device = state_.streams[static_cast<std::size_t>(local)].device();
    const bool casts = in.view.dtype() != out.view.dtype();
    RouteKernel kernel{
        local,
        move.from,
        move.to,
        keep_plan("redistribute", device, in.view, out.view, {{}, false, casts ? p_.cast : CastOptions{}}),
        in.place,
        out.place};
    time_.add_kernel(device_of(local), kernel.plan.state().copy.microseconds,
                     bytes_of(in.view) + bytes_of(out.view));
    return kernel;
  }
  /// All of a move, by a local rank that reaches both sides.
  RouteKernel whole(int rank, const plan::BoxMove& move) {
    Part in = input(move);
    in.view = in.view.permuted(p_.axes);
    return kernel(local(rank), move, in, output(move));
  }
  void within(const plan::BoxMove& move) {
    if (local(move.from) >= 0) result_.within.push_back(whole(move.from, move));
  }
  void transfer(RouteChunk& chunk, RouteTransfer transfer) {
    time_.add_copy(device_of_rank(transfer.from), device_of_rank(transfer.to),
                   static_cast<double>(transfer.bytes()), static_cast<double>(transfer.width));
    chunk.transfers.push_back(transfer);
  }

  /// The first local rank on the same device.
  int device_of(int local) const {
    const auto is_same = [&](const Stream& stream) {
      return same_device(stream.device(), state_.streams[static_cast<std::size_t>(local)].device());
    };
    return static_cast<int>(std::find_if(state_.streams.begin(), state_.streams.end(), is_same) -
                            state_.streams.begin());
  }
  /// Other processes have devices of their own.
  int device_of_rank(int rank) const {
    return local(rank) >= 0 ? device_of(local(rank)) : state_.ranks() + rank;
  }
  bool is_one_process() const noexcept { return state_.communicator == nullptr; }
  static double bytes_of(const TensorView& view) {
    return static_cast<double>(view.elements()) * static_cast<double>(size_of(view.dtype()));
  }

  Route finish(double more_microseconds = 0) {
    result_.possible = true;
    result_.microseconds = time_.microseconds() + more_microseconds;
    return std::move(result_);
  }
  Route refuse(std::string reason) {
    Route refused;
    refused.route = result_.route;
    refused.reason = std::move(reason);
    return refused;
  }

 private:
  const Device& first() const noexcept { return state_.streams.front().device(); }

  const RedistributeProblem& p_;
  const Group::State& state_;
  const plan::LinkModel& model_;
  plan::RouteTime time_;
  Route result_;
};

/// The share of the link's speed that the runs of a kernel's crossing side reach.
double share_of_runs(const CopySide& side, const plan::LinkModel& model) {
  return plan::run_share(static_cast<double>(std::max<std::int64_t>(side.run_bytes, 32)), model.lost_per_run);
}

/// A message of a staged route. It crosses in the narrower type, packed in the output's order or still in the
/// input's. A side that lies like the message needs no kernel and no workspace.
void stage(RouteBuilder& b, const plan::BoxMove& move, RouteChunk& chunk) {
  const RedistributeProblem& p = b.problem();
  const int from = b.local(move.from), to = b.local(move.to);
  const std::size_t in_size = size_of(p.in_type), out_size = size_of(p.out_type);
  // Processes that do not see each other's strides go by the types alone.
  const bool in_order =
      in_size < out_size || (in_size == out_size && b.is_one_process() &&
                             b.input(move).view.is_contiguous() && !b.output(move).view.is_contiguous());
  const DType type = in_order ? p.in_type : p.out_type;
  const Dims shape = in_order ? move.box.shape() : plan::permuted(move.box, p.axes).shape();
  const auto lies_like_it = [&](const Part& part) {
    return part.view.dtype() == type && part.view.is_contiguous();
  };

  RouteTransfer transfer;
  transfer.from = move.from;
  transfer.to = move.to;
  transfer.width = static_cast<std::size_t>(move.box.elements()) * size_of(type);
  transfer.source_pitch = transfer.destination_pitch = transfer.width;
  if (from >= 0) {
    Part in = b.input(move);
    if (!in_order) in.view = in.view.permuted(p.axes);
    if (lies_like_it(in)) {
      transfer.source = in.place;
    } else {
      const Part packed = b.workspace(from, type, shape);
      chunk.packs.push_back(b.kernel(from, move, in, packed));
      transfer.source = packed.place;
    }
  }
  if (to >= 0) {
    Part out = b.output(move);
    if (in_order) out.view = out.view.permuted(plan::inverse(p.axes));
    if (lies_like_it(out)) {
      transfer.destination = out.place;
    } else {
      const Part arrived = b.workspace(to, type, shape);
      chunk.unpacks.push_back(b.kernel(to, move, arrived, out));
      transfer.destination = arrived.place;
    }
  }
  b.transfer(chunk, transfer);
}

/// Parts of a message: each more overlaps packing and unpacking with the link, and costs a copy's start.
int chunks_of(const RedistributeProblem& problem, const plan::LinkModel& model) {
  std::map<int, double> sent;
  for (const plan::BoxMove& move : problem.moves)
    if (move.from != move.to) sent[move.from] += static_cast<double>(move.box.elements());
  double most = 0;
  for (const auto& rank : sent) most = std::max(most, rank.second);
  const double bytes = most * static_cast<double>(size_of(problem.in_type) + size_of(problem.out_type));
  const double parts = std::sqrt(2 * bytes / model.memory / std::max(model.message, 1.0));
  return static_cast<int>(std::min(std::max(std::round(parts), 1.0), static_cast<double>(kMostChunks)));
}

/// The time of a chunk's kernels, which the link waits for at the start and which wait for it at the end.
double exposed_microseconds(const RouteBuilder& b, const RouteChunk& chunk) {
  plan::RouteTime time(b.model());
  for (const auto* kernels : {&chunk.packs, &chunk.unpacks})
    for (const RouteKernel& kernel : *kernels) {
      const CopyPlan::State& state = kernel.plan.state();
      time.add_kernel(b.device_of(kernel.local), state.copy.microseconds,
                      RouteBuilder::bytes_of(state.in) + RouteBuilder::bytes_of(state.out));
    }
  return time.microseconds() - b.model().start;
}

/// The move as one copy of rows of bytes, where it is one.
bool as_rows(const RedistributeProblem& p, const Part& in, const Part& out, RouteTransfer& transfer) {
  if (!keeps_bits(p.in_type, p.out_type, p.cast)) return false;
  const plan::LoopNest nest = plan::common_nest(out.view, in.view.permuted(p.axes));
  if (nest.operands() != 2 || nest.rank() > 2) return false;
  const auto size = static_cast<std::int64_t>(size_of(p.out_type));
  transfer.destination = out.place;
  transfer.destination.offset += nest.offsets[0] * size;
  transfer.source = in.place;
  transfer.source.offset += nest.offsets[1] * size;
  // Of a single column, the rows are an element each.
  const int inner = nest.rank() > 0 && nest.strides[0].back() == 1 && nest.strides[1].back() == 1
                        ? nest.rank() - 1
                        : nest.rank();
  const std::int64_t width = inner < nest.rank() ? nest.extents[static_cast<std::size_t>(inner)] : 1;
  if (inner > 1) return false;
  std::int64_t rows = 1, pitch = width, source_pitch = width;
  if (inner == 1) {
    rows = nest.extents[0];
    pitch = nest.strides[0][0];
    source_pitch = nest.strides[1][0];
    if (std::min(pitch, source_pitch) < width || std::max(pitch, source_pitch) > kMostPitch / size)
      return false;
  }
  transfer.width = static_cast<std::size_t>(width * size);
  transfer.rows = static_cast<std::size_t>(rows);
  transfer.destination_pitch = static_cast<std::size_t>(pitch * size);
  transfer.source_pitch = static_cast<std::size_t>(source_pitch * size);
  return true;
}

}  // namespace

Route direct_route(const RedistributeProblem& problem) {
  RouteBuilder b(problem, RedistributeRoute::direct);
  if (!b.is_one_process()) return b.refuse(kOtherProcesses);
  for (const plan::BoxMove& move : problem.moves) {
    if (move.from == move.to) {
      b.within(move);
      continue;
    }
    // The side that sends writes, because a store waits for nothing; the side that receives reads where that
    // makes fewer bytes cross.
    const bool reads = size_of(problem.in_type) < size_of(problem.out_type);
    const int runs = reads ? move.to : move.from, other = reads ? move.from : move.to;
    if (!problem.group.reaches(runs, other))
      return b.refuse("kernels of rank " + std::to_string(runs) + " do not reach the memory of rank " +
                      std::to_string(other));
    RouteKernel kernel = b.whole(runs, move);
    const Device& device = problem.group.stream(runs).device();
    if (device.kind() == DeviceKind::gpu) {
      const CopyDetails details = kernel.plan.details();
      const CopySide& crossing = reads ? details.in : details.out;
      b.time().add_bytes(b.device_of(b.local(move.from)), b.device_of(b.local(move.to)),
                         static_cast<double>(crossing.bytes), share_of_runs(crossing, b.model()));
    }
    b.result().across.push_back(std::move(kernel));
  }
  return b.finish();
}

Route staged_route(const RedistributeProblem& problem) {
  RouteBuilder b(problem, RedistributeRoute::staged);
  const int parts = chunks_of(problem, b.model());
  std::vector<RouteChunk>& chunks = b.result().chunks;
  for (const plan::BoxMove& move : problem.moves) {
    if (move.from == move.to) {
      b.within(move);
      continue;
    }
    if (b.local(move.from) < 0 && b.local(move.to) < 0) continue;
    const std::vector<plan::BoxMove> cut = plan::pieces(move, problem.axes, parts);
    if (chunks.size() < cut.size()) chunks.resize(cut.size());
    for (std::size_t i = 0; i < cut.size(); ++i) stage(b, cut[i], chunks[i]);
  }
  return b.finish(chunks.empty() ? 0 : exposed_microseconds(b, chunks.front()));
}

Route copy_engine_route(const RedistributeProblem& problem) {
  RouteBuilder b(problem, RedistributeRoute::copy_engine);
  if (!b.is_one_process()) return b.refuse(kOtherProcesses);
  RouteChunk chunk;
  for (const plan::BoxMove& move : problem.moves) {
    if (move.from == move.to) {
      b.within(move);
      continue;
    }
    RouteTransfer transfer;
    transfer.from = move.from;
    transfer.to = move.to;
    if (!as_rows(problem, b.input(move), b.output(move), transfer))
      return b.refuse("what rank " + std::to_string(move.from) + " sends to rank " + std::to_string(move.to) +
                      " is more than rows of bytes");
    b.transfer(chunk, transfer);
  }
  if (!chunk.transfers.empty()) b.result().chunks.push_back(std::move(chunk));
  return b.finish();
}

}  // namespace relayout
