/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Declarations that the files of petscamb bench share: contenders (Mat types and other libraries), operations, results.

   To add a library, write a peer_*.c and name it in Peers[] (contender.c). To add an operation, add a line to Operations[] (operation.c).
*/
#pragma once

#include "../tool/tool.h"

/* Products of a matrix A and a factor made of it: A^T A; A P with a prolongator; the strict lower by the strict upper part; A by some of its columns; A by
   itself, its rows in descending order */
typedef enum {
  PAIR_NONE,
  PAIR_ATA,
  PAIR_AP,
  PAIR_LU,
  PAIR_TALL,
  PAIR_UNSORTED,
  PAIRS
} PairKind;

typedef struct {
  Mat            left, right; /* plain AIJ, NULL before the first product */
  Rows           rows[2];
  Vec            x, y; /* y = left right x */
  PetscLogDouble products;
} Pair;

/* One matrix under measurement with its vectors and the right answers */
typedef struct {
  const char    *name;
  Mat            A; /* plain AIJ, the truth */
  Rows           rows;
  Shape          shape;
  Vec            x, y, z;  /* y = A x, or y = z + A x */
  Vec            xt, yt;   /* yt = A^T xt */
  PetscLogDouble products; /* multiplications of A A, 0 before the first such product */
  PetscInt       columns;  /* of the dense matrix in products with one */
  PairKind       kind;     /* of the product of two matrices at hand */
  Pair           pairs[PAIRS];
} Case;

PETSC_INTERN PetscErrorCode CaseCreate(MPI_Comm, const char[], Case *);
PETSC_INTERN PetscErrorCode CaseDestroy(Case *);

/* A Mat type or another library */
typedef struct _Contender *Contender;

typedef struct {
  const char *name;
  PetscErrorCode (*create)(Contender, Case *); /* sets a reason in absent[] if the contender cannot run */
  PetscErrorCode (*describe)(Contender);       /* called after the first products: sets note[] and bytes; may be NULL */
  PetscErrorCode (*mult)(Contender, Vec x, Vec y);
  PetscErrorCode (*multtranspose)(Contender, Vec x, Vec y);
  PetscErrorCode (*multadd)(Contender, Vec x, Vec z, Vec y); /* y = z + A x */
  PetscErrorCode (*load)(Contender, Vec);                    /* copies x, untimed, to a vector of the contender's own; may be NULL */
  PetscErrorCode (*fetch)(Contender, Vec y);                 /* copies the result back; may be NULL */
  PetscErrorCode (*wait)(Contender, int *batch);             /* waits until products are made; *batch is how many of them are timed together; may be NULL */
  PetscErrorCode (*convert)(Contender, Case *, PetscLogDouble *seconds);
  PetscErrorCode (*update)(Contender, Case *, PetscLogDouble *seconds);
  PetscErrorCode (*multfresh)(Contender, Vec x, Vec y); /* multiplies by the result of the last conversion or update */
  PetscErrorCode (*destroy)(Contender);
  PetscErrorCode (*square)(Contender, PetscLogDouble *seconds);   /* makes A A anew; may be NULL, and then the next two are NULL too */
  PetscErrorCode (*resquare)(Contender, PetscLogDouble *seconds); /* sets new values in the pattern that square made; may be NULL */
  PetscErrorCode (*squaremult)(Contender, Case *, Vec x, Vec y);  /* y = (A A) x with the product made, for the check */

  /* Makes A D or A^T D, where D has k->columns columns, in the product that the first call with that number made; may be NULL. densecolumn copies a column of D and
     of the product, for the check. */
  PetscErrorCode (*dense)(Contender, Case *k, PetscBool transpose, PetscLogDouble *seconds);
  PetscErrorCode (*densecolumn)(Contender, PetscInt column, Vec x, Vec y);
  PetscErrorCode (*sample)(Contender, Case *k, PetscLogDouble *seconds); /* makes sampled, after ContenderFactors(); may be NULL */
} Peer;

struct _Contender {
  const Peer    *peer;
  char           name[64];
  char           type[64];   /* the name without an algorithm and a prefix */
  char           prefix[32]; /* of options, for a Mat type: the part of the name after @, and an underscore; or empty */
  char           absent[256];
  char           note[256];          /* the choices of the format */
  Mat            A;                  /* of Mat types */
  Mat            fresh;              /* the result of the last conversion or update */
  Mat            squared;            /* A A, */
  PetscReal      squaredfactor;      /* of A times this */
  Mat            pair[3];            /* the factors of a pair and their product */
  PairKind       kind;               /* of the pair */
  PetscScalar    pairsign;           /* of its second factor */
  Mat            dense[2];           /* D, and A D or A^T D */
  PetscBool      densetranspose;     /* the product is A^T D */
  Mat            factor[2], sampled; /* D1 and D2, and D1 D2^T in the pattern of A */
  char           algorithm[32];      /* of products of matrices: the part of the name after a slash */
  PetscScalar    sign;               /* of fresh */
  PetscBool      shadow;             /* the type is one of petsc-amb */
  void          *data;               /* of other libraries */
  Vec            host[5], device[5]; /* of a Mat type on a GPU: the vectors of the case, and their counterparts on the GPU */
  PetscLogDouble bytes;              /* bytes of the matrix that one product moves on all processes, 0 if unknown */
  PetscLogDouble median_mult;        /* for costs in products */
};

PETSC_EXTERN const Peer     PeerMat, PeerCSR, PeerMKL, PeerGraphBLAS;
PETSC_INTERN PetscErrorCode ContenderCreate(Case *, const char[], Contender *);
PETSC_INTERN PetscErrorCode ContenderTime(Contender, int *batch, PetscLogDouble *); /* once all that was asked for is done, also on a device; batch may be NULL */
PETSC_INTERN PetscErrorCode ContenderDestroy(Contender *);
PETSC_INTERN PetscErrorCode ContenderCheckType(MPI_Comm, const char[]);

/* Copies numbers between vectors on the host and on a GPU */
PETSC_INTERN PetscErrorCode VecTransfer(Vec from, Vec to);

/* Makes dense[0] = D with k->columns columns, multiples of `from`, and removes the product in dense[1], unless both are there for so many columns */
PETSC_INTERN PetscErrorCode ContenderDense(Contender, const Case *k, PetscBool transpose, Vec from, PetscBool *made);

/* Makes factor[], D1 from rows and D2 from columns, and removes the sampled product, unless factors with k->columns columns are there */
PETSC_INTERN PetscErrorCode ContenderFactors(Contender, const Case *k, Vec rows, Vec columns, PetscBool *made);

/* The densecolumn of a Peer with dense[] */
PETSC_INTERN PetscErrorCode ContenderDenseColumn(Contender, PetscInt column, Vec x, Vec y);

/* Makes A B or A^T B anew, by the algorithm that the contender's name asks for */
PETSC_INTERN PetscErrorCode ContenderProduct(Contender, MatProductType, Mat A, Mat B, Mat *C);

/* Makes fresh, of a Mat type, from coordinates; again: times the same values once more in its pattern */
PETSC_INTERN PetscErrorCode ContenderAssemble(Contender, Case *, PetscBool again, PetscLogDouble *seconds);

/* Called before a product: overwrites an earlier result, on a GPU too */
PETSC_INTERN PetscErrorCode ContenderPoison(Contender, Vec);

/* An operation to time */
typedef struct {
  const char *name, *about;
  PetscBool   product;   /* a product, compared with aij in flops and bytes; otherwise a cost, given in products */
  PetscBool   transpose; /* multiplies xt to yt instead of x to y */
  PetscBool   columns;   /* measured for each number of -columns */
  PairKind    pair;      /* of which the product is made */
  PetscErrorCode (*can)(Contender, PetscBool *);
  PetscErrorCode (*once)(Contender, Case *, PetscLogDouble *seconds);
  PetscErrorCode (*check)(Contender, Case *, PetscReal *error);  /* error in units of the bound: the result is right if it is at most 1 */
  PetscErrorCode (*bytes)(Contender, Case *, PetscLogDouble *b); /* bytes that one run moves on all processes, 0 if unknown */
  PetscErrorCode (*flops)(Case *, PetscLogDouble *);             /* of one run on all processes; NULL: two for each nonzero */
} Operation;

/* The product of the pair at hand, k->kind, made anew, or its values alone; its check; its multiplications and additions */
PETSC_INTERN PetscErrorCode PairOnce(Contender, Case *, PetscLogDouble *seconds);
PETSC_INTERN PetscErrorCode PairAgain(Contender, Case *, PetscLogDouble *seconds);
PETSC_INTERN PetscErrorCode PairCheck(Contender, Case *, PetscReal *error);
PETSC_INTERN PetscErrorCode PairFlops(Case *, PetscLogDouble *flops);
PETSC_INTERN PetscErrorCode PairDestroy(Pair *);
PETSC_INTERN PetscErrorCode ContenderDestroyPair(Contender);

PETSC_INTERN const Operation *OperationFind(const char[]);
PETSC_INTERN PetscErrorCode   OperationNearest(const char[], const char **);
PETSC_INTERN PetscErrorCode   OperationHelp(MPI_Comm);

/* Independent products in extended precision, compared row by row */
PETSC_INTERN PetscErrorCode VecPoison(Vec);
PETSC_INTERN PetscErrorCode ReferenceCheckMult(const Case *, PetscScalar alpha, Vec x, Vec z, Vec y, PetscReal *error);
PETSC_INTERN PetscErrorCode ReferenceCheckMultTranspose(const Case *, Vec x, Vec y, PetscReal *error);
PETSC_INTERN PetscErrorCode ReferenceCheckProduct(const Rows *left, const Rows *right, Vec x, Vec y, PetscReal *error);
PETSC_INTERN PetscErrorCode ReferenceCountProducts(MPI_Comm, const Rows *left, const Rows *right, PetscLogDouble *products);

/* One line of the table */
typedef struct {
  char           matrix[128], op[16], type[64], note[256], status[16], absent[256];
  PetscInt       rows, cols;
  PetscLogDouble nonzeros, median, least, flops, bytes, matrix_bytes, read, ratio, products;
  PetscLogDouble median_low, median_high; /* where the median lies, by order statistics */
  PetscLogDouble ratio_low, ratio_high;   /* where the ratio lies, by the ratios of the turns */
  PetscReal      error;
  PetscInt       reps;
  PetscBool      fem_like, product;
} Result;

PETSC_INTERN PetscErrorCode ReportMachine(MPI_Comm, const Machine *);
PETSC_INTERN PetscErrorCode ReportCase(MPI_Comm, const Case *, PetscInt n, const Result[]);
PETSC_INTERN PetscErrorCode ReportSummary(MPI_Comm, PetscInt n, const Result[]);
PETSC_INTERN PetscErrorCode ReportCSVHeader(FILE *);
PETSC_INTERN PetscErrorCode ReportCSV(FILE *, const Machine *, PetscInt n, const Result[]); /* what it writes is in the file when it returns */
PETSC_INTERN PetscErrorCode ReportJSON(MPI_Comm, const char[], const Machine *, PetscInt n, const Result[]);
/* Results of an earlier run */
PETSC_INTERN PetscErrorCode CompareCSV(MPI_Comm, const char[], const Machine *, PetscInt n, const Result[]);

/* The middle of a list that this function sorts, and the numbers between which the median of all such lists lies with a probability of at least 95 %, as far as the list is long enough */
PETSC_INTERN PetscErrorCode MedianOf(PetscInt n, PetscReal list[], PetscLogDouble *median, PetscLogDouble *low, PetscLogDouble *high);

/* A picture: speeds with a roofline */
PETSC_INTERN PetscErrorCode PlotBench(MPI_Comm, const char file[], const Machine *, PetscInt n, const Result[]);

/* The command */
PETSC_INTERN PetscErrorCode BenchRun(MPI_Comm, int n, char *inputs[], PetscBool *right);
