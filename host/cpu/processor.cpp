#include "host/cpu/processor.hpp"

#if defined(RELAYOUT_X86)
#include <cstdlib>
#include <string_view>

namespace relayout::native {
namespace {

Instructions find_instructions() noexcept {
  const char* const named = std::getenv("RELAYOUT_CPU_INSTRUCTIONS");
  const std::string_view most = named == nullptr ? "" : named;
  if (!__builtin_cpu_supports("avx2") || most == "baseline") return Instructions::baseline;
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return has_avx512 && most != "avx2" ? Instructions::avx512 : Instructions::avx2;
}

}  // namespace

Instructions usable_instructions() noexcept {
  static const Instructions found = find_instructions();
  return found;
}

}  // namespace relayout::native
#endif
