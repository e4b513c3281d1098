//! Checks of the fuzz targets: one file per target, with the layout of its input at the top. A check panics
//! if the library does, or if a result is wrong. `examples/make_fuzz_seeds` writes initial inputs.
#![forbid(unsafe_code)]

pub mod check;
pub mod clearance;
pub mod insides;
pub mod kernels;
pub mod names;
pub mod plan;
pub mod read_3mf;
pub mod read_ascii;
pub mod read_gltf;
pub mod read_goldens;
pub mod read_indexed;
pub mod read_stl;
pub mod read_voxels;
pub mod round_trip;

mod folder;
mod scratch;

use std::alloc::System;
use std::sync::LazyLock;

use peakmem_alloc::{INSTRUMENTED_SYSTEM, PeakMemAlloc, PeakMemAllocTrait};
use voxelize::{Error, Kind};

/// Oracle of the tests.
#[path = "../../../tests/support/oracle.rs"]
mod oracle;

/// Oracle of the suite `solid`.
#[path = "../../../tests/counted/solid/winding.rs"]
#[allow(dead_code, reason = "one ray is asked")]
mod winding;

/// Counts requested memory, including refused requests.
#[global_allocator]
static MEMORY: &PeakMemAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Runs `work`, which may allocate at most `bytes` more at a time.
fn within<R>(bytes: usize, work: impl FnOnce() -> R) -> R {
    MEMORY.reset_peak_memory();
    let result = work();
    let peak = MEMORY.get_peak_memory();
    assert!(
        peak <= bytes,
        "{peak} bytes of memory, where {bytes} should do"
    );
    result
}

/// Makes this thread the only one of its pool. No input starts threads or waits for them, and inputs repeat
/// exactly. The fuzzer calls from one thread.
fn alone() {
    static POOL: LazyLock<rayon::ThreadPool> = LazyLock::new(|| {
        let one = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .use_current_thread();
        one.build().expect("a pool without threads of its own")
    });
    LazyLock::force(&POOL);
    assert_eq!(
        rayon::current_thread_index(),
        Some(0),
        "called from another thread"
    );
}

/// Checks the properties of all errors: a known code, one line that a terminal can show, and a place within
/// the input of `length` bytes.
fn check_error(error: &Error, letter: char, length: usize) {
    let numbered =
        |code: &str| code.len() == 4 && code[1..].bytes().all(|byte| byte.is_ascii_digit());
    match error.kind() {
        Kind::Input => {
            assert!(
                error.code().name().starts_with(letter) && numbered(error.code().name()),
                "{error:?}"
            )
        }
        Kind::TooLarge => assert_eq!(error.code().name(), "too-large"),
        other => panic!("{other:?} for bad input: {error}"),
    }
    check_words(error);
    assert!(
        error.byte().is_none_or(|byte| byte <= length as u64),
        "{error:?} of {length}"
    );
    assert!(
        error
            .line()
            .is_none_or(|line| (1..=length as u64 + 1).contains(&line)),
        "{error:?}"
    );
    assert!(
        error
            .triangle()
            .is_none_or(|triangle| triangle < length as u64),
        "{error:?}"
    );
}

/// Checks that the texts of an error are one printable line each.
fn check_words(error: &Error) {
    let hint = error.hint().map(ToString::to_string);
    for text in [
        Some(error.message()),
        hint.as_deref(),
        Some(error.to_string().as_str()),
    ]
    .into_iter()
    .flatten()
    {
        assert!(
            !text.trim().is_empty() && !text.contains(char::is_control),
            "{text:?}"
        );
        assert!(
            text.len() < 20_000,
            "{} bytes in {}",
            text.len(),
            error.code().name()
        );
    }
}
