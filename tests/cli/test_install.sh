#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs a build into a fresh folder and uses it from a project of its own: by the CMake package (shared and static), by pkg-config,
# and by hand from the moved folder, so that nothing depends on where it was built.
#
#   test_install.sh SOURCE BUILD
set -euo pipefail
source=$1 build=$2
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
model=$source/examples/digits/digits.onnx

cmake --install "$build" --prefix "$here/first" >/dev/null
mv "$here/first" "$here/prefix"
prefix=$here/prefix
libdir=$(dirname "$(find "$prefix" -name libtenon.so | head -n 1)")
pc=$(dirname "$(find "$prefix" -name tenon.pc)")
[ -e "$libdir/libtenon-image.so.0" ] || { echo "libtenon-image is not beside libtenon"; exit 1; }
generator=()
if command -v ninja >/dev/null; then generator=(-G Ninja); fi

consume() {
  local name=$1
  shift
  cmake "${generator[@]}" -S "$source/examples/consumer" -B "$here/$name" -DCMAKE_PREFIX_PATH="$prefix" "$@" >"$here/log" 2>&1 &&
    cmake --build "$here/$name" >>"$here/log" 2>&1 || { cat "$here/log"; exit 1; }
  LD_LIBRARY_PATH=$libdir "$here/$name/consumer" "$model" | grep -q '^output 0: float32, 40 bytes'
  echo "ok $name"
}

consume cmake
consume cmake_shared -DLINK=shared
consume cmake_static -DLINK=static
if command -v pkg-config >/dev/null; then
  PKG_CONFIG_PATH=$pc consume pkg_config -DUSE_PKG_CONFIG=ON
  # shellcheck disable=SC2046
  "${CC:-cc}" "$source/examples/hello.c" $(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs tenon) -Wl,-rpath,"$libdir" -o "$here/hello"
  "$here/hello" "$model" | grep -q '^output 0: float32, 40 bytes'
  echo "ok by hand"
fi
if command -v c++ >/dev/null; then
  echo '#include <tenon/tenon.h>' | c++ -x c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$prefix/include" -
  echo "ok header in C++"
fi
if [ -x "$prefix/bin/tenon" ]; then
  "$prefix/bin/tenon" run "$model" -q >/dev/null
  echo "ok installed command"
  man -l "$prefix/share/man/man1/tenon.1" >/dev/null 2>&1 || ! command -v man >/dev/null
fi
