//! Defects of a mesh with their places: of edges and vertices (`topology`), of triangles by themselves (`shape`), of
//! shells (`shells`) and walls (`walls`). Definitions are in docs/check.md.
//!
//! Vertices are numbered by their coordinates (`weld`), and all lists follow these numbers, so that the order of
//! the triangles changes nothing but their numbers.

mod shape;
mod shells;
mod sites;
mod topology;
mod walls;

pub(crate) use sites::{Search, Site, Sites};
use topology::TopologyDefects;

use super::weld::Welded;
use crate::error::Result;
use crate::geom::tri_tri::Meeting;
use shape::Shapes;
use sites::ascending;
use topology::Topology;

/// What the check of a mesh finds; numbers of triangles are those of the mesh.
#[derive(Debug, Clone, Default)]
pub(crate) struct Defects {
    pub vertices: u64,
    pub duplicates: Sites,
    pub degenerate: Sites,
    pub needles: Sites,
    pub topology: TopologyDefects,
    pub inside_out: Sites,
    /// Shells within the inside of others, if nothing else of the mesh makes methods disagree.
    pub nested: u64,
    pub crossing: Sites,
    pub touching: Sites,
    pub overlapping: Sites,
    /// `None` if no thickness was given.
    pub thin: Option<Sites>,
}

impl Defects {
    /// All defects.
    ///
    /// # Errors
    /// If there are too many triangles or contacts, or the work is cancelled.
    pub(crate) fn of(search: &Search) -> Result<Self> {
        let mesh = search.mesh;
        let welded = Welded::of(mesh.triangles())?;
        search.progress.check()?;
        let topology = Topology { search, welded: &welded }.defects();
        search.progress.check()?;
        let shapes = Shapes { search, welded: &welded };
        let (degenerate, needles) = shapes.degenerate_and_needles();
        let [crossing, touching, overlapping] = contacts(search, &welded)?;
        let duplicates = shapes.duplicates();
        let crowded = [&topology.crowded_edges, &topology.crowded_vertices];
        let others = [&duplicates, &crossing, &overlapping, &topology.open, &topology.reversed];
        let with_nested = others.iter().chain(&crowded).all(|sites| sites.count == 0);
        let shells = shells::shells(search, &welded, &topology, with_nested)?;
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
            thin: search.thin.map(|thickness| walls::thin(search, &welded, thickness)).transpose()?,
        })
    }
}

/// Pairs of triangles that cross, that touch, and that overlap in one plane.
fn contacts(search: &Search, welded: &Welded) -> Result<[Sites; 3]> {
    let mut found = search.mesh.contacts(search.progress)?;
    found.sort_by_cached_key(|contact| {
        let mut vertices = contact.triangles.map(|n| ascending(welded.triangles[n as usize]));
        vertices.sort_unstable();
        (vertices, contact.triangles)
    });
    let mut sites: [Sites; 3] = Default::default();
    for contact in &found {
        let kind = match contact.meeting {
            Meeting::Crossing => 0,
            Meeting::Overlap => 2,
            _ => 1,
        };
        let site = || {
            // In the order of the vertices, so that the order of the triangles does not matter.
            let mut keys = contact.triangles.map(|n| ascending(welded.triangles[n as usize]));
            keys.sort_unstable();
            Site::new(shape::meeting_point(&keys.map(|key| welded.corners(&key))), contact.triangles)
        };
        sites[kind].add(search.most, &contact.triangles, site);
    }
    Ok(sites.map(Sites::finished))
}
