/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "The choice between two providers of products of matrices.\n";

#include <stdarg.h>

#include "mat/product/product.h"
#include "../testutil.h"

static char printed[1 << 16]; /* the text that -help has printed */
static int  asked, taken;     /* calls of the second provider */

static PetscErrorCode Print(MPI_Comm comm, const char format[], ...)
{
  const size_t length = strlen(printed);
  size_t       full;
  va_list      list;

  PetscFunctionBeginUser;
  va_start(list, format);
  PetscCall(PetscVSNPrintf(printed + length, sizeof(printed) - length, format, &full, list));
  va_end(list);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NoSymbolic(Mat C)
{
  return PETSC_SUCCESS;
}

static PetscErrorCode SecondSupports(Mat C, PetscBool *supported)
{
  PetscFunctionBeginUser;
  asked++;
  *supported = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SecondTake(Mat C)
{
  PetscFunctionBeginUser;
  taken++;
  C->ops->productsymbolic = NoSymbolic;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Has a provider chosen for A A with this algorithm, and compares the provider with the expected one */
static PetscErrorCode Choose(Mat A, const char name[], const char algorithm[], const char expected[], TestDiff *d)
{
  PetscBool same;
  Mat       C;

  PetscFunctionBeginUser;
  asked = taken = 0;
  PetscCall(MatProductCreate(A, A, NULL, &C));
  PetscCall(MatProductSetType(C, MATPRODUCT_AB));
  PetscCall(MatProductSetAlgorithm(C, algorithm));
  PetscCall(MatProductSetFromOptions(C));
  PetscCall(PetscStrcmp(C->product->alg, expected, &same));
  TestExpect(d, "the product has another algorithm", same);
  PetscCall(PetscStrcmp(expected, "second", &same));
  TestExpect(d, "another provider has taken the product", (PetscBool)(taken == (int)same));
  TestExpect(d, "a provider is not asked once whether it can make the product", (PetscBool)(asked == 1));
  PetscCall(MatDestroy(&C));
  PetscCall(TestReport(name, d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const MatProductProvider second  = {"second", SecondSupports, SecondTake};
  static const char               offer[] = "Algorithm: hashgemm, second, or";
  TestDiff                        open = {NULL, 0}, first = {NULL, 0}, other = {NULL, 0}, helped = {NULL, 0};
  const char                     *found;
  Mat                             A;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(MatProductProviderRegister(&second));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, 3, 3, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(A, MATAMB));
  PetscCall(MatSetUp(A));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscHelpPrintf = Print;
  PetscCall(PetscOptionsSetValue(NULL, "-help", NULL));
  PetscCall(Choose(A, "the first provider is the default", MATPRODUCTALGORITHMDEFAULT, "hashgemm", &open));
  found = strstr(printed, offer);
  TestExpect(&helped, "-help does not offer the algorithms of all providers", (PetscBool)(found != NULL));
  TestExpect(&helped, "-help offers them twice", (PetscBool)(!found || !strstr(found + 1, "Algorithm:")));
  PetscCall(TestReport("-help offers all algorithms once", &helped));
  PetscCall(Choose(A, "the first provider by its name", "hashgemm", "hashgemm", &first));
  PetscCall(Choose(A, "the second provider by its name", "second", "second", &other));
  PetscCall(MatDestroy(&A));
  return TestFinalize();
}

/*TEST

  test:
    suffix: 1
    args: -mat_amb_device cpu
    checks: 4

TEST*/
