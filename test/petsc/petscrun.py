# SPDX-License-Identifier: BSD-2-Clause
"""Run the cases of a block with PETSc's own types and with those of petsc-amb."""
import os
import shlex
import shutil
import tempfile

import petsccompare
import runtests

COMMON = "-check_pointer_intensity 0 -error_output_stdout -malloc_dump -options_left no"  # the first three are those of PETSc's harness
DEVICE = "-mat_type aijcusparse -dm_mat_type aijcusparse -vec_type cuda -dm_vec_type cuda"
REFERENCES = 4  # runs of the reference to find out that its output is not always the same


class Result:
    """A run of a case: the output that is compared, or why there is none."""

    def __init__(self, failure, text, tail, used, cpu, command):
        self.failure, self.text, self.tail, self.used, self.cpu, self.command = failure, text, tail, used, cpu, command


class Runner:
    def __init__(self, place, library, mpiexec, device, cores, work, explained):
        self.place, self.library, self.mpiexec, self.device, self.cores, self.work, self.explained = place, library, mpiexec, device, cores, work, explained
        self.petscdiff = os.path.join(place, "petscdiff")

    def options(self, kind):
        words = [COMMON] + [DEVICE] * self.device
        if kind:
            words.append("-dll_append %s -petscamb_for_aij %s -petscamb_for_gamg none -petscamb_for_ksp 0 -mat_shadow_tune off -petscamb_view" % (self.library, kind))
        return " ".join(words)

    def command(self, block, case, kind):
        """PETSC_OPTIONS comes after what the block sets, as in PETSc's harness."""
        lines = ["export OMPI_MCA_ess_singleton_isolated=1"] * (case.nsize == 1)  # no daemon of Open MPI for a process without mpiexec
        lines += ["export " + shlex.quote(word) for word in shlex.split(case.env)]
        lines += ["wPETSC_DIR=%s" % shlex.quote(self.place), "petsc_dir=$wPETSC_DIR", "export PETSC_OPTIONS=\"$PETSC_OPTIONS %s\"" % self.options(kind)]
        program = shlex.quote(os.path.join(self.place, "bin", os.path.splitext(block.program)[0]))
        launch = "%s -n %d %s" % (self.mpiexec, case.nsize, program) if case.nsize > 1 else program
        return "; ".join(lines + ["%s -petsc_ci %s%s" % (launch, case.args, " 2>&1" if case.error else "")])

    def run(self, block, case, kind, folder):
        command = self.command(block, case, kind)
        with self.cores.take(case.nsize):
            code, out, err, cpu = runtests.shell(command, folder, case.seconds)
        failure = None
        if isinstance(code, str):
            failure = code
        elif code and not case.error:
            failure = "exit code %d" % code if code > 0 else "killed by signal %d" % -code
        used = False
        if kind:
            out, used = petsccompare.take_report(out, kind)
        text = None if failure else petsccompare.filtered(case, out, folder)
        return Result(failure, text, runtests.last_lines(out, 15) + "\n" + runtests.last_lines(err, 15), used, cpu, command)

    def cases(self, block, kind):
        """All cases of a block with a type, in a folder that they share: [Result]"""
        folder = tempfile.mkdtemp(prefix="run-", dir=self.work)
        files = os.path.join(self.place, "files", block.folder)
        try:
            for name in block.files:
                there, here = os.path.join(files, name), os.path.join(folder, name)
                os.makedirs(os.path.dirname(here), exist_ok=True)
                if os.path.isdir(there):
                    shutil.copytree(there, here, dirs_exist_ok=True)
                elif os.path.exists(there):
                    shutil.copyfile(there, here)
            return [self.run(block, case, kind, folder) for case in block.cases if not case.skip]
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def unstable(self, block, case, index, reference, further, spent):
        """What differs between runs of the reference, or None if they are all the same. The further runs serve all types."""
        for number in range(REFERENCES - 1):
            if number == len(further):
                further.append(self.cases(block, None))
                spent[0] += sum(result.cpu for result in further[number])
            again = further[number][index]
            if again.failure:
                return again.failure
            found = petsccompare.difference(case, self.petscdiff, self.work, reference.text, again.text)
            if found:
                return found
        return None

    def block(self, block, kinds):
        """[(state, case, type, detail, CPU seconds, in use)]; the state is reference, ok, differs, unstable or skip"""
        found, further, spent = [], [], [0.0]
        cases = [case for case in block.cases if not case.skip]
        references = self.cases(block, None)
        for case, reference in zip(cases, references):
            found.append(("skip" if reference.failure else "reference", case, None, "with aij: %s" % reference.failure, reference.cpu, False))
        if all(reference.failure for reference in references):
            return found
        for kind in kinds:
            if kind != kinds[0] and not any(used for _, _, _, _, _, used in found):
                break  # a program that makes no AIJ makes none with any type
            for index, (case, reference, result) in enumerate(zip(cases, references, self.cases(block, kind))):
                if reference.failure:
                    continue
                if result.failure:
                    state, detail = "differs", "%s\n%s" % (result.failure, result.tail)
                else:
                    folder = tempfile.mkdtemp(prefix="diff-", dir=self.work)
                    detail = petsccompare.difference(case, self.petscdiff, folder, reference.text, result.text)
                    shutil.rmtree(folder, ignore_errors=True)
                    state = "differs" if detail else "ok"
                if state == "differs":
                    other = None if self.explained.covers(case.name, kind) else self.unstable(block, case, index, reference, further, spent)
                    if other:
                        state, detail = "unstable", other
                    detail = "%s\n%s" % (result.command, detail)
                found.append((state, case, kind, detail, result.cpu + spent[0], result.used))
                spent[0] = 0.0
        return found
