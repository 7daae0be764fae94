# The x86 levels that kernels are compiled for, besides the one that every x86-64 processor has: v3 (AVX2) and v4
# (AVX-512). The processor that runs quern picks the highest it knows. A build for this machine needs only this
# machine's level; a portable one has all. A resolver cannot run under a sanitizer.
set(QN_CLONES_FLAG)
if(NOT QN_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64")
  set(QN_CLONES_FLAG -DQN_CLONE_TARGETS=34)
  if(NOT QN_PORTABLE AND NOT CMAKE_CROSSCOMPILING)
    include(CheckCSourceRuns)
    foreach(level 4 3)
      set(CMAKE_REQUIRED_QUIET ON)
      check_c_source_runs("int main(void) { return !__builtin_cpu_supports(\"x86-64-v${level}\"); }" QN_HAS_V${level})
      if(QN_HAS_V${level})
        set(QN_CLONES_FLAG -DQN_CLONE_TARGETS=${level})
        break()
      endif()
    endforeach()
  endif()
endif()
