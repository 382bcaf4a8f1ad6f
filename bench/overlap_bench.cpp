// The operand A from host memory with the host's work, the copies and the device's kernel at the same time,
// held against the slower of the host's work and the copies, each alone.
#include "bench/bench_case.hpp"
#include "bench/case_json.hpp"
#include "bench/rotation.hpp"

#include <relayout/overlap.hpp>

namespace relayout::bench {
namespace {

using cases::Img2colCase;

Conv1d problem_of(const Img2colCase& c) {
  Conv1d problem;
  problem.batch = c.batch;
  problem.in_channels = c.channels;
  problem.length = c.length;
  problem.window = c.window;
  problem.pad = c.pad;
  problem.dtype = c.out_type;
  return problem;
}

Prepared prepare(const Stream& stream, const Img2colCase& c, HostWork work, bool pinned) {
  const TensorView sized(nullptr, c.in_type, c.in_shape());
  const std::size_t bytes = static_cast<std::size_t>(sized.elements()) * size_of(c.in_type);
  // The processor's own memory is not pinned for another device.
  const PinnedBuffer memory(pinned ? stream.device() : Device::cpu(), bytes);
  stream.copy(memory.data(), random_buffer(stream, c.in_type, bytes).data(), bytes);
  stream.synchronize();
  const TensorView input(memory.data(), c.in_type, c.in_shape());

  Prepared prepared;
  const TensorView shape(nullptr, c.out_type, c.out_shape());
  prepared.memory.emplace_back(stream.device(),
                               static_cast<std::size_t>(shape.elements()) * size_of(c.out_type));
  prepared.output = TensorView(prepared.memory.back().data(), c.out_type, c.out_shape());
  prepared.inputs = {input};
  OverlapOptions options;
  options.host_work = work;
  options.pinned_input = pinned;
  const Conv1dOverlap overlap(stream, problem_of(c), input, prepared.output, options);
  prepared.in_graph = false;
  prepared.by_host = true;
  prepared.calls = {[overlap, memory] { overlap.run(); }};
  if (overlap.host_bytes() > 0)
    prepared.parts.push_back({"the host's work", [overlap] { overlap.run_host_work(); }});
  prepared.parts.push_back({"the copies", [overlap] { overlap.run_copies(); }});
  return prepared;
}

BenchCase overlap_case(const Img2colCase& c, HostWork work, bool pinned) {
  const char* const memory = pinned ? "pinned" : "pageable";
  const Operand in = contiguous_operand(c.in_type, c.in_shape()),
                out = contiguous_operand(c.out_type, c.out_shape());
  const std::string name = std::string(name_of(work)) + "-" + memory + "/" + joined(c.in_shape()) + "/hk" +
                           std::to_string(c.window.taps);
  Json parameters = parameters_of(c);
  parameters["host_work"] = name_of(work);
  parameters["input_memory"] = memory;
  return {"overlap",
          name,
          in.bytes() + out.bytes(),
          parameters,
          std::string("overlap, host work ") + name_of(work) + ", input " + memory + ", A from " + printed(c),
          [c, work, pinned](const Stream& stream) { return prepare(stream, c, work, pinned); }};
}

Img2colCase causal(std::int64_t batch, std::int64_t channels, std::int64_t length) {
  Img2colCase c;
  c.batch = batch;
  c.channels = channels;
  c.length = length;
  c.window.taps = 4;
  c.pad = causal_padding(Causal::sample, c.length, c.window);
  return c;
}

}  // namespace

/// There are no cases for a processor alone, where nothing runs at the same time.
BenchCases overlap_cases(Sizes sizes) {
  BenchCases list;
  if (sizes == Sizes::cpu) return list;
  const Img2colCase c = sizes == Sizes::gpu ? causal(8, 2048, 8192) : causal(2, 5, 37);
  for (const HostWork work : {HostWork::cast, HostWork::none}) {
    for (const bool pinned : {true, false}) list.push_back(overlap_case(c, work, pinned));
  }
  return list;
}

}  // namespace relayout::bench
