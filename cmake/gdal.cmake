# Rasters with a place on the map: GeoTIFF, by GDAL. A build without it reads and writes .npy, and
# says at run time what is missing.
option(QN_WITH_GDAL "GeoTIFF rasters, by GDAL" ON)
if(QN_WITH_GDAL)
  pkg_check_modules(GDAL IMPORTED_TARGET gdal)
  if(NOT GDAL_FOUND)
    message(STATUS "GDAL is missing: no GeoTIFF rasters (Debian: libgdal-dev)")
  endif()
endif()

# After the warnings of all files were set.
if(QN_WITH_GDAL AND GDAL_FOUND)
  foreach(file input/raster_gdal.c cache/zip.c)
    set_property(SOURCE ${CMAKE_SOURCE_DIR}/src/domain/solweig/${file} APPEND PROPERTY
                 COMPILE_OPTIONS -DQN_WITH_GDAL)
  endforeach()
endif()
