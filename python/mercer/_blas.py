"""OpenBLAS with the kernels that the CPU has, before the compiled part is loaded.

An OpenBLAS older than the CPU does not know its number and takes it for the oldest relative, several times slower. The library mends that when
it is loaded into a program of one thread, which Python with numpy is not: numpy's own BLAS has threads. Here it is certain instead that nobody
else uses this copy, because it was not loaded before.
"""
# SPDX-License-Identifier: BSD-3-Clause
import ctypes
import os

_MODERN = {b"Haswell", b"Zen", b"SkylakeX", b"Cooperlake", b"SapphireRapids", b"Excavator"}


def choose_kernels() -> None:
    try:
        with open("/proc/self/maps") as maps, open("/proc/cpuinfo") as info:
            loaded = "/libopenblas" in maps.read()
            flags = set(next((line for line in info if line.startswith("flags")), "").split())
    except OSError:
        return
    if loaded or "OPENBLAS_CORETYPE" in os.environ or not {"avx2", "fma"} <= flags:
        return
    try:
        blas = ctypes.CDLL("libopenblas.so.0")
        blas.openblas_get_corename.restype = ctypes.c_char_p
        if blas.openblas_get_corename() in _MODERN:
            return
        os.environ["OPENBLAS_CORETYPE"] = "SkylakeX" if {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= flags else "Haswell"
        blas.gotoblas_dynamic_quit()
        blas.gotoblas_dynamic_init()
    except (OSError, AttributeError):  # another BLAS, or one that has no choice
        return
    finally:
        os.environ.pop("OPENBLAS_CORETYPE", None)
