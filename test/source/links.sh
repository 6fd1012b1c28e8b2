#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The links of the pages: files and headings that README.md, docs/ and the pages beside them name must exist. Addresses of other sites are not visited.
# Their lines have at most 120 characters, but for code, tables, headings, pictures, and the one-line entries of CHANGELOG.md.
# gpu: 0
# tier: check
set -u
cd "$(dirname "$0")/../.." || exit 1

"${PYTHON:-python3}" - <<'END'
import glob, os, re, sys

PAGES = sorted(glob.glob("*.md") + glob.glob("docs/**/*.md", recursive=True) + glob.glob("data/*.md"))


def split(text):
    """The text without its code blocks and code spans, its headings, and the numbers of lines that are too long."""
    lines, headings, long, fence = [], [], [], None
    for number, line in enumerate(text.splitlines(), 1):
        mark = re.match(r"\s*(```+|~~~+)", line)
        if mark and (fence is None or line.strip() == fence):
            fence = mark.group(1) if fence is None else None
        elif fence is None:
            heading = re.match(r"#{1,6}\s+(.*?)\s*#*$", line)
            headings += [heading.group(1)] if heading else []
            long += [number] if len(line) > 120 and not line.startswith(("|", "#", "!", "    ")) else []
            lines.append(re.sub(r"(`+).+?\1", "", line))
    return "\n".join(lines), headings, long


def anchors(headings):
    """The names that a forge gives to headings: small letters, digits, hyphens for blanks; a name that was there before gets a number."""
    names = {}
    for heading in headings:
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        count = names.get(name, 0)
        names[name] = count + 1
        names["%s-%d" % (name, count) if count else name] = 1
    return set(names)


def wrong(page, target):
    """Why a link of a page leads nowhere, or None."""
    if re.match(r"[a-z]+:", target):
        return None
    path, _, anchor = target.partition("#")
    there = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
    if not os.path.exists(there):
        return "there is no %s" % there
    if anchor and there not in found:
        return "%s is no page that has headings" % there
    if anchor and anchor not in found[there]:
        return "%s has no heading #%s" % (there, anchor)
    return None


texts, found, long = {}, {}, []
for page in PAGES:
    with open(page, encoding="utf-8") as file:
        texts[page], headings, numbers = split(file.read())
    found[page] = anchors(headings)
    long += ["%s:%d" % (page, number) for number in numbers] if page != "CHANGELOG.md" else []

failed, links, linked = False, 0, set()
for page in PAGES:
    bad = []
    targets = re.findall(r"\]\(\s*<?([^)>\s]+)>?[^)]*\)", texts[page]) + re.findall(r"^\[[^\]]+\]:\s*(\S+)", texts[page], re.M)
    for target in targets:
        links += 1
        path = target.partition("#")[0]
        linked.add(os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page)
        reason = wrong(page, target)
        bad += ["%s: (%s): %s" % (page, target, reason)] if reason else []
    for line in bad:
        print("    " + line, file=sys.stderr, flush=True)
    failed = failed or bool(bad)
    print("%s links of %s" % ("not ok" if bad else "ok", page))
lost = [page for page in PAGES if page.startswith("docs/") and page not in linked]
for page in lost:
    print("    no page links to %s" % page, file=sys.stderr, flush=True)
print("%s every page of docs/ is linked" % ("not ok" if lost or links < 50 else "ok"))
for place in long:
    print("    %s: more than 120 characters" % place, file=sys.stderr, flush=True)
print("%s lines of at most 120 characters" % ("not ok" if long else "ok"))
sys.exit(failed or bool(lost) or bool(long) or links < 50)
END
