#include "bench/measurement.hpp"

#include <algorithm>
#include <exception>

#include "bench/copy_baseline.hpp"

namespace relayout::bench {
namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

}  // namespace

struct Measurement::Current {
  const BenchCase* bench_case = nullptr;
  Prepared prepared;
  std::vector<Copier> copiers;
  CallSeries series;
  std::vector<std::pair<std::string, CallSeries>> beside;
};

std::string Row::reference() const {
  const auto faster = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [least, most] = std::minmax_element(beside_seconds.begin(), beside_seconds.end(), faster);
  return of_parts ? most->first : least->first;
}

Measurement::Current& Measurement::prepare(const BenchCase& bench_case) {
  if (current_ && current_->bench_case == &bench_case) return *current_;
  current_.reset();  // frees its memory first: the next case may need it
  const auto next = std::make_shared<Current>();
  next->prepared = bench_case.prepare(stream_);
  next->series.calls = next->prepared.calls;
  next->series.by_host = next->prepared.by_host;
  next->series.in_graph = graphs_ && next->prepared.in_graph && !next->prepared.by_host;
  if (next->prepared.parts.empty()) next->copiers = prepare_copiers(stream_, bench_case.bytes);
  timer_.warm_up(next->series, sample_seconds_);
  for (const Copier& copier : next->copiers) {
    CallSeries series;
    series.calls = copier.prepared.calls;
    series.in_graph = graphs_ && copier.prepared.in_graph;
    if (!next->beside.empty()) series.next = next->beside.front().second.next;
    next->beside.emplace_back(copier.name, series);
  }
  for (const Part& part : next->prepared.parts) {
    CallSeries series;
    series.calls = {part.call};
    series.by_host = true;
    next->beside.emplace_back(part.name, series);
  }
  for (auto& named : next->beside) timer_.warm_up(named.second, sample_seconds_);
  next->bench_case = &bench_case;
  current_ = next;
  return *current_;
}

void Measurement::sample(benchmark::State& state, const BenchCase& bench_case, Samples& samples) {
  Current& current = prepare(bench_case);
  samples.calls = current.series.count;
  samples.in_graph = current.series.in_graph;
  samples.of_parts = !current.prepared.parts.empty();
  samples.sets = current.series.calls.size();
  for (auto _ : state) {
    const double seconds = timer_.sample(current.series);
    state.SetIterationTime(seconds);
    samples.seconds.push_back(seconds);
    for (auto& [name, series] : current.beside) samples.beside[name].push_back(timer_.sample(series));
  }
  state.SetBytesProcessed(state.iterations() * bench_case.bytes);
}

void Measurement::run(benchmark::State& state, const BenchCase& bench_case) {
  const auto [entry, is_new] = samples_.try_emplace(&bench_case);
  if (is_new) order_.push_back(&bench_case);
  try {
    sample(state, bench_case, entry->second);
  } catch (const std::exception& error) {
    entry->second.error = error.what();
    current_.reset();
    state.SkipWithError(error.what());
  }
}

Row Measurement::row_of(const BenchCase& bench_case) const {
  const Samples& samples = samples_.at(&bench_case);
  Row row;
  row.bench_case = &bench_case;
  row.error = samples.error;
  if (!row.error.empty()) return row;
  row.repetitions = samples.seconds.size();
  row.calls_per_repetition = samples.calls;
  row.sets = samples.sets;
  row.in_graph = samples.in_graph;
  row.of_parts = samples.of_parts;
  row.seconds = median(samples.seconds);
  row.fastest = *std::min_element(samples.seconds.begin(), samples.seconds.end());
  row.slowest = *std::max_element(samples.seconds.begin(), samples.seconds.end());
  for (const auto& [name, seconds] : samples.beside) row.beside_seconds[name] = median(seconds);
  if (const auto triad = row.beside_seconds.extract(kTriad)) row.triad_seconds = triad.mapped();
  return row;
}

std::vector<Row> Measurement::rows() const {
  std::vector<Row> rows;
  for (const BenchCase* bench_case : order_) rows.push_back(row_of(*bench_case));
  return rows;
}

}  // namespace relayout::bench
