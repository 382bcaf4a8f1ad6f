// Device memory for one view, together with the expected value of every byte of it.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/support/compare.hpp"
#include "tests/support/elements.hpp"

#include <relayout/relayout.hpp>

namespace relayout::test {

enum class Role {
  input,   // exactly the bytes that the view reaches: a tool sees every access outside them
  output,  // between guard bands, so that every write outside the view is seen without a tool
};

/// The image has the expected contents of the memory. For an input: fill host(), upload(), run, and check()
/// that nothing changed. For an output: construction uploads 0xA5 everywhere except in the elements, which
/// are NaN; run, let the oracle write host(), and check(). Gaps between elements are 0xA5 in both, and must
/// stay so.
class GuardedBuffer {
 public:
  static constexpr std::size_t kGuardBytes = 256;
  static constexpr unsigned char kGuard = 0xA5, kUnused = 0xFF;

  /// `misaligned` elements lie between an aligned address and the view's first byte. No strides: contiguous.
  GuardedBuffer(const Stream& stream, Role role, DType dtype, const Dims& shape, const Dims& strides = {},
                std::int64_t misaligned = 0);
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  /// The view in the image: the contents of an input, the expected contents of an output.
  const TensorView& host() const { return host_; }
  /// The view in the device's memory.
  const TensorView& device() const { return device_; }

  void upload() const;

  /// Waits for the stream and compares every byte of the memory with the image.
  ::testing::AssertionResult check(NanRule rule = NanRule::any) const;
  /// The same without the elements of an output.
  ::testing::AssertionResult check_outside() const;

  /// The present contents of the device's memory, laid out as host().
  std::vector<unsigned char> download() const;
  /// The view within bytes that download() gave.
  TensorView view_of(const std::vector<unsigned char>& bytes) const;

 private:
  void set_elements(unsigned char value);

  /// Outputs: all bytes but the elements, which were compared already. Inputs: all bytes.
  ::testing::AssertionResult same_bytes(const std::vector<unsigned char>& actual) const;

  Stream stream_;
  Role role_;
  std::vector<unsigned char> image_;
  Buffer memory_;
  TensorView host_, device_;
};

/// The elements that two buffers hold on their devices now.
::testing::AssertionResult same_contents(const GuardedBuffer& expected, const GuardedBuffer& actual,
                                         NanRule rule = NanRule::any);

}  // namespace relayout::test
