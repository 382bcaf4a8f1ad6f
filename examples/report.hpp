// The output of the program, as text and as JSON.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include <relayout/device.hpp>

#include "options.hpp"
#include "timing.hpp"
#include "verify.hpp"

namespace example {

/// All results of one run of one path.
struct PathResult {
  PathTimes times;
  OperandCheck operands;  // with --no-verify: all 0
  GemmReport gemm;
  std::string explanation;  // with --explain
};

struct Report {
  std::string device, device_name, architecture;
  relayout::Conv1d problem;
  relayout::Conv1dSizes sizes;
  bool depthwise = false;      // one path, without a GEMM
  bool channels_last = false;  // the input's layout: nlc
  int repeat = 0;
  std::uint64_t seed = 0;
  bool verified = false;
  std::vector<PathResult> paths;
  std::string choice;  // why this path, where measured rates chose it

  /// The shape of y in its order in memory.
  relayout::Dims result_shape() const;
  /// Every check of every path passed; true without verification.
  bool ok() const;
};

void print_problem(std::ostream& out, const Report& report);
void print_explanations(std::ostream& out, const Report& report);
void print_times(std::ostream& out, const Report& report);
void print_verification(std::ostream& out, const Report& report);
void write_json(std::ostream& out, const Report& report);

}  // namespace example
