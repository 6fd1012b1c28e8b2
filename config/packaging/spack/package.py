# SPDX-License-Identifier: BSD-2-Clause
from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.generic import Package

from spack.package import *


class PetscAmb(Package, CudaPackage):
    """A plugin of PETSc: sparse matrix formats with fewer bytes, and fast products of matrices."""

    homepage = "https://example.org/petsc-amb"
    url = "https://example.org/petsc-amb/petsc-amb-0.1.0.tar.gz"

    license("BSD-2-Clause")

    # no checksum before there is a release: spack install --no-checksum, or spack develop
    version("0.1.0")

    variant("openmp", default=True, description="Threads in the kernels of the host")
    variant("nccl", default=False, when="+cuda", description="Messages between GPUs by NCCL")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")
    depends_on("gmake", type="build")
    depends_on("python@3.8:", type="build")
    depends_on("mpi")
    depends_on("petsc@3.18:3.26 +shared+mpi")
    depends_on("petsc+cuda~complex~int64", when="+cuda")
    depends_on("petsc~cuda", when="~cuda")
    depends_on("cuda@12:", when="+cuda")
    depends_on("nccl", when="+nccl")
    depends_on("zlib-api")
    depends_on("xz")
    depends_on("bzip2")

    def install(self, spec, prefix):
        options = [
            "--prefix=%s" % prefix,
            "--with-install=0",
            "--with-openmp=%d" % spec.satisfies("+openmp"),
            "--with-cuda=%d" % spec.satisfies("+cuda"),
            "--with-nccl=%s" % (spec["nccl"].prefix if spec.satisfies("+nccl") else "0"),
            "PETSC_DIR=%s" % spec["petsc"].prefix,
            "PETSC_ARCH=",
            "CC=%s" % spec["mpi"].mpicc,
        ]
        if spec.satisfies("+cuda") and "none" not in spec.variants["cuda_arch"].value:
            options.append("--with-cuda-arch=%s" % spec.variants["cuda_arch"].value[0])
        python("configure.py", *options)
        make("install", "STRIP=0")

    def setup_run_environment(self, env):
        env.set("PETSCAMB_LIBRARY", join_path(self.prefix.lib, "libpetscamb.so"))
