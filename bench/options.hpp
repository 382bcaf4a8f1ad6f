// The command line of relayout_bench.
#pragma once

#include <string>
#include <vector>

#include "bench/bench_case.hpp"
#include "bench/compare/command.hpp"
#include "bench/random/predict.hpp"
#include "bench/random/run.hpp"

namespace relayout::bench {

struct Options {
  std::string device;               // "cpu", "gpu", "emulated" or empty: the best
  std::vector<std::string> suites;  // empty: all but `random`
  std::string permutations;         // a user's table of permutations; empty: none
  std::string filter = ".";         // regular expression on row names
  std::string json;                 // result file; empty: none
  std::string dump;                 // folder for operands and results instead of times; empty: none
  bool smoke = false, list_json = false, support = false, no_graph = false, measure = false;
  std::vector<std::string> google_benchmark;  // its own flags, passed on
  random::RandomOptions random;               // of the suite `random`
  CompareOptions compare;                     // of the subcommands
  random::PredictOptions predict;
  int exit_code = -1;  // >= 0: end now (help, or a mistake that was reported)

  bool has_flag(const std::string& beginning) const;
  bool asks_for(const std::string& suite) const;
};

Options parse(int argc, char** argv);

}  // namespace relayout::bench
