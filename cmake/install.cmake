# The installed package: one export set per back end, so that find_package(relayout COMPONENTS ...) takes what it needs.
include(CMakePackageConfigHelpers)

set(relayout_package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/relayout")
foreach(backend IN LISTS RELAYOUT_BACKENDS)
  set(headers)
  if(backend STREQUAL "cpu")
    set(headers FILE_SET HEADERS)
  endif()
  set_target_properties(relayout_${backend} PROPERTIES EXPORT_NAME ${backend} INSTALL_RPATH "$ORIGIN")
  install(TARGETS relayout_${backend} EXPORT relayout-${backend}-targets ${headers})
  install(EXPORT relayout-${backend}-targets NAMESPACE relayout:: DESTINATION "${relayout_package_folder}")
endforeach()

# The shared library for C needs nothing of the others. Its pkg-config file finds the prefix from where it lies itself, so
# that the installed tree can be moved.
if(RELAYOUT_C)
  install(TARGETS relayout_c EXPORT relayout-c-targets FILE_SET HEADERS)
  install(EXPORT relayout-c-targets NAMESPACE relayout:: DESTINATION "${relayout_package_folder}")
  cmake_path(SET relayout_pkgconfig_folder NORMALIZE "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
  file(RELATIVE_PATH relayout_prefix_from_pkgconfig "/prefix/${relayout_pkgconfig_folder}" "/prefix")
  configure_file("${PROJECT_SOURCE_DIR}/bindings/c/relayout.pc.in" "${PROJECT_BINARY_DIR}/relayout.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/relayout.pc" DESTINATION "${relayout_pkgconfig_folder}")
endif()

# The packages that a consumer must find because the libraries are static, as arguments of find_package.
if(NOT BUILD_SHARED_LIBS)
  set(relayout_cpu_DEPENDENCIES Threads)
  set(relayout_emulator_DEPENDENCIES "Boost CONFIG COMPONENTS context")
  if(OpenMP_CXX_FOUND)
    list(APPEND relayout_cpu_DEPENDENCIES "OpenMP COMPONENTS CXX")
  endif()
endif()
set(relayout_cuda_DEPENDENCIES "CUDAToolkit 12.0")
set(relayout_hip_DEPENDENCIES hip)
if(RELAYOUT_HIP)
  get_target_property(libraries relayout_hip LINK_LIBRARIES)
  if("roc::hipblas" IN_LIST libraries)
    list(APPEND relayout_hip_DEPENDENCIES hipblas)
  endif()
endif()

configure_package_config_file(cmake/relayoutConfig.cmake.in relayoutConfig.cmake
  INSTALL_DESTINATION "${relayout_package_folder}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(relayoutConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/relayoutConfig.cmake" "${PROJECT_BINARY_DIR}/relayoutConfigVersion.cmake"
  DESTINATION "${relayout_package_folder}")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
