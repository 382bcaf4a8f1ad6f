// All 2^32 floats through the GPU's cast, against the conversions of relayout/dtype.hpp.
#include <gtest/gtest.h>

#include <cmath>
#include <thread>
#include <vector>

#include "tests/support/devices.hpp"

namespace relayout::test {
namespace {

constexpr std::uint64_t kAll = std::uint64_t{1} << 32, kChunk = std::uint64_t{1} << 28;

class ExhaustiveCast : public DeviceTest {
 protected:
  /// Mismatches of one chunk of bit patterns, counted by every processor of the host.
  template <class To, class Convert>
  std::uint64_t mismatches(std::uint64_t first, const std::vector<std::uint32_t>& inputs,
                           const std::vector<To>& outputs, Convert convert) {
    const unsigned workers = std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::uint64_t> wrong(workers, 0);
    std::vector<std::thread> threads;
    for (unsigned worker = 0; worker < workers; ++worker) {
      threads.emplace_back([&, worker] {
        std::uint64_t count = 0;
        for (std::uint64_t i = worker; i < inputs.size(); i += workers) {
          const To expected = convert(detail::bit_cast<float>(inputs[i]));
          const bool both_nan = std::isnan(to_float(expected)) && std::isnan(to_float(outputs[i]));
          count += expected.bits != outputs[i].bits && !both_nan;
        }
        wrong[worker] = count;
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::uint64_t total = 0;
    for (const std::uint64_t count : wrong) total += count;
    EXPECT_EQ(total, 0u) << "among the patterns from " << first << " on";
    return total;
  }

  template <class To, class Convert>
  void compare_all(Convert convert) {
    std::vector<std::uint32_t> inputs(kChunk);
    std::vector<To> outputs(kChunk);
    const Buffer in(device(), kChunk * sizeof(float)), out(device(), kChunk * sizeof(To));
    const Dims shape{static_cast<std::int64_t>(kChunk)};
    for (std::uint64_t first = 0; first < kAll; first += kChunk) {
      for (std::uint64_t i = 0; i < kChunk; ++i) inputs[i] = static_cast<std::uint32_t>(first + i);
      stream().copy(in.data(), inputs.data(), in.bytes());
      cast(stream(), TensorView(in.data(), DType::f32, shape), TensorView(out.data(), dtype_of<To>, shape));
      stream().copy(outputs.data(), out.data(), out.bytes());
      stream().synchronize();
      if (mismatches(first, inputs, outputs, convert) > 0) return;
    }
  }
};

TEST_P(ExhaustiveCast, EveryFloatToF16) {
  compare_all<f16>([](float value) { return to_f16(value); });
}
TEST_P(ExhaustiveCast, EveryFloatToBf16) {
  compare_all<bf16>([](float value) { return to_bf16(value); });
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ExhaustiveCast);
INSTANTIATE_TEST_SUITE_P(Gpus, ExhaustiveCast, testing::ValuesIn(gpu_devices()), device_test_name);

}  // namespace
}  // namespace relayout::test
