# Georeferenced rasters: GeoTIFF, by GDAL. Its headers are needed here, the library only
# when a command first opens such a file (src/domain/solweig/raster/gdal_api.c). A build without the
# headers reads and writes .npy, and says at run time what is missing.
option(QN_WITH_GDAL "GeoTIFF rasters, by GDAL" ON)
if(QN_WITH_GDAL)
  pkg_check_modules(GDAL gdal)
  if(NOT GDAL_FOUND)
    message(STATUS "GDAL's headers are missing: no GeoTIFF rasters (Debian: libgdal-dev)")
  endif()
endif()

# The name under which the system knows the library these headers belong to.
function(qn_gdal_soname out)
  set(${out} libgdal.so PARENT_SCOPE)
  find_library(QN_GDAL_FILE gdal HINTS ${GDAL_LIBRARY_DIRS})
  mark_as_advanced(QN_GDAL_FILE)
  if(QN_GDAL_FILE AND CMAKE_READELF)
    execute_process(COMMAND ${CMAKE_READELF} -d ${QN_GDAL_FILE} OUTPUT_VARIABLE text ERROR_QUIET)
    if(text MATCHES "SONAME[^[]*\\[([^]]+)\\]")
      set(${out} ${CMAKE_MATCH_1} PARENT_SCOPE)
    endif()
  endif()
endfunction()

# After the warnings of all files were set.
if(QN_WITH_GDAL AND GDAL_FOUND)
  qn_gdal_soname(soname)
  set(options -DQN_WITH_GDAL "-DQN_GDAL_SONAME=\"${soname}\"")
  foreach(folder ${GDAL_INCLUDE_DIRS})
    list(APPEND options -isystem ${folder})
  endforeach()
  foreach(file raster/gdal_api.c raster/gdal_files.c raster/raster_gdal.c cache/zip.c)
    set_property(SOURCE ${CMAKE_SOURCE_DIR}/src/domain/solweig/${file} APPEND PROPERTY
                 COMPILE_OPTIONS ${options})
  endforeach()
endif()
