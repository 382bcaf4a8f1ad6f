#pragma once

#include <ostream>

#include "tests/cases/layout.hpp"
#include "tests/cases/pad_case.hpp"

#include <relayout/conv1d.hpp>

namespace relayout::cases {

/// A whole conv1d: the problem, and the type and layout of its input.
struct Conv1dCase {
  Conv1d problem;
  Layout layout = Layout::ncl;
  DType input_type = DType::f32;
  bool bias = true;

  Dims input_shape() const { return {problem.batch, problem.in_channels, problem.length}; }
  Dims input_strides() const { return strides_of(layout, input_shape()); }
  /// The shape of A.
  Dims operand_shape() const {
    const Conv1dSizes sizes = sizes_of(problem);
    if (problem.window.groups == 1) return {sizes.rows, sizes.depth};
    return {problem.window.groups, sizes.rows, sizes.depth};
  }
};

inline std::ostream& operator<<(std::ostream& out, const Conv1dCase& c) {
  const Conv1d& p = c.problem;
  out << "conv1d batch " << p.batch << " ci " << p.in_channels << " hi " << p.length << " co "
      << p.out_channels << " hk " << p.window.taps << " stride " << p.window.stride << " dilation "
      << p.window.dilation << " groups " << p.window.groups << " order " << static_cast<int>(p.window.order)
      << " ";
  return print(out, p.pad) << ' ' << relayout::name_of(c.input_type) << ' ' << c.layout << " to "
                           << relayout::name_of(p.dtype) << (c.bias ? " bias" : " no bias");
}

}  // namespace relayout::cases
