# List the recipes.
default:
    @just --list

# The gate: format, lints, docs, the library alone, all tests.
check:
    .ci/run

# All tests and doctests.
test *args:
    cargo test {{args}}

# Random triangles against the oracle for some minutes; failures print their seed.
exact-soak minutes:
    cargo test --release --test exact -- --soak {{minutes}}

# Kernel time against the textbook test; VOXELIZE_MESHES names a folder of meshes.
bench *args:
    cargo bench --bench versus_textbook -- {{args}}

# Make fixtures/ again.
fixtures:
    cargo run --example make_fixtures

# The library's documentation, warnings denied.
docs:
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --all-features

# Make the pictures and tables of README.md again; the second run must pass.
pictures:
    -VOXELIZE_BLESS=1 cargo test --test readme
    cargo test --test readme
