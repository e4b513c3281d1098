//! Pictures of cells, without a display: from any side, as slices, as sheets of slices.
//!
//! A picture has the same bytes on every machine and for any number of threads.
//!
//! ```
//! use voxelize::view::{self, View};
//! use voxelize::{Lattice, Mesh, Part, Rule, Sort, voxelize};
//!
//! let mesh = Mesh::open("fixtures/knot.stl")?;
//! let lattice = Lattice::fit(mesh.bounds(), 48)?;
//! let voxels = voxelize(&mesh, &lattice, Rule::Surface)?;
//! let parts = [Part { sort: Sort::Surface, cells: voxels.bits }];
//!
//! let picture = view::cells(&parts, [1.0; 3], &View { size: [320, 240], ..View::default() })?;
//! # let folder = tempfile::tempdir().unwrap();
//! # let knot = folder.path().join("knot.png");
//! picture.save(&knot)?;
//! assert!(view::made_by_this_tool(&knot));
//! # Ok::<(), voxelize::Error>(())
//! ```

mod camera;
mod colours;
mod picture;
mod rays;
mod render;
mod shade;
mod solid;

pub use self::camera::{From, NAMED, Projection, Up};
pub use self::colours::parse as parse_colour;
pub use self::picture::{Background, MAX_SIDE, Picture, made_by_this_tool};
pub use self::render::Borders;

use self::camera::Camera;
use crate::error::{Error, Result};
use crate::grid::Part;

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
            borders: Borders::default(),
        }
    }
}

/// A picture of cells, framed so that all are in it. `spacing` is the size of a cell per axis.
///
/// # Errors
/// If no cell is occupied, the picture has no pixels or too many, or memory is short.
pub fn cells(parts: &[Part], spacing: [f64; 3], view: &View) -> Result<Picture> {
    check_size(view.size)?;
    let scene = render::Scene::new(parts, spacing)?;
    let camera = Camera::new(view.from, view.up, view.projection, view.size, |d| scene.reach(d))
        .map_err(|_| Error::unfit("no cell is occupied: there is nothing to see"))?;
    let rows = render::rows(&scene, &camera, view.size, view.borders);
    Ok(Picture::from_rows(view.size, &rows, view.background))
}

fn check_size(size: [usize; 2]) -> Result<()> {
    if size.iter().all(|side| (1..=MAX_SIDE).contains(side)) {
        return Ok(());
    }
    Err(Error::usage(format!("a picture of {} × {} pixels; each side is 1 to {MAX_SIDE}", size[0], size[1])))
}
