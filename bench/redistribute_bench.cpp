// Redistributions between ranks, one device each where there are several GPUs, else two ranks on the one
// device: by every route, beside permute, exchange and permute as a program without relayout does it, and
// beside plain copies of the bytes that cross.
#include <algorithm>
#include <memory>

#include "bench/bench_case.hpp"
#include "bench/case_json.hpp"
#include "bench/rotation.hpp"

#include <relayout/redistribute.hpp>

namespace relayout::bench {
namespace {

using cases::PermuteCase;

/// A permutation whose input is cut along axis `in_axis` of the input, and its output along `out_axis` of the
/// output, another one, both evenly.
struct Exchange {
  const char* name;
  PermuteCase tensor;
  int in_axis, out_axis, ranks;

  Distribution in() const { return Distribution::split(tensor.shape, in_axis, ranks); }
  Distribution out() const { return Distribution::split(tensor.out_shape(), out_axis, ranks); }
  /// The output's axis in the input, and the input's in the output.
  int out_axis_in_input() const { return tensor.axes[static_cast<std::size_t>(out_axis)]; }
  int in_axis_in_output() const {
    const auto place = std::find(tensor.axes.begin(), tensor.axes.end(), in_axis);
    return static_cast<int>(place - tensor.axes.begin());
  }
};

/// What the ranks' parts, one behind the other, are to a program that knows nothing of ranks: a permutation
/// of the same tensor with both axes cut in two.
PermuteCase as_one_permutation(const Exchange& e) {
  PermuteCase c = e.tensor;
  c.shape = {e.ranks};
  std::vector<int> places;  // of the input's axes behind their cut, in the new shape
  int cut = 0;
  for (int axis = 0; axis < static_cast<int>(e.tensor.shape.size()); ++axis) {
    const std::int64_t extent = e.tensor.shape[static_cast<std::size_t>(axis)];
    if (axis == e.out_axis_in_input()) {
      cut = static_cast<int>(c.shape.size());
      c.shape.push_back(e.ranks);
    }
    places.push_back(static_cast<int>(c.shape.size()));
    c.shape.push_back(axis == e.in_axis || axis == e.out_axis_in_input() ? extent / e.ranks : extent);
  }
  c.axes = {cut};
  for (const int axis : e.tensor.axes) {
    if (axis == e.in_axis) c.axes.push_back(0);
    c.axes.push_back(places[static_cast<std::size_t>(axis)]);
  }
  return c;
}

/// The view with one axis cut in two, the outer one of `parts`, which comes first.
TensorView cut_first(const TensorView& view, int axis, int parts) {
  Dims shape = view.shape();
  shape[static_cast<std::size_t>(axis)] /= parts;
  shape.insert(shape.begin() + axis, parts);
  std::vector<int> order{axis};
  for (int k = 0; k <= view.rank(); ++k)
    if (k != axis) order.push_back(k);
  return view.reshaped(shape).permuted(order);
}

/// The ranks with their memory: on one device, their parts lie one behind the other.
struct Ranks {
  Group group;
  std::vector<Buffer> memory;
  std::vector<TensorView> in, out, sent, received;
  std::vector<void*> workspace;
  std::vector<Event> events;

  Ranks(const Stream& stream, const Exchange& e) : group(streams_of(stream, e.ranks)) {
    in = parts_of(e.tensor.in_type, e.in(), true);
    out = parts_of(e.tensor.out_type, e.out(), false);
    for (int rank = 0; rank < e.ranks; ++rank) events.push_back(Event::untimed(group.stream(rank).device()));
    group.synchronize();
  }

  static std::vector<Stream> streams_of(const Stream& stream, int ranks) {
    std::vector<Stream> streams{stream};
    const bool gpus = stream.device().kind() == DeviceKind::gpu && Device::gpu_count() >= ranks;
    for (int rank = 1; rank < ranks; ++rank) streams.emplace_back(gpus ? Device::gpu(rank) : stream.device());
    return streams;
  }
  bool on_one_device() const {
    return group.stream(0).device().to_string() == group.stream(group.ranks() - 1).device().to_string();
  }

  std::vector<TensorView> parts_of(DType type, const Distribution& distribution, bool is_filled) {
    const Dims shape = distribution.box(0).shape();
    const auto bytes = static_cast<std::size_t>(TensorView(nullptr, type, shape).byte_range().end);
    const std::size_t together = on_one_device() ? static_cast<std::size_t>(group.ranks()) : 1;
    std::vector<TensorView> views;
    for (int rank = 0; rank < group.ranks(); ++rank) {
      const std::size_t place = static_cast<std::size_t>(rank) % together;
      const Stream& stream = group.stream(rank);
      if (place == 0)
        memory.push_back(is_filled ? random_buffer(stream, type, bytes * together)
                                   : Buffer(stream.device(), bytes * together));
      views.emplace_back(static_cast<char*>(memory.back().data()) + place * bytes, type, shape);
    }
    return views;
  }

  /// What follows on any rank's stream follows what all of them held.
  void meet() {
    for (int rank = 0; rank < group.ranks(); ++rank)
      events[static_cast<std::size_t>(rank)].record(group.stream(rank));
    for (int rank = 0; rank < group.ranks(); ++rank)
      for (int other = 0; other < group.ranks(); ++other)
        if (other != rank) group.stream(rank).wait(events[static_cast<std::size_t>(other)]);
  }
};

/// call: has the waits that it needs, so that calls may follow each other as in a program's loop. The time of
/// many is that of rank 0's stream, which no other rank's falls behind.
Prepared prepared_of(const std::shared_ptr<Ranks>& ranks, const Exchange& e,
                     const std::function<void()>& call) {
  Prepared prepared;
  prepared.memory = ranks->memory;
  prepared.in_graph = false;                     // of several devices
  prepared.calls = {[ranks, call] { call(); }};  // with the ranks, to which `call` has a plain pointer
  if (ranks->on_one_device()) {
    const PermuteCase c = as_one_permutation(e);
    prepared.inputs = {TensorView(ranks->in[0].data(), c.in_type, c.shape)};
    prepared.output = TensorView(ranks->out[0].data(), c.out_type, c.out_shape());
  }
  return prepared;
}

Prepared prepare_route(const Stream& stream, const Exchange& e, std::optional<RedistributeRoute> route) {
  const auto ranks = std::make_shared<Ranks>(stream, e);
  RedistributeOptions options;
  options.route = route;
  const RedistributePlan plan =
      plan_redistribute(ranks->group, e.in(), ranks->in, e.tensor.axes, e.out(), ranks->out, options);
  for (int rank = 0; rank < e.ranks; ++rank) {
    ranks->memory.emplace_back(ranks->group.stream(rank).device(), plan.workspace_bytes(rank));
    ranks->workspace.push_back(ranks->memory.back().data());
  }
  return prepared_of(ranks, e, [ranks = ranks.get(), plan] { plan.run(ranks->workspace); });
}

/// Permute, so that what each rank gets is one piece; exchange, what stays included; permute.
Prepared prepare_three_steps(const Stream& stream, const Exchange& e) {
  const auto ranks = std::make_shared<Ranks>(stream, e);
  std::vector<CopyPlan> first, last;
  const TensorView out_of_one = ranks->out[0];
  const Dims piece = cut_first(out_of_one, e.in_axis_in_output(), e.ranks).shape();
  const auto all = Distribution::replicated(piece, e.ranks);
  ranks->sent = ranks->parts_of(e.tensor.out_type, all, false);
  ranks->received = ranks->parts_of(e.tensor.out_type, all, false);
  std::vector<int> order{0};  // of the cut input: the pieces, then the output's axes
  for (const int axis : e.tensor.axes) order.push_back(axis + 1);
  for (int rank = 0; rank < e.ranks; ++rank) {
    const auto i = static_cast<std::size_t>(rank);
    const Device& device = ranks->group.stream(rank).device();
    first.push_back(plan_cast(device, cut_first(ranks->in[i], e.out_axis_in_input(), e.ranks).permuted(order),
                              ranks->sent[i]));
    last.push_back(
        plan_cast(device, ranks->received[i], cut_first(ranks->out[i], e.in_axis_in_output(), e.ranks)));
  }
  const auto bytes =
      static_cast<std::size_t>(ranks->sent[0].byte_range().end) / static_cast<std::size_t>(e.ranks);
  return prepared_of(ranks, e, [ranks = ranks.get(), first, last, bytes] {
    const int count = ranks->group.ranks();
    for (int rank = 0; rank < count; ++rank)
      first[static_cast<std::size_t>(rank)].run(ranks->group.stream(rank));
    ranks->meet();
    for (int step = 0; step < count; ++step)
      for (int from = 0; from < count; ++from) {
        const int to = (from + step) % count;
        const auto at = [&](const std::vector<TensorView>& views, int rank, int place) {
          return static_cast<char*>(views[static_cast<std::size_t>(rank)].data()) +
                 static_cast<std::size_t>(place) * bytes;
        };
        ranks->group.stream(from).copy(at(ranks->received, to, from), at(ranks->sent, from, to), bytes);
      }
    ranks->meet();
    for (int rank = 0; rank < count; ++rank)
      last[static_cast<std::size_t>(rank)].run(ranks->group.stream(rank));
  });
}

/// Each rank copies to every other one as many bytes as the exchange needs: what the link can do.
Prepared prepare_copies(const Stream& stream, const Exchange& e) {
  const auto ranks = std::make_shared<Ranks>(stream, e);
  const auto least = std::min(ranks->in[0].byte_range().end, ranks->out[0].byte_range().end);
  const auto bytes = static_cast<std::size_t>(least / e.ranks);
  return prepared_of(ranks, e, [ranks = ranks.get(), bytes] {
    const int count = ranks->group.ranks();
    for (int step = 1; step < count; ++step)
      for (int from = 0; from < count; ++from) {
        const int to = (from + step) % count;
        ranks->group.stream(from).copy(static_cast<char*>(ranks->out[static_cast<std::size_t>(to)].data()) +
                                           static_cast<std::size_t>(from) * bytes,
                                       static_cast<char*>(ranks->in[static_cast<std::size_t>(from)].data()) +
                                           static_cast<std::size_t>(to) * bytes,
                                       bytes);
      }
    ranks->meet();
  });
}

BenchCase case_of(const Exchange& e, const std::string& way,
                  const std::function<Prepared(const Stream&, const Exchange&)>& prepare) {
  const PermuteCase& c = e.tensor;
  const Operand in = contiguous_operand(c.in_type, c.shape),
                out = contiguous_operand(c.out_type, c.out_shape());
  const int devices = std::max(1, std::min(e.ranks, Device::gpu_count()));
  const std::string types = std::string(name_of(c.in_type)) +
                            (c.in_type == c.out_type ? "" : std::string("-") + name_of(c.out_type));
  return {"redistribute",
          std::string(e.name) + "-" + way + "/" + types + "/" + joined(c.shape) + "/" +
              std::to_string(e.ranks) + "ranks-" + std::to_string(devices) + "devices",
          in.bytes() + out.bytes(),
          parameters_of(as_one_permutation(e)),
          "cut along axis " + std::to_string(e.in_axis) + ", then " + std::to_string(e.out_axis) + ": " +
              printed(c),
          [e, prepare](const Stream& stream) { return prepare(stream, e); }};
}

Exchange exchange_of(const char* name, DType in, DType out, Dims shape, std::vector<int> axes, int in_axis,
                     int out_axis, int ranks) {
  PermuteCase c;
  c.in_type = in;
  c.out_type = out;
  c.shape = std::move(shape);
  c.axes = std::move(axes);
  return {name, c, in_axis, out_axis, ranks};
}

std::vector<Exchange> exchanges(Sizes sizes) {
  const auto square = [](std::int64_t n, DType in, DType out, int ranks) {
    return exchange_of("transpose", in, out, {n, n}, {1, 0}, 0, 0, ranks);
  };
  const auto heads = [](std::int64_t batch, std::int64_t sequence, std::int64_t count, std::int64_t channels,
                        int ranks) {
    return exchange_of("heads", DType::f16, DType::f16, {batch, sequence, count, channels}, {0, 1, 2, 3}, 1,
                       2, ranks);
  };
  if (sizes == Sizes::smoke) return {square(48, DType::f32, DType::f32, 3), heads(2, 12, 4, 5, 2)};
  if (sizes == Sizes::cpu)
    return {square(4096, DType::f32, DType::f32, 2), square(4096, DType::f32, DType::bf16, 2),
            heads(1, 8192, 32, 128, 2)};
  const int ranks = std::max(2, Device::gpu_count());
  return {square(1024, DType::f32, DType::f32, ranks),
          square(4096, DType::f32, DType::f32, ranks),
          square(8192, DType::f32, DType::f32, ranks),
          square(16384, DType::f32, DType::f32, ranks),
          square(32768, DType::f16, DType::f16, ranks),
          square(16384, DType::f32, DType::bf16, ranks),
          heads(1, 32768, 32, 128, ranks),
          heads(2, 8192, 32, 128, ranks)};
}

}  // namespace

BenchCases redistribute_cases(Sizes sizes) {
  BenchCases list;
  for (const Exchange& e : exchanges(sizes)) {
    const auto add_route = [&](const char* way, std::optional<RedistributeRoute> route) {
      list.push_back(case_of(e, way, [route](const Stream& stream, const Exchange& exchange) {
        return prepare_route(stream, exchange, route);
      }));
    };
    add_route("best", {});
    add_route("direct", RedistributeRoute::direct);
    add_route("staged", RedistributeRoute::staged);
    add_route("joined", RedistributeRoute::joined);
    list.push_back(case_of(e, "three-steps", prepare_three_steps));
    // They do not permute, so that their result must not be checked.
    if (sizes != Sizes::smoke) list.push_back(case_of(e, "link-copies", prepare_copies));
  }
  return list;
}

}  // namespace relayout::bench
