// .npy files, versions 1 to 3: f2, f4 and f8, little endian, C and Fortran order.
#pragma once

#include <fstream>
#include <iosfwd>
#include <string>

#include <relayout/tensor_view.hpp>

namespace example {

/// The contents of the header of an .npy file.
struct NpyHeader {
  relayout::DType dtype = relayout::DType::f32;
  relayout::Dims shape;
  bool fortran_order = false;
};

/// Parses "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }". Throws InputError whose sentence
/// starts with `file`.
NpyHeader parse_npy_header(const std::string& file, const std::string& text);

/// An .npy file whose header has been read and whose size fits it exactly; nothing of the data's size was
/// allocated.
class NpyFile {
 public:
  /// Throws InputError for a file that is not a complete, supported .npy file.
  explicit NpyFile(const std::string& path);

  const std::string& path() const noexcept { return path_; }
  relayout::DType dtype() const noexcept { return header_.dtype; }
  const relayout::Dims& shape() const noexcept { return header_.shape; }
  std::size_t data_bytes() const noexcept { return data_bytes_; }
  /// Reads the data in the order of the file: data_bytes() bytes.
  void read(void* destination);
  /// The view of data read to `data`; Fortran order becomes strides.
  relayout::TensorView view(const void* data) const;

 private:
  std::string path_;
  std::ifstream file_;
  NpyHeader header_;
  std::size_t data_bytes_ = 0;
};

/// Writes a contiguous f16 or f32 view as .npy version 1; bf16 is written as f4, which holds every bf16
/// exactly. The stream's state tells whether it worked.
void write_npy(std::ostream& out, const relayout::TensorView& view);

}  // namespace example
