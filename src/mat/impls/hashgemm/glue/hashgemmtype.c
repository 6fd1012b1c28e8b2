/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The algorithm "hashgemm" of MatProduct: which products it serves, and the type of matrix that has it as a default
*/
#include "mat/impls/hashgemm/glue/hashgemm.h"

PetscLogEvent MAT_HashGEMMSymbolic, MAT_HashGEMMNumeric;

const char *const MatHashGEMMAccumulators[] = {"auto", "hash", "hashvec", "heap", "dense", "MatHashGEMMAccumulator", "MAT_HASHGEMM_", NULL};

PetscBool  HashGEMMCited      = PETSC_FALSE;
const char HashGEMMCitation[] = "@article{nagasaka2019spgemm,\n"
                                "  title   = {Performance optimization, modeling and analysis of sparse matrix-matrix products on multi-core and many-core processors},\n"
                                "  author  = {Yusuke Nagasaka and Satoshi Matsuoka and Ariful Azad and Ayd{\\i}n Bulu{\\c{c}}},\n"
                                "  journal = {Parallel Computing},\n"
                                "  volume  = {90},\n"
                                "  year    = {2019}\n}\n";

/* ------------------------------------------------- dispatch ------------------------------------------------- */

/* Operands that are AIJ, on the host or, where that is ours to multiply on, on the device; not for MAT_STRUCTURE_ONLY, as our products make values with the pattern */
static PetscErrorCode HashGEMMServes(Mat C, PetscBool *serves)
{
  Mat       operand[3];
  PetscBool seq[3];

  PetscFunctionBegin;
  HashGEMMGetOperands(C, operand);
  *serves = PETSC_FALSE;
  if (C->structure_only) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < 3 && operand[k]; k++) {
    const MatShadowFormat *format;
    PetscBool              plain;

    PetscCall(PetscObjectTypeCompareAny((PetscObject)operand[k], &plain, MATSEQAIJ, MATMPIAIJ, ""));
#if defined(MAT_SHADOW_HAVE_DEVICE)
    if (!plain) PetscCall(PetscObjectTypeCompareAny((PetscObject)operand[k], &plain, MATSEQAIJCUSPARSE, MATMPIAIJCUSPARSE, ""));
#endif
    if (!plain) PetscCall(MatShadowFind(((PetscObject)operand[k])->type_name, &format));
    if ((!plain && !format) || operand[k]->structure_only || operand[k]->factortype) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscObjectBaseTypeCompare((PetscObject)operand[k], MATSEQAIJ, &seq[k]));
    if (seq[k] != seq[0]) PetscFunctionReturn(PETSC_SUCCESS);
  }
  *serves = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* By an option, or by MatProductSetAlgorithm(), or where neither says anything; not with MAT_FORCE_DIAGONAL_ENTRIES */
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
  *chosen = PETSC_FALSE;
  if (C->force_diagonals) PetscFunctionReturn(PETSC_SUCCESS); /* which PETSc's algorithms on the host add, ours do not */
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

static PetscErrorCode HashGEMMTake(Mat C)
{
  MatHashGEMMAccumulator accumulator = MAT_HASHGEMM_AUTO;
  PetscBool              set;

  PetscFunctionBegin;
  PetscOptionsBegin(PetscObjectComm((PetscObject)C), ((PetscObject)C)->prefix, "Options of hashgemm", "Mat");
  PetscCall(PetscOptionsEnum("-mat_hashgemm_accumulator", "What the entries of a row are gathered in", "MatHashGEMMSetAccumulator", MatHashGEMMAccumulators, (PetscEnum)accumulator, (PetscEnum *)&accumulator, &set));
  PetscOptionsEnd();
  if (set) PetscCall(MatHashGEMMSetAccumulator(C, accumulator));
  PetscCall(MatProductSetAlgorithm(C, MATPRODUCTALGORITHMHASHGEMM));
  C->ops->productsymbolic = MatProductSymbolic_HashGEMM;
  PetscCall(MatShadowReportProduct(C, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's own for AIJ on the host */
static PetscErrorCode (*HashGEMMBaseSeq)(Mat), (*HashGEMMBaseMPI)(Mat);

static PetscErrorCode HashGEMMLeave(Mat C)
{
  PetscBool seq;

  PetscFunctionBegin;
  PetscCall(MatShadowReportProduct(C, PETSC_FALSE));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)C->product->A, MATSEQAIJ, &seq));
  PetscCall((*(seq ? HashGEMMBaseSeq : HashGEMMBaseMPI))(C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatProductSetFromOptions_HashGEMM(Mat C)
{
  PetscBool ours;

  PetscFunctionBegin;
  PetscCall(HashGEMMServes(C, &ours));
  if (ours) PetscCall(HashGEMMChosen(C, &ours));
  if (ours) PetscCall(HashGEMMTake(C));
  else if (C->force_diagonals || !MatShadowIsCUSPARSE(C->product->A)) PetscCall(HashGEMMLeave(C));
  else {
    PetscCall(MatShadowReportProduct(C, PETSC_FALSE));
    PetscCall((*MatShadowBase(C->product->A)->productsetfromoptions)(C));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Operands of different types, which serve if all of them are AIJ: where another algorithm is asked for, PETSc has it. Left without an answer it would make
   a triple product in two steps, and end what ours have begun with its own numeric phase. Ours is taken all the same where PETSc's would be wrong: it gives a
   transpose the type of another operand, in which the transpose loses its entries, and takes a result for one of the host when one operand is. */
PetscErrorCode HashGEMMSetFromOptionsMixed(Mat C, PetscBool *serves)
{
  Mat       operand[3];
  PetscBool ours = (PetscBool)(C->product->type == MATPRODUCT_ABt || C->product->type == MATPRODUCT_RARt);

  PetscFunctionBegin;
  PetscCall(HashGEMMServes(C, serves));
  if (!*serves) PetscFunctionReturn(PETSC_SUCCESS);
  HashGEMMGetOperands(C, operand);
  for (int k = 0; k < 3 && operand[k]; k++) ours = (PetscBool)(ours || MatShadowIsCUSPARSE(operand[k]));
  if (!ours) PetscCall(HashGEMMChosen(C, &ours));
  if (ours) PetscCall(HashGEMMTake(C));
  else PetscCall(HashGEMMLeave(C));
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

  Notes:
  The default chooses for each group of rows by the number of products, of entries, and the reach of the columns.

  Products that are made on a GPU choose by themselves.

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

static PetscErrorCode MatCreate_SeqAIJHashGEMM(Mat);
static PetscErrorCode MatCreate_MPIAIJHashGEMM(Mat);

static const MatShadowFormat MatShadowFormatHashGEMM = {
  .name     = MATHASHGEMM,
  .seqtype  = MATSEQAIJHASHGEMM,
  .mpitype  = MATMPIAIJHASHGEMM,
  .citation = HashGEMMCitation,
  .cited    = &HashGEMMCited,
  .host     = {.convert = HashGEMMConvert},
#if defined(MAT_SHADOW_HAVE_DEVICE)
  .device = {.convert = HashGEMMConvert},
#endif
  .create_seq = MatCreate_SeqAIJHashGEMM,
  .create_mpi = MatCreate_MPIAIJHashGEMM,
};

/*MC
   MATHASHGEMM - `MATHASHGEMM` = "hashgemm" - sparse matrices whose products with matrices run on hash tables.

   A subtype of `MATAIJ`: `MATSEQAIJHASHGEMM` on one process, `MATMPIAIJHASHGEMM` on several. Everything that `MATAIJ` does is inherited but
   for the default algorithm of `MatMatMult()`, `MatTransposeMatMult()`, `MatMatTransposeMult()`, `MatPtAP()`, `MatRARt()` and
   `MatMatMatMult()`, which is `MATPRODUCTALGORITHMHASHGEMM`. `MATAMB` has the same.

   In a PETSc with CUDA, and with a GPU there, the matrix lives on the GPU, a `MATAIJCUSPARSE` by name, and these products are made there.

   Options Database Keys:
+  -mat_type hashgemm                                       - sets the type, in `MatSetFromOptions()`
.  -mat_hashgemm_device <auto,cpu,gpu>                      - where the matrix lives
.  -mat_hashgemm_accumulator <auto,hash,hashvec,heap,dense> - what the entries of a row are gathered in
-  -petscamb_for_aij hashgemm                               - all `MATAIJ` and `MATAIJCUSPARSE` matrices of the program multiply that way; also -hashgemm_for_aij

   Level: beginner

.seealso: `MATPRODUCTALGORITHMHASHGEMM`, `MatHashGEMMSetAccumulator()`, `MatShadowSetDevice()`, `MATAMB`, `MATAIJ`, `MATAIJCUSPARSE`, `MatProductSetAlgorithm()`
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

/* After the first format is registered, which has read off the operations of AIJ */
PetscErrorCode HashGEMMRegister(void)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventRegister("MatHashGEMMSymbolic", MAT_CLASSID, &MAT_HashGEMMSymbolic));
  PetscCall(PetscLogEventRegister("MatHashGEMMNumeric", MAT_CLASSID, &MAT_HashGEMMNumeric));
  PetscCall(MatShadowRegister(&MatShadowFormatHashGEMM));
  HashGEMMBaseSeq = MatShadowBaseSeq.productsetfromoptions;
  HashGEMMBaseMPI = MatShadowBaseMPI.productsetfromoptions;
  PetscFunctionReturn(PETSC_SUCCESS);
}
