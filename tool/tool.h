/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Declarations that the commands of bin/petscamb share: inputs, shapes, the machine, output. bench/ builds on them.
*/
#pragma once

#include <petscmat.h>
#include <petscamb.h>
#include "generate.h"
#include "ksp/examples/commandline.h"

extern CommandErrors ToolErrors; /* of the error handler */

/* The rows of a matrix that this process holds, as arrays with global column numbers */
typedef struct {
  Mat                seq; /* owns the arrays */
  PetscInt           m, M, N, rstart, cstart, cend;
  const PetscInt    *i, *j;
  const PetscScalar *a;
} Rows;

PETSC_INTERN PetscErrorCode InputGetFormat(MPI_Comm, const char[], MatLoadFormat *);
PETSC_INTERN PetscErrorCode InputCreateMat(MPI_Comm, const char[], Mat *);
PETSC_INTERN PetscErrorCode RowsGet(Mat, Rows *);
PETSC_INTERN PetscErrorCode RowsRestore(Rows *);
PETSC_INTERN PetscErrorCode VecFill(Vec, PetscInt64 seed);
PETSC_INTERN PetscErrorCode FormatBegin(Mat, const char type[], Mat *);
PETSC_INTERN PetscErrorCode FormatEnd(Mat, Mat *);
PETSC_INTERN PetscErrorCode ConvertPrefixed(Mat, const char type[], const char prefix[], Mat *);
PETSC_INTERN PetscErrorCode FiguresPrint(Mat, char[], size_t);
PETSC_INTERN PetscErrorCode JSONString(FILE *, const char[]);

#define SHAPE_CLASSES 64

/* The shape of a matrix; all figures are of the whole matrix */
typedef struct {
  PetscInt       M, N, row_min, row_max, empty_rows, bandwidth;
  PetscLogDouble nonzeros, row_mean, distance; /* distance: mean of |row - column| */
  PetscLogDouble run[11];                      /* nonzeros in runs of exactly k contiguous columns, run[10]: of 10 and more */
  PetscLogDouble dominant;                     /* rows whose diagonal outweighs the rest */
  PetscLogDouble bytes_csr, bytes_sell;
  PetscLogDouble lengths[SHAPE_CLASSES];   /* rows with as many entries; class 0: none, class k: from 2^(k-1) to 2^k - 1 */
  PetscLogDouble distances[SHAPE_CLASSES]; /* nonzeros by |row - column|, in the same classes */
  PetscBool      pattern_symmetric, symmetric, fem_like;
} Shape;

PETSC_INTERN PetscErrorCode ShapeCompute(Mat, const Rows *, Shape *);

/* The storages of values of MATAMB that petscamb info compares: double, exact and single, by the numbers of MatShadowValues */
#define STORAGES 4
typedef struct {
  PetscInt       distinct;                                        /* values with different bits */
  PetscLogDouble bytes[STORAGES], bits[STORAGES], gain[STORAGES]; /* bytes of the matrix, bits of a value, bytes of a product with double over these */
  PetscLogDouble exact[STORAGES];
} Storages;

PETSC_INTERN PetscErrorCode StorageDistinct(MPI_Comm, const Rows *, PetscInt *);
PETSC_INTERN PetscErrorCode StorageMake(Mat, const Shape *, Storages *);
PETSC_INTERN PetscErrorCode StoragePrint(MPI_Comm, const Shape *, const Storages *);
PETSC_INTERN PetscErrorCode StorageJSON(FILE *, const Storages *);

/* What was measured, with what and when */
typedef struct {
  char   version[32], petsc[64], commit[64], date[32], cpu[128], gpu[128];
  double load; /* of the last minute, when the program started */
  int    processors;
} About;

PETSC_INTERN PetscErrorCode AboutGet(About *);
PETSC_INTERN PetscBool      AboutBusy(const About *); /* other programs share the processors */
PETSC_INTERN PetscErrorCode AboutJSON(FILE *, const About *);
PETSC_INTERN PetscErrorCode AboutCSVHeader(FILE *);          /* the end of the line of names */
PETSC_INTERN PetscErrorCode AboutCSV(FILE *, const About *); /* the end of each line */

/* The machine, and the speed of its memory */
typedef struct {
  About          about;
  int            allowed, threads, ranks;
  PetscLogDouble llc;                                  /* bytes of the last-level cache */
  PetscLogDouble read_memory, read_cache, copy_memory; /* bytes per second of all processes together */
  char          *buffer;
  size_t         bytes;       /* of the buffer of this process */
  size_t         cache_bytes; /* of the part that fits the cache */
} Machine;

PETSC_INTERN PetscErrorCode MachineCreate(MPI_Comm, PetscLogDouble seconds, Machine *);
PETSC_INTERN PetscErrorCode MachineRead(const Machine *, size_t bytes, int kernel, PetscLogDouble *seconds);
PETSC_INTERN PetscErrorCode MachineDestroy(Machine *);
PETSC_INTERN void           MachineTimeOfProcessor(void);
PETSC_INTERN PetscErrorCode MachineTime(PetscLogDouble *);
PETSC_INTERN PetscErrorCode MachineNow(Vec, PetscLogDouble *);
PETSC_INTERN int            MachineThreads(void); /* of OpenMP */
#define MACHINE_READ_KERNELS 2

/* Output: tables, and files of results */
PETSC_INTERN PetscErrorCode ReportPrintf(MPI_Comm, const char[], ...);
PETSC_INTERN PetscErrorCode ReportOpen(MPI_Comm, const char[], FILE **);
PETSC_INTERN PetscErrorCode ReportClose(const char[], PetscBool, FILE *);

/* What petscamb info recommends for a matrix */
typedef struct {
  const char    *base;                /* the type of PETSc to compare with: aij, or aijcusparse if the matrix lives on a GPU */
  char           type[64], tried[64]; /* the Mat type; if it is the base: the format that the default would try nevertheless, or nothing */
  PetscLogDouble bytes, bytes_aij;    /* bytes that a product with this type and with the base reads, x and y included */
  PetscLogDouble ratio;               /* the expected speed over the base's */
  PetscLogDouble product, conversion; /* seconds: a product with the base, the conversion */
  PetscReal      pays;                /* products after which the conversion has paid, 0 if there is no such number */
} Verdict;

PETSC_INTERN PetscErrorCode VerdictMake(Mat, const Shape *, Verdict *);
PETSC_INTERN PetscErrorCode VerdictPrint(MPI_Comm, const char[], const Verdict *, const About *);
PETSC_INTERN PetscErrorCode VerdictJSON(FILE *, const Verdict *);

/* A picture of the pattern of a matrix with histograms; its parts are in plot.h */
PETSC_INTERN PetscErrorCode PlotCheckName(MPI_Comm, const char[]);
PETSC_INTERN PetscErrorCode PlotMatrix(MPI_Comm, const char file[], const char name[], const Rows *, const Shape *);
PETSC_INTERN PetscErrorCode PNGMake(int width, int height, const unsigned char grey[], unsigned char **, size_t *);

/* Names on the command line */
PETSC_INTERN PetscErrorCode NameSplitPrefix(char type[], size_t, char prefix[]);
PETSC_INTERN PetscErrorCode NameCheckType(MPI_Comm, const char[], PetscInt npeers, const char *const peers[]);

/* The subcommands */
PETSC_INTERN PetscErrorCode SolveRun(MPI_Comm, int n, char *inputs[], PetscBool *right);
PETSC_INTERN PetscErrorCode InfoRun(MPI_Comm, int n, char *inputs[]);
PETSC_INTERN PetscErrorCode GraphRun(MPI_Comm, int n, char *words[], PetscBool *right);
PETSC_INTERN PetscErrorCode GraphHelp(MPI_Comm);
