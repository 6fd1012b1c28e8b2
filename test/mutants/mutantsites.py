# SPDX-License-Identifier: BSD-2-Clause
"""The places of a C source in clang-format's layout where mutants.py may put a defect.

sites(text) is a list with one entry a line: the mutants of this line, each (operator, the line with the defect). Only bodies of functions are taken, and in
them neither comments nor the text of strings, nor statements that only report or free.
"""
import re

REPORTS = re.compile(r"PetscInfo\(|PetscLog\w+\(|PetscViewer\w*Print|PetscViewer\w*Tab|PetscCitations|PetscAssert\(|SETERRQ|PetscFunction(Begin|Return)|^\s*#")
FREES = re.compile(r"Free|Destroy|Release|destroy|\bfree\(|_free\(|Unmap|Drop(Words|Places|Sums)|RestoreArray|PetscOptionsEnd|(TuneEnd|ReportEnd)\(")
SYMMETRIC = ("PetscMax", "PetscMin", "PetscStrcmp", "PetscMemcmp", "PetscArraycmp", "strcmp", "strncmp", "memcmp", "sizeof")
KEYWORDS = ("if", "for", "while", "switch", "return", "PetscCall", "PetscCallMPI")


def blank(text):
    """The text with spaces in place of comments and of what is quoted."""
    space = lambda part: re.sub(r"[^\n]", " ", part)
    token = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
    return token.sub(lambda m: space(m.group()) if m.group()[0] == "/" else m.group()[0] + space(m.group()[1:-1]) + m.group()[-1], text)


def closing(code, begin):
    """The place of the parenthesis that closes that at begin, or -1."""
    depth = 0
    for k in range(begin, len(code)):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(code[k], 0)
        if depth == 0:
            return k
    return -1


def arguments(code, begin, end):
    """(begin, end) of each argument between two parentheses."""
    parts, start, depth = [], begin + 1, 0
    for k in range(begin + 1, end + 1):
        if (code[k] == "," and depth == 0) or k == end:
            first = start + len(code[start:k]) - len(code[start:k].lstrip())
            parts.append((first, k))
            start = k + 1
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(code[k], 0)
    return parts


def statement(code):
    """Where a statement begins behind if, else, for and while."""
    k = len(code) - len(code.lstrip())
    while True:
        word = re.match(r"(\} )?else |(?:(\} )?else )?(if|for|while) (?=\()", code[k:])
        if not word:
            return k
        k += word.end()
        if word.group(3):
            end = closing(code, k)
            if end < 0:
                return len(code)
            k = end + 1 + len(code[end + 1:]) - len(code[end + 1:].lstrip())


def deletions(code):
    begin = statement(code)
    text = code[begin:].rstrip()
    if not text.endswith(";") or text.count(";") != 1 or "{" in text or FREES.search(text):
        return
    left = re.match(r"(.*?) (?:[-+|&^*/]|<<|>>)?= ", text)
    assigns = left and re.match(r"[*(A-Za-z_]", text) and not re.search(r"\w \**\w", re.sub(r"\[[^\]]*\]|\([^)]*\)", "", left.group(1)))
    calls = not left and re.match(r"(\(void\))?(\w+|\(\*[^;]*\))\(.*\);$", text) and not re.match(r"(return|while)\b", text)
    if assigns or calls or re.match(r"[*\w.>\-\[\]()]+(\+\+|--);$|(continue|break);$", text):
        yield "delete", begin, begin + len(text), "{ }"


def conditions(code):
    for word in re.finditer(r"\b(?:if |PetscCheck)(?=\()", code):
        end = closing(code, word.end())
        if word.group() != "if " and end >= 0:
            end = arguments(code, word.end(), end)[0][1]
        if end >= 0:
            yield "negate", word.end() + 1, end, "!(%s)" % code[word.end() + 1:end]
    for word in re.finditer(r" (==|!=) ", code):
        yield "negate", word.start(1), word.end(1), "!=" if word.group(1) == "==" else "=="


def numbers(code):
    for word in re.finditer(r"(?<![\w.])(\d+)(?![\w.])", code):
        if int(word.group()) < 2 or "[" not in code[max(0, word.start() - 1):word.start()]:
            yield "constant", word.start(), word.end(), {"0": "1", "1": "0"}.get(word.group(), str(int(word.group()) + 1))
    for word in re.finditer(r"\bPETSC_(TRUE|FALSE)\b", code):
        yield "constant", word.start(), word.end(), "PETSC_FALSE" if word.group(1) == "TRUE" else "PETSC_TRUE"


def bounds(code):
    for word in re.finditer(r" (<=|<|>=|>) ", code):
        yield "bound", word.start(1), word.end(1), {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}[word.group(1)]
    for word in re.finditer(r" [-+] 1\b(?!\.)", code):
        yield "bound", word.start(), word.end(), ""


def logic(code):
    for word in re.finditer(r" (&&|\|\|) ", code):
        yield "logic", word.start(1), word.end(1), "||" if word.group(1) == "&&" else "&&"


def swaps(code):
    for word in re.finditer(r"\b(\w+)(?=\()", code):
        end = closing(code, word.end())
        if word.group() in SYMMETRIC + KEYWORDS or end < 0:
            continue
        parts = arguments(code, word.end(), end)
        for (a, b), (c, d) in zip(parts, parts[1:]):
            one, two = code[a:b], code[c:d]
            if one != two and all(re.match(r"&?[A-Za-z_][\w.>\-\[\]]*$", part) for part in (one, two)) and one.startswith("&") == two.startswith("&"):
                yield "swap", a, d, two + code[b:c] + one


def cases(code):
    if re.match(r"\s*(case .*|default):\s*$", code):
        yield "case", len(code) - len(code.lstrip()), len(code.rstrip()), ""


OPERATORS = (conditions, deletions, numbers, bounds, swaps, logic, cases)


def sites(text):
    lines, inside, reports, found = text.splitlines(), False, False, []
    for line, code in zip(lines, blank(text).splitlines()):
        inside = line == "{" or inside and line != "}"
        goes_on, mutants = reports, []
        reports = bool(reports or REPORTS.search(code)) and not re.search(r"[;{}]\s*$|^\s*#", code)  # on the next line too
        if inside and line != "{" and not goes_on and not REPORTS.search(code):
            check = re.search(r"PetscCheck\(", code)
            for operator in OPERATORS:
                for name, begin, end, new in operator(code):
                    message = check and begin >= arguments(code + ")", check.end() - 1, len(code))[0][1]
                    old = line[begin:end]
                    if name in ("negate", "swap") and '"' in old:  # the quoted text was blanked
                        continue
                    if not message and (operator is not deletions or not check):
                        mutants.append((name, line[:begin] + new + line[end:]))
        found.append(mutants)
    return found
