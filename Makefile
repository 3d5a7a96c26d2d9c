# The same commands as ./dev, for fingers that type make. Extra arguments: make run ARGS="my.xlog"
COMMANDS = run test sanitize check bench gpu-test gpu-bench gpu-pack help

build:
	@./dev build

$(COMMANDS):
	@./dev $@ $(ARGS)

install:
	@./dev install $(if $(PREFIX),--prefix "$(PREFIX)") $(ARGS)

.PHONY: build install $(COMMANDS)
