//! Pictures of cells, without a display: from any side, as slices, and as sheets of slices.
//!
//! A picture has the same pixels on every machine and for any number of threads.
//!
//! ```
//! # use voxelize_view::voxelize;
//! # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
//! use voxelize::view::{self, View};
//! use voxelize::{Lattice, Mesh, Rule, voxelize};
//!
//! let mesh = Mesh::open("fixtures/knot.stl")?;
//! let lattice = Lattice::fit(mesh.bounds(), 48)?;
//! let voxels = voxelize(&mesh, &lattice, Rule::surface())?;
//!
//! let picture = view::cells(&voxels, [1.0; 3], &View { size: [320, 240], ..View::default() })?;
//! # let folder = tempfile::tempdir().unwrap();
//! # let knot = folder.path().join("knot.png");
//! picture.save(&knot)?;
//! assert!(view::made_by_this_tool(&knot));
//! # Ok::<(), voxelize::Error>(())
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs, unreachable_pub)]

mod axes;
mod camera;
mod caption;
mod colours;
mod contours;
mod facets;
mod font;
mod paint;
mod panel;
mod picture;
#[cfg(feature = "png")]
mod png;
mod rays;
mod render;
mod ring;
mod scale;
mod shade;
mod shown;
mod slices;
mod smooth;
mod solid;
mod tiles;

pub use self::axes::Axes;
pub use self::camera::{From, NAMED, Projection, Up};
pub use self::colours::parse as parse_colour;
pub use self::picture::{Background, MAX_SIDE, Picture};
#[cfg(feature = "png")]
pub use self::png::made_by_this_tool;
pub use self::render::{Borders, bytes_for};
pub use self::shown::{Enclosed, FieldScale, Shown};
pub use self::slices::{Layer, mask, sheet, slice, slice_text};

use self::camera::Camera;
use self::picture::Pixel;
use voxelize_core::error::{Error, Result};
use voxelize_core::grid::{BitGrid, CellsRef};
use voxelize_meshes::Mesh;

/// View of cells. The default is 1200 × 900 pixels, from above one corner, transparent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// Width and height in pixels.
    pub size: [usize; 2],
    /// Viewing direction.
    pub from: From,
    /// Axis that points up.
    pub up: Up,
    /// Representation of depth.
    pub projection: Projection,
    /// Background.
    pub background: Background,
    /// Visibility of the axes.
    pub axes: Axes,
    /// Treatment of pixels at borders.
    pub borders: Borders,
}

impl Default for View {
    fn default() -> Self {
        Self {
            size: [1200, 900],
            from: NAMED[0].1,
            up: Up::default(),
            projection: Projection::default(),
            background: Background::default(),
            axes: Axes::default(),
            borders: Borders::default(),
        }
    }
}

/// Draws bits or labels. The frame fits all cells. `spacing` is the size of a cell per axis. Names of labels
/// are in the upper left corner if there is room.
///
/// # Errors
/// No cell is occupied, the cells are a field, a cell has no size, the picture has no pixels or too many, or
/// memory is short.
pub fn cells<'a>(
    cells: impl Into<CellsRef<'a>>,
    spacing: [f64; 3],
    view: &View,
) -> Result<Picture> {
    cells_behind(cells, None, spacing, view)
}

/// Draws the picture of [`cells`] with the cells of `veil` around them, grey and translucent. If there is a
/// veil, or if there are cells common to two grids, few small cells are ringed.
///
/// # Errors
/// The errors of [`cells`], or the veil has other dimensions.
pub fn cells_behind<'a>(
    cells: impl Into<CellsRef<'a>>,
    veil: Option<&BitGrid>,
    spacing: [f64; 3],
    view: &View,
) -> Result<Picture> {
    check_size(view.size)?;
    check_spacing(spacing)?;
    let scene = render::Scene::new(cells.into(), veil, spacing)?;
    let camera = view.camera(|directions| scene.reach(directions), "no cell is occupied")?;
    let mut rows = render::rows(&scene, &camera, view.size, view.borders);
    ring::draw(&camera, view.size, &scene.small_boxes(), &mut rows);
    scene.panel().draw(&mut rows, [0, 0], view.size);
    // The largest side of a cell is 1 in the scene.
    let largest = spacing.iter().fold(0.0_f64, |a, b| a.max(*b));
    Ok(view.finish(&camera, rows, largest))
}

/// Draws the triangles of a mesh, for comparison with a picture of its cells. Borders are always smooth.
///
/// # Errors
/// The mesh has no triangles or no extent, or the picture has no pixels or too many.
pub fn facets(mesh: &Mesh, view: &View) -> Result<Picture> {
    check_size(view.size)?;
    let camera = view.camera(
        |directions| facets::reach(mesh, directions),
        "the mesh has no triangles",
    )?;
    let rows = facets::rows(mesh, &camera, view.size);
    Ok(view.finish(&camera, rows, 1.0))
}

impl View {
    fn camera(&self, reach: impl Fn([[f64; 3]; 6]) -> [f64; 6], nothing: &str) -> Result<Camera> {
        Camera::new(self.from, self.up, self.projection, self.size, reach)
            .ok_or_else(|| Error::unfit(format!("{nothing}: there is nothing to draw")))
    }

    /// `unit` is the length that is 1 in the scene of the camera.
    fn finish(&self, camera: &Camera, mut rows: Vec<Vec<Pixel>>, unit: f64) -> Picture {
        if self.axes == Axes::Shown {
            axes::draw(camera, self.size, &mut rows);
        }
        let picture = Picture::from_rows(self.size, &rows, self.background);
        match self.projection {
            Projection::Orthographic => picture.with_scale(camera.pixels(1.0, [0.0; 3]) / unit),
            // Nearer cells are larger.
            Projection::Perspective => picture,
        }
    }
}

/// Rejects cells without a size, because a picture of them has no scale.
fn check_spacing(spacing: [f64; 3]) -> Result<()> {
    if spacing.iter().all(|size| size.is_normal() && *size > 0.0) {
        return Ok(());
    }
    Err(Error::usage(format!(
        "cells of {spacing:?}; each size is a number above 0"
    )))
}

fn check_size(size: [usize; 2]) -> Result<()> {
    if size.iter().all(|side| (1..=MAX_SIDE).contains(side)) {
        return Ok(());
    }
    Err(Error::usage(format!(
        "a picture of {} × {} pixels; each side is 1 to {MAX_SIDE}",
        size[0], size[1]
    )))
}

/// Names for the examples of this package: the names of the package `voxelize-mesh`.
#[doc(hidden)]
pub mod voxelize {
    pub use crate as view;
    pub use voxelize_rules::*;
}
