# SPDX-License-Identifier: BSD-2-Clause
# Batches of small matrices, and graph convolutions: classes of petsc4py's kind, with names, references and destroy()


cdef object new_vec(Vec like, length):
    """A vector of the type of another one."""
    found = PETSc.Vec().create(comm=like.comm)
    found.setType(like.getType())
    found.setSizes(length)
    return found


cdef class MatBatch(Object):
    """A batch of small sparse matrices of different sizes, which products multiply in one step.

    `create_csr()`, `create_coo()` and `create_from_mats()` create batches; ``with`` destroys them at its end.

    See Also
    --------
    MatBatch : in C
    """

    cdef PetscMatBatch batch

    def __cinit__(self):
        self.batch = NULL
        self.obj = <PetscObject *>&self.batch

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.destroy()

    cdef PetscMatBatch handle_of(self) except? NULL:
        if self.batch == NULL:
            raise ValueError("the batch is destroyed or not created yet")
        return self.batch

    @classmethod
    def create_csr(cls, m, n, i, j, a=None, comm=None):
        """Create a batch from arrays of rows.

        Parameters
        ----------
        m, n : sequence of int, shape (matrices,)
            The rows and columns of each matrix.
        i : sequence of int, shape (rows + 1,)
            The start of each row in `j` and `a`, the rows of the first matrix first.
        j : sequence of int, shape (entries,)
            The column of each entry in its own matrix.
        a : sequence of scalars, shape (entries,), optional
            The values; zeros by default.
        comm : Comm, optional
            A communicator of one process.

        Returns
        -------
        MatBatch

        Raises
        ------
        ValueError
            An array has another length.
        PETSc.Error
            A column lies outside of its matrix, rows descend, the communicator has several processes, or scalars are complex.

        See Also
        --------
        MatBatchCreateCSR : in C
        """
        cdef MatBatch self = cls()
        m = integers(m, "m")
        n = integers(n, "n", m.size)
        i = integers(i, "i", m.sum() + 1)
        j = integers(j, "j")
        if i[-1] != j.size:
            raise ValueError("j has %d numbers, not the %d of the last row's end" % (j.size, i[-1]))
        values = None if a is None else scalars(a, "a", j.size)
        check(MatBatchCreateCSR(GetComm(comm, PETSC_COMM_SELF), <PetscInt>m.size, <PetscInt *>address(m), <PetscInt *>address(n), <PetscInt *>address(i), <PetscInt *>address(j),
                                NULL if values is None else <PetscScalar *>address(values), &self.batch))
        return self

    @classmethod
    def create_coo(cls, m, n, nentry, i, j, a=None, comm=None):
        """Create a batch from arrays of entries in any order; entries at the same position add up.

        Parameters
        ----------
        m, n, nentry : sequence of int, shape (matrices,)
            The rows, columns and entries of each matrix.
        i, j : sequence of int, shape (entries,)
            The row and column of each entry in its own matrix, the entries of the first matrix first.
        a : sequence of scalars, shape (entries,), optional
            The values; zeros by default.
        comm : Comm, optional
            A communicator of one process.

        Returns
        -------
        MatBatch

        Raises
        ------
        ValueError
            An array has another length.
        PETSc.Error
            An entry lies outside of its matrix, the communicator has several processes, or scalars are complex.

        See Also
        --------
        MatBatchCreateCOO : in C
        """
        cdef MatBatch self = cls()
        m = integers(m, "m")
        n = integers(n, "n", m.size)
        nentry = integers(nentry, "nentry", m.size)
        i = integers(i, "i", nentry.sum())
        j = integers(j, "j", i.size)
        values = None if a is None else scalars(a, "a", j.size)
        check(MatBatchCreateCOO(GetComm(comm, PETSC_COMM_SELF), <PetscInt>m.size, <PetscInt *>address(m), <PetscInt *>address(n), <PetscInt *>address(nentry), <PetscInt *>address(i),
                                <PetscInt *>address(j), NULL if values is None else <PetscScalar *>address(values), &self.batch))
        return self

    @classmethod
    def create_from_mats(cls, mats):
        """Create a batch from copies of matrices.

        Parameters
        ----------
        mats : sequence of Mat
            Assembled matrices of type seqaij.

        Returns
        -------
        MatBatch

        Raises
        ------
        PETSc.Error
            A matrix is no seqaij or not assembled, or scalars are complex.

        See Also
        --------
        MatBatchCreateFromMats : in C
        """
        cdef MatBatch self = cls()
        cdef list given = list(mats)
        cdef PetscMat *handles = <PetscMat *>malloc((len(given) + 1) * sizeof(PetscMat))
        if handles == NULL:
            raise MemoryError()
        try:
            for k in range(len(given)):
                handles[k] = mat_of(given[k])
            check(MatBatchCreateFromMats(<PetscInt>len(given), handles, &self.batch))
        finally:
            free(handles)
        return self

    def set_values(self, a):
        """Set the values of all entries.

        Parameters
        ----------
        a : sequence of scalars, shape (entries,)
            As many as at the creation, in the same order.

        Raises
        ------
        ValueError
            There are more or fewer values.

        See Also
        --------
        MatBatchSetValues : in C
        """
        values = scalars(a, "a", self.get_sizes()[3])
        check(MatBatchSetValues(self.batch, <PetscScalar *>address(values)))

    def set_atomic(self, flag):
        """Set whether products on a GPU add by atomic operations, in no fixed order.

        Parameters
        ----------
        flag : bool
            False is the default.

        See Also
        --------
        MatBatchSetAtomic : in C
        """
        check(MatBatchSetAtomic(self.handle_of(), <PetscBool>bool(flag)))

    def get_sizes(self):
        """Get the number of matrices, and their sizes added up.

        Returns
        -------
        matrices, rows, columns, values : int
            `set_values()` needs as many values.

        See Also
        --------
        MatBatchGetSizes : in C
        """
        cdef PetscInt matrices = 0
        cdef PetscInt rows = 0
        cdef PetscInt columns = 0
        cdef PetscCount values = 0
        check(MatBatchGetSizes(self.handle_of(), &matrices, &rows, &columns, &values))
        return matrices, rows, columns, values

    def _operands(self, Vec D, Vec C, width, transpose):
        vec_of(D)
        sizes = self.get_sizes()
        inner, outer = (sizes[1], sizes[2]) if transpose else (sizes[2], sizes[1])
        if width is None:
            if not inner or D.getLocalSize() % inner:
                raise ValueError("D has %d numbers, no multiple of the %d rows of the dense matrices" % (D.getLocalSize(), inner))
            width = D.getLocalSize() // inner
        return width, new_vec(D, width * outer) if C is None else C

    def mult(self, Vec D, Vec C=None, width=None):
        """Multiply each matrix with a dense matrix, C[b] = A[b] D[b].

        Parameters
        ----------
        D : Vec, shape (columns * width,)
            The dense matrices, stored by rows, one after the other.
        C : Vec, shape (rows * width,), optional
            The vector for the result; a new one by default.
        width : int, optional
            The columns of each dense matrix; by default as many as `D` has.

        Returns
        -------
        Vec
            `C`.

        Raises
        ------
        ValueError
            `D` has no whole number of columns.
        PETSc.Error
            `C` or `D` has another size, or both are the same vector.

        See Also
        --------
        MatBatchMult : in C
        """
        width, result = self._operands(D, C, width, False)
        check(MatBatchMult(self.batch, width, D.vec, vec_of(result)))
        return result

    def mult_add(self, Vec D, Vec C, width=None):
        """Multiply each matrix with a dense matrix and add the product, C[b] = C[b] + A[b] D[b].

        Parameters
        ----------
        D : Vec, shape (columns * width,)
            The dense matrices, stored by rows, one after the other.
        C : Vec, shape (rows * width,)
            The vector to change.
        width : int, optional
            The columns of each dense matrix; by default as many as `D` has.

        Returns
        -------
        Vec
            `C`.

        Raises
        ------
        ValueError
            `D` has no whole number of columns.
        PETSc.Error
            `C` or `D` has another size, or both are the same vector.

        See Also
        --------
        MatBatchMultAdd : in C
        """
        vec_of(C)
        width, result = self._operands(D, C, width, False)
        check(MatBatchMultAdd(self.batch, width, D.vec, vec_of(result)))
        return result

    def mult_transpose(self, Vec D, Vec C=None, width=None):
        """Multiply the transpose of each matrix with a dense matrix, C[b] = A[b]^T D[b].

        Parameters
        ----------
        D : Vec, shape (rows * width,)
            The dense matrices, stored by rows, one after the other.
        C : Vec, shape (columns * width,), optional
            The vector for the result; a new one by default.
        width : int, optional
            The columns of each dense matrix; by default as many as `D` has.

        Returns
        -------
        Vec
            `C`.

        Raises
        ------
        ValueError
            `D` has no whole number of columns.
        PETSc.Error
            `C` or `D` has another size, or both are the same vector.

        See Also
        --------
        MatBatchMultTranspose : in C
        """
        width, result = self._operands(D, C, width, True)
        check(MatBatchMultTranspose(self.batch, width, D.vec, vec_of(result)))
        return result

    def view(self, Viewer viewer=None):
        """Print the sizes of the batch.

        Parameters
        ----------
        viewer : Viewer, optional
            An ASCII viewer; the standard output by default.

        Raises
        ------
        PETSc.Error
            `viewer` is no ASCII viewer.

        See Also
        --------
        MatBatchView : in C
        """
        check(MatBatchView(self.handle_of(), NULL if viewer is None else viewer.vwr))

    def destroy(self):
        """Destroy the batch; layers that use it keep a reference.

        Returns
        -------
        MatBatch

        See Also
        --------
        MatBatchDestroy : in C
        """
        check(MatBatchDestroy(&self.batch))
        return self


cdef class GraphConv(Object):
    """A layer of a graph convolutional network: Y[b] = sum over channels c of A_c[b] (X[b] W_c + bias_c).

    `create()` creates a layer; ``with`` destroys it at its end.

    See Also
    --------
    GraphConv : in C
    """

    cdef PetscGraphConv layer
    cdef readonly tuple shapes

    def __cinit__(self):
        self.layer = NULL
        self.obj = <PetscObject *>&self.layer

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.destroy()

    cdef PetscGraphConv handle_of(self) except? NULL:
        if self.layer == NULL:
            raise ValueError("the layer is destroyed or not created yet")
        return self.layer

    @classmethod
    def create(cls, batches, nin, nout):
        """Create a layer.

        Parameters
        ----------
        batches : MatBatch, or sequence of MatBatch
            For each channel the matrices of all graphs, of the same sizes.
        nin, nout : int
            The features of a node before and after the layer.

        Returns
        -------
        GraphConv

        Raises
        ------
        PETSc.Error
            Channels have different sizes, or a number is less than 1.

        See Also
        --------
        GraphConvCreate : in C
        """
        cdef GraphConv self = cls()
        cdef MatBatch batch
        cdef list given = [batches] if isinstance(batches, MatBatch) else list(batches)
        cdef PetscMatBatch *handles = <PetscMatBatch *>malloc((len(given) + 1) * sizeof(PetscMatBatch))
        if handles == NULL:
            raise MemoryError()
        try:
            for k in range(len(given)):
                if not isinstance(given[k], MatBatch):
                    raise TypeError("channel %d is no MatBatch" % k)
                batch = given[k]
                handles[k] = batch.handle_of()
            check(GraphConvCreate(<PetscInt>len(given), handles, nin, nout, &self.layer))
        finally:
            free(handles)
        sizes = given[0].get_sizes()
        self.shapes = (sizes[2] * nin, len(given) * nin * nout, len(given) * nout, sizes[1] * nout)
        return self

    def forward(self, Vec X, Vec W, Vec bias, Vec Y=None):
        """Apply the layer to the features of all nodes.

        Parameters
        ----------
        X : Vec, shape (columns * nin,)
            The features, node by node.
        W : Vec, shape (channels * nin * nout,)
            The weights, stored by rows, one channel after the other.
        bias : Vec, shape (channels * nout,)
        Y : Vec, shape (rows * nout,), optional
            The vector for the result; a new one by default.

        Returns
        -------
        Vec
            `Y`.

        Raises
        ------
        PETSc.Error
            A vector has another size.

        See Also
        --------
        GraphConvForward : in C
        """
        self.handle_of()
        vec_of(X)
        cdef Vec result = new_vec(X, self.shapes[3]) if Y is None else Y
        check(GraphConvForward(self.layer, X.vec, vec_of(W), vec_of(bias), vec_of(result)))
        return result

    def backward(self, Vec X, Vec W, Vec dY, Vec dX=None, Vec dW=None, Vec dbias=None, features=True):
        """Compute the gradients of the layer from the gradient of its result.

        Parameters
        ----------
        X, W : Vec
            The features and weights of `forward()`.
        dY : Vec, shape (rows * nout,)
            The derivatives with respect to the result.
        dX, dW, dbias : Vec, optional
            The vectors for the derivatives with respect to `X`, `W` and the biases; new ones by default.
        features : bool, optional
            False without `dX`: the first layer of a network needs none.

        Returns
        -------
        dX : Vec or None
        dW, dbias : Vec

        Raises
        ------
        PETSc.Error
            A vector has another size.

        See Also
        --------
        GraphConvBackward : in C
        """
        self.handle_of()
        vec_of(X)
        cdef Vec inner = None
        if features:
            inner = new_vec(X, self.shapes[0]) if dX is None else dX
        cdef Vec weights = new_vec(X, self.shapes[1]) if dW is None else dW
        cdef Vec biases = new_vec(X, self.shapes[2]) if dbias is None else dbias
        check(GraphConvBackward(self.layer, X.vec, vec_of(W), vec_of(dY), NULL if inner is None else vec_of(inner), vec_of(weights), vec_of(biases)))
        return inner, weights, biases

    @staticmethod
    def rectify(Vec H):
        """Set negative features to 0 (ReLU).

        Parameters
        ----------
        H : Vec
            The vector to change.

        See Also
        --------
        GraphConvRectify : in C
        """
        check(GraphConvRectify(vec_of(H)))

    @staticmethod
    def rectify_backward(Vec H, Vec dH):
        """Set derivatives to 0 where features are not positive.

        Parameters
        ----------
        H : Vec
            The features, before or after `rectify()`.
        dH : Vec
            The derivatives to change.

        Raises
        ------
        PETSc.Error
            The vectors have different sizes.

        See Also
        --------
        GraphConvRectifyBackward : in C
        """
        check(GraphConvRectifyBackward(vec_of(H), vec_of(dH)))

    def destroy(self):
        """Destroy the layer.

        Returns
        -------
        GraphConv

        See Also
        --------
        GraphConvDestroy : in C
        """
        check(GraphConvDestroy(&self.layer))
        return self
