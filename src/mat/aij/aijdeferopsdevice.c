/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Operations of deferred matrices. Each completes its matrix and then calls the operation of AIJCUSPARSE, except the few that need no entries.
*/
#include "mat/aij/aijdefer.h"

#if PETSC_VERSION_GE(3, 23, 0)

  /* clang-format off */

  /* Operations that complete the matrix: name, parameters, arguments */
  #define OPERATIONS(X) \
    X(setvalues, (Mat A, PetscInt m, const PetscInt i[], PetscInt n, const PetscInt j[], const PetscScalar v[], InsertMode mode), (A, m, i, n, j, v, mode)) \
    X(setvaluesblocked, (Mat A, PetscInt m, const PetscInt i[], PetscInt n, const PetscInt j[], const PetscScalar v[], InsertMode mode), (A, m, i, n, j, v, mode)) \
    X(setvalueslocal, (Mat A, PetscInt m, const PetscInt i[], PetscInt n, const PetscInt j[], const PetscScalar v[], InsertMode mode), (A, m, i, n, j, v, mode)) \
    X(setvaluesblockedlocal, (Mat A, PetscInt m, const PetscInt i[], PetscInt n, const PetscInt j[], const PetscScalar v[], InsertMode mode), (A, m, i, n, j, v, mode)) \
    X(setvaluesrow, (Mat A, PetscInt r, const PetscScalar v[]), (A, r, v)) \
    X(getvalues, (Mat A, PetscInt m, const PetscInt i[], PetscInt n, const PetscInt j[], PetscScalar v[]), (A, m, i, n, j, v)) \
    X(getvalueslocal, (Mat A, PetscInt m, const PetscInt i[], PetscInt n, const PetscInt j[], PetscScalar v[]), (A, m, i, n, j, v)) \
    X(getrow, (Mat A, PetscInt r, PetscInt *n, PetscInt *j[], PetscScalar *v[]), (A, r, n, j, v)) \
    X(restorerow, (Mat A, PetscInt r, PetscInt *n, PetscInt *j[], PetscScalar *v[]), (A, r, n, j, v)) \
    X(getrowij, (Mat A, PetscInt shift, PetscBool sym, PetscBool inode, PetscInt *n, const PetscInt *i[], const PetscInt *j[], PetscBool *done), (A, shift, sym, inode, n, i, j, done)) \
    X(restorerowij, (Mat A, PetscInt shift, PetscBool sym, PetscBool inode, PetscInt *n, const PetscInt *i[], const PetscInt *j[], PetscBool *done), (A, shift, sym, inode, n, i, j, done)) \
    X(getcolumnij, (Mat A, PetscInt shift, PetscBool sym, PetscBool inode, PetscInt *n, const PetscInt *i[], const PetscInt *j[], PetscBool *done), (A, shift, sym, inode, n, i, j, done)) \
    X(restorecolumnij, (Mat A, PetscInt shift, PetscBool sym, PetscBool inode, PetscInt *n, const PetscInt *i[], const PetscInt *j[], PetscBool *done), (A, shift, sym, inode, n, i, j, done)) \
    X(sor, (Mat A, Vec b, PetscReal omega, MatSORType type, PetscReal shift, PetscInt its, PetscInt lits, Vec x), (A, b, omega, type, shift, its, lits, x)) \
    X(lufactor, (Mat A, IS row, IS col, const MatFactorInfo *info), (A, row, col, info)) \
    X(choleskyfactor, (Mat A, IS perm, const MatFactorInfo *info), (A, perm, info)) \
    X(ilufactor, (Mat A, IS row, IS col, const MatFactorInfo *info), (A, row, col, info)) \
    X(iccfactor, (Mat A, IS perm, const MatFactorInfo *info), (A, perm, info)) \
    X(setunfactored, (Mat A), (A)) \
    X(transpose, (Mat A, MatReuse reuse, Mat *B), (A, reuse, B)) \
    X(transposesymbolic, (Mat A, Mat *B), (A, B)) \
    X(hermitiantranspose, (Mat A, MatReuse reuse, Mat *B), (A, reuse, B)) \
    X(multhermitiantranspose, (Mat A, Vec x, Vec y), (A, x, y)) \
    X(multhermitiantransposeadd, (Mat A, Vec x, Vec y, Vec z), (A, x, y, z)) \
    X(multdiagonalblock, (Mat A, Vec x, Vec y), (A, x, y)) \
    X(residual, (Mat A, Vec b, Vec x, Vec r), (A, b, x, r)) \
    X(adot, (Mat A, Vec x, Vec y, PetscScalar *dot), (A, x, y, dot)) \
    X(anorm, (Mat A, Vec x, PetscReal *norm), (A, x, norm)) \
    X(diagonalscale, (Mat A, Vec l, Vec r), (A, l, r)) \
    X(diagonalset, (Mat A, Vec d, InsertMode mode), (A, d, mode)) \
    X(norm, (Mat A, NormType type, PetscReal *norm), (A, type, norm)) \
    X(zeroentries, (Mat A), (A)) \
    X(zerorows, (Mat A, PetscInt n, const PetscInt rows[], PetscScalar d, Vec x, Vec b), (A, n, rows, d, x, b)) \
    X(zerorowslocal, (Mat A, PetscInt n, const PetscInt rows[], PetscScalar d, Vec x, Vec b), (A, n, rows, d, x, b)) \
    X(zerorowscolumns, (Mat A, PetscInt n, const PetscInt rows[], PetscScalar d, Vec x, Vec b), (A, n, rows, d, x, b)) \
    X(getdiagonalblock, (Mat A, Mat *B), (A, B)) \
    X(duplicate, (Mat A, MatDuplicateOption option, Mat *B), (A, option, B)) \
    X(scale, (Mat A, PetscScalar a), (A, a)) \
    X(shift, (Mat A, PetscScalar a), (A, a)) \
    X(setrandom, (Mat A, PetscRandom r), (A, r)) \
    X(conjugate, (Mat A), (A)) \
    X(realpart, (Mat A), (A)) \
    X(imaginarypart, (Mat A), (A)) \
    X(permute, (Mat A, IS row, IS col, Mat *B), (A, row, col, B)) \
    X(createsubmatrix, (Mat A, IS row, IS col, MatReuse reuse, Mat *B), (A, row, col, reuse, B)) \
    X(createsubmatrices, (Mat A, PetscInt n, const IS row[], const IS col[], MatReuse reuse, Mat *B[]), (A, n, row, col, reuse, B)) \
    X(createsubmatricesmpi, (Mat A, PetscInt n, const IS row[], const IS col[], MatReuse reuse, Mat **B), (A, n, row, col, reuse, B)) \
    X(getlocalsubmatrix, (Mat A, IS row, IS col, Mat *B), (A, row, col, B)) \
    X(getmultiprocblock, (Mat A, MPI_Comm comm, MatReuse reuse, Mat *B), (A, comm, reuse, B)) \
    X(getseqnonzerostructure, (Mat A, Mat *B), (A, B)) \
    X(increaseoverlap, (Mat A, PetscInt n, IS is[], PetscInt overlap), (A, n, is, overlap)) \
    X(creategraph, (Mat A, PetscBool sym, PetscBool scale, PetscReal filter, PetscInt n, PetscInt index[], Mat *G), (A, sym, scale, filter, n, index, G)) \
    X(eliminatezeros, (Mat A, PetscBool keep), (A, keep)) \
    X(findzerodiagonals, (Mat A, IS *is), (A, is)) \
    X(findnonzerorows, (Mat A, IS *is), (A, is)) \
    X(findoffblockdiagonalentries, (Mat A, IS *is), (A, is)) \
    X(getrowmax, (Mat A, Vec v, PetscInt index[]), (A, v, index)) \
    X(getrowmin, (Mat A, Vec v, PetscInt index[]), (A, v, index)) \
    X(getrowmaxabs, (Mat A, Vec v, PetscInt index[]), (A, v, index)) \
    X(getrowminabs, (Mat A, Vec v, PetscInt index[]), (A, v, index)) \
    X(getrowsumabs, (Mat A, Vec v), (A, v)) \
    X(getcolumnvector, (Mat A, Vec v, PetscInt column), (A, v, column)) \
    X(getcolumnreductions, (Mat A, PetscInt type, PetscReal *values), (A, type, values)) \
    X(invertblockdiagonal, (Mat A, const PetscScalar **values), (A, values)) \
    X(invertvariableblockdiagonal, (Mat A, PetscInt n, const PetscInt *sizes, PetscScalar *values), (A, n, sizes, values)) \
    X(fdcoloringcreate, (Mat A, ISColoring coloring, MatFDColoring c), (A, coloring, c)) \
    X(fdcoloringsetup, (Mat A, ISColoring coloring, MatFDColoring c), (A, coloring, c)) \
    X(fdcoloringapply, (Mat A, MatFDColoring c, Vec x, void *ctx), (A, c, x, ctx)) \
    X(coloringpatch, (Mat A, PetscInt n, PetscInt ncolors, ISColoringValue colors[], ISColoring *coloring), (A, n, ncolors, colors, coloring)) \
    X(transposecoloringcreate, (Mat A, ISColoring coloring, MatTransposeColoring c), (A, coloring, c)) \
    X(issymmetric, (Mat A, PetscReal tol, PetscBool *is), (A, tol, is)) \
    X(ishermitian, (Mat A, PetscReal tol, PetscBool *is), (A, tol, is)) \
    X(isstructurallysymmetric, (Mat A, PetscBool *is), (A, is)) \
    X(view, (Mat A, PetscViewer viewer), (A, viewer)) \
    X(viewnative, (Mat A, PetscViewer viewer), (A, viewer)) \
    X(load, (Mat A, PetscViewer viewer), (A, viewer)) \
    X(assemblybegin, (Mat A, MatAssemblyType type), (A, type)) \
    X(assemblyend, (Mat A, MatAssemblyType type), (A, type)) \
    SOME_VERSIONS(X)

  #if PETSC_VERSION_LT(3, 25, 0)
    #define SOME_VERSIONS(X) X(missingdiagonal, (Mat A, PetscBool * missing, PetscInt * row), (A, missing, row))
  #elif PETSC_VERSION_LT(3, 26, 0)
    #define SOME_VERSIONS(X)
  #else
    #define SOME_VERSIONS(X) X(getordering, (Mat A, MatOrderingType type, IS * row, IS * col), (A, type, row, col))
  #endif

  /* Operations that also complete another matrix, B */
  #define PAIRS(X) \
    X(equal, (Mat A, Mat B, PetscBool *same), (A, B, same)) \
    X(axpy, (Mat A, PetscScalar a, Mat B, MatStructure structure), (A, a, B, structure)) \
    X(copy, (Mat A, Mat B, MatStructure structure), (A, B, structure))

  /* Operations that stay: products with vectors and matrices, settings that do not depend on entries, and functions that PETSc calls with other matrices first */
  #define STAY(X) \
    X(mult) X(multadd) X(multtranspose) X(multtransposeadd) X(productsetfromoptions) X(productsymbolic) X(productnumeric) \
    X(setoption) X(setfromoptions) X(setup) X(getghosts) X(getvecs) X(getdiagonal) X(hasoperation) X(setblocksizes) X(setlocaltoglobalmapping) X(convertfrom) \
    X(matmatmultsymbolic) X(matmatmultnumeric) X(matmultsymbolic) X(matmultnumeric) X(ptapnumeric) X(mattransposemultsymbolic) X(mattransposemultnumeric) \
    X(transposematmultsymbolic) X(transposematmultnumeric) X(transcoloringapplysptoden) X(transcoloringapplydentosp) X(rartnumeric) \
    X(creatempimatconcatenateseqmat) X(destroysubmatrices) X(copyhashtoxaij) X(solve) X(solveadd) X(solvetranspose) X(solvetransposeadd) X(matsolve) X(matsolvetranspose) \
    STAY_IN_SOME_VERSIONS(X)
/* clang-format on */

  #if PETSC_VERSION_LT(3, 24, 0)
    #define STAY_IN_SOME_VERSIONS(X)
  #else
    #define STAY_IN_SOME_VERSIONS(X) X(getcurrentmemtype)
  #endif

  /* Methods that read or replace entries: name, parameters, arguments */
  #define METHODS(X) \
    X(MatStoreValues, (Mat A), (A)) \
    X(MatRetrieveValues, (Mat A), (A)) \
    X(MatSeqAIJSetPreallocation, (Mat A, PetscInt nz, const PetscInt nnz[]), (A, nz, nnz)) \
    X(MatMPIAIJSetPreallocation, (Mat A, PetscInt d, const PetscInt dnnz[], PetscInt o, const PetscInt onnz[]), (A, d, dnnz, o, onnz)) \
    X(MatSeqAIJSetPreallocationCSR, (Mat A, const PetscInt i[], const PetscInt j[], const PetscScalar a[]), (A, i, j, a)) \
    X(MatMPIAIJSetPreallocationCSR, (Mat A, const PetscInt i[], const PetscInt j[], const PetscScalar a[]), (A, i, j, a)) \
    X(MatResetPreallocation, (Mat A), (A)) \
    X(MatResetHash, (Mat A), (A)) \
    X(MatSeqAIJSetColumnIndices, (Mat A, PetscInt j[]), (A, j)) \
    X(MatReorderForNonzeroDiagonal, (Mat A, PetscReal tol, IS row, IS col), (A, tol, row, col)) \
    X(MatSetPreallocationCOO, (Mat A, PetscCount n, PetscInt i[], PetscInt j[]), (A, n, i, j)) \
    X(MatSetValuesCOO, (Mat A, const PetscScalar v[], InsertMode mode), (A, v, mode)) \
    X(MatDiagonalScaleLocal, (Mat A, Vec d), (A, d))

  /* Methods that also complete another matrix, B */
  #define METHOD_PAIRS(X) \
    X(MatIsTranspose, (Mat A, Mat B, PetscReal tol, PetscBool * is), (A, B, tol, is)) \
    X(MatIsHermitianTranspose, (Mat A, Mat B, PetscReal tol, PetscBool * is), (A, B, tol, is)) \
    X(MatSeqAIJKron, (Mat A, Mat B, MatReuse reuse, Mat * C), (A, B, reuse, C))

/* clang-format on */

  #define COMPLETE(name, parameters, arguments) \
    static PetscErrorCode Deferred_##name parameters \
    { \
      PetscFunctionBegin; \
      PetscCall(MatAIJComplete(A)); \
      PetscCall((*A->ops->name)arguments); \
      PetscFunctionReturn(PETSC_SUCCESS); \
    }

  #define COMPLETE_BOTH(name, parameters, arguments) \
    static PetscErrorCode Deferred_##name parameters \
    { \
      PetscFunctionBegin; \
      PetscCall(MatAIJComplete(A)); \
      PetscCall(MatAIJComplete(B)); \
      PetscCall((*A->ops->name)arguments); \
      PetscFunctionReturn(PETSC_SUCCESS); \
    }

  #define COMPLETE_METHOD(name, parameters, arguments) \
    static PetscErrorCode Deferred_##name parameters \
    { \
      PetscErrorCode(*f) parameters; \
\
      PetscFunctionBegin; \
      PetscCall(MatAIJComplete(A)); \
      PetscCall(PetscObjectQueryFunction((PetscObject)A, #name "_C", &f)); \
      PetscCall((*f)arguments); \
      PetscFunctionReturn(PETSC_SUCCESS); \
    }

  #define COMPLETE_METHOD_BOTH(name, parameters, arguments) \
    static PetscErrorCode Deferred_##name parameters \
    { \
      PetscErrorCode(*f) parameters; \
\
      PetscFunctionBegin; \
      PetscCall(MatAIJComplete(A)); \
      PetscCall(MatAIJComplete(B)); \
      PetscCall(PetscObjectQueryFunction((PetscObject)A, #name "_C", &f)); \
      PetscCall((*f)arguments); \
      PetscFunctionReturn(PETSC_SUCCESS); \
    }

/* clang-format off */
OPERATIONS(COMPLETE)
PAIRS(COMPLETE_BOTH)
METHODS(COMPLETE_METHOD)
METHOD_PAIRS(COMPLETE_METHOD_BOTH)
/* clang-format on */

static PetscErrorCode Deferred_bindtocpu(Mat A, PetscBool bind)
{
  PetscFunctionBegin;
  if (!bind) PetscFunctionReturn(PETSC_SUCCESS);
  A->boundtocpu = PETSC_FALSE; /* PETSc has set it, and the device has the entries */
  PetscCall(MatAIJComplete(A));
  A->boundtocpu = PETSC_TRUE;
  PetscCall((*A->ops->bindtocpu)(A, bind));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Deferred_convert(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  PetscFunctionBegin;
  PetscCall(MatAIJComplete(A));
  PetscCall(MatConvert(A, type, reuse, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Deferred_getinfo_seq(Mat A, MatInfoType type, MatInfo *info)
{
  MatAIJDeferred *d;

  PetscFunctionBegin;
  PetscCall(MatAIJDeferredGet(A, &d));
  *info = (MatInfo){.block_size = 1, .nz_allocated = (PetscLogDouble)d->device.nz, .nz_used = (PetscLogDouble)d->device.nz, .assemblies = A->num_ass};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For operands of which PETSc knows no product by name */
static PetscErrorCode MatProductSetFromOptions_Deferred(Mat C)
{
  const Mat operand[3] = {C->product->A, C->product->B, C->product->C};

  PetscFunctionBegin;
  for (int k = 0; k < 3; k++) {
    if (operand[k]) PetscCall(MatAIJComplete(operand[k]));
  }
  PetscCall(MatProductSetFromOptions(C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatSetType() and MatHeaderReplace() call it for a matrix with references, and the operation of the complete matrix may keep the data */
PetscErrorCode MatDestroy_AIJDeferred(Mat A)
{
  PetscFunctionBegin;
  if (((PetscObject)A)->refct > 0) PetscCall(MatAIJComplete(A));
  else PetscCall(MatAIJDeferredForget(A));
  PetscCall((*A->ops->destroy)(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- installation ------------------------------------------------- */

static PetscErrorCode MatAIJDeferMethods(Mat A, MatAIJDeferred *d)
{
  int n = 0;

  PetscFunctionBegin;
  #define METHOD(name, parameters, arguments) \
    PetscCall(PetscObjectQueryFunction((PetscObject)A, #name "_C", &d->methods[n])); \
    if (d->methods[n]) PetscCall(PetscObjectComposeFunction((PetscObject)A, #name "_C", Deferred_##name)); \
    n++;
  METHODS(METHOD)
  METHOD_PAIRS(METHOD)
  #undef METHOD
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatProductSetFromOptions_anytype_C", MatProductSetFromOptions_Deferred));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAIJDeferOperations(Mat A, MatAIJDeferred *d, PetscBool *done)
{
  struct _MatOps rest = *A->ops; /* operations that neither list has */
  const char    *byte = (const char *)&rest;
  PetscBool      seq;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJCUSPARSE, &seq));
  rest.destroy   = NULL;
  rest.bindtocpu = NULL;
  rest.convert   = NULL;
  rest.getinfo   = NULL;
  #define FORGET(name, ...) rest.name = NULL;
  OPERATIONS(FORGET)
  PAIRS(FORGET)
  STAY(FORGET)
  #undef FORGET
  *done = PETSC_TRUE;
  for (size_t k = 0; k < sizeof(rest); k++) *done = (PetscBool)(*done && !byte[k]);
  if (!*done) {
    PetscCall(PetscInfo(A, "PETSc has operations of AIJ that petsc-amb does not know: the entries go to the host at once\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  d->ops = *A->ops;
  #define REPLACE(name, parameters, arguments) \
    if (A->ops->name) A->ops->name = Deferred_##name;
  OPERATIONS(REPLACE)
  PAIRS(REPLACE)
  #undef REPLACE
  A->ops->destroy = MatDestroy_AIJDeferred;
  A->ops->convert = Deferred_convert;
  if (A->ops->bindtocpu) A->ops->bindtocpu = Deferred_bindtocpu;
  if (seq) A->ops->getinfo = Deferred_getinfo_seq;
  d->shown = *A->ops;
  PetscCall(MatAIJDeferMethods(A, d));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, seq ? MAT_AIJ_DEFERRED_SEQ : MAT_AIJ_DEFERRED_MPI));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAIJDeferRestore(Mat A, const MatAIJDeferred *d)
{
  void (**now)(void)         = (void (**)(void))A->ops;
  void (*const *shown)(void) = (void (*const *)(void)) & d->shown;
  void (*const *ops)(void)   = (void (*const *)(void)) & d->ops;
  PetscBool seq;
  int       n = 0;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MAT_AIJ_DEFERRED_SEQ, &seq));
  for (size_t k = 0; k < sizeof(d->ops) / sizeof(*ops); k++) {
    if (now[k] == shown[k]) now[k] = ops[k];
  }
  #define METHOD(name, parameters, arguments) \
    if (d->methods[n]) PetscCall(PetscObjectComposeFunction((PetscObject)A, #name "_C", d->methods[n])); \
    n++;
  METHODS(METHOD)
  METHOD_PAIRS(METHOD)
  #undef METHOD
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatProductSetFromOptions_anytype_C", NULL));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, seq ? MATSEQAIJCUSPARSE : MATMPIAIJCUSPARSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#else

/* MatCreateMPIAIJWithSeqAIJ() of these versions reads the blocks, and their AIJ have other operations */
PetscErrorCode MatAIJDeferOperations(Mat A, MatAIJDeferred *d, PetscBool *done)
{
  PetscFunctionBegin;
  *done = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAIJDeferRestore(Mat A, const MatAIJDeferred *d)
{
  return PETSC_SUCCESS;
}

PetscErrorCode MatDestroy_AIJDeferred(Mat A)
{
  return PETSC_SUCCESS;
}

#endif
