/* gdal_api.h - the part of GDAL we use, loaded at run time on first use.
 *
 * GDAL depends on more than a hundred libraries, and loading them takes 50 to 80 ms; only a command
 * that opens a GeoTIFF or an archive pays for that. Types come from GDAL's headers at build time;
 * in a build without them qn_sw_gdal_load fails.
 */
#ifndef QN_SOLWEIG_INPUT_GDAL_API_H
#define QN_SOLWEIG_INPUT_GDAL_API_H

#include "util/status.h"

/* The first call from any thread loads GDAL; it is never unloaded. QN_ERR_UNSUPPORTED if the
 * library (QUERN_GDAL_LIB, else the version of the build or another one) or one of its functions is
 * missing; the message starts with `name`, the file that needs it. */
qn_status qn_sw_gdal_load(const char *name, qn_err *err);

#ifdef QN_WITH_GDAL

#include <cpl_error.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <gdal.h>
#include <gdal_frmts.h>
#include <ogr_srs_api.h>

/* The functions to load. */
#define QN_SW_GDAL_CALLS(X)                                                                        \
    X(CPLError)                                                                                    \
    X(CPLGetErrorHandlerUserData)                                                                  \
    X(CPLPopErrorHandler)                                                                          \
    X(CPLPushErrorHandler)                                                                         \
    X(CPLPushErrorHandlerEx)                                                                       \
    X(CPLQuietErrorHandler)                                                                        \
    X(CSLDestroy)                                                                                  \
    X(CSLSetNameValue)                                                                             \
    X(GDALClose)                                                                                   \
    X(GDALCreate)                                                                                  \
    X(GDALFlushCache)                                                                              \
    X(GDALGetDriverByName)                                                                         \
    X(GDALGetGeoTransform)                                                                         \
    X(GDALGetProjectionRef)                                                                        \
    X(GDALGetRasterBand)                                                                           \
    X(GDALGetRasterCount)                                                                          \
    X(GDALGetRasterDataType)                                                                       \
    X(GDALGetRasterNoDataValue)                                                                    \
    X(GDALGetRasterXSize)                                                                          \
    X(GDALGetRasterYSize)                                                                          \
    X(GDALOpenEx)                                                                                  \
    X(GDALRasterIO)                                                                                \
    X(GDALRasterIOEx)                                                                              \
    X(GDALRegister_GTiff)                                                                          \
    X(GDALSetGeoTransform)                                                                         \
    X(GDALSetProjection)                                                                           \
    X(GDALSetRasterNoDataValue)                                                                    \
    X(OSRDestroySpatialReference)                                                                  \
    X(OSRGetLinearUnits)                                                                           \
    X(OSRIsGeographic)                                                                             \
    X(OSRIsProjected)                                                                              \
    X(OSRIsSame)                                                                                   \
    X(OSRNewSpatialReference)                                                                      \
    X(VSIAllocFilesystemPluginCallbacksStruct)                                                     \
    X(VSIFCloseL)                                                                                  \
    X(VSIFOpenL)                                                                                   \
    X(VSIFReadL)                                                                                   \
    X(VSIFSeekL)                                                                                   \
    X(VSIFTellL)                                                                                   \
    X(VSIFWriteL)                                                                                  \
    X(VSIFreeFilesystemPluginCallbacksStruct)                                                      \
    X(VSIInstallPluginHandler)                                                                     \
    X(VSIStatL)

typedef struct qn_sw_gdal_api {
#define QN_SW_GDAL_MEMBER(name) __typeof__(name) *name;
    QN_SW_GDAL_CALLS(QN_SW_GDAL_MEMBER)
#undef QN_SW_GDAL_MEMBER
} qn_sw_gdal_api;

/* Valid after qn_sw_gdal_load has succeeded. */
extern qn_sw_gdal_api qn_sw_gdal;

/* The first error that GDAL reports while we listen, up to CPLPopErrorHandler. */
typedef struct qn_sw_gdal_message {
    int is_set;
    char text[400];
} qn_sw_gdal_message;

void qn_sw_gdal_listen(qn_sw_gdal_message *m);
const char *qn_sw_gdal_said(const qn_sw_gdal_message *m, const char *otherwise);

/* Prefix for the path of a file that GDAL writes, so that every failed call is reported as an
 * error. */
#define QN_SW_GDAL_FILES "/vsiquern/"

#endif
#endif
