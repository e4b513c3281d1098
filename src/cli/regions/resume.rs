//! `--resume` plans, makes and finishes a store in one process. After a crash it continues with the missing
//! regions.

use std::path::Path;

use voxelize::format::Durability;
use voxelize::grid::record::INSIDE;
use voxelize::job::findings;
use voxelize::job::regions::{RegionPlan, RegionStore};
use voxelize::{Error, Mesh, Result, par};

use super::plan::{StoreChoice, check_source, planned};
use super::region;
use crate::cli::args::ConvertArgs;
use crate::cli::batch;
use crate::cli::command::Call;
use crate::cli::guard::guarded;
use crate::cli::options::Options;
use crate::cli::output::Output;
use crate::cli::progress::Bar;
use crate::cli::report::{Outcome, Report};
use crate::cli::run::{self, RunReport, RunResult, timed};

/// Makes the store that `-o` names. If the store exists, makes only its missing regions.
pub fn resume(args: ConvertArgs, call: &Call) -> Result<Vec<Report>> {
    if batch::is_requested(&args.input, &args.output) {
        let error = Error::usage("--resume makes one grid, in one .zarr");
        return Err(error.with_hint("name the meshes of the grid, and -o NAME.zarr"));
    }
    Ok(vec![one(args, call)])
}

fn one(args: ConvertArgs, call: &Call) -> Report {
    let mut found = RunReport::new(call.started);
    let mesh = args.input.first().map(Path::to_path_buf);
    let mut options = match options(args, call) {
        Ok(options) => options,
        Err(error) => {
            return Report::new(
                &RunResult::new(mesh.as_deref(), None, &found),
                Outcome::of(error),
            );
        }
    };
    let bar = call.bar();
    let threads = options.job.options.resources.threads;
    let done =
        guarded(|| par::with_threads(threads, || steps(&mut options, call, &bar, &mut found))?);
    bar.clear();
    let outcome = done.map_or_else(Outcome::of, |()| Outcome::Done);
    let mut report = Report::new(
        &RunResult::new(mesh.as_deref(), Some(&options), &found),
        outcome,
    );
    if matches!(report.outcome, Outcome::Done) {
        run::summary(&mut report.err, &options, &found);
        report
            .err
            .findings("", &found.warnings, call.printer.options.verbosity);
    }
    report
}

/// Creates the options from the arguments. Looks at files but changes none.
fn options(args: ConvertArgs, call: &Call) -> Result<Options> {
    let request = call.argv.request()?;
    let mut options = Options::unchecked(args, request, call, Output::unregistered)?;
    check_source(&options.job.source)?;
    if options.output.format.name != "zarr" || options.output.file.is_stdout() {
        let error = Error::usage("--resume makes regions of a folder of Zarr");
        return Err(error.with_hint("-o NAME.zarr"));
    }
    if options.aux_outputs().next().is_some() || options.doubt.is_some() {
        let error = Error::usage("--resume: these additional outputs cannot be made in regions");
        return Err(error.with_hint("leave out --doubt, --max-doubt, --leak and --nearest"));
    }
    match RegionStore::open_if_planned(options.output.file.path())? {
        Some(store) => call
            .names
            .reads_folder(&store.root, "a folder of the store")?,
        None => {
            RegionStore::check_new(options.output.file.path())?;
            options.output = options.output.registered(&call.names)?;
        }
    }
    call.check_files()?;
    Ok(options)
}

fn steps(options: &mut Options, call: &Call, bar: &Bar, found: &mut RunReport) -> Result<()> {
    let mesh = run::read(&mut options.job, bar, call.signals, found)?;
    let options = &*options;
    let save = options.output.save_options(&());
    let store = store(options, &mesh, save.durability, bar, found)?;
    let all: Vec<_> = (0..store.plan.regions()).collect();
    let resources = &options.job.options.resources;
    let mut time = None;
    timed(&mut time, || {
        region::make(&store, &all, || Ok(mesh), resources, save.durability, bar)
    })?;
    found.times.voxelize = time;
    let end = timed(&mut found.times.digest, || {
        store.finish(save.durability, bar)
    })?;
    let Some(digest) = end.digest else {
        let error =
            Error::output("regions were damaged while others were made").in_file(&store.root);
        return Err(error.with_hint("the same command makes the damaged regions again"));
    };
    found.digest = Some(digest);
    found.occupied = Some(end.occupied);
    found.field = end.field;
    found.snapped = Some(end.snapped);
    found.inside = store
        .plan
        .store
        .grid
        .record
        .field(INSIDE)
        .map(str::to_string);
    found.outputs = Some(vec![store.written(&end)]);
    found.labels = end.labels;
    findings::add(&mut found.warnings, end.findings);
    Ok(())
}

/// Opens the existing store if its plan makes the same cells. Otherwise creates a new store.
fn store(
    options: &Options,
    mesh: &Mesh,
    durability: Durability,
    bar: &Bar,
    found: &mut RunReport,
) -> Result<RegionStore> {
    let lattice = run::fit_for(options, mesh, found)?;
    let target = options.output.target();
    let root = options.output.file.path();
    let chosen = StoreChoice {
        root,
        dtype: options.output.requested_dtype(),
        choices: target.choices,
        regions: None,
        labels: options.labels(),
        bins: false,
    };
    let (plan, findings): (RegionPlan, _) = planned(&chosen, &options.job, mesh, &lattice, bar)?;
    found.warnings.extend(findings);
    match RegionStore::open_if_planned(root)? {
        // The plans may divide the layers into regions differently.
        Some(there) if there.plan.makes_same(&plan) => Ok(there),
        _ => RegionStore::create(root, plan, durability),
    }
}
