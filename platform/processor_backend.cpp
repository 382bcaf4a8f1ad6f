#include "platform/processor_backend.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <new>
#include <string>
#include <thread>

#include "platform/unnamed_memory.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

using Clock = std::chrono::steady_clock;
struct StampedEvent {
  bool recorded = false;
  Clock::time_point time;
};
StampedEvent& event_of(void* event) { return *static_cast<StampedEvent*>(event); }

// A whole cache line, and the widest vector register.
constexpr std::align_val_t kAlignment{64};

std::size_t physical_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) : 0;
}

/// A transposition touches a page for every few lines: with the usual 4 KiB a large tensor has more of them
/// than the processor keeps addresses of.
void use_large_pages(void* memory, std::size_t bytes) {
#if defined(MADV_HUGEPAGE)
  constexpr std::size_t kLarge = std::size_t{2} << 20;
  const std::size_t before = (kLarge - reinterpret_cast<std::uintptr_t>(memory) % kLarge) % kLarge;
  if (bytes < before + kLarge) return;
  // A hint: what it returns changes nothing.
  madvise(static_cast<char*>(memory) + before, (bytes - before) / kLarge * kLarge, MADV_HUGEPAGE);
#else
  static_cast<void>(memory), static_cast<void>(bytes);
#endif
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "this machine's processor";
}

}  // namespace

DeviceProperties ProcessorBackend::properties(int) {
  DeviceProperties properties;
  properties.name = processor_name();
#if defined(__x86_64__)
  properties.architecture = "x86_64";
#elif defined(__aarch64__)
  properties.architecture = "aarch64";
#else
  properties.architecture = "host";
#endif
  properties.multiprocessors = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
#if defined(_SC_LEVEL2_CACHE_SIZE)
  properties.l2_bytes = static_cast<std::size_t>(std::max(0L, sysconf(_SC_LEVEL2_CACHE_SIZE)));
#endif
  properties.memory_bytes = physical_memory();
  return properties;
}

void* ProcessorBackend::allocate(int, std::size_t bytes) {
  // Beyond the machine's memory the kernel would grant the addresses and end the program at their first use.
  const std::size_t limit = physical_memory();
  void* const memory = limit > 0 && bytes > limit ? nullptr : ::operator new(bytes, kAlignment, std::nothrow);
  if (memory == nullptr)
    throw Error(ErrorCode::out_of_memory, "no host memory of " + std::to_string(bytes) +
                                              " bytes: this machine has " + std::to_string(limit));
  use_large_pages(memory, bytes);
  return memory;
}

void ProcessorBackend::deallocate(int, void* memory) noexcept { ::operator delete(memory, kAlignment); }

namespace {

/// Threads of one process need no name but the address.
struct OwnMemory {
  pid_t process;
  const void* memory;
};
static_assert(sizeof(OwnMemory) <= sizeof(SharedMemoryName::allocation));

}  // namespace

bool ProcessorBackend::share_memory(int, const void* memory, SharedMemoryName& name) {
  if (UnnamedMemory::around(memory).bytes > 0) return false;
  const OwnMemory own{getpid(), memory};
  std::memcpy(name.allocation, &own, sizeof own);
  return true;
}

void* ProcessorBackend::map_shared_memory(int, const SharedMemoryName& name) {
  OwnMemory own{};
  std::memcpy(&own, name.allocation, sizeof own);
  if (own.process != getpid())
    throw Error(ErrorCode::unsupported, "processors do not map memory of other processes");
  return const_cast<void*>(own.memory);  // NOLINT: it was the other's to write
}

Allocation ProcessorBackend::allocation_for_window(int, const void* memory) {
  return UnnamedMemory::around(memory);
}

void* ProcessorBackend::create_stream(const Device& device) {
  return new ProcessorStream{device.emulation()};
}

void ProcessorBackend::destroy_stream(int, void* stream) noexcept {
  delete static_cast<ProcessorStream*>(stream);
}

void ProcessorBackend::copy(const LaunchContext&, void* destination, const void* source, std::size_t bytes) {
  std::memmove(destination, source, bytes);
}

void ProcessorBackend::copy_rows(const LaunchContext&, void* destination, std::size_t destination_pitch,
                                 const void* source, std::size_t source_pitch, std::size_t width,
                                 std::size_t rows) {
  for (std::size_t row = 0; row < rows; ++row) {
    std::memmove(static_cast<char*>(destination) + row * destination_pitch,
                 static_cast<const char*>(source) + row * source_pitch, width);
  }
}

void ProcessorBackend::fill(const LaunchContext&, void* destination, unsigned char value, std::size_t bytes) {
  std::memset(destination, value, bytes);
}

void* ProcessorBackend::create_event(int, bool) { return new StampedEvent; }

void ProcessorBackend::destroy_event(int, void* event) noexcept { delete static_cast<StampedEvent*>(event); }

void ProcessorBackend::record_event(const LaunchContext&, void* event) {
  event_of(event) = {true, Clock::now()};
}

float ProcessorBackend::milliseconds(int, void* start, void* stop) {
  if (!event_of(start).recorded || !event_of(stop).recorded)
    throw Error(ErrorCode::invalid_argument, "milliseconds between events: one of them was never recorded");
  return std::chrono::duration<float, std::milli>(event_of(stop).time - event_of(start).time).count();
}

}  // namespace relayout
