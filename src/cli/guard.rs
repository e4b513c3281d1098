//! The boundary that no panic passes: one mesh, one case or one command ends with an internal error, and the others
//! go on.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Mutex;

use voxelize::{Error, Result};

use super::is_fuzzing;

/// The messages of the last panics, each with its place.
static PLACES: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());

/// As many places are kept: threads of one job panic together.
const KEPT: usize = 64;

/// From now on a panic prints nothing by itself, unless a backtrace is requested: [`guarded`] reports it.
pub fn install() {
    let default = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let place = info.location().map(|place| format!("{}:{}", place.file(), place.line()));
        let mut places = PLACES.lock().unwrap_or_else(|e| e.into_inner());
        if places.len() < KEPT {
            places.push((message(info.payload()), place.unwrap_or_default()));
        }
        drop(places);
        if std::env::var_os("RUST_BACKTRACE").is_some() {
            default(info);
        }
    }));
}

/// Does `work`; a panic is an internal error that says where it was.
pub fn guarded<R>(work: impl FnOnce() -> Result<R>) -> Result<R> {
    if is_fuzzing() {
        // A fuzzer looks for panics.
        return work();
    }
    // Unfinished results are dropped with the work, and locks are taken over as they are.
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| Err(internal(&*payload)))
}

fn internal(payload: &(dyn Any + Send)) -> Error {
    let message = message(payload);
    let mut places = PLACES.lock().unwrap_or_else(|e| e.into_inner());
    let at = places.iter().position(|(what, _)| *what == message).map(|n| places.swap_remove(n).1);
    let at = at.map_or_else(String::new, |at| format!(", at {at}"));
    Error::internal(format!("voxelize {} failed: {message}{at}; this is a bug", env!("CARGO_PKG_VERSION")))
}

/// The words of a panic.
fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_string());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it panicked".to_string())
}

/// Panics where a test asks for it by the name of a mesh; in builds with debug assertions only.
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
