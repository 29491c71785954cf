# `make help` lists the targets. All of them install what they need (tools/install_deps.sh) and log to build/logs/.
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 600
SOUND_SECONDS ?= 3600
export JOBS FUZZ_SECONDS PYTHON WHEEL_GLIBC

.PHONY: all demo wheel test test-live test-long test-long-dev test-long-sound test-long-run test-long-fuzz test-long-live bench bench-docs fuzz format lint operators install clean help
.NOTPARALLEL:
.SILENT:

all:
	tools/install_deps.sh build
	tools/build.sh release anyshape_package
	echo "done: build/release/bin, build/release/lib"

demo:
	tools/install_deps.sh build
	tools/build.sh release anyshape_package
	tools/demo.sh

wheel:
	tools/install_deps.sh wheel
	tools/wheel.sh

test:
	tools/install_deps.sh test
	tools/build.sh release
	ctest --preset release -j $(JOBS)

test-live:
	tools/install_deps.sh live
	tools/build.sh release anyshape_package
	tools/run_live.sh

test-long: test-long-dev test-long-sound test-long-run test-long-fuzz test-long-live

test-long-dev:
	tools/install_deps.sh live
	tools/build.sh dev
	ctest --preset dev -j $(JOBS)

test-long-sound:
	tools/install_deps.sh live
	tools/build.sh dev anyshape_cli
	ANYSHAPE=$(CURDIR)/build/dev/bin/anyshape ANYSHAPE_SECONDS=$(SOUND_SECONDS) tools/run_live.sh sound_live

test-long-run:
	tools/install_deps.sh live
	tools/build.sh tsan anyshape_api_tests
	ctest --preset tsan -L api
	tools/build.sh release anyshape_api_tests
	build/release/bin/api_soak 100000

test-long-fuzz:
	tools/install_deps.sh fuzz
	tools/build.sh fuzz
	tests/fuzz/run.sh

test-long-live:
	tools/install_deps.sh live
	tools/build.sh release anyshape_package
	ANYSHAPE_FULL=1 tools/run_live.sh

bench:
	tools/install_deps.sh bench
	tools/build.sh release
	tools/run_bench.sh

bench-docs: bench
	build/venv/bin/python bench/docs.py

fuzz:
	tools/install_deps.sh fuzz
	tools/build.sh fuzz
	tests/fuzz/run.sh

format:
	tools/install_deps.sh lint
	tools/check_format.sh --fix

lint:
	tools/install_deps.sh lint
	tools/build.sh release
	tools/lint.sh

operators:
	tools/install_deps.sh build
	tools/build.sh release anyshape_op_table
	build/release/bin/anyshape_op_table > docs/operators.md

install:
	tools/install_deps.sh build
	tools/build.sh release anyshape_package
	tools/quiet.sh install cmake --install build/release --prefix "$(PREFIX)"
	echo "installed into $(DESTDIR)$(PREFIX)"

clean:
	rm -rf build

help:
	echo "make all        build the library and the program (release)"
	echo "make demo       build, export three PyTorch programs, check three models, run them"
	echo "make wheel      build/wheels/anyshape-*.whl, tried in a bare environment; PYTHON=python3.12, WHEEL_GLIBC=2.28"
	echo "make test       build and run every test that needs no other engine (15 minutes at most)"
	echo "make test-live  compare with PyTorch and ONNX Runtime on drawn lists; ANYSHAPE_SEED=N repeats a draw"
	echo "make test-long  sanitised tests, concurrent runs, a soak, fuzzing (FUZZ_SECONDS=600 each), the full live lists;"
	echo "                in parts: test-long-dev, -sound (sanitised graphs, SOUND_SECONDS=3600), -run, -fuzz, -live"
	echo "make bench      run the benchmarks (10 minutes); the last line is the speed beside ONNX Runtime"
	echo "make bench-docs the same, and docs/benchmarks.md from it"
	echo "make fuzz       run the libFuzzer targets, FUZZ_SECONDS each"
	echo "make format     format the C++ files; make lint checks them, with clang-tidy"
	echo "make operators  write docs/operators.md from the records"
	echo "make install    install into PREFIX=/usr/local (DESTDIR is honoured)"
	echo "make clean      remove build/"
