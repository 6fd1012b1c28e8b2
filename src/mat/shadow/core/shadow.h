/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Shadows: subtypes of MATAIJ whose products with vectors run on a second copy of the matrix, the shadow, in its own format. The AIJ remains the only
   source of truth; all other operations are inherited. This room includes no format (shadowformat.h), no provider of matrix products and no halo:
   they register in the tables below.
*/
#pragma once

#include "mat/aij/aij.h"
#include "mat/shadow/core/shadowformat.h"

#define MAT_SHADOW_MAX 32 /* most formats */

/* ------------------------------------------------- state ------------------------------------------------- */

/* Phases of a sequential matrix's shadow; docs/design.md draws the transitions */
typedef enum {
  MAT_SHADOW_WAITING,  /* products run on the AIJ until they would have repaid a conversion */
  MAT_SHADOW_CURRENT,  /* the format has the values of the AIJ */
  MAT_SHADOW_STALE,    /* the AIJ has newer values than the format */
  MAT_SHADOW_DECLINED, /* products run on the AIJ until its pattern changes */
  MAT_SHADOW_PHASES
} MatShadowPhase;

typedef enum {
  MAT_SHADOW_RESET,     /* the pattern, the side or the parameters changed: the format is dropped */
  MAT_SHADOW_VALUES,    /* the AIJ has new values */
  MAT_SHADOW_CONVERTED, /* the matrix was laid out, or a better candidate replaced the format */
  MAT_SHADOW_UPDATED,   /* the new values were copied into the format */
  MAT_SHADOW_DECLINE,   /* the format cannot store the matrix, or was slower */
  MAT_SHADOW_RETRY,     /* the verdict was unclear: a new trial begins */
  MAT_SHADOW_EVENTS
} MatShadowEvent;

/* The verdict for one kind of products, plain or transposed */
typedef enum {
  MAT_SHADOW_OPEN,
  MAT_SHADOW_FOR_FORMAT,
  MAT_SHADOW_FOR_AIJ
} MatShadowVerdict;

/* A trial of the format against the AIJ, or of a new candidate ("format") against the best so far ("csr"). Plain and transposed products have
   separate trials. */
typedef struct {
  MatShadowVerdict verdict;
  PetscBool        noisy;  /* the rounds contradict each other */
  int              rounds; /* complete rounds, each with the ratio of the times format / AIJ */
  PetscLogDouble   ratio[SYS_TUNE_ROUNDS];
  PetscInt         ncsr, nformat;           /* products timed in this round; on the device ncsr counts transposed products before the trial */
  PetscLogDouble   round_csr, round_format; /* the shortest times of this round */
  PetscLogDouble   time_csr, time_format;   /* the shortest times of all rounds */
  PetscLogDouble   sum_format;              /* the sum of all times on the format, and their number */
  PetscInt         total;
} MatShadowTrial;

/* Where one product runs, and the trial that times it */
typedef struct {
  const MatShadowOps *ops;
  void               *data;   /* NULL: the AIJ */
  MatShadowTrial     *trial;  /* NULL: none */
  PetscBool           format; /* the trial counts the product for the format */
} MatShadowRun;

/* Products that repay a conversion, tuning on the device, and an update; products of one set of values after which the next is updated at once; and
   products on one side of a trial's round */
typedef struct {
  PetscInt convert, tune, update, lasting, samples;
} MatShadowPatience;

/* The history of the current pattern */
typedef struct {
  PetscLogDouble since;   /* seconds of the thread's CPU time at the creation of the matrix, or at the first product with a later pattern */
  PetscReal      rate;    /* products with the previous set of values, or their running average if larger */
  PetscInt       sets;    /* earlier sets of values with products */
  PetscInt       updates; /* of values in the format */
  PetscLogDouble update;  /* seconds of the shortest update except the first, which writes to new memory; 0 before the second */
  PetscBool      early;   /* a conversion is due after timed products with the current values */
} MatShadowPast;

/* The shadow of a matrix, in a container composed with it. Some PETSc functions move one matrix's data into another, with the container: a shadow is
   valid only for its owner, and its format only while the pattern's arrays keep their addresses. */
typedef struct _MatShadow {
  const MatShadowFormat  *format;
  Mat                     owner;
  PetscBool               cusparse; /* the owner is an AIJCUSPARSE, whose products run on the device unless it is bound to the CPU */
  PetscBool               adopted;  /* the owner is a block of an MPI matrix and has its parameters */
  MatShadowTune           tune;
  MatShadowValues         values;
  PetscBool               keep; /* the AIJCUSPARSE keeps its device copy beside the format */
  MatShadowSOR            sor;  /* the order of rows in sweeps of MatSOR() */
  void                   *params;
  MatShadowPhase          phase;
  const MatShadowOps     *side;          /* the functions of the format on the host or on the device */
  const MatShadowOps     *ops;           /* the functions that created data */
  void                   *data;          /* the matrix in the format, in the phases CURRENT and STALE */
  PetscBool               tuned;         /* on the device: tuning would be repaid */
  PetscBool               level;         /* the owner is a multigrid level, whose products repay a conversion */
  PetscBool               interpolation; /* the owner was P of P^T A P */
  PetscInt                look;          /* products with this pattern after which an unclear verdict is tried again, or 0 */
  PetscObjectState        state, nonzerostate;
  const PetscInt         *i, *j; /* the host's arrays, also for products on the device: they identify the pattern */
  PetscInt                nz;
  int                     nodes;    /* rows of a node of the AIJ on the host, with columns in runs; 0: no nodes, -1: unknown */
  PetscInt                served;   /* products with the current values */
  PetscInt                products; /* products with the current pattern */
  MatShadowPatience       patience; /* for the current pattern */
  MatShadowPast           past;
  MatShadowTrial          trial[2];
  MatShadowInfo           info;
  struct _MatShadowTuner *tuner;            /* created at the first conversion (shadowtune.c) */
  PetscErrorCode (*view)(Mat, PetscViewer); /* the view that DMDA put in place of AIJ's, or NULL */
  Vec                    work[2];           /* device vectors, a row and a column, that replace vectors on the host */
  struct _MatShadowRows *rows;              /* on the device: the AIJ's rows in pinned memory, after its device copy was freed */
  const char            *copy;              /* why the device copy was not freed, or NULL */
  PetscBool              coo;               /* the owner is a block of an MPI matrix whose values are set by MatSetValuesCOO() */
  MatShadowHalo          halo_wanted;       /* how the processes exchange entries of x, on the device */
  void                  *halo;              /* the halo of an MPI matrix; only the exchange knows its type */

  /* for -petscamb_view */
  PetscBool          mpi;
  PetscInt64         made[2];         /* products on the AIJ and on the format */
  PetscLogDouble     seconds[2];      /* seconds of the timed products on each */
  PetscInt64         timed[2];        /* number of timed products on each */
  PetscInt64         fresh;           /* assemblies with new values in the same pattern, after products */
  PetscLogDouble     bytes[2];        /* of the AIJ beside the format, and of the format, as counted by MatShadowReportBytes() */
  struct _MatShadow *previous, *next; /* in the list of all shadows */
} MatShadow;

extern PetscLogEvent MAT_ShadowConvert, MAT_ShadowUpdate;

/* ------------------------------------------------- registries ------------------------------------------------- */

/* Matrix products: operations of every matrix with a shadow */
typedef struct {
  PetscErrorCode (*setfromoptions)(Mat); /* for operands of one type */
  PetscErrorCode (*mixed)(Mat);          /* for operands of several types */
} MatShadowProducts;

/* petsc-amb's exchange of entries of x between processes */
typedef struct {
  PetscErrorCode (*mult)(Mat, MatShadow *, PetscBool transpose, Vec x, Vec y, Vec z, PetscBool *done); /* z = A x + y, or z = A x if y is NULL */
  PetscErrorCode (*assembled)(Mat, MatShadow *);
  PetscErrorCode (*changed)(Mat, MatShadow *); /* the user requested another path */
  PetscErrorCode (*getinfo)(Mat, const MatShadow *, MatShadowHaloInfo *);
  PetscErrorCode (*destroy)(void **halo);
  PetscErrorCode (*finalize)(void);
} MatShadowExchange;

/* Functions of the room adopt for core */
typedef struct {
  PetscErrorCode (*attach)(Mat, const MatShadowFormat *, const MatShadow *parent);
  PetscErrorCode (*attachblocks)(Mat);
  PetscErrorCode (*setoperations)(Mat);
  PetscErrorCode (*forget)(Mat);
  PetscErrorCode (*convert)(Mat, MatType, MatReuse, Mat *), (*convertaway)(Mat, MatType, MatReuse, Mat *), (*convertfrom)(Mat, MatType, MatReuse, Mat *);
  PetscErrorCode (*mult_seq)(Mat, Vec, Vec), (*mult_mpi)(Mat, Vec, Vec); /* they identify a matrix with a shadow */
} MatShadowAdopter;

/* Functions of the room user for core and adopt */
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
  const MatShadowOps *ops; /* the functions of the first block in a format, or NULL */
  double              value[MAT_SHADOW_FIGURES];
} MatShadowFigures;
extern PetscErrorCode MatShadowGetFigures(Mat, MatShadowFigures *);
extern PetscErrorCode MatShadowForEach(Mat, PetscErrorCode (*)(Mat, MatShadow *, void *), void *);
extern PetscErrorCode MatShadowCopyParams(Mat, MatShadow *, void *from);
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
extern PetscErrorCode MatShadowForgetStale(Mat);
extern PetscErrorCode MatShadowExpectProducts(Mat, PetscBool transpose);
extern PetscErrorCode MatShadowLeavesToAIJ(Mat, PetscBool transpose, MatShadowCSR *, PetscBool *);

/* The running multigrid set-up: the storage of its levels' values except the finest, and whether there is one */
typedef struct {
  PetscBool       running;
  MatShadowValues values;
  Mat             finest;
} MatShadowLevels;
extern MatShadowLevels MatShadowLevelsNow;
extern PetscErrorCode  MatShadowTwinCreate(Mat, MatShadowValues, Mat *);
extern PetscErrorCode  MatShadowTwinSetUp(Mat);

/* Raises a kernel's error; if memory was short it sets *done = PETSC_FALSE instead, and the AIJ can compute the product */
static inline PetscErrorCode MatShadowCheckStatus(SysStatus status, PetscBool *done)
{
  PetscFunctionBegin;
  PetscCheck(status != SYS_ERROR, PETSC_COMM_SELF, PETSC_ERR_GPU, "Products with vectors on the GPU: %s", SysDeviceErrorText());
  *done = (PetscBool)(status == SYS_SUCCESS);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- tuning ------------------------------------------------- */

/* Conversions on the host in this process, in the thread's CPU time, which other programs do not lengthen */
typedef struct {
  PetscLogDouble begin;            /* of the first matrix */
  PetscLogDouble early;            /* seconds of conversions that MatShadowExpectEarly() does not expect back */
  PetscLogDouble actual, expected; /* seconds of all conversions in this thread, measured and predicted */
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
extern void           MatShadowTrialAdd(MatShadowTrial *, PetscBool format, PetscLogDouble);
extern PetscBool      MatShadowTrialOver(MatShadowTrial *, PetscInt samples, PetscBool format_is_safe);
extern PetscLogDouble MatShadowTrialRatio(const MatShadowTrial *);

/* ------------------------------------------------- programs that fix AIJ ------------------------------------------------- */

/* The format that -petscamb_for_aij gives to all AIJ of the program, or NULL; the format that all AIJCUSPARSE get, or NULL before the first matrix on a GPU */
extern const MatShadowFormat *MatShadowForAIJ, *MatShadowForAIJCUSPARSE;
extern PetscErrorCode         MatShadowForAIJRegister(void);
extern PetscErrorCode         MatShadowForAIJAttach(Mat);
extern PetscErrorCode         MatShadowForAIJFindConversions(MatType, PetscBool seq, PetscErrorCode (*create)(Mat));
extern PetscErrorCode         MatShadowForAIJCompose(Mat, PetscBool seq, PetscBool add);
extern PetscErrorCode         MatShadowForAIJSeek(MPI_Comm);
extern PetscBool              MatShadowForAIJMultiplies(void);

/* ------------------------------------------------- -petscamb_view ------------------------------------------------- */

/* Sums over this process */
typedef struct {
  PetscLogDouble convert, update;                   /* seconds */
  PetscLogDouble hashgemm, renewed, seconds, petsc; /* products of matrices by hashgemm, their new values and seconds, and products by PETSc */
  PetscLogDouble blocks;                            /* products of BAIJ and SBAIJ with vectors by petsc-amb */
  PetscLogDouble regions, shortened;                /* of SysThreadsGetLoad() */
} MatShadowCounts;
/* What a phase of a matrix product computed: a new product, new values, or nothing that the report counts */
typedef enum {
  MAT_SHADOW_PRODUCT_CREATED,
  MAT_SHADOW_PRODUCT_RENEWED,
  MAT_SHADOW_PRODUCT_UNCOUNTED
} MatShadowProductPhase;
extern MatShadowCounts MatShadowCounted;
extern PetscBool       MatShadowReporting; /* the user requested the report */
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

/* Matrices of types that petsc-amb does not convert */
extern PetscErrorCode MatShadowOthersRegister(void);
extern PetscErrorCode MatShadowOthersList(char text[], size_t size);

/* Counts a product of the format or the AIJ that began at time `since` */
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

/* The device side; stubs if PETSc has no CUDA */

/* The device side of shadows. Without a device no matrix is an AIJCUSPARSE, and the functions are stubs that do nothing. */

/* The arrays of vectors in a product */
typedef struct {
  const PetscScalar *x, *y;
  PetscScalar       *z;
} MatShadowVectors;

extern PetscErrorCode MatShadowDeviceVecOptions(const MatShadowFormat *);

#if defined(SYS_HAVE_DEVICE)

/* Returns PETSC_TRUE if products of this shadow's owner run on the device */
static inline PetscBool MatShadowOnDevice(const MatShadow *s)
{
  return (PetscBool)(s->cusparse && !s->owner->boundtocpu);
}

#else

static inline PetscBool MatShadowOnDevice(const MatShadow *s)
{
  return PETSC_FALSE;
}

#endif

/* The stubs do not write their results: callers initialize flags with PETSC_FALSE */
SYS_DEVICE PetscErrorCode MatShadowDeviceExpect(const MatShadowFormat *format) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceStart(const MatShadowFormat *format) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceEnd(void) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceConvert(Mat A) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowLoadStart(const MatShadowFormat *format) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowLoadEnd(void) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscBool      MatShadowLoads(void) SYS_STUB(PETSC_FALSE);

/* Arrays and vectors */
SYS_DEVICE PetscErrorCode MatShadowDeviceGetRows(Mat A, const MatShadow *s, MatShadowCSR *csr) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceFree(Mat A, MatShadow *s, MatShadowCSR *csr) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceForgetRows(MatShadow *s) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceWait(const MatShadowCSR *csr) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceGetVector(Mat A, int k, Vec v, Vec from, Vec *device) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceGetAll(Mat A, PetscBool transpose, Vec *x, Vec *y, Vec *z) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceRestoreVector(Vec device, Vec v) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceCopy(Vec from, Vec to) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceGetVectors(Vec x, Vec y, Vec z, MatShadowVectors *v) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceRestoreVectors(const MatShadow *s, Vec x, Vec y, Vec z, MatShadowVectors *v, PetscBool done) SYS_STUB(PETSC_SUCCESS);
/* For solvers that queue products themselves. Settled() gets the functions and data of all further products of A, or transposed ones, if all
   decisions about them are final; otherwise *data is unchanged. Count() counts such products, and those that the solver runs on the AIJ's arrays. */
SYS_DEVICE PetscErrorCode MatShadowDeviceSettled(Mat A, PetscBool transpose, MatShadowCSR *csr, const MatShadowOps **ops, void **data) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceMade(Mat A, PetscInt products, PetscBool aij) SYS_STUB(PETSC_SUCCESS);

/* Trials */
SYS_DEVICE PetscErrorCode MatShadowDeviceTry(Mat A, MatShadow *s, const MatShadowCSR *csr, PetscBool transpose, PetscBool *tried) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceExpectTranspose(Mat A) SYS_STUB(PETSC_SUCCESS);

/* Operations of an AIJCUSPARSE */
SYS_DEVICE PetscErrorCode MatShadowConvertToAIJ(Mat A, MatType type, MatReuse reuse, Mat *newmat) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowCUSPARSECompose(Mat A, PetscBool seq, PetscBool add) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowCUSPARSESetOperations(Mat A, PetscBool seq) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowCUSPARSERestoreOperations(Mat A, PetscBool seq) SYS_STUB(PETSC_SUCCESS);

/* Returns PETSC_TRUE if timing chooses between the format and the AIJ. On a device MAT_SHADOW_TUNE_ONLINE has the layout of MAT_SHADOW_TUNE_MODEL,
   and timing chooses only its kernels. */
static inline PetscBool MatShadowMeasures(const MatShadow *s)
{
  return (PetscBool)(s->tune == MAT_SHADOW_TUNE_MEASURE || (s->tune == MAT_SHADOW_TUNE_ONLINE && !MatShadowOnDevice(s)));
}
