//! From arguments to a plan: resolved, validated, with nothing left to decide. Whatever can be said
//! without the mesh is said here, before it is read.

use std::path::PathBuf;

use voxelize::Result;
use voxelize::format::Dtype;

use super::args::{Args, TellArgs};
use super::doubt::Asked;
use super::extra::{self, Extra};
use super::job::Job;
use super::leak;
use super::output::Output;
use super::typed::{JsonTarget, Typed};

/// All of a run of one mesh, decided.
pub struct Plan {
    /// What is voxelized, and how.
    pub job: Job,
    /// Where the result goes.
    pub output: Output,
    /// What is asked about cells in doubt.
    pub doubt: Option<Asked>,
    /// Where the way in of a flood goes.
    pub leak: Option<Extra>,
    /// Whether anything is done at all.
    pub mode: Mode,
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

impl Mode {
    /// The one that is asked for.
    pub fn of(args: &Args) -> Self {
        if args.dry_run { Self::DryRun } else { Self::Write }
    }
}

impl Plan {
    /// Whether the cells of the output are told apart.
    pub fn has_parts(&self) -> bool {
        self.job.rule.has_parts() && self.output.dtype() == Some(Dtype::U8)
    }

    /// The plan for these arguments, whose JSON goes there; looks at files but changes none.
    ///
    /// # Errors
    /// If options contradict each other, the input is missing, or the output cannot be written.
    pub fn resolve(args: Args, json: Option<&JsonTarget>, typed: &Typed) -> Result<Self> {
        let mode = Mode::of(&args);
        let mesh = args.input.meshes.into_iter().next();
        let job = Job::new(mesh, args.grid, &args.rule, &args.read, &args.run, typed)?;
        let output = Output::resolve(&args.output, &job.input, json, typed)?;
        let doubt = Asked::new(&args.doubt, &job.rule, typed)?;
        let leak = leak::asked(&args.leak, &job.rule, typed)?;
        let plan = Self { job, output, doubt, leak, mode };
        let extras: Vec<_> = plan.extras().collect();
        extra::check_files(&extras, plan.job.input.path(), &plan.output, json)?;
        Ok(plan)
    }

    /// The files of cells that are written beside the output.
    pub fn extras(&self) -> impl Iterator<Item = &Extra> {
        self.doubt.iter().filter_map(|asked| asked.file.as_ref()).chain(&self.leak)
    }
}

impl Telling {
    /// What these arguments wish to be told.
    pub fn new(args: &TellArgs, mesh: Option<PathBuf>) -> Self {
        let voice = match (args.quiet, args.verbose) {
            (true, _) => Voice::Quiet,
            (_, true) => Voice::Verbose,
            _ => Voice::Summary,
        };
        Self { mesh, voice, json: args.json.clone().map(JsonTarget::of) }
    }

    /// What can be told of the wish when the arguments make no sense.
    pub fn guess(typed: &Typed) -> Self {
        Self { mesh: None, voice: Voice::Summary, json: typed.json() }
    }
}
