# make package (a portable build): quern_<version>_<arch>.deb and quern-<version>-Linux-<arch>.tar.gz of everything that
# `make install` installs. Libraries that are loaded on first use are recommended or
# suggested, not required.
set(CPACK_PACKAGE_NAME quern)
set(CPACK_PACKAGE_VENDOR "the quern authors")
set(CPACK_PACKAGE_CONTACT "the quern authors <authors@quern.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "graphs of kernels, resident on the best device present")
set(CPACK_PACKAGE_DESCRIPTION
    "One library and one command. Kernels are written once and run on the CPU, OpenCL or CUDA;
data stays on the device between them, and the CPU takes over when a device fails. On top of it:
batches of small tasks, heat stress of cities, two-dimensional turbulence, programs over colour
grids, and nonlinear least squares.")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_FILE_NAME "quern-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_RESOURCE_FILE_README ${CMAKE_SOURCE_DIR}/README.md)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/strip_static.cmake)
set(CPACK_PACKAGE_CHECKSUM SHA256)

set(CPACK_GENERATOR TGZ)
find_program(QN_DPKG_DEB dpkg-deb)
find_program(QN_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(QN_DPKG_DEB QN_SHLIBDEPS)
if(QN_DPKG_DEB)
  list(APPEND CPACK_GENERATOR DEB)
endif()

# The package of the GDAL that this build was made for, which is loaded by its name.
set(QN_GDAL_PACKAGE)
find_program(QN_DPKG_QUERY dpkg-query)
mark_as_advanced(QN_DPKG_QUERY)
if(QN_DPKG_QUERY AND QN_GDAL_FILE)
  get_filename_component(file ${QN_GDAL_FILE} REALPATH)
  execute_process(COMMAND ${QN_DPKG_QUERY} -S ${file} OUTPUT_VARIABLE text ERROR_QUIET)
  if(text MATCHES "^([a-z0-9.+-]+)")
    set(QN_GDAL_PACKAGE "${CMAKE_MATCH_1}, ")
  endif()
endif()

# CPack has its own prefixes, not that of `make install`: /usr in the .deb, none in the .tar.gz.
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
if(QN_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
# Other packages may link the library, so dpkg must know it as shared.
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY "=")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gcc, ocl-icd-libopencl1, pocl-opencl-icd")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "${QN_GDAL_PACKAGE}ffmpeg, python3-numpy")
# zstd and xz take seconds for hardly anything: texts of kernels are compressed already.
set(CPACK_DEBIAN_COMPRESSION_TYPE gzip)

install(FILES LICENSE NOTICE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
include(CPack)
