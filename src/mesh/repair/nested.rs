//! Cavities: bodies within others.
//!
//! A body is within another if its bounds are and, seen from some of its triangles, the other winds around
//! more than half. The smallest such is what it is *in*. In a solid it is a cavity, in a cavity a solid;
//! except where both were given with all triangles fitting: then they are of one kind if they faced the
//! same way. So solids that overlap stay solids, as under nonzero.

use std::cmp::Ordering;

use super::orientation::{Face, oriented};
use super::patches::Patches;
use super::sheets::Sheets;
use crate::error::Result;
use crate::geom::Winding;
use crate::par::{self, Progress};

/// From how many triangles of a body it is seen whether another one is around it.
const SAMPLES: usize = 8;

/// How exactly: a place is within another body or not, unless their surfaces touch there.
const ENOUGH: f64 = 1.0 / 16.0;

/// For each patch whether it is to face outwards; it is for those that are no bodies.
///
/// # Errors
/// If the work is cancelled.
pub(super) fn outwards(
    faces: &[Face],
    patches: &Patches,
    sheets: &Sheets,
    progress: &dyn Progress,
) -> Result<Vec<bool>> {
    let around = around(faces, patches, sheets, progress)?;
    let mut largest_first: Vec<usize> = (0..faces.len()).filter(|n| faces[*n].is_body).collect();
    largest_first.sort_by(|a, b| by_volume(faces, *b, *a));
    let mut outwards = vec![true; faces.len()];
    for n in largest_first {
        if let Some(outer) = around[n] {
            let (face, other) = (&faces[n], &faces[outer]);
            let alike = face.fitted && other.fitted && face.given_outwards() == other.given_outwards();
            outwards[n] = outwards[outer] == alike;
        }
    }
    Ok(outwards)
}

/// Bodies by the size of their volume, then by number.
fn by_volume(faces: &[Face], a: usize, b: usize) -> Ordering {
    faces[a].volume.abs().total_cmp(&faces[b].volume.abs()).then(a.cmp(&b))
}

/// The smallest body around each.
fn around(
    faces: &[Face],
    patches: &Patches,
    sheets: &Sheets,
    progress: &dyn Progress,
) -> Result<Vec<Option<usize>>> {
    let groups: Vec<(usize, Vec<usize>)> = candidates(faces, progress)?;
    let found = par::map_range(0..groups.len(), |n| {
        let (outer, inner) = &groups[n];
        let all = patches.members(*outer).iter().map(|n| oriented(patches, sheets, *n));
        let winding = Winding::about(all.collect(), 0.0, progress)?;
        let sign = faces[*outer].volume.signum();
        let mut within = vec![];
        for inner in inner {
            progress.check()?;
            if sign * seen(&winding, patches, sheets, *inner) > 0.5 {
                within.push(*inner);
            }
        }
        Ok(within)
    });
    let mut around = vec![None; faces.len()];
    // The largest come first, so the smallest is what remains.
    for ((outer, _), inner) in groups.iter().zip(found) {
        inner?.into_iter().for_each(|n| around[n] = Some(*outer));
    }
    Ok(around)
}

/// How often triangles wind around some places of a patch, in the mean: on a surface both touch it is
/// neither here nor there.
fn seen(winding: &Winding, patches: &Patches, sheets: &Sheets, patch: usize) -> f64 {
    let members = patches.members(patch);
    let count = members.len().min(SAMPLES);
    let from = |n: usize| {
        let [a, b, c] = sheets.exact_corners(&sheets.triangles[members[n * members.len() / count] as usize]);
        let centre = std::array::from_fn(|i| (a[i] + b[i] + c[i]) / 3.0);
        winding.at(&centre, ENOUGH, |_| Ordering::Equal).value
    };
    (0..count).map(from).sum::<f64>() / count as f64
}

/// For each body those whose bounds are within its own and whose volume is less, the largest body first.
fn candidates(faces: &[Face], progress: &dyn Progress) -> Result<Vec<(usize, Vec<usize>)>> {
    let mut from_left: Vec<usize> = (0..faces.len()).filter(|n| faces[*n].is_body).collect();
    from_left.sort_by(|a, b| faces[*a].bounds.min[0].total_cmp(&faces[*b].bounds.min[0]).then(a.cmp(b)));
    let mut inner: Vec<Vec<usize>> = vec![vec![]; faces.len()];
    // Those that a plane meets which sweeps along x.
    let mut met: Vec<usize> = vec![];
    let mut check = |outer: usize, n: usize| {
        if by_volume(faces, n, outer).is_lt() && holds(&faces[outer], &faces[n]) {
            inner[outer].push(n);
        }
    };
    for n in from_left {
        progress.check()?;
        met.retain(|other| faces[*other].bounds.max[0] >= faces[n].bounds.min[0]);
        for other in &met {
            check(*other, n);
            // Both may begin at the same place.
            check(n, *other);
        }
        met.push(n);
    }
    let mut groups: Vec<_> = inner.into_iter().enumerate().filter(|(_, inner)| !inner.is_empty()).collect();
    groups.sort_by(|(a, _), (b, _)| by_volume(faces, *b, *a));
    Ok(groups)
}

/// Whether the bounds of one hold those of the other.
fn holds(outer: &Face, inner: &Face) -> bool {
    let (outer, inner) = (&outer.bounds, &inner.bounds);
    (0..3).all(|i| outer.min[i] <= inner.min[i] && inner.max[i] <= outer.max[i])
}
