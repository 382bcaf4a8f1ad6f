// A library with those functions of NCCL and RCCL that relayout opens, for ranks that are threads of one
// process with streams that finish each call. Messages are copied when their group ends.
#pragma once

extern "C" {
enum InMemoryWindows {
  in_memory_windows_work,
  in_memory_windows_none,  // the communicator supports none: it gives null
  in_memory_windows_fail,
  in_memory_windows_far  // no rank reaches another's
};
/// Ranks that can talk to each other, until their end.
void* in_memory_world(int ranks);
void in_memory_end(void* world);
/// The communicator of a rank, the world's: what relayout takes for an ncclComm_t. One that does not block
/// says that a call is in progress while it waits for other ranks, and goes on when it is asked for errors.
void* in_memory_communicator(void* world, int rank, int blocks);
/// What windows are from now on in the communicator's world, and how many were registered and not given back,
/// on all ranks together.
void in_memory_set_windows(void* communicator, InMemoryWindows windows);
int in_memory_open_windows(void* world);
/// The communicator's next group of messages is refused, and nothing else.
void in_memory_fail_once(void* communicator);
/// The rank is gone: whoever waits for it gets an error, and everyone's communicator knows.
void in_memory_leave(void* communicator);
}
