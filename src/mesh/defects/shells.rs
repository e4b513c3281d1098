//! Shells that are inside out: closed and oriented components of negative volume that are no cavities.
//!
//! Such a component is a cavity if the other shells wind around it: seen from some of its triangles, they wind at
//! least once more than half in the mean. Volumes and winding numbers are computed by doubles.

use std::cmp::Ordering;

use super::sites::{Search, Site, Sites, ascending, centroid};
use super::topology::TopologyDefects;
use crate::error::Result;
use crate::geom::{Bounds, Winding};
use crate::mesh::weld::Welded;

/// From how many triangles of a shell it is seen whether others are around it.
const SAMPLES: usize = 8;

/// How exactly: a place is within another shell or not, unless their surfaces touch there.
const ENOUGH: f64 = 1.0 / 16.0;

/// The shells that are inside out, in the order of the components.
pub(super) fn inside_out(search: &Search, welded: &Welded, found: &TopologyDefects) -> Result<Sites> {
    let all = &search.components.components;
    let is_shell = |n: &usize| found.closed[*n] && found.oriented[*n] && all[*n].volume != 0.0;
    let negative: Vec<usize> = (0..all.len()).filter(|n| is_shell(n) && all[*n].volume < 0.0).collect();
    let mut sites = Sites::default();
    if negative.is_empty() {
        return Ok(sites);
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
    let mut around = vec![0.0; negative.len()];
    for outer in (0..all.len()).filter(is_shell) {
        let inner = |(_, n): &(usize, &usize)| **n != outer && holds(&all[outer].bounds, &all[**n].bounds);
        let mut inner = negative.iter().enumerate().filter(inner).peekable();
        if inner.peek().is_none() {
            continue;
        }
        search.progress.check()?;
        let exact = |t: &u32| search.mesh.triangles()[*t as usize].map(|v| v.map(f64::from));
        let winding = Winding::about(triangles(outer).iter().map(exact).collect(), 0.0, search.progress)?;
        for (place, n) in inner {
            let seen = samples(*n);
            let sum: f64 = seen.iter().map(|p| winding.at(p, ENOUGH, |_| Ordering::Equal).value).sum();
            around[place] += (sum / seen.len() as f64).round();
        }
    }
    for (n, _) in negative.iter().zip(around).filter(|(_, around)| *around < 1.0) {
        let bounds = &all[*n].bounds;
        let at = std::array::from_fn(|i| (f64::from(bounds.min[i]) + f64::from(bounds.max[i])) / 2.0);
        sites.add(search.most, triangles(*n), || Site::new(at, triangles(*n).iter().copied()));
    }
    Ok(sites.finished())
}

fn holds(outer: &Bounds, inner: &Bounds) -> bool {
    (0..3).all(|i| outer.min[i] <= inner.min[i] && inner.max[i] <= outer.max[i])
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
