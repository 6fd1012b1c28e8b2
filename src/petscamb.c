/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Loading the library: the check that the library fits the running PETSc, and the registration of formats, products and solvers
*/
#include "sys/systhreads.h"
#include "vec/ambvec/ambvec.h"
#include "mat/shadow/core/shadow.h"
#include "mat/shadow/user/shadowoptions.h"
#include "mat/product/product.h"
#if defined(PETSC_HAVE_CUDA)
  #include <petscdevice.h>
#endif

/* The formats. The test drivers, bench and info, MATAUTOSPARSE, and the check of options read this list. */
#define PETSCAMB_FORMATS(F) F(AMB) F(NUSSELL) F(CCOO) F(TileComposite) F(AutoSparse) F(HashGEMM)

#define PETSCAMB_DECLARE(name) extern const MatShadowFormat MatShadowFormat##name;
#define PETSCAMB_LIST(name)    &MatShadowFormat##name,
PETSCAMB_FORMATS(PETSCAMB_DECLARE)
static const MatShadowFormat *const formats[] = {PETSCAMB_FORMATS(PETSCAMB_LIST)};

/* Registered besides the formats: operations of vectors, products of matrices, solvers and preconditioners */
#define PETSCAMB_OTHERS(F) \
  F(VecAMB) \
  F(MatProduct) \
  F(HashGEMM) \
  F(Spmm) \
  F(MatBAIJ) \
  F(Batch) \
  F(GraphConv) \
  F(KSPAMB) \
  F(KSPAMBCG) F(KSPAMBBCGS) F(KSPAMBGMRES) F(KSPAMBChebyshev) F(AmbInverse) F(AmbILU) F(Factor) F(PCFactorAMB) F(PCSORAMB) F(PCBlocks) F(Order) F(AmbAgg) F(AmbMIS) F(MGInterpolation) F(MGValues) F(MGCycle) F(GAMGBlocks) F(Bitonic) F(GraphWalk)

#define PETSCAMB_DECLARE_OTHER(name) extern PetscErrorCode name##Register(void);
#define PETSCAMB_LIST_OTHER(name)    name##Register,
PETSCAMB_OTHERS(PETSCAMB_DECLARE_OTHER)
static PetscErrorCode (*const others[])(void) = {PETSCAMB_OTHERS(PETSCAMB_LIST_OTHER)};

#if defined(SYS_HAVE_DEVICE)
extern const MatShadowExchange MatHaloExchange;
#endif

static PetscBool initialized = PETSC_FALSE;
static PetscErrorCode (*create_aij)(Mat); /* of MATSEQAIJ, after the types of petsc-amb are registered */

/* Asks PETSc for sizes by name, because the constants of another build mean other types */
static PetscErrorCode PetscAMBCheckType(const char name[], size_t expected, const char what[])
{
  PetscDataType type;
  PetscBool     found;
  size_t        size = 0;

  PetscFunctionBegin;
  PetscCall(PetscDataTypeFromString(name, &type, &found));
  if (found) PetscCall(PetscDataTypeGetSize(type, &size));
  PetscCheck(!found || size == expected, PETSC_COMM_SELF, PETSC_ERR_SUP, "libpetscamb was built for a PETSc with %s of %d bytes, but in the running PETSc it has %d; build petsc-amb again with PETSC_DIR and PETSC_ARCH of the PETSc that the program uses", what, (int)expected, (int)size);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The library uses the insides of PETSc's objects: with another PETSc it would not fail, but give wrong results */
static PetscErrorCode PetscAMBCheckPETSc(void)
{
  PetscInt64  version[4] = {0, 0, 0, 0}; /* as long as any PetscInt */
  PetscMPIInt length;
  char        mpi[MPI_MAX_LIBRARY_VERSION_STRING];

  PetscFunctionBegin;
  PetscCall(PetscGetVersionNumber((PetscInt *)&version[0], (PetscInt *)&version[1], (PetscInt *)&version[2], (PetscInt *)&version[3]));
  PetscCheck(version[0] == PETSC_VERSION_MAJOR && version[1] == PETSC_VERSION_MINOR, PETSC_COMM_SELF, PETSC_ERR_SUP, "libpetscamb was built for PETSc %d.%d, but this is PETSc %d.%d; build petsc-amb again with PETSC_DIR and PETSC_ARCH of the PETSc that the program uses", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, (int)version[0], (int)version[1]);
  PetscCall(PetscAMBCheckType("int", sizeof(PetscInt), "PetscInt"));
  PetscCall(PetscAMBCheckType("real", sizeof(PetscReal), "PetscReal"));
  PetscCall(PetscAMBCheckType("scalar", sizeof(PetscScalar), "PetscScalar"));
  PetscCallMPI(MPI_Get_library_version(mpi, &length));
#if defined(OMPI_MAJOR_VERSION)
  PetscCheck(strstr(mpi, "Open MPI"), PETSC_COMM_SELF, PETSC_ERR_SUP, "libpetscamb was built for Open MPI, but this program runs on %s; build petsc-amb again with the PETSc that the program uses", mpi);
#elif defined(MPICH_VERSION) || defined(I_MPI_VERSION)
  PetscCheck(!strstr(mpi, "Open MPI"), PETSC_COMM_SELF, PETSC_ERR_SUP, "libpetscamb was built for MPICH, but this program runs on %s; build petsc-amb again with the PETSc that the program uses", mpi);
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(PETSC_HAVE_CUDA) && !defined(PETSC_HAVE_MPIUNI)
/* PETSc ends a program that uses a GPU with an MPI that cannot read GPU memory, unless the user gave -use_gpu_aware_mpi 0. This function asks the MPI and sets
   PETSc's variable, so that the user need not know. It does nothing if an option was given, or if a device is initialized, since PETSc has tried its MPI then.
   Only the answers of Open MPI and MPICH are believed: vendors have changed the code in MPIs derived from these, and some of them wrongly answer no. */
static PetscErrorCode PetscAMBCheckGPUAwareMPI(void)
{
  PetscBool   given, alias;
  PetscMPIInt length;
  char        mpi[MPI_MAX_LIBRARY_VERSION_STRING];
  void       *query = NULL;

  PetscFunctionBegin;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-use_gpu_aware_mpi", &given));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-sf_use_gpu_aware_mpi", &alias));
  if (!use_gpu_aware_mpi || given || alias || PetscDeviceInitialized(PETSC_DEVICE_CUDA)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Get_library_version(mpi, &length));
  if (!strstr(mpi, "Open MPI") && strncmp(mpi, "MPICH Version", 13)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscDLSym(NULL, "MPIX_Query_cuda_support", &query));
  if (!query || ((int (*)(void))query)()) PetscFunctionReturn(PETSC_SUCCESS);
  use_gpu_aware_mpi = PETSC_FALSE;
  PetscCall(PetscInfo(NULL, "This MPI says that it is not CUDA-aware: what PETSc sends from a GPU goes through the host, as with -use_gpu_aware_mpi 0\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/*@C
  PetscAMBFinalizePackage - forgets what `PetscAMBInitializePackage()` registered; called by `PetscFinalize()`

  Collective on `PETSC_COMM_WORLD`

  Level: developer

  Note:
  A program does not call this function: petsc-amb cannot be initialized again before `PetscFinalize()`. It also prints the table of -petscamb_view.

.seealso: `PetscAMBInitializePackage()`
@*/
PetscErrorCode PetscAMBFinalizePackage(void)
{
  PetscFunctionBegin;
  PetscCall(MatShadowReport());
  PetscCall(MatShadowRegisterFinalize());
  PetscCall(MatProductRegisterFinalize());
  PetscCall(VecAMBEnd());
  initialized = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscAMBInitializePackage - registers the matrix types of petsc-amb. A program that is linked with the library calls this function after
  `PetscInitialize()`; if the library is loaded with `-dll_append`, PETSc calls it.

  Collective on `PETSC_COMM_WORLD`

  Level: intermediate

  Notes:
  A second call does nothing. `PetscFinalize()` undoes the call: a program that initializes PETSc again calls the function again.

  In C and C++ the name is a macro, which hands the version of the header to `PetscAMBInitializePackageVersion()`.

  Errors:
+ `PETSC_ERR_SUP`              - the library was built for another version of PETSc, for other sizes of `PetscInt`, `PetscReal` or `PetscScalar`, for another MPI, or the program was compiled with the header of another version
. `PETSC_ERR_ARG_UNKNOWN_TYPE` - the value of -petscamb_for_aij is no type
. `PETSC_ERR_ORDER`            - the program has called `PetscAMBFinalizePackage()`
- `PETSC_ERR_USER_INPUT`       - -mat_mpiaij_type, which PETSc does not have, names a type of petsc-amb

  Example:
.vb
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscAMBInitializePackage());
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetType(A, MATAMB));
.ve

.seealso: `MATAMB`
@*/
PetscErrorCode(PetscAMBInitializePackage)(void)
{
  PetscMPIInt size;
  PetscErrorCode (*create)(Mat);

  PetscFunctionBegin;
  if (initialized) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscAMBCheckPETSc());
  PetscCall(MatInitializePackage());
  PetscCall(PetscFunctionListFind(MatList, MATSEQAIJ, &create));
  PetscCheck(create != create_aij, PETSC_COMM_WORLD, PETSC_ERR_ORDER, "PetscAMBFinalizePackage() has ended petsc-amb in this run of PETSc; leave that call to PetscFinalize()");
  initialized = PETSC_TRUE;
#if defined(PETSC_HAVE_CUDA) && !defined(PETSC_HAVE_MPIUNI)
  PetscCall(PetscAMBCheckGPUAwareMPI());
#endif
  PetscCall(MatShadowOptionsRegister());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  SysThreadsChoose(size);
  MatShadowAdoptFunctions     = &MatShadowAdopterTable;
  MatShadowUserFunctions      = &MatShadowUserTable;
  MatShadowProductsOfMatrices = &MatProductSlot;
#if defined(SYS_HAVE_DEVICE)
  MatShadowExchangeOfVectors = &MatHaloExchange;
#endif
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(others); k++) PetscCall((*others[k])());
  PetscCall(MatShadowRegisterAll(PETSC_STATIC_ARRAY_LENGTH(formats), formats));
  PetscCall(MatShadowReportRegister());
  PetscCall(MatShadowForAIJRegister());
  PetscCall(MatShadowOthersRegister());
  PetscCall(PetscFunctionListFind(MatList, MATSEQAIJ, &create_aij));
  PetscCall(PetscRegisterFinalize(PetscAMBFinalizePackage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscAMBInitializePackageVersion - `PetscAMBInitializePackage()` for a program that was compiled with this version of petscamb.h

  Collective on `PETSC_COMM_WORLD`

  Input Parameters:
+ major    - `PETSCAMB_VERSION_MAJOR`
. minor    - `PETSCAMB_VERSION_MINOR`
- subminor - `PETSCAMB_VERSION_SUBMINOR`

  Level: developer

  Note:
  In C and C++ `PetscAMBInitializePackage()` is a macro that calls this function. That function raises the other errors.

  Errors:
. `PETSC_ERR_SUP` - the major or minor version differs from the library's

.seealso: `PetscAMBInitializePackage()`
@*/
PetscErrorCode PetscAMBInitializePackageVersion(int major, int minor, int subminor)
{
  PetscFunctionBegin;
  PetscCheck(major == PETSCAMB_VERSION_MAJOR && minor == PETSCAMB_VERSION_MINOR, PETSC_COMM_SELF, PETSC_ERR_SUP, "This program was compiled with petscamb.h %d.%d.%d, but libpetscamb is %d.%d.%d; compile it with the header of this library, or run it with the library of that header", major, minor, subminor, PETSCAMB_VERSION_MAJOR, PETSCAMB_VERSION_MINOR, PETSCAMB_VERSION_SUBMINOR);
  PetscCall((PetscAMBInitializePackage)());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscAMBGetTypes - gets the root names of the matrix types of petsc-amb

  Not Collective

  Input Parameter:
. formats_only - only the types whose products with vectors run on a format of their own

  Output Parameters:
+ n     - the number of types
- types - their names, such as "amb"; the array belongs to the library and is overwritten by the next call

  Level: advanced

  Example:
.vb
  const char *const *types;
  PetscInt           n;

  PetscCall(PetscAMBGetTypes(PETSC_TRUE, &n, &types));
  for (PetscInt k = 0; k < n; k++) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n", types[k]));
.ve

.seealso: `MATAMB`, `MATNUSSELL`, `MATAUTOSPARSE`, `MATHASHGEMM`
@*/
PetscErrorCode PetscAMBGetTypes(PetscBool formats_only, PetscInt *n, const char *const **types)
{
  static const char *names[PETSC_STATIC_ARRAY_LENGTH(formats)];

  PetscFunctionBegin;
  *n = 0;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(formats); k++) {
    if (!formats_only || formats[k]->host.layout) names[(*n)++] = formats[k]->name;
  }
  *types = names;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc makes the name of this function of the name of the library, to which configure.py --with-suffix adds a suffix */
#define PETSCAMB_JOIN(a, b)    a##b
#define PETSCAMB_NAMED(suffix) PETSCAMB_JOIN(PetscDLLibraryRegister_petscamb, suffix)
#if !defined(PETSCAMB_SUFFIX)
  #define PETSCAMB_SUFFIX
#endif

PETSC_EXTERN PetscErrorCode PETSCAMB_NAMED(PETSCAMB_SUFFIX)(void);

/* PETSc calls this function when it loads the library for -dll_append */
PetscErrorCode PETSCAMB_NAMED(PETSCAMB_SUFFIX)(void)
{
  PetscFunctionBegin;
  PetscCall(PetscAMBInitializePackage());
  PetscFunctionReturn(PETSC_SUCCESS);
}
