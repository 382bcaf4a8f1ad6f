#include "host/cpu/parallel.hpp"

#include <pthread.h>

#include <atomic>

namespace relayout::native {
namespace {

std::atomic<bool> forked{false};
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, [] { forked = true; });

}  // namespace

bool in_forked_child() noexcept { return forked.load(std::memory_order_relaxed); }

}  // namespace relayout::native
