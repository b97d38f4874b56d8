# SPDX-License-Identifier: Apache-2.0
"""Puts the library named by TENON_LIBRARY into the wheel; without it the wheel is pure and finds the library at run time."""
import os
import shutil

from setuptools import setup
from setuptools.command.build_py import build_py

LIBRARY = os.environ.get("TENON_LIBRARY")
commands = {}


class BuildWithLibrary(build_py):
    """build_py, then the library beside the modules under the name they look for."""

    def run(self):
        super().run()
        folder = os.path.join(self.build_lib, "tenon")
        os.makedirs(folder, exist_ok=True)
        shutil.copyfile(LIBRARY, os.path.join(folder, "libtenon.so"))
        decoders = os.path.join(os.path.dirname(os.path.abspath(LIBRARY)), "libtenon-image.so.0")
        if os.path.exists(decoders):   # looked for beside libtenon.so when a model holds an ImageDecoder
            shutil.copyfile(decoders, os.path.join(folder, "libtenon-image.so.0"))


if LIBRARY:
    commands["build_py"] = BuildWithLibrary
    try:
        from setuptools.command.bdist_wheel import bdist_wheel
    except ImportError:
        from wheel.bdist_wheel import bdist_wheel

    class PlatformWheel(bdist_wheel):
        """Any Python 3, this platform only."""

        def finalize_options(self):
            super().finalize_options()
            self.root_is_pure = False

        def get_tag(self):
            return "py3", "none", super().get_tag()[2]

    commands["bdist_wheel"] = PlatformWheel

setup(cmdclass=commands)
