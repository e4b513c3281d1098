//! Content and output of a picture. Both are decided before any file is read.

use std::path::{Path, PathBuf};

use voxelize::format::Existing;
use voxelize::view::{self, Axes, Projection, View};
use voxelize::{Code, Error, Result};

use super::ViewArgs;
use crate::cli::args::values::{LayerChoice, PixelSize};
use crate::cli::argv::exclusive;
use crate::cli::command::Call;
use crate::cli::files::{file_of, has_extension, stem, with_suffix};
use crate::cli::memory::Resources;
use crate::cli::names::OutputFile;
use crate::cli::output::{check_stdout, is_folder};
use crate::cli::report::display::bytes;

/// Options of the requested picture.
pub struct PictureOptions {
    pub content: PictureContent,
    pub view: View,
    /// File, standard output, or the folder for the pictures of all layers.
    pub output: OutputFile,
    /// The picture is a slice with one black or white pixel per cell.
    pub is_mask: bool,
    pub has_caption: bool,
    /// Size of each picture if all layers are drawn with one pixel per cell. `None` for the size of the
    /// layer.
    pub plate: Option<[usize; 2]>,
}

/// Content of a picture.
#[derive(Clone, Copy)]
pub enum PictureContent {
    /// All cells, seen from outside.
    Cells,
    /// The triangles of the mesh.
    Mesh,
    /// One layer.
    Slice(LayerChoice),
    /// One layer as rows of text on standard output.
    Text(LayerChoice),
    /// Every layer in its own file.
    Layers(LayerChoice),
    /// Layers across this axis side by side.
    Sheet(usize),
}

impl PictureContent {
    /// Returns the name of the content in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cells => "cells",
            Self::Mesh => "mesh",
            Self::Slice(_) | Self::Text(_) => "slice",
            Self::Layers(_) => "layers",
            Self::Sheet(_) => "sheet",
        }
    }
}

impl PictureOptions {
    pub fn new(args: &ViewArgs, call: &Call) -> Result<Self> {
        let options = &args.picture;
        let content = match (options.slice, options.sheet, options.mesh) {
            (Some(choice), ..) if choice.is_all => PictureContent::Layers(choice),
            (Some(layer), ..) if args.output.is_none() => PictureContent::Text(layer),
            (Some(layer), ..) => PictureContent::Slice(layer),
            (_, Some(axis), _) => PictureContent::Sheet(axis),
            (.., true) => PictureContent::Mesh,
            _ => PictureContent::Cells,
        };
        let path = output_path(args, content, call)?;
        let mut output = OutputFile::new(&path, "the output").or_stdout();
        if args.output.is_none() {
            let hint = format!("-o {} replaces it, or name another file", path.display());
            output = output.existing(OURS, &hint);
        }
        if !matches!(content, PictureContent::Layers(_)) {
            output = output.register(&call.names)?;
        }
        refuse_idle(args, content, call)?;
        let default = View::default();
        let view = View {
            size: match options.size {
                Some(PixelSize::Pixels(size)) => size,
                Some(PixelSize::Cells) | None => default.size,
            },
            from: options.from.unwrap_or(default.from),
            up: options.up.unwrap_or(default.up),
            projection: if options.perspective {
                Projection::Perspective
            } else {
                default.projection
            },
            background: options.background.unwrap_or(default.background),
            axes: if options.no_axes {
                Axes::Hidden
            } else {
                default.axes
            },
            ..default
        };
        let is_mask = options.size == Some(PixelSize::Cells);
        if is_mask
            && !matches!(
                content,
                PictureContent::Slice(_) | PictureContent::Layers(_)
            )
        {
            return Err(
                Error::usage("--size cells: only a slice can have one pixel per cell")
                    .with_hint("add --slice z -o NAME.png"),
            );
        }
        let plate = match (content, options.size) {
            (PictureContent::Layers(_), Some(PixelSize::Pixels(size))) => Some(size),
            _ => None,
        };
        Ok(Self {
            content,
            view,
            output,
            is_mask,
            has_caption: options.caption,
            plate,
        })
    }

    /// Returns the memory that drawing needs in addition to the cells or the mesh, in bytes. Fails if it is
    /// more than half of the memory limit.
    pub fn extra_bytes(&self, resources: &Resources) -> Result<u64> {
        if let PictureContent::Text(_) = self.content {
            return Ok(0);
        }
        let need = view::bytes_for(self.view.size, resources.threads);
        match (resources.memory.bytes(), resources.memory.text()) {
            (Some(most), Some(limit)) if need > most / 2 => {
                let [width, height] = self.view.size;
                let need = bytes(need);
                Err(Error::too_large(format!(
                    "drawing {width} × {height} pixels takes up to {need}, {limit}"
                ))
                .with_hint("--size draws a smaller picture; a picture may use half of the memory"))
            }
            _ => Ok(need),
        }
    }
}

/// Options that have no effect on pictures of layers, which are always seen from the front.
const ALWAYS_FRONT: &[&str] = &["from", "up", "perspective", "no_axes"];

/// Fails if an option was given that would have no effect.
fn refuse_idle(args: &ViewArgs, content: PictureContent, call: &Call) -> Result<()> {
    let idle: &[&str] = match content {
        PictureContent::Text(_) => &[
            "from",
            "up",
            "perspective",
            "no_axes",
            "size",
            "background",
            "caption",
        ],
        PictureContent::Layers(_) => &[
            "from",
            "up",
            "perspective",
            "no_axes",
            "background",
            "caption",
        ],
        PictureContent::Slice(_) | PictureContent::Sheet(_) => ALWAYS_FRONT,
        PictureContent::Cells | PictureContent::Mesh => &[],
    };
    let Some(option_name) = idle.iter().find(|option| call.given(option)) else {
        return Ok(());
    };
    let option = format!("--{}", option_name.replace('_', "-"));
    let other = if args.picture.slice.is_some() {
        "--slice"
    } else {
        "--sheet"
    };
    let error = exclusive(&option, other);
    const FRONT: &str = "omit it: layers are always drawn from the front";
    Err(match content {
        PictureContent::Text(_) if ALWAYS_FRONT.contains(option_name) => error.with_hint(FRONT),
        PictureContent::Text(_) => {
            error.with_hint("without -o a slice is text; -o NAME.png is a picture")
        }
        PictureContent::Layers(_) => {
            error.with_hint("pictures of all layers have one pixel per cell, black and white")
        }
        _ => error.with_hint(FRONT),
    })
}

/// If no option names the picture, only a picture of this tool may be replaced.
pub const OURS: Existing = Existing::ReplaceIf(view::made_by_this_tool);

/// Returns the path of the output. `-` stands for standard output.
fn output_path(args: &ViewArgs, content: PictureContent, call: &Call) -> Result<PathBuf> {
    Ok(match (&args.output, content) {
        (output, PictureContent::Layers(_)) => {
            match output.as_deref().filter(|path| is_folder(path)) {
                Some(folder) => folder.to_path_buf(),
                None => {
                    let error = Error::usage("--slice: all layers need an output folder");
                    return Err(error.with_hint("-o DIR/ names it"));
                }
            }
        }
        (None, PictureContent::Text(_)) => PathBuf::from("-"),
        (None, _) => implied(&file_of(args.input()))?,
        (Some(path), _) if path.as_os_str() == "-" => {
            check_stdout(call, "FILE.png")?;
            path.clone()
        }
        (Some(path), _) => named(path)?,
    })
}

/// Returns the path of the picture if no option names it: `NAME.png` in the working directory.
fn implied(input: &Path) -> Result<PathBuf> {
    if input.as_os_str() == "-" {
        return Err(Error::usage("-: a picture of standard input needs a name")
            .with_hint("-o FILE.png names the picture; -o - writes to standard output"));
    }
    if has_extension(input, "png") {
        return Err(
            Error::input(Code::V001, "is a picture, neither a mesh nor voxels").in_file(input),
        );
    }
    Ok(with_suffix(stem(input), "png"))
}

fn named(path: &Path) -> Result<PathBuf> {
    if has_extension(path, "png") || (path.exists() && !path.is_dir() && !path.is_file()) {
        return Ok(path.to_path_buf());
    }
    Err(Error::usage("a picture is a .png")
        .in_file(path)
        .with_hint("for example: -o part.png"))
}
