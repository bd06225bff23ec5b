"""cffi's declarations of native/native.h and tansu.h, for setup.py."""

import os
import re
import shlex
import sys
from pathlib import Path

from cffi import FFI

ENGINE = Path(os.environ["TANSU_ENGINE"])


def declarations(path):
    """A header as cffi reads it: without comments, macros and lines of the preprocessor."""
    text = Path(path).read_text(encoding="utf-8")
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
    text = re.sub(r"^#(?:.*\\\n)*.*$", "", text, flags=re.MULTILINE)
    return text.replace("TANSU_API ", "").replace('extern "C" {\n', "").replace("\n}\n\n", "\n\n")


ffi = FFI()
ffi.cdef(declarations(ENGINE / "tansu.h"))
ffi.cdef(declarations("native/native.h"))
ffi.cdef('extern "Python+C" {%s}' % declarations("native/callbacks.h"))
ffi.set_source(
    "tansu._native",
    '#include "native.h"',
    sources=["native/native.c", "native/interrupt.c"],
    depends=["native/native.h", "native/interrupt.h", "native/callbacks.h", str(ENGINE / "tansu.h"), "build/flags"],
    include_dirs=["native", str(ENGINE)],
    define_macros=[("_GNU_SOURCE", None)],
    extra_compile_args=["-g0", "-fvisibility=hidden"],
    libraries=["tansu_engine", "z", "m"],
    extra_link_args=[
        *shlex.split(os.environ["TANSU_LINK"]),
        *([] if sys.platform == "darwin" else ["-Wl,--exclude-libs,ALL"]),
        "-pthread",
    ],
    py_limited_api=True,
)
