/* SPDX-License-Identifier: BSD-2-Clause */
/*
   -petscamb_for_aij: every AIJ and AIJCUSPARSE of a program, however created, becomes a matrix of a shadow format.

   The replaced constructors of AIJ wait for the end of the first assembly: a matrix that is another type or a factor by then is unchanged. The others
   keep their type name, as an AIJCUSPARSE does: programs that fix AIJ in their source compare that name, and MatSetType() with it would empty a
   matrix of another name.
*/
#include "mat/shadow/core/shadow.h"

static PetscErrorCode (*create_seq)(Mat), (*create_mpi)(Mat); /* PETSc's constructors */
static const MatShadowFormat *wanted;                         /* the format of newly created AIJs, or NULL */
static char                   given[64];                      /* the option's last value */

/* Finds the format for an option's value; NULL for "aij" */
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

/* Gives an AIJ, for which the program set no other type, a shadow of this format. The matrix stays on the host, as such a program's vectors do, and
   keeps a view set by DMDA. */
static PetscErrorCode MatShadowAdopt(Mat A, const MatShadowFormat *format)
{
  PetscErrorCode (*view)(Mat, PetscViewer) = A->ops->view;
  const PetscBool own                      = (PetscBool)(view != MatAIJGetBase(A)->view);
  MatShadow      *s;

  PetscFunctionBegin;
  PetscCall(MatShadowAttach(A, format, NULL));
  if (!own) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowGet(A, &s));
  s->view = view;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives A a shadow, unless A is a subtype, a factor, or has user operations. A matrix with an options prefix may have its own option. */
PetscErrorCode MatShadowForAIJAttach(Mat A)
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
  else PetscCall(MatShadowDetachBlocks(A)); /* they got the program's format, because they do not know their owner */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatAssemblyEnd_AIJ_Shadow(Mat A, MatAssemblyType type)
{
  PetscFunctionBegin;
  PetscCall((*MatAIJGetBase(A)->assemblyend)(A, type));
  if (type == MAT_FINAL_ASSEMBLY) PetscCall(MatShadowForAIJAttach(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives every AIJ created from now on this format; NULL: none */
static PetscErrorCode MatShadowForAIJStart(const MatShadowFormat *format)
{
  PetscFunctionBegin;
  wanted = format;
  if (!format) PetscFunctionReturn(PETSC_SUCCESS);
  if (!MatShadowForAIJ) {
    PetscCall(MatShadowForAIJFindConversions(MATSEQAIJ, PETSC_TRUE, create_seq));
    PetscCall(MatShadowForAIJFindConversions(MATMPIAIJ, PETSC_FALSE, create_mpi));
  }
  MatShadowForAIJ = format;
  PetscCall(MatShadowDeviceExpect(format));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the options for an AIJ that is being created. Keeps a value that was set before. */
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
  PetscCall(PetscStrncpy(given, value, sizeof(given))); /* before MatShadowForAIJStart() creates an AIJ, which reads the options again */
  PetscCall(MatShadowForAIJStart(format));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the options for a matrix that is being created: AIJ, BAIJ or SBAIJ */
PetscErrorCode MatShadowForAIJSeek(MPI_Comm comm)
{
  PetscFunctionBegin;
  PetscCall(MatShadowForAIJRead(comm));
  PetscCall((*MatShadowUserFunctions->read)());
  PetscCall((*MatShadowUserFunctions->sought)("-petscamb_for_aij"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns PETSC_TRUE if the option is in force, with a format that has products with vectors: BAIJ and SBAIJ get products of petsc-amb then */
PetscBool MatShadowForAIJMultiplies(void)
{
  return (PetscBool)(wanted && wanted->host.layout);
}

/* The constructor may have changed the type already, for an option such as -mat_seqaij_type. MatCreateSubMatrices() installs its own destroy before
   the assembly. */
static PetscErrorCode MatShadowForAIJCreate(Mat A, MatType type, PetscErrorCode (*create)(Mat))
{
  PetscBool plain;

  PetscFunctionBegin;
  PetscCall(MatShadowForAIJSeek(PetscObjectComm((PetscObject)A)));
  PetscCall((*MatShadowUserFunctions->sought)("-hashgemm_for_aij"));
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

/* Called after all formats are registered. PetscFinalize() drops all types, so nothing is undone. */
PetscErrorCode MatShadowForAIJRegister(void)
{
  const MatShadowFormat *wrong;
  char                   value[64] = "";
  PetscBool              set, hashgemm = PETSC_FALSE;

  PetscFunctionBegin;
  wanted   = NULL;
  given[0] = 0;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "petsc-amb, all AIJ of the program", "Mat"); /* -help prints a section only if its title is new */
  PetscCall(PetscOptionsString("-petscamb_for_aij", "Type of every AIJ and AIJCUSPARSE of the program, and products of BAIJ and SBAIJ", "MATAMB", value, value, sizeof(value), NULL));
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
