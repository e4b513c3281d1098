//! Search for shells that are inside out. A shell is a closed and oriented component with a volume. It is
//! inside out if its volume is negative and it is not a cavity.
//!
//! A shell is a cavity if the other shells wind around it. This is decided from winding numbers at the
//! middles of some of its triangles: their mean must be more than three quarters. If other shells wind around
//! a shell that is not a cavity, the shell is nested, within the inside of the others. The winding number is
//! computed on both sides of each middle, so a middle on another shell counts as half inside. Winding numbers
//! are exact, and volumes are computed in doubles.

use super::sites::{Search, Site, Sites, ascending};
use super::topology::TopologyDefects;
use crate::pairs::RaySample;
use crate::pairs::tree::PairTree;
use crate::weld::Welded;
use voxelize_core::error::Result;
use voxelize_core::geom::Triangle;
use voxelize_core::par;

/// Number of triangles of a shell at which winding numbers are computed. If no two triangles meet, one
/// triangle is sufficient.
const SAMPLES: usize = 8;

/// Shells with defects, and the number of nested shells.
#[derive(Debug, Default)]
pub(super) struct ShellDefects {
    /// Shells that are inside out, in the order of the components.
    pub inside_out: Sites,
    /// Number of shells within the inside of other shells. Zero if they were not counted.
    pub nested: u64,
}

/// Options of the search for defects of shells.
#[derive(Debug, Clone, Copy)]
pub(super) struct ShellSearch {
    /// Also count the shells within the inside of other shells.
    pub with_nested: bool,
    /// No two triangles meet beyond their shared vertices and edges. A shell is then entirely inside or
    /// entirely outside another shell.
    pub is_apart: bool,
}

/// Finds the shells that are inside out, and counts the shells within the inside of other shells.
pub(super) fn shells(
    search: &Search,
    welded: &Welded,
    found: &TopologyDefects,
    ShellSearch {
        with_nested,
        is_apart,
    }: ShellSearch,
) -> Result<ShellDefects> {
    let all = &search.components.components;
    let mut shells = vec![];
    for (n, component) in all.iter().enumerate() {
        if found.closed[n] && found.oriented[n] && component.volume != 0.0 {
            shells.push(n);
        }
    }
    let mut looked_at = shells.clone();
    if !with_nested || shells.len() < 2 {
        looked_at.retain(|n| all[*n].volume < 0.0);
    }
    let mut shells_found = ShellDefects::default();
    if looked_at.is_empty() {
        return Ok(shells_found);
    }
    let members = ComponentMembers::of(search);
    let mut of_shells: Vec<u32> = vec![];
    for n in &shells {
        of_shells.extend(members.triangles(*n));
    }
    let tree = PairTree::of(search.mesh.triangles(), &of_shells);
    let most_samples = if is_apart { 1 } else { SAMPLES };
    let around = par::map_range(0..looked_at.len(), |i| {
        let seen = samples(members.triangles(looked_at[i]), welded, most_samples);
        let mut quarters = 0;
        for side in seen.iter().flat_map(RaySample::sides_of) {
            search.progress.check()?;
            let found = tree.crossings(&side);
            quarters += 2 * found.turns + found.turns_on_surface;
        }
        // Subtracts the contribution of the shell itself, whose winding number is ±1/2 at its own points.
        Ok(quarters as f64 / (4 * seen.len()) as f64 - all[looked_at[i]].volume.signum() / 2.0)
    });
    for (n, around) in looked_at.into_iter().zip(around) {
        let around = around?;
        if all[n].volume < 0.0 && around < 0.75 {
            let bounds = &all[n].bounds;
            let at = std::array::from_fn(|i| {
                (f64::from(bounds.min[i]) + f64::from(bounds.max[i])) / 2.0
            });
            let triangles = members.triangles(n);
            let site = || Site::new(at, triangles.iter().copied());
            shells_found.inside_out.add(search.most, triangles, site);
        }
        shells_found.nested += u64::from(around > 0.75 - all[n].volume.signum() / 2.0);
    }
    shells_found.inside_out = shells_found.inside_out.finished();
    Ok(shells_found)
}

/// Returns at most `most` of these triangles, evenly distributed in their order.
fn samples(triangles: &[u32], welded: &Welded, most: usize) -> Vec<Triangle> {
    // Sorts by vertices, so that the order of the triangles does not matter.
    let mut own: Vec<_> = triangles
        .iter()
        .map(|t| ascending(welded.triangles[*t as usize]))
        .collect();
    own.sort_unstable();
    let count = own.len().min(most);
    (0..count)
        .map(|i| welded.corners(&own[i * own.len() / count]))
        .collect()
}

/// Triangles sorted by component.
struct ComponentMembers {
    /// Index in `triangles` of the first triangle of each component, followed by the length of `triangles`.
    starts: Vec<usize>,
    triangles: Vec<u32>,
}

impl ComponentMembers {
    fn of(search: &Search) -> Self {
        let of = &search.components.of;
        let mut starts = vec![0; search.components.components.len() + 1];
        for n in of {
            starts[*n as usize + 1] += 1;
        }
        for n in 1..starts.len() {
            starts[n] += starts[n - 1];
        }
        let mut next = starts.clone();
        let mut triangles = vec![0; of.len()];
        for (triangle, n) in (0..).zip(of) {
            triangles[next[*n as usize]] = triangle;
            next[*n as usize] += 1;
        }
        Self { starts, triangles }
    }

    /// Triangles of component `n`.
    fn triangles(&self, n: usize) -> &[u32] {
        &self.triangles[self.starts[n]..self.starts[n + 1]]
    }
}
