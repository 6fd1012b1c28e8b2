/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The slot for products of matrices of petsc-amb's types: a registered provider computes a product, or PETSc if none supports it. The slot includes no provider.
*/
#pragma once

#include "mat/shadow/core/shadow.h"

/* An algorithm of MatProduct, for operands that are AIJ or subtypes of petsc-amb */
typedef struct {
  const char *algorithm;                          /* the name, for -mat_product_algorithm and MatProductSetAlgorithm() */
  PetscErrorCode (*supports)(Mat C, PetscBool *); /* sets the flag if the provider computes this product */
  PetscErrorCode (*setsymbolic)(Mat C);           /* sets the symbolic phase of the product */
} MatProductProvider;

#define MAT_PRODUCT_PROVIDERS 8

extern PetscErrorCode MatProductProviderRegister(const MatProductProvider *);
extern PetscErrorCode MatProductRegister(void);
extern PetscErrorCode MatProductRegisterFinalize(void);

/* For a provider that fails to compute a product: sets the symbolic phase of PETSc's product. The provider has freed its data before. */
extern PetscErrorCode MatProductDecline(Mat C, const char reason[]);

extern const MatShadowProducts MatProductSlot;

/* Gets the operands of a product; the third is NULL if the product has two */
static inline void MatProductGetOperands(Mat C, Mat operand[3])
{
  operand[0] = C->product->A;
  operand[1] = C->product->B;
  operand[2] = C->product->type == MATPRODUCT_ABC ? C->product->C : NULL;
}
