// RELAYOUT_HOST_DEVICE: before a function that host code and kernels of any vendor may call.
#pragma once

#if defined(__CUDACC__) || defined(__HIPCC__)
#define RELAYOUT_HOST_DEVICE __host__ __device__
#else
#define RELAYOUT_HOST_DEVICE
#endif
