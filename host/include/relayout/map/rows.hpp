// How a thread of the host computes pieces of the output of map() on Device::cpu(). Operands that do not lie
// in one piece are gathered into the first-level cache, so that compilers vectorise the loop over the
// functor. Results are stored after all operands of a piece were read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <relayout/map/elements.hpp>
#include <relayout/map/nest.hpp>

namespace relayout::detail {
inline namespace RELAYOUT_COMPILED_BY {

constexpr std::int64_t kMapPiece = 512;

/// A tensor in the order of the nest, on axes of its own, merged as far as it alone allows.
class MapWalk {
 public:
  MapWalk(const MapNest& nest, const std::int64_t* strides, std::int64_t element) {
    for (int axis = 0; axis < nest.rank; ++axis) {
      const bool merged =
          last_ >= 0 && strides_[last_] - strides[axis] == strides[axis] * (nest.extents[axis] - 1);
      last_ += merged ? 0 : 1;
      extents_[last_] = nest.extents[axis] * (merged ? extents_[last_] : 1);
      strides_[last_] = strides[axis];
    }
    for (int axis = last_; axis >= 0; --axis) {
      index_[axis] = element % extents_[axis];
      element /= extents_[axis];
      offset_ += index_[axis] * strides_[axis];
    }
  }
  /// How many elements from here on, at most `most`, lie stride() apart.
  std::int64_t run(std::int64_t most) const { return std::min(most, extents_[last_] - index_[last_]); }
  std::int64_t stride() const { return strides_[last_]; }
  /// The offset of this element from the first one.
  std::int64_t offset() const { return offset_; }
  /// Moves on by at most a run.
  void advance(std::int64_t count) {
    index_[last_] += count;
    offset_ += count * strides_[last_];
    for (int axis = last_; axis > 0 && index_[axis] == extents_[axis]; --axis) {
      offset_ += strides_[axis - 1] - index_[axis] * strides_[axis];
      index_[axis] = 0;
      ++index_[axis - 1];
    }
  }

 private:
  int last_ = -1;
  std::int64_t extents_[kMaxRank] = {}, strides_[kMaxRank] = {}, index_[kMaxRank] = {}, offset_ = 0;
};

/// An operand, piece by piece.
template <class T>
class MapPiece {
 public:
  MapPiece(const MapNest& nest, const MapOperand& operand, std::int64_t element)
      : data_(static_cast<const Stored<T>*>(operand.data)), walk_(nest, operand.strides, element) {}
  MapPiece(const MapPiece&) = delete;
  MapPiece& operator=(const MapPiece&) = delete;

  /// The next `count` elements.
  void read(std::int64_t count) {
    here_ = data_ + walk_.offset();
    if (walk_.stride() == 1 && walk_.run(count) == count) {
      walk_.advance(count);
    } else {
      gather(count);
      here_ = elements_;
    }
    if constexpr (kWidened) widen(here_, numbers_, count);
  }
  Value<T> operator[](std::int64_t i) const {
    if constexpr (kWidened) {
      return numbers_[i];
    } else {
      return value_of<T>(here_[i]);
    }
  }

 private:
  static constexpr bool kWidened = std::is_same_v<T, f16>;

  void gather(std::int64_t count) {
    for (std::int64_t at = 0, run = 0; at < count; at += run) {
      run = walk_.run(count - at);
      const Stored<T>* const from = data_ + walk_.offset();
      const std::int64_t stride = walk_.stride();
      if (stride == 0) {
        std::fill_n(elements_ + at, run, *from);
      } else if (stride == 1) {
        for (std::int64_t i = 0; i < run; ++i) elements_[at + i] = from[i];
      } else {
        for (std::int64_t i = 0; i < run; ++i) elements_[at + i] = from[i * stride];
      }
      walk_.advance(run);
    }
  }

  const Stored<T>*data_, *here_ = nullptr;
  MapWalk walk_;
  Stored<T> elements_[kMapPiece];
  float numbers_[kWidened ? kMapPiece : 1];
};

template <class Signature>
struct MapRows;

template <class Out, class... In>
struct MapRows<Out(In...)> {
  /// Elements [begin, end) in the order of the nest.
  template <class Functor>
  static void run(const MapNest& nest, const Functor& functor, std::int64_t begin, std::int64_t end) {
    run(nest, functor, begin, end, std::index_sequence_for<In...>());
  }

 private:
  template <class Functor, std::size_t... I>
  static void run(const MapNest& nest, const Functor& functor, std::int64_t begin, std::int64_t end,
                  std::index_sequence<I...>) {
    run_pieces(nest, functor, begin, end, MapPiece<In>(nest, nest.operand[I], begin)...);
  }

  template <class Functor>
  static void run_pieces(const MapNest& nest, const Functor& functor, std::int64_t begin, std::int64_t end,
                         MapPiece<In>&&... pieces) {
    MapWalk walk(nest, nest.out_strides, begin);
    Stored<Out> results[kMapPiece];
    for (std::int64_t count = 0; begin < end; begin += count) {
      count = std::min(kMapPiece, end - begin);
      (pieces.read(count), ...);
      compute(functor, results, count, pieces...);
      store(results, static_cast<Stored<Out>*>(nest.out), walk, count);
    }
  }

  template <class Functor>
  static void compute(const Functor& functor, Stored<Out>* results, std::int64_t count,
                      const MapPiece<In>&... pieces) {
    using Result = std::invoke_result_t<const Functor&, Value<In>...>;
    if constexpr (std::is_same_v<Out, f16> && std::is_same_v<Result, float>) {
      float numbers[kMapPiece];
      for (std::int64_t i = 0; i < count; ++i) numbers[i] = functor(pieces[i]...);
      narrow(numbers, results, count);
    } else {
      for (std::int64_t i = 0; i < count; ++i) results[i] = stored_as<Out>(functor(pieces[i]...));
    }
  }

  static void store(const Stored<Out>* results, Stored<Out>* out, MapWalk& walk, std::int64_t count) {
    for (std::int64_t at = 0, run = 0; at < count; at += run) {
      run = walk.run(count - at);
      Stored<Out>* const to = out + walk.offset();
      const std::int64_t stride = walk.stride();
      if (stride == 1) {
        std::copy_n(results + at, run, to);
      } else {
        for (std::int64_t i = 0; i < run; ++i) to[i * stride] = results[at + i];
      }
      walk.advance(run);
    }
  }
};

}  // namespace RELAYOUT_COMPILED_BY
}  // namespace relayout::detail
