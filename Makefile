# make          builds build/ostler            make run    shows it in the simulator
# make deps     installs what it needs         make test   everything that must pass
# make unit     unit tests                     make bench  figures
# make static   builds build/static/ostler, ostler-nvml and ostler-cuda, the programs of the image
MAKEFLAGS += --no-builtin-rules --warn-undefined-variables
SHELL := /bin/bash
.DEFAULT_GOAL := all

VARIANT ?= release
V ?=
WORLD ?= sim
AGENT_IMAGE ?=
SPEED ?= 10
SCENARIO ?=
LOG ?=
SEEDS ?=
ONLY ?=
Q := $(if $V,,@)
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
# For another processor Debian's cross compiler builds: make static ARCH=arm64
HOST_ARCH := $(shell dpkg --print-architecture 2>/dev/null || echo amd64)
ARCH := $(HOST_ARCH)
TRIPLET_amd64 := x86_64-linux-gnu
TRIPLET_arm64 := aarch64-linux-gnu
OTHER_ARCH := $(filter-out $(HOST_ARCH),$(ARCH))
CROSS := $(if $(OTHER_ARCH),$(TRIPLET_$(ARCH))-)
B := build/$(VARIANT)$(OTHER_ARCH:%=-%)
# The programs of the image.
S := build/static$(OTHER_ARCH:%=-%)

CC_release := $(CROSS)gcc
CC_asan := clang-14
# Control-flow integrity: indirect branches land on marks only, where the processor checks that.
BRANCHES_amd64 := -fcf-protection
BRANCHES_arm64 := -mbranch-protection=standard
# The prefix map keeps the build directory out of the programs.
FLAGS_release := -O2 -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection \
                 $(BRANCHES_$(ARCH)) -fPIE -ffunction-sections -fdata-sections \
                 -ffile-prefix-map=$(CURDIR)=.
# The unit tests under the sanitizers and the fuzz targets share their objects. clang 14 does not
# define the macro of the sanitizer, as gcc does.
FLAGS_asan := -O1 -g1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all \
              -fno-omit-frame-pointer -D__SANITIZE_ADDRESS__
LINK_release := -pie -Wl,-z,relro,-z,now -Wl,--as-needed
LINK_asan := -fuse-ld=lld -fsanitize=address,undefined
LINK_fuzz := -fuse-ld=lld -fsanitize=fuzzer,address,undefined
LINK_static := -static-pie -Wl,-z,relro,-z,now,-z,noexecstack,-z,pack-relative-relocs,--gc-sections
CC := $(CC_$(VARIANT))
WARN_$(CROSS)gcc := -Wimplicit-fallthrough
# gcc finds unused variables, too, and knows that one with a cleanup is used.
WARN_clang-14 := -Wno-gnu-statement-expression -Wno-missing-field-initializers -Wno-unused-variable
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wundef -Wvla \
        -Wswitch-enum -Werror $(WARN_$(CC))
CFLAGS := -std=gnu17 -g -D_GNU_SOURCE $(FLAGS_$(VARIANT)) $(WARN) -Ilib -I. -MMD -MP

# From high to low, as the linker needs them: a layer uses only the layers after it.
LAYERS := controller/engine reconcilers lib/runtime lib/serve lib/client reconcilers/view \
          reconcilers/decide reconcilers/manifests reconcilers/model lib/kube lib/base
ARCHIVES := $(patsubst %,$B/%.a,$(LAYERS))
# The layers of the node agent. No other layer uses them.
NODE_LAYERS := node/operand node/cri node/gpus node/agent node/inventory
NODE_ARCHIVES := $(patsubst %,$B/%.a,$(NODE_LAYERS))
# The layers of the simulator. `ostler plan --simulate` runs a rollout in three of them.
SIM_LAYERS := sim/serve sim/scenario sim/actors sim/world sim/api
SIM_ARCHIVES := $(patsubst %,$B/%.a,$(SIM_LAYERS))
LIBS := -lcurl -lcrypto -lwebsockets -lnghttp2 -ljansson -lyaml -lz
# A static link names the libraries that these need, too.
STATIC_LIBS := -lwebsockets -lssl -lcrypto -lnghttp2 -ljansson -lyaml -lz -lcap
# Debian's own OpenSSL needs zstd in some versions.
STATIC_LIBS_MORE := $(if $(wildcard /usr/lib/$(TRIPLET_$(ARCH))/libzstd.a),-lzstd)
MANIFESTS := $(sort $(shell find reconcilers/manifests -name '*.yaml'))
EXTRA_reconcilers/manifests := $B/reconcilers/manifests/embedded.o
EXTRA_reconcilers/model := $B/reconcilers/model/zone_tables.o
BUILTIN := $(wildcard crds/*.yaml charts/ostler/templates/rbac-*.yaml sim/api/*.yaml)
EXTRA_sim/api := $B/sim/api/builtin_texts.o $B/sim/api/type_tables.o

# One program under several names: its name says which of them it is (main/main.c).
NAMES := ostler-node ostler-sim kubectl-gpu kubectl_complete-gpu
all: build/ostler build/ostler-nvml build/ostler-cuda $(NAMES:%=build/%)

build/ostler: $B/ostler
	$Qcp -f $< $@.new && mv -f $@.new $@
$(NAMES:%=build/%): build/ostler
	$Qln -sf ostler $@

PROGRAM_SOURCES := $(wildcard main/*.c kubectl/*.c commands/*.c controller/*.c node/*.c sim/*.c)
PROGRAM := $(PROGRAM_SOURCES:%.c=$B/%.o) $(NODE_ARCHIVES) $(SIM_ARCHIVES) $(ARCHIVES) \
           $B/kubectl/completion_scripts.o $B/commands/demo_scenario.o $B/controller/web_files.o
$B/ostler: $(PROGRAM)
	@echo "  LINK  $@"
	$Q$(CC) $(LINK_$(VARIANT)) -o $@ $^ $(LIBS)

# ostler-nvml calls the library of a driver in the driver's root, with the loader and the C library
# of that root. So it is linked with the library by name only, and without start files of the C
# library.
NVML_SOURCES := $(sort $(wildcard node/nvml/*.c))
$B/ostler-nvml: $(NVML_SOURCES) $(wildcard node/nvml/*.h) $B/flags
	@echo "  LINK  $@"
	@mkdir -p $B/nvml
	$Q$(CROSS)gcc -shared -nostdlib -Wl,-soname,libnvidia-ml.so.1 \
	    -o $B/nvml/libnvidia-ml.so.1 -x c /dev/null
	$Q$(CROSS)gcc -std=gnu17 -I. -Os -fPIE -D_GNU_SOURCE $(BRANCHES_$(ARCH)) $(WARN) \
	    -nostartfiles -pie \
	    -Wl,-z,relro,-z,now,-z,noexecstack,-z,dynamic-undefined-weak,--no-as-needed \
	    -o $@ $(NVML_SOURCES) $B/nvml/libnvidia-ml.so.1
build/ostler-nvml build/ostler-cuda: build/%: $B/%
	$Qcp -f $< $@.new && mv -f $@.new $@

# ostler-cuda, which checks that GPUs compute, is linked in the same way. With VARIANT=asan it has
# the usual start files, because the sanitizer needs them.
CUDA_SOURCES := $(sort $(wildcard node/cuda/*.c))
NAMED_release := -Os -fPIE $(BRANCHES_$(ARCH)) -nostartfiles -pie -Wl,-z,relro,-z,now,-z,noexecstack
NAMED_asan := $(FLAGS_asan) -DOSTLER_WITH_MAIN
$B/ostler-cuda: $(CUDA_SOURCES) $(wildcard node/cuda/*.h) node/nvml/begin.h $B/flags
	@echo "  LINK  $@"
	@mkdir -p $B/cuda
	$Q$(CROSS)gcc -shared -nostdlib -Wl,-soname,libcuda.so.1 -o $B/cuda/libcuda.so.1 -x c /dev/null
	$Q$(CROSS)gcc -shared -nostdlib -Wl,-soname,libdl.so.2 -o $B/cuda/libdl.so.2 -x c /dev/null
	$Q$(CC) -std=gnu17 -I. -D_GNU_SOURCE $(WARN) $(NAMED_$(VARIANT)) \
	    -Wl,-z,dynamic-undefined-weak,--no-as-needed \
	    -o $@ $(CUDA_SOURCES) $B/cuda/libcuda.so.1 $B/cuda/libdl.so.2

# ---- the same programs, linked statically as in the image
static: $S/ostler $S/ostler-nvml $S/ostler-cuda $(NAMES:%=$S/%) $S/sbom.cdx.json
$S/ostler: $B/ostler-static
	@mkdir -p $(@D)
	$Q$(CROSS)strip -o $@.new $< && mv -f $@.new $@
$S/ostler-nvml $S/ostler-cuda: $S/%: $B/%
	@mkdir -p $(@D)
	$Q$(CROSS)strip -o $@.new $< && mv -f $@.new $@
$(NAMES:%=$S/%): $S/ostler
	$Qln -sf ostler $@
# Debian's loader and C library for ostler-cuda in the image, and what a driver's libraries need.
LOADER_amd64 := ld-linux-x86-64.so.2
LOADER_arm64 := ld-linux-aarch64.so.1
SHARED := $(LOADER_$(ARCH)) libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1
SHARED_FILES = $(foreach library,$(SHARED),$(shell $(CROSS)gcc -print-file-name=$(library)))
SBOM = scripts/sbom $B/ostler-static.map $S "$(VERSION)" $(ARCH) $(SHARED_FILES)
$S/sbom.cdx.json: $S/ostler $S/ostler-nvml $S/ostler-cuda scripts/sbom
	$Q$(SBOM) > $@.new && mv -f $@.new $@
# The image has the programs, their SBOM, their licences and the libraries that ostler-cuda needs.
# It has no shell and no package manager. ostler-nvml runs in the root of a driver only, with the
# libraries of that root.
image-root: static
	$Qrm -rf $S/image
	$Qinstall -d $S/image/usr/bin $S/image/usr/lib/ostler $S/image/usr/share/doc/ostler $S/image/.kube
	$Qln -s /dev/shm/ostler-demo/kubeconfig $S/image/.kube/config
	$Qcp -P $S/ostler $S/ostler-nvml $S/ostler-cuda $(NAMES:%=$S/%) $S/image/usr/bin/
	$Qinstall -m 755 $(SHARED_FILES) $S/image/usr/lib/ostler/
	$Qinstall -m 644 LICENSE $S/sbom.cdx.json $S/image/usr/share/doc/ostler/
	$Q$(SBOM) --copyright $S/image/usr/share/doc/ostler/copyright
# Drops the linker's warnings about what a static program cannot load: docs/dependencies.md has it.
QUIET_static := sed -e '/: in function /{N;/statically linked applications/d}' \
                -e '/statically linked applications/d' \
                -e '/does not take linker garbage collection into account/d' >&2
LIBRARIES := build/libraries/$(ARCH)
$B/ostler-static: $(PROGRAM) $(LIBRARIES)/versions
	@echo "  LINK  $@"
	$Qset -o pipefail; $(CC) $(LINK_static) -Wl,-Map=$@.map -o $@ $(PROGRAM) \
	    -L$(LIBRARIES)/lib -lcurl $(STATIC_LIBS) $(STATIC_LIBS_MORE) 2>&1 | $(QUIET_static)
$(LIBRARIES)/versions: FORCE
	$Qscripts/build-libraries $(@D) $(ARCH)
.PHONY: FORCE

# A layer without extra objects has an empty EXTRA_NAME on purpose.
define LAYER
EXTRA_$1 ?=
$B/$1.a: $(patsubst %.c,$B/%.o,$(sort $(wildcard $1/*.c))) $$(EXTRA_$1)
	@mkdir -p $$(@D); rm -f $$@; $$(AR) rcs $$@ $$^
endef
AR := ar
$(foreach l,$(SIM_LAYERS) $(NODE_LAYERS) $(LAYERS),$(eval $(call LAYER,$l)))

# Objects depend on this record of the flags and of the linked packages, whose files may be older
# than the objects. They do not depend on this Makefile as a whole, nor on the folder of the tree.
$B/flags: FORCE
	@mkdir -p $(@D)
	@now=$$(echo '$(CC) $(subst $(CURDIR),,$(CFLAGS))'; \
	        dpkg-query -W '*-dev' '*-dev-*-cross' tzdata 2>/dev/null); \
	    echo "$$now" | cmp -s - $@ || echo "$$now" > $@

$B/%.o: %.c $B/flags
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$Q$(CC) $(CFLAGS) $(CFLAGS_$(notdir $*)) -c -o $@ $<
CFLAGS_options := -DOSTLER_VERSION='"$(VERSION)"'
$(patsubst %.c,$B/%.o,$(wildcard */options.c)): $B/version
$B/version: FORCE
	@mkdir -p $(@D)
	@echo '$(VERSION)' | cmp -s - $@ || echo '$(VERSION)' > $@
C_FOLDERS := main kubectl commands controller reconcilers lib node sim tests
C_NAMES := $(notdir $(basename $(shell find $(C_FOLDERS) -name '*.c' 2>/dev/null)))
$(foreach c,$(C_NAMES),$(eval CFLAGS_$c ?=))
CFLAGS_embedded :=

$B/reconcilers/manifests/embedded.c: scripts/embed $(MANIFESTS)
	@mkdir -p $(@D)
	$Qscripts/embed reconcilers/manifests > $@.new && mv -f $@.new $@
$B/reconcilers/manifests/embedded.o: $B/reconcilers/manifests/embedded.c $B/flags
	$Q$(CC) $(CFLAGS) -c -o $@ $<
$B/kubectl/completion_scripts.c: scripts/embed-completion $(wildcard kubectl/completion/*)
	@mkdir -p $(@D)
	$Qscripts/embed-completion > $@.new && mv -f $@.new $@
$B/kubectl/completion_scripts.o: $B/kubectl/completion_scripts.c $B/flags
	$Q$(CC) $(CFLAGS) -c -o $@ $<
$B/controller/web_files.c: scripts/embed-web $(wildcard web/*)
	@mkdir -p $(@D)
	$Qscripts/embed-web > $@.new && mv -f $@.new $@
$B/controller/web_files.o: $B/controller/web_files.c $B/flags
	$Q$(CC) $(CFLAGS) -c -o $@ $<
$B/commands/demo_scenario.c: scripts/embed-demo sim/scenarios/demo.yaml
	@mkdir -p $(@D)
	$Qscripts/embed-demo > $@.new && mv -f $@.new $@
$B/commands/demo_scenario.o: $B/commands/demo_scenario.c $B/flags
	$Q$(CC) $(CFLAGS) -c -o $@ $<
$B/reconcilers/model/zone_tables.c: scripts/embed-zones /usr/share/zoneinfo/tzdata.zi $B/flags
	@mkdir -p $(@D)
	$Qscripts/embed-zones > $@.new && mv -f $@.new $@
$B/reconcilers/model/zone_tables.o: $B/reconcilers/model/zone_tables.c $B/flags
	$Q$(CC) $(CFLAGS) -c -o $@ $<
$B/sim/api/builtin_texts.c: scripts/embed-cluster $(BUILTIN)
	@mkdir -p $(@D)
	$Qscripts/embed-cluster > $@.new && mv -f $@.new $@
$B/sim/api/builtin_texts.o: $B/sim/api/builtin_texts.c $B/flags
	$Q$(CC) $(CFLAGS) -c -o $@ $<
$B/sim/api/type_tables.c: scripts/embed-types sim/api/kubernetes.json sim/api/complete.h
	@mkdir -p $(@D)
	$Qscripts/embed-types > $@.new && mv -f $@.new $@
$B/sim/api/type_tables.o: $B/sim/api/type_tables.c $B/flags \
                          sim/api/types.h sim/api/merge_type.h sim/api/complete.h
	$Q$(CC) $(CFLAGS) -c -o $@ $<

# ---- another build, with other built-in images and another version, for an end-to-end test
OTHER_OBJECTS := $B/other/controller/options.o $B/other/reconcilers/model/operand.o
$B/other/%.o: %.c $B/flags
	@mkdir -p $(@D)
	$Q$(CC) $(CFLAGS) -include e2e/other_build.h -c -o $@ $<
build/ostler-other: $(OTHER_OBJECTS) $(filter-out $B/controller/options.o,$(PROGRAM))
	@echo "  LINK  $@"
	$Q$(CC) $(LINK_$(VARIANT)) -o $@.new $^ $(LIBS) && mv -f $@.new $@

# ---- unit tests: one program per tests/unit/<layer>/test_<module>.c
UNIT_SOURCES := $(sort $(wildcard tests/unit/*/test_*.c))
UNIT_HELPERS := $(patsubst %.c,$B/%.o,$(wildcard tests/unit/support/*.c))
UNIT := $(patsubst %.c,$B/%,$(UNIT_SOURCES))
# Tests are many and short: they are built for the time that building takes.
build/release/tests/unit/%.o: private CFLAGS += -O1
build/asan/tests/unit/%.o: private CFLAGS += -O0
# With the sanitizers clang takes three times as long for -O1 as for -O0. That pays only for what
# tests and fuzz targets call very often.
build/asan/reconcilers/decide/%.o build/asan/reconcilers/view/%.o: private CFLAGS += -O0
build/asan/reconcilers/manifests/%.o build/asan/controller/%.o: private CFLAGS += -O0
build/asan/commands/%.o build/asan/kubectl/%.o build/asan/node/%.o: private CFLAGS += -O0
$(UNIT): private LINK_release += -B/usr/lib/llvm-14/bin -fuse-ld=lld
$B/tests/unit/%: $B/tests/unit/%.o $(UNIT_HELPERS) $(SIM_ARCHIVES) $(NODE_ARCHIVES) \
                 $(ARCHIVES)
	@echo "  LINK  $@"
	$Q$(CC) $(LINK_$(VARIANT)) -o $@ $^ $(LIBS) -lcmocka
# The folders above the layers have no archive: a test is linked with the object of its module.
$B/tests/unit/commands/test_%: $B/tests/unit/commands/test_%.o $B/commands/%.o \
                               $(UNIT_HELPERS) $(SIM_ARCHIVES) $(ARCHIVES)
	@echo "  LINK  $@"
	$Q$(CC) $(LINK_$(VARIANT)) -o $@ $^ $(LIBS) -lcmocka
$B/tests/unit/controller/test_%: $B/tests/unit/controller/test_%.o $B/controller/%.o \
                                 $(UNIT_HELPERS) $(SIM_ARCHIVES) $(ARCHIVES)
	@echo "  LINK  $@"
	$Q$(CC) $(LINK_$(VARIANT)) -o $@ $^ $(LIBS) -lcmocka
$B/tests/unit/controller/test_fleet: $B/controller/fleet_frames.o
$B/tests/unit/node/test_%: $B/tests/unit/node/test_%.o $B/node/%.o \
                           $(UNIT_HELPERS) $(SIM_ARCHIVES) $(NODE_ARCHIVES) $(ARCHIVES)
	@echo "  LINK  $@"
	$Q$(CC) $(LINK_$(VARIANT)) -o $@ $^ $(LIBS) -lcmocka
$B/tests/unit/kubectl/test_%: $B/tests/unit/kubectl/test_%.o $B/kubectl/%.o \
                              $(UNIT_HELPERS) $(SIM_ARCHIVES) $(ARCHIVES)
	@echo "  LINK  $@"
	$Q$(CC) $(LINK_$(VARIANT)) -o $@ $^ $(LIBS) -lcmocka
# A test with one more operand: the objects that come from the rows are compiled again, with the row
# and the manifest of the test.
EXTRA := tests/unit/extra_operand
EXTRA_FLAGS := -DOSTLER_EXTRA_OPERANDS='"$(EXTRA)/operand_rows.h"'
EXTRA_OBJECTS := $(addprefix $B/extra/reconcilers/model/,operand.o policy_fields.o policy_rules.o) \
                 $B/extra/embedded.o
CFLAGS_test_extra_operand := $(EXTRA_FLAGS)
$B/extra/%.o: %.c $B/flags
	@mkdir -p $(@D)
	$Q$(CC) $(CFLAGS) $(EXTRA_FLAGS) -c -o $@ $<
$B/extra/embedded.c: scripts/embed $(MANIFESTS) $(wildcard $(EXTRA)/manifests/*/*.yaml)
	@mkdir -p $(@D)
	$Qscripts/embed reconcilers/manifests $(EXTRA)/manifests > $@.new && mv -f $@.new $@
$B/extra/embedded.o: $B/extra/embedded.c $B/flags
	$Q$(CC) $(CFLAGS) -c -o $@ $<
$B/$(EXTRA)/test_%: $B/$(EXTRA)/test_%.o $(EXTRA_OBJECTS) $B/commands/offline.o \
                    $(UNIT_HELPERS) $(SIM_ARCHIVES) $(ARCHIVES)
	@echo "  LINK  $@"
	$Q$(CC) $(LINK_$(VARIANT)) -o $@ $^ $(LIBS) -lcmocka
# The sweeps' program without what reads its command line.
SWEEP_LINE := tests/sweep/sweep.c tests/sweep/options.c
$B/tests/sweep.a: $(patsubst %.c,$B/%.o,$(filter-out $(SWEEP_LINE),$(wildcard tests/sweep/*.c)))
	$Qrm -f $@ && $(AR) rcs $@ $^
$B/tests/unit/sweep/test_%: $B/tests/unit/sweep/test_%.o $B/tests/sweep.a \
                            $(UNIT_HELPERS) $(SIM_ARCHIVES) $(ARCHIVES)
	@echo "  LINK  $@"
	$Q$(CC) $(LINK_$(VARIANT)) -o $@ $^ $(LIBS) -lcmocka
# The year's program without its command line.
$B/tests/year.a: $(patsubst %.c,$B/%.o,$(filter-out tests/year/year.c,$(wildcard tests/year/*.c)))
	$Qrm -f $@ && $(AR) rcs $@ $^
$B/tests/unit/year/test_%: $B/tests/unit/year/test_%.o $B/tests/year.a $(UNIT_HELPERS) \
                           $(SIM_ARCHIVES) $(ARCHIVES)
	@echo "  LINK  $@"
	$Q$(CC) $(LINK_$(VARIANT)) -o $@ $^ $(LIBS) -lcmocka
# With a second vendor: only the table is compiled again.
$B/second-vendor.o: lib/base/vendor.c tests/unit/vendor/rows.h $B/flags
	@mkdir -p $(@D)
	$Q$(CC) $(CFLAGS) -DOSTLER_EXTRA_VENDORS='"tests/unit/vendor/rows.h"' -c -o $@ $<
$B/tests/unit/vendor/test_%: $B/tests/unit/vendor/test_%.o $B/second-vendor.o \
                             $(UNIT_HELPERS) $(SIM_ARCHIVES) $(NODE_ARCHIVES) $(ARCHIVES)
	@echo "  LINK  $@"
	$Q$(CC) $(LINK_$(VARIANT)) -o $@ $^ $(LIBS) -lcmocka
# Stand-ins for the libraries of a driver.
build/nvml-stand-in/libnvidia-ml.so.1: tests/nvml/libnvidia-ml.c Makefile
	@mkdir -p $(@D)
	$Qgcc -std=gnu17 -O1 $(WARN) -shared -fPIC -Wl,-soname,libnvidia-ml.so.1 -o $@ $<
build/nvml-stand-in/old/libnvidia-ml.so.1: tests/nvml/libnvidia-ml.c Makefile
	@mkdir -p $(@D)
	$Qgcc -std=gnu17 -O1 $(WARN) -DOLD -shared -fPIC -Wl,-soname,libnvidia-ml.so.1 -o $@ $<
build/cuda-stand-in/libcuda.so.1: tests/cuda/libcuda.c Makefile
	@mkdir -p $(@D)
	$Qgcc -std=gnu17 -O1 $(WARN) -shared -fPIC -Wl,-soname,libcuda.so.1 -o $@ $<
NVML_STAND_IN := build/nvml-stand-in/libnvidia-ml.so.1 build/nvml-stand-in/old/libnvidia-ml.so.1
CUDA_STAND_IN := build/cuda-stand-in/libcuda.so.1
$(filter $B/tests/unit/node_gpus/%,$(UNIT)): | build/ostler-nvml $(NVML_STAND_IN)
$(filter $B/tests/unit/node_cuda/%,$(UNIT)): | $B/ostler-cuda $(CUDA_STAND_IN) $(NVML_STAND_IN)
unit: $(UNIT)
	$Qscripts/run-tests unit-$(VARIANT) $(UNIT)
# Those that try fewer cases under the sanitizers
UNIT_MANY := $(patsubst %.c,$B/%,$(shell grep -lF support/sanitized.h $(UNIT_SOURCES)))
unit-many: $(UNIT_MANY)
	$Qscripts/run-tests $@ $^

# ---- sweeps: the operator in the simulator, with every fault that the simulator knows
$B/sweep: $(patsubst %.c,$B/%.o,$(wildcard tests/sweep/*.c)) $(SIM_ARCHIVES) $(ARCHIVES)
	@echo "  LINK  $@"
	$Q$(CC) $(LINK_$(VARIANT)) -o $@ $^ $(LIBS)
sweep-program: $B/sweep
# Each has two sizes: NAME is bounded and part of `make test`, NAME-full is complete.
SWEEPS := same crash-sweep lost-response-sweep stale-sweep unobserved-sweep two-leaders outage
SWEEPS += server-trouble clocks rbac-matrix acto foreign-writers
SWEEPS += upgrade-same upgrade-crash upgrade-lost-response upgrade-stale upgrade-unobserved
SWEEPS += upgrade-two-leaders upgrade-outage upgrade-server-trouble upgrade-clocks upgrade-rights
SWEEPS += upgrade-writers upgrade-dst upgrade-people upgrade-policy upgrade-nodes upgrade-jobs
SWEEPS += upgrade-parked upgrade-older-crds rollouts
SWEEPS += agents-same agents-crash agents-lost-response agents-stale agents-unobserved
SWEEPS += agents-two-leaders agents-outage
SWEEPS += agents-rights agents-writers agents-acto agents-dst agents-steps
SWEEPS += health-observe health-close health-repair health-crash health-lost-response
SWEEPS += health-stale health-unobserved health-two-leaders health-outage health-dst
$(SWEEPS): $B/sweep
	$Q$< $@
$(SWEEPS:%=%-full): %-full: $B/sweep
	$Q$< $* --full
# Prints the names of all sweeps for scripts/test.
sweep-names:
	@echo $(SWEEPS) dst dst-short
dst dst-short: $B/sweep
	$Q$< $@ $(if $(SEEDS),--count $(SEEDS))
torture torture-full: build/ostler build/ostler-sim
	$Qtests/torture/run $(if $(filter %-full,$@),--full)
mutants mutants-part: $B/sweep
	$Qtests/mutants/run $(if $(filter %-part,$@),--part)
conformance: build/ostler-sim
	$Qe2e/conform
real real-full: build/ostler $B/sweep
	$Qe2e/real $(if $(filter %-full,$@),,--sample 4 --worlds 2)

# ---- a large cluster in the simulator, for figures; not a test
$B/scale: $(patsubst %.c,$B/%.o,$(wildcard tests/scale/*.c)) $(SIM_ARCHIVES) $(ARCHIVES)
	@echo "  LINK  $@"
	$Q$(CC) $(LINK_$(VARIANT)) -o $@ $^ $(LIBS)
scale: build/static/ostler build/ostler-sim $B/scale
	$QOSTLER=$< tests/scale/run

# ---- a year of a fleet in which GPUs fail, as the table of docs/health.md; not a test
$B/year: $(patsubst %.c,$B/%.o,$(wildcard tests/year/*.c)) $(SIM_ARCHIVES) $(ARCHIVES)
	@echo "  LINK  $@"
	$Q$(CC) $(LINK_$(VARIANT)) -o $@ $^ $(LIBS)
health-year: $B/year
	$Q$<

# ---- fuzz targets: tests/fuzz/fuzz_<parser>.c, seeds in tests/fuzz/seeds/<parser>/
FUZZ := $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_RUNS ?= 20000
FUZZ_SECONDS ?= 120
# A fixed seed gives the same inputs each time, so that a failure comes from the change under test.
# 0 gives new inputs each time.
FUZZ_SEED ?= 1
FUZZ_SUPPORT := thing testbed testbed_objects testbed_passes testbed_pods testbed_store \
                testbed_writes quiet tree
FUZZ_HELPERS := $(FUZZ_SUPPORT:%=$B/tests/unit/support/%.o)
$B/tests/fuzz/fuzz_%: $B/tests/fuzz/fuzz_%.o $(FUZZ_HELPERS) $(SIM_ARCHIVES) $(NODE_ARCHIVES) \
                      $(ARCHIVES)
	@echo "  LINK  $@"
	$Q$(CC) $(LINK_fuzz) -o $@ $^ $(LIBS) -lcmocka
fuzz-programs: $(patsubst %,$B/tests/fuzz/fuzz_%,$(FUZZ))
fuzz:
	$Q$(MAKE) --no-print-directory VARIANT=asan fuzz-programs
	$QRUNS=$(FUZZ_RUNS) SECONDS_MAX=$(FUZZ_SECONDS) SEED=$(FUZZ_SEED) scripts/fuzz $(FUZZ)

# ---- everything
lint:
	$Qscripts/check-layers
	$Qscripts/check-exports
	$Qscripts/check-size
	$Qscripts/check-format
	$Qscripts/check-shell
	$Qscripts/crd-schema
	$Qscripts/check-mutants
	$Qscripts/check-tidy --analyze
deps:
	$Qscripts/deps
deps-release:
	$Qscripts/deps release
test:
	$Qscripts/test
# `make test` has e2e; e2e-full has also what another part of `make test` proves.
e2e e2e-full: build/ostler build/ostler-node
	$Qe2e/run $(if $(filter %-full,$@),--full) $(if $(ONLY),--only $(ONLY))
# The image and the chart on a real kubelet
e2e-node: image-root
	$Qe2e/node/run
# The same node with NVIDIA's own toolkit and device plugin: the two rows that find most faults, or
# all rows (e2e/node/rows.py)
e2e-operands e2e-operands-full: image-root
	$Qe2e/node/run --row $(@:e2e-%=%) --logs build/e2e-node/logs-operands
# The image in Docker. BASE=default, or IMAGE with Debian 13 or 12: the whole Dockerfile makes it
BASE :=
image-test: build/ostler-sim image-root
	$Qtests/image/test_image.py $(BASE)
# The files of the image, and whether a second build of all of them is the same
made-full: build/ostler image-root
	$Qtests/image/test_made.py --full
# Pictures of the fleet page, for the documents
screenshots:
	$Qtests/web/screenshots.py
run:
	$QWORLD=$(WORLD) SPEED=$(SPEED) SCENARIO=$(SCENARIO) LOG=$(LOG) \
	    AGENT_IMAGE=$(AGENT_IMAGE) scripts/run
# One file to carry to a machine with a GPU, where it compares what all programs report of the GPU.
# NVIDIA's programs come from e2e/operands/build.
build/gpu-check.run: static tests/hardware/gpu-check scripts/pack-gpu-check
	$Qoperands=$$(e2e/operands/build) && \
	    scripts/pack-gpu-check build/gpu-check $@ tests/hardware/gpu-check \
	        $S/ostler-node $S/ostler-nvml $S/ostler-cuda \
	        $$operands/toolkit/nvidia-ctk $$operands/plugin/nvidia-device-plugin
gpu-check: build/gpu-check.run
	$Q$< || [ $$? -eq 2 ]
bench: build/static/ostler build/static/ostler-node
	$QOSTLER=$< OSTLER_NODE=build/static/ostler-node e2e/bench
bench-health: build/static/ostler build/static/ostler-node build/static/ostler-nvml $(NVML_STAND_IN)
	$QOSTLER=$< OSTLER_NODE=build/static/ostler-node e2e/bench-health
# The addresses of the publisher (docs/versioning.md)
REGISTRY ?=
SOURCE ?=
DOWNLOADS ?=
BUILDER ?=
ARTIFACTHUB_ID ?=
release: export REGISTRY := $(REGISTRY)
release: export SOURCE := $(SOURCE)
release: export DOWNLOADS := $(DOWNLOADS)
release: export BUILDER := $(BUILDER)
release: export ARTIFACTHUB_ID := $(ARTIFACTHUB_ID)
release: export OSTLER_OPENSSL := own
release: image-root
	$Qscripts/release
chart-crds:
	$Qcp crds/*.yaml charts/ostler/crds/ && cp crds/*.yaml charts/ostler-crds/files/
# The site of the documents, in build/site.
docs:
	$Qtests/docs/test_site.py --make
golden:
	$Q$(MAKE) --no-print-directory $B/tests/unit/manifests/test_render
	$QOSTLER_GOLDEN=write $B/tests/unit/manifests/test_render
	$Q$(MAKE) --no-print-directory $B/tests/unit/node_inventory/test_machines
	$QOSTLER_GOLDEN=write $B/tests/unit/node_inventory/test_machines
	$Q$(MAKE) --no-print-directory $B/tests/unit/view/test_views
	$QOSTLER_GOLDEN=write $B/tests/unit/view/test_views
	$Q$(MAKE) --no-print-directory $B/tests/unit/reconcilers/test_fleet_view
	$QOSTLER_GOLDEN=write $B/tests/unit/reconcilers/test_fleet_view
clean:
	rm -rf build

.PHONY: $(SWEEPS)
.PHONY: $(SWEEPS:%=%-full)
.PHONY: all static image-root unit unit-many sweep-program fuzz fuzz-programs lint deps test
.PHONY: e2e-full
.PHONY: e2e e2e-node e2e-operands e2e-operands-full image-test gpu-check run bench release golden
.PHONY: made-full
.PHONY: deps-release screenshots
.PHONY: chart-crds clean sweep-names dst dst-short torture torture-full mutants mutants-part
.PHONY: conformance
.PHONY: scale real real-full health-year bench-health docs
.SECONDARY:
-include $(shell find $B -name '*.d' 2>/dev/null)
