//! Where the result goes: the name, the format and the type of numbers, checked before anything is
//! computed.

use std::ffi::OsStr;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use voxelize::format::{self, Carries, Dtype, Durability, FORMATS, Format, Sidecar};
use voxelize::{Error, Result};

use super::args::OutputArgs;
use super::errors;
use super::files;
use super::folders::Folders;
use super::job::Input;
use super::tell;
use super::typed::{JsonTarget, Typed};

/// The format of an output that nothing names.
const DEFAULT_FORMAT: &str = "vox";

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

/// A place to write to.
#[derive(Clone)]
pub enum Place {
    /// A pipe.
    Stdout,
    /// A file.
    File(PathBuf),
}

impl Place {
    /// Whether it is a named pipe or a device, where a write may block for ever.
    pub fn may_block(&self) -> bool {
        match self {
            Self::Stdout => false,
            Self::File(path) => path.metadata().is_ok_and(|found| !found.is_file()),
        }
    }
}

/// What decided the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormatBy {
    /// `-f`.
    Option,
    /// The extension of `-o`.
    Extension,
    /// Nothing: the default.
    Default,
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
            None => implied(args, input)?,
            Some(path) if path.as_os_str() == "-" => piped(args, json, typed)?,
            Some(path) if is_folder(path) => {
                let output = Self::in_folder(path, args, typed)?.of(&stem(input)?);
                output.check_files(args, input, json)?;
                return Ok(output);
            }
            Some(path) => named(path, args, typed)?,
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
        let (format, format_by) = unnamed(args);
        let mut output = Self::new(Place::File(folder.to_path_buf()), format, format_by, args);
        output.check_options(typed)?;
        output.folders = Some(Arc::new(Folders::new(folder)?));
        Ok(output)
    }

    /// The output in that folder called `name`, which has no extension.
    pub fn of(&self, name: &Path) -> Self {
        let root = self.folders.as_ref().map_or(Path::new(""), |folders| folders.root());
        Self { place: Place::File(root.join(with_extension(name.as_os_str(), self.format))), ..self.clone() }
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
    pub fn warnings(&self) -> Vec<String> {
        let Place::File(path) = &self.place else { return Vec::new() };
        match format::by_path(path) {
            Some(other) if other.name != self.format.name => {
                vec![format!("{} is written as {}, not {}", path.display(), self.format.name, other.name)]
            }
            _ => Vec::new(),
        }
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

/// Whether `-o` names a folder.
pub fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.to_string_lossy().ends_with(['/', std::path::MAIN_SEPARATOR])
}

/// `NAME.vox` in the working directory.
fn implied(args: &OutputArgs, input: &Input) -> Result<(Place, &'static Format, FormatBy)> {
    let (format, by) = unnamed(args);
    let name = with_extension(stem(input)?.as_os_str(), format);
    Ok((Place::File(name), format, by))
}

/// The format of an output whose name says nothing of it.
fn unnamed(args: &OutputArgs) -> (&'static Format, FormatBy) {
    let by = if args.format.is_some() { FormatBy::Option } else { FormatBy::Default };
    (args.format.or(format::by_name(DEFAULT_FORMAT)).unwrap_or(&FORMATS[0]), by)
}

/// The name of the mesh without its extension.
fn stem(input: &Input) -> Result<PathBuf> {
    match input {
        Input::File(mesh) => Ok(mesh.file_stem().unwrap_or_default().into()),
        Input::Stdin => Err(Error::usage("-: standard input has no name to call the output by")
            .with_hint("-o FILE names it, -o - is standard output")),
    }
}

/// `name.vox`, whatever else stands behind dots in it.
fn with_extension(name: &OsStr, format: &Format) -> PathBuf {
    let mut name = name.to_os_string();
    name.push(".");
    name.push(format.extensions.first().unwrap_or(&format.name));
    name.into()
}

/// Standard output.
fn piped(
    args: &OutputArgs,
    json: Option<&JsonTarget>,
    typed: &Typed,
) -> Result<(Place, &'static Format, FormatBy)> {
    let option = typed.with_value("output").unwrap_or_default();
    if json == Some(&JsonTarget::Stdout) {
        return Err(errors::exclusive("--json", &option)
            .with_hint("both would write to standard output; --json=FILE writes to a file"));
    }
    let format = args.format.ok_or_else(|| {
        Error::usage(format!("{option}: standard output has no extension to tell the format"))
            .with_hint(format!("-f FORMAT names it: {}", format_names()))
    })?;
    if std::io::stdout().is_terminal() {
        return Err(Error::usage(format!("{option}: standard output is a terminal"))
            .with_hint("redirect it: > FILE, | COMMAND, or -o FILE"));
    }
    Ok((Place::Stdout, format, FormatBy::Option))
}

/// The file that `-o` names.
fn named(path: &Path, args: &OutputArgs, typed: &Typed) -> Result<(Place, &'static Format, FormatBy)> {
    let option = typed.with_value("output").unwrap_or_default();
    if let Some(format) = args.format {
        return Ok((Place::File(path.to_path_buf()), format, FormatBy::Option));
    }
    let format = format::by_path(path).ok_or_else(|| {
        let why = match path.extension() {
            Some(extension) => format!("no voxel format has the extension .{}", extension.display()),
            None => "no extension tells the format".to_string(),
        };
        Error::usage(format!("{option}: {why}"))
            .with_hint(format!("formats are {}; -f FORMAT names one whatever the extension", format_names()))
    })?;
    Ok((Place::File(path.to_path_buf()), format, FormatBy::Extension))
}

fn format_names() -> String {
    FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ")
}
