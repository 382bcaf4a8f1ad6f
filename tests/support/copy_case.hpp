// A copy as a case of a test, and its result beside plain loops'.
#pragma once

#include <cstdint>
#include <ostream>
#include <utility>

#include "host/reference/permute.hpp"
#include "tests/cases/permute_shorthand.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/devices.hpp"

namespace relayout::test {

/// Empty strides: contiguous.
struct CopyCase {
  DType in_type = DType::f32, out_type = DType::f32;
  Dims in_shape, in_strides, out_shape, out_strides;
  std::int64_t in_misaligned = 0, out_misaligned = 0;  // elements
};

inline std::ostream& operator<<(std::ostream& out, const CopyCase& c) {
  return out << "copy " << cases::describe(c.in_type, c.in_shape, c.in_strides, c.in_misaligned) << " to "
             << cases::describe(c.out_type, c.out_shape, c.out_strides, c.out_misaligned);
}

inline void check(const Stream& stream, const CopyCase& c, std::uint64_t seed = 1) {
  SCOPED_TRACE(::testing::Message() << c);
  GuardedBuffer in(stream, Role::input, c.in_type, c.in_shape, c.in_strides, c.in_misaligned);
  GuardedBuffer out(stream, Role::output, c.out_type, c.out_shape, c.out_strides, c.out_misaligned);
  fill_for(in.host(), c.out_type, seed);
  run_and_compare(
      in, out, [&](const TensorView& from, const TensorView& to) { copy(stream, from, to); },
      [](const TensorView& from, const TensorView& to) { reference::copy(from, to); });
}

inline CopyCase move_of(DType type, Dims in_shape, Dims in_strides, Dims out_shape, Dims out_strides) {
  CopyCase c;
  c.in_type = c.out_type = type;
  c.in_shape = std::move(in_shape);
  c.in_strides = std::move(in_strides);
  c.out_shape = std::move(out_shape);
  c.out_strides = std::move(out_strides);
  return c;
}

}  // namespace relayout::test
