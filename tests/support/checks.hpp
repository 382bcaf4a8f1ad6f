// One case of an operation on one device against its oracle: every output element bit for bit, no byte
// written outside them, no input changed.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>

#include "tests/cases/cast_case.hpp"
#include "tests/cases/img2col_case.hpp"
#include "tests/cases/pad_case.hpp"
#include "tests/cases/permute_case.hpp"
#include "tests/cases/weights_case.hpp"
#include "tests/support/fill.hpp"
#include "tests/support/guarded_buffer.hpp"

#include <relayout/relayout.hpp>

namespace relayout::test {

/// Equal types move as bytes, whatever these mean. A conversion among the floating types need not keep the
/// payload of a NaN.
NanRule nan_rule(DType from, DType to);

/// Finite values; every 16th is one that is hard for conversions and sums.
void fill_numbers(const TensorView& view, std::uint64_t seed);

/// Data for a conversion or a move: all bit patterns for a move, numbers for a conversion.
void fill_for(const TensorView& view, DType to, std::uint64_t seed);

/// An operation or an oracle: called with a view of the input and one of the output.
using OnViews = std::function<void(const TensorView& in, const TensorView& out)>;

/// Uploads in, runs operation(in, out) on the device, oracle(in, out) on the host, and compares. No rule:
/// that of both types.
void run_and_compare(GuardedBuffer& in, GuardedBuffer& out, const OnViews& operation, const OnViews& oracle,
                     std::optional<NanRule> rule = {});

/// Checks a permutation by any operation that expresses it.
void check_copy(const Stream& stream, const cases::PermuteCase& c, const OnViews& operation,
                std::uint64_t seed = 1);

/// Runs the case by its plan, made for other memory that is as aligned, with pointers from slots.
void permute_indirect(const Stream& stream, const cases::PermuteCase& c, const TensorView& in,
                      const TensorView& out);

/// The case's operation on numbers and on special values, against its oracle.
template <class Case>
void check_filled(const Stream& stream, const Case& c, const Dims& in_shape, const Dims& out_shape,
                  const Dims& out_strides, std::uint64_t seed, const OnViews& operation,
                  const OnViews& oracle) {
  SCOPED_TRACE(::testing::Message() << c);
  GuardedBuffer in(stream, Role::input, c.in_type, in_shape, strides_of(c.in_layout, in_shape),
                   c.in_misaligned);
  GuardedBuffer out(stream, Role::output, c.out_type, out_shape, out_strides, c.out_misaligned);
  fill_for(in.host(), c.out_type, seed);
  run_and_compare(in, out, operation, oracle);
}

void check(const Stream& stream, const cases::PermuteCase& c, std::uint64_t seed = 1);
void check(const Stream& stream, const cases::CastCase& c, std::uint64_t seed = 1);
void check(const Stream& stream, const cases::PadCase& c, std::uint64_t seed = 1);
void check(const Stream& stream, const cases::Img2colCase& c, std::uint64_t seed = 1);
void check(const Stream& stream, const cases::WeightsCase& c, std::uint64_t seed = 1);

}  // namespace relayout::test
