//! Defects of a mesh and their places: defects of edges and vertices (`topology`), of single triangles
//! (`shape`), of pairs of triangles (`contacts`), of shells (`shells`) and thin walls (`walls`).
//! docs/reference/check.md defines them.
//!
//! Vertices are numbered in the order of their coordinates (`weld`), and all lists are in the order of their
//! numbers. The order of the triangles in the file therefore affects only the triangle numbers in the result.

mod contacts;
mod shape;
mod shells;
mod sites;
mod topology;
mod walls;

pub use sites::{Search, Site, Sites};
use topology::TopologyDefects;

use super::weld::Welded;
use shape::Shapes;
use shells::ShellSearch;
use topology::Topology;
use voxelize_core::error::Result;

/// Defects of a mesh. Triangle numbers are indices in the mesh.
#[derive(Debug, Clone, Default)]
pub struct Defects {
    /// Number of distinct vertices.
    pub vertices: u64,
    /// Triangles with the same three vertices as an earlier triangle.
    pub duplicates: Sites,
    /// Triangles without area.
    pub degenerate: Sites,
    /// Triangles that are far longer than they are wide.
    pub needles: Sites,
    /// Defects of edges and vertices.
    pub topology: TopologyDefects,
    /// Closed components whose triangles face inwards.
    pub inside_out: Sites,
    /// Number of shells within the inside of other shells. Not counted, and therefore zero, if the mesh has
    /// other defects that make the methods for the inside disagree.
    pub nested: u64,
    /// Pairs of triangles that cross.
    pub crossing: Sites,
    /// Pairs of triangles that touch beyond their common vertices.
    pub touching: Sites,
    /// Pairs of triangles that overlap in a common plane.
    pub overlapping: Sites,
    /// Walls thinner than the given thickness. `None` if no thickness was given.
    pub thin: Option<Sites>,
}

impl Defects {
    /// Finds all defects.
    ///
    /// # Errors
    /// If there are too many triangles or contacts, or the work is cancelled.
    pub fn of(search: &Search) -> Result<Self> {
        let mesh = search.mesh;
        let welded = Welded::of(mesh.triangles())?;
        search.progress.check()?;
        let topology = Topology {
            search,
            welded: &welded,
        }
        .defects();
        search.progress.check()?;
        let shapes = Shapes {
            search,
            welded: &welded,
        };
        let (degenerate, needles) = shapes.degenerate_and_needles();
        let [crossing, touching, overlapping] = contacts::contacts(search, &welded)?;
        let duplicates = shapes.duplicates();
        let crowded = [&topology.crowded_edges, &topology.crowded_vertices];
        let is_simple = [&topology.open, &topology.reversed]
            .into_iter()
            .chain(crowded)
            .all(is_surely_empty);
        let is_crossed = ![&duplicates, &crossing, &overlapping]
            .into_iter()
            .all(is_surely_empty);
        let look = ShellSearch {
            with_nested: is_simple && !is_crossed,
            is_apart: !is_crossed && is_surely_empty(&touching) && is_surely_empty(&degenerate),
        };
        let shells = shells::shells(search, &welded, &topology, look)?;
        let thin = match search.thin {
            Some(thickness) => Some(walls::thin(search, &welded, thickness)?),
            None => None,
        };
        Ok(Self {
            vertices: welded.points.len() as u64,
            duplicates,
            degenerate,
            needles,
            inside_out: shells.inside_out,
            nested: shells.nested,
            topology,
            crossing,
            touching,
            overlapping,
            thin,
        })
    }
}

/// Returns whether a complete search found no defects of a kind.
fn is_surely_empty(sites: &Sites) -> bool {
    sites.count == 0 && !sites.is_partial
}
