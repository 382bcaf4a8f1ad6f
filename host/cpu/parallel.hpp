// Threads for the native kernels: OpenMP where the compiler has it, one thread otherwise.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace relayout::native {

/// With fewer elements than this, starting threads costs more than it gains.
constexpr std::int64_t kSerialElements = 65536;

/// Whether fork() made this process after the library was loaded. Its parent may have started OpenMP's
/// threads, here or elsewhere; they do not exist in the child, where a team would wait for them for ever. So
/// a child works on one thread.
bool in_forked_child() noexcept;

/// How many threads share `count` ranges, which are `elements` of work together.
inline std::int64_t threads_for(std::int64_t count, std::int64_t elements) {
#if defined(_OPENMP)
  if (elements >= kSerialElements && !in_forked_child())
    return std::min<std::int64_t>(omp_get_max_threads(), count);
#endif
  static_cast<void>(count);
  static_cast<void>(elements);
  return 1;
}

/// Calls body(part, begin, end) with contiguous ranges that cover [0, count), one per thread; `elements` is
/// the work in all of them together. The parts are numbered from 0 to less than threads_for(). Throws what
/// one of the parts has thrown, after all have ended.
template <class Body>
void parallel_parts(std::int64_t count, std::int64_t elements, const Body& body) {
#if defined(_OPENMP)
  const std::int64_t threads = threads_for(count, elements);
  if (threads > 1) {
    // No exception may leave a thread of OpenMP.
    std::exception_ptr failure;
    std::atomic<bool> has_failed{false}, is_kept{false};
#pragma omp parallel num_threads(static_cast <int>(threads))
    {
      const std::int64_t parts = omp_get_num_threads();
      const std::int64_t part = omp_get_thread_num();
      const std::int64_t share = count / parts, rest = count % parts;
      const std::int64_t begin = part * share + std::min(part, rest);
      try {
        body(part, begin, begin + share + (part < rest ? 1 : 0));
      } catch (...) {
        if (!has_failed.exchange(true)) {
          failure = std::current_exception();
          is_kept = true;
        }
      }
    }
    if (is_kept) std::rethrow_exception(failure);
    return;
  }
#endif
  static_cast<void>(elements);
  if (count > 0) body(std::int64_t{0}, std::int64_t{0}, count);
}

/// The same for a body(begin, end) that need not know its part.
template <class Body>
void parallel_ranges(std::int64_t count, std::int64_t elements, const Body& body) {
  parallel_parts(count, elements,
                 [&](std::int64_t, std::int64_t begin, std::int64_t end) { body(begin, end); });
}

}  // namespace relayout::native
