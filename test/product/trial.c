/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "The judgement between two ways to make a product, from times with noise.\n";

#include "mat/shadow/core/shadow.h"
#include "../testutil.h"

/* Times of a product: what it takes, and what else ran in each round */
typedef struct {
  const char    *name;
  PetscLogDouble csr, format, disturb_csr[SYS_TUNE_ROUNDS], disturb_format[SYS_TUNE_ROUNDS];
  PetscBool      safe;   /* the format is what a wrong verdict costs little for */
  int            rounds; /* that are needed */
  PetscBool      better, noisy;
} Case;

int main(int argc, char **argv)
{
  const Case cases[] = {
    {"clearly better, at once",               1, 0.5,  {1, 1, 1}, {1, 1, 1},   PETSC_TRUE,  1, PETSC_TRUE,  PETSC_FALSE},
    {"clearly better, but that has to last",  1, 0.5,  {1, 1, 1}, {1, 1, 1},   PETSC_FALSE, 2, PETSC_TRUE,  PETSC_FALSE},
    {"clearly worse has to last",             1, 2,    {1, 1, 1}, {1, 1, 1},   PETSC_TRUE,  2, PETSC_FALSE, PETSC_FALSE},
    {"clearly worse, at once",                1, 2,    {1, 1, 1}, {1, 1, 1},   PETSC_FALSE, 1, PETSC_FALSE, PETSC_FALSE},
    {"near",                                  1, 0.97, {1, 1, 1}, {1, 1, 1},   PETSC_TRUE,  3, PETSC_TRUE,  PETSC_FALSE},
    {"disturbed in the first round",          1, 0.8,  {1, 1, 1}, {2, 1, 1},   PETSC_TRUE,  3, PETSC_TRUE,  PETSC_TRUE },
    {"the other side disturbed in the first", 1, 1.2,  {2, 1, 1}, {1, 1, 1},   PETSC_FALSE, 3, PETSC_FALSE, PETSC_TRUE },
    {"disturbed in two rounds",               1, 0.8,  {1, 1, 1}, {2, 1, 2.5}, PETSC_TRUE,  3, PETSC_FALSE, PETSC_TRUE },
    {"both sides disturbed alike",            1, 0.5,  {3, 1, 1}, {3, 1, 1},   PETSC_TRUE,  1, PETSC_TRUE,  PETSC_FALSE},
  };

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cases); c++) {
    const Case    *k = cases + c;
    MatShadowTrial t;
    TestDiff       d    = {NULL, 0};
    int            made = 0;

    PetscCall(PetscMemzero(&t, sizeof(t)));
    while (!MatShadowTrialOver(&t, SYS_TUNE_LEAST, k->safe) && made < 1000) {
      const PetscBool format = (PetscBool)(t.nformat < SYS_TUNE_LEAST);

      MatShadowTrialAdd(&t, format, (1 + 0.001 * (made % 3)) * (format ? k->format * k->disturb_format[t.rounds] : k->csr * k->disturb_csr[t.rounds]));
      made++;
    }
    TestExpect(&d, "it takes another number of rounds", (PetscBool)(t.rounds == k->rounds && made == 2 * SYS_TUNE_LEAST * k->rounds));
    TestExpect(&d, "the median is on the other side", (PetscBool)((MatShadowTrialRatio(&t) < 1) == k->better));
    TestExpect(&d, "noise is not seen, or seen where there is none", (PetscBool)(t.noisy == k->noisy));
    PetscCall(TestReport(k->name, &d));
  }
  {
    TestDiff d = {NULL, 0};

    TestExpect(&d, "a small matrix has few products, or a large one many", (PetscBool)(SysTuneSamples(0) == SYS_TUNE_MOST && SysTuneSamples(100000000) == SYS_TUNE_LEAST));
    for (int64_t nz = 1; nz < 10000000; nz += nz / 3 + 1) TestExpect(&d, "a larger matrix has more products", (PetscBool)(SysTuneSamples(nz + 1) <= SysTuneSamples(nz)));
    PetscCall(TestReport("products of a round", &d));
  }
  return TestFinalize();
}

/*TEST

  test:
    suffix: 1
    checks: 10

TEST*/
