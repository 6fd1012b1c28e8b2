/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Matrix Market files on the processes of a communicator: opening, plain or compressed, and turning their parts into entries
*/
#pragma once

#include <petscsys.h>
#include "mat/io/mtxparse.h"

typedef struct {
  PetscInt    i, j;
  PetscScalar v;
} MtxEntry;

/* What is wrong with a file; code is 0 if nothing is. line is 0 where no line is to blame. */
typedef struct {
  PetscInt code;
  int64_t  line;
  char     reason[256];
} MtxFault;

/* A file, read from first to stop. Offsets count bytes of the file; for a compressed file only first = 0 is possible. */
typedef struct {
  int     fd;
  void   *gz; /* gzFile, or NULL for a plain file */
  int64_t size, next, stop;
  char   *text; /* what was read and not yet consumed: length bytes from begin on */
  size_t  begin, length;
  int     last; /* nothing follows the text */
} MtxFile;

/* What is the same for all processes about one file */
typedef struct {
  MtxHeader header;
  int64_t   begin; /* where the entries begin in a plain file */
  int64_t   size;  /* bytes of the file */
  int       compressed;
} MtxAbout;

/* The entries that this process has read, and how many of them each part of the text had; parts are dealt to the processes in turn */
typedef struct {
  MtxEntry *entries;
  size_t    count, capacity;
  int64_t  *parts;
  size_t    part_count, part_capacity;
} MtxStore;

PETSC_INTERN PetscErrorCode MtxFileOpen(const char[], MtxFile *, MtxReader *, MtxFault *);
PETSC_INTERN PetscErrorCode MtxFileClose(MtxFile *);
PETSC_INTERN PetscErrorCode MtxFileDiagnose(const char[], MtxFault *);
PETSC_INTERN PetscErrorCode MtxReadShare(MPI_Comm, PetscMPIInt, const char[], const MtxAbout *, MtxFile *, MtxStore *, MtxFault *);
PETSC_INTERN PetscErrorCode MtxStoreDestroy(MtxStore *);
