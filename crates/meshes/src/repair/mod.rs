//! Repair of a broken mesh, so that winding numbers are meaningful. Triangles without area and duplicates are
//! removed. The remaining triangles are turned over where necessary, so that their normals point outwards as
//! far as this can be decided.
//!
//! A *patch* is a set of triangles that are connected by edges of exactly two triangles (`patches`). A patch
//! is turned over as a whole (`orientation`). If it bounds a body, it faces outwards, or inwards if the body
//! is a cavity in another body (`nested`).

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

/// Number of steps of a repair that are reported as progress.
const STEPS: u64 = 5;

/// Repaired mesh. The result does not depend on the order of the original triangles or the rotation
/// of their corners.
#[derive(Debug, Clone, PartialEq)]
pub struct Repaired {
    /// Remaining triangles, facing outwards. Each begins with its least vertex. No coordinate is −0.
    pub triangles: Vec<Triangle>,
    /// For each triangle: it is in a ragged patch. A patch is ragged if it has at least as many open edges as
    /// triangles, so that closing it would need as many caps as it has triangles.
    pub ragged: Vec<bool>,
    /// Boundary of the triangles, as loops of directed edges.
    pub boundary: Vec<Loop>,
    /// Number of dropped triangles without area.
    pub degenerate: u64,
    /// Number of dropped triangles with the same corners as another triangle, in any order.
    pub duplicates: u64,
    /// Number of patches. A patch is a set of triangles connected by edges of exactly two triangles.
    pub patches: u64,
    /// Number of triangles that were turned over.
    pub turned: u64,
    /// Number of patches that bound cavities in other bodies and therefore face inwards.
    pub cavities: u64,
    /// Number of patches that are not orientable, such as a Möbius strip. Each has a seam along which
    /// neighbouring triangles have opposite orientations. The seam is part of the boundary.
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
    /// If there are more than 1.4 billion triangles.
    pub fn new(mesh: &Mesh) -> Result<Self> {
        Self::with(mesh, &())
    }

    /// Repairs a mesh. `progress` is informed about the steps and may cancel the work.
    ///
    /// # Errors
    /// If there are more than 1.4 billion triangles, or the work is cancelled.
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

        let mut turned = 0;
        for (turned_now, given) in patches.turned.iter().zip(&sheets.given_turned) {
            turned += u64::from(turned_now != given);
        }
        let net = boundary::net(&sides, |side| patches.is_forth(side.place));
        let circuits = boundary::circuits(&net, Way::Along);
        for (triangle, turned) in sheets.triangles.iter_mut().zip(&patches.turned) {
            if *turned {
                triangle.swap(1, 2);
            }
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

    /// Expresses the winding number of the repaired mesh as a difference: the winding number of the first
    /// returned list minus that of the second. The first list is closed.
    ///
    /// The first list consists of the patches that are not ragged, and of caps that close them. The second
    /// list corrects the difference: it consists of these caps, and of the ragged patches turned over.
    ///
    /// # Errors
    /// If there are more than 1.4 billion triangles.
    pub fn into_closed(self) -> Result<(Vec<Triangle>, Vec<Triangle>)> {
        if !self.ragged.contains(&true) {
            let mut closed = self.triangles;
            let caps = boundary::caps(&self.boundary);
            closed.extend(&caps);
            return Ok((closed, caps));
        }
        let mut closed = vec![];
        let mut ragged_turned = vec![];
        for ([a, b, c], is_ragged) in self.triangles.into_iter().zip(self.ragged) {
            if is_ragged {
                ragged_turned.push([a, c, b]);
            } else {
                closed.push([a, b, c]);
            }
        }
        let mut caps = boundary::caps(&boundary::boundary(&closed)?);
        closed.extend(&caps);
        caps.extend(ragged_turned);
        Ok((closed, caps))
    }

    /// Returns triangles that close the mesh: a fan for each loop of the boundary. With these triangles,
    /// every directed edge of the mesh is cancelled by its reverse.
    pub fn caps(&self) -> Vec<Triangle> {
        boundary::caps(&self.boundary)
    }
}

/// Orients all patches. Returns the number of cavities.
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
