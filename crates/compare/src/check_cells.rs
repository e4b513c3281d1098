//! Cells of a mesh's defects. If triangles meet, these are the cells of their intersection. For other
//! defects, they are the cells of the triangles.

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

/// Maximum number of triangles for the intersections, unless the mesh itself has more triangles.
const PARTS: usize = 4096;

impl MeshCheck {
    /// Returns the maximum memory that [`cells`](Self::cells) needs in bytes, including the mesh. It holds
    /// the labels, the cells of one defect at a time, and a mesh of the defect's triangles.
    pub fn cell_bytes(mesh: &Mesh, lattice: &Lattice, run: &Run) -> u128 {
        let cells = lattice.dims().iter().map(|n| *n as u128).product::<u128>();
        let triangles = mesh.triangles().len().max(PARTS) * size_of::<Triangle>();
        Demand::new(mesh, lattice, run).bytes(Plan::Dense)
            + BitGrid::bytes_for(lattice.dims())
            + cells
            + triangles as u128
    }

    /// Returns the cells that the mesh touches. Each is labelled by the defect in it.
    ///
    /// If a cell has several defects, the most severe one counts, and among equally severe ones the first. If
    /// triangles meet, the cells of their intersection are labelled; its corners are rounded to floats. For
    /// other defects, and if more pairs meet than the mesh has triangles, the cells of the triangles are
    /// labelled. The label of the defect `M004` is 4. Cells without a defect have the label 100.
    ///
    /// # Errors
    /// Fails if the cells do not fit into memory, or if the work is cancelled.
    pub fn cells(&self, mesh: &Mesh, lattice: &Lattice, run: &Run) -> Result<Labels> {
        let mut names = vec![];
        for defect in &self.defects {
            let label = Label::new(value(defect.info), defect.info.name);
            names.push(label.with_colour(defect.info.colour));
        }
        names.push(Label::SOUND);
        let mut labels = Labels::new(lattice.dims(), Legend::new(names)?)?;
        let surface = Voxelizer::new(Rule::surface())
            .with_run(*run)
            .without_findings();
        let mut touch = |mesh: &Mesh, label: u8| {
            let touched = surface.fill(mesh, lattice)?.voxels;
            for cell in touched.occupied()?.iter() {
                labels.set(cell, label);
            }
            Ok(())
        };
        touch(mesh, Label::SOUND.value)?;
        // The last defect written to a cell remains, so the most severe ones are written last.
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

/// Returns the intersections of triangles as a mesh, for a kind of defect in which pairs of triangles meet.
/// `None` for other kinds, and if the result would have more than `most` triangles.
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
        // There are more pairs than the limit allows.
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

/// Returns triangles that cover the convex hull of points in a plane. One or two points give a triangle that
/// has no area.
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

/// Returns the label for a kind of defect. It is the number in the code of the kind.
pub(super) fn value(info: &DefectInfo) -> u8 {
    info.code.name()[1..].parse().unwrap_or(u8::MAX)
}
