/* interop.h - lets other libraries work on arrays of quern without a copy to the host.
 *
 *     qn_buf_lend(buf, device, QN_HOST_UPDATE, &address, &err);
 *     ... another library works at `address` and waits until it is done ...
 *     qn_buf_give_back(buf, device);
 *
 * Only devices whose memory has addresses can do this: the CPU and CUDA (whose primary context
 * quern uses, as other libraries do).
 */
#ifndef QUERN_INTEROP_H
#define QUERN_INTEROP_H

#include <quern/buffer.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes the array valid on a device of the context and gives its address there. The array stays at
 * this address until it is given back. With QN_HOST_UPDATE and QN_HOST_DISCARD all other copies
 * become stale at once; stages and reads must wait until the other library is done. Lending a view
 * for writing counts as writing its whole parent. QN_ERR_UNSUPPORTED: the device's memory has no
 * addresses. */
QN_API qn_status qn_buf_lend(qn_buf *buf, int device, qn_host_access access, void **out,
                             qn_err *err);

/* Call once for each qn_buf_lend that succeeded. */
QN_API void qn_buf_give_back(qn_buf *buf, int device);

#ifdef __cplusplus
}
#endif
#endif
