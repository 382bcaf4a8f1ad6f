#include "relayout/dtype.hpp"

namespace relayout {
namespace {

struct TypeInfo {
  const char* name;
  std::size_t bytes;
};

// In the order of DType's enumerators.
constexpr TypeInfo kTypes[] = {{"bool", 1}, {"u8", 1},   {"u16", 2},    {"u32", 4},  {"u64", 8},  {"i8", 1},
                               {"i16", 2},  {"i32", 4},  {"i64", 8},    {"f16", 2},  {"bf16", 2}, {"f32", 4},
                               {"f64", 8},  {"tf32", 4}, {"e4m3fn", 1}, {"e5m2", 1}, {"b128", 16}};
static_assert(sizeof(kTypes) / sizeof(kTypes[0]) == static_cast<std::size_t>(DType::b128) + 1,
              "one row per element type");

/// Messages name types before they are checked, and these functions cannot throw.
constexpr TypeInfo kUnknown = {"unknown", 0};

const TypeInfo& info_of(DType type) noexcept {
  const auto row = static_cast<std::size_t>(type);
  return row < sizeof(kTypes) / sizeof(kTypes[0]) ? kTypes[row] : kUnknown;
}

}  // namespace

std::size_t size_of(DType type) noexcept { return info_of(type).bytes; }
const char* name_of(DType type) noexcept { return info_of(type).name; }

}  // namespace relayout
