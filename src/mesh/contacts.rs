//! Where the triangles of a mesh meet each other beyond the edges and vertices they share.
//!
//! Pairs whose bounds meet are found by a lattice (`overlaps`), and decided exactly (`geom/beyond`). Vertices are
//! equal by their coordinates (−0 is 0).

use crate::error::Result;
use crate::geom::beyond::beyond_shared;
use crate::geom::tri_tri::Meeting;
use crate::geom::{Triangle, degenerate};
use crate::mesh::Mesh;
use crate::mesh::overlaps::{PairsOf, overlaps};
use crate::par::Progress;

/// Two triangles of a mesh that meet beyond what they share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Contact {
    /// Their numbers, the lesser first.
    pub triangles: [u32; 2],
    /// What they have in common; never [`Meeting::Apart`].
    pub meeting: Meeting,
}

impl Mesh {
    /// All pairs of triangles that meet beyond the vertices and edges they share, in the order of their numbers.
    /// Triangles without area, and those that have all three vertices in common, are left out: they are defects
    /// of their own. The decisions are exact.
    ///
    /// # Errors
    /// If more than 2^27 pairs meet, or the work was cancelled.
    pub fn contacts(&self, progress: &dyn Progress) -> Result<Vec<Contact>> {
        let (triangles, degenerate) = (self.triangles(), self.degenerate());
        let is_left_out = |t: &Triangle| degenerate > 0 && degenerate::is_degenerate(t);
        let found = overlaps(PairsOf::One(triangles), progress, is_left_out, beyond_shared)?;
        Ok(found.into_iter().map(|(triangles, meeting)| Contact { triangles, meeting }).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::{Point, beyond, tri_tri};

    /// Every pair, without cells.
    fn all_pairs(mesh: &Mesh) -> Vec<Contact> {
        let triangles = mesh.triangles();
        let mut found = vec![];
        for j in 0..triangles.len() {
            for i in 0..j {
                let [s, t] = [&triangles[i], &triangles[j]];
                if degenerate::is_degenerate(s) || degenerate::is_degenerate(t) {
                    continue;
                }
                let meeting = beyond_shared(s, t);
                found.extend(meeting.map(|meeting| Contact { triangles: [i as u32, j as u32], meeting }));
            }
        }
        found.sort();
        found
    }

    #[test]
    fn cells_find_the_pairs_that_all_pairs_do() {
        let mut seed = 7_u64;
        let mut next = || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed >> 40) as f32 / (1u64 << 24) as f32
        };
        let mut seen = [0; 2];
        for sort in 0..12_u32 {
            // Small ones and a few large ones, on a coarse lattice and off it.
            let triangles = (0..300).map(|n| {
                let (at, size): (Point, f32) =
                    ([next(), next(), next()], if n % 50 == 0 { 3.0 } else { 0.3 });
                std::array::from_fn(|_| {
                    let mut place = |a: usize| at[a] + size * (next() - 0.5);
                    let v: Point = [place(0), place(1), place(2)];
                    if sort % 2 == 0 { v.map(|c| (c * 8.0).round() / 8.0) } else { v }
                })
            });
            let mesh = Mesh::from_triangles(triangles.collect()).unwrap();
            let found = mesh.contacts(&()).unwrap();
            assert_eq!(found, all_pairs(&mesh));
            seen[0] += found.len();
            // The first hundred against the rest, of which some are points and segments.
            let [one, two] = [&mesh.triangles()[..100], &mesh.triangles()[100..]].map(|t| t.to_vec());
            let pairs = (0..100).flat_map(|i| (0..200).map(move |j| [i, j]));
            let meeting = |[i, j]: [usize; 2]| tri_tri::meeting(&one[i], &two[j]);
            let expected: Vec<_> = pairs
                .map(|pair| (pair.map(|n| n as u32), meeting(pair)))
                .filter(|(_, meeting)| *meeting != Meeting::Apart)
                .collect();
            let meet = |s: &Triangle, t: &Triangle| {
                let found = if beyond::surely_apart(s, t) { Meeting::Apart } else { tri_tri::meeting(s, t) };
                Some(found).filter(|found| *found != Meeting::Apart)
            };
            let found = overlaps(PairsOf::Two([&one, &two]), &(), |_| false, meet).unwrap();
            assert_eq!(found, expected);
            seen[1] += expected.len();
        }
        assert!(seen[0] > 1000 && seen[1] > 1000, "{seen:?}");
    }
}
