// OpenBLAS has no GEMM from 16-bit operands to fp32 sums on every processor: blocks of both operands are
// widened to fp32, which is exact, and multiplied into a block of sums. The three blocks take 8 MiB whatever
// the problem, and none of their extents comes near the library's 32-bit sizes.
#include "host/cpu/conv/openblas_gemm.hpp"

#if defined(RELAYOUT_HAVE_OPENBLAS)
#include <cblas.h>
#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <tuple>
#include <vector>

#include "core/bytes.hpp"
#include "host/cpu/convert.hpp"
#include "host/cpu/native_table.hpp"
#include "host/cpu/parallel.hpp"
#endif

namespace relayout::native {

#if defined(RELAYOUT_HAVE_OPENBLAS)
namespace {

constexpr std::int64_t kRows = 512, kColumns = 1024, kDepth = 1024;

/// OpenBLAS maps a buffer for each thread that works at the same time, 128 MiB in many builds, and keeps it.
/// Where it gets none it tries for ever, or ends the program. So the addresses are asked for before it is.
constexpr std::size_t kBufferBytes = std::size_t{256} << 20;

/// OpenBLAS ends its threads before a fork() and when the program exits, also those that a call in another
/// thread waits for: it would wait for ever. So both wait for the calls, and behind exit() there are none.
class LibraryCall {
 public:
  LibraryCall() {
    const std::lock_guard<std::mutex> turn(turn_);
    granted_ = registered_ && !ended_;
    if (!granted_) return;
    calls_.lock_shared();
    inside_ = true;
  }
  ~LibraryCall() {
    if (!granted_) return;
    inside_ = false;
    calls_.unlock_shared();
  }
  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;
  bool granted() const { return granted_; }

 private:
  // A child never calls the library, and leaves the locks as they are.
  static void wait_for_calls() {
    if (in_forked_child()) return;
    turn_.lock();  // no call begins from now on, so that the last one ends
    calls_.lock();
  }
  static void let_calls() {
    if (in_forked_child()) return;
    calls_.unlock();
    turn_.unlock();
  }
  static void end_calls() {
    if (in_forked_child() || inside_) return;  // inside_: it is the library that exits
    {
      const std::lock_guard<std::mutex> turn(turn_);
      ended_ = true;
    }
    calls_.lock();
    calls_.unlock();
  }

  // When the program starts: OpenBLAS has registered its own handlers by then, and is called after these. A
  // first call would come too late for this, as the program may be exiting already.
  static const bool registered_;
  static std::mutex turn_;
  static std::shared_mutex calls_;
  static bool ended_;
  static thread_local bool inside_;
  bool granted_;
};
const bool LibraryCall::registered_ =
    pthread_atfork(wait_for_calls, let_calls, nullptr) == 0 && std::atexit(end_calls) == 0;
std::mutex LibraryCall::turn_;
std::shared_mutex LibraryCall::calls_;
bool LibraryCall::ended_ = false;
thread_local bool LibraryCall::inside_ = false;

/// The block `sums` [rows, columns] becomes beta times itself and a [rows, depth] * bt [columns, depth]^T.
/// False, and nothing done, where the library cannot be called any more.
bool multiply_block(int rows, int columns, int depth, const float* a, const float* bt, float beta,
                    float* sums) {
  const LibraryCall call;
  if (!call.granted()) return false;
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, columns, depth, 1.0f, a, depth, bt, depth, beta,
              sums, columns);
  return true;
}

bool can_map(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory != MAP_FAILED && munmap(memory, bytes) == 0;
}

/// A product that all threads of OpenBLAS take part in, so that each of them has its buffer. False as
/// multiply_block().
bool warm_up() {
  constexpr int kSide = 512, kShort = 64;
  const std::vector<float> factor(std::size_t{kSide} * kShort);
  std::vector<float> product(std::size_t{kSide} * kSide);
  return multiply_block(kSide, kSide, kShort, factor.data(), factor.data(), 0.0f, product.data());
}

/// A caller's turn in the library. Not every one is granted.
class LibraryTurn {
 public:
  LibraryTurn() : granted_(ask()) {}
  ~LibraryTurn() { --callers_; }
  LibraryTurn(const LibraryTurn&) = delete;
  LibraryTurn& operator=(const LibraryTurn&) = delete;
  bool granted() const { return granted_; }

 private:
  /// One caller more. Whether OpenBLAS has buffers for all of them at once, or gets them.
  static bool ask() {
    const int callers = ++callers_;
    try {
      return is_granted(callers);
    } catch (...) {
      --callers_;
      throw;
    }
  }
  static bool is_granted(int callers) {
    if (callers <= buffered_.load(std::memory_order_acquire)) return true;
    const std::lock_guard<std::mutex> lock(mutex_);
    const int has = buffered_.load(std::memory_order_relaxed);
    if (callers <= has) return true;
    const int wanted = callers - has + (has == 0 ? openblas_get_num_threads() : 0);
    if (!can_map(static_cast<std::size_t>(wanted) * kBufferBytes)) return false;
    if (has == 0 && !warm_up()) return false;
    buffered_.store(callers, std::memory_order_release);
    return true;
  }

  static std::atomic<int> callers_, buffered_;
  static std::mutex mutex_;
  const bool granted_;
};
std::atomic<int> LibraryTurn::callers_{0}, LibraryTurn::buffered_{0};
std::mutex LibraryTurn::mutex_;

/// Rows of `depth` elements, `pitch` apart, become rows of depth floats side by side.
template <class T>
void widen(const T* in, std::int64_t pitch, std::int64_t rows, std::int64_t depth, std::vector<float>& out) {
  out.resize(static_cast<std::size_t>(rows * depth));
  for (std::int64_t row = 0; row < rows; ++row) convert_row(in + row * pitch, &out[row * depth], depth);
}

/// False where the library could not be called to the end; y is then to be made anew.
template <class T>
bool multiply(const LaunchContext& context, const GemmParams& params) {
  std::vector<float> a, bt, sums;
  // Which block `bt` holds: it is often the same for all rows. The pointer alone is not enough, since
  // groups may overlap.
  std::tuple<const T*, std::int64_t, std::int64_t> held{nullptr, 0, 0};
  const auto block = [&](std::int64_t group, std::int64_t row, std::int64_t column) {
    const std::int64_t rows = std::min(kRows, params.m - row),
                       columns = std::min(kColumns, params.n - column);
    const T* const a_block = static_cast<const T*>(params.a) + group * params.a_group + row * params.lda;
    const T* const bt_block = static_cast<const T*>(params.bt) + group * params.b_group + column * params.ldb;
    sums.resize(static_cast<std::size_t>(rows * columns));
    for (std::int64_t k = 0; k < params.k; k += kDepth) {
      const std::int64_t depth = std::min(kDepth, params.k - k);
      widen(a_block + k, params.lda, rows, depth, a);
      const std::tuple<const T*, std::int64_t, std::int64_t> wanted{bt_block, column, k};
      if (held != wanted) widen(bt_block + k, params.ldb, columns, depth, bt);
      held = wanted;
      const auto size = [](std::int64_t extent) { return static_cast<int>(extent); };
      if (!multiply_block(size(rows), size(columns), size(depth), a.data(), bt.data(), k == 0 ? 0.0f : 1.0f,
                          sums.data()))
        return false;
    }
    GemmParams store = params;
    store.workspace = sums.data();
    store.groups = 1;
    store.m = rows;
    store.n = columns;
    if (params.bias != nullptr) store.bias = params.bias + group * params.bias_group + column;
    const std::int64_t offset = group * params.y_group + row * params.ldc + column;
    store.y = static_cast<char*>(params.y) + offset * bytes_of(params.out_type);
    gemm_epilogue(context, store);
    return true;
  };
  for (std::int64_t group = 0; group < params.groups; ++group)
    for (std::int64_t column = 0; column < params.n; column += kColumns)
      for (std::int64_t row = 0; row < params.m; row += kRows)
        if (!block(group, row, column)) return false;
  return true;
}

}  // namespace

const char* library_name() noexcept { return "OpenBLAS"; }

bool library_gemm(const LaunchContext& context, const GemmParams& params) {
  if (in_forked_child()) return false;  // it may have the locks of threads that are not there
  const LibraryTurn turn;
  if (!turn.granted()) return false;
  return params.in_type == DType::f16 ? multiply<f16>(context, params) : multiply<bf16>(context, params);
}

#else

const char* library_name() noexcept { return nullptr; }

bool library_gemm(const LaunchContext&, const GemmParams&) { return false; }

#endif

}  // namespace relayout::native
