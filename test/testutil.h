/* SPDX-License-Identifier: BSD-2-Clause */
/*
   What the test programs share: matrices defined by a formula, comparisons with a plain MATAIJ, and one "ok NAME" line per check.

   The matrix under test takes its type from -mat_type; the reference has the options prefix ref_ and stays MATAIJ. No line holds a
   number that varies, so one expected output serves every type and every number of ranks.
*/
#pragma once

#include <petscksp.h>
#include "petscamb.h"

/* Products differ from the reference by the order of their sums only: an error counts relative to the sum of |a_ij| |x_j| */
#define TEST_TOLERANCE (1.e4 * PETSC_MACHINE_EPSILON)

/* ------------------------------------------------------- reporting ------------------------------------------------------- */

/* The worst difference seen in a check, and where */
typedef struct {
  const char *what;
  PetscReal   err;
} TestDiff;

typedef PetscErrorCode (*TestFunction)(TestDiff *);

typedef struct {
  const char  *name;
  TestFunction run;
} TestCase;

/* Notes a difference of err, or that something expected does not hold */
void           TestDiffAdd(TestDiff *d, const char *what, PetscReal err);
PetscLogDouble TestFigure(Mat A, const char name[]);
void           TestExpect(TestDiff *d, const char *what, PetscBool holds);

/* Returns whether several processes share a GPU; tests run on one machine */
PetscBool TestSharesGPU(void);

/* Collective: prints "ok name", or "not ok name" with the worst difference of all ranks */
PetscErrorCode TestReport(const char *name, const TestDiff *d);

/* Runs one check; an error that PETSc raises on all ranks is a failed check and the next one runs */
PetscErrorCode TestRunCase(const TestCase *test);

/* Runs a table that ends with a NULL name; -test_only NAME picks one row */
PetscErrorCode TestRun(const TestCase tests[]);

PetscErrorCode TestInitialize(int *argc, char ***argv, const char help[]);

/* Ends a program with an exit code that tells whether every check passed */
int TestFinalize(void);

/* A whole program: begins, runs a table, ends */
int TestMain(int argc, char **argv, const char help[], const TestCase tests[]);

/* The call must raise that error, or any with a code of 0, and its message must hold these words */
#define TestExpectError(d, code, words, call) \
  do { \
    PetscErrorCode raised_; \
    TestErrorMessage[0] = 0; \
    PetscCall(PetscPushErrorHandler(TestKeepMessage, NULL)); \
    raised_ = call; \
    PetscCall(PetscPopErrorHandler()); \
    TestExpect(d, #call " raises another error or none", (PetscBool)((code) ? raised_ == (code) : raised_ != 0)); \
    TestExpect(d, #call " does not say: " words, (PetscBool)(strstr(TestErrorMessage, words) != NULL)); \
  } while (0)

/* An error handler that keeps the text of the first error there and says nothing */
extern char    TestErrorMessage[2048];
PetscErrorCode TestKeepMessage(MPI_Comm, int line, const char *function, const char *file, PetscErrorCode, PetscErrorType, const char *text, void *ctx);

/* A path that no other run uses, the same on all ranks */
PetscErrorCode TestTemporaryFile(char path[], size_t len);
PetscErrorCode TestRemoveFile(const char path[]);

/* Makes the text of a view what it would be for a MATAIJ, without the lines and the names that differ; a last line without an end is left out, and the view is not whole */
PetscErrorCode TestCleanView(char *view, PetscBool *whole);

/* Writes A into a binary file; loads such a file into A, which has a type */
PetscErrorCode TestMatSave(Mat A, const char path[]);
PetscErrorCode TestMatLoad(Mat A, const char path[]);

/* ------------------------------------------------------- numbers and shapes ------------------------------------------------------- */

/* A number in (-1, 1) that depends on i and j alone, whatever the distribution */
PetscReal   TestReal(PetscInt i, PetscInt j);
PetscScalar TestNumber(PetscInt i, PetscInt j);

/* An integer in [0, n) that depends on i and j alone */
PetscInt TestInteger(PetscInt i, PetscInt j, PetscInt n);

/* Writes the columns of row i in increasing order and returns their number */
typedef PetscInt (*TestRowFunction)(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[]);
typedef PetscScalar (*TestValueFunction)(PetscInt i, PetscInt j);

typedef struct {
  const char       *name;
  PetscInt          M, N;
  TestRowFunction   row;
  TestValueFunction value;
  PetscBool         last; /* all rows and columns on the last rank, the others are empty */
} TestShape;

PetscScalar TestValueGeneral(PetscInt i, PetscInt j);

/* Of a diagonally dominant matrix on TestRowGrid: other values in the two triangles, or the same */
PetscScalar TestValueConvection(PetscInt i, PetscInt j);
PetscScalar TestValueSymmetric(PetscInt i, PetscInt j);

/* Of a symmetric and definite matrix on TestRowBlocks */
PetscScalar TestValueNodes(PetscInt i, PetscInt j);

/* Of a matrix on TestRowGrid in which every third row has the other sign: it is indefinite, and so is its diagonal as a preconditioner */
PetscScalar TestValueIndefinite(PetscInt i, PetscInt j);

/* Of a Laplacian with natural boundaries on TestRowGrid with 900 rows, which add up to 0 */
PetscScalar TestValueNeumann(PetscInt i, PetscInt j);

/* Rows 2k and 2k + 1 are coupled with each other only, skew-symmetrically: A x is orthogonal to x */
PetscInt    TestRowPairs(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[]);
PetscScalar TestValueSkew(PetscInt i, PetscInt j);

PetscInt TestRowNone(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[]);
PetscInt TestRowFull(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[]);

/* Row 5 and column 2 are full, every third row is empty */
PetscInt TestRowHub(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[]);

/* The five-point stencil on a grid of sqrt(M) by sqrt(M) points */
PetscInt TestRowGrid(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[]);

/* Neighbors so far away that columns need more than 16 bits */
PetscInt TestRowFar(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[]);

/* Any columns, up to eight as a rule; every 13th row may have all of them, and many rows are empty if there are few columns */
PetscInt TestRowRandom(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[]);

/* I-nodes of 1 to 5 rows by turns, each coupled with the next ones and with far ones; for TestRowNodesFar() columns need more than 16 bits */
PetscInt TestRowNodes(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[]);
PetscInt TestRowNodesFar(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[]);

/* Nodes of three unknowns on a line, each coupled with the next ones and with a far one */
PetscInt       TestRowBlocks(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[]);
PetscErrorCode TestShapeSizes(const TestShape *shape, Mat A);

/* Preallocates exactly; the sizes and the type are set */
PetscErrorCode TestShapePreallocate(const TestShape *shape, Mat A);

/* Sets factor times the values of the shape and assembles */
PetscErrorCode TestShapeSetValues(const TestShape *shape, Mat A, PetscScalar factor, InsertMode mode);
PetscErrorCode TestShapeCreate(const TestShape *shape, const char prefix[], Mat *A);

/* Solves A x = b with A of a shape and options that only this solve sees */
PetscErrorCode TestSolve(const TestShape *shape, const char options[], PetscReal rtol, PetscInt maxits, KSPConvergedReason *reason, PetscInt *its);

/* A matrix of that type, without entries, and the error of a matrix whose options have the prefix bad_ and one of which has that value */
PetscErrorCode TestShapeCreateEmpty(const TestShape *shape, MatType type, const char prefix[], Mat *A);
PetscErrorCode TestShapeCreateBad(const TestShape *shape, MatType type, const char option[], const char value[]);

/* Rows r0 to r1 - 1 in CSR format with the columns of the whole matrix, to be freed by PetscFree3() */
PetscErrorCode TestShapeArrays(const TestShape *shape, PetscInt r0, PetscInt r1, PetscInt **i, PetscInt **j, PetscScalar **a);

/* Sets all numbers of a dense matrix, but none between its columns */
typedef PetscScalar (*TestDenseFunction)(PetscInt i, PetscInt j);
PetscErrorCode TestDenseSet(Mat D, TestDenseFunction f);

/* A dense matrix with m rows on this process. A gap of so many numbers, which are NaN, follows each column. -dense_type names the type. */
PetscErrorCode TestDenseCreate(PetscInt m, PetscInt K, PetscInt gap, TestDenseFunction f, Mat *D);

/* Where matrices are on a GPU and have no I-nodes, later references have none either: PETSc's sweeps and factors depend on them */
PetscErrorCode TestReferenceInodes(const TestShape *shape);

/* The matrix under test and its reference */
PetscErrorCode TestPairCreate(const TestShape *shape, Mat *A, Mat *R);

/* TestDestroy(&x, &A, ...) destroys vectors, matrices, solvers and other objects of PETSc, in order */
PetscErrorCode TestDestroyObjects(void *const object[]);
#define TestDestroy(...) TestDestroyObjects((void *const[]){__VA_ARGS__, NULL})

/* ------------------------------------------------------- comparisons ------------------------------------------------------- */

/* What MatView() prints of A with information about the matrix: as text on the first process, and empty on the others */
PetscErrorCode TestViewText(Mat A, size_t size, char text[]);

/* Has this view of A the line, or not? */
PetscErrorCode TestExpectLine(TestDiff *d, Mat A, const char line[], PetscBool expected);

/* The value of -mat_type, MATAIJ without it */
PetscErrorCode TestTypeRoot(char type[], size_t len);

/* The type under test on a communicator of that size: amb is seqaijamb or mpiaijamb, aijX is seqaijX or mpiaijX */
PetscErrorCode TestTypeFull(PetscMPIInt size, char type[], size_t len);

/* Does a matrix of ours live on the GPU? There it is an AIJCUSPARSE by name. */
PetscErrorCode TestOnDevice(Mat, PetscBool *device);

/* Has A the type under test, and have its blocks? */
PetscErrorCode TestDiffType(TestDiff *d, Mat A);
PetscErrorCode TestVecSet(Vec v, PetscInt seed);

/* A x, so many times */
PetscErrorCode TestMultiply(Mat A, PetscInt times);

/* |y - z| relative to scale, entry by entry; scale NULL stands for ones */
PetscErrorCode TestDiffVec(TestDiff *d, const char *what, Vec y, Vec z, Vec scale);

/* Sums of |r_ij| over the rows and over the columns of R, the scale of a rounding error of a product */
PetscErrorCode TestScales(Mat R, Vec *rows, Vec *cols);

/* MatMult() twice, as a format may tune itself at the first one, then MatMultAdd() in place and not */
PetscErrorCode TestDiffMult(TestDiff *d, Mat A, Mat R, Vec scale);
PetscErrorCode TestDiffMultTranspose(TestDiff *d, Mat A, Mat R, Vec scale);

/* Same rows: same columns in the same order, same values to rounding */
PetscErrorCode TestDiffRows(TestDiff *d, Mat A, Mat R);

/* Sizes, products with vectors and entries of A against those of R */
PetscErrorCode TestDiffMat(TestDiff *d, Mat A, Mat R);

/* A new matrix, which must have the type under test, against a MATAIJ of that shape, which must have no shadow; destroys A */
PetscErrorCode TestCompareAndDestroy(TestDiff *d, const TestShape *shape, Mat *A);

/* What A carries besides entries and a type, against what R does: layouts, block sizes (of the blocks of an MPI matrix too), flags, null spaces, name,
   prefix, what is attached. Null spaces, mappings and attached objects have to be the same objects. */
PetscErrorCode TestDiffTraits(TestDiff *d, Mat A, Mat R);
