#pragma once

#include <cstdint>
#include <ostream>

#include "tests/cases/layout.hpp"

#include <relayout/permute.hpp>

namespace relayout::cases {

/// cast(in, out): one shape, two types, two layouts.
struct CastCase {
  DType in_type = DType::f32, out_type = DType::f16;
  Dims shape;
  Layout in_layout = Layout::ncl, out_layout = Layout::ncl;
  std::int64_t in_misaligned = 0, out_misaligned = 0;
};

inline std::ostream& operator<<(std::ostream& out, const CastCase& c) {
  return out << "cast " << relayout::name_of(c.in_type) << " " << c.in_layout << " to "
             << relayout::name_of(c.out_type) << " " << c.out_layout << " " << to_string(c.shape)
             << " misaligned by " << c.in_misaligned << ", " << c.out_misaligned;
}

}  // namespace relayout::cases
