// Opens a library of the vendor's, and finds all functions in it: then a communicator that is null is the one
// thing that is wrong. Run as: nccl_library_test librccl.so.1
#include <cstdio>
#include <cstdlib>

#include <relayout/relayout.hpp>

int main(int, char** arguments) {
  setenv("RELAYOUT_NCCL_LIBRARY", arguments[1], 1);
  try {
    (void)relayout::Group::from_nccl(nullptr, relayout::Stream(relayout::Device::cpu()));
  } catch (const relayout::Error& error) {
    std::printf("%s\n", error.what());
    return error.code() == relayout::ErrorCode::null_pointer ? 0 : 1;
  }
  return 1;
}
