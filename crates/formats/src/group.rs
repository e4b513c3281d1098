//! Files that are saved together.
//!
//! A file that is saved alone waits until the disk has it, and until the disk has its name. Files of a group
//! wait together: the disk writes several of them at the same time, and their names are synced once.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use super::place::{failure, keep_permissions, sync_folder};
use super::save::save_bytes;
use super::several::TemporaryFolder;
use super::{Durability, Existing};
use voxelize_core::error::Result;

/// Files that are saved together into one folder, which may contain other files. They are written into a
/// temporary folder inside it. When all of them are on the disk, they are renamed. If the value is dropped
/// before, no file in the folder has changed.
pub struct FileGroup {
    contents: TemporaryFolder,
    folder: PathBuf,
}

impl FileGroup {
    /// Creates an empty group. `folder` is the folder of the files.
    ///
    /// # Errors
    /// Fails if no files can be created in the folder.
    pub fn create(folder: &Path) -> Result<Self> {
        let contents = TemporaryFolder::create(&folder.join("files"), Durability::Synced)
            .map_err(|error| failure(error).in_file(folder))?;
        Ok(Self {
            contents,
            folder: folder.to_path_buf(),
        })
    }

    /// Writes a file. It gets the permissions of the file that it will replace. Several threads can write at
    /// the same time.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.folder.join(name);
        let write = self.contents.write(name, |out| {
            keep_permissions(&path, out.get_ref())?;
            out.write_all(bytes)
        });
        write.map_err(|error| failure(error).in_file(&path))
    }

    /// Waits until all files are on the disk and gives them their final names. A file whose name is a link or
    /// a device is saved as by [`save_bytes`].
    ///
    /// # Errors
    /// Fails if a file cannot be synced, if an existing file must be kept, or if a file cannot be renamed.
    /// Unless a rename failed, no file has changed then.
    pub fn give_names(mut self, existing: Existing) -> Result<()> {
        self.contents
            .finish_sync()
            .map_err(|error| failure(error).in_file(&self.folder))?;
        let names = self.contents.take_names();
        for name in &names {
            let path = self.folder.join(name);
            existing
                .check(&path)
                .map_err(|error| error.in_file(&path))?;
        }
        for name in &names {
            let path = self.folder.join(name);
            let file = self.contents.path().join(name);
            let is_plain = fs::symlink_metadata(&path).map_or(true, |found| found.is_file());
            if is_plain {
                let file =
                    TempPath::try_from_path(file).map_err(|error| failure(error).in_file(&path))?;
                rename_file(file, &path, existing)?;
            } else {
                let bytes = fs::read(&file).map_err(|error| failure(error).in_file(&path))?;
                save_bytes(&path, existing, "", |out| out.write_all(&bytes))?;
            }
        }
        sync_folder(&self.folder);
        Ok(())
    }
}

/// Gives a temporary file its final name. Fails if a file has appeared there that must be kept.
fn rename_file(file: TempPath, path: &Path, existing: Existing) -> Result<()> {
    let file = match existing {
        Existing::Replace => file,
        Existing::ReplaceIf(_) => match file.persist_noclobber(path) {
            Ok(()) => return Ok(()),
            Err(error) => {
                existing.check(path).map_err(|error| error.in_file(path))?;
                error.path
            }
        },
    };
    file.persist(path)
        .map_err(|error| failure(error.error).in_file(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_group_appear_together() {
        let all = tempfile::tempdir().unwrap();
        let path = |name: &str| all.path().join(name);
        fs::write(path("b"), "old").unwrap();
        let group = FileGroup::create(all.path()).unwrap();
        group.write("a", b"1").unwrap();
        group.write("b", b"2").unwrap();
        assert!(!path("a").exists());
        drop(group);
        assert_eq!(fs::read(path("b")).unwrap(), b"old");
        assert_eq!(fs::read_dir(all.path()).unwrap().count(), 1);
        for (existing, is_kept) in [
            (Existing::ReplaceIf(|_| false), true),
            (Existing::ReplaceIf(|_| true), false),
            (Existing::Replace, false),
        ] {
            let group = FileGroup::create(all.path()).unwrap();
            group.write("a", b"1").unwrap();
            group.write("b", b"2").unwrap();
            assert_eq!(group.give_names(existing).is_err(), is_kept);
            assert_eq!(path("a").exists(), !is_kept);
        }
        assert_eq!(fs::read(path("b")).unwrap(), b"2");
        assert_eq!(fs::read_dir(all.path()).unwrap().count(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn files_of_a_group_replace_the_targets_of_links() {
        let all = tempfile::tempdir().unwrap();
        let path = |name: &str| all.path().join(name);
        fs::create_dir(path("elsewhere")).unwrap();
        fs::create_dir(path("group")).unwrap();
        std::os::unix::fs::symlink("../elsewhere/a", path("group/a")).unwrap();
        let group = FileGroup::create(&path("group")).unwrap();
        group.write("a", b"1").unwrap();
        group.give_names(Existing::Replace).unwrap();
        assert_eq!(fs::read(path("elsewhere/a")).unwrap(), b"1");
        assert!(fs::symlink_metadata(path("group/a")).unwrap().is_symlink());
    }
}
