/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MATAUTOSPARSE: the fastest of the AIJ and all formats that choose their own parameters
*/
#include "mat/shadow/core/shadowformat.h"

/* Lists each format's best candidate, then the further candidates */
static int AutoSparseRank(PetscBool device, const MatShadowCSR *csr, MatShadowTune tune, MatShadowCandidate list[], const char **reason)
{
  const MatShadowFormat *const *formats;
  MatShadowCandidate            from[MAT_SHADOW_CANDIDATES], further[MAT_SHADOW_CANDIDATES];
  const int                     nformats = MatShadowGetFormats(&formats);
  int                           nfurther = 0, n = 0, first;

  for (int f = 0; f < nformats && n < MAT_SHADOW_CANDIDATES; f++) {
    const MatShadowOps *side = device ? &formats[f]->device : &formats[f]->host;
    int                 found;

    if (!formats[f]->open || !side->layout) continue;
    found = (*side->rank)(csr, formats[f]->open, tune, from, reason);
    if (found && device && tune != MAT_SHADOW_TUNE_MEASURE) n = 0; /* without timing: a format lists itself after another only if its model predicts a gain over it */
    if (found) n = device ? (list[n] = from[0], n + 1) : MatShadowCandidateInsert(list, 0, n, &from[0]);
    for (int k = 1; k < found && nfurther < MAT_SHADOW_CANDIDATES; k++) nfurther = MatShadowCandidateInsert(further, 0, nfurther, &from[k]);
  }
  first = n;
  for (int k = 0; k < nfurther && n < MAT_SHADOW_CANDIDATES; k++) n = MatShadowCandidateInsert(list, first, n, &further[k]);
  return n;
}

static int RankHost_AutoSparse(const MatShadowCSR *csr, const void *params, MatShadowTune tune, MatShadowCandidate list[], const char **reason)
{
  return AutoSparseRank(PETSC_FALSE, csr, tune, list, reason);
}

#if defined(SYS_HAVE_DEVICE)
static int RankDevice_AutoSparse(const MatShadowCSR *csr, const void *params, MatShadowTune tune, MatShadowCandidate list[], const char **reason)
{
  return AutoSparseRank(PETSC_TRUE, csr, tune, list, reason);
}
#endif

/*MC
   MATAUTOSPARSE - `MATAUTOSPARSE` = "autosparse" - sparse matrices whose products with vectors run on `MATAMB`'s format, on `MATNUSSELL`'s (which without
   segments is SELL-C-sigma) or on the AIJ, whichever is the fastest

   Each block of an MPI matrix gets a format. `MatShadow` describes the common behavior of all formats of petsc-amb.

   Options Database Keys:
+  -mat_type autosparse                  - sets the type, in `MatSetFromOptions()`
-  -mat_shadow_device <auto,cpu,gpu>     - where the matrix is stored

   Level: beginner

   Notes:
   With `MAT_SHADOW_TUNE_MEASURE`, the default, the format with the fewest bytes by the models is timed against the AIJ; the other format is timed too if it does
   not have many more bytes. With `MAT_SHADOW_TUNE_ONLINE` further parameters of both formats are tried, laid out by another thread. With `MAT_SHADOW_TUNE_MODEL`
   and `MAT_SHADOW_TUNE_OFF` the bytes alone decide.

   `-mat_view ::ascii_info` prints the bytes and the time of every candidate, and which one is in use.

   Example:
.vb
   bin/solve -f matrix.mtx -mat_type autosparse -mat_view ::ascii_info
.ve

.seealso: `MatShadow`, `MATAMB`, `MATNUSSELL`, `MatShadowSetTune()`, `MatShadowGetInfo()`, `MATAIJ`
M*/
MAT_SHADOW_CONSTRUCTORS(AutoSparse)

const MatShadowFormat MatShadowFormatAutoSparse = {
  .name      = MATAUTOSPARSE,
  .seqtype   = MATSEQAIJAUTOSPARSE,
  .mpitype   = MATMPIAIJAUTOSPARSE,
  .host.rank = RankHost_AutoSparse,
#if defined(SYS_HAVE_DEVICE)
  .device.rank = RankDevice_AutoSparse,
#endif
  .create_seq = MatCreate_SeqAIJAutoSparse,
  .create_mpi = MatCreate_MPIAIJAutoSparse,
};
