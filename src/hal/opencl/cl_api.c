/* cl_api.c - finds libOpenCL and fills the table of its functions, once per process. */
#include "hal/opencl/cl_api.h"

#include "util/env.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    size_t at; /* in qn_cl_api */
} calls[] = {
#define CALL(result, name, args) { "cl" #name, offsetof(qn_cl_api, name) },
    QN_CL_CALLS(CALL)
#undef CALL
};

static struct {
    pthread_once_t once;
    qn_cl_api api;
    char reason[256]; /* empty when loaded */
} loaded = { .once = PTHREAD_ONCE_INIT };

static void load(void)
{
    const char *file = qn_env("QUERN_OPENCL_LIB");
    void *lib;

    if (!file)
        file = "libOpenCL.so.1";
    if (!(lib = dlopen(file, RTLD_NOW | RTLD_LOCAL))) {
        snprintf(loaded.reason, sizeof loaded.reason, "not found: %s", file);
        return;
    }
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        void *const address = dlsym(lib, calls[i].name);
        if (!address) {
            snprintf(loaded.reason, sizeof loaded.reason, "%s has no %s", file, calls[i].name);
            return;
        }
        /* Copied as bytes: ISO C cannot convert an object pointer to a function pointer. */
        memcpy((char *)&loaded.api + calls[i].at, &address, sizeof address);
    }
}

const qn_cl_api *qn_cl_load(const char **reason)
{
    pthread_once(&loaded.once, load);
    *reason = loaded.reason;
    return loaded.reason[0] ? NULL : &loaded.api;
}

#define NAME(code, name) [-(code)] = "CL_" name

static const char *const names[] = {
    NAME(0, "SUCCESS"),
    NAME(-1, "DEVICE_NOT_FOUND"),
    NAME(-2, "DEVICE_NOT_AVAILABLE"),
    NAME(-3, "COMPILER_NOT_AVAILABLE"),
    NAME(-4, "MEM_OBJECT_ALLOCATION_FAILURE"),
    NAME(-5, "OUT_OF_RESOURCES"),
    NAME(-6, "OUT_OF_HOST_MEMORY"),
    NAME(-7, "PROFILING_INFO_NOT_AVAILABLE"),
    NAME(-8, "MEM_COPY_OVERLAP"),
    NAME(-9, "IMAGE_FORMAT_MISMATCH"),
    NAME(-10, "IMAGE_FORMAT_NOT_SUPPORTED"),
    NAME(-11, "BUILD_PROGRAM_FAILURE"),
    NAME(-12, "MAP_FAILURE"),
    NAME(-13, "MISALIGNED_SUB_BUFFER_OFFSET"),
    NAME(-14, "EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"),
    NAME(-15, "COMPILE_PROGRAM_FAILURE"),
    NAME(-16, "LINKER_NOT_AVAILABLE"),
    NAME(-17, "LINK_PROGRAM_FAILURE"),
    NAME(-18, "DEVICE_PARTITION_FAILED"),
    NAME(-19, "KERNEL_ARG_INFO_NOT_AVAILABLE"),
    NAME(-30, "INVALID_VALUE"),
    NAME(-31, "INVALID_DEVICE_TYPE"),
    NAME(-32, "INVALID_PLATFORM"),
    NAME(-33, "INVALID_DEVICE"),
    NAME(-34, "INVALID_CONTEXT"),
    NAME(-35, "INVALID_QUEUE_PROPERTIES"),
    NAME(-36, "INVALID_COMMAND_QUEUE"),
    NAME(-37, "INVALID_HOST_PTR"),
    NAME(-38, "INVALID_MEM_OBJECT"),
    NAME(-39, "INVALID_IMAGE_FORMAT_DESCRIPTOR"),
    NAME(-40, "INVALID_IMAGE_SIZE"),
    NAME(-41, "INVALID_SAMPLER"),
    NAME(-42, "INVALID_BINARY"),
    NAME(-43, "INVALID_BUILD_OPTIONS"),
    NAME(-44, "INVALID_PROGRAM"),
    NAME(-45, "INVALID_PROGRAM_EXECUTABLE"),
    NAME(-46, "INVALID_KERNEL_NAME"),
    NAME(-47, "INVALID_KERNEL_DEFINITION"),
    NAME(-48, "INVALID_KERNEL"),
    NAME(-49, "INVALID_ARG_INDEX"),
    NAME(-50, "INVALID_ARG_VALUE"),
    NAME(-51, "INVALID_ARG_SIZE"),
    NAME(-52, "INVALID_KERNEL_ARGS"),
    NAME(-53, "INVALID_WORK_DIMENSION"),
    NAME(-54, "INVALID_WORK_GROUP_SIZE"),
    NAME(-55, "INVALID_WORK_ITEM_SIZE"),
    NAME(-56, "INVALID_GLOBAL_OFFSET"),
    NAME(-57, "INVALID_EVENT_WAIT_LIST"),
    NAME(-58, "INVALID_EVENT"),
    NAME(-59, "INVALID_OPERATION"),
    NAME(-60, "INVALID_GL_OBJECT"),
    NAME(-61, "INVALID_BUFFER_SIZE"),
    NAME(-62, "INVALID_MIP_LEVEL"),
    NAME(-63, "INVALID_GLOBAL_WORK_SIZE"),
    NAME(-64, "INVALID_PROPERTY"),
    NAME(-65, "INVALID_IMAGE_DESCRIPTOR"),
    NAME(-66, "INVALID_COMPILER_OPTIONS"),
    NAME(-67, "INVALID_LINKER_OPTIONS"),
    NAME(-68, "INVALID_DEVICE_PARTITION_COUNT"),
};

const char *qn_cl_error_name(cl_int code)
{
    const cl_int n = sizeof names / sizeof *names;

    if (code == -1001)
        return "CL_PLATFORM_NOT_FOUND_KHR";
    if (code == CL_NV_ILLEGAL_ACCESS)
        return "illegal memory access";
    return code <= 0 && code > -n && names[-code] ? names[-code] : "unknown error";
}
