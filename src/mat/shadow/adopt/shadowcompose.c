/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Functions composed with a matrix with a shadow, which PETSc finds by name: conversions, products, setters
*/
#include "mat/shadow/core/shadow.h"

/* Subtypes that PETSc creates from an AIJ by replacing some operations: the matrix needs AIJ's operations first */
static const char *const subtypes[] = {"perm", "sell", "mkl", "crl", "viennacl", "hipsparse", "kokkos"};

typedef PetscErrorCode     MatConvertFunction(Mat, MatType, MatReuse, Mat *);
static MatConvertFunction *convert[2][PETSC_STATIC_ARRAY_LENGTH(subtypes)]; /* PETSc's, for MPI and for sequential matrices */

/* Replaces PETSc's conversions to these subtypes by MatShadowConvertAway(), on a matrix with a shadow whose type name is AIJ's; or restores them */
PetscErrorCode MatShadowForAIJCompose(Mat A, PetscBool seq, PetscBool add)
{
  char name[64];

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(subtypes); k++) {
    if (!convert[seq][k]) continue;
    PetscCall(PetscSNPrintf(name, sizeof(name), "MatConvert_%s_%s%s_C", seq ? MATSEQAIJ : MATMPIAIJ, seq ? MATSEQAIJ : MATMPIAIJ, subtypes[k]));
    PetscCall(PetscObjectComposeFunction((PetscObject)A, name, add ? MatShadowAdoptFunctions->convertaway : convert[seq][k]));
  }
  /* a dense matrix has this product with an AIJ under the same name, and PETSc queries the AIJ first */
  PetscCall(PetscSNPrintf(name, sizeof(name), "MatProductSetFromOptions_%s_%s_C", seq ? MATSEQAIJ : MATMPIAIJ, seq ? MATSEQDENSE : MATMPIDENSE));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, name, add && MatShadowProductsOfMatrices ? MatShadowProductsOfMatrices->mixed : NULL));
  if (seq) PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatProductSetFromOptions_seqaij_seqmaij_C", add && MatShadowProductsOfMatrices ? MatShadowProductsOfMatrices->mixed : NULL)); /* so does a MAIJ */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds PETSc's conversions of a type to subtypes */
PetscErrorCode MatShadowForAIJFindConversions(MatType type, PetscBool seq, PetscErrorCode (*create)(Mat))
{
  Mat  A;
  char name[64];

  PetscFunctionBegin;
  PetscCall(MatAIJCreateEmpty(create, &A));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(subtypes); k++) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "MatConvert_%s_%s%s_C", type, type, subtypes[k]));
    PetscCall(PetscObjectQueryFunction((PetscObject)A, name, &convert[seq][k]));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Conversions of AIJ, composed under the formats' names too */
static const char *const inherited_seq[] = {"hypre", "is", "seqdense", "seqsbaij", "seqbaij", "seqsell", "mpiadj", "elemental", "scalapack", NULL};
static const char *const inherited_mpi[] = {"hypre", "is", "mpidense", "mpisbaij", "mpibaij", "mpisell", "mpiadj", "elemental", "scalapack", NULL};
static const char *const inherited_gpu[] = {"hypre", "is", "mpidense", "mpiadj", NULL};

/* Other subtypes of AIJ: the shadow is removed before PETSc creates one. The last three, block types and SELL, go through AIJ for an MPI matrix on
   GPUs: AIJ's conversions read the blocks, which fails for AIJCUSPARSE. */
static const char *const others[] = {"aijperm", "aijsell", "aijcrl", "aijmkl", "baij", "sbaij", "sell"};
#define MAT_SHADOW_BY_AIJ 3

/* Sets the name of the conversion between two types. Each new matrix needs some 50 such names: PetscSNPrintf() took a third of the time to attach a
   shadow. */
static const char *MatShadowConvertName(char name[256], const char from[], const char prefix[], const char to[])
{
  const char *const parts[] = {"MatConvert_", from, "_", prefix, to, "_C"};
  size_t            at      = 0;

  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(parts); k++) {
    for (const char *c = parts[k]; *c && at < 255; c++) name[at++] = *c;
  }
  name[at] = 0;
  return name;
}

static PetscErrorCode MatShadowComposeConvert(Mat A, const char from[], const char prefix[], const char to[], PetscErrorCode (*f)(Mat, MatType, MatReuse, Mat *))
{
  char name[256];

  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, MatShadowConvertName(name, from, prefix, to), f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Composes all functions with a matrix of this format, or removes them */
PetscErrorCode MatShadowComposeFunctions(Mat A, const MatShadowFormat *format, PetscBool seq, PetscBool add)
{
  const char *const *inherited = seq ? inherited_seq : MatAIJIsCUSPARSE(A) ? inherited_gpu : inherited_mpi;
  const char        *type = ((PetscObject)A)->type_name, *base = seq ? MATSEQAIJ : MATMPIAIJ;
  PetscErrorCode (*convert)(Mat, MatType, MatReuse, Mat *) = add ? MatShadowAdoptFunctions->convert : NULL;
  const MatShadowFormat *const *formats;
  const int                     nformats = MatShadowGetFormats(&formats);
  PetscBool                     plain;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(type, base, &plain));
  if (plain) PetscCall(MatShadowForAIJCompose(A, seq, add));
  else if (!MatAIJIsCUSPARSE(A)) PetscCall(MatShadowComposeConvert(A, type, "", base, convert));
  else PetscCall(MatShadowCUSPARSECompose(A, seq, add));
  for (int k = 0; k < nformats && !plain; k++) { /* a matrix with AIJ's type name needs none: MatConvert() finds these on a matrix of the target type */
    PetscCall(MatShadowComposeConvert(A, base, "", seq ? formats[k]->seqtype : formats[k]->mpitype, convert));
    PetscCall(MatShadowComposeConvert(A, base, "", formats[k]->name, convert));
    PetscCall(MatShadowComposeConvert(A, type, "", seq ? formats[k]->seqtype : formats[k]->mpitype, convert));
    PetscCall(MatShadowComposeConvert(A, type, "", formats[k]->name, convert));
  }
  for (int k = 0; inherited[k] && !plain; k++) {
    PetscErrorCode (*f)(Mat, MatType, MatReuse, Mat *) = NULL;
    char name[256];

    if (add) PetscCall(PetscObjectQueryFunction((PetscObject)A, MatShadowConvertName(name, base, "", inherited[k]), &f));
    PetscCall(MatShadowComposeConvert(A, type, "", inherited[k], f));
  }
  if (add || plain || MatAIJIsCUSPARSE(A)) PetscCall(MatAIJHYPRECompose(A, seq, add));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(others) - (inherited == inherited_gpu ? 0 : MAT_SHADOW_BY_AIJ) && !plain; k++) {
    PetscErrorCode (*f)(Mat, MatType, MatReuse, Mat *);
    char name[256];

    PetscCall(PetscObjectQueryFunction((PetscObject)A, MatShadowConvertName(name, base, seq ? "seq" : "mpi", others[k]), &f));
    if (f) PetscCall(MatShadowComposeConvert(A, type, seq ? "seq" : "mpi", others[k], add ? MatShadowAdoptFunctions->convertaway : NULL));
  }
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatProductSetFromOptions_anytype_C", add && MatShadowProductsOfMatrices ? MatShadowProductsOfMatrices->mixed : NULL));
  PetscCall((*MatShadowUserFunctions->compose)(A, add));
  if (format->compose) PetscCall((*format->compose)(A, add));
  PetscFunctionReturn(PETSC_SUCCESS);
}
