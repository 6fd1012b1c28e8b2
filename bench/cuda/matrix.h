/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Matrices for the device benchmark, in CSR on the host: read from Matrix Market files or made by a generator
*/
#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct Matrix {
  int64_t             m = 0, n = 0;
  std::vector<int>    i, j; /* the columns of a row ascend */
  std::vector<double> a;
};

/* A matrix from a file, or from a name such as p7:101. Returns what is wrong, or nothing. */
std::string MatrixCreate(const std::string &name, Matrix &A);

/* The transposed matrix */
Matrix MatrixTranspose(const Matrix &A);

/* Uniform in (0,1], the k-th number of a stream that is the same everywhere */
double MatrixUniform(uint64_t k);
