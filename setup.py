"""Build the compiled kernels; the rest is in pyproject.toml.

They are optional: without a compiler the installation succeeds, and NumPy takes over.
ORTHOSELECT_SANITIZE=1 in the environment builds them so that a wrong access, or arithmetic that is
not defined, ends the process and says where; see `make sanitize`.
"""

import os
from glob import glob

from setuptools import Extension, setup

OPTIONS = ["-O3", "-std=c11", "-ffp-contract=fast", "-fno-trapping-math"]
LINK_OPTIONS = []
if os.environ.get("ORTHOSELECT_SANITIZE") == "1":
    LINK_OPTIONS = ["-fsanitize=address,undefined"]
    # For one processor only, and with few optimizations: it takes minutes otherwise.
    OPTIONS += [*LINK_OPTIONS, "-fno-sanitize-recover=all", "-O1", "-g1", "-DONE_PROCESSOR"]

setup(
    ext_modules=[
        Extension(
            "orthoselect._native",
            sources=sorted(glob("src/native/*.c")),
            depends=[*glob("src/native/*.h"), *glob("src/native/*.inc")],
            extra_compile_args=OPTIONS,
            extra_link_args=LINK_OPTIONS,
            py_limited_api=True,
            optional=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
