/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Shadows in AMB's layout on a device: MATAMB, and each segment of MATNUSSELL
*/
#pragma once

#include "mat/shadow/core/shadowformat.h"
#include "mat/impls/amb/cuda/ambcuda.h"

/* Judges a finished layout by its stored bytes, not by the bytes of the model, which samples rows. cuSPARSE took up to twice the time that its bytes
   suggest, so a layout with up to AMB_DEVICE_MORE times the bytes can still be faster. */
#define AMB_DEVICE_MORE 1.1

static inline SysStatus AmbDeviceJudge(const AmbDeviceInfo *about, double most, MatShadowCandidate *c)
{
  if (about->bytes_stored < AMB_DEVICE_MORE * most) return SYS_SUCCESS;
  c->bytes = about->bytes_stored;
  return SYS_TOO_MANY_BYTES;
}

enum {
  AMB_FIGURE_BLOCK_SIZE,
  AMB_FIGURE_CHUNK_SIZE,
  AMB_FIGURE_SORT_SCOPE,
  AMB_FIGURE_THREADS,
  AMB_FIGURE_STEPS,
  AMB_FIGURE_TRIED,
  AMB_FIGURE_TASKS,
  AMB_FIGURE_DIAGONAL,
  AMB_FIGURE_NARROW,
  AMB_FIGURE_WIDE,
  AMB_FIGURE_SPLIT,
  AMB_FIGURE_STENCIL,
  AMB_FIGURE_VALUES,
  AMB_FIGURES = AMB_FIGURE_VALUES + MAT_SHADOW_VALUES_FIGURES_N
};

#define AMB_DEVICE_FIGURES \
  {"block_size", MAT_SHADOW_OF_BLOCK}, {"chunk_size", MAT_SHADOW_OF_BLOCK}, {"sort_scope", MAT_SHADOW_OF_BLOCK}, {"threads", MAT_SHADOW_OF_BLOCK}, {"steps", MAT_SHADOW_OF_BLOCK}, {"tried", MAT_SHADOW_OF_PROCESS}, {"tasks", MAT_SHADOW_OF_ALL}, {"tasks_diagonal", MAT_SHADOW_OF_ALL}, {"tasks_narrow", MAT_SHADOW_OF_ALL}, {"tasks_wide", MAT_SHADOW_OF_ALL}, {"tasks_split", MAT_SHADOW_OF_ALL}, {"stencil", MAT_SHADOW_OF_BLOCK}, MAT_SHADOW_VALUES_FIGURES

static inline void AmbDeviceDescribe(const AmbDeviceInfo *about, MatShadowInfo *info, double figure[])
{
  info->kernel                  = "cuda";
  info->stored_values           = about->stored_values;
  info->bytes_model             = about->bytes_model;
  info->bytes_stored            = about->bytes_stored;
  info->bytes_extra             = about->bytes_extra;
  info->tuning                  = about->live ? PETSC_TRUE : PETSC_FALSE;
  figure[AMB_FIGURE_BLOCK_SIZE] = about->block_size;
  figure[AMB_FIGURE_CHUNK_SIZE] = 32; /* a warp */
  figure[AMB_FIGURE_SORT_SCOPE] = about->sorted ? about->sort_scope : 1;
  figure[AMB_FIGURE_THREADS]    = about->threads;
  figure[AMB_FIGURE_STEPS]      = about->steps;
  figure[AMB_FIGURE_TRIED]      = (double)(info->tried > about->tried ? info->tried : about->tried);
  figure[AMB_FIGURE_TASKS]      = (double)about->tasks;
  figure[AMB_FIGURE_DIAGONAL]   = (double)about->diagonal;
  figure[AMB_FIGURE_NARROW]     = (double)about->narrow;
  figure[AMB_FIGURE_WIDE]       = (double)about->wide;
  figure[AMB_FIGURE_SPLIT]      = (double)about->split;
  figure[AMB_FIGURE_STENCIL]    = about->stencil;
  MatShadowValuesDescribe(about->stored, about->distinct, about->exact, figure + AMB_FIGURE_VALUES);
}

static inline PetscErrorCode AmbDeviceView(const double figure[], const char where[], PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  blocks of %.0f columns, %.0f threads, up to %.0f blocks a thread, chosen with %.0f products%s\n", figure[AMB_FIGURE_BLOCK_SIZE], figure[AMB_FIGURE_THREADS], figure[AMB_FIGURE_STEPS], figure[AMB_FIGURE_TRIED], where));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %.0f tasks: %.0f by diagonals, %.0f with 16-bit and %.0f with 32-bit indices, %.0f of split rows\n", figure[AMB_FIGURE_TASKS], figure[AMB_FIGURE_DIAGONAL], figure[AMB_FIGURE_NARROW], figure[AMB_FIGURE_WIDE], figure[AMB_FIGURE_SPLIT]));
  PetscCall(MatShadowValuesView(figure + AMB_FIGURE_VALUES, where, viewer));
  if (figure[AMB_FIGURE_STENCIL] > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "  products by a stencil of %.0f entries, with a mask for each row%s\n", figure[AMB_FIGURE_STENCIL], where));
  PetscFunctionReturn(PETSC_SUCCESS);
}
