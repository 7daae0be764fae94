# Run by CPack in its folder of files: without debug information a static library is a third of
# the size. CPACK_STRIP_FILES leaves static libraries alone.
find_program(strip_program strip)
file(GLOB_RECURSE archives ${CPACK_TEMPORARY_DIRECTORY}/*.a)
foreach(archive ${archives})
  if(strip_program)
    execute_process(COMMAND ${strip_program} --strip-debug ${archive})
  endif()
endforeach()
