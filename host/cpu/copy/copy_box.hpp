// How a copy is cut into boxes. A box fits the first-level cache, reads few rows of the input at a time, and
// writes whole lines of the output.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "core/copy_params.hpp"

namespace relayout::native {

/// sides[k] <= extents[k] elements along axis k.
struct CopyBox {
  std::int64_t sides[kMaxRank];
  std::int64_t volume = 1;
  int in_axis = 0;  // along which the input is fastest; the output is along rank - 1
};

/// The axes of one operand, its fastest first. Axes with stride 0 are not among them.
class AxisChain {
 public:
  AxisChain(const CopyParams& params, const std::int64_t* strides) : params_(params) {
    for (int axis = params.rank; axis-- > 0;) {
      if (strides[axis] != 0) axes_[count_++] = axis;
    }
    std::stable_sort(axes_, axes_ + count_,
                     [strides](int a, int b) { return std::abs(strides[a]) < std::abs(strides[b]); });
  }
  int fastest() const { return count_ == 0 ? params_.rank - 1 : axes_[0]; }
  /// The axis along which a longer side makes the runs in memory longer; -1 where there is none.
  int growing(const CopyBox& box) const {
    for (int i = 0; i < count_; ++i) {
      if (box.sides[axes_[i]] < params_.extents[axes_[i]]) return axes_[i];
    }
    return -1;
  }
  /// How many elements of the box follow each other in memory.
  std::int64_t run(const CopyBox& box) const {
    std::int64_t elements = 1;
    for (int i = 0; i < count_; ++i) {
      elements *= box.sides[axes_[i]];
      if (box.sides[axes_[i]] < params_.extents[axes_[i]]) break;
    }
    return elements;
  }

 private:
  const CopyParams& params_;
  int axes_[kMaxRank], count_ = 0;
};

/// A second operand that a box reads, whose runs are to have so many elements.
struct AlsoRead {
  const std::int64_t* strides;
  std::int64_t run;
};

/// Doubles sides until the box writes runs of `run` elements, then until those of `also` are as long as they
/// should be, then until it holds `most` elements. The last step makes the runs longer that it reads, not
/// more of them.
inline CopyBox choose_box(const CopyParams& params, std::int64_t run, std::int64_t most,
                          const AlsoRead* also = nullptr) {
  const AxisChain in(params, params.in_strides), out(params, params.out_strides),
      other(params, also != nullptr ? also->strides : params.in_strides);
  CopyBox box;
  std::fill_n(box.sides, params.rank, 1);
  box.in_axis = in.fastest();
  while (true) {
    const int along_in = in.growing(box), along_out = out.growing(box), along_other = other.growing(box);
    int axis = along_in;
    if (along_out >= 0 && (along_in < 0 || out.run(box) < run)) {
      axis = along_out;
    } else if (also != nullptr && along_other >= 0 && other.run(box) < also->run) {
      axis = along_other;
    }
    if (axis < 0) return box;
    std::int64_t& side = box.sides[axis];
    const std::int64_t longer = std::min(2 * side, params.extents[axis]);
    if (box.volume / side * longer > most) return box;
    box.volume = box.volume / side * longer;
    side = longer;
  }
}

}  // namespace relayout::native
