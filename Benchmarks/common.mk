# What the Makefiles of the benchmarks share. To measure a build of the engine that is not installed,
# give TANSU_CFLAGS and TANSU_LIBS, for example
#   make TANSU_CFLAGS=-I../../CEngine/include TANSU_LIBS="path/to/libtansu.a -lbson-1.0 ..."

BUILD ?= build
CC ?= cc
CFLAGS ?= -O2 -g
PKG_CONFIG ?= pkg-config
TANSU_CFLAGS ?= $(shell $(PKG_CONFIG) --cflags tansu)
TANSU_LIBS ?= $(shell $(PKG_CONFIG) --libs tansu)

ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror $(CFLAGS) $(TANSU_CFLAGS) -I../engine $(MORE_CFLAGS)
LINK = $(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(TANSU_LIBS) $(MORE_LIBS) -lpthread

.PHONY: all clean FORCE
all: $(PROGRAMS:%=$(BUILD)/%)

# A program is linked again when the engine's library has changed; objects depend on the headers that
# they include, tansu.h among them (-MD, because -MMD leaves out what is installed).
LIBRARY := $(wildcard $(filter %.a %.so %.dylib,$(TANSU_LIBS)) \
	$(foreach folder,$(patsubst -L%,%,$(filter -L%,$(TANSU_LIBS))),$(folder)/libtansu.*))
$(PROGRAMS:%=$(BUILD)/%): $(LIBRARY)

# Objects and programs are made again when the compiler or its flags have changed.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(ALL_CFLAGS) $(LDFLAGS) $(TANSU_LIBS) $(MORE_LIBS)' > $@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

$(BUILD)/%.o: %.c $(BUILD)/flags
	$(CC) $(ALL_CFLAGS) -MD -MP -c -o $@ $<

$(BUILD)/%.o: ../engine/%.c $(BUILD)/flags
	$(CC) $(ALL_CFLAGS) -MD -MP -c -o $@ $<

clean:
	rm -rf $(BUILD)

-include $(wildcard $(BUILD)/*.d)
