# SPDX-License-Identifier: BSD-2-Clause
# make run     finds or installs what is needed, configures, builds, and runs the main job
# make check   the quickest tests: a solve in an unmodified PETSc example with the plugin loaded, every matrix type and product once
# make test    all tests but the long ones; TESTS=pattern chooses, LONGEST=10 prints the ten longest at the end
# make check-deep   all tests: sanitizers, valgrind and other PETScs too
# make check-petsc   PETSc's own tests with every matrix type, beside aij; MATCH=pattern and TYPES=names choose, ALL=1 runs all of them
# make check-mutants   whether the tests notice defects that are put into the sources; SEED=number, COUNT=number, FILES=names, JOBS=number
# make check-clients   programs of SLEPc, deal.II, DOLFINx and others, with aij and with petsc-amb (docs/clients); TESTS='slepc/*' chooses, TIME=1 measures
# make check-differ SECONDS=3600   the differential tester with new seeds; SEED=number gives the seed
# make all     the library, bin/solve, bin/petscamb and the test programs
# make where   prints the path of the library
# make install library, header and petscamb.pc into PREFIX (DESTDIR honoured); make uninstall removes them
# make clean   removes what was built; make distclean also the configurations
#
# PETSC_DIR and PETSC_ARCH, given or in the environment, choose the PETSc; BUILD=name chooses a configuration by its name.

PYTHON ?= python3
.DEFAULT_GOAL := all
.SUFFIXES:
.SECONDARY:
.DELETE_ON_ERROR:
.PHONY: all lib bin examples programs run test check check-deep check-petsc check-petsc-build check-mutants check-clients check-differ where FORCE install uninstall clean distclean cuda-check

unconfigured := clean distclean
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
  MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 1)
endif

LIB      := $(B)/lib/libpetscamb.so
ARCHIVE  := $(B)/lib/libpetscamb.a
BIN      := $(B)/bin
EXAMPLES := $(B)/examples
PREFIX   ?= $(AMB_PREFIX)

# sources; without a kernel file that the compiler has no instructions for, and without the device where this PETSc has none
sources  := $(sort $(shell find src -name '*.c' -not -path 'src/ksp/examples/*'))
sources  := $(filter-out $(if $(AMB_AVX512_FLAGS),,%_avx512.c) $(if $(AMB_AVX2_FLAGS),,%_avx2.c) $(if $(AMB_CUDA),,%device.c),$(sources))
cuda     := $(sort $(shell find src -name '*.cu'))
objects  := $(sources:%.c=$(B)/obj/%.o) $(if $(AMB_CUDA),$(cuda:%.cu=$(B)/obj/%.cu.o))
bench    := $(sort $(wildcard bench/*.c))
ksp      := $(sort $(wildcard src/ksp/examples/*.c))
parts    := $(sort $(wildcard test/differ?*.c))
helpers  := $(filter-out $(parts),$(if $(wildcard test/*.c),$(shell grep -LE '\<int +main\>' test/*.c)))
tests    := $(filter-out $(helpers) $(parts),$(sort $(wildcard test/*.c)))
stock    := $(if $(AMB_EXAMPLES_SRC),ex2 ex45 ex56)

INCLUDES := -include $(B)/petscambconf.h -Iinclude -Isrc $(AMB_INCLUDES)
CFLAGS   := -std=gnu11 -O3 -g -Wall -Wextra -Werror -Wno-unused-parameter -fPIC $(AMB_VISIBILITY) $(AMB_OPENMP_FLAGS) $(AMB_CFLAGS)
LDFLAGS  := $(AMB_OPENMP_FLAGS) $(AMB_CFLAGS) $(AMB_LDFLAGS)
NVFLAGS  := $(AMB_CXX:%=-ccbin %) -O3 -std=c++17 -lineinfo $(AMB_GENCODE) -Werror all-warnings $(AMB_VISIBILITY:%=-Xcompiler %) -Xcompiler -fPIC,-Wall,-Wno-unused-parameter

# nothing but the answer on the output of make where, nothing at all under make -s
say = $(if $(findstring s,$(firstword -$(MAKEFLAGS))),@:,@printf '  %-5s %s\n' $1 $2 $(if $(filter where,$(MAKECMDGOALS)),>&2))
here = @mkdir -p $(@D)

all: lib bin programs
lib: $(LIB) $(ARCHIVE)
	@test "$$(readlink bin)" = "$(BIN)" || { rm -f bin; ln -s "$(BIN)" bin; }
bin: lib $(if $(bench),$(BIN)/petscamb) $(ksp:src/ksp/examples/%.c=$(BIN)/%)
programs: $(tests:test/%.c=$(B)/test/%)
examples: $(stock:%=$(EXAMPLES)/%)

# nodelete: PETSc closes what it has loaded before OpenMP's threads end, and their code would be gone
$(LIB): $(objects)
	$(here)
	$(call say,LINK,$@)
	@$(AMB_LINK) -shared -o $@ $^ -Wl,-z,defs,-z,nodelete $(LDFLAGS) $(AMB_LIBS) $(AMB_CUDA_LIBS)

# for programs that reach inside: the library's symbols are hidden but for its interface
$(ARCHIVE): $(objects)
	$(here)
	@rm -f $@ && $(or $(AR),ar) rcs $@ $^

$(B)/obj/%_avx512.o: isa = $(AMB_AVX512_FLAGS)
$(B)/obj/%_avx2.o: isa = $(AMB_AVX2_FLAGS)
$(B)/obj/src/mat/io/mtxunpack.o $(B)/obj/test/mtx.o: isa = $(AMB_UNPACK_FLAGS)
$(B)/obj/%.o: %.c $(B)/conf.mk $(B)/petscambconf.h
	$(here)
	$(call say,CC,$<)
	@$(AMB_CC) -c $(CFLAGS) $(isa) $(INCLUDES) -MMD -MP -o $@ $<
$(B)/obj/%.cu.o: %.cu $(B)/conf.mk $(B)/petscambconf.h
	$(here)
	$(call say,NVCC,$<)
	@$(AMB_NVCC) -c $(NVFLAGS) $(INCLUDES) -MMD -MP -o $@ $<

# the commit that is built, for the results of bin/petscamb; the file is as old as the commit
$(B)/obj/bench/about.o: isa = -I$(B)
$(B)/obj/bench/about.o: $(B)/commit.h
$(B)/commit.h: FORCE
	$(here)
	@commit=$$(test -e .git && git describe --always --dirty --abbrev=12 2>/dev/null || echo release); line="#define PETSCAMB_COMMIT \"$$commit\""; \
	test "$$(cat $@ 2>/dev/null)" = "$$line" || printf '%s\n' "$$line" > $@
FORCE:

rpath = -Wl,-rpath,'$$ORIGIN/../lib'
# with the shared library, as programs of users: -dll_append in PETSC_OPTIONS then loads no second copy
$(BIN)/petscamb: $(bench:%.c=$(B)/obj/%.o) $(LIB)
	$(here)
	$(call say,LINK,$@)
	@$(AMB_LINK) -o $@ $(filter %.o,$^) $(LDFLAGS) -L$(B)/lib $(rpath) -lpetscamb $(AMB_LIBS) $(AMB_CUDA_LIBS) -ldl
$(BIN)/%: $(B)/obj/src/ksp/examples/%.o $(LIB)
	$(here)
	$(call say,LINK,$@)
	@$(AMB_LINK) -o $@ $< $(LDFLAGS) -L$(B)/lib $(rpath) -lpetscamb $(AMB_LIBS)
$(B)/test/differ: $(parts:%.c=$(B)/obj/%.o)
$(B)/test/memory: LDFLAGS += -Wl,--wrap=SysAllocate
$(B)/test/%: $(B)/obj/test/%.o $(helpers:%.c=$(B)/obj/%.o) $(ARCHIVE)
	$(here)
	$(call say,LINK,$@)
	@$(AMB_LINK) -o $@ $^ $(LDFLAGS) $(AMB_LIBS) $(AMB_CUDA_LIBS)

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

test: all examples $(if $(AMB_NVCC),cuda-check)
	$(call runtests,test)

check-deep: all examples $(if $(AMB_NVCC),cuda-check)
	$(call runtests,deep)

check: lib examples $(patsubst test/%.c,$(B)/test/%,$(patsubst src/ksp/examples/%.c,$(BIN)/%,$(quick)))
	$(call runtests,check)

# with the first target alone the programs are built, so that a machine without PETSc's sources can run them
checkpetsc = @$(if $(AMB_EXAMPLES_SRC),,echo "PETSc's examples are needed and not found: install libpetsc$(basename $(AMB_PETSC_VERSION))-dev-examples"; exit 1;) \
  $(context) $(PYTHON) test/checkpetsc.py $1 $(if $(MATCH),--match $(call quote,$(MATCH))) $(if $(TYPES),--types $(call quote,$(TYPES))) $(if $(filter-out 0,$(ALL)),--all) $(DEVICE:%=--device %)

check-petsc-build: lib
	$(call checkpetsc,build)

check-petsc: lib
	$(call checkpetsc,build run)

check-mutants: all examples
	@$(context) $(PYTHON) test/mutants.py $(SEED:%=--seed %) $(COUNT:%=--count %) $(JOBS:%=--jobs %) $(if $(FILES),--files $(call quote,$(FILES))) $(if $(AGAIN),--again)

# programs of other projects, on demand: some of their packages are large
check-clients: lib
	@$(context) INSTALL='$(INSTALL)' $(PYTHON) test/clients/run.py $(if $(TESTS),--match $(call quote,$(TESTS))) $(if $(TIME),--time) $(ROUNDS:%=--rounds %) $(RANKS:%=--ranks %) $(TYPES:%=--types %) $(if $(ALL),--all)
check-differ: $(B)/test/differ
	@$(context) $(PYTHON) test/differ.py --seconds $(or $(SECONDS),3600) $(SEED:%=--seed %) $(DIFFER)

# one after the other where several are asked for at once
run check: | $(filter test check-deep,$(MAKECMDGOALS))
check-deep: | $(filter test,$(MAKECMDGOALS))
check-petsc: | $(filter run check test check-deep,$(MAKECMDGOALS))

# CUDA code is compiled wherever there is a compiler for it; where this PETSc has no CUDA, what includes no PETSc header, that is the kernels
kernels := $(if $(cuda),$(shell grep -LE '^ *# *include *[<"]petsc' $(cuda)))
cuda-check: $(if $(AMB_CUDA),$(cuda:%.cu=$(B)/obj/%.cu.o),$(kernels:%.cu=$(B)/cuda-check/%.o))
$(B)/cuda-check/%.o: %.cu $(B)/conf.mk
	$(here)
	$(call say,NVCC,"$< (compile check)")
	@$(AMB_NVCC) -c $(NVFLAGS) -DSYS_TYPES_GIVEN -Iinclude -Isrc -MMD -MP -o $@ $<

where: $(LIB)
	@echo $(call quote,$(abspath $(LIB)))

# A PREFIX serves one configuration, of which it keeps a note: the library of another one would be found by the programs of this one
note := $(DESTDIR)$(PREFIX)/lib/petsc-amb/configuration
papers := LICENSE VERSION CITATION.cff CHANGELOG.md
install: $(LIB)
	@if test -e '$(note)'; then there=$$(sed -n 's/^built for: //p' '$(note)'); \
	elif test -e '$(DESTDIR)$(PREFIX)/lib/libpetscamb.so'; then there='a configuration that is not known'; fi; \
	if test -n "$$there" && test "$$there" != $(call quote,$(AMB_OWNER)); then \
	  printf '%s\n' "*** $(DESTDIR)$(PREFIX) has petsc-amb for $$there," "    and this build is for "$(call quote,$(AMB_OWNER))"." \
	    '    Programs of the one would load the library of the other. Choose another place, make install PREFIX=..., or remove that one: make uninstall PREFIX=$(PREFIX)' >&2; \
	  exit 1; \
	fi
	@mkdir -p $(patsubst %,'$(DESTDIR)$(PREFIX)/%',lib/pkgconfig lib/petsc-amb include share/doc/petsc-amb)
	@install -m 755 $(LIB) '$(DESTDIR)$(PREFIX)/lib/libpetscamb.so'
	@install -m 644 include/petscamb.h '$(DESTDIR)$(PREFIX)/include/petscamb.h'
	@install -m 644 $(papers) '$(DESTDIR)$(PREFIX)/share/doc/petsc-amb/'
	@sed -e 's|@PREFIX@|$(PREFIX)|' -e "s|@VERSION@|$$(cat VERSION)|" -e 's|@PETSC_VERSION@|$(AMB_PETSC_VERSION)|' -e 's|@PETSC_CFLAGS@|$(subst -isystem ,-I,$(AMB_INCLUDES))|' \
	  -e 's|@PETSC_LIBS@|$(AMB_LIBS)|' config/petscamb.pc.in > '$(DESTDIR)$(PREFIX)/lib/pkgconfig/petscamb.pc'
	@printf '%s\n' "petsc-amb $$(cat VERSION)" "built for: "$(call quote,$(AMB_OWNER)) 'PETSc $(AMB_PETSC_VERSION), $(AMB_SCALAR), $(AMB_PRECISION) precision, $(AMB_INDEX)-bit indices' > '$(note)'
	@echo 'Installed in $(DESTDIR)$(PREFIX). Use it: PETSC_OPTIONS="-dll_append $(PREFIX)/lib/libpetscamb.so" and -mat_type amb'

uninstall:
	@cd '$(DESTDIR)$(PREFIX)' && rm -f lib/libpetscamb.so include/petscamb.h lib/pkgconfig/petscamb.pc && rm -rf lib/petsc-amb share/doc/petsc-amb
	@echo 'Removed from $(DESTDIR)$(PREFIX)'

-include $(shell find $(B)/obj $(B)/cuda-check -name '*.d' 2>/dev/null)
endif

ifneq ($(filter clean distclean,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif
clean:
	@rm -rf bin $(foreach d,obj lib bin test examples cuda-check petsc,build/*/$d)
distclean:
	@rm -rf bin build
