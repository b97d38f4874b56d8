# SPDX-License-Identifier: Apache-2.0
# A file as an array in C: cmake -D from=dsp.elf -D to=hex_program.gen.c -P embed_dsp.cmake
file(READ ${from} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${to} "// Made by cmake/embed_dsp.cmake.\n#include \"exec/hexagon/hex_program.h\"\n\n"
     "const unsigned char tn_hex_program[] = {${bytes}};\nconst size_t tn_hex_program_size = sizeof tn_hex_program;\n")
