/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The contract of a shadow format: one table of functions, the same on host and device.

   MatShadowOps below has the functions. The life of a matrix in a format: rank() lists the ways to store the matrix, layout() creates one of them, update() stores new values, mult() and
   multtranspose() multiply, describe() gets figures, destroy() frees the format. None of these functions uses PETSc objects. The host's rank() and
   layout() may run in another thread: the matrix then has no values yet (update() follows), and its arrays do not outlive the call.

   A format is a folder, its names in petscamb.h and a line in src/petscamb.c: see CONTRIBUTING.md.
*/
#pragma once

#include <petscamb.h>
#include <petsc/private/petscimpl.h>

#include "sys/syscompat.h"
#include "sys/syscuda.h"
#include "sys/sysvalues.h"
#include "sys/systuning.h"

/* The AIJ on the side where its products run, and the resources for its layout */
typedef struct {
  SysCSR    A;
  SysStream stream;  /* of the device */
  int       threads; /* host threads for products */
  int       workers; /* host threads for the layout */
  SysValues values;  /* requested storage of values; a format may ignore it */
  PetscBool measure; /* on the device: layout() may time products to choose parameters that the model leaves open */
  PetscBool live;    /* on the device: mult() may time the caller's products, for choices that do not change their bits */
} MatShadowCSR;

/* One way to store a matrix. rank() stores the parameters for layout() in params, as the format's own type: see MAT_SHADOW_PARAMS(). */
#define MAT_SHADOW_CANDIDATES   32
#define MAT_SHADOW_PARAMS_BYTES 128
typedef struct {
  const struct _MatShadowFormat *format;
  char                           name[48];
  int                            tried; /* products timed for it */
  double                         bytes; /* by the model */
  PetscLogDouble                 time;  /* of the shortest product; 0: not timed */
  char                           params[MAT_SHADOW_PARAMS_BYTES];
} MatShadowCandidate;

/* Defines NameGet() and NameSet(), the typed parameters of a candidate. They copy, because C allows bytes to be copied as any type but not read as
   one. */
#define MAT_SHADOW_PARAMS(Type, Name) \
  _Static_assert(sizeof(Type) <= MAT_SHADOW_PARAMS_BYTES, "raise MAT_SHADOW_PARAMS_BYTES for " #Type); \
  static inline Type Name##Get(const MatShadowCandidate *c) \
  { \
    Type params; \
\
    memcpy(&params, c->params, sizeof(params)); \
    return params; \
  } \
  static inline void Name##Set(MatShadowCandidate *c, const Type *params) \
  { \
    memcpy(c->params, params, sizeof(*params)); \
  }

/* Inserts a candidate into the list, whose candidates from `first` on ascend by bytes; returns the new length */
static inline int MatShadowCandidateInsert(MatShadowCandidate list[], int first, int n, const MatShadowCandidate *c)
{
  int to = n;

  for (; to > first && list[to - 1].bytes > c->bytes; to--) list[to] = list[to - 1];
  list[to] = *c;
  return n + 1;
}

/* The blocks over which a view sums a figure */
typedef enum {
  MAT_SHADOW_OF_BLOCK,   /* only the diagonal block of the first process */
  MAT_SHADOW_OF_PROCESS, /* both blocks of the first process */
  MAT_SHADOW_OF_ALL      /* all blocks of all processes */
} MatShadowScope;

typedef struct {
  const char    *name;
  MatShadowScope scope;
} MatShadowFigure;

#define MAT_SHADOW_FIGURES 20 /* most figures of a format on one side */

/* The figures of the storage of values, the same for all formats, and their line in a view, omitted for plain values */
enum {
  MAT_SHADOW_VALUES_BITS,
  MAT_SHADOW_VALUES_DISTINCT,
  MAT_SHADOW_VALUES_IS_EXACT,
  MAT_SHADOW_VALUES_FIGURES_N
};

#define MAT_SHADOW_VALUES_FIGURES \
  {"values_bits", MAT_SHADOW_OF_BLOCK}, {"values_distinct", MAT_SHADOW_OF_BLOCK}, \
  { \
    "values_exact", MAT_SHADOW_OF_BLOCK \
  }

static inline void MatShadowValuesDescribe(SysStorage stored, int distinct, int exact, double figure[])
{
  figure[MAT_SHADOW_VALUES_BITS]     = 8. * (double)SysStorageSize(stored);
  figure[MAT_SHADOW_VALUES_DISTINCT] = stored == SYS_STORAGE_PLACES ? distinct : 0;
  figure[MAT_SHADOW_VALUES_IS_EXACT] = exact;
}

static inline PetscErrorCode MatShadowValuesView(const double figure[], const char where[], PetscViewer viewer)
{
  PetscFunctionBegin;
  if (figure[MAT_SHADOW_VALUES_DISTINCT] > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "  values: table of 8 bits, %.0f distinct%s\n", figure[MAT_SHADOW_VALUES_DISTINCT], where));
  else if (figure[MAT_SHADOW_VALUES_BITS] < 8. * (double)sizeof(SysScalar)) PetscCall(PetscViewerASCIIPrintf(viewer, "  values: single%s%s\n", figure[MAT_SHADOW_VALUES_IS_EXACT] > 0 ? "" : " (not exact)", where));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = alpha A x + beta y with layout()'s data; A is the matrix of layout() or of the last update(). y may be z; beta == 0: y is not read. */
typedef SysStatus MatShadowMultFunction(void *data, const SysCSR *A, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);

/* z = A x, and *nparts numbers in parts[] that add up to x.z, deterministic. parts == NULL only sets *nparts; 0: not supported, and z is not
   computed. */
typedef SysStatus MatShadowMultDotFunction(void *data, const SysCSR *A, const SysScalar *x, SysScalar *z, SysScalar parts[], int64_t *nparts, SysStream);

/* A format's functions on one side, host or device. If memory is short they return SYS_OUT_OF_MEMORY and change nothing. */
typedef struct {
  /* Lists candidates that the user's parameters allow, the model's best first: all of them with MAT_SHADOW_TUNE_ONLINE, else those that the
     model selects. Returns their number, or 0 and the reason. */
  int (*rank)(const MatShadowCSR *, const void *params, MatShadowTune, MatShadowCandidate list[], const char **reason);
  /* Creates *data, or returns SYS_TOO_MANY_BYTES if data would need `most` bytes or more. Parameters may refer to the parameters of the best candidate so far.
     On failure *reason may explain the status. */
  SysStatus (*layout)(const MatShadowCSR *, MatShadowCandidate *, const MatShadowCandidate *best, double most, const char **reason, void **data);
  SysStatus (*update)(void *data, const SysCSR *, SysStream);
  MatShadowMultFunction *mult, *multtranspose;
  void (*describe)(const void *data, MatShadowInfo *info, double figure[]); /* sets the format's part of info, and its figures */
  void (*destroy)(void *data);                                              /* no-op if data is NULL */
  void (*forget)(void *data);                                               /* on the host: returns the memory of many values to the system until update(); may be NULL */
  void (*load)(SysStream);                                                  /* on the device: runs the kernels of first conversions and products once, in another thread; may be NULL */

  const MatShadowFigure *figures;                                           /* ends with a NULL name */
  PetscErrorCode (*view)(const double figure[], const char[], PetscViewer); /* prints the figures; with several processes the text names their owner */

  MatShadowMultDotFunction *multdot; /* on the device, square matrices; may be NULL */
  int (*readsaij)(const void *data); /* on the device: returns whether products always read rows of the AIJ, and not only after a NaN in x; NULL: they do not */
} MatShadowOps;

struct _MatShadow;

/* Parameters are a plain struct of params_size bytes, copied to an MPI matrix's blocks and to duplicates */
typedef struct _MatShadowFormat {
  const char  *name, *seqtype, *mpitype;
  const char  *citation;
  PetscBool   *cited;
  size_t       params_size;
  const void  *open;         /* parameters that allow each choice, for MATAUTOSPARSE; NULL: MATAUTOSPARSE does not try the format */
  MatShadowOps host, device; /* a side without rank() does not exist */
  PetscErrorCode (*create_seq)(Mat);
  PetscErrorCode (*create_mpi)(Mat);
  PetscErrorCode (*setfromoptions)(void *params, MatShadowTune *, PetscAMBOptionItems); /* NULL: no parameters */
  PetscErrorCode (*compose)(Mat, PetscBool add);                                        /* adds the format's setters to a matrix, or removes them; may be NULL */
  const char *const *options;                                                           /* names of its options without hyphen, NULL-terminated; NULL: none */
} MatShadowFormat;

/* Defines the constructors MatCreate_SeqAIJName() and MatCreate_MPIAIJName() of the format MatShadowFormatName */
extern PetscErrorCode MatShadowCreate(Mat, const MatShadowFormat *, MatType base);
#define MAT_SHADOW_CONSTRUCTORS(Name) \
  extern const MatShadowFormat MatShadowFormat##Name; \
  static PetscErrorCode        MatCreate_SeqAIJ##Name(Mat A) \
  { \
    return MatShadowCreate(A, &MatShadowFormat##Name, MATSEQAIJ); \
  } \
  static PetscErrorCode MatCreate_MPIAIJ##Name(Mat A) \
  { \
    return MatShadowCreate(A, &MatShadowFormat##Name, MATMPIAIJ); \
  }

/* For the setters and figures of formats */
extern PetscErrorCode MatShadowGetParams(Mat, void *params, MatShadowTune *);
extern PetscErrorCode MatShadowSetParams(Mat, const void *params, MatShadowTune);
extern PetscErrorCode MatShadowGetFormat(Mat, const MatShadowFormat **);

/* Defines a setter that changes the parameters q by an assignment; check() raises errors */
#define MAT_SHADOW_SETTER(function, Params, check, assignment, ...) \
  static PetscErrorCode function(Mat A, __VA_ARGS__) \
  { \
    Params        q; \
    MatShadowTune shadow_tune; \
\
    PetscFunctionBegin; \
    PetscCall(MatShadowGetParams(A, &q, &shadow_tune)); \
    assignment; \
    PetscCall(check(PetscObjectComm((PetscObject)A), &q)); \
    PetscCall(MatShadowSetParams(A, &q, shadow_tune)); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }

/* Gets all registered formats; returns their number. Any thread may call this function. */
extern int MatShadowGetFormats(const MatShadowFormat *const **);
