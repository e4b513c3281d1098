//! Pictures of cells, drawn without a display: from any side, as slices, and as sheets of slices.
//!
//! A picture has the same pixels on every machine and with any number of threads.
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
#[cfg(feature = "png")]
pub use self::slices::mask_png;
pub use self::slices::{Layer, mask, sheet, slice, slice_text};

use self::camera::Camera;
use self::picture::Pixel;
use voxelize_core::error::{Error, Result};
use voxelize_core::grid::{BitGrid, CellsRef};
use voxelize_meshes::Mesh;

/// View of cells. The default is a picture of 1200 × 900 pixels with a transparent background, seen from
/// above a corner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// Width and height in pixels.
    pub size: [usize; 2],
    /// Direction from which the cells are viewed.
    pub from: From,
    /// Axis that points up.
    pub up: Up,
    /// How distance from the viewer is shown.
    pub projection: Projection,
    /// Background of the picture.
    pub background: Background,
    /// Whether the axes are drawn.
    pub axes: Axes,
    /// Whether the edges of cells are antialiased.
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

/// Draws bits or labels. The frame fits all cells. `spacing` is the size of a cell along each axis. If there
/// is room, the names of the labels are in the upper left corner.
///
/// # Errors
/// Fails if no cell is occupied, if the cells are a field, if a cell has no size, if the picture has no
/// pixels or too many, or if there is not enough memory.
pub fn cells<'a>(
    cells: impl Into<CellsRef<'a>>,
    spacing: [f64; 3],
    view: &View,
) -> Result<Picture> {
    cells_behind(cells, None, spacing, view)
}

/// Draws the picture of [`cells`] with the cells of `veil` around them, grey and translucent. If there is a
/// veil, or if labels state which cells are common to two grids, a ring is drawn around cells that are few
/// and small.
///
/// # Errors
/// Fails like [`cells`]. Also fails if the veil has other dims.
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
    // In the scene, the largest side of a cell has length 1.
    let largest = spacing.iter().fold(0.0_f64, |a, b| a.max(*b));
    Ok(view.finish(&camera, rows, largest))
}

/// Draws the triangles of a mesh, for comparison with a picture of its cells. They have the colours of the mesh,
/// of its vertices, materials and textures, or are grey if it has none. Edges are always antialiased.
///
/// # Errors
/// Fails if the mesh has no triangles or no extent, or if the picture has no pixels or too many.
pub fn facets(mesh: &Mesh, view: &View) -> Result<Picture> {
    check_size(view.size)?;
    let camera = view.camera(
        |directions| facets::reach(mesh, directions),
        "the mesh has no triangles",
    )?;
    let rows = facets::rows(mesh, &camera, view.size);
    Ok(view.finish(&camera, rows, 1.0))
}

/// Returns an upper bound for the memory of [`facets`] in bytes, in addition to the mesh and to [`bytes_for`].
pub fn facets_bytes_for(mesh: &Mesh, [width, _]: [usize; 2], threads: usize) -> u64 {
    facets::bytes_for(mesh.triangles().len(), width, threads)
}

impl View {
    fn camera(&self, reach: impl Fn([[f64; 3]; 6]) -> [f64; 6], nothing: &str) -> Result<Camera> {
        Camera::new(self.from, self.up, self.projection, self.size, reach)
            .ok_or_else(|| Error::unfit(format!("{nothing}: there is nothing to draw")))
    }

    /// Completes a picture. `unit` is the length that is 1 in the scene of the camera.
    fn finish(&self, camera: &Camera, mut rows: Vec<Vec<Pixel>>, unit: f64) -> Picture {
        if self.axes == Axes::Shown {
            axes::draw(camera, self.size, &mut rows);
        }
        let picture = Picture::from_rows(self.size, &rows, self.background);
        match self.projection {
            Projection::Orthographic => picture.with_scale(camera.pixels(1.0, [0.0; 3]) / unit),
            // In perspective there is no single scale, because nearer cells are larger.
            Projection::Perspective => picture,
        }
    }
}

/// Fails for cells that have no size, because a picture of them would have no scale.
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

/// Re-exports for the doc examples of this package, under the paths that `voxelize-mesh` has.
#[doc(hidden)]
pub mod voxelize {
    pub use crate as view;
    pub use voxelize_rules::*;
}
