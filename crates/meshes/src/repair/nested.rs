//! Cavities: bodies within other bodies.
//!
//! A body is within another if the other's bounds contain its bounds, and the other winds around
//! some of its triangles by more than half in the mean. The smallest such body is the one that it
//! is *in*. A body in a solid is a cavity, and a body in a cavity is a solid.
//!
//! There is one exception. If the triangles of both bodies were given with consistent orientation
//! and both bodies faced the same way, they are of the same kind. Overlapping solids therefore stay
//! solids, as under the nonzero rule.

use std::cmp::Ordering;

use super::orientation::{Face, oriented};
use super::patches::Patches;
use super::sheets::Sheets;
use voxelize_core::error::Result;
use voxelize_core::geom::Winding;
use voxelize_core::par::{self, Progress};

/// Number of triangles of a body from which the winding of another body is sampled.
const SAMPLES: usize = 8;

/// Precision of winding numbers. A place is clearly within another body or outside it, except where
/// the surfaces touch.
const ENOUGH: f64 = 1.0 / 16.0;

/// Returns, for each patch, whether it faces outwards. True for patches that are not bodies.
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
            let face = &faces[n];
            let other = &faces[outer];
            let alike =
                face.fitted && other.fitted && face.given_outwards() == other.given_outwards();
            outwards[n] = outwards[outer] == alike;
        }
    }
    Ok(outwards)
}

/// Compares bodies by the size of their volume, then by number.
fn by_volume(faces: &[Face], a: usize, b: usize) -> Ordering {
    faces[a]
        .volume
        .abs()
        .total_cmp(&faces[b].volume.abs())
        .then(a.cmp(&b))
}

/// Returns the smallest body around each body. Bodies are tested from the smallest on, and only
/// against bodies without a result.
fn around(
    faces: &[Face],
    patches: &Patches,
    sheets: &Sheets,
    progress: &dyn Progress,
) -> Result<Vec<Option<usize>>> {
    let from = |n: &usize| faces[*n].bounds.min[0];
    let mut smallest_first: Vec<usize> = (0..faces.len()).filter(|n| faces[*n].is_body).collect();
    let mut from_left = smallest_first.clone();
    smallest_first.sort_by(|a, b| by_volume(faces, *a, *b));
    from_left.sort_by(|a, b| from(a).total_cmp(&from(b)));
    let mut around = vec![None; faces.len()];
    let mut found = 0;
    for outer in smallest_first {
        progress.check()?;
        let face = &faces[outer];
        let start = from_left.partition_point(|n| from(n) < face.bounds.min[0]);
        let met = from_left[start..]
            .iter()
            .copied()
            .take_while(|n| from(n) <= face.bounds.max[0]);
        let is_candidate = |n: &usize| {
            around[*n].is_none() && holds(face, &faces[*n]) && by_volume(faces, *n, outer).is_lt()
        };
        let candidates: Vec<usize> = met.filter(is_candidate).collect();
        if candidates.is_empty() {
            continue;
        }
        let all = patches
            .members(outer)
            .iter()
            .map(|n| oriented(patches, sheets, *n));
        let winding = Winding::about(all.collect(), 0.0, progress)?;
        let is_within = par::map_range(0..candidates.len(), |n| {
            progress.check()?;
            Ok(face.volume.signum() * seen(&winding, patches, sheets, candidates[n]) > 0.5)
        });
        for (inner, is_within) in candidates.into_iter().zip(is_within) {
            if is_within? {
                around[inner] = Some(outer);
                found += 1;
            }
        }
        if 2 * found > from_left.len() {
            from_left.retain(|n| around[*n].is_none());
            found = 0;
        }
    }
    Ok(around)
}

/// Returns the mean winding number of triangles around some places of a patch. Places where the
/// surfaces touch contribute about one half.
fn seen(winding: &Winding, patches: &Patches, sheets: &Sheets, patch: usize) -> f64 {
    let members = patches.members(patch);
    let count = members.len().min(SAMPLES);
    let mut sum = 0.0;
    for n in 0..count {
        let triangle = members[n * members.len() / count] as usize;
        let [a, b, c] = sheets.exact_corners(&sheets.triangles[triangle]);
        let centre = std::array::from_fn(|i| (a[i] + b[i] + c[i]) / 3.0);
        sum += winding.at(&centre, ENOUGH, |_| Ordering::Equal).value;
    }
    sum / count as f64
}

/// Returns whether the bounds of `outer` contain the bounds of `inner`.
fn holds(outer: &Face, inner: &Face) -> bool {
    let outer = &outer.bounds;
    let inner = &inner.bounds;
    (0..3).all(|i| outer.min[i] <= inner.min[i] && inner.max[i] <= outer.max[i])
}
