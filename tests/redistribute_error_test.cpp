// What redistribute refuses: the error, and that nothing was written.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/redistribute_check.hpp"

namespace relayout::test {
namespace {

class RedistributeErrorTest : public ::testing::TestWithParam<Device> {
 protected:
  /// [6, 4] by rows to [4, 6] by rows, over two ranks.
  const Group group_ = Group::emulated(2, GetParam());
  const Distribution rows_ = Distribution::split({6, 4}, 0, 2), columns_ = Distribution::split({4, 6}, 0, 2);
  RankBuffers in_{group_, Role::input, {DType::f32, rows_}},
      out_{group_, Role::output, {DType::f32, columns_}};

  void SetUp() override { in_.fill(DType::f32, 1); }
  void expect(ErrorCode code, const std::vector<std::string>& words, const std::function<void()>& call) {
    expect_error(code, words, call);
    out_.expect(NanRule::exact);  // NaN everywhere, as at the beginning
    in_.expect(NanRule::exact);
  }
  RedistributePlan plan(const RedistributeOptions& options = {}) const {
    return plan_redistribute(group_, rows_, in_.device(), {1, 0}, columns_, out_.device(), options);
  }
  static RedistributeOptions by(RedistributeRoute route) {
    RedistributeOptions options;
    options.route = route;
    return options;
  }
  static std::vector<const void*> pointers_of(const std::vector<TensorView>& views) {
    std::vector<const void*> pointers;
    for (const TensorView& view : views) pointers.push_back(view.data());
    return pointers;
  }
  static std::vector<void*> writable(const std::vector<TensorView>& views) {
    std::vector<void*> pointers;
    for (const TensorView& view : views) pointers.push_back(view.data());
    return pointers;
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, RedistributeErrorTest, ::testing::ValuesIn(test_devices()),
                         device_test_name);

TEST_P(RedistributeErrorTest, Ranks) {
  const Distribution three = Distribution::split({6, 4}, 0, 3);
  expect(ErrorCode::invalid_argument, {"input", "over 3 ranks", "has 2"}, [&] {
    redistribute(group_, three, in_.device(), {1, 0}, columns_, out_.device());
  });
  expect(ErrorCode::invalid_argument, {"output", "over 3 ranks", "has 2"}, [&] {
    redistribute(group_, rows_, in_.device(), {1, 0}, Distribution::split({4, 6}, 0, 3), out_.device());
  });
  expect(ErrorCode::invalid_argument, {"1 views of the input", "2 local ranks"}, [&] {
    redistribute(group_, rows_, {in_.device()[0]}, {1, 0}, columns_, out_.device());
  });
  expect(ErrorCode::invalid_argument, {"0 views of the output"}, [&] {
    redistribute(group_, rows_, in_.device(), {1, 0}, columns_, {});
  });
}

TEST_P(RedistributeErrorTest, NumbersThatAreNoEnumerators) {
  expect(ErrorCode::invalid_argument, {"redistribute", "the route is the number 4", "0 to 3"},
         [&] { plan(by(static_cast<RedistributeRoute>(4))); });
  expect(ErrorCode::invalid_argument, {"the element type is the number 17"}, [&] {
    plan_redistribute(group_, rows_, {1, 0}, columns_, static_cast<DType>(17), DType::f32);
  });
}

TEST_P(RedistributeErrorTest, AxesAndShapes) {
  for (const std::vector<int>& axes : std::vector<std::vector<int>>{{0}, {1, 1}, {0, 2}, {}})
    expect(ErrorCode::invalid_argument, {},
           [&] { redistribute(group_, rows_, in_.device(), axes, columns_, out_.device()); });
  expect(ErrorCode::shape, {"[6, 4]", "[0, 1]", "[4, 6]"}, [&] {
    redistribute(group_, rows_, in_.device(), {0, 1}, columns_, out_.device());
  });
  std::vector<TensorView> views = out_.device();
  views[1] = views[1].slice(0, 0, 1);
  expect(ErrorCode::shape, {"output of rank 1", "[1, 6]", "[2:4, 0:6]", "[2, 6]"}, [&] {
    redistribute(group_, rows_, in_.device(), {1, 0}, columns_, views);
  });
}

TEST_P(RedistributeErrorTest, Types) {
  std::vector<TensorView> views = out_.device();
  views[1] = TensorView(views[1].data(), DType::i32, views[1].shape());
  expect(ErrorCode::dtype, {"output of rank 1", "i32", "rank 0", "f32"}, [&] {
    redistribute(group_, rows_, in_.device(), {1, 0}, columns_, views);
  });
  expect(ErrorCode::dtype, {"b128"}, [&] {
    plan_redistribute(group_, rows_, {1, 0}, columns_, DType::b128, DType::f32);
  });
  RedistributeOptions options;
  options.cast.rounding = Rounding::up;
  expect(ErrorCode::rounding_mode, {}, [&] {
    plan_redistribute(group_, rows_, {1, 0}, columns_, DType::i32, DType::i16, options);
  });
}

TEST_P(RedistributeErrorTest, OutputsThatOverlap) {
  const std::vector<TensorView> in = in_.device(), out = out_.device();
  const TensorView twice(out[1].data(), DType::f32, {2, 6}, {0, 1});
  expect(ErrorCode::output_overlap, {}, [&] {
    redistribute(group_, rows_, in, {1, 0}, columns_, {out[0], twice});
  });
  expect(ErrorCode::partial_overlap, {"output of rank 0", "output of rank 1"}, [&] {
    redistribute(group_, rows_, in, {1, 0}, columns_, {out[0], out[0]});
  });
  // another rank's input
  const TensorView shared(in[1].data(), DType::f32, {2, 6});
  expect(ErrorCode::partial_overlap, {"output of rank 0", "input of rank 1"}, [&] {
    redistribute(group_, rows_, in, {1, 0}, columns_, {shared, out[1]});
  });
  std::vector<void*> swapped = writable(out);
  swapped[1] = in[0].data();
  expect(ErrorCode::partial_overlap, {"input of rank 0", "output of rank 1"},
         [&] { plan(by(RedistributeRoute::direct)).run(pointers_of(in), swapped); });
  // Inputs may share memory.
  EXPECT_NO_THROW(plan_redistribute(group_, rows_, {in[0], in[0]}, {1, 0}, columns_, out));
}

TEST_P(RedistributeErrorTest, Pointers) {
  const std::vector<TensorView> in = in_.device(), out = out_.device();
  std::vector<const void*> from = pointers_of(in);
  std::vector<void*> to = writable(out);
  const RedistributePlan direct = plan(by(RedistributeRoute::direct));
  expect(ErrorCode::invalid_argument, {"1 inputs", "2 local ranks"}, [&] { direct.run({from[0]}, to); });
  expect(ErrorCode::invalid_argument, {"3 outputs"}, [&] { direct.run(from, {to[0], to[1], to[1]}); });
  expect(ErrorCode::null_pointer, {"output of rank 1"}, [&] { direct.run(from, {to[0], nullptr}); });
  expect(ErrorCode::null_pointer, {"input of rank 0"}, [&] { direct.run({nullptr, from[1]}, to); });
  expect(ErrorCode::null_pointer, {"rank 0"}, [&] {
    plan_redistribute(group_, rows_, {1, 0}, columns_, DType::f32, DType::f32, by(RedistributeRoute::direct))
        .run();
  });
  from[1] = static_cast<const char*>(from[1]) + 2;
  expect(ErrorCode::invalid_argument, {"input of rank 1", "multiple of 4"}, [&] { direct.run(from, to); });
  from[1] = static_cast<const char*>(from[1]) + 2;
  // planned as if aligned to 256 bytes, of which kernels use 16
  const RedistributePlan aligned = plan_redistribute(group_, rows_, {1, 0}, columns_, DType::f32, DType::f32,
                                                     by(RedistributeRoute::direct));
  expect(ErrorCode::invalid_argument, {"input of rank 1", "as in the plan"}, [&] { aligned.run(from, to); });
}

TEST_P(RedistributeErrorTest, Workspaces) {
  const RedistributePlan staged = plan(by(RedistributeRoute::staged));
  const Workspaces workspaces(group_, staged);
  const std::vector<void*> good = workspaces.pointers();
  expect(ErrorCode::null_pointer, {"staged", "workspace"}, [&] { staged.run(); });
  expect(ErrorCode::invalid_argument, {"1 workspaces"}, [&] { staged.run({good[0]}); });
  expect(ErrorCode::null_pointer, {"workspace of rank 1"}, [&] { staged.run({good[0], nullptr}); });
  expect(ErrorCode::invalid_argument, {"workspace of rank 0", "multiple of 64"}, [&] {
    staged.run({static_cast<char*>(good[0]) + 16, good[1]});
  });
  expect(ErrorCode::partial_overlap, {"workspace of rank 0", "workspace of rank 1"}, [&] {
    staged.run({good[0], good[0]});
  });
  expect(ErrorCode::invalid_argument, {"rank 2"}, [&] { (void)staged.workspace_bytes(2); });
  workspaces.expect();
}

TEST_P(RedistributeErrorTest, Routes) {
  expect(ErrorCode::invalid_argument, {"copy_engine", "rank 1 sends to rank 0", "more than rows of bytes"},
         [&] { (void)plan(by(RedistributeRoute::copy_engine)); });
  RedistributeOptions options = by(RedistributeRoute::staged);
  options.workspace_limit = 8;
  expect(ErrorCode::invalid_argument, {"staged", "bytes of workspace", "the limit is 8"},
         [&] { (void)plan(options); });
  expect(ErrorCode::invalid_argument, {"staged", "the limit is 0"}, [&] {
    redistribute(group_, rows_, in_.device(), {1, 0}, columns_, out_.device(), by(RedistributeRoute::staged));
  });
  options.route.reset();
  EXPECT_NE(plan(options).details().route, RedistributeRoute::staged);
}

TEST_P(RedistributeErrorTest, Groups) {
  expect_error(ErrorCode::invalid_argument, {"not 0"}, [] { Group(std::vector<Device>{}); });
  if (has_emulated_devices())
    expect_error(ErrorCode::invalid_argument, {"not 0"}, [] { (void)Group::emulated(0); });
  if (GetParam().kind() != DeviceKind::cpu) {
    expect_error(ErrorCode::invalid_argument, {"cpu", GetParam().to_string()}, [] {
      Group(std::vector<Device>{Device::cpu(), GetParam()});
    });
  }
  EXPECT_EQ(group_.ranks(), 2);
  EXPECT_EQ(group_.local_ranks(), (std::vector<int>{0, 1}));
  EXPECT_TRUE(group_.reaches(0, 1));
  for (const int rank : {-1, 2}) {
    expect_error(ErrorCode::invalid_argument, {"rank"}, [&] { (void)group_.stream(rank); });
    expect_error(ErrorCode::invalid_argument, {"rank"}, [&] { (void)group_.reaches(0, rank); });
  }
}

}  // namespace
}  // namespace relayout::test
