#include "relayout/error.hpp"

namespace relayout {

const char* name_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::invalid_shape:
      return "invalid_shape";
    case ErrorCode::pad_too_large:
      return "pad_too_large";
    case ErrorCode::shape:
      return "shape";
    case ErrorCode::dtype:
      return "dtype";
    case ErrorCode::promotion:
      return "promotion";
    case ErrorCode::rounding_mode:
      return "rounding_mode";
    case ErrorCode::padding_mode:
      return "padding_mode";
    case ErrorCode::rank:
      return "rank";
    case ErrorCode::literal_range:
      return "literal_range";
    case ErrorCode::stride_alignment:
      return "stride_alignment";
    case ErrorCode::scale:
      return "scale";
    case ErrorCode::output_overlap:
      return "output_overlap";
    case ErrorCode::partial_overlap:
      return "partial_overlap";
    case ErrorCode::null_pointer:
      return "null_pointer";
    case ErrorCode::not_built:
      return "not_built";
    case ErrorCode::no_device:
      return "no_device";
    case ErrorCode::out_of_memory:
      return "out_of_memory";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::launch:
      return "launch";
    case ErrorCode::vendor:
      return "vendor";
    case ErrorCode::timeout:
      return "timeout";
  }
  return "unknown";
}

}  // namespace relayout
