# make install: command, library, headers.
install(TARGETS quern quern_static quern_shared quern-embed
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/quern DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
