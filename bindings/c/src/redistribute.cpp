// Distributions, groups, and redistributions between them.
#include "relayout/redistribute.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "bindings/c/src/handles.hpp"
#include "bindings/c/src/options.hpp"
#include "bindings/c/src/tensors.hpp"

using namespace relayout;
using c::check_given;
using c::guarded;

struct relayout_distribution {
  Distribution distribution;
};

struct relayout_group {
  Group group;
};

/// Runs of a plan are queued one at a time.
struct relayout_redistribution {
  RedistributePlan plan;
  std::size_t local_ranks;
  mutable std::mutex turn;
};

namespace {

constexpr relayout_redistribute_options kDefaults = {
    sizeof(relayout_redistribute_options), UINT64_MAX, RELAYOUT_REDISTRIBUTE_FASTEST, 0, 1, 0};
static_assert(static_cast<int>(RedistributeRoute::direct) == RELAYOUT_REDISTRIBUTE_DIRECT - 1);
static_assert(static_cast<int>(RedistributeRoute::staged) == RELAYOUT_REDISTRIBUTE_STAGED - 1);
static_assert(static_cast<int>(RedistributeRoute::copy_engine) == RELAYOUT_REDISTRIBUTE_COPY_ENGINE - 1);
static_assert(static_cast<int>(RedistributeRoute::joined) == RELAYOUT_REDISTRIBUTE_JOINED - 1);

/// Makes a handle and gives it to the caller.
template <class Handle, class F>
relayout_status make(Handle** handle, const char* name, F&& made) noexcept {
  return guarded([&] {
    check_given(handle, name);
    *handle = nullptr;
    *handle = std::make_unique<Handle>(Handle{std::forward<F>(made)()}).release();
  });
}

Dims dims_of(const int64_t* numbers, int32_t count, const char* name) {
  if (count < 0 || count > kMaxRank)
    throw Error(ErrorCode::rank,
                "ndim is " + std::to_string(count) + ", and relayout takes 0 to " + std::to_string(kMaxRank));
  if (count > 0) check_given(numbers, name);
  return Dims(numbers, numbers + count);
}

Distribution boxes_of(int32_t ndim, const int64_t* shape, int32_t ranks, const int64_t* begins,
                      const int64_t* ends) {
  const Dims global = dims_of(shape, ndim, "shape");
  std::vector<Box> boxes;
  for (int32_t rank = 0; rank < ranks; ++rank) {
    const std::ptrdiff_t first = std::ptrdiff_t{rank} * ndim;
    if (ndim > 0) check_given(begins, "begins"), check_given(ends, "ends");
    boxes.push_back({dims_of(begins + first, ndim, "begins"), dims_of(ends + first, ndim, "ends")});
  }
  return Distribution(global, std::move(boxes));
}

const Group& group_of(const relayout_group* group) {
  check_given(group, "group");
  return group->group;
}

const Distribution& distribution_of(const relayout_distribution* distribution, const char* name) {
  check_given(distribution, name);
  return distribution->distribution;
}

RedistributeOptions options_of(const relayout_redistribute_options* options) {
  const relayout_redistribute_options read = c::read_options(options, kDefaults);
  relayout_copy_options copy = c::kCopyDefaults;
  copy.rounding = read.rounding;
  copy.saturate_fp8 = read.saturate_fp8;
  copy.saturate_integers = read.saturate_integers;
  RedistributeOptions made;
  made.cast = c::copy_options(&copy).cast;
  c::enumerator<int>(read.route, RELAYOUT_REDISTRIBUTE_JOINED + 1, "route");
  if (read.route != RELAYOUT_REDISTRIBUTE_FASTEST)
    made.route = static_cast<RedistributeRoute>(read.route - 1);
  made.workspace_limit = read.workspace_limit;
  return made;
}

/// The tensors of this process's ranks.
struct Views {
  std::vector<TensorView> in, out;
};

Views views_of(const Group& group, const relayout_tensor* in, const relayout_tensor* out) {
  check_given(in, "in");
  check_given(out, "out");
  Views views;
  for (const int rank : group.local_ranks()) {
    const auto [from, to] =
        c::moved_views(group.stream(rank).device(), in + views.in.size(), out + views.out.size());
    views.in.push_back(from);
    views.out.push_back(to);
  }
  return views;
}

/// What a redistribution is given, as the C++ functions take it.
struct Arguments {
  const Group& group;
  const Distribution &in_distribution, &out_distribution;
  Views views;
  std::vector<int> axes;
  RedistributeOptions options;
};

Arguments arguments_of(const relayout_group* group, const relayout_distribution* in_distribution,
                       const relayout_tensor* in, const int32_t* axes, int32_t axis_count,
                       const relayout_distribution* out_distribution, const relayout_tensor* out,
                       const relayout_redistribute_options* options) {
  const Group& over = group_of(group);
  const Distribution& from = distribution_of(in_distribution, "in_distribution");
  const Distribution& to = distribution_of(out_distribution, "out_distribution");
  try {
    return {over, from, to, views_of(over, in, out), c::axes_of(axes, axis_count), options_of(options)};
  } catch (...) {
    try {
      plan_redistribute(over, from, {}, {}, to, {});  // fails, and tells ranks of other processes
    } catch (const Error&) {
    }
    throw;
  }
}

/// Pointers, one for each rank of this process; none for a null array.
template <class Pointer>
std::vector<Pointer> pointers_of(const relayout_redistribution& plan, const Pointer* pointers) {
  if (pointers == nullptr) return {};
  return std::vector<Pointer>(pointers, pointers + plan.local_ranks);
}

}  // namespace

extern "C" {

relayout_status relayout_distribution_create(int32_t ndim, const int64_t* shape, int32_t ranks,
                                             const int64_t* begins, const int64_t* ends,
                                             relayout_distribution** distribution) {
  return make(distribution, "distribution", [&] { return boxes_of(ndim, shape, ranks, begins, ends); });
}

relayout_status relayout_distribution_split(int32_t ndim, const int64_t* shape, int32_t axis, int32_t ranks,
                                            relayout_distribution** distribution) {
  return make(distribution, "distribution",
              [&] { return Distribution::split(dims_of(shape, ndim, "shape"), axis, ranks); });
}

relayout_status relayout_distribution_replicated(int32_t ndim, const int64_t* shape, int32_t ranks,
                                                 relayout_distribution** distribution) {
  return make(distribution, "distribution",
              [&] { return Distribution::replicated(dims_of(shape, ndim, "shape"), ranks); });
}

relayout_status relayout_distribution_box(const relayout_distribution* distribution, int32_t rank,
                                          int64_t* begin, int64_t* end) {
  return guarded([&] {
    const Box& box = distribution_of(distribution, "distribution").box(rank);
    if (!box.begin.empty()) check_given(begin, "begin"), check_given(end, "end");
    std::copy(box.begin.begin(), box.begin.end(), begin);
    std::copy(box.end.begin(), box.end.end(), end);
  });
}

void relayout_distribution_destroy(relayout_distribution* distribution) { delete distribution; }

relayout_status relayout_group_create(const relayout_stream* const* streams, int32_t count,
                                      relayout_group** group) {
  return make(group, "group", [&] {
    std::vector<Stream> given;
    if (count > 0) check_given(streams, "streams");
    given.reserve(static_cast<std::size_t>(std::max(count, 0)));
    for (int32_t i = 0; i < count; ++i) given.push_back(c::stream_of(streams[i]));
    return Group(given);
  });
}

relayout_status relayout_group_emulated(const relayout_device* device, int32_t ranks,
                                        relayout_group** group) {
  return make(group, "group", [&] { return Group::emulated(ranks, c::device_of(device)); });
}

relayout_status relayout_group_from_nccl(void* communicator, const relayout_stream* stream,
                                         relayout_group** group) {
  return make(group, "group", [&] { return Group::from_nccl(communicator, c::stream_of(stream)); });
}

relayout_status relayout_group_ranks(const relayout_group* group, int32_t* ranks, int32_t* local_ranks) {
  return guarded([&] {
    const Group& asked = group_of(group);
    check_given(ranks, "ranks");
    check_given(local_ranks, "local_ranks");
    *ranks = asked.ranks();
    *local_ranks = static_cast<int32_t>(asked.local_ranks().size());
  });
}

relayout_status relayout_group_local_rank(const relayout_group* group, int32_t index, int32_t* rank) {
  return guarded([&] {
    const std::vector<int>& ranks = group_of(group).local_ranks();
    check_given(rank, "rank");
    if (index < 0 || index >= static_cast<int32_t>(ranks.size()))
      throw Error(ErrorCode::invalid_argument, "index is " + std::to_string(index) +
                                                   ", and this process has " + std::to_string(ranks.size()) +
                                                   " ranks");
    *rank = ranks[static_cast<std::size_t>(index)];
  });
}

relayout_status relayout_group_set_time_limit(const relayout_group* group, double seconds) {
  return guarded([&] { group_of(group).set_time_limit(seconds); });
}

relayout_status relayout_group_register_workspace(const relayout_group* group, void* memory, uint64_t bytes) {
  return guarded([&] { group_of(group).register_workspace(memory, bytes); });
}
relayout_status relayout_group_register_output(const relayout_group* group, void* memory, uint64_t bytes) {
  return guarded([&] { group_of(group).register_output(memory, bytes); });
}

relayout_status relayout_group_close(const relayout_group* group) {
  return guarded([&] { group_of(group).close(); });
}

relayout_status relayout_group_synchronize(const relayout_group* group) {
  return guarded([&] { group_of(group).synchronize(); });
}

void relayout_group_destroy(relayout_group* group) { delete group; }

relayout_status relayout_redistribute_options_init(relayout_redistribute_options* options,
                                                   uint64_t struct_size) {
  return c::set_defaults(options, struct_size, kDefaults);
}

relayout_status relayout_redistribute(const relayout_group* group,
                                      const relayout_distribution* in_distribution, const relayout_tensor* in,
                                      const int32_t* axes, int32_t axis_count,
                                      const relayout_distribution* out_distribution,
                                      const relayout_tensor* out,
                                      const relayout_redistribute_options* options) {
  return guarded([&] {
    const Arguments a =
        arguments_of(group, in_distribution, in, axes, axis_count, out_distribution, out, options);
    redistribute(a.group, a.in_distribution, a.views.in, a.axes, a.out_distribution, a.views.out, a.options);
  });
}

relayout_status relayout_plan_redistribute(const relayout_group* group,
                                           const relayout_distribution* in_distribution,
                                           const relayout_tensor* in, const int32_t* axes, int32_t axis_count,
                                           const relayout_distribution* out_distribution,
                                           const relayout_tensor* out,
                                           const relayout_redistribute_options* options,
                                           relayout_redistribution** plan) {
  return guarded([&] {
    check_given(plan, "plan");
    *plan = nullptr;
    const Arguments a =
        arguments_of(group, in_distribution, in, axes, axis_count, out_distribution, out, options);
    *plan = new relayout_redistribution{plan_redistribute(a.group, a.in_distribution, a.views.in, a.axes,
                                                          a.out_distribution, a.views.out, a.options),
                                        a.views.in.size(),
                                        {}};
  });
}

relayout_status relayout_redistribution_run(const relayout_redistribution* plan, void* const* workspaces) {
  return guarded([&] {
    check_given(plan, "plan");
    const std::lock_guard<std::mutex> lock(plan->turn);
    plan->plan.run(pointers_of(*plan, workspaces));
  });
}

relayout_status relayout_redistribution_run_on(const relayout_redistribution* plan, const void* const* in,
                                               void* const* out, void* const* workspaces) {
  return guarded([&] {
    check_given(plan, "plan");
    check_given(in, "in");
    check_given(out, "out");
    const std::lock_guard<std::mutex> lock(plan->turn);
    plan->plan.run(pointers_of(*plan, in), pointers_of(*plan, out), pointers_of(*plan, workspaces));
  });
}

relayout_status relayout_redistribution_workspace_bytes(const relayout_redistribution* plan, int32_t rank,
                                                        uint64_t* bytes) {
  return guarded([&] {
    check_given(plan, "plan");
    check_given(bytes, "bytes");
    *bytes = plan->plan.workspace_bytes(rank);
  });
}

relayout_status relayout_redistribution_explain(const relayout_redistribution* plan, const char** text) {
  return guarded([&] {
    check_given(plan, "plan");
    check_given(text, "text");
    thread_local std::string words;
    words = plan->plan.explain();
    *text = words.c_str();
  });
}

void relayout_redistribution_destroy(relayout_redistribution* plan) { delete plan; }

}  // extern "C"
