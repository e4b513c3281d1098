//! Output of a run: its file, format and number type. All of them are checked before anything is computed.

use std::ffi::OsStr;
use std::io::IsTerminal;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::sync::Arc;

use voxelize::format::{
    self, Choice, Dtype, Durability, Existing, FORMATS, Format, GridStack, OutputShape,
    PendingNames, SaveOptions, Sidecar, Written,
};
use voxelize::grid::{CellKind, CellSource};
use voxelize::job::{Target, UpAxis};
use voxelize::{Error, Lattice, Progress, Record, Result, tool};

use super::args::values::CellValues;
use super::args::{OutputArgs, givers, prefixed};
use super::argv::{Argv, exclusive};
use super::command::Call;
use super::files::{self, Destination, MadeFolders, MeshSource};
use super::names::{Names, OutputFile};
use super::suggest;

/// Format if no extension and no option decides it.
const DEFAULT_FORMAT: &str = "vox";

/// Format of a field if no extension and no option decides it.
const FIELD_FORMAT: &str = "npz";

/// Destination and format of the cells of a run.
#[derive(Clone)]
pub struct Output {
    pub file: OutputFile,
    /// Folder of `-o DIR/`. The folder and its subfolders are created when they are needed.
    pub folder: Option<Arc<OutputFolder>>,
    pub format: &'static Format,
    pub format_by: FormatBy,
    kind: CellKind,
    /// Requested number type.
    dtype: Option<Dtype>,
    /// Requested variants of the format.
    choices: Vec<Choice>,
    /// Requested numbers for empty cells and for labels.
    values: Vec<i16>,
    /// Requested width and height of the pictures of layers.
    plate: Option<[usize; 2]>,
    pub sidecar: Sidecar,
    skips_existing: bool,
    durability: Durability,
    /// Position of this mesh in the array of all meshes. `None` without `--stack`.
    pub stack: Option<StackPlace>,
    /// Collects finished files until all of them can be renamed. `None` if each file is renamed at once.
    later: Option<Arc<PendingNames>>,
    /// The user named the output with `-o`.
    is_named: bool,
    /// The name of the file is derived from the name of the output, because it is one of several levels of detail.
    is_level: bool,
}

/// What decided the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormatBy {
    Option,
    Extension,
    Default,
}

/// Position of a mesh in the array of all meshes.
#[derive(Clone)]
pub struct StackPlace {
    pub stack: Arc<GridStack>,
    number: usize,
    name: String,
}

/// Folder of `-o DIR/`.
pub struct OutputFolder {
    pub root: PathBuf,
    pub made: MadeFolders,
}

impl OutputFolder {
    /// Creates the folder before the work begins, so that obstacles are found early.
    fn new(root: &Path) -> Result<Self> {
        // Rebuilding the path from its components drops a final slash, which would hide that a file with this
        // name exists.
        let folder = Self {
            root: root.components().collect(),
            made: MadeFolders::default(),
        };
        let probe = folder.root.join(".voxelize-probe");
        let made = folder
            .made
            .make_for(&probe)
            .and_then(|()| tool::probe_output(&probe, None));
        made.map_err(|error| {
            let error = Error::output(error.message()).in_file(root);
            error.with_hint("-o DIR/ names another folder")
        })?;
        Ok(folder)
    }
}

/// Returns `true` if `-o` names a folder for several outputs. A path with the extension of a folder format,
/// such as `.zarr`, names a single output.
pub fn is_folder(path: &Path) -> bool {
    let is_output = format::by_path(path).is_some_and(Format::is_folder);
    (path.is_dir() || path.to_string_lossy().ends_with(['/', MAIN_SEPARATOR])) && !is_output
}

/// Checks that data can be written to standard output: it is not a terminal, and the JSON does not go there.
pub fn check_stdout(call: &Call, example: &str) -> Result<()> {
    let option = typed(call.argv, "-");
    if call.printer.options.json == Some(Destination::Stdout) {
        return Err(exclusive("--json", &option)
            .with_hint("both would write to standard output; --json=FILE writes to a file"));
    }
    if std::io::stdout().is_terminal() {
        return Err(
            Error::usage(format!("{option}: standard output is a terminal")).with_hint(format!(
                "redirect it: > {example}, | COMMAND, or -o {example}"
            )),
        );
    }
    Ok(())
}

impl Output {
    /// Returns the target for which the memory plan is made.
    pub fn target(&self) -> Target<'_> {
        let path = if self.file.is_stdout() {
            None
        } else {
            Some(self.file.path())
        };
        Target {
            format: self.format,
            path,
            dtype: self.dtype(),
            choices: &self.choices,
        }
    }

    /// Creates the output that the arguments request and registers its files.
    pub fn new(
        args: &OutputArgs,
        kind: CellKind,
        source: &MeshSource,
        call: &Call,
    ) -> Result<Self> {
        let output = Self::unregistered(args, kind, source, call)?;
        let is_named = output.is_named;
        output
            .registered(&call.names)
            .map_err(|error| match source.path() {
                // Without `-o`, the output for `part.vox` would be `part.vox` itself. The more useful message
                // is that `part.vox` is not a mesh.
                Some(path) if !is_named => files::holds_voxels(path).unwrap_or(error),
                _ => error,
            })
    }

    /// Creates the output without registering its files.
    pub fn unregistered(
        args: &OutputArgs,
        kind: CellKind,
        source: &MeshSource,
        call: &Call,
    ) -> Result<Self> {
        let argv = call.argv;
        let by_default = by_default(args, kind);
        let (path, (format, by)) = match &args.output {
            None => (
                files::with_suffix(source.stem()?, extension(by_default.0)),
                by_default,
            ),
            Some(path) if path.as_os_str() == "-" => {
                check_stdout(call, "FILE")?;
                (path.clone(), for_stdout(args, argv)?)
            }
            Some(path) if is_folder(path) => {
                let output = Self::in_folder(path, args, kind, argv)?;
                return Ok(output.named(Path::new(&source.stem()?)));
            }
            Some(path) => (path.clone(), by_name(path, args, argv)?),
        };
        let output = Self::from_parts(&path, kind, format, by, args);
        output.check_options(argv)?;
        Ok(output)
    }

    fn from_parts(
        path: &Path,
        kind: CellKind,
        format: &'static Format,
        by: FormatBy,
        args: &OutputArgs,
    ) -> Self {
        Self {
            file: output_file(path, format, kind),
            folder: None,
            format,
            format_by: by,
            kind,
            dtype: args.file.dtype,
            choices: args.file.choices.0.clone(),
            values: args
                .file
                .values
                .clone()
                .map_or(vec![], |CellValues(values)| values),
            plate: args.file.size,
            sidecar: if args.file.sidecar {
                Sidecar::Write
            } else {
                Sidecar::Auto
            },
            skips_existing: args.skip_existing,
            durability: if args.file.no_sync {
                Durability::Unsynced
            } else {
                Durability::Synced
            },
            stack: None,
            later: None,
            is_named: args.output.is_some(),
            is_level: false,
        }
    }

    /// Keeps the temporary names of finished files until [`Output::give_names`] is called, so that several
    /// outputs can be synced in parallel.
    #[must_use]
    pub fn named_later(self) -> Self {
        let later = if self.durability == Durability::Synced {
            Some(Arc::default())
        } else {
            None
        };
        Self { later, ..self }
    }

    /// Renames the files that still have temporary names.
    pub fn give_names(&mut self, progress: &dyn Progress) -> Result<()> {
        match self.later.take().and_then(Arc::into_inner) {
            Some(saved) => self.file.written_by(|| saved.give(progress)),
            None => Ok(()),
        }
    }

    /// Creates the settings that all outputs in a folder share. [`Output::named`] adds the name of one
    /// output.
    pub fn in_folder(
        folder: &Path,
        args: &OutputArgs,
        kind: CellKind,
        argv: &Argv,
    ) -> Result<Self> {
        let (format, by) = by_default(args, kind);
        let mut output = Self::from_parts(folder, kind, format, by, args);
        output.check_options(argv)?;
        output.folder = Some(Arc::new(OutputFolder::new(folder)?));
        Ok(output)
    }

    /// Creates the array of all meshes. [`Output::stacked_at`] sets the position of one mesh.
    pub fn stacked(args: &OutputArgs, kind: CellKind, call: &Call) -> Result<Self> {
        let argv = call.argv;
        let Some(path) = args
            .output
            .as_ref()
            .filter(|path| path.as_os_str() != "-" && !is_folder(path))
        else {
            return Err(Error::usage("--stack needs a file").with_hint("-o FILE.npz names it"));
        };
        let (format, by) = by_name(path, args, argv)?;
        let is_other = ["dtype", "values", "size", "sidecar"]
            .into_iter()
            .find(|option| argv.with_value(option).is_some());
        if let Some(option) = is_other {
            return Err(
                exclusive(&format!("--{option}"), "--stack").with_hint("use only one of them")
            );
        }
        if format.name != "npz"
            || args
                .file
                .choices
                .0
                .iter()
                .any(|choice| *choice != Choice::Zyx)
        {
            let error = Error::usage(format!(
                "--stack: {} is not an .npz of whole grids",
                path.display()
            ));
            return Err(error.with_hint("-o FILE.npz, with --order zyx for voxels[n,z,y,x]"));
        }
        let mut output = Self::from_parts(path, kind, format, by, args);
        output.check_options(argv)?;
        output.stack = Some(StackPlace {
            stack: Arc::default(),
            number: 0,
            name: String::new(),
        });
        output.registered(&call.names)
    }

    /// Returns the output of mesh `number` in the array of all meshes.
    pub fn stacked_at(&self, number: usize, name: String) -> Self {
        let stack = self.stack.as_ref().map(|place| StackPlace {
            number,
            name,
            ..place.clone()
        });
        Self {
            stack,
            ..self.clone()
        }
    }

    /// Returns the output `name` in the folder. `name` has no extension.
    pub fn named(&self, name: &Path) -> Self {
        let root = self
            .folder
            .as_ref()
            .map_or(Path::new(""), |folder| &folder.root);
        let path = root.join(files::with_suffix(name, extension(self.format)));
        Self {
            file: output_file(&path, self.format, self.kind),
            ..self.clone()
        }
    }

    /// Returns the output of a level of detail, which has its number of cells before the extension:
    /// `hero-64.vox`.
    pub fn at_level(&self, longest: usize) -> Self {
        let path = numbered(self.file.path(), self.format, longest);
        Self {
            file: output_file(&path, self.format, self.kind),
            is_level: true,
            ..self.clone()
        }
    }

    /// Returns the path if an existing file is kept and the run is therefore skipped.
    pub fn kept(&self) -> Option<&Path> {
        let path = self.file.path();
        let exists = path.is_file() || self.format.is_folder() && path.is_dir();
        if self.skips_existing && exists {
            Some(path)
        } else {
            None
        }
    }

    /// Returns `true` if existing files are kept.
    pub fn skips_existing(&self) -> bool {
        self.skips_existing
    }

    pub fn name(&self) -> String {
        self.file.name()
    }

    /// Returns the number type that the user requested.
    pub fn requested_dtype(&self) -> Option<Dtype> {
        self.dtype
    }

    /// Returns the number type of the file: the requested type, or the default of the format.
    pub fn dtype(&self) -> Option<Dtype> {
        if self.kind == CellKind::Field && self.format.has_greys() {
            return Some(Dtype::U8);
        }
        self.dtype
            .or(self.format.dtypes_of(self.kind).first().copied())
    }

    /// Returns `true` if the file has a separate number for each label.
    pub fn keeps_labels(&self) -> bool {
        matches!(self.dtype(), Some(Dtype::U8 | Dtype::I8)) && self.values.len() != 2
    }

    pub fn save_options<'a>(&'a self, progress: &'a dyn Progress) -> SaveOptions<'a> {
        let Self {
            dtype,
            plate,
            sidecar,
            durability,
            ..
        } = *self;
        let Self {
            choices, values, ..
        } = self;
        let later = self.later.as_deref();
        SaveOptions {
            dtype,
            choices,
            values,
            plate,
            sidecar,
            durability,
            later,
            progress,
            ..SaveOptions::default()
        }
    }

    /// Writes the cells to their destination.
    pub fn write(
        &self,
        source: &mut dyn CellSource,
        progress: &dyn Progress,
    ) -> Result<Vec<Written>> {
        let options = self.save_options(progress);
        let format = self.format;
        if let Some(place) = &self.stack {
            let bytes = place
                .stack
                .add(place.number, &place.name, source, &options)?;
            return Ok(vec![Written {
                path: self.name().into(),
                format: format.name,
                bytes,
            }]);
        }
        if let Some(folder) = &self.folder {
            folder.made.make_for(self.file.path())?;
        }
        self.file.save_source(source, format, &options)
    }

    /// Fails if the format cannot hold the cells, or if files next to the output would be overwritten.
    pub fn check_lattice(&self, kind: CellKind, lattice: &Lattice, up: UpAxis) -> Result<()> {
        format::check(kind, lattice, self.format, &self.save_options(&()))
            .map_err(|e| e.in_file(self.name()))?;
        self.check_shown(lattice, up)?;
        let is_y_up = up == UpAxis::Y;
        let shape = OutputShape {
            kind,
            dims: lattice.dims(),
            is_y_up,
            choices: &self.choices,
        };
        self.file.check_companions(self.format, &shape)
    }

    /// Fails if a field would be rounded to bytes, unless its values are shares of cells. `record` names the
    /// rule of the field.
    pub fn check_rounding(&self, record: &Record) -> Result<()> {
        if self.kind != CellKind::Field || self.dtype() != Some(Dtype::U8) {
            return Ok(());
        }
        let checked = self.format.check_shares(record);
        checked.map_err(|error| match self.dtype {
            Some(_) => prefixed("--dtype u8: ", &error),
            None => error.in_file(self.name()),
        })
    }

    /// Returns an upper bound, in bytes, for the compressed pixels around the cells on the plate.
    pub fn plate_bytes(&self, dims: [usize; 3]) -> u64 {
        self.format.plate_bytes(dims, self.plate)
    }

    /// Returns the path of the sidecar. `None` if no sidecar will be written.
    pub fn sidecar_path(&self) -> Option<PathBuf> {
        self.file.sidecar_path(self.sidecar)
    }

    /// Fails if programs would not show the grid completely, unless the user requested the format.
    fn check_shown(&self, lattice: &Lattice, up: UpAxis) -> Result<()> {
        match self.target().limits(lattice, up).first() {
            Some(limit) if self.format_by == FormatBy::Default => {
                Err(Error::too_large(limit.first.message()).in_file(self.name()).with_hint(
                    "-f npy has no such limit; --vox-split writes several files; -o NAME.vox writes one file anyway",
                ))
            }
            _ => Ok(()),
        }
    }

    /// Fails if an option does not apply to the format or the destination.
    fn check_options(&self, argv: &Argv) -> Result<()> {
        let Format { name, dtypes, .. } = self.format;
        let is_grey = self.kind == CellKind::Field && self.format.has_greys();
        if !is_grey && !self.format.holds_with(self.kind, &self.choices) {
            let option = argv
                .with_value("format")
                .unwrap_or_else(|| typed(argv, &self.name()));
            let known: Vec<_> = FORMATS
                .iter()
                .filter(|f| f.holds(self.kind))
                .map(|f| f.name)
                .collect();
            let kind = self.kind.plural();
            let known = known.join(", ");
            let iso = if argv.command().is_none() {
                "; --iso V turns distances into cells"
            } else {
                ""
            };
            return Err(
                Error::usage(format!("{option}: {name} cannot store {kind}"))
                    .with_hint(format!("formats that can store {kind}: {known}{iso}")),
            );
        }
        if let (CellKind::Field, Some(dtype)) = (self.kind, self.dtype) {
            if dtype != Dtype::U8 {
                return Err(Error::usage(format!(
                    "--dtype {}: a field is written as f32",
                    dtype.name()
                ))
                .with_hint("omit --dtype; u8 is only for the rule fraction"));
            }
            if !is_grey && !self.format.has_bytes_of_shares() {
                let known = Format::names_with_bytes_of_shares().join(", ");
                return Err(
                    Error::usage(format!("--dtype u8: {name} stores fields as f32"))
                        .with_hint(format!("formats that can store fractions as u8: {known}")),
                );
            }
        }
        if let Some(dtype) = self.dtype.filter(|dtype| !dtypes.contains(dtype)) {
            let known: Vec<_> = dtypes.iter().map(|dtype| dtype.name()).collect();
            return Err(Error::usage(format!(
                "--dtype {}: {name} cannot store this type",
                dtype.name()
            ))
            .with_hint(format!("{name} can store {}", known.join(", "))));
        }
        if let Some(dtype) = self.dtype() {
            let checked = self.format.check_values(dtype, &self.values);
            checked.map_err(|error| prefixed("--values: ", &error))?;
        }
        if let Some(other) = self
            .choices
            .iter()
            .find(|choice| !self.format.choices.contains(choice))
        {
            let option = argv.with_value(other.option()).unwrap_or_default();
            return Err(
                Error::usage(format!("{}: {name} has no such choice", option.trim_end()))
                    .with_hint(format!("it is one of {}", givers(*other))),
            );
        }
        if self.plate.is_some() && !self.format.has_plate() {
            let option = argv.with_value("size").unwrap_or_default();
            return Err(
                Error::usage(format!("{option}: {name} has no pictures")).with_hint(
                    "-o NAME.slices and -o NAME.slices.zip have; 'voxelize view' draws others",
                ),
            );
        }
        if !self.file.is_stdout() {
            return Ok(());
        }
        let (option, hint) = if self.choices.contains(&Choice::VoxSplit) {
            ("--vox-split", "several files need an output file: -o PATH")
        } else if self.sidecar == Sidecar::Write {
            ("--sidecar", "a sidecar needs an output file: -o PATH")
        } else if self.skips_existing {
            ("--skip-existing", "it needs an output file: -o PATH")
        } else {
            return Ok(());
        };
        Err(exclusive(option, &typed(argv, "-")).with_hint(hint))
    }

    /// Registers the file and its sidecar in `names`. A file that is kept is not registered.
    pub fn registered(mut self, names: &Names) -> Result<Self> {
        if self.kept().is_some() {
            return Ok(self);
        }
        let mut file = self.file;
        if self.folder.is_some() {
            file = file.in_made_folder();
        }
        if self.skips_existing {
            file = file.existing(Existing::ReplaceIf(|_| false), "it is skipped");
        } else if self.folder.is_some() {
            let hint = "remove it, or name another folder: -o DIR/";
            file = file.existing(Existing::ReplaceIf(tool::may_be_of_this_tool), hint);
        } else if self.is_level {
            let hint = "remove it, or name another output: -o FILE";
            file = file.existing(Existing::ReplaceIf(tool::may_be_of_this_tool), hint);
        } else if !self.is_named {
            let hint = format!(
                "-o {} replaces it, or name another file",
                file.path().display()
            );
            file = file.existing(Existing::ReplaceIf(tool::made_by_this_tool), &hint);
        }
        self.file = file.register(names)?;
        self.file.register_sidecar(self.sidecar)?;
        Ok(self)
    }
}

fn output_file(path: &Path, format: &'static Format, kind: CellKind) -> OutputFile {
    OutputFile::new(path, "the output")
        .of_cells(format, kind)
        .output_of_run()
        .or_stdout()
}

/// Returns the path with a number before its extension: `scan-64.nii.gz`.
fn numbered(path: &Path, format: &Format, number: usize) -> PathBuf {
    let name = path.to_string_lossy().to_lowercase();
    let mut parts = 1;
    for extension in format.extensions {
        if name.ends_with(&format!(".{extension}")) {
            parts = parts.max(1 + extension.matches('.').count());
        }
    }
    let mut stem = path.to_path_buf();
    let mut extensions = vec![];
    for _ in 0..parts {
        if let Some(extension) = stem.extension() {
            extensions.push(extension.to_os_string());
            stem.set_extension("");
        }
    }
    let mut name = stem.file_name().unwrap_or_default().to_os_string();
    name.push(format!("-{number}"));
    for extension in extensions.iter().rev() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

fn extension(format: &Format) -> &'static str {
    format.extensions.first().unwrap_or(&format.name)
}

/// Returns the output option as typed, or `name` if the option was not typed.
fn typed(argv: &Argv, name: &str) -> String {
    argv.with_value("output")
        .unwrap_or_else(|| name.to_string())
}

/// Returns the format for an output whose name has no known extension.
fn by_default(args: &OutputArgs, kind: CellKind) -> (&'static Format, FormatBy) {
    let by = if args.file.format.is_some() {
        FormatBy::Option
    } else {
        FormatBy::Default
    };
    let usual = if kind == CellKind::Field {
        FIELD_FORMAT
    } else {
        DEFAULT_FORMAT
    };
    (
        args.file
            .format
            .or(format::by_name(usual))
            .unwrap_or(&FORMATS[0]),
        by,
    )
}

fn for_stdout(args: &OutputArgs, argv: &Argv) -> Result<(&'static Format, FormatBy)> {
    let option = typed(argv, "-");
    let format = args.file.format.ok_or_else(|| {
        Error::usage(format!(
            "{option}: standard output has no extension to name the format"
        ))
        .with_hint(format!("-f FORMAT names it: {}", format_names()))
    })?;
    Ok((format, FormatBy::Option))
}

fn by_name(path: &Path, args: &OutputArgs, argv: &Argv) -> Result<(&'static Format, FormatBy)> {
    if let Some(format) = args.file.format {
        return Ok((format, FormatBy::Option));
    }
    let format = format::by_path(path).ok_or_else(|| {
        let why = match path.extension().map(OsStr::display) {
            Some(extension) => format!("no voxel format has the extension .{extension}"),
            None => "no extension names the format".to_string(),
        };
        let option = typed(argv, &path.to_string_lossy());
        let error = Error::usage(format!("{option}: {why}"));
        if files::has_extension(path, "png") {
            return error.with_hint(
                "'voxelize view MESH -o FILE.png' draws a picture; slices are pictures of layers",
            );
        }
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        if let Some(near) = suggest::format(&extension) {
            return error.with_hint(format!(
                "did you mean .{near}? -f FORMAT overrides the extension"
            ));
        }
        error.with_hint(format!(
            "formats are {}; -f FORMAT overrides the extension",
            format_names()
        ))
    })?;
    Ok((format, FormatBy::Extension))
}

fn format_names() -> String {
    FORMATS
        .iter()
        .map(|format| format.name)
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_has_its_number_before_the_extension() {
        for (path, format, expected) in [
            ("hero.vox", "vox", "hero-64.vox"),
            ("out/hero.v2.VOX", "vox", "out/hero.v2-64.VOX"),
            ("scan.nii.gz", "nii.gz", "scan-64.nii.gz"),
            ("layers.slices.zip", "slices.zip", "layers-64.slices.zip"),
            ("hero", "npz", "hero-64"),
            ("hero.data", "raw", "hero-64.data"),
        ] {
            let by_name = format::by_name(format).or(format::by_path(Path::new(path)));
            let numbered = numbered(Path::new(path), by_name.unwrap(), 64);
            assert_eq!(numbered, Path::new(expected), "{path}");
        }
    }
}
