#include "map_kernels.hpp"

#include <cstdint>

namespace relayout::RELAYOUT_BACKEND {
namespace {

using namespace functors;
using std::int16_t, std::int32_t, std::int64_t, std::int8_t, std::uint16_t, std::uint64_t;

/// A user's functor. The number of its operands follows from its operator().
struct BiasRelu {
  RELAYOUT_HOST_DEVICE float operator()(float x, float bias) const {
    const float sum = x + bias;
    return sum <= 0 ? 0 : sum;
  }
};

struct ScaleAddClip {
  float low, high;

  RELAYOUT_HOST_DEVICE float operator()(float x, float scale, float shift) const noexcept {
    const float y = x * scale + shift;
    return y < low ? low : y > high ? high : y;
  }
};

struct Select {
  RELAYOUT_HOST_DEVICE float operator()(bool which, float a, float b) const { return which ? a : b; }
};

struct Less {
  RELAYOUT_HOST_DEVICE bool operator()(double a, double b) const { return a < b; }
};

/// A functor of 4 operands with 4 types. Each has a different weight, so that none is taken for another.
struct Digits {
  RELAYOUT_HOST_DEVICE double operator()(double a, float b, int c, unsigned d) const {
    return ((a * 8 + static_cast<double>(b)) * 8 + c) * 8 + d;
  }
};

struct Same {
  static constexpr int kOperands = 1;

  template <class T>
  RELAYOUT_HOST_DEVICE T operator()(T value) const {
    return value;
  }
};

template <class Signature>
struct Types;
template <class Out, class... In>
struct Types<Out(In...)> {
  static std::vector<DType> list() { return {dtype_of<Out>, dtype_of<In>...}; }
};

template <class Signature, class Functor>
test::MapCall call(const char* name, const Functor& functor) {
  return {name, Types<Signature>::list(),
          [functor](const Stream& stream, const std::vector<TensorView>& operands, const TensorView& out) {
            map<Signature>(stream, functor, operands, out);
          }};
}

/// The ready functors on a type.
template <class T>
void add_calls(std::vector<test::MapCall>& calls) {
  calls.push_back(call<T(T, T)>("add", Add()));
  calls.push_back(call<T(T, T)>("sub", Subtract()));
  calls.push_back(call<T(T, T)>("mul", Multiply()));
  calls.push_back(call<T(T, T)>("div", Divide()));
  calls.push_back(call<T(T, T)>("maximum", Maximum()));
  calls.push_back(call<T(T, T)>("minimum", Minimum()));
  calls.push_back(call<T(T)>("relu", Relu()));
}

}  // namespace

const std::vector<test::MapCall>& map_calls() {
  static const std::vector<test::MapCall> kCalls = [] {
    std::vector<test::MapCall> calls{
        call<f16(f16, float)>("add+relu", BiasRelu()),
        call<bf16(float, bf16)>("add+relu", BiasRelu()),
        call<f16(f16, float, float)>("mul+add+clip", ScaleAddClip{-2, 6}),
        call<f16(f16, f16)>("add+relu", chain_of(Add(), Rounded<f16>(), Relu())),
        call<bf16(bf16, bf16, bf16)>(
            "mul+add+clip", chain_of(Multiply(), Rounded<bf16>(), Add(), Rounded<bf16>(), Clip{-2, 6})),
        call<float(float, float, float)>("mul+add+clip", chain_of(Multiply(), Add(), Clip{-2.0f, 6.0f})),
        call<int8_t(int8_t, int8_t, int8_t)>("mul+add+clip", chain_of(Multiply(), Add(), Clip{-2, 6})),
        call<float(float, int16_t)>("add+relu", chain_of(BiasRelu(), Same())),
        call<double(float, double)>("mul", Multiply()),
        call<f16(f16, f16)>("sub", Subtract()),
        call<double(double, double)>("sub", Subtract()),
        call<uint16_t(uint16_t, uint16_t)>("mul", Multiply()),
        call<uint64_t(uint64_t, uint64_t)>("div", Divide()),
        call<float(bool, float, float)>("where", Select()),
        call<bool(double, double)>("less", Less()),
        call<double(double, float, int32_t, std::uint32_t)>("digits", Digits()),
        call<f16(double)>("same", Same()),
        call<bf16(double)>("same", Same()),
        call<f16(int64_t)>("same", Same()),
        call<bf16(uint64_t)>("same", Same()),
        call<int8_t(float)>("same", Same()),
        call<uint64_t(float)>("same", Same()),
        call<bool(float)>("same", Same()),
        call<f16(bf16)>("same", Same()),
    };
    add_calls<int8_t>(calls);
    add_calls<int32_t>(calls);
    add_calls<float>(calls);
    return calls;
  }();
  return kCalls;
}

}  // namespace relayout::RELAYOUT_BACKEND
