/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The differential tester: a random sequence of PETSc calls is applied to pairs of matrices, of which one has the type under test and the other is a plain
   MATAIJ on the host, and after each call everything that can be observed is compared.

   An operation is a function that is called twice with the same step, first for the reference and then for the matrix under test. All its arguments come from
   random numbers of the step's own seed, from DifferPick() and from the matrices, so that both calls get the same. A sequence is a list of operations with
   their seeds: without one of them, the others have the arguments that they had.
*/
#pragma once

#include "testutil.h"
#include <petsc/private/matimpl.h>

#define DIFFER_SLOTS   8
#define DIFFER_PICKS   4
#define DIFFER_RESULTS 4
#define DIFFER_NOTES   4096

/* Sides of a pair; the reference goes first, so that an error of PETSc itself shows as one of the reference */
enum {
  DIFFER_TEST,
  DIFFER_REFERENCE
};

typedef struct {
  Mat              m[2];
  PetscBool        ours;       /* should the matrix under test have the type under test? Else it is what the reference is. */
  PetscReal        norm;       /* Frobenius norm, no number if an entry is none; negative until the first assembly */
  PetscObjectState pattern[4]; /* nonzero states of a product and of its operands when it was made */
} DifferPair;

/* Rows and columns come from two spaces, so that products of most matrices exist */
typedef struct {
  PetscInt               bs[2], n[2], N[2]; /* block size, local and global size */
  MatNullSpace           space;
  PetscContainer         attached;
  ISLocalToGlobalMapping map[2];
  DifferPair             pair[DIFFER_SLOTS];
  PetscInt               errors; /* that both sides raised */
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
  PetscInt    npicks, nresults[2], nnotes[2], picks[DIFFER_PICKS], used[DIFFER_SLOTS];
  PetscBool   ours[DIFFER_RESULTS];
  Mat         results[2][DIFFER_RESULTS];
  PetscObject shared; /* made for the reference, used by both sides */
  PetscReal   scale;  /* of the sums of which values may differ by rounding, 0 if all bits must agree */
  DifferNote *notes[2];
  PetscBool   touched[DIFFER_SLOTS], dropped[DIFFER_SLOTS];
  PetscBool   merged;  /* a new matrix took the place of the inside: MatHeaderMerge() and MatHeaderReplace() bring its nonzero state along, which may be the old number by chance */
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

/* A matrix of this side with these needs, NULL if there is none: the same one on both sides */
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

/* The name of the type under test for the matrix under test, and of AIJ for the reference; kind 0 is sequential, 1 MPI, 2 the root name */
PetscErrorCode DifferTypeName(DifferStep *s, int kind, char name[], size_t len);

/* Is petsc-amb told by -petscamb_for_aij? Then all AIJs are of the type under test. */
PetscBool DifferForAIJ(void);

/* Is the type under test one of PETSc's own, as for a run that shows PETSc's errors? */
PetscBool DifferIsPlain(void);

/* A plain AIJ takes the place of the type under test, or no longer */
void DifferBePlain(PetscBool plain);

/* MatSetFromOptions() and the like take the type of that side from now on */
void DifferSetSide(int side);

/* Is this an AIJ or a subtype of it by its name? */
PetscBool DifferIsAIJ(Mat A);
PetscBool DifferSameLayout(PetscLayout a, PetscLayout b);

/* Row i, the columns of the diagonal block first. MatGetRow() of an MPI matrix writes past the end of its buffer, in PETSc 3.18, if rows have become longer since
   its first call. cols and values are to be freed by PetscFree2(). */
PetscErrorCode DifferGetRow(Mat A, PetscInt i, PetscInt *n, PetscInt **cols, PetscScalar **values);

/* For an operation that makes rows longer: a copy of an MPI matrix, given as a result, takes its place */
PetscErrorCode DifferOwn(DifferStep *s, Mat *A);

/* All processes learn whether one of them got an error, and return the same one */
PetscErrorCode DifferAgree(PetscErrorCode ierr);

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
PetscErrorCode DifferCompare(DifferStep *s, const PetscObjectState before[][2][2], const PetscErrorCode ierr[2], PetscBool failed, PetscBool all, TestDiff *d);
