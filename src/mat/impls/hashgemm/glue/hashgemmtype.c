/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The MatProduct algorithm "hashgemm": the products it supports, and MATHASHGEMM, whose default it is
*/
#include "mat/impls/hashgemm/glue/hashgemm.h"

const char *const MatHashGEMMAccumulators[] = {"auto", "hash", "hashvec", "heap", "dense", "window", "esc", "merge", "table", "words", "MatHashGEMMAccumulator", "MAT_HASHGEMM_", NULL};

/* ------------------------------------------------- dispatch ------------------------------------------------- */

/* Sets *supported if all operands are AIJ, on the host or on a supported device; not for MAT_STRUCTURE_ONLY, because the products compute values with
   the pattern */
static PetscErrorCode HashGEMMSupports(Mat C, PetscBool *supported)
{
  Mat       operand[3];
  PetscBool seq[3];

  PetscFunctionBegin;
  MatProductGetOperands(C, operand);
  *supported = PETSC_FALSE;
  if (C->structure_only) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < 3 && operand[k]; k++) {
    const MatShadowFormat *format;
    PetscBool              plain;

    PetscCall(PetscObjectTypeCompareAny((PetscObject)operand[k], &plain, MATSEQAIJ, MATMPIAIJ, ""));
    if (!plain) plain = MatAIJIsCUSPARSE(operand[k]);
    if (!plain) PetscCall(MatShadowFind(((PetscObject)operand[k])->type_name, &format));
    if ((!plain && !format) || operand[k]->structure_only || operand[k]->factortype) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscObjectBaseTypeCompare((PetscObject)operand[k], MATSEQAIJ, &seq[k]));
    if (seq[k] != seq[0]) PetscFunctionReturn(PETSC_SUCCESS);
  }
  *supported = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HashGEMMTake(Mat C)
{
  MatHashGEMMAccumulator accumulator = MAT_HASHGEMM_AUTO;
  PetscBool              set;

  PetscFunctionBegin;
  PetscOptionsBegin(PetscObjectComm((PetscObject)C), ((PetscObject)C)->prefix, "Options of hashgemm", "Mat");
  PetscCall(PetscOptionsEnum("-mat_hashgemm_accumulator", "Accumulator of the entries of a row; heap, merge and, on a GPU, hash are for comparison; table is an old name of hash", "MatHashGEMMSetAccumulator", MatHashGEMMAccumulators, (PetscEnum)accumulator, (PetscEnum *)&accumulator, &set));
  PetscOptionsEnd();
  if (set) PetscCall(MatHashGEMMSetAccumulator(C, accumulator));
  C->ops->productsymbolic = MatProductSymbolic_HashGEMM;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const MatProductProvider MatProductProviderHashGEMM = {MATPRODUCTALGORITHMHASHGEMM, HashGEMMSupports, HashGEMMTake};

/*@
  MatHashGEMMSetAccumulator - sets the data structure in which `MATPRODUCTALGORITHMHASHGEMM` gathers the entries of a row of the product

  Logically Collective

  Input Parameters:
+ C           - the product, between `MatProductCreate()` and `MatProductSymbolic()`, or an operand of products that follow
- accumulator - one of `MatHashGEMMAccumulator`

  Options Database Key:
. -mat_hashgemm_accumulator <auto,hash,hashvec,heap,dense,window,esc,merge,words> - the same

  Level: advanced

  Notes:
  The accumulator of a product precedes the accumulator of the option, and the option precedes the accumulator of an operand; of several operands with an accumulator, the first counts.

  The default chooses for each group of rows by the number of products, of entries, and the reach of the columns.

  An accumulator computes the rows that it supports, the default all others. On the host the default computes all rows of merge and words, and rows of
  more than 256 products of esc, which needs AVX-512 and real numbers for rows of more than 16. On a GPU it computes all rows of hashvec; rows of more
  than 3072 words of 32 columns of words; rows of more than 512 products of esc and heap, and of more than 16 entries in the first factor of heap; and
  rows of more than a million products of merge and hash. `-info :mat` counts the rows of each.

  Errors:
. `PETSC_ERR_ARG_OUTOFRANGE` - `accumulator` is none of these

  Example:
.vb
  PetscCall(MatProductCreate(A, B, NULL, &C));
  PetscCall(MatProductSetType(C, MATPRODUCT_AB));
  PetscCall(MatProductSetAlgorithm(C, MATPRODUCTALGORITHMHASHGEMM));
  PetscCall(MatProductSetFromOptions(C));
  PetscCall(MatHashGEMMSetAccumulator(C, MAT_HASHGEMM_HASH));
  PetscCall(MatProductSymbolic(C));
  PetscCall(MatProductNumeric(C));
.ve

.seealso: `MatHashGEMMAccumulator`, `MATPRODUCTALGORITHMHASHGEMM`, `MATHASHGEMM`, `MatProductSetAlgorithm()`
@*/
PetscErrorCode MatHashGEMMSetAccumulator(Mat C, MatHashGEMMAccumulator accumulator)
{
  static int     numbers[] = {SPGEMM_AUTO, SPGEMM_HASH, SPGEMM_HASHVEC, SPGEMM_HEAP, SPGEMM_DENSE, SPGEMM_DENSE, SPGEMM_ESC, SPGEMM_MERGE, SPGEMM_HASH, SPGEMM_WORDS};
  PetscContainer container;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(C, MAT_CLASSID, 1);
  PetscCheck(accumulator >= MAT_HASHGEMM_AUTO && accumulator <= MAT_HASHGEMM_WORDS, PetscObjectComm((PetscObject)C), PETSC_ERR_ARG_OUTOFRANGE, "No such accumulator: %d; use MAT_HASHGEMM_AUTO, HASH, HASHVEC, HEAP, DENSE, WINDOW, ESC, MERGE or WORDS", (int)accumulator);
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(PetscContainerSetPointer(container, &numbers[accumulator]));
  PetscCall(PetscObjectCompose((PetscObject)C, "MatHashGEMMAccumulator", (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- types ------------------------------------------------- */

/* No layout for products with vectors */
static int HashGEMMRank(const MatShadowCSR *csr, const void *params, MatShadowTune tune, MatShadowCandidate list[], const char **reason)
{
  *reason = "this type is about products of matrices";
  return 0;
}

static const char *const HashGEMMOptions[] = {"mat_hashgemm_accumulator", NULL};

/*MC
   MATHASHGEMM - `MATHASHGEMM` = "hashgemm" - sparse matrices whose products with matrices run on hash tables.

   A subtype of `MATAIJ`: `MATSEQAIJHASHGEMM` on one process, `MATMPIAIJHASHGEMM` on several. Everything that `MATAIJ` does is inherited but
   for the default algorithm of `MatMatMult()`, `MatTransposeMatMult()`, `MatMatTransposeMult()`, `MatPtAP()`, `MatRARt()` and
   `MatMatMatMult()`, which is `MATPRODUCTALGORITHMHASHGEMM`. All other types of petsc-amb have the same products.

   There is no second copy, and `MATAIJ` computes products with vectors.

   With CUDA in PETSc and a GPU in the machine, the matrix is stored on the GPU, a `MATAIJCUSPARSE` by name, and these products run there.

   Options Database Keys:
+  -mat_type hashgemm                                                        - sets the type, in `MatSetFromOptions()`
.  -mat_shadow_device <auto,cpu,gpu>                                         - where the matrix is stored
.  -mat_hashgemm_accumulator <auto,hash,hashvec,heap,dense,window,esc,merge,words> - accumulator of the entries of a row
-  -petscamb_for_aij hashgemm                                                - all `MATAIJ` and `MATAIJCUSPARSE` matrices of the program multiply that way; also -hashgemm_for_aij

   Level: beginner

   Errors:
+  `PETSC_ERR_GPU` - the option selects the GPU, but PETSc has none to use; or some processes have a GPU and others none
-  `PETSC_ERR_SUP` - the option selects the GPU with a PETSc without CUDA, with complex numbers or with 64-bit indices

   Example:
.vb
   PetscCall(MatConvert(A, MATHASHGEMM, MAT_INPLACE_MATRIX, &A));
   PetscCall(MatMatMult(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
.ve

.seealso: `MATPRODUCTALGORITHMHASHGEMM`, `MatHashGEMMSetAccumulator()`, `MatShadowSetDevice()`, `MATAMB`, `MATAIJ`, `MATAIJCUSPARSE`, `MatProductSetAlgorithm()`
M*/
MAT_SHADOW_CONSTRUCTORS(HashGEMM)

const MatShadowFormat MatShadowFormatHashGEMM = {
  .name      = MATHASHGEMM,
  .seqtype   = MATSEQAIJHASHGEMM,
  .mpitype   = MATMPIAIJHASHGEMM,
  .host.rank = HashGEMMRank,
#if defined(SYS_HAVE_DEVICE)
  .device.rank = HashGEMMRank,
#endif
  .create_seq = MatCreate_SeqAIJHashGEMM,
  .create_mpi = MatCreate_MPIAIJHashGEMM,
  .options    = HashGEMMOptions,
};

PetscErrorCode HashGEMMRegister(void)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventRegister("MatHashGEMMSymbolic", MAT_CLASSID, &MAT_HashGEMMSymbolic));
  PetscCall(PetscLogEventRegister("MatHashGEMMNumeric", MAT_CLASSID, &MAT_HashGEMMNumeric));
  PetscCall(MatProductProviderRegister(&MatProductProviderHashGEMM));
  PetscFunctionReturn(PETSC_SUCCESS);
}
