//! What is drawn and where it goes, decided before anything is read.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use voxelize::run::bytes;
use voxelize::view::{self, Axes, Projection, View};
use voxelize::{Error, Result, format};

use super::super::call::Call;
use super::super::job::{How, Limit};
use super::super::values::LayerAsked;
use super::super::{errors, tell};
use super::Args;

/// A picture that was asked for.
pub struct Request {
    /// What it shows.
    pub what: What,
    /// How.
    pub view: View,
    /// Where it goes.
    pub target: Target,
}

/// What a picture shows.
#[derive(Clone, Copy)]
pub enum What {
    /// Cells, from outside.
    Cells,
    /// The triangles of a mesh.
    Mesh,
    /// One layer.
    Slice(LayerAsked),
    /// Layers side by side.
    Sheet(usize),
}

/// Where the picture goes.
pub enum Target {
    /// Rows of text, to standard output.
    Text,
    /// A PNG, to standard output.
    Stdout,
    /// A PNG.
    File(PathBuf),
}

impl What {
    /// The word for it in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cells => "cells",
            Self::Mesh => "mesh",
            Self::Slice(_) => "slice",
            Self::Sheet(_) => "sheet",
        }
    }
}

impl Request {
    /// # Errors
    /// If options contradict each other, or the output cannot be written.
    pub fn new(args: &Args, call: &mut Call) -> Result<Self> {
        let asked = &args.picture;
        let what = match (asked.slice, asked.sheet, asked.mesh) {
            (Some(layer), ..) => What::Slice(layer),
            (_, Some(axis), _) => What::Sheet(axis),
            (.., true) => What::Mesh,
            _ => What::Cells,
        };
        let target = Target::new(args, what, call)?;
        refuse_idle(args, what, &target, call)?;
        let default = View::default();
        let view = View {
            size: asked.size.unwrap_or(default.size),
            from: asked.from.unwrap_or(default.from),
            up: asked.up.unwrap_or(default.up),
            projection: if asked.perspective { Projection::Perspective } else { default.projection },
            background: asked.background.unwrap_or(default.background),
            axes: if asked.no_axes { Axes::Hidden } else { default.axes },
            ..default
        };
        Ok(Self { what, view, target })
    }

    /// What drawing takes in memory beside what is drawn.
    pub fn bytes(&self, threads: usize) -> u64 {
        if matches!(self.target, Target::Text) { 0 } else { view::bytes_for(self.view.size, threads) }
    }

    /// Refuses a picture that takes more than half of what may be used.
    ///
    /// # Errors
    /// If it does.
    pub fn admit(&self, how: &How) -> Result<()> {
        let need = self.bytes(how.threads);
        let Some(most) = how.memory.bytes().filter(|most| need > most / 2) else { return Ok(()) };
        let says = match &how.memory {
            Limit::Asked(_, option) => format!("{option} allows {}", bytes(most.into())),
            _ => format!("{} are available", bytes(most.into())),
        };
        let [width, height] = self.view.size;
        let what = format!("drawing {width} × {height} pixels takes up to {}, {says}", bytes(need.into()));
        Err(Error::too_large(what)
            .with_hint("--size draws a smaller picture; half of the memory may go to it"))
    }
}

/// Refuses options that would have no effect.
fn refuse_idle(args: &Args, what: What, target: &Target, call: &Call) -> Result<()> {
    let idle: &[&str] = match (what, target) {
        (What::Slice(_), Target::Text) => &["from", "up", "perspective", "no_axes", "size", "background"],
        (What::Slice(_) | What::Sheet(_), _) => &["from", "up", "perspective", "no_axes"],
        (What::Cells | What::Mesh, _) => &[],
    };
    let Some(option) = idle.iter().find(|option| call.given(option)) else { return Ok(()) };
    let option = format!("--{}", option.replace('_', "-"));
    let other = if args.picture.slice.is_some() { "--slice" } else { "--sheet" };
    let error = errors::exclusive(&option, other);
    Err(match target {
        Target::Text => error.with_hint("without -o a slice is text; -o NAME.png is a picture"),
        _ => error.with_hint("layers are seen straight from the front"),
    })
}

impl Target {
    fn new(args: &Args, what: What, call: &mut Call) -> Result<Self> {
        let target = match &args.output {
            None if matches!(what, What::Slice(_)) => Self::Text,
            None => Self::File(implied(&args.file)?),
            Some(path) if path.as_os_str() == "-" => piped(call)?,
            Some(path) => Self::File(named(path)?),
        };
        let mut names = vec![(args.file.as_path(), "the input")];
        if let Self::File(path) = &target {
            tell::refuse_same(path, &names)?;
            if args.output.is_none() && path.exists() && !view::made_by_this_tool(path) {
                return Err(Error::output("is there already, and does not say that this tool made it")
                    .in_file(path)
                    .with_hint(format!("-o {} replaces it, or name another file", path.display())));
            }
            format::probe_output(path)?;
            names.push((path.as_path(), "the output"));
        }
        call.keep(&names)?;
        Ok(target)
    }
}

/// `NAME.png` in the working directory.
fn implied(input: &Path) -> Result<PathBuf> {
    if input.as_os_str() == "-" {
        return Err(Error::usage("-: standard input has no name to call the picture by")
            .with_hint("-o FILE.png names it, -o - is standard output"));
    }
    if input.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png")) {
        return Err(Error::input("V001", "is a picture, neither a mesh nor voxels").in_file(input));
    }
    let mut name = input.file_stem().unwrap_or_default().to_os_string();
    name.push(".png");
    Ok(name.into())
}

fn piped(call: &Call) -> Result<Target> {
    let option = call.typed.with_value("output").unwrap_or_default();
    if call.telling.json.as_ref().is_some_and(|target| target.is_stdout()) {
        return Err(errors::exclusive("--json", &option)
            .with_hint("both would write to standard output; --json=FILE writes to a file"));
    }
    if std::io::stdout().is_terminal() {
        return Err(Error::usage(format!("{option}: standard output is a terminal"))
            .with_hint("redirect it: > FILE.png, | COMMAND, or -o FILE.png"));
    }
    Ok(Target::Stdout)
}

fn named(path: &Path) -> Result<PathBuf> {
    let is_png = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png"));
    if is_png || (path.exists() && !path.is_dir() && !path.is_file()) {
        return Ok(path.to_path_buf());
    }
    Err(Error::usage("a picture is a .png").in_file(path).with_hint("such as -o part.png"))
}
