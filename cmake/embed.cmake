# SPDX-License-Identifier: Apache-2.0
# Files embedded as bytes, by file name: tenon_embed(LIST NAME HEADER TYPE ARRAY FILE...) makes NAME.gen.c with `const TYPE ARRAY[]`, rows
# {name, bytes, size} that end with an empty one, and appends it to LIST. A string literal would be longer than ISO C promises to take.
function(tenon_embed list name header type array)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
  set(text "// Made by cmake/embed.cmake.\n#include \"${header}\"\n\n")
  set(rows)
  foreach(file IN LISTS ARGN)
    get_filename_component(stem ${file} NAME_WE)
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(APPEND text "static const unsigned char source_${stem}[] = {${bytes}};\n")
    string(APPEND rows "    {\"${stem}\", source_${stem}, sizeof source_${stem}},\n")
  endforeach()
  string(APPEND text "\nconst ${type} ${array}[] = {\n${rows}    {NULL, NULL, 0},\n};\n")
  set(path ${CMAKE_CURRENT_BINARY_DIR}/${name}.gen.c)
  file(CONFIGURE OUTPUT ${path} CONTENT "${text}" @ONLY)   # leaves a file alone that would not change
  set(${list} ${${list}} ${path} PARENT_SCOPE)
endfunction()
