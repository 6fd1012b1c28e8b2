# SPDX-License-Identifier: BSD-2-Clause
"""The comparison of two outputs of one program: with aij, and with petsc-amb.

Lines that petsc-amb adds to a view are removed, and its type names become aij. All other lines must agree: words and integers exactly (iterations,
levels of a hierarchy, rows, nonzeros, block sizes, reasons to stop), other numbers within a tolerance.
"""
import collections
import difflib
import re

Rules = collections.namedtuple("Rules", "tolerance floor drop")
Rules.__doc__ = """tolerance: the relative difference up to which two numbers are equal. floor: two numbers below it are equal, as norms of residuals after a
direct solve. drop: expressions of lines that are not compared, as times."""

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?\b(?:nan|inf)\b", re.I)
REPORT = "petsc-amb on "


def own_lines(lines, types):
    """The lines without those of petsc-amb: a line 'products run on', and the lines below it that are indented further."""
    name = re.compile(r"\b(seq|mpi)?aij(%s)\b" % "|".join(map(re.escape, types)))
    within = None
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if within is not None and line.strip() and indent > within:
            continue
        within = indent if re.match(r"\s*products run on \S", line) else None
        if within is None:
            yield name.sub(lambda found: (found.group(1) or "") + "aij", line)


def split_report(text):
    """(the text without the table of -petscamb_view, the lines of the table)."""
    lines, table, inside = [], [], False
    for line in text.splitlines():
        inside = line.startswith(REPORT) or inside and line.startswith("  ")
        (table if inside else lines).append(line)
    return lines, table


def converted(table, name):
    """The row of this type in the table: numbers of matrices and of converted ones; None if there was no matrix of the type."""
    for line in table:
        row = re.match(r"\s+%s\s+(\d+)\s+(\d+)\s" % re.escape(name), line)
        if row:
            return int(row.group(1)), int(row.group(2))
    return None


def lines_of(text, types, rules):
    """The lines that are compared."""
    lines, _ = split_report(text)
    drop = [re.compile(expression) for expression in rules.drop]
    return [line.rstrip() for line in own_lines(lines, types) if line.strip() and not any(expression.search(line) for expression in drop)]


def equal_numbers(a, b, rules):
    if a == b:
        return True
    if not re.search(r"[.eE]", a) and not re.search(r"[.eE]", b):
        return False
    x, y = float(a), float(b)
    if x != x or y != y:
        return x != x and y != y
    if max(abs(x), abs(y)) == float("inf"):
        return x == y
    if max(abs(x), abs(y)) <= rules.floor:
        return True
    return abs(x - y) <= rules.tolerance * max(abs(x), abs(y))


def skeleton(line):
    """A line with # in the place of each number, and its numbers. A difference in width moves columns: blanks count as one, but for the indentation."""
    indent = line[:len(line) - len(line.lstrip())]
    return indent + re.sub(r"\s+", " ", NUMBER.sub("#", line.strip())), NUMBER.findall(line)


def equal_lines(a, b, rules):
    if a == b:
        return True
    (words, first), (others, second) = skeleton(a), skeleton(b)
    # a sign or a width may change the blanks in front of the first number of a line of numbers only
    if words != others and not (words.strip().startswith("#") and words.strip() == others.strip()):
        return False
    return len(first) == len(second) and all(equal_numbers(x, y, rules) for x, y in zip(first, second))


def differences(reference, other, types, rules):
    """Pairs of a line of the reference and a line of the other output that differ; '' where one of them has no such line."""
    ours, theirs = lines_of(reference, types, rules), lines_of(other, types, rules)
    pairs = [(a, b) for a, b in zip(ours, theirs) if not equal_lines(a, b, rules)]
    if len(ours) == len(theirs) and all(skeleton(a)[0] == skeleton(b)[0] for a, b in pairs):
        return pairs
    # aligned by the words, so that one missing line does not make all that follow differ
    pairs = []
    matcher = difflib.SequenceMatcher(None, [skeleton(line)[0] for line in ours], [skeleton(line)[0] for line in theirs], autojunk=False)
    for kind, i, j, k, m in matcher.get_opcodes():
        if kind == "equal":
            pairs += [(a, b) for a, b in zip(ours[i:j], theirs[k:m]) if not equal_lines(a, b, rules)]
            continue
        left, right = ours[i:j], theirs[k:m]
        size = max(len(left), len(right))
        for a, b in zip(left + [""] * (size - len(left)), right + [""] * (size - len(right))):
            if not (a and b and equal_lines(a, b, rules)):
                pairs.append((a, b))
    return pairs
