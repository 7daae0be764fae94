/* profile.h - what was measured of a device, kept on disk.
 *
 * One JSON file per device identity (name, architecture, driver, host CPU, threads) in the folder
 * `profile` of the cache. A file that is damaged, of another format or of another identity is
 * ignored with one line at info level; it never is a reason to fail. Only calibrations write
 * profiles: what is learned while running may be the mark of a bad moment, and stays in memory.
 * QUERN_PROFILE=0: no profile is read or written and nothing is scanned in advance.
 */
#ifndef QN_ENGINE_PROFILE_H
#define QN_ENGINE_PROFILE_H

#include "engine/device/context.h"

/* Writes what the router knows of a device. Saving is the same for those who cannot fail. */
qn_status qn_profile_write(qn_ctx *ctx, int device, qn_err *err);
void qn_profile_save(qn_ctx *ctx, int device);

#endif
