// What a suite offers: a list of cases, each with the bytes it must move and a function that makes it ready
// to run.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <relayout/relayout.hpp>

namespace relayout::bench {

using Json = nlohmann::ordered_json;

/// Which sizes a suite lists: sizes that fill a GPU, sizes that fill a processor's memory within about 1 GB,
/// or small ones that run in a moment and are checked element by element.
enum class Sizes { gpu, cpu, smoke };

/// One of several things that a call does at the same time, here alone.
struct Part {
  std::string name;
  std::function<void()> call;
};

/// A case whose memory is allocated. Run i of a series is calls[i % calls.size()]: each call has its own
/// operands.
struct Prepared {
  std::vector<Buffer> memory;
  std::vector<std::function<void()>> calls;
  std::vector<TensorView> inputs;  // of calls[0], in device memory
  TensorView output;
  /// Whether a GPU may run the calls from a graph. The vendor's copies may not: in a graph, a large one may
  /// run on a slower copy engine.
  bool in_graph = true;
  /// Calls in which this machine's processor works for the device. They are timed by the host's clock until
  /// the work of the stream is done, and never run in a graph.
  bool by_host = false;
  /// Where there are any, the row is compared with the slowest of them, not with a copy.
  std::vector<Part> parts;
};

struct BenchCase {
  std::string suite, name;  // the row is called "suite/name"
  /// Every input element once and every output element once. Intermediate data does not count.
  std::int64_t bytes = 0;
  Json parameters;           // another program can run the same case from them
  std::string printed_case;  // the parameter struct as tests print it
  std::function<Prepared(const Stream& stream)> prepare;
  std::string group = {};      // of a suite whose cases are averaged by groups
  bool measured_plan = false;  // chosen by the clock, not by estimate

  std::string row() const { return suite + "/" + name; }
};

using BenchCases = std::vector<BenchCase>;

BenchCases copy_cases(Sizes sizes);
BenchCases cast_cases(Sizes sizes);
BenchCases conv1d_cases(Sizes sizes);
BenchCases depthwise_cases(Sizes sizes);
BenchCases elementwise_cases(Sizes sizes);
BenchCases overlap_cases(Sizes sizes);
BenchCases permute_cases(Sizes sizes);
/// How a permutation's plan is chosen. Permutations with a beta go by estimate, since they cannot be
/// measured.
enum class PlanBy { estimate, measurement };
BenchCases permute_cases_by(PlanBy by, Sizes sizes);
/// A user's table of permutations, in the sizes that it names. Error{invalid_argument} with file and line.
BenchCases permute_cases_of(const std::string& file, PlanBy by, Sizes sizes);
BenchCases native_cases(Sizes sizes);
BenchCases quantized_cases(Sizes sizes);
BenchCases redistribute_cases(Sizes sizes);

/// The suites by name, in the order in which they run.
struct Suite {
  const char* name;
  BenchCases (*cases)(Sizes sizes);
};
const std::vector<Suite>& suites();

}  // namespace relayout::bench
