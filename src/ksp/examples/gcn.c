/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "A graph convolutional network learns to tell two kinds of graphs apart: rings with chords, and trees with as many edges. It has two layers of\n\
convolutions and an average over the nodes of a graph, and is trained by stochastic gradient descent. The products of all graphs of a mini-batch are made\n\
in one step (MatBatch), or graph by graph.\n\
  -graphs N         graphs to learn from (default 1000); a fifth as many test what was learnt\n\
  -nodes N          nodes of a graph, at most (default 50); the least is a fifth of it, but 5 at least\n\
  -batch B          graphs of a mini-batch (default 50)\n\
  -hidden H         features of a node in the layers (default 32)\n\
  -epochs E         passes over all graphs (default 30)\n\
  -rate R           step of the descent (default 0.1)\n\
  -single           graph by graph only\n\
  -vec_type cuda    train on a GPU (default: on the host)\n\
  -times 0          no times, and no second training graph by graph\n\
  -csv [FILE], -json [FILE]  results for other programs; without FILE on standard output, in place of the text\n\n\
T. N. Kipf and M. Welling, Semi-supervised classification with graph convolutional networks, ICLR 2017.\n\n";

#include <petscmat.h>
#include <petsctime.h>
#include <petscamb.h>
#include <petscambgraph.h>

#include "ksp/examples/commandline.h"

#define LAYERS 3 /* two convolutions, and the average over the nodes */

/* Graphs one after the other, as arrays for MatBatchCreateCOO(): the matrices D^(-1/2) (A + I) D^(-1/2) */
typedef struct {
  PetscInt     ngraph, *nodes, *kind, *nentry, *firstnode, *firstentry;
  PetscInt    *i, *j;
  PetscScalar *a, *features; /* two features of a node: 1, and its degree with the mean, about 3.5, taken off */
} Graphs;

typedef struct {
  PetscInt  graphs, nodes, batch, hidden, epochs;
  PetscReal rate;
} Parameters;

/* Uniform in 0, ..., n - 1 */
static PetscInt Random(PetscInt n)
{
  static unsigned int random = 12345;

  random = random * 1664525u + 1013904223u;
  return (PetscInt)((random >> 8) % (unsigned int)n);
}

/* The edges of a graph of n nodes, n + n / 4 of them */
static void Edges(PetscInt kind, PetscInt n, PetscInt ends[][2])
{
  PetscInt e = 0;

  for (PetscInt v = kind; v < n; v++, e++) { /* a ring has n edges, a tree n - 1 */
    ends[e][0] = v;
    ends[e][1] = kind ? Random(v) : (v + 1) % n;
  }
  for (; e < n + n / 4; e++) {
    ends[e][0] = Random(n);
    ends[e][1] = (ends[e][0] + 1 + Random(n - 1)) % n;
  }
}

static PetscErrorCode GraphsCreate(PetscInt ngraph, PetscInt most, Graphs *G)
{
  const PetscInt least = PetscMax(most / 5, 5);
  PetscInt(*ends)[2], *degree, node = 0, entry = 0;

  PetscFunctionBeginUser;
  G->ngraph = ngraph;
  PetscCall(PetscMalloc5(ngraph, &G->nodes, ngraph, &G->kind, ngraph, &G->nentry, ngraph + 1, &G->firstnode, ngraph + 1, &G->firstentry));
  PetscCall(PetscMalloc4(4 * ngraph * most, &G->i, 4 * ngraph * most, &G->j, 4 * ngraph * most, &G->a, 2 * ngraph * most, &G->features));
  PetscCall(PetscMalloc2(2 * most, &ends, most, &degree));
  for (PetscInt g = 0; g < ngraph; g++) {
    const PetscInt n = least + Random(most - least + 1), edges = n + n / 4;

    G->kind[g]       = g % 2;
    G->nodes[g]      = n;
    G->firstnode[g]  = node;
    G->firstentry[g] = entry;
    Edges(G->kind[g], n, ends);
    for (PetscInt v = 0; v < n; v++) degree[v] = 1;
    for (PetscInt e = 0; e < edges; e++) {
      degree[ends[e][0]]++;
      degree[ends[e][1]]++;
    }
    for (PetscInt v = 0; v < n; v++, node++) {
      G->features[2 * node]     = 1;
      G->features[2 * node + 1] = (PetscReal)degree[v] - 3.5;
      G->i[entry]               = v;
      G->j[entry]               = v;
      G->a[entry++]             = 1. / (PetscReal)degree[v];
    }
    for (PetscInt e = 0; e < edges; e++) {
      for (int side = 0; side < 2; side++) {
        G->i[entry]   = ends[e][side];
        G->j[entry]   = ends[e][1 - side];
        G->a[entry++] = 1 / PetscSqrtReal((PetscReal)degree[ends[e][0]] * (PetscReal)degree[ends[e][1]]);
      }
    }
    G->nentry[g] = entry - G->firstentry[g];
  }
  G->firstnode[ngraph]  = node;
  G->firstentry[ngraph] = entry;
  PetscCall(PetscFree2(ends, degree));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GraphsDestroy(Graphs *G)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree5(G->nodes, G->kind, G->nentry, G->firstnode, G->firstentry));
  PetscCall(PetscFree4(G->i, G->j, G->a, G->features));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector of n numbers, of the type that -vec_type names */
static PetscErrorCode NumbersCreate(PetscInt n, Vec *v)
{
  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_SELF, v));
  PetscCall(VecSetSizes(*v, n, n));
  PetscCall(VecSetFromOptions(*v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- graphs that are handled in one step ------------------------------------------------- */

typedef struct {
  PetscInt        ngraph;
  const PetscInt *kind;
  MatBatch        A, average;
  GraphConv       layer[LAYERS];
  Vec             H[LAYERS + 1], dH[LAYERS + 1]; /* features before each layer and behind the last one, and the derivatives of the loss; the first one has none */
} Group;

static PetscErrorCode GroupCreate(const Graphs *G, PetscInt first, PetscInt ngraph, PetscInt hidden, Group *P)
{
  const PetscInt width[LAYERS + 1] = {2, hidden, hidden, 1}, nodes = G->firstnode[first + ngraph] - G->firstnode[first];
  PetscInt      *ones, *i, *j, node = 0;
  PetscScalar   *share, *features;

  PetscFunctionBeginUser;
  P->ngraph = ngraph;
  P->kind   = G->kind + first;
  PetscCall(MatBatchCreateCOO(PETSC_COMM_SELF, ngraph, G->nodes + first, G->nodes + first, G->nentry + first, G->i + G->firstentry[first], G->j + G->firstentry[first], G->a + G->firstentry[first], &P->A));
  PetscCall(PetscMalloc4(ngraph, &ones, nodes, &i, nodes, &j, nodes, &share));
  for (PetscInt g = 0; g < ngraph; g++) {
    ones[g] = 1;
    for (PetscInt v = 0; v < G->nodes[first + g]; v++, node++) {
      i[node]     = 0;
      j[node]     = v;
      share[node] = 1 / (PetscReal)G->nodes[first + g];
    }
  }
  PetscCall(MatBatchCreateCOO(PETSC_COMM_SELF, ngraph, ones, G->nodes + first, G->nodes + first, i, j, share, &P->average));
  PetscCall(PetscFree4(ones, i, j, share));
  for (PetscInt l = 0; l < LAYERS; l++) PetscCall(GraphConvCreate(1, l < LAYERS - 1 ? &P->A : &P->average, width[l], width[l + 1], &P->layer[l]));
  PetscCall(NumbersCreate(2 * nodes, &P->H[0]));
  PetscCall(VecGetArrayWrite(P->H[0], &features));
  PetscCall(PetscArraycpy(features, G->features + 2 * G->firstnode[first], 2 * nodes));
  PetscCall(VecRestoreArrayWrite(P->H[0], &features));
  P->dH[0] = NULL;
  for (PetscInt l = 1; l <= LAYERS; l++) {
    PetscCall(NumbersCreate((l < LAYERS ? nodes : ngraph) * width[l], &P->H[l]));
    PetscCall(VecDuplicate(P->H[l], &P->dH[l]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GroupDestroy(Group *P)
{
  PetscFunctionBeginUser;
  for (PetscInt l = 0; l < LAYERS; l++) PetscCall(GraphConvDestroy(&P->layer[l]));
  for (PetscInt l = 0; l <= LAYERS; l++) {
    PetscCall(VecDestroy(&P->H[l]));
    PetscCall(VecDestroy(&P->dH[l]));
  }
  PetscCall(MatBatchDestroy(&P->A));
  PetscCall(MatBatchDestroy(&P->average));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- the network ------------------------------------------------- */

/* The numbers that are learnt, and their derivatives for some graphs and for all of a mini-batch */
typedef struct {
  Vec W[LAYERS], bias[LAYERS], dW[LAYERS], dbias[LAYERS], sumW[LAYERS], sumbias[LAYERS];
} Network;

static PetscErrorCode NetworkCreate(PetscInt hidden, Network *N)
{
  const PetscInt width[LAYERS + 1] = {2, hidden, hidden, 1};

  PetscFunctionBeginUser;
  for (PetscInt l = 0; l < LAYERS; l++) {
    PetscScalar *w;

    PetscCall(NumbersCreate(width[l] * width[l + 1], &N->W[l]));
    PetscCall(NumbersCreate(width[l + 1], &N->bias[l]));
    PetscCall(VecGetArrayWrite(N->W[l], &w));
    for (PetscInt k = 0; k < width[l] * width[l + 1]; k++) w[k] = ((PetscReal)Random(2001) / 1000 - 1) * PetscSqrtReal(6. / (PetscReal)(width[l] + width[l + 1]));
    PetscCall(VecRestoreArrayWrite(N->W[l], &w));
    PetscCall(VecSet(N->bias[l], 0));
    PetscCall(VecDuplicate(N->W[l], &N->dW[l]));
    PetscCall(VecDuplicate(N->W[l], &N->sumW[l]));
    PetscCall(VecDuplicate(N->bias[l], &N->dbias[l]));
    PetscCall(VecDuplicate(N->bias[l], &N->sumbias[l]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NetworkDestroy(Network *N)
{
  PetscFunctionBeginUser;
  for (PetscInt l = 0; l < LAYERS; l++) {
    Vec *const all[] = {&N->W[l], &N->bias[l], &N->dW[l], &N->dbias[l], &N->sumW[l], &N->sumbias[l]};

    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(all); k++) PetscCall(VecDestroy(all[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the loss of the graphs and the number of right answers. The derivatives of the loss, which counts each graph with `share`, begin in dH[LAYERS]. */
static PetscErrorCode Forward(const Network *N, Group *P, PetscReal share, PetscReal *loss, PetscInt *right)
{
  const PetscScalar *z;
  PetscScalar       *d;

  PetscFunctionBeginUser;
  for (PetscInt l = 0; l < LAYERS; l++) {
    PetscCall(GraphConvForward(P->layer[l], P->H[l], N->W[l], N->bias[l], P->H[l + 1]));
    if (l < LAYERS - 1) PetscCall(GraphConvRectify(P->H[l + 1]));
  }
  PetscCall(VecGetArrayRead(P->H[LAYERS], &z));
  PetscCall(VecGetArrayWrite(P->dH[LAYERS], &d));
  for (PetscInt g = 0; g < P->ngraph; g++) {
    const PetscReal sign = P->kind[g] ? 1 : -1, margin = sign * PetscRealPart(z[g]);

    *loss += PetscMax(-margin, 0) + PetscLogReal(1 + PetscExpReal(-PetscAbsReal(margin)));
    *right += margin > 0;
    d[g] = -sign * share / (1 + PetscExpReal(margin));
  }
  PetscCall(VecRestoreArrayWrite(P->dH[LAYERS], &d));
  PetscCall(VecRestoreArrayRead(P->H[LAYERS], &z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the derivatives with respect to all that is learnt */
static PetscErrorCode Backward(const Network *N, Group *P)
{
  PetscFunctionBeginUser;
  for (PetscInt l = LAYERS - 1; l >= 0; l--) {
    if (l < LAYERS - 1) PetscCall(GraphConvRectifyBackward(P->H[l + 1], P->dH[l + 1]));
    PetscCall(GraphConvBackward(P->layer[l], P->H[l], N->W[l], P->dH[l + 1], P->dH[l], N->dW[l], N->dbias[l]));
    PetscCall(VecAXPY(N->sumW[l], 1, N->dW[l]));
    PetscCall(VecAXPY(N->sumbias[l], 1, N->dbias[l]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One pass over all graphs; without a rate nothing is learnt */
static PetscErrorCode Pass(const Network *N, PetscInt ngroup, Group *groups, PetscInt batch, PetscReal rate, PetscReal *loss, PetscReal *right)
{
  PetscInt correct = 0, total = 0;

  PetscFunctionBeginUser;
  *loss = 0;
  for (PetscInt p = 0, seen = 0; p < ngroup; p++) {
    const PetscBool last = (PetscBool)(seen + groups[p].ngraph == batch || p == ngroup - 1);

    for (PetscInt l = 0; l < LAYERS && !seen; l++) {
      PetscCall(VecSet(N->sumW[l], 0));
      PetscCall(VecSet(N->sumbias[l], 0));
    }
    PetscCall(Forward(N, &groups[p], 1 / (PetscReal)batch, loss, &correct));
    total += groups[p].ngraph;
    seen = last ? 0 : seen + groups[p].ngraph;
    if (!(rate > 0)) continue;
    PetscCall(Backward(N, &groups[p]));
    for (PetscInt l = 0; l < LAYERS && last; l++) {
      PetscCall(VecAXPY(N->W[l], -rate, N->sumW[l]));
      PetscCall(VecAXPY(N->bias[l], -rate, N->sumbias[l]));
    }
  }
  *loss /= (PetscReal)total;
  *right = (PetscReal)correct / (PetscReal)total;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GroupsCreate(const Graphs *G, PetscInt size, PetscInt hidden, PetscInt *ngroup, Group **groups)
{
  PetscFunctionBeginUser;
  *ngroup = (G->ngraph + size - 1) / size;
  PetscCall(PetscMalloc1(*ngroup, groups));
  for (PetscInt p = 0; p < *ngroup; p++) PetscCall(GroupCreate(G, p * size, PetscMin(size, G->ngraph - p * size), hidden, &(*groups)[p]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Trains a new network, `size` graphs in one step; adds a row to the program's table of results. *seconds: the fastest pass over all graphs */
static PetscErrorCode Train(const Parameters *p, const Graphs *learn, const Graphs *test, PetscInt size, PetscBool talk, PetscLogDouble *seconds)
{
  PetscInt  ngroup, ntest;
  Group    *groups, *tests;
  Network   N;
  PetscReal loss, right;

  PetscFunctionBeginUser;
  PetscCall(NetworkCreate(p->hidden, &N));
  PetscCall(GroupsCreate(learn, size, p->hidden, &ngroup, &groups));
  PetscCall(GroupsCreate(test, test->ngraph, p->hidden, &ntest, &tests));
  *seconds = PETSC_MAX_REAL;
  for (PetscInt e = 1; e <= p->epochs; e++) {
    PetscLogDouble t0, t1;

    PetscCall(PetscTime(&t0));
    PetscCall(Pass(&N, ngroup, groups, p->batch, p->rate, &loss, &right));
    PetscCall(PetscTime(&t1));
    *seconds = PetscMin(*seconds, t1 - t0);
    if (talk && (e == 1 || e % 5 == 0 || e == p->epochs)) PetscCall(PetscPrintf(PETSC_COMM_SELF, "epoch %3" PetscInt_FMT ": loss %.2f, %3.0f %% right\n", e, (double)loss, 100 * (double)right));
  }
  PetscCall(Pass(&N, ntest, tests, test->ngraph, 0, &loss, &right));
  if (talk) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%" PetscInt_FMT " other graphs: loss %.2f, %3.0f %% right\n", test->ngraph, (double)loss, 100 * (double)right));
  PetscCall(CommandAdd("batch", NULL, size));
  PetscCall(CommandAdd("right", NULL, (double)right));
  PetscCall(CommandAdd("epoch_s", NULL, *seconds));
  for (PetscInt k = 0; k < ngroup; k++) PetscCall(GroupDestroy(&groups[k]));
  for (PetscInt k = 0; k < ntest; k++) PetscCall(GroupDestroy(&tests[k]));
  PetscCall(PetscFree(groups));
  PetscCall(PetscFree(tests));
  PetscCall(NetworkDestroy(&N));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunAll(PetscBool *right)
{
  Parameters     p = {1000, 50, 50, 32, 30, 0.1};
  Graphs         learn, test;
  PetscBool      times = PETSC_TRUE, single = PETSC_FALSE;
  PetscLogDouble together = 0, apart;
  PetscMPIInt    size;

  PetscFunctionBeginUser;
  (void)right; /* how much a network learns depends on its parameters */
  PetscCall(PetscAMBInitializePackage());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCheck(size == 1, PETSC_COMM_WORLD, PETSC_ERR_WRONG_MPI_SIZE, "This example runs on one process");
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-graphs", &p.graphs, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-nodes", &p.nodes, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-batch", &p.batch, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-hidden", &p.hidden, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-epochs", &p.epochs, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-rate", &p.rate, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-single", &single, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-times", &times, NULL));
  PetscCheck(p.graphs >= 5 && p.nodes >= 5 && p.batch >= 1 && p.hidden >= 1 && p.epochs >= 1 && p.rate > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-graphs and -nodes are 5 or more, -batch, -hidden and -epochs 1 or more, -rate is positive");
  PetscCall(GraphsCreate(p.graphs, p.nodes, &learn));
  PetscCall(GraphsCreate(p.graphs / 5, p.nodes, &test));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%" PetscInt_FMT " graphs with %.1f nodes and %.1f entries in the rows of a matrix\n", p.graphs, (double)learn.firstnode[p.graphs] / (double)p.graphs, (double)learn.firstentry[p.graphs] / (double)learn.firstnode[p.graphs]));
  if (!single) PetscCall(Train(&p, &learn, &test, p.batch, PETSC_TRUE, &together));
  if (single || times) PetscCall(Train(&p, &learn, &test, 1, single, &apart));
  if (times) PetscCall(PetscPrintf(PETSC_COMM_SELF, "an epoch graph by graph: %.4f s\n", apart));
  if (times && !single) PetscCall(PetscPrintf(PETSC_COMM_SELF, "an epoch in mini-batches of %" PetscInt_FMT " graphs: %.4f s, %.1f times as fast\n", p.batch, together, apart / together));
  PetscCall(GraphsDestroy(&learn));
  PetscCall(GraphsDestroy(&test));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const own[] = {"graphs", "nodes", "batch", "hidden", "epochs", "rate", "single", "times", "csv", "json"};

  return CommandMain("gcn", argc, argv, help, PETSC_STATIC_ARRAY_LENGTH(own), own, RunAll);
}

/*TEST

  testset:
    requires: double !complex
    args: -graphs 300 -batch 20 -hidden 16 -times 0 -malloc_dump
    filter: sed 's/loss [0-9.]*, //'
    output:
      300 graphs with 29.3 nodes and 3.5 entries in the rows of a matrix
      epoch   1:  50 % right
      epoch   5:  96 % right
      epoch  10:  97 % right
      epoch  15:  97 % right
      epoch  20:  97 % right
      epoch  25:  97 % right
      epoch  30:  97 % right
      60 other graphs:  95 % right
    test:
    test:
      suffix: single
      args: -single
    test:
      suffix: cuda
      requires: cuda
      args: -vec_type cuda

TEST*/
