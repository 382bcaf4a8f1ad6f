#include "context.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "relayout/error.hpp"

namespace relayout::emulator {
namespace {

// Sanitizers make frames larger and print their reports on the stack that runs.
std::size_t stack_bytes() { return (has_address_sanitizer() || has_thread_sanitizer() ? 256 : 64) * 1024; }

}  // namespace

Stack::Stack(int index) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  mapped_ = stack_bytes() + page;
  mapping_ =
      mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping_ == MAP_FAILED)
    throw Error(ErrorCode::out_of_memory, "the emulator cannot map the stack of fiber " +
                                              std::to_string(index) +
                                              "; run it with fewer workers (EmulationOptions::workers)");
  if (mprotect(mapping_, page, PROT_NONE) != 0) {
    munmap(mapping_, mapped_);
    throw Error(ErrorCode::out_of_memory, "the emulator cannot protect the stack of fiber " +
                                              std::to_string(index) +
                                              "; run it with fewer workers (EmulationOptions::workers)");
  }
  char* const begin = static_cast<char*>(mapping_);
  bottom_ = begin + page;
  // 192 and 4096 share the factor 64: 64 stacks in turn begin in 64 different cache sets.
  top_ = begin + mapped_ - (index * 192) % 4096;
  valgrind_id_ = VALGRIND_STACK_REGISTER(bottom_, top_);
}

Stack::~Stack() {
  VALGRIND_STACK_DEREGISTER(valgrind_id_);
  if (has_address_sanitizer()) __asan_unpoison_memory_region(mapping_, mapped_);
  munmap(mapping_, mapped_);
}

void Context::begin(const Stack& stack, Entry entry) {
  // A dropped fiber leaves its frames' red zones behind.
  if (has_address_sanitizer()) __asan_unpoison_memory_region(stack.bottom(), stack.size());
  suspended_ = boost::context::detail::make_fcontext(stack.top(), stack.size(), entry);
  bottom_ = stack.bottom();
  size_ = stack.size();
  fake_stack_ = nullptr;
}

void Context::switch_to(Context& next) {
  if (has_address_sanitizer()) __sanitizer_start_switch_fiber(&fake_stack_, next.bottom_, next.size_);
  next.tsan.enter();
  arrived(boost::context::detail::jump_fcontext(next.suspended_, this));
}

void Context::arrived(boost::context::detail::transfer_t transfer) {
  Context& previous = *static_cast<Context*>(transfer.data);
  previous.suspended_ = transfer.fctx;
  if (has_address_sanitizer())
    __sanitizer_finish_switch_fiber(fake_stack_, &previous.bottom_, &previous.size_);
}

}  // namespace relayout::emulator
