#include "relayout/tile_padding.hpp"

#include <string>

#include "host/api/checks.hpp"
#include "relayout/error.hpp"

namespace relayout {

const char* name_of(TilePadding padding) noexcept {
  switch (padding) {
    case TilePadding::undetermined:
      return "undetermined";
    case TilePadding::zero:
      return "zero";
    case TilePadding::negative_zero:
      return "negative_zero";
    case TilePadding::nan:
      return "nan";
    case TilePadding::positive_infinity:
      return "positive_infinity";
    case TilePadding::negative_infinity:
      return "negative_infinity";
  }
  return "unknown";
}

void check_padding(DType type, TilePadding padding) {
  check_is_type("check_padding", "the element type", type);
  check_enumerator("check_padding", "the padding", padding, TilePadding::negative_infinity);
  if (has_padding(type, padding)) return;
  throw Error(ErrorCode::padding_mode, std::string("Tiles of ") + name_of(type) + " have no padding " +
                                           name_of(padding) + ": the type has no such element.");
}

}  // namespace relayout
