#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What is around the library: configure.py, a tree whose path has a space in it, make install, the version, bench/cuda/build.sh. Prints ok, not ok or skip.
#
# make test sets BUILD, PETSC_DIR, PETSC_ARCH and MPIEXEC.
# gpu: 0
# timeoutfactor: 3
set -u
. "$(dirname "$0")/../shell/expect.sh"
python=${PYTHON:-python3}
build=$(basename "$BUILD")
cd "$root" || exit 1

# make of this tree or of a copy; --build-dir may have put the folder of this tree's configuration elsewhere
make_here() {
  local builds=
  [ "$PWD" != "$root" ] || builds=$(dirname "$BUILD")
  env -u MAKEFLAGS -u MAKELEVEL -u TESTS -u PETSC_DIR -u PETSC_ARCH PETSCAMB_BUILDS="$builds" make BUILD="$build" "$@"
}

# ------------------------------------------------- a path with a space, and an apostrophe -------------------------------------------------

tree="$work/a user's tree"
mkdir -p "$tree/build/$build"
cp -a configure.py makefile VERSION LICENSE CITATION.cff CHANGELOG.md config src include tool bench "$tree/"
mkdir -p "$tree/test/plugin" "$tree/test/shell" && cp -a test/{runtests,dealing}.py "$tree/test/" && cp -a test/plugin/check.sh "$tree/test/plugin/" && cp -a test/shell/idle.c "$tree/test/shell/"
for part in conf.mk conf.json petscambconf.h obj lib bin examples stubs; do
  [ ! -e "$BUILD/$part" ] || cp -a "$BUILD/$part" "$tree/build/$build/"
done
# the configuration is as new as this tree, and nothing is compiled but what is touched
touch "$tree/build/$build/conf.json" "$tree/src/petscamb.c"
cd "$tree" || exit 1
expect "path with a space: make where" 0 "^$tree/build/$build/lib/libpetscamb.so$" make_here -s where
if [ -e "$BUILD/examples/ex2" ]; then expect "path with a space: make check" 0 "^[12] passed, 0 failed" make_here check; else
  echo "skip path with a space: make check: PETSc's examples are not installed"
fi

# ------------------------------------------------- configure -------------------------------------------------

petsc=$work/petsc
mkdir -p "$petsc/include/petsc" "$petsc/lib"
for folder in "$PETSC_DIR/include" ${PETSC_ARCH:+"$PETSC_DIR/$PETSC_ARCH/include"}; do
  for file in "$folder"/*; do [ "$(basename "$file")" = petsc ] || ln -sf "$file" "$petsc/include/"; done
done
ln -s "$PETSC_DIR/$PETSC_ARCH"/lib/* "$petsc/lib/"
expect "configure: PETSc without its private headers" fail "has no include/petsc/private/petscimpl.h" "$python" configure.py PETSC_DIR="$petsc" PETSC_ARCH=
if command -v dpkg-query >/dev/null; then
  expect "configure: only what is missing is asked for" 0 "^Needed and not found, and --with-install=0 forbids installing: no-such-package\.$" "$python" - <<'END'
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, "config")
from ambsys import Log, Stop, install
try:
    install(["no-such-package", "dpkg"], Log("build/install.log"), False)
except Stop as stop:
    print(stop)
END
else
  echo "skip configure: only what is missing is asked for: there is no dpkg-query"
fi

expect "configure: 64-bit indices only for those who ask" 0 "^petsc3.19 petsc3.18 petsc64-3.19$" "$python" - <<'END'
import glob
import os
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, "config")
import ambpetsc
from ambsys import Log
glob.glob = lambda pattern: [pattern.replace("petsc*", name).replace("*", "complex") for name in ("petsc3.18", "petsc64-3.19", "petsc3.19")]
ambpetsc.shutil.which = lambda name: None
os.path.exists = lambda path: "complex" in path
print(" ".join(folder.split("/")[-2] for folder, arch in ambpetsc.installed(Log("build/install.log"))))
END

# of how many objects make has compiled some; no PETSc is built
mkdir "$work/objects" && cd "$work/objects" || exit 1
printf 'int one;\n' >one.c && printf 'int two;\n' >two.c
printf 'libs: one.o two.o\n%%.o: %%.c\n\t@printf "  CC %%s\\n" "$@"; gcc -c $< -o $@; sleep 4\n' >gmakefile
expect "configure: objects of how many" 0 "building PETSc: [0-9]+ s  [12] of 2 done" "$python" - "$root" <<'END'
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1] + "/config")
import ambdownload
import ambsys
log = ambsys.Log("build.log")
command = ["make", "-f", "gmakefile", "libs"]
total = ambdownload.count_objects(command, log, None)
log.long("building PETSc", command, count=ambdownload.COMPILES.match, total=total)
END
cd "$root" || exit 1

# ------------------------------------------------- make install -------------------------------------------------

cd "$root" || exit 1
version=$(cat VERSION)
there=$work/dest/opt/amb
make_install() { make_here "$1" DESTDIR="$work/dest" PREFIX=/opt/amb; }
expect "make install" 0 "Installed in $there" make_install install
expect "make install: the version" 0 "^Version: $version$" cat "$there/lib/pkgconfig/petscamb.pc"
expect "make install: the licence" 0 "^BSD 2-Clause License$" cat "$there/share/doc/petsc-amb/LICENSE"
abi=${version%.*}
expect "make install: the soname" 0 "SONAME.*\[libpetscamb.so.$abi\]" readelf -d "$there/lib/libpetscamb.so.$version"
expect "make install: links to the library" 0 "/libpetscamb.so.$version$" readlink -f "$there/lib/libpetscamb.so"
expect "make install: the tool" 0 "^petscamb $version, PETSc" "$there/bin/petscamb" --version
expect "make install: the manual page" 0 "^.TH PETSCAMB 1" cat "$there/share/man/man1/petscamb.1"
expect "make install: symbols for debuggers are apart" 0 "\.debug_info" readelf -S "$there/lib/.debug/libpetscamb.so.$version.debug"
expect "make install: no symbols for debuggers in the library" fail "\.gnu_debuglink" sh -c 'readelf -SW "$0" && ! readelf -SW "$0" | grep -q debug_info && false' "$there/lib/libpetscamb.so.$version"
expect "make install: the same again" 0 "Installed in $there" make_install install
cp "$there/lib/petsc-amb/configuration" "$work/configuration"
sed -i 's/^built for: .*/built for: PETSC_DIR=elsewhere PETSC_ARCH=/' "$there/lib/petsc-amb/configuration"
expect "make install: another configuration is there" fail "has petsc-amb for PETSC_DIR=elsewhere PETSC_ARCH=," make_install install
expect "make install: a place that cannot be written" fail "^\*\*\* /proc/petsc-amb: nothing can be written there\. .*make install PREFIX=.HOME" make_here install PREFIX=/proc/petsc-amb
rm "$there/lib/petsc-amb/configuration"
expect "make install: an unknown one is there" fail "has petsc-amb for a configuration that is not known," make_install install

# a program by pkg-config and by CMake, in the folder into which DESTDIR has put the files
make_install uninstall >/dev/null
make_install install >/dev/null
cat >"$work/version.c" <<'END'
#include <petscamb.h>
#if defined(OTHER)
  #undef PETSCAMB_VERSION_MINOR
  #define PETSCAMB_VERSION_MINOR 1000
#endif
int main(int argc, char **argv)
{
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscAMBInitializePackage());
  PetscCall(PetscFinalize());
  return 0;
}
END
pc="pkg-config --define-variable=prefix=$there"
export PKG_CONFIG_PATH="$there/lib/pkgconfig:$PETSC_DIR/$PETSC_ARCH/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
expect "petscamb.pc: PETSc is required" 0 "^PETSc >= 3\." pkg-config --print-requires petscamb
expect "petscamb.pc: a program" 0 "^0$" sh -c "$(sed -n 's/^AMB_LINK := //p' "$BUILD/conf.mk") '$work/version.c' -o '$work/by-pc' \$($pc --cflags --libs petscamb) && '$work/by-pc' && echo 0"
if command -v cmake >/dev/null; then
  mkdir "$work/cmake"
  printf '%s\n' 'cmake_minimum_required(VERSION 3.10)' 'project(version C)' "find_package(petscamb $abi REQUIRED)" "add_executable(by-cmake $work/version.c)" \
    'target_link_libraries(by-cmake petscamb::petscamb)' >"$work/cmake/CMakeLists.txt"
  expect "CMake: a program" 0 "^0$" sh -c "cmake -S '$work/cmake' -B '$work/cmake/build' -Dpetscamb_DIR='$there/lib/cmake/petscamb' && cmake --build '$work/cmake/build' && '$work/cmake/build/by-cmake' && echo 0"
  sed -i "s/petscamb $abi/petscamb 99.1/" "$work/cmake/CMakeLists.txt"
  expect "CMake: another version" fail "compatible with requested|version: $version" cmake -S "$work/cmake" -B "$work/cmake/build" -Dpetscamb_DIR="$there/lib/cmake/petscamb"
else
  echo "skip CMake: a program: there is no cmake"
fi

# a configuration with a suffix beside this one; of the sources only the file that has the name of the library is compiled again
suffixed=$tree/build/$build
touch -r "$suffixed/conf.mk" "$work/date"
sed -i 's/^AMB_SUFFIX := .*/AMB_SUFFIX := _other/' "$suffixed/conf.mk"
touch -r "$work/date" "$suffixed/conf.mk"
touch "$tree/src/petscamb.c"
cp -a docs "$tree/"
cd "$tree" || exit 1
expect "suffix: make install beside another configuration" 0 "Installed in $there" make_install install
cd "$root" || exit 1
cat >"$work/first.c" <<'END'
#include <petscmat.h>
int main(int argc, char **argv)
{
  Mat A;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetType(A, "amb"));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
END
cc() { $(sed -n 's/^AMB_LINK := //p' "$BUILD/conf.mk") "$@"; }
conf() { eval "echo $(sed -n "s/^$1 := //p" "$BUILD/conf.mk")"; }
cc $(conf AMB_INCLUDES) "$work/first.c" -o "$work/first" $(conf AMB_PETSC_LIBS)
expect "suffix: the library is loaded" 0 "^0$" sh -c "'$work/first' -dll_append '$there/lib/libpetscamb_other.so' && echo 0"
expect "suffix: the tool" 0 "^petscamb $version" "$there/bin/petscamb_other" --version
expect "suffix: make uninstall of the other one" 0 "Removed from $there" make_install uninstall
expect "suffix: the header is still there" 0 "PETSCAMB_VERSION_MAJOR" cat "$there/include/petscamb.h"
cd "$tree" || exit 1
expect "make uninstall" 0 "Removed from $there" make_install uninstall
cd "$root" || exit 1
expect "make uninstall: nothing is left" fail "^0$" sh -c "find '$there' -not -type d | wc -l; false"

# ------------------------------------------------- builds in another folder -------------------------------------------------

touch "$work/before"
expect "--build-dir" 0 "Build: +$work/outside/build/" "$python" configure.py --build-dir "$work/outside" --with-cuda=0 --with-install=0 PETSC_DIR="$PETSC_DIR" PETSC_ARCH="$PETSC_ARCH"
expect "--build-dir: objects" 0 " -o [^ ]*/$(basename "$work")/outside/build/[^ ]*/obj/src/petscamb\.o" env -u MAKEFLAGS -u MAKELEVEL -u BUILD -u PETSC_DIR -u PETSC_ARCH make -C "$work/outside" -n lib
expect "--build-dir: nothing is written beside the sources" fail "^0$" sh -c "find . -newer '$work/before' -not -path './.git*' -not -path './build/*' -type f | wc -l; false"
expect "--build-dir: a path with a blank" fail "make cannot take a path with blanks" "$python" configure.py --build-dir "$work/two words"

# the lines of docs/install.md, where nothing may be installed: configured, or told which package is missing
configure_outside() { env -u PETSC_DIR -u PETSC_ARCH "$python" configure.py --build-dir "$work/outside" --with-cuda=0 --with-install=0 "$@" 2>&1 || true; }
expect "configure.py --with-scalar-type=complex --with-suffix" 0 "Build: .*complex|missing|not found, .*libpetsc-complex-dev" configure_outside --with-scalar-type=complex --with-suffix
expect "configure.py --with-64-bit-indices --with-suffix" 0 "Build: .*64|not found, .*libpetsc64-" configure_outside --with-64-bit-indices --with-suffix
expect "configure.py --name=asan CFLAGS=" 0 "Build: .*/asan" env PETSC_DIR="$PETSC_DIR" PETSC_ARCH="$PETSC_ARCH" "$python" configure.py --build-dir "$work/outside" --with-cuda=0 --with-install=0 --name=asan CFLAGS="-fsanitize=address,undefined -O1"
expect "configure.py: a scalar type that is none" 2 "invalid choice: 'complx' \(choose from 'real', 'complex'\)" "$python" configure.py --with-scalar-type=complx
expect "configure.py: a misspelt option" 2 "there is no option --with-cdua=1; did you mean --with-cuda\?$" "$python" configure.py --with-cdua=1
expect "configure.py: another option" 2 "there is no option --frob; see --help$" "$python" configure.py --frob
expect "configure.py --help" 0 "--download-petsc" "$python" configure.py --help

# ------------------------------------------------- the version -------------------------------------------------

macros=$(sed -n 's/^#define PETSCAMB_VERSION_[A-Z]* *//p' include/petscamb.h | paste -sd .)
expect "version: petscamb.h" 0 "^$version$" echo "$macros"
expect "version: CITATION.cff" 0 "^version: $version$" cat CITATION.cff
expect "version: CHANGELOG.md" 0 "^## $version" cat CHANGELOG.md
for other in "" -DOTHER; do
  cc -Iinclude $other $(conf AMB_INCLUDES) "$work/version.c" -o "$work/version$other" -L"$BUILD/lib" -Wl,-rpath,"$BUILD/lib" -lpetscamb $(conf AMB_LIBS) >"$work/out" 2>&1 || sed 's/^/    /' "$work/out" >&2
done
expect "version: the program's is the library's" 0 "^0$" sh -c "'$work/version' && echo 0"
expect "version: the program's is another" fail "was compiled with petscamb.h .*\.1000\..*, but libpetscamb is $version" "$work/version-DOTHER"

# ------------------------------------------------- bench/cuda/build.sh -------------------------------------------------

# nvcc that makes empty files, and nothing of a source whose name is in BROKEN; a shell that has forgotten how its jobs ended, as bash does of those
# whose process id was given out again
cat >"$work/nvcc" <<'END'
#!/bin/bash
for last; do :; done
while [ "$1" != -o ]; do shift; done
[ "$(basename -- "$last")" != "${BROKEN:-}" ] && : >"$2"
END
chmod +x "$work/nvcc"
wait() { [ $# = 0 ] && builtin wait || return 127; }
export -f wait
expect "bench/cuda/build.sh" 0 "^spgemm_float$" env NVCC="$work/nvcc" bash -c 'bench/cuda/build.sh "$0" && ls "$0"' "$work/cuda"
expect "bench/cuda/build.sh: a source that does not compile" fail "^1$" env NVCC="$work/nvcc" BROKEN=spmv.cu sh -c 'bench/cuda/build.sh "$0"; echo $?; false' "$work/cuda"
exit $failed
