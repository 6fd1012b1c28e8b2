/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Pictures: petscamb info -plot draws the pattern of a matrix with histograms, petscamb bench -html the speeds as bars and a roofline.
*/
#include "bench.h"

#define PIXELS 300 /* of a pattern, at most, in each direction */
#define BLUE   "#3b6ea8"
#define ORANGE "#d9822b"
#define GREY   "#888888"

/* Text with the characters that mean something to a browser replaced */
static void Text(FILE *f, double x, double y, const char anchor[], const char text[])
{
  fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
  for (; *text; text++) {
    if (*text == '<') fputs("&lt;", f);
    else if (*text == '&') fputs("&amp;", f);
    else fputc(*text, f);
  }
  fputs("</text>\n", f);
}

static void Bar(FILE *f, double x, double y, double width, double height, const char colour[])
{
  fprintf(f, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", x, y, width, height, colour);
}

static void Line(FILE *f, double x0, double y0, double x1, double y1, const char colour[])
{
  fprintf(f, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x0, y0, x1, y1, colour);
}

static void Begin(FILE *f, PetscBool html, const char title[], int width, int height)
{
  if (html) {
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">", f);
    fprintf(f, "<title>petscamb</title></head><body>\n");
  }
  fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"11\">\n", width, height, width, height);
  Bar(f, 0, 0, width, height, "white");
  fputs("<g font-size=\"14\">", f);
  Text(f, 20, 24, "start", title);
  fputs("</g>\n", f);
}

static void End(FILE *f, PetscBool html)
{
  fputs("</svg>\n", f);
  if (html) fputs("</body></html>\n", f);
}

/* ------------------------------------------------- a matrix ------------------------------------------------- */

static PetscErrorCode PlotKind(const char file[], PetscBool *png, PetscBool *svg, PetscBool *html)
{
  PetscFunctionBegin;
  PetscCall(PetscStrendswith(file, ".png", png));
  PetscCall(PetscStrendswith(file, ".svg", svg));
  PetscCall(PetscStrendswith(file, ".html", html));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PlotCheckName(MPI_Comm comm, const char file[])
{
  PetscBool png, svg, html;

  PetscFunctionBegin;
  PetscCall(PlotKind(file, &png, &svg, &html));
  PetscCheck(png || svg || html, comm, PETSC_ERR_USER_INPUT, "-plot %s: the name must end in .png, .svg or .html", file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts the nonzeros of each pixel on all processes, and turns them into greys: white for none, the darker the more */
static PetscErrorCode Pattern(MPI_Comm comm, const Rows *rows, int width, int height, unsigned char **grey)
{
  PetscLogDouble *count, most = 0;
  PetscMPIInt     rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PetscCalloc1(width * height, &count));
  for (PetscInt r = 0; r < rows->m; r++) {
    PetscLogDouble *line = count + (PetscInt64)(rows->rstart + r) * height / rows->M * width;

    for (PetscInt k = rows->i[r]; k < rows->i[r + 1]; k++) line[(PetscInt64)rows->j[k] * width / rows->N]++;
  }
  PetscCallMPI(MPI_Reduce(rank ? count : MPI_IN_PLACE, count, width * height, MPI_DOUBLE, MPI_SUM, 0, comm));
  PetscCall(PetscMalloc1(width * height, grey));
  for (int p = 0; p < width * height; p++) most = PetscMax(most, count[p]);
  for (int p = 0; p < width * height; p++) (*grey)[p] = count[p] > 0 ? (unsigned char)(180 * (1 - log(count[p]) / log(most + 1))) : 255;
  PetscCall(PetscFree(count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void Base64(FILE *f, const unsigned char *p, size_t n)
{
  const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

  for (size_t k = 0; k < n; k += 3) {
    const unsigned word = (unsigned)p[k] << 16 | (k + 1 < n ? (unsigned)p[k + 1] : 0) << 8 | (k + 2 < n ? (unsigned)p[k + 2] : 0);

    fputc(letters[word >> 18], f);
    fputc(letters[word >> 12 & 63], f);
    fputc(k + 1 < n ? letters[word >> 6 & 63] : '=', f);
    fputc(k + 2 < n ? letters[word & 63] : '=', f);
  }
}

/* A histogram of n classes, of which the names of some are written */
static void Histogram(FILE *f, double x, double y, double width, double height, const char title[], int n, const PetscLogDouble values[], PetscBool powers)
{
  PetscLogDouble sum = 0, most = 0;
  char           text[96];

  for (int k = 0; k < n; k++) {
    sum += values[k];
    most = PetscMax(most, values[k]);
  }
  (void)snprintf(text, sizeof(text), "%s (the highest: %.1f %%)", title, sum > 0 ? 100 * most / sum : 0.0);
  Text(f, x, y - 6, "start", text);
  Line(f, x, y + height, x + width, y + height, GREY);
  for (int k = 0; k < n; k++) {
    const double step = width / n, bar = most > 0 ? height * values[k] / most : 0;

    if (bar > 0) Bar(f, x + k * step + 1, y + height - PetscMax(bar, 0.7), PetscMax(step - 2, 1), PetscMax(bar, 0.7), BLUE);
    if (powers) (void)snprintf(text, sizeof(text), "%.0f", k ? pow(2.0, k - 1) : 0.0);
    else (void)snprintf(text, sizeof(text), "%d%s", k + 1, k + 1 == n ? "+" : "");
    if (k % (n > 16 ? 4 : n > 8 ? 2 : 1) == 0 || !powers) Text(f, x + k * step + step / 2, y + height + 13, "middle", text);
  }
}

PetscErrorCode PlotMatrix(MPI_Comm comm, const char file[], const char name[], const Rows *rows, const Shape *s)
{
  const int      width = (int)PetscMin(PetscMax(s->N, 1), PIXELS), height = (int)PetscMin(PetscMax(s->M, 1), PIXELS);
  const double   scale = 330.0 / (double)PetscMax(PetscMax(s->M, s->N), 1), w = PetscMax(scale * (double)s->N, 4), h = PetscMax(scale * (double)s->M, 4);
  PetscBool      png, svg, html;
  unsigned char *grey, *image;
  size_t         size;
  int            lengths = 1, distances = 1;
  char           text[256];
  FILE          *f;

  PetscFunctionBegin;
  PetscCall(PlotKind(file, &png, &svg, &html));
  PetscCall(Pattern(comm, rows, width, height, &grey));
  PetscCall(ReportOpen(comm, file, &f));
  if (f) {
    PetscCall(PNGMake(width, height, grey, &image, &size));
    if (png) (void)fwrite(image, 1, size, f); /* ReportClose() knows whether it was written */
    else {
      for (int k = 0; k < SHAPE_CLASSES; k++) {
        if (s->lengths[k] > 0) lengths = k + 1;
        if (s->distances[k] > 0) distances = k + 1;
      }
      Begin(f, html, name, 800, 440);
      (void)snprintf(text, sizeof(text), "%" PetscInt_FMT " x %" PetscInt_FMT ", %.0f nonzeros, %.1f a row, %s", s->M, s->N, s->nonzeros, s->row_mean, s->symmetric ? "symmetric" : s->pattern_symmetric ? "symmetric in pattern" : "not symmetric");
      Text(f, 20, 44, "start", text);
      fprintf(f, "<image x=\"20\" y=\"60\" width=\"%.1f\" height=\"%.1f\" preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" href=\"data:image/png;base64,", w, h);
      Base64(f, image, size);
      fputs("\"/>\n", f);
      fprintf(f, "<rect x=\"20\" y=\"60\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" stroke=\"%s\"/>\n", w, h, GREY);
      Text(f, 20, 410, "start", "the pattern: the darker, the more nonzeros");
      Histogram(f, 400, 80, 360, 80, "rows by their nonzeros", lengths, s->lengths, PETSC_TRUE);
      Histogram(f, 400, 205, 360, 80, "nonzeros by |row - column|", distances, s->distances, PETSC_TRUE);
      Histogram(f, 400, 330, 360, 70, "nonzeros by the length of runs of columns", 10, s->run + 1, PETSC_FALSE);
      End(f, html);
    }
    PetscCall(ReportClose(file, PETSC_FALSE, f));
    PetscCall(PetscFree(image));
  }
  PetscCall(PetscFree(grey));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- results of bench ------------------------------------------------- */

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
    Text(f, 290, y + 11, "end", text);
    Bar(f, 300, y, r->ratio * unit, ROW - 4, r->error <= 1 ? (strcmp(r->type, MATAIJ) ? BLUE : GREY) : "red");
    Line(f, 300 + r->ratio_low * unit, middle, 300 + r->ratio_high * unit, middle, "black");
    (void)snprintf(text, sizeof(text), "%.2f", r->ratio);
    Text(f, 306 + r->ratio_high * unit, y + 11, "start", text);
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
    Line(f, X(v), y + height, X(v), y + height + 4, GREY);
    (void)snprintf(text, sizeof(text), "%g", v);
    Text(f, X(v), y + height + 15, "middle", text);
  }
  for (double v = Tick(ys[0] / 1e9); v <= ys[1] / 1e9; v = Tick(1.01 * v)) {
    Line(f, left - 4, Y(v * 1e9), left, Y(v * 1e9), GREY);
    (void)snprintf(text, sizeof(text), "%g", v);
    Text(f, left - 7, Y(v * 1e9) + 4, "end", text);
  }
  for (int roof = 0; roof < 2; roof++) {
    const double rate = roof ? m->read_cache : m->read_memory;
    double       x    = xs[0];

    if (!(rate > 0)) continue;
    if (x * rate < ys[0]) x = ys[0] / rate;
    Line(f, X(x), Y(x * rate), X(xs[1]), Y(xs[1] * rate), ORANGE);
    (void)snprintf(text, sizeof(text), "%s, read at %.1f GB/s", roof ? "cache" : "memory", rate / 1e9);
    Text(f, X(xs[1]) + 4, Y(xs[1] * rate) + 4, "start", text);
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
    Text(f, X(x) + (right ? -5 : 5), at, right ? "end" : "start", text);
  }
  Text(f, left, y + height + 32, "start", "GFLOP/s over flops for each byte that is read; a small matrix may lie above the lines, in a faster cache");
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
  Begin(f, PETSC_TRUE, "Speeds in terms of aij; black lines: intervals of the ratios", 900, (int)(ROW * bars) + 470);
  (void)snprintf(text, sizeof(text), "%s%s%s, %d x %d threads, load %.1f; petsc-amb %s (%s), PETSc %s, %s", m->about.cpu, m->about.gpu[0] ? ", " : "", m->about.gpu, m->ranks, m->threads, m->about.load, m->about.version, m->about.commit, m->about.petsc,
                 m->about.date);
  Text(f, 20, 44, "start", text);
  Bars(f, 60, n, results);
  Roofline(f, 80 + (double)(ROW * bars), m, n, results);
  End(f, PETSC_TRUE);
  PetscCall(ReportClose(file, PETSC_FALSE, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}
