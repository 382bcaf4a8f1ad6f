#include "host/plan/depthwise/depthwise_sequence_plan.hpp"

#include <sstream>

#include "host/plan/plan_words.hpp"

namespace relayout::plan {
namespace {

using Kernel = DepthwiseSequenceKernel;

constexpr std::int64_t kPackBytes = 16, kWordBytes = 4;
/// Taps whose weights for a pack of channels stay in registers.
constexpr std::int64_t kPackTaps = 4;
/// A thread's pack of 16 bytes pays where so many threads are left for a multiprocessor; with fewer of them,
/// narrower accesses from more threads are in flight together.
constexpr std::int64_t kThreadsToFill = 700;

std::int64_t element_of(const DepthwiseSequenceParams& q) {
  return static_cast<std::int64_t>(size_of(q.conv.type));
}

std::int64_t packs_of(const DepthwiseSequenceParams& q, std::int64_t width) {
  return q.conv.batch * (q.conv.channels / width);
}

/// Packs of channels side by side in every operand.
bool has_channel_rows(const DepthwiseParams& p) {
  return p.in_channel == 1 && p.out_channel == 1 && p.state_channel == 1;
}

void plan_update(const DeviceProperties& device, DepthwiseSequenceParams& q) {
  const DepthwiseParams& p = q.conv;
  q.kernel = p.taps <= kUnrolledTaps ? Kernel::update_unrolled : Kernel::update;
  q.width = 1;
  if (q.kernel == Kernel::update) return;
  const std::int64_t pack = kPackBytes / element_of(q), word = kWordBytes / element_of(q);
  if (p.taps <= kPackTaps && p.channels % pack == 0 && has_channel_rows(p) &&
      packs_of(q, pack) >= kThreadsToFill * device.multiprocessors) {
    q.width = static_cast<std::int32_t>(pack);
  } else if (p.channels % word == 0) {
    q.width = static_cast<std::int32_t>(word);
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
  }
  return "?";
}

}  // namespace

void plan_depthwise_sequences(const DeviceProperties& device, bool native, DepthwiseSequenceParams& q) {
  const DepthwiseParams& p = q.conv;
  if (p.batch == 0 || p.channels == 0 || p.length == 0) {
    q.kernel = Kernel::nothing;
  } else if (native) {
    q.kernel = Kernel::native;
  } else {
    plan_update(device, q);
  }
}

std::string explain_depthwise_sequences(const DepthwiseSequenceParams& q) {
  std::ostringstream text;
  text << "Kernel " << name_of(q.kernel) << ": " << reason(q.kernel) << ".\n";
  if (q.kernel == Kernel::nothing || q.kernel == Kernel::native) return text.str();
  text << "A thread takes " << plural(q.width, "channel") << " of a sequence, all of its samples, and moves "
       << "the state on; no shared memory.\nAccesses of up to " << plural(q.width * element_of(q), "byte")
       << ", single elements where channels do not lie side by side on such boundaries.\n";
  return text.str();
}

}  // namespace relayout::plan
