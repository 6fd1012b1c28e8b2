/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "fork() in a program that has used the library, while another thread converts a matrix. With -signals_loop conversion, tuner or products the program\n\
does this until a signal ends it, for signals.sh.\n\n";

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../testutil.h"

static const TestShape blocks = {"blocks", 6000, 6000, TestRowBlocks, TestValueGeneral, PETSC_FALSE};

/* Conversions, or products while another thread converts, or products in the format; a line on the output says that this has begun */
static PetscErrorCode Loop(const char what[])
{
  const PetscBool conversion = (PetscBool)!strcmp(what, "conversion"), tuner = (PetscBool)!strcmp(what, "tuner");
  Mat             A, B;
  Vec             x, y;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&blocks, NULL, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(TestVecSet(x, 1));
  for (PetscInt k = 0;; k++) {
    if (k == 3) {
      printf("begun\n");
      (void)fflush(stdout);
    }
    if (!conversion && !tuner) {
      PetscCall(MatMult(A, x, y));
      continue;
    }
    PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
    PetscCall(MatShadowSetTune(B, tuner ? MAT_SHADOW_TUNE_ONLINE : MAT_SHADOW_TUNE_OFF));
    for (int p = 0; p < (tuner ? 60 : 1); p++) PetscCall(MatMult(B, x, y));
    PetscCall(MatDestroy(&B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A child that ends, or becomes another program; this process goes on as before */
static PetscErrorCode Fork(TestDiff *d)
{
  Mat A, R;
  Vec rows, cols, x, y;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&blocks, &A, &R));
  PetscCall(TestScales(R, &rows, &cols));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(TestVecSet(x, 1));
  for (int k = 0; k < 120; k++) {
    PetscCall(MatMult(A, x, y));
    if (k % 10 == 5) { /* now and then another thread lays the matrix out */
      int         status = -1;
      const pid_t child  = fork();

      if (!child) {
        if (k % 20 == 5) _exit(7);
        (void)execlp("sh", "sh", "-c", "exit 7", (char *)NULL);
        _exit(1);
      }
      TestExpect(d, "fork() fails", (PetscBool)(child > 0));
      TestExpect(d, "the child does not end", (PetscBool)(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7));
    }
  }
  PetscCall(TestDiffMult(d, A, R, rows));
  PetscCall(TestDestroy(&rows, &cols, &x, &y, &A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const TestCase tests[] = {
    {"fork()", Fork},
    {NULL,     NULL}
  };
  char      what[16];
  PetscBool set;

  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-signals_loop", what, sizeof(what), &set));
  if (set) PetscCall(Loop(what));
  else PetscCall(TestRun(tests));
  return TestFinalize();
}

/*TEST

  test:
    env: OMP_NUM_THREADS=2
    args: -mat_type {{amb autosparse}} -mat_shadow_tune online
    checks: 1

TEST*/
