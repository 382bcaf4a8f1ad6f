#include "host/plan/sharing.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

#include "core/bytes.hpp"

namespace relayout::plan {
namespace {

// Where numbers of 64 bits do not suffice: an address plus all of a view's reach. __extension__: -Wpedantic.
__extension__ using Int128 = __int128;

/// A sum of terms coefficient * x with 0 <= x <= most. The axes of both views, by their absolute strides in
/// bytes, and the bytes within an element of each.
struct Term {
  std::int64_t coefficient;
  Int128 most;
};

constexpr std::size_t kMaxTerms = 2 * kMaxRank + 2;
constexpr int kMaxSteps = 512;

/// Decides whether the sum can be `wanted`.
class BoundedSum {
 public:
  void add(std::int64_t coefficient, Int128 most) {
    if (coefficient == 0 || most == 0) return;
    for (std::size_t i = 0; i < count_; ++i) {
      if (terms_[i].coefficient == coefficient) {
        terms_[i].most += most;
        return;
      }
    }
    terms_[count_++] = {coefficient, most};
  }

  Sharing can_be(Int128 wanted) {
    std::sort(terms_.begin(), terms_.begin() + static_cast<std::ptrdiff_t>(count_),
              [](const Term& a, const Term& b) { return a.coefficient > b.coefficient; });
    describe_tails();
    const bool found = search(0, wanted);
    return found ? Sharing::some : steps_ > kMaxSteps ? Sharing::undecided : Sharing::none;
  }

 private:
  /// What is known of the terms from one on: their largest sum, their greatest common divisor, and whether
  /// every multiple of it up to the largest sum is a sum.
  struct Tail {
    Int128 reach;
    std::int64_t divisor;
    bool complete;
  };

  /// From the smallest coefficient up: a larger one keeps the sums complete when it is no more than one step
  /// beyond them.
  void describe_tails() {
    tails_[count_] = {0, 0, true};
    for (std::size_t i = count_; i-- > 0;) {
      const Tail& smaller = tails_[i + 1];
      const std::int64_t divisor = std::gcd(smaller.divisor, terms_[i].coefficient);
      const bool complete = smaller.complete && (smaller.divisor == 0 || smaller.divisor == divisor) &&
                            terms_[i].coefficient <= smaller.reach + divisor;
      tails_[i] = {smaller.reach + terms_[i].most * terms_[i].coefficient, divisor, complete};
    }
  }

  bool search(std::size_t term, Int128 wanted) {
    const Tail& tail = tails_[term];
    if (wanted < 0 || wanted > tail.reach) return false;
    if (wanted == 0) return true;
    if (wanted % tail.divisor != 0) return false;
    if (tail.complete) return true;
    const Int128 coefficient = terms_[term].coefficient, beyond = wanted - tails_[term + 1].reach;
    const Int128 first = beyond <= 0 ? 0 : (beyond + coefficient - 1) / coefficient;
    for (Int128 x = std::min(terms_[term].most, wanted / coefficient); x >= first; --x) {
      if (++steps_ > kMaxSteps) return false;
      if (search(term + 1, wanted - x * coefficient)) return true;
    }
    return false;
  }

  std::array<Term, kMaxTerms> terms_{};
  std::array<Tail, kMaxTerms + 1> tails_{};
  std::size_t count_ = 0;
  int steps_ = 0;
};

Int128 address_of(const void* data, std::int64_t offset) {
  return static_cast<Int128>(reinterpret_cast<std::uintptr_t>(data)) + offset;
}

void add_terms(BoundedSum& sum, const TensorView& view) {
  const std::int64_t size = bytes_of(view.dtype());
  for (int axis = 0; axis < view.rank(); ++axis) {
    if (view.extent(axis) <= 1) continue;
    const std::int64_t stride = view.stride(axis);
    sum.add((stride < 0 ? -stride : stride) * size, view.extent(axis) - 1);
  }
  sum.add(1, size - 1);
}

}  // namespace

/// Elements share a byte where lowest(a) + sum(a's terms) = lowest(b) + sum(b's terms). Counted from the
/// other end, x as most - x, b's terms move to the left: the sum of all is b's last byte less a's first.
Sharing sharing_of(const TensorView& a, const TensorView& b) {
  if (a.elements() == 0 || b.elements() == 0) return Sharing::none;
  const TensorView::ByteRange range_a = a.byte_range(), range_b = b.byte_range();
  if (!ranges_overlap(range_a, a.data(), range_b, b.data())) return Sharing::none;
  BoundedSum sum;
  add_terms(sum, a);
  add_terms(sum, b);
  return sum.can_be(address_of(b.data(), range_b.end) - 1 - address_of(a.data(), range_a.begin));
}

bool ranges_overlap(const TensorView::ByteRange& a, const void* at_a, const TensorView::ByteRange& b,
                    const void* at_b) {
  return address_of(at_a, a.end) > address_of(at_b, b.begin) &&
         address_of(at_b, b.end) > address_of(at_a, a.begin);
}

}  // namespace relayout::plan
