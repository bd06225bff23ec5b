"""Builds the package with the whole engine in it.

In a checkout CEngine/amalgamate makes tansu.c, which a source distribution contains. The optional libraries of the engine are
used where pkg-config finds them, linked statically where that is possible, except those that the environment variable
TANSU_WITHOUT names, such as "libpcre2-8 liblz4".
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from setuptools import setup
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE / ".." / ".." / ".."  # there is none around a source distribution
PACKED = Path("engine")  # of a source distribution
MADE = Path("build", "engine")
NOTICES = ["LICENSE", "NOTICE"]
OPTIONAL = ["libpcre2-8", "liblz4", "libdeflate", "libcrypto"]


def engine():
    """The folder with tansu.c, tansu.h and their licence, relative to this file."""
    if PACKED.exists():
        return PACKED
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, str(CHECKOUT / "CEngine" / "amalgamate"), folder], check=True)
        os.makedirs(MADE, exist_ok=True)
        for path in [*Path(folder).iterdir(), *(CHECKOUT / name for name in NOTICES)]:
            write(MADE / path.name, path.read_bytes())
    return MADE


def write(path, data):
    """Writes a file unless it is the same: what is made of it is then not made again."""
    if not path.exists() or path.read_bytes() != data:
        path.write_bytes(data)


def pkg_config(*arguments):
    return shlex.split(subprocess.run(["pkg-config", *arguments], check=True, capture_output=True, text=True).stdout)


def found(library):
    try:
        return subprocess.run(["pkg-config", "--exists", library]).returncode == 0
    except OSError:
        return False


def archive(library):
    """The static library, if it can be part of a shared one."""
    compiler = shlex.split(os.environ.get("CC", "cc"))
    named = subprocess.run([*compiler, f"-print-file-name={library}.a"], check=True, capture_output=True, text=True)
    path = named.stdout.strip()
    whole = [f"-Wl,-force_load,{path}"] if sys.platform == "darwin" else ["-Wl,--whole-archive", path, "-Wl,--no-whole-archive"]
    with tempfile.TemporaryDirectory() as folder:
        command = [*compiler, "-shared", "-o", str(Path(folder, "trial.so")), *whole]
        linked = os.path.isabs(path) and subprocess.run(command, capture_output=True).returncode == 0
    return path if linked else None


def optional_libraries():
    """Flags of the compiler and the linker."""
    compile_flags, link_flags = [], []
    without = os.environ.get("TANSU_WITHOUT", "").split()
    for library in OPTIONAL:
        if library in without or not found(library):
            continue
        static = archive(library)
        name = re.sub(r"\W", "_", library.upper())
        compile_flags += [f"-DWITH_{name}", *pkg_config("--cflags", library)]
        link_flags += [static] if static else pkg_config("--libs", library)
    return compile_flags, link_flags


class SourceDistribution(sdist):
    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        shutil.copytree(folder, Path(base_dir, PACKED), dirs_exist_ok=True)


os.chdir(HERE)
folder = engine()
os.environ["TANSU_ENGINE"] = str(folder)  # for build_native.py
compile_flags, link_flags = optional_libraries()
os.environ["TANSU_LINK"] = shlex.join(link_flags)
flags = Path("build", "flags")
os.makedirs(flags.parent, exist_ok=True)
write(flags, repr((compile_flags, link_flags)).encode())
header = (folder / "tansu.h").read_text(encoding="utf-8")
version = ".".join(re.search(rf"TANSU_VERSION_{part} (\d+)", header).group(1) for part in ("MAJOR", "MINOR", "PATCH"))
setup(
    version=version,
    license_files=[str(folder / name) for name in NOTICES],
    libraries=[
        (
            "tansu_engine",
            {
                "sources": [str(folder / "tansu.c")],
                "obj_deps": {str(folder / "tansu.c"): [str(folder / "tansu.h"), str(flags)]},
                "cflags": ["-O2", "-g0", "-fvisibility=hidden", *compile_flags],
            },
        )
    ],
    cffi_modules=["build_native.py:ffi"],
    cmdclass={"sdist": SourceDistribution},
    options={"bdist_wheel": {"py_limited_api": "cp39"}},
)
