// What the plans of element-wise and of quantised operations say of themselves.
#pragma once

#include <sstream>
#include <string>

#include "host/api/elementwise_plan.hpp"
#include "host/api/quantized_plan.hpp"

namespace relayout {

/// "Kernel NAME: 12 vectors of 4 elements, 3 a row."
template <class Params>
std::string explain_vectors(const char* name, const Params& p) {
  std::ostringstream text;
  text << "Kernel " << name << ": " << p.vectors << " vectors of " << p.width << " elements, "
       << p.row_vectors << " a row" << (p.streaming ? ", stored past the caches" : "") << ".";
  return text.str();
}

/// The operation, its loop nest, and what runs it: kernel(), which is not called where there is none.
template <class State, class Kernel>
std::string explain_rows(const std::string& operation, const State& state, const Kernel& kernel) {
  std::ostringstream text;
  text << operation << ", to " << name_of(state.out.dtype()) << ".\n";
  if (state.out.elements() == 0) return text.str() + "No elements: nothing to do.\n";
  text << "Loop nest: extents " << to_string(state.nest.extents) << ", the output's strides "
       << to_string(state.nest.strides[0]);
  for (std::size_t t = 0; t < state.tensors.size(); ++t)
    text << ", tensor " << t + 1 << "'s (" << name_of(state.tensors[t].dtype()) << ") "
         << to_string(state.nest.strides[t + 1]);
  const bool native = state.device && state.device->kind() == DeviceKind::cpu;
  text << ".\n" << (native ? "Native code, pieces of rows." : kernel()) << "\n";
  return text.str();
}

}  // namespace relayout
