"""Build the compiled kernels; the rest is in pyproject.toml.

ORTHOSELECT_KERNELS in the environment says what to do about them:

- "optional", the default: without a compiler the installation succeeds, and NumPy takes over;
- "required": a build without them fails, as it has to for wheels that others install;
- "never": a wheel of pure Python, for any system (py3-none-any).

Two more are for tests. ORTHOSELECT_SANITIZE=1 builds them so that a wrong access, or arithmetic
that is not defined, ends the process and says where; see `make sanitize`. ORTHOSELECT_PLAIN_C=1
builds what compilers without GCC's extensions get, in strict C99; see `make native-check`.
"""

import os
import sysconfig
from glob import glob

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

CHOICES = ("optional", "required", "never")
OLDEST_PYTHON = (3, 11)  # the limited API's version: one wheel serves it and all newer ones

kernels = os.environ.get("ORTHOSELECT_KERNELS", "optional")
if kernels not in CHOICES:
    raise SystemExit(f"ORTHOSELECT_KERNELS should be one of {', '.join(CHOICES)}, got {kernels!r}.")
sanitize = os.environ.get("ORTHOSELECT_SANITIZE") == "1"
plain_c = os.environ.get("ORTHOSELECT_PLAIN_C") == "1"
# Python without the global lock has no limited API: a wheel for each of its versions.
limited_api = not sysconfig.get_config_var("Py_GIL_DISABLED")


def compile_options(compiler_type: str) -> list[str]:
    """Return the options for Microsoft's compiler, or for those that understand GCC's."""
    if compiler_type == "msvc":
        return ["/O2", "/std:c11"]
    options = ["-O3", "-ffp-contract=fast", "-fno-trapping-math"]
    options += ["-std=c99", "-pedantic", "-DORTHOSELECT_PLAIN_C"] if plain_c else ["-std=c11"]
    if sanitize:
        # For one processor only, and with few optimizations: it takes minutes otherwise.
        options += ["-fno-sanitize-recover=all", "-O1", "-g1", "-DONE_PROCESSOR"]
    return options


class BuildKernels(build_ext):
    """Build with the options that the compiler understands."""

    def build_extension(self, ext: Extension) -> None:
        """Compile one extension."""
        watch = ["-fsanitize=address,undefined"] if sanitize else []
        ext.extra_compile_args = [*compile_options(self.compiler.compiler_type), *watch]
        ext.extra_link_args = watch
        super().build_extension(ext)


extension = Extension(
    "orthoselect._native",
    sources=sorted(glob("src/native/*.c")),
    depends=[*glob("src/native/*.h"), *glob("src/native/*.inc")],
    define_macros=[("Py_LIMITED_API", "0x{:02X}{:02X}0000".format(*OLDEST_PYTHON))]
    if limited_api
    else [],
    py_limited_api=limited_api,
    optional=kernels == "optional",
)
tag = {"py_limited_api": "cp{}{}".format(*OLDEST_PYTHON)}

if kernels == "never":
    setup()
else:
    setup(
        ext_modules=[extension],
        cmdclass={"build_ext": BuildKernels},
        options={"bdist_wheel": tag} if limited_api else {},
    )
