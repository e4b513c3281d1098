//! Defects of a mesh with their places: of edges and vertices (`topology`), of triangles by themselves (`shape`), of
//! shells (`shells`) and walls (`walls`). Definitions are in docs/check.md.
//!
//! Vertices are numbered by their coordinates (`weld`), and all lists follow these numbers, so that the order of
//! the triangles changes nothing but their numbers.

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

/// The defects of a mesh; numbers of triangles are those of the mesh.
#[derive(Debug, Clone, Default)]
pub struct Defects {
    /// Number of distinct vertices.
    pub vertices: u64,
    /// Triangles with the vertices of an earlier triangle.
    pub duplicates: Sites,
    /// Triangles without area.
    pub degenerate: Sites,
    /// Triangles that are far longer than wide.
    pub needles: Sites,
    /// Defects of edges and vertices.
    pub topology: TopologyDefects,
    /// Closed components that face inwards.
    pub inside_out: Sites,
    /// Shells within the inside of others, if nothing else of the mesh makes methods disagree.
    pub nested: u64,
    /// Pairs of triangles that cross.
    pub crossing: Sites,
    /// Pairs of triangles that touch beyond their common vertices.
    pub touching: Sites,
    /// Pairs of triangles that overlap in a plane.
    pub overlapping: Sites,
    /// `None` if no thickness was given.
    pub thin: Option<Sites>,
}

impl Defects {
    /// All defects.
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
        let none = |sites: &[&Sites]| {
            sites
                .iter()
                .all(|sites| sites.count == 0 && !sites.is_partial)
        };
        let is_simple = none(&[&topology.open, &topology.reversed]) && none(&crowded);
        let is_crossed = !none(&[&duplicates, &crossing, &overlapping]);
        let look = ShellSearch {
            with_nested: is_simple && !is_crossed,
            is_apart: !is_crossed && none(&[&touching, &degenerate]),
        };
        let shells = shells::shells(search, &welded, &topology, look)?;
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
            thin: search
                .thin
                .map(|thickness| walls::thin(search, &welded, thickness))
                .transpose()?,
        })
    }
}
