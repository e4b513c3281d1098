//! Where the result goes: the name, the format and the type of numbers, checked before anything is
//! computed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use voxelize::format::{self, Carries, Dtype, Durability, Format, Sidecar};
use voxelize::{Error, Result};

use super::args::OutputArgs;
use super::errors;
use super::files;
use super::folders::Folders;
use super::job::Input;
use super::place::{self, FormatBy, Place};
use super::tell;
use super::typed::{JsonTarget, Typed};

/// Where the result goes.
#[derive(Clone)]
pub struct Output {
    /// The place.
    pub place: Place,
    /// The folder of `-o DIR/`, which is made with those below it when it is needed.
    pub folders: Option<Arc<Folders>>,
    /// The format.
    pub format: &'static Format,
    /// What decided the format.
    pub format_by: FormatBy,
    /// The type of numbers, if asked for.
    pub dtype: Option<Dtype>,
    /// Whether a sidecar was asked for.
    pub sidecar: Sidecar,
    /// What becomes of a file that is there already.
    pub existing: Existing,
    /// What the result outlasts.
    pub durability: Durability,
}

/// What becomes of a file that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It is replaced.
    Replace,
    /// It stays, and nothing is made.
    Skip,
}

impl Output {
    /// The output for these arguments; a place that cannot be written to is an error now.
    ///
    /// # Errors
    /// If the options contradict each other, or the place is not writable.
    pub fn resolve(
        args: &OutputArgs,
        input: &Input,
        json: Option<&JsonTarget>,
        typed: &Typed,
    ) -> Result<Self> {
        let (place, format, format_by) = match &args.output {
            None => place::implied(args, input)?,
            Some(path) if path.as_os_str() == "-" => place::piped(args, json, typed)?,
            Some(path) if place::is_folder(path) => {
                let output = Self::in_folder(path, args, typed)?.of(&place::stem(input)?);
                output.check_files(args, input, json)?;
                return Ok(output);
            }
            Some(path) => place::named(path, args, typed)?,
        };
        let output = Self::new(place, format, format_by, args);
        output.check_options(typed)?;
        output.check_files(args, input, json)?;
        Ok(output)
    }

    fn new(place: Place, format: &'static Format, format_by: FormatBy, args: &OutputArgs) -> Self {
        let sidecar = if args.sidecar { Sidecar::Write } else { Sidecar::Auto };
        let existing = if args.skip_existing { Existing::Skip } else { Existing::Replace };
        let durability = if args.no_sync { Durability::Unsynced } else { Durability::Synced };
        Self { place, folders: None, format, format_by, dtype: args.dtype, sidecar, existing, durability }
    }

    /// What outputs in this folder have in common; [`Output::of`] makes one of it.
    ///
    /// # Errors
    /// If the options contradict each other, or the folder cannot be written to.
    pub fn in_folder(folder: &Path, args: &OutputArgs, typed: &Typed) -> Result<Self> {
        let (format, format_by) = place::unnamed(args);
        let mut output = Self::new(Place::File(folder.to_path_buf()), format, format_by, args);
        output.check_options(typed)?;
        output.folders = Some(Arc::new(Folders::new(folder)?));
        Ok(output)
    }

    /// The output in that folder called `name`, which has no extension.
    pub fn of(&self, name: &Path) -> Self {
        let root = self.folders.as_ref().map_or(Path::new(""), |folders| folders.root());
        Self {
            place: Place::File(root.join(place::with_extension(name.as_os_str(), self.format))),
            ..self.clone()
        }
    }

    /// The file, if it is there already and stays as it is.
    pub fn kept(&self) -> Option<&Path> {
        match &self.place {
            Place::File(path) if self.existing == Existing::Skip && path.is_file() => Some(path),
            _ => None,
        }
    }

    /// What messages call it.
    pub fn name(&self) -> String {
        match &self.place {
            Place::Stdout => "standard output".to_string(),
            Place::File(path) => path.display().to_string(),
        }
    }

    /// The type of numbers in the file.
    pub fn dtype(&self) -> Option<Dtype> {
        self.dtype.or(self.format.dtypes.first().copied())
    }

    /// What is odd about the output but no error.
    pub fn warnings(&self) -> Option<String> {
        let Place::File(path) = &self.place else { return None };
        let other = format::by_path(path).filter(|other| other.name != self.format.name)?;
        Some(format!("{} is written as {}, not {}", path.display(), self.format.name, other.name))
    }

    /// The second file, where there will be one.
    pub fn sidecar_path(&self) -> Option<PathBuf> {
        let Place::File(path) = &self.place else { return None };
        let wanted = self.sidecar == Sidecar::Write || self.format.carries == Carries::Sidecar;
        let mut name = path.as_os_str().to_os_string();
        name.push(".json");
        wanted.then(|| name.into())
    }

    /// Options that the format or the place cannot follow.
    fn check_options(&self, typed: &Typed) -> Result<()> {
        let Format { name, dtypes, .. } = self.format;
        if let Some(dtype) = self.dtype.filter(|dtype| !dtypes.contains(dtype)) {
            let known: Vec<_> = dtypes.iter().map(|dtype| dtype.name()).collect();
            let option = typed.name("dtype");
            return Err(Error::usage(format!("{option} {}: {name} has no such numbers", dtype.name()))
                .with_hint(format!("{name} has {}", known.join(", "))));
        }
        if self.sidecar == Sidecar::Write && matches!(self.place, Place::Stdout) {
            let error = errors::exclusive("--sidecar", &typed.with_value("output").unwrap_or_default());
            return Err(error.with_hint("a sidecar lies beside a file: -o PATH"));
        }
        if self.existing == Existing::Skip && matches!(self.place, Place::Stdout) {
            let output = typed.with_value("output").unwrap_or_default();
            let error = errors::exclusive("--skip-existing", &output);
            return Err(error.with_hint("standard output is never there already: -o PATH"));
        }
        Ok(())
    }

    /// Files that would overwrite each other, or cannot be written.
    fn check_files(&self, args: &OutputArgs, input: &Input, json: Option<&JsonTarget>) -> Result<()> {
        let summary = match json {
            Some(JsonTarget::File(path)) => Some(path),
            _ => None,
        };
        let mut named: Vec<(&Path, &str)> = Vec::new();
        if let Some(path) = input.path() {
            named.push((path, "the mesh"));
        }
        let sidecar = self.sidecar_path();
        if let Place::File(path) = &self.place {
            // part.vox for part.vox: what is wrong is not its name.
            let voxels = || input.path().filter(|_| args.output.is_none()).and_then(files::holds_voxels);
            tell::refuse_same(path, &named).map_err(|e| voxels().unwrap_or(e))?;
            named.push((path, "the output"));
        }
        if let Some(sidecar) = &sidecar {
            tell::refuse_same(sidecar, &named)?;
            named.push((sidecar, "the sidecar of the output"));
        }
        if let Some(path) = summary {
            tell::check_json_file(path, &named)?;
        }
        let Place::File(path) = &self.place else { return Ok(()) };
        if self.kept().is_some() || self.folders.is_some() {
            return Ok(());
        }
        if args.output.is_none() && path.exists() && !format::made_by_this_tool(path) {
            return Err(Error::output("is there already, and does not say that this tool made it")
                .in_file(path)
                .with_hint(format!("-o {} replaces it, or name another file", path.display())));
        }
        format::probe_output(path)
    }
}
