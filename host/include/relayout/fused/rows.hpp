// What a thread of the host does of a call of fused() on Device::cpu(): pieces of rows. Of a piece each
// operand becomes a buffer of numbers in the first-level cache, whatever its stride and type, so that the
// loop over the functor is one that compilers vectorise.
#pragma once

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include <relayout/fused/elements.hpp>
#include <relayout/fused/nest.hpp>

namespace relayout::detail {
inline namespace RELAYOUT_COMPILED_BY {

constexpr std::int64_t kFusedPiece = 256;

template <class T>
using Numbers = std::array<Value<T>, kFusedPiece>;

/// `count` elements that lie `stride` apart.
template <class T>
void read_numbers(const Stored<T>* from, std::int64_t stride, std::int64_t count, Numbers<T>& numbers) {
  if (stride == 1) {
    for (std::int64_t i = 0; i < count; ++i) numbers[i] = value_of<T>(from[i]);
  } else if (stride == 0) {
    std::fill_n(numbers.begin(), count, value_of<T>(*from));
  } else {
    for (std::int64_t i = 0; i < count; ++i) numbers[i] = value_of<T>(from[i * stride]);
  }
}

/// Where a row begins in each tensor, in elements, row after row.
template <int kOperands>
class RowWalk {
 public:
  RowWalk(const FusedNest& nest, std::int64_t row) : nest_(nest) {
    for (int axis = nest.rank - 2; axis >= 0; --axis) {
      index_[axis] = row % nest.extents[axis];
      row /= nest.extents[axis];
      step(axis, index_[axis]);
    }
  }
  void next() {
    for (int axis = nest_.rank - 2; axis >= 0; --axis) {
      step(axis, 1);
      if (++index_[axis] < nest_.extents[axis]) return;
      step(axis, -index_[axis]);
      index_[axis] = 0;
    }
  }
  std::int64_t out() const { return out_; }
  std::int64_t operand(std::size_t t) const { return operand_[t]; }

 private:
  void step(int axis, std::int64_t count) {
    out_ += count * nest_.out_strides[axis];
    for (int t = 0; t < kOperands; ++t) operand_[t] += count * nest_.operand[t].strides[axis];
  }

  const FusedNest& nest_;
  std::int64_t index_[kMaxRank] = {}, out_ = 0, operand_[kOperands] = {};
};

template <class Signature>
struct FusedRows;

template <class Out, class... In>
struct FusedRows<Out(In...)> {
  /// Elements [begin, end) in the order of the nest.
  template <class Functor>
  static void run(const FusedNest& nest, const Functor& functor, std::int64_t begin, std::int64_t end) {
    run(nest, functor, begin, end, std::index_sequence_for<In...>());
  }

 private:
  template <class Functor, std::size_t... I>
  static void run(const FusedNest& nest, const Functor& functor, std::int64_t begin, std::int64_t end,
                  std::index_sequence<I...>) {
    const int last = nest.rank - 1;
    const std::int64_t length = nest.extents[last], stride = nest.out_strides[last];
    RowWalk<sizeof...(In)> row(nest, begin / length);
    std::tuple<Numbers<In>...> numbers;
    for (std::int64_t first = begin % length; begin < end;) {
      const std::int64_t count = std::min({kFusedPiece, length - first, end - begin});
      (read_numbers<In>(static_cast<const Stored<In>*>(nest.operand[I].data) + row.operand(I) +
                            first * nest.operand[I].strides[last],
                        nest.operand[I].strides[last], count, std::get<I>(numbers)),
       ...);
      compute(functor, static_cast<Stored<Out>*>(nest.out) + row.out() + first * stride, stride, count,
              std::get<I>(numbers)...);
      begin += count;
      first += count;
      if (first < length) continue;
      first = 0;
      row.next();
    }
  }

  template <class Functor>
  static void compute(const Functor& functor, Stored<Out>* to, std::int64_t stride, std::int64_t count,
                      const Numbers<In>&... numbers) {
    if (stride == 1) {
      for (std::int64_t i = 0; i < count; ++i) to[i] = stored_as<Out>(functor(numbers[i]...));
    } else {
      for (std::int64_t i = 0; i < count; ++i) to[i * stride] = stored_as<Out>(functor(numbers[i]...));
    }
  }
};

}  // namespace RELAYOUT_COMPILED_BY
}  // namespace relayout::detail
