// Operations that round toward zero, down or up: the processor's own rounding is set for the length of a row.
// Compiled so that the compiler does not assume the usual one (-frounding-math).
#include <cfenv>
#include <cstdint>

#include "host/cpu/elementwise/elementwise_loops.hpp"
#include "host/cpu/elementwise/real_operations.hpp"

namespace relayout::native {
namespace {

int processor_rounding(Rounding rounding) {
  switch (rounding) {
    case Rounding::toward_zero:
      return FE_TOWARDZERO;
    case Rounding::down:
      return FE_DOWNWARD;
    case Rounding::up:
      return FE_UPWARD;
    default:
      return FE_TONEAREST;
  }
}

class RoundingScope {
 public:
  explicit RoundingScope(Rounding rounding) : before_(std::fegetround()) {
    std::fesetround(processor_rounding(rounding));
  }
  ~RoundingScope() { std::fesetround(before_); }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  int before_;
};

template <ElementwiseRow kRow>
void directed(const void* a, const void* b, const void* c, void* r, std::int64_t count,
              const ElementwiseParams& p) {
  const RoundingScope scope(p.rounding);
  kRow(a, b, c, r, count, p);
}

template <class T>
ElementwiseRow row_of(Operation operation) {
  switch (operation) {
    case Operation::add:
      return directed<row_of_two<T, real::add<T>>>;
    case Operation::sub:
      return directed<row_of_two<T, real::sub<T>>>;
    case Operation::mul:
      return directed<row_of_two<T, real::mul<T>>>;
    case Operation::div:
    case Operation::truediv:
      return directed<row_of_two<T, real::div<T>>>;
    case Operation::sqrt:
      return directed<row_of_one<T, real::sqrt<T>>>;
    default:
      return nullptr;
  }
}

}  // namespace

ElementwiseRow directed_row(Operation operation, ComputeClass compute) {
  return compute == ComputeClass::f32 ? row_of<float>(operation) : row_of<double>(operation);
}

}  // namespace relayout::native
