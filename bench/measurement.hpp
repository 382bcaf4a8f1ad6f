// Times one case after another under Google Benchmark, each with its comparison: copies of as many bytes, or
// its own parts alone.
#pragma once

#include <benchmark/benchmark.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/bench_case.hpp"
#include "bench/stream_timer.hpp"

namespace relayout::bench {

/// Medians of a case's samples.
struct Row {
  const BenchCase* bench_case = nullptr;
  std::string error;  // why it could not run; empty: it ran
  std::size_t repetitions = 0, calls_per_repetition = 0, sets = 0;
  bool in_graph = false;
  double seconds = 0, fastest = 0, slowest = 0;
  std::map<std::string, double> beside_seconds;  // for each copier, or for each part
  bool of_parts = false;
  double triad_seconds = 0;  // 0 where none was timed

  /// The best copy, or the slowest part.
  std::string reference() const;
  double reference_seconds() const { return beside_seconds.at(reference()); }
  double rate() const { return static_cast<double>(bench_case->bytes) / seconds; }
  double reference_rate() const { return static_cast<double>(bench_case->bytes) / reference_seconds(); }
  double share() const { return reference_seconds() / seconds; }
  double share_of_triad() const { return triad_seconds / seconds; }
};

class Measurement {
 public:
  /// `graphs`: a GPU's calls are recorded and launched as graphs, not queued one by one.
  Measurement(const Stream& stream, double sample_seconds, bool graphs)
      : timer_(stream), stream_(stream), sample_seconds_(sample_seconds), graphs_(graphs) {}

  /// Each iteration is one sample of the case and, right after it, one of every copier or part: a machine
  /// that slows down for a while slows both. Keeps the memory of the last case only.
  void run(benchmark::State& state, const BenchCase& bench_case);

  /// In the order in which the cases first ran.
  std::vector<Row> rows() const;
  Row row_of(const BenchCase& bench_case) const;

 private:
  struct Samples {
    std::string error;
    std::size_t calls = 0, sets = 0;
    bool in_graph = false, of_parts = false;
    std::vector<double> seconds;
    std::map<std::string, std::vector<double>> beside;
  };
  struct Current;

  void sample(benchmark::State& state, const BenchCase& bench_case, Samples& samples);
  Current& prepare(const BenchCase& bench_case);

  StreamTimer timer_;
  Stream stream_;
  double sample_seconds_;
  bool graphs_;
  std::shared_ptr<Current> current_;
  std::vector<const BenchCase*> order_;
  std::map<const BenchCase*, Samples> samples_;
};

}  // namespace relayout::bench
