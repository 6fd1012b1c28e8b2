# SPDX-License-Identifier: BSD-2-Clause
"""petsc-amb for petsc4py: its matrix types, products, graphs, batches and figures.

    import sys, petscamb
    petscamb.init(sys.argv)              # in place of petsc4py.init()
    from petsc4py import PETSc
    A = petscamb.load("matrix.mtx.gz")   # or any AIJ of petsc4py
    A.convert("amb")
    petscamb.set_tune(A, "off")
    print(petscamb.info(A)["format"])

The library is the file that the variable PETSCAMB_LIBRARY names, else that of pkg-config, else the one that the loader finds.
"""
from . import _library
from ._library import library_path

__version__ = "0.1.0"

# names by module: the extension has functions and classes on objects of petsc4py, _arrays those that take arrays of NumPy and SciPy too
_FUNCTIONS = """
    initialize_package finalize_package types load load_edge_list load_format
    set_tune set_values set_keep_aij set_device set_halo set_sor set_preallocation_block_coo set_values_block_coo set_up info figure figures halo_info
    amb_set_block_size nussell_set_segmentation nussell_set_rows nussell_set_tune nussell_set_chunk nussell_set_segments
    ccoo_set_chunk ccoo_set_table ccoo_set_atomics tilecomposite_set_tiles tilecomposite_set_work tilecomposite_set_coo tilecomposite_measure
    ambilu_set_type ambilu_set_ordering_type ambagg_set_strongest ambagg_set_min_aggregate_size
    hashgemm_set_accumulator mat_mult_mask_sum
    graph_orient graph_transpose graph_permute prune_rows pow_entries mask_entries mult_or count_triangles breadth_first markov_cluster
    shift_to_sum scale_to_sum get_top page_rank hits random_walk_with_restart
""".split()
_CLASSES = ["MatBatch", "GraphConv", "GraphIteration"]
_ARRAYS = ["Operator", "pagerank", "sddmm", "solve", "spmm"]
__all__ = ["init", "library_path"] + _FUNCTIONS + _CLASSES + _ARRAYS
_extension = None


def init(args=None, arch=None, comm=None):
    """Initialize petsc4py, as petsc4py.init() does, and register the types of petsc-amb.

    PETSc may be initialized already.

    Parameters
    ----------
    args : sequence of str, optional
        Options of PETSc, such as sys.argv.
    arch : str, optional
    comm : mpi4py communicator, optional

    Raises
    ------
    ImportError
        petsc4py, the library or the extension is missing, or they belong to different PETScs.
    """
    global _extension
    extension = _library.load(args, arch, comm)
    if _extension is None:
        _extension = extension
        from . import _arrays

        for name in _FUNCTIONS + _CLASSES:
            globals()[name] = getattr(extension, name)
        for name in _ARRAYS:
            globals()[name] = getattr(_arrays, name)


def __getattr__(name):
    """A function that a program imports before init() looks up its implementation when it is called."""
    if name in _CLASSES or name == "Operator":
        raise RuntimeError("call petscamb.init() first")
    if name not in __all__:
        raise AttributeError("module 'petscamb' has no attribute %r" % name)

    def function(*arguments, **keywords):
        if _extension is None:
            raise RuntimeError("call petscamb.init() first")
        return globals()[name](*arguments, **keywords)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "Ready after petscamb.init(), and documented then."
    return function


def __dir__():
    return sorted(set(globals()) | set(_FUNCTIONS))
