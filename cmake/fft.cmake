# Transforms: FFTW for host memory, VkFFT for devices. A build without them works, and says at run
# time what is missing.
option(QN_WITH_FFTW "transforms on cpu and sim, by FFTW" ON)
option(QN_WITH_VKFFT "transforms on opencl and cuda, by VkFFT" ON)
if(QN_WITH_FFTW)
  pkg_check_modules(FFTW IMPORTED_TARGET fftw3 fftw3f)
  if(NOT FFTW_FOUND)
    message(STATUS "FFTW is missing: no transforms on cpu and sim (Debian: libfftw3-dev)")
  endif()
endif()
if(QN_WITH_VKFFT)
  find_path(VKFFT_DIR vkFFT.h PATH_SUFFIXES vkfft)
  if(NOT VKFFT_DIR)
    message(STATUS "VkFFT is missing: no transforms on opencl and cuda (Debian: libvkfft-dev)")
  endif()
endif()

# VkFFT includes the headers of the toolkits. src/hal/*/vkfft_*.h come first and declare what it
# uses, so those headers may be empty files, and no toolkit is needed.
function(qn_add_vkfft file)
  set(empty ${GEN}/vkfft/${file})
  foreach(header ${ARGN})
    file(CONFIGURE OUTPUT ${empty}/${header} CONTENT "")
  endforeach()
  # It only prints and compiles kernels; optimising it would take a minute.
  set(level -O0)
  if(QN_SANITIZE)
    list(APPEND level -fno-sanitize=undefined)
  endif()
  set(options -DQN_WITH_VKFFT -I${empty} ${level})
  if(NOT VKFFT_DIR STREQUAL "/usr/include")
    list(APPEND options -isystem ${VKFFT_DIR})
  endif()
  set_property(SOURCE ${CMAKE_SOURCE_DIR}/${file} APPEND PROPERTY COMPILE_OPTIONS ${options})
endfunction()

# After the warnings of all files were set.
if(QN_WITH_FFTW AND FFTW_FOUND)
  set_property(SOURCE ${CMAKE_SOURCE_DIR}/src/hal/cpu/fft_fftw.c APPEND PROPERTY
               COMPILE_OPTIONS -DQN_WITH_FFTW)
endif()
if(QN_WITH_VKFFT AND VKFFT_DIR)
  qn_add_vkfft(src/hal/opencl/fft_vkfft.c CL/cl.h)
  qn_add_vkfft(src/hal/cuda/fft_vkfft.c cuda.h cuda_runtime.h cuda_runtime_api.h nvrtc.h
               cuComplex.h)
endif()
