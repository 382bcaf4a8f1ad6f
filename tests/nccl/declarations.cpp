// Compiled beside the header of NCCL or RCCL, where there is one: the functions that are called by pointers
// have the parameters that the header declares.
#include RELAYOUT_NCCL_HEADER

#if NCCL_VERSION_CODE >= 22902 && __has_include(<nccl_device/core.h>)
#include <nccl_device/core.h>
#define RELAYOUT_HAS_PEER_POINTERS
#endif

#include <type_traits>

#include "platform/communicator_functions.hpp"

namespace {

/// Whether a parameter of the one type can be passed as the other: enumerations are ints, handles pointers.
template <class Theirs, class Ours>
constexpr bool fits() {
  if (std::is_same_v<Theirs, Ours>) return true;
  if (std::is_enum_v<Theirs>) return std::is_same_v<Ours, int> && sizeof(Theirs) == sizeof(int);
  if constexpr (std::is_pointer_v<Theirs> && std::is_pointer_v<Ours>) {
    using Target = std::remove_pointer_t<Theirs>;
    if constexpr (std::is_enum_v<Target> || std::is_pointer_v<Target>)
      return fits<Target, std::remove_pointer_t<Ours>>();
    return std::is_class_v<Target> && std::is_same_v<Ours, void*>;
  }
  return false;
}

template <class R, class... P, class R2, class... P2>
constexpr bool matches(R (*)(P...), R2 (*relayout::CommunicatorFunctions::*)(P2...)) {
  if constexpr (sizeof...(P) != sizeof...(P2)) {
    return false;
  } else {
    return fits<R, R2>() && (fits<P, P2>() && ...);
  }
}

using Functions = relayout::CommunicatorFunctions;
static_assert(matches(&ncclGetErrorString, &Functions::error_text));
static_assert(matches(&ncclCommCount, &Functions::count));
static_assert(matches(&ncclCommUserRank, &Functions::user_rank));
static_assert(matches(&ncclCommGetAsyncError, &Functions::async_error));
static_assert(matches(&ncclGroupStart, &Functions::group_start));
static_assert(matches(&ncclGroupEnd, &Functions::group_end));
static_assert(matches(&ncclSend, &Functions::send));
static_assert(matches(&ncclRecv, &Functions::receive));
static_assert(matches(&ncclAllGather, &Functions::all_gather));
#if NCCL_VERSION_CODE >= 22700  // older ones have no windows
static_assert(matches(&ncclCommWindowRegister, &Functions::register_window));
static_assert(matches(&ncclCommWindowDeregister, &Functions::deregister_window));
#endif
#ifdef RELAYOUT_HAS_PEER_POINTERS
static_assert(matches(&ncclGetPeerDevicePointer, &Functions::peer_pointer));
#endif
static_assert(!matches(&ncclSend, &Functions::receive) && !matches(&ncclGroupEnd, &Functions::count));
static_assert(ncclSuccess == Functions::kSuccess && ncclUint8 == Functions::kUint8);
#if NCCL_VERSION_CODE >= 21400  // older ones have no communicators that do not block
static_assert(ncclInProgress == Functions::kInProgress);
#endif

}  // namespace
