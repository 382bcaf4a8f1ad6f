// Errors: every public function checks its arguments before anything is launched or written, and throws
// Error.
#pragma once

#include <stdexcept>
#include <string>

#include <relayout/export.hpp>

namespace relayout {

/// What kind of error it is.
enum class ErrorCode {
  invalid_argument,  ///< a value outside its documented range
  invalid_shape,     ///< a geometry without output, or a size product that does not fit 64 bits
  pad_too_large,     ///< strict padding policy: the pad reaches further than the signal
  shape,             ///< operands whose shapes do not go together
  dtype,             ///< an element type this operation does not take
  promotion,         ///< element types of two operands that have no type in common
  rounding_mode,     ///< a rounding where nothing is rounded
  padding_mode,      ///< a padding of tiles that the element type does not have
  rank,              ///< too many axes, or another number of axes than the operation needs
  literal_range,     ///< a constant that the element type cannot hold
  stride_alignment,  ///< a byte stride that is no multiple of the element size
  scale,             ///< a scale of quantised numbers that is not finite and above 0
  output_overlap,    ///< two indices of an output view may hit one address
  partial_overlap,   ///< an output that shares bytes with an input
  null_pointer,      ///< a null pointer for a view with elements
  not_built,         ///< a back end that this build does not contain
  no_device,         ///< a device index that does not exist
  out_of_memory,     ///< an allocation failed
  unsupported,       ///< legal in principle, but not offered by this back end
  launch,            ///< a kernel launch was refused or a kernel failed
  vendor,            ///< any other error of the vendor's runtime or library
  timeout,           ///< another rank did not come within the time limit of a Group
};

/// The enumerator's name, as in "pad_too_large".
RELAYOUT_API const char* name_of(ErrorCode code) noexcept;

/// What every function of the library throws. what() is one sentence: what is wrong, why, and a hint where
/// one helps. The one other exception is std::bad_alloc, for want of the host memory that the library keeps
/// its own data in; nothing is launched or written then. Buffers that do not fit are Error{out_of_memory}.
class RELAYOUT_API Error : public std::runtime_error {
 public:
  /// An error with its sentence.
  Error(ErrorCode code, const std::string& sentence) : std::runtime_error(sentence), code_(code) {}
  /// What kind of error it is.
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace relayout
