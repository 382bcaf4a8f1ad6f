# Run by CTest: case is consumer, all_components or missing_component; see CMakeLists.txt for the other variables.

cmake_minimum_required(VERSION 3.25)

# configure(COMPONENTS): the consumer against the installed package; sets status and output.
macro(configure components)
  file(REMOVE_RECURSE "${work}/${case}")
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -G "${generator}" -S "${consumer}" -B "${work}/${case}"
      "-DCMAKE_PREFIX_PATH=${work}/prefix;${prefix_path}" "-DCMAKE_CXX_COMPILER=${compiler}" -DCMAKE_BUILD_TYPE=Release
      "-Dcomponents=${components}" "-Dbuild_tree=${project}"
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
endmacro()

if(case STREQUAL "missing_component")
  set(candidates hip cuda none_such)
  list(REMOVE_ITEM candidates ${built_with})
  list(GET candidates 0 component)
  configure("${component}")
  list(JOIN built_with ", " built_with_text)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")  # CMake wraps its messages
  set(expected "relayout has no component '${component}' here; it was built with: ${built_with_text}")
  string(FIND "${output}" "${expected}" position)
  if(status EQUAL 0 OR position EQUAL -1)
    message(FATAL_ERROR "expected a failure that says '${expected}', got status ${status} and:\n${output}")
  endif()
  return()
endif()

if(case STREQUAL "consumer")
  configure("cpu;emulator")
else()
  configure("")
endif()
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the consumer could not be configured:\n${output}")
endif()
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${work}/${case}" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${work}/${case}/consumer" RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the consumer ran and ended with ${status}")
endif()
