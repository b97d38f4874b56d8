# SPDX-License-Identifier: Apache-2.0
# The Hexagon device: its DSP program (exec/hexagon/dsp) is built from any configuration by a clang that has the target, and embedded in
# the library as bytes. Without such a clang, or its lld, the library is built without the device. The program is linked without any
# library: a symbol that is not there fails the build.
#
#   tenon_hexagon(SOURCES)               takes the device's files out of the list, or adds the embedded program to it
#   tenon_dsp_program(TARGET FLAGS...)   builds TARGET.elf with further flags; sets TARGET_ELF to its path
set(TENON_DSP_FLAGS --target=hexagon-unknown-linux-musl -mcpu=hexagonv67 -mhvx -mhvx-length=128b -O2 -G0 -ffreestanding -fno-builtin
    -fno-pic -fno-strict-aliasing -std=c11 -ffp-contract=off -Wall -Wextra -I${PROJECT_SOURCE_DIR}/src)

# Whether this clang compiles for HVX with nothing but its own headers.
function(tenon_hexagon_find)
  find_program(TENON_HEXAGON_CLANG NAMES clang-19 clang-20 clang-21 clang-18 clang-17 clang-16 clang-15 clang-14 clang)
  find_program(TENON_HEXAGON_LLD NAMES ld.lld-19 ld.lld-20 ld.lld-21 ld.lld-18 ld.lld-17 ld.lld-16 ld.lld-15 ld.lld-14 ld.lld)
  if(NOT TENON_HEXAGON OR NOT TENON_HEXAGON_CLANG OR NOT TENON_HEXAGON_LLD)
    set(TENON_HAVE_HEXAGON OFF CACHE INTERNAL "")
  elseif(NOT DEFINED CACHE{TENON_HAVE_HEXAGON} OR NOT TENON_HEXAGON_TRIED STREQUAL TENON_HEXAGON_CLANG)
    execute_process(COMMAND ${TENON_HEXAGON_CLANG} ${TENON_DSP_FLAGS} -fsyntax-only
                            ${PROJECT_SOURCE_DIR}/src/exec/hexagon/dsp/vec/hx_requant.c
                    RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    set(TENON_HEXAGON_TRIED ${TENON_HEXAGON_CLANG} CACHE INTERNAL "")
    if(failed)
      message(STATUS "${TENON_HEXAGON_CLANG} does not compile for Hexagon: built without that device")
      set(TENON_HAVE_HEXAGON OFF CACHE INTERNAL "")
    else()
      set(TENON_HAVE_HEXAGON ON CACHE INTERNAL "")
    endif()
  endif()
endfunction()

function(tenon_dsp_program target)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/exec/hexagon/dsp/*.c ${PROJECT_SOURCE_DIR}/src/exec/hexagon/dsp/*.S)
  list(FILTER sources EXCLUDE REGEX "/dsp/phone/")   # needs the vendor's SDK
  set(folder ${PROJECT_BINARY_DIR}/${target}.dir)
  file(MAKE_DIRECTORY ${folder})
  set(objects)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME)
    set(object ${folder}/${name}.o)
    add_custom_command(
      OUTPUT ${object}
      COMMAND ${TENON_HEXAGON_CLANG} ${TENON_DSP_FLAGS} $<$<BOOL:${TENON_WERROR}>:-Werror> ${ARGN} -MD -MF ${object}.d -MT ${object}
              -c -o ${object} ${source}
      DEPENDS ${source} DEPFILE ${object}.d COMMENT "Compiling ${name} for the DSP" VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  set(elf ${PROJECT_BINARY_DIR}/${target}.elf)
  add_custom_command(OUTPUT ${elf} COMMAND ${TENON_HEXAGON_LLD} -static --no-undefined -o ${elf} ${objects} DEPENDS ${objects}
                     COMMENT "Linking ${target}.elf" VERBATIM)
  add_custom_target(${target} DEPENDS ${elf})
  set(${target}_ELF ${elf} PARENT_SCOPE)
endfunction()

function(tenon_hexagon list)
  tenon_hexagon_find()
  list(FILTER ${list} EXCLUDE REGEX "/src/exec/hexagon/dsp/")
  if(NOT TENON_HAVE_HEXAGON)
    list(FILTER ${list} EXCLUDE REGEX "/src/exec/hexagon/")
    set(${list} ${${list}} PARENT_SCOPE)
    return()
  endif()
  tenon_dsp_program(tenon_dsp)
  set(embedded ${PROJECT_BINARY_DIR}/hex_program.gen.c)
  add_custom_command(OUTPUT ${embedded}
                     COMMAND ${CMAKE_COMMAND} -D from=${tenon_dsp_ELF} -D to=${embedded} -P ${PROJECT_SOURCE_DIR}/cmake/embed_dsp.cmake
                     DEPENDS ${tenon_dsp_ELF} ${PROJECT_SOURCE_DIR}/cmake/embed_dsp.cmake COMMENT "Embedding the DSP program" VERBATIM)
  set(${list} ${${list}} ${embedded} PARENT_SCOPE)
  set(tenon_dsp_ELF ${tenon_dsp_ELF} PARENT_SCOPE)
endfunction()
