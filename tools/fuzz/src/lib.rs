//! What each fuzz target holds the library to: one file per target, with the layout of its input on
//! top. A check panics if the library does, or if what it gives is not what it should be.
//! `examples/make_fuzz_seeds` writes inputs to begin with.
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

/// The oracle of the tests.
#[path = "../../../tests/support/oracle.rs"]
mod oracle;

/// That of the suite `solid`.
#[path = "../../../tests/counted/solid/winding.rs"]
#[allow(dead_code, reason = "one ray is asked")]
mod winding;

/// Counts what is asked for, also where it is refused.
#[global_allocator]
static MEMORY: &PeakMemAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Does `work`, which may ask for so many bytes more at a time.
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

/// Makes this thread the only one of its pool: no input starts any or waits for one, and inputs repeat
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

/// Holds an error to what all errors promise: a known code, one line that a terminal can show, and
/// a place that is in the input of `length` bytes.
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

/// Holds the words of an error to one line each.
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
