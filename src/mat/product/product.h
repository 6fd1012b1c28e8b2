/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The slot for products of matrices of petsc-amb's types: which provider makes a product, and PETSc where none does. The slot knows no provider.
*/
#pragma once

#include "mat/shadow/shadow.h"

/* An algorithm of MatProduct, for operands that are AIJ or subtypes of petsc-amb */
typedef struct {
  const char *algorithm;                        /* as -mat_product_algorithm and MatProductSetAlgorithm() name it */
  PetscErrorCode (*serves)(Mat C, PetscBool *); /* can it make this product? */
  PetscErrorCode (*take)(Mat C);                /* sets the symbolic phase of the product */
} MatProductProvider;

#define MAT_PRODUCT_PROVIDERS 8

extern PetscErrorCode MatProductProviderRegister(const MatProductProvider *);
extern PetscErrorCode MatProductRegisterFinalize(void);

extern const MatShadowProducts MatProductSlot;

/* The operands of a product; the third is NULL if there are two */
static inline void MatProductGetOperands(Mat C, Mat operand[3])
{
  operand[0] = C->product->A;
  operand[1] = C->product->B;
  operand[2] = C->product->type == MATPRODUCT_ABC ? C->product->C : NULL;
}
