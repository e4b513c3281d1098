//! Volume in one cell of the region with non-zero winding number around signed convex solids, by clipping in
//! integers.
//!
//! A solid consists of the planes around it, with integer coefficients, and 1 or -1 for its orientation. The
//! intersection of some solids in a cell is bounded by parts of their planes. Each part is a polygon on its
//! plane, clipped by the other planes. A corner is the intersection of three planes, so all corners are
//! quotients of determinants, and every side is decided in integers. Only the volumes of the final pieces are
//! summed in doubles. Nothing here uses the library.

use crate::support::meshes::{cross, minus};

/// Points whose product with the normal is at most the offset.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct HalfSpace {
    pub normal: [i64; 3],
    pub offset: i64,
}

impl HalfSpace {
    /// Returns the half-space of three points in its plane, counterclockwise seen from outside.
    pub fn of([a, b, c]: [[i64; 3]; 3]) -> Self {
        let normal = cross(minus(b, a), minus(c, a));
        Self {
            normal,
            offset: normal[0] * a[0] + normal[1] * a[1] + normal[2] * a[2],
        }
        .reduced()
    }

    fn reduced(self) -> Self {
        let divisor = self
            .normal
            .iter()
            .fold(self.offset.abs(), |d, c| gcd(d, c.abs()))
            .max(1);
        Self {
            normal: self.normal.map(|c| c / divisor),
            offset: self.offset / divisor,
        }
    }

    /// Returns a positive number outside.
    fn side(&self, (p, w): &Corner) -> i128 {
        let along: i128 = (0..3).map(|a| i128::from(self.normal[a]) * p[a]).sum();
        along - i128::from(self.offset) * w
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Corner as a quotient `p / w`, with positive w.
type Corner = ([i128; 3], i128);

/// Returns the intersection of three planes that meet in one point.
fn meet(planes: [&HalfSpace; 3]) -> Corner {
    let [l, m, n] = planes.map(|plane| plane.normal.map(i128::from));
    let [mn, nl, lm] = [cross(m, n), cross(n, l), cross(l, m)];
    let w: i128 = (0..3).map(|a| l[a] * mn[a]).sum();
    assert!(w != 0, "planes that have no single point: {planes:?}");
    let [a, b, c] = planes.map(|plane| i128::from(plane.offset));
    let p = [0, 1, 2].map(|i| (a * mn[i] + b * nl[i] + c * lm[i]) * w.signum());
    (p, w.abs())
}

/// Polygon on a plane: its corners, each with the plane of the next side.
type Face = Vec<(Corner, HalfSpace)>;

/// Walls of a cell, two for each axis.
pub type Walls = [[HalfSpace; 2]; 3];

/// Returns the walls of the cell between two corners.
pub fn walls(low: [i64; 3], high: [i64; 3]) -> Walls {
    [0, 1, 2].map(|axis| {
        let mut normal = [0; 3];
        normal[axis] = 1;
        let above = HalfSpace {
            normal,
            offset: high[axis],
        };
        normal[axis] = -1;
        [
            HalfSpace {
                normal,
                offset: -low[axis],
            },
            above,
        ]
    })
}

/// Returns the part of a plane that the other planes leave, including these walls.
fn face(plane: &HalfSpace, walls: &Walls, others: &[HalfSpace]) -> Face {
    let axis = (0..3)
        .max_by_key(|a| plane.normal[*a].abs())
        .expect("three axes");
    let [first, second] = [&walls[(axis + 1) % 3], &walls[(axis + 2) % 3]];
    // Counterclockwise around the axis.
    let mut corners = vec![
        (meet([plane, &first[0], &second[0]]), second[0]),
        (meet([plane, &first[1], &second[0]]), first[1]),
        (meet([plane, &first[1], &second[1]]), second[1]),
        (meet([plane, &first[0], &second[1]]), first[0]),
    ];
    if plane.normal[axis] < 0 {
        corners.reverse();
        let sides: Vec<_> = corners.iter().map(|corner| corner.1).collect();
        for (n, corner) in corners.iter_mut().enumerate() {
            corner.1 = sides[(n + 1) % 4];
        }
    }
    for other in others {
        if other == plane {
            continue;
        }
        corners = clipped(plane, &corners, other);
        if corners.len() < 3 {
            return vec![];
        }
    }
    corners
}

/// Returns the part of a face that is not above a plane.
fn clipped(plane: &HalfSpace, face: &Face, by: &HalfSpace) -> Face {
    let sides: Vec<_> = face.iter().map(|(corner, _)| by.side(corner)).collect();
    let mut kept = vec![];
    for n in 0..face.len() {
        let (corner, edge) = &face[n];
        let [here, there] = [sides[n], sides[(n + 1) % face.len()]];
        if here <= 0 {
            // If the boundary leaves the half-space at this corner, the next side is on the new plane.
            kept.push((*corner, if here == 0 && there > 0 { *by } else { *edge }));
            if here < 0 && there > 0 {
                kept.push((meet([plane, edge, by]), *by));
            }
        } else if there < 0 {
            kept.push((meet([plane, edge, by]), *edge));
        }
    }
    kept
}

/// Returns the volume within some half-spaces, which include these walls, in whole cells. `None` if no plane
/// has a face.
fn volume(walls: &Walls, planes: &[HalfSpace], low: [i64; 3], side: i64) -> Option<f64> {
    let mut six = 0.0;
    let mut is_empty = true;
    for plane in planes {
        let corners: Vec<[f64; 3]> = face(plane, walls, planes)
            .iter()
            .map(|((p, w), _)| {
                [0, 1, 2]
                    .map(|a| (p[a] - i128::from(low[a]) * w) as f64 / *w as f64 / side as f64 - 0.5)
            })
            .collect();
        if corners.len() < 3 {
            continue;
        }
        is_empty = false;
        let [a, ..] = corners[..] else { continue };
        for pair in corners[1..].windows(2) {
            let normal = cross(minus(pair[0], a), minus(pair[1], a));
            six += (0..3).map(|i| a[i] * normal[i]).sum::<f64>();
        }
    }
    if is_empty {
        None
    } else {
        Some((six / 6.0).max(0.0))
    }
}

/// Convex solid with 1 or -1 for its orientation.
#[derive(Clone, Debug)]
pub struct SignedSolid {
    pub planes: Vec<HalfSpace>,
    pub sign: i32,
}

/// Returns the share of a cell with a non-zero winding number. The cell is a cube with this low corner and
/// side.
pub fn union_share(solids: &[SignedSolid], low: [i64; 3], side: i64) -> f64 {
    let walls = walls(low, low.map(|c| c + side));
    let sets = 1 << solids.len();
    let mut common = vec![0.0; sets];
    for set in 0..sets {
        let members = || (0..solids.len()).filter(|n| set >> n & 1 == 1);
        // A set with an empty subset is empty.
        if members().any(|n| set != 1 << n && common[set & !(1 << n)] == 0.0) {
            continue;
        }
        let mut planes: Vec<_> = walls.as_flattened().to_vec();
        for n in members() {
            planes.extend(&solids[n].planes);
        }
        // Of half-spaces with the same normal, keep the smallest.
        planes.sort_unstable_by_key(|plane| (plane.normal, plane.offset));
        planes.dedup_by_key(|plane| plane.normal);
        common[set] = volume(&walls, &planes, low, side).unwrap_or(0.0);
    }
    // Inclusion and exclusion gives the volume of the intersection of exactly these solids.
    let mut share = 0.0;
    for set in 0..sets {
        let winding: i32 = (0..solids.len())
            .filter(|n| set >> n & 1 == 1)
            .map(|n| solids[n].sign)
            .sum();
        if winding == 0 {
            continue;
        }
        for (more, volume) in common.iter().enumerate() {
            if more & set == set {
                share += if (more ^ set).count_ones() % 2 == 0 {
                    *volume
                } else {
                    -*volume
                };
            }
        }
    }
    share
}
