# How relayout's targets are made: one library per back end, one set of options for all of them.

find_package(Threads REQUIRED)
if(NOT RELAYOUT_SANITIZE STREQUAL "thread")  # GCC's OpenMP runtime is unknown to ThreadSanitizer: false alarms
  find_package(OpenMP COMPONENTS CXX)
endif()

# Where the user, or the project that relayout is a part of, names no architectures. That project's cache stays as it is.
macro(relayout_default_architectures language list)
  if(NOT CMAKE_${language}_ARCHITECTURES)
    if(PROJECT_IS_TOP_LEVEL)
      set(CMAKE_${language}_ARCHITECTURES "${list}" CACHE STRING "${language} architectures (default ${list})" FORCE)
    else()
      set(CMAKE_${language}_ARCHITECTURES "${list}")
    endif()
  endif()
endmacro()

# Native code is always built; the others have the kernels, each compiled in a language of its own.
set(RELAYOUT_BACKENDS cpu)
set(relayout_language_emulator CXX)
set(relayout_folders_emulator platform/emulator)
set(relayout_language_cuda CUDA)
set(relayout_folders_cuda platform/nvidia platform/gpu)
set(relayout_language_hip HIP)
set(relayout_folders_hip platform/amd platform/gpu)
if(RELAYOUT_EMULATOR)
  list(APPEND RELAYOUT_BACKENDS emulator)
endif()
if(RELAYOUT_CUDA)
  list(APPEND RELAYOUT_BACKENDS cuda)
  relayout_default_architectures(CUDA "80;90")
  enable_language(CUDA)
endif()
if(RELAYOUT_HIP)
  list(APPEND RELAYOUT_BACKENDS hip)
  relayout_default_architectures(HIP "gfx90a;gfx942;gfx1100")
  enable_language(HIP)
  # CMake writes a pragma of clang into the headers of all languages, which GCC warns about.
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()

set(RELAYOUT_KERNEL_BACKENDS ${RELAYOUT_BACKENDS})
list(REMOVE_ITEM RELAYOUT_KERNEL_BACKENDS cpu)

# Warnings and the include folders of code inside the project.
add_library(relayout_internal INTERFACE)
target_include_directories(relayout_internal INTERFACE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/host/include")
target_compile_options(relayout_internal INTERFACE
  $<$<COMPILE_LANGUAGE:CXX,HIP>:-Wall;-Wextra;-Wpedantic>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>)
if(RELAYOUT_WARNINGS_AS_ERRORS)
  target_compile_options(relayout_internal INTERFACE
    $<$<COMPILE_LANGUAGE:CXX,HIP>:-Werror>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Werror;-Werror=all-warnings>)
endif()
if(BUILD_SHARED_LIBS)
  target_compile_definitions(relayout_internal INTERFACE RELAYOUT_SHARED)
endif()
# What code is compiled with that the sanitizers watch; all programs are linked for them.
add_library(relayout_watched INTERFACE)
if(RELAYOUT_SANITIZE)
  target_compile_options(relayout_watched INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${RELAYOUT_SANITIZE};-fno-omit-frame-pointer;-fno-sanitize-recover=all;-g1>)
  target_link_options(relayout_internal INTERFACE -fsanitize=${RELAYOUT_SANITIZE})
  # A program that may lie anywhere has 50 MB of relocations, which the linker writes and each start of a test carries out.
  target_link_options(relayout_internal INTERFACE $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
  # A test of 125 MB takes lld half of the time that it takes the usual linker, and there are 60.
  find_program(RELAYOUT_LLD ld.lld)
  mark_as_advanced(RELAYOUT_LLD)
  if(RELAYOUT_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_link_options(relayout_internal INTERFACE -fuse-ld=lld)
  endif()
endif()

# relayout_target_options(TARGET [UNWATCHED]): options of every library, test and example: IEEE arithmetic as written, no
# contraction across operations. UNWATCHED: the sanitizers watch the library, but not the target's own code. A program has
# the library before that code, since both may have the same functions, and linkers take the first.
function(relayout_target_options target)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:relayout_internal>)
  get_target_property(type ${target} TYPE)
  if(NOT UNWATCHED IN_LIST ARGN)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:relayout_watched>)
  elseif(type STREQUAL EXECUTABLE)
    foreach(backend IN LISTS RELAYOUT_BACKENDS)
      target_link_options(${target} PRIVATE
        "LINKER:--whole-archive,$<TARGET_FILE:relayout_${backend}>,--no-whole-archive")
    endforeach()
  endif()
  target_compile_features(${target} PUBLIC cxx_std_17)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON POSITION_INDEPENDENT_CODE ON CUDA_STANDARD 17 HIP_STANDARD 17)
  if(type STREQUAL SHARED_LIBRARY)
    set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION}
      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
    if(NOT RELAYOUT_SANITIZE)
      target_link_options(${target} PRIVATE LINKER:-z,defs)  # what it needs and lacks shows here, not in a user's program
    endif()
  endif()
  if(NOT PROJECT_IS_TOP_LEVEL)
    set_target_properties(${target} PROPERTIES SYSTEM ON)
  endif()
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX,HIP>:-ffp-contract=off>
    $<$<COMPILE_LANGUAGE:CUDA>:--fmad=false;--expt-relaxed-constexpr>)
endfunction()

# The headers of a back end's platform, which device code and the back end itself include by their names alone.
function(relayout_include_platform target backend)
  target_compile_definitions(${target} PRIVATE RELAYOUT_BACKEND=${backend})
  list(TRANSFORM relayout_folders_${backend} PREPEND "${PROJECT_SOURCE_DIR}/" OUTPUT_VARIABLE folders)
  target_include_directories(${target} PRIVATE ${folders})
endfunction()

# relayout_keep_backend(BACKEND): linkers leave out libraries that no program refers to, and platform/registry.cpp refers to
# back ends weakly.
function(relayout_keep_backend backend)
  if(BUILD_SHARED_LIBS)
    target_link_options(relayout_${backend} INTERFACE
      "LINKER:--push-state,--no-as-needed,$<TARGET_FILE:relayout::${backend}>,--pop-state")
  else()
    target_link_options(relayout_${backend} INTERFACE "LINKER:-u,relayout_backend_${backend}")
  endif()
endfunction()

# relayout_add_gpu_backend(BACKEND SOURCE...): the library of one vendor's back end: platform/gpu, compiled over the
# vendor's names for the runtime calls. kernels/ joins it (relayout_add_kernels).
function(relayout_add_gpu_backend backend)
  set(gpu "${PROJECT_SOURCE_DIR}/platform/gpu")
  add_library(relayout_${backend} "${gpu}/backend.cpp" "${gpu}/blas.cpp" ${ARGN})
  add_library(relayout::${backend} ALIAS relayout_${backend})
  relayout_target_options(relayout_${backend})
  relayout_include_platform(relayout_${backend} ${backend})
  set(architectures ${CMAKE_${relayout_language_${backend}}_ARCHITECTURES})
  if(backend STREQUAL cuda)
    list(TRANSFORM architectures PREPEND sm_)
  endif()
  list(JOIN architectures " " architectures)
  target_compile_definitions(relayout_${backend} PRIVATE RELAYOUT_BACKEND_FUNCTION=relayout_backend_${backend}
    "RELAYOUT_ARCHITECTURES=\"${architectures}\"" $<$<BOOL:${RELAYOUT_OPEN_BLAS}>:RELAYOUT_OPEN_BLAS>)
  if(RELAYOUT_OPEN_BLAS)
    target_link_libraries(relayout_${backend} PRIVATE ${CMAKE_DL_LIBS})
  endif()
  target_link_libraries(relayout_${backend} PUBLIC relayout_cpu)
  relayout_keep_backend(${backend})
endfunction()

# Code that is neither timed nor runs long: optimised little, which halves the time it takes to compile.
function(relayout_optimise_little target)
  target_compile_options(${target} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<CONFIG:Debug>>>:-O1>)
endfunction()

# relayout_add_device_sources(TARGET BACKEND SOURCE...): device code, compiled once per back end in that back end's
# language and namespace. Source properties belong to a directory, so each source is compiled from a folder of the
# back end's own (see relayout_add_kernels) or through a target whose folder has one back end only.
function(relayout_add_device_sources target backend)
  foreach(source IN LISTS ARGN)
    set_source_files_properties("${source}" PROPERTIES LANGUAGE ${relayout_language_${backend}})
  endforeach()
  target_sources(${target} PRIVATE ${ARGN})
  if(backend STREQUAL emulator)
    # GCC knows no #pragma unroll. The fibers' switches and the oracles take most of the time of a test on an emulated
    # device: optimised kernels hardly shorten it, and would take the compiler three times as long.
    target_compile_options(${target} PRIVATE -Wno-unknown-pragmas)
    if(PROJECT_IS_TOP_LEVEL)
      target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O0>)
    endif()
    # What the checks would say takes half of a program. Instead they stop it, and AddressSanitizer says where (the test
    # preset cpu-asan asks for it). That leaves out the check of virtual classes, which kernels do not have.
    if(RELAYOUT_SANITIZE MATCHES "undefined" AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      target_compile_options(${target} PRIVATE -fsanitize-undefined-trap-on-error)
    endif()
  endif()
  relayout_include_platform(${target} ${backend})
endfunction()

# The kernels of one back end: kernels/CMakeLists.txt is read once for each.
function(relayout_add_kernels backend)
  set(RELAYOUT_KERNEL_BACKEND ${backend})
  add_subdirectory("${PROJECT_SOURCE_DIR}/kernels" "${PROJECT_BINARY_DIR}/kernels-${backend}")
endfunction()
