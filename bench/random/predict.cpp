#include "bench/random/predict.hpp"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <sstream>

#include "bench/bench_case.hpp"
#include "bench/random/candidates.hpp"
#include "host/api/replace_file.hpp"

namespace relayout::bench::random {
namespace {

/// The GPU of the result, as far as planners ask.
DeviceProperties device_of(const Json& result) {
  const Json& device = result.at("device");
  DeviceProperties properties;
  properties.name = device.at("name");
  properties.architecture = device.at("architecture");
  properties.multiprocessors = device.at("multiprocessors");
  properties.warp_size = device.at("warp_size");
  properties.shared_memory_per_block = device.at("shared_memory_per_block");
  properties.l2_bytes = device.at("l2_bytes");
  properties.memory_bytes = device.at("memory_bytes");
  properties.memory_bytes_per_second = device.at("memory_bytes_per_second");
  properties.clock_hertz = device.at("clock_hertz");
  return properties;
}

/// Views of the problem's layout, of memory that nothing touches.
Operands planned_operands(const Problem& problem) {
  std::uintptr_t next = std::uintptr_t{1} << 40;
  const auto view_of = [&next](const Tensor& tensor) {
    constexpr std::uintptr_t kRoom = std::uintptr_t{1} << 36;
    next += kRoom;
    return tensor.view(reinterpret_cast<const void*>(next));
  };
  Operands operands;
  for (const Tensor& input : problem.inputs) operands.inputs.push_back(view_of(input));
  operands.out = view_of(problem.out);
  return operands;
}

Problem problem_of(const Json& problem, const std::string& file) {
  std::istringstream table(std::string(kCsvHeader) + "\n" + problem.at("csv").get<std::string>() + "\n");
  return read_csv(table, file).at(0);
}

/// The choice is the candidate of the least predicted time among those that were timed.
void predict_anew(const DeviceProperties& device, const std::string& file, Json& problem, int& unknown) {
  std::map<std::string, double> predicted;
  const Problem planned = problem_of(problem, file);
  for (const Candidate& candidate :
       candidates_of(device, planned, planned_operands(planned), std::numeric_limits<std::size_t>::max()))
    predicted[candidate.name] = candidate.predicted_seconds * 1e6;
  Json known = Json::array();
  for (Json& candidate : problem["candidates"]) {
    const auto found = predicted.find(candidate.at("name"));
    if (found == predicted.end()) {
      ++unknown;
      continue;
    }
    candidate["predicted_microseconds"] = found->second;
    candidate["chosen"] = false;
    known.push_back(candidate);
  }
  const auto best = std::min_element(known.begin(), known.end(), [](const Json& a, const Json& b) {
    return a["predicted_microseconds"].get<double>() < b["predicted_microseconds"].get<double>();
  });
  if (best != known.end()) (*best)["chosen"] = true;
  problem["candidates"] = known;
}

}  // namespace

void predict(const PredictOptions& options) {
  std::ifstream text(options.file);
  Json result = Json::parse(text, nullptr, false);
  if (result.is_discarded() || !result.contains("problems"))
    throw Error(ErrorCode::invalid_argument, options.file + " is no result of --suite random");
  try {
    const DeviceProperties device = device_of(result);
    int unknown = 0;
    for (Json& problem : result["problems"])
      if (problem.contains("candidates")) predict_anew(device, options.file, problem, unknown);
    if (unknown > 0) std::cout << unknown << " timed candidates are none of this build and left out\n";
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::invalid_argument, options.file + ": " + error.what());
  }
  replace_file(options.json, result.dump(2) + '\n');
}

}  // namespace relayout::bench::random
