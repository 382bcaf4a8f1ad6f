// The one planner of GEMMs: the vendor's library, or relayout's own kernel.
#pragma once

#include <string>

#include "core/gemm_params.hpp"
#include "relayout/device.hpp"

namespace relayout::plan {

/// The library of a device, for one problem.
struct GemmLibrary {
  const char* name = nullptr;  // null: none
  const char* missing = "no BLAS library was built in";
  std::int64_t workspace_bytes = 0;  // that it needs
  bool takes_overlapping_rows = true;
};

/// Chooses the library where nothing is in its way. given_bytes: of the workspace.
void plan_gemm(const GemmLibrary& library, std::int64_t given_bytes, GemmParams& params);

/// Sentences, a line each: the kernel and why it, its tile, and what was in the library's way. native: on the
/// processor.
std::string explain_gemm(const GemmLibrary& library, std::int64_t given_bytes, bool native,
                         const GemmParams& params);

}  // namespace relayout::plan
