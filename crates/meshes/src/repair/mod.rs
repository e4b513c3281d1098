//! Repair of a broken mesh, so that winding numbers mean something: no triangles without area, none
//! twice, and all turned so that their normals point outwards, as far as that can be decided.
//!
//! Triangles that share an edge with no third are of one *patch* (`patches`). A patch is turned as a whole
//! (`orientation`): outwards if it bounds a body, inwards if that is a cavity in another one (`nested`).

mod nested;
mod orientation;
mod outward;
mod patches;
mod sheets;

use super::boundary::{self, Loop, Way};
use super::{Mesh, edges};
use orientation::{Face, face, is_inside_out};
pub use outward::outward_patch;
use patches::Patches;
use sheets::Sheets;
use voxelize_core::error::Result;
use voxelize_core::geom::Triangle;
use voxelize_core::par::{self, Progress};

/// Steps of a repair.
const STEPS: u64 = 5;

/// A repaired mesh. It is the same, as a list, for any order of the triangles it is made of and any
/// rotation of their corners.
#[derive(Debug, Clone, PartialEq)]
pub struct Repaired {
    /// The remaining triangles, turned outwards; each begins with its least vertex. No coordinate is −0.
    pub triangles: Vec<Triangle>,
    /// For each, whether it is of a ragged patch: one that ends at as many edges as it has triangles, or
    /// more. Caps would be as many as they are.
    pub ragged: Vec<bool>,
    /// Where the triangles end: their boundary, in the direction of their edges.
    pub boundary: Vec<Loop>,
    /// Triangles without area that were dropped.
    pub degenerate: u64,
    /// Triangles with the same corners as another, whatever their order, that were dropped.
    pub duplicates: u64,
    /// Patches: triangles connected by edges of exactly two of them.
    pub patches: u64,
    /// Triangles that were turned.
    pub turned: u64,
    /// Patches that are cavities in others, so turned inwards.
    pub cavities: u64,
    /// Patches with one side only, as a Möbius strip. Their triangles do not fit together along a seam,
    /// which is part of the boundary.
    pub not_orientable: u64,
}

impl Repaired {
    /// Repairs a mesh.
    ///
    /// ```
    /// # use voxelize_meshes::voxelize;
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
    /// use voxelize::Mesh;
    /// use voxelize::mesh::repair::Repaired;
    ///
    /// let cube = Mesh::open("fixtures/cube.stl")?;
    /// let mut triangles = cube.triangles().to_vec();
    /// triangles[7].swap(0, 1);
    /// triangles.push(triangles[3]);
    /// let repaired = Repaired::new(&Mesh::from_triangles(triangles)?)?;
    /// assert_eq!((repaired.turned, repaired.duplicates), (1, 1));
    /// assert_eq!(Mesh::from_triangles(repaired.triangles)?.volume(), cube.volume());
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there are more than 1.4 thousand million triangles.
    pub fn new(mesh: &Mesh) -> Result<Self> {
        Self::with(mesh, &())
    }

    /// Repairs a mesh, and asks whether to go on.
    ///
    /// # Errors
    /// If there are more than 1.4 thousand million triangles, or the work is cancelled.
    pub fn with(mesh: &Mesh, progress: &dyn Progress) -> Result<Self> {
        progress.begin("repair", STEPS);
        let step = || {
            progress.advance(1);
            progress.check()
        };
        progress.check()?;
        let mut sheets = Sheets::of(mesh)?;
        step()?;
        let sides = edges::sorted(&sheets.triangles, sheets.points.len());
        step()?;
        let mut patches = Patches::of(&sheets.triangles, &sides, progress)?;
        step()?;
        let cavities = turn(&mut patches, &sheets, progress)?;
        step()?;
        let ragged = patches.ragged();

        let both = patches.turned.iter().zip(&sheets.given_turned);
        let turned = both.filter(|(turned, given)| turned != given).count() as u64;
        let net = boundary::net(&sides, |side| patches.is_forth(side.place));
        let circuits = boundary::circuits(&net, Way::Along);
        for (triangle, _) in sheets
            .triangles
            .iter_mut()
            .zip(&patches.turned)
            .filter(|(_, turned)| **turned)
        {
            triangle.swap(1, 2);
        }
        step()?;
        Ok(Self {
            ragged,
            triangles: sheets
                .triangles
                .iter()
                .map(|triangle| sheets.corners(triangle))
                .collect(),
            boundary: circuits
                .iter()
                .map(|circuit| boundary::of(circuit, &sheets.points))
                .collect(),
            degenerate: mesh.degenerate(),
            duplicates: sheets.duplicates,
            patches: patches.count() as u64,
            turned,
            cavities,
            not_orientable: patches.one_sided,
        })
    }

    /// The patches that are not ragged with caps that close them, and all that is in these triangles besides
    /// the repaired mesh: the caps, and the ragged patches turned over. The repaired mesh winds around a
    /// point as often as the first less the second.
    ///
    /// # Errors
    /// If there are more than 1.4 thousand million triangles.
    pub fn into_closed(self) -> Result<(Vec<Triangle>, Vec<Triangle>)> {
        if !self.ragged.contains(&true) {
            let mut closed = self.triangles;
            let caps = boundary::caps(&self.boundary);
            closed.extend(&caps);
            return Ok((closed, caps));
        }
        let all = || self.triangles.iter().zip(&self.ragged);
        let whole = all()
            .filter(|(_, ragged)| !**ragged)
            .map(|(triangle, _)| *triangle);
        let mut closed: Vec<Triangle> = whole.collect();
        let mut caps = boundary::caps(&boundary::boundary(&closed)?);
        closed.extend(&caps);
        caps.extend(
            all()
                .filter(|(_, ragged)| **ragged)
                .map(|([a, b, c], _)| [*a, *c, *b]),
        );
        Ok((closed, caps))
    }

    /// The triangles that close it, a fan for each loop of the boundary: with them every directed edge is
    /// cancelled by its reverse.
    pub fn caps(&self) -> Vec<Triangle> {
        boundary::caps(&self.boundary)
    }
}

/// Orients all patches; the answer is how many are cavities.
fn turn(patches: &mut Patches, sheets: &Sheets, progress: &dyn Progress) -> Result<u64> {
    let faces = par::map_range(0..patches.count(), |patch| {
        progress.check()?;
        Ok(face(patches, sheets, patch))
    });
    let faces = faces.into_iter().collect::<Result<Vec<Face>>>()?;
    let outwards = nested::outwards(&faces, patches, sheets, progress)?;
    let mut kept = 0.0;
    for (face, outwards) in faces.iter().zip(&outwards).filter(|(face, _)| face.is_body) {
        let over = (face.volume > 0.0) != *outwards;
        kept += if over { -face.as_given } else { face.as_given };
        if over {
            patches.turn(face.patch);
        }
    }
    let inside_out = if faces.iter().any(|face| face.is_body) {
        kept < 0.0
    } else {
        is_inside_out(&faces, sheets)
    };
    for face in faces.iter().filter(|face| !face.is_body) {
        if (face.as_given < 0.0) != inside_out {
            patches.turn(face.patch);
        }
    }
    Ok(outwards.iter().filter(|outwards| !**outwards).count() as u64)
}
