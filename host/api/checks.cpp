#include "host/api/checks.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>

#include "host/plan/loop_nest.hpp"
#include "host/plan/sharing.hpp"
#include "platform/backend.hpp"
#include "relayout/error.hpp"

namespace relayout {

void fail(const std::string& operation, ErrorCode code, const std::string& what) {
  throw Error(code, operation + ": " + what);
}

void check_number_of_enumerator(const char* operation, const char* name, std::int64_t number,
                                std::int64_t last) {
  if (number >= 0 && number <= last) return;
  fail(operation, ErrorCode::invalid_argument,
       std::string(name) + " is the number " + std::to_string(number) +
           ", which no enumerator has; they are 0 to " + std::to_string(last));
}

void check_cast(const char* operation, DType in, DType out) {
  if (in == DType::b128 && out == DType::b128) {
    fail(operation, ErrorCode::dtype, "b128 elements are only copied and permuted");
  }
  if (in == out || (is_floating(in) && is_floating(out))) return;
  fail(operation, ErrorCode::dtype,
       std::string("no cast from ") + name_of(in) + " to " + name_of(out) +
           " on the way; it goes among f16, bf16, f32 and f64, so cast first");
}

void check_rank(const char* operation, const char* name, const TensorView& view, int rank) {
  if (view.rank() == rank) return;
  fail(operation, ErrorCode::rank,
       std::string(name) + " has " + std::to_string(view.rank()) + " axes, " + to_string(view.shape()) +
           ", and must have " + std::to_string(rank));
}

void check_shape(const char* operation, const TensorView& view, const Dims& wanted) {
  if (view.shape() == wanted) return;
  fail(operation, ErrorCode::shape,
       "the output has shape " + to_string(view.shape()) + " and the result has " + to_string(wanted));
}

namespace {

template <class T>
std::string shortest_of(T value) {
  char text[64];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

}  // namespace

std::string shortest(double value) { return shortest_of(value); }
std::string shortest(float value) { return shortest_of(value); }

bool have_same_places(const TensorView& a, const TensorView& b) {
  if (a.shape() != b.shape() || size_of(a.dtype()) != size_of(b.dtype())) return false;
  for (int axis = 0; axis < a.rank(); ++axis) {
    if (a.extent(axis) != 1 && a.stride(axis) != b.stride(axis)) return false;
  }
  return true;
}

std::int64_t used_stride(const TensorView& view, int axis) {
  return view.extent(axis) > 1 && view.elements() > 0 ? view.stride(axis) : 0;
}

namespace {

bool is_in_reach(const TensorView& view, const TensorView::ByteRange& range) {
  // Addresses have at most 57 bits.
  constexpr std::int64_t kMax = std::int64_t{1} << 57;
  return range.begin >= -kMax && range.end <= kMax && view.elements() <= kMax;
}

std::size_t alignment_of(const TensorView& view) { return std::min<std::size_t>(size_of(view.dtype()), 8); }

bool is_aligned(const TensorView& view, const void* data) {
  return view.elements() == 0 || reinterpret_cast<std::uintptr_t>(data) % alignment_of(view) == 0;
}

}  // namespace

void check_reach(const char* operation, const char* name, const TensorView& view) {
  if (is_in_reach(view, view.byte_range())) return;
  fail(operation, ErrorCode::invalid_shape,
       std::string(name) + " " + view.to_string() +
           " reaches over more bytes than any memory has, which is 2^57");
}

void check_address(const char* operation, const char* name, const TensorView& view) {
  check_reach(operation, name, view);
  if (is_aligned(view, view.data())) return;
  fail(operation, ErrorCode::invalid_argument,
       std::string(name) + " " + view.to_string() + " must begin on a multiple of " +
           std::to_string(alignment_of(view)) + " bytes");
}

void check_pointer(const char* operation, const char* name, const TensorView& view) {
  if (view.elements() > 0 && view.data() == nullptr) {
    fail(operation, ErrorCode::null_pointer,
         std::string(name) + " " + view.to_string() + " has a null pointer");
  }
  check_address(operation, name, view);
}

bool may_begin_at(const TensorView& view, const TensorView::ByteRange& range, const void* data) {
  return is_in_reach(view, range) && (view.elements() == 0 || data != nullptr) && is_aligned(view, data);
}

void check_distinct(const char* operation, const TensorView& out) {
  check_reach(operation, "the output", out);
  if (plan::may_self_overlap(out)) {
    fail(operation, ErrorCode::output_overlap,
         "two elements of the output " + out.to_string() + " may share an address");
  }
}

void check_disjoint(const char* operation, const TensorView& in, const TensorView& out) {
  const plan::Sharing sharing = plan::sharing_of(in, out);
  if (sharing == plan::Sharing::none) return;
  const std::string views = "the output " + out.to_string() + " and the input " + in.to_string();
  fail(operation, ErrorCode::partial_overlap,
       views +
           (sharing == plan::Sharing::some
                ? " share bytes"
                : " lie in overlapping ranges of memory, and whether their elements share bytes could not be "
                  "told in bounded time; use views of simpler strides, or a temporary"));
}

void check_output(const char* operation, const TensorView& out) {
  check_pointer(operation, "the output", out);
  check_distinct(operation, out);
}

void check_memory(const char* operation, const TensorView& in, const TensorView& out) {
  check_pointer(operation, "the input", in);
  check_output(operation, out);
  check_disjoint(operation, in, out);
}

void check_planned_memory(const char* operation, const TensorView& in, const TensorView& out) {
  check_address(operation, "the input", in);
  check_address(operation, "the output", out);
  check_distinct(operation, out);
  if (in.data() != nullptr && out.data() != nullptr) check_disjoint(operation, in, out);
}

bool same_device(const Device& a, const Device& b) noexcept {
  return &a.backend() == &b.backend() && a.kind() == b.kind() && a.index() == b.index() &&
         (a.kind() != DeviceKind::emulated || a.emulation().warp_size == b.emulation().warp_size);
}

LaunchContext context_of(const Stream& stream) { return {stream.device().index(), stream.native()}; }

const KernelTable& kernels_of(const Stream& stream) { return stream.device().backend().kernels(); }

}  // namespace relayout
