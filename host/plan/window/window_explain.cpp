// What a planned window says of itself.
#include <algorithm>
#include <iomanip>

#include "core/bytes.hpp"
#include "core/integer_math.hpp"
#include "core/window_geometry.hpp"
#include "host/plan/plan_words.hpp"
#include "host/plan/window/window_banks.hpp"
#include "host/plan/window/window_parts.hpp"
#include "host/plan/window/window_plan.hpp"

namespace relayout::plan {

const char* name_of(WindowKernel kernel) {
  switch (kernel) {
    case WindowKernel::nothing:
      return "nothing";
    case WindowKernel::native:
      return "native";
    case WindowKernel::rows:
      return "pad_rows";
    case WindowKernel::vector:
      return "window_vector";
    case WindowKernel::tile:
      return "window_tile";
    case WindowKernel::direct:
      return "window";
  }
  return "?";
}

namespace {

std::string reason(const WindowParams& p) {
  switch (p.kernel) {
    case WindowKernel::nothing:
      return "there are no outputs";
    case WindowKernel::native:
      return "the processor's own code, in pieces that fit its caches";
    case WindowKernel::rows:
      return "padding alone, without a cast, of rows along time: they are copied 16 bytes at a time wherever "
             "they begin, without shared memory";
    case WindowKernel::vector:
      return std::string("every row of both sides begins on a 16-byte boundary, along ") +
             (p.along_time ? "time" : "channels") + " in the input and along channels in the output";
    case WindowKernel::tile:
      return "it takes rows of any strides that begin anywhere, through shared memory";
    case WindowKernel::direct:
      return "it takes any strides, types and windows, and every output reads the input itself";
  }
  return "";
}

std::string time_of(double microseconds) {
  SentenceStream text;
  text << std::fixed << std::setprecision(microseconds < 100 ? 1 : 0) << microseconds << " us";
  return text.str();
}

void explain_rows(std::ostream& text, const WindowParams& p) {
  const std::int64_t block_rows = kWindowThreads / p.row_threads;
  const std::int64_t rows = p.batch * p.groups * p.channels;
  text << "Tile: " << plural(block_rows, "row") << " a block, " << plural(p.row_threads, "thread")
       << " a row, up to " << kRowPacksPerThread << " packs of 16 bytes a thread; "
       << plural(kWindowThreads, "thread") << ", no shared memory; "
       << plural(divide_up(rows, block_rows) * p.row_blocks, "block") << ".\n";
}

void explain_tile(std::ostream& text, const WindowParams& p) {
  const std::int64_t blocks = p.batch * p.groups * divide_up(p.channels, p.tile_channels) *
                              divide_up(p.positions + p.tile.positions_before, p.tile_positions);
  text << "Tile: " << plural(p.tile_positions, "position") << " and " << plural(p.tile_channels, "channel")
       << " of one batch and group, "
       << (p.tile_samples > 0 ? "from " + plural(p.tile_samples, "sample")
                              : std::string("each output straight from the input"))
       << "; " << plural(p.kernel == WindowKernel::vector ? kVectorWindowThreads : kWindowThreads, "thread")
       << ", " << plural(p.shared_bytes, "byte") << " of shared memory; " << plural(blocks, "block") << ".\n";
}

const char* words_of(WriteOrder order) {
  switch (order) {
    case WriteOrder::channel:
      return "channels";
    case WriteOrder::tap:
      return "taps";
    case WriteOrder::position:
      return "positions";
  }
  return "?";
}

void explain_accesses(std::ostream& text, const WindowParams& p) {
  const std::int64_t in_bytes = bytes_of(p.in_type), out_bytes = bytes_of(p.out_type);
  const bool vectors = p.kernel == WindowKernel::rows || p.kernel == WindowKernel::vector;
  const auto access = [&](std::int64_t element_bytes, bool by_element) {
    return vectors                                          ? 16
           : p.kernel == WindowKernel::direct || by_element ? element_bytes
                                                            : std::max<std::int64_t>(4, element_bytes);
  };
  const std::int64_t rows = p.batch * p.groups * p.channels;
  text << "Input: " << plural(rows * p.length * in_bytes, "byte") << " in all, "
       << (p.kernel == WindowKernel::tile && p.tile.fill != WindowFill::elements
               ? std::string("up to 16 bytes")
               : plural(access(in_bytes, true), "byte"))
       << " an access";
  if (p.kernel != WindowKernel::rows && p.tile_samples > 0) {
    const std::int64_t own = p.tile_positions * p.stride;
    if (p.tile_samples > own)
      text << "; " << p.tile_samples - own << " of a tile's " << p.tile_samples
           << " samples are read by its neighbour as well";
  }
  text << ".\nOutput: " << plural(rows * p.positions * p.taps * out_bytes, "byte") << " in all, "
       << plural(access(out_bytes, p.tile.lines == WindowLines::elements), "byte") << " an access";
  if (!vectors) text << ", lanes along its " << words_of(p.order);
  if (vectors) text << (p.streaming ? ", stored past the caches" : ", stored through the caches");
  text << ".\n";
}

void explain_banks(std::ostream& text, const DeviceProperties& device, const WindowParams& p) {
  if (p.kernel != WindowKernel::vector) return;
  if (p.order != WriteOrder::channel) {
    text << "Shared memory: conflicts are not predicted where taps lie side by side in the output.\n";
    return;
  }
  const BankModel model = bank_model(device);
  const BankReport report = count_conflicts(p, device);
  text << "Shared memory, predicted for " << bank_family(device) << " with " << device.warp_size
       << " lanes: " << bank_words("writes", model, SharedAccess::write, report.fill) << "; "
       << bank_words("reads", model, SharedAccess::read, report.drain) << ".\n";
}

/// The kernel and why it, its tile and its accesses, and what was in the way of the other kernels of windows.
std::string explain_window_kernel(const DeviceProperties& device, const WindowParams& p) {
  SentenceStream text;
  text << "Kernel " << name_of(p.kernel) << ": " << reason(p) << ".\n";
  if (p.kernel == WindowKernel::nothing || p.kernel == WindowKernel::native) return text.str();
  text << "Predicted: " << time_of(window_candidate(device, p, p.kernel).microseconds)
       << ", the least of all kernels of windows that can run it.\n";
  for (const WindowKernel other :
       {WindowKernel::rows, WindowKernel::vector, WindowKernel::tile, WindowKernel::direct}) {
    if (other == p.kernel) continue;
    const WindowCandidate candidate = window_candidate(device, p, other);
    text << refusal(name_of(other), candidate.refused != nullptr ? candidate.refused
                                                                 : "it could run this too, predicted " +
                                                                       time_of(candidate.microseconds));
  }
  if (p.kernel == WindowKernel::rows) {
    explain_rows(text, p);
  } else {
    explain_tile(text, p);
  }
  explain_accesses(text, p);
  explain_banks(text, device, p);
  return text.str();
}

}  // namespace

std::string explain_window(const DeviceProperties& device, const PlannedWindow& window) {
  SentenceStream text;
  if (!window.inside) {
    text << explain_window_kernel(device, window.parts[0].params);
    if (window.not_in_parts != nullptr) text << refusal("in parts", window.not_in_parts);
    return text.str();
  }
  const InsidePart& inside = *window.inside;
  text << "Kernel " << name_of(inside.copy.kernel);
  for (int i = 0; i < window.count; ++i)
    text << (i == 0 ? " with " : " and ") << name_of(window.parts[i].params.kernel);
  text << ": the windows of " << plural(inside.end - inside.begin, "position") << " from " << inside.begin
       << " on lie inside the signal, and are a copy"
       << (window.count > 0 ? "; the other positions are kernels' of windows" : "") << ".\n"
       << "Predicted: " << time_of(window.microseconds) << ", less than any single kernel.\n";
  const std::string copy = explain_copy(inside.copy, inside.in, inside.out, "", device, {});
  text << copy.substr(copy.find('\n') + 1);  // without its heading
  for (int i = 0; i < window.count; ++i) text << explain_window_kernel(device, window.parts[i].params);
  return text.str();
}

}  // namespace relayout::plan
