/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The public interface of petsc-amb, a PETSc plugin of fast sparse matrix formats.

   A program that is only run with -mat_type amb does not need this header: load libpetscamb.so with -dll_append.
*/
#pragma once

#include <petscpc.h>

/* PETSc defines PETSC_SUCCESS from 3.19 on */
#if PETSC_VERSION_LT(3, 19, 0) && !defined(PETSC_SUCCESS)
  #define PETSC_SUCCESS 0
#endif

/*MC
   PETSCAMB_VERSION_MAJOR - the version of petsc-amb that a program is compiled with, a number, as are `PETSCAMB_VERSION_MINOR` and `PETSCAMB_VERSION_SUBMINOR`

   Level: intermediate

   Note:
   `PetscAMBInitializePackage()` compares it with the version of the library that the program runs with.

.seealso: `PetscAMBInitializePackage()`, `PetscAMBInitializePackageVersion()`
M*/
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
   MATCCOO - `MATCCOO` = "ccoo" - the root name of `MATSEQAIJCCOO` and `MATMPIAIJCCOO`, subtypes of `MATAIJ` whose matrix-vector products run on compressed COO
M*/
#define MATCCOO       "ccoo"
#define MATSEQAIJCCOO "seqaijccoo"
#define MATMPIAIJCCOO "mpiaijccoo"

/*MC
   MATTILECOMPOSITE - `MATTILECOMPOSITE` = "tilecomposite" - the root name of `MATSEQAIJTILECOMPOSITE` and `MATMPIAIJTILECOMPOSITE`, subtypes of `MATAIJ` whose
   matrix-vector products run on tiles of the longest columns, whose rows are packed into rectangles
M*/
#define MATTILECOMPOSITE       "tilecomposite"
#define MATSEQAIJTILECOMPOSITE "seqaijtilecomposite"
#define MATMPIAIJTILECOMPOSITE "mpiaijtilecomposite"

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
+  -matmatmult_via hashgemm          - for `MatMatMult()`; the other products have -mattransposematmult_via, -matmattransmult_via, -matptap_via,
                                       -matrart_via and -matmatmatmult_via
.  -mat_product_algorithm hashgemm   - for products made with `MatProductCreate()`
-  -hashgemm_for_aij                 - for all products of `MATAIJ` matrices, unless the program sets another algorithm

   Level: intermediate

   Note:
   The algorithm is the default if the type of an operand is one of petsc-amb.

   Example:
.vb
   PetscCall(MatProductCreate(A, B, NULL, &C));
   PetscCall(MatProductSetType(C, MATPRODUCT_AB));
   PetscCall(MatProductSetAlgorithm(C, MATPRODUCTALGORITHMHASHGEMM));
   PetscCall(MatProductSetFromOptions(C));
   PetscCall(MatProductSymbolic(C));
   PetscCall(MatProductNumeric(C));
.ve

.seealso: `MATHASHGEMM`, `MatHashGEMMSetAccumulator()`
M*/
#define MATPRODUCTALGORITHMHASHGEMM "hashgemm"

/*MC
   MATPRODUCTALGORITHMSPMM - "spmm" - the algorithm of petsc-amb for products of a sparse and a dense matrix, for `MatProductSetAlgorithm()`

   Options Database Keys:
+  -matmatmult_via default          - leaves `MatMatMult()` to PETSc; `MatTransposeMatMult()` has -mattransposematmult_via
-  -mat_product_algorithm default   - leaves products made with `MatProductCreate()` to PETSc

   Level: intermediate

   Notes:
   The algorithm is the default for `MatMatMult()` and `MatTransposeMatMult()` of a matrix of petsc-amb's types with real numbers and a `MATDENSE`; of a matrix on a
   GPU also with a `MATDENSECUDA`. A product with one column runs as a product with a vector. The result has the type of PETSc's product.

   The product keeps memory for some columns of the dense matrix until it is destroyed: 256 bytes for each row, or fewer if the sparse matrix is a band; 512 bytes
   on a GPU. If the GPU lacks this memory, PETSc makes the product.

   Example:
.vb
   PetscCall(MatConvert(A, MATAMB, MAT_INPLACE_MATRIX, &A));
   PetscCall(MatMatMult(A, D, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C)); // D and C are dense
   PetscCall(MatMatMult(A, D, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
.ve

.seealso: `MatSDDMM()`, `MATPRODUCTALGORITHMHASHGEMM`, `MATAMB`
M*/
#define MATPRODUCTALGORITHMSPMM "spmm"

/* Types of KSP for KSPSetType() and -ksp_type: PETSc's cg, bcgs, gmres, fgmres and chebyshev on fused passes; see docs/krylov.md */

/*MC
   KSPAMBCG - "ambcg" - `KSPCG` in fewer passes over vectors
M*/
#define KSPAMBCG "ambcg"

/*MC
   KSPAMBBCGS - "ambbcgs" - `KSPBCGS` in fewer passes over vectors
M*/
#define KSPAMBBCGS "ambbcgs"

/*MC
   KSPAMBGMRES - "ambgmres" - `KSPGMRES` in fewer passes over vectors
M*/
#define KSPAMBGMRES "ambgmres"

/*MC
   KSPAMBFGMRES - "ambfgmres" - `KSPFGMRES` in fewer passes over vectors
M*/
#define KSPAMBFGMRES "ambfgmres"

/*MC
   KSPAMBCHEBYSHEV - "ambchebyshev" - `KSPCHEBYSHEV` in fewer passes over vectors
M*/
#define KSPAMBCHEBYSHEV "ambchebyshev"

/* Type of PC for PCSetType() and -pc_type; see docs/krylov.md */

/*MC
   PCAMBINVERSE - "ambinverse" - the inverse of a small matrix
M*/
#define PCAMBINVERSE "ambinverse"

/*MC
   PCAMBILU - "ambilu" - incomplete factorizations without fill that suit a GPU
M*/
#define PCAMBILU "ambilu"

/*MC
   MATSOLVERAMB - "amb" - factors of PETSc for `PCILU` and `PCICC` that are solved with on the GPU
M*/
#define MATSOLVERAMB "amb"

/*MC
   MATORDERINGAMBCOLOR - "ambcolor" - an ordering for incomplete factors with few levels
M*/
#define MATORDERINGAMBCOLOR "ambcolor"

/*MC
   PCGAMGAMBAGG - `PCGAMGAMBAGG` = "ambagg" - a type of `PCGAMG` for `PCGAMGSetType()`: smoothed aggregation with a parallel set-up
M*/
#define PCGAMGAMBAGG "ambagg"

/*MC
   MATCOARSENAMBMIS - `MATCOARSENAMBMIS` = "ambmis" - a coarsener for `MatCoarsenSetType()`: the aggregates of `PCGAMGAMBAGG`
M*/
#define MATCOARSENAMBMIS "ambmis"

/*E
   PCAMBILUType - the incomplete factorization that `PCAMBILU` makes

   Values:
+  `PC_AMBILU_ILU`  - ILU(0), by `MATSOLVERAMB`
.  `PC_AMBILU_DILU` - the triangles of the matrix with another diagonal (the default)
-  `PC_AMBILU_ISAI` - sparse approximate inverses of both triangles of ILU(0); an application is two products

   Options Database Key:
.  -pc_ambilu_type <ilu,dilu,isai> - see `PCAMBILUSetType()`

   Level: intermediate

   Note:
   `PCAMBILUTypes` has the words of the option, in the order of these values.

.seealso: `PCAMBILUSetType()`, `PCAMBILU`
E*/
typedef enum {
  PC_AMBILU_ILU,
  PC_AMBILU_DILU,
  PC_AMBILU_ISAI
} PCAMBILUType;
PETSC_EXTERN const char *const PCAMBILUTypes[];

/*E
   MatHashGEMMAccumulator - the data structure in which `MATPRODUCTALGORITHMHASHGEMM` gathers the entries of a row of a product

   Values:
+  `MAT_HASHGEMM_AUTO`    - chosen for each group of rows (the default)
.  `MAT_HASHGEMM_HASH`    - a hash table of columns and sums; on a GPU for comparison
.  `MAT_HASHGEMM_HASHVEC` - the same, searched a vector register at a time (host; `MAT_HASHGEMM_AUTO` on a GPU)
.  `MAT_HASHGEMM_HEAP`    - a heap of the rows of the second factor; for comparison
.  `MAT_HASHGEMM_DENSE`   - windows of the columns: an array for the range of a row's columns
.  `MAT_HASHGEMM_WINDOW`  - another name of `MAT_HASHGEMM_DENSE`
.  `MAT_HASHGEMM_ESC`     - all products of a row, expanded, sorted in registers and compressed
.  `MAT_HASHGEMM_MERGE`   - sorted products, merged into a sequence (GPU; `MAT_HASHGEMM_AUTO` on the host); for comparison
.  `MAT_HASHGEMM_TABLE`   - an old name of `MAT_HASHGEMM_HASH`
-  `MAT_HASHGEMM_WORDS`   - a hash table of words of 32 columns (GPU; `MAT_HASHGEMM_AUTO` on the host)

   Options Database Key:
.  -mat_hashgemm_accumulator <auto,hash,hashvec,heap,dense,window,esc,merge,words> - see `MatHashGEMMSetAccumulator()`

   Level: advanced

   Note:
   `MatHashGEMMAccumulators` has the words of the option, in the order of these values.

.seealso: `MatHashGEMMSetAccumulator()`
E*/
typedef enum {
  MAT_HASHGEMM_AUTO,
  MAT_HASHGEMM_HASH,
  MAT_HASHGEMM_HASHVEC,
  MAT_HASHGEMM_HEAP,
  MAT_HASHGEMM_DENSE,
  MAT_HASHGEMM_WINDOW,
  MAT_HASHGEMM_ESC,
  MAT_HASHGEMM_MERGE,
  MAT_HASHGEMM_TABLE,
  MAT_HASHGEMM_WORDS
} MatHashGEMMAccumulator;
PETSC_EXTERN const char *const MatHashGEMMAccumulators[];

/*E
   MatShadowTune - how a shadow format chooses its parameters, and between itself and the AIJ

   Values:
+  `MAT_SHADOW_TUNE_OFF`     - convert at the first product with the parameters that the traffic model picks, and never fall back to the AIJ
.  `MAT_SHADOW_TUNE_MODEL`   - the same, but stay with the AIJ if the traffic model predicts no gain; reproducible from run to run
.  `MAT_SHADOW_TUNE_MEASURE` - convert as the model says, and confirm the choice by timing the first products (the default)
-  `MAT_SHADOW_TUNE_ONLINE`  - try one set of parameters after the other while the solver runs, laid out by another thread, and keep the fastest

   Options Database Key:
.  -mat_shadow_tune <off,model,measure,online> - see `MatShadowSetTune()`

   Level: intermediate

   Note:
   `MatShadowTunes` has the words of the option, in the order of these values.

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
   MatShadowValues - how a format stores the values of a matrix

   Values:
+  `MAT_SHADOW_VALUES_DOUBLE` - as the matrix has them
.  `MAT_SHADOW_VALUES_EXACT`  - in the smallest storage that gives back the same bits and was not measured to be slower: by positions of 8 bits in a table, in single precision, once for all parts that are the same, or as the matrix has them (the default)
.  `MAT_SHADOW_VALUES_SINGLE` - rounded to single precision; vectors and sums keep double precision
-  `MAT_SHADOW_VALUES_TABLE`  - by positions in a table, if the table has room for all distinct values, else as the matrix has them

   Options Database Key:
.  -mat_shadow_values <double,exact,single,table> - see `MatShadowSetValues()`

   Level: intermediate

   Note:
   `MatShadowValuesNames` has the words of the option, in the order of these values.

.seealso: `MatShadowSetValues()`, `MatShadowGetFigure()`, `MATAMB`
E*/
typedef enum {
  MAT_SHADOW_VALUES_DOUBLE,
  MAT_SHADOW_VALUES_EXACT,
  MAT_SHADOW_VALUES_SINGLE,
  MAT_SHADOW_VALUES_TABLE
} MatShadowValues;
PETSC_EXTERN const char *const MatShadowValuesNames[];

/*E
   MatShadowDevice - where a matrix with a shadow is stored, with the vectors that `MatCreateVecs()` makes for the matrix

   Values:
+  `MAT_SHADOW_DEVICE_AUTO` - on the GPU if PETSc has CUDA and the machine a GPU, else on the host (the default)
.  `MAT_SHADOW_DEVICE_CPU`  - on the host
-  `MAT_SHADOW_DEVICE_GPU`  - on the GPU; an error if PETSc has no GPU to use

   Options Database Key:
.  -mat_shadow_device <auto,cpu,gpu> - see `MatShadowSetDevice()`

   Level: intermediate

   Note:
   `MatShadowDevices` has the words of the option, in the order of these values.

.seealso: `MatShadowSetDevice()`, `MatBindToCPU()`, `MATAMB`
E*/
typedef enum {
  MAT_SHADOW_DEVICE_AUTO,
  MAT_SHADOW_DEVICE_CPU,
  MAT_SHADOW_DEVICE_GPU
} MatShadowDevice;
PETSC_EXTERN const char *const MatShadowDevices[];

/*E
   MatShadowSOR - the order of rows in sweeps of `PCSOR` over a matrix with a shadow

   Values:
+  `MAT_SHADOW_SOR_AUTO`    - by color if the matrix and the vectors are on a GPU, else the natural order (the default)
.  `MAT_SHADOW_SOR_NATURAL` - the order of the rows, as PETSc sweeps, on the host
-  `MAT_SHADOW_SOR_COLOR`   - by color: rows of a color do not depend on one another

   Options Database Key:
.  -mat_shadow_sor <auto,natural,color> - see `MatShadowSetSOR()`

   Level: intermediate

   Note:
   `MatShadowSORs` has the words of the option, in the order of these values.

.seealso: `MatShadowSetSOR()`, `PCSOR`, `MATAMB`
E*/
typedef enum {
  MAT_SHADOW_SOR_AUTO,
  MAT_SHADOW_SOR_NATURAL,
  MAT_SHADOW_SOR_COLOR
} MatShadowSOR;
PETSC_EXTERN const char *const MatShadowSORs[];

/*E
   MatShadowHalo - how the processes exchange entries of x in products of an MPI matrix with a shadow, on GPUs

   Values:
+  `MAT_SHADOW_HALO_AUTO`   - `MAT_SHADOW_HALO_PEER` if each process has a GPU of its own and these reach each other's memory; else the path that was measured to be the
                              fastest, and NCCL once its gain would have repaid its start (the default)
.  `MAT_SHADOW_HALO_MPI`    - by a GPU-aware MPI, between buffers on the GPUs
.  `MAT_SHADOW_HALO_NCCL`   - by NCCL, if each process has a GPU of its own; the host never waits
.  `MAT_SHADOW_HALO_STAGED` - by any MPI, between buffers on the hosts
-  `MAT_SHADOW_HALO_PEER`   - on one host, by stores of a GPU into the memory of the others; the host never waits

   Options Database Key:
.  -mat_shadow_halo <auto,mpi,nccl,staged,peer> - see `MatShadowSetHalo()`

   Level: intermediate

   Note:
   `MatShadowHalos` has the words of the option, in the order of these values.

.seealso: `MatShadowSetHalo()`, `MatShadowGetInfo()`, `MATAMB`
E*/
typedef enum {
  MAT_SHADOW_HALO_AUTO,
  MAT_SHADOW_HALO_MPI,
  MAT_SHADOW_HALO_NCCL,
  MAT_SHADOW_HALO_STAGED,
  MAT_SHADOW_HALO_PEER
} MatShadowHalo;
PETSC_EXTERN const char *const MatShadowHalos[];

/*E
   MatNUSSELLSegmentation - how the columns of a `MATNUSSELL` matrix are cut into segments

   Values:
+  `MAT_NUSSELL_SEGMENTATION_NONUNIFORM` - columns with the most nonzeros first: K1 segments of S1 columns, K2 of S2, and one of all others (the default)
.  `MAT_NUSSELL_SEGMENTATION_UNIFORM`    - segments of S2 columns, in the order of the matrix
-  `MAT_NUSSELL_SEGMENTATION_NONE`       - a single segment: SELL-C-sigma

   Options Database Key:
.  -mat_nussell_segmentation <nonuniform,uniform,none> - see `MatNUSSELLSetSegmentation()`

   Level: intermediate

   Note:
   `MatNUSSELLSegmentations` has the words of the option, in the order of these values.

.seealso: `MatNUSSELLSetSegmentation()`, `MatNUSSELLSetSegments()`, `MATNUSSELL`
E*/
typedef enum {
  MAT_NUSSELL_SEGMENTATION_NONUNIFORM,
  MAT_NUSSELL_SEGMENTATION_UNIFORM,
  MAT_NUSSELL_SEGMENTATION_NONE
} MatNUSSELLSegmentation;
PETSC_EXTERN const char *const MatNUSSELLSegmentations[];

/*E
   MatNUSSELLRows - the format in which a segment of a `MATNUSSELL` matrix is stored

   Values:
+  `MAT_NUSSELL_ROWS_SELL` - SELL-C-sigma: rows of about the same length advance together, filled with zeros (the default)
-  `MAT_NUSSELL_ROWS_JDS`  - jagged diagonals: all rows sorted by length, without filling

   Options Database Key:
.  -mat_nussell_rows <sell,jds> - see `MatNUSSELLSetRows()`

   Level: advanced

   Note:
   `MatNUSSELLRowses` has the words of the option, in the order of these values.

.seealso: `MatNUSSELLSetRows()`, `MATNUSSELL`
E*/
typedef enum {
  MAT_NUSSELL_ROWS_SELL,
  MAT_NUSSELL_ROWS_JDS
} MatNUSSELLRows;
PETSC_EXTERN const char *const MatNUSSELLRowses[];

/*E
   MatNUSSELLTune - how the parameters of a `MATNUSSELL` matrix are chosen that the user leaves open

   Values:
+  `MAT_NUSSELL_TUNE_MODEL`      - by a model of the caches; reproducible from run to run on the same processor (the default)
.  `MAT_NUSSELL_TUNE_ONLINE`     - by the model first, then candidates are tried while the solver runs; sets `MAT_SHADOW_TUNE_ONLINE` too
.  `MAT_NUSSELL_TUNE_EXHAUSTIVE` - by timing candidates when the matrix is converted; for comparison
-  `MAT_NUSSELL_TUNE_OFF`        - not at all: only the segments that the user sets

   Options Database Key:
.  -mat_nussell_tune <model,online,exhaustive,off> - see `MatNUSSELLSetTune()`

   Level: intermediate

   Note:
   `MatNUSSELLTunes` has the words of the option, in the order of these values.

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
   MatShadowInfo - the format of a matrix with a shadow, its bytes and the times measured; filled by `MatShadowGetInfo()`

   Level: advanced

   Note:
   All figures are of this process. Bytes are the bytes of the matrix that one product reads (values, indices, permutations; not x and y). `MatShadowGetFigure()` gets
   the figures that a format has in addition.

.seealso: `MatShadowGetInfo()`, `MatShadowGetFigure()`, `MatShadowGetHaloInfo()`
S*/
typedef struct {
  const char    *format;           /* "amb", "nussell", "ccoo" or "tilecomposite", or "csr" while products run on the AIJ */
  const char    *reason;           /* why products run on that format, in words */
  const char    *kernel;           /* "avx512", "avx2", "plain" or "cuda"; "aij" or "aijcusparse" */
  PetscBool      tuning;           /* the next products are timed to choose the format of later ones */
  PetscInt       tried;            /* products spent on tuning, besides the products of the solver */
  PetscInt       candidates;       /* formats, or sets of parameters, that were timed in products of the solver */
  PetscInt       conversions;      /* full conversions so far */
  PetscInt       updates;          /* values-only updates so far */
  PetscLogDouble nonzeros;         /* entries of the AIJ */
  PetscLogDouble stored_values;    /* entries of the format, with zero filling */
  PetscLogDouble bytes_csr;        /* bytes of the AIJ arrays */
  PetscLogDouble bytes_model;      /* bytes the traffic model predicted for the format */
  PetscLogDouble bytes_stored;     /* bytes the format really holds */
  PetscLogDouble bytes_extra;      /* bytes held in addition, for new values and the transposed product */
  PetscLogDouble time_convert;     /* seconds of the last full conversion */
  PetscLogDouble time_update;      /* seconds of the last values-only update */
  PetscLogDouble time_tune;        /* seconds that the solver lost to conversions and to slower products; on the GPU if several candidates were tried */
  PetscLogDouble time_tune_beside; /* seconds of processors that another thread spent on conversions */
  PetscLogDouble time_csr;         /* seconds of one product on the AIJ, 0 if not measured */
  PetscLogDouble time_format;      /* seconds of one product on the format, 0 if not measured */
} MatShadowInfo;

/*S
   MatShadowHaloInfo - how the processes exchange entries of x in products of an MPI matrix on GPUs; filled by `MatShadowGetHaloInfo()`

   Level: advanced

   Note:
   All figures are of this process.

.seealso: `MatShadowGetHaloInfo()`, `MatShadowSetHalo()`
S*/
typedef struct {
  const char    *path;      /* "mpi", "nccl" or "staged"; NULL if PETSc makes the exchange */
  PetscInt       neighbors; /* processes that entries come from or go to */
  PetscInt       products;  /* products so far */
  PetscLogDouble bytes;     /* bytes received in one product */
  PetscLogDouble syncs;     /* times that the host waited for the GPU in these products */
} MatShadowHaloInfo;

PETSC_EXTERN PetscErrorCode PetscAMBInitializePackage(void);
PETSC_EXTERN PetscErrorCode PetscAMBInitializePackageVersion(int, int, int);
#define PetscAMBInitializePackage() PetscAMBInitializePackageVersion(PETSCAMB_VERSION_MAJOR, PETSCAMB_VERSION_MINOR, PETSCAMB_VERSION_SUBMINOR)
PETSC_EXTERN PetscErrorCode PetscAMBFinalizePackage(void);

PETSC_EXTERN PetscErrorCode MatShadowSetTune(Mat, MatShadowTune);
PETSC_EXTERN PetscErrorCode MatShadowSetValues(Mat, MatShadowValues);
PETSC_EXTERN PetscErrorCode MatShadowSetKeepAIJ(Mat, PetscBool);
PETSC_EXTERN PetscErrorCode MatShadowSetDevice(Mat, MatShadowDevice);
PETSC_EXTERN PetscErrorCode MatShadowSetHalo(Mat, MatShadowHalo);
PETSC_EXTERN PetscErrorCode MatShadowSetSOR(Mat, MatShadowSOR);
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

PETSC_EXTERN PetscErrorCode MatCCOOSetChunk(Mat, PetscInt, PetscInt);
PETSC_EXTERN PetscErrorCode MatCCOOSetTable(Mat, PetscBool);
PETSC_EXTERN PetscErrorCode MatCCOOSetAtomics(Mat, PetscBool);

PETSC_EXTERN PetscErrorCode MatTileCompositeSetTiles(Mat, PetscInt, PetscInt);
PETSC_EXTERN PetscErrorCode MatTileCompositeSetWork(Mat, PetscInt);
PETSC_EXTERN PetscErrorCode MatTileCompositeSetCOO(Mat, PetscBool);
PETSC_EXTERN PetscErrorCode MatTileCompositeMeasure(const char[]);

PETSC_EXTERN PetscErrorCode MatHashGEMMSetAccumulator(Mat, MatHashGEMMAccumulator);

PETSC_EXTERN PetscErrorCode MatSDDMM(Mat, Mat, Mat, PetscBool, MatReuse, Mat *);

PETSC_EXTERN PetscErrorCode MatSetPreallocationBlockCOO(Mat, PetscCount, PetscInt[], PetscInt[]);
PETSC_EXTERN PetscErrorCode MatSetValuesBlockCOO(Mat, const PetscScalar[], InsertMode);

PETSC_EXTERN PetscErrorCode PCAMBILUSetType(PC, PCAMBILUType);
PETSC_EXTERN PetscErrorCode PCAMBILUSetOrderingType(PC, MatOrderingType);
PETSC_EXTERN PetscErrorCode PCGAMGAmbAggSetStrongest(PC, PetscBool);
PETSC_EXTERN PetscErrorCode PCGAMGAmbAggSetMinAggregateSize(PC, PetscInt);

/*E
   MatLoadFormat - The format of a file with a matrix, by its first bytes

   Values:
+  `MAT_LOAD_OTHER`         - none of the following
.  `MAT_LOAD_MATRIX_MARKET` - Matrix Market, compressed or not: `MatLoadMatrixMarket()` reads it
.  `MAT_LOAD_EDGE_LIST`     - any other text, compressed or not, or an empty file: `MatLoadEdgeList()` reads lists of edges
-  `MAT_LOAD_PETSC`         - a matrix or a vector in PETSc's binary format: `MatLoad()` and `VecLoad()` read it

   Level: intermediate

.seealso: `MatLoadGetFormat()`
E*/
typedef enum {
  MAT_LOAD_OTHER,
  MAT_LOAD_MATRIX_MARKET,
  MAT_LOAD_EDGE_LIST,
  MAT_LOAD_PETSC
} MatLoadFormat;

PETSC_EXTERN PetscErrorCode MatLoadGetFormat(MPI_Comm, const char[], MatLoadFormat *);
PETSC_EXTERN PetscErrorCode MatLoadMatrixMarket(Mat, const char[]);

/* Graphs and batches: programs that use them may include this header alone */
#include <petscambgraph.h>
