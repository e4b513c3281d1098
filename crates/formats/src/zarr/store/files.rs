//! Creates, checks and completes the files of a store.

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

/// Prefix of the names of incomplete files. Readers of Zarr ignore files with such names.
const UNFINISHED: &str = ".unfinished-";

/// How thoroughly shards are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShardCheck {
    /// All bytes of a shard are hashed.
    Bytes,
    /// Shards are not checked, because they are stored and checked elsewhere.
    Skipped,
}

/// State of a region.
#[derive(Debug, Clone, PartialEq)]
pub enum RegionState {
    /// The region has no part file.
    Missing,
    /// The part file belongs to another plan, such as a plan for another mesh.
    Stale,
    /// Some files of the region differ from what was written.
    Damaged(Vec<StoreFault>),
    /// The region is complete.
    Whole(StorePart),
}

impl RegionState {
    /// Returns the content of the part file. `None` unless the region is complete.
    pub fn part(&self) -> Option<&StorePart> {
        match self {
            Self::Whole(part) => Some(part),
            _ => None,
        }
    }

    /// Returns the name of the state: `missing`, `stale`, `damaged` or `whole`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Stale => "stale",
            Self::Damaged(_) => "damaged",
            Self::Whole(_) => "whole",
        }
    }
}

/// File of a store that differs from what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreFault {
    /// Name of the file in the store.
    pub name: String,
    /// Description of the fault.
    pub fault: String,
}

/// Bins that are to be written to a store.
pub struct NewBins<'a> {
    /// List of the bins. Its entries are added when the bins are written.
    pub list: StoreBins,
    /// Writes the content of a region's bin.
    pub write: &'a (dyn Fn(usize, &mut dyn io::Write) -> io::Result<()> + Sync),
}

impl NewBins<'_> {
    /// Writes all bins and then the list of the bins.
    fn write_to(&self, files: &dyn ShardFiles, regions: usize) -> io::Result<()> {
        let mut bins = Vec::new();
        for bin in par::map_range(0..regions, |region| self.write_bin(files, region)) {
            bins.push(bin?);
        }
        let text = StoreBins {
            bins,
            ..self.list.clone()
        }
        .text();
        files.write(BINS, &mut |out| out.write_all(text.as_bytes()))
    }

    fn write_bin(&self, files: &dyn ShardFiles, region: usize) -> io::Result<ShardFile> {
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
    }
}

/// Creates the folder of a store with its plan and the nodes of its arrays. Also writes `bins` if they are
/// given. An existing Zarr folder is replaced.
///
/// # Errors
/// Fails if the folder cannot be written, or if it exists and contains files of other kinds.
pub fn create(
    root: &Path,
    plan: &StorePlan,
    bins: Option<&NewBins>,
    durability: Durability,
) -> Result<()> {
    let folder = NewFolder::create(root, LAYOUT.place(root)?, durability)?;
    write_store(&folder, plan, bins).map_err(|error| failure(error).in_file(root))?;
    folder.persist(Existing::Replace)
}

fn write_store(folder: &NewFolder, plan: &StorePlan, bins: Option<&NewBins>) -> io::Result<()> {
    let options = SaveOptions {
        choices: &plan.choices,
        ..SaveOptions::default()
    };
    write_arrays(
        folder,
        plan.cell_type(),
        plan.dtype,
        &plan.levels(),
        &plan.shards(),
        &options,
    )?;
    if let Some(bins) = bins {
        bins.write_to(folder, plan.regions())?;
    }
    folder.write(PLAN, |out| out.write_all(plan.text().as_bytes()))
}

/// Returns `true` if the folder `root` has the node of the group. This node is written last.
pub fn is_finished(root: &Path) -> bool {
    root.join(NODE).is_file()
}

/// Writes bins to an existing store. Existing bins are replaced.
///
/// # Errors
/// Fails if a file cannot be written.
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

/// Returns the error for a bin that differs from what was written.
fn damaged_bin(path: &Path, fault: &str) -> Error {
    Error::input(Code::R005, format!("the bin {fault}")).in_file(path)
}

/// Returns the error for a list of bins that differs from what was written.
fn damaged_list(path: &Path, fault: &str) -> Error {
    Error::input(Code::R005, format!("the list of the bins {fault}")).in_file(path)
}

/// Reads the list of bins of a store. `None` if the store has no bins.
///
/// # Errors
/// Fails if the list cannot be read, differs from what was written, or belongs to another plan.
pub fn read_bins(root: &Path, plan: &StorePlan, hash: Hash) -> Result<Option<StoreBins>> {
    let path = root.join(BINS);
    let text = match fs::read(&path) {
        Ok(bytes) => bytes,
        // If the folder of the bins does not exist, the store never had bins.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return if folder_of(&path).is_dir() {
                Err(damaged_list(&path, "is missing"))
            } else {
                Ok(None)
            };
        }
        Err(error) => return Err(damaged_list(&path, &format!("cannot be read: {error}"))),
    };
    let text = String::from_utf8(text).map_err(|_| "it is not text".to_string());
    let bins = text.and_then(|text| StoreBins::parse(&text));
    let bins = bins.map_err(|fault| damaged_list(&path, &format!("is damaged: {fault}")))?;
    if bins.plan != hash || bins.bins.len() != plan.regions() {
        return Err(damaged_list(&path, "belongs to another plan"));
    }
    Ok(Some(bins))
}

/// Reads the bin of a region and passes its bytes to `take` in pieces. The result of `take` is valid only if
/// this function succeeds, because the hash is checked at the end.
///
/// # Errors
/// Fails if the bin is missing, if its length or its bytes differ from what was written, or if reading was
/// cancelled.
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
            &format!("has {length} bytes instead of {}", bin.bytes),
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
    if hasher.finish() != bin.hash {
        return Err(damaged_bin(
            &path,
            "has other bytes than when it was written",
        ));
    }
    Ok(())
}

/// Reads the plan of a store. `None` if `root` is not a store with a plan.
///
/// # Errors
/// Fails if the plan cannot be read, or if it differs from what was written.
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
    let text = String::from_utf8(text).map_err(|_| "it is not text".to_string());
    let plan = text.and_then(|text| StorePlan::parse(&text));
    plan.map(Some).map_err(|fault| {
        Error::input(Code::V007, format!("the plan is damaged: {fault}"))
            .in_file(&path)
            .with_hint("make the plan again in a new folder")
    })
}

/// Checks the part file of a region and the region's shards, and returns the state of the region.
///
/// # Errors
/// Fails if the check was cancelled.
pub fn state(
    root: &Path,
    plan: &StorePlan,
    hash: Hash,
    region: usize,
    check: ShardCheck,
    progress: &dyn Progress,
) -> Result<RegionState> {
    let name = part_name(region);
    let text = match fs::read(root.join(&name)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(RegionState::Missing),
        Err(error) => return Ok(damaged_part(&name, format!("cannot be read: {error}"))),
    };
    let text = String::from_utf8(text).map_err(|_| "it is not text".to_string());
    let part = match text.and_then(|text| StorePart::parse(&text)) {
        Ok(part) => part,
        Err(fault) => return Ok(damaged_part(&name, fault)),
    };
    if part.plan != hash {
        return Ok(RegionState::Stale);
    }
    if part.region != region || part.layers.len() != plan.layers(region).len() {
        return Ok(damaged_part(&name, "it is the record of another region"));
    }
    let mut faults = vec![];
    let mut listed = part.shards.iter().peekable();
    let mut names: Vec<_> = plan.layout(region).names().collect();
    names.sort();
    for shard_name in names {
        progress.check()?;
        let shard = listed.next_if(|shard| shard.name == shard_name);
        if check == ShardCheck::Skipped {
            continue;
        }
        if let Err(fault) = check_shard(&root.join(&shard_name), shard) {
            faults.push(StoreFault {
                name: shard_name,
                fault,
            });
        }
    }
    if listed.next().is_some() {
        return Ok(damaged_part(&name, "it lists shards of another region"));
    }
    Ok(if faults.is_empty() {
        RegionState::Whole(part)
    } else {
        RegionState::Damaged(faults)
    })
}

fn damaged_part(name: &str, fault: impl Into<String>) -> RegionState {
    RegionState::Damaged(vec![StoreFault {
        name: name.to_string(),
        fault: fault.into(),
    }])
}

/// Checks that a shard agrees with its entry in the part file. A shard without an entry must not exist.
fn check_shard(path: &Path, shard: Option<&ShardFile>) -> std::result::Result<(), String> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return match shard {
                Some(_) => Err("is missing".into()),
                None => Ok(()),
            };
        }
        Err(error) => return Err(format!("cannot be read: {error}")),
    };
    let Some(shard) = shard else {
        return Err("exists, although all of its cells are empty".into());
    };
    if !found.is_file() {
        return Err("is not a file".into());
    }
    if found.len() != shard.bytes {
        return Err(format!(
            "has {} bytes instead of {}",
            found.len(),
            shard.bytes
        ));
    }
    let mut hasher = BytesHasher::default();
    File::open(path)
        .and_then(|mut file| io::copy(&mut file, &mut hasher))
        .map_err(|error| format!("cannot be read: {error}"))?;
    if hasher.finish() != shard.hash {
        return Err("has other bytes than when it was written".into());
    }
    Ok(())
}

/// Writes the shards of a region from the layers of `source`. Then writes its part file, the record that the
/// region is complete. `part` creates the record from the shards.
///
/// # Errors
/// Returns the errors of the source and of writing. After an error the region has no part file and counts as
/// missing.
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

/// Completes the store by writing the node of the group. Also removes incomplete files of processes that were
/// killed.
///
/// # Errors
/// Fails if the node cannot be written.
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
    .map_err(|error| failure(error).in_file(root))?;
    Ok(())
}

/// Folder of a store. Each shard gets its final name as soon as it is complete.
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

/// Removes a file. It is no error if the file does not exist.
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

/// Writes a file under a temporary name. It is renamed when it is complete and synced. Returns its length and
/// its hash.
///
/// No other temporary files are removed here. They may belong to other machines, whose processes and locks
/// cannot be seen from this machine.
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

/// Writer that hashes the bytes passed through it.
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

/// Removes incomplete files in `root` and its subfolders.
fn remove_unfinished(root: &Path) {
    let mut folders: Vec<PathBuf> = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
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
