// How the comparison writes numbers, in the table and on the page alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace relayout::bench {

/// The number with this many digits after the point.
std::string fixed(double value, int digits);
/// "-" where there is no value.
std::string fixed(const std::optional<double>& value, int digits);

inline std::string megabytes(std::int64_t bytes) { return fixed(static_cast<double>(bytes) * 1e-6, 2); }
inline std::string microseconds(double seconds) { return fixed(seconds * 1e6, 2); }
inline std::string gigabytes_per_second(double rate) { return fixed(rate * 1e-9, 1); }

}  // namespace relayout::bench
