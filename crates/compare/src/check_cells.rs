//! The cells of the defects of a mesh: of triangles that meet the cells where they meet, of other defects the cells of
//! their triangles.

use super::check::{Defect, DefectInfo, MeshCheck};
use voxelize_core::error::{Code, Kind, Result};
use voxelize_core::geom::fractions::rounded;
use voxelize_core::geom::tri_tri::Meeting;
use voxelize_core::geom::{Point, Triangle, separation};
use voxelize_core::grid::{BitGrid, Label, Labels, Lattice, Legend};
use voxelize_meshes::Mesh;
use voxelize_rules::Voxelizer;
use voxelize_rules::rule::Rule;
use voxelize_rules::run::{Demand, Plan, Run};

/// The most triangles of parts that triangles have in common, where a mesh has fewer.
const PARTS: usize = 4096;

impl MeshCheck {
    /// The bytes that [`cells`](Self::cells) takes with the mesh, at most: labels, the cells of one defect at a time, and a
    /// mesh of its triangles.
    pub fn cell_bytes(mesh: &Mesh, lattice: &Lattice, run: &Run) -> u128 {
        let cells = lattice.dims().iter().map(|n| *n as u128).product::<u128>();
        let triangles = mesh.triangles().len().max(PARTS) * size_of::<Triangle>();
        Demand::new(mesh, lattice, run).bytes(Plan::Dense)
            + BitGrid::bytes_for(lattice.dims())
            + cells
            + triangles as u128
    }

    /// The cells that the mesh touches, labelled by the defects in them: of several the most serious one, and of those the
    /// first. Of triangles that meet the cells of their common part are labelled, its corners rounded to floats; of
    /// other defects, and where more pairs meet than the mesh has triangles, those of the triangles. The label of defect
    /// `M004` is 4; cells without any have the label 100.
    ///
    /// # Errors
    /// If the cells do not fit in memory, or the work is cancelled.
    pub fn cells(&self, mesh: &Mesh, lattice: &Lattice, run: &Run) -> Result<Labels> {
        let named = self
            .defects
            .iter()
            .map(|defect| (value(defect.info), defect.info));
        let named =
            named.map(|(value, info)| Label::new(value, info.name).with_colour(info.colour));
        let mut labels = Labels::new(lattice.dims(), Legend::new(named.chain([Label::SOUND]))?)?;
        let surface = Voxelizer::new(Rule::surface())
            .with_run(*run)
            .without_findings();
        let mut touch = |mesh: &Mesh, label: u8| {
            let touched = surface.fill(mesh, lattice)?.voxels;
            touched
                .occupied()?
                .iter()
                .for_each(|cell| labels.set(cell, label));
            Ok(())
        };
        touch(mesh, Label::SOUND.value)?;
        // The last write stays.
        let mut order: Vec<&Defect> = self.defects.iter().rev().collect();
        order.sort_by_key(|defect| defect.info.severity());
        for defect in order {
            let triangles = mesh.select(|n| defect.triangles.binary_search(&n).is_ok());
            let common = common_parts(
                &triangles,
                defect.info,
                mesh.triangles().len().max(PARTS),
                run,
            )?;
            touch(common.as_ref().unwrap_or(&triangles), value(defect.info))?;
        }
        Ok(labels)
    }
}

/// The parts that triangles have in common, of a defect that is pairs of triangles; `None` of other defects, and of more
/// parts than `most`.
fn common_parts(
    triangles: &Mesh,
    info: &DefectInfo,
    most: usize,
    run: &Run,
) -> Result<Option<Mesh>> {
    let is_one = |meeting: Meeting| match info.code {
        Code::M009 => meeting == Meeting::Crossing,
        Code::M010 => matches!(meeting, Meeting::Point | Meeting::Segment),
        Code::M011 => meeting == Meeting::Overlap,
        _ => false,
    };
    if !matches!(info.code, Code::M009 | Code::M010 | Code::M011) {
        return Ok(None);
    }
    let contacts = match triangles.contacts(run.progress) {
        // More pairs than are examined.
        Err(error) if error.kind() == Kind::TooLarge => return Ok(None),
        contacts => contacts?,
    };
    let mut parts = Vec::new();
    for contact in contacts.iter().filter(|contact| is_one(contact.meeting)) {
        let [s, t] = contact
            .triangles
            .map(|n| &triangles.triangles()[n as usize]);
        let corners: Vec<Point> = separation::common(s, t)
            .iter()
            .map(|corner| rounded(corner).map(|c| c as f32))
            .collect();
        parts.extend(hull(&corners));
        if parts.len() > most {
            return Ok(None);
        }
    }
    Mesh::from_triangles(parts).map(Some)
}

/// Triangles that cover the hull of points in a plane: of two points, or one, a triangle without area.
fn hull(points: &[Point]) -> Vec<Triangle> {
    match points {
        [] => vec![],
        [p] => vec![[*p; 3]],
        [p, q] => vec![[*p, *q, *q]],
        [p, rest @ ..] => {
            let pairs = (0..rest.len()).flat_map(|n| (0..n).map(move |m| [m, n]));
            pairs.map(|[m, n]| [*p, rest[m], rest[n]]).collect()
        }
    }
}

/// The label of a kind of defect: the number in its code.
pub(super) fn value(info: &DefectInfo) -> u8 {
    info.code.name()[1..].parse().unwrap_or(u8::MAX)
}
