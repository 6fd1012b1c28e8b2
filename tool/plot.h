/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Parts of a picture in SVG, alone or in a page of HTML
*/
#pragma once

#include "tool.h"

#define BLUE   "#3b6ea8"
#define ORANGE "#d9822b"
#define GREY   "#888888"

PETSC_INTERN void PlotBegin(FILE *, PetscBool html, const char title[], int width, int height);
PETSC_INTERN void PlotEnd(FILE *, PetscBool html);
PETSC_INTERN void PlotText(FILE *, double x, double y, const char anchor[], const char text[]);
PETSC_INTERN void PlotBar(FILE *, double x, double y, double width, double height, const char colour[]);
PETSC_INTERN void PlotLine(FILE *, double x0, double y0, double x1, double y1, const char colour[]);
