// Memory with nothing before its first byte or nothing behind its last one: whoever reads or writes past that
// end is stopped by a signal. The address sanitizer sees both ends, also where an aligned word that holds a
// byte of the memory holds others as well.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <system_error>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace relayout::test {

enum class GuardedEnd { before_first, behind_last };

/// Zeros, for the host's memory only.
class GuardedMemory {
 public:
  GuardedMemory(std::size_t bytes, GuardedEnd end) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t pages = (bytes + page - 1) / page * page;
    mapped_ = pages + 2 * page;
    mapping_ = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping_ == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    unsigned char* first = static_cast<unsigned char*>(mapping_) + page;
    if (mprotect(first, pages, PROT_READ | PROT_WRITE) != 0) {
      munmap(mapping_, mapped_);
      throw std::system_error(errno, std::generic_category(), "mprotect");
    }
    data_ = end == GuardedEnd::before_first ? first : first + (pages - bytes);
#if defined(__SANITIZE_ADDRESS__)
    __asan_poison_memory_region(first, pages);
    __asan_unpoison_memory_region(data_, bytes);
#endif
  }
  ~GuardedMemory() {
#if defined(__SANITIZE_ADDRESS__)
    __asan_unpoison_memory_region(mapping_, mapped_);
#endif
    munmap(mapping_, mapped_);
  }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  unsigned char* data() const { return data_; }

 private:
  std::size_t mapped_ = 0;
  void* mapping_ = nullptr;
  unsigned char* data_ = nullptr;
};

}  // namespace relayout::test
