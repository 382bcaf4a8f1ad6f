// All 2^32 floats through the GPU's cast: to f16 and bf16 against the conversions of relayout/dtype.hpp, to
// other types against the oracle.
#include <gtest/gtest.h>

#include <cmath>
#include <thread>
#include <vector>

#include "host/reference/convert.hpp"
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

/// Numbers of one sign, then infinity, in the order of their bits: their rounded values are in that order as
/// well. So a run of equal results is right when its first and its last are, and only these are compared with
/// the oracle. No run goes on into the NaNs, which have other results, nor into the next sign, which begins a
/// chunk.
class ExhaustiveConversion : public DeviceTest {
 protected:
  template <class Bits>
  static std::uint64_t wrong_runs(std::uint64_t first, const std::vector<Bits>& outputs, std::uint64_t begin,
                                  std::uint64_t end, DType to, const CastOptions& options) {
    const auto is_wrong = [&](std::uint64_t i) {
      return reference::convert_bits(first + i, DType::f32, to, options) != outputs[i];
    };
    std::uint64_t wrong = 0;
    for (std::uint64_t i = begin; i < end; ++i) {
      const bool run_begins = i == begin || outputs[i] != outputs[i - 1];
      const bool run_ends = i + 1 == end || outputs[i] != outputs[i + 1];
      if (run_begins || run_ends) wrong += is_wrong(i);
    }
    return wrong;
  }

  template <class Bits>
  void compare_all(DType to, const CastOptions& options = {}) {
    std::vector<std::uint32_t> inputs(kChunk);
    std::vector<Bits> outputs(kChunk);
    const Buffer in(device(), kChunk * sizeof(float)), out(device(), kChunk * sizeof(Bits));
    const Dims shape{static_cast<std::int64_t>(kChunk)};
    const std::uint64_t workers = std::max(1u, std::thread::hardware_concurrency());
    for (std::uint64_t first = 0; first < kAll; first += kChunk) {
      for (std::uint64_t i = 0; i < kChunk; ++i) inputs[i] = static_cast<std::uint32_t>(first + i);
      stream().copy(in.data(), inputs.data(), in.bytes());
      cast(stream(), TensorView(in.data(), DType::f32, shape), TensorView(out.data(), to, shape), {},
           options);
      stream().copy(outputs.data(), out.data(), out.bytes());
      stream().synchronize();
      std::vector<std::uint64_t> wrong(workers, 0);
      std::vector<std::thread> threads;
      for (std::uint64_t worker = 0; worker < workers; ++worker) {
        threads.emplace_back([&, worker] {
          wrong[worker] = wrong_runs(first, outputs, kChunk * worker / workers,
                                     kChunk * (worker + 1) / workers, to, options);
        });
      }
      for (std::thread& thread : threads) thread.join();
      for (const std::uint64_t count : wrong)
        ASSERT_EQ(count, 0u) << "among the patterns from " << first << " on";
    }
  }
};

TEST_P(ExhaustiveConversion, EveryFloatToE4m3fn) { compare_all<std::uint8_t>(DType::e4m3fn); }
TEST_P(ExhaustiveConversion, EveryFloatToE5m2WithoutSaturation) {
  CastOptions options;
  options.saturate_fp8 = false;
  compare_all<std::uint8_t>(DType::e5m2, options);
}
TEST_P(ExhaustiveConversion, EveryFloatToTf32) { compare_all<std::uint32_t>(DType::tf32); }
TEST_P(ExhaustiveConversion, EveryFloatToI8) { compare_all<std::uint8_t>(DType::i8); }
TEST_P(ExhaustiveConversion, EveryFloatToF16Upwards) {
  CastOptions options;
  options.rounding = Rounding::up;
  compare_all<std::uint16_t>(DType::f16, options);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ExhaustiveConversion);
INSTANTIATE_TEST_SUITE_P(Gpus, ExhaustiveConversion, testing::ValuesIn(gpu_devices()), device_test_name);

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
