# make install: command, library, headers, and what pkg-config and find_package need.
include(CMakePackageConfigHelpers)

install(TARGETS quern quern-embed RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS quern_shared EXPORT quernTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS quern_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/quern DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

# Relative to quern.pc, so that an installation may be moved or packed for another prefix.
file(RELATIVE_PATH QN_PC_PREFIX /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
string(REGEX REPLACE "/$" "" QN_PC_PREFIX ${QN_PC_PREFIX})
configure_file(cmake/quern.pc.in quern.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/quern.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(QN_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/quern)
configure_package_config_file(cmake/quernConfig.cmake.in ${CMAKE_BINARY_DIR}/quernConfig.cmake
                              INSTALL_DESTINATION ${QN_CMAKE_DIR})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/quernConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/quernConfig.cmake ${CMAKE_BINARY_DIR}/quernConfigVersion.cmake
        DESTINATION ${QN_CMAKE_DIR})
install(EXPORT quernTargets NAMESPACE quern:: DESTINATION ${QN_CMAKE_DIR})
