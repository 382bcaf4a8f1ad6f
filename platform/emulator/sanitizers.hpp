// What the fiber runtime tells AddressSanitizer, ThreadSanitizer and valgrind. The sanitizers' entries are
// weak: present exactly when the program was linked with that sanitizer, however its flags were given. Only
// sources that are compiled without -fsanitize=thread may include this.
#pragma once

#include <cstddef>

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define VALGRIND_STACK_REGISTER(start, end) 0u
#define VALGRIND_STACK_DEREGISTER(id) static_cast<void>(id)
#endif

extern "C" {
__attribute__((weak)) void __sanitizer_start_switch_fiber(void** fake_stack, const void* bottom,
                                                          std::size_t size);
__attribute__((weak)) void __sanitizer_finish_switch_fiber(void* fake_stack, const void** old_bottom,
                                                           std::size_t* old_size);
__attribute__((weak)) void __asan_unpoison_memory_region(const volatile void* memory, std::size_t size);
__attribute__((weak)) void* __tsan_get_current_fiber();
__attribute__((weak)) void* __tsan_create_fiber(unsigned flags);
__attribute__((weak)) void __tsan_destroy_fiber(void* fiber);
__attribute__((weak)) void __tsan_switch_to_fiber(void* fiber, unsigned flags);
__attribute__((weak)) void __tsan_acquire(void* address);
__attribute__((weak)) void __tsan_release(void* address);
}

namespace relayout::emulator {

inline bool has_address_sanitizer() { return __asan_unpoison_memory_region != nullptr; }
inline bool has_thread_sanitizer() { return __tsan_create_fiber != nullptr; }

/// A happens-before edge of GPU threads: who acquires comes after all who released. Nothing without TSan.
class SyncPoint {
 public:
  void acquire() {
    if (has_thread_sanitizer()) __tsan_acquire(address_);
  }
  void release() {
    if (has_thread_sanitizer()) __tsan_release(address_);
  }

 private:
  // TSan knows sync objects by address, in units of 8 bytes.
  alignas(8) char address_[8] = {};
};

/// TSan's thread of a fiber, or nothing without TSan.
class TsanFiber {
 public:
  TsanFiber() = default;
  TsanFiber(const TsanFiber&) = delete;
  TsanFiber& operator=(const TsanFiber&) = delete;
  ~TsanFiber() { destroy(); }

  void create() {
    if (has_thread_sanitizer() && handle_ == nullptr) handle_ = __tsan_create_fiber(0), owned_ = true;
  }
  void destroy() {
    if (owned_) __tsan_destroy_fiber(handle_);
    handle_ = nullptr, owned_ = false;
  }
  void use_current() {
    if (has_thread_sanitizer()) handle_ = __tsan_get_current_fiber();
  }
  /// Without a happens-before edge: a switch of the emulator orders nothing on a GPU.
  void enter() {
    constexpr unsigned kNoSync = 1;
    if (has_thread_sanitizer()) __tsan_switch_to_fiber(handle_, kNoSync);
  }

 private:
  void* handle_ = nullptr;
  bool owned_ = false;
};

}  // namespace relayout::emulator
