// Machine stacks, and switching between them.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>

#include "sanitizers.hpp"

namespace relayout::emulator {

/// Memory for one fiber, with a guard page below: an overflow ends the program instead of spoiling a
/// neighbour.
class Stack {
 public:
  /// `index` staggers the tops: page-aligned tops would all fall into the same cache sets.
  explicit Stack(int index);
  ~Stack();
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  void* bottom() const { return bottom_; }
  void* top() const { return top_; }
  std::size_t size() const {
    return static_cast<std::size_t>(static_cast<char*>(top_) - static_cast<char*>(bottom_));
  }

 private:
  void* mapping_ = nullptr;
  std::size_t mapped_ = 0;
  void* bottom_ = nullptr;
  void* top_ = nullptr;
  unsigned valgrind_id_ = 0;
};

/// A suspended flow of control: an OS thread's own, or a fiber's.
class Context {
 public:
  using Entry = void (*)(boost::context::detail::transfer_t);

  TsanFiber tsan;

  /// Makes this a fiber that will begin at `entry`; what ran on the stack before is dropped, not unwound.
  void begin(const Stack& stack, Entry entry);
  /// Leaves this context, the one that runs now, for `next`; returns when some context comes back to this
  /// one.
  void switch_to(Context& next);
  /// The first thing a fiber's entry calls.
  void arrived(boost::context::detail::transfer_t transfer);

 private:
  boost::context::detail::fcontext_t suspended_ = nullptr;
  const void* bottom_ = nullptr;
  std::size_t size_ = 0;
  void* fake_stack_ = nullptr;  // AddressSanitizer's
};

}  // namespace relayout::emulator
