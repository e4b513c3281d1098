//! What is voxelized, and how: the mesh, the grid, the rule, threads and memory, each decided. The
//! command and the verbs that need a grid share it, so that the same options mean the same cells.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use voxelize::mesh::read::Tolerance;
use voxelize::{Bounds, Error, Fit, Lattice, Level, Result, Rule, Run, Size, Snap, par};

use super::args::{DEFAULT_RES, GridArgs, PowerArgs, ReadArgs, RuleArgs, RunArgs};
use super::errors;
use super::files;
use super::similar;
use super::system;
use super::typed::Typed;
use super::values::{Corners, Simd};

/// A job without its mesh: the same for many.
#[derive(Clone)]
pub struct Recipe {
    /// Where the cells will be.
    pub grid: Grid,
    /// What fills them, and why these ties.
    pub rule: Rule,
    /// What becomes of an odd mesh.
    pub tolerance: Tolerance,
    /// How the work is done.
    pub how: How,
}

/// So many threads are started at most, where the system does not offer more.
const MOST_THREADS: usize = 64;

/// All that decides the cells of a grid, and how they are made.
pub struct Job {
    /// Where the mesh comes from.
    pub input: Input,
    /// Where the cells will be.
    pub grid: Grid,
    /// What fills them, and why these ties.
    pub rule: Rule,
    /// What becomes of findings in the mesh.
    pub tolerance: Tolerance,
    /// How the work is done.
    pub how: How,
}

/// Where the mesh comes from.
#[derive(Clone)]
pub enum Input {
    /// A pipe.
    Stdin,
    /// A file.
    File(PathBuf),
}

/// Where the cells will be, before the mesh is known.
#[derive(Clone)]
pub struct Grid {
    /// What decides it.
    pub from: GridFrom,
    /// How coordinates are taken onto walls.
    pub snap: Snap,
    /// The option that decides the size, as typed: `-r 512`.
    pub asked: String,
    /// Cells added on every side; not known of a lattice that is taken over.
    pub pad: Option<usize>,
    /// What they are: the mesh may go on in them where given bounds cut it.
    pub padding: &'static str,
    /// The box given, where it is grown to whole cells at its high end.
    pub grown_from: Option<Corners>,
}

/// What decides where the cells will be.
#[derive(Clone)]
pub enum GridFrom {
    /// The mesh, by this request.
    Mesh(Box<Fit>),
    /// A voxel file, all of it.
    Like(Box<Lattice>),
    /// The bounds of many meshes.
    Shared(Box<Lattice>),
}

/// How the work is done; nothing here changes a result.
#[derive(Clone)]
pub struct How {
    /// Threads to use.
    pub threads: usize,
    /// The instruction set.
    pub level: Level,
    /// The most memory to use.
    pub memory: Limit,
    /// What is in memory beside mesh and grid, in bytes.
    pub beside: u64,
}

/// The most memory to use, and who says so.
#[derive(Clone)]
pub enum Limit {
    /// The user, with this name of the option.
    Asked(u64, String),
    /// The system: what is available now.
    Available(u64),
    /// A part of either, for one of several jobs at a time: what needs more has its turn alone.
    Part(u64),
    /// Nobody.
    Unknown,
}

impl Job {
    /// The job for these arguments; looks at files but changes none.
    ///
    /// # Errors
    /// If options contradict each other, or the mesh is missing.
    pub fn new(
        mesh: Option<PathBuf>,
        grid: GridArgs,
        rule: &RuleArgs,
        read: &ReadArgs,
        run: &RunArgs,
        typed: &Typed,
    ) -> Result<Self> {
        let recipe = Recipe::new(grid, rule, read, run, typed)?;
        Ok(recipe.job(Input::find(mesh)?))
    }
}

impl Recipe {
    /// The recipe for these arguments.
    ///
    /// # Errors
    /// If options contradict each other.
    pub fn new(
        grid: GridArgs,
        rule: &RuleArgs,
        read: &ReadArgs,
        run: &RunArgs,
        typed: &Typed,
    ) -> Result<Self> {
        let grid = Grid::new(grid, typed)?;
        let how = How::new(&run.power, run.max_memory, typed)?;
        Ok(Self { grid, rule: rule.chosen()?, tolerance: read.tolerance(), how })
    }

    /// The job for one mesh.
    pub fn job(self, input: Input) -> Job {
        let Self { grid, rule, tolerance, how } = self;
        Job { input, grid, rule, tolerance, how }
    }
}

impl Input {
    /// Where the mesh of this name comes from.
    ///
    /// # Errors
    /// If it is missing.
    pub fn find(mesh: Option<PathBuf>) -> Result<Self> {
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
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Err(similar::not_found(&path)),
            Err(e) => Err(Error::input("unreadable", e.to_string()).in_file(path)),
        }
    }

    /// The file; `None` for a pipe.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Stdin => None,
            Self::File(path) => Some(path),
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
        if let Some(path) = &args.like {
            return Self::like(path, args.snap, typed);
        }
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
        let grown_from = args.bounds.filter(|_| whole_cells);
        Ok(Self { from: GridFrom::Mesh(Box::new(fit)), snap, asked, pad: Some(pad), padding, grown_from })
    }

    /// The lattice of a voxel file; how coordinates snap is said by the option or else by the file.
    fn like(path: &Path, snap: Option<Snap>, typed: &Typed) -> Result<Self> {
        let lattice = files::lattice(path)?;
        let snap = snap.unwrap_or(lattice.snap());
        let asked = typed.with_value("like").unwrap_or_default();
        let from = GridFrom::Like(Box::new(lattice.with_snap(snap)));
        Ok(Self { from, snap, asked, pad: None, padding: "", grown_from: None })
    }

    /// The lattice for a mesh of these bounds.
    ///
    /// # Errors
    /// If it cannot be fitted to them.
    pub fn lattice(&self, mesh: &Bounds) -> Result<Lattice> {
        match &self.from {
            GridFrom::Mesh(fit) => fit.to(mesh),
            GridFrom::Like(lattice) | GridFrom::Shared(lattice) => Ok(lattice.as_ref().clone()),
        }
    }
}

impl How {
    /// The threads and the instruction set asked for, and the memory there is.
    ///
    /// # Errors
    /// If this machine has no such instructions.
    pub fn new(args: &PowerArgs, max_memory: Option<u64>, typed: &Typed) -> Result<Self> {
        let level = match args.simd {
            Some(Simd::Level(level)) => Some(level),
            Some(Simd::Auto) | None => None,
        };
        let run = Run { threads: args.threads.unwrap_or(0), level, ..Run::default() };
        let level = run.level().map_err(|e| {
            let option = typed.with_value("simd").unwrap_or_default();
            errors::about(&option, &e)
        })?;
        let memory = match (max_memory, system::available_memory()) {
            (Some(bytes), _) => Limit::Asked(bytes, typed.name("max-memory")),
            (None, Some(bytes)) => Limit::Available(bytes),
            (None, None) => Limit::Unknown,
        };
        // More only wait for each other: to start a thousand takes most of a second.
        let threads = run.threads().min(par::available_threads().max(MOST_THREADS));
        Ok(Self { threads, level, memory, beside: 0 })
    }
}

impl Limit {
    /// The bytes, if there is a limit.
    pub fn bytes(&self) -> Option<u64> {
        match self {
            Self::Asked(bytes, _) | Self::Available(bytes) | Self::Part(bytes) => Some(*bytes),
            Self::Unknown => None,
        }
    }

    /// An equal share of it for each of `parts` jobs.
    pub fn share(&self, parts: usize) -> Self {
        match self {
            Self::Asked(bytes, option) => Self::Asked(bytes / parts as u64, option.clone()),
            Self::Available(bytes) => Self::Available(bytes / parts as u64),
            Self::Part(bytes) => Self::Part(bytes / parts as u64),
            Self::Unknown => Self::Unknown,
        }
    }
}
