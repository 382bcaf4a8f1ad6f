// The same cases with bytes from libFuzzer, which looks for those that reach new code. Clang only:
//   cmake --preset cpu-asan -B build/fuzz -DCMAKE_CXX_COMPILER=clang++
//   -DRELAYOUT_SANITIZE=address,undefined,fuzzer-no-link cmake --build build/fuzz --target coverage_fuzz
//   build/fuzz/tests/fuzz/coverage_fuzz -max_total_time=60 -max_len=400
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/trial.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace relayout::fuzz;
  static const Devices devices("cpu,emulated32,emulated64");
  const Bytes bytes(data, data + size);
  const Result result = run_case(bytes, devices);
  if (result.failure.empty()) return 0;
  std::fprintf(stderr, "FAILED %s: %s\n%s", result.operation.c_str(), result.words.c_str(),
               result.failure.c_str());
  std::abort();
}
