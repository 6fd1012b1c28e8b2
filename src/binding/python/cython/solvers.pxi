# SPDX-License-Identifier: BSD-2-Clause
# Parameters of preconditioners; a setter does nothing if the preconditioner has another type


def ambilu_set_type(PC pc, value):
    """Set the incomplete factorization of a preconditioner of type ambilu.

    Parameters
    ----------
    pc : PC
    value : {"ilu", "dilu", "isai"}
        "dilu" is the default.

    Raises
    ------
    ValueError
        `value` is none of these.

    See Also
    --------
    PCAMBILUSetType : in C
    """
    check(PCAMBILUSetType(pc_of(pc), <PCAMBILUType>word(<const char **>PCAMBILUTypes, value)))


def ambilu_set_ordering_type(PC pc, ordering):
    """Set the order in which a preconditioner of type ambilu eliminates rows.

    Parameters
    ----------
    pc : PC
    ordering : str
        "natural" (the default), "ambcolor", or another ordering of PETSc.

    See Also
    --------
    PCAMBILUSetOrderingType : in C
    """
    cdef bytes name = ordering.encode()
    check(PCAMBILUSetOrderingType(pc_of(pc), name))


def ambagg_set_strongest(PC pc, strongest):
    """Set the root that a vertex joins in GAMG of type ambagg.

    Parameters
    ----------
    pc : PC
        Of type gamg, whose type of multigrid is ambagg.
    strongest : bool
        True for the neighbouring root with the strongest edge, False (the default) for the first root.

    See Also
    --------
    PCGAMGAmbAggSetStrongest : in C
    """
    check(PCGAMGAmbAggSetStrongest(pc_of(pc), <PetscBool>bool(strongest)))


def ambagg_set_min_aggregate_size(PC pc, least):
    """Set the size below which GAMG of type ambagg dissolves an aggregate.

    Parameters
    ----------
    pc : PC
        Of type gamg, whose type of multigrid is ambagg.
    least : int
        The number of vertices; 1, the default, dissolves none.

    Raises
    ------
    PETSc.Error
        `least` is less than 1 or more than 1,000,000.

    See Also
    --------
    PCGAMGAmbAggSetMinAggregateSize : in C
    """
    check(PCGAMGAmbAggSetMinAggregateSize(pc_of(pc), least))
