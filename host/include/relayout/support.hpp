// What is supported, as data: every operation on every element type on every kind of device.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <relayout/device.hpp>
#include <relayout/dtype.hpp>

namespace relayout {

struct SupportRow {
  std::string operation;  // the function's name: those of relayout/arithmetic.hpp, "copy", "cast" and "fill"
  DType type;             // of its operands; of `where` the type that is chosen from
  DeviceKind device;
  bool supported;  // else the call is Error{dtype}
  /// Where it is supported: the type computed in, and the result's; none: any that can be cast to.
  DType computes_in = DType::f32;
  std::optional<DType> gives;
};

/// All rows, those of an operation and a device together, types in the order of DType. Operands of several
/// types are cast to one first: relayout/promotion.hpp.
std::vector<SupportRow> support_table();

}  // namespace relayout
