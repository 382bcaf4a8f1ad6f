// Shapes as rows of tables and names of cases have them.
#pragma once

#include <cstdint>
#include <string>

#include <relayout/tensor_view.hpp>

namespace relayout::bench {

/// "8x2048x8192"
inline std::string joined(const Dims& shape) {
  std::string text;
  for (const std::int64_t extent : shape) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

}  // namespace relayout::bench
