//! The conversion, which has no command name. Converts one or several meshes to cells.

use std::path::PathBuf;

use clap::Args;
use voxelize::{Error, Result};

use super::args::ConvertArgs;
use super::batch;
use super::command::{Call, Command};
use super::levels;
use super::options::Options;
use super::regions;
use super::report::{Outcome, Report};
use super::run::{self, RunReport, RunResult};

pub const COMMAND: Command = Command {
    name: "",
    about: "turn triangle meshes into voxels, exactly",
    examples: "",
    notes: "",
    empty: run::empty,
    arguments: ConvertArgs::augment_args,
    run: convert,
};

fn convert(call: &Call) -> Result<Vec<Report>> {
    let mut args: ConvertArgs = call.args()?;
    if args.input.null && args.input.files_from.is_none() {
        let error = Error::usage("--null needs --files-from");
        return Err(error.with_hint(
            "for example: find . -name '*.stl' -print0 | voxelize -0 --files-from - -o DIR/",
        ));
    }
    if args.resume {
        return regions::resume(args, call);
    }
    if call.argv.is_given("labels") && batch::joins_folders(&args.input, &args.output) {
        args.input.meshes = batch::in_folders(&args.input.meshes, call)?;
    }
    if batch::is_requested(&args.input, &args.output) {
        return batch::convert(args, call);
    }
    if let Ok(request) = call.argv.request()
        && !request.levels.is_empty()
    {
        return Ok(levels::convert(&args, request.by_level(), call));
    }
    Ok(vec![one(args, call)])
}

/// Converts one mesh, or several joined meshes, to one grid.
fn one(args: ConvertArgs, call: &Call) -> Report {
    let mut found = RunReport::new(call.started);
    let mesh = args.input.first().map(PathBuf::from);
    let options = call
        .argv
        .request()
        .and_then(|request| Options::new(args, request, call));
    let mut options = match options {
        Ok(options) => options,
        Err(error) => {
            return Report::new(
                &RunResult::new(mesh.as_deref(), None, &found),
                Outcome::of(error),
            );
        }
    };
    let outcome = run::convert(&mut options, &call.bar(), call.signals, &mut found);
    let mut report = Report::new(
        &RunResult::new(mesh.as_deref(), Some(&options), &found),
        outcome,
    );
    if !matches!(report.outcome, Outcome::Failed(_) | Outcome::PipeClosed) {
        run::summary(&mut report.err, &options, &found);
        report
            .err
            .findings("", &found.warnings, call.printer.options.verbosity);
        if call.printer.is_verbose() {
            run::verbose(&mut report.err, &options, &found);
        }
    }
    report
}

/// Returns the report of a dry run of `mesh`, for fuzzing. All files of the call are replaced by devices, so
/// that nothing is read or written.
pub fn prepare(call: &Call, mesh: &voxelize::Mesh) -> Result<Report> {
    use super::options::JobOptions;
    use super::report::Verbosity;
    use voxelize::mesh::read::Packing;

    let args = on_devices(call.args()?);
    let mut request = call.argv.request()?.by_level().swap_remove(0);
    request.like = None;
    let mut found = RunReport::new(call.started);
    if batch::is_requested(&args.input, &args.output) {
        let resources = call.resources(args.run.max_memory)?;
        JobOptions::of_conversion(request, &args.read, resources, &call.names)?;
        return Ok(Report::new(
            &RunResult::new(None, None, &found),
            Outcome::Done,
        ));
    }
    found.mesh = Some(run::MeshInput::new(
        mesh,
        "stl-binary",
        284,
        Packing::None,
        0,
    ));
    let options = Options {
        mode: super::options::Mode::DryRun,
        ..Options::new(args, request, call)?
    };
    let bar = call.bar();
    let lattice = run::fit_for(&options, mesh, &mut found)?;
    let how = run::library_run(&options.job.options, &bar);
    run::plan(&options, mesh, &lattice, &how, None, &mut found)?;
    let mut report = Report::new(
        &RunResult::new(None, Some(&options), &found),
        Outcome::Planned,
    );
    run::summary(&mut report.err, &options, &found);
    report.err.findings("", &found.warnings, Verbosity::Verbose);
    run::verbose(&mut report.err, &options, &found);
    Ok(report)
}

/// Replaces every named file by a device. The formats stay those of the original names.
fn on_devices(mut args: ConvertArgs) -> ConvertArgs {
    use voxelize::format;

    let output = &mut args.output;
    let named = output
        .output
        .take()
        .filter(|path| !path.as_os_str().as_encoded_bytes().ends_with(b"/"));
    let unnamed = || {
        if named.is_none() {
            format::by_name("vox")
        } else {
            None
        }
    };
    output.file.format = output
        .file
        .format
        .or_else(|| named.as_deref().and_then(format::by_path))
        .or_else(unnamed);
    output.output = Some(PathBuf::from("/dev/null"));
    args.input.meshes.fill(PathBuf::from("/dev/zero"));
    args.input.scene.scene = None;
    args
}
