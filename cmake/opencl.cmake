# SPDX-License-Identifier: Apache-2.0
# The OpenCL device: built where the headers are (the driver itself is opened at run time). Kernel sources (exec/opencl/**.cl) and tables
# of measured tiles (**.tiles) are embedded.
include(embed)
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
  tenon_embed(${list} opencl exec/opencl/cl_build.h tn_cl_source tn_cl_sources ${sources})
  set(${list} ${${list}} PARENT_SCOPE)
endfunction()
