// Part of every test program: its problems are small, and are planned as large ones, so that it reaches the
// kernels that those take (host/plan/small_problems.hpp).
#include <cstdlib>

namespace relayout::test {
namespace {

[[maybe_unused]] const int is_set = setenv("RELAYOUT_PLAN_AS_LARGE", "1", 1);

}  // namespace
}  // namespace relayout::test
