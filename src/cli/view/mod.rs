//! `voxelize view`: a picture of a mesh's voxels, or of those in a file.

mod input;
mod request;
mod said;

use std::io::Write;
use std::path::PathBuf;

use clap::CommandFactory;
use serde_json::{Value, json}; // the schema is the command line's own
use voxelize::format::Written;
use voxelize::view::{self, Picture};
use voxelize::{Progress, Result};

use super::args::{GridArgs, PageArgs, RuleArgs, RunArgs, TellArgs};
use super::call::{Call, End};
use super::facts::timed;
use super::verb::Verb;
use super::{tell, values};
use input::Shown;
use request::{Request, Target, What};

pub const VERB: Verb = Verb {
    name: "view",
    usage: "[OPTIONS] FILE",
    about: "a picture of voxels, as a PNG or as text",
    examples: "\
voxelize view part.stl                   256 cells long, from above a corner: part.png
voxelize view part.stl -r 64 --up y --from 30,20 --perspective -o part.png
voxelize view part.stl --mesh -o mesh.png   its triangles, to compare with
voxelize view part.npz --slice z=40      one layer, as text
voxelize view part.npz --slice x -o x.png   the middle layer across x, as a picture
voxelize view part.npz --sheet z -o layers.png   layers side by side
voxelize view diff.vox                   what diff -o wrote: blue is added, orange removed",
    notes: "\
A picture has the same pixels on every machine and for any number of threads. It says in itself
that this tool made it; a file of the same name that does not is replaced only if -o names it.
Slices show x to the right and y upwards across z, x and z across y, y and z across x; in pictures
of them, cells with all six neighbours occupied are the colour of sand.

Exit codes: 0 done; 2 wrong question; 3 a file cannot be read; 4 nothing to see;
5 does not fit; 6 not written",
    keys: &["input", "grid", "counts", "digest", "picture", "text", "timings_ms", "outputs"],
    arguments,
    run,
};

fn arguments() -> clap::Command {
    Args::command().mut_arg("max_memory", |arg| {
        let help = "The most memory to use: 4G, 512M, 1.5GiB or plain bytes. Mesh, grid and picture are held at \
                    once; what does not fit is refused before it is allocated [default: what is available]";
        arg.help(help).long_help(help)
    })
}

#[derive(Debug, clap::Parser)]
struct Args {
    /// A mesh, which is voxelized, or a voxel file of any format that 'voxelize formats' lists, told
    /// by its content; - is a mesh from standard input
    #[arg(value_name = "FILE", help_heading = "Input")]
    file: PathBuf,

    #[command(flatten)]
    picture: PictureArgs,

    #[command(flatten)]
    grid: GridArgs,

    #[command(flatten)]
    rule: RuleArgs,

    /// The picture to write, replaced if it exists; - is standard output [default: NAME.png in the
    /// working directory for NAME.stl, replaced only if this tool made it; --slice is text]
    #[arg(short, long, value_name = "PATH", help_heading = "Output")]
    output: Option<PathBuf>,

    #[command(flatten)]
    tell: TellArgs,

    #[command(flatten)]
    run: RunArgs,

    #[command(flatten)]
    page: PageArgs,
}

/// What is seen, and how.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Picture")]
struct PictureArgs {
    /// Width and height in pixels; a slice takes as much of it as whole cells fill [default: 1200x900]
    #[arg(long, value_name = "WxH", value_parser = values::picture_size)]
    size: Option<[usize; 2]>,

    /// Where it is seen from: iso, front, back, left, right, top, bottom, or degrees around the up
    /// axis, counterclockwise from the front, and degrees up [default: iso, which is 45,35.26]
    #[arg(long, value_name = "NAME|AZ,EL", value_parser = view::From::parse, allow_hyphen_values = true)]
    from: Option<view::From>,

    /// The axis that points up in the picture: y or z [default: z]
    #[arg(long, value_name = "AXIS", value_parser = values::up())]
    up: Option<view::Up>,

    /// What is nearer is larger, as an eye sees it
    #[arg(long)]
    perspective: bool,

    /// Draw the triangles of the mesh, not its cells
    #[arg(long, conflicts_with_all = ["slice", "sheet"])]
    mesh: bool,

    /// One layer across an axis, counted from 0: z=40, or z for the middle one. Text on standard
    /// output unless -o names a picture [default: no slice]
    #[arg(long, value_name = "AXIS[=N]", value_parser = values::layer, conflicts_with = "sheet")]
    slice: Option<values::LayerAsked>,

    /// Layers across an axis side by side: all, or as many as have room, evenly chosen
    /// [default: no sheet]
    #[arg(long, value_name = "AXIS", value_parser = values::axis)]
    sheet: Option<usize>,

    /// What is behind: white, black or #rrggbb [default: nothing, it stays transparent]
    #[arg(long, value_name = "COLOUR", value_parser = values::background)]
    background: Option<view::Background>,

    /// Leave out the axes in the corner
    #[arg(long)]
    no_axes: bool,
}

fn run(call: &mut Call) -> Result<()> {
    let args: Args = call.args()?;
    call.know("input", json!({"path": args.file.to_string_lossy()}));
    let request = Request::new(&args, call)?;
    let mut shown = Shown::open(args, &request, call)?;
    shown.know(call);
    let draw = || request.draw(&shown);
    let mut time = None;
    let picture = timed(&mut time, draw)?;
    shown.draw = time;
    call.bar().check()?;
    let written = match (&request.target, picture) {
        (Target::Text, Drawn::Text(text)) => {
            call.know("text", text.as_str());
            if call.telling.json.as_ref().is_none_or(|target| !target.is_stdout()) {
                tell::to_stdout(&text)?;
            }
            None
        }
        (target, Drawn::Picture(picture)) => {
            call.know("picture", request.json(&picture));
            let mut time = None;
            let written = timed(&mut time, || write(target, &picture))?;
            shown.facts.times.write = time;
            Some(written)
        }
        (_, Drawn::Text(_)) => None,
    };
    shown.know_end(call, written.as_ref());
    said::say(&shown, &request, written.as_ref(), call);
    call.answer("", &End::Yes)
}

/// What was drawn.
enum Drawn {
    Picture(Picture),
    Text(String),
}

impl Request {
    fn draw(&self, shown: &Shown) -> Result<Drawn> {
        let (parts, spacing) = (&shown.parts, shown.spacing());
        let picture = match self.what {
            What::Cells => view::cells(parts, spacing, &self.view),
            What::Mesh => match &shown.mesh {
                Some(mesh) => view::facets(mesh, &self.view),
                None => unreachable!("a mesh is read to be drawn"),
            },
            What::Slice(asked) => {
                let layer = asked.layer(shown.dims());
                if matches!(self.target, Target::Text) {
                    return view::slice_text(parts, layer).map(Drawn::Text);
                }
                view::slice(parts, spacing, layer, self.view.size, self.view.background)
            }
            What::Sheet(axis) => view::sheet(parts, spacing, axis, self.view.size, self.view.background),
        };
        picture.map(Drawn::Picture).map_err(|error| error.in_file(&shown.name))
    }

    fn json(&self, picture: &Picture) -> Value {
        json!({"shows": self.what.name(), "size": picture.size()})
    }
}

fn write(target: &Target, picture: &Picture) -> Result<Written> {
    match target {
        Target::File(path) => picture.save(path),
        Target::Stdout | Target::Text => {
            let png = picture.to_png()?;
            let mut out = std::io::stdout().lock();
            out.write_all(&png).and_then(|()| out.flush()).map_err(tell::stdout_failure)?;
            Ok(Written { path: "-".into(), format: "png", bytes: png.len() as u64 })
        }
    }
}
