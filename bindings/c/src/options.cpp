#include "bindings/c/src/options.hpp"

#include <optional>

namespace relayout::c {
namespace {

/// RELAYOUT_ROUND_DEFAULT has no value.
std::optional<Rounding> rounding_of(std::int32_t rounding, const char* field) {
  enumerator<int>(rounding, RELAYOUT_ROUND_UP + 1, field);
  if (rounding == RELAYOUT_ROUND_DEFAULT) return std::nullopt;
  return static_cast<Rounding>(rounding - 1);
}
static_assert(static_cast<int>(Rounding::nearest_even) == RELAYOUT_ROUND_NEAREST_EVEN - 1);
static_assert(static_cast<int>(Rounding::nearest_away) == RELAYOUT_ROUND_NEAREST_AWAY - 1);
static_assert(static_cast<int>(Rounding::toward_zero) == RELAYOUT_ROUND_TOWARD_ZERO - 1);
static_assert(static_cast<int>(Rounding::down) == RELAYOUT_ROUND_DOWN - 1);
static_assert(static_cast<int>(Rounding::up) == RELAYOUT_ROUND_UP - 1);
static_assert(static_cast<int>(Precision::accurate) == RELAYOUT_PRECISION_ACCURATE);
static_assert(static_cast<int>(Precision::full) == RELAYOUT_PRECISION_FULL);
static_assert(static_cast<int>(Precision::approximate) == RELAYOUT_PRECISION_APPROXIMATE);
static_assert(static_cast<int>(PadMode::constant) == RELAYOUT_PAD_CONSTANT);
static_assert(static_cast<int>(PadMode::replicate) == RELAYOUT_PAD_REPLICATE);
static_assert(static_cast<int>(PadMode::reflect) == RELAYOUT_PAD_REFLECT);
static_assert(static_cast<int>(PadMode::symmetric) == RELAYOUT_PAD_SYMMETRIC);
static_assert(static_cast<int>(PadMode::circular) == RELAYOUT_PAD_CIRCULAR);
static_assert(static_cast<int>(PadMode::reflect_zero_extended) == RELAYOUT_PAD_REFLECT_ZERO_EXTENDED);

CastOptions cast_of(std::int32_t rounding, std::int32_t saturate_fp8, std::int32_t saturate_integers,
                    const char* field) {
  return {rounding_of(rounding, field), saturate_fp8 != 0,
          saturate_integers != 0 ? IntegerOverflow::saturate : IntegerOverflow::wrap};
}

}  // namespace

void check_size(std::uint64_t size, std::uint64_t known, const char* name) {
  if (size >= sizeof(std::uint64_t) && size <= known) return;
  throw Error(ErrorCode::invalid_argument, std::string(name) + " is " + std::to_string(size) +
                                               ", and this library knows " + std::to_string(known) +
                                               " bytes: call the options' init function with sizeof, and use "
                                               "a library that is not older than the header");
}

CopyPlanOptions copy_options(const relayout_copy_options* options) {
  const relayout_copy_options read = read_options(options, kCopyDefaults);
  return {{read.alpha, read.beta},
          false,
          cast_of(read.rounding, read.saturate_fp8, read.saturate_integers, "rounding")};
}

ElementwiseOptions elementwise_options(const relayout_elementwise_options* options) {
  const relayout_elementwise_options read = read_options(options, kElementwiseDefaults);
  ElementwiseOptions made;
  made.cast_out = read.cast_out != 0;
  made.cast = cast_of(read.cast_rounding, read.saturate_fp8, read.saturate_integers, "cast_rounding");
  made.broadcasting = read.repeat != 0 ? Broadcasting::repeat : Broadcasting::numpy;
  made.rounding = rounding_of(read.rounding, "rounding").value_or(Rounding::nearest_even);
  made.precision = enumerator<Precision>(read.precision, RELAYOUT_PRECISION_APPROXIMATE + 1, "precision");
  made.flush_to_zero = read.flush_to_zero != 0;
  made.rtol = read.rtol;
  made.atol = read.atol;
  made.equal_nan = read.equal_nan != 0;
  return made;
}

PadSpec pad_spec(const relayout_pad_options* options) {
  const relayout_pad_options read = read_options(options, kPadDefaults);
  return {read.left, read.right,
          enumerator<PadMode>(read.mode, RELAYOUT_PAD_REFLECT_ZERO_EXTENDED + 1, "pad.mode"), read.value,
          read.extended != 0 ? PadPolicy::extended : PadPolicy::strict};
}

ColumnOrder column_order(std::int32_t channel_outer) {
  return channel_outer != 0 ? ColumnOrder::channel_outer : ColumnOrder::tap_outer;
}

std::vector<int> axes_of(const std::int32_t* axes, std::int32_t count) {
  if (count < 0) throw Error(ErrorCode::invalid_argument, "axis_count is negative");
  if (count > 0) check_given(axes, "axes");
  return std::vector<int>(axes, axes + count);
}

Window window_of(const relayout_window_options* options) {
  const relayout_window_options read = read_options(options, kWindowDefaults);
  return {read.taps, read.stride, read.dilation, read.groups, column_order(read.channel_outer)};
}

}  // namespace relayout::c

using namespace relayout;

extern "C" {

relayout_status relayout_copy_options_init(relayout_copy_options* options, uint64_t struct_size) {
  return c::set_defaults(options, struct_size, c::kCopyDefaults);
}

relayout_status relayout_elementwise_options_init(relayout_elementwise_options* options,
                                                  uint64_t struct_size) {
  return c::set_defaults(options, struct_size, c::kElementwiseDefaults);
}

relayout_status relayout_pad_options_init(relayout_pad_options* options, uint64_t struct_size) {
  return c::set_defaults(options, struct_size, c::kPadDefaults);
}

relayout_status relayout_window_options_init(relayout_window_options* options, uint64_t struct_size) {
  return c::set_defaults(options, struct_size, c::kWindowDefaults);
}

relayout_status relayout_sequence_options_init(relayout_sequence_options* options, uint64_t struct_size) {
  return c::set_defaults(options, struct_size, c::kSequenceDefaults);
}

}  // extern "C"
