#include "bench/random/run.hpp"

#include <algorithm>
#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>

#include "bench/random/candidates.hpp"
#include "bench/random/copy_times.hpp"
#include "bench/random/device_check.hpp"
#include "bench/random/generator.hpp"
#include "bench/random/memory.hpp"
#include "bench/random/oracle.hpp"
#include "bench/random/prepare.hpp"
#include "bench/random/sectors.hpp"
#include "host/api/replace_file.hpp"

namespace relayout::bench::random {
namespace {

constexpr std::size_t kWorst = 30;
constexpr double kMegabyte = 1e6;

struct Defaults {
  std::int64_t cases;
  double least_mb, most_mb;
};

/// A smoke run has problems above and below the size up to which the reference checks all of a result.
Defaults defaults_of(Sizes sizes) {
  if (sizes == Sizes::gpu) return {100, 8, 128};
  if (sizes == Sizes::cpu) return {30, 1, 32};
  return {6, 0.0005, 0.3};
}

/// Runs the call on what the timing left: the output is overwritten first, so that nothing old passes for a
/// result.
void verify(const Stream& stream, const std::function<void()>& call, const Operands& set,
            DeviceCheck& device_check, Result& result) {
  const TensorView::ByteRange range = set.out.byte_range();
  stream.fill(static_cast<char*>(set.out.data()) + range.begin, 0xa5,
              static_cast<std::size_t>(range.end - range.begin));
  call();
  result.error = check_by_reference(stream, result.problem, set.inputs, set.out);
  const bool whole = set.out.elements() <= kWholeElements;
  if (result.error.empty() && !whole) result.error = device_check.check(result.problem, set.inputs, set.out);
  if (result.error.empty()) result.verified = whole ? Verified::by_reference : Verified::on_device;
}

void progress(std::size_t done, std::size_t all) {
  constexpr std::size_t kEvery = 200;
  if (done % kEvery == 0 && done < all) std::cout << done << " of " << all << " problems\n" << std::flush;
}

}  // namespace

std::vector<Problem> chosen_problems(const RandomOptions& options, Sizes sizes) {
  if (!options.problems.empty()) {
    std::ifstream text(options.problems);
    if (!text) throw Error(ErrorCode::invalid_argument, "could not read " + options.problems);
    return read_csv(text, options.problems);
  }
  const Defaults defaults = defaults_of(sizes);
  const double least = options.least_mb > 0 ? options.least_mb : defaults.least_mb;
  const double most =
      options.most_mb > 0 ? options.most_mb : std::max(defaults.most_mb, 4 * options.least_mb);
  const Bytes bytes{static_cast<std::int64_t>(least * kMegabyte),
                    static_cast<std::int64_t>(most * kMegabyte)};
  if (bytes.least < 1 || bytes.most < bytes.least)
    throw Error(ErrorCode::invalid_argument, "--max-mb is below --min-mb");
  std::vector<Problem> problems;
  const std::int64_t cases = options.cases > 0 ? options.cases : defaults.cases;
  for (int number = 0; number < kFamilies; ++number) {
    const Family family = static_cast<Family>(number);
    const auto& asked = options.families;
    if (!asked.empty() && std::find(asked.begin(), asked.end(), name_of(family)) == asked.end()) continue;
    for (std::int64_t i = 0; i < cases; ++i) problems.push_back(generate(options.seed, family, i, bytes));
  }
  return problems;
}

std::vector<Result> run_problems(const Stream& stream, const std::vector<Problem>& problems,
                                 const RandomOptions& options, const Timing& timing) {
  Memory memory(stream, problems, timing.rotated);
  DeviceCheck device_check(stream);
  CopyTimes copy_times(stream, timing.sample_seconds, timing.graphs);
  const StreamTimer timer(stream);
  std::vector<Result> results;
  for (const Problem& problem : problems) {
    Result result;
    result.problem = problem;
    try {
      const Ready ready = prepare(stream, problem, memory);
      result.kernel = ready.kernel;
      result.predicted_seconds = ready.predicted_seconds;
      const auto samples_of = [&](const std::vector<std::function<void()>>& calls) {
        CallSeries series;
        series.calls = calls;
        series.in_graph = timing.graphs;
        return take_samples(timer, series, timing.sample_seconds);
      };
      result.seconds = samples_of(ready.calls);
      result.copy_seconds = copy_times.seconds(problem.bytes());
      result.sector_bytes = sector_bytes(problem);
      result.sector_copy_seconds = copy_times.seconds(result.sector_bytes);
      if (options.verify) verify(stream, ready.calls[0], ready.sets[0], device_check, result);
      const bool compares =
          options.candidates > 0 && result.error.empty() && stream.device().kind() != DeviceKind::cpu;
      for (const Candidate& candidate :
           compares ? candidates_of(stream.device().properties(), problem, ready.sets[0], options.candidates)
                    : std::vector<Candidate>()) {
        std::vector<std::function<void()>> calls;
        for (const Operands& set : ready.sets)
          calls.push_back([&stream, &candidate, &set] { candidate.run(stream, set); });
        const double seconds = samples_of(calls).median;
        if (options.verify) verify(stream, calls[0], ready.sets[0], device_check, result);
        if (!result.error.empty()) throw Error(ErrorCode::launch, candidate.name + ": " + result.error);
        result.candidates.push_back(
            {candidate.kind, candidate.name, candidate.chosen, candidate.predicted_seconds, seconds});
      }
    } catch (const std::exception& error) {
      result.error = error.what();
    }
    results.push_back(result);
    progress(results.size(), problems.size());
  }
  return results;
}

void report(const std::vector<Result>& results, const RandomOptions& options) {
  print_report(std::cout, results, kWorst);
  if (options.csv.empty()) return;
  std::ostringstream table;
  write_csv(table, worst_of(results, kWorst));
  replace_file(options.csv, table.str());
}

}  // namespace relayout::bench::random
