/* interop.h - other libraries work on arrays of quern, without a copy to the host.
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

/* The address of the array on a device of the context, made valid there first. It stays where it
 * is until it is given back. With QN_HOST_UPDATE and QN_HOST_DISCARD all other copies are stale
 * from now on; stages and reads must wait until the other library is done. Of a view, all of the
 * array that it belongs to counts as written. QN_ERR_UNSUPPORTED: no addresses there. */
QN_API qn_status qn_buf_lend(qn_buf *buf, int device, qn_host_access access, void **out,
                             qn_err *err);

/* Once for each qn_buf_lend that worked. */
QN_API void qn_buf_give_back(qn_buf *buf, int device);

#ifdef __cplusplus
}
#endif
#endif
