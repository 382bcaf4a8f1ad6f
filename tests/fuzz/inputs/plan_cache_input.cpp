// Plan caches: what is taken finds plans that run, and is the same after it was saved and loaded.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/fuzz/inputs/input_file.hpp"

#include <relayout/relayout.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace relayout;
  static const std::string saved =
      std::filesystem::temp_directory_path() / ("relayout_plans_" + std::to_string(getpid()));
  PlanCache cache;
  try {
    const fuzz::InputFile input(data, size);
    cache.load(input.path());
    std::vector<std::uint16_t> in(24 * 40), out(24 * 40);
    const TensorView from(in.data(), DType::f16, {24, 40}), to(out.data(), DType::f16, {40, 24});
    cache.find(plan_transpose(DeviceProperties::h200(), from, to)).explain();
    cache.find(plan_transpose(DeviceProperties::mi300x(), from, to)).explain();
    const Device cpu = Device::cpu();
    cache.find(plan_transpose(cpu, from, to)).run(Stream(cpu));
  } catch (const Error&) {
    if (cache.size() != 0) std::abort();  // a file that is refused adds nothing
    return 0;
  }
  cache.save(saved);
  PlanCache second;
  second.load(saved);
  std::filesystem::remove(saved);
  if (second.size() != cache.size()) std::abort();
  return 0;
}
