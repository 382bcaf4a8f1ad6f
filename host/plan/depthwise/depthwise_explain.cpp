// What a planned depthwise convolution says of itself.
#include <sstream>

#include "core/integer_math.hpp"
#include "host/plan/depthwise/depthwise_plan.hpp"
#include "host/plan/plan_words.hpp"

namespace relayout::plan {
namespace {

const char* name_of(DepthwiseKernel kernel) {
  switch (kernel) {
    case DepthwiseKernel::nothing:
      return "nothing";
    case DepthwiseKernel::native:
      return "native";
    case DepthwiseKernel::time:
      return "depthwise_time";
    case DepthwiseKernel::time_many:
      return "depthwise_time_many";
    case DepthwiseKernel::channel:
      return "depthwise_channel";
    case DepthwiseKernel::channel_many:
      return "depthwise_channel_many";
    case DepthwiseKernel::scalar:
      return "depthwise";
    case DepthwiseKernel::update:
      return "depthwise_update";
  }
  return "?";
}

DepthwiseAxis axis_of(DepthwiseKernel kernel) {
  if (kernel == DepthwiseKernel::time || kernel == DepthwiseKernel::time_many) return DepthwiseAxis::time;
  const bool channel = kernel == DepthwiseKernel::channel || kernel == DepthwiseKernel::channel_many;
  return channel ? DepthwiseAxis::channel : DepthwiseAxis::none;
}

bool is_unrolled(const DepthwiseParams& p) { return p.taps <= kUnrolledTaps; }

std::string reason(const DepthwiseParams& p) {
  const std::string weights = is_unrolled(p) ? "the taps are unrolled" : "weights lie in shared memory";
  switch (p.kernel) {
    case DepthwiseKernel::nothing:
      return "there are no outputs";
    case DepthwiseKernel::native:
      return "the processor's own code, in lines that fit its caches";
    case DepthwiseKernel::time:
    case DepthwiseKernel::time_many:
      return "time is the fast axis of both sides, and every row begins on a 16-byte boundary; " + weights;
    case DepthwiseKernel::channel:
    case DepthwiseKernel::channel_many:
      return "channels are the fast axis of both sides, and every row begins on a 16-byte boundary; " +
             weights;
    case DepthwiseKernel::scalar:
      return "it takes any strides, taps and sequence ids, an output at a time";
    case DepthwiseKernel::update:
      return "the one kernel of updates: a thread takes a channel, its outputs first, and then moves the "
             "state on";
  }
  return "";
}

struct Tile {
  std::int64_t channels, times;
};

Tile tile_of(const DepthwiseParams& p) {
  const std::int64_t pack = 16 / static_cast<std::int64_t>(size_of(p.type));
  const std::int64_t others = kDepthwiseThreads / p.lanes, walked = std::int64_t{p.lanes} * p.run;
  switch (p.kernel) {
    case DepthwiseKernel::time:
      return {others, walked * pack};
    case DepthwiseKernel::time_many:
      return {others, walked * kManyTapsPacks * pack};
    case DepthwiseKernel::channel:
      return {p.lanes * pack, others * p.run};
    case DepthwiseKernel::channel_many:
      return {std::int64_t{p.lanes} * kManyTapsChannels, others * kManyTapsTimes * p.run};
    default:
      return p.lanes_along_time ? Tile{others, walked} : Tile{p.lanes, others * p.run};
  }
}

void explain_tile(std::ostream& text, const DepthwiseParams& p) {
  if (p.kernel == DepthwiseKernel::update) {
    text << "Tile: " << kDepthwiseThreads << " channels, all " << plural(p.length, "sample") << " of each; "
         << plural(kDepthwiseThreads, "thread") << ", no shared memory; "
         << plural(divide_up(p.batch * p.channels, kDepthwiseThreads), "block") << ".\n";
    return;
  }
  const Tile tile = tile_of(p);
  text << "Tile: " << plural(tile.channels, "channel") << " and " << plural(tile.times, "sample")
       << " of one batch, " << plural(p.lanes, "lane") << " along "
       << (axis_of(p.kernel) == DepthwiseAxis::channel ||
                   (p.kernel == DepthwiseKernel::scalar && !p.lanes_along_time)
               ? "channels"
               : "time")
       << "; " << plural(kDepthwiseThreads, "thread") << ", " << plural(p.shared_bytes, "byte")
       << " of shared memory; "
       << plural(p.batch * divide_up(p.channels, tile.channels) * divide_up(p.length, tile.times), "block")
       << ".\n";
}

void explain_accesses(std::ostream& text, const DepthwiseParams& p) {
  const auto bytes = static_cast<std::int64_t>(size_of(p.type));
  const std::int64_t all = p.batch * p.channels * p.length * bytes;
  const std::string access = plural(depthwise_alignment(p) > 1 ? 16 : bytes, "byte") + " an access";
  text << "Input: " << plural(all, "byte") << " in all, " << access << "; the " << p.taps - 1
       << " samples before a run come from the caches.\nOutput: " << plural(all, "byte") << " in all, "
       << access << ".\n";
  if (p.state != nullptr && !p.update)
    text << "Final state: a launch of its own, " << plural(p.batch * p.channels * (p.taps - 1), "element")
         << ".\n";
}

}  // namespace

std::string explain_depthwise(const DeviceProperties& device, const DepthwiseParams& p) {
  std::ostringstream text;
  text << "Kernel " << name_of(p.kernel) << ": " << reason(p) << ".\n";
  if (p.kernel == DepthwiseKernel::nothing || p.kernel == DepthwiseKernel::native) return text.str();
  if (p.kernel != DepthwiseKernel::update) {
    for (const DepthwiseAxis axis : {DepthwiseAxis::time, DepthwiseAxis::channel, DepthwiseAxis::none}) {
      if (axis == axis_of(p.kernel)) continue;
      const DepthwiseCandidate candidate = depthwise_candidate(device, p, axis);
      const char* name = axis == DepthwiseAxis::time      ? "depthwise_time"
                         : axis == DepthwiseAxis::channel ? "depthwise_channel"
                                                          : "depthwise";
      text << refusal(name, candidate.refused != nullptr
                                ? candidate.refused
                                : "it could run this too, and comes after the others");
    }
  }
  explain_tile(text, p);
  explain_accesses(text, p);
  return text.str();
}

}  // namespace relayout::plan
