//! Pictures of cells, without a display: from any side, as slices, as sheets of slices.
//!
//! A picture has the same pixels on every machine and for any number of threads.
//!
//! ```
//! use voxelize::view::{self, View};
//! use voxelize::{Lattice, Mesh, Part, Rule, Sort, voxelize};
//!
//! let mesh = Mesh::open("fixtures/knot.stl")?;
//! let lattice = Lattice::fit(mesh.bounds(), 48)?;
//! let voxels = voxelize(&mesh, &lattice, Rule::surface())?;
//! let parts = [Part { sort: Sort::Surface, cells: voxels.bits }];
//!
//! let picture = view::cells(&parts, [1.0; 3], &View { size: [320, 240], ..View::default() })?;
//! # let folder = tempfile::tempdir().unwrap();
//! # let knot = folder.path().join("knot.png");
//! picture.save(&knot)?;
//! assert!(view::made_by_this_tool(&knot));
//! # Ok::<(), voxelize::Error>(())
//! ```

mod axes;
mod camera;
mod colours;
mod facets;
mod font;
mod picture;
mod rays;
mod render;
mod shade;
mod slices;
mod smooth;
mod solid;
mod tiles;

pub use self::axes::Axes;
pub use self::camera::{From, NAMED, Projection, Up};
pub use self::colours::parse as parse_colour;
pub use self::picture::{Background, MAX_SIDE, Picture, made_by_this_tool};
pub use self::render::{Borders, bytes_for};
pub use self::slices::{Layer, sheet, slice, slice_text};

use self::camera::Camera;
use self::picture::Pixel;
use crate::error::{Error, Result};
use crate::grid::Part;
use crate::mesh::Mesh;

/// How cells are looked at. The default is 1200 × 900 pixels, from above one corner, transparent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// Width and height in pixels.
    pub size: [usize; 2],
    /// The direction they are seen from.
    pub from: From,
    /// The axis that points up.
    pub up: Up,
    /// How depth is drawn.
    pub projection: Projection,
    /// What is behind them.
    pub background: Background,
    /// Whether the axes are drawn.
    pub axes: Axes,
    /// Whether pixels at borders are mixed from several rays.
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

/// A picture of cells, framed so that all are in it. `spacing` is the size of a cell per axis.
///
/// # Errors
/// If no cell is occupied, the parts are of different grids, the picture has no pixels or too many,
/// or memory is short.
pub fn cells(parts: &[Part], spacing: [f64; 3], view: &View) -> Result<Picture> {
    check_size(view.size)?;
    common_dims(parts)?;
    let scene = render::Scene::new(parts, spacing)?;
    let camera = view.camera(|directions| scene.reach(directions), "no cell is occupied")?;
    let rows = render::rows(&scene, &camera, view.size, view.borders);
    Ok(view.finish(&camera, rows))
}

/// A picture of the triangles of a mesh, to be put beside one of its cells. Borders are always smooth.
///
/// # Errors
/// If it has none, or no extent, or the picture has no pixels or too many.
pub fn facets(mesh: &Mesh, view: &View) -> Result<Picture> {
    check_size(view.size)?;
    let camera = view.camera(|directions| facets::reach(mesh, directions), "the mesh has no triangles")?;
    let rows = facets::rows(mesh, &camera, view.size);
    Ok(view.finish(&camera, rows))
}

impl View {
    fn camera(&self, reach: impl Fn([[f64; 3]; 6]) -> [f64; 6], nothing: &str) -> Result<Camera> {
        Camera::new(self.from, self.up, self.projection, self.size, reach)
            .ok_or_else(|| Error::unfit(format!("{nothing}: there is nothing to see")))
    }

    fn finish(&self, camera: &Camera, mut rows: Vec<Vec<Pixel>>) -> Picture {
        if self.axes == Axes::Shown {
            axes::draw(camera, self.size, &mut rows);
        }
        Picture::from_rows(self.size, &rows, self.background)
    }
}

/// The dims of the grid that all parts are of.
fn common_dims(parts: &[Part]) -> Result<[usize; 3]> {
    let first = parts.first().ok_or_else(|| Error::usage("no parts, so no cells to show"))?;
    let dims = first.cells.dims();
    match parts.iter().all(|part| part.cells.dims() == dims) {
        true => Ok(dims),
        false => Err(Error::usage("parts of grids of different dims")),
    }
}

fn check_size(size: [usize; 2]) -> Result<()> {
    if size.iter().all(|side| (1..=MAX_SIDE).contains(side)) {
        return Ok(());
    }
    Err(Error::usage(format!("a picture of {} × {} pixels; each side is 1 to {MAX_SIDE}", size[0], size[1])))
}
