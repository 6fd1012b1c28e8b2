/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Shadows: subtypes of MATAIJ whose products with vectors run on a second copy of the matrix in a format of their own. The AIJ stays the one source of truth;
   everything but these products is inherited from it. The shadow knows no format (see shadowformat.h), and neither products of matrices nor halos: these
   register themselves in the tables below.
*/
#pragma once

#include <petsc/private/matimpl.h>

#include "mat/shadow/shadowformat.h"

#define MAT_SHADOW_MAX 32 /* formats */

/* ------------------------------------------------- state ------------------------------------------------- */

/* The shadow of a sequential matrix is in one of these phases; docs/design.md draws the transitions */
typedef enum {
  MAT_SHADOW_WAITING,  /* products run on the AIJ, until there were enough to repay a conversion */
  MAT_SHADOW_CURRENT,  /* the format has the values of the AIJ */
  MAT_SHADOW_STALE,    /* the AIJ has newer values than the format */
  MAT_SHADOW_DECLINED, /* products stay on the AIJ for as long as its pattern stays */
  MAT_SHADOW_PHASES
} MatShadowPhase;

typedef enum {
  MAT_SHADOW_RESET,     /* another pattern, another side, or other parameters: the format is given up */
  MAT_SHADOW_VALUES,    /* the AIJ has new values */
  MAT_SHADOW_CONVERTED, /* the matrix was laid out, or a better candidate took the place of the format */
  MAT_SHADOW_UPDATED,   /* the format took the new values over */
  MAT_SHADOW_DECLINE,   /* the format cannot hold the matrix, or was slower */
  MAT_SHADOW_RETRY,     /* the verdict was not clear: a new trial begins */
  MAT_SHADOW_EVENTS
} MatShadowEvent;

/* Does the format or the AIJ make such products? */
typedef enum {
  MAT_SHADOW_OPEN,
  MAT_SHADOW_FOR_FORMAT,
  MAT_SHADOW_FOR_AIJ
} MatShadowVerdict;

/* The format, or a new candidate, against the AIJ, or the best so far. The plain and the transposed product are judged apart. */
typedef struct {
  MatShadowVerdict verdict;
  PetscBool        noisy;  /* the rounds contradict each other */
  int              rounds; /* complete ones, and their ratios of the time on the format to that on the AIJ */
  PetscLogDouble   ratio[SYS_TUNE_ROUNDS];
  PetscInt         ncsr, nformat;           /* products timed in this round; on the device ncsr counts the transposed ones before a trial */
  PetscLogDouble   round_csr, round_format; /* the shortest of their times */
  PetscLogDouble   time_csr, time_format;   /* the shortest of all rounds */
  PetscLogDouble   sum_format;              /* the sum of all on the format, and how many these are */
  PetscInt         total;
} MatShadowTrial;

/* The place of one product, and the trial that its time is for */
typedef struct {
  const MatShadowOps *ops;
  void               *data;   /* NULL: the AIJ */
  MatShadowTrial     *trial;  /* NULL: none */
  PetscBool           format; /* the trial counts the product as one of the format */
} MatShadowRun;

/* A container on the matrix has it. Several functions of PETSc move the insides of one matrix into another: the shadow is only that of its owner, and of its
   pattern only while the arrays are where they were. */
typedef struct _MatShadow {
  const MatShadowFormat  *format;
  Mat                     owner;
  PetscBool               cusparse; /* the owner is an AIJCUSPARSE, its products run on the device unless it is bound to the CPU */
  PetscBool               adopted;  /* the parameters are those of the MPI matrix that the owner is a block of */
  MatShadowTune           tune;
  void                   *params;
  MatShadowPhase          phase;
  const MatShadowOps     *side;    /* the host's or the device's */
  const MatShadowOps     *ops;     /* those of data */
  void                   *data;    /* the matrix in the format, in the phases CURRENT and STALE */
  PetscBool               lasting; /* the values before these were used in many products */
  PetscBool               tuned;   /* on the device: there were enough products to repay tuning */
  PetscBool               level;   /* the owner is a multigrid level, whose products repay a conversion */
  PetscInt                look;    /* products with this pattern after which an unclear verdict is looked at again, or 0 */
  PetscObjectState        state, nonzerostate;
  const PetscInt         *i, *j; /* of the host, also on the device: they identify the pattern */
  PetscInt                nz;
  PetscInt                served;   /* products with these values */
  PetscInt                products; /* with this pattern */
  MatShadowTrial          trial[2];
  MatShadowInfo           info;
  struct _MatShadowTuner *tuner;            /* from the first conversion on: shadowtune.c */
  PetscErrorCode (*view)(Mat, PetscViewer); /* the view that DMDA put in place of AIJ's, or NULL */
  Vec           work[2];                    /* on the device, a row and a column, in place of vectors that are on the host */
  MatShadowHalo halo_wanted;                /* how the processes exchange entries of x, on the device */
  void         *halo;                       /* of an MPI matrix; only the exchange knows it */

  /* for -petscamb_view */
  PetscBool          mpi;
  PetscInt64         made[2];         /* products on the AIJ and on the format, */
  PetscLogDouble     seconds[2];      /* and their time */
  struct _MatShadow *previous, *next; /* of all that there are */
} MatShadow;

extern PetscLogEvent MAT_ShadowConvert, MAT_ShadowUpdate;

/* ------------------------------------------------- what registers itself ------------------------------------------------- */

/* Products of matrices: operations of every matrix with a shadow */
typedef struct {
  PetscErrorCode (*setfromoptions)(Mat); /* the operands are of one type */
  PetscErrorCode (*mixed)(Mat);          /* of several types */
} MatShadowProducts;

/* The exchange of entries of x between processes, where petsc-amb does it */
typedef struct {
  PetscErrorCode (*mult)(Mat, MatShadow *, PetscBool transpose, Vec x, Vec y, Vec z, PetscBool *done); /* z = A x + y, without y if that is NULL */
  PetscErrorCode (*assembled)(Mat, MatShadow *);
  PetscErrorCode (*changed)(Mat, MatShadow *); /* another path is asked for */
  PetscErrorCode (*getinfo)(Mat, const MatShadow *, MatShadowHaloInfo *);
  PetscErrorCode (*destroy)(void **halo);
  PetscErrorCode (*finalize)(void);
} MatShadowExchange;

extern const MatShadowProducts *MatShadowProductsOfMatrices;
extern const MatShadowExchange *MatShadowExchangeOfVectors;

extern PetscErrorCode MatShadowRegister(const MatShadowFormat *);
extern PetscErrorCode MatShadowRegisterAll(int, const MatShadowFormat *const[]);
extern PetscErrorCode MatShadowRegisterFinalize(void);
extern PetscErrorCode MatShadowFind(const char type[], const MatShadowFormat **);
extern PetscErrorCode MatShadowGetFormat(Mat, const MatShadowFormat **);

/* ------------------------------------------------- shadows ------------------------------------------------- */

extern PetscErrorCode MatShadowGet(Mat, MatShadow **);
extern PetscErrorCode MatShadowMove(MatShadow *, MatShadowEvent);
typedef struct {
  const MatShadowOps *ops; /* of the first block that has a format, or NULL */
  double              value[MAT_SHADOW_FIGURES];
} MatShadowFigures;
extern PetscErrorCode MatShadowGetFigures(Mat, MatShadowFigures *);
extern PetscErrorCode MatShadowForEach(Mat, PetscErrorCode (*)(Mat, MatShadow *, void *), void *);
extern PetscErrorCode MatShadowTakeParams(Mat, MatShadow *, void *from);
extern PetscErrorCode MatShadowParamsChanged(Mat);
extern PetscErrorCode MatShadowComposeSetters(Mat, PetscBool);
extern PetscErrorCode MatShadowAttach(Mat, const MatShadowFormat *, const MatShadow *parent);
extern PetscErrorCode MatShadowAttachBlocks(Mat);
extern PetscErrorCode MatShadowDetach(Mat);
extern PetscErrorCode MatShadowDetachBlocks(Mat);
extern PetscErrorCode MatShadowAdopt(Mat, const MatShadowFormat *);
extern PetscBool      MatShadowIsCUSPARSE(Mat);
extern PetscErrorCode MatShadowHarvestMat(MatType, Mat *);
extern PetscErrorCode MatShadowHarvest(MatType, struct _MatOps *);
extern PetscErrorCode MatShadowConvertType(Mat, MatType, MatReuse, Mat *);
extern PetscErrorCode MatShadowConvertAway(Mat, MatType, MatReuse, Mat *);
extern PetscErrorCode MatConvertFrom_Shadow(Mat, MatType, MatReuse, Mat *);
extern PetscErrorCode MatShadowSetDevice_Shadow(Mat, MatShadowDevice);
extern PetscErrorCode MatShadowView(Mat, PetscViewer);
extern PetscErrorCode MatShadowSetOperations(Mat);
extern PetscErrorCode MatShadowGetPattern(Mat, SysCSR *);

/* The operations that a matrix would have without petsc-amb: those of PETSc's own seqaij and mpiaij, which PETSc does not export */
extern const struct _MatOps *MatShadowBase(Mat);
extern struct _MatOps        MatShadowBaseSeq, MatShadowBaseMPI;

extern PetscErrorCode MatMult_Shadow(Mat, Vec, Vec);
extern PetscErrorCode MatMultAdd_Shadow(Mat, Vec, Vec, Vec);
extern PetscErrorCode MatMultTranspose_Shadow(Mat, Vec, Vec);
extern PetscErrorCode MatMultTransposeAdd_Shadow(Mat, Vec, Vec, Vec);
extern PetscErrorCode MatShadowMakeReady(Mat, MatShadow *, void *);
extern PetscErrorCode MatShadowExpectLevel(Mat, Mat);

/* An error of a kernel is one of PETSc; where memory is short *done is PETSC_FALSE, and the AIJ can make the product */
static inline PetscErrorCode MatShadowCheckStatus(SysStatus status, PetscBool *done)
{
  PetscFunctionBegin;
  PetscCheck(status != SYS_ERROR, PETSC_COMM_SELF, PETSC_ERR_GPU, "Products with vectors on the GPU: %s", SysDeviceErrorText());
  *done = (PetscBool)(status == SYS_SUCCESS);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- tuning ------------------------------------------------- */

extern PetscErrorCode MatShadowDrop(MatShadow *);
extern PetscErrorCode MatShadowDropData(MatShadow *);
extern PetscErrorCode MatShadowTuneSetUp(Mat, MatShadow *, const MatShadowCSR *, PetscBool wait, PetscBool *ready);
extern PetscErrorCode MatShadowTuneConvert(Mat, MatShadow *, const MatShadowCSR *);
extern PetscErrorCode MatShadowTuneChoose(Mat, MatShadow *, PetscBool transpose, PetscBool fresh, const MatShadowCSR *, MatShadowRun *);
extern PetscErrorCode MatShadowTuneVerdict(MatShadow *, const MatShadowTrial *);
extern PetscErrorCode MatShadowTuneStale(MatShadow *);
extern PetscErrorCode MatShadowTuneGetInfo(const MatShadow *, MatShadowInfo *);
extern PetscErrorCode MatShadowTuneView(Mat, PetscViewer);
extern PetscErrorCode MatShadowTuneEnd(MatShadow *);
extern PetscErrorCode MatShadowTuneFinalize(void);
extern void           MatShadowTrialTake(MatShadowTrial *, PetscBool format, PetscLogDouble);
extern PetscBool      MatShadowTrialOver(MatShadowTrial *, PetscBool format_is_safe);
extern PetscLogDouble MatShadowTrialRatio(const MatShadowTrial *);

/* ------------------------------------------------- programs that fix AIJ ------------------------------------------------- */

/* -petscamb_for_aij: the format that all AIJ of the program have, or NULL */
extern const MatShadowFormat *MatShadowForAIJ;
extern PetscErrorCode         MatShadowForAIJRegister(void);
extern PetscErrorCode         MatShadowForAIJTake(Mat);
extern PetscErrorCode         MatShadowForAIJCompose(Mat, PetscBool seq, PetscBool add);

/* ------------------------------------------------- -petscamb_view ------------------------------------------------- */

/* Sums over this process */
typedef struct {
  PetscLogDouble convert, update;               /* seconds */
  PetscLogDouble ours, renewed, seconds, petsc; /* products of matrices */
} MatShadowCounts;
extern MatShadowCounts MatShadowCounted;
extern PetscBool       MatShadowReporting; /* the user asked for the report */
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

static inline PetscBool MatShadowHasDevice(const MatShadowFormat *format)
{
  return (PetscBool)(format->device.rank != NULL);
}

/* The device side; without a device these are stubs */
#include "mat/shadow/shadowdevice.h"
