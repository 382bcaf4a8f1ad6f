// The choices of a case, read one after the other from bytes. A fuzzer mutates the bytes, a failure is
// reported by them, and a case is made smaller by changing them. A choice of 0 is always the plainest one,
// and behind the end all bytes are 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace relayout::fuzz {

using Bytes = std::vector<std::uint8_t>;

class Draw {
 public:
  Draw(const std::uint8_t* bytes, std::size_t count) : bytes_(bytes), count_(count) {}

  int byte() {
    const int value = at_ < count_ ? bytes_[at_] : 0;
    ++at_;
    return value;
  }
  /// 0 .. choices - 1
  int below(int choices) { return byte() % choices; }
  /// True for `of_256` of a byte's values, never for 0.
  bool chance(int of_256) { return byte() >= 256 - of_256; }
  template <class T, std::size_t kCount>
  T pick(const T (&choices)[kCount]) {
    return choices[below(static_cast<int>(kCount))];
  }
  /// How many bytes were asked for; those behind them have no effect.
  std::size_t used() const { return at_; }

 private:
  const std::uint8_t* bytes_;
  std::size_t count_, at_ = 0;
};

inline std::string to_hex(const Bytes& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

inline Bytes from_hex(const std::string& text) {
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes.push_back(static_cast<std::uint8_t>(std::stoi(text.substr(i, 2), nullptr, 16)));
  return bytes;
}

}  // namespace relayout::fuzz
