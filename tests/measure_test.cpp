// Plans chosen by the clock: a cache keeps the fastest, saves and loads them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "host/reference/permute.hpp"
#include "tests/cases/permute_shorthand.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"

namespace relayout::test {
namespace {

/// A file of this process alone, which is removed with the object.
class File {
 public:
  explicit File(const std::string& name)
      : path_(::testing::TempDir() + "measure_test_" + std::to_string(::getpid()) + "_" + name) {}
  ~File() { std::filesystem::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& path() const { return path_; }
  void write(const std::string& text) const { std::ofstream(path_) << text; }
  std::string read() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }

 private:
  std::string path_;
};

bool is_measured(const CopyPlan& plan) { return plan.details().measurement.candidates > 0; }

/// Kernel, tile and threads.
void expect_same_plan(const CopyPlan& a, const CopyPlan& b) {
  EXPECT_STREQ(name_of(a.details().kernel), name_of(b.details().kernel));
  EXPECT_EQ(a.details().tile, b.details().tile);
  EXPECT_EQ(a.details().threads, b.details().threads);
}

/// One copy and its memory.
class MeasureTest : public DeviceTest {
 protected:
  struct Copy {
    Copy(const Stream& stream, DType type, const Dims& shape, std::int64_t misaligned = 0)
        : in(stream, Role::input, type, shape),
          out(stream, Role::output, type, Dims(shape.rbegin(), shape.rend()), {}, misaligned),
          axes(cases::reversal(static_cast<int>(shape.size()))),
          plan(plan_permute(stream.device(), in.device(), axes, out.device())) {
      fill_bits(in.host());
      in.upload();
    }
    CopyPlan measure(const Stream& stream, PlanCache& cache) const {
      return cache.measure(stream, plan, in.device().data(), out.device().data());
    }
    /// Whether nothing has been written since the output was last uploaded.
    ::testing::AssertionResult untouched() const { return out.check(); }
    ::testing::AssertionResult is_right() const {
      reference::permute(in.host(), axes, out.host());
      return out.check(NanRule::exact);
    }
    GuardedBuffer in, out;
    std::vector<int> axes;
    CopyPlan plan;
  };
};
INSTANTIATE_TEST_SUITE_P(Devices, MeasureTest, ::testing::ValuesIn(test_devices()), device_test_name);

/// Native code has one plan. Copies with several plans are kept.
class PlanCacheTest : public MeasureTest {};
std::vector<Device> devices_with_a_choice() {
  std::vector<Device> devices = test_devices();
  devices.erase(devices.begin());
  return devices;
}
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PlanCacheTest);
INSTANTIATE_TEST_SUITE_P(Devices, PlanCacheTest, ::testing::ValuesIn(devices_with_a_choice()),
                         device_test_name);

TEST_P(MeasureTest, TakesTheFastestAndKeepsIt) {
  PlanCache cache;
  for (const Dims& shape : {Dims{64, 96}, Dims{9, 21, 13}}) {
    const Copy copy(stream(), DType::f16, shape);
    const CopyPlan plan = copy.measure(stream(), cache);
    if (is_native()) {
      EXPECT_FALSE(is_measured(plan));
      EXPECT_TRUE(copy.untouched());
      EXPECT_EQ(cache.size(), 0u);
      continue;
    }
    EXPECT_TRUE(copy.is_right()) << "what measuring wrote";
    const CopyMeasurement measurement = plan.details().measurement;
    EXPECT_GT(measurement.microseconds, 0);
    EXPECT_GT(measurement.candidates, 1);
    EXPECT_LE(measurement.candidates, 16);
    const std::string text = plan.explain();
    EXPECT_NE(text.find("Measured on " + device().properties().name), std::string::npos) << text;
    EXPECT_NE(text.find("the fastest of " + std::to_string(measurement.candidates)), std::string::npos)
        << text;
    EXPECT_EQ(copy.plan.explain().find("Measured"), std::string::npos) << copy.plan.explain();
    expect_same_plan(cache.find(copy.plan), plan);

    const Copy again(stream(), DType::i16, shape);
    const CopyPlan kept = again.measure(stream(), cache);
    EXPECT_TRUE(again.untouched()) << "it was in the cache";
    expect_same_plan(kept, plan);
    EXPECT_EQ(kept.details().measurement.microseconds, measurement.microseconds);
    kept.run(stream());
    EXPECT_TRUE(again.is_right());
    PlanCache another;  // does not take what this one measured for its own
    another.measure(stream(), kept, again.in.device().data(), again.out.device().data());
    EXPECT_EQ(another.size(), 1u);
  }
  EXPECT_EQ(cache.size(), is_native() ? 0u : 2u);
}

TEST_P(PlanCacheTest, SavesAndLoads) {
  const File first("first"), second("second");
  const Copy copy(stream(), DType::f32, {48, 33}), other(stream(), DType::u8, {8, 20, 16});
  PlanCache one, two, both;
  const CopyPlan plan = copy.measure(stream(), one), other_plan = other.measure(stream(), two);
  one.save(first.path());
  two.save(second.path());
  both.load(first.path());
  both.load(second.path());
  EXPECT_EQ(both.size(), 2u);
  const Copy fresh(stream(), DType::f32, {48, 33});
  const CopyPlan loaded = fresh.measure(stream(), both);
  EXPECT_TRUE(fresh.untouched());
  expect_same_plan(loaded, plan);
  expect_same_plan(both.find(other.plan), other_plan);
  EXPECT_EQ(loaded.explain(), both.find(fresh.plan).explain());
  // Without the device, too.
  const CopyPlan absent = plan_permute(device().properties(), TensorView(nullptr, DType::f32, {48, 33}),
                                       {1, 0}, TensorView(nullptr, DType::f32, {33, 48}));
  expect_same_plan(both.find(absent), plan);
  one.save(second.path());
  EXPECT_EQ(second.read(), first.read());
}

/// Each copy differs in one thing from those that are kept.
TEST_P(PlanCacheTest, OtherCopiesAreNotTheSame) {
  PlanCache cache;
  const Copy copy(stream(), DType::f32, {40, 36});
  copy.measure(stream(), cache);
  const TensorView in = copy.in.device(), out = copy.out.device();
  EXPECT_TRUE(is_measured(cache.find(copy.plan)));
  EXPECT_FALSE(is_measured(cache.find(Copy(stream(), DType::f32, {36, 40}).plan)));
  EXPECT_FALSE(is_measured(cache.find(Copy(stream(), DType::f16, {40, 36}).plan)));
  EXPECT_FALSE(is_measured(cache.find(Copy(stream(), DType::f32, {40, 36}, 1).plan)));
  CopyPlanOptions indirect;
  indirect.indirect = true;
  EXPECT_FALSE(is_measured(cache.find(plan_transpose(device(), in, out, indirect))));
  EXPECT_FALSE(is_measured(cache.find(plan_transpose(device(), in, out, {{2, 0}}))));
  cache.measure(stream(), plan_transpose(device(), in, out, {{2, 0}}), in.data(), out.data());
  EXPECT_TRUE(is_measured(cache.find(plan_transpose(device(), in, out, {{3, 0}}))));
  EXPECT_FALSE(is_measured(cache.find(plan_transpose(device(), in, out, {{2, 1}}))));
  const DeviceProperties gpu = DeviceProperties::mi300x();
  EXPECT_FALSE(is_measured(cache.find(plan_transpose(gpu, in, out))));
}

/// A file from another version of the planner may name tiles that this one does not make.
TEST_P(PlanCacheTest, EntriesThatDoNotFitAreIgnored) {
  const File file("unfit");
  const Copy copy(stream(), DType::i64, {7, 30, 9});
  PlanCache cache;
  copy.measure(stream(), cache);
  cache.save(file.path());
  const std::string text = file.read();
  // Fields 8 to 10 of its line, with the tabs around them, are the plan.
  std::size_t begin = text.find('\n'), end = 0;
  for (int tab = 0; tab < 7; ++tab) begin = text.find('\t', begin + 1);
  end = begin;
  for (int tab = 0; tab < 3; ++tab) end = text.find('\t', end + 1);
  ASSERT_NE(end, std::string::npos) << text;
  for (const char* unfit :
       {"\ttile\t1,1,1\t256\t", "\ttile\t7,30,9\t100000\t", "\ttile\t7\t256\t", "\twindow\t-\t0\t",
        "\tstream\t-\t0\t", "\ttile\t-\t0\t", "\ttile\t2147483647,2147483647,2147483647\t256\t"}) {
    file.write(text.substr(0, begin) + unfit + text.substr(end + 1));
    PlanCache loaded;
    loaded.load(file.path());
    expect_same_plan(loaded.find(copy.plan), copy.plan);
    EXPECT_FALSE(is_measured(loaded.find(copy.plan))) << unfit;
  }
  PlanCache loaded;
  loaded.load(file.path());
  EXPECT_TRUE(is_measured(copy.measure(stream(), loaded)));
  EXPECT_TRUE(is_measured(loaded.find(copy.plan))) << "the new one takes its place";
  EXPECT_EQ(loaded.size(), 1u);
}

TEST_P(MeasureTest, WithoutAChoice) {
  PlanCache cache;
  const Copy empty(stream(), DType::f32, {0, 8});
  EXPECT_STREQ(name_of(empty.measure(stream(), cache).details().kernel), "nothing");
  GuardedBuffer in(stream(), Role::input, DType::f32, {8, 8}, {32, 2}),
      out(stream(), Role::output, DType::f32, {8, 8}, {32, 2});
  in.upload();
  const CopyPlan gathered = plan_cast(device(), in.device(), out.device());
  expect_same_plan(cache.measure(stream(), gathered, in.device().data(), out.device().data()), gathered);
  EXPECT_TRUE(out.check()) << "nothing to time";
  EXPECT_EQ(cache.size(), 0u);
}

TEST_P(MeasureTest, Errors) {
  PlanCache cache;
  const Copy copy(stream(), DType::f32, {32, 48});
  const TensorView in = copy.in.device(), out = copy.out.device();
  const auto expect = [&](ErrorCode code, const std::vector<std::string>& words, const Stream& on,
                          const CopyPlan& plan, const void* from, void* to) {
    expect_error(code, words, [&] { cache.measure(on, plan, from, to); });
  };
  if (const auto other = another_device(device()))
    expect(ErrorCode::invalid_argument, {other->to_string()}, Stream(*other), copy.plan, in.data(),
           out.data());
  expect(ErrorCode::unsupported, {"MI300X"}, stream(), plan_transpose(DeviceProperties::mi300x(), in, out),
         in.data(), out.data());
  expect(ErrorCode::null_pointer, {"input"}, stream(), copy.plan, nullptr, out.data());
  expect(ErrorCode::null_pointer, {"output"}, stream(), copy.plan, in.data(), nullptr);
  expect(ErrorCode::partial_overlap, {}, stream(), copy.plan, out.data(), out.data());
  expect(ErrorCode::invalid_argument, {"16 bytes"}, stream(), copy.plan, static_cast<float*>(in.data()) + 1,
         out.data());
  expect(ErrorCode::invalid_argument, {"transpose", "beta"}, stream(),
         plan_transpose(device(), in, out, {{1, 1}}), in.data(), out.data());
  EXPECT_TRUE(copy.untouched());
  EXPECT_EQ(cache.size(), 0u);
}

TEST_P(MeasureTest, TwoThreadsShareACache) {
  PlanCache cache;
  const std::vector<Dims> shapes{{24, 40}, {5, 16, 12}, {48, 80}};
  const auto work = [&] {
    const Stream own(device());
    for (const Dims& shape : shapes) {
      const Copy copy(own, DType::f32, shape);
      const CopyPlan plan = copy.measure(own, cache);
      copy.out.upload();
      plan.run(own);
      EXPECT_TRUE(copy.is_right());
      EXPECT_EQ(is_measured(cache.find(copy.plan)), !is_native());
    }
  };
  std::thread first(work), second(work);
  first.join();
  second.join();
  EXPECT_EQ(cache.size(), is_native() ? 0u : shapes.size());
}

TEST(PlanCacheFile, Mistakes) {
  const File file("mistakes");
  const std::string title = "relayout plans 1\n";
  const std::string copy = "a GPU\t4\t4 bytes\t48,33\t33,1\t1,48\t0,0\t",
                    good = copy + "tile\t32,32\t256\t1000\t9\n";
  const auto expect = [&](const std::string& text, const std::vector<std::string>& words) {
    file.write(text);
    PlanCache cache;
    std::vector<std::string> all = words;
    all.push_back(file.path());
    expect_error(ErrorCode::invalid_argument, all, [&] { cache.load(file.path()); });
    EXPECT_EQ(cache.size(), 0u) << "part of the file was added";
  };
  expect("", {"line 1"});
  expect("relayout plans 2\n" + good, {"line 1", "relayout plans 2", "relayout plans 1"});
  expect(std::string("\x7f\x45LF\0\1", 6), {"line 1"});
  expect(title + good + "\n", {"line 3", "1 fields"});
  expect(title + good.substr(0, good.size() - 3) + "\n", {"line 2", "11 fields"});
  expect(title + good + copy + "native\t32,32\t256\t1000\t9\n", {"line 3", "native"});
  for (const char* plan :
       {"tile\t32,x\t256\t1000\t9\n", "tile\t32,0\t256\t1000\t9\n", "tile\t32,\t256\t1000\t9\n",
        "tile\t\t256\t1000\t9\n", "tile\t32,32\t-1\t1000\t9\n", "tile\t32,32\t256\t0\t9\n",
        "tile\t32,32\t256\t1.5\t9\n", "tile\t32,32\t256\t1000\t0\n", "tile\t32,32\t256\t1000\t9 \n",
        "tile\t32,32\t99999999999\t1000\t9\n", "tile\t32,32\t256\t99999999999999999999\t9\n"})
    expect(title + good + copy + plan, {"line 3", "number"});
  const std::string plan = "tile\t32,32\t256\t1000\t9\n";
  for (const char* number :
       {"a GPU\t0\t4 bytes\t48,33\t33,1\t1,48\t0,0\t", "a GPU\t4x\t4 bytes\t48,33\t33,1\t1,48\t0,0\t",
        "a GPU\t4\t4 bytes\t48,0\t33,1\t1,48\t0,0\t", "a GPU\t4\t4 bytes\t48,033\t33,1\t1,48\t0,0\t",
        "a GPU\t4\t4 bytes\t48,33\t33,\t1,48\t0,0\t", "a GPU\t4\t4 bytes\t48,33\t33,1\t1,4.8\t0,0\t",
        "a GPU\t4\t4 bytes\t48,33\t33,1\t1,99999999999999999999\t0,0\t",
        "a GPU\t4\t4 bytes\t\t33,1\t1,48\t0,0\t", "a GPU\t4\t4 bytes\t48,33\t33,1\t1,48\t16,0\t",
        "a GPU\t4\t4 bytes\t48,33\t33,1\t1,48\t0,32\t", "a GPU\t4\t4 bytes\t48,33\t33,1\t1,48\t-1,0\t"})
    expect(title + good + number + plan, {"line 3", "in the place of a number"});
  for (const char* elements :
       {"", "16 bytes", "4", "04 bytes", "4 bytes scaled", "4 bytes by format", "f32>f32", "f32>f33",
        "f32>b128", "f32", "f32>f16 added", "f32>f32 by format scaled", "f32>f16 scaled by format"})
    expect(title + good + "a GPU\t4\t" + elements + "\t48,33\t33,1\t1,48\t0,0\t" + plan,
           {"line 3", "'" + std::string(elements) + "'", "elements", "4 bytes", "f32>f16"});
  expect(title + good + "a GPU\t4\t4 bytes\t48,33\t1\t1,48\t0,0\t" + plan,
         {"line 3", "2 extents", "1 stride of the output"});
  expect(title + good + "a GPU\t4\t4 bytes\t48,33\t33,1\t-\t0,0\t" + plan,
         {"line 3", "2 extents", "0 strides of the input"});
  expect(title + good + "a GPU\t4\t4 bytes\t48,33\t33,1\t1,48\t0\t" + plan,
         {"line 3", "'0'", "two addresses"});
  expect_error(ErrorCode::invalid_argument, {"/no/such/file", "read"},
               [] { PlanCache().load("/no/such/file"); });
  expect_error(ErrorCode::invalid_argument, {"/no/such/file", "written"},
               [] { PlanCache().save("/no/such/file"); });

  file.write(title + good + copy + "window\t-\t0\t99999999999\t2\n");
  PlanCache cache;
  cache.load(file.path());
  EXPECT_EQ(cache.size(), 1u) << "the last line of a copy counts";
  cache.save(file.path());
  EXPECT_EQ(file.read(), title + copy + "window\t-\t0\t99999999999\t2\n");
}

TEST(PlanCacheFile, EveryKindOfElementsAndBothEndsOfLinesAreRead) {
  const File file("ends"), saved("ends_saved");
  std::vector<std::string> lines{"relayout plans 1"};
  for (const char* elements : {"1 bytes", "2 bytes", "4 bytes indirect", "8 bytes", "f32>f16",
                               "f64>i8 by format", "bf16>bf16 scaled", "f32>f16 by format scaled indirect"})
    lines.push_back("\t132\t" + std::string(elements) +
                    "\t48,33\t-33,1\t1,0\t15,31\ttile\t32,32\t256\t1000\t9");
  lines.push_back("a GPU\t4\t4 bytes\t-\t-\t-\t0,0\twindow\t-\t0\t1000\t2");
  std::string text, with_returns;
  for (const std::string& line : lines) {
    text += line + "\n";
    with_returns += line + "\r\n";
  }
  const auto saved_again = [&](const std::string& given) {
    file.write(given);
    PlanCache cache;
    cache.load(file.path());
    EXPECT_EQ(cache.size(), lines.size() - 1);
    cache.save(saved.path());
    return saved.read();
  };
  const std::string sorted = saved_again(text);
  EXPECT_EQ(sorted.size(), text.size());
  for (const std::string& line : lines) EXPECT_NE(sorted.find(line + "\n"), std::string::npos) << line;
  EXPECT_EQ(saved_again(with_returns), sorted);
}

}  // namespace
}  // namespace relayout::test
