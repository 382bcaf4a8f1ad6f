// RELAYOUT_API: before what the shared libraries (BUILD_SHARED_LIBS) export, which is what these headers
// declare and define elsewhere. All else is hidden in them.
#pragma once

#if defined(RELAYOUT_SHARED)
#define RELAYOUT_API __attribute__((visibility("default")))
#else
#define RELAYOUT_API
#endif
