// The functions of NCCL and RCCL that are looked for when the program runs, as nccl.h and rccl.h declare
// them, which both keep stable: tests/nccl/declarations.cpp compares. Enumerations are ints here, handles
// pointers.
#pragma once

#include <cstddef>

namespace relayout {

struct CommunicatorFunctions {
  static constexpr int kSuccess = 0, kInProgress = 7;  // of ncclResult_t
  static constexpr int kUint8 = 1;                     // of ncclDataType_t
  using Communicator = void*;
  using Stream = void*;
  using Window = void*;

  const char* (*error_text)(int) = nullptr;
  int (*count)(Communicator, int*) = nullptr;
  int (*user_rank)(Communicator, int*) = nullptr;
  int (*async_error)(Communicator, int*) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*send)(const void*, std::size_t, int, int, Communicator, Stream) = nullptr;
  int (*receive)(void*, std::size_t, int, int, Communicator, Stream) = nullptr;
  int (*all_gather)(const void*, void*, std::size_t, int, Communicator, Stream) = nullptr;

  // NCCL has these from version 2.29 on. They are null where the library has not all of them.
  int (*register_window)(Communicator, void*, std::size_t, Window*, int) = nullptr;
  int (*deregister_window)(Communicator, Window) = nullptr;
  int (*peer_pointer)(Window, std::size_t, int, void**) = nullptr;
};

}  // namespace relayout
