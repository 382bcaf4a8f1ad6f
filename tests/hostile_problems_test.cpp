// The same numbers as in hostile_values_test.cpp in matrices, convolutions, element-wise operations, codes
// and map().
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include <relayout/map.hpp>

#include "tests/support/devices.hpp"
#include "tests/support/hostile_values.hpp"

namespace relayout::test {
namespace {

class HostileProblemsTest : public HostileTest {
 protected:
  HostileProblemsTest() : HostileTest(2000) {}
};

/// Rows of unit stride and any pitch, as gemm wants them.
HostileTensor matrix(HostileValues& values, DType type, const Dims& shape) {
  Dims strides(shape.size(), 1);
  for (std::size_t axis = 0; axis + 1 < shape.size(); ++axis) {
    strides[axis] = shape.back();
    if (axis + 2 < shape.size() && __builtin_mul_overflow(shape[axis + 1], shape.back(), &strides[axis]))
      strides[axis] = 0;
    if (values.chance(0.2)) strides[axis] = values.any();
  }
  return values.placed(type, shape, strides);
}

TEST_F(HostileProblemsTest, Gemm) {
  for (int i = 0; i < cases_; ++i) {
    SCOPED_TRACE(i);
    HostileValues values(static_cast<std::uint64_t>(i));
    const std::int64_t m = values.small_or(0.2, 0), n = values.small_or(0.2, 0), k = values.small_or(0.2, 0),
                       groups = values.small_or(0.3, 1);
    const bool grouped = values.chance(0.5);
    const auto shape = [&](std::int64_t rows, std::int64_t columns) {
      return grouped ? Dims{groups, rows, columns} : Dims{rows, columns};
    };
    calls_([&] {
      const HostileTensor a = matrix(values, DType::f16, shape(m, k)),
                          bt = matrix(values, DType::f16, shape(n, k)),
                          y = matrix(values, DType::f32, shape(m, n));
      HostileTensor bias;
      if (values.chance(0.4)) bias = values.input(DType::f32, grouped ? Dims{groups, n} : Dims{n});
      calls_([&] { gemm(stream_, a.view, bt.view, bias.view, y.view); });
      calls_([&] { gemm_workspace_bytes(cpu_, y.view, true); });
      plan_everywhere(
          [&](const PlanTarget& target) { return plan_gemm(target, a.view, bt.view, bias.view, y.view); });
    });
  }
}

/// Numbers of bytes that are allocated at once, or are more than any machine has.
bool can_allocate(std::int64_t elements) { return elements < 1000000 || elements > (std::int64_t{1} << 50); }

TEST_F(HostileProblemsTest, Convolutions) {
  for (int i = 0; i < cases_; ++i) {
    SCOPED_TRACE(i);
    HostileValues values(static_cast<std::uint64_t>(i));
    Conv1d problem;
    problem.batch = values.small_or(0.1, 0);
    problem.in_channels = values.small_or(0.1, 0);
    problem.length = values.small_or(0.2, 0);
    problem.out_channels = values.small_or(0.1, 0);
    problem.window.taps = values.small_or(0.1, 1);
    problem.window.stride = values.small_or(0.2, 1);
    problem.window.dilation = values.small_or(0.2, 1);
    problem.window.groups = values.chance(0.8) ? 1 : values.any();
    problem.pad.left = values.small_or(0.2, -1);
    problem.pad.right = values.small_or(0.2, -1);
    problem.pad.mode = static_cast<PadMode>(values.random().integer(0, 5));
    problem.pad.policy = values.chance(0.5) ? PadPolicy::extended : PadPolicy::strict;
    Conv1dSizes sizes;
    if (!calls_([&] { sizes = sizes_of(problem); })) continue;
    std::int64_t padded = 0;
    const bool far = __builtin_add_overflow(problem.length, problem.pad.left, &padded) ||
                     __builtin_add_overflow(padded, problem.pad.right, &padded);
    const bool allocates = !far && can_allocate(sizes.operand_elements) &&
                           can_allocate(sizes.weight_elements) && can_allocate(sizes.output_elements) &&
                           can_allocate(padded) && can_allocate(problem.window.taps);
    calls_([&] {
      const std::int64_t channels = problem.in_channels / problem.window.groups;
      const HostileTensor weights =
          values.input(DType::f32, {problem.out_channels, channels, problem.window.taps});
      const HostileTensor input =
          values.input(DType::f32, {problem.batch, problem.in_channels, problem.length});
      calls_([&] { choose_upload(problem, input.view, Conv1dRates()).explain(); });
      if (!allocates) return;
      HostileTensor bias;
      if (values.chance(0.3)) bias = values.input(DType::f32, {problem.out_channels});
      for (const ConvRoute route : {ConvRoute::operand, ConvRoute::strided_gemm, ConvRoute::direct}) {
        calls_([&] {
          const ConvPlan plan(stream_, problem, route, weights.view, bias.view);
          const HostileTensor y =
              values.placed(DType::f16, {problem.batch, sizes.positions, problem.out_channels},
                            contiguous_strides({problem.batch, sizes.positions, problem.out_channels}));
          calls_([&] { plan.explain(input.view, y.view); });
          calls_([&] { plan.run(stream_, input.view, y.view); });
        });
        for (const Upload upload : {Upload::host, Upload::device, Upload::device_staged, Upload::overlap}) {
          Conv1dOptions options;
          options.upload = upload;
          options.route = route;
          if (values.chance(0.3)) options.overlap.chunk_bytes = values.any();
          options.overlap.host_work = static_cast<HostWork>(values.random().integer(0, 2));
          calls_([&] {
            const Conv1dPipeline pipeline(stream_, problem, options, input.view, weights.view, bias.view);
            pipeline.run();
            pipeline.explain();
          });
        }
      }
    });
  }
}

/// The shape with some axes of extent 1, or fewer axes.
Dims operand_shape(HostileValues& values, const Dims& shape, Broadcasting broadcasting) {
  Dims operand = shape;
  for (std::int64_t& extent : operand) {
    if (values.chance(0.25)) extent = 1;
    if (broadcasting == Broadcasting::repeat && extent % 2 == 0 && values.chance(0.25)) extent /= 2;
  }
  if (values.chance(0.2) && !operand.empty()) operand.erase(operand.begin());
  return operand;
}

TEST_F(HostileProblemsTest, Elementwise) {
  for (int i = 0; i < cases_; ++i) {
    SCOPED_TRACE(i);
    HostileValues values(static_cast<std::uint64_t>(i));
    const DType type =
        values.random().pick(std::vector<DType>{DType::u8, DType::i64, DType::f16, DType::f32, DType::f64});
    calls_([&] {
      const Dims shape = values.shape(static_cast<int>(values.random().integer(0, 5)));
      ElementwiseOptions options;
      if (values.chance(0.4)) options.broadcasting = Broadcasting::repeat;
      const Dims first = options.broadcasting == Broadcasting::repeat
                             ? shape
                             : operand_shape(values, shape, options.broadcasting);
      const HostileTensor a = values.input(type, first),
                          b = values.input(type, operand_shape(values, shape, options.broadcasting)),
                          out = values.output(type, shape);
      calls_([&] { maximum(stream_, a.view, b.view, out.view, options); });
      calls_([&] { mul(stream_, a.view, 3, out.view, options); });
      calls_([&] { fill(stream_, 7, out.view); });
      calls_([&] {
        chain(stream_, {Operation::add, {Operation::sub, 1}}, {a.view, 1, b.view}, out.view, options);
      });
      plan_everywhere([&](const PlanTarget& target) {
        return plan_where(target, b.view, a.view, b.view, out.view, options);
      });
      plan_everywhere([&](const PlanTarget& target) {
        return plan_div_floor(target, a.view, b.view, out.view, options);
      });
      plan_everywhere([&](const PlanTarget& target) { return plan_fill(target, 1, out.view); });
    });
  }
}

TEST_F(HostileProblemsTest, Codes) {
  for (int i = 0; i < cases_; ++i) {
    SCOPED_TRACE(i);
    HostileValues values(static_cast<std::uint64_t>(i));
    calls_([&] {
      const Dims shape = values.shape(static_cast<int>(values.random().integer(1, 4)));
      const HostileTensor codes = values.input(DType::i8, shape), out = values.output(DType::i8, shape),
                          numbers = values.output(DType::f32, shape),
                          scales =
                              values.input(DType::f32, operand_shape(values, shape, Broadcasting::numpy));
      const QuantizedTensor x{codes.view, scales.view, static_cast<int>(values.any())}, y{out.view, 0.5f, 3};
      calls_([&] { quantized(stream_, Operation::add, {x, codes.view}, y); });
      calls_([&] { dequantize(stream_, QuantizedTensor{codes.view, scales.view, 1}, numbers.view); });
      calls_([&] { quantize(stream_, numbers.view, y); });
      plan_everywhere([&](const PlanTarget& target) {
        return plan_quantized(target, Operation::mul, {QuantizedTensor{codes.view, scales.view, 1}, 2.0}, y);
      });
      plan_everywhere([&](const PlanTarget& target) {
        return plan_dequantize(target, QuantizedTensor{codes.view, 0.25f, -1}, numbers.view);
      });
    });
  }
}

TEST_F(HostileProblemsTest, Map) {
  for (int i = 0; i < cases_; ++i) {
    SCOPED_TRACE(i);
    HostileValues values(static_cast<std::uint64_t>(i));
    calls_([&] {
      const Dims shape = values.shape(static_cast<int>(values.random().integer(1, 5)));
      const HostileTensor a = values.input(DType::f32, operand_shape(values, shape, Broadcasting::numpy)),
                          b = values.input(DType::f32, shape), out = values.output(DType::f32, shape);
      calls_([&] { map<float(float, float)>(stream_, functors::Subtract(), {a.view, b.view}, out.view); });
      calls_([&] {
        plan_map<float(float, float)>(cpu_, functors::Subtract(), {b.view, a.view}, out.view).explain();
      });
    });
  }
}

TEST_F(HostileProblemsTest, Bytes) {
  std::vector<unsigned char> from(256), to(256);
  for (int i = 0; i < cases_; ++i) {
    SCOPED_TRACE(i);
    HostileValues values(static_cast<std::uint64_t>(i));
    const auto size = [&] { return static_cast<std::size_t>(values.any()); };
    const auto bytes = [&] {
      return can_allocate(static_cast<std::int64_t>(size())) ? std::size_t{16} : std::size_t{0};
    };
    calls_([&] { stream_.copy(nullptr, from.data(), size()); });
    calls_([&] { stream_.fill(nullptr, 1, size()); });
    calls_([&] { stream_.copy_rows(to.data(), size(), nullptr, size(), size(), size()); });
    calls_([&] { stream_.copy(to.data(), from.data(), bytes()); });
    const std::size_t wanted = size();
    if (can_allocate(static_cast<std::int64_t>(wanted >> 1)))
      calls_([&] { Buffer(cpu_, wanted), PinnedBuffer(cpu_, wanted); });
  }
}

}  // namespace
}  // namespace relayout::test
