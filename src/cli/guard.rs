//! Catches panics. A panic becomes the internal error of one mesh, one case of `verify` or one command. The
//! other meshes and cases continue.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, PoisonError};

use voxelize::{Error, Result};

/// Message and source location of the latest panics.
static PLACES: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());

/// Maximum number of locations kept. Several threads of one job may panic at once.
const KEPT: usize = 64;

/// Replaces the panic hook by one that records the location and prints nothing, because [`guarded`] reports
/// the panic. With `RUST_BACKTRACE` the panic is also printed.
pub fn install() {
    let default = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let mut places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = info.location()
            && places.len() < KEPT
        {
            places.push((
                message(info.payload()),
                format!(", at {}:{}", place.file(), place.line()),
            ));
        }
        drop(places);
        if std::env::var_os("RUST_BACKTRACE").is_some() {
            default(info);
        }
    }));
}

/// Runs `work`. A panic becomes an internal error with the source location of the panic.
pub fn guarded<R>(work: impl FnOnce() -> Result<R>) -> Result<R> {
    // Asserting unwind safety is justified: the unfinished results of `work` are dropped, and the data behind
    // a poisoned lock is used as it is.
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        let message = message(&*payload);
        let mut places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
        let at = match places.iter().position(|(what, _)| *what == message) {
            Some(n) => places.swap_remove(n).1,
            None => String::new(),
        };
        let version = env!("CARGO_PKG_VERSION");
        Err(Error::internal(format!(
            "voxelize {version} failed: {message}{at}; this is a bug"
        )))
    })
}

/// Returns the message of a panic.
fn message(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        return (*text).to_string();
    }
    match payload.downcast_ref::<String>() {
        Some(text) => text.clone(),
        None => "it panicked".to_string(),
    }
}

/// Panics if a test requests it for this mesh, by the environment variable `VOXELIZE_PANIC`. Does nothing
/// without debug assertions.
pub fn provoked(mesh: &str) {
    #[cfg(debug_assertions)]
    if std::env::var("VOXELIZE_PANIC").is_ok_and(|name| mesh.ends_with(&name)) {
        panic!("provoked by a test");
    }
    let _ = mesh;
}

#[cfg(test)]
mod tests {
    use super::*;
    use voxelize::Kind;

    #[test]
    fn a_panic_is_an_internal_error() {
        let error = guarded(|| -> Result<()> { panic!("number {}", 7) }).unwrap_err();
        assert_eq!(error.kind(), Kind::Internal);
        assert!(error.message().contains("number 7") && error.message().contains("this is a bug"));
        assert_eq!(guarded(|| Ok(3)), Ok(3));
    }
}
