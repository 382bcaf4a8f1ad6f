// What a user's own functor needs of the host, whose loops over it are compiled in the user's file: threads,
// and the processor's conversions of f16.
#include "host/cpu/convert.hpp"
#include "host/cpu/parallel.hpp"
#include "relayout/map/nest.hpp"

namespace relayout::detail {

void run_ranges(std::int64_t count, std::int64_t elements,
                void (*body)(const void* context, std::int64_t begin, std::int64_t end),
                const void* context) {
  native::parallel_ranges(count, elements, [=](std::int64_t begin, std::int64_t end) {
    if (begin < end) body(context, begin, end);
  });
}

void widen(const std::uint16_t* from, float* to, std::int64_t count) {
  native::convert_row(reinterpret_cast<const f16*>(from), to, count);
}
void narrow(const float* from, std::uint16_t* to, std::int64_t count) {
  native::convert_row(from, reinterpret_cast<f16*>(to), count);
}

}  // namespace relayout::detail
