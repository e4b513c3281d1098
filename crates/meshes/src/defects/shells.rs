//! Shells, closed and oriented components with a volume, that are inside out: their volume is negative, and they are no
//! cavities.
//!
//! A shell is a cavity if the other shells wind around it: seen from the middles of some of its triangles, more than three
//! quarters of a time in the mean. A shell that others wind around, and that is no cavity, lies within the inside. A
//! middle is seen from both of its sides: on another shell it is half inside. Windings are exact, volumes are computed
//! in doubles.

use super::sites::{Search, Site, Sites, ascending};
use super::topology::TopologyDefects;
use crate::pairs::RaySample;
use crate::pairs::tree::PairTree;
use crate::weld::Welded;
use voxelize_core::error::Result;
use voxelize_core::geom::Triangle;
use voxelize_core::par;

/// From how many triangles of a shell it is seen whether others are around it; if no triangles meet, from one.
const SAMPLES: usize = 8;

/// Defects of shells, and how shells lie in each other.
#[derive(Debug, Default)]
pub(super) struct ShellDefects {
    /// The shells that are inside out, in the order of the components.
    pub inside_out: Sites,
    /// How many lie within the inside of others; none if they were not looked for.
    pub nested: u64,
}

/// How shells are looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct ShellSearch {
    /// Whether it is counted how many lie within the inside of others.
    pub with_nested: bool,
    /// Whether no two triangles meet beyond what they share: a shell is within another as a whole, or not at all.
    pub is_apart: bool,
}

/// The shells that are inside out, and those within the inside of others.
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
    let is_shell = |n: usize| found.closed[n] && found.oriented[n] && all[n].volume != 0.0;
    let shells: Vec<usize> = (0..all.len()).filter(|n| is_shell(*n)).collect();
    let wanted = |n: &&usize| all[**n].volume < 0.0 || with_nested && shells.len() > 1;
    let looked_at: Vec<usize> = shells.iter().filter(wanted).copied().collect();
    let mut shells_found = ShellDefects::default();
    if looked_at.is_empty() {
        return Ok(shells_found);
    }
    let members = members(search);
    let triangles = |n: usize| &members.1[members.0[n]..members.0[n + 1]];
    let samples = |n: usize| {
        // By their vertices, so that the order of the triangles does not matter.
        let mut own: Vec<_> = triangles(n)
            .iter()
            .map(|t| ascending(welded.triangles[*t as usize]))
            .collect();
        own.sort_unstable();
        let count = if is_apart { 1 } else { own.len().min(SAMPLES) };
        let sampled: Vec<Triangle> = (0..count)
            .map(|i| welded.corners(&own[i * own.len() / count]))
            .collect();
        sampled
    };
    let of_shells: Vec<u32> = shells.iter().flat_map(|n| triangles(*n)).copied().collect();
    let tree = PairTree::of(search.mesh.triangles(), &of_shells);
    let around = par::map_range(0..looked_at.len(), |i| {
        let seen = samples(looked_at[i]);
        let mut quarters = 0;
        for side in seen.iter().flat_map(RaySample::sides_of) {
            search.progress.check()?;
            let found = tree.crossings(&side);
            quarters += 2 * found.turns + found.turns_on_surface;
        }
        // On a shell it winds half a time around itself.
        Ok(quarters as f64 / (4 * seen.len()) as f64 - all[looked_at[i]].volume.signum() / 2.0)
    });
    for (n, around) in looked_at.into_iter().zip(around) {
        let around = around?;
        if all[n].volume < 0.0 && around < 0.75 {
            let bounds = &all[n].bounds;
            let at = std::array::from_fn(|i| {
                (f64::from(bounds.min[i]) + f64::from(bounds.max[i])) / 2.0
            });
            let site = || Site::new(at, triangles(n).iter().copied());
            shells_found.inside_out.add(search.most, triangles(n), site);
        }
        shells_found.nested += u64::from(around > 0.75 - all[n].volume.signum() / 2.0);
    }
    shells_found.inside_out = shells_found.inside_out.finished();
    Ok(shells_found)
}

/// Where the triangles of each component begin, and at last their end; and the triangles.
fn members(search: &Search) -> (Vec<usize>, Vec<u32>) {
    let of = &search.components.of;
    let mut starts = vec![0; search.components.components.len() + 1];
    of.iter().for_each(|n| starts[*n as usize + 1] += 1);
    for n in 1..starts.len() {
        starts[n] += starts[n - 1];
    }
    let mut next = starts.clone();
    let mut triangles = vec![0; of.len()];
    for (triangle, n) in (0..).zip(of) {
        triangles[next[*n as usize]] = triangle;
        next[*n as usize] += 1;
    }
    (starts, triangles)
}
