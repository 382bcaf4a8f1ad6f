// Functors for map() (relayout/map.hpp): a few operations, and chains of functors, which compilers turn
// into one. Host and device code alike. The operations are those of docs/operations.md.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <relayout/map/elements.hpp>

namespace relayout {
namespace detail {

/// How many numbers a functor takes: its kOperands, else the parameters of its operator().
template <class Call>
struct Parameters;
template <class Result, class Functor, class... A>
struct Parameters<Result (Functor::*)(A...) const> : std::integral_constant<int, sizeof...(A)> {};
template <class Result, class Functor, class... A>
struct Parameters<Result (Functor::*)(A...) const noexcept> : std::integral_constant<int, sizeof...(A)> {};

template <class Functor, class = void>
struct OperandsOf : Parameters<decltype(&Functor::operator())> {};
template <class Functor>
struct OperandsOf<Functor, std::void_t<decltype(Functor::kOperands)>>
    : std::integral_constant<int, Functor::kOperands> {};

/// The type that two numbers meet in (docs/arithmetic.md, "Promotion"): the floating one, else the wider.
template <class A, class B>
struct CommonNumber {
  static_assert(std::is_arithmetic_v<A> && std::is_arithmetic_v<B> && !std::is_same_v<A, bool> &&
                    !std::is_same_v<B, bool>,
                "operations take numbers");
  static constexpr bool kFloatingA = std::is_floating_point_v<A>, kFloatingB = std::is_floating_point_v<B>;
  static_assert(kFloatingA || kFloatingB || std::is_signed_v<A> == std::is_signed_v<B>,
                "signed and unsigned integers have no type in common; convert one of them first");
  using Wider = std::conditional_t<(sizeof(A) >= sizeof(B)), A, B>;
  using Type = std::conditional_t<kFloatingA == kFloatingB, Wider, std::conditional_t<kFloatingA, A, B>>;
};
template <class A, class B>
using Common = typename CommonNumber<A, B>::Type;

/// What sums and products of T are computed in: floating types are what they are, integers wrap.
template <class T>
using Wrapping = std::conditional_t<std::is_floating_point_v<T>, T,
                                    std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>;

template <class To, class From>
RELAYOUT_HOST_DEVICE Wrapping<To> wrapping(From value) {
  return static_cast<Wrapping<To>>(static_cast<To>(value));
}

}  // namespace detail

/// Ready functors for map(). Operands of two types are converted to their common type, as
/// relayout/promotion.hpp says, which is also the type of the result.
namespace functors {

/// a + b; integers wrap.
struct Add {
  static constexpr int kOperands = 2;  ///< how many numbers it takes
  /// The result for one element.
  template <class A, class B>
  RELAYOUT_HOST_DEVICE auto operator()(A a, B b) const {
    using C = detail::Common<A, B>;
    return static_cast<C>(detail::wrapping<C>(a) + detail::wrapping<C>(b));
  }
};

/// a - b; integers wrap.
struct Subtract {
  static constexpr int kOperands = 2;  ///< how many numbers it takes
  /// The result for one element.
  template <class A, class B>
  RELAYOUT_HOST_DEVICE auto operator()(A a, B b) const {
    using C = detail::Common<A, B>;
    return static_cast<C>(detail::wrapping<C>(a) - detail::wrapping<C>(b));
  }
};

/// a * b; integers wrap.
struct Multiply {
  static constexpr int kOperands = 2;  ///< how many numbers it takes
  /// The result for one element.
  template <class A, class B>
  RELAYOUT_HOST_DEVICE auto operator()(A a, B b) const {
    using C = detail::Common<A, B>;
    return static_cast<C>(detail::wrapping<C>(a) * detail::wrapping<C>(b));
  }
};

/// a / b. Integer quotients are truncated toward zero; x / 0 is 0, and the smallest number / -1 is itself.
struct Divide {
  static constexpr int kOperands = 2;  ///< how many numbers it takes
  /// The result for one element.
  template <class A, class B>
  RELAYOUT_HOST_DEVICE auto operator()(A a, B b) const {
    using C = detail::Common<A, B>;
    const C x = static_cast<C>(a), y = static_cast<C>(b);
    if constexpr (std::is_floating_point_v<C>) {
      return x / y;
    } else {
      if constexpr (std::is_signed_v<C>) {
        if (y == -1) return static_cast<C>(0 - detail::wrapping<C>(x));
      }
      return y == 0 ? C{0} : static_cast<C>(x / y);
    }
  }
};

/// The larger of a and b; NaN if either is.
struct Maximum {
  static constexpr int kOperands = 2;  ///< how many numbers it takes
  /// The result for one element.
  template <class A, class B>
  RELAYOUT_HOST_DEVICE auto operator()(A a, B b) const {
    using C = detail::Common<A, B>;
    const C x = static_cast<C>(a), y = static_cast<C>(b);
    return x > y ? x : y >= x ? y : static_cast<C>(x + y);
  }
};
/// The smaller of a and b; NaN if either is.
struct Minimum {
  static constexpr int kOperands = 2;  ///< how many numbers it takes
  /// The result for one element.
  template <class A, class B>
  RELAYOUT_HOST_DEVICE auto operator()(A a, B b) const {
    using C = detail::Common<A, B>;
    const C x = static_cast<C>(a), y = static_cast<C>(b);
    return x < y ? x : y <= x ? y : static_cast<C>(x + y);
  }
};

/// a > 0 ? a : 0; NaN stays NaN, and -0 becomes 0.
struct Relu {
  static constexpr int kOperands = 1;  ///< how many numbers it takes
  /// The result for one element.
  template <class A>
  RELAYOUT_HOST_DEVICE A operator()(A a) const {
    return a <= A{0} ? A{0} : a;
  }
};

/// min(max(a, low), high), with the bounds made numbers of a's type; NaN stays NaN. Clip{0, 6}.
template <class Bound>
struct Clip {
  static constexpr int kOperands = 1;  ///< how many numbers it takes
  Bound low;                           ///< the lower bound
  Bound high;                          ///< the upper bound

  /// The result for one element.
  template <class A>
  RELAYOUT_HOST_DEVICE A operator()(A a) const {
    return Minimum()(Maximum()(a, static_cast<A>(low)), static_cast<A>(high));
  }
};
/// Clip{0, 6} is a Clip<int>.
template <class Bound>
Clip(Bound, Bound) -> Clip<Bound>;

/// The number as an element of T would hold it: this is how chain() rounds every result.
template <class T>
struct Rounded {
  static constexpr int kOperands = 1;  ///< how many numbers it takes
  /// The result for one element.
  template <class A>
  RELAYOUT_HOST_DEVICE detail::Value<T> operator()(A a) const {
    return detail::value_of<T>(detail::stored_as<T>(a));
  }
};

}  // namespace functors

/// A chain of functors, made by chain_of(). The first functor takes as many numbers as it has operands; each
/// one that follows takes the result of the one before it, and further numbers.
template <class First, class... Others>
struct Chain {
  static constexpr int kFirst = detail::OperandsOf<First>::value;  ///< numbers of the first functor
  static constexpr int kOperands = kFirst + Chain<Others...>::kOperands - 1;  ///< numbers of the whole chain
  static_assert(kFirst >= 1 && kFirst <= 8, "functors of chains take 1 to 8 numbers");

  First first;              ///< the first functor
  Chain<Others...> others;  ///< the ones that follow

  /// The result for one element.
  template <class A, class... More>
  RELAYOUT_HOST_DEVICE auto operator()(A a, More... more) const {
    static_assert(1 + sizeof...(More) == kOperands, "one number for each operand of the chain");
    constexpr auto kNumbers = static_cast<std::size_t>(kFirst);
    return pass_on(std::make_index_sequence<kNumbers>(),
                   std::make_index_sequence<sizeof...(More) + 1 - kNumbers>(), a, more...);
  }

 private:
  /// Number kAt of these.
  template <std::size_t kAt, class A, class... More>
  static RELAYOUT_HOST_DEVICE auto number(A a, More... more) {
    if constexpr (kAt == 0) {
      return a;
    } else {
      return number<kAt - 1>(more...);
    }
  }
  template <std::size_t... kOfFirst, std::size_t... kOthers, class... All>
  RELAYOUT_HOST_DEVICE auto pass_on(std::index_sequence<kOfFirst...>, std::index_sequence<kOthers...>,
                                    All... all) const {
    return others(first(number<kOfFirst>(all...)...), number<sizeof...(kOfFirst) + kOthers>(all...)...);
  }
};

/// The last functor of a chain.
template <class Last>
struct Chain<Last> {
  static constexpr int kOperands = detail::OperandsOf<Last>::value;  ///< numbers that it takes

  Last last;  ///< the functor

  /// The result for one element.
  template <class... A>
  RELAYOUT_HOST_DEVICE auto operator()(A... a) const {
    return last(a...);
  }
};

/// A chain of one functor.
template <class Last>
Chain<Last> chain_of(const Last& last) {
  return {last};
}
/// last(.. second(first(a, b ..), ..) ..): one functor made of several. Each takes 1 to 8 numbers: as many as
/// its constant kOperands says, or else as its operator() has parameters.
///
///     map<f16(f16, f16)>(stream, chain_of(functors::Add(), functors::Relu()), {x, bias}, y);
template <class First, class Second, class... Others>
Chain<First, Second, Others...> chain_of(const First& first, const Second& second, const Others&... others) {
  return {first, chain_of(second, others...)};
}

}  // namespace relayout
