/*
   Shadow formats: subtypes of MATAIJ whose products with vectors run on a second copy of the matrix in a format of their own. The AIJ stays the
   one source of truth; everything but these products is inherited from it.

   A format is one MatShadowFormat, a table of functions on raw arrays, and one line of registration in src/sys/ambpackage.c.
*/
#pragma once

#include <petscamb.h>
#include <petsc/private/matimpl.h>

#include "../../sys/ambpackage.h"

typedef struct {
  PetscInt           m, n;
  const PetscInt    *i, *j;
  const PetscScalar *a;
} MatShadowCSR;

/* The parameters of a format are a plain struct of params_size bytes, copied to the blocks of an MPI matrix and to duplicates */
typedef struct {
  const char *name, *seqtype, *mpitype;
  const char *citation;
  PetscBool  *cited;
  size_t      params_size;
  PetscErrorCode (*create_seq)(Mat);
  PetscErrorCode (*create_mpi)(Mat);
  PetscErrorCode (*setfromoptions)(void *params, AmbOptionItems);
  PetscErrorCode (*compose)(Mat, PetscBool add); /* its setters, to or from a matrix */

  /* Makes *data and fills info, or leaves it NULL and only says why in info->reason: when it cannot be done, or the model sees more than most times the CSR's bytes */
  PetscErrorCode (*convert)(const MatShadowCSR *, const void *params, PetscReal most, MatShadowInfo *info, void **data);
  PetscErrorCode (*update)(void *data, const MatShadowCSR *); /* new values in the same pattern */
  PetscErrorCode (*mult)(void *data, PetscScalar alpha, const PetscScalar *x, PetscScalar beta, const PetscScalar *y, PetscScalar *z);
  PetscErrorCode (*multtranspose)(void *data, PetscScalar alpha, const PetscScalar *x, PetscScalar beta, const PetscScalar *y, PetscScalar *z);
  PetscErrorCode (*destroy)(void **data);
} MatShadowFormat;

#define MAT_SHADOW_PATIENCE 12 /* products on the AIJ before a conversion: what is used less often would not repay it */
#define MAT_SHADOW_SAMPLES  4  /* products timed on either side before the verdict */
#define MAT_SHADOW_LASTING  8  /* products with the same values after which new values are taken over at once */

/* The plain and the transposed product are judged apart */
typedef struct {
  PetscBool      again;   /* the AIJ seemed faster, and both are timed once more */
  PetscBool      settled; /* the choice between format and AIJ is made */
  PetscBool      on_aij;  /* and was for the AIJ */
  PetscInt       ncsr, nformat;
  PetscLogDouble time_csr, time_format; /* the shortest of the times taken */
} MatShadowTrial;

/* Hangs on the matrix in a container. Several functions of PETSc move the insides of one matrix into another: the shadow is only that of its
   owner, and of its pattern only while the arrays are where they were. */
typedef struct {
  const MatShadowFormat *format;
  Mat                    owner;
  MatShadowTune          tune;
  void                  *params;
  void                  *data;     /* the matrix in the format; NULL while products run on the AIJ */
  PetscBool              declined; /* the format cannot hold this pattern, or the model sees no gain */
  PetscBool              stale;    /* data has older values than the AIJ */
  PetscBool              lasting;  /* the values before these were used in many products */
  PetscObjectState       state, nonzerostate;
  const PetscInt        *i, *j;
  PetscInt               nz;
  PetscInt               served; /* products with these values */
  MatShadowTrial         trial[2];
  MatShadowInfo          info;
  PetscErrorCode (*view)(Mat, PetscViewer); /* the view that DMDA put in place of AIJ's, or NULL */
} MatShadow;

extern PetscErrorCode MatShadowRegister(const MatShadowFormat *);
extern PetscErrorCode MatShadowRegisterFinalize(void);
extern PetscErrorCode MatShadowFind(const char type[], const MatShadowFormat **);
extern PetscErrorCode MatShadowGet(Mat, MatShadow **);
extern PetscErrorCode MatShadowDrop(MatShadow *);
extern PetscErrorCode MatShadowParamsChanged(Mat);
extern PetscErrorCode MatShadowComposeSetters(Mat, PetscBool);
extern PetscErrorCode MatShadowCreateSeq(Mat, const MatShadowFormat *);
extern PetscErrorCode MatShadowCreateMPI(Mat, const MatShadowFormat *);
extern PetscErrorCode MatShadowAttach(Mat, const MatShadowFormat *, const MatShadow *parent);
extern PetscErrorCode MatShadowAttachBlocks(Mat);
extern PetscErrorCode MatShadowConvertType(Mat, MatType, MatReuse, Mat *);
extern PetscErrorCode MatShadowView(Mat, PetscViewer);

extern PetscErrorCode MatMult_Shadow(Mat, Vec, Vec);
extern PetscErrorCode MatMultAdd_Shadow(Mat, Vec, Vec, Vec);
extern PetscErrorCode MatMultTranspose_Shadow(Mat, Vec, Vec);
extern PetscErrorCode MatMultTransposeAdd_Shadow(Mat, Vec, Vec, Vec);

/* The operations of PETSc's own seqaij and mpiaij, which it does not export */
extern struct _MatOps MatShadowBaseSeq, MatShadowBaseMPI;
