/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The differential tester: a random sequence of PETSc calls is applied to pairs of matrices, of which one has the type under test and the other is a plain
   MATAIJ on the host, and after each call everything that can be observed is compared. On a GPU each pair has a third matrix, an AIJCUSPARSE without petsc-amb:
   the matrix under test must agree with AIJ or with AIJCUSPARSE, since PETSc's own two types differ now and then.

   An operation is a function that is called with the same step for each side, first for the reference and last for the matrix under test. All its arguments come
   from random numbers of the step's own seed, from DifferPick() and from the matrices, so that all calls get the same. A sequence is a list of operations with
   their seeds: without one of them, the others have the arguments that they had.
*/
#pragma once

#include "../testutil.h"
#include <petsc/private/matimpl.h>

#define DIFFER_SLOTS   8
#define DIFFER_PICKS   4
#define DIFFER_RESULTS 4
#define DIFFER_NOTES   4096

/* Sides of a pair */
enum {
  DIFFER_TEST,
  DIFFER_REFERENCE,
  DIFFER_THIRD,
  DIFFER_SIDES
};

typedef struct {
  Mat              m[DIFFER_SIDES];
  PetscBool        ours;       /* should the matrix under test have the type under test? Else it is what the reference is. */
  PetscBool        apart;      /* a conversion took the blocks of an MPI matrix apart, and PETSc made new ones: the nonzero state goes on from those of the blocks or from the sum before */
  PetscReal        norm;       /* Frobenius norm, no number if an entry is none; negative until the first assembly */
  PetscObjectState pattern[4]; /* of a product and of its operands when it was made, see PatternState() */
  PetscObjectState stored;     /* the nonzero state plus one when MatStoreValues() was called first, or 0 */
} DifferPair;

/* Rows and columns come from two spaces, so that products of most matrices exist */
typedef struct {
  PetscInt               bs[2], n[2], N[2]; /* block size, local and global size */
  PetscMPIInt            size;              /* number of processes */
  MatNullSpace           space;
  PetscContainer         attached;
  ISLocalToGlobalMapping map[2];
  DifferPair             pair[DIFFER_SLOTS];
  PetscInt               errors;  /* that all sides raised */
  PetscInt               excused; /* operations in which AIJ and the third type differ */
} DifferPool;

/* What an operation says about its result */
typedef struct {
  const char *what;
  double      value[2], scale; /* two values agree if they are the same bits or, with a scale, if they are as near as rounding */
  char        text[48];
} DifferNote;

typedef struct {
  DifferPool *pool;
  int         side;
  uint64_t    seed, state;
  PetscInt    npicks, nresults[DIFFER_SIDES], nnotes[DIFFER_SIDES], picks[DIFFER_PICKS], used[DIFFER_SLOTS];
  PetscBool   ours[DIFFER_RESULTS];
  Mat         results[DIFFER_SIDES][DIFFER_RESULTS];
  PetscObject shared; /* made for the reference, used by all sides */
  PetscReal   scale;  /* of the sums of which values may differ by rounding, 0 if all bits must agree */
  DifferNote *notes[DIFFER_SIDES];
  PetscBool   touched[DIFFER_SLOTS], dropped[DIFFER_SLOTS];
  PetscBool   merged;  /* a new matrix took the place of the inside: MatHeaderMerge() and MatHeaderReplace() bring its nonzero state along, which may be the old number by chance */
  PetscBool   anew;    /* MatSetType() with the name of the type makes a matrix on a GPU anew around its inside, since the name of its type is that of AIJCUSPARSE: its states rise */
  int         against; /* the side with which the matrix under test is compared */
  PetscBool   retyped; /* a matrix becomes one of the type under test, or plain, where an AIJ remains what it is */
} DifferStep;

typedef struct {
  const char *name;
  PetscErrorCode (*apply)(DifferStep *);
  int weight; /* how often the operation is drawn */
} DifferOp;

/* Tables that end with a NULL name */
extern const DifferOp DifferCreations[], DifferChanges[], DifferDerivations[], DifferConversions[], DifferProducts[], DifferQuestions[], DifferSolvers[];

/* ------------------------------------------------------- random numbers ------------------------------------------------------- */

uint64_t    DifferMix(uint64_t x);
PetscInt    DifferDraw(DifferStep *s, PetscInt n); /* 0 to n - 1 */
PetscScalar DifferNumber(DifferStep *s);           /* in (-2, 2), now and then 0, a power of 2 */

/* ------------------------------------------------------- the pool ------------------------------------------------------- */

PetscErrorCode DifferPoolCreate(uint64_t seed, DifferPool *pool);
PetscErrorCode DifferPoolDestroy(DifferPool *pool);
PetscErrorCode DifferPairDestroy(DifferPair *pair);

/* The norm, and the state of a product for DIFFER_PRODUCT */
PetscErrorCode DifferPairUpdate(DifferPair *pair, PetscBool product);

/* Needs of an operation */
#define DIFFER_AIJ       0x1   /* an AIJ, sequential or MPI */
#define DIFFER_SQUARE    0x2   /* rows and columns have the same layout */
#define DIFFER_FINITE    0x4   /* all entries are numbers */
#define DIFFER_SEQ       0x8   /* of a sequential type: PETSc orders an MPI matrix with I-nodes wrongly on one process */
#define DIFFER_FILLED    0x10  /* at least a row and a column */
#define DIFFER_PRODUCT   0x20  /* a product that can be made again */
#define DIFFER_OPEN      0x40  /* also before the assembly */
#define DIFFER_MAPPED    0x80  /* has mappings */
#define DIFFER_OTHER     0x100 /* not the matrix of the first pick */
#define DIFFER_ROWS_ROWS 0x200 /* rows as the first pick has rows, … */
#define DIFFER_ROWS_COLS 0x400
#define DIFFER_COLS_COLS 0x800
#define DIFFER_WORLD     0x1000 /* of all processes together: an operation may leave a sequential matrix on each process */

/* Collective: a matrix of this side with these needs on all processes, NULL if there is none: the same one on all sides */
PetscErrorCode DifferPick(DifferStep *s, unsigned needs, Mat *A);

#define DifferPickOrReturn(s, needs, A) \
  do { \
    PetscCall(DifferPick(s, needs, A)); \
    if (!*(A)) PetscFunctionReturn(PETSC_SUCCESS); \
  } while (0)

/* Puts a result, which the pool takes over, into a slot; ours: should it have the type under test? */
PetscErrorCode DifferGive(DifferStep *s, PetscBool ours, Mat A);

/* The matrices of the picks go after the comparison: PETSc leaves them in a state that it does not describe */
void      DifferDrop(DifferStep *s);
PetscBool DifferIsOurs(const DifferStep *s, PetscInt pick);

/* The name of the type of that side, of AIJ for the reference; kind 0 is sequential, 1 MPI, 2 the root name */
PetscErrorCode DifferTypeName(DifferStep *s, int kind, char name[], size_t len);

/* Is petsc-amb told by -petscamb_for_aij? Then all AIJs are of the type under test. */
PetscBool DifferForAIJ(void);

/* Is the type under test one of PETSc's own, as for a run that shows PETSc's errors? */
PetscBool DifferIsPlain(void);

/* Chooses the third type, NULL for none */
PetscErrorCode DifferSetThird(const char name[]);
const char    *DifferThird(void);

/* A plain AIJ takes the place of the type under test, and there is no third type; or no longer */
void DifferBePlain(PetscBool plain);

/* MatSetFromOptions() and the like take the type of that side from now on */
void DifferSetSide(int side);

/* Collective: can PETSc convert A to that type? To BAIJ it takes the block size of the rows for the columns too, and local columns that do not fit are an error of
   single processes. So is, for IS, a process that has no entries in columns of others. */
PetscErrorCode DifferCanConvert(Mat A, const char type[], PetscBool *can);

/* Is this one of the types to which PETSc converts an MPI AIJ by taking it apart? */
PetscBool DifferTakesApart(const char type[]);

/* Notes for the matrix picked first, and for products of it, that it was taken apart */
void DifferTakeApart(DifferStep *s);

/* Collective: may AIJCUSPARSE store a block of A without its empty rows, of which PETSc then reads rows that are not stored, in MatGetDiagonal() and in AXPY of a part of a
   pattern? Nothing is compressed where there is no third type. */
PetscErrorCode DifferIsCompressed(Mat A, PetscBool *compressed);

/* Is this an AIJ or a subtype of it by its name? */
PetscBool DifferIsAIJ(Mat A);
PetscBool DifferSameLayout(PetscLayout a, PetscLayout b);

/* Row i, the columns of the diagonal block first. MatGetRow() of an MPI matrix writes past the end of its buffer, in PETSc 3.18, if rows have become longer since
   its first call. cols and values are to be freed by PetscFree2(). */
PetscErrorCode DifferGetRow(Mat A, PetscInt i, PetscInt *n, PetscInt **cols, PetscScalar **values);

/* For an operation that makes rows longer: a copy of an MPI matrix, given as a result, replaces it */
PetscErrorCode DifferOwn(DifferStep *s, Mat *A);

/* All processes learn whether one of them got an error, and return the same one */
PetscErrorCode DifferAgree(PetscErrorCode ierr);

/* Collective: flags that hold on all processes, or on one of them */
PetscErrorCode DifferOnAll(PetscInt n, PetscBool flags[]);
PetscErrorCode DifferOnAny(PetscInt n, PetscBool flags[]);

/* ------------------------------------------------------- patterns and values ------------------------------------------------------- */

typedef struct {
  PetscInt  kind, seed, M, N, rbs, cbs;
  PetscBool diagonal;
} DifferFill;

void           DifferFillDraw(DifferStep *s, PetscInt M, PetscInt N, PetscInt rbs, PetscInt cbs, DifferFill *f);
PetscInt       DifferFillRow(const DifferFill *f, PetscInt i, PetscInt cols[]); /* increasing; cols has room for N + cbs */
PetscScalar    DifferFillValue(const DifferFill *f, PetscInt i, PetscInt j);
PetscErrorCode DifferAssemble(Mat A);

/* ------------------------------------------------------- comparison ------------------------------------------------------- */

/* Values of the results and of the picks may differ by the rounding of sums of that size */
void DifferRound(DifferStep *s, PetscReal scale);

/* Figures, which are compared as they were noted: one after the other */
void           DifferNoteInt(DifferStep *s, const char *what, PetscInt value);
void           DifferNoteScalar(DifferStep *s, const char *what, PetscScalar value, PetscReal scale);
void           DifferNoteText(DifferStep *s, const char *what, const char *text);
PetscErrorCode DifferNoteVec(DifferStep *s, const char *what, Vec v, PetscReal scale);
PetscErrorCode DifferNoteMat(DifferStep *s, const char *what, Mat A, PetscReal scale); /* sizes, pattern and values */
PetscErrorCode DifferNoteIS(DifferStep *s, const char *what, IS is);

/* A text in which names of types are those of AIJ, without the lines that petsc-amb adds */
PetscErrorCode DifferNoteLines(DifferStep *s, const char *what, char *text, PetscReal scale);

/* Collective: all differences after a step, of errors alone if a process got one; the values of the reference become those of the matrix under test if rounding was allowed */
PetscErrorCode DifferCompare(DifferStep *s, const PetscObjectState before[][DIFFER_SIDES][2], const PetscErrorCode ierr[], PetscBool failed, PetscBool all, TestDiff *d);
