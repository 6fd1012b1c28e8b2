/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Shadow formats: subtypes of MATAIJ whose products with vectors run on a second copy of the matrix in a format of their own. The AIJ stays the
   one source of truth; everything but these products is inherited from it.

   A format is one MatShadowFormat, a table of functions on raw arrays, and one line of registration in src/sys/ambpackage.c.
*/
#pragma once

#include <petscamb.h>
#include <petsc/private/matimpl.h>

#include "sys/syscompat.h"
#include "sys/syscsr.h"

/* The device side stands on AIJCUSPARSE and is there in a PETSc with CUDA, for the numbers its kernels are written for */
#if defined(PETSC_HAVE_CUDA) && !defined(PETSC_USE_COMPLEX) && !defined(PETSC_USE_64BIT_INDICES)
  #define MAT_SHADOW_HAVE_DEVICE 1
#endif

/* The AIJ as a format sees it: its arrays on the side where the products are made, and what work there needs */
typedef struct {
  SysCSR A;
  void  *stream;  /* of the device */
  int    threads; /* of the host, that make products, */
  int    workers; /* and that lay out the format now */
} MatShadowCSR;

/* One way to store a matrix: a format and its parameters */
typedef struct {
  const struct _MatShadowFormat *format;
  char                           name[48];
  int                            tried; /* products that were spent on choosing it */
  double                         bytes; /* by the model */
  PetscLogDouble                 time;  /* of a product, the shortest; 0 if it was not measured */
  _Alignas(double) char params[128];    /* room for what layout() of the format has to know: bytes, which may be read and copied as any type */
} MatShadowCandidate;

#define MAT_SHADOW_CANDIDATES 32

/* Puts a candidate where it belongs by its bytes among those from first on; returns how many there are then */
static inline int MatShadowCandidateInsert(MatShadowCandidate list[], int first, int n, const MatShadowCandidate *c)
{
  int to = n;

  for (; to > first && list[to - 1].bytes > c->bytes; to--) list[to] = list[to - 1];
  list[to] = *c;
  return n + 1;
}

/* What a format does on one side, the host or the device. Where there is not enough memory, *done becomes PETSC_FALSE and nothing has changed. */
typedef PetscErrorCode MatShadowMultFunction(void *data, const MatShadowCSR *, PetscScalar alpha, const PetscScalar *x, PetscScalar beta, const PetscScalar *y, PetscScalar *z, PetscBool *done);

/*
   A format has either rank() and layout(), on the host, or convert(); or only rank(), if what it lists are the ways of others.

   rank() lists the ways to store a matrix that are worth a try, best first by the model: all of them with MAT_SHADOW_TUNE_ONLINE, else those that the
   parameters and the model leave, and returns how many these are. layout() makes *data, from parameters that may refer to those of the best one so far, or
   returns why it cannot; with too many bytes for most it can not. Where csr->a is NULL the values are for update() to bring. These two call nothing of
   PETSc: they may run in another thread, and then csr->a is NULL and what csr points to does not outlive the call of update().
*/
typedef struct _MatShadowOps {
  /* Makes *data and fills info, or leaves it NULL and only says why in info->reason: when it cannot be done, or the model sees more than most times the CSR's bytes */
  PetscErrorCode (*convert)(const MatShadowCSR *, const void *params, MatShadowTune, PetscReal most, MatShadowInfo *info, void **data);
  PetscErrorCode (*update)(void *data, const MatShadowCSR *, PetscBool *done); /* new values in the same pattern */
  MatShadowMultFunction *mult, *multtranspose;
  PetscErrorCode (*destroy)(void **data);
  PetscErrorCode (*refresh)(const void *data, MatShadowInfo *info); /* what data tells, without convert() all that info says of the format; may be NULL */
  int (*rank)(const MatShadowCSR *, const void *params, MatShadowTune, MatShadowCandidate list[], const char **reason);
  const char *(*layout)(const MatShadowCSR *, MatShadowCandidate *, const MatShadowCandidate *best, double most, void **data);
  void (*load)(void *stream); /* on the device: calls the kernels of first conversions and products once, without PETSc and in another thread; may be NULL */
} MatShadowOps;

struct _MatShadow;

/* The parameters of a format are a plain struct of params_size bytes, copied to the blocks of an MPI matrix and to duplicates */
typedef struct _MatShadowFormat {
  const char  *name, *seqtype, *mpitype;
  const char  *citation;
  PetscBool   *cited;
  size_t       params_size;
  MatShadowOps host, device; /* device is all zeros where there is none */
  PetscErrorCode (*create_seq)(Mat);
  PetscErrorCode (*create_mpi)(Mat);
  PetscErrorCode (*setfromoptions)(struct _MatShadow *, PetscAMBOptionItems); /* NULL where it has no parameters, */
  PetscErrorCode (*compose)(Mat, PetscBool add);                              /* or its setters, to or from a matrix */
} MatShadowFormat;

#define MAT_SHADOW_MAX             8        /* formats */
#define MAT_SHADOW_SAMPLES         4        /* products timed on either side in a round, on the host */
#define MAT_SHADOW_ROUNDS          3        /* of these, at most */
#define MAT_SHADOW_CLEAR           0.1      /* faster or slower by more than this part: a round that is clear */
#define MAT_SHADOW_SCATTER         1.3      /* times the least ratio of the rounds: beyond that the times say nothing, and the traffic model decides */
#define MAT_SHADOW_AGAIN           10       /* times as many products as before a verdict that was not clear: then it is looked at again */
#define MAT_SHADOW_THREAD_NONZEROS 20000    /* entries that make a further thread worth while, on the host */
#define MAT_SHADOW_LARGE           20000000 /* nonzeros: on the device, in none of its caches */

/* The format, or a new candidate, against the AIJ, or the best so far. The plain and the transposed product are judged apart. */
typedef struct {
  PetscBool      settled; /* the choice between format and AIJ is made */
  PetscBool      on_aij;  /* and was for the AIJ */
  PetscBool      noisy;   /* the rounds contradict each other */
  int            rounds;  /* complete ones, and their ratios of the time on the format to that on the AIJ */
  PetscLogDouble ratio[MAT_SHADOW_ROUNDS];
  PetscInt       ncsr, nformat;           /* products timed in this round; on the device ncsr counts the transposed ones before a trial */
  PetscLogDouble round_csr, round_format; /* the shortest of their times */
  PetscLogDouble time_csr, time_format;   /* the shortest of all rounds */
  PetscLogDouble sum_format;              /* the sum of all on the format, and how many these are */
  PetscInt       total;
} MatShadowTrial;

/* What a product runs on, and who wants to know how long it takes */
typedef struct {
  const MatShadowOps *ops;
  void               *data;   /* NULL: the AIJ */
  MatShadowTrial     *trial;  /* NULL: nobody */
  PetscBool           format; /* the trial counts it as that of the format */
} MatShadowRun;

/* Hangs on the matrix in a container. Several functions of PETSc move the insides of one matrix into another: the shadow is only that of its
   owner, and of its pattern only while the arrays are where they were. */
typedef struct _MatShadow {
  const MatShadowFormat  *format;
  Mat                     owner;
  PetscBool               cusparse; /* the owner is an AIJCUSPARSE, its products run on the device unless it is bound to the CPU */
  PetscBool               adopted;  /* the parameters are those of the MPI matrix that the owner is a block of */
  MatShadowTune           tune;
  void                   *params;
  const MatShadowOps     *side;     /* the host's or the device's */
  const MatShadowOps     *ops;      /* those of data */
  void                   *data;     /* the matrix in the format; NULL while products run on the AIJ */
  PetscBool               declined; /* the format cannot hold this pattern, or the model sees no gain */
  PetscBool               stale;    /* data has older values than the AIJ */
  PetscBool               lasting;  /* the values before these were used in many products */
  PetscBool               tuned;    /* on the device: there were enough products to repay that */
  PetscBool               level;    /* a multigrid level, of whose products it is known that they repay a conversion */
  PetscInt                look;     /* products with this pattern after which an unclear verdict is looked at again, or 0 */
  PetscObjectState        state, nonzerostate;
  const PetscInt         *i, *j; /* of the host: they tell the pattern, also on the device */
  PetscInt                nz;
  PetscInt                served;   /* products with these values */
  PetscInt                products; /* with this pattern */
  MatShadowTrial          trial[2];
  MatShadowInfo           info;
  struct _MatShadowTuner *tuner;            /* on the host, from the first conversion on: shadowtune.c */
  PetscErrorCode (*view)(Mat, PetscViewer); /* the view that DMDA put in place of AIJ's, or NULL */
  Vec              work[2];                 /* on the device, a row and a column, in place of vectors that are on the host */
  MatShadowHalo    halo_wanted;             /* how the processes exchange entries of x, on the device */
  struct _MatHalo *halo;                    /* of an MPI matrix, from its first product there on; see shadowhalo.h */

  /* for -petscamb_view */
  PetscBool          mpi;
  PetscInt64         made[2];         /* products on the AIJ and on the format, */
  PetscLogDouble     seconds[2];      /* and their time */
  struct _MatShadow *previous, *next; /* of all that are there */
} MatShadow;

extern PetscLogEvent MAT_ShadowConvert, MAT_ShadowUpdate;

/* The formats */
extern const MatShadowFormat MatShadowFormatAMB, MatShadowFormatNUSSELL, MatShadowFormatAutoSparse;

extern PetscErrorCode MatShadowRegister(const MatShadowFormat *);
extern PetscErrorCode MatShadowRegisterFinalize(void);
extern PetscErrorCode MatShadowFind(const char type[], const MatShadowFormat **);
extern PetscErrorCode MatShadowGetFormats(int *, const MatShadowFormat *const **);
extern PetscErrorCode MatShadowGetFormat(Mat, const MatShadowFormat **);
extern PetscErrorCode MatShadowGet(Mat, MatShadow **);
extern PetscErrorCode MatShadowDrop(MatShadow *);
extern PetscErrorCode MatShadowDropData(MatShadow *);
extern PetscErrorCode MatShadowConvertWith(MatShadow *, const MatShadowFormat *, const void *params, const MatShadowCSR *);
extern PetscErrorCode MatShadowTuneSetUp(Mat, MatShadow *, const MatShadowCSR *, PetscBool wait, PetscBool *ready);
extern PetscErrorCode MatShadowTuneConvert(Mat, MatShadow *, const MatShadowCSR *);
extern PetscErrorCode MatShadowTuneChoose(Mat, MatShadow *, PetscBool transpose, PetscBool fresh, const MatShadowCSR *, MatShadowRun *);
extern PetscErrorCode MatShadowTuneVerdict(MatShadow *, const MatShadowTrial *);
extern PetscErrorCode MatShadowTuneStale(MatShadow *);
extern PetscErrorCode MatShadowTuneGetInfo(const MatShadow *, MatShadowInfo *);
extern PetscErrorCode MatShadowTuneView(Mat, PetscViewer);
extern PetscErrorCode MatShadowTuneEnd(MatShadow *);
extern PetscErrorCode MatShadowTuneFinalize(void);
extern PetscErrorCode MatShadowMakeReady(Mat, MatShadow *, void *);
extern PetscErrorCode MatShadowExpectLevel(Mat, Mat);
extern void           MatShadowTrialTake(MatShadowTrial *, PetscBool format, PetscLogDouble);
extern PetscBool      MatShadowTrialOver(MatShadowTrial *, PetscBool format_is_safe);
extern PetscLogDouble MatShadowTrialRatio(const MatShadowTrial *);
extern PetscErrorCode MatShadowForEach(Mat, PetscErrorCode (*)(Mat, MatShadow *, void *), void *);
extern PetscErrorCode MatShadowParamsChanged(Mat);
extern PetscErrorCode MatShadowTakeParams(Mat, MatShadow *, void *from);
extern PetscErrorCode MatShadowComposeSetters(Mat, PetscBool);
extern PetscErrorCode MatShadowCreateSeq(Mat, const MatShadowFormat *);
extern PetscErrorCode MatShadowCreateMPI(Mat, const MatShadowFormat *);
extern PetscErrorCode MatShadowAttach(Mat, const MatShadowFormat *, const MatShadow *parent);
extern PetscErrorCode MatShadowAttachBlocks(Mat);
extern PetscErrorCode MatShadowDetach(Mat);
extern PetscErrorCode MatShadowDetachBlocks(Mat);
extern PetscBool      MatShadowIsCUSPARSE(Mat);
extern PetscErrorCode MatShadowHarvestMat(MatType, Mat *);
extern PetscErrorCode MatShadowHarvest(MatType, struct _MatOps *);
extern PetscErrorCode MatShadowConvertType(Mat, MatType, MatReuse, Mat *);
extern PetscErrorCode MatShadowConvertAway(Mat, MatType, MatReuse, Mat *);
extern PetscErrorCode MatConvertFrom_Shadow(Mat, MatType, MatReuse, Mat *);
extern PetscErrorCode MatShadowSetDevice_Shadow(Mat, MatShadowDevice);
extern PetscErrorCode MatShadowView(Mat, PetscViewer);
extern PetscErrorCode MatShadowAdopt(Mat, const MatShadowFormat *);

extern PetscErrorCode MatMult_Shadow(Mat, Vec, Vec);
extern PetscErrorCode MatMultAdd_Shadow(Mat, Vec, Vec, Vec);
extern PetscErrorCode MatMultTranspose_Shadow(Mat, Vec, Vec);
extern PetscErrorCode MatMultTransposeAdd_Shadow(Mat, Vec, Vec, Vec);

/* Products with matrices, in src/mat/impls/hashgemm; the first sets the symbolic phase if the product is one for us */
extern PetscErrorCode HashGEMMSetFromOptionsMixed(Mat, PetscBool *serves);
extern PetscErrorCode MatProductSetFromOptions_HashGEMM(Mat);

/* -petscamb_for_aij: the format that all AIJ of the program have, or NULL */
extern const MatShadowFormat *MatShadowForAIJ;
extern PetscErrorCode         MatShadowForAIJRegister(void);
extern PetscErrorCode         MatShadowForAIJTake(Mat);
extern PetscErrorCode         MatShadowForAIJCompose(Mat, PetscBool seq, PetscBool add);

/* What -petscamb_view tells at the end: all are sums over this process */
typedef struct {
  PetscLogDouble convert, update;               /* seconds */
  PetscLogDouble ours, renewed, seconds, petsc; /* products of matrices */
} MatShadowCounts;
extern MatShadowCounts MatShadowCounted;
extern PetscBool       MatShadowReporting; /* is it wanted? */
extern PetscErrorCode  MatShadowReportRegister(void);
extern PetscErrorCode  MatShadowReportBegin(MatShadow *);
extern PetscErrorCode  MatShadowReportEnd(MatShadow *);
extern PetscErrorCode  MatShadowReportProductBegin(PetscLogDouble *);
extern PetscErrorCode  MatShadowReportProductEnd(Mat, PetscLogDouble, PetscBool renewed);
extern PetscErrorCode  MatShadowReportProduct(Mat, PetscBool ours);
extern PetscErrorCode  MatShadowReport(void);

/* One more product, of the format or of the AIJ, which began then */
static inline PetscErrorCode MatShadowCount(MatShadow *s, PetscBool format, PetscLogDouble since)
{
  PetscLogDouble now;

  PetscFunctionBegin;
  s->made[format]++;
  if (MatShadowReporting) {
    PetscCall(PetscTime(&now));
    s->seconds[format] += now - since;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operations that a matrix would have without us */
extern const struct _MatOps *MatShadowBase(Mat);

/* The operations of PETSc's own seqaij and mpiaij, which it does not export, and those of seqaijcusparse and mpiaijcusparse once they are needed */
extern struct _MatOps MatShadowBaseSeq, MatShadowBaseMPI, MatShadowBaseSeqCUSPARSE, MatShadowBaseMPICUSPARSE;

/* The device side; without it no matrix is an AIJCUSPARSE */
extern PetscErrorCode   MatShadowDeviceFound(PetscBool *);
extern PetscErrorCode   MatShadowDeviceVecOptions(const MatShadowFormat *);
static inline PetscBool MatShadowHasDevice(const MatShadowFormat *format)
{
  return (PetscBool)(format->device.convert || format->device.rank);
}
#if defined(MAT_SHADOW_HAVE_DEVICE)
extern PetscErrorCode MatShadowLoadStart(const MatShadowFormat *);
extern PetscErrorCode MatShadowLoadEnd(void);
extern PetscErrorCode MatShadowDeviceExpect(const MatShadowFormat *);
extern PetscErrorCode MatShadowDeviceStart(const MatShadowFormat *);
extern PetscErrorCode MatShadowDeviceEnd(void);
extern PetscErrorCode MatShadowDeviceConvert(Mat);
extern PetscErrorCode MatShadowDeviceGetFormat(const MatShadowFormat **);
extern PetscErrorCode MatShadowDeviceGetCSR(Mat, MatShadowCSR *);
extern void           MatShadowDevicePin(const void *, size_t bytes, PetscBool *pinned);
extern void           MatShadowDeviceUnpin(const void *, PetscBool pinned);
extern PetscErrorCode MatShadowDeviceWait(const MatShadowCSR *);
extern PetscErrorCode MatShadowDeviceBring(Mat, int k, Vec, Vec from, Vec *);
extern PetscErrorCode MatShadowDeviceTake(Vec, Vec);
extern PetscErrorCode MatShadowDeviceCopy(Vec from, Vec to);
extern PetscErrorCode MatShadowDeviceMult(MatShadow *, const MatShadowCSR *, PetscBool transpose, Vec, Vec, Vec, PetscBool *done);
extern PetscErrorCode MatShadowConvertToAIJ(Mat, MatType, MatReuse, Mat *);
extern PetscErrorCode MatShadowCUSPARSECompose(Mat, PetscBool seq, PetscBool add);
extern PetscErrorCode MatShadowCUSPARSERestoreOperations(Mat, PetscBool seq);
extern PetscErrorCode MatShadowCUSPARSESetCPUSolve(Mat);
extern void           MatShadowCUSPARSESetOperations(Mat, PetscBool seq);
extern void           MatShadowSetOperations(Mat);
extern PetscErrorCode MatShadowTuneConvertDevice(Mat, MatShadow *, const MatShadowCSR *);
extern PetscErrorCode MatShadowDeviceTry(Mat, MatShadow *, const MatShadowCSR *, PetscBool transpose, PetscBool *tried);
extern PetscErrorCode MatShadowDeviceExpectTranspose(Mat);
#endif

/* Do the products of the owner of this shadow run on the device? */
static inline PetscBool MatShadowOnDevice(const MatShadow *s)
{
#if defined(MAT_SHADOW_HAVE_DEVICE)
  return (PetscBool)(s->cusparse && !s->owner->boundtocpu);
#else
  return PETSC_FALSE;
#endif
}
