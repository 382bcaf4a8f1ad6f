// What a run of random problems says: the table of percentiles, the worst, JSON, and a table to run again.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "bench/bench_case.hpp"
#include "bench/random/problem.hpp"
#include "bench/random/samples.hpp"

namespace relayout::bench::random {

enum class Verified { no, by_reference, on_device };

/// One of the ways in which the library could do the problem (candidates.hpp).
struct TimedCandidate {
  std::string kind, name;
  bool chosen = false;
  double predicted_seconds = 0, seconds = 0;
};

struct Result {
  Problem problem;
  std::string error;  // why it could not run, or what of its result is wrong; empty: all is well
  Samples seconds;
  double copy_seconds = 0;         // of a copy of as many bytes as the elements have
  double sector_copy_seconds = 0;  // of as many as their sectors have
  std::int64_t sector_bytes = 0;
  std::string kernel;            // empty where plans of the family do not name one
  double predicted_seconds = 0;  // 0 where plans of the family predict none
  Verified verified = Verified::no;
  std::vector<TimedCandidate> candidates;  // empty: they were not asked for

  double share() const { return copy_seconds / seconds.median; }
  double sector_share() const { return sector_copy_seconds / seconds.median; }
};

/// For each family and size class: how many problems ran, and their share of copy at p1, p5, p25, p50, of a
/// copy of the elements' bytes and (`by_sectors`) of one of the sectors in which they lie. A percentile is
/// the value that so many of a hundred problems do not exceed (nearest rank).
Json percentiles_of(const std::vector<Result>& results);
/// The lowest shares first.
std::vector<Result> worst_of(const std::vector<Result>& results, std::size_t count);

void print_report(std::ostream& out, const std::vector<Result>& results, std::size_t worst);
/// Generator, problems and percentiles.
Json report_json(const std::vector<Result>& results);
/// The same of problems that were not run.
Json list_json(const std::vector<Problem>& problems);
/// A line for each, below a comment with its share and its kernel.
void write_csv(std::ostream& out, const std::vector<Result>& results);

}  // namespace relayout::bench::random
