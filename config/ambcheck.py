# SPDX-License-Identifier: BSD-2-Clause
"""Configure's tests: small programs compiled, linked and run with the compiler and the PETSc chosen."""
import os
import re
import shlex
import subprocess
import tempfile

from ambsys import Stop

PETSC_PROGRAM = r"""
#include <petscksp.h>
int main(int argc, char **argv)
{
  PetscInt    major, minor, sub, release;
  char        vendor[MPI_MAX_LIBRARY_VERSION_STRING] = "MPIUNI";
  PetscMPIInt n;
  size_t      index;
  void       *query = NULL;
  int         aware = -1; /* not known */
  Mat         A;

  if (PetscInitialize(&argc, &argv, NULL, NULL)) return 1;
  if (PetscGetVersionNumber(&major, &minor, &sub, &release)) return 1;
  (void)n;
#if !defined(PETSC_HAVE_MPIUNI)
  if (MPI_Get_library_version(vendor, &n)) return 1;
  if (PetscDLSym(NULL, "MPIX_Query_cuda_support", &query)) return 1;
  if (query) aware = ((int (*)(void))query)();
#endif
  if (PetscDataTypeGetSize(PETSC_INT, &index)) return 1;
  if (MatCreate(PETSC_COMM_SELF, &A) || MatDestroy(&A)) return 1;
  printf("\nversion=%d.%d.%d scalar=%d real=%d index=%d aware=%d vendor=%.60s\n", (int)major, (int)minor, (int)sub, (int)sizeof(PetscScalar), (int)sizeof(PetscReal), (int)index, aware, vendor);
  return PetscFinalize() ? 1 : 0;
}
"""

OPENMP_PROGRAM = r"""
#include <omp.h>
int main(void)
{
  int n = 0;
#pragma omp parallel for reduction(+ : n)
  for (int i = 0; i < 100; i++) n += omp_get_num_threads() > 0;
  return n != 100;
}
"""

# every construct of the kernels, with the library's own threads; see "Threads" in CONTRIBUTING.md
POOL_PROGRAM = r"""
#include "sys/systhreads.h"
int main(void)
{
  int   n = 0, m = 0, turn = 0;
  float last = 0;

  SysThreadsChoose(1);
#pragma omp parallel num_threads(4) reduction(+ : n)
  {
#pragma omp for schedule(dynamic, 1) ordered nowait
    for (int i = 0; i < 100; i++) {
      n += omp_get_num_threads() == 4;
#pragma omp ordered
      m += turn++ == i;
    }
  }
#pragma omp parallel for num_threads(3) schedule(dynamic, 7) reduction(max : last)
  for (long i = 0; i < n; i++) last = i > last ? i : last;
#pragma omp parallel for num_threads(2) schedule(static) reduction(+ : turn)
  for (long i = 0; i < n; i++) turn += 1 + omp_get_thread_num() / 2;
  return n != 100 || m != 100 || turn != 200 || last != 99;
}
"""

ZLIB_PROGRAM = r"""
#include <zlib.h>
int main(void) { return gzopen("", "rb") != 0; }
"""

LZMA_PROGRAM = r"""
#include <lzma.h>
int main(void) { lzma_stream s = LZMA_STREAM_INIT; return lzma_stream_decoder(&s, UINT64_MAX, LZMA_CONCATENATED) != LZMA_OK; }
"""

BZ2_PROGRAM = r"""
#include <bzlib.h>
#include <string.h>
int main(void) { bz_stream s; memset(&s, 0, sizeof(s)); return BZ2_bzDecompressInit(&s, 0, 0) != BZ_OK; }
"""

# libraries for compressed files: a program that needs each, and its name for the linker
UNPACKERS = ((ZLIB_PROGRAM, "-lz"), (LZMA_PROGRAM, "-llzma"), (BZ2_PROGRAM, "-lbz2"))

AVX512_PROGRAM = r"""
#include <immintrin.h>
void f(double *y, const double *x, const int *j) { _mm512_storeu_pd(y, _mm512_fmadd_pd(_mm512_i32gather_pd(_mm256_loadu_si256((const __m256i *)j), x, 8), _mm512_loadu_pd(x), _mm512_loadu_pd(y))); }
int  main(void) { return 0; }
"""

AVX2_PROGRAM = r"""
#include <immintrin.h>
void f(double *y, const double *x, const int *j) { _mm256_storeu_pd(y, _mm256_fmadd_pd(_mm256_i32gather_pd(x, _mm_loadu_si128((const __m128i *)j), 8), _mm256_loadu_pd(x), _mm256_loadu_pd(y))); }
int  main(void) { return 0; }
"""

NCCL_PROGRAM = r"""
#include <nccl.h>
int main(void)
{
  __typeof__(ncclSend) *send = 0; /* the library itself is opened when it is used */
  return send != 0;
}
"""

# hypre's own matrix, whose arrays petsc-amb fills; older releases do not own the starts of rows and columns
HYPRE_PROGRAM = r"""
#include <petscmathypre.h>
#if HYPRE_RELEASE_NUMBER < 22300
  #error older than 2.23
#endif
_Static_assert(sizeof(HYPRE_Int) == sizeof(PetscInt) && sizeof(HYPRE_Complex) == sizeof(PetscScalar), "other numbers than PETSc's");
int main(int argc, char **argv) { return argc > 9 && hypre_ParCSRMatrixInitialize_v2(hypre_ParCSRMatrixCreate(MPI_COMM_SELF, 0, 0, NULL, NULL, 0, 0, 0), HYPRE_MEMORY_HOST); }
"""

AVX512_FLAGS = ["-mavx512f", "-mavx512vl", "-mavx512bw", "-mavx512dq", "-mavx2", "-mfma"]
AVX2_FLAGS = ["-mavx2", "-mfma"]


class Compiler:
    def __init__(self, cc, flags, log):
        self.cc, self.flags, self.log = cc, flags, log

    def works(self, program, flags=(), libs=(), run=False):
        """(true where it compiles, links and on demand runs; the output of the last step)"""
        with tempfile.TemporaryDirectory(prefix="petsc-amb-") as work:
            source, binary = os.path.join(work, "check.c"), os.path.join(work, "check")
            with open(source, "w") as out:
                out.write(program)
            code, text = self.log.capture(self.cc + self.flags + list(flags) + [source, "-o", binary] + list(libs))
            if code == 0 and run:
                env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_plm="isolated", ASAN_OPTIONS="detect_leaks=0")
                code, text = self.log.capture([binary], env=env, cwd=work, timeout=60)
            return code == 0, text

    def pool(self, root):
        """Whether what this compiler makes of OpenMP's pragmas runs on the library's own threads, without a library of OpenMP."""
        with tempfile.TemporaryDirectory(prefix="petsc-amb-") as work:
            source, binary = os.path.join(work, "check.c"), os.path.join(work, "check")
            with open(source, "w") as out:
                out.write(POOL_PROGRAM)
            sources = [source] + [os.path.join(root, "src", "sys", name) for name in ("systhreads.c", "systhreadspool.c")]
            objects = [os.path.join(work, "%d.o" % k) for k in range(len(sources))]
            steps = [self.cc + self.flags + ["-std=gnu11", "-O2", "-fopenmp", "-DPETSCAMB_HAVE_POOL", "-I" + os.path.join(root, "src"), "-c", name, "-o", to] for name, to in zip(sources, objects)]
            steps += [self.cc + self.flags + objects + ["-o", binary], [binary]]
            return all(self.log.capture(step, cwd=work, timeout=60)[0] == 0 for step in steps)

    def version(self):
        code, text = self.log.capture(self.cc + ["--version"])
        return text.splitlines()[0].strip() if code == 0 and text.strip() else ""


def missing_libraries(text):
    """Shared libraries that the loader did not find, from its message."""
    return re.findall(r"(\S+\.so\S*): cannot open shared object file", text)


def stand_ins(petsc, text, target, log):
    """On a machine without an NVIDIA driver a PETSc with CUDA lacks the driver's libraries: link the toolkit's stubs by the names asked for."""
    folders = re.findall(r"-L(\S+)", petsc.vars.get("CUDA_LIB", ""))
    made = False
    for name in missing_libraries(text):
        base = name.split(".so")[0] + ".so"
        for folder in folders + [os.path.join(folder, "stubs") for folder in folders]:
            if os.path.exists(os.path.join(folder, base)):
                os.makedirs(target, exist_ok=True)
                link = os.path.join(target, name)
                if os.path.lexists(link):
                    os.remove(link)
                os.symlink(os.path.join(folder, base), link)
                made = True
                break
    if made:
        log.say("  no NVIDIA driver here: running with the toolkit's stand-ins for its libraries")
    return made


def petsc(compiler, found, flags, libs, stubs):
    """Compile, link and run with PETSc; its answers must be those of its headers. Returns the MPI's name, whether it may be CUDA-aware (not
    where the library would believe that it is not, see ambpackage.c), and whether stand-ins are needed."""
    log, needs = compiler.log, False
    ok, text = compiler.works(PETSC_PROGRAM, flags, libs)
    if not ok:
        errors = [line for line in text.splitlines() if "error" in line][:4] or text.splitlines()[-4:]
        raise Stop("%s: a small program does not compile and link with it (compiler %s):\n  %s\nThe MPI compiler must be that of this PETSc: give it as CC=... (%s has all)"
                   % (found.where, " ".join(compiler.cc), "\n  ".join(errors), log.path))
    ok, text = compiler.works(PETSC_PROGRAM, flags, libs, run=True)
    for _ in range(4):
        if ok or not missing_libraries(text) or not stand_ins(found, text, stubs, log):
            break
        needs = True
        path = os.environ.get("LD_LIBRARY_PATH", "")
        if stubs not in path.split(":"):
            os.environ["LD_LIBRARY_PATH"] = ":".join(filter(None, (stubs, path)))
        ok, text = compiler.works(PETSC_PROGRAM, flags, libs, run=True)
    answer = re.search(r"^version=(\S+) scalar=(\d+) real=(\d+) index=(\d+) aware=(-?\d+) vendor=(.*)$", text, re.M)
    if not ok or not answer:
        raise Stop("%s: a small program links with it but does not run:\n  %s\n(%s has all)" % (found.where, "\n  ".join(text.splitlines()[-6:]), log.path))
    real = {"single": 4, "double": 8}[found.precision]
    expected = ("%d.%d.%d" % found.version, str(real * (1 + (found.scalar == "complex"))), str(real), str(found.index // 8))
    if answer.groups()[:4] != expected:
        raise Stop("%s: its library says version, scalar, real and index size %s, its headers say %s: they do not belong together"
                   % (found.where, " ".join(answer.groups()[:4]), " ".join(expected)))
    vendor = answer.group(6)
    unaware = answer.group(5) == "0" and ("Open MPI" in vendor or vendor.startswith("MPICH Version"))
    return vendor.split(",")[0].strip(), not unaware, needs


def nccl(compiler, given, cuda_home, flags):
    """What to compile with for NCCL, and where its library is looked for: (includes, linker flags), or None without its header, which a folder given must have."""
    for folder in [given] if given not in (None, "1") else ["", cuda_home]:
        include = ["-isystem", os.path.join(folder, "include")] if folder else []
        if compiler.works(NCCL_PROGRAM, include + flags)[0]:
            places = [os.path.join(os.path.abspath(folder), name) for name in ("lib", "lib64")] if folder else []
            return include, ["-Wl,-rpath," + place for place in places if os.path.exists(os.path.join(place, "libnccl.so.2"))]
    if given:
        raise Stop("--with-nccl=%s: no nccl.h there that a small program compiles with (%s has its messages). Give the folder that has include/nccl.h and lib/libnccl.so.2, or --with-nccl=0"
                   % (given, compiler.log.path))
    return None


def hypre(compiler, petsc, flags, libs):
    """What to compile and link with for the hypre that this PETSc has: (includes, linker flags), or None. A static hypre lies in PETSc's library, and must not be linked twice."""
    if "PETSC_HAVE_HYPRE" not in petsc.conf:
        return None
    words = shlex.split(petsc.vars.get("HYPRE_INCLUDE", ""))
    include = [flag for word in words if word.startswith("-I") for flag in ("-isystem", word[2:])]
    for link in ([], [word for word in shlex.split(petsc.vars.get("HYPRE_LIB", "")) if word.startswith(("-L", "-Wl,-rpath,", "-lHYPRE"))]):
        if compiler.works(HYPRE_PROGRAM, include + flags, libs + link)[0]:
            return include, link
    return None


def gpu_driver():
    """Whether the NVIDIA driver is here, so that CUDA programs can be run and not only compiled."""
    try:
        return subprocess.run(["nvidia-smi", "-L"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False
