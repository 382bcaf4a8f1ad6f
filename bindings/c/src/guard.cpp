#include "bindings/c/src/guard.hpp"

#include <new>

#include "relayout/device.hpp"

namespace relayout::c {
namespace {

/// Codes that are newer than RELAYOUT_INTERNAL stand behind it.
constexpr relayout_status status_of(ErrorCode code) {
  return static_cast<relayout_status>(code) + (code > ErrorCode::vendor ? 2 : 1);
}
constexpr ErrorCode code_of(relayout_status status) {
  return static_cast<ErrorCode>(status - (status > RELAYOUT_INTERNAL ? 2 : 1));
}

static_assert(status_of(ErrorCode::invalid_argument) == RELAYOUT_INVALID_ARGUMENT);
static_assert(status_of(ErrorCode::rank) == RELAYOUT_RANK);
static_assert(status_of(ErrorCode::null_pointer) == RELAYOUT_NULL_POINTER);
static_assert(status_of(ErrorCode::vendor) == RELAYOUT_VENDOR && RELAYOUT_INTERNAL == RELAYOUT_VENDOR + 1);
static_assert(status_of(ErrorCode::timeout) == RELAYOUT_TIMEOUT);

std::string& last_sentence() {
  thread_local std::string sentence;
  return sentence;
}

/// A sentence that needs no memory beyond the string's own: for when there is none.
relayout_status keep(relayout_status status, const char* sentence) noexcept {
  try {
    last_sentence() = sentence;
  } catch (...) {
    last_sentence().clear();
  }
  return status;
}

}  // namespace

relayout_status keep_error() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return keep(status_of(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return keep(RELAYOUT_OUT_OF_MEMORY, "no host memory");
  } catch (const std::exception& error) {
    return keep(RELAYOUT_INTERNAL, error.what());
  } catch (...) {
    return keep(RELAYOUT_INTERNAL, "a fault in relayout without a description");
  }
}

void check_given(const void* pointer, const char* name) {
  if (pointer == nullptr) throw Error(ErrorCode::null_pointer, std::string(name) + " is a null pointer");
}

}  // namespace relayout::c

using namespace relayout;

extern "C" {

int32_t relayout_abi_version(void) { return RELAYOUT_ABI_VERSION; }

const char* relayout_version(void) { return RELAYOUT_VERSION; }

const char* relayout_built_with(void) {
  static const std::string names = [] {
    std::string text;
    for (const std::string& name : Device::built_with()) text += (text.empty() ? "" : ",") + name;
    return text;
  }();
  return names.c_str();
}

const char* relayout_last_error(void) { return c::last_sentence().c_str(); }

const char* relayout_status_name(relayout_status status) {
  if (status == RELAYOUT_OK) return "ok";
  if (status == RELAYOUT_INTERNAL) return "internal";
  if (status < RELAYOUT_OK || status > RELAYOUT_TIMEOUT) return "unknown";
  return name_of(c::code_of(status));
}

}  // extern "C"
