#include "tests/fuzz/trial.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <chrono>
#include <sstream>

#include "tests/fuzz/copy_cases.hpp"
#include "tests/fuzz/elementwise_cases.hpp"
#include "tests/fuzz/map_cases.hpp"
#include "tests/fuzz/quantized_cases.hpp"
#include "tests/fuzz/redistribute_cases.hpp"
#include "tests/fuzz/window_cases.hpp"

namespace relayout::fuzz {

const std::vector<Operation>& operations() {
  static const std::vector<Operation> all{{"permute", 12, decode_permute},
                                          {"transpose", 2, decode_transpose},
                                          {"cast", 2, decode_cast},
                                          {"pad", 2, decode_pad},
                                          {"img2col", 2, decode_img2col},
                                          {"depthwise", 1, decode_depthwise},
                                          {"depthwise_sequences", 1, decode_depthwise_sequences},
                                          {"elementwise", 8, decode_elementwise},
                                          {"chain", 4, decode_chain},
                                          {"map", 2, decode_map},
                                          {"quantized", 4, decode_quantized},
                                          {"depthwise_backward", 1, decode_depthwise_backward},
                                          {"redistribute", 2, decode_redistribute}};
  return all;
}

Devices::Devices(const std::string& names) {
  std::istringstream list(names);
  std::string name;
  while (std::getline(list, name, ',')) {
    Named device{name, {}};
    if (name == "cpu") {
      device.orders.emplace_back(Device::cpu());
    } else if (name == "gpu0") {
      device.orders.emplace_back(Device::gpu(0));
    } else if (name == "emulated32" || name == "emulated64") {
      for (const ThreadOrder order : {ThreadOrder::forward, ThreadOrder::reverse, ThreadOrder::shuffled}) {
        EmulationOptions options;
        options.warp_size = name == "emulated32" ? 32 : 64;
        options.order = order;
        options.workers = 1;  // a small case is done before another thread has woken up
        device.orders.emplace_back(Device::emulated(options));
      }
    } else {
      throw Error(ErrorCode::no_device, "There is no device named '" + name + "'.");
    }
    all_.push_back(device);
  }
}

const Operation& draw_operation(Draw& draw) {
  int choice = 0;
  for (const Operation& operation : operations()) choice += operation.share;
  choice = draw.below(choice);
  const Operation* operation = operations().data();
  for (; choice >= operation->share; ++operation) choice -= operation->share;
  return *operation;
}

Result run_case(const Bytes& bytes, const Devices& devices) {
  Draw draw(bytes.data(), bytes.size());
  const Operation* operation = &draw_operation(draw);
  static constexpr std::size_t kOrders[] = {0, 0, 1, 2};
  const std::size_t order = draw.pick(kOrders);
  const Trial trial = operation->decode(draw);

  Result result{trial.words, operation->name, "", std::min(draw.used(), bytes.size())};
  for (const Devices::Named& device : devices.all()) {
    ::testing::TestPartResultArray failures;
    {
      const ::testing::ScopedFakeTestPartResultReporter reporter(
          ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures);
      trial.check(device.orders[order % device.orders.size()]);
    }
    for (int i = 0; i < failures.size(); ++i)
      result.failure += device.name + ": " + failures.GetTestPartResult(i).message() + "\n";
    if (!result.failure.empty()) break;
  }
  return result;
}

Bytes shrink(Bytes bytes, const std::function<bool(const Bytes&)>& fails, double seconds) {
  const auto begin = std::chrono::steady_clock::now();
  const auto accept = [&](const Bytes& smaller) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    if (smaller == bytes || spent.count() > seconds || !fails(smaller)) return false;
    bytes = smaller;
    return true;
  };
  bool smaller = true;
  while (smaller) {
    smaller = false;
    for (std::size_t count = bytes.size(); count > 0; count = count > 11 ? count / 2 : count - 1) {
      for (std::size_t at = 0; at + count <= bytes.size();) {  // leave out, or else set to 0
        Bytes without = bytes, zeros = bytes;
        const auto from = static_cast<std::ptrdiff_t>(at), to = static_cast<std::ptrdiff_t>(at + count);
        without.erase(without.begin() + from, without.begin() + to);
        std::fill(zeros.begin() + from, zeros.begin() + to, std::uint8_t{0});
        const bool left_out = accept(without);
        smaller = left_out || accept(zeros) || smaller;
        if (!left_out) at += count;
      }
    }
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      for (int step = 128; step > 0; step /= 2) {
        Bytes less = bytes;
        if (less[at] < step) continue;
        less[at] = static_cast<std::uint8_t>(less[at] - step);
        smaller = accept(less) || smaller;
      }
    }
  }
  return bytes;
}

}  // namespace relayout::fuzz
