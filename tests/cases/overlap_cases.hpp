// Problems for Conv1dOverlap with every way to pad, to lay out and to cut.
#pragma once

#include <vector>

#include "tests/cases/conv1d_case.hpp"

namespace relayout::cases {

inline constexpr PadMode kPadModes[] = {PadMode::constant, PadMode::replicate,
                                        PadMode::reflect,  PadMode::symmetric,
                                        PadMode::circular, PadMode::reflect_zero_extended};
/// A number that lies between two f16 numbers once it is rounded to f32, and would then go to the wrong one.
inline constexpr double kPadValue = 1.0 + 0x1p-11 + 0x1p-40;

inline Conv1d small_overlap_problem() {
  Conv1d problem;
  problem.batch = 2;
  problem.in_channels = 4;
  problem.length = 11;
  problem.window = {3, 1, 2, 1, ColumnOrder::tap_outer};
  problem.pad = {4, 0, PadMode::constant, kPadValue, PadPolicy::strict};
  return problem;
}

inline std::vector<Conv1dCase> overlap_cases() {
  std::vector<Conv1dCase> all;
  const auto add = [&all](auto change) {
    Conv1dCase c{small_overlap_problem()};
    change(c);
    all.push_back(c);
  };
  for (const Layout layout : {Layout::nlc, Layout::reversed, Layout::gaps}) {
    add([&](Conv1dCase& c) { c.layout = layout; });
  }
  for (const DType type : {DType::f16, DType::bf16, DType::f64}) {
    add([&](Conv1dCase& c) { c.input_type = type; });
    add([&](Conv1dCase& c) { c.input_type = type, c.problem.dtype = DType::bf16, c.layout = Layout::nlc; });
  }
  for (const PadMode mode : kPadModes) {
    add([&](Conv1dCase& c) {  // pads far beyond the signal
      c.problem.length = 4;
      c.problem.pad = {9, 14, mode, kPadValue, PadPolicy::extended};
      c.layout = Layout::nlc;
    });
    add([&](Conv1dCase& c) { c.problem.pad = {-3, 5, mode, kPadValue, PadPolicy::strict}; });
  }
  add([](Conv1dCase& c) { c.problem.pad = {-2, -3, PadMode::circular, 0.0, PadPolicy::strict}; });
  for (const ColumnOrder order : {ColumnOrder::tap_outer, ColumnOrder::channel_outer}) {
    for (const std::int64_t groups : {1, 2}) {
      add([&](Conv1dCase& c) {
        c.problem.window = {3, 2, 3, groups, order};
        c.problem.pad = {6, 2, PadMode::reflect, 0.0, PadPolicy::strict};
      });
    }
  }
  add([](Conv1dCase& c) { c.problem.window = {2, 5, 1, 1, ColumnOrder::tap_outer}; });  // skips samples
  add([](Conv1dCase& c) { c.problem.in_channels = 8, c.problem.length = 40; });         // vectors of 16 bytes
  // Enough channels that they are cut: parts of a group, several groups at a time.
  add([](Conv1dCase& c) { c.problem.in_channels = 136, c.problem.length = 24; });
  for (const std::int64_t groups : {2, 8}) {
    add([&](Conv1dCase& c) {
      c.problem.in_channels = 160;
      c.problem.window.groups = groups;
      c.problem.window.order = groups == 2 ? ColumnOrder::channel_outer : ColumnOrder::tap_outer;
      c.problem.pad = {4, 0, groups == 2 ? PadMode::replicate : PadMode::constant, 0.0, PadPolicy::strict};
    });
  }
  add([](Conv1dCase& c) { c.problem.batch = 0; });
  add([](Conv1dCase& c) { c.problem.in_channels = 0; });
  add([](Conv1dCase& c) { c.problem.length = 0, c.problem.pad.right = 3; });
  add([](Conv1dCase& c) { c.problem.in_channels = 1, c.problem.window.taps = 1, c.problem.pad.left = 0; });
  return all;
}

}  // namespace relayout::cases
