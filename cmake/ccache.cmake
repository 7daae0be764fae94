# Compile through ccache where it can write its cache: the same text is built again and again, by
# several build folders.
find_program(QN_CCACHE_PROGRAM ccache)
mark_as_advanced(QN_CCACHE_PROGRAM)
if(QN_CCACHE AND QN_CCACHE_PROGRAM AND NOT CMAKE_C_COMPILER_LAUNCHER)
  set(probe ${CMAKE_BINARY_DIR}/CMakeFiles/ccache_probe)
  file(WRITE ${probe}.c "int probe;\n")
  execute_process(COMMAND ${QN_CCACHE_PROGRAM} ${CMAKE_C_COMPILER} -c ${probe}.c -o ${probe}.o
                  RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(NOT failed)
    set(CMAKE_C_COMPILER_LAUNCHER ${QN_CCACHE_PROGRAM})
  endif()
endif()
