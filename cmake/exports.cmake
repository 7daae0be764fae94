# The version script of libquern.so: exactly the functions that the public headers mark QN_API.
# Hidden visibility alone would not do: the resolvers of functions with clones are always exported.
file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/include/quern/*.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})
set(exports)
foreach(header ${headers})
  file(STRINGS ${header} lines REGEX "^QN_API ")
  foreach(line ${lines})
    if(NOT line MATCHES "(qn_[a-z0-9_]+)\\(")
      message(FATAL_ERROR "${header}: QN_API and the function's name belong on one line: ${line}")
    endif()
    string(APPEND exports "    ${CMAKE_MATCH_1};\n")
  endforeach()
endforeach()
set(map ${CMAKE_BINARY_DIR}/quern.map)
file(CONFIGURE OUTPUT ${map} CONTENT
     "QUERN_${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} {\n  global:\n${exports}  local:\n    *;\n};\n")
target_link_options(quern_shared PRIVATE -Wl,--version-script=${map})
set_target_properties(quern_shared PROPERTIES LINK_DEPENDS ${map})
