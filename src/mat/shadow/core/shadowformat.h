/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The contract of a shadow format: one table of functions, the same on the host and on a device.

   The life of a matrix in a format: rank() lists the ways to store the matrix, layout() makes one of these, update() brings new values, mult() and multtranspose()
   multiply, describe() gives figures, destroy() frees the format. None of these functions uses PETSc's objects. rank() and layout() of the host may run in another
   thread: the matrix then has no values yet (update() brings them later), and its arrays do not outlive the call.

   A format is a folder, its names in petscamb.h and a line in src/petscamb.c: see CONTRIBUTING.md.
*/
#pragma once

#include <petscamb.h>
#include <petsc/private/petscimpl.h>

#include "sys/syscompat.h"
#include "sys/syscuda.h"
#include "sys/sysvalues.h"
#include "sys/systuning.h"

/* The AIJ on the side where its products are made, and the means to lay it out */
typedef struct {
  SysCSR    A;
  SysStream stream;  /* of the device */
  int       threads; /* threads of the host that make products */
  int       workers; /* threads of the host that lay out the format now */
  SysValues values;  /* the storage of values that is asked for; a format may store them as they are */
  PetscBool measure; /* on the device: layout() may time products to choose parameters that the model leaves open */
  PetscBool live;    /* on the device: mult() may time products of the caller, to choose what does not change their bits */
} MatShadowCSR;

/* One way to store a matrix. rank() leaves the parameters for layout() in params, as a type of the format's own: see MAT_SHADOW_PARAMS() below. */
#define MAT_SHADOW_CANDIDATES   32
#define MAT_SHADOW_PARAMS_BYTES 128
typedef struct {
  const struct _MatShadowFormat *format;
  char                           name[48];
  int                            tried; /* products that were spent to choose it */
  double                         bytes; /* by the model */
  PetscLogDouble                 time;  /* of the shortest product; 0 if no product was timed */
  char                           params[MAT_SHADOW_PARAMS_BYTES];
} MatShadowCandidate;

/* Defines NameGet() and NameSet(), the typed parameters of a candidate. They copy, because C lets bytes be copied as any type but not be read as one. */
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

/* Inserts a candidate into the list, of which the candidates from first on ascend by bytes; returns the new number of candidates */
static inline int MatShadowCandidateInsert(MatShadowCandidate list[], int first, int n, const MatShadowCandidate *c)
{
  int to = n;

  for (; to > first && list[to - 1].bytes > c->bytes; to--) list[to] = list[to - 1];
  list[to] = *c;
  return n + 1;
}

/* A view prints a format's own figure of the diagonal block on the first process, its sum over the blocks of that process, or its sum over all blocks */
typedef enum {
  MAT_SHADOW_OF_BLOCK,
  MAT_SHADOW_OF_PROCESS,
  MAT_SHADOW_OF_ALL
} MatShadowScope;

typedef struct {
  const char    *name;
  MatShadowScope scope;
} MatShadowFigure;

#define MAT_SHADOW_FIGURES 20 /* at most, of a format on one side */

/* The figures of the storage of values, the same for all formats, and their line in a view, which is left out if values are stored as they are */
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

/* z = alpha A x + beta y, with the data that layout() made; A is the matrix that layout(), or the last update(), was given. y may be z, and is not read if beta is 0. */
typedef SysStatus MatShadowMultFunction(void *data, const SysCSR *A, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);

/* z = A x, and *nparts numbers in parts[] that add up to x.z, the same bits in every run. Without parts[] it only says how many it would leave; 0: none, and z is not
   made either. */
typedef SysStatus MatShadowMultDotFunction(void *data, const SysCSR *A, const SysScalar *x, SysScalar *z, SysScalar parts[], int64_t *nparts, SysStream);

/* The functions of a format on one side, the host or the device. If memory is short they return SYS_OUT_OF_MEMORY, and change nothing. */
typedef struct {
  /* Lists the ways to store the matrix that are worth a try, the best by the model first: all of them with MAT_SHADOW_TUNE_ONLINE, else those that the parameters
     and the model leave. Returns their number, or 0 and the reason. */
  int (*rank)(const MatShadowCSR *, const void *params, MatShadowTune, MatShadowCandidate list[], const char **reason);
  /* Makes *data, or returns SYS_TOO_MANY_BYTES if the data would have as many bytes as most. Parameters may refer to those of the best candidate so far. If the
     layout fails and the format has better words for it than the status, they are in *reason. */
  SysStatus (*layout)(const MatShadowCSR *, MatShadowCandidate *, const MatShadowCandidate *best, double most, const char **reason, void **data);
  SysStatus (*update)(void *data, const SysCSR *, SysStream);
  MatShadowMultFunction *mult, *multtranspose;
  void (*describe)(const void *data, MatShadowInfo *info, double figure[]); /* sets the format's part of info, and its own figures */
  void (*destroy)(void *data);                                              /* does nothing if data is NULL */
  void (*load)(SysStream);                                                  /* on the device: calls the kernels of first conversions and products once, in another thread; may be NULL */

  const MatShadowFigure *figures;                                           /* ends with a name that is NULL */
  PetscErrorCode (*view)(const double figure[], const char[], PetscViewer); /* prints the figures; with several processes the text says to which they belong */

  MatShadowMultDotFunction *multdot; /* on the device, of square matrices; may be NULL */
  int (*readsaij)(const void *data); /* on the device: do products read rows of the AIJ although no number is a NaN? NULL: they do not */
} MatShadowOps;

struct _MatShadow;

/* Parameters are a plain struct of params_size bytes, copied to the blocks of an MPI matrix and to duplicates */
typedef struct _MatShadowFormat {
  const char  *name, *seqtype, *mpitype;
  const char  *citation;
  PetscBool   *cited;
  size_t       params_size;
  const void  *open;         /* parameters that leave everything to the format, with which MATAUTOSPARSE tries it; NULL: it does not try the format */
  MatShadowOps host, device; /* a side without rank() does not exist */
  PetscErrorCode (*create_seq)(Mat);
  PetscErrorCode (*create_mpi)(Mat);
  PetscErrorCode (*setfromoptions)(void *params, MatShadowTune *, PetscAMBOptionItems); /* NULL if the format has no parameters */
  PetscErrorCode (*compose)(Mat, PetscBool add);                                        /* adds the format's setters to a matrix or removes them; or NULL */
  const char *const *options;                                                           /* the names of its options, without a hyphen, then NULL; NULL: none */
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

/* Defines a setter: it changes the parameters q by an assignment, and check() refuses what is wrong */
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
