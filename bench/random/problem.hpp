// A random problem as plain data: enough to prepare it, to time it elsewhere, and to write it to one line of
// a table and read it back.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <vector>

#include <relayout/relayout.hpp>

namespace relayout::bench::random {

enum class Family { permute, slice, cast, binary, unary, depthwise, img2col, pad, quantized };
constexpr int kFamilies = static_cast<int>(Family::quantized) + 1;
/// The enumerator's name, as in "img2col".
const char* name_of(Family family) noexcept;
/// Error{invalid_argument} for a name that no family has.
Family family_of(const std::string& name);

/// Element (i0, i1, ..) of the tensor lies offset + sum(i_k * strides[k]) elements behind an address that is
/// a multiple of 256 bytes. No stride is negative; an axis of stride 0 is repeated.
struct Tensor {
  DType type = DType::f32;
  Dims shape, strides;
  std::int64_t offset = 0;

  /// The view of the tensor whose aligned address is `base`.
  TensorView view(const void* base) const;
  /// Bytes of its elements, a repeated one counted once.
  std::int64_t unique_bytes() const;
  /// Bytes from the aligned address to the end of the last element.
  std::int64_t footprint() const;
};

/// The inputs of permute, slice, cast, binary, unary and quantized are views of the output's shape. Those of
/// quantized are the operands, then the scales of the operands and of the output, where channels have scales
/// of their own. depthwise has the signal, the weights and, where there is one, the bias. Signals are
/// [batch, channels, length]; the output of img2col is [batch * positions, taps * channels].
struct Problem {
  int generator = 0;  // the version that drew it
  std::uint64_t seed = 0;
  std::int64_t index = 0;  // among the problems of its family
  Family family = Family::permute;
  std::string function;  // of binary, unary and quantized
  std::vector<Tensor> inputs;
  Tensor out;
  std::map<std::string, std::string> options;  // of depthwise, img2col, pad and quantized: taps, mode, ...

  /// The option's words, its number. Error{invalid_argument} where the problem does not have it.
  const std::string& word(const std::string& option) const;
  std::int64_t number(const std::string& option) const;
  /// Every input element once and every output element once.
  std::int64_t bytes() const;
  /// The family's name; functions of f64 and integers are a group of their own, "unary of f64 and integers".
  std::string group() const;
  /// "binary-17"
  std::string name() const;
};

/// The header and the line of a problem: "generator,seed,index,family,function,inputs,out,options". Tensors
/// read "f32 4x1000 @3 1000x1": type, shape, offset, strides; several are separated by '|'.
extern const char* const kCsvHeader;
std::string to_csv(const Problem& problem);
/// Problems below the header; lines that are empty or begin with # do not count. The generator's version is
/// not looked at: a line says all of a problem. Error{invalid_argument} "FILE:LINE: what is wrong".
std::vector<Problem> read_csv(std::istream& text, const std::string& file);

}  // namespace relayout::bench::random
