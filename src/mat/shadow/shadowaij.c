/* SPDX-License-Identifier: BSD-2-Clause */
/*
   -petscamb_for_aij: every AIJ of a program, however it is created, becomes a matrix of a shadow format, and so does every AIJCUSPARSE.

   PETSc's constructors of AIJ are replaced by ones that wait for the end of the first assembly: a matrix that has become another type or a factor by then is left
   alone. The others keep the name of their type, as an AIJCUSPARSE does: programs that fix AIJ in their source also compare that name, and MatSetType() with
   that name would empty a matrix that has another one.
*/
#include "mat/shadow/shadow.h"
#include "mat/shadow/shadowoptions.h"

const MatShadowFormat *MatShadowForAIJ         = NULL; /* the format of every AIJ */
const MatShadowFormat *MatShadowForAIJCUSPARSE = NULL; /* the format of every AIJCUSPARSE */

static PetscErrorCode (*create_seq)(Mat), (*create_mpi)(Mat); /* PETSc's own */
static const MatShadowFormat *wanted;                         /* the format of an AIJ that is created now, or NULL */
static char                   given[64];                      /* the value of the option that was found last */

/* Subtypes that PETSc makes of an AIJ by replacing some of its operations: before that the matrix needs the operations of AIJ again */
static const char *const subtypes[] = {"perm", "sell", "mkl", "crl", "viennacl", "hipsparse", "kokkos"};

typedef PetscErrorCode     MatConvertFunction(Mat, MatType, MatReuse, Mat *);
static MatConvertFunction *convert[2][PETSC_STATIC_ARRAY_LENGTH(subtypes)]; /* PETSc's own, for MPI and for sequential matrices */

/* Puts MatShadowConvertAway() in place of PETSc's conversions to these subtypes, on a matrix with a shadow whose type name is that of AIJ; or undoes that */
PetscErrorCode MatShadowForAIJCompose(Mat A, PetscBool seq, PetscBool add)
{
  char name[64];

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(subtypes); k++) {
    if (!convert[seq][k]) continue;
    PetscCall(PetscSNPrintf(name, sizeof(name), "MatConvert_%s_%s%s_C", seq ? MATSEQAIJ : MATMPIAIJ, seq ? MATSEQAIJ : MATMPIAIJ, subtypes[k]));
    PetscCall(PetscObjectComposeFunction((PetscObject)A, name, add ? MatShadowConvertAway : convert[seq][k]));
  }
  /* a dense matrix has this product of an AIJ under the same name, and PETSc asks the AIJ first */
  PetscCall(PetscSNPrintf(name, sizeof(name), "MatProductSetFromOptions_%s_%s_C", seq ? MATSEQAIJ : MATMPIAIJ, seq ? MATSEQDENSE : MATMPIDENSE));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, name, add && MatShadowProductsOfMatrices ? MatShadowProductsOfMatrices->mixed : NULL));
  if (seq) PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatProductSetFromOptions_seqaij_seqmaij_C", add && MatShadowProductsOfMatrices ? MatShadowProductsOfMatrices->mixed : NULL)); /* so has a MAIJ */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds PETSc's conversions of a type to subtypes */
static PetscErrorCode MatShadowForAIJLook(MatType type, PetscBool seq, PetscErrorCode (*create)(Mat))
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

/* Finds the format that the value of an option names; NULL for "aij" */
static PetscErrorCode MatShadowForAIJFind(MPI_Comm comm, const char prefix[], const char value[], const MatShadowFormat **format)
{
  const MatShadowFormat *const *formats;
  char                          names[128] = "";
  PetscBool                     aij;
  int                           n;

  PetscFunctionBegin;
  PetscCall(MatShadowFind(value, format));
  PetscCall(PetscStrcmp(value, MATAIJ, &aij));
  if (*format || aij) PetscFunctionReturn(PETSC_SUCCESS);
  n = MatShadowGetFormats(&formats);
  for (int k = 0; k < n; k++) {
    PetscCall(PetscStrlcat(names, formats[k]->name, sizeof(names)));
    PetscCall(PetscStrlcat(names, ", ", sizeof(names)));
  }
  SETERRQ(comm, PETSC_ERR_ARG_UNKNOWN_TYPE, "-%spetscamb_for_aij %s: no such type; use one of %saij", prefix ? prefix : "", value[0] ? value : "without a value", names);
}

/* Gives A a shadow, unless A is a subtype, a factor, or has operations of the user. A matrix with an options prefix may have an option of its own. */
PetscErrorCode MatShadowForAIJTake(Mat A)
{
  const MatShadowFormat *format = MatShadowForAIJ;
  const char            *prefix = ((PetscObject)A)->prefix;
  char                   value[64];
  PetscBool              plain, set = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &plain, MATSEQAIJ, MATMPIAIJ, ""));
  if (!plain || A->factortype != MAT_FACTOR_NONE || A->ops->mult != MatAIJGetBase(A)->mult) PetscFunctionReturn(PETSC_SUCCESS);
  if (prefix) PetscCall(PetscOptionsGetString(((PetscObject)A)->options, prefix, "-petscamb_for_aij", value, sizeof(value), &set));
  if (set) PetscCall(MatShadowForAIJFind(PetscObjectComm((PetscObject)A), prefix, value, &format));
  if (format) PetscCall(MatShadowAdopt(A, format));
  else PetscCall(MatShadowDetachBlocks(A)); /* they took the program's format, since they do not know whose blocks they are */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatAssemblyEnd_AIJ_Shadow(Mat A, MatAssemblyType type)
{
  PetscFunctionBegin;
  PetscCall((*MatAIJGetBase(A)->assemblyend)(A, type));
  if (type == MAT_FINAL_ASSEMBLY) PetscCall(MatShadowForAIJTake(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From now on every AIJ that is created gets this format; NULL: none */
static PetscErrorCode MatShadowForAIJStart(const MatShadowFormat *format)
{
  PetscFunctionBegin;
  wanted = format;
  if (!format) PetscFunctionReturn(PETSC_SUCCESS);
  if (!MatShadowForAIJ) {
    PetscCall(MatShadowForAIJLook(MATSEQAIJ, PETSC_TRUE, create_seq));
    PetscCall(MatShadowForAIJLook(MATMPIAIJ, PETSC_FALSE, create_mpi));
  }
  MatShadowForAIJ = format;
  PetscCall(MatShadowDeviceExpect(format));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the options for an AIJ that is created now. A value that was given already is in force. */
static PetscErrorCode MatShadowForAIJRead(MPI_Comm comm)
{
  const MatShadowFormat *format;
  char                   value[sizeof(given)] = "";
  PetscBool              set, hashgemm = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-petscamb_for_aij", value, sizeof(value), &set));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-hashgemm_for_aij", &hashgemm, NULL));
  if (!set && hashgemm) PetscCall(PetscStrncpy(value, MATHASHGEMM, sizeof(value)));
  if ((!set && !hashgemm) || (value[0] && strcmp(value, given) == 0)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowForAIJFind(comm, NULL, value, &format));
  PetscCall(PetscStrncpy(given, value, sizeof(given))); /* before an AIJ that the start creates reads the options again */
  PetscCall(MatShadowForAIJStart(format));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The constructor may have made the matrix another type already, for an option such as -mat_seqaij_type. MatCreateSubMatrices() puts a destroy of its own in front of the one
   that it finds before the assembly. */
static PetscErrorCode MatShadowForAIJCreate(Mat A, MatType type, PetscErrorCode (*create)(Mat))
{
  PetscBool plain;

  PetscFunctionBegin;
  PetscCall(MatShadowForAIJRead(PetscObjectComm((PetscObject)A)));
  PetscCall(MatShadowReportRead());
  PetscCall(MatShadowOptionSought("-petscamb_for_aij"));
  PetscCall(MatShadowOptionSought("-hashgemm_for_aij"));
  PetscCall((*create)(A));
  if (!wanted) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)A, type, &plain));
  if (!plain) PetscFunctionReturn(PETSC_SUCCESS);
  A->ops->assemblyend = MatAssemblyEnd_AIJ_Shadow;
  MatShadowSetDestroy(A);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreate_SeqAIJ_Wait(Mat A)
{
  return MatShadowForAIJCreate(A, MATSEQAIJ, create_seq);
}

static PetscErrorCode MatCreate_MPIAIJ_Wait(Mat A)
{
  return MatShadowForAIJCreate(A, MATMPIAIJ, create_mpi);
}

/* Called after all formats are registered. PetscFinalize() forgets all types, so that nothing has to be undone. */
PetscErrorCode MatShadowForAIJRegister(void)
{
  const MatShadowFormat *wrong;
  char                   value[64] = "";
  PetscBool              set, hashgemm = PETSC_FALSE;

  PetscFunctionBegin;
  wanted   = NULL;
  given[0] = 0;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "petsc-amb, all AIJ of the program", "Mat"); /* -help prints a section only if its title is new */
  PetscCall(PetscOptionsString("-petscamb_for_aij", "Type of every AIJ and AIJCUSPARSE of the program", "MATAMB", value, value, sizeof(value), NULL));
  PetscCall(PetscOptionsBool("-hashgemm_for_aij", "The same as -petscamb_for_aij hashgemm", "MATHASHGEMM", hashgemm, &hashgemm, NULL));
  PetscOptionsEnd();
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_mpiaij_type", value, sizeof(value), &set));
  if (set) {
    PetscCall(MatShadowFind(value, &wrong));
    PetscCheck(!wrong, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "PETSc has an option -mat_seqaij_type, but none -mat_mpiaij_type; use -mat_type %s, or -petscamb_for_aij %s if the program fixes aij", wrong->name, wrong->name);
  }
  PetscCall(PetscFunctionListFind(MatList, MATSEQAIJ, &create_seq));
  PetscCall(PetscFunctionListFind(MatList, MATMPIAIJ, &create_mpi));
  PetscCall(MatRegister(MATSEQAIJ, MatCreate_SeqAIJ_Wait));
  PetscCall(MatRegister(MATMPIAIJ, MatCreate_MPIAIJ_Wait));
  PetscCall(MatShadowForAIJRead(PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}
