/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The slot for products of matrices of petsc-amb's types: it has one of the registered providers make a product, or else PETSc. The slot includes no provider.
*/
#pragma once

#include "mat/shadow/core/shadow.h"

/* An algorithm of MatProduct, for operands that are AIJ or subtypes of petsc-amb */
typedef struct {
  const char *algorithm;                        /* the name, for -mat_product_algorithm and MatProductSetAlgorithm() */
  PetscErrorCode (*serves)(Mat C, PetscBool *); /* can the provider make this product? */
  PetscErrorCode (*take)(Mat C);                /* sets the symbolic phase of the product */
} MatProductProvider;

#define MAT_PRODUCT_PROVIDERS 8

extern PetscErrorCode MatProductProviderRegister(const MatProductProvider *);
extern PetscErrorCode MatProductRegister(void);
extern PetscErrorCode MatProductRegisterFinalize(void);

/* For a provider that cannot make a product after all: sets the symbolic phase of PETSc's product. The provider has freed the data of its own. */
extern PetscErrorCode MatProductDecline(Mat C, const char reason[]);

extern const MatShadowProducts MatProductSlot;

/* Gets the operands of a product; the third is NULL if the product has two */
static inline void MatProductGetOperands(Mat C, Mat operand[3])
{
  operand[0] = C->product->A;
  operand[1] = C->product->B;
  operand[2] = C->product->type == MATPRODUCT_ABC ? C->product->C : NULL;
}
