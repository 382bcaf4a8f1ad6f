#include "host/plan/depthwise/depthwise_sequence_plan.hpp"

#include "core/bytes.hpp"
#include "core/integer_math.hpp"
#include "core/sector.hpp"
#include "host/plan/depthwise/depthwise_shape.hpp"
#include "host/plan/plan_words.hpp"

namespace relayout::plan {
namespace {

using Kernel = DepthwiseSequenceKernel;

/// Taps whose weights for a pack of channels stay in registers.
constexpr std::int64_t kPackTaps = 4;
/// A thread's pack of 16 bytes pays where so many threads are left for a multiprocessor; with fewer of them,
/// narrower accesses from more threads are in flight together.
constexpr std::int64_t kThreadsToFill = 700;

std::int64_t packs_of(const DepthwiseSequenceParams& q, std::int64_t width) {
  return q.conv.batch * (q.conv.channels / width);
}

/// Packs of channels side by side in every operand.
bool has_channel_rows(const DepthwiseParams& p) {
  return p.in_channel == 1 && p.out_channel == 1 && p.state_channel == 1;
}

/// A state of a few columns that is appended to stays in registers, a word of channels a thread: packs of 16
/// bytes were slower (H200, 256 sequences of 4096 channels and more).
bool is_appended(const DepthwiseSequenceParams& q) {
  return q.conv.state_length <= kMaxStateColumns && !q.starts.is_given() && !q.positions.is_given() &&
         !q.accepted.is_given();
}

void plan_update(const DeviceProperties& device, DepthwiseSequenceParams& q) {
  const DepthwiseParams& p = q.conv;
  q.kernel = p.taps <= kUnrolledTaps ? Kernel::update_unrolled : Kernel::update;
  q.width = 1;
  if (q.kernel == Kernel::update) return;
  const std::int64_t pack = pack_of(q.conv), word = kWordBytes / bytes_of(q.conv.type);
  // With blocks there are no packs of 16 bytes: the second state's address takes registers, too.
  if (p.taps <= kPackTaps && p.channels % pack == 0 && has_channel_rows(p) && q.blocks == 0 &&
      !is_appended(q) && packs_of(q, pack) >= kThreadsToFill * device.multiprocessors) {
    q.width = static_cast<std::int32_t>(pack);
  } else if (p.channels % word == 0) {
    q.width = static_cast<std::int32_t>(word);
  }
}

/// What the walk along channels counts in 32 bits.
constexpr std::int64_t kMaxUnits = std::int64_t{1} << 31;
constexpr int kMaxRun = 64, kMaxPacks = 4, kMaxTimeLanes = 32, kScalarRun = 4;

/// The longest run, of `least` times powers of two, that leaves enough threads.
std::int32_t run_of(const DeviceProperties& device, std::int64_t threads_of_one, std::int64_t length,
                    int least, int most) {
  int run = most;
  while (run > least && threads_of_one * divide_up(length, run) < kThreadsToFill * device.multiprocessors)
    run /= 2;
  return run;
}

void plan_varlen(const DeviceProperties& device, DepthwiseSequenceParams& q) {
  const DepthwiseParams& p = q.conv;
  const std::int64_t pack = pack_of(q.conv), word = kWordBytes / bytes_of(q.conv.type);
  const bool unrolled = p.taps <= kUnrolledTaps;
  const bool along_channels = p.in_channel == 1 && p.out_channel == 1;
  const std::int64_t steps = divide_up(p.length, kDepthwiseStep);
  // The walk along time has no variant for block tables: servers have channels side by side.
  if (unrolled && p.in_time == 1 && p.out_time == 1 && p.length >= pack && q.blocks == 0) {
    q.kernel = Kernel::varlen_time;
    q.run = run_of(device, p.channels, divide_up(p.length, pack), 1, kMaxPacks);
    q.lanes = 1;
    while (q.lanes < kMaxTimeLanes && q.lanes * q.run * pack < p.length) q.lanes *= 2;
  } else if (unrolled && along_channels && steps < kMaxUnits / p.channels) {
    q.kernel = Kernel::varlen_channel;
    q.width = static_cast<std::int32_t>(p.channels % word == 0 ? word : 1);
    q.run = run_of(device, p.channels / q.width, p.length, kDepthwiseStep, kMaxRun);
  } else {
    q.kernel = Kernel::varlen;
    q.lanes_along_time = p.out_time == 1 && p.out_channel != 1;
    q.run = kScalarRun;
  }
}

const char* name_of(Kernel kernel) {
  switch (kernel) {
    case Kernel::nothing:
      return "nothing";
    case Kernel::native:
      return "native";
    case Kernel::update:
      return "depthwise_indexed_update_any";
    case Kernel::update_unrolled:
      return "depthwise_indexed_update";
    case Kernel::varlen:
      return "depthwise_varlen";
    case Kernel::varlen_channel:
      return "depthwise_varlen_channel";
    case Kernel::varlen_time:
      return "depthwise_varlen_time";
    case Kernel::states:
      return "depthwise_varlen_states";
  }
  return "?";
}

const char* reason(Kernel kernel) {
  switch (kernel) {
    case Kernel::nothing:
      return "there are no samples";
    case Kernel::native:
      return "the processor's own code";
    case Kernel::update:
      return "there are more than 8 taps, so the samples before the new ones stay in the state";
    case Kernel::update_unrolled:
      return "the taps are unrolled, the samples before the new ones lie in registers";
    case Kernel::varlen:
      return "channels are not the fast axis of both sides, and time is not or there is a block table, or "
             "there are "
             "more than 8 taps";
    case Kernel::varlen_channel:
      return "channels are the fast axis of both sides, and the taps are unrolled";
    case Kernel::varlen_time:
      return "time is the fast axis of both sides, and the taps are unrolled";
    case Kernel::states:
      return "the last samples are copied";
  }
  return "?";
}

}  // namespace

void plan_depthwise_sequences(const DeviceProperties& device, bool native, DepthwiseSequenceParams& params) {
  const DepthwiseParams& p = params.conv;
  const bool states_alone = params.task == DepthwiseSequenceTask::states;
  if (p.batch == 0 || p.channels == 0 || (states_alone ? p.state_length : p.length) == 0) {
    params.kernel = Kernel::nothing;
  } else if (native) {
    params.kernel = Kernel::native;
  } else if (states_alone) {
    params.kernel = Kernel::states;
    params.lanes_along_time = p.state_channel != 1;
  } else if (params.task == DepthwiseSequenceTask::varlen) {
    plan_varlen(device, params);
  } else {
    plan_update(device, params);
  }
}

std::string explain_depthwise_sequences(const DepthwiseSequenceParams& params) {
  SentenceStream text;
  text << "Kernel " << name_of(params.kernel) << ": " << reason(params.kernel) << ".\n";
  if (params.kernel == Kernel::nothing || params.kernel == Kernel::native) return text.str();
  if (params.task == DepthwiseSequenceTask::states) return text.str() + "A thread moves one element.\n";
  if (params.task == DepthwiseSequenceTask::varlen) {
    const bool packs = params.kernel == Kernel::varlen_time;
    text << "A thread takes " << plural(params.run, packs ? "pack" : "sample")
         << (packs ? " of 16 bytes of " : " of ") << plural(params.width, "channel")
         << " of all sequences together, and finds the sequences by a search. The thread in whose samples a "
         << "sequence begins moves its state on"
         << (params.blocks > 0 ? "; with blocks a second launch does so, a channel of a state a thread" : "")
         << ".\nAccesses of up to "
         << plural(packs ? kVectorBytes : params.width * bytes_of(params.conv.type), "byte")
         << (packs ? ", single elements where a sequence begins or ends.\n" : ".\n");
    return text.str();
  }
  text << "A thread takes " << plural(params.width, "channel")
       << " of a sequence, all of its samples, and moves "
       << "the state on; no shared memory.\nAccesses of up to "
       << plural(params.width * bytes_of(params.conv.type), "byte")
       << ", single elements where channels do not lie side by side on such boundaries.\n";
  return text.str();
}

}  // namespace relayout::plan
