// What is supported, as data: every operation on every element type on every kind of device.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <relayout/device.hpp>
#include <relayout/dtype.hpp>
#include <relayout/export.hpp>

namespace relayout {

/// Whether one operation takes one element type on one kind of device.
struct SupportRow {
  std::string operation;  ///< the function's name, as in relayout/arithmetic.hpp, or "copy", "cast", "fill"
  DType type;             ///< the type of its operands; for `where` the type that is chosen from
  DeviceKind device;      ///< the kind of device
  bool supported;         ///< where it is false, the call is Error{dtype}
  DType computes_in = DType::f32;  ///< where it is supported, the type that it works in
  std::optional<DType> gives;      ///< the result's type; without a value: any that can be cast to
};

/// All rows. Those of one operation and device stand together, with types in the order of DType. Operands of
/// several types are cast to one first: relayout/promotion.hpp.
RELAYOUT_API std::vector<SupportRow> support_table();

}  // namespace relayout
