//! After a save, the complete new file or the older one exists, and no other file.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use voxelize::format::{PendingNames, Written};
use voxelize::{Error, Kind, Progress, tool};

use super::*;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
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
    let folder = tempfile::tempdir().unwrap();
    for (format, dtype) in kinds() {
        for looks in [0, 1] {
            let path = folder
                .path()
                .join("grid")
                .with_extension(format.extensions[0]);
            fs::write(&path, "old").unwrap();
            let stop = Stop {
                left: AtomicU64::new(looks),
            };
            let options = SaveOptions {
                progress: &stop,
                ..as_dtype(dtype)
            };
            let result = format::save(&voxels, &path, format, &options);
            if dtype != Dtype::Bit || looks == 0 {
                assert_eq!(
                    result.unwrap_err().kind(),
                    Kind::Interrupted,
                    "{}",
                    format.name
                );
                assert_eq!(fs::read_to_string(&path).unwrap(), "old");
                assert_eq!(names(folder.path()).len(), 1);
            }
            fs::remove_file(&path).unwrap();
        }
    }
}

#[test]
fn files_wait_for_their_names() {
    let voxels = at_odd_place(full([30, 20, 10]));
    for (format, dtype) in kinds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder
            .path()
            .join("grid")
            .with_extension(format.extensions[0]);
        let at_once = folder
            .path()
            .join("at-once")
            .with_extension(format.extensions[0]);
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
        assert_eq!(names(folder.path()), before, "{}", format.name);
        let later = PendingNames::default();
        let written = save(&later);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        later.give(&()).unwrap();
        let lengths = |all: &[Written]| {
            all.iter()
                .map(|one| (one.format, one.bytes))
                .collect::<Vec<_>>()
        };
        assert_eq!(lengths(&written), lengths(&expected));
        assert!(
            fs::read(&path).unwrap() == fs::read(&at_once).unwrap(),
            "{}",
            format.name
        );
        assert!(
            written
                .iter()
                .all(|one| one.path.metadata().unwrap().len() == one.bytes)
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
    let npz = format::by_name("npz").unwrap();
    let save = std::panic::AssertUnwindSafe(|| format::save(&voxels, &path, npz, &options));
    assert!(std::panic::catch_unwind(save).is_err(), "it asks");
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(names(folder.path()), ["grid.npz"]);
}

#[test]
fn a_crash_between_two_renames_is_detected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grid.raw");
    let sidecar = folder.path().join("grid.raw.json");
    at_odd_place(full([8, 8, 8])).save(&path).unwrap();
    let older = fs::read(&path).unwrap();
    at_odd_place(f_grid()).save(&path).unwrap();
    assert!(sidecar.exists());
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
    let folder = tempfile::tempdir().unwrap();
    for (format, dtype) in kinds() {
        let save = |name: &str, durability| {
            let path = folder.path().join(name);
            format::save(
                &voxels,
                &path,
                format,
                &SaveOptions {
                    durability,
                    ..as_dtype(dtype)
                },
            )
            .unwrap();
            fs::read(path).unwrap()
        };
        assert_eq!(
            save("a", Durability::Unsynced),
            save("b", Durability::Synced),
            "{}",
            format.name
        );
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
    assert_eq!(
        (error.kind(), fs::read_to_string(&path).unwrap().as_str()),
        (Kind::Output, "old")
    );
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
        let vox = format::by_name("vox").unwrap();
        let late = format::save(&at_odd_place(f_grid()), &path, vox, &SaveOptions::default());
        assert_eq!(late.unwrap_err(), early);
    }
    assert_eq!(
        tool::probe_output(&folder.path().join("new.vox"), None),
        Ok(())
    );
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
        for (kind, code) in [
            (io::ErrorKind::BrokenPipe, "closed-pipe"),
            (io::ErrorKind::StorageFull, "output"),
        ] {
            for left in [0, 20] {
                let mut out = Full { left, kind };
                let error =
                    format::write_to(&voxels, &mut out, format, &as_dtype(dtype)).unwrap_err();
                assert_eq!(
                    (error.kind(), error.code().name()),
                    (Kind::Output, code),
                    "{}",
                    format.name
                );
            }
        }
    }
}

#[test]
fn an_extension_of_no_format_is_a_usage_error() {
    let error = at_odd_place(f_grid()).save("grid.off").unwrap_err();
    assert_eq!(error.kind(), Kind::Usage);
    assert!(error.hint().unwrap().to_string().contains(".npz"));
    let _: &Error = &error;
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn links_stay_and_their_targets_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let elsewhere = folder.path().join("elsewhere");
        fs::create_dir(&home).unwrap();
        fs::create_dir(&elsewhere).unwrap();
        let voxels = at_odd_place(f_grid());
        // The target of the second link is missing.
        for name in ["there.npz", "new.npz"] {
            let link = home.join(name);
            symlink(Path::new("../elsewhere").join(name), &link).unwrap();
            if name == "there.npz" {
                fs::write(elsewhere.join(name), "old").unwrap();
            }
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
        for (format, dtype) in kinds() {
            let written =
                format::save(&voxels, Path::new("/dev/null"), format, &as_dtype(dtype)).unwrap();
            assert_eq!(written.len(), 1);
            assert!(written[0].bytes > 0);
            if Path::new("/dev/full").exists() {
                let full = format::save(&voxels, Path::new("/dev/full"), format, &as_dtype(dtype));
                let error = full.unwrap_err();
                assert_eq!(error.kind(), Kind::Output);
                assert!(
                    error
                        .to_string()
                        .starts_with("/dev/full: cannot be written: "),
                    "{error}"
                );
            }
        }
        assert!(!Path::new("/dev/null.json").exists());
        assert_eq!(tool::probe_output(Path::new("/dev/null"), None), Ok(()));
    }
}
