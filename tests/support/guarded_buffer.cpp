#include "tests/support/guarded_buffer.hpp"

#include <algorithm>
#include <cstring>

namespace relayout::test {

GuardedBuffer::GuardedBuffer(const Stream& stream, Role role, DType dtype, const Dims& shape,
                             const Dims& strides, std::int64_t misaligned)
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

void GuardedBuffer::upload() const {
  if (image_.empty()) return;
  stream_.copy(memory_.data(), image_.data(), image_.size());
  stream_.synchronize();
}

::testing::AssertionResult GuardedBuffer::check(NanRule rule) const {
  const std::vector<unsigned char> actual = download();
  if (role_ == Role::output) {
    const auto same = same_elements(host_, view_of(actual), rule);
    if (!same) return same;
  }
  return same_bytes(actual);
}

::testing::AssertionResult GuardedBuffer::check_outside() const { return same_bytes(download()); }

std::vector<unsigned char> GuardedBuffer::download() const {
  std::vector<unsigned char> bytes(image_.size());
  if (!bytes.empty()) stream_.copy(bytes.data(), memory_.data(), bytes.size());
  stream_.synchronize();
  return bytes;
}

TensorView GuardedBuffer::view_of(const std::vector<unsigned char>& bytes) const {
  const auto base = static_cast<const unsigned char*>(host_.data()) - image_.data();
  return TensorView(bytes.data() + base, host_.dtype(), host_.shape(), host_.strides());
}

void GuardedBuffer::set_elements(unsigned char value) {
  for_each_element(host_, [&](const Dims&, std::int64_t offset) {
    std::memset(element_at(host_, offset), value, size_of(host_.dtype()));
  });
}

::testing::AssertionResult GuardedBuffer::same_bytes(const std::vector<unsigned char>& actual) const {
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

::testing::AssertionResult same_contents(const GuardedBuffer& expected, const GuardedBuffer& actual,
                                         NanRule rule) {
  return same_elements(expected.view_of(expected.download()), actual.view_of(actual.download()), rule);
}

}  // namespace relayout::test
