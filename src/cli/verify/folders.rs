//! Folders made for files that may or may not come: made early, because that may fail, and gone again
//! if nothing came.

use std::path::{Path, PathBuf};

use voxelize::{Error, Result};

use super::paths;

/// Folders that were made; dropped, it removes those that are still empty.
#[derive(Default)]
pub struct Made(Vec<PathBuf>);

impl Made {
    /// Makes `folder`, and those it is in, unless they are there.
    ///
    /// # Errors
    /// If it cannot be made; `hint` says what to do then.
    pub fn add(&mut self, folder: &Path, hint: &str) -> Result<()> {
        let around =
            folder.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
        self.0.extend(around.map(Path::to_path_buf));
        let fail = |e| Error::output(format!("cannot be made: {e}")).in_file(folder).with_hint(hint);
        std::fs::create_dir_all(folder).map_err(fail)
    }

    /// Makes the folder of a file.
    ///
    /// # Errors
    /// If it cannot be made; `hint` says what to do then.
    pub fn add_for(&mut self, file: &Path, hint: &str) -> Result<()> {
        self.add(paths::folder(file), hint)
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        // What is within others goes before them.
        self.0.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
        for folder in &self.0 {
            // One with something in it is not removed, as is meant.
            let _ = std::fs::remove_dir(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_empty_goes_again() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        std::fs::create_dir(path("there")).unwrap();
        let mut made = Made::default();
        for folder in ["a/b", "a/c/d", "there", "there/e"] {
            made.add(&path(folder), "").unwrap();
            assert!(path(folder).is_dir());
        }
        std::fs::write(path("a/b/file"), "").unwrap();
        assert!(made.add(&path("a/b/file/c"), "elsewhere").unwrap_err().hint() == Some("elsewhere"));
        drop(made);
        let left = ["a", "a/b", "a/c", "a/c/d", "there", "there/e"].map(|folder| path(folder).exists());
        assert_eq!(left, [true, true, false, false, true, false]);
    }
}
