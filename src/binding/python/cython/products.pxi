# SPDX-License-Identifier: BSD-2-Clause
# Products of matrices


def hashgemm_set_accumulator(Mat mat, value):
    """Set the data structure in which products gather a row, for the products that follow of which `mat` is an operand.

    Parameters
    ----------
    mat : Mat
    value : {"auto", "hash", "hashvec", "heap", "dense", "window", "esc", "merge", "words"}
        "auto" is the default.

    Raises
    ------
    ValueError
        `value` is none of these.

    See Also
    --------
    MatHashGEMMSetAccumulator : in C
    """
    check(MatHashGEMMSetAccumulator(mat_of(mat), <MatHashGEMMAccumulator>word(<const char **>MatHashGEMMAccumulators, value)))


def sddmm_mat(Mat S, Mat D1, Mat D2, scale=True, Mat result=None):
    """The entries of D1 D2^T in the pattern of S, of matrices of petsc4py; `petscamb.sddmm()` calls this function."""
    cdef Mat O = PETSc.Mat() if result is None else result
    check(MatSDDMM(mat_of(S), mat_of(D1), mat_of(D2), <PetscBool>bool(scale), MAT_INITIAL_MATRIX if result is None else MAT_REUSE_MATRIX, &O.mat))
    return O


def mat_mult_mask_sum(Mat A, Mat B, Mat M):
    """Compute the sum of the entries of (A B) o M, where o is the product entry by entry, without storing A B.

    Parameters
    ----------
    A : Mat, shape (m, k)
    B : Mat, shape (k, n)
    M : Mat, shape (m, n)

    Returns
    -------
    float

    Raises
    ------
    PETSc.Error
        A matrix is no AIJ or not assembled, sizes do not fit, or scalars are complex.

    See Also
    --------
    MatMatMultMaskSum : in C
    """
    cdef PetscLogDouble found = 0
    check(MatMatMultMaskSum(mat_of(A), mat_of(B), mat_of(M), &found))
    return found
