// relayout_bench: times the suites on one device, or compares such results. Exit status: 0; 1 when a case
// failed; 2 for bad arguments, a device that is not there or results that cannot be compared.
#include <algorithm>
#include <exception>
#include <iostream>
#include <regex>
#include <set>
#include <stdexcept>

#include "bench/dump.hpp"
#include "bench/measurement.hpp"
#include "bench/options.hpp"
#include "bench/random/report.hpp"
#include "bench/random/run.hpp"
#include "bench/report.hpp"
#include "bench/rotation.hpp"
#include "bench/support.hpp"
#include "host/api/replace_file.hpp"

namespace relayout::bench {

const std::vector<Suite>& suites() {
  static const std::vector<Suite> list{{"copy", copy_cases},
                                       {"cast", cast_cases},
                                       {"conv1d", conv1d_cases},
                                       {"depthwise", depthwise_cases},
                                       {"elementwise", elementwise_cases},
                                       {"overlap", overlap_cases},
                                       {"permute", permute_cases},
                                       {"quantized", quantized_cases},
                                       {"redistribute", redistribute_cases},
                                       {"native", native_cases}};
  return list;
}

namespace {

constexpr int kRepetitions = 15;
constexpr double kSmokeSample = 1e-6;

Device device_of(const Options& options) {
  if (options.device.empty()) return Device::best();
  constexpr int kEmulatedWarp = 32;
  if (options.device == "emulated") return Device::emulated(kEmulatedWarp);
  return options.device == "gpu" ? Device::gpu() : Device::cpu();
}

Sizes sizes_of(const Options& options, const Device& device) {
  if (options.smoke) return Sizes::smoke;
  return device.kind() == DeviceKind::gpu ? Sizes::gpu : Sizes::cpu;
}

BenchCases chosen_cases(const Options& options, const Device& device) {
  const Sizes sizes = sizes_of(options, device);
  const std::regex filter(options.filter);
  BenchCases chosen;
  std::set<std::string> names;
  const auto add = [&](BenchCases cases) {
    for (BenchCase& c : cases) {
      if (!names.insert(c.row()).second) throw std::invalid_argument("two cases have the name " + c.row());
      if (std::regex_search(c.row(), filter)) chosen.push_back(std::move(c));
    }
  };
  for (const Suite& suite : suites()) {
    if (!options.suites.empty() && !options.asks_for(suite.name)) continue;
    if (suite.cases != permute_cases) {
      add(suite.cases(sizes));
      continue;
    }
    const PlanBy by = options.measure ? PlanBy::measurement : PlanBy::estimate;
    add(permute_cases_by(by, sizes));
    if (!options.permutations.empty()) add(permute_cases_of(options.permutations, by, sizes));
  }
  if (chosen.empty()) throw std::invalid_argument("no case of these suites matches '" + options.filter + "'");
  return chosen;
}

/// One iteration is one sample: as many repetitions, as many samples.
void register_cases(const Options& options, const BenchCases& cases, Measurement& measurement) {
  for (const BenchCase& c : cases) {
    auto* const registered = benchmark::RegisterBenchmark(
        c.row().c_str(), [&measurement, &c](benchmark::State& state) { measurement.run(state, c); });
    registered->UseManualTime()->Unit(benchmark::kMicrosecond);
    if (!options.has_flag("--benchmark_min_time")) registered->Iterations(1);
    if (!options.has_flag("--benchmark_repetitions")) registered->Repetitions(kRepetitions);
  }
}

void initialize_google_benchmark(const char* program, const Options& options) {
  std::vector<std::string> words{program};
  words.insert(words.end(), options.google_benchmark.begin(), options.google_benchmark.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int count = static_cast<int>(words.size());
  benchmark::Initialize(&count, arguments.data());
  if (count > 1) throw std::invalid_argument("Google Benchmark does not know " + std::string(arguments[1]));
}

void write_json(const std::string& path, const Json& json) {
  if (!path.empty()) replace_file(path, json.dump(2) + '\n');
}

int run_random(const Options& options, const Device& device) {
  const std::vector<random::Problem> problems =
      random::chosen_problems(options.random, sizes_of(options, device));
  if (options.list_json) {
    std::cout << random::list_json(problems).dump(2) << '\n';
    return 0;
  }
  const bool gpu = device.kind() == DeviceKind::gpu;
  constexpr double kGpuSample = 1e-3, kCpuSample = 10e-3;
  const random::Timing timing{options.smoke ? kSmokeSample
                              : gpu         ? kGpuSample
                                            : kCpuSample,
                              gpu && !options.no_graph, !options.smoke};
  const std::vector<random::Result> results =
      random::run_problems(Stream(device), problems, options.random, timing);
  random::report(results, options.random);
  Json json = machine_json(device);
  json.update(random::report_json(results));
  write_json(options.json, json);
  const bool failed = std::any_of(results.begin(), results.end(),
                                  [](const random::Result& result) { return !result.error.empty(); });
  return failed ? 1 : 0;
}

int run(const char* program, const Options& options) {
  if (options.support) {
    print_support(std::cout);
    return 0;
  }
  check_files({options.json, options.random.csv}, {options.permutations, options.random.problems});
  if (options.smoke) use_one_set();
  const Device device = device_of(options);
  if (options.asks_for("random")) return run_random(options, device);
  const BenchCases cases = chosen_cases(options, device);
  if (options.list_json) {
    std::cout << cases_json(cases).dump(2) << '\n';
    return 0;
  }
  const Stream stream(device);
  if (!options.dump.empty()) {
    dump_cases(stream, cases, options.dump);
    return 0;
  }
  initialize_google_benchmark(program, options);
  const bool gpu = device.kind() == DeviceKind::gpu;
  constexpr double kGpuSample = 2e-3, kCpuSample = 20e-3;
  const double sample_seconds = options.smoke ? kSmokeSample : gpu ? kGpuSample : kCpuSample;
  Measurement measurement(stream, sample_seconds, gpu && !options.no_graph);
  register_cases(options, cases, measurement);
  TableReporter reporter(device, measurement, cases);
  benchmark::RunSpecifiedBenchmarks(&reporter);
  const std::vector<Row> rows = measurement.rows();
  write_json(options.json, result_json(device, rows));
  const bool failed =
      std::any_of(rows.begin(), rows.end(), [](const Row& row) { return !row.error.empty(); });
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace relayout::bench

int main(int argc, char** argv) {
  const relayout::bench::Options options = relayout::bench::parse(argc, argv);
  if (options.exit_code >= 0) return options.exit_code;
  try {
    if (!options.predict.file.empty()) {
      relayout::bench::random::predict(options.predict);
      return 0;
    }
    if (!options.compare.files.empty()) {
      relayout::bench::run_compare(options.compare);
      return 0;
    }
    return relayout::bench::run(argv[0], options);
  } catch (const std::exception& error) {
    const std::string what = error.what();
    std::cerr << "relayout_bench: " << what << (what.empty() || what.back() != '.' ? ".\n" : "\n");
    return 2;
  }
}
