//! Where cells go: the name, the format and the type of numbers, checked before anything is computed.

use std::ffi::OsStr;
use std::io::IsTerminal;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::sync::Arc;

use voxelize::format::{
    self, Carries, Choice, Dtype, Durability, Existing, FORMATS, Format, GridStack, OutputShape,
    PendingNames, SaveOptions, Sidecar, Written,
};
use voxelize::grid::{CellKind, CellSource, InMemory, Labels};
use voxelize::job::{Names, NewFile, OutFile, Target, UpAxis};
use voxelize::{Cells, Error, Lattice, Progress, Record, Result, TOOL, Voxels, tool};

use super::args::values::CellValues;
use super::args::{OutputArgs, givers, prefixed};
use super::argv::{Argv, exclusive};
use super::command::Call;
use super::files::{self, Destination, MadeFolders, MeshSource};
use super::pipes::Outlet;
use super::signals::Signals;

/// The format of an output that nothing names.
const DEFAULT_FORMAT: &str = "vox";

/// The format of a field where no option names one.
const FIELD_FORMAT: &str = "npz";

/// The hint where a file that is no sidecar has the name of one.
const SIDECAR_STAYS: &str = "move it away, or give the output another name";

/// Where the cells of a mesh go.
#[derive(Clone)]
pub struct Output {
    pub destination: Destination,
    /// The file, if it is one and none that stays.
    pub file: Option<OutFile>,
    /// The folder of `-o DIR/`, which is made with those below it when it is needed.
    pub folder: Option<Arc<OutputFolder>>,
    pub format: &'static Format,
    pub format_by: FormatBy,
    /// The kind of its cells.
    kind: CellKind,
    /// The type of numbers, if requested.
    dtype: Option<Dtype>,
    /// What else is chosen for the format.
    choices: Vec<Choice>,
    /// The numbers that are chosen for cells.
    values: Vec<i16>,
    pub sidecar: Sidecar,
    skips_existing: bool,
    durability: Durability,
    /// The array of all meshes, and the place of this one, if there is such an array.
    pub stack: Option<StackPlace>,
    /// Takes what is whole, if it waits for its names.
    later: Option<Arc<PendingNames>>,
    /// Whether `-o` names it.
    is_named: bool,
}

/// How the format was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormatBy {
    Option,
    Extension,
    Default,
}

/// The place of a mesh in the array of all.
#[derive(Clone)]
pub struct StackPlace {
    pub stack: Arc<GridStack>,
    number: usize,
    name: String,
}

/// The folder of `-o DIR/`.
pub struct OutputFolder {
    pub root: PathBuf,
    pub made: MadeFolders,
}

impl OutputFolder {
    /// A folder, made now if it is not there, so that obstacles are found before the work.
    fn new(root: &Path) -> Result<Self> {
        // Without the / at its end, behind which a file is not seen.
        let folder = Self { root: root.components().collect(), made: MadeFolders::default() };
        let probe = folder.root.join(".voxelize-probe");
        folder.made.make_for(&probe).and_then(|()| tool::probe_output(&probe)).map_err(|error| {
            let error = Error::output(error.message()).in_file(root);
            error.with_hint("-o DIR/ names another folder")
        })?;
        Ok(folder)
    }
}

/// Whether `-o` names a folder for many outputs, and not one whose extension is that of a format.
pub fn is_folder(path: &Path) -> bool {
    let is_output = || format::by_path(path).is_some_and(Format::is_folder);
    (path.is_dir() || path.to_string_lossy().ends_with(['/', MAIN_SEPARATOR])) && !is_output()
}

/// Standard output for data, which must be free for it.
pub fn stdout(call: &Call, example: &str) -> Result<Destination> {
    let option = typed(call.argv, "-");
    if call.printer.options.json == Some(Destination::Stdout) {
        return Err(exclusive("--json", &option)
            .with_hint("both would write to standard output; --json=FILE writes to a file"));
    }
    if std::io::stdout().is_terminal() {
        return Err(Error::usage(format!("{option}: standard output is a terminal"))
            .with_hint(format!("redirect it: > {example}, | COMMAND, or -o {example}")));
    }
    Ok(Destination::Stdout)
}

impl Output {
    /// The file for the plan of memory.
    pub fn target(&self) -> Target<'_> {
        Target {
            format: self.format,
            path: self.destination.path(),
            dtype: self.dtype(),
            choices: &self.choices,
        }
    }

    /// The output for these arguments.
    pub fn new(args: &OutputArgs, kind: CellKind, source: &MeshSource, call: &Call) -> Result<Self> {
        let output = Self::unregistered(args, kind, source, call)?;
        // part.vox for part.vox: not its name is wrong.
        let voxels = || source.path().filter(|_| !output.is_named).and_then(files::holds_voxels);
        output.clone().registered(&call.names).map_err(|error| voxels().unwrap_or(error))
    }

    /// The output, of which the names of the run do not know yet.
    pub fn unregistered(args: &OutputArgs, kind: CellKind, source: &MeshSource, call: &Call) -> Result<Self> {
        let argv = call.argv;
        let by_default = by_default(args, kind);
        let (destination, (format, by)) = match &args.output {
            None => {
                let path = files::with_suffix(source.stem()?, extension(by_default.0));
                (Destination::File(path), by_default)
            }
            Some(path) if path.as_os_str() == "-" => (stdout(call, "FILE")?, for_stdout(args, argv)?),
            Some(path) if is_folder(path) => {
                let output = Self::in_folder(path, args, kind, argv)?;
                return Ok(output.named(Path::new(&source.stem()?)));
            }
            Some(path) => (Destination::File(path.clone()), by_name(path, args, argv)?),
        };
        let output = Self::from_parts(destination, kind, format, by, args);
        output.check_options(argv)?;
        Ok(output)
    }

    fn from_parts(
        destination: Destination,
        kind: CellKind,
        format: &'static Format,
        by: FormatBy,
        args: &OutputArgs,
    ) -> Self {
        Self {
            destination,
            file: None,
            folder: None,
            format,
            format_by: by,
            kind,
            dtype: args.file.dtype,
            choices: args.file.choices.0.clone(),
            values: args.file.values.clone().map_or(vec![], |CellValues(values)| values),
            sidecar: if args.file.sidecar { Sidecar::Write } else { Sidecar::Auto },
            skips_existing: args.skip_existing,
            durability: if args.file.no_sync { Durability::Unsynced } else { Durability::Synced },
            stack: None,
            later: None,
            is_named: args.output.is_some(),
        }
    }

    /// The output, whose files wait for [`Output::give_names`] if they are to be on the disk before they have their names.
    #[must_use]
    pub fn named_later(self) -> Self {
        Self { later: (self.durability == Durability::Synced).then(Arc::default), ..self }
    }

    /// Gives the files that wait their names.
    pub fn give_names(&mut self, progress: &dyn Progress) -> Result<()> {
        let saved = self.later.take().and_then(Arc::into_inner);
        saved.zip(self.file.as_ref()).map_or(Ok(()), |(saved, file)| file.give_names(saved, progress))
    }

    /// The options that outputs in this folder share; [`Output::named`] makes one of it.
    pub fn in_folder(folder: &Path, args: &OutputArgs, kind: CellKind, argv: &Argv) -> Result<Self> {
        let (format, by) = by_default(args, kind);
        let mut output = Self::from_parts(Destination::File(folder.to_path_buf()), kind, format, by, args);
        output.check_options(argv)?;
        output.folder = Some(Arc::new(OutputFolder::new(folder)?));
        Ok(output)
    }

    /// The array of all meshes; [`Output::stacked_at`] makes the place of one.
    pub fn stacked(args: &OutputArgs, kind: CellKind, call: &Call) -> Result<Self> {
        let argv = call.argv;
        let Some(path) = args.output.as_ref().filter(|path| path.as_os_str() != "-" && !is_folder(path))
        else {
            return Err(Error::usage("--stack needs a file").with_hint("-o FILE.npz names it"));
        };
        let (format, by) = by_name(path, args, argv)?;
        let is_other =
            ["dtype", "values", "sidecar"].into_iter().find(|option| argv.with_value(option).is_some());
        if let Some(option) = is_other {
            return Err(exclusive(&format!("--{option}"), "--stack").with_hint("leave it out"));
        }
        if format.name != "npz" || args.file.choices.0.iter().any(|choice| *choice != Choice::Zyx) {
            let error = Error::usage(format!("--stack: {} is no .npz of whole grids", path.display()));
            return Err(error.with_hint("-o FILE.npz, with --order zyx for voxels[n,z,y,x]"));
        }
        let mut output = Self::from_parts(Destination::File(path.clone()), kind, format, by, args);
        output.check_options(argv)?;
        output.stack = Some(StackPlace { stack: Arc::default(), number: 0, name: String::new() });
        output.registered(&call.names)
    }

    /// The place of a mesh in the array of all.
    pub fn stacked_at(&self, number: usize, name: String) -> Self {
        let stack = self.stack.as_ref().map(|place| StackPlace { number, name, ..place.clone() });
        Self { file: None, stack, ..self.clone() }
    }

    /// The output in that folder called `name`, which has no extension.
    pub fn named(&self, name: &Path) -> Self {
        let root = self.folder.as_ref().map_or(Path::new(""), |folder| &folder.root);
        let path = root.join(files::with_suffix(name, extension(self.format)));
        Self { destination: Destination::File(path), ..self.clone() }
    }

    /// The file, if it exists and stays as it is.
    pub fn kept(&self) -> Option<&Path> {
        self.destination.path().filter(|path| {
            self.skips_existing && (path.is_file() || self.format.is_folder() && path.is_dir())
        })
    }

    /// Whether a file that exists stays, and nothing is made.
    pub fn skips_existing(&self) -> bool {
        self.skips_existing
    }

    pub fn name(&self) -> String {
        self.destination.name()
    }

    /// The requested type of numbers.
    pub fn requested_dtype(&self) -> Option<Dtype> {
        self.dtype
    }

    /// The type of numbers in the file.
    pub fn dtype(&self) -> Option<Dtype> {
        self.dtype.or(self.format.dtypes_of(self.kind).first().copied())
    }

    /// Whether the file tells labels apart.
    pub fn keeps_labels(&self) -> bool {
        matches!(self.dtype(), Some(Dtype::U8 | Dtype::I8)) && self.values.len() != 2
    }

    pub fn save_options<'a>(&'a self, progress: &'a dyn Progress) -> SaveOptions<'a> {
        let Self { dtype, sidecar, durability, .. } = *self;
        let Self { choices, values, .. } = self;
        let later = self.later.as_deref();
        SaveOptions { dtype, choices, values, sidecar, durability, later, progress, ..SaveOptions::default() }
    }

    /// Writes the cells where they go.
    pub fn write(
        &self,
        source: &mut dyn CellSource,
        progress: &dyn Progress,
        signals: &Signals,
    ) -> Result<Vec<Written>> {
        let options = self.save_options(progress);
        let format = self.format;
        let path = self.destination.path();
        if let Some(StackPlace { stack, number, name }) = &self.stack {
            let bytes = stack.add(*number, name, source, &options)?;
            return Ok(vec![Written { path: self.name().into(), format: format.name, bytes }]);
        }
        let mut out = match &self.file {
            None => Outlet::stdout(signals),
            Some(file) if self.destination.may_block() => Outlet::open(file, signals),
            Some(file) => {
                if let Some(folder) = &self.folder {
                    folder.made.make_for(file.path())?;
                }
                return file.save_source(source, format, &options);
            }
        };
        let bytes =
            format::write_source_to(source, &mut out, format, &options).map_err(|error| match path {
                Some(path) => error.in_file(path),
                // Standard output has no name of its own.
                None => error,
            })?;
        let path = path.map_or_else(|| "-".into(), |path| path.to_path_buf());
        Ok(vec![Written { path, format: format.name, bytes }])
    }

    /// Refuses cells that the format cannot hold, and files beside the output that would be lost.
    pub fn check_lattice(&self, kind: CellKind, lattice: &Lattice, up: UpAxis) -> Result<()> {
        format::check(kind, lattice, self.format, &self.save_options(&()))
            .map_err(|e| e.in_file(self.name()))?;
        self.check_shown(lattice, up)?;
        let is_y_up = up == UpAxis::Y;
        let shape = OutputShape { kind, dims: lattice.dims(), is_y_up, choices: &self.choices };
        self.file.as_ref().map_or(Ok(()), |file| file.check_companions(self.format, &shape))
    }

    /// Refuses to round a field to bytes that is none of shares; the record says by which rule it is made.
    pub fn check_rounding(&self, record: &Record) -> Result<()> {
        match (self.kind, self.dtype) {
            (CellKind::Field, Some(Dtype::U8)) => {
                format::check_rule_of_bytes(record).map_err(|error| prefixed("--dtype u8: ", &error))
            }
            _ => Ok(()),
        }
    }

    /// The second file, where there will be one.
    pub fn sidecar_path(&self) -> Option<PathBuf> {
        sidecar_path(self.destination.path()?, self.format, self.sidecar)
    }

    /// Refuses a grid that programs would not show all of in the usual format, which nothing asked for.
    fn check_shown(&self, lattice: &Lattice, up: UpAxis) -> Result<()> {
        let limits = self.target().limits(lattice, up);
        match limits.first().filter(|_| self.format_by == FormatBy::Default) {
            None => Ok(()),
            Some(limit) => Err(Error::too_large(limit.first.message()).in_file(self.name()).with_hint(
                "-f npy has no such limit; --vox-split writes several files; -o NAME.vox writes one all the same",
            )),
        }
    }

    /// Refuses options that the format or the destination cannot follow.
    fn check_options(&self, argv: &Argv) -> Result<()> {
        let Format { name, dtypes, .. } = self.format;
        if !self.format.holds_with(self.kind, &self.choices) {
            let option = argv.with_value("format").unwrap_or_else(|| typed(argv, &self.name()));
            let known: Vec<_> = FORMATS.iter().filter(|f| f.holds(self.kind)).map(|f| f.name).collect();
            let kind = self.kind.plural();
            let known = known.join(", ");
            let iso = if argv.command().is_none() { "; --iso V makes bits of distances" } else { "" };
            return Err(Error::usage(format!("{option}: {name} does not hold {kind}"))
                .with_hint(format!("{known} hold {kind}{iso}")));
        }
        if let (CellKind::Field, Some(dtype)) = (self.kind, self.dtype) {
            if dtype != Dtype::U8 {
                return Err(Error::usage(format!("--dtype {}: a field is written as f32", dtype.name()))
                    .with_hint("leave it out; u8 is for shares of cells"));
            }
            if !self.format.has_bytes_of_shares() {
                let known = Format::names_with_bytes_of_shares().join(", ");
                return Err(Error::usage(format!("--dtype u8: {name} stores fields as f32"))
                    .with_hint(format!("{known} store shares of cells as u8")));
            }
        }
        if let Some(dtype) = self.dtype.filter(|dtype| !dtypes.contains(dtype)) {
            let known: Vec<_> = dtypes.iter().map(|dtype| dtype.name()).collect();
            return Err(Error::usage(format!("--dtype {}: {name} cannot store this type", dtype.name()))
                .with_hint(format!("{name} has {}", known.join(", "))));
        }
        if let Some(dtype) = self.dtype() {
            let checked = self.format.check_values(dtype, &self.values);
            checked.map_err(|error| prefixed("--values: ", &error))?;
        }
        if let Some(other) = self.choices.iter().find(|choice| !self.format.choices.contains(choice)) {
            let option = argv.with_value(other.option()).unwrap_or_default();
            return Err(Error::usage(format!("{}: {name} has no such choice", option.trim_end()))
                .with_hint(format!("it is one of {}", givers(*other))));
        }
        let is_stdout = self.destination == Destination::Stdout;
        let is_split = self.choices.contains(&Choice::VoxSplit);
        for (is_given, option, hint) in [
            (is_split, "--vox-split", "several files need an output file: -o PATH"),
            (self.sidecar == Sidecar::Write, "--sidecar", "a sidecar needs an output file: -o PATH"),
            (self.skips_existing, "--skip-existing", "it needs an output file: -o PATH"),
        ] {
            if is_given && is_stdout {
                let output = typed(argv, "-");
                return Err(exclusive(option, &output).with_hint(hint));
            }
        }
        Ok(())
    }

    /// The output among the names of the run.
    pub fn registered(self, names: &Names) -> Result<Self> {
        let Some(path) = self.destination.path().filter(|_| self.kept().is_none()) else { return Ok(self) };
        let file = names.writes(self.new_file(path, "the output").of_format(self.format))?;
        if let Some(sidecar) = self.sidecar_path() {
            let new = self.new_file(&sidecar, "the sidecar of the output");
            names.writes(new.existing(Existing::ReplaceIf(tool::made_by_this_tool), SIDECAR_STAYS))?;
        }
        Ok(Self { file: Some(file), ..self })
    }

    fn new_file<'a>(&self, path: &'a Path, role: &'a str) -> NewFile<'a> {
        let new = NewFile::named(path, role).as_output();
        let new = if self.folder.is_some() { new.in_made_folder() } else { new };
        match &self.folder {
            _ if self.skips_existing => new.existing(Existing::ReplaceIf(|_| false), "it is skipped"),
            Some(_) => {
                let hint = "remove it, or name another folder: -o DIR/";
                new.existing(Existing::ReplaceIf(tool::may_be_of_this_tool), hint)
            }
            None if self.is_named => new,
            None => {
                let hint = format!("-o {} replaces it, or name another file", path.display());
                new.existing(Existing::ReplaceIf(tool::made_by_this_tool), hint)
            }
        }
    }
}

fn extension(format: &Format) -> &'static str {
    format.extensions.first().unwrap_or(&format.name)
}

fn sidecar_path(path: &Path, format: &Format, requested: Sidecar) -> Option<PathBuf> {
    let is_written = requested == Sidecar::Write || format.carries == Carries::Sidecar;
    is_written.then(|| files::with_suffix(path, files::SIDECAR))
}

/// The output as typed: the option, or `name` where it has none.
fn typed(argv: &Argv, name: &str) -> String {
    argv.with_value("output").unwrap_or_else(|| name.to_string())
}

/// The format of an output whose name says nothing of it.
fn by_default(args: &OutputArgs, kind: CellKind) -> (&'static Format, FormatBy) {
    let by = if args.file.format.is_some() { FormatBy::Option } else { FormatBy::Default };
    let usual = if kind == CellKind::Field { FIELD_FORMAT } else { DEFAULT_FORMAT };
    (args.file.format.or(format::by_name(usual)).unwrap_or(&FORMATS[0]), by)
}

fn for_stdout(args: &OutputArgs, argv: &Argv) -> Result<(&'static Format, FormatBy)> {
    let option = typed(argv, "-");
    let format = args.file.format.ok_or_else(|| {
        Error::usage(format!("{option}: standard output has no extension to name the format"))
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
        error.with_hint(format!("formats are {}; -f FORMAT overrides the extension", format_names()))
    })?;
    Ok((format, FormatBy::Extension))
}

fn format_names() -> String {
    FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ")
}

/// The hint that names the extensions of these formats: `--doubt takes .npy, .npz`.
fn takes(option: &str, is_taken: impl Fn(&Format) -> bool) -> String {
    let known: Vec<_> = FORMATS.iter().filter(|f| is_taken(f)).map(|f| f.extensions[0]).collect();
    format!("{option} takes .{}", known.join(", ."))
}

/// A second file of cells, that an option of its own names.
#[derive(Clone)]
pub struct AuxOutput {
    pub file: OutFile,
    format: &'static Format,
    /// The option that asks for it.
    option: &'static str,
    kind: CellKind,
    /// The meaning of the cells.
    pub about: &'static str,
}

impl AuxOutput {
    /// The file of this name, in the format of its extension, for cells of this kind.
    pub fn new(
        path: &Path,
        kind: CellKind,
        (option, about): (&'static str, &'static str),
        sidecar: Sidecar,
        names: &Names,
    ) -> Result<Self> {
        let format = format::named_by(path).map_err(|error| error.with_hint(takes(option, |_| true)))?;
        let hint = format!("{option} FILE names another file");
        if let Some(sidecar) = sidecar_path(path, format, sidecar) {
            let role = format!("the sidecar of {about}");
            let new = NewFile::named(&sidecar, &role).hint(&hint);
            names.writes(new.existing(Existing::ReplaceIf(tool::made_by_this_tool), SIDECAR_STAYS))?;
        }
        let file = names.writes(NewFile::named(path, about).of_format(format).hint(hint))?;
        Ok(Self { file, format, option, kind, about })
    }

    /// The kind of cells in the file: the one that is wanted, or bits where the format does not hold all of it.
    fn held(&self) -> CellKind {
        if self.format.dtypes_of(self.kind).is_empty() { CellKind::Bits } else { self.kind }
    }

    /// Makes sure that the file can hold these cells on `lattice`.
    pub fn check_lattice(&self, lattice: &Lattice) -> Result<()> {
        let kind = self.held();
        format::check(kind, lattice, self.format, &SaveOptions::default())
            .map_err(|e| e.in_file(self.file.path()))?;
        let shape = OutputShape { kind, dims: lattice.dims(), is_y_up: false, choices: &[] };
        self.file.check_companions(self.format, &shape)
    }

    /// Refuses a format that does not hold cells of the kind that is wanted.
    pub fn check_kind(&self) -> Result<()> {
        self.format.check_kind(self.kind).map_err(|error| {
            error.in_file(self.file.path()).with_hint(takes(self.option, |format| format.holds(self.kind)))
        })
    }

    /// These labels as the file has them.
    pub fn labels(&self, labels: Labels) -> Cells {
        if self.held() == CellKind::Labels { labels.into() } else { labels.into_occupied().into() }
    }

    pub fn write(
        &self,
        cells: impl Into<Cells>,
        lattice: &Lattice,
        about: Record,
        options: &SaveOptions,
    ) -> Result<Vec<Written>> {
        // No rule of a mesh: the option that was given.
        let rule_name = Some(self.option.trim_start_matches('-').to_string());
        let snap = Some(lattice.snap().name().to_string());
        let record = Record { tool: Some(TOOL.to_string()), rule_name, snap, ..about };
        let voxels = Voxels { cells: cells.into(), lattice: Some(lattice.clone()), record };
        self.file.save_source(&mut InMemory::new(&voxels), self.format, options)
    }
}
