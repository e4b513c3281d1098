//! Levels of detail: grids of one mesh with cells of several sizes, in one box. The mesh is read once, and each level
//! is made from it by the rule.

use std::path::PathBuf;

use voxelize::job::Request;
use voxelize::{Error, Finding, Kind, Mesh, Result, par};

use super::args::ConvertArgs;
use super::command::Call;
use super::files::is_pipe;
use super::guard::guarded;
use super::options::Options;
use super::output::Output;
use super::progress::Bar;
use super::report::{Outcome, Report, ReportRows, error_text, finding_line};
use super::run::{self, RunReport, RunResult};

/// Options of a level of detail, and its result.
struct DetailLevel {
    /// Number of cells along the longest axis.
    longest: usize,
    options: Options,
    found: RunReport,
    outcome: Outcome,
}

/// Makes the grid of each request, from one mesh or several joined meshes.
pub fn convert(args: &ConvertArgs, requests: Vec<Request>, call: &Call) -> Vec<Report> {
    let mesh = args.input.first().map(PathBuf::from);
    let failed = |error| {
        let found = RunReport::new(call.started);
        let result = RunResult::new(mesh.as_deref(), None, &found);
        vec![Report::new(&result, Outcome::of(error))]
    };
    let mut levels = match levels(args, requests, call) {
        Ok(levels) => levels,
        Err(error) => return failed(error),
    };
    let bar = call.bar();
    let threads = levels[0].options.job.options.resources.threads;
    let made = guarded(|| par::with_threads(threads, || make(&mut levels, &bar, call))?);
    bar.clear();
    match made {
        Ok(()) => reports(&levels, mesh, call),
        Err(error) => failed(error),
    }
}

/// Fails for options that have one file for all levels.
fn refuse(args: &ConvertArgs, call: &Call) -> Result<()> {
    let levels = call.argv.with_value("res").unwrap_or_default();
    let is_stream = args
        .output
        .output
        .as_ref()
        .is_some_and(|path| path.as_os_str() == "-" || is_pipe(path));
    if is_stream {
        let error = Error::usage(format!(
            "{levels}: several levels of detail need several files"
        ));
        return Err(error.with_hint("-o FILE.vox writes FILE-64.vox and so on"));
    }
    let named = [
        ("doubt", args.doubt.doubt.is_some()),
        ("leak", args.leak.leak.is_some()),
        ("nearest", args.nearest.nearest.is_some()),
    ];
    if let Some((name, _)) = named.into_iter().find(|(_, is_given)| *is_given) {
        let option = call.argv.with_value(name).unwrap_or_default();
        let error = Error::usage(format!(
            "{option}: every level of detail would overwrite this file"
        ));
        return Err(error.with_hint(format!("use --{name} with one number for -r")));
    }
    Ok(())
}

/// Validates the options of all levels. Looks at files but changes none.
fn levels(args: &ConvertArgs, requests: Vec<Request>, call: &Call) -> Result<Vec<DetailLevel>> {
    refuse(args, call)?;
    let mut levels = vec![];
    for request in requests {
        let longest = request.res.unwrap_or_default();
        let mut options = Options::unchecked(call.args()?, request, call, Output::unregistered)?;
        options.output = options.output.at_level(longest).registered(&call.names)?;
        levels.push(DetailLevel {
            longest,
            options,
            found: RunReport::new(call.started),
            outcome: Outcome::Skipped,
        });
    }
    call.check_files()?;
    Ok(levels)
}

/// Reads the mesh and makes the grids of the levels whose output is not kept. After an interrupt, the levels that
/// are left are removed.
fn make(levels: &mut Vec<DetailLevel>, bar: &Bar, call: &Call) -> Result<()> {
    let is_kept = |level: &DetailLevel| level.options.output.kept().is_some();
    let wanted: Vec<bool> = levels.iter().map(|level| !is_kept(level)).collect();
    let Some(first) = wanted.iter().position(|wanted| *wanted) else {
        return Ok(());
    };
    let mut read = RunReport::new(call.started);
    let mesh = run::read(&mut levels[first].options.job, bar, call.signals, &mut read)?;
    let job = levels[first].options.job.options.clone();
    let mut done = levels.len();
    for (n, level) in levels.iter_mut().enumerate() {
        if !wanted[n] {
            continue;
        }
        level.options.job.options.take_mesh_of(&job)?;
        level.found = read.of_grid();
        level.outcome = one(level, &mesh, bar);
        if matches!(&level.outcome, Outcome::Failed(error) if error.kind() == Kind::Interrupted) {
            done = n + 1;
            break;
        }
    }
    levels.truncate(done);
    Ok(())
}

/// Makes the grid of a level.
fn one(level: &mut DetailLevel, mesh: &Mesh, bar: &Bar) -> Outcome {
    let DetailLevel { options, found, .. } = level;
    let made = guarded(|| {
        options.output.file.check()?;
        run::fill_grid(options, mesh, bar, found)
    });
    bar.clear();
    made.unwrap_or_else(|error| run::failed(error, options))
}

/// Returns a report for each level, and the rows that follow them.
fn reports(levels: &[DetailLevel], mesh: Option<PathBuf>, call: &Call) -> Vec<Report> {
    let is_verbose = call.printer.is_verbose();
    let mut reports = vec![];
    let mut has_shared_rows = false;
    for level in levels {
        let DetailLevel {
            longest,
            options,
            found,
            outcome,
        } = level;
        let result = RunResult::new(mesh.as_deref(), Some(options), found);
        let mut report = Report::new(&result, outcome.clone());
        match &mut report.outcome {
            Outcome::Failed(error) if error.file().is_none() => {
                let name = format!("{}: ", options.output.name());
                report.error_text = Some(error_text(&name, error));
            }
            Outcome::Failed(_) => {}
            Outcome::CheckFailed(Some(why)) => *why = format!("level {longest}: {why}"),
            _ => {}
        }
        if !matches!(report.outcome, Outcome::Failed(_)) {
            if !has_shared_rows && found.mesh.is_some() {
                run::shared_rows(&mut report.err, options, found);
                has_shared_rows = true;
            }
            run::level_rows(&mut report.err, *longest, options, found);
            if is_verbose {
                run::verbose(&mut report.err, options, found);
            }
        }
        reports.push(report);
    }
    let mut last = Report::default();
    findings(&mut last.err, levels, call);
    let resources = &levels[0].options.job.options.resources;
    let time = run::time_line(call.started.elapsed(), &[], resources, "");
    last.err.row("time", time);
    reports.push(last);
    reports
}

/// Adds the findings about all levels. A finding that only some levels have names them.
fn findings(rows: &mut ReportRows, levels: &[DetailLevel], call: &Call) {
    let verbosity = call.printer.options.verbosity;
    let mut all: Vec<(&Finding, String, Vec<usize>)> = vec![];
    let mut made = 0;
    for level in levels {
        if level.found.mesh.is_none() || matches!(level.outcome, Outcome::Failed(_)) {
            continue;
        }
        made += 1;
        for finding in &level.found.warnings {
            if !verbosity.prints(finding) {
                continue;
            }
            let line = finding_line("", finding);
            match all.iter_mut().find(|(_, known, _)| *known == line) {
                Some((_, _, having)) => having.push(level.longest),
                None => all.push((finding, line, vec![level.longest])),
            }
        }
    }
    for (finding, _, having) in all {
        let numbers: Vec<_> = having.iter().map(usize::to_string).collect();
        let about = match numbers.len() {
            n if n == made => String::new(),
            1 => format!("level {}: ", numbers[0]),
            _ => format!("levels {}: ", numbers.join(", ")),
        };
        rows.finding(&about, finding);
    }
}
