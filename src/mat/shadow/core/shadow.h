/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Shadows: subtypes of MATAIJ whose products with vectors run on a second copy of the matrix, the shadow, in a format of its own. The AIJ stays the only source
   of truth; all other operations are inherited from it. This room includes no format (see shadowformat.h), no provider of products of matrices
   and no halo: these are registered in the tables below.
*/
#pragma once

#include "mat/aij/aij.h"
#include "mat/shadow/core/shadowformat.h"

#define MAT_SHADOW_MAX 32 /* formats */

/* ------------------------------------------------- state ------------------------------------------------- */

/* The shadow of a sequential matrix is in one of these phases; docs/design.md draws the transitions */
typedef enum {
  MAT_SHADOW_WAITING,  /* products run on the AIJ, until enough were made to repay a conversion */
  MAT_SHADOW_CURRENT,  /* the format has the values of the AIJ */
  MAT_SHADOW_STALE,    /* the AIJ has newer values than the format */
  MAT_SHADOW_DECLINED, /* products run on the AIJ until its pattern changes */
  MAT_SHADOW_PHASES
} MatShadowPhase;

typedef enum {
  MAT_SHADOW_RESET,     /* the pattern, the side or the parameters changed: the format is given up */
  MAT_SHADOW_VALUES,    /* the AIJ has new values */
  MAT_SHADOW_CONVERTED, /* the matrix was laid out, or a better candidate took the place of the format */
  MAT_SHADOW_UPDATED,   /* the new values were copied into the format */
  MAT_SHADOW_DECLINE,   /* the format cannot hold the matrix, or was slower */
  MAT_SHADOW_RETRY,     /* the verdict was not clear: a new trial begins */
  MAT_SHADOW_EVENTS
} MatShadowEvent;

/* Does the format or the AIJ make the products of one kind, plain or transposed? */
typedef enum {
  MAT_SHADOW_OPEN,
  MAT_SHADOW_FOR_FORMAT,
  MAT_SHADOW_FOR_AIJ
} MatShadowVerdict;

/* A comparison of the format with the AIJ, or of a new candidate ("format") with the best so far ("csr"). The plain and the transposed product have a trial each. */
typedef struct {
  MatShadowVerdict verdict;
  PetscBool        noisy;  /* the rounds contradict each other */
  int              rounds; /* complete rounds, each with the ratio of the time on the format to the time on the AIJ */
  PetscLogDouble   ratio[SYS_TUNE_ROUNDS];
  PetscInt         ncsr, nformat;           /* products timed in this round; on the device ncsr counts transposed products before the trial */
  PetscLogDouble   round_csr, round_format; /* the shortest times of this round */
  PetscLogDouble   time_csr, time_format;   /* the shortest times of all rounds */
  PetscLogDouble   sum_format;              /* the sum of all times on the format, and their number */
  PetscInt         total;
} MatShadowTrial;

/* Where one product is made, and the trial that takes its time */
typedef struct {
  const MatShadowOps *ops;
  void               *data;   /* NULL: the AIJ */
  MatShadowTrial     *trial;  /* NULL: none */
  PetscBool           format; /* the trial counts the product as one of the format */
} MatShadowRun;

/* Numbers of products that repay a conversion, tuning on the device and an update, of products with the same values after which the next values are taken over at
   once, and of products on one side of a round of a trial */
typedef struct {
  PetscInt convert, tune, update, lasting, samples;
} MatShadowPatience;

/* The past of the present pattern */
typedef struct {
  PetscLogDouble since;   /* CPU time of the thread at the creation of the matrix, or at the first product with a later pattern, seconds */
  PetscReal      rate;    /* products with the previous set of values, or their running average if that is larger */
  PetscInt       sets;    /* earlier sets of values with products */
  PetscInt       updates; /* of values in the format */
  PetscLogDouble update;  /* the shortest update, seconds, without the first one, which writes to new memory; 0 before the second */
  PetscBool      early;   /* a conversion is due once products with the present values were timed */
} MatShadowPast;

/* The shadow of a matrix, in a container composed with it. Some functions of PETSc move the insides of one matrix into another, with the container: a shadow is
   valid only for its owner, and its format only while the arrays of the pattern keep their addresses. */
typedef struct _MatShadow {
  const MatShadowFormat  *format;
  Mat                     owner;
  PetscBool               cusparse; /* the owner is an AIJCUSPARSE, whose products run on the device unless it is bound to the CPU */
  PetscBool               adopted;  /* the owner is a block of an MPI matrix and has the parameters of that */
  MatShadowTune           tune;
  MatShadowValues         values;
  PetscBool               keep; /* the AIJCUSPARSE keeps its copy on the device beside the format */
  void                   *params;
  MatShadowPhase          phase;
  const MatShadowOps     *side;  /* the functions of the format on the host or on the device */
  const MatShadowOps     *ops;   /* the functions that made data */
  void                   *data;  /* the matrix in the format, in the phases CURRENT and STALE */
  PetscBool               tuned; /* on the device: enough products were made to repay tuning */
  PetscBool               level; /* the owner is a multigrid level, whose products repay a conversion */
  PetscInt                look;  /* number of products with this pattern after which an unclear verdict is tried again, or 0 */
  PetscObjectState        state, nonzerostate;
  const PetscInt         *i, *j; /* the arrays on the host, also for products on the device: they identify the pattern */
  PetscInt                nz;
  PetscInt                served;   /* products with the values at hand */
  PetscInt                products; /* products with the pattern at hand */
  MatShadowPatience       patience; /* with the pattern at hand */
  MatShadowPast           past;
  MatShadowTrial          trial[2];
  MatShadowInfo           info;
  struct _MatShadowTuner *tuner;            /* made at the first conversion, see shadowtune.c */
  PetscErrorCode (*view)(Mat, PetscViewer); /* the view that DMDA put in place of AIJ's, or NULL */
  Vec                    work[2];           /* vectors on the device, a row and a column of the matrix, in place of vectors on the host */
  struct _MatShadowRows *rows;              /* on the device: the AIJ, in the place of a copy that was given back */
  const char            *copy;              /* why that copy was not given back, or NULL */
  PetscBool              coo;               /* the owner is a block of an MPI matrix whose values are set by MatSetValuesCOO() */
  MatShadowHalo          halo_wanted;       /* how the processes exchange entries of x, on the device */
  void                  *halo;              /* the halo of an MPI matrix; only the exchange knows its type */

  /* for -petscamb_view */
  PetscBool          mpi;
  PetscInt64         made[2];         /* products on the AIJ and on the format */
  PetscLogDouble     seconds[2];      /* the times of those products that were timed, */
  PetscInt64         timed[2];        /* and their numbers */
  PetscInt64         fresh;           /* assemblies with new values in one pattern, after products */
  PetscLogDouble     bytes[2];        /* of the AIJ beside the format, and of the format, as MatShadowReportBytes() has counted them */
  struct _MatShadow *previous, *next; /* in the list of all shadows */
} MatShadow;

extern PetscLogEvent MAT_ShadowConvert, MAT_ShadowUpdate;

/* ------------------------------------------------- registries ------------------------------------------------- */

/* Products of matrices: operations of every matrix with a shadow */
typedef struct {
  PetscErrorCode (*setfromoptions)(Mat); /* for operands of one type */
  PetscErrorCode (*mixed)(Mat);          /* for operands of several types */
} MatShadowProducts;

/* The exchange of entries of x between processes, if petsc-amb does it */
typedef struct {
  PetscErrorCode (*mult)(Mat, MatShadow *, PetscBool transpose, Vec x, Vec y, Vec z, PetscBool *done); /* z = A x + y, or z = A x if y is NULL */
  PetscErrorCode (*assembled)(Mat, MatShadow *);
  PetscErrorCode (*changed)(Mat, MatShadow *); /* the user asked for another path */
  PetscErrorCode (*getinfo)(Mat, const MatShadow *, MatShadowHaloInfo *);
  PetscErrorCode (*destroy)(void **halo);
  PetscErrorCode (*finalize)(void);
} MatShadowExchange;

/* Functions of the room adopt that core calls */
typedef struct {
  PetscErrorCode (*attach)(Mat, const MatShadowFormat *, const MatShadow *parent);
  PetscErrorCode (*attachblocks)(Mat);
  PetscErrorCode (*setoperations)(Mat);
  PetscErrorCode (*forget)(Mat);
  PetscErrorCode (*convert)(Mat, MatType, MatReuse, Mat *), (*convertaway)(Mat, MatType, MatReuse, Mat *), (*convertfrom)(Mat, MatType, MatReuse, Mat *);
  PetscErrorCode (*mult_seq)(Mat, Vec, Vec), (*mult_mpi)(Mat, Vec, Vec); /* mark a matrix with a shadow */
} MatShadowAdopter;

/* Functions of the room user that core and adopt call */
typedef struct {
  PetscErrorCode (*created)(MatShadow *), (*moved)(MatShadow *, MatShadowEvent), (*destroyed)(MatShadow *);
  PetscErrorCode (*read)(void);                  /* the option -petscamb_view */
  PetscErrorCode (*sought)(const char option[]); /* an option was read for a new object */
  PetscErrorCode (*remember)(void);
  PetscErrorCode (*compose)(Mat, PetscBool add); /* setters */
  PetscErrorCode (*view)(Mat, PetscViewer);
} MatShadowUser;

extern const MatShadowAdopter  *MatShadowAdoptFunctions, MatShadowAdopterTable;
extern const MatShadowUser     *MatShadowUserFunctions, MatShadowUserTable;
extern const MatShadowProducts *MatShadowProductsOfMatrices;
extern const MatShadowExchange *MatShadowExchangeOfVectors;

extern PetscErrorCode MatShadowRegister(const MatShadowFormat *);
extern PetscErrorCode MatShadowRegisterAll(int, const MatShadowFormat *const[]);
extern PetscErrorCode MatShadowRegisterFinalize(void);
extern PetscErrorCode MatShadowFind(const char type[], const MatShadowFormat **);

/* ------------------------------------------------- shadows ------------------------------------------------- */

extern PetscBool MatShadowFormatAdd(const MatShadowFormat *);
extern void      MatShadowFormatsReset(void);

/* Returns PETSC_TRUE if A is sequential and has a shadow */
static inline PetscBool MatShadowIsSequential(Mat A)
{
  return (PetscBool)(A->ops->mult == MatShadowAdoptFunctions->mult_seq);
}

extern PetscBool      MatShadowIsOurs(Mat);
extern PetscErrorCode MatShadowChoose(Mat, MatShadow *, PetscBool transpose, MatShadowCSR *, MatShadowRun *);
extern PetscErrorCode MatShadowComposeFunctions(Mat, const MatShadowFormat *, PetscBool seq, PetscBool add);
extern PetscErrorCode MatShadowQuery(Mat, MatShadow **);
extern PetscErrorCode MatShadowGet(Mat, MatShadow **);
extern PetscErrorCode MatShadowMove(MatShadow *, MatShadowEvent);
typedef struct {
  const MatShadowOps *ops; /* the functions of the first block that is in a format, or NULL */
  double              value[MAT_SHADOW_FIGURES];
} MatShadowFigures;
extern PetscErrorCode MatShadowGetFigures(Mat, MatShadowFigures *);
extern PetscErrorCode MatShadowForEach(Mat, PetscErrorCode (*)(Mat, MatShadow *, void *), void *);
extern PetscErrorCode MatShadowTakeParams(Mat, MatShadow *, void *from);
extern PetscErrorCode MatShadowParamsChanged(Mat);
extern PetscErrorCode MatShadowComposeSetters(Mat, PetscBool);
extern PetscErrorCode MatShadowAttach(Mat, const MatShadowFormat *, const MatShadow *parent);
extern PetscErrorCode MatShadowAttachBlocks(Mat);
extern PetscErrorCode MatShadowCompose(Mat, const MatShadowFormat *, const MatShadow *parent, MatShadow **);
extern PetscErrorCode MatShadowRename(Mat, MatType);
extern PetscErrorCode MatShadowDetach(Mat);
extern PetscErrorCode MatShadowForget(Mat);
extern PetscErrorCode MatShadowDetachBlocks(Mat);
extern PetscErrorCode MatShadowFollow(Mat, Mat);
extern PetscErrorCode MatShadowConvertType(Mat, MatType, MatReuse, Mat *);
extern PetscErrorCode MatShadowConvertAway(Mat, MatType, MatReuse, Mat *);
extern PetscErrorCode MatConvertFrom_Shadow(Mat, MatType, MatReuse, Mat *);
extern PetscErrorCode MatShadowSetDevice_Shadow(Mat, MatShadowDevice);
extern PetscErrorCode MatShadowView(Mat, PetscViewer);
extern PetscErrorCode MatShadowSetOperations(Mat);
extern void           MatShadowSetDestroy(Mat);
extern void           MatShadowSetStay(Mat, PetscBool);
extern PetscBool      MatShadowStays(void);

extern PetscErrorCode MatMult_Shadow(Mat, Vec, Vec);
extern PetscErrorCode MatMultAdd_Shadow(Mat, Vec, Vec, Vec);
extern PetscErrorCode MatMultTranspose_Shadow(Mat, Vec, Vec);
extern PetscErrorCode MatMultTransposeAdd_Shadow(Mat, Vec, Vec, Vec);
extern PetscErrorCode MatMult_MPIShadow(Mat, Vec, Vec);
extern PetscErrorCode MatMultAdd_MPIShadow(Mat, Vec, Vec, Vec);
extern PetscErrorCode MatMultTranspose_MPIShadow(Mat, Vec, Vec);
extern PetscErrorCode MatMultTransposeAdd_MPIShadow(Mat, Vec, Vec, Vec);
extern PetscErrorCode MatShadowProduct(Mat, PetscBool transpose, Vec x, Vec y, Vec z);
extern PetscErrorCode MatShadowMakeReady(Mat, MatShadow *, void *);
extern PetscErrorCode MatShadowExpectLevel(Mat, Mat);
extern PetscErrorCode MatShadowExpectProducts(Mat, PetscBool transpose);
extern PetscErrorCode MatShadowLeavesToAIJ(Mat, PetscBool transpose, MatShadowCSR *, PetscBool *);

/* The set-up of multigrid that runs now: the storage of values that its levels get, but for the finest one, and whether there is such a set-up */
typedef struct {
  PetscBool       running;
  MatShadowValues values;
  Mat             finest;
} MatShadowLevels;
extern MatShadowLevels MatShadowLevelsNow;
extern PetscErrorCode  MatShadowTwinCreate(Mat, MatShadowValues, Mat *);
extern PetscErrorCode  MatShadowTwinSetUp(Mat);

/* Makes an error of a kernel one of PETSc; if memory was short, *done is PETSC_FALSE, and the AIJ can make the product */
static inline PetscErrorCode MatShadowCheckStatus(SysStatus status, PetscBool *done)
{
  PetscFunctionBegin;
  PetscCheck(status != SYS_ERROR, PETSC_COMM_SELF, PETSC_ERR_GPU, "Products with vectors on the GPU: %s", SysDeviceErrorText());
  *done = (PetscBool)(status == SYS_SUCCESS);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- tuning ------------------------------------------------- */

/* Conversions on the host of this process, in CPU time of the thread, which other programs do not lengthen */
typedef struct {
  PetscLogDouble begin;            /* of the first matrix */
  PetscLogDouble early;            /* seconds of conversions by MatShadowExpectEarly() */
  PetscLogDouble actual, expected; /* seconds of all conversions in this thread, measured and by the model */
} MatShadowConversions;
extern MatShadowConversions MatShadowConverted;

extern PetscErrorCode MatShadowDrop(MatShadow *);
extern PetscErrorCode MatShadowDropData(MatShadow *);
extern PetscErrorCode MatShadowTuneSetUp(Mat, MatShadow *, const MatShadowCSR *, PetscBool wait, PetscBool *ready);
extern PetscErrorCode MatShadowTuneConvertHost(Mat, MatShadow *, const MatShadowCSR *);
extern PetscErrorCode MatShadowTuneConvertDevice(Mat, MatShadow *, const MatShadowCSR *);
extern PetscErrorCode MatShadowTuneChoose(Mat, MatShadow *, PetscBool transpose, PetscBool fresh, const MatShadowCSR *, MatShadowRun *);
extern PetscErrorCode MatShadowTuneVerdict(MatShadow *, const MatShadowTrial *);
extern PetscErrorCode MatShadowTuneStale(MatShadow *);
extern PetscErrorCode MatShadowTuneGetInfo(const MatShadow *, MatShadowInfo *);
extern PetscErrorCode MatShadowTuneView(Mat, PetscViewer);
extern PetscErrorCode MatShadowTuneEnd(MatShadow *);
extern PetscErrorCode MatShadowTuneFinalize(void);
extern void           MatShadowTrialTake(MatShadowTrial *, PetscBool format, PetscLogDouble);
extern PetscBool      MatShadowTrialOver(MatShadowTrial *, PetscInt samples, PetscBool format_is_safe);
extern PetscLogDouble MatShadowTrialRatio(const MatShadowTrial *);

/* ------------------------------------------------- programs that fix AIJ ------------------------------------------------- */

/* The format that -petscamb_for_aij gives to all AIJ of the program, or NULL; the format that all AIJCUSPARSE get, or NULL before the first matrix on a GPU */
extern const MatShadowFormat *MatShadowForAIJ, *MatShadowForAIJCUSPARSE;
extern PetscErrorCode         MatShadowForAIJRegister(void);
extern PetscErrorCode         MatShadowForAIJTake(Mat);
extern PetscErrorCode         MatShadowForAIJFindConversions(MatType, PetscBool seq, PetscErrorCode (*create)(Mat));
extern PetscErrorCode         MatShadowForAIJCompose(Mat, PetscBool seq, PetscBool add);

/* ------------------------------------------------- -petscamb_view ------------------------------------------------- */

/* Sums over this process */
typedef struct {
  PetscLogDouble convert, update;               /* seconds */
  PetscLogDouble ours, renewed, seconds, petsc; /* products of matrices */
  PetscLogDouble regions, shortened;            /* of SysThreadsGetLoad() */
} MatShadowCounts;
/* What a phase of a product of matrices made: a new product, new values, or what the report does not count */
typedef enum {
  MAT_SHADOW_PRODUCT_CREATED,
  MAT_SHADOW_PRODUCT_RENEWED,
  MAT_SHADOW_PRODUCT_UNCOUNTED
} MatShadowProductPhase;
extern MatShadowCounts MatShadowCounted;
extern PetscBool       MatShadowReporting; /* the user asked for the report */
extern PetscErrorCode  MatShadowReportRegister(void);
extern PetscErrorCode  MatShadowReportRead(void);
extern PetscErrorCode  MatShadowReportBegin(MatShadow *);
extern PetscErrorCode  MatShadowReportEnd(MatShadow *);
extern PetscErrorCode  MatShadowReportMoved(MatShadow *, MatShadowEvent);
extern PetscBool       MatShadowReportInProduct(void);
extern PetscErrorCode  MatShadowReportProductBegin(PetscLogDouble *);
extern PetscErrorCode  MatShadowReportProductEnd(Mat, PetscLogDouble, MatShadowProductPhase);
extern PetscErrorCode  MatShadowReportProductByPETSc(Mat, const char reason[], PetscLogDouble, MatShadowProductPhase);
extern PetscErrorCode  MatShadowReport(void);

/* The matrices of types that petsc-amb does not convert */
extern PetscErrorCode MatShadowOthersRegister(void);
extern PetscErrorCode MatShadowOthersList(char text[], size_t size);

/* Counts a product, made by the format or by the AIJ, that began at the time since */
static inline PetscErrorCode MatShadowCount(MatShadow *s, PetscBool format, PetscLogDouble since)
{
  PetscLogDouble now;

  PetscFunctionBegin;
  s->made[format]++;
  if (MatShadowReporting && since > 0) {
    PetscCall(PetscTime(&now));
    s->seconds[format] += now - since;
    s->timed[format]++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscBool MatShadowHasDevice(const MatShadowFormat *format)
{
  return (PetscBool)(format->device.rank != NULL);
}

/* The device side, stubs if PETSc has no CUDA */
#include "mat/shadow/core/shadowdevice.h"

/* Does the clock choose between the format and the AIJ? On a device MAT_SHADOW_TUNE_ONLINE has the layout of MAT_SHADOW_TUNE_MODEL, and the clock chooses its kernels. */
static inline PetscBool MatShadowMeasures(const MatShadow *s)
{
  return (PetscBool)(s->tune == MAT_SHADOW_TUNE_MEASURE || (s->tune == MAT_SHADOW_TUNE_ONLINE && !MatShadowOnDevice(s)));
}
