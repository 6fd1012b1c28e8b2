# SPDX-License-Identifier: BSD-2-Clause
"""Build PETSc's own programs, and bring together in one folder everything that a run of them needs, so that it can run without PETSc's sources."""
import concurrent.futures
import json
import os
import shlex
import shutil
import subprocess
import sys

import runtests

sys.path.insert(0, os.path.join(runtests.ROOT, "config"))
import ambpetsc


def compilers(build, petsc):
    """The words of conf.mk for a compiler, with the quotes of a shell; petsc are PETSc's variables, which name the folders and libraries of its packages."""
    words = {}
    with open(os.path.join(build, "conf.mk"), encoding="utf-8") as text:
        for line in text:
            name, equals, value = line.partition(" := ")
            if equals:
                words[name] = value.strip().replace("$$", "$").replace("\\#", "#")
    return {"c": words["AMB_CC"], "cxx": words["AMB_CXX"], "link": words["AMB_LINK"], "flags": "-O0 -g0 -w %s %s %s" % (words["AMB_CFLAGS"], words["AMB_INCLUDES"], petsc.get("PETSC_CC_INCLUDES", "")),
            "libs": "%s %s" % (words["AMB_LDFLAGS"], words["AMB_LIBS"]), "packages": petsc.get("PETSC_EXTERNAL_LIB_BASIC", "")}


def compiled(root, block, target, words, newest):
    """None, or the compiler's complaint. A program stays as long as it is newer than its sources and the configuration."""
    folder, language = os.path.join(root, block.folder), os.path.splitext(block.program)[1][1:]
    files = [os.path.join(root, block.program)] + [os.path.join(folder, name) for name in block.depends]
    date = max([newest] + [os.path.getmtime(name) for name in files if os.path.exists(name)])
    if os.path.exists(target) and os.path.getmtime(target) > date:
        return None
    os.makedirs(os.path.dirname(target), exist_ok=True)
    objects, commands = [], []
    for index, name in enumerate(files):
        objects.append("%s.%d.o" % (target, index))
        commands.append("%s %s -c -o %s %s" % (words[language], words["flags"], shlex.quote(objects[-1]), shlex.quote(name)))
    linker = words["link"] if language == "c" else words[language]
    link = "%s -s -o %s %s %s" % (linker, shlex.quote(target), " ".join(map(shlex.quote, objects)), words["libs"])
    commands.append("{ %s 2>/dev/null || %s %s; }" % (link, link, words["packages"]))  # few programs call a package of PETSc's themselves
    done = subprocess.run(["bash", "-c", " && ".join(commands)], capture_output=True, text=True, errors="replace")
    for name in objects:
        if os.path.exists(name):
            os.remove(name)
    if done.returncode and os.path.exists(target):
        os.remove(target)
    return (done.stderr or "exit code %d" % done.returncode) if done.returncode else None


def copy_files(source, target, names):
    """The files that a test wants in its folder, under the names that it knows them by."""
    for name in names:
        there, here = os.path.join(source, name), os.path.join(target, name)
        os.makedirs(os.path.dirname(here), exist_ok=True)
        if os.path.isdir(there):
            shutil.copytree(there, here, dirs_exist_ok=True)
        elif os.path.exists(there):
            shutil.copyfile(there, here)


def petscdiff(conf):
    """PETSc's own program to compare outputs: beside the library, or beside the examples of a distribution."""
    folders = [conf["AMB_PETSC_DIR"], os.path.join(os.path.realpath(conf["AMB_EXAMPLES_SRC"]), "..", "..", "..")]
    return next(path for path in (os.path.join(folder, "lib/petsc/bin/petscdiff") for folder in folders) if os.path.exists(path))


def build(conf, folder, blocks, jobs):
    """Builds the programs of these blocks; returns [(program, complaint)] for those that do not compile."""
    petsc = ambpetsc.variables(os.path.join(conf["AMB_PETSC_DIR"], conf["AMB_PETSC_ARCH"], "lib/petsc/conf/petscvariables"))
    root, words = os.path.join(conf["AMB_EXAMPLES_SRC"], "src"), compilers(folder, petsc)
    newest = os.path.getmtime(os.path.join(folder, "conf.mk"))
    programs = {block.program: block for block in blocks if any(not case.skip for case in block.cases)}
    place = os.path.join(folder, "petsc")
    os.makedirs(place, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(jobs) as threads:
        waiting = {name: threads.submit(compiled, root, block, os.path.join(place, "bin", os.path.splitext(name)[0]), words, newest) for name, block in programs.items()}
        failed = [(name, future.result()) for name, future in waiting.items() if future.result()]
    for block in blocks:
        copy_files(os.path.join(root, block.folder), os.path.join(place, "files", block.folder), block.files)
    shutil.copy(petscdiff(conf), os.path.join(place, "petscdiff"))
    data = os.path.join(conf["AMB_PETSC_DIR"], "share/petsc/datafiles")
    copy_files(data, os.path.join(place, "share/petsc/datafiles"), os.listdir(data) if os.path.isdir(data) else [])
    return failed
