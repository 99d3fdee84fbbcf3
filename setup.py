"""Build the compiled kernels; the rest is in pyproject.toml.

They are optional: without a compiler the installation succeeds, and NumPy takes over.
"""

from glob import glob

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "orthoselect._native",
            sources=sorted(glob("src/native/*.c")),
            depends=[*glob("src/native/*.h"), *glob("src/native/*.inc")],
            extra_compile_args=["-O3", "-std=c11", "-ffp-contract=fast", "-fno-trapping-math"],
            py_limited_api=True,
            optional=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
