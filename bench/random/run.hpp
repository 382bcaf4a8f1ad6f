// The suite `random`: draws the problems or reads them, checks and times each, and reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/random/report.hpp"

namespace relayout::bench::random {

struct RandomOptions {
  std::uint64_t seed = 1;
  std::int64_t cases = 0;             // of each family; 0: by the device
  std::vector<std::string> families;  // empty: all
  double least_mb = 0, most_mb = 0;   // of 10^6 bytes read and written; 0: by the device
  std::string problems;               // a table to run instead of drawn problems; empty: none
  std::string csv;                    // the worst problems go there; empty: nowhere
  bool verify = true;
  std::size_t candidates = 0;  // tiles of a kernel, at most, that are timed; 0: no candidates are
};

/// Those of the options. Error{invalid_argument} for sizes that make no range and for tables that cannot be
/// read.
std::vector<Problem> chosen_problems(const RandomOptions& options, Sizes sizes);

struct Timing {
  double sample_seconds = 0;
  bool graphs = false;  // as in bench/measurement.hpp
  bool rotated = true;  // operands past the caches
};

/// What is printed goes to std::cout.
std::vector<Result> run_problems(const Stream& stream, const std::vector<Problem>& problems,
                                 const RandomOptions& options, const Timing& timing);

/// The 30 worst problems, printed and written.
void report(const std::vector<Result>& results, const RandomOptions& options);

}  // namespace relayout::bench::random
