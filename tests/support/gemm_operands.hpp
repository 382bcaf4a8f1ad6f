// The operands of a GEMM case on a device, and the check of its result.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "host/reference/gemm.hpp"
#include "tests/cases/gemm_case.hpp"
#include "tests/support/gates.hpp"
#include "tests/support/guarded_buffer.hpp"

namespace relayout::test {

using cases::GemmCase;

inline GemmCase make(std::int64_t m, std::int64_t n, std::int64_t k) {
  GemmCase c;
  c.m = m;
  c.n = n;
  c.k = k;
  return c;
}

/// The operands of one case on one device.
struct GemmOperands {
  GemmOperands(const Stream& on, const GemmCase& c)
      : stream(on),
        with_bias(c.bias),
        a(on, Role::input, c.in_type, c.a_shape(), c.a_strides(), c.misaligned),
        bt(on, Role::input, c.in_type, c.b_shape(), c.b_strides(), c.misaligned),
        bias(on, Role::input, DType::f32, {c.groups * c.n}),
        y(on, Role::output, c.out_type, c.y_shape(), c.y_strides(), c.misaligned),
        workspace(on.device(), c.workspace ? gemm_workspace_bytes(on.device(), y.device(), c.bias) : 0) {}

  void run() {
    a.upload();
    bt.upload();
    bias.upload();
    const TensorView space(workspace.data(), DType::u8, {static_cast<std::int64_t>(workspace.bytes())});
    EXPECT_NO_THROW(
        gemm(stream, a.device(), bt.device(), with_bias ? bias.device() : TensorView(), y.device(), space));
  }
  TensorView host_bias() const { return with_bias ? bias.host() : TensorView(); }

  /// Every element is the exact result rounded once.
  void expect_exact() {
    reference::gemm(a.host(), bt.host(), host_bias(), y.host());
    EXPECT_TRUE(y.check());
    expect_inputs_unchanged();
  }
  void expect_within_gates() {
    const std::vector<unsigned char> bytes = y.download();
    expect_gates(reference::check_gemm(a.host(), bt.host(), host_bias(), y.view_of(bytes)));
    EXPECT_TRUE(y.check_outside());
    expect_inputs_unchanged();
  }
  void expect_inputs_unchanged() const {
    EXPECT_TRUE(a.check());
    EXPECT_TRUE(bt.check());
    EXPECT_TRUE(bias.check());
  }

  Stream stream;
  bool with_bias;
  GuardedBuffer a, bt, bias, y;
  Buffer workspace;
};

}  // namespace relayout::test
