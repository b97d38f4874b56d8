# SPDX-License-Identifier: Apache-2.0
# The OpenCL device: built where the headers are (the driver itself is opened at run time). Kernel sources (exec/opencl/**.cl) and tables
# of measured tiles (**.tiles) are embedded as bytes by file name; a string literal would be longer than ISO C promises to take.
function(tenon_opencl list)
  find_path(TENON_OPENCL_INCLUDE CL/cl.h)
  if(NOT TENON_OPENCL OR NOT TENON_OPENCL_INCLUDE)
    list(FILTER ${list} EXCLUDE REGEX "/src/exec/opencl/")
    set(${list} ${${list}} PARENT_SCOPE)
    return()
  endif()
  include_directories(SYSTEM ${TENON_OPENCL_INCLUDE})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/exec/opencl/*.cl
       ${PROJECT_SOURCE_DIR}/src/exec/opencl/*.tiles)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources})
  set(text "// Made by cmake/opencl.cmake.\n#include \"exec/opencl/cl_build.h\"\n\n")
  set(rows)
  foreach(file IN LISTS sources)
    get_filename_component(stem ${file} NAME_WE)
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(APPEND text "static const unsigned char source_${stem}[] = {${bytes}};\n")
    string(APPEND rows "    {\"${stem}\", source_${stem}, sizeof source_${stem}},\n")
  endforeach()
  string(APPEND text "\nconst tn_cl_source tn_cl_sources[] = {\n${rows}    {NULL, NULL, 0},\n};\n")
  set(path ${CMAKE_CURRENT_BINARY_DIR}/opencl.gen.c)
  file(CONFIGURE OUTPUT ${path} CONTENT "${text}" @ONLY)   # leaves a file alone that would not change
  set(${list} ${${list}} ${path} PARENT_SCOPE)
endfunction()
