/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MATCCOO, compressed COO, as a shadow of AIJ
*/
#include "mat/shadow/core/shadowformat.h"
#include "mat/impls/ccoo/host/ccoohost.h"
#if defined(SYS_HAVE_DEVICE)
  #include "mat/impls/ccoo/cuda/ccoocuda.h"
#endif

/* 0: open */
typedef struct {
  PetscInt  block, items;
  PetscBool table, atomics;
} CcooMatParams;

extern const MatShadowFormat MatShadowFormatCCOO;

static PetscBool  CcooCited      = PETSC_FALSE;
static const char CcooCitation[] = "@inproceedings{aliaga2021,\n"
                                   "  title     = {Balanced and compressed coordinate layout for the sparse matrix-vector product on {GPUs}},\n"
                                   "  author    = {Jos\\'e Ignacio Aliaga and Hartwig Anzt and Enrique S. Quintana-Ort\\'i and Andr\\'es E. Tom\\'as and Yuhsiang M. Tsai},\n"
                                   "  booktitle = {Euro-Par 2020: Parallel Processing Workshops},\n"
                                   "  year      = {2021}\n}\n";

static const char CcooTooLarge[] = "the matrix is too large for the 32-bit positions of the format";

static CcooParams CcooGetParams(const CcooMatParams *p)
{
  return (CcooParams){(int)p->block, (int)p->items, p->table};
}

MAT_SHADOW_PARAMS(CcooParams, CcooCandidate)

/* Lists the K with the fewest bytes, and the other K if it is open. Without values the model assumes plain values; later values may still use the
   table. */
static int RankHost_CCOO(const MatShadowCSR *csr, const void *params, MatShadowTune tune, MatShadowCandidate list[], const char **reason)
{
  const CcooParams asked = CcooGetParams((const CcooMatParams *)params);
  int              n     = 0;

  for (int k = asked.k ? asked.k : 1; k <= (asked.k ? asked.k : CCOO_MAX_K); k *= 2) {
    CcooParams         p = asked;
    MatShadowCandidate c = {.format = &MatShadowFormatCCOO};
    SysStatus          status;

    p.k    = k;
    status = CcooHostPlan(&csr->A, &p, &c.bytes);
    if (status) {
      *reason = status == SYS_OUT_OF_MEMORY ? "not enough memory for the format" : CcooTooLarge;
      return 0;
    }
    (void)snprintf(c.name, sizeof(c.name), "ccoo, B = %d, K = %d", p.b, p.k);
    CcooCandidateSet(&c, &p);
    n = MatShadowCandidateInsert(list, 0, n, &c);
  }
  return tune == MAT_SHADOW_TUNE_ONLINE ? n : 1;
}

static SysStatus LayoutHost_CCOO(const MatShadowCSR *csr, MatShadowCandidate *c, const MatShadowCandidate *best, double most, const char **reason, void **data)
{
  const CcooParams p = CcooCandidateGet(c);
  CcooHost        *host;
  SysStatus        status = CcooHostCreate(&csr->A, &p, csr->threads, csr->workers, CcooHostKernels(), most, &c->bytes, &host);

  *data = host;
  if (status == SYS_TOO_LARGE) *reason = CcooTooLarge;
  return status;
}

/* ------------------------------------------------- figures ------------------------------------------------- */

/* The figures of host and device; the chunks of each format follow, numbered by CcooFormat() */
enum {
  CCOO_FIGURE_BLOCK,
  CCOO_FIGURE_ITEMS,
  CCOO_FIGURE_TABLE,
  CCOO_FIGURE_ATOMICS,
  CCOO_FIGURE_FORMATS
};

static const MatShadowFigure CcooFigures[] = {
  {"block",                MAT_SHADOW_OF_BLOCK},
  {"items",                MAT_SHADOW_OF_BLOCK},
  {"table",                MAT_SHADOW_OF_BLOCK},
  {"atomics",              MAT_SHADOW_OF_BLOCK},
  {"chunks_row_8",         MAT_SHADOW_OF_ALL  },
  {"chunks_row_16",        MAT_SHADOW_OF_ALL  },
  {"chunks_row_32",        MAT_SHADOW_OF_ALL  },
  {"chunks_rows_8",        MAT_SHADOW_OF_ALL  },
  {"chunks_rows_16",       MAT_SHADOW_OF_ALL  },
  {"chunks_rows_32",       MAT_SHADOW_OF_ALL  },
  {"chunks_row_8_table",   MAT_SHADOW_OF_ALL  },
  {"chunks_row_16_table",  MAT_SHADOW_OF_ALL  },
  {"chunks_row_32_table",  MAT_SHADOW_OF_ALL  },
  {"chunks_rows_8_table",  MAT_SHADOW_OF_ALL  },
  {"chunks_rows_16_table", MAT_SHADOW_OF_ALL  },
  {"chunks_rows_32_table", MAT_SHADOW_OF_ALL  },
  {NULL,                   MAT_SHADOW_OF_BLOCK}
};
_Static_assert(PETSC_STATIC_ARRAY_LENGTH(CcooFigures) <= MAT_SHADOW_FIGURES + 1, "raise MAT_SHADOW_FIGURES");
_Static_assert(PETSC_STATIC_ARRAY_LENGTH(CcooFigures) == CCOO_FIGURE_FORMATS + CCOO_FORMATS + 1, "a figure for each format");

static void CcooDescribe(const CcooParams *p, int ntable, int atomics, const int64_t count[CCOO_FORMATS], double figure[])
{
  figure[CCOO_FIGURE_BLOCK]   = p->b;
  figure[CCOO_FIGURE_ITEMS]   = p->k;
  figure[CCOO_FIGURE_TABLE]   = ntable;
  figure[CCOO_FIGURE_ATOMICS] = atomics;
  for (int f = 0; f < CCOO_FORMATS; f++) figure[CCOO_FIGURE_FORMATS + f] = (double)count[f];
}

static void DescribeHost_CCOO(const void *data, MatShadowInfo *info, double figure[])
{
  const CcooHost *host = (const CcooHost *)data;
  int64_t         count[CCOO_FORMATS];

  info->format        = "ccoo";
  info->kernel        = host->kernels->name;
  info->stored_values = (PetscLogDouble)host->ngroup * host->params.k;
  info->bytes_stored  = CcooHostBytes(host);
  CcooHostCount(host, count);
  CcooDescribe(&host->params, host->table->n, 0, count, figure);
}

static PetscErrorCode CcooView(const double figure[], const char where[], PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  chunks of %.0f groups of %.0f entries; a table of %.0f values%s%s\n", figure[CCOO_FIGURE_BLOCK], figure[CCOO_FIGURE_ITEMS], figure[CCOO_FIGURE_TABLE], figure[CCOO_FIGURE_ATOMICS] > 0 ? "; sums by atomics" : "", where));
  for (int f = 0; f < CCOO_FORMATS; f++) {
    const double n = figure[CCOO_FIGURE_FORMATS + f];

    if (n > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "  %.0f chunks of %s, %d-bit columns and %s\n", n, f % 6 < 3 ? "one row" : "several rows", 8 << f % 3, f < 6 ? "plain values" : "values in the table"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- device ------------------------------------------------- */

#if defined(SYS_HAVE_DEVICE)
MAT_SHADOW_PARAMS(CcooMatParams, CcooDeviceCandidate)

  /* A layout with up to CCOO_DEVICE_MORE times the AIJ's cost or bytes can still be faster: cuSPARSE's rate depends on the matrix. The cost does not
     include padding: products of graphs with rows of many lengths took up to 1.18 times as long as cuSPARSE's. */
  #define CCOO_DEVICE_MORE 1.1

/* Lists one candidate: layout() chooses the parameters and counts the bytes */
static int RankDevice_CCOO(const MatShadowCSR *csr, const void *params, MatShadowTune tune, MatShadowCandidate list[], const char **reason)
{
  const MatShadowCandidate c = {.format = &MatShadowFormatCCOO, .name = MATCCOO};

  list[0] = c;
  CcooDeviceCandidateSet(&list[0], (const CcooMatParams *)params);
  return 1;
}

static SysStatus LayoutDevice_CCOO(const MatShadowCSR *csr, MatShadowCandidate *c, const MatShadowCandidate *best, double most, const char **reason, void **data)
{
  const CcooMatParams wanted = CcooDeviceCandidateGet(c);
  const CcooParams    p      = CcooGetParams(&wanted);
  CcooDevice         *device;
  CcooDeviceInfo      about;
  SysStatus           status = CcooDeviceCreate(&csr->A, &p, wanted.atomics, csr->stream, &device, &about);

  if (status == SYS_TOO_LARGE) *reason = CcooTooLarge;
  if (!status) {
    c->bytes = about.bytes_stored;
    if (about.cost >= CCOO_DEVICE_MORE * most || about.bytes_stored >= CCOO_DEVICE_MORE * most) status = SYS_TOO_MANY_BYTES;
    if (status && about.bytes_stored < CCOO_DEVICE_MORE * most) *reason = "by the model of its kernel, the format is slower than the AIJ";
  }
  if (!status) *data = device;
  else CcooDeviceDestroy(device);
  return status;
}

static void DescribeDevice_CCOO(const void *data, MatShadowInfo *info, double figure[])
{
  CcooDeviceInfo about;

  CcooDeviceGetInfo((const CcooDevice *)data, &about);
  info->format        = "ccoo";
  info->kernel        = "cuda";
  info->stored_values = about.stored_values;
  info->bytes_model   = about.bytes_stored; /* layout() counts all bytes before it stores anything */
  info->bytes_stored  = about.bytes_stored;
  info->bytes_extra   = about.bytes_extra;
  CcooDescribe(&about.params, about.ntable, about.atomics, about.count, figure);
}
#endif

/* ------------------------------------------------- parameters ------------------------------------------------- */

/* The check that options and setters share */
static PetscErrorCode CcooCheckParams(MPI_Comm comm, const CcooMatParams *p)
{
  PetscFunctionBegin;
  PetscCheck(p->block == 0 || p->block == 32 || p->block == 64 || p->block == 128 || p->block == 256, comm, PETSC_ERR_ARG_OUTOFRANGE, "A chunk cannot have %" PetscInt_FMT " groups; use 32, 64, 128 or 256, or 0 for an automatic choice", p->block);
  PetscCheck(p->items == 0 || p->items == 1 || p->items == 2 || p->items == 4 || p->items == 8, comm, PETSC_ERR_ARG_OUTOFRANGE, "A group cannot have %" PetscInt_FMT " entries; use 1, 2, 4 or 8, or 0 for an automatic choice", p->items);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CcooSetFromOptions(void *params, MatShadowTune *tune, PetscAMBOptionItems PetscOptionsObject)
{
  CcooMatParams *p = (CcooMatParams *)params, q = *p;

  PetscFunctionBegin;
  q.table = PETSC_TRUE;
  PetscCall(PetscOptionsInt("-mat_ccoo_block", "Groups of a chunk, 32, 64, 128 or 256; 0: chosen", "MatCCOOSetChunk", q.block, &q.block, NULL));
  PetscCall(PetscOptionsInt("-mat_ccoo_items", "Entries of a group, 1, 2, 4 or 8; 0: chosen", "MatCCOOSetChunk", q.items, &q.items, NULL));
  PetscCall(PetscOptionsBool("-mat_ccoo_table", "Store values by their positions in a table where they repeat", "MatCCOOSetTable", q.table, &q.table, NULL));
  PetscCall(PetscOptionsBool("-mat_ccoo_atomics", "On a GPU, add the sums of warps by atomics, in any order", "MatCCOOSetAtomics", q.atomics, &q.atomics, NULL));
  PetscCall(CcooCheckParams(PETSC_COMM_SELF, &q));
  *p = q;
  PetscFunctionReturn(PETSC_SUCCESS);
}

MAT_SHADOW_SETTER(MatCCOOSetChunk_CCOO, CcooMatParams, CcooCheckParams, (q.block = block, q.items = items), PetscInt block, PetscInt items)
MAT_SHADOW_SETTER(MatCCOOSetTable_CCOO, CcooMatParams, CcooCheckParams, q.table = table, PetscBool table)
MAT_SHADOW_SETTER(MatCCOOSetAtomics_CCOO, CcooMatParams, CcooCheckParams, q.atomics = atomics, PetscBool atomics)

/*@
  MatCCOOSetChunk - sets the sizes of the groups and chunks of a `MATCCOO` matrix

  Logically Collective

  Input Parameters:
+ A     - the matrix; nothing happens if it is not of type `MATCCOO`
. block - groups of a chunk, which share a format: 32, 64, 128 or 256; 0 (the default) for an automatic choice, 256 on the host and 128 or 256 on a GPU
- items - entries of a group, which lie in one row: 1, 2, 4 or 8; 0 (the default) for an automatic choice, the number with the fewest bytes on the host and with the least time
          on a GPU by models, which there may also be another number up to 40

  Options Database Keys:
+ -mat_ccoo_block <block> - the same for matrices created later
- -mat_ccoo_items <items> - the same for matrices created later

  Level: intermediate

  Notes:
  Every row is padded with zeros to a multiple of `items` entries. On a GPU a chunk is multiplied by `block` threads, and a thread multiplies a group.

  Errors:
. `PETSC_ERR_ARG_OUTOFRANGE` - `block` or `items` is none of these

  Example:
.vb
  PetscCall(MatCCOOSetChunk(A, 128, 4)); // chunks of 512 entries
.ve

.seealso: `MatShadow`, `MATCCOO`, `MatCCOOSetTable()`
@*/
PetscErrorCode MatCCOOSetChunk(Mat A, PetscInt block, PetscInt items)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscTryMethod(A, "MatCCOOSetChunk_C", (Mat, PetscInt, PetscInt), (A, block, items));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatCCOOSetTable - sets whether a `MATCCOO` matrix may store values by their positions in a table

  Logically Collective

  Input Parameters:
+ A     - the matrix; nothing happens if it is not of type `MATCCOO`
- table - `PETSC_TRUE` (the default) if chunks whose values are all in a table of up to 256 values store their positions, of a byte each

  Options Database Key:
. -mat_ccoo_table <bool> - the same for matrices created later

  Level: intermediate

  Note:
  Products have the same bits with and without a table.

.seealso: `MatShadow`, `MATCCOO`, `MatCCOOSetChunk()`
@*/
PetscErrorCode MatCCOOSetTable(Mat A, PetscBool table)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscTryMethod(A, "MatCCOOSetTable_C", (Mat, PetscBool), (A, table));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatCCOOSetAtomics - sets whether the products of a `MATCCOO` matrix on a GPU add the sums of warps by atomics

  Logically Collective

  Input Parameters:
+ A       - the matrix; nothing happens if it is not of type `MATCCOO`
- atomics - `PETSC_TRUE` if every warp adds to the result, as in the paper; `PETSC_FALSE` (the default) if sums are added in a fixed order

  Options Database Key:
. -mat_ccoo_atomics <bool> - the same for matrices created later

  Level: advanced

  Note:
  With atomics the last bits of a product may change from one product to the next. Products on the host have no atomics.

.seealso: `MatShadow`, `MATCCOO`, `MatCCOOSetTable()`
@*/
PetscErrorCode MatCCOOSetAtomics(Mat A, PetscBool atomics)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscTryMethod(A, "MatCCOOSetAtomics_C", (Mat, PetscBool), (A, atomics));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CcooCompose(Mat A, PetscBool add)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatCCOOSetChunk_C", add ? MatCCOOSetChunk_CCOO : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatCCOOSetTable_C", add ? MatCCOOSetTable_CCOO : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatCCOOSetAtomics_C", add ? MatCCOOSetAtomics_CCOO : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *const CcooOptions[] = {"mat_ccoo_block", "mat_ccoo_items", "mat_ccoo_table", "mat_ccoo_atomics", NULL};

/*MC
   MATCCOO - `MATCCOO` = "ccoo" - sparse matrices whose products with vectors run on compressed COO

   Chunks of equally many entries store rows and columns relative to their first ones, in as few bits as they need. If a chunk's values are among the 256 most
   frequent values of the matrix, a byte stands for each. Matrices with few distinct values take the least memory in this format. `MATAMB` with
   `MatShadowSetValues()` was as fast or faster for these too, so `MATAUTOSPARSE` does not try `MATCCOO`. `MatShadow` describes the common behavior of all formats of petsc-amb.

   Options Database Keys:
+  -mat_type ccoo                  - sets the type, in `MatSetFromOptions()`
.  -mat_shadow_device <auto,cpu,gpu> - where the matrix is stored
.  -mat_ccoo_block <block>         - groups of a chunk
.  -mat_ccoo_items <items>         - entries of a group
.  -mat_ccoo_table <bool>          - store values by their positions in a table where they repeat
-  -mat_ccoo_atomics <bool>        - on a GPU, add the sums of warps by atomics, in any order

   Level: beginner

   Errors:
.  `PETSC_ERR_ARG_OUTOFRANGE` - an option has a number that its setter refuses; further errors: `MatShadow`

   Example:
.vb
   bin/solve -f matrix.mtx -mat_type ccoo -mat_view ::ascii_info
.ve

.seealso: `MatShadow`, `MatCCOOSetChunk()`, `MatCCOOSetTable()`, `MatCCOOSetAtomics()`, `MATAMB`, `MATAIJ`
M*/
MAT_SHADOW_CONSTRUCTORS(CCOO)

const MatShadowFormat MatShadowFormatCCOO = {
  .name               = MATCCOO,
  .seqtype            = MATSEQAIJCCOO,
  .mpitype            = MATMPIAIJCCOO,
  .citation           = CcooCitation,
  .cited              = &CcooCited,
  .params_size        = sizeof(CcooMatParams),
  .open               = NULL, /* MATAMB was as fast or faster on every matrix measured, on host and device */
  .host.rank          = RankHost_CCOO,
  .host.layout        = LayoutHost_CCOO,
  .host.update        = CcooHostUpdate,
  .host.mult          = CcooHostMult,
  .host.multtranspose = CcooHostMultTranspose,
  .host.describe      = DescribeHost_CCOO,
  .host.destroy       = CcooHostDestroy,
  .host.figures       = CcooFigures,
  .host.view          = CcooView,
#if defined(SYS_HAVE_DEVICE)
  .device.rank          = RankDevice_CCOO,
  .device.layout        = LayoutDevice_CCOO,
  .device.update        = CcooDeviceUpdate,
  .device.mult          = CcooDeviceMult,
  .device.multtranspose = CcooDeviceMultTranspose,
  .device.describe      = DescribeDevice_CCOO,
  .device.destroy       = CcooDeviceDestroy,
  .device.figures       = CcooFigures,
  .device.view          = CcooView,
#endif
  .create_seq     = MatCreate_SeqAIJCCOO,
  .create_mpi     = MatCreate_MPIAIJCCOO,
  .setfromoptions = CcooSetFromOptions,
  .compose        = CcooCompose,
  .options        = CcooOptions,
};
