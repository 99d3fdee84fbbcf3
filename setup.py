"""Build the compiled kernels; the rest is in pyproject.toml.

They are optional: without a compiler the installation succeeds, and NumPy takes over.
"""

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "orthoselect._native",
            sources=["src/native/module.c", "src/native/products.c", "src/native/counts.c"],
            depends=["src/native/native.h", "src/native/thin.inc", "src/native/counts.inc"],
            extra_compile_args=["-O3", "-std=c11", "-ffp-contract=fast"],
            py_limited_api=True,
            optional=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
