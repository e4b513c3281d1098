//! From arguments to a plan: resolved, validated, with nothing left to decide. Whatever can be said
//! without the mesh is said here, before it is read.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use voxelize::{Error, Fit, Level, Result, Rule, Run, Size, Snap, What};

use super::args::{Args, DEFAULT_RES, GridArgs, RunArgs};
use super::output::Output;
use super::similar;
use super::system;
use super::typed::{JsonTarget, Typed};
use super::values::{Corners, Simd};
use super::{args, errors};

/// All of a run, decided.
pub struct Plan {
    /// Where the mesh comes from.
    pub input: Input,
    /// Where the cells will be.
    pub grid: Grid,
    /// What fills them, and why these ties.
    pub what: What,
    /// Where the result goes.
    pub output: Output,
    /// How the work is done.
    pub how: How,
    /// What is told about it.
    pub telling: Telling,
    /// Whether anything is done at all.
    pub mode: Mode,
}

/// Where the mesh comes from.
pub enum Input {
    /// A pipe.
    Stdin,
    /// A file.
    File(PathBuf),
}

/// How the lattice is fitted to the mesh.
pub struct Grid {
    /// The request.
    pub fit: Fit,
    /// How coordinates are taken onto walls.
    pub snap: Snap,
    /// The option that decides the size, as typed: `-r 512`.
    pub asked: String,
    /// Cells added on every side.
    pub pad: usize,
    /// What they are: the mesh may go on in them where given bounds cut it.
    pub padding: &'static str,
    /// The box given, where it is grown to whole cells at its high end.
    pub grown_from: Option<Corners>,
}

/// How the work is done; nothing here changes a result.
pub struct How {
    /// Threads to use.
    pub threads: usize,
    /// The instruction set.
    pub level: Level,
    /// The most memory to use.
    pub memory: Limit,
}

/// The most memory to use, and who says so.
pub enum Limit {
    /// The user, with this name of the option.
    Asked(u64, String),
    /// The system: what is available now.
    Available(u64),
    /// Nobody.
    Unknown,
}

/// What is told about a run.
#[derive(Clone)]
pub struct Telling {
    /// The mesh as it was named, for runs that end before it is looked at.
    pub mesh: Option<PathBuf>,
    /// How much on stderr.
    pub voice: Voice,
    /// Where the JSON goes.
    pub json: Option<JsonTarget>,
}

/// How much is said on stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Voice {
    /// Errors.
    Quiet,
    /// Errors, warnings and the summary.
    Summary,
    /// And what was chosen and why.
    Verbose,
}

/// Whether anything is done at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Voxelize and write.
    Write,
    /// Say what would happen.
    DryRun,
}

impl Plan {
    /// The plan for these arguments; looks at files but changes none.
    ///
    /// # Errors
    /// If options contradict each other, the input is missing, or the output cannot be written.
    pub fn resolve(args: Args, typed: &Typed) -> Result<Self> {
        let telling = Telling::new(&args);
        let grid = Grid::new(args.grid, typed)?;
        let how = How::new(&args.run, typed)?;
        let input = Input::find(args.mesh)?;
        let output = Output::resolve(&args.output, &input, telling.json.as_ref(), typed)?;
        let named = args.rule.surface.then_some(Rule::Surface);
        let what = What { rule: args.rule.rule.or(named).unwrap_or_default(), ties: args.rule.ties };
        let mode = if args.run.dry_run { Mode::DryRun } else { Mode::Write };
        Ok(Self { input, grid, what, output, how, telling, mode })
    }
}

impl Input {
    fn find(mesh: Option<PathBuf>) -> Result<Self> {
        let path = mesh.ok_or_else(|| {
            Error::usage("no mesh is given")
                .with_hint("'voxelize part.stl' is enough; 'voxelize -h' shows more")
        })?;
        if path.as_os_str() == "-" {
            if std::io::stdin().is_terminal() {
                return Err(Error::usage("-: standard input is a terminal, not a mesh")
                    .with_hint("voxelize - -o part.vox < part.stl"));
            }
            return Ok(Self::Stdin);
        }
        match path.metadata() {
            // A folder is refused by the reader, which knows its meshes.
            Ok(_) => Ok(Self::File(path)),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Err(not_found(&path)),
            Err(e) => Err(Error::input("unreadable", e.to_string()).in_file(path)),
        }
    }

    /// What messages call it.
    pub fn name(&self) -> String {
        match self {
            Self::Stdin => "standard input".to_string(),
            Self::File(path) => path.display().to_string(),
        }
    }
}

impl Grid {
    fn new(args: GridArgs, typed: &Typed) -> Result<Self> {
        if args.stretch && args.dims.is_none() {
            return Err(Error::usage("--stretch needs --dims").with_hint("such as --dims 32,32,64 --stretch"));
        }
        if args.origin.is_some() && args.voxel_size.is_none() {
            return Err(Error::usage("--origin needs --voxel-size")
                .with_hint("walls at given places have a given distance: add --voxel-size S"));
        }
        let (size, asked) = match (args.res, args.dims, args.voxel_size) {
            (_, Some(dims), _) if args.stretch => (Size::Stretched(dims), "dims"),
            (_, Some(dims), _) => (Size::Dims(dims), "dims"),
            (_, _, Some(size)) => (Size::Spacing(size), "voxel-size"),
            (res, _, _) => (Size::Longest(res.unwrap_or(DEFAULT_RES)), "res"),
        };
        let whole_cells = !args.cube && !matches!(size, Size::Dims(_) | Size::Stretched(_));
        let (snap, pad) = (args.snap.unwrap_or_default(), args.pad.unwrap_or(0));
        let mut fit = Fit::new(size).snap(snap).pad(pad);
        if let Some(origin) = args.origin {
            fit = fit.origin(origin);
        }
        if let Some(Corners { min, max }) = args.bounds.clone() {
            fit = fit.bounds(min, max);
        }
        if args.cube {
            fit = fit.cube();
        }
        let asked = typed.with_value(asked).unwrap_or_else(|| format!("--res {DEFAULT_RES} (the default)"));
        let padding = if args.bounds.is_some() { "more" } else { "empty" };
        Ok(Self { fit, snap, asked, pad, padding, grown_from: args.bounds.filter(|_| whole_cells) })
    }
}

impl How {
    fn new(args: &RunArgs, typed: &Typed) -> Result<Self> {
        let level = match args.simd {
            Some(Simd::Level(level)) => Some(level),
            Some(Simd::Auto) | None => None,
        };
        let run = Run { threads: args.threads.unwrap_or(0), level, ..Run::default() };
        let level = run.level().map_err(|e| {
            let option = typed.with_value("simd").unwrap_or_default();
            errors::about(&option, &e)
        })?;
        let memory = match (args.max_memory, system::available_memory()) {
            (Some(bytes), _) => Limit::Asked(bytes, typed.name("max-memory")),
            (None, Some(bytes)) => Limit::Available(bytes),
            (None, None) => Limit::Unknown,
        };
        Ok(Self { threads: run.threads(), level, memory })
    }
}

impl Limit {
    /// The bytes, if there is a limit.
    pub fn bytes(&self) -> Option<u64> {
        match self {
            Self::Asked(bytes, _) | Self::Available(bytes) => Some(*bytes),
            Self::Unknown => None,
        }
    }
}

impl Telling {
    /// What these arguments wish to be told.
    pub fn new(args: &Args) -> Self {
        let output = &args.output;
        let voice = match (output.quiet, output.verbose) {
            (true, _) => Voice::Quiet,
            (_, true) => Voice::Verbose,
            _ => Voice::Summary,
        };
        let json = output.json.clone().map(JsonTarget::of);
        Self { mesh: args.mesh.clone(), voice, json }
    }

    /// What can be told of the wish when the arguments make no sense.
    pub fn guess(typed: &Typed) -> Self {
        Self { mesh: None, voice: Voice::Summary, json: typed.json() }
    }
}

/// The error for a file that is not there, with what may have been meant as the hint.
fn not_found(path: &Path) -> Error {
    let error = Error::input("not-found", "no such file").in_file(path);
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return error };
    let command = args::command();
    let verbs = || command.get_subcommands().map(|verb| verb.get_name());
    let verb = verbs().find(|verb| *verb == name).or_else(|| similar::nearest(name, verbs()));
    if let Some(verb) = verb.filter(|_| path.as_os_str() == name && path.extension().is_none()) {
        return error.with_hint(format!("did you mean 'voxelize {verb}'?"));
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let names: Vec<_> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    match similar::nearest(name, names.iter().map(String::as_str)) {
        Some(near) => error.with_hint(format!("did you mean '{}'?", path.with_file_name(near).display())),
        None => error.with_hint("check the name; '-' reads standard input"),
    }
}
