#include "host/plan/conv/gemm_plan.hpp"

#include "core/bytes.hpp"
#include "core/integer_math.hpp"
#include "host/plan/plan_words.hpp"

namespace relayout::plan {
namespace {

/// What is in the way of the library, null where nothing is.
const char* library_obstacle(const GemmLibrary& library, const GemmParams& p, std::int64_t given_bytes) {
  if (library.name == nullptr) return library.missing;
  if (p.k == 0) return "the depth is 0, so that y is the bias alone";
  if (p.lda < p.k && !library.takes_overlapping_rows)
    return "the rows of a overlap, which the library does not take";
  return given_bytes < library.workspace_bytes ? "it adds no bias before the rounding, and the workspace for "
                                                 "sums in f32 is missing or too small"
                                               : nullptr;
}

void explain_own(std::ostream& text, const GemmParams& p) {
  // The slices of both operands, in fp32, with one column more.
  const std::int64_t shared = 2 * kGemmDepth * (kGemmTile + 1) * 4;
  text << "Tile: " << kGemmTile << " x " << kGemmTile << " outputs, a depth of " << kGemmDepth
       << " at a time; " << plural(kGemmThreads, "thread") << ", " << plural(shared, "byte")
       << " of shared memory; "
       << plural(p.groups * divide_up(p.m, kGemmTile) * divide_up(p.n, kGemmTile), "block") << ".\n";
  text << "Accesses: " << plural(bytes_of(p.in_type), "byte") << " of a and bt, "
       << plural(bytes_of(p.out_type), "byte") << " of y; sums are kept in fp32.\n";
}

}  // namespace

void plan_gemm(const GemmLibrary& library, std::int64_t given_bytes, GemmParams& p) {
  if (p.groups == 0 || p.m == 0 || p.n == 0) {
    p.kernel = GemmKernel::nothing;
  } else {
    const bool takes = library_obstacle(library, p, given_bytes) == nullptr;
    p.kernel = takes ? GemmKernel::library : GemmKernel::own;
  }
}

std::string explain_gemm(const GemmLibrary& library, std::int64_t given_bytes, bool native,
                         const GemmParams& p) {
  if (p.kernel == GemmKernel::nothing) return "Kernel nothing: there are no outputs.\n";
  SentenceStream text;
  text << "GEMM: " << plural(p.groups, "group") << " of m " << p.m << ", n " << p.n << ", k " << p.k
       << ", row pitches " << p.lda << ", " << p.ldb << " and " << p.ldc << ".\n";
  if (p.kernel == GemmKernel::library) {
    text << "Kernel " << library.name << ": the library takes the problem as it is.\n";
    text << refusal(native ? "native" : "gemm", "relayout's own code comes after a library");
    if (library.workspace_bytes > 0)
      text << "Workspace: " << plural(library.workspace_bytes, "byte")
           << " for sums in f32, which a kernel of relayout's adds the bias to and rounds.\n";
    return text.str();
  }
  text << "Kernel " << (native ? "native: the processor's own code" : "gemm: relayout's own") << ".\n";
  text << refusal(library.name == nullptr ? "a library" : library.name,
                  library_obstacle(library, p, given_bytes));
  if (!native) explain_own(text, p);
  return text.str();
}

}  // namespace relayout::plan
