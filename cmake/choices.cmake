# SPDX-License-Identifier: Apache-2.0
# Tables of measured choices for processors (plan/tune/tables/*.rows) are embedded as bytes by file name; plan/tune/choices.h reads them.
function(tenon_choices list)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/plan/tune/tables/*.rows)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources})
  set(text "// Made by cmake/choices.cmake.\n#include \"plan/tune/choices.h\"\n\n")
  set(rows)
  foreach(file IN LISTS sources)
    get_filename_component(stem ${file} NAME_WE)
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(APPEND text "static const unsigned char source_${stem}[] = {${bytes}};\n")
    string(APPEND rows "    {\"${stem}\", source_${stem}, sizeof source_${stem}},\n")
  endforeach()
  string(APPEND text "\nconst tn_choices_source tn_choices_sources[] = {\n${rows}    {NULL, NULL, 0},\n};\n")
  set(path ${CMAKE_CURRENT_BINARY_DIR}/choices.gen.c)
  file(CONFIGURE OUTPUT ${path} CONTENT "${text}" @ONLY)   # leaves a file alone that would not change
  set(${list} ${${list}} ${path} PARENT_SCOPE)
endfunction()
