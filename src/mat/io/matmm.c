/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MatLoadMatrixMarket(): from a Matrix Market file to a distributed matrix

   Each process reads entries, sends them to the owners of their rows, builds its own rows in compressed form and passes these to PETSc in one call.
*/
#include <string.h>
#include <petsc/private/petscimpl.h>
#include <petscamb.h>
#include "mat/io/mtxfile.h"

#if !defined(MTX_MESSAGE_MAX)
  #define MTX_MESSAGE_MAX ((int64_t)1 << 24) /* entries in one message, far below the 2^31 bytes that MPI counts */
#endif

/* Makes the faults of single processes a common fault of all processes, described by the first process */
static PetscErrorCode MatMMAgree(MPI_Comm comm, const char file[], int missing, MtxFault *fault)
{
  PetscMPIInt rank;
  int         level[2], highest[2]; /* is the text wrong? can a process not read it? */

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  level[0] = fault->code == (PetscInt)PETSC_ERR_FILE_UNEXPECTED || missing;
  level[1] = fault->code && fault->code != (PetscInt)PETSC_ERR_FILE_UNEXPECTED;
  PetscCallMPI(MPI_Allreduce(level, highest, 2, MPI_INT, MPI_MAX, comm));
  if (!highest[0] && !highest[1]) PetscFunctionReturn(PETSC_SUCCESS);
  if (highest[1]) {
    const PetscMPIInt mine = level[1] ? rank : PETSC_MPI_INT_MAX;
    PetscMPIInt       first;

    PetscCallMPI(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm));
    PetscCallMPI(MPI_Bcast(fault, (PetscMPIInt)sizeof(*fault), MPI_BYTE, first, comm));
  } else {
    memset(fault, 0, sizeof(*fault));
    if (!rank) PetscCall(MtxFileDiagnose(file, fault));
    PetscCallMPI(MPI_Bcast(fault, (PetscMPIInt)sizeof(*fault), MPI_BYTE, 0, comm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts the entries that all processes have read. Sets the positions of the entries of an array, which its text does not contain, and drops zeros off the diagonal. */
static PetscErrorCode MatMMCountAndPosition(MPI_Comm comm, const MtxAbout *about, MtxStore *store, int64_t *missing, const MtxFault *fault)
{
  PetscMPIInt size, rank, dealers;
  int64_t     count = (int64_t)store->part_count, most, read, *parts, k = 0;
  size_t      e = 0, kept = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  dealers = about->compressed && size > 1 ? 1 : 0;
  read    = (int64_t)store->count;
  PetscCallMPI(MPI_Allreduce(&read, missing, 1, MPIU_INT64, MPI_SUM, comm));
  *missing = about->header.entries - *missing;
  if (about->header.format == MTX_COORDINATE) PetscFunctionReturn(PETSC_SUCCESS);

  /* part p was read by process dealers + p % (size - dealers) as the number p / (size - dealers) of its parts */
  size -= dealers;
  PetscCallMPI(MPI_Allreduce(&count, &most, 1, MPIU_INT64, MPI_MAX, comm));
  PetscCall(PetscCalloc1((size_t)(most * size), &parts));
  for (int64_t p = 0; p < count; p++) parts[p * size + rank - dealers] = store->parts[p];
  for (int64_t p = 0; p < most; p++) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, parts + p * size, size, MPIU_INT64, MPI_SUM, comm));
  if (!fault->code && !*missing) {
    for (int64_t p = 0; p < most * size; p++) {
      if (p % size + dealers != rank) {
        k += parts[p];
        continue;
      }
      for (int64_t q = 0; q < parts[p]; q++, k++, e++) {
        int64_t i, j;

        MtxArrayPosition(&about->header, k, &i, &j);
        if (store->entries[e].v == (PetscScalar)0 && i != j) continue;
        store->entries[kept].i   = (PetscInt)i;
        store->entries[kept].j   = (PetscInt)j;
        store->entries[kept++].v = store->entries[e].v;
      }
    }
    store->count = kept;
  }
  PetscCall(PetscFree(parts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entry on the other side of the diagonal, which the file does not store */
static inline MtxEntry MatMMMirrored(MtxSymmetry symmetry, MtxEntry e)
{
  MtxEntry m = {e.j, e.i, e.v};

  if (symmetry == MTX_SKEW) m.v = -e.v;
  else if (symmetry == MTX_HERMITIAN) m.v = PetscConj(e.v);
  return m;
}

/* Sends all entries, and their mirrored ones, to the owners of their rows; received entries are in the order of the ranks that sent them */
static PetscErrorCode MatMMSendToOwners(MPI_Comm comm, PetscMPIInt tag, PetscLayout rows, MtxSymmetry symmetry, MtxStore *store)
{
  PetscMPIInt  size, rank, owner, requests = 0;
  int64_t     *out, *in, *out_at, *in_at, sent = 0, received = 0, messages = 0;
  MtxEntry    *packed, *arrived;
  MPI_Request *request;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PetscCalloc4(size, &out, size, &in, size + 1, &out_at, size + 1, &in_at));
  for (size_t k = 0; k < store->count; k++) {
    const MtxEntry e = store->entries[k];

    PetscCall(PetscLayoutFindOwner(rows, e.i, &owner));
    out[owner]++;
    if (symmetry == MTX_GENERAL || e.i == e.j) continue;
    PetscCall(PetscLayoutFindOwner(rows, e.j, &owner));
    out[owner]++;
  }
  PetscCallMPI(MPI_Alltoall(out, 1, MPIU_INT64, in, 1, MPIU_INT64, comm));
  for (PetscMPIInt p = 0; p < size; p++) {
    out_at[p] = sent;
    in_at[p]  = received;
    sent += out[p];
    received += in[p];
    if (p != rank) messages += (out[p] + MTX_MESSAGE_MAX - 1) / MTX_MESSAGE_MAX + (in[p] + MTX_MESSAGE_MAX - 1) / MTX_MESSAGE_MAX;
  }

  PetscCall(PetscMalloc1((size_t)sent, &packed));
  for (size_t k = 0; k < store->count; k++) {
    const MtxEntry e = store->entries[k];

    PetscCall(PetscLayoutFindOwner(rows, e.i, &owner));
    packed[out_at[owner]++] = e;
    if (symmetry == MTX_GENERAL || e.i == e.j) continue;
    PetscCall(PetscLayoutFindOwner(rows, e.j, &owner));
    packed[out_at[owner]++] = MatMMMirrored(symmetry, e);
  }
  for (PetscMPIInt p = 0; p < size; p++) out_at[p] -= out[p];
  PetscCall(PetscFree(store->entries));
  PetscCall(PetscMalloc1((size_t)received, &arrived));
  PetscCall(PetscMalloc1((size_t)messages, &request));
  for (PetscMPIInt p = 0; p < size; p++) {
    if (p == rank) continue;
    for (int64_t k = 0; k < in[p]; k += MTX_MESSAGE_MAX) {
      const int64_t n = PetscMin(in[p] - k, MTX_MESSAGE_MAX);

      PetscCallMPI(MPI_Irecv(arrived + in_at[p] + k, (PetscMPIInt)(n * (int64_t)sizeof(MtxEntry)), MPI_BYTE, p, tag, comm, &request[requests++]));
    }
  }
  for (PetscMPIInt d = 1; d < size; d++) {
    const PetscMPIInt p = (rank + d) % size;

    for (int64_t k = 0; k < out[p]; k += MTX_MESSAGE_MAX) {
      const int64_t n = PetscMin(out[p] - k, MTX_MESSAGE_MAX);

      PetscCallMPI(MPI_Isend(packed + out_at[p] + k, (PetscMPIInt)(n * (int64_t)sizeof(MtxEntry)), MPI_BYTE, p, tag, comm, &request[requests++]));
    }
  }
  PetscCall(PetscArraycpy(arrived + in_at[rank], packed + out_at[rank], in[rank]));
  PetscCallMPI(MPI_Waitall(requests, request, MPI_STATUSES_IGNORE));
  PetscCall(PetscFree(packed));
  PetscCall(PetscFree(request));
  PetscCall(PetscFree4(out, in, out_at, in_at));
  store->entries  = arrived;
  store->count    = (size_t)received;
  store->capacity = (size_t)received;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int MatMMCompareColumns(const void *a, const void *b, void *ctx)
{
  const PetscInt j = *(const PetscInt *)a, k = *(const PetscInt *)b;

  return j < k ? -1 : j > k;
}

#define MATMM_INSERTION 16 /* entries of a row up to which insertion sorts it */

/* Stable: duplicates are added in the order in which they came. PETSc's sort, up to 3.26 at least, writes a value to memory for n columns, and 2 or 3 columns have no
   room for a complex number. */
static PetscErrorCode MatMMSortRow(PetscInt n, PetscInt j[], PetscScalar v[])
{
  PetscFunctionBegin;
  if (n > MATMM_INSERTION) {
    PetscCall(PetscTimSortWithArray(n, j, sizeof(*j), v, sizeof(*v), MatMMCompareColumns, NULL));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt k = 1; k < n; k++) {
    const PetscInt    column = j[k];
    const PetscScalar value  = v[k];
    PetscInt          to     = k;

    for (; to > 0 && j[to - 1] > column; to--) {
      j[to] = j[to - 1];
      v[to] = v[to - 1];
    }
    j[to] = column;
    v[to] = value;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes compressed rows with sorted, distinct columns of the entries of the rows [begin, begin + m); frees the entries */
static PetscErrorCode MatMMBuildRows(PetscInt begin, PetscInt m, MtxSymmetry symmetry, MtxStore *store, PetscInt **rows, PetscInt **columns, PetscScalar **values)
{
  PetscInt    *i, *j, at = 0;
  PetscScalar *v;

  PetscFunctionBegin;
  /* i[r + 1] is first the count of row r, then the position of its next entry, and at the end the beginning of row r + 1 */
  PetscCall(PetscCalloc1((size_t)m + 2, &i));
  for (size_t k = 0; k < store->count; k++) {
    const MtxEntry e = store->entries[k];

    i[e.i - begin + 2]++;
    if (symmetry != MTX_GENERAL && e.i != e.j) i[e.j - begin + 2]++;
  }
  for (PetscInt r = 0; r <= m; r++) i[r + 1] += i[r];
  PetscCall(PetscMalloc1((size_t)i[m + 1], &j));
  PetscCall(PetscMalloc1((size_t)i[m + 1], &v));
  for (size_t k = 0; k < store->count; k++) {
    const MtxEntry e  = store->entries[k];
    PetscInt       to = i[e.i - begin + 1]++;

    j[to] = e.j;
    v[to] = e.v;
    if (symmetry != MTX_GENERAL && e.i != e.j) {
      const MtxEntry other = MatMMMirrored(symmetry, e);

      to    = i[other.i - begin + 1]++;
      j[to] = other.j;
      v[to] = other.v;
    }
  }
  PetscCall(PetscFree(store->entries));
  store->count = store->capacity = 0;

  for (PetscInt r = 0; r < m; r++) {
    const PetscInt first = i[r], n = i[r + 1] - first;
    PetscInt       k = 1, length = n;

    while (k < n && j[first + k] > j[first + k - 1]) k++;
    if (k < n) {
      PetscCall(MatMMSortRow(n, j + first, v + first));
      length = 1;
      for (k = 1; k < n; k++) { /* adds up duplicates */
        if (j[first + k] == j[first + length - 1]) v[first + length - 1] += v[first + k];
        else {
          j[first + length]   = j[first + k];
          v[first + length++] = v[first + k];
        }
      }
    }
    if (at < first) {
      PetscCall(PetscArraymove(j + at, j + first, length));
      PetscCall(PetscArraymove(v + at, v + first, length));
    }
    i[r] = at;
    at += length;
  }
  i[m]     = at;
  *rows    = i;
  *columns = j;
  *values  = v;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMMSetRows(Mat A, PetscInt begin, PetscInt m, const PetscInt i[], const PetscInt j[], const PetscScalar v[])
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < m; r++) {
    const PetscInt row = begin + r;

    PetscCall(MatSetValues(A, 1, &row, i[r + 1] - i[r], j + i[r], v + i[r], INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For any type of matrix: passes the pattern to a preallocator first, then the values to the matrix */
static PetscErrorCode MatMMInsertRows(Mat A, PetscInt begin, PetscInt m, const PetscInt i[], const PetscInt j[], const PetscScalar v[])
{
  Mat         pattern;
  PetscLayout rmap, cmap;
  PetscBool   triangle;

  PetscFunctionBegin;
  PetscCall(MatGetLayouts(A, &rmap, &cmap));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &pattern));
  PetscCall(MatSetType(pattern, MATPREALLOCATOR));
  PetscCall(MatSetLayouts(pattern, rmap, cmap));
  PetscCall(MatSetUp(pattern));
  PetscCall(MatMMSetRows(pattern, begin, m, i, j, v));
  PetscCall(MatPreallocatorPreallocate(pattern, PETSC_FALSE, A));
  PetscCall(MatDestroy(&pattern));
  PetscCall(MatSetUp(A));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &triangle, MATSEQSBAIJ, MATMPISBAIJ, ""));
  if (triangle) PetscCall(MatSetOption(A, MAT_IGNORE_LOWER_TRIANGULAR, PETSC_TRUE));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE)); /* for types that the preallocator does not know */
  PetscCall(MatMMSetRows(A, begin, m, i, j, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks that the matrix, whose type and sizes may be set in part, can hold the matrix that the header describes */
PetscErrorCode MatMMCheckMatrix(Mat A, const char file[], const MtxHeader *h)
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)A);
  PetscMPIInt size;
  PetscInt    local[2], global[2], bs[2];
  PetscBool   triangle;
  int64_t     mine[4], all[4];

  PetscFunctionBegin;
  PetscCheck(PetscDefined(USE_COMPLEX) || h->field != MTX_COMPLEX, comm, PETSC_ERR_SUP, "%s holds complex numbers and this PETSc is built for real ones; use a PETSc configured --with-scalar-type=complex", file);
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &triangle, MATSBAIJ, MATSEQSBAIJ, MATMPISBAIJ, ""));
  PetscCheck(!triangle || h->symmetry == MTX_SYMMETRIC, comm, PETSC_ERR_ARG_INCOMP, "%s is not a symmetric Matrix Market file, so type %s cannot hold it; use an AIJ type", file, ((PetscObject)A)->type_name);
  PetscCheck(h->m <= PETSC_MAX_INT && h->n <= PETSC_MAX_INT, comm, PETSC_ERR_ARG_OUTOFRANGE, "%s is a matrix of %lld times %lld: too large for the PetscInt of %d bytes; use a PETSc configured --with-64-bit-indices", file, (long long)h->m,
             (long long)h->n, (int)sizeof(PetscInt));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(MatGetLocalSize(A, &local[0], &local[1]));
  PetscCall(MatGetSize(A, &global[0], &global[1]));
  PetscCall(MatGetBlockSizes(A, &bs[0], &bs[1]));
  for (int d = 0; d < 2; d++) {
    mine[d]     = local[d] >= 0 ? local[d] : 0;
    mine[2 + d] = local[d] >= 0;
  }
  PetscCallMPI(MPI_Allreduce(mine, all, 4, MPIU_INT64, MPI_SUM, comm));
  for (int d = 0; d < 2; d++) {
    const char     *what = d ? "columns" : "rows";
    const long long have = d ? h->n : h->m;

    PetscCheck(global[d] < 0 || global[d] == have, comm, PETSC_ERR_ARG_SIZ, "%s has %lld %s, the matrix has %" PetscInt_FMT "; set no sizes, or the sizes of the file", file, have, what, global[d]);
    PetscCheck(!all[2 + d] || (all[2 + d] == size && all[d] == have), comm, PETSC_ERR_ARG_SIZ, "%s has %lld %s, the local sizes of the matrix sum up to %lld; set them on all processes, to the sizes of the file, or on none", file, have, what, (long long)all[d]);
    PetscCheck(bs[d] < 2 || have % bs[d] == 0, comm, PETSC_ERR_ARG_SIZ, "%s has %lld %s, which is no multiple of the block size %" PetscInt_FMT " of the matrix", file, have, what, bs[d]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes an assembled matrix of the entries; frees the entries */
PetscErrorCode MatMMFill(Mat A, const char file[], const MtxHeader *h, PetscMPIInt tag, MtxStore *store)
{
  MPI_Comm     comm     = PetscObjectComm((PetscObject)A);
  MtxSymmetry  symmetry = h->symmetry;
  PetscMPIInt  size;
  PetscInt     m, n, begin, *i = NULL, *j = NULL;
  PetscScalar *v = NULL;
  PetscLayout  rmap, cmap;
  int64_t      count, most;
  void (*seq)(void), (*mpi)(void);

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatSetSizes(A, m, n, (PetscInt)h->m, (PetscInt)h->n));
  if (!((PetscObject)A)->type_name) PetscCall(MatSetType(A, MATAIJ));
  PetscCall(MatGetLayouts(A, &rmap, &cmap));
  PetscCall(PetscLayoutSetUp(rmap));
  PetscCall(PetscLayoutSetUp(cmap));
  PetscCall(MatGetOwnershipRange(A, &begin, NULL));
  PetscCall(MatGetLocalSize(A, &m, NULL));

  if (size > 1) {
    PetscCall(MatMMSendToOwners(comm, tag, rmap, symmetry, store));
    symmetry = MTX_GENERAL;
  }
  count = (int64_t)store->count * (symmetry == MTX_GENERAL ? 1 : 2); /* at most */
  PetscCallMPI(MPI_Allreduce(&count, &most, 1, MPIU_INT64, MPI_MAX, comm));
  if (most > PETSC_MAX_INT) PetscCall(MtxStoreDestroy(store));
  PetscCheck(most <= PETSC_MAX_INT, comm, PETSC_ERR_ARG_OUTOFRANGE, "%s gives one process up to %lld nonzeros: too many for the PetscInt of %d bytes; use more processes or a PETSc configured --with-64-bit-indices", file, (long long)most, (int)sizeof(PetscInt));
  PetscCall(MatMMBuildRows(begin, m, symmetry, store, &i, &j, &v));

  PetscCall(PetscObjectQueryFunction((PetscObject)A, "MatSeqAIJSetPreallocationCSR_C", &seq));
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "MatMPIAIJSetPreallocationCSR_C", &mpi));
  if (mpi) PetscCall(MatMPIAIJSetPreallocationCSR(A, i, j, v));
  else if (seq) PetscCall(MatSeqAIJSetPreallocationCSR(A, i, j, v));
  else PetscCall(MatMMInsertRows(A, begin, m, i, j, v));
  PetscCall(PetscFree(i));
  PetscCall(PetscFree(j));
  PetscCall(PetscFree(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   MatLoadMatrixMarket - Fills a matrix from a Matrix Market file

   Collective

   Input Parameters:
+  A    - the matrix, from `MatCreate()`; its type, sizes and block size may be set; a type that is not set becomes `MATAIJ`
-  file - the name of the file, which all processes can read; it may be compressed by gzip, xz or bzip2

   Level: beginner

   Notes:
   The function reads every kind of Matrix Market file: coordinate and array; real (or double), integer (or unsigned-integer), pattern (values become 1) and complex (with a PETSc
   built for complex scalars); general, symmetric, skew-symmetric and hermitian (the triangle that is not stored is filled in).

   Entries that occur more than once are added up, as by `ADD_VALUES`. Zeros in a coordinate file become part of the nonzero pattern; zeros
   in an array only on the diagonal. Numbers are rounded to double precision exactly as the C library does, whatever the locale.

   Each process reads a part of a plain file. If the file is compressed, the first process decompresses it and the others parse it. The matrix is
   preallocated exactly.

   All processes get an error of the file; A is unchanged then.

   Errors:
+  `PETSC_ERR_FILE_OPEN`       - the file cannot be opened, is no regular file, or the processes see different files
.  `PETSC_ERR_FILE_READ`       - reading failed
.  `PETSC_ERR_FILE_UNEXPECTED` - the file violates the format, or its compressed data are damaged; the message has the line and the reason
.  `PETSC_ERR_SUP_SYS`         - the library was built without the decompressor of the file
.  `PETSC_ERR_SUP`             - the file has complex numbers, and this PETSc has real ones
.  `PETSC_ERR_ARG_SIZ`         - sizes or the block size of `A` do not fit the file
.  `PETSC_ERR_ARG_INCOMP`      - `A` is of type `MATSBAIJ`, and the file is not symmetric
.  `PETSC_ERR_ARG_OUTOFRANGE`  - the matrix is too large for `PetscInt`
-  `PETSC_ERR_ARG_NULL`        - `file` is `NULL`

   Example:
.vb
   PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
   PetscCall(MatSetType(A, MATAMB));
   PetscCall(MatLoadMatrixMarket(A, "matrix.mtx.gz"));
.ve

.seealso: `MatLoadGetFormat()`, `MatLoadEdgeList()`, `MatLoad()`, `MatCreate()`, `MatSetSizes()`, `MATAIJ`, `MATAMB`
@*/
PetscErrorCode MatLoadMatrixMarket(Mat A, const char file[])
{
  MPI_Comm       comm;
  PetscErrorCode ierr;
  PetscLogEvent  event;
  PetscMPIInt    rank, tag, tag2;
  MtxAbout       about = {.compressed = 0};
  MtxFile        f     = {.fd = -1};
  MtxReader      r;
  MtxStore       store = {.entries = NULL};
  MtxFault       fault = {.code = 0};
  int64_t        missing;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCall(PetscObjectGetComm((PetscObject)A, &comm));
  PetscCheck(file, comm, PETSC_ERR_ARG_NULL, "The name of the file is NULL");
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PetscObjectGetNewTag((PetscObject)A, &tag));
  PetscCall(PetscObjectGetNewTag((PetscObject)A, &tag2));
  if (!rank) {
    PetscCall(MtxFileOpen(file, &f, &r, &fault));
    about.header     = r.header;
    about.compressed = !!f.unpacker;
    about.begin      = f.next - (int64_t)f.length;
    about.size       = f.size;
  }
  PetscCallMPI(MPI_Bcast(&fault, (PetscMPIInt)sizeof(fault), MPI_BYTE, 0, comm));
  PetscCallMPI(MPI_Bcast(&about, (PetscMPIInt)sizeof(about), MPI_BYTE, 0, comm));
  if (!fault.code) {
    ierr = MatMMCheckMatrix(A, file, &about.header);
    if (ierr) PetscCall(MtxFileClose(&f));
    PetscCall(ierr);
    PetscCall(PetscLogEventGetId("MatLoadMM", &event));
    if (event < 0) PetscCall(PetscLogEventRegister("MatLoadMM", MAT_CLASSID, &event));
    PetscCall(PetscLogEventBegin(event, A, 0, 0, 0));
    PetscCall(MtxReadShare(comm, tag, file, &about, &f, &store, &fault));
    PetscCall(MatMMCountAndPosition(comm, &about, &store, &missing, &fault));
    PetscCall(MatMMAgree(comm, file, missing != 0, &fault));
    if (!fault.code) PetscCall(MatMMFill(A, file, &about.header, tag2, &store));
    PetscCall(PetscLogEventEnd(event, A, 0, 0, 0));
  }
  PetscCall(MtxFileClose(&f));
  PetscCall(MtxStoreDestroy(&store));
  PetscCheck(!fault.code || !fault.line, comm, (PetscErrorCode)fault.code, "%s:%lld: %s", file, (long long)fault.line, fault.reason);
  PetscCheck(!fault.code, comm, (PetscErrorCode)fault.code, "%s: %s", file, fault.reason);
  PetscFunctionReturn(PETSC_SUCCESS);
}
