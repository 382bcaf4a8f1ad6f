// Device memory for one view, together with the expected value of every byte of it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
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
                std::int64_t misaligned = 0)
      : stream_(stream), role_(role) {
    const Dims steps = strides.empty() ? contiguous_strides(shape) : strides;
    const TensorView::ByteRange range = TensorView(nullptr, dtype, shape, steps).byte_range();
    const std::size_t guard = role == Role::output ? kGuardBytes : 0;
    const std::size_t begin = guard + static_cast<std::size_t>(misaligned) * size_of(dtype);
    image_.assign(begin + static_cast<std::size_t>(range.end - range.begin) + guard,
                  role == Role::output ? kGuard : kUnused);
    memory_ = Buffer(stream.device(), image_.size());
    const std::int64_t base = static_cast<std::int64_t>(begin) - range.begin;
    host_ = TensorView(image_.data() + base, dtype, shape, steps);
    device_ = TensorView(static_cast<unsigned char*>(memory_.data()) + base, dtype, shape, steps);
    if (role == Role::output) {
      set_elements(kUnused);
      upload();
    }
  }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  /// The view in the image: the contents of an input, the expected contents of an output.
  const TensorView& host() const { return host_; }
  /// The view in the device's memory.
  const TensorView& device() const { return device_; }

  void upload() const {
    if (image_.empty()) return;
    stream_.copy(memory_.data(), image_.data(), image_.size());
    stream_.synchronize();
  }

  /// Waits for the stream and compares every byte of the memory with the image.
  ::testing::AssertionResult check(NanRule rule = NanRule::any) const {
    const std::vector<unsigned char> actual = download();
    if (role_ == Role::output) {
      const auto same = same_elements(host_, view_of(actual), rule);
      if (!same) return same;
    }
    return same_bytes(actual);
  }
  /// The same without the elements of an output.
  ::testing::AssertionResult check_outside() const { return same_bytes(download()); }

  /// The present contents of the device's memory, laid out as host().
  std::vector<unsigned char> download() const {
    std::vector<unsigned char> bytes(image_.size());
    if (!bytes.empty()) stream_.copy(bytes.data(), memory_.data(), bytes.size());
    stream_.synchronize();
    return bytes;
  }
  /// The view within bytes that download() gave.
  TensorView view_of(const std::vector<unsigned char>& bytes) const {
    const auto base = static_cast<const unsigned char*>(host_.data()) - image_.data();
    return TensorView(bytes.data() + base, host_.dtype(), host_.shape(), host_.strides());
  }

 private:
  void set_elements(unsigned char value) {
    for_each_element(host_, [&](const Dims&, std::int64_t offset) {
      std::memset(element_at(host_, offset), value, size_of(host_.dtype()));
    });
  }

  /// Outputs: all bytes but the elements, which were compared already. Inputs: all bytes.
  ::testing::AssertionResult same_bytes(const std::vector<unsigned char>& actual) const {
    std::vector<unsigned char> expected = image_;
    if (role_ == Role::output)
      for_each_element(host_, [&](const Dims&, std::int64_t offset) {
        const std::ptrdiff_t begin = element_at(host_, offset) - image_.data();
        std::memcpy(expected.data() + begin, actual.data() + begin, size_of(host_.dtype()));
      });
    if (expected == actual) return ::testing::AssertionSuccess();
    const auto place = std::mismatch(expected.begin(), expected.end(), actual.begin());
    const std::ptrdiff_t base = static_cast<const unsigned char*>(host_.data()) - image_.data();
    return ::testing::AssertionFailure()
           << (role_ == Role::output ? "a byte outside the elements" : "an input")
           << " was written: " << (place.first - expected.begin()) - base << " bytes from the base of "
           << host_.to_string() << " is " << static_cast<int>(*place.second) << ", was "
           << static_cast<int>(*place.first);
  }

  Stream stream_;
  Role role_;
  std::vector<unsigned char> image_;
  Buffer memory_;
  TensorView host_, device_;
};

}  // namespace relayout::test
