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
    /// A folder that may not be there yet; that it can be made is found out now.
    ///
    /// # Errors
    /// If it cannot.
    pub fn new(root: &Path) -> Result<Self> {
        let is_there = root.ancestors().find(|folder| folder.as_os_str().is_empty() || folder.exists());
        let is_there = is_there.filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !is_there.is_dir() {
            return Err(Error::output(format!("cannot be made: {} is no folder", is_there.display()))
                .in_file(root)
                .with_hint("-o DIR/ names another"));
        }
        format::probe_output(&is_there.join(".voxelize-probe"))
            .map_err(|e| Error::output(e.message()).in_file(root).with_hint("-o DIR/ names another"))?;
        Ok(Self { root: root.to_path_buf(), made: Mutex::default() })
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
                Err(e) => return Err(Error::output(format!("cannot be made: {e}")).in_file(folder)),
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
