#include "host/native/scaled_copy.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "host/native/convert.hpp"
#include "host/native/dispatch.hpp"
#include "host/native/own_axes.hpp"
#include "host/native/parallel.hpp"
#include "host/native/strided_loop.hpp"

namespace relayout::native {
namespace {

constexpr std::int64_t kSquare = 64;

/// Where the two sides have fastest axes of their own, their plane is walked in squares, so that the lines of
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
      const std::int64_t side = axis == last || axis == fast ? kSquare : 1;
      squares.push((p_.extents[axis] + side - 1) / side, side * p_.in_strides[axis],
                   side * p_.out_strides[axis]);
    }
    parallel_ranges(squares.total(), p_.elements, [&](std::int64_t begin, std::int64_t end) {
      Cursor cursor(squares, begin);
      for (std::int64_t i = begin; i < end; ++i, cursor.next()) {
        const auto side = [&](int axis) {
          return std::min(kSquare, p_.extents[axis] - cursor.index(axis) * kSquare);
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
  using Scale = std::conditional_t<std::is_same_v<In, double> || std::is_same_v<Out, double>, double, float>;

  void row(const In* in, std::int64_t in_step, Out* out, std::int64_t out_step, std::int64_t count) const {
    for (std::int64_t i = 0; i < count; ++i) {
      const Scale product = alpha_ * convert<Scale>(in[i * in_step]);
      Out& result = out[i * out_step];
      result = convert<Out>(p_.beta == 0 ? product : std::fma(beta_, convert<Scale>(result), product));
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
