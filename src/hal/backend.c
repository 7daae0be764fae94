/* backend.c - the list of backends. A new backend is one file and one line here. */
#include "hal/backend.h"

#include <string.h>

const qn_backend *const qn_backends[] = {
    &qn_backend_cpu, &qn_backend_opencl, &qn_backend_cuda, &qn_backend_sim, NULL,
};

const qn_backend *qn_backend_find(const char *name)
{
    for (int i = 0; name && qn_backends[i]; i++)
        if (strcmp(qn_backends[i]->name, name) == 0)
            return qn_backends[i];
    return NULL;
}
