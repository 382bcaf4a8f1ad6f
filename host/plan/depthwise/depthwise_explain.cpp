// What a planned depthwise convolution says of itself.
#include <iomanip>
#include <vector>

#include "core/bytes.hpp"
#include "core/integer_math.hpp"
#include "host/plan/depthwise/depthwise_plan.hpp"
#include "host/plan/depthwise/depthwise_shape.hpp"
#include "host/plan/plan_words.hpp"

namespace relayout::plan {

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
    case DepthwiseKernel::time_matrix:
      return "depthwise_time_matrix";
    case DepthwiseKernel::channel:
      return "depthwise_channel";
    case DepthwiseKernel::channel_aligned:
      return "depthwise_channel_aligned";
    case DepthwiseKernel::channel_many:
      return "depthwise_channel_many";
    case DepthwiseKernel::scalar:
      return "depthwise";
    case DepthwiseKernel::turn:
      return "depthwise_turn";
    case DepthwiseKernel::tile:
      return "depthwise_tile";
    case DepthwiseKernel::tile_matrix:
      return "depthwise_tile_matrix";
    case DepthwiseKernel::update:
      return "depthwise_update";
    case DepthwiseKernel::update_words:
      return "depthwise_update_words";
  }
  return "?";
}

namespace {

std::string reason(const DepthwiseParams& p) {
  switch (p.kernel) {
    case DepthwiseKernel::nothing:
      return "there are no outputs";
    case DepthwiseKernel::native:
      return "the processor's own code, in lines that fit its caches";
    case DepthwiseKernel::time:
      return "time is the fast axis of both sides, and the taps are unrolled";
    case DepthwiseKernel::time_many:
      return "time is the fast axis of both sides; weights lie in shared memory";
    case DepthwiseKernel::time_matrix:
      return "time is the fast axis of both sides, and matrix units multiply elements of 16 bits";
    case DepthwiseKernel::channel:
      return "channels are the fast axis of both sides, and the taps are unrolled";
    case DepthwiseKernel::channel_aligned:
      return "channels are the fast axis of both sides, and every row begins on a 16-byte boundary; the taps "
             "are unrolled";
    case DepthwiseKernel::channel_many:
      return "channels are the fast axis of both sides; weights lie in shared memory";
    case DepthwiseKernel::turn:
      return "channels are the fast axis of the input and time of the output, and the taps are unrolled";
    case DepthwiseKernel::tile:
      return "it takes any layouts through shared memory";
    case DepthwiseKernel::tile_matrix:
      return "it takes any layouts through shared memory, and matrix units multiply elements of 16 bits";
    case DepthwiseKernel::scalar:
      return "it takes any strides, taps and sequence ids, an output at a time";
    case DepthwiseKernel::update:
      return "a thread takes a channel, its outputs first, and then moves the state on";
    case DepthwiseKernel::update_words:
      return "a thread takes a word of channels and keeps their state in registers";
  }
  return "";
}

struct Tile {
  std::int64_t channels, times;
};

Tile tile_of(const DepthwiseParams& p) {
  const std::int64_t pack = pack_of(p);
  const std::int64_t others = threads_of(p.kernel) / p.lanes, walked = std::int64_t{p.lanes} * p.run;
  switch (p.kernel) {
    case DepthwiseKernel::time:
      return {others, walked * pack};
    case DepthwiseKernel::time_many:
      return {others, walked * kManyTapsPacks * pack};
    case DepthwiseKernel::time_matrix:
      return {others, walked / p.warp_size * kMatrixTile};
    case DepthwiseKernel::channel_aligned:
      return {p.lanes * pack, others * p.run};
    case DepthwiseKernel::channel_many:
      return {std::int64_t{p.lanes} * kManyTapsChannels, others * many_taps_times(p.width) * p.run};
    case DepthwiseKernel::turn:
    case DepthwiseKernel::tile:
    case DepthwiseKernel::tile_matrix:
      return {p.tile_channels, p.tile_times};
    default:
      return p.lanes_along_time ? Tile{others, walked} : Tile{p.lanes, others * p.run};
  }
}

bool is_update(const DepthwiseParams& p) {
  return p.kernel == DepthwiseKernel::update || p.kernel == DepthwiseKernel::update_words;
}

bool has_lanes_along_time(const DepthwiseParams& p) {
  return p.kernel == DepthwiseKernel::time || p.kernel == DepthwiseKernel::time_many ||
         p.kernel == DepthwiseKernel::time_matrix ||
         (p.kernel == DepthwiseKernel::scalar && p.lanes_along_time);
}

/// Bytes of an access to the input and to the output.
std::string access_of(const DepthwiseParams& p, const DepthwiseTileSide& side) {
  const std::int64_t element = bytes_of(p.type);
  std::int64_t bytes = 16;
  if (p.kernel == DepthwiseKernel::channel || p.kernel == DepthwiseKernel::channel_many)
    bytes = p.width * element;
  if (p.kernel == DepthwiseKernel::update_words) bytes = 4;
  // With 32 lanes a matrix unit leaves four neighbouring results in a lane. With 64 lanes it does not, and
  // results go through shared memory.
  if (p.kernel == DepthwiseKernel::time_matrix && &side == &p.out_side && p.warp_size == 32) bytes = 8;
  if (p.kernel == DepthwiseKernel::scalar || p.kernel == DepthwiseKernel::update) bytes = element;
  if (p.kernel == DepthwiseKernel::turn && &side == &p.in_side) bytes = 4;
  if (p.kernel == DepthwiseKernel::tile && side.rows == DepthwiseRows::none) bytes = element;
  if (p.kernel == DepthwiseKernel::tile_matrix) bytes = side.width * element;
  return plural(bytes, "byte") + " an access";
}

void explain_tile(std::ostream& text, const DepthwiseParams& p) {
  const std::int64_t element = bytes_of(p.type);
  if (is_update(p)) {
    const std::int64_t channels = p.kernel == DepthwiseKernel::update ? 1 : 4 / element;
    text << "A thread takes " << plural(channels, "channel") << ", all " << plural(p.length, "sample")
         << " of each; no shared memory.\n";
    return;
  }
  if (p.kernel == DepthwiseKernel::channel) {
    text << "A thread walks " << plural(p.run, "sample") << " of " << plural(p.width, "channel")
         << ", lanes lie along channels; " << plural(threads_of(p.kernel), "thread")
         << " a block, no shared memory.\n";
    return;
  }
  const Tile tile = tile_of(p);
  text << "Tile: " << plural(tile.channels, "channel") << " and " << plural(tile.times, "sample")
       << " of one batch, ";
  if (p.kernel == DepthwiseKernel::tile || p.kernel == DepthwiseKernel::turn) {
    const std::int64_t channels = p.kernel == DepthwiseKernel::turn ? 4 / bytes_of(p.type) : 1;
    text << "a thread walks " << plural(p.run, "sample") << " of "
         << (channels == 1 ? "a channel; " : "two channels; ");
  } else if (p.kernel == DepthwiseKernel::tile_matrix) {
    text << "a warp takes " << plural(kMatrixTile, "sample") << " of a channel; ";
  } else {
    text << plural(p.lanes, "lane") << " along " << (has_lanes_along_time(p) ? "time; " : "channels; ");
  }
  text << plural(threads_of(p.kernel), "thread") << ", " << plural(p.shared_bytes, "byte")
       << " of shared memory; "
       << plural(p.batch * divide_up(p.channels, tile.channels) * divide_up(p.length, tile.times), "block")
       << ".\n";
}

void explain_accesses(std::ostream& text, const DepthwiseParams& p) {
  const std::int64_t bytes = bytes_of(p.type);
  const std::int64_t all = p.batch * p.channels * p.length * bytes;
  text << "Input: " << plural(all, "byte") << " in all, " << access_of(p, p.in_side) << "; the " << p.taps - 1
       << " samples before a run come from the caches.\nOutput: " << plural(all, "byte") << " in all, "
       << access_of(p, p.out_side) << ".\n";
  const DepthwiseAlignment alignment = depthwise_alignment(p);
  if (alignment.in > bytes)
    text << (alignment.out > bytes ? "Input and output" : "The input") << " must lie on boundaries of "
         << plural(alignment.in, "byte") << ".\n";
  if (p.state != nullptr && !p.update)
    text << "Final state: a launch of its own, " << plural(p.batch * p.channels * (p.taps - 1), "element")
         << ".\n";
}

std::string microseconds(double time) {
  SentenceStream text;
  text << std::fixed << std::setprecision(1) << time << " us";
  return text.str();
}

/// The predicted time, the runner-up, and why each of the others could not be used.
void explain_others(std::ostream& text, const DeviceProperties& device, const DepthwiseParams& p) {
  const std::vector<DepthwiseCandidate> candidates = depthwise_candidates(device, p);
  const DepthwiseCandidate* second = nullptr;
  for (const DepthwiseCandidate& candidate : candidates) {
    if (candidate.params.kernel == p.kernel)
      text << "Predicted: " << microseconds(candidate.microseconds) << ".\n";
    if (candidate.refused != nullptr || candidate.params.kernel == p.kernel) continue;
    if (second == nullptr || candidate.microseconds < second->microseconds) second = &candidate;
  }
  if (second != nullptr)
    text << "Runner-up: " << name_of(second->params.kernel) << ", " << microseconds(second->microseconds)
         << ".\n";
  for (const DepthwiseCandidate& candidate : candidates) {
    if (candidate.params.kernel == p.kernel || &candidate == second) continue;
    text << refusal(name_of(candidate.params.kernel),
                    candidate.refused != nullptr
                        ? candidate.refused
                        : "it is predicted to take " + microseconds(candidate.microseconds));
  }
}

}  // namespace

std::string explain_depthwise(const DeviceProperties& device, const DepthwiseParams& p) {
  SentenceStream text;
  text << "Kernel " << name_of(p.kernel) << ": " << reason(p) << ".\n";
  if (p.kernel == DepthwiseKernel::nothing || p.kernel == DepthwiseKernel::native) return text.str();
  // Without an output nothing was compared, and there is no tile.
  if (p.length == 0) return text.str() + "There are no outputs: it stores the final state alone.\n";
  if (!is_update(p)) {
    explain_others(text, device, p);
  } else if (p.kernel == DepthwiseKernel::update) {
    text << refusal(name_of(DepthwiseKernel::update_words),
                    "its state is no row of memory of up to 8 columns for words of channels");
  }
  explain_tile(text, p);
  explain_accesses(text, p);
  return text.str();
}

}  // namespace relayout::plan
