//! ShellDefects that are inside out: closed and oriented components of negative volume that are no cavities.
//!
//! Such a component is a cavity if the other shells wind around it: seen from some of its triangles, more than three
//! quarters of a time in the mean. A shell that others wind around, and that is no cavity, lies within the
//! inside. Volumes and winding numbers are computed by doubles.

use std::cmp::Ordering;

use super::sites::{Search, Site, Sites, ascending, centroid};
use super::topology::TopologyDefects;
use crate::error::Result;
use crate::geom::Winding;
use crate::mesh::weld::Welded;
use crate::par;

/// From how many triangles of a shell it is seen whether others are around it.
const SAMPLES: usize = 8;

/// How exactly: a place is within another shell or not, unless their surfaces touch there.
const ENOUGH: f64 = 1.0 / 16.0;

/// ShellDefects, and how they lie in each other.
#[derive(Debug, Default)]
pub(super) struct ShellDefects {
    /// Those that are inside out, in the order of the components.
    pub inside_out: Sites,
    /// How many others around which the shells wind more than once; none if they were not looked for.
    pub nested: u64,
}

/// The shells that are inside out; and, if `with_nested`, how many lie within the inside of others.
pub(super) fn shells(
    search: &Search,
    welded: &Welded,
    found: &TopologyDefects,
    with_nested: bool,
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
        let mut own: Vec<_> = triangles(n).iter().map(|t| ascending(welded.triangles[*t as usize])).collect();
        own.sort_unstable();
        let count = own.len().min(SAMPLES);
        (0..count).map(|i| centroid(&welded.corners(&own[i * own.len() / count]))).collect::<Vec<_>>()
    };
    let exact = |t: &u32| search.mesh.triangles()[*t as usize].map(|v| v.map(f64::from));
    let of_shells = shells.iter().flat_map(|n| triangles(*n)).map(exact).collect();
    let winding = Winding::about(of_shells, 0.0, search.progress)?;
    let around = par::map_range(0..looked_at.len(), |i| {
        search.progress.check()?;
        let seen = samples(looked_at[i]);
        let sum: f64 = seen.iter().map(|p| winding.at(p, ENOUGH, |_| Ordering::Equal).value).sum();
        // On a shell it winds half a time around itself.
        Ok(sum / seen.len() as f64 - all[looked_at[i]].volume.signum() / 2.0)
    });
    for (n, around) in looked_at.into_iter().zip(around) {
        let around = around?;
        if all[n].volume < 0.0 && around < 0.75 {
            let bounds = &all[n].bounds;
            let at = std::array::from_fn(|i| (f64::from(bounds.min[i]) + f64::from(bounds.max[i])) / 2.0);
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
    let (mut next, mut triangles) = (starts.clone(), vec![0; of.len()]);
    for (triangle, n) in (0..).zip(of) {
        triangles[next[*n as usize]] = triangle;
        next[*n as usize] += 1;
    }
    (starts, triangles)
}
