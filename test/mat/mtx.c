/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "MatLoadMatrixMarket(): every kind of file, every matrix type it fills, every complaint; on any number of ranks.\n\n";

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "../testutil.h"
#if defined(PETSCAMB_HAVE_ZLIB)
  #include <zlib.h>
#endif
#if defined(PETSCAMB_HAVE_LZMA)
  #include <lzma.h>
#endif
#if defined(PETSCAMB_HAVE_BZ2)
  #include <bzlib.h>
#endif

#define COMPLEX_GENERAL   "%%MatrixMarket matrix coordinate complex general\n"
#define COMPLEX_HERMITIAN "%%MatrixMarket matrix coordinate complex hermitian\n"
#define COMPLEX_SKEW      "%%MatrixMarket matrix coordinate complex skew-symmetric\n"
#define COMPLEX_SYMMETRIC "%%MatrixMarket matrix coordinate complex symmetric\n"
#define INTEGER_GENERAL   "%%MatrixMarket matrix coordinate integer general\n"
#define INTEGER_SKEW      "%%MatrixMarket matrix coordinate integer skew-symmetric\n"
#define PATTERN_GENERAL   "%%MatrixMarket matrix coordinate pattern general\n"
#define REAL_GENERAL      "%%MatrixMarket matrix coordinate real general\n"
#define REAL_SKEW         "%%MatrixMarket matrix coordinate real skew-symmetric\n"
#define REAL_SYMMETRIC    "%%MatrixMarket matrix coordinate real symmetric\n"

/* The programs that may compress a file, besides none */
static const char *const packers[] = {
  "none",
#if defined(PETSCAMB_HAVE_ZLIB)
  "gzip",
#endif
#if defined(PETSCAMB_HAVE_LZMA)
  "xz",
#endif
#if defined(PETSCAMB_HAVE_BZ2)
  "bzip2",
#endif
};
#define PACKERS ((int)PETSC_STATIC_ARRAY_LENGTH(packers))

static char path[PETSC_MAX_PATH_LEN];

/* Compresses a text; room is enough for any */
static PetscErrorCode Pack(const char program[], const char *text, size_t length, char *packed, size_t *room)
{
  PetscBool fine = PETSC_FALSE;

  PetscFunctionBeginUser;
#if defined(PETSCAMB_HAVE_ZLIB)
  if (!strcmp(program, "gzip")) {
    z_stream z;

    memset(&z, 0, sizeof(z));
    fine        = deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK ? PETSC_TRUE : PETSC_FALSE; /* 16: as gzip does */
    z.next_in   = (unsigned char *)text;
    z.avail_in  = (unsigned)length;
    z.next_out  = (unsigned char *)packed;
    z.avail_out = (unsigned)*room;
    if (fine) fine = deflate(&z, Z_FINISH) == Z_STREAM_END ? PETSC_TRUE : PETSC_FALSE;
    *room = z.total_out;
    (void)deflateEnd(&z);
  }
#endif
#if defined(PETSCAMB_HAVE_LZMA)
  if (!strcmp(program, "xz")) {
    size_t size = 0;

    fine  = lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, (const uint8_t *)text, length, (uint8_t *)packed, &size, *room) == LZMA_OK ? PETSC_TRUE : PETSC_FALSE;
    *room = size;
  }
#endif
#if defined(PETSCAMB_HAVE_BZ2)
  if (!strcmp(program, "bzip2")) { /* two streams, as parallel compressors write */
    const size_t half  = length / 2;
    unsigned     first = (unsigned)*room, second;

    fine   = BZ2_bzBuffToBuffCompress(packed, &first, (char *)text, (unsigned)half, 1, 0, 0) == BZ_OK ? PETSC_TRUE : PETSC_FALSE;
    second = (unsigned)*room - first;
    if (fine) fine = BZ2_bzBuffToBuffCompress(packed + first, &second, (char *)text + half, (unsigned)(length - half), 1, 0, 0) == BZ_OK ? PETSC_TRUE : PETSC_FALSE;
    *room = first + second;
  }
#endif
  PetscCheck(fine, PETSC_COMM_SELF, PETSC_ERR_LIB, "%s does not compress", program);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first rank writes a file: length bytes of text, or a string if length is 0; compressed if wanted, and without its last bytes */
static PetscErrorCode Write(const char *text, size_t length, int compressed, size_t cut)
{
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (!length) length = strlen(text);
  if (!rank) {
    FILE  *f      = fopen(path, "wb");
    char  *packed = NULL;
    size_t size   = length + length / 8 + 4096;

    if (compressed) {
      PetscCall(PetscMalloc1(size, &packed));
      PetscCall(Pack(packers[compressed], text, length, packed, &size));
      text   = packed;
      length = size - cut;
    }
    PetscCheck(f && fwrite(text, 1, length, f) == length && !fclose(f), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "Cannot write %s", path);
    PetscCall(PetscFree(packed));
  }
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------- what must be read ------------------------------------------------------- */

typedef struct {
  PetscInt i, j; /* from 1; 0 ends a list */
  double   re, im;
} Entry;

static PetscScalar Number(const Entry *e)
{
#if defined(PETSC_USE_COMPLEX)
  return PetscCMPLX((PetscReal)e->re, (PetscReal)e->im);
#else
  return (PetscReal)e->re;
#endif
}

/* Whether the matrix has the entries listed, adding up those listed more than once, and zeros elsewhere; products show what any type holds */
static PetscErrorCode DiffEntries(TestDiff *d, Mat A, PetscInt m, PetscInt n, const Entry *entries)
{
  PetscInt           M, N, begin, end;
  PetscScalar       *want;
  const PetscScalar *got;
  Vec                x, y;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &M, &N));
  TestExpect(d, "sizes", (PetscBool)(M == m && N == n));
  PetscCall(PetscCalloc1(m * n, &want));
  for (const Entry *e = entries; e->i; e++) want[(e->i - 1) * n + e->j - 1] += Number(e);
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt j = 0; j < n; j++) {
    PetscCall(VecSet(x, 0));
    PetscCall(VecSetValue(x, j, 1, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(x));
    PetscCall(VecAssemblyEnd(x));
    PetscCall(MatMult(A, x, y));
    PetscCall(VecGetArrayRead(y, &got));
    for (PetscInt i = begin; i < end; i++) TestExpect(d, "values", (PetscBool)(got[i - begin] == want[i * n + j]));
    PetscCall(VecRestoreArrayRead(y, &got));
  }
  PetscCall(TestDestroy(&x, &y));
  PetscCall(PetscFree(want));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  const char *name, *text;
  PetscInt    m, n, nonzeros;
  Entry       entries[16];
} Good;

static const Good good[] = {
  {"real",                      REAL_GENERAL "3 4 3\n1 1 1.5\n3 4 -2e-3\n2 1 7\n",                                                                             3, 4, 3, {{1, 1, 1.5, 0}, {3, 4, -2e-3, 0}, {2, 1, 7, 0}}                                                                              },
  {"integer",                   INTEGER_GENERAL "2 2 2\n1 2 -12345678\n2 1 +3\n",                                                                              2, 2, 2, {{1, 2, -12345678, 0}, {2, 1, 3, 0}}                                                                                          },
  {"pattern",                   PATTERN_GENERAL "2 3 2\n1 2\n2 3\n",                                                                                           2, 3, 2, {{1, 2, 1, 0}, {2, 3, 1, 0}}                                                                                                  },
  {"symmetric",                 REAL_SYMMETRIC "4 4 5\n1 1 1\n2 1 2\n4 1 3\n3 3 4\n4 3 5\n",                                                                   4, 4, 8, {{1, 1, 1, 0}, {2, 1, 2, 0}, {1, 2, 2, 0}, {4, 1, 3, 0}, {1, 4, 3, 0}, {3, 3, 4, 0}, {4, 3, 5, 0}, {3, 4, 5, 0}}              },
  {"skew-symmetric",            INTEGER_SKEW "3 3 2\n2 1 2\n3 2 -4\n",                                                                                         3, 3, 4, {{2, 1, 2, 0}, {1, 2, -2, 0}, {3, 2, -4, 0}, {2, 3, 4, 0}}                                                                    },
  {"case-comments-blanks-crlf", "%%MATRIXMARKET Matrix COORDINATE Real General\r\n% one\r\n\r\n%\r\n  2 2  2\r\n\r\n % two\r\n 1\t1  1.5 \r\n2 2 2.5\r\n\r\n", 2, 2, 2, {{1, 1, 1.5, 0}, {2, 2, 2.5, 0}}                                                                                              },
  {"no-last-line-feed",         REAL_GENERAL "2 2 1\n2 2 2.5",                                                                                                 2, 2, 1, {{2, 2, 2.5, 0}}                                                                                                              },
  {"duplicates",                REAL_SYMMETRIC "3 3 6\n3 1 1\n2 2 5\n3 1 2\n2 2 6\n3 1 4\n1 1 9\n",                                                            3, 3, 4, {{3, 1, 7, 0}, {1, 3, 7, 0}, {2, 2, 11, 0}, {1, 1, 9, 0}}                                                                     },
  {"unsorted",                  REAL_GENERAL "2 5 6\n2 5 1\n1 4 2\n2 1 3\n1 3 4\n2 3 5\n1 1 6\n",                                                              2, 5, 6, {{2, 5, 1, 0}, {1, 4, 2, 0}, {2, 1, 3, 0}, {1, 3, 4, 0}, {2, 3, 5, 0}, {1, 1, 6, 0}}                                          },
  {"zeros-are-kept",            REAL_GENERAL "2 2 3\n1 1 0\n1 2 1\n2 2 0.0\n",                                                                                 2, 2, 3, {{1, 2, 1, 0}}                                                                                                                },
  {"no-entries",                REAL_GENERAL "5 3 0\n",                                                                                                        5, 3, 0, {{0, 0, 0, 0}}                                                                                                                },
  {"no-rows",                   REAL_GENERAL "0 3 0\n",                                                                                                        0, 3, 0, {{0, 0, 0, 0}}                                                                                                                },
  {"nothing",                   REAL_SYMMETRIC "0 0 0\n",                                                                                                      0, 0, 0, {{0, 0, 0, 0}}                                                                                                                },
  {"one-row",                   REAL_GENERAL "1 6 2\n1 6 1\n1 2 2\n",                                                                                          1, 6, 2, {{1, 6, 1, 0}, {1, 2, 2, 0}}                                                                                                  },
  {"one-column",                REAL_GENERAL "6 1 2\n6 1 1\n2 1 2\n",                                                                                          6, 1, 2, {{6, 1, 1, 0}, {2, 1, 2, 0}}                                                                                                  },
  {"array",                     "%%MatrixMarket matrix array real general\n3 2\n1\n0\n3\n\n% c\n4\n5\n0\n",                                                    3, 2, 4, {{1, 1, 1, 0}, {3, 1, 3, 0}, {1, 2, 4, 0}, {2, 2, 5, 0}}                                                                      },
  {"array-zero-diagonal",       "%%MatrixMarket matrix array integer general\n2 2\n0\n0\n3\n4\n",                                                              2, 2, 3, {{1, 2, 3, 0}, {2, 2, 4, 0}}                                                                                                  },
  {"array-symmetric",           "%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n",                                                         3, 3, 9, {{1, 1, 1, 0}, {2, 1, 2, 0}, {1, 2, 2, 0}, {3, 1, 3, 0}, {1, 3, 3, 0}, {2, 2, 4, 0}, {3, 2, 5, 0}, {2, 3, 5, 0}, {3, 3, 6, 0}}},
  {"array-skew-symmetric",      "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n",                                                             3, 3, 6, {{2, 1, 1, 0}, {1, 2, -1, 0}, {3, 1, 2, 0}, {1, 3, -2, 0}, {3, 2, 3, 0}, {2, 3, -3, 0}}                                       }
};

static const Good complexes[] = {
  {"complex",                 COMPLEX_GENERAL "2 2 2\n1 1 1.5 -1\n2 1 0 3\n",                        2, 2, 2, {{1, 1, 1.5, -1}, {2, 1, 0, 3}}                          },
  {"complex-symmetric",       COMPLEX_SYMMETRIC "2 2 2\n1 1 1.5 -1\n2 1 0 3\n",                      2, 2, 3, {{1, 1, 1.5, -1}, {2, 1, 0, 3}, {1, 2, 0, 3}}            },
  {"complex-skew-symmetric",  COMPLEX_SKEW "2 2 1\n2 1 1 3\n",                                       2, 2, 2, {{2, 1, 1, 3}, {1, 2, -1, -3}}                           },
  {"complex-hermitian",       COMPLEX_HERMITIAN "2 2 2\n1 1 1.5 0\n2 1 2 3\n",                       2, 2, 3, {{1, 1, 1.5, 0}, {2, 1, 2, 3}, {1, 2, 2, -3}}            },
  {"complex-array-hermitian", "%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 3\n4 0\n", 2, 2, 4, {{1, 1, 1, 0}, {2, 1, 2, 3}, {1, 2, 2, -3}, {2, 2, 4, 0}}}
};

static PetscErrorCode TestGood(const Good *g)
{
  TestDiff d = {NULL, 0};
  Mat      A;
  MatInfo  info;
  char     name[64];

  PetscFunctionBeginUser;
  for (int compressed = 0; compressed < PACKERS; compressed++) {
    PetscCall(Write(g->text, 0, compressed, 0));
    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    PetscCall(MatLoadMatrixMarket(A, path));
    PetscCall(DiffEntries(&d, A, g->m, g->n, g->entries));
    PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
    TestExpect(&d, "number of nonzeros", (PetscBool)(info.nz_used == (PetscLogDouble)g->nonzeros));
    TestExpect(&d, "preallocation", (PetscBool)(info.mallocs == 0 && info.nz_unneeded == 0));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscSNPrintf(name, sizeof(name), "read-%s", g->name));
  PetscCall(TestReport(name, &d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------- types and sizes ------------------------------------------------------- */

static const char  symmetric[]         = REAL_SYMMETRIC "6 6 9\n1 1 4\n2 2 5\n3 3 6\n4 4 7\n5 5 8\n6 6 9\n2 1 -1\n5 2 -2\n6 1 -3\n";
static const Entry symmetric_entries[] = {
  {1, 1, 4,  0},
  {2, 2, 5,  0},
  {3, 3, 6,  0},
  {4, 4, 7,  0},
  {5, 5, 8,  0},
  {6, 6, 9,  0},
  {2, 1, -1, 0},
  {1, 2, -1, 0},
  {5, 2, -2, 0},
  {2, 5, -2, 0},
  {6, 1, -3, 0},
  {1, 6, -3, 0},
  {0, 0, 0,  0}
};

static PetscErrorCode TestTypes(void)
{
  static const char *const types[] = {MATAIJ, MATAIJPERM, MATAMB, MATBAIJ, MATSBAIJ, MATDENSE};

  PetscFunctionBeginUser;
  PetscCall(Write(symmetric, 0, 0, 0));
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(types); t++) {
    for (PetscInt bs = 1; bs <= 3; bs++) {
      TestDiff d = {NULL, 0};
      Mat      A;
      PetscInt is;
      char     name[64];

      PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
      PetscCall(MatSetType(A, types[t]));
      if (bs > 1) PetscCall(MatSetBlockSize(A, bs));
      PetscCall(MatLoadMatrixMarket(A, path));
      PetscCall(DiffEntries(&d, A, 6, 6, symmetric_entries));
      PetscCall(MatGetBlockSize(A, &is));
      TestExpect(&d, "block size", (PetscBool)(is == bs));
      PetscCall(MatLoadMatrixMarket(A, path));
      PetscCall(DiffEntries(&d, A, 6, 6, symmetric_entries));
      PetscCall(MatDestroy(&A));
      PetscCall(PetscSNPrintf(name, sizeof(name), "type-%s-block-%" PetscInt_FMT, types[t], bs));
      PetscCall(TestReport(name, &d));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSizes(TestDiff *d)
{
  PetscMPIInt rank, size;
  PetscInt    m, n;
  Mat         A;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(Write(symmetric, 0, 0, 0));
  for (int known = 0; known < 2; known++) {
    /* all rows on the last rank, all columns on the first */
    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    PetscCall(MatSetSizes(A, rank == size - 1 ? 6 : 0, rank ? 0 : 6, known ? 6 : PETSC_DETERMINE, known ? 6 : PETSC_DETERMINE));
    PetscCall(MatLoadMatrixMarket(A, path));
    PetscCall(MatGetLocalSize(A, &m, &n));
    TestExpect(d, "local sizes", (PetscBool)(m == (rank == size - 1 ? 6 : 0) && n == (rank ? 0 : 6)));
    PetscCall(DiffEntries(d, A, 6, 6, symmetric_entries));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, 6, 6));
  PetscCall(MatLoadMatrixMarket(A, path));
  PetscCall(DiffEntries(d, A, 6, 6, symmetric_entries));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------- large files ------------------------------------------------------- */

#define ROWS         30000
#define COLUMN(i, k) (((i)*7 + (k) * (k)*1009 + (k)) % ROWS)

/* Some 12 MB, several pieces, with a comment longer than a piece in between; entries are not in order */
static PetscErrorCode TestLarge(TestDiff *d, int compressed)
{
  const size_t comment = 5000000, room = comment + 40 * 8 * (size_t)ROWS;
  char        *text, *p;
  Mat          A, B;
  PetscReal    norm;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(room, &text));
  p = text + snprintf(text, room, "%s%d %d %d\n", REAL_GENERAL, ROWS, ROWS, 8 * ROWS);
  PetscCall(MatCreate(PETSC_COMM_WORLD, &B));
  PetscCall(MatSetSizes(B, PETSC_DECIDE, PETSC_DECIDE, ROWS, ROWS));
  PetscCall(MatSetType(B, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocation(B, 8, NULL));
  PetscCall(MatMPIAIJSetPreallocation(B, 8, NULL, 8, NULL));
  for (PetscInt k = 0; k < 8; k++) {
    PetscInt begin, end;

    PetscCall(MatGetOwnershipRange(B, &begin, &end));
    for (PetscInt i = 0; i < ROWS; i++) {
      const PetscInt  j = COLUMN(i, k);
      const PetscReal v = TestReal(i, j);

      p += snprintf(p, room - (size_t)(p - text), "%d %d %.17g\n", (int)i + 1, (int)j + 1, (double)v);
      if (i >= begin && i < end) PetscCall(MatSetValue(B, i, j, (PetscScalar)v, ADD_VALUES));
    }
    if (k == 4) {
      *p = '%';
      memset(p + 1, 'x', comment - 2);
      p[comment - 1] = '\n';
      p += comment;
    }
  }
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscCall(Write(text, (size_t)(p - text), compressed, 0));
  PetscCall(PetscFree(text));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatLoadMatrixMarket(A, path));
  PetscCall(MatAXPY(B, -1, A, SAME_NONZERO_PATTERN));
  PetscCall(MatNorm(B, NORM_INFINITY, &norm));
  TestDiffAdd(d, "values", norm);
  PetscCall(TestDestroy(&A, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A file that ends exactly where a piece does, with entries before and behind a comment that is no longer than a piece */
static PetscErrorCode TestBoundary(TestDiff *d)
{
  const Entry entries[] = {
    {1, 1, 1, 0},
    {2, 2, 2, 0},
    {0, 0, 0, 0}
  };
  const char   first[] = REAL_GENERAL "2 2 2\n", last[] = "2 2 2\n";
  const size_t length = sizeof(first) - 1 + (4 << 20), behind = length - (sizeof(last) - 1);
  char        *text;
  Mat          A;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(length + 1, &text));
  memset(text, 'x', length);
  memcpy(text, first, sizeof(first) - 1);
  memcpy(text + sizeof(first) - 1, "1 1 1\n%", 7);
  text[behind - 1] = '\n';
  memcpy(text + behind, last, sizeof(last) - 1);
  for (int compressed = 0; compressed < PACKERS; compressed++) {
    PetscCall(Write(text, length, compressed, 0));
    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    PetscCall(MatLoadMatrixMarket(A, path));
    PetscCall(DiffEntries(d, A, 2, 2, entries));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscFree(text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An array in several pieces: each rank must find out where its values belong */
static PetscErrorCode TestLargeArray(TestDiff *d, int compressed)
{
  const PetscInt m = 700, n = 600;
  const size_t   room = (size_t)(26 * m * n + 200);
  char          *text, *p;
  Mat            A;
  PetscInt       begin, end;
  PetscScalar    v;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(room, &text));
  p = text + snprintf(text, room, "%%%%MatrixMarket matrix array real general\n%d %d\n", (int)m, (int)n);
  for (PetscInt j = 0; j < n; j++) {
    for (PetscInt i = 0; i < m; i++) p += snprintf(p, room - (size_t)(p - text), "%.17g\n", (double)TestReal(i, j));
  }
  PetscCall(Write(text, (size_t)(p - text), compressed, 0));
  PetscCall(PetscFree(text));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetType(A, MATDENSE));
  PetscCall(MatLoadMatrixMarket(A, path));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    for (PetscInt j = 0; j < n; j++) {
      PetscCall(MatGetValues(A, 1, &i, 1, &j, &v));
      TestDiffAdd(d, "values", PetscAbsScalar(v - (PetscScalar)TestReal(i, j)));
    }
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows too long for the simple sort, in a scrambled order, every entry in two parts */
static PetscErrorCode TestLongRows(TestDiff *d)
{
  const PetscInt m = 3, n = 331;
  const size_t   room = 20 * 2 * (size_t)(m * n) + 100;
  char          *text, *p;
  Entry         *entries;
  Mat            A;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(room, &text));
  PetscCall(PetscCalloc1(2 * m * n + 1, &entries));
  p = text + snprintf(text, room, "%s3 331 993\n", REAL_GENERAL);
  for (PetscInt k = 0; k < m * n; k++) {
    const PetscInt position = k / 2 * 2 * 173 % (m * n); /* about half of the positions, twice each */
    const Entry    e        = {1 + position / n, 1 + position % n, (double)k + 1, 0};

    entries[k] = e;
    p += snprintf(p, room - (size_t)(p - text), "%d %d %g\n", (int)e.i, (int)e.j, e.re);
  }
  PetscCall(Write(text, 0, 0, 0));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatLoadMatrixMarket(A, path));
  PetscCall(DiffEntries(d, A, m, n, entries));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFree(text));
  PetscCall(PetscFree(entries));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------- what must be refused ------------------------------------------------------- */

static char           message[1024];
static PetscErrorCode code;

/* Keeps the first error and says nothing */
static PetscErrorCode Keep(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode n, PetscErrorType p, const char *text, void *ctx)
{
  if (p == PETSC_ERROR_INITIAL) {
    code = n;
    snprintf(message, sizeof(message), "%s", text);
  }
  return n;
}

/* Loads a file that must be refused on all ranks with that code, and a message with that line and reason */
static PetscErrorCode Refuse(TestDiff *d, Mat A, const char *file, PetscErrorCode want, int line, const char *reason)
{
  PetscErrorCode ierr;
  char           position[PETSC_MAX_PATH_LEN + 32];

  PetscFunctionBeginUser;
  message[0] = 0;
  PetscCall(PetscPushErrorHandler(Keep, NULL));
  ierr = MatLoadMatrixMarket(A, file);
  PetscCall(PetscPopErrorHandler());
  snprintf(position, sizeof(position), line ? "%s:%d: " : "%s", file, line);
  TestExpect(d, "an error", (PetscBool)(ierr != 0));
  TestExpect(d, "its code", (PetscBool)(ierr == want && code == want));
  TestExpect(d, "the file and the line in its message", (PetscBool)(strstr(message, position) != NULL));
  TestExpect(d, "the reason in its message", (PetscBool)(strstr(message, reason) != NULL));
  if (d->err > 0) PetscCall(PetscSynchronizedPrintf(PETSC_COMM_SELF, "# error %d: %s\n", (int)ierr, message));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A process that cannot read what the first one reads is a fault of all; on one process there is none */
static PetscErrorCode TestSplitView(TestDiff *d)
{
  PetscMPIInt rank, size;
  Mat         A;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(Write(symmetric, 0, 0, 0));
  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(Refuse(d, A, rank ? "/nonexistent/x.mtx" : path, PETSC_ERR_FILE_OPEN, 0, "cannot open the file: No such file"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  const char *name, *text;
  int         line;
  const char *reason;
} Bad;

static const Bad bad[] = {
  {"empty",                     "\n",                                                                2, "the file is empty"                        },
  {"no-header",                 "3 3 1\n1 1 1\n",                                                    1, "no Matrix Market file"                    },
  {"object",                    "%%MatrixMarket vector coordinate real general\n3 1\n",              1, "object is 'vector'"                       },
  {"field",                     "%%MatrixMarket matrix coordinate float general\n",                  1, "field is 'float'"                         },
  {"no-sizes",                  REAL_GENERAL,                                                        2, "ends before the line of sizes"            },
  {"negative-size",             REAL_GENERAL "3 -3 1\n1 1 1\n",                                      2, "is negative"                              },
  {"size-overflow",             REAL_GENERAL "99999999999999999999 3 1\n1 1 1\n",                    2, "overflows 64 bits"                        },
  {"not-square",                REAL_SYMMETRIC "3 4 1\n1 1 1\n",                                     2, "must be square"                           },
  {"more-than-room",            REAL_GENERAL "2 2 5\n1 1 1\n1 1 1\n1 1 1\n1 1 1\n1 1 1\n",           2, "has room for"                             },
  {"too-short-for-claim",       REAL_GENERAL "1000000000 1000000000 999999999999\n1 1 1\n",          2, "too short for the 999999999999 entries"   },
  {"array-too-short-for-claim", "%%MatrixMarket matrix array real general\n1000000 1000000\n1\n",    2, "too short"                                },
  {"row-zero",                  REAL_GENERAL "2 2 2\n1 1 1\n0 1 1\n",                                4, "the row index 0 is not within 1 to 2"     },
  {"row-large",                 REAL_GENERAL "2 2 2\n1 1 1\n3 1 1\n",                                4, "the row index 3 is not within 1 to 2"     },
  {"column-large",              REAL_GENERAL "2 2 2\n1 1 1\n1 4294967297 1\n",                       4, "the column index 4294967297 is not"       },
  {"index-overflow",            REAL_GENERAL "2 2 2\n1 1 1\n18446744073709551617 1 1\n",             4, "the row index 18446744073709551617 is not"},
  {"value-missing",             REAL_GENERAL "2 2 2\n1 1 1.0\n1 2\n",                                4, "the value is missing"                     },
  {"value-overflow",            REAL_GENERAL "2 2 2\n1 1 1\n1 2 1e999\n",                            4, "overflows double precision"               },
  {"value-nan",                 REAL_GENERAL "2 2 2\n1 1 1\n1 2 nan\n",                              4, "'nan' is no finite number"                },
  {"value-inf",                 REAL_GENERAL "2 2 2\n1 1 1\n1 2 -inf\n",                             4, "'-inf' is no finite number"               },
  {"value-word",                REAL_GENERAL "2 2 2\n1 1 1\n1 2 x\n",                                4, "'x' is no number"                         },
  {"text-behind",               REAL_GENERAL "2 2 2\n1 1 1\n1 2 1 1\n",                              4, "unexpected text"                          },
  {"above-diagonal",            REAL_SYMMETRIC "2 2 2\n1 1 1\n1 2 1\n",                              4, "above the diagonal"                       },
  {"skew-diagonal",             REAL_SKEW "2 2 1\n2 2 1\n",                                          3, "is not zero"                              },
  {"too-few",                   REAL_GENERAL "2 2 3\n1 1 1.00000\n1 2 1.00000\n",                    4, "ends after 2 of the 3 entries"            },
  {"too-many",                  REAL_GENERAL "2 2 2\n1 1 1\n% c\n1 2 1\n2 1 1\n2 2 1\n",             6, "more entries than the 2"                  },
  {"array-too-few",             "%%MatrixMarket matrix array real general\n2 2\n1.00\n2.00\n3.00\n", 5, "ends after 3 of the 4 entries"            },
  {"array-too-many",            "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n5\n",    7, "more entries than the 4"                  },
  {"binary",                    REAL_GENERAL "2 2 2\n1 1 1\n\x7f\x45\x4c\x46\x02\x01\n",             4, "is no integer"                            },
  {"first-of-two",              REAL_GENERAL "2 2 4\n1 1 1\n1 2 x\n2 1 1\n2 2 y\n",                  4, "'x' is no number"                         }
};

static PetscErrorCode TestBad(const Bad *b, const char *text, size_t length, size_t cut)
{
  TestDiff d = {NULL, 0};
  Mat      A;
  char     name[64];

  PetscFunctionBeginUser;
  for (int compressed = cut ? 1 : 0; compressed < PACKERS; compressed++) {
    if (compressed > 1 && length > 1000000) continue;                   /* xz and bzip2 would take seconds */
    if (compressed && !cut && strstr(b->reason, "too short")) continue; /* how long a compressed text is, is not known before */
    PetscCall(Write(text, length, compressed, cut));
    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    PetscCall(Refuse(&d, A, path, PETSC_ERR_FILE_UNEXPECTED, b->line, b->reason));
    /* the matrix can still be used */
    PetscCall(Write(symmetric, 0, 0, 0));
    PetscCall(MatLoadMatrixMarket(A, path));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscSNPrintf(name, sizeof(name), "refuse-%s", b->name));
  PetscCall(TestReport(name, &d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestBadBytes(void)
{
  const Bad    zero = {"zero-byte", NULL, 3, "is no number"}, line = {"long-line", NULL, 3, "the line is longer than"}, cut = {"compressed-cut-off", NULL, 0, "damaged or cut off"}, junk = {"large-binary", NULL, 3, ""};
  const size_t length = 9000000;
  char        *text, *p;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(length, &text));
  p    = text + snprintf(text, length, "%s2 2 1\n1 1 1", REAL_GENERAL);
  p[0] = 0;
  p[1] = '\n';
  PetscCall(TestBad(&zero, text, (size_t)(p - text) + 2, 0));
  memset(p, '1', length - (size_t)(p - text));
  PetscCall(TestBad(&line, text, length, 0));
  for (size_t k = (size_t)(p - text); k < length; k++) text[k] = (char)(200 * TestReal((PetscInt)k, 7));
  PetscCall(TestBad(&junk, text, length, 0));
  PetscCall(TestBad(&cut, symmetric, 0, 9));
  PetscCall(PetscFree(text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refused for what the matrix is, or PETSc, or the file system */
static PetscErrorCode TestUnfit(TestDiff *d)
{
  PetscMPIInt rank;
  Mat         A;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(Refuse(d, A, "/nonexistent/x.mtx", PETSC_ERR_FILE_OPEN, 0, "cannot open the file: No such file"));
  PetscCall(Refuse(d, A, "/tmp", PETSC_ERR_FILE_OPEN, 0, "this is a folder"));
  PetscCall(Refuse(d, A, "/dev/null", PETSC_ERR_FILE_OPEN, 0, "no regular file"));
  PetscCall(Write("%", 1, 0, 0));
  PetscCall(Refuse(d, A, path, PETSC_ERR_FILE_UNEXPECTED, 1, "no Matrix Market file"));
  if (!PetscDefined(USE_COMPLEX)) {
    PetscCall(Write(complexes[0].text, 0, 0, 0));
    PetscCall(Refuse(d, A, path, PETSC_ERR_SUP, 0, "--with-scalar-type=complex"));
  }
  if (!PetscDefined(USE_64BIT_INDICES)) {
    PetscCall(Write(REAL_GENERAL "2147483648 1 1\n1 1 1\n", 0, 0, 0));
    PetscCall(Refuse(d, A, path, PETSC_ERR_ARG_OUTOFRANGE, 0, "--with-64-bit-indices"));
  }
#if !defined(PETSCAMB_HAVE_ZLIB)
  PetscCall(Write("\x1f\x8b\x08\x00\x00\x00", 6, 0, 0));
  PetscCall(Refuse(d, A, path, PETSC_ERR_SUP_SYS, 0, "without its decompressor"));
#endif
  PetscCall(MatDestroy(&A));

  PetscCall(Write(symmetric, 0, 0, 0));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, 6, 7));
  PetscCall(Refuse(d, A, path, PETSC_ERR_ARG_SIZ, 0, "has 6 columns, the matrix has 7"));
  PetscCall(MatDestroy(&A));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, rank ? 0 : 5, rank ? 0 : 6, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(Refuse(d, A, path, PETSC_ERR_ARG_SIZ, 0, "has 6 rows, the local sizes of the matrix sum up to 5"));
  PetscCall(MatDestroy(&A));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetBlockSize(A, 4));
  PetscCall(Refuse(d, A, path, PETSC_ERR_ARG_SIZ, 0, "no multiple of the block size 4"));
  PetscCall(MatDestroy(&A));
  PetscCall(Write(good[1].text, 0, 0, 0));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetType(A, MATSBAIJ));
  PetscCall(Refuse(d, A, path, PETSC_ERR_ARG_INCOMP, 0, "not a symmetric Matrix Market file"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestLargePlain(TestDiff *d)
{
  return TestLarge(d, 0);
}

static PetscErrorCode TestLargeArrayPlain(TestDiff *d)
{
  return TestLargeArray(d, 0);
}

#if defined(PETSCAMB_HAVE_ZLIB)
static PetscErrorCode TestLargeCompressed(TestDiff *d)
{
  return TestLarge(d, 1);
}

static PetscErrorCode TestLargeArrayCompressed(TestDiff *d)
{
  return TestLargeArray(d, 1);
}
#endif

int main(int argc, char **argv)
{
  const TestCase cases[] = {
    {"sizes",                  TestSizes               },
    {"long-rows",              TestLongRows            },
    {"piece-boundary",         TestBoundary            },
    {"large",                  TestLargePlain          },
    {"large-array",            TestLargeArrayPlain     },
#if defined(PETSCAMB_HAVE_ZLIB)
    {"large-compressed",       TestLargeCompressed     },
    {"large-array-compressed", TestLargeArrayCompressed},
#endif
    {"split-view",             TestSplitView           },
    {"unfit",                  TestUnfit               },
    {NULL,                     NULL                    }
  };

  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(TestTemporaryFile(path, sizeof(path)));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(good); k++) PetscCall(TestGood(&good[k]));
  if (PetscDefined(USE_COMPLEX)) {
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(complexes); k++) PetscCall(TestGood(&complexes[k]));
  }
  PetscCall(TestTypes());
  PetscCall(TestRun(cases));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(bad); k++) PetscCall(TestBad(&bad[k], bad[k].text, 0, 0));
  PetscCall(TestBadBytes());
  PetscCall(TestRemoveFile(path));
  return TestFinalize();
}

/*TEST

  test:
    nsize: {{1 2 3}}
    args: -malloc_debug -malloc_dump
    requires: zlib !complex
    checks: 79

  test:
    suffix: complex
    nsize: {{1 2 3}}
    args: -malloc_debug -malloc_dump
    requires: zlib complex
    checks: 84

TEST*/
