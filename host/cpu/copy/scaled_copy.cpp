#include "host/cpu/copy/scaled_copy.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "host/cpu/convert.hpp"
#include "host/cpu/copy/dispatch.hpp"
#include "host/cpu/copy/own_axes.hpp"
#include "host/cpu/parallel.hpp"
#include "host/cpu/processor.hpp"
#include "host/cpu/strided_loop.hpp"

namespace relayout::native {
namespace {

constexpr std::int64_t kSquare = 64;
/// How many elements are widened, scaled and rounded together: they stay in the first-level cache.
constexpr std::int64_t kLine = 512;

/// out = alpha * in + beta * out. It is inlined so that it is compiled for the instructions that the caller
/// may use: without them a fused sum is a call of the C library.
template <class Scale, class In, class Out>
__attribute__((always_inline)) inline void scale_elements(const In* in, std::int64_t in_step, Out* out,
                                                          std::int64_t out_step, std::int64_t count,
                                                          Scale alpha, Scale beta) noexcept {
  for (std::int64_t i = 0; i < count; ++i) {
    const Scale product = alpha * convert<Scale>(in[i * in_step]);
    Out& result = out[i * out_step];
    result = convert<Out>(beta == 0 ? product : std::fma(beta, convert<Scale>(result), product));
  }
}

#if defined(RELAYOUT_X86)
template <class Scale, class In, class Out>
__attribute__((target("avx2,fma"))) void scale_elements_fma(const In* in, std::int64_t in_step, Out* out,
                                                            std::int64_t out_step, std::int64_t count,
                                                            Scale alpha, Scale beta) noexcept {
  scale_elements(in, in_step, out, out_step, count, alpha, beta);
  _mm256_zeroupper();  // as in convert.cpp
}
#endif

template <class Scale, class In, class Out>
void scale_row(const In* in, std::int64_t in_step, Out* out, std::int64_t out_step, std::int64_t count,
               Scale alpha, Scale beta) noexcept {
#if defined(RELAYOUT_X86)
  if (has_fma()) return scale_elements_fma(in, in_step, out, out_step, count, alpha, beta);
#endif
  scale_elements(in, in_step, out, out_step, count, alpha, beta);
}

/// Where the two sides have different fastest axes, their plane is walked in squares, so that the lines of
/// both stay in the first-level cache until they are used up.
template <class In, class Out>
class ScaledCopy {
 public:
  explicit ScaledCopy(const CopyParams& p)
      : p_(p), alpha_(static_cast<Scale>(p.alpha)), beta_(static_cast<Scale>(p.beta)) {}

  void run() const {
    if (p_.in_rank > 0) {
      return for_each_common_run(p_, [this](const CommonRun& run) {
        row(static_cast<const In*>(p_.in) + run.in, run.in_step, static_cast<Out*>(p_.out) + run.out,
            run.out_step, run.count);
      });
    }
    if (p_.rank == 0) return row(static_cast<const In*>(p_.in), 1, static_cast<Out*>(p_.out), 1, 1);
    const int last = p_.rank - 1, fast = p_.in_axis;
    StridedLoop squares;
    for (int axis = 0; axis < p_.rank; ++axis) {
      const std::int64_t side = side_of(axis);
      squares.push_boxes(p_.extents[axis], side, p_.in_strides[axis], p_.out_strides[axis]);
    }
    parallel_ranges(squares.total(), p_.elements, [&](std::int64_t begin, std::int64_t end) {
      Cursor cursor(squares, begin);
      for (std::int64_t i = begin; i < end; ++i, cursor.next()) {
        const auto side = [&](int axis) {
          return std::min(side_of(axis), p_.extents[axis] - cursor.index(axis) * side_of(axis));
        };
        const std::int64_t rows = fast == last ? 1 : side(fast);
        for (std::int64_t r = 0; r < rows; ++r) {
          row(static_cast<const In*>(p_.in) + cursor.a() + r * p_.in_strides[fast], p_.in_strides[last],
              static_cast<Out*>(p_.out) + cursor.b() + r * p_.out_strides[fast], p_.out_strides[last],
              side(last));
        }
      }
    });
  }

 private:
  /// How many elements a square has along an axis: whole lines where both sides are fastest along it.
  std::int64_t side_of(int axis) const {
    const int last = p_.rank - 1;
    if (axis != last && axis != p_.in_axis) return 1;
    return p_.in_axis == last ? kLine : kSquare;
  }

  using Scale = std::conditional_t<std::is_same_v<In, double> || std::is_same_v<Out, double>, double, float>;

  /// Elements of 16 bits are widened and rounded by the conversions of whole rows, for which the processor
  /// has instructions.
  static constexpr bool kByLines = std::is_same_v<Scale, float> && (sizeof(In) == 2 || sizeof(Out) == 2);

  void row(const In* in, std::int64_t in_step, Out* out, std::int64_t out_step, std::int64_t count) const {
    if constexpr (kByLines) {
      Scale wide[kLine], result[kLine];
      for (std::int64_t i = 0; i < count; i += kLine) {
        const std::int64_t part = std::min(kLine, count - i);
        convert_strided(in + i * in_step, in_step, wide, 1, part);
        if (beta_ != 0) convert_strided(out + i * out_step, out_step, result, 1, part);
        scale_row(wide, 1, result, 1, part, alpha_, beta_);
        convert_strided(result, 1, out + i * out_step, out_step, part);
      }
    } else {
      scale_row(in, in_step, out, out_step, count, alpha_, beta_);
    }
  }

  const CopyParams& p_;
  Scale alpha_, beta_;
};

template <class In>
void scaled_copy_of(const CopyParams& p) {
  with_output_type<In>(p.out_type, [&](auto in, auto out) {
    ScaledCopy<typename decltype(in)::type, typename decltype(out)::type>(p).run();
  });
}

}  // namespace

void scaled_copy(const CopyParams& p) {
  switch (p.in_type) {
    case DType::f16:
      return scaled_copy_of<f16>(p);
    case DType::bf16:
      return scaled_copy_of<bf16>(p);
    case DType::f32:
      return scaled_copy_of<float>(p);
    default:
      return scaled_copy_of<double>(p);
  }
}

}  // namespace relayout::native
