// The option structs: each begins with its size, so that older programs may pass shorter ones.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "bindings/c/src/guard.hpp"
#include "relayout/copy_options.hpp"
#include "relayout/depthwise.hpp"
#include "relayout/elementwise.hpp"
#include "relayout/img2col.hpp"

namespace relayout::c {

constexpr relayout_copy_options kCopyDefaults = {sizeof(relayout_copy_options), 1, 0, 0, 1, 0, 0};
constexpr relayout_elementwise_options kElementwiseDefaults = {
    sizeof(relayout_elementwise_options), 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1e-5, 1e-8};
constexpr relayout_pad_options kPadDefaults = {sizeof(relayout_pad_options), 0, 0, 0, 0, 0};
constexpr relayout_window_options kWindowDefaults = {sizeof(relayout_window_options), 1, 1, 1, 1, 0, 0};

constexpr relayout_sequence_options kSequenceDefaults = {sizeof(relayout_sequence_options),
                                                         -1,
                                                         0,
                                                         nullptr,
                                                         nullptr,
                                                         nullptr,
                                                         nullptr,
                                                         nullptr,
                                                         nullptr,
                                                         nullptr,
                                                         nullptr,
                                                         nullptr,
                                                         0};

inline Activation activation_of(std::int32_t silu) { return silu != 0 ? Activation::silu : Activation::none; }

/// Error{invalid_argument} for a size that no header of this library's time has.
void check_size(std::uint64_t size, std::uint64_t known, const char* name);

template <class T>
relayout_status set_defaults(T* options, std::uint64_t size, const T& defaults) noexcept {
  return guarded([&] {
    check_given(options, "options");
    check_size(size, sizeof(T), "struct_size");
    std::memcpy(options, &defaults, size);
    options->struct_size = size;
  });
}

/// What the caller set, and the defaults of what the caller does not know.
template <class T>
T read_options(const T* options, const T& defaults) {
  T read = defaults;
  if (options == nullptr) return read;
  check_size(options->struct_size, sizeof(T), "options.struct_size");
  std::memcpy(&read, options, options->struct_size);
  return read;
}

/// `value` as an enumerator of `count`; Error{invalid_argument} names the field.
template <class Enum>
Enum enumerator(std::int32_t value, int count, const char* field) {
  if (value < 0 || value >= count) {
    throw Error(ErrorCode::invalid_argument, std::string(field) + " is " + std::to_string(value) +
                                                 ", and must be 0 to " + std::to_string(count - 1));
  }
  return static_cast<Enum>(value);
}

CopyPlanOptions copy_options(const relayout_copy_options* options);
ElementwiseOptions elementwise_options(const relayout_elementwise_options* options);
PadSpec pad_spec(const relayout_pad_options* options);
Window window_of(const relayout_window_options* options);
ColumnOrder column_order(std::int32_t channel_outer);
/// The order of a permutation.
std::vector<int> axes_of(const std::int32_t* axes, std::int32_t count);

}  // namespace relayout::c
