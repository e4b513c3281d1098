//! Cavities: bodies within other bodies.
//!
//! A body is within another body under two conditions: the bounds of the other contain its bounds, and the
//! mean winding number of the other, at some of its triangles, is more than half. Of all bodies that it is
//! within, the smallest one is the body that it is *in*. A body in a solid is a cavity, and a body in a
//! cavity is a solid.
//!
//! There is one exception. If the triangles of both bodies were originally oriented consistently, and both
//! bodies originally faced the same way, both are solids or both are cavities. Overlapping solids therefore
//! stay solids, as under the nonzero rule.

use std::cmp::Ordering;

use super::orientation::{Face, oriented};
use super::patches::Patches;
use super::sheets::Sheets;
use voxelize_core::error::Result;
use voxelize_core::geom::Winding;
use voxelize_core::par::{self, Progress};

/// Number of triangles of a body at which the winding number of another body is sampled.
const SAMPLES: usize = 8;

/// Required precision of winding numbers. It is sufficient to distinguish the inside of a body from its
/// outside, except where the surfaces touch.
const ENOUGH: f64 = 1.0 / 16.0;

/// Returns, for each patch, whether it should face outwards. `true` for patches that are not bodies.
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

/// Compares bodies by the absolute value of their volume, then by their number.
fn by_volume(faces: &[Face], a: usize, b: usize) -> Ordering {
    faces[a]
        .volume
        .abs()
        .total_cmp(&faces[b].volume.abs())
        .then(a.cmp(&b))
}

/// Returns, for each body, the smallest body that it is within. Outer bodies are tried from the smallest on,
/// and only for bodies without a result.
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

/// Returns the mean winding number of a mesh at the middles of some triangles of a patch. A middle at which
/// the surfaces touch contributes about one half.
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
