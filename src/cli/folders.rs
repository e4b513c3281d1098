//! Folders for outputs: made when the first file goes there, and taken away again if none came.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use voxelize::{Error, Result, format};

/// The folder of `-o DIR/`, and what was made below it.
pub struct Folders {
    root: PathBuf,
    /// What was not there before, the outer ones first.
    made: Mutex<Vec<PathBuf>>,
}

impl Folders {
    /// A folder, made now if it is not there, so that what stands in the way is found before the work.
    ///
    /// # Errors
    /// If it cannot be made, or takes no files.
    pub fn new(root: &Path) -> Result<Self> {
        // Without the / at its end, behind which a file is not seen.
        let folders = Self { root: root.components().collect(), made: Mutex::default() };
        let probe = folders.root.join(".voxelize-probe");
        folders.make_for(&probe).and_then(|()| format::probe_output(&probe)).map_err(|error| {
            let error = Error::output(error.message()).in_file(root);
            error.with_hint("-o DIR/ names another folder")
        })?;
        Ok(folders)
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Makes the folder of `file`, and those it is in.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn make_for(&self, file: &Path) -> Result<()> {
        let Some(folder) = file.parent().filter(|folder| !folder.is_dir()) else { return Ok(()) };
        let missing: Vec<_> =
            folder.ancestors().take_while(|f| !f.as_os_str().is_empty() && !f.is_dir()).collect();
        for folder in missing.into_iter().rev() {
            match fs::create_dir(folder) {
                Ok(()) => self.made.lock().unwrap_or_else(|e| e.into_inner()).push(folder.to_path_buf()),
                // Another job was quicker.
                Err(e) if e.kind() == ErrorKind::AlreadyExists && folder.is_dir() => {}
                Err(e) => {
                    return Err(
                        Error::output(format!("is no folder, and cannot be made: {e}")).in_file(folder)
                    );
                }
            }
        }
        Ok(())
    }
}

impl Drop for Folders {
    fn drop(&mut self) {
        let made = self.made.get_mut().unwrap_or_else(|e| e.into_inner());
        for folder in made.iter().rev() {
            // The system removes only what is empty.
            let _ = fs::remove_dir(folder);
        }
    }
}
