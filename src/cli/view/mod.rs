//! `voxelize view` draws the voxels of a mesh or of a voxel file.

mod input;
mod options;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::Serialize;
use voxelize::format::Written;
use voxelize::grid::AXES;
use voxelize::tool::FileGroup;
use voxelize::view::{self, Layer, Picture, Up};
use voxelize::{Cells, Code, Error, Finding, Kind, Progress, Rational, Result, par, tool};

use super::args::values::{LayerChoice, PixelSize};
use super::args::{self, GridArgs, ReadArgs, RuleArgs, RunArgs, SceneArgs, values};
use super::command::{Call, Command};
use super::contents;
use super::files::{Destination, MadeFolders};
use super::memory::Resources;
use super::names::OutputFile;
use super::report::display::{self, bytes, counted, grouped, listed, number};
use super::report::value::{self, Digests, OutputJson, lossy};
use super::report::{Object, Outcome, Report, ReportRows, empty, to_stdout};
use super::run::{mesh_line, time_line, timed};
use input::{GridSize, LabelCells, ViewInput, ViewSource};
use options::{OURS, PictureContent, PictureOptions};

pub const COMMAND: Command = Command {
    name: "view",
    about: "a picture of voxels, as a PNG or as text",
    examples: "\
voxelize view part.stl                   256 cells long, from above a corner: part.png
voxelize view part.stl -r 64 --up y --from 30,20 --perspective -o part.png
voxelize view part.stl --mesh -o mesh.png   its triangles, for comparison
voxelize view part.npz --slice z=40      one layer, as text
voxelize view part.npz --slice x -o x.png   the middle layer across x, as a picture
voxelize view part.npz --slice z=all -o layers/  every layer, one pixel per cell, for a printer
voxelize view part.npz --sheet z -o layers.png   layers side by side
voxelize view leak.npz --veil part.npz   a leak, and the part around it, translucent
voxelize view diff.vox                   the output of diff -o: blue is added, orange removed",
    notes: "\
A picture has the same pixels on every machine and for any number of threads. It records that voxelize made it. Without -o, an existing file is replaced only if voxelize made it.
Slices show x to the right and y upwards across z, x and z across y, y and z across x; in \
pictures of them, occupied cells are sand, enclosed ones (all six neighbours occupied) slate. \
Labels have the colours of their legend, as in a .vox. A field is shown in slices and sheets, on \
a scale from its lowest value to its highest; shares of cells are greys, 0 and 1 plain.

Exit codes: 0 done; 2 usage error; 3 a file cannot be read; 4 nothing to draw; \
5 too large; 6 not written",
    empty: empty::<Drawing>,
    arguments,
    run,
};

fn arguments(command: clap::Command) -> clap::Command {
    args::arguments::<ViewArgs>(command).mut_arg("max_memory", |arg| {
        let help = "Maximum memory to use: 4G, 512M, 1.5GiB or bytes. Mesh, grid and picture together must fit; otherwise they are refused before allocation [default: available memory]";
        arg.help(help).long_help(help)
    })
}

#[derive(Debug, clap::Args)]
struct ViewArgs {
    #[command(flatten)]
    picture: PictureArgs,

    /// A mesh, which is voxelized, or a voxel file of any format that 'voxelize formats' lists, known
    /// by its content; - is a mesh from standard input; part.stl@rotate=z,90 poses a mesh
    #[arg(
        value_name = "FILE",
        help_heading = "Input",
        required_unless_present = "scene",
        conflicts_with = "scene"
    )]
    file: Option<PathBuf>,

    #[command(flatten)]
    scene: SceneArgs,

    #[command(flatten)]
    grid: GridArgs,

    #[command(flatten)]
    rule: RuleArgs,

    #[command(flatten)]
    read: ReadArgs,

    /// The picture to write, replaced if it exists; - is standard output [default: NAME.png in the
    /// working directory for NAME.stl, replaced only if this tool made it; --slice is text]
    #[arg(short, long, value_name = "PATH", help_heading = "Output")]
    output: Option<PathBuf>,

    #[command(flatten)]
    run: RunArgs,
}

impl ViewArgs {
    /// Returns the file to draw, or the scene.
    fn input(&self) -> &Path {
        let scene = self.scene.scene.as_deref();
        self.file.as_deref().or(scene).unwrap_or(Path::new(""))
    }
}

/// Options of the picture.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Picture")]
struct PictureArgs {
    /// Width and height in pixels; a slice is smaller if its cells do not fill it evenly. cells: a slice with one
    /// pixel per cell, white where occupied, black elsewhere. With --slice z=all: size of the plate; each layer is in
    /// its middle [default: 1200x900]
    #[arg(long, value_name = "WxH|cells", value_parser = values::picture_size)]
    size: Option<PixelSize>,

    /// The viewpoint: iso, front, back, left, right, top, bottom, or degrees around the up
    /// axis, counterclockwise from the front, and degrees up [default: iso, which is 45,35.26]
    #[arg(long, value_name = "NAME|AZ,EL", value_parser = view::From::parse, allow_hyphen_values = true)]
    from: Option<view::From>,

    /// The axis that points up in the picture: y or z [default: what the file records, else z]
    #[arg(long, value_name = "AXIS", value_parser = values::up())]
    up: Option<view::Up>,

    /// Draw in perspective: nearer cells are larger
    #[arg(long)]
    perspective: bool,

    /// Draw the triangles of the mesh, not its cells
    #[arg(long, conflicts_with_all = ["slice", "sheet"])]
    mesh: bool,

    /// One layer perpendicular to an axis, counted from 0: z=40, or z for the middle one; text unless -o names a picture.
    /// z=all with -o DIR/: one picture per layer, one pixel per cell, black and white [default: no slice]
    #[arg(long, value_name = "AXIS[=N|all]", value_parser = values::layer, conflicts_with = "sheet")]
    slice: Option<values::LayerChoice>,

    /// Layers perpendicular to an axis, side by side: all layers, or evenly spaced ones if not all fit
    /// [default: no sheet]
    #[arg(long, value_name = "AXIS", value_parser = values::axis)]
    sheet: Option<usize>,

    /// A voxel file of the same grid: its cells are drawn around those of FILE, grey and translucent, as the part
    /// around its leaks [default: none]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["mesh", "slice", "sheet"])]
    veil: Option<PathBuf>,

    /// Background colour: white, black or #rrggbb [default: transparent]
    #[arg(long, value_name = "COLOUR", value_parser = values::background)]
    background: Option<view::Background>,

    /// Leave out the axes in the corner
    #[arg(long)]
    no_axes: bool,

    /// A line below the picture: the file, its cells, and a bar of a round length
    #[arg(long)]
    caption: bool,
}

fn run(call: &Call) -> Result<Vec<Report>> {
    let args: ViewArgs = call.args()?;
    Ok(vec![Report::of(|report, result| {
        let resources = call.resources(args.run.max_memory)?;
        let rows = &mut report.err;
        par::with_threads(resources.threads, || {
            show(args, resources.clone(), call, rows, result)
        })?
    })])
}

/// Result of the command.
#[derive(Default, Serialize)]
struct Drawing {
    input: Option<DrawnFile>,
    grid: Option<GridSize>,
    counts: Option<LabelCells>,
    digest: Option<Digests>,
    picture: Option<PictureInfo>,
    text: Option<String>,
    timings_ms: Option<Object>,
    outputs: Option<Vec<OutputJson>>,
}

#[derive(Serialize)]
struct DrawnFile {
    path: String,
    #[serde(flatten)]
    mesh: Option<MeshFileJson>,
}

/// Properties of a mesh file. Null for a voxel file.
#[derive(Serialize)]
struct MeshFileJson {
    format: Option<&'static str>,
    bytes: Option<u64>,
}

#[derive(Serialize)]
struct PictureInfo {
    shows: &'static str,
    size: [usize; 2],
}

fn show(
    args: ViewArgs,
    resources: Resources,
    call: &Call,
    rows: &mut ReportRows,
    result: &mut Drawing,
) -> Result<Outcome> {
    result.input = Some(DrawnFile {
        path: lossy(args.input()),
        mesh: None,
    });
    let mut options = PictureOptions::new(&args, call)?;
    let extra_bytes = options.extra_bytes(&resources)?;
    let source = ViewSource::new(
        &args,
        Resources {
            extra_bytes,
            ..resources.clone()
        },
        call,
    )?;
    call.check_files()?;
    let mut input = ViewInput::open(source, &args, &options, call)?;
    if let Some(up) = input.up.filter(|_| !call.given("up")) {
        options.view.up = up;
    }
    input.found.warnings.extend(lying(&options, &input));
    let mesh = input.found.mesh.as_ref();
    let (format, bytes) = (mesh.map(|mesh| mesh.format), mesh.map(|mesh| mesh.bytes));
    result.input = Some(DrawnFile {
        path: input.name.clone(),
        mesh: Some(MeshFileJson { format, bytes }),
    });
    result.grid = input.grid_size();
    result.counts = input.counts();
    result.digest = input.found.digest.as_ref().map(Digests::from);
    let mut drawing = None;
    let drawn = timed(&mut drawing, || {
        // Drawing does not check for signals, and nothing has been written yet. A signal may therefore end
        // the process.
        let is_one_picture = !matches!(options.content, PictureContent::Layers(_));
        let _may_stall = is_one_picture.then(|| call.signals.may_stall());
        draw(&options, &input, resources.threads, call)
    })?;
    if !matches!(drawn, Drawn::Layers(_)) {
        call.bar().check()?;
    }
    let written = match drawn {
        Drawn::Text(text) => {
            let text = result.text.insert(text);
            if call.printer.options.json != Some(Destination::Stdout) {
                let _may_stall = call.signals.may_stall();
                to_stdout(text)?;
            }
            vec![]
        }
        Drawn::Layers(written) => written,
        Drawn::Picture(picture) => {
            let picture = captioned(picture, &options, &input);
            result.picture = Some(PictureInfo {
                shows: options.content.name(),
                size: picture.size(),
            });
            let time = &mut input.found.times.write;
            vec![timed(time, || {
                options.output.save_bytes("png", &picture.to_png()?)
            })?]
        }
    };
    let times = &input.found.times;
    let phases = [
        ("read", times.read),
        ("voxelize", times.voxelize),
        ("draw", drawing),
        ("write", times.write),
    ];
    result.timings_ms = Some(value::timings(&phases, input.found.elapsed()));
    result.outputs = Some(value::outputs(&written));
    // A slice that is printed as text has no summary.
    if !written.is_empty() || call.printer.is_verbose() {
        add_rows(rows, &input, &options, &written);
        if let (PictureContent::Layers(_), Some(older)) =
            (options.content, older_layers(&options, &written))
        {
            rows.row("older", older);
        }
        rows.row(
            "time",
            time_line(input.found.elapsed(), &phases, &resources, ""),
        );
        rows.findings("", &input.found.warnings, call.printer.options.verbosity);
    }
    Ok(Outcome::Done)
}

/// Returns the finding that layers across z are drawn although y points up (W019). `None` if this is not so.
fn lying(options: &PictureOptions, input: &ViewInput) -> Option<Finding> {
    let PictureContent::Layers(choice) = options.content else {
        return None;
    };
    let is_across_z = choice.layer(input.dims()).axis == 2;
    let text = "printers assume that z is up, but in this grid y is up";
    let hint = "--axes x,-z,y turns the mesh upright";
    (is_across_z && input.up == Some(Up::Y)).then(|| Finding::new(Code::W019, text).with_hint(hint))
}

/// Returns a text about layers in the folder that an earlier run wrote: `36 layers from z064.png to z099.png
/// are from another run`. `None` if there are none.
fn older_layers(options: &PictureOptions, written: &[Written]) -> Option<String> {
    let new: HashSet<_> = written
        .iter()
        .filter_map(|one| one.path.file_name())
        .collect();
    let axis = new.iter().next()?.to_str()?.chars().next()?;
    let is_layer = |name: &str| {
        let number = name
            .strip_prefix(axis)
            .and_then(|name| name.strip_suffix(".png"));
        number.is_some_and(|number| {
            !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
        })
    };
    let entries = options.output.path().read_dir().ok()?.flatten();
    let names = entries
        .map(|entry| entry.file_name())
        .filter(|name| !new.contains(name.as_os_str()));
    let mut names: Vec<_> = names
        .filter_map(|name| name.into_string().ok())
        .filter(|name| is_layer(name))
        .collect();
    names.sort();
    let (first, last) = (names.first()?, names.last()?);
    Some(format!(
        "{} from {first} to {last} were written by another run",
        counted(names.len() as u64, "layer", "layers")
    ))
}

enum Drawn {
    Picture(Picture),
    Text(String),
    /// Files that were written, one per layer.
    Layers(Vec<Written>),
}

/// Returns the picture, with a caption below it if one is requested.
fn captioned(picture: Picture, options: &PictureOptions, input: &ViewInput) -> Picture {
    if !options.has_caption {
        return picture;
    }
    let unit = input.unit.as_deref().unwrap_or_default();
    let [x, y, z] = input.dims();
    let what = match (&input.mesh, &input.found.lattice) {
        (Some(mesh), _) => counted(mesh.triangles().len() as u64, "triangle", "triangles"),
        (None, Some(lattice)) => {
            let sizes = display::sizes(lattice.spacing().each_ref().map(Rational::to_f64))
                .replace('×', "x");
            format!("{x} x {y} x {z} cells of {sizes} {unit}")
                .trim_end()
                .to_string()
        }
        (None, None) => format!("{x} x {y} x {z} cells"),
    };
    // If the position of the cells is unknown, lengths are in cells.
    let has_length = input.mesh.is_some() || input.found.lattice.is_some();
    let unit = if has_length { unit } else { "cells" };
    let name = Path::new(&input.name)
        .file_name()
        .map_or(input.name.clone().into(), |name| name.to_string_lossy());
    let layer = layer_text(input, options).map_or_else(String::new, |layer| format!(", {layer}"));
    picture.with_caption(
        &format!("{name}{layer}: {what}"),
        unit,
        options.view.background,
    )
}

/// Returns the drawn layer, or the axis across the layers, with the directions of the two visible axes: `z=40
/// (x right, y up)`.
fn layer_text(input: &ViewInput, options: &PictureOptions) -> Option<String> {
    let (layer, what) = match options.content {
        PictureContent::Slice(choice) => {
            let layer = choice.layer(input.dims());
            (layer, format!("{}={}", AXES[layer.axis], layer.index))
        }
        PictureContent::Sheet(axis) => (
            Layer { axis, index: 0 },
            format!("layers across {}", AXES[axis]),
        ),
        _ => return None,
    };
    let [right, up] = layer.plane().map(|axis| AXES[axis]);
    Some(format!("{what} ({right} right, {up} up)"))
}

/// Draws each layer into its own file, such as `z0000.png`.
fn draw_layers(
    choice: LayerChoice,
    cells: &Cells,
    (folder, plate): (&Path, Option<[usize; 2]>),
    threads: usize,
    call: &Call,
) -> Result<Vec<Written>> {
    let dims = cells.as_ref().dims();
    // Drawing one layer checks the size of the plate before any file is written.
    view::mask_png(
        cells,
        Layer {
            axis: choice.layer(dims).axis,
            index: 0,
        },
        plate,
    )?;
    const HINT: &str = "-o DIR/ names another folder";
    let digits = (dims[choice.layer(dims).axis].max(2) - 1).to_string().len();
    // The names of all files are registered before any file is written.
    let mut files = vec![];
    for layer in choice.layers(dims) {
        let name = format!("{}{:0digits$}.png", AXES[layer.axis], layer.index);
        let file = OutputFile::new(&folder.join(&name), "a layer")
            .existing(OURS, HINT)
            .in_made_folder()
            .hint(HINT)
            .register(&call.names)?;
        file.check()?;
        files.push((layer, name, file));
    }
    let made = MadeFolders::default();
    let bar = call.bar();
    made.make(folder)?;
    let hinted = |error: Error| match error.hint() {
        None => error.with_hint(HINT),
        Some(_) => error,
    };
    let group = FileGroup::create(folder).map_err(hinted)?;
    bar.begin("write", files.len() as u64);
    let write = |(layer, name, file): &(Layer, String, OutputFile)| {
        bar.check()?;
        let png = view::mask_png(cells, *layer, plate)?;
        file.written_by(|| group.write(name, &png))?;
        bar.advance(1);
        Ok(Written {
            path: file.path().to_path_buf(),
            format: "png",
            bytes: png.len() as u64,
        })
    };
    let done: Vec<Result<Written>> =
        tool::side_by_side(&files, threads.min(files.len()), 1, write)?;
    bar.clear();
    let written = done.into_iter().collect::<Result<Vec<_>>>()?;
    group.give_names(OURS).map_err(hinted)?;
    Ok(written)
}

fn draw(options: &PictureOptions, input: &ViewInput, threads: usize, call: &Call) -> Result<Drawn> {
    let spacing = input.spacing();
    let view = &options.view;
    let picture = match (options.content, &input.cells, &input.mesh) {
        (PictureContent::Mesh, _, Some(mesh)) => view::facets(mesh, view),
        (PictureContent::Cells, Some(Cells::Field(_)), _) => {
            Err(Error::usage("a field is shown in slices")
                .with_hint("--slice z -o FILE.png shows the middle layer, --sheet z many layers"))
        }
        (PictureContent::Cells, Some(cells), _) => {
            view::cells_behind(cells, input.veil.as_ref(), spacing, view)
        }
        (PictureContent::Text(choice), Some(cells), _) => {
            return view::slice_text(input.shown(cells), choice.layer(input.dims()))
                .map(Drawn::Text)
                .map_err(|error| error.in_file(&input.name));
        }
        (PictureContent::Layers(choice), Some(cells), _) => {
            let drawn = draw_layers(
                choice,
                cells,
                (options.output.path(), options.plate),
                threads,
                call,
            );
            return drawn
                .map(Drawn::Layers)
                .map_err(|error| match error.kind() {
                    Kind::Usage if error.hint().is_none() => {
                        error.with_hint("--size names a larger plate")
                    }
                    _ => error,
                });
        }
        (PictureContent::Slice(choice), Some(cells), _) if options.is_mask => {
            view::mask(cells, choice.layer(input.dims()), None)
        }
        (PictureContent::Slice(choice), Some(cells), _) => {
            let layer = choice.layer(input.dims());
            view::slice(
                input.shown(cells),
                spacing,
                layer,
                view.size,
                view.background,
            )
        }
        (PictureContent::Sheet(axis), Some(cells), _) => view::sheet(
            input.shown(cells),
            spacing,
            axis,
            view.size,
            view.background,
        ),
        (PictureContent::Mesh, _, None) | (_, None, _) => unreachable!("what is drawn was opened"),
    };
    picture.map(Drawn::Picture).map_err(|error| {
        let describe = format!("'voxelize info {}' describes it", input.name);
        let error = if error.kind() == Kind::Unfit {
            error.with_hint(describe)
        } else {
            error
        };
        error.in_file(&input.name)
    })
}

fn add_rows(
    rows: &mut ReportRows,
    input: &ViewInput,
    options: &PictureOptions,
    written: &[Written],
) {
    match &input.found.mesh {
        Some(mesh) => rows.row("mesh", mesh_line(&input.name, mesh) + &input.placement),
        None => rows.row("voxels", &input.name),
    }
    if input.cells.is_some() {
        rows.row(
            "grid",
            match &input.found.lattice {
                Some(lattice) => display::grid_in(lattice, input.unit.as_deref()),
                None => {
                    format!(
                        "{} cells; the file does not contain their position",
                        display::dims(input.dims())
                    )
                }
            },
        );
        rows.row("cells", cells(input));
    }
    rows.row("view", view_text(input, options));
    if written.is_empty() {
        return;
    }
    let name = options.output.name();
    let size = bytes(written.iter().map(|one| one.bytes).sum::<u64>());
    rows.row(
        "wrote",
        match options.content {
            PictureContent::Layers(_) => {
                format!(
                    "{} in {name}, {size}",
                    counted(written.len() as u64, "layer", "layers")
                )
            }
            _ => format!("{name}, {size}"),
        },
    );
}

fn cells(input: &ViewInput) -> String {
    let occupied = grouped(input.found.occupied.unwrap_or_default());
    match &input.cells {
        Some(Cells::Field(field)) => format!("field, {}", contents::range(&field.summary())),
        Some(Cells::Labels(labels)) => match contents::labels(labels.into()).as_slice() {
            [_] => occupied,
            labels => listed(contents::texts(labels).into_iter()),
        },
        // A mesh was voxelized for the picture by a rule that leaves its inside empty.
        _ if input.found.mesh.is_some()
            && matches!(input.rule.as_deref(), Some("surface" | "thin" | "offset")) =>
        {
            format!("{occupied}; hollow; --filled or --solid fills it")
        }
        _ => occupied,
    }
}

fn view_text(input: &ViewInput, options: &PictureOptions) -> String {
    let from = options.view.from;
    let up = match options.view.up {
        Up::Y => "y up",
        _ => "z up; --up y if the mesh lies on its side",
    };
    let place = || {
        format!(
            "from {}°, {}°, {up}",
            number(from.azimuth),
            number(from.elevation)
        )
    };
    match options.content {
        PictureContent::Cells if input.rule.as_deref() == Some("leak") && input.veil.is_none() => {
            format!(
                "{}; --veil PART.npz also draws the part around them",
                place()
            )
        }
        PictureContent::Cells => place(),
        PictureContent::Mesh => format!("triangles, {}", place()),
        PictureContent::Slice(choice) | PictureContent::Text(choice) => {
            let layer = choice.layer(input.dims());
            format!("layer {}={}", AXES[layer.axis], layer.index)
        }
        PictureContent::Layers(choice) => {
            format!(
                "every layer perpendicular to {}, one pixel per cell",
                AXES[choice.layer(input.dims()).axis]
            )
        }
        PictureContent::Sheet(axis) => format!("layers across {}", AXES[axis]),
    }
}
