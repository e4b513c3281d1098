//! Conversion of several meshes, each to its own file. Finds the meshes, names the outputs, makes the grids
//! in parallel, and reports on all of them.

pub mod inputs;
mod report;

use std::path::{Path, PathBuf};
use std::time::Instant;

use voxelize::format::{self, Existing, GridStack, Sidecar, Written};
use voxelize::grid::Quantities;
use voxelize::job::{Request, Transform, one_unit, one_up, system};
use voxelize::{Bounds, Error, Kind, Progress, Rational, Result, tool};

use super::args::{ConvertArgs, InputArgs, OutputArgs, prefixed};
use super::argv::Argv;
use super::command::Call;
use super::files::{self, MeshSource};
use super::guard::guarded;
use super::memory::Resources;
use super::options::{self, DoubtOptions, GridFrom, Job, JobOptions, Mode, Options};
use super::output::{self, Output};
use super::progress::Bar;
use super::report::{Outcome, Report, Verbosity};
use super::run::{self, RunReport};
use super::schedule::{self, Slot};
use super::suggest;
use inputs::Skipped;
use report::{Entry, OrderedReporter};

/// Validated options of a call with several meshes.
struct BatchOptions {
    /// Options of each level of detail. One entry if there is one grid per mesh.
    levels: Vec<JobOptions>,
    /// Meshes that the user named and meshes of named folders, in the order of the call.
    items: Vec<Item>,
    /// Files in the named folders that are not meshes.
    skipped: Skipped,
    /// Options that all outputs share.
    output: Output,
    doubt: Option<DoubtOptions>,
    quantities: Quantities,
    /// Density of the material in g/cm³. `None` if it was not given.
    density: Option<Rational>,
    grids: Grids,
    mode: Mode,
}

/// Number of threads that sync and rename finished files while other threads make cells. With eight threads,
/// 500 files of 11 KB take less than half the time that they take with two. More than eight threads gain
/// nothing.
const NAMERS: usize = 8;

/// Memory for the names, options and report of one mesh, in bytes. Measured with 9,000 meshes.
const PER_MESH: u64 = 5 << 10;

/// Number of files that the program itself keeps open, and number of files open for one mesh: the mesh, its
/// outputs and the folder.
const OWN_FILES: u64 = 8;
const FILES_OF_ONE: u64 = 4;

/// Returns how many meshes may be made at the same time, and how many may wait to be renamed, so that the
/// limit of open files is not exceeded.
fn within_open_files(threads: usize) -> [usize; 2] {
    let Some(limit) = system::open_files() else {
        return [threads, NAMERS];
    };
    // A mesh has open files in three states: being made, being renamed, and waiting until a renaming thread
    // is free.
    let most = limit.saturating_sub(OWN_FILES) / FILES_OF_ONE / 3;
    let most = usize::try_from(most).unwrap_or(usize::MAX).max(1);
    [threads.min(most), NAMERS.min(most)]
}

/// Mesh whose cells are made. Its files may still have temporary names.
struct MadeItem<'a> {
    n: usize,
    item: &'a Item,
    options: Options,
    found: RunReport,
    outcome: Outcome,
}

/// One mesh of the batch.
struct Item {
    /// Name as given.
    path: PathBuf,
    /// Level of detail: the place in [`BatchOptions::levels`].
    level: usize,
    /// Number of cells along the longest axis, if the mesh has several levels of detail.
    longest: Option<usize>,
    /// Input and output, or the error of a mesh that cannot be converted.
    ready: Result<(MeshSource, Output)>,
}

impl Item {
    /// Returns the name for messages: `a.stl`, or `a.stl, level 64`.
    fn title(&self) -> String {
        let path = self.path.display();
        match self.longest {
            Some(longest) => format!("{path}, level {longest}"),
            None => path.to_string(),
        }
    }

    /// Returns the size of the mesh file in bytes, or 0 if it is unknown.
    fn size(&self) -> u64 {
        let path = match &self.ready {
            Ok((source, _)) => source.path(),
            Err(_) => None,
        };
        let found = path.and_then(|path| path.metadata().ok());
        found.map_or(0, |found| found.len())
    }
}

/// What the lattice of each mesh is fitted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grids {
    /// Each lattice is fitted to its own mesh.
    Own,
    /// One lattice is fitted to the bounds of all meshes.
    Same,
}

/// Returns `true` if the call may make more than one grid. If `-o` names a file, several named meshes are
/// joined into that one file instead. An output name without an extension counts as a file only if it exists,
/// as a device does.
pub fn is_requested(input: &InputArgs, output: &OutputArgs) -> bool {
    let InputArgs {
        meshes,
        files_from,
        shard_list,
        scene,
        ..
    } = input;
    // A scene is one grid; clap refuses the options of many grids with it.
    if scene.scene.is_some() {
        return false;
    }
    files_from.is_some()
        || output.stack
        || shard_list.is_some()
        || meshes.len() > 1 && !is_one_file(output)
        || meshes.iter().any(|mesh| mesh.is_dir())
}

fn is_one_file(output: &OutputArgs) -> bool {
    output.output.as_ref().is_some_and(|path| {
        !output::is_folder(path)
            && (path.extension().is_some() || path.as_os_str() == "-" || path.exists())
    })
}

/// Returns `true` if some meshes are in folders and `-o` names one file. If labels tell the meshes apart, they
/// are joined into that file.
pub fn joins_folders(input: &InputArgs, output: &OutputArgs) -> bool {
    is_one_file(output)
        && !output.stack
        && input.files_from.is_none()
        && input.shard_list.is_none()
        && input.meshes.iter().any(|mesh| mesh.is_dir())
}

/// Returns these names with folders replaced by their meshes, sorted by name.
///
/// # Errors
/// Fails if a folder cannot be listed or has no mesh.
pub fn in_folders(names: &[PathBuf], call: &Call) -> Result<Vec<PathBuf>> {
    let mut meshes = vec![];
    for (path, problem) in inputs::in_folders(names, &call.bar())? {
        if let Some(problem) = problem {
            return Err(problem);
        }
        meshes.push(path);
    }
    Ok(meshes)
}

/// Voxelizes all meshes.
pub fn convert(args: ConvertArgs, call: &Call) -> Result<Vec<Report>> {
    // Signals are handled before the list of names is read, because temporary folders may exist by then.
    call.signals.listen()?;
    BatchOptions::new(args, call)?.run(call)
}

impl BatchOptions {
    /// Validates the options. Looks at files but changes none.
    fn new(args: ConvertArgs, call: &Call) -> Result<Self> {
        let argv = call.argv;
        let request = argv.request()?;
        if args.output.stack {
            refuse_uneven(&request, &args)?;
        }
        let folder = (!args.output.stack)
            .then(|| folder(&args.input, &args.output, argv))
            .transpose()?;
        let mode = if args.dry_run {
            Mode::DryRun
        } else {
            Mode::Write
        };
        let grids = if args.input.same_grid {
            Grids::Same
        } else {
            Grids::Own
        };
        let resources = call.resources(args.run.max_memory)?;
        let numbers = request.levels.clone();
        let mut levels = vec![];
        for request in request.by_level() {
            let resources = resources.clone();
            let options = JobOptions::of_conversion(request, &args.read, resources, &call.names)?;
            levels.push(options.reported(&call.printer.options));
        }
        let options = levels[0].clone();
        let doubt = DoubtOptions::new(&args.doubt, &options.rule, Sidecar::Auto, call)?;
        let leak = options::leak(&args.leak, &options.rule, Sidecar::Auto, call)?;
        let nearest = options::nearest(&args.nearest, &options.rule, call)?;
        let has_file = doubt.as_ref().is_some_and(|options| options.file.is_some());
        if has_file || leak.is_some() || nearest.is_some() {
            let named = if leak.is_some() { "leak" } else { "nearest" };
            let option = argv
                .with_value(if has_file { "doubt" } else { named })
                .unwrap_or_default();
            let error = Error::usage(format!("{option}: every mesh would overwrite this file"));
            return Err(error.with_hint(if has_file {
                "use --doubt with one mesh at a time; --max-doubt works with several meshes"
            } else if nearest.is_some() {
                "use --nearest with one mesh at a time"
            } else {
                "use --leak with one mesh at a time; a warning names the longest hole of each mesh"
            }));
        }
        let output = match &folder {
            Some(folder) => Output::in_folder(folder, &args.output, options.kind(), argv)?,
            None => Output::stacked(&args.output, options.kind(), call)?,
        };
        output.check_rounding(&options::record_of(&options.rule))?;
        let quantities = options::quantities(&args.quantities, &options, &output)?;
        let density = options::density(args.density, &options.rule)?;
        let mut named = args.input.meshes;
        if let Some(file) = &args.input.files_from {
            named.extend(inputs::read_list(
                file,
                &named,
                args.input.null,
                call.signals,
                &call.names,
            )?);
        }
        let (found, skipped) = inputs::all(&named, &call.bar())?;
        if grids == Grids::Same {
            inputs::refuse_pipes(&found)?;
        }
        // Each process names the outputs of all meshes, not only of its share, so that all processes agree on
        // names and conflicts.
        let mut items = inputs::items(found, &output, &numbers, call)?;
        let paths: Vec<_> = items
            .iter()
            .map(|item| files::file_of(&item.path))
            .collect();
        let options = options.for_meshes(paths.iter().map(PathBuf::as_path))?;
        let bytes = items.len() as u64 * PER_MESH;
        options
            .admit(bytes, "the names and reports of the meshes")
            .map_err(|error| {
                error.with_hint("raise --max-memory, or name fewer meshes at a time")
            })?;
        for level in &mut levels {
            level.resources.extra_bytes += bytes;
        }
        if let Some(share) = args.input.shard_list {
            let mut place = 0..;
            items.retain(|_| place.next().is_some_and(|place| share.has(place)));
        }
        call.check_files()?;
        Ok(Self {
            levels,
            items,
            skipped,
            output,
            doubt,
            quantities,
            density,
            grids,
            mode,
        })
    }

    /// Makes all grids. Returns the reports that were not printed during the run.
    fn run(&self, call: &Call) -> Result<Vec<Report>> {
        let bar = call.bar();
        let (levels, unreadable) = match self.grids {
            Grids::Own => (
                self.levels.clone(),
                self.items.iter().map(|_| None).collect(),
            ),
            Grids::Same => self.same_grid(&bar, call)?,
        };
        let numbered: Vec<_> = self.items.iter().zip(&unreadable).enumerate().collect();
        let reporter = OrderedReporter::new(self, call, &bar);
        bar.begin("meshes", self.items.len() as u64);
        type Numbered<'a> = (usize, (&'a Item, &'a Option<Error>));
        let size = |(_, (item, _)): &Numbered| item.size();
        let report = |n: usize, entry: Entry| {
            reporter.take(n, entry);
            bar.advance(1);
        };
        let name = |made: MadeItem| report(made.n, self.named(made, call));
        let [threads, namers] = within_open_files(levels[0].resources.threads);
        let together = Resources {
            threads,
            ..levels[0].resources.clone()
        };
        tool::handed_on(namers, name, |hand_on| {
            schedule::each(
                &numbered,
                &together,
                size,
                |(n, (item, unreadable)), resources, slot| {
                    let found = RunReport::new(Instant::now());
                    let known = match (unreadable, &item.ready) {
                        // After an interrupt no further mesh is started.
                        _ if bar.cancelled() => Some(Error::interrupted()),
                        (Some(error), _) | (_, Err(error)) => Some(error.clone()),
                        _ => None,
                    };
                    match known {
                        Some(error) => report(
                            *n,
                            Entry::new(self, item, None, &found, Outcome::of(error), call),
                        ),
                        None => {
                            let options = &levels[item.level];
                            hand_on(self.one((*n, item), options, resources, slot, call, found)?)
                        }
                    }
                    Some(())
                },
            )
        })?;
        let stacked = match &self.output.stack {
            Some(place)
                if self.mode == Mode::Write && !place.stack.is_empty() && !bar.cancelled() =>
            {
                Some(self.write_stack(&place.stack, &bar)?)
            }
            _ => None,
        };
        bar.clear();
        Ok(reporter.total(stacked))
    }

    /// Writes the grids of all meshes as one array.
    fn write_stack(&self, stack: &GridStack, bar: &Bar) -> Result<Written> {
        let need = u64::try_from(stack.bytes()).unwrap_or(u64::MAX);
        self.levels[0].admit(need, "a grid and a layer of the array")?;
        let options = self.output.save_options(bar);
        let file = &self.output.file;
        let write = |out: &mut dyn std::io::Write| {
            stack.write_to(out, &options).map_err(std::io::Error::other)
        };
        file.written_by(|| tool::save_bytes(file.path(), Existing::Replace, "npz", write))
    }

    /// Makes the grid of one mesh. Returns `None` if the mesh needs more memory than its slot has; it is then
    /// tried again alone.
    fn one<'a>(
        &self,
        (n, item): (usize, &'a Item),
        options: &JobOptions,
        resources: &Resources,
        slot: Slot,
        call: &Call,
        mut found: RunReport,
    ) -> Option<MadeItem<'a>> {
        let (source, output) = item.ready.as_ref().ok()?;
        let options = JobOptions {
            resources: resources.clone(),
            ..options.clone()
        };
        let job = Job {
            source: source.clone(),
            options,
        };
        let output = output.clone().named_later();
        let doubt = self.doubt.clone();
        let quantities = self.quantities;
        let mut options = Options {
            job,
            output,
            doubt,
            leak: None,
            nearest: None,
            quantities,
            density: self.density.clone(),
            mode: self.mode,
        };
        // The meshes share one progress bar, which counts meshes. The bar of a single job is off.
        let bar = Bar::new(Verbosity::Quiet, call.signals.clone());
        match run::convert(&mut options, &bar, call.signals, &mut found) {
            Outcome::Failed(error) if error.kind() == Kind::TooLarge && slot == Slot::Shared => {
                None
            }
            outcome => Some(MadeItem {
                n,
                item,
                options,
                found,
                outcome,
            }),
        }
    }

    /// Gives the files of a mesh their final names and returns the report of the mesh.
    fn named(&self, made: MadeItem, call: &Call) -> Entry {
        let MadeItem {
            item,
            mut options,
            mut found,
            mut outcome,
            ..
        } = made;
        if matches!(outcome, Outcome::Done | Outcome::CheckFailed(_)) {
            let bar = Bar::new(Verbosity::Quiet, call.signals.clone());
            if let Err(error) = guarded(|| options.output.give_names(&bar)) {
                found.outputs = None;
                outcome = run::failed(error, &options);
            }
        }
        Entry::new(self, item, Some(&options), &found, outcome, call)
    }

    /// Returns the options of each level with one lattice around all readable meshes, and for each item the error
    /// if its mesh cannot be read.
    fn same_grid(&self, bar: &Bar, call: &Call) -> Result<(Vec<JobOptions>, Vec<Option<Error>>)> {
        bar.begin("bounds", self.items.len() as u64);
        let found = schedule::each(
            &self.items,
            &self.levels[0].resources,
            Item::size,
            |item, resources, slot| {
                let bounds = self.bounds(item, resources, call);
                if matches!(&bounds, Err(e) if e.kind() == Kind::TooLarge && slot == Slot::Shared) {
                    return None;
                }
                bar.advance(1);
                Some(bounds)
            },
        )?;
        bar.clear();
        bar.check()?;
        let all = found
            .iter()
            .flatten()
            .fold(Bounds::EMPTY, |all, (bounds, _)| all.union(bounds));
        let units = found.iter().flatten().map(|(_, transform)| transform.unit);
        let stated = [(one_unit(units)?, None)];
        // All meshes must have the same up axis.
        one_up(
            found
                .iter()
                .flatten()
                .map(|(_, transform)| Some(transform.up)),
        )?;
        let mut levels = self.levels.clone();
        for options in &mut levels {
            options.take_stated(&stated, [const { Rational::ZERO }; 3])?;
            if all.is_empty() {
                continue;
            }
            let lattice = options.grid.lattice(&all).map_err(|e| match e.kind() {
                Kind::Unfit => e.with_hint(
                    "the meshes together have no extent: state the cell size with --voxel-size S",
                ),
                _ => prefixed(&format!("{}: ", options.grid.option), &e),
            })?;
            options.grid.from = GridFrom::Shared(Box::new(lattice), all);
        }
        Ok((levels, found.into_iter().map(Result::err).collect()))
    }

    /// Returns the bounds of a mesh, and its transform including the unit and the up axis.
    fn bounds(
        &self,
        item: &Item,
        resources: &Resources,
        call: &Call,
    ) -> Result<(Bounds, Transform)> {
        let (source, _) = item.ready.as_ref().map_err(Error::clone)?;
        // The bounds of all meshes must be in the same coordinates, so no mesh is read relative to a point
        // near it.
        let options = JobOptions {
            resources: resources.clone(),
            reads_near: false,
            ..self.levels[item.level].clone()
        };
        let mut job = Job {
            source: source.clone(),
            options,
        };
        let bar = Bar::new(Verbosity::Quiet, call.signals.clone());
        let mesh = guarded(|| {
            run::read(
                &mut job,
                &bar,
                call.signals,
                &mut RunReport::new(Instant::now()),
            )
        })?;
        Ok((*mesh.bounds(), job.options.grid.transform))
    }
}

/// Refuses to stack grids in one array if their dims may differ, or if their values may have different
/// meanings.
fn refuse_uneven(request: &Request, args: &ConvertArgs) -> Result<()> {
    if !request.levels.is_empty() {
        let error = Error::usage("--stack: levels of detail have different dimensions");
        return Err(error.with_hint("-o DIR/ writes a file for each level"));
    }
    let is_cube = request.is_cube && request.voxel_size.is_none();
    let is_even = request.dims.is_some()
        || request.like.is_some()
        || request.bounds.is_some()
        || args.input.same_grid
        || is_cube;
    if !is_even {
        let error =
            Error::usage("--stack: the grids of the meshes would have different dimensions");
        return Err(
            error.with_hint("add --dims X,Y,Z, -r N --cube, --same-grid, --bounds or --like FILE")
        );
    }
    if request.labels.unwrap_or_default().are_of_mesh() {
        let error = Error::usage(
            "--labels cannot be used with --stack, because each mesh has its own labels",
        );
        return Err(error.with_hint("-o DIR/ writes one file per mesh, with its legend"));
    }
    match args.quantities.with.is_empty() {
        true => Ok(()),
        false => {
            Err(Error::usage("--with cannot be used with --stack").with_hint("-o DIR/ writes them"))
        }
    }
}

/// Returns the output folder that `-o` names.
fn folder(input: &InputArgs, args: &OutputArgs, argv: &Argv) -> Result<PathBuf> {
    if let Some(error) = slip(&input.meshes, argv).filter(|_| args.output.is_none()) {
        return Err(error);
    }
    let what = match input.meshes.as_slice() {
        _ if input.files_from.is_some() => "a list of meshes needs".to_string(),
        [one] => format!("{} is a folder; its meshes need", one.display()),
        _ => "several meshes need".to_string(),
    };
    let store = if let [one] = &*input.meshes {
        files::unfinished_store(one)
    } else {
        None
    };
    let Some(path) = &args.output else {
        let usual = "-o DIR/ writes one file per mesh; -o FILE puts all meshes into one grid, if the command line names each mesh";
        return Err(Error::usage(format!("{what} an output folder"))
            .with_hint(store.unwrap_or_else(|| usual.to_string())));
    };
    if output::is_folder(path) {
        return Ok(path.clone());
    }
    let option = argv.with_value("output").unwrap_or_default();
    let folder = match path.to_str() {
        Some("-") => "DIR".to_string(),
        _ => files_folder(path).display().to_string(),
    };
    let format = match format::by_path(path) {
        Some(format) if args.file.format.is_none() => format!("-f {} ", format.name),
        _ => String::new(),
    };
    let usual = || match input.meshes.as_slice() {
        [one] if input.files_from.is_none() => format!(
            "use {format}-o {folder}/ for one file per mesh; {} puts all meshes into one file",
            one.join(format!("*.{}", first_extension(one))).display()
        ),
        _ => format!(
            "use {format}-o {folder}/; only meshes that the command line names one by one go into one file"
        ),
    };
    Err(Error::usage(format!("{option}: {what} an output folder"))
        .with_hint(store.unwrap_or_else(usual)))
}

/// Returns a path of a folder that is named after a file, without the extensions of the file.
fn files_folder(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    match name.split_once('.') {
        Some((stem, _)) if !stem.is_empty() => file.with_file_name(stem),
        _ => file.with_extension(""),
    }
}

/// Returns the extension of the first mesh in a folder, or `stl` if there is none.
fn first_extension(folder: &Path) -> String {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.path()).collect();
    names.retain(|path| files::is_mesh_name(path));
    let first = names.iter().min().and_then(|path| path.extension());
    first.map_or_else(|| "stl".to_string(), |e| e.to_string_lossy().into_owned())
}

/// Returns an error if some mesh names were probably meant as something else: a command, an output or the
/// file of `--json`.
fn slip(meshes: &[PathBuf], argv: &Argv) -> Option<Error> {
    let line = |words: &[PathBuf]| {
        let words = words.iter().map(|word| word.display().to_string());
        std::iter::once("voxelize".to_string())
            .chain(words)
            .collect::<Vec<_>>()
            .join(" ")
    };
    let (first, rest) = meshes.split_first()?;
    let (last, before) = meshes.split_last().filter(|_| !rest.is_empty())?;
    if !first.exists() && suggest::command(first).is_some() {
        return Some(suggest::not_found(first));
    }
    let is_number = |word: &&PathBuf| {
        word.to_str()
            .is_some_and(|word| word.parse::<f64>().is_ok())
    };
    if let Some(number) = meshes.iter().filter(is_number).find(|word| !word.exists()) {
        let error = Error::usage(format!("{} is not a mesh", number.display()));
        return Some(
            error.with_hint("separate the numbers of an option with commas, as in --dims 64,64,64"),
        );
    }
    if let Some(unit) = meshes.iter().find(|word| suggest::is_unit(word)) {
        return Some(suggest::not_found(unit));
    }
    let (what, meant) =
        if !first.exists() && first.components().count() == 1 && first.extension().is_none() {
            (
                format!("{} is neither a command nor a mesh", first.display()),
                line(rest),
            )
        } else if last.exists() {
            return None;
        } else if files::is_voxel_name(last) {
            (
                not_there(last),
                format!("{} -o {}", line(before), last.display()),
            )
        } else if files::has_extension(last, "png") && before.len() == 1 {
            let mesh = first.display();
            (
                not_there(last),
                format!("voxelize view {mesh} -o {}", last.display()),
            )
        } else if files::has_extension(last, "json") && argv.is_given("json") {
            (
                not_there(last),
                format!("{} --json={}", line(before), last.display()),
            )
        } else if last.extension().is_none() && before.iter().all(|mesh| mesh.exists()) {
            (
                not_there(last),
                format!("{} -o {}/", line(before), last.display()),
            )
        } else {
            return None;
        };
    Some(Error::usage(what).with_hint(format!("did you mean '{meant}'?")))
}

fn not_there(path: &Path) -> String {
    format!("{}: no such file", path.display())
}
