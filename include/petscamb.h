/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The public interface of petsc-amb, a PETSc plugin of fast sparse matrix formats.

   Nothing here is needed by a program that only says -mat_type amb: load libpetscamb.so with -dll_append and go on.
*/
#pragma once

#include <petscmat.h>

/* PETSc has this name from 3.19 on */
#if PETSC_VERSION_LT(3, 19, 0) && !defined(PETSC_SUCCESS)
  #define PETSC_SUCCESS 0
#endif

/* The version that a program is compiled with; PetscAMBInitializePackage() compares it with that of the library the program runs with */
#define PETSCAMB_VERSION_MAJOR    0
#define PETSCAMB_VERSION_MINOR    1
#define PETSCAMB_VERSION_SUBMINOR 0

/*MC
   MATAMB - `MATAMB` = "amb" - the root name of `MATSEQAIJAMB` and `MATMPIAIJAMB`, subtypes of `MATAIJ` whose matrix-vector products run
   on the Adaptive Multi-level Blocking format
M*/
#define MATAMB       "amb"
#define MATSEQAIJAMB "seqaijamb"
#define MATMPIAIJAMB "mpiaijamb"

/*MC
   MATNUSSELL - `MATNUSSELL` = "nussell" - the root name of `MATSEQAIJNUSSELL` and `MATMPIAIJNUSSELL`, subtypes of `MATAIJ` whose matrix-vector
   products run on non-uniformly segmented SELL-C-sigma
M*/
#define MATNUSSELL       "nussell"
#define MATSEQAIJNUSSELL "seqaijnussell"
#define MATMPIAIJNUSSELL "mpiaijnussell"

/*MC
   MATAUTOSPARSE - `MATAUTOSPARSE` = "autosparse" - the root name of `MATSEQAIJAUTOSPARSE` and `MATMPIAIJAUTOSPARSE`, subtypes of `MATAIJ` whose matrix-vector
   products run on the format that is the fastest for the matrix
M*/
#define MATAUTOSPARSE       "autosparse"
#define MATSEQAIJAUTOSPARSE "seqaijautosparse"
#define MATMPIAIJAUTOSPARSE "mpiaijautosparse"

/*MC
   MATHASHGEMM - `MATHASHGEMM` = "hashgemm" - the root name of `MATSEQAIJHASHGEMM` and `MATMPIAIJHASHGEMM`, subtypes of `MATAIJ` whose products
   with matrices run on hash tables
M*/
#define MATHASHGEMM       "hashgemm"
#define MATSEQAIJHASHGEMM "seqaijhashgemm"
#define MATMPIAIJHASHGEMM "mpiaijhashgemm"

/*MC
   MATPRODUCTALGORITHMHASHGEMM - "hashgemm" - the algorithm of petsc-amb for products of sparse matrices, for `MatProductSetAlgorithm()`

   Options Database Keys:
+  -matmatmult_via hashgemm          - for `MatMatMult()`; -mattransposematmult_via, -matmattransmult_via, -matptap_via, -matrart_via and
                                       -matmatmatmult_via are those of the other products
.  -mat_product_algorithm hashgemm   - for products by `MatProductCreate()`
-  -hashgemm_for_aij                 - for all products of `MATAIJ` matrices, where another one is not asked for

   Level: intermediate

   Note:
   It is the default if an operand is of a type of petsc-amb.

.seealso: `MATHASHGEMM`, `MatHashGEMMSetAccumulator()`
M*/
#define MATPRODUCTALGORITHMHASHGEMM "hashgemm"

/*E
   MatHashGEMMAccumulator - what `MATPRODUCTALGORITHMHASHGEMM` gathers the entries of a row of a product in

   Values:
+  `MAT_HASHGEMM_AUTO`    - chosen for each group of rows (the default)
.  `MAT_HASHGEMM_HASH`    - a hash table
.  `MAT_HASHGEMM_HASHVEC` - a hash table that is searched a vector register at a time
.  `MAT_HASHGEMM_HEAP`    - a heap of the rows that are merged
-  `MAT_HASHGEMM_DENSE`   - an array for the columns the row reaches

   Level: advanced

.seealso: `MatHashGEMMSetAccumulator()`
E*/
typedef enum {
  MAT_HASHGEMM_AUTO,
  MAT_HASHGEMM_HASH,
  MAT_HASHGEMM_HASHVEC,
  MAT_HASHGEMM_HEAP,
  MAT_HASHGEMM_DENSE
} MatHashGEMMAccumulator;
PETSC_EXTERN const char *const MatHashGEMMAccumulators[];

/*E
   MatShadowTune - how far a shadow format tunes itself before it serves products

   Values:
+  `MAT_SHADOW_TUNE_OFF`     - convert at the first product with the parameters the traffic model picks and never fall back to CSR
.  `MAT_SHADOW_TUNE_MODEL`   - as above, but stay with CSR where the traffic model sees no gain; reproducible from run to run
.  `MAT_SHADOW_TUNE_MEASURE` - as the model says, confirmed by timing the first products (the default)
-  `MAT_SHADOW_TUNE_ONLINE`  - what another thread lays out while the solver runs, one set of parameters after the other, as long as it is the fastest

   Level: intermediate

.seealso: `MatShadowSetTune()`, `MatShadowGetInfo()`, `MATAMB`
E*/
typedef enum {
  MAT_SHADOW_TUNE_OFF,
  MAT_SHADOW_TUNE_MODEL,
  MAT_SHADOW_TUNE_MEASURE,
  MAT_SHADOW_TUNE_ONLINE
} MatShadowTune;
PETSC_EXTERN const char *const MatShadowTunes[];

/*E
   MatShadowDevice - where a matrix with a shadow, and the vectors it makes, live

   Values:
+  `MAT_SHADOW_DEVICE_AUTO` - on the GPU if PETSc has CUDA and there is a GPU, else on the host (the default)
.  `MAT_SHADOW_DEVICE_CPU`  - on the host
-  `MAT_SHADOW_DEVICE_GPU`  - on the GPU; an error if there is none

   Level: intermediate

.seealso: `MatShadowSetDevice()`, `MatBindToCPU()`, `MATAMB`
E*/
typedef enum {
  MAT_SHADOW_DEVICE_AUTO,
  MAT_SHADOW_DEVICE_CPU,
  MAT_SHADOW_DEVICE_GPU
} MatShadowDevice;
PETSC_EXTERN const char *const MatShadowDevices[];

/*E
   MatShadowHalo - how the processes exchange entries of x in products of an MPI matrix with a shadow, on GPUs

   Values:
+  `MAT_SHADOW_HALO_AUTO`   - the fastest as measured, NCCL only once it would have repaid its start (the default)
.  `MAT_SHADOW_HALO_MPI`    - by a GPU-aware MPI, between buffers on the GPUs
.  `MAT_SHADOW_HALO_NCCL`   - by NCCL, between GPUs that one process each uses; the host never waits
-  `MAT_SHADOW_HALO_STAGED` - by any MPI, between buffers on the hosts

   Level: intermediate

.seealso: `MatShadowSetHalo()`, `MatShadowGetInfo()`, `MATAMB`
E*/
typedef enum {
  MAT_SHADOW_HALO_AUTO,
  MAT_SHADOW_HALO_MPI,
  MAT_SHADOW_HALO_NCCL,
  MAT_SHADOW_HALO_STAGED
} MatShadowHalo;
PETSC_EXTERN const char *const MatShadowHalos[];

/*E
   MatNUSSELLSegmentation - how the columns of a `MATNUSSELL` matrix are cut into segments

   Values:
+  `MAT_NUSSELL_SEGMENTATION_NONUNIFORM` - K1 segments of S1 columns and K2 of S2, those with the most nonzeros first, and the others (the default)
.  `MAT_NUSSELL_SEGMENTATION_UNIFORM`    - segments of S2 columns, in their own order
-  `MAT_NUSSELL_SEGMENTATION_NONE`       - not at all: SELL-C-sigma

   Level: intermediate

.seealso: `MatNUSSELLSetSegmentation()`, `MatNUSSELLSetSegments()`, `MATNUSSELL`
E*/
typedef enum {
  MAT_NUSSELL_SEGMENTATION_NONUNIFORM,
  MAT_NUSSELL_SEGMENTATION_UNIFORM,
  MAT_NUSSELL_SEGMENTATION_NONE
} MatNUSSELLSegmentation;
PETSC_EXTERN const char *const MatNUSSELLSegmentations[];

/*E
   MatNUSSELLRows - what a segment of a `MATNUSSELL` matrix is stored as

   Values:
+  `MAT_NUSSELL_ROWS_SELL` - SELL-C-sigma: rows of about one length advance together, filled with zeros (the default)
-  `MAT_NUSSELL_ROWS_JDS`  - jagged diagonals: all rows sorted by length, without filling

   Level: advanced

.seealso: `MatNUSSELLSetRows()`, `MATNUSSELL`
E*/
typedef enum {
  MAT_NUSSELL_ROWS_SELL,
  MAT_NUSSELL_ROWS_JDS
} MatNUSSELLRows;
PETSC_EXTERN const char *const MatNUSSELLRowses[];

/*E
   MatNUSSELLTune - what chooses the parameters of a `MATNUSSELL` matrix that are left open

   Values:
+  `MAT_NUSSELL_TUNE_MODEL`      - a model of the caches; reproducible from run to run on the same processor (the default)
.  `MAT_NUSSELL_TUNE_ONLINE`     - candidates are tried while the solver runs: as the model says, with `MAT_SHADOW_TUNE_ONLINE`
.  `MAT_NUSSELL_TUNE_EXHAUSTIVE` - candidates are tried when the matrix is converted
-  `MAT_NUSSELL_TUNE_OFF`        - nothing: no segments but those asked for

   Level: intermediate

.seealso: `MatNUSSELLSetTune()`, `MatShadowTune`, `MATNUSSELL`
E*/
typedef enum {
  MAT_NUSSELL_TUNE_MODEL,
  MAT_NUSSELL_TUNE_ONLINE,
  MAT_NUSSELL_TUNE_EXHAUSTIVE,
  MAT_NUSSELL_TUNE_OFF
} MatNUSSELLTune;
PETSC_EXTERN const char *const MatNUSSELLTunes[];

/*S
   MatShadowInfo - what all shadow formats tell of a matrix: its format, the bytes it takes and the times measured; filled by `MatShadowGetInfo()`

   Level: advanced

   Note:
   All figures are of this process. Bytes are those of the matrix that one product reads (values, indices, permutations; not x and y). A format tells more by
   `MatShadowGetFigure()`.

.seealso: `MatShadowGetInfo()`, `MatShadowGetFigure()`, `MatShadowGetHaloInfo()`
S*/
typedef struct {
  const char    *format;           /* "amb" or "nussell", or "csr" while products run on the AIJ */
  const char    *reason;           /* why products run on that format, in words */
  const char    *kernel;           /* "avx512", "avx2", "plain" or "cuda"; "aij" or "aijcusparse" */
  PetscBool      tuning;           /* the products to come decide which format those after them run on */
  PetscInt       tried;            /* products spent on tuning, besides those of the solver */
  PetscInt       candidates;       /* formats, or sets of parameters, that served some of the solver's products and were timed */
  PetscInt       conversions;      /* full conversions so far */
  PetscInt       updates;          /* values-only updates so far */
  PetscLogDouble nonzeros;         /* entries of the AIJ */
  PetscLogDouble stored_values;    /* the same with zero filling */
  PetscLogDouble bytes_csr;        /* bytes of the AIJ arrays */
  PetscLogDouble bytes_model;      /* bytes the traffic model predicted for the format */
  PetscLogDouble bytes_stored;     /* bytes the format really holds */
  PetscLogDouble bytes_extra;      /* bytes held besides, for new values and the transposed product */
  PetscLogDouble time_convert;     /* seconds of the last full conversion */
  PetscLogDouble time_update;      /* seconds of the last values-only update */
  PetscLogDouble time_tune;        /* seconds that the solver lost to conversions and to slower products; on the GPU where it chooses a format */
  PetscLogDouble time_tune_beside; /* seconds of processors that another thread spent on conversions */
  PetscLogDouble time_csr;         /* seconds of one product on the AIJ, 0 if not measured */
  PetscLogDouble time_format;      /* seconds of one product on the format, 0 if not measured */
} MatShadowInfo;

/*S
   MatShadowHaloInfo - how the processes exchange entries of x in products of an MPI matrix on GPUs; filled by `MatShadowGetHaloInfo()`

   Level: advanced

.seealso: `MatShadowGetHaloInfo()`, `MatShadowSetHalo()`
S*/
typedef struct {
  const char    *path;      /* "mpi", "nccl" or "staged"; NULL where PETSc makes the exchange */
  PetscInt       neighbors; /* processes that entries come from or go to */
  PetscInt       products;  /* products so far */
  PetscLogDouble bytes;     /* that come in one product */
  PetscLogDouble syncs;     /* times that the host waited for the GPU in these products */
} MatShadowHaloInfo;

PETSC_EXTERN PetscErrorCode PetscAMBInitializePackage(void);
PETSC_EXTERN PetscErrorCode PetscAMBInitializePackageVersion(int, int, int);
#define PetscAMBInitializePackage() PetscAMBInitializePackageVersion(PETSCAMB_VERSION_MAJOR, PETSCAMB_VERSION_MINOR, PETSCAMB_VERSION_SUBMINOR)
PETSC_EXTERN PetscErrorCode PetscAMBFinalizePackage(void);

PETSC_EXTERN PetscErrorCode MatShadowSetTune(Mat, MatShadowTune);
PETSC_EXTERN PetscErrorCode MatShadowSetDevice(Mat, MatShadowDevice);
PETSC_EXTERN PetscErrorCode MatShadowSetHalo(Mat, MatShadowHalo);
PETSC_EXTERN PetscErrorCode MatShadowSetUp(Mat);
PETSC_EXTERN PetscErrorCode MatShadowGetInfo(Mat, MatShadowInfo *);
PETSC_EXTERN PetscErrorCode MatShadowGetFigure(Mat, const char[], PetscLogDouble *);
PETSC_EXTERN PetscErrorCode MatShadowGetFigureAt(Mat, PetscInt, const char **, PetscLogDouble *);
PETSC_EXTERN PetscErrorCode MatShadowGetHaloInfo(Mat, MatShadowHaloInfo *);
PETSC_EXTERN PetscErrorCode PetscAMBGetTypes(PetscBool, PetscInt *, const char *const **);

PETSC_EXTERN PetscErrorCode MatAMBSetBlockSize(Mat, PetscInt);

PETSC_EXTERN PetscErrorCode MatNUSSELLSetSegmentation(Mat, MatNUSSELLSegmentation);
PETSC_EXTERN PetscErrorCode MatNUSSELLSetRows(Mat, MatNUSSELLRows);
PETSC_EXTERN PetscErrorCode MatNUSSELLSetTune(Mat, MatNUSSELLTune);
PETSC_EXTERN PetscErrorCode MatNUSSELLSetChunk(Mat, PetscInt, PetscInt);
PETSC_EXTERN PetscErrorCode MatNUSSELLSetSegments(Mat, PetscInt, PetscInt, PetscInt, PetscInt);

PETSC_EXTERN PetscErrorCode MatHashGEMMSetAccumulator(Mat, MatHashGEMMAccumulator);

PETSC_EXTERN PetscErrorCode MatLoadMatrixMarket(Mat, const char[]);
