//! Fans: sets of triangles around a common apex whose outer edges form a closed loop, such as the caps of
//! holes. In a ball that does not intersect the fan, the winding number is smooth, and its derivatives depend
//! only on the loop, because the contributions of the edges between triangles cancel
//! (`docs/internals/winding.md`, section 7).

use std::f64::consts::PI;

use super::local::{Ball, EdgeSlopes, Local};
use super::{AIM, Placed};
use crate::geom::solid_angle::{self, Vector};
use voxelize_geom::vector::{dot, minus};
use voxelize_kernel::Level;
use voxelize_kernel::fans::{FanLanes, FanSeen};

/// Greatest number of fans that are examined one by one. If there are more, the tree is used. Compared to
/// fans, the tree needed two thirds of the instructions for a part with 16 small holes, but two and a half
/// times as many for scans with five or six large holes.
const MOST: usize = 8;

/// Fan: triangles around a common apex.
#[derive(Debug, Clone)]
pub(super) struct Fan {
    /// Triangles in the given order. The third corner of each triangle is the apex.
    lanes: FanLanes,
    /// Indices of the fan's triangles in the list of sorted triangles.
    pub members: Vec<u32>,
    /// Midpoint and length of each edge of the loop.
    rim: Vec<(Vector, f64)>,
}

/// Estimates for a fan and a ball.
#[derive(Debug, Clone, Copy)]
pub(super) struct FanGuess {
    /// Estimated error of the fan's polynomial.
    pub left_out: f64,
    /// Index of the nearest edge of the loop. If the ball intersects the fan, it probably does so near this
    /// edge.
    pub first: usize,
}

impl Fan {
    /// Estimates the error of the fan's polynomial in a ball and finds the nearest edge, using only the
    /// midpoints of edges. The estimate is infinite if an edge is too near for a polynomial.
    pub(super) fn guess(&self, ball: &Ball) -> FanGuess {
        let mut sum = 0.0;
        let mut nearest = f64::INFINITY;
        let mut first = 0;
        for (n, (middle, length)) in self.rim.iter().enumerate() {
            let to = minus(*middle, ball.centre);
            let square = dot(to, to);
            if square < nearest {
                (nearest, first) = (square, n);
            }
            sum += length / (square * square);
        }
        let left_out = if nearest < 4.0 * ball.radius * ball.radius {
            f64::INFINITY
        } else {
            ball.radius.powi(3) / (4.0 * PI) * sum
        };
        FanGuess { left_out, first }
    }

    /// Returns the permitted error of the fan's polynomial, which is the sum of the permitted errors of its
    /// triangles.
    pub(super) fn aim(&self) -> f64 {
        AIM * self.members.len() as f64
    }
}

/// Splits a list of triangles into consecutive fans. Returns an empty list if the triangles do not split into
/// closed fans, or if they form more than [`MOST`] fans.
pub(super) fn fans(given: &[[Vector; 3]]) -> Vec<Vec<[Vector; 3]>> {
    let mut fans: Vec<Vec<[Vector; 3]>> = vec![];
    let mut fan: Vec<[Vector; 3]> = vec![];
    for triangle in given {
        if let Some(last) = fan.last()
            && (last[0] != triangle[1] || last[2] != triangle[2])
        {
            return vec![];
        }
        fan.push(*triangle);
        let is_closed = fan[0][1] == triangle[0];
        if is_closed {
            if fans.len() == MOST {
                return vec![];
            }
            fans.push(std::mem::take(&mut fan));
        }
    }
    let is_open = !fan.is_empty();
    if is_open { vec![] } else { fans }
}

/// Creates the fans, with the index of each of their triangles in the list of sorted triangles.
pub(super) fn placed(fans: Vec<Vec<[Vector; 3]>>, sorted: &[Placed]) -> Vec<Fan> {
    if fans.is_empty() {
        return vec![];
    }
    let mut places = vec![0; sorted.len()];
    for (place, triangle) in (0..).zip(sorted) {
        places[triangle.given as usize] = place;
    }
    let mut all = vec![];
    let mut first = 0;
    for triangles in fans {
        let end = first + triangles.len();
        all.push(Fan {
            lanes: FanLanes::new(&triangles),
            members: places[first..end].to_vec(),
            rim: triangles.iter().map(middle_and_length).collect(),
        });
        first = end;
    }
    all
}

/// Returns the midpoint and the length of a triangle's first edge.
fn middle_and_length([a, b, _]: &[Vector; 3]) -> (Vector, f64) {
    let along = minus(*b, *a);
    let middle = std::array::from_fn(|i| a[i] + along[i] / 2.0);
    (middle, dot(along, along).sqrt())
}

impl Local {
    /// Returns the polynomial of a fan. `None` if its loop is too near, or if the ball may intersect the fan.
    /// The evaluation starts at triangle `first`.
    pub(super) fn of_fan(
        fan: &Fan,
        first: usize,
        ball: &Ball,
        slack: f64,
        level: Level,
    ) -> Option<Self> {
        let seen = fan
            .lanes
            .seen(level, first, ball.centre, ball.radius, slack)?;
        let FanSeen {
            turning,
            nearest,
            farthest,
            ..
        } = seen;
        let count = fan.members.len() as f64;
        let wide = (farthest / nearest) * (farthest / nearest);
        let left_out = 1.001 * ball.radius * ball.radius * ball.radius / (4.0 * PI) * seen.by_edges;
        let rounded = (count + 1.0) * 2f64.powi(-50);
        let (gradient, square) = EdgeSlopes {
            gradient: seen.gradient,
            second: seen.second,
        }
        .done();
        let all = Self {
            value: turning.turns + solid_angle::turn(turning.real, turning.imaginary),
            gradient,
            square,
            error: seen.error + rounded + left_out + count * 2f64.powi(-44) * wide * wide,
            direct: seen.direct + rounded,
            size: 0.5 * count,
        };
        all.error.is_finite().then_some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::winding::tests::plus;
    use crate::geom::winding::tree;
    use crate::random::Random;

    /// Returns triangles that join the edges of a loop to an apex. If `is_open` is true, the last triangle is
    /// missing.
    fn loop_of(edges: usize, place: f64, is_open: bool) -> Vec<[Vector; 3]> {
        let at = |n: usize| {
            [
                place + (n % edges) as f64,
                ((n % edges) * (n % edges)) as f64,
                0.0,
            ]
        };
        (0..edges - usize::from(is_open))
            .map(|n| [at(n + 1), at(n), [place, 1.0, 1.0]])
            .collect()
    }

    #[test]
    fn a_fan_seen_from_a_ball_keeps_its_bound() {
        let mut random = Random::new(24);
        let mut seen = 0;
        let mut worst = 0.0_f64;
        for n in 0..6000 {
            let count = [3, 4, 8, 9, 23, 40][n % 6];
            let rough = [0.0, 0.1, 0.6][n % 3];
            let rim = |n: usize, at: &Vector| {
                let turn = n as f64 / count as f64 * std::f64::consts::TAU;
                plus(&[turn.cos(), turn.sin(), 0.0], at, rough)
            };
            let rim: Vec<_> = (0..count).map(|n| rim(n, &random.point(1.0))).collect();
            let apex = random.point(0.5);
            let triangles: Vec<_> = (0..count)
                .map(|n| [rim[(n + 1) % count], rim[n], apex])
                .collect();
            let radius = 2f64.powf(3.0 * random.signed() - 5.0);
            let ball = Ball {
                centre: random.point(1.5),
                radius,
            };
            let fan = placed(
                vec![triangles.clone()],
                &tree::sorted(triangles.clone(), &()).unwrap(),
            );
            for level in Level::available() {
                let Some(found) = Local::of_fan(&fan[0], n % count, &ball, 0.0, level) else {
                    continue;
                };
                let h = random.direction().map(|x| x * ball.radius);
                let at = plus(&ball.centre, &h, 1.0);
                let each = triangles
                    .iter()
                    .map(|t| solid_angle::of(t, &at, || unreachable!("it is beside")));
                let (exact, error) =
                    each.fold((0.0, 0.0), |(v, e), one| (v + one.value, e + one.error));
                let off = (found.at(&h) - exact).abs();
                let bound = found.error + error + 1e-14;
                assert!(off <= bound, "{n} at {level:?}: {off} is above {bound}");
                worst = worst.max(off / bound);
                seen += 1;
            }
        }
        println!("{seen} seen: at most {worst:.3} of the bound");
        assert!(seen > 2000 && worst > 0.01, "{seen} {worst}");
    }

    #[test]
    fn fans_are_distinguished_from_soups() {
        let some: Vec<_> = (0..MOST)
            .flat_map(|n| loop_of(3 + n, 100.0 * n as f64, false))
            .collect();
        let found = fans(&some);
        assert_eq!(
            found.iter().map(Vec::len).collect::<Vec<_>>(),
            (3..3 + MOST).collect::<Vec<_>>()
        );
        assert_eq!(found.concat(), some);
        let too_many = [some.clone(), loop_of(5, -100.0, false)].concat();
        let apart = [loop_of(4, 0.0, false), vec![[[9.0; 3], [8.0; 3], [7.0; 3]]]].concat();
        for other in [vec![], too_many, apart, loop_of(6, 0.0, true)] {
            assert!(fans(&other).is_empty(), "{other:?}");
        }
        let winding = crate::geom::winding::Winding::new(some.clone());
        let members: Vec<u32> = winding
            .fans
            .iter()
            .flat_map(|fan| fan.members.clone())
            .collect();
        let given: Vec<u32> = members
            .iter()
            .map(|n| winding.triangles[*n as usize].given)
            .collect();
        assert_eq!(given, (0..some.len() as u32).collect::<Vec<_>>());
    }
}
