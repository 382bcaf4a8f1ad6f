# Run by CTest: case is the name of a test in CMakeLists.txt, which has the other variables, too.
cmake_minimum_required(VERSION 3.25)

# run(COMMAND...): stops the test when it fails.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "'${ARGV}' ended with ${status}")
  endif()
endfunction()

# expect_failure(SENTENCE COMMAND...): it must fail and say the sentence.
function(expect_failure sentence)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")  # CMake wraps its messages
  string(FIND "${output}" "${sentence}" position)
  if(status EQUAL 0 OR position EQUAL -1)
    message(FATAL_ERROR "expected a failure that says '${sentence}', got status ${status} and:\n${output}")
  endif()
endfunction()

set(configure "${CMAKE_COMMAND}" -G "${generator}" "-DCMAKE_CXX_COMPILER=${compiler}" -B "${work}/${case}")
set(configure_consumer ${configure} -S "${source}/consumer" -DCMAKE_BUILD_TYPE=Release
  "-Dbuild_tree=${project}" "-Dexamples=${source}/../../examples")
set(prefix "${work}/prefix")
string(REPLACE ";" "\\;" prefix_path "${prefix_path}")
file(REMOVE_RECURSE "${work}/${case}")

if(case STREQUAL "missing_component")
  set(candidates hip cuda none_such)
  list(REMOVE_ITEM candidates ${built_with})
  list(GET candidates 0 component)
  list(JOIN built_with ", " built_with_text)
  expect_failure("relayout has no component '${component}' here; it was built with: ${built_with_text}"
    ${configure_consumer} "-DCMAKE_PREFIX_PATH=${prefix}\\;${prefix_path}" "-Dcomponents=${component}")

elseif(case STREQUAL "consumer" OR case STREQUAL "all_components")
  set(devices cpu)
  if("emulator" IN_LIST built_with)
    list(APPEND devices emulator)
  endif()
  set(components)
  if(case STREQUAL "consumer")
    list(JOIN devices "\\;" components)
  endif()
  run(${configure_consumer} "-DCMAKE_PREFIX_PATH=${prefix}\\;${prefix_path}" "-Dcomponents=${components}")
  run("${CMAKE_COMMAND}" --build "${work}/${case}")
  run("${work}/${case}/consumer" ${devices})
  if("emulator" IN_LIST built_with)
    run("${work}/${case}/own_kernel")
  endif()

elseif(case STREQUAL "by_hand")
  # As docs/building.md says it, and without what makes the linker take the emulator.
  file(MAKE_DIRECTORY "${work}/${case}")
  file(GLOB_RECURSE archive "${prefix}/librelayout_cpu.a")
  get_filename_component(folder "${archive}" DIRECTORY)
  set(link "${compiler}" -std=c++17 "${source}/consumer/main.cpp" "-I${prefix}/include" "-L${folder}")
  run(${link} -o "${work}/${case}/left_out" -lrelayout_emulator -lrelayout_cpu ${libraries})
  run("${work}/${case}/left_out" cpu)
  expect_failure("needs -Wl,-u,relayout_backend_emulator" "${work}/${case}/left_out" emulator)
  run(${link} -o "${work}/${case}/linked" -Wl,-u,relayout_backend_emulator -lrelayout_emulator -lrelayout_cpu
    ${libraries})
  run("${work}/${case}/linked" cpu emulator)

elseif(case STREQUAL "subproject")
  run(${configure} -S "${source}/parent" -DCMAKE_BUILD_TYPE=Release "-Drelayout=${source}/../.." -Demulator=ON)
  run("${CMAKE_COMMAND}" --build "${work}/${case}" --target part)
  file(READ "${work}/${case}/compile_commands.json" commands)
  string(JSON count LENGTH "${commands}")
  math(EXPR last "${count} - 1")
  foreach(number RANGE ${last})
    string(JSON command GET "${commands}" ${number} command)
    string(REGEX MATCHALL " -O[^ ]*" levels "${command}")
    if(NOT levels STREQUAL " -O1" OR NOT command MATCHES "-DOF_THE_PARENT")
      message(FATAL_ERROR "the parent's flags are -O1 -DOF_THE_PARENT, but a file is compiled by\n${command}")
    endif()
  endforeach()

elseif(case STREQUAL "shared")
  # A build of its own, without optimisation; the emulator's kernels would take minutes to compile.
  set(build "${work}/${case}/relayout")
  run("${CMAKE_COMMAND}" -G "${generator}" -S "${source}/../.." -B "${build}" "-DCMAKE_CXX_COMPILER=${compiler}"
    "-DCMAKE_CXX_COMPILER_LAUNCHER=${launcher}" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG= -DBUILD_SHARED_LIBS=ON
    -DRELAYOUT_EMULATOR=OFF)
  run("${CMAKE_COMMAND}" --build "${build}")
  set(prefix "${work}/${case}/prefix")
  run("${CMAKE_COMMAND}" --install "${build}" --prefix "${prefix}")
  set(work_of_consumer "${work}/${case}/consumer")
  list(TRANSFORM configure_consumer REPLACE "^${work}/${case}$" "${work_of_consumer}")
  run(${configure_consumer} "-DCMAKE_PREFIX_PATH=${prefix}" -Dcomponents=cpu)
  run("${CMAKE_COMMAND}" --build "${work_of_consumer}")
  run("${work_of_consumer}/consumer" cpu)
  # It exports the interface, and nothing of what is behind it.
  file(GLOB_RECURSE library "${prefix}/librelayout_cpu.so")
  execute_process(COMMAND nm -D -C --defined-only "${library}" OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  foreach(exported IN ITEMS "relayout::transpose(" "relayout::Device::cpu()" "typeinfo for relayout::Error")
    string(FIND "${symbols}" "${exported}" position)
    if(position EQUAL -1)
      message(FATAL_ERROR "${library} does not export ${exported}")
    endif()
  endforeach()
  foreach(hidden IN ITEMS "relayout::plan::" "relayout::native::" "relayout_backend_cpu")
    string(FIND "${symbols}" "${hidden}" position)
    if(NOT position EQUAL -1)
      message(FATAL_ERROR "${library} exports ${hidden}")
    endif()
  endforeach()

elseif(case STREQUAL "c_consumer")
  run(${configure} -S "${source}/c_consumer" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_C_COMPILER=${c_compiler}"
    --no-warn-unused-cli "-DCMAKE_PREFIX_PATH=${prefix}\\;${prefix_path}" -Dcomponents=c "-Dbuild_tree=${project}")
  run("${CMAKE_COMMAND}" --build "${work}/${case}")
  run("${work}/${case}/consumer")

elseif(case STREQUAL "c_pkg_config")
  # By pkg-config alone: the compiler takes what it prints, and nothing of the build tree is left.
  set(ENV{PKG_CONFIG_PATH} "${prefix}/${library_folder}/pkgconfig")
  execute_process(COMMAND "${pkg_config}" --cflags --libs relayout OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  file(MAKE_DIRECTORY "${work}/${case}")
  run("${c_compiler}" "${source}/c_consumer/main.c" ${flags} -o "${work}/${case}/consumer")
  set(ENV{LD_LIBRARY_PATH} "${prefix}/${library_folder}")
  run("${work}/${case}/consumer")

else()
  message(FATAL_ERROR "no such case: '${case}'")
endif()
