// What operations on 8-bit codes refuse, before anything is launched.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"

#include <relayout/quantized.hpp>

namespace relayout::test {
namespace {

class QuantizedErrorTest : public DeviceTest {
 protected:
  QuantizedTensor codes(const Dims& shape, DType type = DType::i8) {
    memory_.emplace_back(device(), 4096);
    stream().fill(memory_.back().data(), 1, 4096);
    return {TensorView(memory_.back().data(), type, shape), 0.5f, 0};
  }
  TensorView floats(const Dims& shape) { return codes(shape, DType::f32).codes; }

  void refuses(ErrorCode code, const std::vector<std::string>& words, Operation operation,
               const std::vector<QuantizedOperand>& operands, const QuantizedTensor& out) {
    expect_error(code, words, [&] { quantized(stream(), operation, operands, out); });
  }

 private:
  std::vector<Buffer> memory_;
};

TEST_P(QuantizedErrorTest, Operands) {
  const QuantizedTensor x = codes({4}), out = codes({4});
  refuses(ErrorCode::invalid_argument, {"add", "not 1"}, Operation::add, {x}, out);
  refuses(ErrorCode::invalid_argument, {"must be a tensor"}, Operation::add, {1.0f, 2}, out);
  refuses(ErrorCode::dtype, {"bit_and"}, Operation::bit_and, {x, x}, out);
  refuses(ErrorCode::dtype, {"logical_or"}, Operation::logical_or, {x, x}, out);
}

TEST_P(QuantizedErrorTest, Types) {
  const QuantizedTensor x = codes({4}), out = codes({4});
  refuses(ErrorCode::dtype, {"i8 or u8", "i16"}, Operation::add, {codes({4}, DType::i16), x}, out);
  refuses(ErrorCode::dtype, {"f64", "f32"}, Operation::add, {codes({4}, DType::f64).codes, x}, out);
  refuses(ErrorCode::dtype, {"bool"}, Operation::less, {x, x}, out);
  QuantizedTensor other = x;
  other.zero = codes({1}, DType::u8).codes;
  refuses(ErrorCode::dtype, {"zero point", "u8", "i8"}, Operation::neg, {other}, out);
  other = x;
  other.scale = codes({1}, DType::f16).codes;
  refuses(ErrorCode::dtype, {"scale", "f16"}, Operation::neg, {other}, out);
  expect_error(ErrorCode::dtype, {"output"}, [&] {
    quantized(stream(), Operation::less, {x, x}, floats({4}));
  });
}

TEST_P(QuantizedErrorTest, ScalesAndZeroPoints) {
  const QuantizedTensor x = codes({4}), out = codes({4});
  for (const float scale : {0.0f, -1.0f, INFINITY, NAN}) {
    QuantizedTensor other = x;
    other.scale = scale;
    refuses(ErrorCode::scale, {"finite and above 0"}, Operation::add, {x, other}, out);
    expect_error(ErrorCode::scale, {"quantize"}, [&] { quantize(stream(), floats({4}), other); });
  }
  QuantizedTensor other = x;
  other.zero = 128;
  refuses(ErrorCode::literal_range, {"128", "i8"}, Operation::neg, {x}, other);
  other = codes({4}, DType::u8);
  other.zero = -1;
  refuses(ErrorCode::literal_range, {"-1", "u8"}, Operation::neg, {other}, out);
}

TEST_P(QuantizedErrorTest, Shapes) {
  refuses(ErrorCode::shape, {}, Operation::add, {codes({4}), codes({3})}, codes({4}));
  refuses(ErrorCode::shape, {}, Operation::add, {codes({4}), codes({4})}, codes({2, 4}));
  QuantizedTensor x = codes({2, 3});
  x.scale = floats({2});
  refuses(ErrorCode::shape, {}, Operation::neg, {x}, codes({2, 3}));
  expect_error(ErrorCode::shape, {}, [&] { dequantize(stream(), codes({4}), floats({3})); });
}

TEST_P(QuantizedErrorTest, TooManyTensors) {
  const auto all = [&] {
    QuantizedTensor x = codes({4});
    x.scale = floats({4});
    x.zero = codes({4}).codes;
    return x;
  };
  EXPECT_NO_THROW(quantized(stream(), Operation::add, {all(), all()}, all()));
  refuses(ErrorCode::invalid_argument, {"11 tensors", "at most 8"}, Operation::where, {all(), all(), all()},
          all());
  stream().synchronize();
}

TEST_P(QuantizedErrorTest, Memory) {
  const QuantizedTensor x = codes({8});
  QuantizedTensor none = codes({8});
  none.codes = TensorView(nullptr, DType::i8, {8});
  refuses(ErrorCode::null_pointer, {"operand"}, Operation::neg, {none}, x);
  refuses(ErrorCode::null_pointer, {"output"}, Operation::neg, {x}, none);
  QuantizedTensor overlapping = x;
  overlapping.codes = TensorView(x.codes.data(), DType::i8, {8}, {0});
  refuses(ErrorCode::output_overlap, {}, Operation::neg, {codes({8})}, overlapping);
  const QuantizedTensor both = codes({9});
  QuantizedTensor first = both, second = both;
  first.codes = both.codes.slice(0, 0, 8);
  second.codes = both.codes.slice(0, 1, 9);
  refuses(ErrorCode::partial_overlap, {}, Operation::neg, {first}, second);
  second = x;
  second.zero = x.codes;
  refuses(ErrorCode::partial_overlap, {}, Operation::neg, {codes({8})}, second);
  QuantizedTensor odd = x;
  odd.scale = TensorView(static_cast<char*>(floats({8}).data()) + 1, DType::f32, {8});
  refuses(ErrorCode::invalid_argument, {"multiple of 4"}, Operation::neg, {odd}, codes({8}));
}

TEST_P(QuantizedErrorTest, NamesOfTensors) {
  const QuantizedTensor out = codes({4});
  const TensorView no_scales(nullptr, DType::f32, {4}), no_zeros(nullptr, DType::i8, {4});
  QuantizedTensor scaled = codes({4}), shifted = codes({4}), scaled_out = out, shifted_out = out;
  scaled.scale = scaled_out.scale = no_scales;
  shifted.zero = shifted_out.zero = no_zeros;
  const TensorView x = floats({4});
  const auto null = ErrorCode::null_pointer;
  refuses(null, {"the scale of operand 2 f32"}, Operation::sub, {1.0f, scaled}, out);
  refuses(null, {"the zero point of operand 3 i8"}, Operation::clip, {x, 0, shifted}, out);
  refuses(null, {"the scale of the output f32"}, Operation::sub, {1, codes({4})}, scaled_out);
  refuses(null, {"the zero point of the output i8"}, Operation::sub, {1, x}, shifted_out);
}

TEST_P(QuantizedErrorTest, NothingToDo) {
  QuantizedTensor x = codes({0, 4});
  EXPECT_NO_THROW(quantized(stream(), Operation::add, {x, 1.0f}, codes({0, 4})));
  const QuantizedPlan plan = plan_quantized(device(), Operation::neg, {x}, codes({0, 4}));
  EXPECT_NE(plan.explain().find("nothing to do"), std::string::npos);
}

TEST_P(QuantizedErrorTest, PlansOfOtherDevices) {
  const QuantizedTensor x = codes({4}), out = codes({4});
  const QuantizedPlan plan = plan_quantized(device().properties(), Operation::neg, {x}, out);
  expect_error(ErrorCode::unsupported, {"properties"}, [&] { plan.run(stream()); });
}

INSTANTIATE_TEST_SUITE_P(Devices, QuantizedErrorTest, ::testing::ValuesIn(test_devices()), device_test_name);

}  // namespace
}  // namespace relayout::test
