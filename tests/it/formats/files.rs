//! After a save, the complete new file or the older one exists, and no other file.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use voxelize::format::PendingNames;
use voxelize::{Progress, tool};

use super::*;

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Cancels after `left` polls.
struct Stop {
    left: AtomicU64,
}

impl Progress for Stop {
    fn cancelled(&self) -> bool {
        self.left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1))
            .is_err()
    }
}

#[test]
fn a_cancelled_save_leaves_the_older_file() {
    let voxels = at_odd_place(full([300, 300, 20]));
    for (format, dtype) in kinds() {
        for polls in [0, 1] {
            let folder = tempfile::tempdir().unwrap();
            let path = path_of(&folder, format);
            fs::write(&path, "old").unwrap();
            let stop = Stop {
                left: AtomicU64::new(polls),
            };
            let options = SaveOptions {
                progress: &stop,
                ..as_dtype(dtype)
            };
            let result = format::save(&voxels, &path, format, &options);
            if dtype != Dtype::Bit || polls == 0 {
                assert_eq!(result.unwrap_err().kind(), Kind::Interrupted, "{format:?}");
                assert_eq!(fs::read_to_string(&path).unwrap(), "old");
                assert_eq!(names(folder.path()).len(), 1);
            }
        }
    }
}

#[test]
fn files_wait_for_their_names() {
    let voxels = at_odd_place(full([30, 20, 10]));
    for (format, dtype) in kinds() {
        let folder = tempfile::tempdir().unwrap();
        let path = path_of(&folder, format);
        let at_once = path.with_file_name(format!("at-once.{}", format.extensions[0]));
        fs::write(&path, "old").unwrap();
        let options = as_dtype(dtype);
        let expected = format::save(&voxels, &at_once, format, &options).unwrap();
        let before = names(folder.path());
        let save = |later: &PendingNames| {
            let options = SaveOptions {
                later: Some(later),
                ..options
            };
            format::save(&voxels, &path, format, &options).unwrap()
        };
        // Files that are not renamed are deleted.
        let dropped = PendingNames::default();
        save(&dropped);
        drop(dropped);
        assert_eq!(names(folder.path()), before, "{format:?}");
        let later = PendingNames::default();
        let written = save(&later);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        later.give(&()).unwrap();
        assert_eq!(written.len(), expected.len());
        for (one, expected) in written.iter().zip(&expected) {
            assert_eq!((one.format, one.bytes), (expected.format, expected.bytes));
            assert_eq!(one.path.metadata().unwrap().len(), one.bytes);
        }
        assert!(
            fs::read(&path).unwrap() == fs::read(&at_once).unwrap(),
            "{format:?}"
        );
        assert_eq!(names(folder.path()).len(), 2 * written.len());
    }
}

/// Panics when polled for cancellation.
struct Broken;

impl Progress for Broken {
    fn cancelled(&self) -> bool {
        panic!("a bug in the midst of writing");
    }
}

#[test]
fn a_panic_while_writing_leaves_the_older_file() {
    let voxels = at_odd_place(full([300, 300, 20]));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grid.npz");
    fs::write(&path, "old").unwrap();
    let options = SaveOptions {
        progress: &Broken,
        ..SaveOptions::default()
    };
    let save = AssertUnwindSafe(|| format::save(&voxels, &path, named("npz"), &options));
    assert!(catch_unwind(save).is_err(), "it asks");
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(names(folder.path()), ["grid.npz"]);
}

#[test]
fn a_crash_between_two_renames_is_detected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grid.raw");
    at_odd_place(full([8, 8, 8])).save(&path).unwrap();
    let older = fs::read(&path).unwrap();
    at_odd_place(f_grid()).save(&path).unwrap();
    assert_eq!(names(folder.path()), ["grid.raw", "grid.raw.json"]);
    // The sidecar is renamed, the cells are not.
    fs::write(&path, older).unwrap();
    let error = Voxels::open(&path).unwrap_err();
    assert_eq!(error.kind(), Kind::Input, "{error}");
    fs::remove_file(&path).unwrap();
    assert!(Voxels::open(&path).is_err(), "a sidecar alone is no grid");
}

#[test]
fn files_that_nobody_waits_for_are_the_same() {
    let voxels = at_odd_place(f_grid());
    for (format, dtype) in kinds() {
        let unsynced = SaveOptions {
            durability: Durability::Unsynced,
            ..as_dtype(dtype)
        };
        let files = saved_with(&voxels, format, &unsynced);
        let expected = saved_with(&voxels, format, &as_dtype(dtype));
        assert_eq!(files, expected, "{format:?}");
    }
}

#[test]
fn a_save_that_fails_late_leaves_the_older_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grid.raw");
    fs::write(&path, "old").unwrap();
    // A folder with the name of the sidecar blocks it.
    fs::create_dir(folder.path().join("grid.raw.json")).unwrap();
    let error = at_odd_place(f_grid()).save(&path).unwrap_err();
    assert_eq!(error.kind(), Kind::Output);
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(names(folder.path()), ["grid.raw", "grid.raw.json"]);
}

#[test]
fn places_that_take_no_file_are_refused_early() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    for path in [
        file.join("a.vox"),
        folder.path().join("gone/a.vox"),
        folder.path().to_path_buf(),
    ] {
        let early = tool::probe_output(&path, None).unwrap_err();
        assert_eq!(early.kind(), Kind::Output);
        assert!(early.file().is_some(), "{early}");
        let options = SaveOptions::default();
        let late = format::save(&at_odd_place(f_grid()), &path, named("vox"), &options);
        assert_eq!(late, Err(early));
    }
    let new = folder.path().join("new.vox");
    assert_eq!(tool::probe_output(&new, None), Ok(()));
    assert_eq!(names(folder.path()), ["file"]);
}

/// Accepts `left` bytes, then fails with the given error.
struct Full {
    left: usize,
    kind: io::ErrorKind,
}

impl io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.left = self.left.checked_sub(bytes.len()).ok_or(self.kind)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn ended_streams_are_distinguished() {
    let voxels = at_odd_place(f_grid());
    for (format, dtype) in kinds() {
        for (left, kind, code) in [
            (0, io::ErrorKind::BrokenPipe, "closed-pipe"),
            (20, io::ErrorKind::BrokenPipe, "closed-pipe"),
            (0, io::ErrorKind::StorageFull, "output"),
            (20, io::ErrorKind::StorageFull, "output"),
        ] {
            let mut out = Full { left, kind };
            let result = format::write_to(&voxels, &mut out, format, &as_dtype(dtype));
            let error = result.unwrap_err();
            let found = (error.kind(), error.code().name());
            assert_eq!(found, (Kind::Output, code), "{format:?}");
        }
    }
}

#[test]
fn an_extension_of_no_format_is_a_usage_error() {
    let error = at_odd_place(f_grid()).save("grid.off").unwrap_err();
    assert_eq!(error.kind(), Kind::Usage);
    assert!(error.hint().unwrap().to_string().contains(".npz"));
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn links_stay_and_their_targets_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let [home, elsewhere] = ["home", "elsewhere"].map(|name| folder.path().join(name));
        fs::create_dir(&home).unwrap();
        fs::create_dir(&elsewhere).unwrap();
        fs::write(elsewhere.join("there.npz"), "old").unwrap();
        let voxels = at_odd_place(f_grid());
        // The target of the second link is missing.
        for name in ["there.npz", "new.npz"] {
            let link = home.join(name);
            symlink(Path::new("../elsewhere").join(name), &link).unwrap();
            voxels.save(&link).unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(Voxels::open(elsewhere.join(name)).unwrap(), voxels);
        }
        assert_eq!(names(&elsewhere), ["new.npz", "there.npz"]);
    }

    #[test]
    fn a_replaced_file_keeps_its_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        fs::write(&path, "old").unwrap();
        let usual = mode(&path);
        let fresh = folder.path().join("b.npy");
        at_odd_place(f_grid()).save(&fresh).unwrap();
        assert_eq!(mode(&fresh), usual, "as any new file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o604)).unwrap();
        at_odd_place(f_grid()).save(&path).unwrap();
        assert_eq!(mode(&path), 0o604);
    }

    #[test]
    fn devices_are_written_directly_without_a_sidecar() {
        let voxels = at_odd_place(f_grid());
        let [null, full] = ["/dev/null", "/dev/full"].map(Path::new);
        for (format, dtype) in kinds() {
            let save = |path: &Path| format::save(&voxels, path, format, &as_dtype(dtype));
            let written = save(null).unwrap();
            assert_eq!(written.len(), 1);
            assert!(written[0].bytes > 0);
            if full.exists() {
                let error = save(full).unwrap_err();
                assert_eq!(error.kind(), Kind::Output);
                let text = error.to_string();
                assert!(text.starts_with("/dev/full: cannot be written: "), "{text}");
            }
        }
        assert!(!Path::new("/dev/null.json").exists());
        assert_eq!(tool::probe_output(null, None), Ok(()));
    }
}
