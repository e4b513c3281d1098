//! Triangulation of polygons by ear clipping in a projection. The polygon is projected along the axis of the
//! largest component of its area vector. The projection does not round coordinates, so collinear corners stay
//! collinear.
//!
//! Every corner of the polygon becomes a corner of a triangle, and every side becomes a side of exactly one
//! triangle, even if corners are collinear. Two polygons with a common side are therefore cut into triangles
//! with that common side, and a closed mesh stays closed. A polygon that is not planar is cut in the same way
//! as its projection. A polygon without area becomes a fan.
//!
//! For a polygon that winds around several times, the search for ears may take cubic time. Two kinds of long
//! polygons are therefore treated separately. A polygon that uses a side twice in the same direction is split
//! where it returns to a point, and each loop is cut separately. A polygon whose sides touch or cross each
//! other in many places is cut by a simple search with a limited number of steps (`clip.rs`). A polygon with
//! holes that are connected by bridges is of neither kind.

use std::collections::HashMap;

use earcut::Earcut;

use super::clip;

use voxelize_core::geom::Point;

/// Cuts polygons into triangles, and reuses its memory.
pub(super) struct PolygonCutter {
    earcut: Earcut<f64>,
    flat: Vec<[f64; 2]>,
    ears: Vec<u32>,
    /// Directed sides of triangles whose opposite side is in no triangle.
    sides: Vec<[u32; 2]>,
    triangles: Vec<[u32; 3]>,
}

impl PolygonCutter {
    pub(super) fn new() -> Self {
        Self {
            earcut: Earcut::new(),
            flat: vec![],
            ears: vec![],
            sides: vec![],
            triangles: vec![],
        }
    }

    /// Returns the triangles of a polygon as indices of its corners. The polygon must have at least three
    /// corners. It has two more corners than triangles. All triangles have the orientation of the polygon.
    pub(super) fn cut(&mut self, corners: &[Point]) -> &[[u32; 3]] {
        if corners.len() > LONG && repeats_a_side(corners) {
            self.cut_loops(corners);
        } else {
            self.cut_whole(corners);
        }
        &self.triangles
    }

    fn cut_whole(&mut self, corners: &[Point]) {
        let count = corners.len() as u32;
        self.triangles.clear();
        if count < 4 || !self.cut_ears(corners) {
            self.triangles.clear();
            self.triangles.extend((2..count).map(|n| [0, n - 1, n]));
        }
    }

    /// Splits the polygon at points that several corners share, and cuts each loop separately. Loops are
    /// connected by sides of zero length between corners at the same point.
    fn cut_loops(&mut self, corners: &[Point]) {
        let mut all = vec![];
        let mut open: Vec<u32> = vec![];
        // Index in `open` of each point of the remaining polygon.
        let mut places: HashMap<[u32; 3], usize> = HashMap::new();
        for (n, corner) in corners.iter().enumerate() {
            let point = bits(*corner);
            if let Some(&place) = places.get(&point) {
                let mut closed = open.split_off(place + 1);
                for left in &closed {
                    places.remove(&bits(corners[*left as usize]));
                }
                closed.insert(0, open[place]);
                closed.push(n as u32);
                self.cut_part(corners, &closed, &mut all);
            }
            places.insert(point, open.len());
            open.push(n as u32);
        }
        self.cut_part(corners, &open, &mut all);
        self.triangles = all;
    }

    /// Cuts the polygon that consists of some of the corners, and adds its triangles to `all`.
    fn cut_part(&mut self, corners: &[Point], part: &[u32], all: &mut Vec<[u32; 3]>) {
        if part.len() < 3 {
            return;
        }
        let points: Vec<Point> = part.iter().map(|n| corners[*n as usize]).collect();
        self.cut_whole(&points);
        all.extend(
            self.triangles
                .iter()
                .map(|triangle| triangle.map(|n| part[n as usize])),
        );
    }

    /// Cuts the polygon by ear clipping. Returns `false` if the triangles do not cover the whole polygon.
    fn cut_ears(&mut self, corners: &[Point]) -> bool {
        let Some(axis) = largest_side(corners) else {
            return false;
        };
        let [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
        self.flat.clear();
        self.flat.extend(
            corners
                .iter()
                .map(|corner| [f64::from(corner[u]), f64::from(corner[v])]),
        );
        if corners.len() > LONG
            && clip::has_contacts(&self.flat, FEW_CONTACTS + corners.len() / 256)
        {
            clip::cut(&self.flat, &mut self.triangles);
            return true;
        }
        self.ears.clear();
        self.earcut
            .earcut::<u32>(self.flat.iter().copied(), &[], &mut self.ears);
        self.triangles
            .extend(self.ears.as_chunks().0.iter().map(|ear: &[u32; 3]| {
                // Gives the triangle the orientation of the polygon.
                let mut ear = *ear;
                ear.sort_unstable();
                ear
            }));
        self.keep_all_corners(corners.len() as u32)
    }

    /// Ear clipping leaves out collinear corners. This adds triangles without area between a side of the
    /// triangles and the left-out corners on it. Returns `false` if the outline of the triangles is not the
    /// polygon.
    fn keep_all_corners(&mut self, count: u32) -> bool {
        self.sides.clear();
        self.sides.extend(
            self.triangles
                .iter()
                .flat_map(|[a, b, c]| [[*a, *b], [*b, *c], [*c, *a]]),
        );
        self.sides.sort_unstable();
        let all = std::mem::take(&mut self.sides);
        let is_single = |side: &[u32; 2]| all.binary_search(&[side[1], side[0]]).is_err();
        self.sides.extend(all.iter().filter(|side| is_single(side)));
        // The sides must go exactly once around the polygon. Each must begin where the previous side ends.
        let Some([first, _]) = self.sides.first().copied() else {
            return false;
        };
        let mut at = first;
        for &[from, to] in &self.sides {
            if from != at || to <= from && to != first {
                return false;
            }
            let ahead = if to > from {
                to - from
            } else {
                to + count - from
            };
            let corner = |n: u32| (from + n) % count;
            self.triangles.extend((2..=ahead).map(|n| {
                let mut left_out = [corner(0), corner(n - 1), corner(n)];
                let least = (0..3).min_by_key(|n| left_out[*n]).unwrap_or(0);
                left_out.rotate_left(least);
                left_out
            }));
            at = to;
        }
        at == first && self.triangles.len() as u32 == count - 2
    }
}

/// Maximum number of corners of a polygon that is cut without comparing its sides.
const LONG: usize = 256;

/// Maximum number of contacts between sides for the usual search, if the polygon is long. One more contact is
/// allowed for every 256 corners.
const FEW_CONTACTS: usize = 64;

/// Returns whether a polygon uses a side twice in the same direction.
fn repeats_a_side(corners: &[Point]) -> bool {
    let next = corners.iter().cycle().skip(1);
    let sides = corners
        .iter()
        .zip(next)
        .map(|(from, to)| [bits(*from), bits(*to)]);
    let mut sides: Vec<_> = sides.filter(|[from, to]| from != to).collect();
    sides.sort_unstable();
    sides.windows(2).any(|pair| pair[0] == pair[1])
}

/// Returns the bits of a point. Equal points have equal bits, because −0 becomes 0.
fn bits(point: Point) -> [u32; 3] {
    point.map(|coordinate| (coordinate + 0.0).to_bits())
}

/// Returns the axis of the largest component of a polygon's area vector. `None` if the area is zero.
fn largest_side(corners: &[Point]) -> Option<usize> {
    let origin = corners[0].map(f64::from);
    let mut area = [0.0_f64; 3];
    for pair in corners.windows(2) {
        let [a, b] = [0, 1].map(|n| [0, 1, 2].map(|axis| f64::from(pair[n][axis]) - origin[axis]));
        for (axis, sum) in area.iter_mut().enumerate() {
            let [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
            *sum += a[u] * b[v] - a[v] * b[u];
        }
    }
    let axis = (0..3).max_by(|a, b| area[*a].abs().total_cmp(&area[*b].abs()))?;
    (area[axis] != 0.0).then_some(axis)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::random::Random;

    /// Returns twice the area of a triangle in the plane of x and y. It is exact for small integers.
    fn area(corners: &[Point], triangle: &[u32; 3]) -> f64 {
        let [a, b, c] = triangle.map(|n| corners[n as usize].map(f64::from));
        (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    }

    /// Asserts that the sides of a polygon are the outer sides of its triangles, and that all triangles have
    /// the orientation of the polygon.
    fn check(corners: &[Point]) {
        let mut cutter = PolygonCutter::new();
        let triangles = cutter.cut(corners).to_vec();
        assert_eq!(triangles.len(), corners.len() - 2, "{corners:?}");
        let mut sides: HashMap<[u32; 2], i32> = HashMap::new();
        for [a, b, c] in &triangles {
            for [from, to] in [[a, b], [b, c], [c, a]] {
                *sides.entry([*from, *to]).or_default() += 1;
                *sides.entry([*to, *from]).or_default() -= 1;
            }
        }
        let count = corners.len() as u32;
        for n in 0..count {
            assert_eq!(
                sides.remove(&[n, (n + 1) % count]),
                Some(1),
                "side {n} of {corners:?}"
            );
            assert_eq!(sides.remove(&[(n + 1) % count, n]), Some(-1));
        }
        assert!(
            sides.values().all(|n| *n == 0),
            "{triangles:?} of {corners:?}"
        );
    }

    #[test]
    fn concave_polygons_are_covered_once() {
        // An L, a comb, and a rectangle with collinear corners. Each is tested in every coordinate plane,
        // starting at every corner, and in both directions.
        let l: &[[f32; 2]] = &[
            [0.0, 0.0],
            [4.0, 0.0],
            [4.0, 1.0],
            [1.0, 1.0],
            [1.0, 4.0],
            [0.0, 4.0],
        ];
        let comb: &[[f32; 2]] = &[
            [0.0, 0.0],
            [7.0, 0.0],
            [7.0, 5.0],
            [6.0, 1.0],
            [4.0, 5.0],
            [3.0, 1.0],
            [1.0, 5.0],
            [0.0, 5.0],
        ];
        let line: &[[f32; 2]] = &[
            [0.0, 0.0],
            [1.0, 0.0],
            [2.0, 0.0],
            [3.0, 0.0],
            [3.0, 3.0],
            [2.0, 3.0],
            [1.0, 3.0],
            [0.0, 3.0],
            [0.0, 1.0],
        ];
        for (shape, whole) in [(l, 14.0), (comb, 46.0), (line, 18.0)] {
            for turn in 0..shape.len() {
                for axis in 0..3 {
                    let mut flat = shape.to_vec();
                    flat.rotate_left(turn);
                    let placed = |[u, v]: [f32; 2]| {
                        let mut point = [0.5; 3];
                        point[(axis + 1) % 3] = u;
                        point[(axis + 2) % 3] = v;
                        point
                    };
                    let corners: Vec<Point> = flat.iter().copied().map(placed).collect();
                    check(&corners);
                    if axis == 2 {
                        let mut cutter = PolygonCutter::new();
                        let areas: Vec<f64> = cutter
                            .cut(&corners)
                            .iter()
                            .map(|t| area(&corners, t))
                            .collect();
                        assert!(areas.iter().all(|area| *area >= 0.0), "{areas:?}");
                        assert_eq!(areas.iter().sum::<f64>(), whole, "{corners:?}");
                    }
                    let backwards: Vec<Point> = corners.into_iter().rev().collect();
                    check(&backwards);
                }
            }
        }
    }

    #[test]
    fn a_polygon_that_goes_round_again_is_cut_in_time() {
        let triangle = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let square = [
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [1.0, 1.0, 0.0],
            [0.0, 1.0, 0.0],
        ];
        for round in [&triangle[..], &square] {
            for count in [300, 20_000] {
                let corners: Vec<Point> = round.iter().copied().cycle().take(count).collect();
                check(&corners);
                let triangles = PolygonCutter::new().cut(&corners).to_vec();
                let found: f64 = triangles
                    .iter()
                    .map(|triangle| area(&corners, triangle))
                    .sum();
                assert!(found >= (count / round.len()) as f64, "{found} of {count}");
            }
        }
    }

    #[test]
    fn a_long_polygon_that_crosses_itself_is_cut_in_time() {
        let mut random = Random::new(5);
        let triangle = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0_f32]];
        for count in [400, 8000] {
            let around =
                |n: usize, by: f32| [triangle[n % 3][0] * by, triangle[n % 3][1] * by, 0.0];
            let shrinking: Vec<Point> = (0..count)
                .map(|n| around(n, 1.0 - n as f32 / (count + 100) as f32))
                .collect();
            let shaken: Vec<Point> = (0..count)
                .map(|n| around(n, 1.0 + random.below(1000) as f32 * 1e-5))
                .collect();
            let scattered: Vec<Point> = (0..count)
                .map(|_| [random.below(1000) as f32, random.below(1000) as f32, 0.0])
                .collect();
            for corners in [shrinking, shaken, scattered] {
                check(&corners);
            }
        }
    }

    #[test]
    fn a_long_polygon_with_holes_is_covered_once() {
        // A plate with holes along a diagonal. A bridge from the first corner of each hole connects it to the
        // previous one.
        let mut corners: Vec<Point> = vec![
            [0.0, 0.0, 0.0],
            [40.0, 0.0, 0.0],
            [40.0, 40.0, 0.0],
            [0.0, 40.0, 0.0],
        ];
        let mut back = vec![[0.0, 0.0, 0.0]];
        corners.push([0.0, 0.0, 0.0]);
        for n in 1..39_u16 {
            let at = f32::from(n);
            let hole = [
                [at, at, 0.0],
                [at, at + 0.5, 0.0],
                [at + 0.5, at + 0.5, 0.0],
                [at + 0.5, at, 0.0],
            ];
            // One half of the hole is passed on the way there, the other half on the way back.
            corners.extend([hole[0], hole[1], hole[2]]);
            back.extend([hole[0], hole[3], hole[2]]);
        }
        back.reverse();
        corners.extend(back.iter().skip(1).take(back.len() - 2));
        // The same polygon with many corners on its sides.
        let long: Vec<Point> = corners
            .iter()
            .zip(corners.iter().cycle().skip(1))
            .flat_map(|(a, b)| [*a, [0, 1, 2].map(|axis| (a[axis] + b[axis]) / 2.0)])
            .collect();
        assert!(long.len() > LONG);
        check(&long);
        let mut cutter = PolygonCutter::new();
        let areas: Vec<f64> = cutter.cut(&long).iter().map(|t| area(&long, t)).collect();
        let whole: f64 = areas.iter().sum();
        let covered: f64 = areas.iter().map(|area| area.abs()).sum();
        assert!(
            (covered - whole).abs() < 1e-9 * whole,
            "{covered} for {whole}"
        );
        assert!(
            (whole - 2.0 * (1600.0 - 38.0 * 0.25)).abs() < 1e-6,
            "{whole}"
        );
    }

    #[test]
    fn random_polygons_keep_their_sides() {
        let mut random = Random::new(11);
        for n in 0..20_000 {
            let count = 4 + random.below(9) as usize;
            let grid = [2, 3, 50][n % 3];
            let corners: Vec<Point> = (0..count)
                .map(|_| [(); 3].map(|()| random.below(grid) as f32))
                .collect();
            check(&corners);
        }
    }
}
