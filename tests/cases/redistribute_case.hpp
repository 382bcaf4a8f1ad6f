#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "tests/cases/layout.hpp"

#include <relayout/redistribute.hpp>

namespace relayout::cases {

/// One side of a redistribution. Strides and misalignments (elements) of each rank; none: contiguous.
struct DistributedTensor {
  DType type;
  Distribution distribution;
  std::vector<Dims> strides = {};
  std::vector<std::int64_t> misaligned = {};

  Dims strides_of(int rank) const {
    return strides.empty() ? Dims{} : strides[static_cast<std::size_t>(rank)];
  }
  std::int64_t misaligned_of(int rank) const {
    return misaligned.empty() ? 0 : misaligned[static_cast<std::size_t>(rank)];
  }
};

/// out = redistribute(in, axes).
struct RedistributeCase {
  DistributedTensor in;
  std::vector<int> axes;
  DistributedTensor out;
  RedistributeOptions options = {};

  RedistributeCase by(RedistributeRoute route) const {
    RedistributeCase c = *this;
    c.options.route = route;
    return c;
  }
};

/// A transpose whose rows are distributed on both sides.
inline RedistributeCase transposition(DType in, DType out, std::int64_t rows, std::int64_t columns,
                                      int ranks) {
  return {{in, Distribution::split({rows, columns}, 0, ranks)},
          {1, 0},
          {out, Distribution::split({columns, rows}, 0, ranks)}};
}

inline std::ostream& operator<<(std::ostream& out, const DistributedTensor& tensor) {
  out << name_of(tensor.type) << to_string(tensor.distribution.shape());
  for (int rank = 0; rank < tensor.distribution.ranks(); ++rank) {
    const Box& box = tensor.distribution.box(rank);
    out << "\n    rank " << rank << " " << box.to_string() << " "
        << describe(tensor.type, box.shape(), tensor.strides_of(rank), tensor.misaligned_of(rank));
  }
  return out;
}

inline std::ostream& operator<<(std::ostream& out, const RedistributeCase& c) {
  out << "redistribute " << c.in << "\n  by " << to_string(Dims(c.axes.begin(), c.axes.end())) << " to "
      << c.out;
  if (c.options.route) out << "\n  by the route " << name_of(*c.options.route);
  return out;
}

}  // namespace relayout::cases
