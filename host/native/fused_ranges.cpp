// The threads under a functor of the user's own, whose loops are compiled in the user's file.
#include "host/native/parallel.hpp"
#include "relayout/fused/nest.hpp"

namespace relayout::detail {

void run_ranges(std::int64_t count, std::int64_t elements,
                void (*body)(const void* context, std::int64_t begin, std::int64_t end),
                const void* context) {
  native::parallel_ranges(count, elements, [=](std::int64_t begin, std::int64_t end) {
    if (begin < end) body(context, begin, end);
  });
}

}  // namespace relayout::detail
