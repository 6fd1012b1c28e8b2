/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Pictures: their parts, and the pattern of a matrix with histograms, which petscamb info -plot draws.
*/
#include "plot.h"

#define PIXELS 300 /* of a pattern, at most, in each direction */

/* Text with the characters that mean something to a browser replaced */
void PlotText(FILE *f, double x, double y, const char anchor[], const char text[])
{
  fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
  for (; *text; text++) {
    if (*text == '<') fputs("&lt;", f);
    else if (*text == '&') fputs("&amp;", f);
    else fputc(*text, f);
  }
  fputs("</text>\n", f);
}

void PlotBar(FILE *f, double x, double y, double width, double height, const char colour[])
{
  fprintf(f, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", x, y, width, height, colour);
}

void PlotLine(FILE *f, double x0, double y0, double x1, double y1, const char colour[])
{
  fprintf(f, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x0, y0, x1, y1, colour);
}

void PlotBegin(FILE *f, PetscBool html, const char title[], int width, int height)
{
  if (html) {
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">", f);
    fprintf(f, "<title>petscamb</title></head><body>\n");
  }
  fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"11\">\n", width, height, width, height);
  PlotBar(f, 0, 0, width, height, "white");
  fputs("<g font-size=\"14\">", f);
  PlotText(f, 20, 24, "start", title);
  fputs("</g>\n", f);
}

void PlotEnd(FILE *f, PetscBool html)
{
  fputs("</svg>\n", f);
  if (html) fputs("</body></html>\n", f);
}

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
  PlotText(f, x, y - 6, "start", text);
  PlotLine(f, x, y + height, x + width, y + height, GREY);
  for (int k = 0; k < n; k++) {
    const double step = width / n, bar = most > 0 ? height * values[k] / most : 0;

    if (bar > 0) PlotBar(f, x + k * step + 1, y + height - PetscMax(bar, 0.7), PetscMax(step - 2, 1), PetscMax(bar, 0.7), BLUE);
    if (powers) (void)snprintf(text, sizeof(text), "%.0f", k ? pow(2.0, k - 1) : 0.0);
    else (void)snprintf(text, sizeof(text), "%d%s", k + 1, k + 1 == n ? "+" : "");
    if (k % (n > 16 ? 4 : n > 8 ? 2 : 1) == 0 || !powers) PlotText(f, x + k * step + step / 2, y + height + 13, "middle", text);
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
      PlotBegin(f, html, name, 800, 440);
      (void)snprintf(text, sizeof(text), "%" PetscInt_FMT " x %" PetscInt_FMT ", %.0f nonzeros, %.1f a row, %s", s->M, s->N, s->nonzeros, s->row_mean, s->symmetric ? "symmetric" : s->pattern_symmetric ? "symmetric in pattern" : "not symmetric");
      PlotText(f, 20, 44, "start", text);
      fprintf(f, "<image x=\"20\" y=\"60\" width=\"%.1f\" height=\"%.1f\" preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" href=\"data:image/png;base64,", w, h);
      Base64(f, image, size);
      fputs("\"/>\n", f);
      fprintf(f, "<rect x=\"20\" y=\"60\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" stroke=\"%s\"/>\n", w, h, GREY);
      PlotText(f, 20, 410, "start", "the pattern: the darker, the more nonzeros");
      Histogram(f, 400, 80, 360, 80, "rows by their nonzeros", lengths, s->lengths, PETSC_TRUE);
      Histogram(f, 400, 205, 360, 80, "nonzeros by |row - column|", distances, s->distances, PETSC_TRUE);
      Histogram(f, 400, 330, 360, 70, "nonzeros by the length of runs of columns", 10, s->run + 1, PETSC_FALSE);
      PlotEnd(f, html);
    }
    PetscCall(ReportClose(file, PETSC_FALSE, f));
    PetscCall(PetscFree(image));
  }
  PetscCall(PetscFree(grey));
  PetscFunctionReturn(PETSC_SUCCESS);
}
