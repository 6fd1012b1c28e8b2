#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The messages in docs/troubleshooting.md are those of the sources: each message in the first column of a table, between its "...", is a text of src/, tool/, bench/,
# config/ or the makefile. Messages of PETSc, Open MPI and GNU make, which are marked as theirs, are not looked for.
# gpu: 0
# tier: check
set -u
cd "$(dirname "$0")/../.." || exit 1

"${PYTHON:-python3}" - <<'END'
import glob, os, re, sys

sources = ""
for name in ["makefile", "configure.py"] + [name for folder in ("src", "tool", "bench", "config") for name in glob.glob(folder + "/**/*.*", recursive=True) if os.path.isfile(name)]:
    with open(name, encoding="utf-8", errors="replace") as file:
        sources += file.read()
with open("docs/troubleshooting.md", encoding="utf-8") as page:
    rows = [line.split("|")[1] for line in page if line.startswith("| ")]
looked, missing = 0, []
for cell in rows:
    if re.search(r"\((PETSc|Open MPI|GNU make)\b", cell):
        continue
    for message in re.findall(r"`([^`]+ [^`]+)`", cell):
        for part in (part.strip() for part in message.split("...")):
            looked += 1
            missing += [message] if part not in sources else []
for message in missing:
    print("    not in the sources: %s" % message, file=sys.stderr, flush=True)
print("%s %d messages of docs/troubleshooting.md are in the sources" % ("not ok" if missing or looked < 30 else "ok", looked))
sys.exit(bool(missing) or looked < 30)
END
