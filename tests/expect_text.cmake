# Runs COMMAND, which must end with status 0 and print TEXT. CTest's own PASS_REGULAR_EXPRESSION does not look at the status.
execute_process(COMMAND ${COMMAND} OUTPUT_VARIABLE output RESULT_VARIABLE status)
message("${output}")
string(FIND "${output}" "${TEXT}" place)
if(NOT status STREQUAL "0" OR place EQUAL -1)
  message(FATAL_ERROR "'${COMMAND}' must end with 0 and print '${TEXT}'; it ended with ${status}")
endif()
