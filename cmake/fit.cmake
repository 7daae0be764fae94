# The loops of fit's interpreter are built like kernels: vectorised, for several x86 levels.
set(FIT_LOOPS src/domain/fit/eval/block_f64.c src/domain/fit/eval/block_f32.c)
set(FIT_FLAGS -O3 -fno-math-errno -fno-trapping-math -fopenmp-simd)
if(QN_COVERAGE)
  list(APPEND FIT_FLAGS ${COVERED_LOOPS})
elseif(QN_SANITIZE)
  list(APPEND FIT_FLAGS -O1)
else()
  list(APPEND FIT_FLAGS ${QN_CLONES_FLAG})
endif()
set_property(SOURCE ${FIT_LOOPS} APPEND PROPERTY COMPILE_OPTIONS ${FIT_FLAGS})

# Dense factorisations and products of the solvers are loops too.
set_property(SOURCE src/domain/fit/linear/dense.c src/domain/fit/linear/schur.c
             src/domain/fit/model/products.c APPEND PROPERTY COMPILE_OPTIONS ${FIT_FLAGS})

# Sparse normal equations by CHOLMOD: its header is needed here, the library when a solve first asks
# for it (src/domain/fit/linear/sparse.c). A build without it solves by conjugate gradients.
option(QN_WITH_CHOLMOD "sparse Cholesky for fit, by CHOLMOD" ON)
find_path(QN_CHOLMOD_INCLUDE cholmod.h PATH_SUFFIXES suitesparse)
find_library(QN_CHOLMOD_FILE cholmod)
mark_as_advanced(QN_CHOLMOD_INCLUDE QN_CHOLMOD_FILE)
if(QN_WITH_CHOLMOD AND QN_CHOLMOD_INCLUDE AND QN_CHOLMOD_FILE)
  set(soname libcholmod.so)
  if(CMAKE_READELF)
    execute_process(COMMAND ${CMAKE_READELF} -d ${QN_CHOLMOD_FILE} OUTPUT_VARIABLE text ERROR_QUIET)
    if(text MATCHES "SONAME[^[]*\\[([^]]+)\\]")
      set(soname ${CMAKE_MATCH_1})
    endif()
  endif()
  set_property(SOURCE src/domain/fit/linear/sparse.c APPEND PROPERTY COMPILE_OPTIONS
               -DQN_WITH_CHOLMOD "-DQN_CHOLMOD_SONAME=\"${soname}\"" -isystem ${QN_CHOLMOD_INCLUDE})
elseif(QN_WITH_CHOLMOD)
  message(STATUS "CHOLMOD's header is missing: fit has no sparse Cholesky (Debian: "
                 "libsuitesparse-dev)")
endif()

# `quern fit new` prints the programs of examples/fit.
foreach(name nist mesh bal sketch)
  set(file ${CMAKE_SOURCE_DIR}/examples/fit/${name}.fit)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} text)
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
  string(APPEND FIT_EXAMPLES "{ \"${name}\",\n    \"${text}\" },\n")
endforeach()
file(CONFIGURE OUTPUT ${GEN}/fit_examples.gen.h CONTENT "${FIT_EXAMPLES}" @ONLY)
