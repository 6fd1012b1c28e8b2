/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Between the two files of assembly from coordinates of blocks
*/
#pragma once

#include <petscsf.h>

#include "mat/aij/aij.h"
#include "mat/aij/aijblocks.h"

/* The diagonal or the off-diagonal block */
typedef struct {
  AijBlocks plan;
  AijBlocks device;   /* its copy on a device, made at the first use */
  PetscBool uploaded; /* PETSc's copy of the matrix on the device has the pattern */
} MatAIJBlockCOOPart;

/* The plan of a matrix, in a container composed with it */
typedef struct {
  PetscBool          supports; /* PETSC_FALSE: PETSc assembles the matrix from coordinates of entries */
  PetscInt           rbs, cbs;
  PetscInt           own;      /* blocks of this process's caller */
  PetscInt           nsend;    /* of them in rows of other processes */
  PetscInt          *list;     /* their numbers, by process */
  PetscInt          *dlist;    /* the same on a device, or NULL */
  PetscInt           nreceive; /* blocks of other processes in rows of this one */
  PetscSF            sf;       /* from the blocks to send to the blocks received; NULL if no process sends any */
  MPI_Datatype       unit;     /* a block */
  PetscObjectState   nonzerostate;
  int                nparts;
  MatAIJBlockCOOPart part[2];
} MatAIJBlockCOO;

/* Copies coordinates from a device to new arrays, if they are there */
SYS_DEVICE PetscErrorCode MatAIJBlockCOOGetHost(PetscCount n, PetscInt **bi, PetscInt **bj) SYS_STUB(PETSC_SUCCESS);

/* Sums on the device, if the matrix is there, and sets *done. Values on a device for a matrix on the host are copied, and host() sums them. */
typedef PetscErrorCode(MatAIJBlockCOOHost)(Mat A, MatAIJBlockCOO *coo, const PetscScalar v[], InsertMode mode);
SYS_DEVICE PetscErrorCode MatAIJBlockCOOSumDevice(Mat A, MatAIJBlockCOO *coo, const PetscScalar v[], InsertMode mode, MatAIJBlockCOOHost *host, PetscBool *done) SYS_STUB(PETSC_SUCCESS);

/* Frees copies on the device */
SYS_DEVICE PetscErrorCode MatAIJBlockCOODeviceFree(MatAIJBlockCOOPart *part) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatAIJBlockCOODeviceFreeList(MatAIJBlockCOO *coo) SYS_STUB(PETSC_SUCCESS);
