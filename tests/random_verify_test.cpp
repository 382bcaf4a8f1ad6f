// The checks of the random problems: right results pass, a single wrong element does not.
#include <gtest/gtest.h>

#include "bench/random/device_check.hpp"
#include "bench/random/generator.hpp"
#include "bench/random/oracle.hpp"
#include "bench/random/prepare.hpp"
#include "host/reference/scalar.hpp"

namespace relayout::bench::random {
namespace {

struct Checked {
  const char* name;
  Device (*device)();
};

class Verify : public ::testing::TestWithParam<std::tuple<Checked, int>> {
 protected:
  Device device() const { return std::get<0>(GetParam()).device(); }
  Family family() const { return static_cast<Family>(std::get<1>(GetParam())); }

  /// Right as the library leaves it, and wrong with the last element changed.
  template <class Check>
  void expect_seen(const Problem& problem, const Check& check) {
    SCOPED_TRACE(to_csv(problem));
    const Stream stream(device());
    Memory memory(stream, {problem}, false);
    const Ready ready = prepare(stream, problem, memory);
    ready.calls[0]();
    EXPECT_EQ(check(stream, problem, ready.sets[0].inputs, ready.sets[0].out), "");
    Dims last = problem.out.shape;
    for (std::int64_t& index : last) --index;
    *reference::address(ready.sets[0].out, last) ^= 0x45;
    *(reference::address(ready.sets[0].out, last) + size_of(problem.out.type) - 1) ^= 0x7d;
    EXPECT_NE(check(stream, problem, ready.sets[0].inputs, ready.sets[0].out), "");
  }
};

INSTANTIATE_TEST_SUITE_P(
    Devices, Verify,
    ::testing::Combine(::testing::Values(Checked{"cpu", [] { return Device::cpu(); }},
                                         Checked{"emulated32", [] { return Device::emulated(32); }},
                                         Checked{"emulated64", [] { return Device::emulated(64); }}),
                       ::testing::Range(0, kFamilies)),
    [](const ::testing::TestParamInfo<Verify::ParamType>& info) {
      return std::string(std::get<0>(info.param).name) + "_" +
             name_of(static_cast<Family>(std::get<1>(info.param)));
    });

TEST_P(Verify, TheReferenceSeesAllOfASmallResult) {
  for (std::int64_t index = 0; index < 12; ++index)
    expect_seen(generate(11, family(), index, {200, 20000}), check_by_reference);
}

TEST_P(Verify, TheReferenceSeesTheEndsOfALargeResult) {
  for (std::int64_t index = 0; index < 2; ++index) {
    if (family() == Family::img2col || family() == Family::pad) return;  // samples may lie too far apart
    expect_seen(generate(12, family(), index, {3 << 20, 4 << 20}), check_by_reference);
  }
}

TEST_P(Verify, TheDeviceSeesAllOfAResult) {
  for (std::int64_t index = 0; index < 12; ++index) {
    expect_seen(generate(13, family(), index, {2000, 200000}),
                [](const Stream& stream, const Problem& problem, const std::vector<TensorView>& inputs,
                   const TensorView& out) { return DeviceCheck(stream).check(problem, inputs, out); });
  }
}

}  // namespace
}  // namespace relayout::bench::random
