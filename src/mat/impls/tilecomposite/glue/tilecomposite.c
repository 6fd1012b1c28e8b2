/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MATTILECOMPOSITE, tile-composite, as a shadow of AIJ
*/
#include "mat/shadow/core/shadowformat.h"
#include "mat/impls/tilecomposite/host/tilehost.h"
#if defined(SYS_HAVE_DEVICE)
  #include <petscdevice.h>
  #include "mat/impls/tilecomposite/cuda/tilecuda.h"
#endif

/* Open: 0, for tiles negative */
typedef struct {
  PetscInt  width, tiles, work;
  PetscBool coo;
} TileMatParams;

extern const MatShadowFormat MatShadowFormatTileComposite;

static PetscBool  TileCited      = PETSC_FALSE;
static const char TileCitation[] = "@article{yang2011,\n"
                                   "  title   = {Fast sparse matrix-vector multiplication on {GPUs}: implications for graph mining},\n"
                                   "  author  = {Xintian Yang and Srinivasan Parthasarathy and P. Sadayappan},\n"
                                   "  journal = {Proceedings of the VLDB Endowment},\n"
                                   "  volume  = {4},\n"
                                   "  number  = {4},\n"
                                   "  year    = {2011}\n}\n";

static const char TileTooLarge[] = "the matrix is too large for the 32-bit positions of the format";
static const char TileRegular[]  = "rows and columns have similar lengths: tiles bring nothing";

/* A candidate, and whether it may decline a matrix by the model */
typedef struct {
  TileParams params;
  int        decline;
} TileChoice;
MAT_SHADOW_PARAMS(TileChoice, TileCandidate)

static TileParams TileGetParams(const TileMatParams *p)
{
  return (TileParams){(int)p->width, (int)p->tiles, (int)p->work, p->coo};
}

/* Lists the tiles of algorithm 1, and the matrix without tiles */
static int TileList(const TileParams *asked, MatShadowTune tune, MatShadowCandidate list[])
{
  const int n = asked->tiles >= 0 || tune != MAT_SHADOW_TUNE_ONLINE ? 1 : 2;

  for (int none = 0; none < n; none++) {
    TileChoice choice = {*asked, tune != MAT_SHADOW_TUNE_OFF};

    if (none) choice.params.tiles = 0;
    list[none] = (MatShadowCandidate){.format = &MatShadowFormatTileComposite};
    TileCandidateSet(&list[none], &choice);
    (void)snprintf(list[none].name, sizeof(list[none].name), none ? "tilecomposite without tiles" : "tilecomposite");
  }
  return n;
}

static int RankHost_TileComposite(const MatShadowCSR *csr, const void *params, MatShadowTune tune, MatShadowCandidate list[], const char **reason)
{
  const TileParams   asked = TileGetParams((const TileMatParams *)params);
  MatShadowCandidate both[2];
  const int          nboth = TileList(&asked, tune, both);
  int                n     = 0;

  if (tune != MAT_SHADOW_TUNE_OFF && TileIsRegular(&csr->A)) {
    *reason = TileRegular;
    return 0;
  }
  for (int k = 0; k < nboth; k++) {
    const TileChoice choice = TileCandidateGet(&both[k]);
    TileLayout       sizes;
    const SysStatus  status = TileLayoutCreate(&csr->A, &choice.params, NULL, 1, csr->workers, &sizes);

    if (status) {
      *reason = status == SYS_OUT_OF_MEMORY ? "not enough memory for the format" : TileTooLarge;
      return 0;
    }
    both[k].bytes = TileLayoutBytes(&sizes);
    TileLayoutDestroy(&sizes);
    n = MatShadowCandidateInsert(list, 0, n, &both[k]);
  }
  return n;
}

static SysStatus LayoutHost_TileComposite(const MatShadowCSR *csr, MatShadowCandidate *c, const MatShadowCandidate *best, double most, const char **reason, void **data)
{
  const TileChoice choice = TileCandidateGet(c);
  TileHost        *host;
  SysStatus        status = TileHostCreate(&csr->A, &choice.params, csr->threads, csr->workers, TileHostKernels(), most, &c->bytes, &host);

  *data = host;
  if (status == SYS_TOO_LARGE) *reason = TileTooLarge;
  return status;
}

/* ------------------------------------------------- figures ------------------------------------------------- */

enum {
  TILE_FIGURE_TILES,
  TILE_FIGURE_WIDTH,
  TILE_FIGURE_COLUMNS, /* rectangles, and their entries with padding */
  TILE_FIGURE_COLUMNS_ENTRIES,
  TILE_FIGURE_ROWS,
  TILE_FIGURE_ROWS_ENTRIES,
  TILE_FIGURE_COO,
  TILE_FIGURE_COO_ENTRIES,
  TILE_FIGURE_SLOTS,
  TILE_FIGURE_PREDICTED,
  TILE_FIGURE_TABLE
};

static const MatShadowFigure TileFigures[] = {
  {"tiles",              MAT_SHADOW_OF_BLOCK},
  {"tile_width",         MAT_SHADOW_OF_BLOCK},
  {"columns_rectangles", MAT_SHADOW_OF_ALL  },
  {"columns_entries",    MAT_SHADOW_OF_ALL  },
  {"rows_rectangles",    MAT_SHADOW_OF_ALL  },
  {"rows_entries",       MAT_SHADOW_OF_ALL  },
  {"coo_rectangles",     MAT_SHADOW_OF_ALL  },
  {"coo_entries",        MAT_SHADOW_OF_ALL  },
  {"slots",              MAT_SHADOW_OF_ALL  },
  {"predicted_seconds",  MAT_SHADOW_OF_BLOCK},
  {"table",              MAT_SHADOW_OF_BLOCK},
  {NULL,                 MAT_SHADOW_OF_BLOCK}
};
_Static_assert(PETSC_STATIC_ARRAY_LENGTH(TileFigures) <= MAT_SHADOW_FIGURES + 1, "raise MAT_SHADOW_FIGURES");
_Static_assert(PETSC_STATIC_ARRAY_LENGTH(TileFigures) == TILE_FIGURE_TABLE + 2, "a name for each figure");

static void TileDescribe(const TileLayout *L, int table, double figure[])
{
  figure[TILE_FIGURE_TILES]     = L->ntile;
  figure[TILE_FIGURE_WIDTH]     = L->params.width;
  figure[TILE_FIGURE_SLOTS]     = (double)L->nslot;
  figure[TILE_FIGURE_PREDICTED] = L->time;
  figure[TILE_FIGURE_TABLE]     = table;
  for (int k = 0; k < 3; k++) {
    figure[TILE_FIGURE_COLUMNS + 2 * k]         = (double)L->count[k];
    figure[TILE_FIGURE_COLUMNS_ENTRIES + 2 * k] = L->entries[k];
  }
}

static void DescribeHost_TileComposite(const void *data, MatShadowInfo *info, double figure[])
{
  const TileHost *host = (const TileHost *)data;

  info->format        = "tilecomposite";
  info->kernel        = host->kernels->name;
  info->stored_values = (PetscLogDouble)host->layout.nentry;
  info->bytes_stored  = TileLayoutBytes(&host->layout);
  info->bytes_extra   = TileLayoutExtra(&host->layout);
  TileDescribe(&host->layout, 0, figure);
}

static PetscErrorCode TileView(const double figure[], const char where[], PetscViewer viewer)
{
  static const char *const kinds[]  = {"column by column", "row by row", "in coordinates"};
  static const char *const tables[] = {"rules, without a table", "the table of the option", "rules: the table is of another GPU or scalar"};

  PetscFunctionBegin;
  if (figure[TILE_FIGURE_TILES] > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "  %.0f tiles of %.0f columns%s\n", figure[TILE_FIGURE_TILES], figure[TILE_FIGURE_WIDTH], where));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "  no tiles%s\n", where));
  for (int k = 0; k < 3; k++) {
    const double n = figure[TILE_FIGURE_COLUMNS + 2 * k];

    if (n > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "  %.0f rectangles %s, of %.0f entries\n", n, kinds[k], figure[TILE_FIGURE_COLUMNS_ENTRIES + 2 * k]));
  }
  if (figure[TILE_FIGURE_SLOTS] > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "  %.0f sums of rows that lie in several places\n", figure[TILE_FIGURE_SLOTS]));
  if (figure[TILE_FIGURE_PREDICTED] > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "  predicted: %.3g us, by %s%s\n", 1e6 * figure[TILE_FIGURE_PREDICTED], tables[(int)figure[TILE_FIGURE_TABLE]], where));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- device ------------------------------------------------- */

/* The process's table of the performance model, if any */
static TileModel TileTable;
static char      TileTableName[PETSC_MAX_PATH_LEN];

#if defined(SYS_HAVE_DEVICE)
static int RankDevice_TileComposite(const MatShadowCSR *csr, const void *params, MatShadowTune tune, MatShadowCandidate list[], const char **reason)
{
  const TileParams asked = TileGetParams((const TileMatParams *)params);

  return TileList(&asked, tune, list);
}

static SysStatus LayoutDevice_TileComposite(const MatShadowCSR *csr, MatShadowCandidate *c, const MatShadowCandidate *best, double most, const char **reason, void **data)
{
  const TileChoice choice = TileCandidateGet(c);
  TileDevice      *device = NULL;
  int              regular;
  SysStatus        status = TileDeviceCreate(&csr->A, &choice.params, TileTableName[0] ? &TileTable : NULL, choice.decline ? most : 0, &regular, csr->stream, &device);

  if (status == SYS_TOO_LARGE) *reason = TileTooLarge;
  if (status == SYS_TOO_MANY_BYTES && regular) *reason = TileRegular;
  if (!status) {
    const TileLayout *L = TileDeviceLayout(device);

    c->bytes = TileLayoutBytes(L);
    *data    = device;
  }
  return status;
}

static void DescribeDevice_TileComposite(const void *data, MatShadowInfo *info, double figure[])
{
  const TileDevice *device = (const TileDevice *)data;
  const TileLayout *L      = TileDeviceLayout(device);

  info->format        = "tilecomposite";
  info->kernel        = "cuda";
  info->stored_values = (PetscLogDouble)L->nentry;
  info->bytes_model   = TileLayoutBytes(L);
  info->bytes_stored  = TileLayoutBytes(L);
  info->bytes_extra   = TileLayoutExtra(L) + TileDeviceExtra(device);
  TileDescribe(L, TileDeviceTable(device), figure);
}
#endif

/* ------------------------------------------------- parameters ------------------------------------------------- */

/* The check that options and setters share */
static PetscErrorCode TileCheckParams(MPI_Comm comm, const TileMatParams *p)
{
  PetscFunctionBegin;
  PetscCheck(p->width >= 0 && p->width <= 1 << 30, comm, PETSC_ERR_ARG_OUTOFRANGE, "A tile cannot have %" PetscInt_FMT " columns; use 1 to %d, or 0 for 65535, the most with indices of 16 bits", p->width, 1 << 30);
  PetscCheck(p->tiles >= -1 && p->tiles <= 1 << 28, comm, PETSC_ERR_ARG_OUTOFRANGE, "A matrix cannot have %" PetscInt_FMT " tiles; use 0 to %d, or -1 for an automatic choice", p->tiles, 1 << 28);
  PetscCheck(p->work == 0 || (p->work >= 32 && p->work <= 32768), comm, PETSC_ERR_ARG_OUTOFRANGE, "A rectangle cannot have %" PetscInt_FMT " entries; use 32 to 32768, or 0 for an automatic choice", p->work);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TileReadTable(const char name[])
{
  const char *wrong = TileModelRead(name, &TileTable);

  PetscFunctionBegin;
  TileTableName[0] = 0;
  PetscCheck(!wrong, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "-mat_tilecomposite_table %s: %s; make a table by petscamb tiletable FILE, or leave the option out", name, wrong);
  PetscCall(PetscStrncpy(TileTableName, name, sizeof(TileTableName)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TileSetFromOptions(void *params, MatShadowTune *tune, PetscAMBOptionItems PetscOptionsObject)
{
  TileMatParams *p = (TileMatParams *)params, q = *p;
  char           name[PETSC_MAX_PATH_LEN];
  PetscBool      same, given;

  PetscFunctionBegin;
  q.tiles = -1;
  PetscCall(PetscStrncpy(name, TileTableName, sizeof(name)));
  PetscCall(PetscOptionsInt("-mat_tilecomposite_width", "Columns of a tile; 0: 65535", "MatTileCompositeSetTiles", q.width, &q.width, NULL));
  PetscCall(PetscOptionsInt("-mat_tilecomposite_tiles", "Tiles, at most; -1: chosen", "MatTileCompositeSetTiles", q.tiles, &q.tiles, NULL));
  PetscCall(PetscOptionsInt("-mat_tilecomposite_work", "Entries of a rectangle; 0: chosen", "MatTileCompositeSetWork", q.work, &q.work, NULL));
  PetscCall(PetscOptionsBool("-mat_tilecomposite_coo", "Store tiles in coordinates", "MatTileCompositeSetCOO", q.coo, &q.coo, NULL));
  PetscCall(PetscOptionsString("-mat_tilecomposite_table", "The performance of the GPU, a file of petscamb tiletable", "MatTileCompositeMeasure", name, name, sizeof(name), &given));
  PetscCall(TileCheckParams(PETSC_COMM_SELF, &q));
  PetscCall(PetscStrcmp(name, TileTableName, &same));
  if (given && !same) PetscCall(TileReadTable(name));
  *p = q;
  PetscFunctionReturn(PETSC_SUCCESS);
}

MAT_SHADOW_SETTER(MatTileCompositeSetTiles_TileComposite, TileMatParams, TileCheckParams, (q.width = width, q.tiles = tiles), PetscInt width, PetscInt tiles)
MAT_SHADOW_SETTER(MatTileCompositeSetWork_TileComposite, TileMatParams, TileCheckParams, q.work = work, PetscInt work)
MAT_SHADOW_SETTER(MatTileCompositeSetCOO_TileComposite, TileMatParams, TileCheckParams, q.coo = coo, PetscBool coo)

/*@
  MatTileCompositeSetTiles - sets the tiles of a `MATTILECOMPOSITE` matrix

  Logically Collective

  Input Parameters:
+ A     - the matrix; nothing happens if it is not of type `MATTILECOMPOSITE`
. width - columns of a tile; 0 (the default) for 65,535, the most with column indices of 16 bits
- tiles - the number of tiles, at most; -1 (the default) for as many as have columns with several entries on the host, and on a GPU for the number with the least time
          by the performance model; 0 for none

  Options Database Keys:
+ -mat_tilecomposite_width <width> - the same for matrices created later
- -mat_tilecomposite_tiles <tiles> - the same for matrices created later

  Level: intermediate

  Errors:
. `PETSC_ERR_ARG_OUTOFRANGE` - `width` is negative or more than 2^30, or `tiles` is less than -1 or more than 2^28

  Example:
.vb
  PetscCall(MatTileCompositeSetTiles(A, 0, 2)); // two tiles of 65,535 columns
.ve

.seealso: `MatShadow`, `MATTILECOMPOSITE`, `MatTileCompositeSetWork()`, `MatTileCompositeSetCOO()`
@*/
PetscErrorCode MatTileCompositeSetTiles(Mat A, PetscInt width, PetscInt tiles)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscTryMethod(A, "MatTileCompositeSetTiles_C", (Mat, PetscInt, PetscInt), (A, width, tiles));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatTileCompositeSetWork - sets the size of the rectangles of a `MATTILECOMPOSITE` matrix

  Logically Collective

  Input Parameters:
+ A    - the matrix; nothing happens if it is not of type `MATTILECOMPOSITE`
- work - approximate entries of a rectangle, from 32 to 32,768; 0 (the default) for 8,192 on the host, and on a GPU for the size with the least time by the
         performance model

  Options Database Key:
. -mat_tilecomposite_work <work> - the same for matrices created later

  Level: advanced

  Errors:
. `PETSC_ERR_ARG_OUTOFRANGE` - `work` is neither 0 nor from 32 to 32,768

.seealso: `MatShadow`, `MATTILECOMPOSITE`, `MatTileCompositeSetTiles()`, `MatTileCompositeMeasure()`
@*/
PetscErrorCode MatTileCompositeSetWork(Mat A, PetscInt work)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscTryMethod(A, "MatTileCompositeSetWork_C", (Mat, PetscInt), (A, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatTileCompositeSetCOO - sets whether the tiles of a `MATTILECOMPOSITE` matrix are stored in coordinates, as in the paper's TILE-COO

  Logically Collective

  Input Parameters:
+ A   - the matrix; nothing happens if it is not of type `MATTILECOMPOSITE`
- coo - `PETSC_TRUE` for coordinates, `PETSC_FALSE` (the default) for rectangles; the columns after the tiles have rectangles in any case

  Options Database Key:
. -mat_tilecomposite_coo <bool> - the same for matrices created later

  Level: advanced

.seealso: `MatShadow`, `MATTILECOMPOSITE`, `MatTileCompositeSetTiles()`
@*/
PetscErrorCode MatTileCompositeSetCOO(Mat A, PetscBool coo)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscTryMethod(A, "MatTileCompositeSetCOO_C", (Mat, PetscBool), (A, coo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatTileCompositeMeasure - measures the performance model of `MATTILECOMPOSITE` on the GPU of this process, and writes it to a file

  Not Collective

  Input Parameter:
. file - the name of the file, for `-mat_tilecomposite_table`

  Level: intermediate

  Note:
  This function is the command `petscamb tiletable`. It takes a few seconds. A table of another GPU, or of numbers of another size, is not used. A
  table of another version of petsc-amb is refused: measure again.

  Errors:
+ `PETSC_ERR_SUP`        - the PETSc has no CUDA
. `PETSC_ERR_MEM`        - the GPU has no 3 GiB of free memory
. `PETSC_ERR_GPU`        - the measurement failed
- `PETSC_ERR_FILE_WRITE` - the file cannot be written

  Example:
.vb
  PetscCall(MatTileCompositeMeasure("h100.table")); // later: -mat_tilecomposite_table h100.table
.ve

.seealso: `MATTILECOMPOSITE`, `MatTileCompositeSetWork()`
@*/
PetscErrorCode MatTileCompositeMeasure(const char file[])
{
  PetscFunctionBegin;
#if defined(SYS_HAVE_DEVICE)
  TileModel model;
  SysStatus status;

  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  status = TileDeviceMeasure(&model);
  PetscCheck(status != SYS_OUT_OF_MEMORY, PETSC_COMM_SELF, PETSC_ERR_MEM, "The measurement of tile-composite needs a GPU with 3 GiB of free memory");
  PetscCheck(!status, PETSC_COMM_SELF, PETSC_ERR_GPU, "%s", SysDeviceErrorText());
  PetscCheck(TileModelWrite(file, &model), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "%s cannot be written", file);
  PetscFunctionReturn(PETSC_SUCCESS);
#else
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "The performance model of tile-composite is measured on a GPU, and this PETSc is built without CUDA");
#endif
}

static PetscErrorCode TileCompose(Mat A, PetscBool add)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatTileCompositeSetTiles_C", add ? MatTileCompositeSetTiles_TileComposite : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatTileCompositeSetWork_C", add ? MatTileCompositeSetWork_TileComposite : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatTileCompositeSetCOO_C", add ? MatTileCompositeSetCOO_TileComposite : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *const TileOptions[] = {"mat_tilecomposite_width", "mat_tilecomposite_tiles", "mat_tilecomposite_work", "mat_tilecomposite_coo", "mat_tilecomposite_table", NULL};

/*MC
   MATTILECOMPOSITE - `MATTILECOMPOSITE` = "tilecomposite" - sparse matrices of graphs whose products with vectors run on tiles and rectangles

   The columns with the most entries form tiles, whose part of the vector fits a cache. The rows of a tile, sorted by length, are packed into rectangles of about
   equal size, one for each warp of a GPU. The format is for graphs whose degrees follow a power law; it declines matrices whose rows and columns have similar
   lengths. Transposed products run on `MATAMB`'s format on a GPU, and on the AIJ on the host. `MatShadow` describes the common behavior of all formats of petsc-amb.

   Options Database Keys:
+  -mat_type tilecomposite                  - sets the type, in `MatSetFromOptions()`
.  -mat_shadow_device <auto,cpu,gpu>        - where the matrix is stored
.  -mat_tilecomposite_width <width>         - columns of a tile
.  -mat_tilecomposite_tiles <tiles>         - tiles, at most
.  -mat_tilecomposite_work <work>           - entries of a rectangle
.  -mat_tilecomposite_coo <bool>            - store tiles in coordinates
-  -mat_tilecomposite_table <file>          - the performance of the GPU, as `petscamb tiletable` has measured it

   Level: beginner

   Errors:
+  `PETSC_ERR_ARG_OUTOFRANGE`  - an option has a number that its setter refuses; further errors: `MatShadow`
-  `PETSC_ERR_FILE_UNEXPECTED` - the file of -mat_tilecomposite_table is no such table

   Example:
.vb
   bin/solve -f matrix.mtx -mat_type tilecomposite -mat_view ::ascii_info
.ve

.seealso: `MatShadow`, `MatTileCompositeSetTiles()`, `MatTileCompositeSetWork()`, `MatTileCompositeSetCOO()`, `MatTileCompositeMeasure()`, `MATAMB`, `MATAIJ`
M*/
MAT_SHADOW_CONSTRUCTORS(TileComposite)

const MatShadowFormat MatShadowFormatTileComposite = {
  .name               = MATTILECOMPOSITE,
  .seqtype            = MATSEQAIJTILECOMPOSITE,
  .mpitype            = MATMPIAIJTILECOMPOSITE,
  .citation           = TileCitation,
  .cited              = &TileCited,
  .params_size        = sizeof(TileMatParams),
  .open               = NULL, /* MATAUTOSPARSE does not try the format: see docs/formats.md */
  .host.rank          = RankHost_TileComposite,
  .host.layout        = LayoutHost_TileComposite,
  .host.update        = TileHostUpdate,
  .host.mult          = TileHostMult,
  .host.multtranspose = TileHostMultTranspose,
  .host.describe      = DescribeHost_TileComposite,
  .host.destroy       = TileHostDestroy,
  .host.figures       = TileFigures,
  .host.view          = TileView,
#if defined(SYS_HAVE_DEVICE)
  .device.rank          = RankDevice_TileComposite,
  .device.layout        = LayoutDevice_TileComposite,
  .device.update        = TileDeviceUpdate,
  .device.mult          = TileDeviceMult,
  .device.multtranspose = TileDeviceMultTranspose,
  .device.describe      = DescribeDevice_TileComposite,
  .device.destroy       = TileDeviceDestroy,
  .device.figures       = TileFigures,
  .device.view          = TileView,
#endif
  .create_seq     = MatCreate_SeqAIJTileComposite,
  .create_mpi     = MatCreate_MPIAIJTileComposite,
  .setfromoptions = TileSetFromOptions,
  .compose        = TileCompose,
  .options        = TileOptions,
};
