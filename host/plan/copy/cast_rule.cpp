#include "host/plan/copy/cast_rule.hpp"

#include "core/convert_bits.hpp"

namespace relayout {
namespace {

bool has_fractions(DType type) { return is_floating(type) || is_restricted(type); }

}  // namespace

bool rounds(DType in, DType out) { return out != DType::bool_ && (has_fractions(in) || has_fractions(out)); }

bool keeps_bits(DType in, DType out, const CastOptions& options) {
  return in == out || (is_integral(in) && is_integral(out) && size_of(in) == size_of(out) &&
                       options.integer_overflow == IntegerOverflow::wrap);
}

bool needs_generic_cast(DType in, DType out, const CastOptions& options) {
  if (keeps_bits(in, out, options)) return false;
  return !is_floating(in) || !is_floating(out) ||
         options.rounding.value_or(Rounding::nearest_even) != Rounding::nearest_even;
}

std::optional<Rounding> rounding_of(DType in, DType out, const CastOptions& options) {
  if (in == out || !rounds(in, out)) return std::nullopt;
  return options.rounding.value_or(is_integral(out) ? Rounding::toward_zero : Rounding::nearest_even);
}

ElementCast element_cast(DType in, DType out, const CastOptions& options) {
  const Rounding rounding = rounding_of(in, out, options).value_or(Rounding::nearest_even);
  const bool saturate =
      is_fp8(out) ? options.saturate_fp8 : options.integer_overflow == IntegerOverflow::saturate;
  return element_cast(read_format(in), number_format(out), rounding, saturate);
}

std::uint64_t converted_bits(DType in, DType out, const CastOptions& options, std::uint64_t bits) {
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - 8 * size_of(out));
  return convert_bits<std::uint64_t>(element_cast(in, out, options), bits) & mask;
}

}  // namespace relayout
