// How long the stages of a pipeline take, and how fast this machine can copy as many bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <relayout/conv1d.hpp>
#include <relayout/overlap.hpp>

#include "options.hpp"

namespace example {

struct StageTime {
  std::string name;
  relayout::StagePlace place = relayout::StagePlace::device;
  bool of_operand = true;
  std::int64_t bytes = 0;
  double seconds = 0;
  double copy_rate = 0;  // bytes per second of a copy that moves as many bytes in the same place

  double rate() const { return seconds > 0 ? static_cast<double>(bytes) / seconds : 0; }
  double share() const { return copy_rate > 0 ? rate() / copy_rate : 0; }
};

struct PathTimes {
  std::optional<Path> path;  // none: the depthwise convolution
  std::vector<StageTime> stages;
  double end_to_end = 0;              // seconds of one run of all stages, nothing waited for in between
  std::vector<StageTime> alone = {};  // what an overlapped stage does at the same time, one by one
  double prepared = 0;                // seconds of input kernel + GEMM in a graph; 0: not measured

  /// The name of the path, or "depthwise".
  const char* name() const;
  /// The slowest of `alone` over the time of all of it overlapped; 0 without an overlapped stage.
  double overlap_share() const;
  /// Sum over the stages from the input to A; `place` limits it.
  double to_operand() const;
  double to_operand(relayout::StagePlace place) const;
};

/// Copy rates, measured when first needed. A copy on the host or on the device counts the bytes read and
/// written, a transfer those that cross the link, as in Stage::bytes.
class CopyRates {
 public:
  CopyRates(const relayout::Stream& stream, int repeat) : stream_(stream), repeat_(repeat) {}
  double bytes_per_second(relayout::StagePlace place, std::int64_t bytes);

 private:
  double measure(relayout::StagePlace place, std::size_t copied) const;

  relayout::Stream stream_;
  int repeat_;
  std::map<std::pair<relayout::StagePlace, std::size_t>, double> known_;
};

/// Seconds from the input on the device to y, with weights that an earlier run has prepared, in a graph. It
/// is the time of one of several calls in the graph, so that its launch has little weight. y is wiped first,
/// so that its later contents come from the graph.
double time_in_graph(const relayout::Stream& stream, const std::vector<relayout::Stage>& stages,
                     const relayout::TensorView& y, int repeat);

/// Medians over `repeat` runs of the stages in order, after one that is not counted. `overlap` is the object
/// behind an overlapped stage, or null.
PathTimes time_stages(const relayout::Stream& stream, const std::vector<relayout::Stage>& stages,
                      const relayout::Conv1dOverlap* overlap, int repeat, CopyRates& rates);

}  // namespace example
