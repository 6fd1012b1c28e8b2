/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Products by hash tables: every kind of product, shape and accumulator, row by row against sums of its own; new values, new patterns, replaced operands.\n";

#include "../testproduct.h"

/* ------------------------------------------------- shapes ------------------------------------------------- */

/* Every third row is empty, the others have up to five columns anywhere */
static PetscInt RowScattered(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  PetscInt n = 0;

  if (i % 3 == 1) return 0;
  for (PetscInt k = 0; k < 5; k++) cols[k] = TestInteger(i, k, N);
  for (PetscInt k = 1; k < 5; k++) {
    for (PetscInt l = k; l > 0 && cols[l - 1] > cols[l]; l--) {
      const PetscInt c = cols[l];

      cols[l]     = cols[l - 1];
      cols[l - 1] = c;
    }
  }
  for (PetscInt k = 0; k < 5; k++) {
    if (!k || cols[k] != cols[k - 1]) cols[n++] = cols[k];
  }
  return n;
}

/* Row 5 and column 2 are full */
static PetscInt RowHub(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  PetscInt n = 0;

  if (i == 5) return TestRowFull(i, M, N, cols);
  if (N > 2) cols[n++] = 2;
  if (i % N > 2) cols[n++] = i % N;
  return n;
}

/* Half of what is stored is zero */
static PetscScalar ValueZeros(PetscInt i, PetscInt j)
{
  return (i + j) % 2 ? 0.0 : TestValueGeneral(i, j);
}

/* A is M by M, P is M by N */
typedef struct {
  const char       *name;
  PetscInt          M, N;
  TestRowFunction   rowA, rowP;
  TestValueFunction value;
  PetscBool         last;   /* everything on the last process */
  PetscBool         folded; /* entries are given in parts, to be added */
} Shape;

static const Shape shapes[] = {
  {"square",               144, 144,  TestRowGrid,   TestRowGrid,      TestValueGeneral, PETSC_FALSE, PETSC_FALSE},
  {"tall",                 225, 20,   TestRowGrid,   TestRowAggregate, TestValueGeneral, PETSC_FALSE, PETSC_FALSE},
  {"wide",                 60,  2000, TestRowBlocks, RowScattered,     TestValueGeneral, PETSC_FALSE, PETSC_FALSE},
  {"blocks",               108, 27,   TestRowBlocks, TestRowAggregate, TestValueGeneral, PETSC_FALSE, PETSC_FALSE},
  {"empty rows",           150, 90,   RowScattered,  RowScattered,     TestValueGeneral, PETSC_FALSE, PETSC_FALSE},
  {"hub row",              130, 70,   RowHub,        RowHub,           TestValueGeneral, PETSC_FALSE, PETSC_FALSE},
  {"full",                 20,  30,   TestRowFull,   TestRowFull,      TestValueGeneral, PETSC_FALSE, PETSC_FALSE},
  {"one column",           100, 1,    TestRowGrid,   TestRowAggregate, TestValueGeneral, PETSC_FALSE, PETSC_FALSE},
  {"one row",              1,   5,    TestRowFull,   TestRowFull,      TestValueGeneral, PETSC_FALSE, PETSC_FALSE},
  {"no entries",           50,  30,   TestRowBlocks, TestRowNone,      TestValueGeneral, PETSC_FALSE, PETSC_FALSE},
  {"no rows",              0,   0,    TestRowNone,   TestRowNone,      TestValueGeneral, PETSC_FALSE, PETSC_FALSE},
  {"no columns",           50,  0,    TestRowBlocks, TestRowNone,      TestValueGeneral, PETSC_FALSE, PETSC_FALSE},
  {"stored zeros",         121, 30,   TestRowGrid,   TestRowAggregate, ValueZeros,       PETSC_FALSE, PETSC_FALSE},
  {"entries in parts",     144, 40,   TestRowGrid,   RowScattered,     TestValueGeneral, PETSC_FALSE, PETSC_TRUE },
  {"all on the last rank", 100, 30,   TestRowGrid,   TestRowAggregate, TestValueGeneral, PETSC_TRUE,  PETSC_FALSE}
};

static PetscErrorCode MatrixCreate(const Shape *s, TestRowFunction row, PetscInt N, Mat *A)
{
  const TestShape shape = {"", s->M, N, row, s->value, s->last};

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(TestShapeSizes(&shape, *A));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(TestShapePreallocate(&shape, *A));
  for (PetscInt part = 0; part < (s->folded ? 2 : 1); part++) PetscCall(TestShapeSetValues(&shape, *A, s->folded ? 0.5 : 1.0, ADD_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OperandsCreate(const Shape *s, TestOperands *o)
{
  Mat A, P;

  PetscFunctionBeginUser;
  PetscCall(MatrixCreate(s, s->rowA, s->M, &A));
  PetscCall(MatrixCreate(s, s->rowP, s->N, &P));
  PetscCall(TestOperandsCreate(A, P, o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- the product, row by row ------------------------------------------------- */

/* A vector with the sums of the absolute values, and which of its entries are there */
typedef struct {
  PetscScalar *v;
  PetscReal   *scale;
  PetscBool   *there;
} Row;

static PetscErrorCode RowCreate(PetscInt n, Row *r)
{
  return PetscCalloc3(n, &r->v, n, &r->scale, n, &r->there);
}

static PetscErrorCode RowDestroy(Row *r)
{
  return PetscFree3(r->v, r->scale, r->there);
}

/* All of A in every process, as an AIJ on the host, from the rows that PETSc's MatGetRow() returns. MatCreateSubMatrices() would send four times as many messages. */
static PetscErrorCode FullCopy(Mat A, Mat *F)
{
  MPI_Comm     comm = PetscObjectComm((PetscObject)A);
  PetscInt     M, N, r0, r1, *lengths, *columns, first;
  PetscScalar *values;
  PetscMPIInt  size, rank, mine[2], *sizes, *counts, *displs;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(MatGetOwnershipRange(A, &r0, &r1));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PetscMalloc4(2 * size, &sizes, size, &counts, size, &displs, M, &lengths));
  mine[0] = (PetscMPIInt)(r1 - r0);
  mine[1] = 0;
  for (PetscInt r = r0; r < r1; r++) {
    PetscCall(MatGetRow(A, r, &lengths[r], NULL, NULL));
    mine[1] += (PetscMPIInt)lengths[r];
    PetscCall(MatRestoreRow(A, r, NULL, NULL, NULL));
  }
  PetscCallMPI(MPI_Allgather(mine, 2, MPI_INT, sizes, 2, MPI_INT, comm));
  for (PetscMPIInt k = 0; k < size; k++) {
    counts[k] = sizes[2 * k];
    displs[k] = k ? displs[k - 1] + counts[k - 1] : 0;
  }
  PetscCallMPI(MPI_Allgatherv(MPI_IN_PLACE, 0, MPIU_INT, lengths, counts, displs, MPIU_INT, comm));
  for (PetscMPIInt k = 0; k < size; k++) {
    counts[k] = sizes[2 * k + 1];
    displs[k] = k ? displs[k - 1] + counts[k - 1] : 0;
  }
  PetscCall(PetscMalloc2(displs[size - 1] + counts[size - 1], &columns, displs[size - 1] + counts[size - 1], &values));
  first = displs[rank];
  for (PetscInt r = r0; r < r1; r++) {
    const PetscInt    *c;
    const PetscScalar *v;

    PetscCall(MatGetRow(A, r, NULL, &c, &v));
    PetscCall(PetscArraycpy(columns + first, c, lengths[r]));
    PetscCall(PetscArraycpy(values + first, v, lengths[r]));
    first += lengths[r];
    PetscCall(MatRestoreRow(A, r, NULL, &c, &v));
  }
  PetscCallMPI(MPI_Allgatherv(MPI_IN_PLACE, 0, MPIU_INT, columns, counts, displs, MPIU_INT, comm));
  PetscCallMPI(MPI_Allgatherv(MPI_IN_PLACE, 0, MPIU_SCALAR, values, counts, displs, MPIU_SCALAR, comm));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, M, N, 0, lengths, F));
  first = 0;
  for (PetscInt r = 0; r < M; r++) {
    PetscCall(MatSetValues(*F, 1, &r, lengths[r], columns + first, values + first, INSERT_VALUES));
    first += lengths[r];
  }
  PetscCall(MatAssemblyBegin(*F, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*F, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscFree4(sizes, counts, displs, lengths));
  PetscCall(PetscFree2(columns, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The row times a full matrix */
static PetscErrorCode RowTimes(Row *r, Mat F)
{
  PetscInt M, N;
  Row      s;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(F, &M, &N));
  PetscCall(RowCreate(N, &s));
  for (PetscInt k = 0; k < M; k++) {
    PetscInt           n;
    const PetscInt    *cols;
    const PetscScalar *vals;

    if (!r->there[k]) continue;
    PetscCall(MatGetRow(F, k, &n, &cols, &vals));
    for (PetscInt l = 0; l < n; l++) {
      s.v[cols[l]] += r->v[k] * vals[l];
      s.scale[cols[l]] += r->scale[k] * PetscAbsScalar(vals[l]);
      s.there[cols[l]] = PETSC_TRUE;
    }
    PetscCall(MatRestoreRow(F, k, &n, &cols, &vals));
  }
  PetscCall(RowDestroy(r));
  *r = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* C against the product of the factors, small letters transposed: the same entries, no more and no less, ascending; the same values */
static PetscErrorCode DiffProduct(TestDiff *d, Mat C, const TestOperands *o, const char factors[])
{
  PetscInt r0, r1, N, width;
  Mat      F[3];
  size_t   nfactor;

  PetscFunctionBeginUser;
  PetscCall(PetscStrlen(factors, &nfactor));
  for (size_t f = 0; f < nfactor; f++) {
    PetscCall(FullCopy(TestOperand(o, factors[f]), &F[f]));
    if (factors[f] >= 'a') {
      Mat T;

      PetscCall(MatTranspose(F[f], MAT_INITIAL_MATRIX, &T));
      PetscCall(MatDestroy(&F[f]));
      F[f] = T;
    }
  }
  PetscCall(MatGetSize(F[nfactor - 1], NULL, &N));
  PetscCall(MatGetSize(F[0], &width, NULL));
  PetscCall(MatGetSize(C, &r0, &r1));
  TestExpect(d, "the sizes are wrong", (PetscBool)(r0 == width && r1 == N));
  PetscCall(MatGetOwnershipRange(C, &r0, &r1));
  for (PetscInt i = r0; i < r1; i++) {
    PetscInt           n, wanted = 0;
    const PetscInt    *cols;
    const PetscScalar *vals;
    Row                r;

    PetscCall(RowCreate(width, &r));
    r.v[i] = r.scale[i] = 1;
    r.there[i]          = PETSC_TRUE;
    for (size_t f = 0; f < nfactor; f++) PetscCall(RowTimes(&r, F[f]));
    for (PetscInt k = 0; k < N; k++) wanted += r.there[k] ? 1 : 0;
    PetscCall(MatGetRow(C, i, &n, &cols, &vals));
    TestExpect(d, "a row has not the entries that it should have", (PetscBool)(n == wanted));
    for (PetscInt k = 0; k < n; k++) {
      TestExpect(d, "an entry should not be there", r.there[cols[k]]);
      TestExpect(d, "columns are not ascending", (PetscBool)(!k || cols[k - 1] < cols[k]));
      TestDiffAdd(d, "a value is wrong", PetscAbsScalar(vals[k] - r.v[cols[k]]) / PetscMax(r.scale[cols[k]], PETSC_SMALL));
    }
    PetscCall(MatRestoreRow(C, i, &n, &cols, &vals));
    PetscCall(RowDestroy(&r));
  }
  for (size_t f = 0; f < nfactor; f++) PetscCall(MatDestroy(&F[f]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- products ------------------------------------------------- */

typedef struct {
  const char *name, *factors;
  TestProduct product;
} Product;

static const Product products[] = {
  {"A P",    "AP",  {MATPRODUCT_AB, "AP"}  },
  {"A A",    "AA",  {MATPRODUCT_AB, "AA"}  },
  {"P R",    "PR",  {MATPRODUCT_AB, "PR"}  },
  {"R P",    "RP",  {MATPRODUCT_AB, "RP"}  },
  {"P' A",   "pA",  {MATPRODUCT_AtB, "PA"} },
  {"A' P",   "aP",  {MATPRODUCT_AtB, "AP"} },
  {"A A'",   "Aa",  {MATPRODUCT_ABt, "AA"} },
  {"A R'",   "Ar",  {MATPRODUCT_ABt, "AR"} },
  {"P' A P", "pAP", {MATPRODUCT_PtAP, "AP"}},
  {"R A R'", "RAr", {MATPRODUCT_RARt, "AR"}},
  {"R A P",  "RAP", {MATPRODUCT_ABC, "RAP"}}
};

/* By the functions for each product, as most programs call them, or by the phases of MatProduct */
static PetscErrorCode Multiply(const Product *p, const TestOperands *o, PetscBool steps, MatReuse reuse, Mat *C)
{
  return steps ? TestProductSteps(&p->product, o, reuse, C) : TestProductCall(&p->product, o, reuse, C);
}

/* Makes C again, and compares it */
static PetscErrorCode Again(TestDiff *d, const Product *p, const TestOperands *o, PetscBool steps, Mat *C)
{
  PetscFunctionBeginUser;
  PetscCall(Multiply(p, o, steps, MAT_REUSE_MATRIX, C));
  PetscCall(DiffProduct(d, *C, o, p->factors));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries in the last row and the last column that were not there, if there is room */
static PetscErrorCode ChangePattern(Mat A)
{
  PetscInt    M, N, r0, r1;
  PetscScalar one = 1.5;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatGetOwnershipRange(A, &r0, &r1));
  for (PetscInt i = r0; i < r1 && N; i++) {
    const PetscInt j = i == M - 1 ? 0 : N - 1;

    if (i % 5 == 0 || i == M - 1) PetscCall(MatSetValues(A, 1, &i, 1, &j, &one, ADD_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckAlgorithm(TestDiff *d, Mat C)
{
  PetscBool ours;

  PetscFunctionBeginUser;
#if PETSC_VERSION_LT(3, 19, 0)
  ours = PETSC_TRUE; /* there is no way to ask */
#else
  MatProductAlgorithm alg;

  PetscCall(MatProductGetAlgorithm(C, &alg));
  PetscCall(PetscStrcmp(alg, MATPRODUCTALGORITHMHASHGEMM, &ours));
#endif
  TestExpect(d, "the algorithm is not hashgemm", ours);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunProduct(TestDiff *d, const Product *p, const Shape *s, PetscBool steps, PetscBool patterns, PetscBool algorithm)
{
  TestOperands o;
  Mat          C = NULL;

  PetscFunctionBeginUser;
  PetscCall(OperandsCreate(s, &o));
  PetscCall(Multiply(p, &o, steps, MAT_INITIAL_MATRIX, &C));
  if (algorithm) PetscCall(CheckAlgorithm(d, C));
  PetscCall(DiffProduct(d, C, &o, p->factors));
  PetscCall(Again(d, p, &o, steps, &C));
  PetscCall(TestChangeValues(o.A, 3));
  PetscCall(Again(d, p, &o, steps, &C));
  PetscCall(TestChangeValues(o.P, 4));
  PetscCall(TestChangeValues(o.L, 5));
  PetscCall(Again(d, p, &o, steps, &C));
  /* the operands as they were, but not the product */
  PetscCall(MatScale(C, 3.0));
  PetscCall(Again(d, p, &o, steps, &C));
  if (patterns) {
    PetscCall(ChangePattern(o.A));
    PetscCall(Again(d, p, &o, steps, &C));
    PetscCall(ChangePattern(o.P));
    PetscCall(ChangePattern(o.L));
    PetscCall(Again(d, p, &o, steps, &C));
    PetscCall(TestChangeValues(o.A, 6));
    PetscCall(Again(d, p, &o, steps, &C));
  }
  PetscCall(MatDestroy(&C));
  PetscCall(TestOperandsDestroy(&o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunProducts(void)
{
  PetscBool patterns = PETSC_TRUE, algorithm = PETSC_TRUE;
  char      name[128];

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-test_patterns", &patterns, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-test_algorithm", &algorithm, NULL));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(shapes); k++) {
    for (size_t l = 0; l < PETSC_STATIC_ARRAY_LENGTH(products); l++) {
      TestDiff d = {NULL, 0};

      if (RunProduct(&d, &products[l], &shapes[k], (PetscBool)((k + l) % 2), patterns, algorithm)) TestDiffAdd(&d, "PETSc raised an error, see above", PETSC_MAX_REAL);
      PetscCall(PetscSNPrintf(name, sizeof(name), "%s, %s", products[l].name, shapes[k].name));
      PetscCall(TestReport(name, &d));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- more about MatProduct ------------------------------------------------- */

/* The operands get their values between the symbolic and the numeric phase */
static PetscErrorCode ValuesLater(TestDiff *d)
{
  TestOperands o;
  Mat          C;

  PetscFunctionBeginUser;
  PetscCall(OperandsCreate(&shapes[1], &o));
  PetscCall(MatProductCreate(o.A, o.P, NULL, &C));
  PetscCall(MatProductSetType(C, MATPRODUCT_PtAP));
  PetscCall(MatProductSetFromOptions(C));
  PetscCall(MatProductSymbolic(C));
  PetscCall(TestChangeValues(o.A, 7));
  PetscCall(TestChangeValues(o.P, 8));
  PetscCall(MatProductNumeric(C));
  PetscCall(DiffProduct(d, C, &o, "pAP"));
  PetscCall(MatProductClear(C));
  PetscCall(MatScale(C, 2.0));
  PetscCall(MatDestroy(&C));
  PetscCall(TestOperandsDestroy(&o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Other matrices in the place of the operands, with the same entries and with others */
static PetscErrorCode OtherOperands(TestDiff *d)
{
  const char *const names[] = {"pAP", "Ar", "RAP"};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(names); k++) {
    const Product *p = products;
    TestOperands   o, q;
    Mat            C;

    while (strcmp(p->factors, names[k])) p++;
    PetscCall(OperandsCreate(&shapes[1], &o));
    PetscCall(Multiply(p, &o, PETSC_TRUE, MAT_INITIAL_MATRIX, &C));
    for (PetscInt other = 0; other < 2; other++) {
      PetscCall(OperandsCreate(&shapes[1], &q));
      PetscCall(TestChangeValues(q.A, 9));
      PetscCall(TestChangeValues(q.P, 10));
      if (other) {
        PetscCall(ChangePattern(q.A));
        PetscCall(ChangePattern(q.L));
      }
      PetscCall(TestOperandsDestroy(&o));
      PetscCall(Again(d, p, &q, PETSC_TRUE, &C));
      o = q;
    }
    PetscCall(MatDestroy(&C));
    PetscCall(TestOperandsDestroy(&o));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The product takes the place of a matrix that is there already; then its operands go */
static PetscErrorCode IntoMatrix(TestDiff *d)
{
  TestOperands o;
  Mat          C, E;
  const char  *name;
  PetscBool    same;

  PetscFunctionBeginUser;
  PetscCall(OperandsCreate(&shapes[0], &o));
  PetscCall(MatrixCreate(&shapes[0], shapes[0].rowA, shapes[0].M, &C));
  PetscCall(PetscObjectSetName((PetscObject)C, "mine"));
  PetscCall(MatProductCreateWithMat(o.A, o.P, NULL, C));
  PetscCall(MatProductSetType(C, MATPRODUCT_AB));
  PetscCall(MatProductSetFromOptions(C));
  PetscCall(MatProductSymbolic(C));
  PetscCall(MatProductNumeric(C));
  PetscCall(DiffProduct(d, C, &o, "AP"));
  PetscCall(PetscObjectGetName((PetscObject)C, &name));
  PetscCall(PetscStrcmp(name, "mine", &same));
  TestExpect(d, "the name is lost", same);
  PetscCall(MatDuplicate(C, MAT_COPY_VALUES, &E));
  PetscCall(MatDestroy(&C));
  PetscCall(DiffProduct(d, E, &o, "AP"));
  /* and is a matrix as others are: new entries, in place */
  PetscCall(ChangePattern(E));
  PetscCall(MatTranspose(E, MAT_INPLACE_MATRIX, &E));
  PetscCall(MatDestroy(&E));
  PetscCall(TestOperandsDestroy(&o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An operand becomes its transpose, which has other entries: PETSc moves the inside of another matrix into it */
static PetscErrorCode OtherInside(TestDiff *d)
{
  TestOperands o;
  Mat          C;

  PetscFunctionBeginUser;
  PetscCall(OperandsCreate(&shapes[0], &o));
  PetscCall(ChangePattern(o.A));
  PetscCall(MatMatMult(o.A, o.P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(MatTranspose(o.A, MAT_INPLACE_MATRIX, &o.A));
  PetscCall(MatMatMult(o.A, o.P, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(DiffProduct(d, C, &o, "AP"));
  PetscCall(MatDestroy(&C));
  PetscCall(TestOperandsDestroy(&o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A product takes new entries, or refuses them, as that of AIJ does */
static PetscErrorCode NewEntries(TestDiff *d)
{
  PetscErrorCode    ierr[2];
  PetscInt          r0, r1;
  const PetscScalar one = 1.0;

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < 2; k++) {
    TestOperands o;
    Mat          C;

    PetscCall(OperandsCreate(&shapes[0], &o));
    if (k) PetscCall(MatConvert(o.A, MATAIJ, MAT_INPLACE_MATRIX, &o.A));
    PetscCall(MatProductCreate(o.A, o.A, NULL, &C));
    PetscCall(MatProductSetType(C, MATPRODUCT_AB));
    if (k) PetscCall(MatProductSetAlgorithm(C, "scalable"));
    PetscCall(MatProductSetFromOptions(C));
    PetscCall(MatProductSymbolic(C));
    PetscCall(MatProductNumeric(C));
    PetscCall(MatGetOwnershipRange(C, &r0, &r1));
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    ierr[k] = MatSetValues(C, 1, &r0, 1, &(PetscInt){(r0 + 72) % 144}, &one, INSERT_VALUES);
    PetscCall(PetscPopErrorHandler());
    PetscCall(MatDestroy(&C));
    PetscCall(TestOperandsDestroy(&o));
  }
  TestExpect(d, "a new entry raises an error for one of them only", (PetscBool)(ierr[0] == ierr[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is made of a product lives on arrays that are the product's own */
static PetscErrorCode ProductIsMatrix(TestDiff *d)
{
  TestOperands o;
  Mat          C, E, F;
  Vec          x, y, z;

  PetscFunctionBeginUser;
  PetscCall(OperandsCreate(&shapes[0], &o));
  PetscCall(MatMatMult(o.A, o.P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(MatDuplicate(C, MAT_SHARE_NONZERO_PATTERN, &E));
  PetscCall(MatCopy(C, E, SAME_NONZERO_PATTERN));
  PetscCall(MatCreateVecs(C, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(TestVecSet(x, 11));
  PetscCall(MatMult(C, x, y));
  PetscCall(ChangePattern(C));
  PetscCall(MatAXPY(C, 1.0, o.A, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatConvert(C, MATDENSE, MAT_INITIAL_MATRIX, &F));
  PetscCall(MatConvert(C, MATAIJ, MAT_INPLACE_MATRIX, &C));
  PetscCall(MatZeroEntries(C));
  PetscCall(MatDestroy(&C));
  PetscCall(MatMult(E, x, z));
  PetscCall(TestDiffVec(d, "the duplicate has changed", z, y, NULL));
  PetscCall(TestDestroy(&E, &F, &x, &y, &z));
  PetscCall(TestOperandsDestroy(&o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Options and setters choose, and PETSc's own algorithms can still be had */
static PetscErrorCode Choice(TestDiff *d)
{
  static const MatHashGEMMAccumulator all[] = {MAT_HASHGEMM_AUTO, MAT_HASHGEMM_HASH, MAT_HASHGEMM_HASHVEC, MAT_HASHGEMM_HEAP, MAT_HASHGEMM_DENSE, MAT_HASHGEMM_WINDOW, MAT_HASHGEMM_ESC, MAT_HASHGEMM_MERGE, MAT_HASHGEMM_TABLE, MAT_HASHGEMM_WORDS};
  TestOperands                        o;
  Mat                                 C;
  PetscBool                           given;

  PetscFunctionBeginUser;
  PetscCall(OperandsCreate(&shapes[3], &o));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(all); k++) {
    PetscCall(MatProductCreate(o.L, o.A, o.P, &C));
    PetscCall(MatProductSetType(C, MATPRODUCT_ABC));
    PetscCall(MatProductSetAlgorithm(C, MATPRODUCTALGORITHMHASHGEMM));
    PetscCall(MatHashGEMMSetAccumulator(C, all[k]));
    PetscCall(MatProductSetFromOptions(C));
    PetscCall(MatProductSymbolic(C));
    PetscCall(MatProductNumeric(C));
    PetscCall(CheckAlgorithm(d, C));
    PetscCall(DiffProduct(d, C, &o, "RAP"));
    PetscCall(MatDestroy(&C));
  }
  PetscCall(PetscOptionsHasName(NULL, NULL, "-matptap_via", &given));
  if (!given) {
    PetscCall(PetscOptionsSetValue(NULL, "-matptap_via", "scalable"));
    PetscCall(MatPtAP(o.A, o.P, MAT_INITIAL_MATRIX, 2.0, &C));
    PetscCall(DiffProduct(d, C, &o, "pAP"));
    PetscCall(MatDestroy(&C));
    PetscCall(PetscOptionsSetValue(NULL, "-matptap_via", "hashgemm"));
    PetscCall(MatPtAP(o.A, o.P, MAT_INITIAL_MATRIX, 2.0, &C));
    PetscCall(CheckAlgorithm(d, C));
    PetscCall(DiffProduct(d, C, &o, "pAP"));
    PetscCall(MatDestroy(&C));
    PetscCall(PetscOptionsClearValue(NULL, "-matptap_via"));
  }
  PetscCall(TestOperandsDestroy(&o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A column times a row: more entries than 32 bits count, in every process */
static PetscErrorCode TooLarge(TestDiff *d)
{
  Shape          shape = {"column", 0, 1, TestRowNone, TestRowFull, TestValueGeneral, PETSC_FALSE, PETSC_FALSE};
  Mat            column, row, C;
  PetscErrorCode ierr;
  PetscMPIInt    size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  shape.M = (PetscInt)(50000 * PetscSqrtReal((PetscReal)size));
  if (sizeof(PetscInt) > 4) PetscFunctionReturn(PETSC_SUCCESS); /* there it would be made, or memory would run out */
  PetscCall(MatrixCreate(&shape, TestRowFull, 1, &column));
  PetscCall(MatTranspose(column, MAT_INITIAL_MATRIX, &row));
  PetscCall(MatProductCreate(column, row, NULL, &C));
  PetscCall(MatProductSetType(C, MATPRODUCT_AB));
  PetscCall(MatProductSetFromOptions(C));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = MatProductSymbolic(C);
  PetscCall(PetscPopErrorHandler());
  TestExpect(d, "the error is not PETSC_ERR_ARG_OUTOFRANGE", (PetscBool)(ierr == PETSC_ERR_ARG_OUTOFRANGE));
  PetscCall(TestDestroy(&C, &column, &row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On the host nothing happens here; on a GPU new values are made without a byte going over the bus */
static PetscErrorCode NothingCrosses(TestDiff *d)
{
  TestOperands   o;
  Mat            C;
  PetscMPIInt    size;
  PetscLogDouble before = 0, after = 0;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(products); k++) {
    PetscCall(OperandsCreate(&shapes[3], &o));
    PetscCall(Multiply(&products[k], &o, PETSC_TRUE, MAT_INITIAL_MATRIX, &C));
    PetscCall(MatScale(o.A, 2.0));
    PetscCall(MatScale(o.P, 0.5));
    PetscCall(MatScale(o.L, 0.5));
#if defined(PETSC_HAVE_DEVICE)
    before = petsc_ctog_sz + petsc_gtoc_sz;
#endif
    PetscCall(Multiply(&products[k], &o, PETSC_TRUE, MAT_REUSE_MATRIX, &C));
#if defined(PETSC_HAVE_DEVICE)
    after = petsc_ctog_sz + petsc_gtoc_sz;
#endif
    TestExpect(d, "values went over the bus", (PetscBool)(size > 1 || before == after));
    PetscCall(DiffProduct(d, C, &o, products[k].factors));
    PetscCall(MatDestroy(&C));
    PetscCall(TestOperandsDestroy(&o));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On a GPU: an operand, the product, all of them move to the host, and back */
static PetscErrorCode Bound(TestDiff *d)
{
  const char *const names[] = {"AP", "pAP", "RAP"};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(names); k++) {
    const Product *p = products;
    TestOperands   o;
    Mat            C;
    PetscBool      device;

    while (strcmp(p->factors, names[k])) p++;
    PetscCall(OperandsCreate(&shapes[1], &o));
    PetscCall(TestOnDevice(o.A, &device));
    PetscCall(Multiply(p, &o, PETSC_TRUE, MAT_INITIAL_MATRIX, &C));
    for (PetscInt turn = 0; turn < 4; turn++) {
      if (device) {
        if (turn == 0) PetscCall(MatBindToCPU(o.A, PETSC_TRUE));
        if (turn == 1) PetscCall(MatBindToCPU(C, PETSC_TRUE));
        if (turn == 2) PetscCall(MatBindToCPU(o.A, PETSC_FALSE));
        if (turn == 3) PetscCall(MatBindToCPU(C, PETSC_FALSE));
      }
      PetscCall(TestChangeValues(o.A, 12 + turn));
      PetscCall(Again(d, p, &o, PETSC_TRUE, &C));
      PetscCall(MatScale(C, 2.0));
      PetscCall(Again(d, p, &o, PETSC_TRUE, &C));
    }
    PetscCall(MatDestroy(&C));
    PetscCall(TestOperandsDestroy(&o));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt RowSingle(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  cols[0] = i % N;
  return 1;
}

static PetscInt RowTwo(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  cols[0] = PetscMax(0, i * N / M - 1);
  cols[1] = cols[0] + 1;
  return 2;
}

/* C = A P for the matrix A of a grid of M rows and a matrix P of N columns: what MatGetInfo() says of A and C, the operations in the log, and whether the host made it */
static PetscErrorCode TallProduct(PetscInt M, PetscInt N, PetscInt (*row)(PetscInt, PetscInt, PetscInt, PetscInt[]), MatInfo info[2], PetscLogDouble *flops, PetscBool *host)
{
  const TestShape grid = {"grid", M, M, TestRowGrid, TestValueGeneral, PETSC_FALSE}, tall = {"tall", M, N, row, TestValueGeneral, PETSC_FALSE};
  PetscLogDouble  before;
  PetscBool       device;
  Mat             A, P, C;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&grid, NULL, &A));
  PetscCall(TestShapeCreate(&tall, NULL, &P));
  PetscCall(PetscGetFlops(&before));
  PetscCall(MatMatMult(A, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(PetscGetFlops(flops));
  *flops -= before;
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info[0]));
  PetscCall(MatGetInfo(C, MAT_GLOBAL_SUM, &info[1]));
  PetscCall(TestOnDevice(A, &device));
  *host = (PetscBool)!device;
  PetscCall(TestDestroy(&C, &P, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Those of a product of the host, on all processes together: rows of P have one entry */
static PetscErrorCode Flops(TestDiff *d)
{
  PetscLogDouble flops, sum;
  PetscBool      host;
  MatInfo        info[2];

  PetscFunctionBeginUser;
  PetscCall(TallProduct(225, 20, RowSingle, info, &flops, &host));
  PetscCallMPI(MPI_Allreduce(&flops, &sum, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  if (host) TestExpect(d, "the operations of a product are not logged", (PetscBool)(sum == 2 * info[0].nz_used * PETSC_FLOPS_PER_OP));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A result that is made in one pass has room for more entries than it gets: MatGetInfo() says nothing of that, as of a result of PETSc's */
static PetscErrorCode Room(TestDiff *d)
{
  PetscLogDouble flops;
  PetscBool      host;
  MatInfo        info[2];

  PetscFunctionBeginUser;
  PetscCall(TallProduct(10000, 400, RowTwo, info, &flops, &host));
  if (host) TestExpect(d, "the result has memory that it does not use", (PetscBool)(info[1].nz_allocated == info[1].nz_used && info[1].nz_unneeded == 0 && info[1].mallocs == 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of other processes cost a few messages for each pair of processes. PETSc's own messages for a new matrix of this shape count as well. */
static PetscErrorCode Messages(TestDiff *d)
{
  TestOperands   o;
  Mat            C;
  PetscMPIInt    size;
  PetscLogDouble before;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(OperandsCreate(&shapes[0], &o));
  before = petsc_isend_ct;
  PetscCall(MatPtAP(o.A, o.P, MAT_INITIAL_MATRIX, 2.0, &C));
  TestExpect(d, "more than 16 messages for each other process", (PetscBool)(petsc_isend_ct - before <= 16 * (size - 1)));
  PetscCall(MatDestroy(&C));
  PetscCall(TestOperandsDestroy(&o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase tests[] = {
  {"values after the symbolic phase",       ValuesLater    },
  {"operands replaced by others",           OtherOperands  },
  {"into a matrix that is there",           IntoMatrix     },
  {"an operand with another inside",        OtherInside    },
  {"new entries in a product",              NewEntries     },
  {"the product is a matrix as others",     ProductIsMatrix},
  {"accumulators and algorithms by choice", Choice         },
  {"new values stay where they are",        NothingCrosses },
  {"matrices that move to the host",        Bound          },
  {"more entries than PetscInt counts",     TooLarge       },
  {"operations in the log",                 Flops          },
  {"room for a result",                     Room           },
  {"messages of a product",                 Messages       },
  {NULL,                                    NULL           }
};

int main(int argc, char **argv)
{
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(RunProducts());
  PetscCall(TestRun(tests));
  return TestFinalize();
}

/*TEST

  testset:
    checks: 178
    test:
      suffix: types
      comments: hashgemm's own type and one other; products.c has every type
      nsize: {{1 2 3}}
      args: -mat_type {{hashgemm amb}}
    test:
      suffix: host
      nsize: 2
      args: -mat_type hashgemm -mat_hashgemm_device cpu
    test:
      suffix: amb_host
      nsize: 2
      args: -mat_type amb -mat_amb_device cpu
    test:
      suffix: accumulator
      nsize: {{1 3}}
      args: -mat_type hashgemm -mat_hashgemm_accumulator {{hash hashvec heap dense window esc merge table words}}
    test:
      suffix: for_aij
      nsize: {{1 2}}
      args: -mat_type aij -hashgemm_for_aij
    test:
      suffix: for_aijcusparse
      requires: cuda
      nsize: {{1 2}}
      args: -mat_type aijcusparse -hashgemm_for_aij
    test:
      suffix: threads_1
      env: OMP_NUM_THREADS=1
      args: -mat_type hashgemm
    test:
      suffix: threads_7
      env: OMP_NUM_THREADS=7
      args: -mat_type hashgemm -mat_hashgemm_accumulator {{auto hash hashvec heap dense}}
    test:
      suffix: malloc
      nsize: {{1 2}}
      args: -mat_type hashgemm -malloc_dump

TEST*/
