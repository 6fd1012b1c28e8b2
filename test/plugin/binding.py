#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The Python package petscamb function by function. make test runs it by python.sh; the library is PETSCAMB_LIBRARY's.

binding.py table HEADER...   each public function of the headers has a binding, whose docstring names it; a row in docs/python.md, a signature in the stub, and a call below
binding.py calls [OPTIONS]   one call of each function with a checked result
binding.py leaks [OPTIONS]   many calls, after which Python and PETSc hold as much memory as before
"""
import ast
import ctypes
import gc
import inspect
import os
import re
import sys
import tracemalloc

import numpy
import petscamb

petscamb.init([sys.argv[0]] + sys.argv[2:] if sys.argv[1] != "table" else sys.argv[:1])
from petsc4py import PETSc  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SELF = PETSc.COMM_SELF
COMPLEX = numpy.dtype(PETSc.ScalarType).kind == "c"
EPSILON = 100 * numpy.finfo(PETSc.RealType).eps
CALLS = {}


def calls(*names, real=False):
    """The test of these functions of C; real: they refuse complex scalars."""

    def register(function):
        for name in names:
            CALLS[name] = (function, real)
        return function

    return register


def mat(entries, kind="aij"):
    """A sparse matrix with the nonzeros of an array."""
    array = numpy.array(entries, dtype=PETSc.ScalarType)
    rows = [numpy.flatnonzero(row) for row in array]
    start = numpy.cumsum([0] + [len(row) for row in rows])
    found = PETSc.Mat().createAIJ(array.shape, csr=(start.astype(PETSc.IntType), numpy.concatenate(rows).astype(PETSc.IntType), array[array != 0]), comm=SELF)
    return found if kind == "aij" else found.convert(kind)


def grid(n, kind="aij"):
    array = 2.5 * numpy.eye(n)
    array[numpy.arange(n - 1), numpy.arange(1, n)] = array[numpy.arange(1, n), numpy.arange(n - 1)] = -1
    return mat(array, kind)


def dense(A):
    return A.convert("dense", PETSc.Mat()).getDenseArray().copy()


def vec(numbers):
    return PETSc.Vec().createWithArray(numpy.array(numbers, dtype=PETSc.ScalarType), comm=SELF)


def near(found, expected):
    found, expected = numpy.asarray(found), numpy.asarray(expected)
    assert found.shape == expected.shape and numpy.allclose(found, expected, rtol=EPSILON, atol=EPSILON), (found, expected)


def raises(error, function, *arguments, **keywords):
    try:
        function(*arguments, **keywords)
    except error as found:
        return str(found) or True
    raise AssertionError("%s(%s) raised no %s" % (function, arguments, error))


def effect(setter, kind, first, second):
    """A setter changes the figures of a matrix of this type, and nothing of others."""

    def figures(arguments):
        A = grid(200, kind)
        petscamb.set_device(A, "cpu")
        petscamb.set_tune(A, "off")
        setter(A, *arguments)
        petscamb.set_up(A)
        return petscamb.figures(A), petscamb.info(A)["bytes_stored"]

    assert figures(first) != figures(second), (setter, figures(first))
    setter(grid(3), *first)
    raises(TypeError, setter, "a word", *first)
    raises(ValueError, setter, PETSc.Mat(), *first)
    raises(ValueError, setter, None, *first)


# ------------------------------------------------- types and files -------------------------------------------------


@calls("PetscAMBGetTypes")
def types():
    assert set(petscamb.types()) >= {"amb", "nussell", "autosparse", "hashgemm"} and set(petscamb.types(True)) < set(petscamb.types())
    assert petscamb.types(formats_only=False) == petscamb.types()


@calls("MatLoadMatrixMarket", "MatLoadGetFormat")
def files():
    with open("two.mtx", "w") as file:
        file.write("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 3\n2 1 4\n")
    near(dense(petscamb.load("two.mtx")), [[3, 0], [4, 0]])
    assert petscamb.load("two.mtx", "amb", comm=SELF).getType() == "seqaijamb"
    assert petscamb.load_format("two.mtx") == "matrix market" and petscamb.load_format("two.mtx", comm=SELF) == "matrix market"
    raises(PETSc.Error, petscamb.load, "nowhere.mtx")
    raises(PETSc.Error, petscamb.load_format, "nowhere.mtx")


@calls("MatLoadEdgeList")
def edges():
    with open("edges.txt", "w") as file:
        file.write("7 5000000000\n7 9 2.5\n")
    A, ids = petscamb.load_edge_list("edges.txt")
    assert ids.dtype == numpy.int64 and list(ids) == [7, 9, 5000000000]
    near(dense(A), [[0, 2.5, 1], [0, 0, 0], [0, 0, 0]])
    assert petscamb.load_format("edges.txt") == "edge list"
    raises(PETSc.Error, petscamb.load_edge_list, "nowhere.txt")


# ------------------------------------------------- formats -------------------------------------------------


@calls("MatShadowSetTune", "MatShadowSetDevice", "MatShadowSetUp", "MatShadowGetInfo", "MatShadowGetFigure", "MatShadowGetFigureAt", "MatShadowGetHaloInfo")
def shadow():
    A = grid(30, "amb")
    petscamb.set_tune(A, "measure")
    assert petscamb.info(A)["conversions"] == 0 and petscamb.info(grid(3)) is None
    petscamb.set_device(A, "cpu")
    petscamb.set_up(A)
    info, figures = petscamb.info(A), petscamb.figures(A)
    assert info["format"] == "amb" and info["conversions"] == 1 and info["nonzeros"] == 88 and info["tuning"] is True and info["bytes_stored"] > 0, info
    assert figures["block_size"] >= 1 and all(petscamb.figure(A, name) == value for name, value in figures.items()) and petscamb.figure(A, "nobody") == -1
    assert petscamb.halo_info(A) is None
    assert "off, model, measure, online" in raises(ValueError, petscamb.set_tune, A, "sometimes")
    petscamb.set_tune(A, "OFF")
    A = PETSc.Mat().create(SELF)
    A.setSizes(3)
    A.setType("amb")
    A.setUp()
    raises(PETSc.Error, petscamb.set_up, A)


@calls("MatShadowSetValues")
def values():
    effect(petscamb.set_values, "amb", ("double",), ("table",))


@calls("MatShadowSetKeepAIJ", "MatShadowSetHalo")
def on_gpus():  # the host ignores both; test/mat/setters.c has their effects
    A = grid(9, "amb")
    petscamb.set_keep_aij(A, False)
    petscamb.set_halo(A, "peer")
    raises(ValueError, petscamb.set_halo, A, "pigeon")
    x, y = A.createVecs()
    x.set(1)
    A.mult(x, y)
    near(y.array, [1.5] + 7 * [0.5] + [1.5])


@calls("MatSetPreallocationBlockCOO", "MatSetValuesBlockCOO")
def block_coo():
    A = PETSc.Mat().create(SELF)
    A.setSizes(((6, 6), (4, 4)))
    A.setBlockSizes(3, 2)
    A.setType("aij")
    raises(PETSc.Error, petscamb.set_values_block_coo, A, [])
    raises(ValueError, petscamb.set_preallocation_block_coo, A, [0], [0, 1])
    raises(PETSc.Error, petscamb.set_preallocation_block_coo, A, [2], [0])
    i, j, v = [1, 0, -1, 1], [0, 1, 0, 0], numpy.arange(24.0).reshape(4, 3, 2)
    petscamb.set_preallocation_block_coo(A, i, j)
    assert i == [1, 0, -1, 1]
    expected = numpy.zeros((6, 4))
    expected[3:, :2], expected[:3, 2:] = v[0] + v[3], v[1]
    petscamb.set_values_block_coo(A, v)
    near(dense(A), expected)
    petscamb.set_values_block_coo(A, v.ravel(), addv=True)
    near(dense(A), 2 * expected)
    raises(ValueError, petscamb.set_values_block_coo, A, v[:3])


@calls("MatShadowSetSOR")
def sor():
    def swept(order):
        A = grid(30, "amb")
        petscamb.set_device(A, "cpu")
        petscamb.set_sor(A, order)
        pc = PETSc.PC().create(SELF)
        pc.setOperators(A)
        pc.setType("sor")
        x, y = A.createVecs()
        x.set(1)
        pc.apply(x, y)
        return y.norm()

    assert swept("natural") == swept("auto") != swept("color")


@calls("MatAMBSetBlockSize")
def amb():
    effect(petscamb.amb_set_block_size, "amb", (1,), (4,))
    raises(PETSc.Error, petscamb.amb_set_block_size, grid(3, "amb"), -3)
    raises(OverflowError, petscamb.amb_set_block_size, grid(3, "amb"), 2**70)


@calls("MatNUSSELLSetSegmentation", "MatNUSSELLSetRows", "MatNUSSELLSetTune", "MatNUSSELLSetChunk", "MatNUSSELLSetSegments")
def nussell():
    effect(petscamb.nussell_set_chunk, "nussell", (8, 8), (16, 64))
    effect(petscamb.nussell_set_segments, "nussell", (32, 1, 64, 1), (64, 2, 128, 1))
    A = grid(200, "nussell")
    petscamb.nussell_set_segmentation(A, "uniform")
    petscamb.nussell_set_rows(A, "jds")
    petscamb.nussell_set_tune(A, "off")
    for setter in petscamb.nussell_set_segmentation, petscamb.nussell_set_rows, petscamb.nussell_set_tune:
        raises(ValueError, setter, A, "sometimes")


@calls("MatCCOOSetChunk", "MatCCOOSetTable", "MatCCOOSetAtomics")
def ccoo():
    effect(petscamb.ccoo_set_chunk, "ccoo", (64, 2), (128, 8))
    effect(petscamb.ccoo_set_table, "ccoo", (True,), (False,))
    petscamb.ccoo_set_atomics(grid(3, "ccoo"), True)
    raises(PETSc.Error, petscamb.ccoo_set_chunk, grid(3, "ccoo"), 7, 1)


@calls("MatTileCompositeSetTiles", "MatTileCompositeSetWork", "MatTileCompositeSetCOO", "MatTileCompositeMeasure")
def tilecomposite():
    effect(petscamb.tilecomposite_set_tiles, "tilecomposite", (32, 2), (0, 0))
    effect(petscamb.tilecomposite_set_work, "tilecomposite", (32,), (8192,))
    A = grid(200, "tilecomposite")
    petscamb.tilecomposite_set_coo(A, True)
    raises(PETSc.Error, petscamb.tilecomposite_set_work, A, 5)
    raises(PETSc.Error, petscamb.tilecomposite_measure, os.path.join("nowhere", "table"))


# ------------------------------------------------- preconditioners and products -------------------------------------------------


@calls("PCAMBILUSetType", "PCAMBILUSetOrderingType")
def ambilu():
    def applied(kind, ordering):
        pc = PETSc.PC().create(SELF)
        pc.setOperators(A)
        pc.setType("ambilu")
        petscamb.ambilu_set_type(pc, kind)
        petscamb.ambilu_set_ordering_type(pc, ordering)
        raises(ValueError, petscamb.ambilu_set_type, pc, "lu")
        x, y = pc.getOperators()[0].createVecs()
        x.set(1)
        pc.apply(x, y)
        viewer = PETSc.Viewer().createASCII("pc.txt", comm=SELF)
        pc.view(viewer)
        viewer.destroy()
        return y

    line = numpy.diag(5.0 * numpy.ones(6)) - numpy.eye(6, k=1) - numpy.eye(6, k=-1)
    A = mat(line)
    y = A.createVecLeft()
    A.mult(applied("ilu", "natural"), y)
    near(y.array, numpy.ones(6))  # ILU(0) of a tridiagonal matrix is its LU
    assert applied("isai", "natural").norm() != applied("ilu", "natural").norm()
    A = mat(line)
    applied("ilu", "rcm")
    with open("pc.txt") as file:
        assert "rcm" in file.read()
    raises(ValueError, petscamb.ambilu_set_type, None, "ilu")


@calls("PCGAMGAmbAggSetStrongest", "PCGAMGAmbAggSetMinAggregateSize")
def ambagg():
    pc = PETSc.PC().create(SELF)
    pc.setOperators(grid(300))
    pc.setType("gamg")
    pc.setGAMGType("ambagg")
    petscamb.ambagg_set_strongest(pc, True)
    petscamb.ambagg_set_min_aggregate_size(pc, 4)
    raises(PETSc.Error, petscamb.ambagg_set_min_aggregate_size, pc, 0)
    pc.setUp()
    assert pc.getMGLevels() > 1


@calls("MatHashGEMMSetAccumulator")
def hashgemm():
    A = grid(30, "hashgemm")
    petscamb.hashgemm_set_accumulator(A, "heap")
    near(A.matMult(A)[5, 5], 2.5**2 + 2)
    raises(ValueError, petscamb.hashgemm_set_accumulator, A, "stack")


@calls("MatSDDMM", real=True)
def sddmm():
    generator = numpy.random.default_rng(1)
    first, second = generator.random((4, 3)), generator.random((5, 3))
    S = mat([[1, 0, 2, 0, 0], [0, 0, 0, 0, 3], [0, 4, 0, 0, 0], [5, 6, 0, 7, 0]])
    D1, D2 = (PETSc.Mat().createDense(array.shape, array=numpy.asfortranarray(array), comm=SELF) for array in (first, second))
    O = petscamb.sddmm(S, D1, D2)
    near(dense(O), dense(S) * (first @ second.T))
    assert petscamb.sddmm(S, D1, D2, scale=False, result=O) is O
    near(dense(O), (dense(S) != 0) * (first @ second.T))
    raises(PETSc.Error, petscamb.sddmm, S, D2, D1)


@calls("MatMatMultMaskSum", "MatGraphOrient", "MatCountTriangles", real=True)
def triangles():
    complete = mat(numpy.ones((5, 5)) - numpy.eye(5))
    assert petscamb.count_triangles(complete) == 10
    U = petscamb.graph_orient(complete, vec([5, 4, 3, 2, 1]))
    near(dense(U), numpy.tril(numpy.ones((5, 5)), -1))
    assert petscamb.mat_mult_mask_sum(U, U, U) == 10
    raises(PETSc.Error, petscamb.count_triangles, mat(numpy.ones((2, 3))))
    raises(PETSc.Error, petscamb.mat_mult_mask_sum, U, U, mat(numpy.ones((2, 3))))
    raises(PETSc.Error, petscamb.graph_orient, complete, vec([1]))


# ------------------------------------------------- graphs -------------------------------------------------

PATH = numpy.array([[0, 1, 0, 0], [0, 0, 2, 0], [0, 0, 0, 3], [0, 0, 0, 0]])


@calls("MatGraphTranspose", "MatGraphPermute", "MatPruneRows", "MatPowEntries", "MatMaskEntries")
def graphs():
    A = mat(PATH, "amb")
    T = petscamb.graph_transpose(A)
    assert T.getType() == A.getType() and T.refcount == 1
    near(dense(T), PATH.T)
    order = [3, 1, 0, 2]
    rows = PETSc.IS().createGeneral(order, comm=SELF)
    near(dense(petscamb.graph_permute(A, rows)), PATH[order][:, order])
    near(dense(petscamb.graph_permute(A, rows, PETSc.IS().createStride(4, step=1, comm=SELF))), PATH[order])
    raises(ValueError, petscamb.graph_permute, A, PETSc.IS())
    B = mat([[3, -4, 1], [0, 0.5, 0], [2, 2, 2]])
    near(dense(petscamb.prune_rows(B, 2, 2)), [[3, -4, 0], [0, 0.5, 0], [2, 2, 0]])
    raises(PETSc.Error, petscamb.prune_rows, B, 2, 0)
    near(dense(petscamb.mask_entries(B, mat(numpy.eye(3)))), [[3, 0, 0], [0, 0.5, 0], [0, 0, 2]])
    near(dense(petscamb.mask_entries(B, mat(numpy.eye(3)), complement=True)), [[0, -4, 1], [0, 0, 0], [2, 2, 0]])
    raises(PETSc.Error, petscamb.mask_entries, B, A)
    petscamb.pow_entries(B, 2)
    near(dense(B), [[9, 16, 1], [0, 0.25, 0], [4, 4, 4]])


@calls("MatMultOr", "MatBreadthFirst")
def searches():
    A, full = mat(PATH), 2**64 - 1
    y = numpy.zeros(4, numpy.uint64)
    assert petscamb.mult_or(A, numpy.array([1, 2, 4, 8], numpy.uint64), [full] * 4, y) is y and list(y) == [2, 4, 8, 0]
    y[:] = 0
    assert list(petscamb.mult_or(A, [1, 2, 4, 8], [full, full, 0, full], y, transpose=True)) == [0, 1, 0, 4]
    raises(ValueError, petscamb.mult_or, A, [1, 2, 4], [full] * 4, y)
    raises(ValueError, petscamb.mult_or, A, [1, 2, 4, 8], [full] * 4, [0, 0, 0, 0])
    raises(ValueError, petscamb.mult_or, A, [1, 2, 4, 8], [full] * 4, numpy.zeros(8, numpy.uint64)[::2])
    level, reached, farthest = petscamb.breadth_first(A, [1, 3])
    assert level.tolist() == [[-1, 0, 1, 2], [-1, -1, -1, 0]] and (reached, farthest) == (4, 2)
    assert petscamb.breadth_first(A, (1, 3), levels=False) == (None, 4, 2)
    raises(ValueError, petscamb.breadth_first, A, [0.5])
    raises(ValueError, petscamb.breadth_first, A, 3)
    raises(PETSc.Error, petscamb.breadth_first, A, [4])


@calls("MatMarkovCluster")
def clusters():
    def similarities():
        return mat(numpy.kron(numpy.eye(2), numpy.ones((3, 3))) + 0.01 * numpy.eye(6)[::-1], "hashgemm")

    M, seen = similarities(), []
    iterations, chaos = petscamb.markov_cluster(M, inflation=2, monitor=lambda iteration, chaos: seen.append((iteration, chaos)))
    assert len(seen) == iterations and seen[-1] == (iterations, chaos) and chaos <= 1e-5
    first = [M.getRow(row)[0][0] for row in range(6)]
    assert first[0] == first[1] == first[2] != first[3] == first[4] == first[5], first
    assert petscamb.markov_cluster(similarities()) == (iterations, chaos)

    def stop(iteration, chaos):
        raise KeyError("enough")

    M = similarities()
    assert raises(KeyError, petscamb.markov_cluster, M, monitor=stop) == "'enough'"
    assert M.getSize() == (6, 6)
    raises(PETSc.Error, petscamb.markov_cluster, M, inflation=1)


@calls("VecShiftToSum", "VecScaleToSum", "VecGetTop")
def sums():
    z = vec([1, 2, 3, 4])
    near(petscamb.shift_to_sum(z, 18), 0)
    near(z.array, [3, 4, 5, 6])
    near(petscamb.shift_to_sum(z, sum=20, where=vec([1, 0, 0, 1]), x=vec([3, 4, 5, 6])), 2)
    near(z.array, [4, 4, 5, 7])
    near(petscamb.shift_to_sum(z, 21, weight=2), 0)
    raises(PETSc.Error, petscamb.shift_to_sum, z, weight=-1)
    z = vec([1, 2, 3, 4])
    change, zero = petscamb.scale_to_sum(z, 20, x=vec([1, 2, 3, 4]))
    near(change, 10)
    assert zero is False
    near(z.array, [2, 4, 6, 8])
    assert petscamb.scale_to_sum(vec([1, -1]))[1] is True
    if COMPLEX:
        petscamb.scale_to_sum(z, 20j)
        near(z.array, [2j, 4j, 6j, 8j])
    index, value = petscamb.get_top(vec([3, 9, 5]), 2)
    assert index.dtype == PETSc.IntType and index.tolist() == [1, 2] and value.tolist() == [9, 5]
    assert len(petscamb.get_top(vec([3, 9, 5]), 7)[0]) == 3
    raises(PETSc.Error, petscamb.get_top, vec([3]), -1)


@calls("MatGraphIterationInitialize", "MatPageRank", "MatHITS", "MatRandomWalkWithRestart")
def ranks():
    graph = numpy.array([[0, 1, 0], [1, 0, 2], [1, 0, 0]])
    walk, A, seen = (graph / graph.sum(axis=1, keepdims=True)).T, mat(graph, "amb"), []
    how = petscamb.GraphIteration(damping=0.5, tol=1e-5, order="degree", monitor=lambda iteration, change: seen.append((iteration, change)))
    x = petscamb.page_rank(A, iteration=how).array
    assert numpy.allclose(x, 0.5 * walk @ x + 0.5 / 3, atol=1e-4) and how.reason == "tol" and seen[-1] == (how.its, how.change) and seen[0][0] == 0, seen
    assert (how.damping, how.order, how.dangling) == (0.5, "degree", "restart")
    how.initialize()
    assert (how.damping, how.order, how.monitor) == (numpy.asarray(0.85, PETSc.RealType), "natural", None)
    target = A.createVecLeft()
    assert petscamb.page_rank(A, target, petscamb.GraphIteration(max_it=1, dangling="remove")) is target
    authorities, hubs = (vector.array for vector in petscamb.hits(A))
    assert numpy.allclose(graph.T @ hubs / (graph.T @ hubs).sum(), authorities, atol=1e-4) and numpy.allclose(hubs.sum(), 1, atol=1e-5)
    walks = petscamb.random_walk_with_restart(A, [2, 0], petscamb.GraphIteration(damping=0.5)).getDenseArray()
    assert numpy.allclose(walks, 0.5 * walk @ walks + 0.5 * numpy.eye(3)[:, [2, 0]], atol=1e-4)

    def stop(iteration, change):
        raise KeyError("enough")

    for function, more in ((petscamb.page_rank, ()), (petscamb.hits, ()), (petscamb.random_walk_with_restart, ([0],))):
        assert raises(KeyError, function, A, *more, iteration=petscamb.GraphIteration(monitor=stop)) == "'enough'"
        raises(PETSc.Error, function, A, *more, iteration=petscamb.GraphIteration(damping=2))
    raises(ValueError, petscamb.GraphIteration, dangling="fall")
    raises(PETSc.Error, petscamb.random_walk_with_restart, A, [3])
    raises(TypeError, petscamb.page_rank, A, iteration=7)


# ------------------------------------------------- batches -------------------------------------------------


def batch():
    return petscamb.MatBatch.create_csr([2, 1], [2, 1], [0, 2, 3, 4], [0, 1, 1, 0], [1, 2, 3, 4])


@calls("MatBatchCreateCSR", "MatBatchCreateCOO", "MatBatchCreateFromMats", "MatBatchSetValues", "MatBatchSetAtomic", "MatBatchGetSizes", "MatBatchMult", real=True)
@calls("MatBatchMultAdd", "MatBatchMultTranspose", "MatBatchView", "MatBatchDestroy", real=True)
def batches():
    whole = numpy.array([[1, 2, 0], [0, 3, 0], [0, 0, 4]])
    D, width2 = vec([1, 2, 3]), vec([1, 10, 2, 20, 3, 30])
    kinds = (batch(), petscamb.MatBatch.create_coo([2, 1], [2, 1], [4, 1], [1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [3, 2, 0.5, 0.5, 4]),
             petscamb.MatBatch.create_from_mats(mat(block) for block in (whole[:2, :2], whole[2:, 2:])))
    for A in kinds:
        assert A.get_sizes()[:3] == (2, 3, 3) and A.refcount == 1 and A.klass == "MatBatch"
        A.set_atomic(True)
        near(A.mult(D).array, whole @ [1, 2, 3])
        C = A.mult(width2)
        near(C.array.reshape(3, 2), whole @ width2.array.reshape(3, 2))
        assert A.mult_add(width2, C, width=2) is C
        near(C.array.reshape(3, 2), 2 * whole @ width2.array.reshape(3, 2))
        near(A.mult_transpose(width2).array.reshape(3, 2), whole.T @ width2.array.reshape(3, 2))
    A = kinds[0]
    raises(PETSc.Error, A.mult, D, C)
    A.set_values([1, 0, 1, 1])
    near(A.mult(D).array, D.array)
    raises(ValueError, A.set_values, [1, 2])
    raises(ValueError, A.mult, vec([1, 2]))
    raises(ValueError, petscamb.MatBatch.create_csr, [2], [2], [0, 1], [0])
    raises(ValueError, petscamb.MatBatch.create_csr, [2], [2], [0, 1, 3], [0])
    raises(PETSc.Error, petscamb.MatBatch.create_csr, [1], [1], [0, 1], [1])
    raises(TypeError, petscamb.MatBatch.create_from_mats, [7])
    viewer = PETSc.Viewer().createASCII("batch.txt", comm=SELF)
    A.view(viewer)
    viewer.destroy()
    with open("batch.txt") as file:
        assert re.search("2 matrices|matrices: *2|MatBatch", file.read())
    with batch() as B:
        assert B.destroy() is B
        raises(ValueError, B.get_sizes)
        raises(ValueError, B.mult, D)


@calls("GraphConvCreate", "GraphConvForward", "GraphConvBackward", "GraphConvRectify", "GraphConvRectifyBackward", "GraphConvDestroy", real=True)
def convolutions():
    whole = numpy.array([[1, 2, 0], [0, 3, 0], [0, 0, 4]])
    X, W, bias = numpy.array([[1.0], [-2], [3]]), numpy.array([[2.0, -1]]), numpy.array([0.5, 0])
    A = batch()
    with petscamb.GraphConv.create(A, 1, 2) as layer:
        assert layer.klass == "GraphConv" and A.refcount == 2
        given = vec(X.ravel()), vec(W.ravel()), vec(bias)
        Y = layer.forward(*given)
        near(Y.array.reshape(3, 2), whole @ (X @ W + bias))
        dY = vec(numpy.arange(1.0, 7))
        U = whole.T @ dY.array.reshape(3, 2)
        dX, dW, dbias = layer.backward(given[0], given[1], dY)
        near(dX.array.reshape(3, 1), U @ W.T)
        near(dW.array.reshape(1, 2), X.T @ U)
        near(dbias.array, U.sum(axis=0))
        assert layer.backward(given[0], given[1], dY, features=False)[0] is None
        assert layer.forward(*given, Y=Y) is Y
        expected = numpy.where(Y.array > 0, dY.array, 0)
        petscamb.GraphConv.rectify(Y)
        assert Y.array.min() == 0
        petscamb.GraphConv.rectify_backward(Y, dY)
        near(dY.array, expected)
        raises(PETSc.Error, layer.forward, given[1], given[0], given[2])
        raises(PETSc.Error, petscamb.GraphConv.rectify_backward, Y, vec([1]))
    raises(ValueError, layer.forward, *given)
    assert A.refcount == 1
    two = petscamb.GraphConv.create([A, A], 1, 2)
    near(two.forward(given[0], vec(2 * [2, -1]), vec([0.5, 0, 0.5, 0])).array.reshape(3, 2), 2 * whole @ (X @ W + bias))
    raises(PETSc.Error, petscamb.GraphConv.create, A, 0, 2)
    raises(TypeError, petscamb.GraphConv.create, [7], 1, 2)


# ------------------------------------------------- the package, last -------------------------------------------------


@calls("PetscAMBInitializePackage", "PetscAMBInitializePackageVersion", "PetscAMBFinalizePackage")
def package():
    version = tuple(map(int, petscamb.__version__.split(".")))
    petscamb.initialize_package()
    petscamb.initialize_package(version)
    raises(PETSc.Error, petscamb.initialize_package, (version[0] + 1, 0, 0))
    petscamb.finalize_package()
    petscamb.finalize_package()
    raises(RuntimeError, petscamb.initialize_package)


# ------------------------------------------------- the three modes -------------------------------------------------


def bound():
    """Each public function of C with the Python functions whose docstrings name it."""
    found = {}
    for name in petscamb.__all__:
        thing = getattr(petscamb, name)
        members = [(name, thing)] if not inspect.isclass(thing) else [("%s.%s" % (name, key), getattr(thing, key)) for key in vars(thing) if not key.startswith("_")]
        for title, function in members:
            for line in re.findall("^ *(.*) : in C$", getattr(function, "__doc__", None) or "", re.M):
                for function_of_c in line.split(", "):
                    found.setdefault(function_of_c, []).append((title, function))
    return found


def arguments(function):
    return [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]


def stub():
    """The arguments of each function and method of the stub, and its signature: Cython 0.29 does not know the defaults of methods."""
    found, signatures = {}, {}
    with open(os.path.join(os.path.dirname(petscamb.__file__), "__init__.pyi")) as file:
        text = file.read()
    for node in ast.parse(text).body:
        for function, prefix in [(node, "")] if isinstance(node, ast.FunctionDef) else [(child, node.name + ".") for child in getattr(node, "body", []) if isinstance(child, ast.FunctionDef)]:
            names, defaults = [argument.arg for argument in function.args.args], function.args.defaults
            given = names[: len(names) - len(defaults)] + ["%s=%s" % (name, ast.get_source_segment(text, value)) for name, value in zip(names[len(names) - len(defaults) :], defaults)]
            found[prefix + function.name] = [name for name in names if name not in ("self", "cls")]
            signatures[prefix + function.name] = "%s%s(%s)" % (prefix, function.name, ", ".join(name for name in given if name not in ("self", "cls")))
    return found, signatures


def check_table(headers):
    public = [name for header in headers for name in re.findall(r"^PETSC_EXTERN PetscErrorCode (\w+)\(", open(header).read(), re.M)]
    assert len(public) > 60 and len(set(public)) == len(public), public
    with open(os.path.join(ROOT, "docs", "python.md")) as file:
        rows = {name: signature for signature, name in re.findall(r"^\| `([\w.]+\(.*\))` \| `(\w+)\(\)` \|$", file.read(), re.M)}
    python, (hints, signatures), failed = bound(), stub(), False
    for name in public:
        missing = [what for what, there in (("no binding", name in python), ("no call in binding.py", name in CALLS), ("no row in docs/python.md", name in rows)) if not there]
        for title, function in python.get(name, []):
            if arguments(function) != hints.get(title):
                missing.append("the stub has %s%s, not %s" % (title, hints.get(title), arguments(function)))
            if rows.get(name, signatures.get(title)) != signatures.get(title):
                missing.append("docs/python.md has %s, not %s" % (rows[name], signatures.get(title)))
            text = inspect.getdoc(function)
            missing += ["the docstring of %s has no %s" % (title, argument) for argument in arguments(function) if not re.search(r"^(\w+, )*%s(, \w+)* : " % argument, text, re.M)]
        print("%s %s%s" % ("not ok" if missing else "ok", name, "".join(": " + what for what in missing)))
        failed = failed or bool(missing)
    for name in sorted((set(python) | set(CALLS) | set(rows)) - set(public)):
        print("not ok %s is no public function" % name)
        failed = True
    for name in petscamb.__all__:
        thing = getattr(petscamb, name)
        if not inspect.isclass(thing) and arguments(thing) != hints.get(name):
            print("not ok %s: the stub has other arguments" % name)
            failed = True
    return failed


def check_calls():
    for function in dict.fromkeys(function for function, _ in CALLS.values()):
        names = [name for name in CALLS if CALLS[name][0] is function]
        if CALLS[names[0]][1] and COMPLEX:
            raises(PETSc.Error, function)
            print("ok %s: refused with complex numbers" % function.__name__)
            continue
        function()
        print("ok calls of %s" % ", ".join(names))
    return False


def check_leaks():
    """10,000 calls, of which every tenth raises an exception."""
    A, S, ones = mat(PATH, "amb"), mat(numpy.eye(4)), vec([1, 1, 1, 1])
    rows, y = PETSc.IS().createStride(4, step=1, comm=SELF), numpy.zeros(4, numpy.uint64)
    D = PETSc.Mat().createDense((4, 2), comm=SELF)
    D.setUp()
    D.assemble()

    def stop(iteration, chaos):
        raise KeyError("enough")

    operands = [vec(numbers) for numbers in ([1, 2, 3], [1, 1], [0, 0], [1] * 8)]

    def convolve():
        if COMPLEX:
            return
        with batch() as B, petscamb.GraphConv.create(B, 1, 2) as layer:
            layer.forward(*operands[:3])
        petscamb.MatBatch.create_from_mats([S, S]).mult(operands[3])

    round_of_calls = [lambda: petscamb.graph_transpose(A), lambda: petscamb.graph_permute(A, rows), lambda: petscamb.prune_rows(A, 1, 1), lambda: petscamb.mask_entries(A, S),
                      lambda: petscamb.mult_or(A, y, y, y), lambda: petscamb.breadth_first(A, [0, 1]), lambda: petscamb.get_top(ones, 2), lambda: petscamb.info(A),
                      lambda: petscamb.figures(A), lambda: petscamb.set_tune(A, "off"), lambda: petscamb.types(), lambda: petscamb.shift_to_sum(ones, 4),
                      lambda: petscamb.scale_to_sum(ones, 4, x=ones.duplicate()), lambda: petscamb.page_rank(S), lambda: petscamb.set_up(A), lambda: COMPLEX or petscamb.sddmm(S, D, D), convolve, convolve,
                      lambda: raises(ValueError, petscamb.set_tune, A, "never"),
                      lambda: raises(KeyError, petscamb.markov_cluster, S, rest=-1, monitor=stop)]
    usage, cleanup = ctypes.c_double(), getattr(PETSc, "garbage_cleanup", gc.collect)

    def one_round():
        for function in round_of_calls:
            function()
        cleanup()  # petsc4py destroys what Python has collected only here

    def held():
        gc.collect()
        cleanup()
        ctypes.CDLL(petscamb.library_path()).PetscMallocGetCurrentUsage(ctypes.byref(usage))
        return tracemalloc.get_traced_memory()[0], usage.value

    for _ in range(3):
        one_round()
    tracemalloc.start()
    one_round()
    before = held()
    for _ in range(10000 // len(round_of_calls)):
        one_round()
    after = held()
    assert before[1] > 0, "PETSc counts its memory with -malloc_debug only"
    print("%s after 10000 calls Python holds %d bytes more, PETSc %d" % ("ok" if after[0] - before[0] < 4096 and after[1] == before[1] else "not ok", after[0] - before[0], after[1] - before[1]))
    return after[0] - before[0] >= 4096 or after[1] != before[1]


sys.exit({"table": lambda: check_table(sys.argv[2:]), "calls": check_calls, "leaks": check_leaks}[sys.argv[1]]())
