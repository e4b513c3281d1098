//! The files of a store: making, checking and finishing them.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::bins::StoreBins;
use super::part::{ShardFile, StorePart};
use super::plan::StorePlan;
use super::{BINS, PLAN, bin_name, part_name};
use crate::open::failure as unreadable;
use crate::place::{failure, folder_of, sync_folder};
use crate::several::NewFolder;
use crate::zarr::write::{ShardFiles, write_arrays, write_shards};
use crate::zarr::{LAYOUT, NODE, json};
use crate::{Durability, Existing, SaveOptions};
use voxelize_core::error::{Code, Error, Result};
use voxelize_core::grid::{BytesHasher, CellSource, Hash};
use voxelize_core::par::{self, Progress};

/// The start of the names of files that are being written, which no reader of Zarr knows.
const UNFINISHED: &str = ".unfinished-";

/// How closely shards are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShardCheck {
    /// All bytes are hashed.
    Bytes,
    /// Not at all: they are somewhere else, and are checked there.
    Skipped,
}

/// What is there of a region.
#[derive(Debug, Clone, PartialEq)]
pub enum RegionState {
    /// Nothing: it has no part.
    Missing,
    /// The part of another plan, such as that of another mesh.
    Stale,
    /// Files that are not as they were made.
    Damaged(Vec<StoreFault>),
    /// All of it.
    Whole(StorePart),
}

impl RegionState {
    /// The part of a region that is whole.
    pub fn part(&self) -> Option<&StorePart> {
        if let Self::Whole(part) = self {
            Some(part)
        } else {
            None
        }
    }

    /// The word for it: `missing`, `stale`, `damaged` or `whole`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Stale => "stale",
            Self::Damaged(_) => "damaged",
            Self::Whole(_) => "whole",
        }
    }
}

/// A file of a store that is not as it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreFault {
    /// Its name in the store.
    pub name: String,
    /// The fault.
    pub fault: String,
}

/// The bins that a store is to have.
pub struct NewBins<'a> {
    /// The list, without bins.
    pub list: StoreBins,
    /// Writes the bytes of the bin of a region.
    pub write: &'a (dyn Fn(usize, &mut dyn io::Write) -> io::Result<()> + Sync),
}

impl NewBins<'_> {
    /// Writes all of them, and then their list.
    fn write_to(&self, files: &dyn ShardFiles, regions: usize) -> io::Result<()> {
        let bin = |region: usize| {
            let name = bin_name(region);
            let mut made = None;
            files.write(&name, &mut |out| {
                let mut hashed = Hashed {
                    out,
                    hasher: BytesHasher::default(),
                    bytes: 0,
                };
                (self.write)(region, &mut hashed)?;
                made = Some((hashed.bytes, hashed.hasher.finish()));
                Ok(())
            })?;
            let (bytes, hash) = made.ok_or_else(|| io::Error::other("a bin was not written"))?;
            Ok(ShardFile { name, bytes, hash })
        };
        let bins = par::map_range(0..regions, bin)
            .into_iter()
            .collect::<io::Result<_>>()?;
        let text = StoreBins {
            bins,
            ..self.list.clone()
        }
        .text();
        files.write(BINS, &mut |out| out.write_all(text.as_bytes()))
    }
}

/// Makes the folder of a store, with its plan, the nodes of its arrays and the bins that are wanted. An older folder of
/// the format is replaced.
///
/// # Errors
/// If it cannot be written, or is a folder with other files.
pub fn create(
    root: &Path,
    plan: &StorePlan,
    bins: Option<&NewBins>,
    durability: Durability,
) -> Result<()> {
    let folder = NewFolder::create(root, LAYOUT.place(root)?, durability)?;
    let write = || {
        let options = SaveOptions {
            choices: &plan.choices,
            ..SaveOptions::default()
        };
        write_arrays(
            &folder,
            plan.cell_type(),
            plan.dtype,
            &plan.levels(),
            &plan.shards(),
            &options,
        )?;
        bins.map_or(Ok(()), |bins| bins.write_to(&folder, plan.regions()))?;
        folder.write(PLAN, |out| out.write_all(plan.text().as_bytes()))
    };
    write().map_err(|error| failure(error).in_file(root))?;
    folder.persist(Existing::Replace)
}

/// Whether `root` is a folder with the node of a group, which is written last.
pub fn is_finished(root: &Path) -> bool {
    root.join(NODE).is_file()
}

/// Adds bins to a store, or makes them again.
///
/// # Errors
/// If a file cannot be written.
pub fn add_bins(
    root: &Path,
    plan: &StorePlan,
    bins: &NewBins,
    durability: Durability,
) -> Result<()> {
    let files = StoreFolder {
        root,
        durability,
        made: Mutex::default(),
    };
    bins.write_to(&files, plan.regions())
        .map_err(|error| failure(error).in_file(root))
}

/// A file of the bins that is not as it was written.
fn damaged_bin(path: &Path, fault: &str) -> Error {
    Error::input(Code::R005, format!("the bin {fault}")).in_file(path)
}

/// Reads the list of the bins of a store; `None` if it has none.
///
/// # Errors
/// If it cannot be read, is not as it was written, or is that of another plan.
pub fn read_bins(root: &Path, plan: &StorePlan, hash: Hash) -> Result<Option<StoreBins>> {
    let path = root.join(BINS);
    let damaged = |fault: &str| {
        Error::input(Code::R005, format!("the list of the bins {fault}")).in_file(&path)
    };
    let text = match fs::read(&path) {
        Ok(bytes) => bytes,
        // Bins without their list were there before.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return if folder_of(&path).is_dir() {
                Err(damaged("is missing"))
            } else {
                Ok(None)
            };
        }
        Err(error) => return Err(damaged(&format!("cannot be read: {error}"))),
    };
    let text = String::from_utf8(text).map_err(|_| "it is no text".to_string());
    let bins = text.and_then(|text| StoreBins::parse(&text));
    let bins = bins.map_err(|fault| damaged(&format!("is damaged: {fault}")))?;
    match bins.plan == hash && bins.bins.len() == plan.regions() {
        true => Ok(Some(bins)),
        false => Err(damaged("is that of another plan")),
    }
}

/// Reads the bin of a region, and gives its bytes to `take` as they come: what it made of them holds only if this does
/// not fail.
///
/// # Errors
/// If it is missing, has another length or other bytes than it was made of, or it was cancelled.
pub fn read_bin(
    root: &Path,
    bin: &ShardFile,
    progress: &dyn Progress,
    take: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let path = root.join(&bin.name);
    let cannot = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => damaged_bin(&path, "is missing"),
        _ => damaged_bin(&path, &format!("cannot be read: {error}")),
    };
    let mut file = File::open(&path).map_err(cannot)?;
    let length = file.metadata().map_err(cannot)?.len();
    if length != bin.bytes {
        return Err(damaged_bin(
            &path,
            &format!("has {length} bytes in place of {}", bin.bytes),
        ));
    }
    let mut hasher = BytesHasher::default();
    let mut buffer = vec![0; 256 << 10];
    let mut left = length;
    while left > 0 {
        progress.check()?;
        let some = buffer
            .len()
            .min(usize::try_from(left).unwrap_or(usize::MAX));
        file.read_exact(&mut buffer[..some]).map_err(cannot)?;
        hasher.write_all(&buffer[..some]).map_err(cannot)?;
        take(&buffer[..some])?;
        left -= some as u64;
    }
    match hasher.finish() == bin.hash {
        true => Ok(()),
        false => Err(damaged_bin(&path, "has other bytes than it was made of")),
    }
}

/// Reads the plan of a store; `None` if it has none.
///
/// # Errors
/// If it cannot be read, or is not as it was written.
pub fn read_plan(root: &Path) -> Result<Option<StorePlan>> {
    let path = root.join(PLAN);
    let text = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(unreadable(error).in_file(&path)),
    };
    let text = String::from_utf8(text).map_err(|_| "it is no text".to_string());
    let plan = text.and_then(|text| StorePlan::parse(&text));
    plan.map(Some).map_err(|fault| {
        Error::input(Code::V007, format!("the plan is damaged: {fault}"))
            .in_file(&path)
            .with_hint("make the plan again in a new folder")
    })
}

/// Looks at the part of a region and at its shards.
///
/// # Errors
/// If it was cancelled.
pub fn state(
    root: &Path,
    plan: &StorePlan,
    hash: Hash,
    region: usize,
    check: ShardCheck,
    progress: &dyn Progress,
) -> Result<RegionState> {
    let name = part_name(region);
    let damaged = |fault: String| {
        Ok(RegionState::Damaged(vec![StoreFault {
            name: name.clone(),
            fault,
        }]))
    };
    let text = match fs::read(root.join(&name)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(RegionState::Missing),
        Err(error) => return damaged(format!("cannot be read: {error}")),
    };
    let text = String::from_utf8(text).map_err(|_| "it is no text".to_string());
    let part = match text.and_then(|text| StorePart::parse(&text)) {
        Ok(part) => part,
        Err(fault) => return damaged(fault),
    };
    if part.plan != hash {
        return Ok(RegionState::Stale);
    }
    if part.region != region || part.layers.len() != plan.layers(region).len() {
        return damaged("it is the part of another region".into());
    }
    let mut faults = vec![];
    let mut listed = part.shards.iter().peekable();
    let mut names: Vec<_> = plan.layout(region).names().collect();
    names.sort();
    for name in names {
        progress.check()?;
        let shard = listed.next_if(|shard| shard.name == name);
        if check == ShardCheck::Skipped {
            continue;
        }
        if let Err(fault) = check_shard(&root.join(&name), shard) {
            faults.push(StoreFault { name, fault });
        }
    }
    if listed.next().is_some() {
        return damaged("it lists shards of another region".into());
    }
    Ok(if faults.is_empty() {
        RegionState::Whole(part)
    } else {
        RegionState::Damaged(faults)
    })
}

/// Whether a shard is as its part has it: absent, if it lists none.
fn check_shard(path: &Path, shard: Option<&ShardFile>) -> std::result::Result<(), String> {
    let cannot = |error: io::Error| format!("cannot be read: {error}");
    match (fs::symlink_metadata(path), shard) {
        (Err(error), None) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        (Err(error), Some(_)) if error.kind() == io::ErrorKind::NotFound => {
            Err("is missing".into())
        }
        (Err(error), _) => Err(cannot(error)),
        (Ok(_), None) => Err("is there, though all of its cells are empty".into()),
        (Ok(found), Some(_)) if !found.is_file() => Err("is no file".into()),
        (Ok(found), Some(shard)) if found.len() != shard.bytes => Err(format!(
            "has {} bytes in place of {}",
            found.len(),
            shard.bytes
        )),
        (Ok(_), Some(shard)) => {
            let mut hasher = BytesHasher::default();
            File::open(path)
                .and_then(|mut file| io::copy(&mut file, &mut hasher))
                .map_err(cannot)?;
            if hasher.finish() == shard.hash {
                Ok(())
            } else {
                Err("has other bytes than it was made of".into())
            }
        }
    }
}

/// Makes the shards of a region of the layers that `source` has, and then its part, which `part` makes of them.
///
/// # Errors
/// Those of the source; and if a file cannot be written. Then the region has no part.
pub fn make_region<S: CellSource>(
    root: &Path,
    plan: &StorePlan,
    region: usize,
    source: &mut S,
    options: &SaveOptions,
    part: impl FnOnce(&S, Vec<ShardFile>) -> StorePart,
) -> Result<StorePart> {
    let part_path = root.join(part_name(region));
    let failed = |error: io::Error| failure(error).in_file(root);
    remove(&part_path).map_err(failed)?;
    let files = StoreFolder {
        root,
        durability: options.durability,
        made: Mutex::default(),
    };
    let options = SaveOptions {
        choices: &plan.choices,
        ..*options
    };
    write_shards(source, &files, plan.dtype, &plan.layout(region), &options).map_err(failed)?;
    let mut shards = files
        .made
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    shards.sort();
    let part = part(source, shards);
    write_file(&part_path, options.durability, &mut |out| {
        out.write_all(part.text().as_bytes())
    })
    .map_err(failed)?;
    Ok(part)
}

/// Writes the node of the group, after which the store is whole, and removes what processes left that were killed.
///
/// # Errors
/// If it cannot be written.
pub fn finish(
    root: &Path,
    plan: &StorePlan,
    source: &dyn CellSource,
    durability: Durability,
) -> Result<()> {
    let text = json::group(source, plan.dtype, plan.levels().len());
    remove_unfinished(root);
    write_file(&root.join(NODE), durability, &mut |out| {
        out.write_all(text.as_bytes())
    })
    .map(drop)
    .map_err(|error| failure(error).in_file(root))
}

/// The folder of a store, in which each shard has its name as soon as it is whole.
struct StoreFolder<'a> {
    root: &'a Path,
    durability: Durability,
    made: Mutex<Vec<ShardFile>>,
}

impl ShardFiles for StoreFolder<'_> {
    fn write(
        &self,
        name: &str,
        write: &mut dyn FnMut(&mut dyn io::Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let (bytes, hash) = write_file(&self.root.join(name), self.durability, write)?;
        let shard = ShardFile {
            name: name.to_string(),
            bytes,
            hash,
        };
        self.made
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(shard);
        Ok(())
    }

    fn leave_out(&self, name: &str) -> io::Result<()> {
        remove(&self.root.join(name))
    }
}

/// Removes a file, if it is there.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error)
            if !matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Err(error)
        }
        _ => Ok(()),
    }
}

/// Writes a file under a name of its own and renames it when it is whole and on the disk; its length and hash.
///
/// Other machines may write to the same folders, whose processes and locks this one does not see: nothing of theirs is
/// removed here.
fn write_file(
    path: &Path,
    durability: Durability,
    write: &mut dyn FnMut(&mut dyn io::Write) -> io::Result<()>,
) -> io::Result<(u64, Hash)> {
    let folder = folder_of(path);
    fs::create_dir_all(folder)?;
    let mut file = crate::place::unswept(folder, UNFINISHED)?;
    let mut out = BufWriter::with_capacity(
        256 << 10,
        Hashed {
            out: file.as_file_mut(),
            hasher: BytesHasher::default(),
            bytes: 0,
        },
    );
    write(&mut out)?;
    let Hashed { hasher, bytes, .. } = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    let hash = hasher.finish();
    if durability == Durability::Synced {
        file.as_file().sync_all()?;
    }
    file.persist(path).map_err(|error| error.error)?;
    if durability == Durability::Synced {
        sync_folder(folder);
    }
    Ok((bytes, hash))
}

/// A file whose bytes are hashed as they are written.
struct Hashed<W> {
    out: W,
    hasher: BytesHasher,
    bytes: u64,
}

impl<W: io::Write> io::Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written as u64;
        self.hasher.write_all(&bytes[..written])?;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Removes the files below `root` that are not whole.
fn remove_unfinished(root: &Path) {
    let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in entries(&folder) {
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if kind.is_dir() {
                folders.push(entry.path());
            } else if entry
                .file_name()
                .to_str()
                .is_some_and(|name| name.starts_with(UNFINISHED))
            {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}
