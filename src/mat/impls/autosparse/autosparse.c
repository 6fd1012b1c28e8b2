/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MATAUTOSPARSE: of AMB, NUS-SELL and CSR, which is the AIJ itself, the one that serves this matrix best
*/
#include "mat/impls/amb/ambshadow.h"
#include "mat/impls/nus/nus.h"
#if defined(MAT_SHADOW_HAVE_DEVICE)
  #include "mat/impls/nus/nuscuda.h"
#endif

/* Its candidates are those of the formats, with all parameters left open. The best of each comes before what is worth a try beside it. */
static int RankHost_AutoSparse(const MatShadowCSR *csr, const void *params, MatShadowTune tune, MatShadowCandidate list[], const char **reason)
{
  static const AmbParams     amb = {0};
  static const NusSellParams nus = {
    .count = {PETSC_DECIDE, PETSC_DECIDE}
  };
  static const MatShadowFormat *const format[] = {&MatShadowFormatAMB, &MatShadowFormatNUSSELL};
  const void *const                   open[]   = {&amb, &nus};
  MatShadowCandidate                  from[2][MAT_SHADOW_CANDIDATES];
  int                                 found[2], n = 0;

  for (int f = 0; f < 2; f++) found[f] = (*format[f]->host.rank)(csr, open[f], tune, from[f], reason);
  for (int further = 0; further < 2; further++) {
    const int first = n;

    for (int f = 0; f < 2; f++) {
      for (int k = further ? 1 : 0; k < (further ? found[f] : PetscMin(found[f], 1)) && n < MAT_SHADOW_CANDIDATES; k++) n = MatShadowCandidateInsert(list, first, n, &from[f][k]);
    }
  }
  return n;
}

#if defined(MAT_SHADOW_HAVE_DEVICE)
/* There all of them are converted, by their own tuners. Without segments NUS-SELL has nothing that AMB has not. */
static int RankDevice_AutoSparse(const MatShadowCSR *csr, const void *params, MatShadowTune tune, MatShadowCandidate list[], const char **reason)
{
  const MatShadowCandidate amb = {.format = &MatShadowFormatAMB, .name = MATAMB}, nus = {.format = &MatShadowFormatNUSSELL, .name = MATNUSSELL};
  const NusSellParams      open = {
         .count = {PETSC_DECIDE, PETSC_DECIDE}
  };

  list[0] = amb;
  list[1] = nus;
  memcpy(list[1].params, &open, sizeof(open));
  return NusDeviceMayCut(csr->A.n) ? 2 : 1;
}
#endif

static PetscErrorCode MatCreate_SeqAIJAutoSparse(Mat);
static PetscErrorCode MatCreate_MPIAIJAutoSparse(Mat);

const MatShadowFormat MatShadowFormatAutoSparse = {.name    = MATAUTOSPARSE,
                                                   .seqtype = MATSEQAIJAUTOSPARSE,
                                                   .mpitype = MATMPIAIJAUTOSPARSE,
                                                   .host    = {.rank = RankHost_AutoSparse},
#if defined(MAT_SHADOW_HAVE_DEVICE)
                                                   .device = {.rank = RankDevice_AutoSparse},
#endif
                                                   .create_seq = MatCreate_SeqAIJAutoSparse,
                                                   .create_mpi = MatCreate_MPIAIJAutoSparse};

/*MC
   MATAUTOSPARSE - `MATAUTOSPARSE` = "autosparse" - sparse matrices whose products with vectors run on `MATAMB`'s format, on `MATNUSSELL`'s (which without
   segments is SELL-C-sigma) or on the AIJ, whichever is the fastest.

   A subtype of `MATAIJ`: `MATSEQAIJAUTOSPARSE` on one process, `MATMPIAIJAUTOSPARSE` on several, whose blocks decide each for themselves. Everything that
   `MATAIJ` does is inherited.

   Options Database Keys:
+  -mat_type autosparse                        - sets the type, in `MatSetFromOptions()`
.  -mat_autosparse_device <auto,cpu,gpu>       - where the matrix lives
-  -mat_shadow_tune <off,model,measure,online> - what decides, see below

   Level: beginner

   Notes:
   With `MAT_SHADOW_TUNE_MEASURE`, the default, the format with the fewest bytes by the models is timed against the AIJ, and the other one too if it has not many more. With
   `MAT_SHADOW_TUNE_ONLINE` further parameters of both are tried, converted in another thread. With `MAT_SHADOW_TUNE_MODEL` and `MAT_SHADOW_TUNE_OFF` the bytes alone decide.

   `-mat_view ::ascii_info` tells the bytes and the time of every candidate, and which of them serves.

.seealso: `MATAMB`, `MATNUSSELL`, `MatShadowSetTune()`, `MatShadowGetInfo()`, `MATAIJ`
M*/
static PetscErrorCode MatCreate_SeqAIJAutoSparse(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatShadowCreateSeq(A, &MatShadowFormatAutoSparse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreate_MPIAIJAutoSparse(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatShadowCreateMPI(A, &MatShadowFormatAutoSparse));
  PetscFunctionReturn(PETSC_SUCCESS);
}
