#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The recipes in config/packaging and .github: one version in all, names that follow the soname, and their syntax as far as it can be read without the tools.
# gpu: 0
# tier: check
set -u
cd "$(dirname "$0")/../.." || exit 1
failed=0
version=$(cat VERSION)
abi=${version%.*}
here=config/packaging
ok() { if "${@:2}"; then echo "ok $1"; else echo "not ok $1" && failed=1; fi; }

same_version() {
  local file wrong=0
  for file in "$here/spack/package.py" "$here/conda/recipe.yaml" "$here/petsc/petscamb.py" "$here/debian/changelog" src/binding/python/pyproject.toml; do
    grep -qE "(^|[^0-9.])v?$version([^0-9.]|\$|-1|\.tar)" "$file" || { echo "$file does not name version $version" >&2 && wrong=1; }
  done
  return $wrong
}
ok "one version" same_version
soname() { grep -qx "Package: libpetscamb$abi" $here/debian/control && [ -e "$here/debian/libpetscamb$abi.install" ]; }
ok "debian: the name of the library's package follows the soname" soname
python_syntax() { "${PYTHON:-python3}" -c "import ast, sys; [ast.parse(open(name).read(), name) for name in sys.argv[1:]]" $here/spack/package.py $here/petsc/petscamb.py; }
ok "spack and PETSc: the syntax of Python" python_syntax
# options of configure.py that the recipes give must exist
options() {
  local option
  "${PYTHON:-python3}" configure.py --help >/dev/null || return 1
  for option in $(grep -rhoE -- "--(with|prefix|download)[a-z0-9-]*" $here/spack/package.py $here/conda/build.sh $here/petsc/petscamb.py $here/debian/rules .github/workflows/ci.yml | grep -vxE -- "--download-petscamb" | sort -u); do
    "${PYTHON:-python3}" configure.py --help | grep -q -e "$option" || { echo "configure.py has no $option" >&2 && return 1; }
  done
}
ok "the options of configure.py exist" options
scripts() { bash -n $here/deb.sh && bash -n $here/conda/build.sh && [ -x $here/debian/rules ] && make -n -f $here/debian/rules override_dh_auto_clean >/dev/null; }
if [ -e /usr/share/dpkg/architecture.mk ]; then ok "scripts" scripts; else echo "skip scripts: no dpkg-dev"; fi
if "${PYTHON:-python3}" -c "import yaml" 2>/dev/null; then
  yaml() { "${PYTHON:-python3}" -c "import yaml; jobs = yaml.safe_load(open('.github/workflows/ci.yml'))['jobs']; assert any('.ci/run' in str(step) for step in jobs['test']['steps'])"; }
  ok "the forge runs .ci/run" yaml
else
  echo "skip the forge runs .ci/run: no PyYAML"
fi
if "${PYTHON:-python3}" -c "import rattler_build" 2>/dev/null; then
  conda() { "${PYTHON:-python3}" -c "import rattler_build as r; variants = r.Stage0Recipe.from_file('$here/conda/recipe.yaml').render(r.VariantConfig({'mpi': ['openmpi', 'mpich']})); assert len(variants) == 2"; }
  ok "conda: rattler-build renders the recipe" conda
else
  echo "skip conda: rattler-build renders the recipe: no py-rattler-build"
fi
if command -v hadolint >/dev/null; then ok "hadolint says nothing of the Containerfile" hadolint $here/Containerfile; else echo "skip hadolint says nothing of the Containerfile: no hadolint"; fi
exit $failed
