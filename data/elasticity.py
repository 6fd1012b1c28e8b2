#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Stiffness matrix of linear elasticity on a tetrahedral mesh, as a Matrix Market file.

    elasticity.py MESH.msh MATRIX.mtx.gz

The mesh is one block of linear tetrahedra in Gmsh's ASCII format 4.1. The elements are linear, Young's modulus is 1 and Poisson's
ratio 0.3; the nodes in the lowest 2 % of the first axis are clamped and eliminated, so the matrix is symmetric positive definite.
Unknowns are numbered as the nodes are in the mesh, three to a node.
"""
import gzip
import sys

YOUNG, POISSON, CLAMPED = 1.0, 0.3, 0.02


def read_mesh(path):
    """Coordinates of the nodes, and the corners of the tetrahedra, from 0."""
    with open(path) as mesh:
        lines = [line.strip() for line in mesh]
    if lines[1].split()[0] != "4.1":
        sys.exit("%s is not in format 4.1" % path)
    at = lines.index("$Nodes") + 1
    blocks, count = map(int, lines[at].split()[:2])
    if blocks != 1:
        sys.exit("%s has more than one block of nodes" % path)
    first = at + 2 + count
    numbers = {int(tag): k for k, tag in enumerate(lines[at + 2:first])}
    nodes = [tuple(map(float, line.split()[:3])) for line in lines[first:first + count]]
    at = lines.index("$Elements") + 1
    blocks, count = map(int, lines[at].split()[:2])
    if blocks != 1 or lines[at + 1].split()[2] != "4":
        sys.exit("%s has other elements than one block of linear tetrahedra" % path)
    return nodes, [tuple(numbers[int(tag)] for tag in line.split()[1:5]) for line in lines[at + 2:at + 2 + count]]


def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def gradients(corners):
    """Volume of a tetrahedron and the gradients of its four shape functions."""
    edges = [tuple(c - o for c, o in zip(corner, corners[0])) for corner in corners[1:]]
    normals = [cross(edges[1], edges[2]), cross(edges[2], edges[0]), cross(edges[0], edges[1])]
    volume6 = sum(e * n for e, n in zip(edges[0], normals[0]))
    grads = [tuple(n / volume6 for n in normal) for normal in normals]
    return abs(volume6) / 6, [tuple(-sum(g[d] for g in grads) for d in range(3))] + grads


def assemble(nodes, tetrahedra):
    """The lower triangle as one dictionary {column: value} per row, without the clamped nodes."""
    low, high = min(node[0] for node in nodes), max(node[0] for node in nodes)
    free = {}
    for k, node in enumerate(nodes):
        if node[0] > low + CLAMPED * (high - low):
            free[k] = len(free)
    lame, shear = YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON)), YOUNG / (2 * (1 + POISSON))
    rows = [{} for _ in range(3 * len(free))]
    for tetrahedron in tetrahedra:
        volume, grads = gradients([nodes[k] for k in tetrahedron])
        for a, ga in zip(tetrahedron, grads):
            for b, gb in zip(tetrahedron, grads):
                if a not in free or b not in free or free[b] > free[a]:
                    continue
                dot = sum(x * y for x, y in zip(ga, gb))
                for i in range(3):
                    row = rows[3 * free[a] + i]
                    for j in range(3):
                        column = 3 * free[b] + j
                        if column <= 3 * free[a] + i:
                            value = volume * (lame * ga[i] * gb[j] + shear * (ga[j] * gb[i] + (dot if i == j else 0)))
                            row[column] = row.get(column, 0) + value
    return rows


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    nodes, tetrahedra = read_mesh(sys.argv[1])
    rows = assemble(nodes, tetrahedra)
    with open(sys.argv[2], "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as out:
        out.write(b"%%MatrixMarket matrix coordinate real symmetric\n")
        out.write(b"% linear elasticity, linear tetrahedra, E = 1, nu = 0.3, clamped at one end: see README.md\n")
        out.write(b"%d %d %d\n" % (len(rows), len(rows), sum(map(len, rows))))
        for i, row in enumerate(rows):
            out.write("".join("%d %d %.8g\n" % (i + 1, j + 1, row[j]) for j in sorted(row)).encode())


if __name__ == "__main__":
    main()
