# make kernels: quern.qnp, every built-in kernel compiled for NVIDIA GPUs, so that the first run on one waits for no
# compiler. `make install` and `make package` take it along where it was made. It takes a minute of a core per
# architecture, so `make` leaves it out; what has not changed since the last time is not compiled again.
set(QN_CUDA_ARCHS "" CACHE STRING "architectures for make kernels, as 80,90; empty: the usual ones")
set(QN_PACK ${CMAKE_BINARY_DIR}/quern.qnp)
set(archs)
if(QN_CUDA_ARCHS)
  string(REPLACE ";" "," list "${QN_CUDA_ARCHS}")
  set(archs --archs ${list})
endif()
add_custom_target(kernels COMMAND quern cache pack -o ${QN_PACK} ${archs} VERBATIM)
install(FILES ${QN_PACK} DESTINATION ${CMAKE_INSTALL_LIBDIR}/quern OPTIONAL)
file(RELATIVE_PATH from_bin /p/${CMAKE_INSTALL_BINDIR} /p/${CMAKE_INSTALL_LIBDIR}/quern/quern.qnp)
set_property(SOURCE src/engine/device/pack.c APPEND PROPERTY COMPILE_DEFINITIONS QN_PACK_FROM_BIN="${from_bin}")
