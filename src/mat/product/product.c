/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The choice of the provider that makes a product of matrices of petsc-amb's types. PETSc makes a product that no provider takes, as for AIJ or AIJCUSPARSE.
*/
#include "mat/product/product.h"

static const MatProductProvider *providers[MAT_PRODUCT_PROVIDERS];
static int                       nproviders = 0;

#define PRODUCT_REASON 96 /* bytes of a reason in the table of -petscamb_view */

/* A product that PETSc makes, under -petscamb_view. The phases are found by the matrix: PETSc may replace the data of a product between them. */
typedef struct _ProductTimed *ProductTimed;
struct _ProductTimed {
  Mat C;
  PetscErrorCode (*symbolic)(Mat), (*numeric)(Mat);
  char         reason[PRODUCT_REASON];
  ProductTimed next;
};
static ProductTimed timed = NULL;

PetscErrorCode MatProductProviderRegister(const MatProductProvider *p)
{
  PetscFunctionBegin;
  PetscCheck(nproviders < MAT_PRODUCT_PROVIDERS, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Too many providers of products: raise MAT_PRODUCT_PROVIDERS");
  providers[nproviders++] = p;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatProductRegister(void)
{
  PetscBool all = PETSC_FALSE;

  PetscFunctionBegin;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "petsc-amb, products of matrices", "Mat"); /* prints -help; each product reads the option, which may be set later */
  PetscCall(PetscOptionsBool("-petscamb_for_products", "Products of matrices are hashgemm's even where an option or the program names an algorithm of PETSc's", "MatProductSetAlgorithm", all, &all, NULL));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatProductRegisterFinalize(void)
{
  PetscFunctionBegin;
  nproviders = 0;
  while (timed) {
    const ProductTimed next = timed->next;

    PetscCall(PetscFree(timed));
    timed = next;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- time of PETSc's products ------------------------------------------------- */

static ProductTimed ProductTimedFind(Mat C)
{
  ProductTimed t = timed;

  while (t && t->C != C) t = t->next;
  return t;
}

static PetscErrorCode MatProductNumeric_Timed(Mat);

/* Runs a phase with PETSc's functions in place, and adds its time */
static PetscErrorCode ProductTimedRun(Mat C, PetscBool symbolic)
{
  ProductTimed   t = ProductTimedFind(C);
  PetscLogDouble since;

  PetscFunctionBegin;
  PetscCheck(t, PetscObjectComm((PetscObject)C), PETSC_ERR_PLIB, "The matrix has the phases of another product");
  if (symbolic) C->ops->productsymbolic = t->symbolic;
  else C->ops->productnumeric = t->numeric;
  PetscCall(MatShadowReportProductBegin(&since));
  PetscCall((*(symbolic ? t->symbolic : t->numeric))(C));
  PetscCall(MatShadowReportProductByPETSc(C, t->reason, since, symbolic ? MAT_SHADOW_PRODUCT_CREATED : MAT_SHADOW_PRODUCT_RENEWED));
  if (C->ops->productnumeric && C->ops->productnumeric != MatProductNumeric_Timed) {
    t->numeric             = C->ops->productnumeric;
    C->ops->productnumeric = MatProductNumeric_Timed;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductSymbolic_Timed(Mat C)
{
  return ProductTimedRun(C, PETSC_TRUE);
}

static PetscErrorCode MatProductNumeric_Timed(Mat C)
{
  return ProductTimedRun(C, PETSC_FALSE);
}

/* With -petscamb_view, has a product be counted and timed whose symbolic phase PETSc has set, but for one that is a step of another. PETSc turns a MAIJ of several
   processes into an AIJ and chooses again: then a provider has set the phase. */
static PetscErrorCode MatProductCountPETSc(Mat C, const char reason[])
{
  ProductTimed t;
  PetscBool    provided = PETSC_FALSE;

  PetscFunctionBegin;
  for (int k = 0; k < nproviders && !provided; k++) PetscCall(PetscStrcmp(C->product->alg, providers[k]->algorithm, &provided));
  if (provided) PetscFunctionReturn(PETSC_SUCCESS);
  if (MatShadowReportInProduct() || !MatShadowReporting || !C->ops->productsymbolic || C->ops->productsymbolic == MatProductSymbolic_Timed) PetscFunctionReturn(PETSC_SUCCESS);
  t = ProductTimedFind(C);
  if (!t) {
    PetscCall(PetscNew(&t));
    t->C    = C;
    t->next = timed;
    timed   = t;
  }
  t->symbolic = C->ops->productsymbolic;
  PetscCall(PetscStrncpy(t->reason, reason, sizeof(t->reason)));
  C->ops->productsymbolic = MatProductSymbolic_Timed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- the choice ------------------------------------------------- */

/* Gets the algorithm that an option names (*set is PETSC_TRUE then), or else the algorithm of MatProductSetAlgorithm(), and the name of the option */
static PetscErrorCode MatProductAlgorithmAsked(Mat C, const char offered[], char value[], size_t size, PetscBool *set, const char **asked)
{
  static const struct {
    const char *title, *option;
  } names[] = {
    {NULL,                  NULL                      },
    {"MatMatMult",          "-matmatmult_via"         },
    {"MatTransposeMatMult", "-mattransposematmult_via"},
    {"MatMatTransposeMult", "-matmattransmult_via"    },
    {"MatPtAP",             "-matptap_via"            },
    {"MatRARt",             "-matrart_via"            },
    {"MatMatMatMult",       "-matmatmatmult_via"      }
  };
  Mat_Product *product = C->product;
  const char  *option  = product->api_user ? names[product->type].option : "-mat_product_algorithm";
  char         help[160];

  PetscFunctionBegin;
  *asked   = option;
  value[0] = 0;
  PetscCall(PetscSNPrintf(help, sizeof(help), "Algorithm: %s, or one of those listed below", offered));
  PetscOptionsBegin(PetscObjectComm((PetscObject)C), ((PetscObject)C)->prefix, names[product->type].title, "Mat");
  PetscCall(PetscOptionsString(option, help, names[product->type].title, offered, value, size, set));
  PetscOptionsEnd();
  if (!*set) PetscCall(PetscStrncpy(value, product->alg, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns PETSC_TRUE for P^T A P with a MAIJ on one process, which PETSc computes without an AIJ of P */
static PetscErrorCode MatProductIsPtMAIJ(Mat C, PetscBool *maij)
{
  PetscFunctionBegin;
  *maij = PETSC_FALSE;
  if (C->product->type == MATPRODUCT_PtAP) PetscCall(PetscObjectTypeCompare((PetscObject)C->product->B, MATSEQMAIJ, maij));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets why to the reason for which no provider can make the product */
static PetscErrorCode MatProductWhyNone(Mat C, char why[PRODUCT_REASON])
{
  Mat       operand[3];
  PetscBool maij;

  PetscFunctionBegin;
  MatProductGetOperands(C, operand);
  PetscCall(PetscStrncpy(why, "operands that hashgemm does not multiply", PRODUCT_REASON));
  for (int k = 0; k < 3 && operand[k]; k++) {
    PetscBool aij;

    PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)operand[k], &aij, MATSEQAIJ, MATMPIAIJ, ""));
    if (!aij) PetscCall(PetscSNPrintf(why, PRODUCT_REASON, "%s has an operand of type %s", MatProductTypes[C->product->type], ((PetscObject)operand[k])->type_name));
  }
  PetscCall(MatProductIsPtMAIJ(C, &maij));
  if (maij) PetscCall(PetscStrlcat(why, "; give -petscamb_for_products", PRODUCT_REASON));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the provider whose algorithm the user chose or, if none was chosen, the first that can make the product. NULL with MAT_FORCE_DIAGONAL_ENTRIES, because
   PETSc's algorithms on the host add such entries, providers do not. *first is the first that can make the product, whatever the user chose, who chooses
   among PETSc's algorithms in vain with -petscamb_for_products. why: the reason for NULL. */
static PetscErrorCode MatProductFindProvider(Mat C, const MatProductProvider **first, const MatProductProvider **provider, char why[PRODUCT_REASON])
{
  const MatProductProvider *serving[MAT_PRODUCT_PROVIDERS];
  const char               *option, *prefix = ((PetscObject)C)->prefix;
  char                      offered[128] = "", value[64];
  PetscBool                 set, open, maij, chosen, all = PETSC_FALSE;
  int                       n = 0;

  PetscFunctionBegin;
  for (int k = 0; k < nproviders; k++) {
    PetscBool supported;

    PetscCall((*providers[k]->supports)(C, &supported));
    if (!supported) continue;
    PetscCall(PetscStrlcat(offered, n ? ", " : "", sizeof(offered)));
    PetscCall(PetscStrlcat(offered, providers[k]->algorithm, sizeof(offered)));
    serving[n++] = providers[k];
  }
  *first    = n ? serving[0] : NULL;
  *provider = NULL;
  PetscCall(PetscStrncpy(why, "MAT_FORCE_DIAGONAL_ENTRIES", PRODUCT_REASON));
  if (!n) PetscCall(MatProductWhyNone(C, why));
  if (!n || C->force_diagonals) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatProductAlgorithmAsked(C, offered, value, sizeof(value), &set, &option));
  PetscCall(PetscStrcmp(value, MATPRODUCTALGORITHMDEFAULT, &open));
  PetscCall(PetscStrcmp(value, "nonscalable", &maij)); /* MAIJ, which becomes AIJ for PtAP, sets this algorithm in place of the default */
  if (!set && (open || (maij && C->product->type == MATPRODUCT_PtAP))) *provider = *first;
  for (int k = 0; k < n && !*provider; k++) {
    PetscCall(PetscStrcmp(value, serving[k]->algorithm, &chosen));
    if (chosen) *provider = serving[k];
  }
  if (*provider) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-petscamb_for_products", &all, NULL));
  if (all) *provider = *first;
  else if (set) PetscCall(PetscSNPrintf(why, PRODUCT_REASON, "-%s%s %s; give -petscamb_for_products", prefix ? prefix : "", option + 1, value));
  else PetscCall(PetscSNPrintf(why, PRODUCT_REASON, "MatProductSetAlgorithm() %s; give -petscamb_for_products", value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Has the provider make the product or, without a provider, PETSc: AIJCUSPARSE's algorithms unless these would ignore MAT_FORCE_DIAGONAL_ENTRIES,
   else AIJ's on the host */
static PetscErrorCode MatProductSetProvider(Mat C, const MatProductProvider *provider, const char why[])
{
  Mat       operand[3];
  PetscBool seq;

  PetscFunctionBegin;
  MatProductGetOperands(C, operand);
  for (int k = 0; k < 3 && operand[k]; k++) {
    if (!provider || C->product->type != MATPRODUCT_PtAP) PetscCall(MatAIJComplete(operand[k])); /* deferred operands are for Galerkin products */
  }
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)C->product->A, MATSEQAIJ, &seq));
  if (provider) {
    PetscCall(MatProductSetAlgorithm(C, provider->algorithm));
    PetscCall((*provider->setsymbolic)(C));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (MatAIJIsCUSPARSE(C->product->A) && !C->force_diagonals) PetscCall((*MatAIJGetBase(C->product->A)->productsetfromoptions)(C));
  else PetscCall((*(seq ? MatAIJBaseSeq : MatAIJBaseMPI).productsetfromoptions)(C));
  PetscCall(MatProductCountPETSc(C, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatProductDecline(Mat C, const char reason[])
{
  char        value[64];
  const char *option;
  PetscBool   set;

  PetscFunctionBegin;
  PetscCall(PetscInfo(C, "PETSc makes the product: %s\n", reason));
  PetscCall(MatProductAlgorithmAsked(C, "PETSc's", value, sizeof(value), &set, &option));
  PetscCheck(!set, PetscObjectComm((PetscObject)C), PETSC_ERR_SUP, "The algorithm %s cannot make this product: %s; choose another algorithm, or leave the choice to petsc-amb", value, reason);
  C->ops->productsymbolic = C->ops->productnumeric = NULL;
  PetscCall(MatProductSetProvider(C, NULL, reason));
  PetscCheck(C->ops->productsymbolic, PetscObjectComm((PetscObject)C), PETSC_ERR_SUP, "PETSc has no product of these matrices, and petsc-amb cannot make it: %s", reason);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For operands of one type. A sequential matrix and one of several processes have this same function, and PETSc then calls it too: without a symbolic phase PETSc
   raises its own error, as for AIJ. */
static PetscErrorCode MatProductSetFromOptions_Shadow(Mat C)
{
  const MatProductProvider *first, *provider;
  Mat                       operand[3];
  char                      why[PRODUCT_REASON];

  PetscFunctionBegin;
  MatProductGetOperands(C, operand);
  for (int k = 1; k < 3 && operand[k]; k++) {
    if (operand[k]->ops->mult != operand[0]->ops->mult) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatProductFindProvider(C, &first, &provider, why));
  PetscCall(MatProductSetProvider(C, provider, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets whether an operand of a product is no AIJ */
static PetscErrorCode MatProductHasOther(Mat C, PetscBool *other)
{
  Mat operand[3];

  PetscFunctionBegin;
  MatProductGetOperands(C, operand);
  *other = PETSC_FALSE;
  for (int k = 0; k < 3 && operand[k] && !*other; k++) {
    PetscBool aij;

    PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)operand[k], &aij, MATSEQAIJ, MATMPIAIJ, ""));
    *other = (PetscBool)!aij;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The name under which PETSc has the product of operands of several types. An operand with a shadow counts by its type, or as AIJ on the host. */
static PetscErrorCode MatProductName(const Mat operand[3], PetscBool aij, char name[], size_t size)
{
  PetscFunctionBegin;
  PetscCall(PetscStrncpy(name, "MatProductSetFromOptions", size));
  for (int k = 0; k < 3 && operand[k]; k++) {
    const char            *type = ((PetscObject)operand[k])->type_name;
    const MatShadowFormat *format;

    PetscCall(MatShadowGetFormat(operand[k], &format));
    if (format && aij) type = MatShadowIsSequential(operand[k]) ? MATSEQAIJ : MATMPIAIJ;
    PetscCall(PetscStrlcat(name, "_", size));
    PetscCall(PetscStrlcat(name, type, size));
  }
  PetscCall(PetscStrlcat(name, "_C", size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductSetFromOptions_Mixed(Mat);

/* Finds PETSc's function of that name on an operand */
static PetscErrorCode MatProductQuery(const Mat operand[3], const char name[], PetscErrorCode (**f)(Mat))
{
  PetscFunctionBegin;
  *f = NULL;
  for (int k = 0; k < 3 && operand[k] && !*f; k++) {
    PetscCall(PetscObjectQueryFunction((PetscObject)operand[k], name, f));
    if (*f == MatProductSetFromOptions_Mixed) *f = NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds AIJCUSPARSE's function for its products with a dense matrix, which MatShadowCUSPARSESetOperations() replaced by the function below */
static PetscErrorCode MatProductDeviceDense(const Mat operand[3], PetscErrorCode (**f)(Mat))
{
  PetscBool dense;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)operand[1], MATSEQDENSE, &dense));
  if (dense && !operand[2] && MatAIJValuesOnDevice(operand[0]) && MatShadowIsSequential(operand[0])) *f = MatAIJGetBase(operand[0])->productsetfromoptions;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With -petscamb_for_products, turns the MAIJ of P^T A P on one process into an AIJ, as PETSc does with a MAIJ of several processes */
static PetscErrorCode MatProductExpandMAIJ(Mat C, PetscBool *expanded)
{
  Mat            P     = C->product->B;
  const PetscInt bs[2] = {P->rmap->bs, P->cmap->bs};
  PetscBool      maij, all = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MatProductIsPtMAIJ(C, &maij));
  if (maij) PetscCall(PetscOptionsGetBool(NULL, NULL, "-petscamb_for_products", &all, NULL));
  *expanded = all;
  if (!all) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatConvert(P, MATSEQAIJ, MAT_INPLACE_MATRIX, &P));
  PetscCall(MatSetBlockSizes(P, bs[0], bs[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For operands of several types: finds the product among the products of providers, of AIJ, or of another operand for any type, which
   PETSc no longer looks for once an operand has this function.

   If all operands are AIJ but the user chose another algorithm, PETSc makes the product, and is called here: otherwise PETSc would make a triple product in two
   steps, and would finish a provider's symbolic phase with its own numeric phase. If PETSc's product would be wrong, a provider makes the product all the same:
   PETSc gives a transpose the type of another operand, in which the transpose loses its entries, and takes a result to be on the host if one operand is on the
   host. */
static PetscErrorCode MatProductSetFromOptions_Mixed(Mat D)
{
  PetscBool                 other, expanded = PETSC_FALSE, wrong = (PetscBool)(D->product->type == MATPRODUCT_ABt || D->product->type == MATPRODUCT_RARt);
  const MatProductProvider *first, *provider;
  Mat                       operand[3];
  char                      name[256], why[PRODUCT_REASON];
  PetscErrorCode (*f)(Mat) = NULL;

  PetscFunctionBegin;
  PetscCall(MatProductExpandMAIJ(D, &expanded));
  if (expanded) { /* PETSc chooses among the functions for two AIJ */
    PetscCall(MatProductSetFromOptions(D));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  MatProductGetOperands(D, operand);
  PetscCall(MatProductFindProvider(D, &first, &provider, why));
  PetscCall(MatProductHasOther(D, &other));
  for (int k = 0; k < 3 && operand[k]; k++) wrong = (PetscBool)(wrong || MatAIJIsCUSPARSE(operand[k]));
  if (provider || (first && !other)) {
    PetscCall(MatProductSetProvider(D, !provider && wrong ? first : provider, why));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatProductDeviceDense(operand, &f));
  for (int aij = 0; aij < 2 && !f; aij++) {
    PetscCall(MatProductName(operand, (PetscBool)aij, name, sizeof(name)));
    PetscCall(MatProductQuery(operand, name, &f));
  }
  if (!f) PetscCall(MatProductQuery(operand, "MatProductSetFromOptions_anytype_C", &f));
  if (f) PetscCall((*f)(D));
  if (f) PetscCall(MatProductCountPETSc(D, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const MatShadowProducts MatProductSlot = {MatProductSetFromOptions_Shadow, MatProductSetFromOptions_Mixed};
