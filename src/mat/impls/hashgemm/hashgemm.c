/*
   The algorithm "hashgemm" of MatProduct: which products it serves, and these on one process.

   The symbolic phase makes the values too. PETSc asks for them right afterwards, and that first numeric phase finds them made; only later ones,
   with other values in the same operands, compute. What changed is found by comparing the operands with what they were: an operand with other
   entries has the product made anew.
*/
#include "hashgemm.h"

PetscLogEvent MAT_HashGEMMSymbolic, MAT_HashGEMMNumeric;

const char *const MatHashGEMMAccumulators[] = {"auto", "hash", "hashvec", "heap", "dense", "MatHashGEMMAccumulator", "MAT_HASHGEMM_", NULL};

static PetscBool  HashGEMMCited      = PETSC_FALSE;
static const char HashGEMMCitation[] = "@article{nagasaka2019spgemm,\n"
                                       "  title   = {Performance optimization, modeling and analysis of sparse matrix-matrix products on multi-core and many-core processors},\n"
                                       "  author  = {Yusuke Nagasaka and Satoshi Matsuoka and Ariful Azad and Ayd{\\i}n Bulu{\\c{c}}},\n"
                                       "  journal = {Parallel Computing},\n"
                                       "  volume  = {90},\n"
                                       "  year    = {2019}\n}\n";

/* ------------------------------------------------- one product of raw arrays ------------------------------------------------- */

PetscErrorCode HashGEMMCheckMemory(MPI_Comm comm, PetscBool enough, double bytes)
{
  PetscFunctionBegin;
  PetscCheck(enough, comm, PETSC_ERR_MEM, "Not enough memory for a matrix product: %.3g GB more are needed; use more processes, or another algorithm", bytes / 1e9);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On all processes what is wrong on one */
static PetscErrorCode HashGEMMCheckStatus(MPI_Comm comm, SpgemmStatus status, const SpgemmInfo *info)
{
  double      worst[3] = {(double)status, info->nonzeros, info->bytes_peak + info->nonzeros * (sizeof(PetscInt) + sizeof(PetscScalar))};
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size > 1) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, worst, 3, MPI_DOUBLE, MPI_MAX, comm));
  PetscCheck(worst[0] != SPGEMM_TOO_LARGE, comm, PETSC_ERR_ARG_OUTOFRANGE, "The product has %.0f nonzeros%s, but PetscInt counts to %" PetscInt_FMT ": use %sa PETSc configured with --with-64-bit-indices", worst[1], size > 1 ? " on one process" : "", PETSC_MAX_INT, size > 1 ? "more processes, or " : "");
  PetscCall(HashGEMMCheckMemory(comm, (PetscBool)(worst[0] != SPGEMM_OUT_OF_MEMORY), worst[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pattern is known so far as its size, and values come with HashGEMMFill() */
PetscErrorCode HashGEMMCount(Mat C, SpgemmType type, const SpgemmCSR factor[], const SpgemmOptions *options, Spgemm **spgemm, int64_t *m, int64_t *n)
{
  const SpgemmCSR *left  = type == SPGEMM_PTAP || type == SPGEMM_RART ? &factor[1] : &factor[0];
  const SpgemmCSR *right = type == SPGEMM_ABC ? &factor[2] : &factor[1];
  SpgemmInfo       info;
  SpgemmStatus     status;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&info, sizeof(info)));
  *spgemm = NULL;
  *m      = type == SPGEMM_ATB || type == SPGEMM_PTAP ? left->n : left->m;
  *n      = type == SPGEMM_ABT || type == SPGEMM_RART ? right->m : right->n;
  status  = SpgemmCreate(type, &factor[0], &factor[1], &factor[2], options, spgemm, &info);
  PetscCall(HashGEMMCheckStatus(PetscObjectComm((PetscObject)C), status, &info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HashGEMMFill(Mat C, Spgemm *spgemm, const SpgemmCSR factor[], const HashGEMMRows *rows)
{
  SpgemmInfo   info;
  SpgemmStatus status;

  PetscFunctionBegin;
  status = SpgemmFill(spgemm, &factor[0], &factor[1], &factor[2], rows->i, rows->j, rows->a);
  SpgemmGetInfo(spgemm, &info);
  PetscCall(HashGEMMCheckStatus(PetscObjectComm((PetscObject)C), status, &info));
  PetscCall(PetscLogFlops(2 * info.products));
  PetscCall(PetscInfo(C, "%s: %.0f multiplications, %.0f nonzeros, %s kernels; rows copied %.0f, by hash %.0f, hashvec %.0f, heap %.0f, dense %.0f; bytes kept for new values %.0f, at most in use besides the result %.0f\n", MatProductTypes[C->product->type],
                      info.products, info.nonzeros, info.instructions, info.rows[0], info.rows[SPGEMM_HASH], info.rows[SPGEMM_HASHVEC], info.rows[SPGEMM_HEAP], info.rows[SPGEMM_DENSE], info.bytes_kept, info.bytes_peak));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HashGEMMRevalue(Mat C, Spgemm *spgemm, const SpgemmCSR factor[], const HashGEMMRows *rows)
{
  SpgemmInfo   info;
  SpgemmStatus status;

  PetscFunctionBegin;
  status = SpgemmRevalue(spgemm, &factor[0], &factor[1], &factor[2], rows->i, rows->j, rows->a);
  SpgemmGetInfo(spgemm, &info);
  PetscCall(HashGEMMCheckStatus(PetscObjectComm((PetscObject)C), status, &info));
  PetscCall(PetscLogFlops(2 * info.products));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- operands ------------------------------------------------- */

PetscErrorCode HashGEMMGetCSR(Mat A, SpgemmCSR *csr)
{
  const PetscInt *i, *j;
  PetscScalar    *a;
  PetscInt        m;
  PetscBool       done;

  PetscFunctionBegin;
  PetscCall((*MatShadowBaseSeq.getrowij)(A, 0, PETSC_FALSE, PETSC_FALSE, &m, &i, &j, &done)); /* nothing is copied, and there is nothing to restore */
  PetscCall(MatSeqAIJGetCSRAndMemType(A, NULL, NULL, &a, NULL));
  csr->m = A->rmap->n;
  csr->n = A->cmap->n;
  csr->i = i;
  csr->j = j;
  csr->a = a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What tells without looking at the entries */
static PetscErrorCode HashGEMMGlance(Mat A, HashGEMMSeen *seen)
{
  Mat       block[2] = {A, NULL};
  PetscBool mpi;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(seen, sizeof(*seen)));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  if (mpi) PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
  PetscCall(PetscObjectGetId((PetscObject)A, &seen->id));
  PetscCall(PetscObjectStateGet((PetscObject)A, &seen->state));
  seen->nonzerostate = A->nonzerostate;
  for (int k = 0; k < 2 && block[k]; k++) {
    SpgemmCSR csr;

    PetscCall(HashGEMMGetCSR(block[k], &csr));
    seen->i[k] = csr.i;
    if (mpi) seen->state += ((PetscObject)block[k])->state; /* blocks may have been changed without their matrix */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool HashGEMMSamePattern(const HashGEMMSeen *a, const HashGEMMSeen *b)
{
  return (PetscBool)(a->id == b->id && a->nonzerostate == b->nonzerostate && a->i[0] == b->i[0] && a->i[1] == b->i[1]);
}

static PetscErrorCode HashGEMMFingerprintMat(Mat A, uint64_t *pattern)
{
  Mat             block[2] = {A, NULL};
  const PetscInt *global   = NULL;
  PetscBool       mpi;
  int             ascending;

  PetscFunctionBegin;
  *pattern = 0;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  if (mpi) PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], &global));
  for (int k = 0; k < 2 && block[k]; k++) {
    SpgemmCSR csr;

    PetscCall(HashGEMMGetCSR(block[k], &csr));
    *pattern = 31 * *pattern + HashGEMMFingerprint(csr.m, csr.i, csr.j, &ascending);
    PetscCheck(ascending, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "The columns of a row of an operand are not in ascending order, or there twice; assemble it with MatSetValues(), or use another algorithm");
  }
  if (mpi) {
    const PetscInt i[2] = {0, block[1]->cmap->n};

    *pattern = 31 * *pattern + HashGEMMFingerprint(1, i, global, &ascending);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes note of A, and tells what is new since the last time */
PetscErrorCode HashGEMMLook(Mat A, HashGEMMSeen *seen, HashGEMMChange *change)
{
  HashGEMMSeen now;

  PetscFunctionBegin;
  PetscCall(HashGEMMGlance(A, &now));
  if (HashGEMMSamePattern(&now, seen)) {
    *change     = now.state == seen->state ? HASHGEMM_SAME : HASHGEMM_NEW_VALUES;
    now.pattern = seen->pattern;
  } else {
    PetscCall(HashGEMMFingerprintMat(A, &now.pattern));
    *change = now.pattern == seen->pattern ? HASHGEMM_NEW_VALUES : HASHGEMM_NEW_PATTERN;
  }
  *seen = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- products on one process ------------------------------------------------- */

static PetscErrorCode HashGEMMGetFactors(Mat C, SpgemmCSR factor[3])
{
  Mat operand[3] = {C->product->A, C->product->B, C->product->type == MATPRODUCT_ABC ? C->product->C : NULL};

  PetscFunctionBegin;
  PetscCall(PetscMemzero(factor, 3 * sizeof(*factor)));
  for (int k = 0; k < 3 && operand[k]; k++) PetscCall(HashGEMMGetCSR(operand[k], &factor[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The arrays of C */
static PetscErrorCode HashGEMMGetRows(Mat C, HashGEMMRows *rows)
{
  SpgemmCSR csr;

  PetscFunctionBegin;
  PetscCall(HashGEMMGetCSR(C, &csr));
  PetscCall(PetscMemzero(rows, sizeof(*rows)));
  rows->m        = csr.m;
  rows->n        = csr.n;
  rows->i        = (PetscInt *)csr.i;
  rows->j        = (PetscInt *)csr.j;
  rows->borrowed = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes C a matrix of the type of the first operand, if it is not made anew with other entries, and makes room for these rows */
static PetscErrorCode HashGEMMPreallocate(Mat C, const HashGEMMProduct *p, int64_t m, int64_t n, const PetscInt starts[])
{
  const MatShadowFormat *format;
  MatShadow             *s;
  PetscInt              *lengths;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(m, &lengths));
  for (int64_t r = 0; r < m; r++) lengths[r] = starts[r + 1] - starts[r];
  if (!p->result.id) {
    PetscCall(MatSetSizes(C, (PetscInt)m, (PetscInt)n, (PetscInt)m, (PetscInt)n));
    PetscCall(MatSetType(C, MATSEQAIJ));
    PetscCall(MatShadowGetFormat(C->product->A, &format));
    if (format) {
      PetscCall(MatShadowGet(C->product->A, &s));
      PetscCall(MatShadowAttach(C, format, s));
    }
  }
  PetscCall(MatSeqAIJSetPreallocation(C, 0, lengths));
  PetscCall(PetscFree(lengths));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HashGEMMSequentialSymbolic(Mat C, HashGEMMProduct *p)
{
  static const SpgemmType types[] = {SPGEMM_AB, SPGEMM_AB, SPGEMM_ATB, SPGEMM_ABT, SPGEMM_PTAP, SPGEMM_RART, SPGEMM_ABC}; /* by MatProductType */
  SpgemmCSR               factor[3];
  HashGEMMRows            rows;
  int64_t                 m, n;

  PetscFunctionBegin;
  PetscCall(HashGEMMGetFactors(C, factor));
  PetscCall(HashGEMMCount(C, types[C->product->type], factor, &p->options, &p->spgemm, &m, &n));
  PetscCall(HashGEMMPreallocate(C, p, m, n, SpgemmRowStarts(p->spgemm)));
  PetscCall(HashGEMMGetRows(C, &rows));
  PetscCall(MatSeqAIJGetArrayWrite(C, &rows.a));
  PetscCall(HashGEMMFill(C, p->spgemm, factor, &rows));
  PetscCall(MatSeqAIJRestoreArrayWrite(C, &rows.a));
  if (rows.j) PetscCall(MatSeqAIJSetColumnIndices(C, rows.j)); /* they are where they belong already: this sets the lengths of the rows */
  PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(C, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HashGEMMSequentialNumeric(Mat C, HashGEMMProduct *p)
{
  SpgemmCSR    factor[3];
  HashGEMMRows rows;

  PetscFunctionBegin;
  PetscCall(HashGEMMGetFactors(C, factor));
  PetscCall(HashGEMMGetRows(C, &rows));
  PetscCall(MatSeqAIJGetArrayWrite(C, &rows.a));
  PetscCall(HashGEMMRevalue(C, p->spgemm, factor, &rows));
  PetscCall(MatSeqAIJRestoreArrayWrite(C, &rows.a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- phases ------------------------------------------------- */

static PetscErrorCode MatProductSymbolic_HashGEMM(Mat);
static PetscErrorCode MatProductNumeric_HashGEMM(Mat);

static PetscErrorCode HashGEMMReset(HashGEMMProduct *p)
{
  PetscFunctionBegin;
  SpgemmDestroy(&p->spgemm);
  PetscCall(HashGEMMParallelDestroy(&p->parallel));
  PetscCall(MatDestroy(&p->between));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HashGEMMDestroy(AmbProductArgument arg)
{
  HashGEMMProduct *p = (HashGEMMProduct *)AmbProductGet(arg);

  PetscFunctionBegin;
  PetscCall(HashGEMMReset(p));
  PetscCall(PetscFree(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is multiplied on several processes: those products that are not there are made of others */
static PetscErrorCode HashGEMMGetParallelFactors(Mat C, const HashGEMMProduct *p, SpgemmType *type, Mat *A, Mat *B)
{
  Mat_Product *product = C->product;

  PetscFunctionBegin;
  *A = product->A;
  *B = p->between ? p->between : product->B;
  switch (product->type) {
  case MATPRODUCT_AtB:
    *type = SPGEMM_ATB;
    break;
  case MATPRODUCT_PtAP:
  case MATPRODUCT_RARt:
    *type = SPGEMM_PTAP;
    break;
  default:
    *type = SPGEMM_AB;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* B^T for A B^T and B A B^T, B C for A B C */
static PetscErrorCode HashGEMMMakeBetween(Mat C, HashGEMMProduct *p)
{
  Mat_Product *product = C->product;

  PetscFunctionBegin;
  if (product->type == MATPRODUCT_ABC) {
    PetscCall(MatProductCreate(product->B, product->C, NULL, &p->between));
    PetscCall(MatProductSetType(p->between, MATPRODUCT_AB));
    PetscCall(MatProductSetAlgorithm(p->between, MATPRODUCTALGORITHMHASHGEMM));
    PetscCall(MatHashGEMMSetAccumulator(p->between, (MatHashGEMMAccumulator)p->options.accumulator));
    PetscCall(MatProductSymbolic_HashGEMM(p->between));
  } else if (product->type == MATPRODUCT_ABt || product->type == MATPRODUCT_RARt) PetscCall(MatTranspose(product->B, MAT_INITIAL_MATRIX, &p->between));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HashGEMMRenewBetween(Mat C, HashGEMMProduct *p)
{
  Mat_Product *product = C->product;

  PetscFunctionBegin;
  if (product->type == MATPRODUCT_ABC) {
    PetscCall(MatProductReplaceMats(product->B, product->C, NULL, p->between));
    PetscCall(MatProductNumeric(p->between));
  } else PetscCall(MatTranspose(product->B, MAT_REUSE_MATRIX, &p->between));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Puts W in the place of C, as a matrix of the type of the first operand */
static PetscErrorCode HashGEMMReplace(Mat C, const HashGEMMProduct *p, Mat *W)
{
  Mat_Product           *product = C->product;
  Mat                    B       = *W;
  const MatShadowFormat *format;
  const PetscObjectState nonzerostate = C->nonzerostate;
  MatShadow             *s            = NULL;

  PetscFunctionBegin;
  PetscCall(PetscObjectSetName((PetscObject)B, ((PetscObject)C)->name));
  PetscCall(MatSetOptionsPrefix(B, ((PetscObject)C)->prefix));
  PetscCall(MatShadowGetFormat(product->A, &format));
  if (format) {
    PetscCall(MatShadowGet(product->A, &s));
    PetscCall(MatShadowAttach(B, format, s));
  }
  if (p->result.id) { /* made anew, with other entries */
    PetscCall(MatPropagateSymmetryOptions(C, B));
    PetscCall(MatSetNullSpace(B, C->nullsp));
    PetscCall(MatSetTransposeNullSpace(B, C->transnullsp));
    PetscCall(MatSetNearNullSpace(B, C->nearnullsp));
    PetscCall(MatSetBlockSizes(B, C->rmap->bs, C->cmap->bs));
  }
  C->product = NULL;
  PetscCall(MatHeaderReplace(C, W));
  C->product      = product;
  C->nonzerostate = nonzerostate + 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Pattern and values */
static PetscErrorCode HashGEMMMake(Mat C, HashGEMMProduct *p)
{
  Mat            operand[3] = {C->product->A, C->product->B, C->product->type == MATPRODUCT_ABC ? C->product->C : NULL}, A, B, W;
  SpgemmType     type;
  HashGEMMChange change;
  PetscBool      mpi;

  PetscFunctionBegin;
  for (int k = 0; k < 3 && operand[k]; k++) PetscCall(HashGEMMLook(operand[k], &p->operand[k], &change));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)operand[0], MATMPIAIJ, &mpi));
  if (mpi) {
    PetscCall(HashGEMMMakeBetween(C, p));
    PetscCall(HashGEMMGetParallelFactors(C, p, &type, &A, &B));
    PetscCall(HashGEMMParallelSymbolic(C, type, A, B, p, &W));
    PetscCall(HashGEMMReplace(C, p, &W));
  } else PetscCall(HashGEMMSequentialSymbolic(C, p));
  C->ops->productsymbolic = MatProductSymbolic_HashGEMM;
  C->ops->productnumeric  = MatProductNumeric_HashGEMM;
  PetscCall(HashGEMMGlance(C, &p->result));
  p->fresh = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductNumeric_HashGEMM(Mat C)
{
  HashGEMMProduct *p          = (HashGEMMProduct *)C->product->data;
  Mat              operand[3] = {C->product->A, C->product->B, C->product->type == MATPRODUCT_ABC ? C->product->C : NULL}, A, B;
  HashGEMMChange   change;
  HashGEMMSeen     result;
  SpgemmType       type;
  PetscBool        mpi, nooffproc;
  PetscMPIInt      news[4]; /* of the operands and of the result: HashGEMMChange */

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(MAT_HashGEMMNumeric, C, 0, 0, 0));
  PetscCall(PetscArrayzero(news, 4));
  for (int k = 0; k < 3 && operand[k]; k++) {
    const HashGEMMSeen before = p->operand[k];

    PetscCall(HashGEMMLook(operand[k], &p->operand[k], &change));
    if (k && p->between && !HashGEMMSamePattern(&before, &p->operand[k])) change = HASHGEMM_NEW_PATTERN; /* a transpose is renewed only from the matrix it was made of */
    news[k] = change;
  }
  PetscCall(HashGEMMGlance(C, &result));
  if (!HashGEMMSamePattern(&result, &p->result)) news[3] = HASHGEMM_NEW_PATTERN;
  else if (!p->fresh || result.state != p->result.state) news[3] = HASHGEMM_NEW_VALUES;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)C, MATMPIAIJ, &mpi));
  if (mpi) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, news, 4, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)C)));
  for (int k = 0; k < 3; k++) change = (HashGEMMChange)(k ? PetscMax((int)change, news[k]) : news[k]);
  change = (HashGEMMChange)PetscMax((int)change, news[3]);
  if (change == HASHGEMM_NEW_PATTERN) {
    PetscCall(PetscInfo(C, "The operands have other entries than in the symbolic phase, the product is made anew\n"));
    PetscCall(HashGEMMReset(p));
    PetscCall(HashGEMMMake(C, p));
  } else if (change == HASHGEMM_NEW_VALUES) {
    if (p->between && (news[1] || news[2])) PetscCall(HashGEMMRenewBetween(C, p));
    if (mpi) {
      PetscCall(HashGEMMGetParallelFactors(C, p, &type, &A, &B));
      PetscCall(HashGEMMParallelNumeric(C, type, A, B, (PetscBool)(news[1] || news[2]), p));
    } else PetscCall(HashGEMMSequentialNumeric(C, p));
    nooffproc           = C->nooffprocentries;
    C->nooffprocentries = PETSC_TRUE;
    PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
    C->nooffprocentries = nooffproc;
  }
  p->fresh = PETSC_FALSE;
  PetscCall(PetscLogEventEnd(MAT_HashGEMMNumeric, C, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductSymbolic_HashGEMM(Mat C)
{
  Mat_Product     *product = C->product;
  HashGEMMProduct *p;
  PetscContainer   container;
  int             *accumulator;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(MAT_HashGEMMSymbolic, C, 0, 0, 0));
  PetscCall(PetscCitationsRegister(HashGEMMCitation, &HashGEMMCited));
  PetscCall(PetscNew(&p));
  PetscCall(PetscObjectQuery((PetscObject)C, "MatHashGEMMAccumulator", (PetscObject *)&container));
  if (container) {
    PetscCall(PetscContainerGetPointer(container, (void **)&accumulator));
    p->options.accumulator = (SpgemmAccumulator)*accumulator;
  }
  PetscCall(PetscAMBGetNumThreads(&p->options.nthread));
  product->data    = p;
  product->destroy = HashGEMMDestroy;
  PetscCall(HashGEMMMake(C, p));
  PetscCall(PetscLogEventEnd(MAT_HashGEMMSymbolic, C, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- dispatch ------------------------------------------------- */

/* Operands that are AIJ in PETSc's own arrays on the host. Others, like AIJCUSPARSE, have products of their own. */
static PetscErrorCode HashGEMMServes(Mat C, PetscBool *serves)
{
  Mat       operand[3] = {C->product->A, C->product->B, C->product->type == MATPRODUCT_ABC ? C->product->C : NULL};
  PetscBool seq[3];

  PetscFunctionBegin;
  *serves = PETSC_FALSE;
  for (int k = 0; k < 3 && operand[k]; k++) {
    const MatShadowFormat *format;
    PetscBool              plain;

    PetscCall(PetscObjectTypeCompareAny((PetscObject)operand[k], &plain, MATSEQAIJ, MATMPIAIJ, ""));
    if (!plain) PetscCall(MatShadowFind(((PetscObject)operand[k])->type_name, &format));
    if ((!plain && !format) || operand[k]->structure_only || operand[k]->factortype) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscObjectBaseTypeCompare((PetscObject)operand[k], MATSEQAIJ, &seq[k]));
    if (seq[k] != seq[0]) PetscFunctionReturn(PETSC_SUCCESS);
  }
  *serves = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* By an option, or by MatProductSetAlgorithm(), or where neither says anything */
static PetscErrorCode HashGEMMChosen(Mat C, PetscBool *chosen)
{
  static const struct {
    const char *title, *option;
  } names[] = {
    {NULL,                  NULL                      },
    {"MatMatMult",          "-matmatmult_via"         },
    {"MatTransposeMatMult", "-mattransposematmult_via"},
    {"MatMatTransposeMult", "-matmattransmult_via"    },
    {"MatPtAP",             "-matptap_via"            },
    {"MatRARt",             "-matrart_via"            },
    {"MatMatMatMult",       "-matmatmatmult_via"      }
  };
  Mat_Product *product   = C->product;
  const char  *option    = product->api_user ? names[product->type].option : "-mat_product_algorithm";
  char         value[64] = "";
  PetscBool    set, maij;

  PetscFunctionBegin;
  PetscOptionsBegin(PetscObjectComm((PetscObject)C), ((PetscObject)C)->prefix, names[product->type].title, "Mat");
  PetscCall(PetscOptionsString(option, "Algorithm: hashgemm, or one of those listed below", names[product->type].title, MATPRODUCTALGORITHMHASHGEMM, value, sizeof(value), &set));
  PetscOptionsEnd();
  if (!set) PetscCall(PetscStrncpy(value, product->alg, sizeof(value)));
  PetscCall(PetscStrcmp(value, MATPRODUCTALGORITHMHASHGEMM, chosen));
  if (*chosen || set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrcmp(value, MATPRODUCTALGORITHMDEFAULT, chosen));
  /* MAIJ, which becomes AIJ for this product, puts that in place of the default */
  PetscCall(PetscStrcmp(value, "nonscalable", &maij));
  if (maij && product->type == MATPRODUCT_PtAP) *chosen = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HashGEMMSetFromOptions(Mat C, PetscBool *ours)
{
  MatHashGEMMAccumulator accumulator = MAT_HASHGEMM_AUTO;
  PetscBool              set;

  PetscFunctionBegin;
  PetscCall(HashGEMMServes(C, ours));
  if (*ours) PetscCall(HashGEMMChosen(C, ours));
  if (!*ours) PetscFunctionReturn(PETSC_SUCCESS);
  PetscOptionsBegin(PetscObjectComm((PetscObject)C), ((PetscObject)C)->prefix, "Options of hashgemm", "Mat");
  PetscCall(PetscOptionsEnum("-mat_hashgemm_accumulator", "What the entries of a row are gathered in", "MatHashGEMMSetAccumulator", MatHashGEMMAccumulators, (PetscEnum)accumulator, (PetscEnum *)&accumulator, &set));
  PetscOptionsEnd();
  if (set) PetscCall(MatHashGEMMSetAccumulator(C, accumulator));
  PetscCall(MatProductSetAlgorithm(C, MATPRODUCTALGORITHMHASHGEMM));
  C->ops->productsymbolic = MatProductSymbolic_HashGEMM;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's own, where the operands are all of types that have ours in place of it */
static PetscErrorCode (*HashGEMMBaseSeq)(Mat), (*HashGEMMBaseMPI)(Mat);

PetscErrorCode MatProductSetFromOptions_HashGEMM(Mat C)
{
  PetscBool ours, seq;

  PetscFunctionBegin;
  PetscCall(HashGEMMSetFromOptions(C, &ours));
  if (ours) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)C->product->A, MATSEQAIJ, &seq));
  PetscCall((*(seq ? HashGEMMBaseSeq : HashGEMMBaseMPI))(C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatHashGEMMSetAccumulator - sets what the algorithm `MATPRODUCTALGORITHMHASHGEMM` gathers the entries of a row of the product in

  Logically Collective

  Input Parameters:
+ C           - the product, between `MatProductCreate()` and `MatProductSymbolic()`
- accumulator - one of `MatHashGEMMAccumulator`

  Options Database Key:
. -mat_hashgemm_accumulator <auto,hash,hashvec,heap,dense> - the same

  Level: advanced

  Note:
  The default chooses for each group of rows by the number of products, of entries, and the reach of the columns.

.seealso: `MatHashGEMMAccumulator`, `MATPRODUCTALGORITHMHASHGEMM`, `MATHASHGEMM`, `MatProductSetAlgorithm()`
@*/
PetscErrorCode MatHashGEMMSetAccumulator(Mat C, MatHashGEMMAccumulator accumulator)
{
  static int     numbers[] = {SPGEMM_AUTO, SPGEMM_HASH, SPGEMM_HASHVEC, SPGEMM_HEAP, SPGEMM_DENSE};
  PetscContainer container;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(C, MAT_CLASSID, 1);
  PetscCheck(accumulator >= MAT_HASHGEMM_AUTO && accumulator <= MAT_HASHGEMM_DENSE, PetscObjectComm((PetscObject)C), PETSC_ERR_ARG_OUTOFRANGE, "No such accumulator: %d; use MAT_HASHGEMM_AUTO, HASH, HASHVEC, HEAP or DENSE", (int)accumulator);
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(PetscContainerSetPointer(container, &numbers[accumulator]));
  PetscCall(PetscObjectCompose((PetscObject)C, "MatHashGEMMAccumulator", (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- types ------------------------------------------------- */

static PetscErrorCode HashGEMMConvert(const MatShadowCSR *csr, const void *params, MatShadowTune tune, PetscReal most, MatShadowInfo *info, void **data)
{
  PetscFunctionBegin;
  *data        = NULL;
  info->reason = "this type is about products of matrices";
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HashGEMMSetTypeFromOptions(void *params, AmbOptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HashGEMMCompose(Mat A, PetscBool add)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreate_SeqAIJHashGEMM(Mat);
static PetscErrorCode MatCreate_MPIAIJHashGEMM(Mat);

static const MatShadowFormat MatShadowFormatHashGEMM = {.name = MATHASHGEMM, .seqtype = MATSEQAIJHASHGEMM, .mpitype = MATMPIAIJHASHGEMM, .citation = HashGEMMCitation, .cited = &HashGEMMCited, .host = {.convert = HashGEMMConvert}, .create_seq = MatCreate_SeqAIJHashGEMM, .create_mpi = MatCreate_MPIAIJHashGEMM, .setfromoptions = HashGEMMSetTypeFromOptions, .compose = HashGEMMCompose};

/*MC
   MATHASHGEMM - `MATHASHGEMM` = "hashgemm" - sparse matrices whose products with matrices run on hash tables.

   A subtype of `MATAIJ`: `MATSEQAIJHASHGEMM` on one process, `MATMPIAIJHASHGEMM` on several. Everything that `MATAIJ` does is inherited but
   for the default algorithm of `MatMatMult()`, `MatTransposeMatMult()`, `MatMatTransposeMult()`, `MatPtAP()`, `MatRARt()` and
   `MatMatMatMult()`, which is `MATPRODUCTALGORITHMHASHGEMM`. `MATAMB` has the same.

   Options Database Keys:
+  -mat_type hashgemm                                       - sets the type, in `MatSetFromOptions()`
.  -mat_hashgemm_accumulator <auto,hash,hashvec,heap,dense> - what the entries of a row are gathered in
-  -hashgemm_for_aij                                        - all `MATAIJ` matrices of the program multiply that way

   Level: beginner

.seealso: `MATPRODUCTALGORITHMHASHGEMM`, `MatHashGEMMSetAccumulator()`, `MATAMB`, `MATAIJ`, `MatProductSetAlgorithm()`
M*/
static PetscErrorCode MatCreate_SeqAIJHashGEMM(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatShadowCreateSeq(A, &MatShadowFormatHashGEMM));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreate_MPIAIJHashGEMM(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatShadowCreateMPI(A, &MatShadowFormatHashGEMM));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's constructors of AIJ, where -hashgemm_for_aij has put ours in their place */
static PetscErrorCode (*HashGEMMCreateSeq)(Mat), (*HashGEMMCreateMPI)(Mat);

static PetscErrorCode MatCreate_SeqAIJ_HashGEMM(Mat A)
{
  PetscFunctionBegin;
  PetscCall((*HashGEMMCreateSeq)(A));
  A->ops->productsetfromoptions = MatProductSetFromOptions_HashGEMM;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreate_MPIAIJ_HashGEMM(Mat A)
{
  PetscFunctionBegin;
  PetscCall((*HashGEMMCreateMPI)(A));
  A->ops->productsetfromoptions = MatProductSetFromOptions_HashGEMM;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After the first format is registered, which has read off the operations of AIJ */
PetscErrorCode HashGEMMRegister(void)
{
  PetscBool all = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscLogEventRegister("MatHashGEMMSymbolic", MAT_CLASSID, &MAT_HashGEMMSymbolic));
  PetscCall(PetscLogEventRegister("MatHashGEMMNumeric", MAT_CLASSID, &MAT_HashGEMMNumeric));
  PetscCall(MatShadowRegister(&MatShadowFormatHashGEMM));
  HashGEMMBaseSeq = MatShadowBaseSeq.productsetfromoptions;
  HashGEMMBaseMPI = MatShadowBaseMPI.productsetfromoptions;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-hashgemm_for_aij", &all, NULL));
  if (!all) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFunctionListFind(MatList, MATSEQAIJ, &HashGEMMCreateSeq));
  PetscCall(PetscFunctionListFind(MatList, MATMPIAIJ, &HashGEMMCreateMPI));
  PetscCall(MatRegister(MATSEQAIJ, MatCreate_SeqAIJ_HashGEMM));
  PetscCall(MatRegister(MATMPIAIJ, MatCreate_MPIAIJ_HashGEMM));
  MatShadowBaseSeq.productsetfromoptions = MatProductSetFromOptions_HashGEMM;
  MatShadowBaseMPI.productsetfromoptions = MatProductSetFromOptions_HashGEMM;
  PetscFunctionReturn(PETSC_SUCCESS);
}
