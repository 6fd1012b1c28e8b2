/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Matrix Market files, plain or compressed, on the processes of a communicator: opening files, and parsing their parts
*/
#pragma once

#include <petscmat.h>
#include "mat/io/mtxparse.h"

typedef struct {
  PetscInt    i, j;
  PetscScalar v;
} MtxEntry;

/* The fault of a file; code is 0 if the file has none, line is 0 if the fault is in no particular line */
typedef struct {
  PetscInt code;
  int64_t  line;
  char     reason[256];
} MtxFault;

/* A file, read from first to stop. Offsets count bytes of the file; for a compressed file only first = 0 is possible. */
typedef struct {
  int                 fd;
  struct MtxUnpacker *unpacker; /* NULL for a plain file */
  int64_t             size, next, stop;
  char               *text; /* text that was read and not yet consumed: length bytes from begin on */
  size_t              begin, length;
  int                 last; /* the file ends with the text */
} MtxFile;

/* Facts about a file, the same on all processes */
typedef struct {
  MtxHeader header;
  int64_t   begin; /* the offset of the entries in a plain file */
  int64_t   size;  /* bytes of the file */
  int       compressed;
} MtxAbout;

/* The entries that this process has read, and the number of entries of each of its parts of the text; the processes get parts in turn */
typedef struct {
  MtxEntry *entries;
  size_t    count, capacity;
  int64_t  *parts;
  size_t    part_count, part_capacity;
} MtxStore;

/* Files of any kind of text: a file is opened, limited to the lines that begin in the share of a process, and read. Functions that return 0 have set the fault. */
PETSC_INTERN PetscErrorCode MtxFileOpenAll(const char[], MtxFile *, MtxFault *);
PETSC_INTERN int            MtxFileSetRange(MtxFile *, int64_t begin, PetscMPIInt rank, PetscMPIInt size, MtxFault *);
PETSC_INTERN int            MtxFileFill(MtxFile *, MtxFault *, int64_t line); /* appends to the unparsed text */
PETSC_INTERN void           MtxFileFault(MtxFault *, PetscErrorCode, int64_t line, const char *reason, const char *detail);

PETSC_INTERN PetscErrorCode MtxFileOpen(const char[], MtxFile *, MtxReader *, MtxFault *);
PETSC_INTERN PetscErrorCode MtxFileClose(MtxFile *);
PETSC_INTERN PetscErrorCode MtxFileDiagnose(const char[], MtxFault *);
PETSC_INTERN PetscErrorCode MtxReadShare(MPI_Comm, PetscMPIInt, const char[], const MtxAbout *, MtxFile *, MtxStore *, MtxFault *);
PETSC_INTERN PetscErrorCode MtxStoreDestroy(MtxStore *);

/* Collective. Checks the sizes of the header against the matrix's, assembles the matrix from the entries of all processes, and frees these. */
PETSC_INTERN PetscErrorCode MatMMCheckMatrix(Mat, const char[], const MtxHeader *);
PETSC_INTERN PetscErrorCode MatMMFill(Mat, const char[], const MtxHeader *, PetscMPIInt tag, MtxStore *);
