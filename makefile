# SPDX-License-Identifier: BSD-2-Clause
# make run     finds or installs what is needed, configures, builds, and runs the main job
# make check   the quickest tests: a solve in an unmodified PETSc example with the plugin loaded, every matrix type and product once
# make test    all tests but the long ones; TESTS=pattern chooses, LONGEST=10 prints the ten longest at the end
# make check-deep   all tests: sanitizers, valgrind and other PETScs too
# make test-complex, test-int64, test-single   make test for another PETSc, in build/NAME: the distribution's, or for single precision one that is built
# make check-sanitizers   the tests of make check-deep that run under sanitizers and valgrind
# make check-petsc   PETSc's own tests with every matrix type, beside aij; MATCH=pattern and TYPES=names choose, ALL=1 runs all of them
# make check-mutants   whether the tests notice defects that are put into the sources; SEED=number, COUNT=number, FILES=names, JOBS=number
# make check-clients   programs of SLEPc, deal.II, DOLFINx and others, with aij and with petsc-amb (docs/clients); TESTS='slepc/*' chooses, TIME=1 measures
# make check-differ SECONDS=3600   the differential tester with new seeds; SEED=number gives the seed
# make accuracy   rounding errors of products and solvers beside those of aij, as a table; MATRICES="A B" gives files and generated matrices
# make soak SECONDS=7200   whether memory stays constant in a long run; RANKS=number
# make all     the library, bin/solve, bin/petscamb and the test programs
# make site    the pages and the manual pages as HTML; SHOTS=DIR writes a picture of each page
# make results tables and plots of docs/results from its raw results
# make where   prints the path of the library
# make python  builds the Python package and prints its folder, for PYTHONPATH; PYTHON=/usr/bin/python3 names an interpreter with petsc4py and Cython
# make install library, header, tool, manual page, petscamb.pc and CMake's files into PREFIX (DESTDIR and LIBDIR honoured); make uninstall removes them
# make help    prints these lines
# make clean   removes what was built; make distclean also the configurations
#
# PETSC_DIR and PETSC_ARCH, given or in the environment, choose the PETSc; BUILD=name chooses a configuration by its name.

PYTHON ?= python3
.DEFAULT_GOAL := all
.SUFFIXES:
.SECONDARY:
.DELETE_ON_ERROR:
.PHONY: all lib bin examples programs run test test-complex test-int64 test-single check check-deep check-sanitizers check-petsc check-petsc-build check-mutants check-clients check-differ accuracy soak site results where python FORCE install uninstall help clean distclean cuda-check cuda-float

unconfigured := help clean distclean test-complex test-int64 test-single
# names the build that was made last; with --build-dir in that folder
link := $(if $(PETSCAMB_BUILDS),$(PETSCAMB_BUILDS)/../bin,bin)
ifneq ($(filter-out $(unconfigured),$(or $(MAKECMDGOALS),all)),)

quote = '$(subst ','\'',$1)'
chosen := $(foreach v,PETSC_DIR PETSC_ARCH,$(if $(filter command%,$(origin $v)),$v=$(call quote,$($v)))) $(if $(BUILD),--name=$(call quote,$(BUILD)))
B := $(shell command -v $(PYTHON) >/dev/null && $(PYTHON) configure.py --make $(chosen))
ifeq ($(B),)
  $(if $(shell command -v $(PYTHON)),,$(info python3 is needed: apt-get install python3))
  $(error petsc-amb is not configured)
endif
include $(B)/conf.mk

# all cores, unless make was told otherwise
ifeq ($(filter -j% --jobserver%,$(MAKEFLAGS) $(shell tr '\0' '\n' < /proc/$$PPID/cmdline | grep -E '^(-[a-zA-Z]*j|--jobs)' | sed 's/.*/-j/')),)
  MAKEFLAGS += -j$(shell env -u OMP_NUM_THREADS nproc 2>/dev/null || echo 1)
endif

NAME     := petscamb$(AMB_SUFFIX)
VERSION  := $(shell cat VERSION)
ABI      := $(basename $(VERSION))
LIB      := $(B)/lib/lib$(NAME).so
ARCHIVE  := $(B)/lib/libpetscamb.a
BIN      := $(B)/bin
EXAMPLES := $(B)/examples
PREFIX   ?= $(AMB_PREFIX)

# sources; without a kernel file that the compiler has no instructions for, and without the device where this PETSc has none
sources  := $(sort $(shell find src -name '*.c' -not -path 'src/ksp/examples/*'))
sources  := $(filter-out $(if $(AMB_POOL),,%/systhreadspool.c) $(if $(AMB_AVX512_FLAGS),,%_avx512.c) $(if $(AMB_AVX2_FLAGS),,%_avx2.c) $(if $(AMB_CUDA),,%device.c),$(sources))
# NAME_isa.c is compiled for each instruction set that the compiler has, into NAME_isa_plain.o, NAME_isa_avx2.o and NAME_isa_avx512.o
isas     := plain $(if $(AMB_AVX2_FLAGS),avx2) $(if $(AMB_AVX512_FLAGS),avx512)
variants := $(foreach isa,$(isas),$(patsubst %_isa.c,%_isa_$(isa).c,$(filter %_isa.c,$(sources))))
sources  := $(filter-out %_isa.c,$(sources))
cuda     := $(sort $(shell find src -name '*.cu'))
objects  := $(patsubst %.c,$(B)/obj/%.o,$(sort $(sources) $(variants))) $(if $(AMB_CUDA),$(cuda:%.cu=$(B)/obj/%.cu.o))
program  := $(sort $(wildcard tool/*.c tool/*/*.c bench/*.c))
ksp      := $(sort $(wildcard src/ksp/examples/*.c))
# test programs, whose names differ; those of test/kernels and test/fuzz, without PETSc, are built by scripts
helpers  := $(sort $(wildcard test/*.c))
parts    := $(sort $(wildcard test/differ/differ?*.c))
tests    := $(filter-out test/kernels/% test/fuzz/% test/shell/% $(parts),$(sort $(wildcard test/*/*.c)))
built     = $(addprefix $(B)/test/,$(basename $(notdir $1)))
idle     := $(B)/test/idle.so
stock    := $(if $(AMB_EXAMPLES_SRC),ex2 ex45 ex56)

INCLUDES := -include $(B)/petscambconf.h -Iinclude -Isrc $(AMB_INCLUDES)
CFLAGS   := -std=gnu11 -O3 -g -Wall -Wextra $(AMB_WERROR) -Wno-unused-parameter -fPIC $(AMB_VISIBILITY) $(AMB_OPENMP_FLAGS) $(AMB_CFLAGS)
LDFLAGS  := $(if $(AMB_POOL),,$(AMB_OPENMP_FLAGS)) $(AMB_CFLAGS) $(AMB_LDFLAGS)
# the headers of C++17 take nvcc a third of the time of a small file; CUB, `if constexpr` and some initialisers need it
cxx17    := src/sys/syscub.cu src/ksp/ksp/impls/fused/fusedcg.cu $(addprefix src/mat/impls/hashgemm/cuda/spgemmcuda,hash.cu parts.cu table.cu) $(addprefix src/mat/impls/spmm/cuda/spmmcuda,.cu node.cu share.cu tile.cu)
NVFLAGS   = $(AMB_CXX:%=-ccbin %) -O3 -std=$(if $(filter $(cxx17),$<),c++17,c++14) $(if $(LINEINFO),-lineinfo) $(AMB_GENCODE) $(AMB_WERROR:%=% all-warnings) $(AMB_VISIBILITY:%=-Xcompiler %) -Xcompiler -fPIC,-Wall,-Wno-unused-parameter

# nothing but the answer on the output of make where, nothing at all under make -s
say = $(if $(findstring s,$(firstword -$(MAKEFLAGS))),@:,@printf '  %-5s %s\n' $1 $2 $(if $(filter where,$(MAKECMDGOALS)),>&2))
here = @mkdir -p $(@D)

all: lib bin programs
lib: $(LIB) $(ARCHIVE)
	@test "$$(readlink '$(link)')" = "$(BIN)" || { rm -f '$(link)'; ln -s "$(BIN)" '$(link)'; }
bin: lib $(if $(program),$(BIN)/petscamb) $(ksp:src/ksp/examples/%.c=$(BIN)/%)
programs: $(call built,$(tests)) $(idle)
examples: $(stock:%=$(EXAMPLES)/%)

# nodelete: PETSc closes what it has loaded before the threads end, and their code would be gone. GOMP_... undefined: see "Threads" in CONTRIBUTING.md.
$(LIB): $(objects)
	$(here)
	$(call say,LINK,$@)
	@$(AMB_LINK) -shared -o $@ $^ -Wl,-soname,$(@F).$(ABI),-z,defs,-z,nodelete $(LDFLAGS) $(AMB_LIBS) $(AMB_CUDA_LIBS)
	@ln -sf $(@F) $@.$(ABI)

# for programs that reach inside: the library's symbols are hidden but for its interface
$(ARCHIVE): $(objects)
	$(here)
	@rm -f $@ && $(or $(AR),ar) rcs $@ $^

# templates of kernels have many instances, so debuggers get only their lines; what serves only processors without AVX2 is not unrolled
$(B)/obj/%_avx512.o: isa = -g1 $(AMB_AVX512_FLAGS)
$(B)/obj/%_avx2.o: isa = -g1 $(AMB_AVX2_FLAGS)
$(B)/obj/%_plain.o: isa = -g1 $(if $(AMB_AVX2_FLAGS),$(if $(filter real,$(AMB_SCALAR)),-O2))
$(B)/obj/%/nusfill.o: isa = -g1
# all kernels of sparse products round products before they add them, so that new values have the bits of the first ones;
# with complex numbers gcc 12 ignores that where it finds vfmaddsub
$(B)/obj/src/mat/impls/hashgemm/host/%.o: CFLAGS += -ffp-contract=off $(if $(filter complex,$(AMB_SCALAR)),-fno-tree-slp-vectorize)
# solves with factors have the sums of PETSc, whose compiler had no fused instructions in the packages of distributions
$(B)/obj/src/mat/factor/host/%.o: CFLAGS += -ffp-contract=off
$(B)/obj/src/mat/io/mtxunpack.o $(B)/obj/test/mat/mtx.o: isa = $(AMB_UNPACK_FLAGS)
# test programs: nearly half of the time of compiling, and the kernels are the library's
$(B)/obj/test/%.o: CFLAGS := $(CFLAGS:-O3=-O1)
$(B)/obj/src/petscamb.o: isa = $(AMB_SUFFIX:%=-DPETSCAMB_SUFFIX=%)
$(B)/obj/%.o: %.c $(B)/conf.mk $(B)/petscambconf.h
	$(here)
	$(call say,CC,$<)
	@$(AMB_CC) -c $(CFLAGS) $(isa) $(INCLUDES) -MMD -MP -o $@ $<
define compile_isa
$(B)/obj/%_isa_$1.o: %_isa.c $(B)/conf.mk $(B)/petscambconf.h
	$$(here)
	$$(call say,CC,"$$< ($1)")
	@$$(AMB_CC) -c $$(CFLAGS) $$(isa) -DSYS_ISA=$2 $$(INCLUDES) -MMD -MP -o $$@ $$<
endef
$(eval $(call compile_isa,plain,Plain))
$(eval $(call compile_isa,avx2,AVX2))
$(eval $(call compile_isa,avx512,AVX512))
$(B)/obj/%.cu.o: %.cu $(B)/conf.mk $(B)/petscambconf.h
	$(here)
	$(call say,NVCC,$<)
	@$(AMB_NVCC) -c $(NVFLAGS) $(INCLUDES) -MMD -MP -o $@ $<

# the commit that is built, for the results of bin/petscamb; the file is as old as the commit
$(B)/obj/tool/about.o: isa = -I$(B)
$(B)/obj/tool/about.o: $(B)/commit.h
$(B)/commit.h: FORCE
	$(here)
	@commit=$$(test -e .git && git describe --always --dirty --abbrev=12 2>/dev/null || echo release); line="#define PETSCAMB_COMMIT \"$$commit\""; \
	test "$$(cat $@ 2>/dev/null)" = "$$line" || printf '%s\n' "$$line" > $@
FORCE:

rpath = -Wl,-rpath,'$$ORIGIN/../lib'
# what is measured beside the library has the compiler's threads
$(BIN)/petscamb $(addprefix $(B)/test/,accuracy generate reproduce soak): LDFLAGS += $(AMB_OPENMP_FLAGS)
# with the shared library, as programs of users: -dll_append in PETSC_OPTIONS then loads no second copy
$(BIN)/petscamb: $(program:%.c=$(B)/obj/%.o) $(B)/obj/src/sys/sysbuckets.o $(LIB)
	$(here)
	$(call say,LINK,$@)
	@$(AMB_LINK) -o $@ $(filter %.o,$^) $(LDFLAGS) -L$(B)/lib $(rpath) -l$(NAME) $(AMB_LIBS) $(AMB_CUDA_LIBS) -ldl
$(BIN)/%: $(B)/obj/src/ksp/examples/%.o $(LIB)
	$(here)
	$(call say,LINK,$@)
	@$(AMB_LINK) -o $@ $< $(LDFLAGS) -L$(B)/lib $(rpath) -l$(NAME) $(AMB_LIBS)
$(foreach t,$(tests),$(eval $(call built,$t): $(t:%.c=$(B)/obj/%.o)))
$(B)/test/differ: $(parts:%.c=$(B)/obj/%.o)
$(B)/test/report: LDFLAGS += -Wl,--wrap=getloadavg
# the functions of test/testfault.h
faulty := malloc calloc realloc posix_memalign mmap $(if $(AMB_CUDA),cublasCreate_v2 cusparseCreate $(addprefix cuda,Malloc MallocFromPoolAsync MemPoolCreate MallocHost HostAlloc HostRegister \
  StreamCreateWithFlags StreamCreateWithPriority EventCreate EventCreateWithFlags GraphInstantiate Memcpy MemcpyAsync Memcpy2DAsync Memset MemsetAsync Memset2DAsync FuncGetAttributes FuncSetAttribute \
  LaunchKernelExC LaunchCooperativeKernel GraphLaunch EventRecord EventQuery EventSynchronize EventElapsedTime StreamQuery StreamWaitEvent StreamSynchronize DeviceSynchronize PeekAtLastError GetLastError))
$(B)/test/memory $(B)/test/faults: LDFLAGS += $(faulty:%=-Wl,--wrap=%)
$(call built,$(tests)): $(helpers:%.c=$(B)/obj/%.o) $(ARCHIVE)
	$(here)
	$(call say,LINK,$@)
	@$(AMB_LINK) -o $@ $(filter %.o,$^) $(ARCHIVE) $(LDFLAGS) $(AMB_LIBS) $(AMB_CUDA_LIBS)

$(idle): test/shell/idle.c $(B)/conf.mk
	$(here)
	$(call say,CC,$<)
	@$(AMB_CC) -shared -fPIC -O1 -Wall -Wextra $(AMB_WERROR) -Wl,--as-needed -o $@ $<

# PETSc's own examples, as they are: they know nothing of this library
$(EXAMPLES)/%: $(AMB_EXAMPLES_SRC)/src/ksp/ksp/tutorials/%.c $(B)/conf.mk
	$(here)
	$(call say,CC,"PETSc's $*.c")
	@$(AMB_CC) -O2 -w $(AMB_CFLAGS) $(AMB_INCLUDES) -o $@ $< $(AMB_CFLAGS) $(AMB_LIBS)

# what programs and scripts are given
export PETSC_DIR := $(AMB_PETSC_DIR)
export PETSC_ARCH := $(AMB_PETSC_ARCH)
MPIEXEC ?= $(AMB_MPIEXEC)
context = $(foreach v,BIN LIB EXAMPLES,$v=$(call quote,$(abspath $($v)))) BUILD=$(call quote,$(abspath $B)) MPIEXEC='$(MPIEXEC)' PYTHON='$(PYTHON)' NVCC='$(AMB_NVCC)' \
  $(if $(AMB_STUBS),LD_LIBRARY_PATH='$(AMB_STUBS)'$${LD_LIBRARY_PATH:+:$$LD_LIBRARY_PATH}) \
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe \
  OMPI_MCA_btl_vader_single_copy_mechanism=none $(if $(shell command -v ssh),,OMPI_MCA_plm=isolated)

run: bin examples
	@$(if $(stock),,echo "PETSc's examples are needed and not found: install libpetsc$(basename $(AMB_PETSC_VERSION))-dev-examples"; exit 1;) $(context) bash bench/run.sh

# docs/testing.md has the tiers
runtests = @$(context) $(PYTHON) test/runtests.py --tier $1 $(if $(TESTS),--match $(call quote,$(TESTS))) $(LONGEST:%=--longest %)
quick = $(shell grep -lE '^ *tier: check' $(tests) $(ksp) /dev/null)

# test/kernels/cudacheck.sh makes cuda-check beside the other tests
test: all examples $(if $(AMB_NVCC),$(if $(TESTS),$(if $(findstring device,$(TESTS)),cuda-float),cuda-float))
	$(call runtests,test)

check-deep: all examples $(if $(AMB_NVCC),cuda-float)
	$(call runtests,deep)

check-sanitizers: TESTS := *+sanitize threads.sh fuzz.sh valgrind.sh
check-sanitizers: all examples
	$(call runtests,deep)

check: lib examples $(idle) $(call built,$(filter test/%,$(quick))) $(patsubst src/ksp/examples/%.c,$(BIN)/%,$(filter src/%,$(quick)))
	$(call runtests,check)

# with the first target alone the programs are built, so that a machine without PETSc's sources can run them
checkpetsc = @$(if $(AMB_EXAMPLES_SRC),,echo "PETSc's examples are needed and not found: install libpetsc$(basename $(AMB_PETSC_VERSION))-dev-examples"; exit 1;) \
  $(context) $(PYTHON) test/petsc/checkpetsc.py $1 $(if $(MATCH),--match $(call quote,$(MATCH))) $(if $(TYPES),--types $(call quote,$(TYPES))) $(if $(filter-out 0,$(ALL)),--all) $(PART:%=--part %) $(DEVICE:%=--device %)

check-petsc-build: lib
	$(call checkpetsc,build)

check-petsc: lib
	$(call checkpetsc,build run)

check-mutants: all examples
	@$(context) $(PYTHON) test/mutants/mutants.py $(SEED:%=--seed %) $(COUNT:%=--count %) $(JOBS:%=--jobs %) $(if $(FILES),--files $(call quote,$(FILES))) $(if $(AGAIN),--again)

# programs of other projects, on demand: some of their packages are large
check-clients: lib
	@$(context) INSTALL='$(INSTALL)' $(PYTHON) test/clients/run.py $(if $(TESTS),--match $(call quote,$(TESTS))) $(if $(TIME),--time) $(ROUNDS:%=--rounds %) $(RANKS:%=--ranks %) $(TYPES:%=--types %) $(if $(ALL),--all)
check-differ: $(B)/test/differ
	@$(context) $(PYTHON) test/differ/differ.py --seconds $(or $(SECONDS),3600) $(SEED:%=--seed %) $(DIFFER)

accuracy: $(B)/test/accuracy
	@$(context) $< -accuracy_table -accuracy_matrices "$(or $(MATRICES),p7:30+ p27:20+ elasticity:14+ rmat:13,16+ er:13,8+ $(wildcard data/*.mtx.gz))" $(ACCURACY)
soak: $(B)/test/soak
	@$(context) $(if $(MPIEXEC),$(MPIEXEC) -n $(or $(RANKS),1)) $< -malloc_debug -soak_n 16 -soak_seconds $(or $(SECONDS),7200) $(SOAK)

# one after the other where several are asked for at once
run check: | $(filter test check-deep,$(MAKECMDGOALS))
check-deep: | $(filter test,$(MAKECMDGOALS))
check-petsc: | $(filter run check test check-deep,$(MAKECMDGOALS))

# CUDA code is compiled wherever there is a compiler for it; where this PETSc has no CUDA, what includes no PETSc header, that is the kernels. Nothing runs them then: a newer
# nvcc needs less time if it optimises less, and the host's compiler reads its half only, so that there is no object.
kernels := $(if $(cuda),$(shell grep -LE '^ *# *include *[<"]petsc' $(cuda)))
cuda-check: $(if $(AMB_CUDA),$(cuda:%.cu=$(B)/obj/%.cu.o),$(kernels:%.cu=$(B)/cuda-check/%.o))
fast = $(eval fast := -Xcompiler -fsyntax-only $(if $(shell $(AMB_NVCC) --help 2>/dev/null | grep -e --Ofast-compile),--Ofast-compile max))$(fast)
$(B)/cuda-check/%.o: %.cu $(B)/conf.mk
	$(here)
	$(call say,NVCC,"$< (compile check)")
	@$(AMB_NVCC) -c $(NVFLAGS) $(fast) -DSYS_TYPES_GIVEN -Iinclude -Isrc -MMD -MP -o $@ $< && touch $@

# for test/kernels/device.sh, which tests the kernels of a library in double in float too: each is compiled once, not by every script that needs it
cuda-float: $(if $(filter double-real-32,$(AMB_PRECISION)-$(AMB_SCALAR)-$(AMB_INDEX)),$(if $(AMB_CUDA),$(if $(wildcard /dev/nvidiactl),$(kernels:%.cu=$(B)/float/%.cu.o))))
$(B)/float/%.cu.o: %.cu $(B)/conf.mk
	$(here)
	$(call say,NVCC,"$< (float)")
	@$(AMB_NVCC) -c $(NVFLAGS) -DSYS_TYPES_GIVEN -DSYS_SINGLE -Isrc -MMD -MP -o $@ $<

# the pages and the manual pages as HTML, by Sphinx; pip installs it into the build folder where it is missing. A browser then measures them.
site:
	@$(PYTHON) docs/site/build.py $(B)/site
	@PYTHON='$(PYTHON)' bash test/source/site.sh $(B)/site/html $(SHOTS)

# tables from the raw results, which docs/results/measure.py makes
results:
	@$(PYTHON) docs/results/results.py

where: $(LIB)
	@echo $(call quote,$(abspath $(LIB)))

# two tests run this target, and the lock lets one of them build at a time
python: $(LIB)
	@folder=$$(realpath $(B)) && PETSC_DIR=$(call quote,$(AMB_PETSC_DIR)) PETSC_ARCH=$(call quote,$(AMB_PETSC_ARCH)) flock $(B)/conf.mk $(PYTHON) src/binding/python/setup.py -q build \
	  --build-base "$$folder/python-build" --build-lib "$$folder/python" >$(B)/python.log 2>&1 || { cat $(B)/python.log >&2; exit 1; }
	@realpath $(B)/python

# A PREFIX serves one configuration for each suffix, of which it keeps a note: the library of another one would be found by the programs of this one
LIBDIR   ?= lib
dest     := $(DESTDIR)$(PREFIX)
ours     := $(LIBDIR)/petsc-amb$(AMB_SUFFIX)
note     := $(dest)/$(ours)/configuration
papers   := LICENSE VERSION CITATION.cff CHANGELOG.md
packages := $(LIBDIR)/pkgconfig/$(NAME).pc $(LIBDIR)/cmake/$(NAME)/$(NAME)Config.cmake $(LIBDIR)/cmake/$(NAME)/$(NAME)ConfigVersion.cmake
tool     := bin/$(NAME) share/man/man1/$(NAME).1 share/bash-completion/completions/$(NAME)
real     := $(LIBDIR)/lib$(NAME).so.$(VERSION)
debug    := $(LIBDIR)/.debug/lib$(NAME).so.$(VERSION).debug
empty    :=
# a CMake list, in which generator expressions and options keep their blanks
list      = $(subst $(empty) $(empty),;,$(strip $(subst -isystem ,-isystem$(empty),$1)))
fill      = sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@SUFFIX@|$(AMB_SUFFIX)|g' -e 's|@VERSION@|$(VERSION)|' -e 's|@ABI@|$(ABI)|' -e 's|@PETSC_VERSION@|$(AMB_PETSC_VERSION)|' \
  -e 's|@REQUIRES@|$(if $(AMB_PC),Requires: $(AMB_PC) >= $(basename $(AMB_PETSC_VERSION)))|' -e 's|@PETSC_CFLAGS@|$(subst -isystem ,-I,$(AMB_INCLUDES))|' -e 's|@PETSC_LIBS@|$(AMB_PETSC_LIBS)|' \
  -e 's|@BACK@|$(subst $(empty) $(empty),,$(patsubst %,../,$(subst /, ,$(LIBDIR))))|' -e 's|@COMPILE@|$(call list,$(subst -isystem ,-I,$(AMB_INCLUDES)))|' -e 's|@LINK@|$(call list,$(AMB_PETSC_LIBS))$(if $(AMB_MPIUNI),,;MPI::MPI_C)|' \
  -e 's|@MPI@|$(if $(AMB_MPIUNI),,include(CMakeFindDependencyMacro)\nfind_dependency(MPI COMPONENTS C))|'

# STRIP=0 leaves the debugging symbols in the library; else they are in a file of their own, which debuggers find
install: $(LIB) $(BIN)/petscamb
	@if test -e '$(note)'; then there=$$(sed -n 's/^built for: //p' '$(note)'); \
	elif test -e '$(dest)/$(LIBDIR)/lib$(NAME).so'; then there='a configuration that is not known'; fi; \
	if test -n "$$there" && test "$$there" != $(call quote,$(AMB_OWNER)); then \
	  printf '%s\n' "*** $(dest) has petsc-amb for $$there," "    and this build is for "$(call quote,$(AMB_OWNER))"." \
	    '    Programs of the one would load the library of the other. Choose another place, make install PREFIX=..., give this one another name,' \
	    '    ./configure.py --with-suffix, or remove that one: make uninstall PREFIX=$(PREFIX)' >&2; \
	  exit 1; \
	fi
	@mkdir -p '$(dest)/include' '$(dest)/$(ours)' '$(dest)/share/doc/petsc-amb' $(foreach d,$(sort $(dir $(packages) $(tool) $(debug))),'$(dest)/$d') 2>/dev/null && \
	test -w '$(dest)/include' && test -w '$(dest)/$(LIBDIR)' && test -w '$(dest)/bin' || { \
	  printf '%s\n' '*** $(dest): nothing can be written there. Choose another place, make install PREFIX=$$HOME/petsc-amb, or ask as root: sudo make install' >&2; exit 1; }
	@install -m 755 $(LIB) '$(dest)/$(real)'
	@rm -f '$(dest)/$(debug)'
	@if test '$(STRIP)' != 0 && command -v objcopy >/dev/null; then \
	  objcopy --only-keep-debug $(LIB) '$(dest)/$(debug)' && chmod 644 '$(dest)/$(debug)' && objcopy --strip-debug --add-gnu-debuglink='$(dest)/$(debug)' '$(dest)/$(real)'; \
	else rmdir '$(dest)/$(LIBDIR)/.debug'; fi
	@ln -sf $(notdir $(real)) '$(dest)/$(LIBDIR)/lib$(NAME).so.$(ABI)'
	@ln -sf lib$(NAME).so.$(ABI) '$(dest)/$(LIBDIR)/lib$(NAME).so'
	@install -m 644 include/petscamb.h include/petscambgraph.h src/binding/fortran/petscamb.F90 '$(dest)/include/'
	@install -m 755 $(BIN)/petscamb '$(dest)/bin/$(NAME)'
	@install -m 644 docs/man/petscamb.1 '$(dest)/share/man/man1/$(NAME).1'
	@sed 's/^complete .*/complete -o filenames -F _petscamb $(NAME)/' config/petscamb.bash > '$(dest)/share/bash-completion/completions/$(NAME)'
	@install -m 644 $(papers) '$(dest)/share/doc/petsc-amb/'
	@$(fill) config/petscamb.pc.in > '$(dest)/$(word 1,$(packages))'
	@$(fill) config/petscambConfig.cmake.in > '$(dest)/$(word 2,$(packages))'
	@$(fill) config/petscambConfigVersion.cmake.in > '$(dest)/$(word 3,$(packages))'
	@printf '%s\n' "petsc-amb $(VERSION)" "built for: "$(call quote,$(AMB_OWNER)) 'PETSc $(AMB_PETSC_VERSION), $(AMB_SCALAR), $(AMB_PRECISION) precision, $(AMB_INDEX)-bit indices' > '$(note)'
	@echo 'Installed in $(dest). Use it: PETSC_OPTIONS="-dll_append $(PREFIX)/$(LIBDIR)/lib$(NAME).so" and -mat_type amb'

# the header and the papers belong to all configurations of a prefix
uninstall:
	@cd '$(dest)' && rm -f $(LIBDIR)/lib$(NAME).so $(LIBDIR)/lib$(NAME).so.$(ABI) $(real) $(debug) $(packages) $(tool) && rm -rf $(ours) && \
	  { ls -d $(LIBDIR)/petsc-amb*/configuration >/dev/null 2>&1 || rm -rf include/petscamb.h include/petscambgraph.h include/petscamb.F90 share/doc/petsc-amb; } && rmdir $(LIBDIR)/.debug $(LIBDIR)/cmake/$(NAME) 2>/dev/null || true
	@echo 'Removed from $(dest)'

-include $(shell find $(B)/obj $(B)/cuda-check $(B)/float -name '*.d' 2>/dev/null)
endif

ifneq ($(filter clean distclean,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif
# each in a folder of its own, so that the configuration of this one stays
test-complex: other := --with-scalar-type=complex
test-int64: other := --with-64-bit-indices
test-single: other := --with-precision=single --download-petsc
test-complex test-int64 test-single:
	@env -u PETSC_DIR -u PETSC_ARCH $(PYTHON) configure.py --build-dir=build/$@ $(other)
	@env -u PETSC_DIR -u PETSC_ARCH $(MAKE) -C build/$@ test
help:
	@sed -n '2,/^$$/s/^# \{0,1\}//p' $(firstword $(MAKEFILE_LIST))

clean:
	@rm -rf $(link) $(foreach d,obj lib bin test examples cuda-check float petsc python python-build site,$(or $(PETSCAMB_BUILDS),build)/*/$d)
distclean:
	@rm -rf $(link) $(or $(PETSCAMB_BUILDS),build)
