#include "npy.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <ostream>
#include <vector>

#include "input_error.hpp"

namespace example {
namespace {

using relayout::DType;

constexpr std::array<char, 6> kMagic = {'\x93', 'N', 'U', 'M', 'P', 'Y'};

/// Reads the dictionary that numpy writes: a flat Python literal of strings, booleans and one tuple of
/// integers.
class HeaderParser {
 public:
  HeaderParser(const std::string& file, const std::string& text) : file_(file), text_(text) {}

  NpyHeader parse() {
    NpyHeader header;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !has_descr) {
        header.dtype = dtype();
        has_descr = true;
      } else if (key == "fortran_order" && !has_order) {
        header.fortran_order = boolean();
        has_order = true;
      } else if (key == "shape" && !has_shape) {
        header.shape = shape();
        has_shape = true;
      } else {
        fail("has an unexpected or repeated key '" + key + "'");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (position_ != text_.size()) fail("has text after its dictionary");
    if (!has_descr || !has_order || !has_shape) fail("lacks one of the keys descr, fortran_order and shape");
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(file_ + ": the .npy header " + what + ".");
  }

  void skip_space() {
    while (position_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[position_])))
      ++position_;
  }

  bool accept(char wanted) {
    skip_space();
    if (position_ >= text_.size() || text_[position_] != wanted) return false;
    ++position_;
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted))
      fail(std::string("is no dictionary as numpy writes it: '") + wanted + "' is missing");
  }

  std::string string() {
    skip_space();
    const char quote = position_ < text_.size() ? text_[position_] : '\0';
    const std::size_t end =
        quote == '\'' || quote == '"' ? text_.find(quote, position_ + 1) : std::string::npos;
    if (end == std::string::npos)
      fail("is no dictionary of plain values as numpy writes it for f2, f4 and f8");
    std::string result = text_.substr(position_ + 1, end - position_ - 1);
    position_ = end + 1;
    return result;
  }

  DType dtype() {
    const std::string descr = string();
    if (descr == ">f2" || descr == ">f4" || descr == ">f8") {
      fail("says big endian ('" + descr +
           "'); only little endian files are read, numpy converts with "
           "x.astype(x.dtype.newbyteorder('<'))");
    }
    if (descr == "<f2") return DType::f16;
    if (descr == "<f4") return DType::f32;
    if (descr == "<f8") return DType::f64;
    fail("has the element type '" + descr + "'; '<f2', '<f4' and '<f8' are read");
  }

  bool boolean() {
    skip_space();
    for (const auto& [word, value] : {std::pair<std::string, bool>{"True", true}, {"False", false}}) {
      if (text_.compare(position_, word.size(), word) == 0) {
        position_ += word.size();
        return value;
      }
    }
    fail("has a fortran_order that is neither True nor False");
  }

  relayout::Dims shape() {
    relayout::Dims result;
    if (!accept('(')) fail("has a shape that is no tuple");
    while (!accept(')')) {
      result.push_back(extent());
      if (result.size() > static_cast<std::size_t>(relayout::kMaxRank))
        fail("has a shape of more than 32 axes");
      if (!accept(',')) {
        if (!accept(')')) fail("has a shape that is no tuple of integers");
        if (result.size() == 1) fail("has a shape that is no tuple");
        break;
      }
    }
    return result;
  }

  std::int64_t extent() {
    if (accept('-')) fail("has a negative extent in its shape");
    skip_space();
    const std::size_t begin = position_;
    std::int64_t value = 0;
    for (; position_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[position_]));
         ++position_) {
      if (__builtin_mul_overflow(value, std::int64_t{10}, &value) ||
          __builtin_add_overflow(value, std::int64_t{text_[position_] - '0'}, &value)) {
        fail("has an extent in its shape that does not fit 63 bits");
      }
    }
    if (position_ == begin) fail("has a shape that is no tuple of integers");
    return value;
  }

  const std::string& file_;
  const std::string& text_;
  std::size_t position_ = 0;
};

/// Bytes of the data; InputError when they do not fit 63 bits.
std::uint64_t bytes_of(const std::string& file, const NpyHeader& header) {
  const bool empty = std::count(header.shape.begin(), header.shape.end(), 0) > 0;
  std::int64_t bytes = empty ? 0 : static_cast<std::int64_t>(relayout::size_of(header.dtype));
  for (const std::int64_t extent : header.shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) {
      throw InputError(file + ": the shape " + relayout::to_string(header.shape) +
                       " is impossible, it would be more than 2^63 bytes.");
    }
  }
  return static_cast<std::uint64_t>(bytes);
}

/// Writes elements converted to float in pieces, so that no second copy of the tensor exists.
void write_as_floats(std::ostream& out, const relayout::bf16* values, std::int64_t elements) {
  std::vector<float> piece;
  for (std::int64_t begin = 0; begin < elements; begin += 65536) {
    const std::int64_t end = std::min<std::int64_t>(begin + 65536, elements);
    piece.clear();
    for (std::int64_t i = begin; i < end; ++i) piece.push_back(relayout::to_float(values[i]));
    out.write(reinterpret_cast<const char*>(piece.data()),
              static_cast<std::streamsize>(piece.size() * sizeof(float)));
  }
}

}  // namespace

NpyHeader parse_npy_header(const std::string& file, const std::string& text) {
  return HeaderParser(file, text).parse();
}

NpyFile::NpyFile(const std::string& path) : path_(path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw InputError(path + ": there is no such file, or it is not a regular file.");
  }
  const std::uint64_t size = std::filesystem::file_size(path, error);
  file_.open(path, std::ios::binary);
  if (error || !file_) throw InputError(path + ": the file cannot be opened for reading.");

  std::array<unsigned char, 12> start{};
  file_.read(reinterpret_cast<char*>(start.data()), 8);
  if (!file_ || !std::equal(kMagic.begin(), kMagic.end(), start.begin(),
                            [](char a, unsigned char b) { return static_cast<unsigned char>(a) == b; })) {
    throw InputError(path + ": this is no .npy file, its first bytes are not those of the format.");
  }
  const int version = start[6];
  if (version < 1 || version > 3 || start[7] != 0) {
    throw InputError(path + ": .npy version " + std::to_string(version) + "." + std::to_string(start[7]) +
                     " is unknown; 1.0, 2.0 and 3.0 are read.");
  }
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  file_.read(reinterpret_cast<char*>(start.data()) + 8, static_cast<std::streamsize>(length_bytes));
  if (!file_) throw InputError(path + ": the file is truncated in its header.");
  std::uint64_t header_bytes = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) header_bytes |= std::uint64_t{start[8 + i]} << (8 * i);
  const std::uint64_t header_end = 8 + length_bytes + header_bytes;
  if (header_end > size) throw InputError(path + ": the file is truncated in its header.");

  std::string text(static_cast<std::size_t>(header_bytes), '\0');
  file_.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file_) throw InputError(path + ": the file's header cannot be read.");
  header_ = parse_npy_header(path, text);
  const std::uint64_t wanted = bytes_of(path, header_), present = size - header_end;
  if (wanted != present) {
    throw InputError(path + ": the file has " + std::to_string(present) + " bytes of data, but its shape " +
                     relayout::to_string(header_.shape) + " needs " + std::to_string(wanted) + ".");
  }
  data_bytes_ = static_cast<std::size_t>(wanted);
}

void NpyFile::read(void* destination) {
  file_.read(static_cast<char*>(destination), static_cast<std::streamsize>(data_bytes_));
  if (!file_) throw InputError(path_ + ": the file's data cannot be read.");
}

relayout::TensorView NpyFile::view(const void* data) const {
  if (!header_.fortran_order) return {data, header_.dtype, header_.shape};
  relayout::Dims reversed(header_.shape.rbegin(), header_.shape.rend());
  relayout::Dims strides = relayout::contiguous_strides(reversed);
  std::reverse(strides.begin(), strides.end());
  return {data, header_.dtype, header_.shape, strides};
}

void write_npy(std::ostream& out, const relayout::TensorView& view) {
  std::string shape;
  for (const std::int64_t extent : view.shape()) shape += std::to_string(extent) + ", ";
  std::string text = std::string("{'descr': '") + (view.dtype() == DType::f16 ? "<f2" : "<f4") +
                     "', 'fortran_order': False, 'shape': (" + shape + "), }";
  constexpr std::size_t kPrefix =
      10;  // magic, version and the header's length; the data starts 64-byte aligned
  text.append(63 - (kPrefix + text.size()) % 64, ' ');
  text += '\n';
  out.write(kMagic.data(), kMagic.size());
  const std::array<char, 4> rest = {1, 0, static_cast<char>(text.size() & 0xff),
                                    static_cast<char>(text.size() >> 8)};
  out.write(rest.data(), rest.size());
  out << text;
  if (view.dtype() == DType::bf16) {
    write_as_floats(out, static_cast<const relayout::bf16*>(view.data()), view.elements());
  } else {
    out.write(static_cast<const char*>(view.data()),
              static_cast<std::streamsize>(static_cast<std::size_t>(view.elements()) *
                                           relayout::size_of(view.dtype())));
  }
}

}  // namespace example
