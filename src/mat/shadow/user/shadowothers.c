/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Counts matrices of types that petsc-amb does not convert, for -petscamb_view.

   Replaced constructors of these types count. A matrix counts at the end of its first assembly, because factors and matrices that change type have
   none, and not inside the assembly of an MPI matrix, which assembles its blocks. A MATNEST counts at its creation: MatCreateNest() assembles
   nothing.
*/
#include "mat/shadow/core/shadow.h"

#define OTHERS(F) F(SEQBAIJ, seqbaij, "baij", PETSC_TRUE) F(MPIBAIJ, mpibaij, "baij", PETSC_TRUE) F(SEQSBAIJ, seqsbaij, "sbaij", PETSC_TRUE) F(MPISBAIJ, mpisbaij, "sbaij", PETSC_TRUE) F(IS, is, "is", PETSC_TRUE) F(NEST, nest, "nest", PETSC_FALSE)

typedef struct {
  const char    *name;
  PetscLogDouble count; /* on the first process of each matrix */
  PetscErrorCode (*create)(Mat);
  PetscErrorCode (*assemblyend)(Mat, MatAssemblyType);
} OtherType;

enum {
#define OTHER_INDEX(TYPE, type, name, waits) OTHER_##TYPE,
  OTHERS(OTHER_INDEX) OTHER_TYPES
};

static OtherType others[OTHER_TYPES];
static int       depth; /* of nested assemblies */

static PetscErrorCode OtherCount(Mat A, OtherType *t)
{
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)A), &rank));
  if (!rank) t->count++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OtherAssemblyEnd(Mat A, MatAssemblyType type, OtherType *t, PetscErrorCode (*own)(Mat, MatAssemblyType))
{
  PetscErrorCode raised;

  PetscFunctionBegin;
  depth++;
  raised = (*t->assemblyend)(A, type);
  depth--;
  PetscCall(raised);
  if (type != MAT_FINAL_ASSEMBLY) PetscFunctionReturn(PETSC_SUCCESS);
  if (A->ops->assemblyend == own) A->ops->assemblyend = t->assemblyend;
  if (!depth) PetscCall(OtherCount(A, t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OtherCreate(Mat A, OtherType *t, PetscErrorCode (*own)(Mat, MatAssemblyType))
{
  PetscFunctionBegin;
  PetscCall((*t->create)(A));
  if (own) {
    t->assemblyend      = A->ops->assemblyend;
    A->ops->assemblyend = own;
  } else PetscCall(OtherCount(A, t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define OTHER_FUNCTIONS(TYPE, type, name, waits) \
  static PetscErrorCode MatAssemblyEnd_##type##_Count(Mat A, MatAssemblyType final) \
  { \
    return OtherAssemblyEnd(A, final, &others[OTHER_##TYPE], MatAssemblyEnd_##type##_Count); \
  } \
  static PetscErrorCode MatCreate_##type##_Count(Mat A) \
  { \
    return OtherCreate(A, &others[OTHER_##TYPE], waits ? MatAssemblyEnd_##type##_Count : NULL); \
  }

OTHERS(OTHER_FUNCTIONS)

static PetscErrorCode OtherRegister(OtherType *t, MatType type, const char name[], PetscErrorCode (*create)(Mat))
{
  PetscFunctionBegin;
  t->name  = name;
  t->count = 0;
  PetscCall(PetscFunctionListFind(MatList, type, &t->create));
  if (t->create) PetscCall(MatRegister(type, create));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PetscFinalize() drops all types, so nothing is undone */
PetscErrorCode MatShadowOthersRegister(void)
{
  PetscFunctionBegin;
  depth = 0;
#define OTHER_REGISTER(TYPE, type, name, waits) PetscCall(OtherRegister(&others[OTHER_##TYPE], MAT##TYPE, name, MatCreate_##type##_Count));
  OTHERS(OTHER_REGISTER)
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective. Sums over all processes on the first, and lists the types with their numbers and advice; "" if there are none. */
PetscErrorCode MatShadowOthersList(char text[], size_t size)
{
  PetscLogDouble count[OTHER_TYPES];
  PetscMPIInt    rank;
  PetscBool      blocks = PETSC_FALSE, symmetric = PETSC_FALSE, inside = PETSC_FALSE;

  PetscFunctionBegin;
  text[0] = 0;
  for (int k = 0; k < OTHER_TYPES; k++) count[k] = others[k].count;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Reduce(rank ? count : MPI_IN_PLACE, rank ? NULL : count, OTHER_TYPES, MPI_DOUBLE, MPI_SUM, 0, PETSC_COMM_WORLD));
  for (int k = 0; k < OTHER_TYPES; k++) {
    char           one[32];
    PetscLogDouble sum = count[k];

    while (k + 1 < OTHER_TYPES && strcmp(others[k].name, others[k + 1].name) == 0) sum += count[++k];
    if (rank || !(sum > 0)) continue;
    PetscCall(PetscSNPrintf(one, sizeof(one), "%s%.0f %s", text[0] ? ", " : "", sum, others[k].name));
    PetscCall(PetscStrlcat(text, one, size));
    if (k == OTHER_IS || k == OTHER_NEST) inside = PETSC_TRUE;
    else blocks = PETSC_TRUE;
    if (k == OTHER_MPISBAIJ) symmetric = PETSC_TRUE;
  }
  if (blocks && !MatShadowForAIJMultiplies()) PetscCall(PetscStrlcat(text, "; -petscamb_for_aij amb multiplies by baij and sbaij as they are", size));
  if (blocks) PetscCall(PetscStrlcat(text, "; -mat_type amb, or -dm_mat_type amb, changes baij and sbaij if the program calls MatSetFromOptions()", size));
  if (symmetric) PetscCall(PetscStrlcat(text, ", sbaij only if it sets both triangles (-mat_ignore_lower_triangular)", size));
  if (inside && MatShadowForAIJ) PetscCall(PetscStrlcat(text, "; -petscamb_for_aij converts the aij inside is and nest", size));
  if (inside && !MatShadowForAIJ) PetscCall(PetscStrlcat(text, "; give -petscamb_for_aij amb, which converts the aij inside is and nest", size));
  PetscFunctionReturn(PETSC_SUCCESS);
}
