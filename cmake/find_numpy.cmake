# RELAYOUT_PYTHON is a Python 3 that has numpy. The first python3 in PATH often belongs to a version manager and has no
# packages, so the system's own is tried before it.
function(relayout_has_numpy result candidate)
  execute_process(COMMAND "${candidate}" -c "import numpy" RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
  if(NOT status EQUAL 0)
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()

find_program(RELAYOUT_PYTHON python3 HINTS /usr/bin VALIDATOR relayout_has_numpy
  DOC "Python 3 with numpy, for the tests" REQUIRED)
