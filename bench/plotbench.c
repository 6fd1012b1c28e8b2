/* SPDX-License-Identifier: BSD-2-Clause */
/*
   petscamb bench -html: speeds as bars, and a roofline.
*/
#include "bench.h"
#include "../tool/plot.h"

#define ROW 18 /* pixels of a bar with its space */

/* Speeds in terms of aij, with their intervals */
static void Bars(FILE *f, double y, PetscInt n, const Result results[])
{
  double most = 1;
  char   text[256];

  for (PetscInt i = 0; i < n; i++) most = PetscMax(most, results[i].ratio_high);
  for (PetscInt i = 0; i < n; i++) {
    const Result *r    = &results[i];
    const double  unit = 420 / most, middle = y + ROW / 2.0 - 2;

    if (!(r->ratio > 0)) continue;
    (void)snprintf(text, sizeof(text), "%s %s %s", r->matrix, r->op, r->type);
    PlotText(f, 290, y + 11, "end", text);
    PlotBar(f, 300, y, r->ratio * unit, ROW - 4, r->error <= 1 ? (strcmp(r->type, MATAIJ) ? BLUE : GREY) : "red");
    PlotLine(f, 300 + r->ratio_low * unit, middle, 300 + r->ratio_high * unit, middle, "black");
    (void)snprintf(text, sizeof(text), "%.2f", r->ratio);
    PlotText(f, 306 + r->ratio_high * unit, y + 11, "start", text);
    y += ROW;
  }
}

#define LABELS 64 /* of the roofline, of those that are kept apart */
#define LABEL  11 /* pixels of their height */

/* The next of 1, 2, 5, 10, 20, ... that is not below v; the least one if v is 0 */
static double Tick(double v)
{
  double power = 1e-12;

  while (5 * power < v) power *= 10;
  return v <= power ? power : v <= 2 * power ? 2 * power : 5 * power;
}

/* GFLOP/s over flops a byte, below the rates at which the memory and the cache are read; both axes logarithmic */
static void Roofline(FILE *f, double y, const Machine *m, PetscInt n, const Result results[])
{
  const double left = 80, width = 560, height = 300;
  double       xs[2] = {PETSC_MAX_REAL, 0}, ys[2] = {PETSC_MAX_REAL, 0}, labels[LABELS][2];
  int          nlabels = 0;
  char         text[256];

  for (PetscInt i = 0; i < n; i++) {
    const Result *r = &results[i];
    const double  x = r->bytes > 0 ? r->flops * r->median / r->bytes : 0;

    if (!(x > 0)) continue;
    xs[0] = PetscMin(xs[0], x / 1.3);
    xs[1] = PetscMax(xs[1], x * 1.3);
    ys[0] = PetscMin(ys[0], r->flops / 1.5);
    ys[1] = PetscMax(ys[1], r->flops * 1.3);
  }
  if (!(xs[1] > 0)) return;
  ys[1] = PetscMax(ys[1], xs[1] * PetscMax(m->read_cache, m->read_memory));
#define X(v) (left + width * log((v) / xs[0]) / log(xs[1] / xs[0]))
#define Y(v) (y + height - height * log((v) / ys[0]) / log(ys[1] / ys[0]))
  fprintf(f, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" stroke=\"%s\"/>\n", left, y, width, height, GREY);
  for (double v = Tick(xs[0]); v <= xs[1]; v = Tick(1.01 * v)) {
    PlotLine(f, X(v), y + height, X(v), y + height + 4, GREY);
    (void)snprintf(text, sizeof(text), "%g", v);
    PlotText(f, X(v), y + height + 15, "middle", text);
  }
  for (double v = Tick(ys[0] / 1e9); v <= ys[1] / 1e9; v = Tick(1.01 * v)) {
    PlotLine(f, left - 4, Y(v * 1e9), left, Y(v * 1e9), GREY);
    (void)snprintf(text, sizeof(text), "%g", v);
    PlotText(f, left - 7, Y(v * 1e9) + 4, "end", text);
  }
  for (int roof = 0; roof < 2; roof++) {
    const double rate = roof ? m->read_cache : m->read_memory;
    double       x    = xs[0];

    if (!(rate > 0)) continue;
    if (x * rate < ys[0]) x = ys[0] / rate;
    PlotLine(f, X(x), Y(x * rate), X(xs[1]), Y(xs[1] * rate), ORANGE);
    (void)snprintf(text, sizeof(text), "%s, read at %.1f GB/s", roof ? "cache" : "memory", rate / 1e9);
    PlotText(f, X(xs[1]) + 4, Y(xs[1] * rate) + 4, "start", text);
  }
  for (PetscInt i = 0; i < n; i++) {
    const Result *r = &results[i];
    const double  x = r->bytes > 0 ? r->flops * r->median / r->bytes : 0;
    PetscBool     right;
    double        at;

    if (!(x > 0)) continue;
    fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", X(x), Y(r->flops), strcmp(r->type, MATAIJ) ? BLUE : GREY);
    (void)snprintf(text, sizeof(text), "%s %s", r->matrix, r->type);
    right = (PetscBool)(X(x) > left + width / 2); /* the label is on the side where there is room, below those that it would cover */
    at    = Y(r->flops) + 3;
    for (int k = 0; k < nlabels; k++) {
      if (fabs(labels[k][0] - X(x)) > width / 4 || fabs(labels[k][1] - at) >= LABEL) continue;
      at = labels[k][1] + LABEL;
      k  = -1;
    }
    if (nlabels < LABELS) {
      labels[nlabels][0]   = X(x);
      labels[nlabels++][1] = at;
    }
    PlotText(f, X(x) + (right ? -5 : 5), at, right ? "end" : "start", text);
  }
  PlotText(f, left, y + height + 32, "start", "GFLOP/s over flops for each byte that is read; a small matrix may lie above the lines, in a faster cache");
#undef X
#undef Y
}

PetscErrorCode PlotBench(MPI_Comm comm, const char file[], const Machine *m, PetscInt n, const Result results[])
{
  PetscInt bars = 0;
  char     text[512];
  FILE    *f;

  PetscFunctionBegin;
  PetscCall(ReportOpen(comm, file, &f));
  if (!f) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; i < n; i++) bars += results[i].ratio > 0;
  PlotBegin(f, PETSC_TRUE, "Speeds in terms of aij; black lines: intervals of the ratios", 900, (int)(ROW * bars) + 470);
  (void)snprintf(text, sizeof(text), "%s%s%s, %d x %d threads, load %.1f; petsc-amb %s (%s), PETSc %s, %s", m->about.cpu, m->about.gpu[0] ? ", " : "", m->about.gpu, m->ranks, m->threads, m->about.load, m->about.version, m->about.commit, m->about.petsc,
                 m->about.date);
  PlotText(f, 20, 44, "start", text);
  Bars(f, 60, n, results);
  Roofline(f, 80 + (double)(ROW * bars), m, n, results);
  PlotEnd(f, PETSC_TRUE);
  PetscCall(ReportClose(file, PETSC_FALSE, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}
