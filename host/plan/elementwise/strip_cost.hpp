// What layouts of strips cost, to compare those of one nest.
#pragma once

#include "host/plan/elementwise/strip_layout.hpp"

namespace relayout::plan {

/// Costs are the microseconds that a million elements take on an H100, about.
class StripCosts {
 public:
  /// The parameters still have the nest; they are referred to.
  StripCosts(const ElementwiseParams& params, const StripLayout& nest);

  /// No layout of the nest costs less.
  double least() const { return least_; }
  /// The cost of a layout that has strips. A layout that costs `most` or more may get any number from `most`
  /// on.
  double of(const StripLayout& layout, double most) const;

 private:
  const ElementwiseParams& p_;
  double place_, moved_, least_;
};

}  // namespace relayout::plan
