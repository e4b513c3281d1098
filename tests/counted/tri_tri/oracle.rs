//! Intersection of two triangles, from its corners in homogeneous integers. It shares nothing with the tool:
//! no chords are compared, and the corners are collected for any planes of the triangles.

use std::ops::{Add, Div, Mul, Rem, Sub};

use num_bigint::BigInt;
use voxelize::geom::Triangle;
use voxelize::geom::tri_tri::Meeting;

/// Integer operations that the oracle needs.
pub trait Whole:
    Clone
    + Ord
    + From<i64>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Rem<Output = Self>
{
}
impl Whole for i128 {}
impl Whole for BigInt {}

type Vector<T> = [T; 3];

/// Euclid's algorithm for positive numbers.
fn common_factor<T: Whole>(a: T, b: T) -> T {
    if sign(&b) == 0 {
        a
    } else {
        common_factor(b.clone(), a % b)
    }
}

/// Point as integers over a common positive denominator.
#[derive(Clone)]
struct Corner<T> {
    at: Vector<T>,
    over: T,
}

fn sub<T: Whole>(a: &Vector<T>, b: &Vector<T>) -> Vector<T> {
    std::array::from_fn(|i| a[i].clone() - b[i].clone())
}

fn outer<T: Whole>(a: &Vector<T>, b: &Vector<T>) -> Vector<T> {
    let minor = |i: usize, j: usize| a[i].clone() * b[j].clone() - a[j].clone() * b[i].clone();
    [minor(1, 2), minor(2, 0), minor(0, 1)]
}

fn inner<T: Whole>(a: &Vector<T>, b: &Vector<T>) -> T {
    (0..3)
        .map(|i| a[i].clone() * b[i].clone())
        .reduce(|a, b| a + b)
        .unwrap()
}

fn sign<T: Whole>(value: &T) -> i8 {
    value.cmp(&T::from(0)) as i8
}

fn is_zero<T: Whole>(a: &Vector<T>) -> bool {
    a.iter().all(|c| sign(c) == 0)
}

fn edges<T>([a, b, c]: &[Vector<T>; 3]) -> [[&Vector<T>; 2]; 3] {
    [[a, b], [b, c], [c, a]]
}

fn normal<T: Whole>([a, b, c]: &[Vector<T>; 3]) -> Vector<T> {
    outer(&sub(b, a), &sub(c, a))
}

impl<T: Whole> Corner<T> {
    fn of(at: &Vector<T>) -> Self {
        Self {
            at: at.clone(),
            over: T::from(1),
        }
    }

    /// Returns `(p times by_q + q times by_p) / (by_p + by_q)`.
    fn between(p: &Vector<T>, q: &Vector<T>, by_q: &T, by_p: &T) -> Self {
        let factor = common_factor(by_q.clone(), by_p.clone());
        let [by_q, by_p] = [by_q, by_p].map(|by| by.clone() / factor.clone());
        let at = std::array::from_fn(|i| p[i].clone() * by_q.clone() + q[i].clone() * by_p.clone());
        Self {
            at,
            over: by_p + by_q,
        }
    }

    /// Returns the offset from `a`, times the denominator.
    fn from(&self, a: &Vector<T>) -> Vector<T> {
        std::array::from_fn(|i| self.at[i].clone() - a[i].clone() * self.over.clone())
    }

    fn equals(&self, other: &Self) -> bool {
        (0..3).all(|i| {
            self.at[i].clone() * other.over.clone() == other.at[i].clone() * self.over.clone()
        })
    }

    /// Reports whether the point is on the closed segment.
    fn is_on(&self, [a, b]: [&Vector<T>; 2]) -> bool {
        let e = sub(b, a);
        let r = self.from(a);
        if is_zero(&e) {
            return is_zero(&r);
        }
        let rise = inner(&r, &e);
        is_zero(&outer(&e, &r)) && sign(&rise) >= 0 && rise <= inner(&e, &e) * self.over.clone()
    }

    fn is_in(&self, triangle: &[Vector<T>; 3], n: &Vector<T>) -> bool {
        if is_zero(n) {
            return edges(triangle).into_iter().any(|edge| self.is_on(edge));
        }
        sign(&inner(n, &self.from(&triangle[0]))) == 0
            && edges(triangle)
                .into_iter()
                .all(|[a, b]| sign(&inner(&outer(&sub(b, a), &self.from(a)), n)) >= 0)
    }
}

/// Returns the point where an edge passes through the plane of a triangle.
fn pierced<T: Whole>(
    [p, q]: [&Vector<T>; 2],
    triangle: &[Vector<T>; 3],
    n: &Vector<T>,
) -> Option<Corner<T>> {
    let [of_p, of_q] = [p, q].map(|x| inner(n, &sub(x, &triangle[0])));
    match (sign(&of_p), sign(&of_q)) {
        (1, -1) => Some(Corner::between(p, q, &(T::from(0) - of_q), &of_p)),
        (-1, 1) => Some(Corner::between(p, q, &of_q, &(T::from(0) - of_p))),
        _ => None,
    }
}

/// Returns the point where two coplanar edges that are not parallel cross.
fn crossed<T: Whole>([a, b]: [&Vector<T>; 2], [c, d]: [&Vector<T>; 2]) -> Option<Corner<T>> {
    let n = outer(&sub(b, a), &sub(d, c));
    if is_zero(&n) || sign(&inner(&n, &sub(c, a))) != 0 {
        return None;
    }
    // Heights of a and b above the line of c and d, in their plane.
    let [of_a, of_b] = [a, b].map(|x| inner(&n, &outer(&sub(d, c), &sub(x, c))));
    match (sign(&of_a), sign(&of_b)) {
        (1, -1) => Some(Corner::between(a, b, &(T::from(0) - of_b), &of_a)),
        (-1, 1) => Some(Corner::between(a, b, &of_b, &(T::from(0) - of_a))),
        _ => None,
    }
}

/// Returns the kind of intersection.
pub fn meeting<T: Whole>(s: &[Vector<T>; 3], t: &[Vector<T>; 3]) -> Meeting {
    let plane_s = normal(s);
    let plane_t = normal(t);
    let mut corners: Vec<Corner<T>> = s.iter().chain(t).map(Corner::of).collect();
    corners.extend(
        edges(s)
            .into_iter()
            .filter_map(|edge| pierced(edge, t, &plane_t)),
    );
    corners.extend(
        edges(t)
            .into_iter()
            .filter_map(|edge| pierced(edge, s, &plane_s)),
    );
    for edge in edges(s) {
        corners.extend(
            edges(t)
                .into_iter()
                .filter_map(|other| crossed(edge, other)),
        );
    }
    corners.retain(|x| x.is_in(s, &plane_s) && x.is_in(t, &plane_t));
    let Some(first) = corners.first() else {
        return Meeting::Apart;
    };
    let is_flat = is_zero(&plane_s) || is_zero(&plane_t);
    let Some(second) = corners
        .iter()
        .find(|x| !x.equals(first))
        .filter(|_| !is_flat)
    else {
        return Meeting::Point;
    };
    // Offset between corners, scaled to integers.
    let way = |x: &Corner<T>| -> Vector<T> {
        std::array::from_fn(|i| {
            x.at[i].clone() * first.over.clone() - first.at[i].clone() * x.over.clone()
        })
    };
    let along = way(second);
    // In different planes all corners are on the common line.
    let in_one_plane = t
        .iter()
        .all(|v| sign(&inner(&plane_s, &sub(v, &s[0]))) == 0);
    if in_one_plane && corners.iter().any(|x| !is_zero(&outer(&along, &way(x)))) {
        return Meeting::Overlap;
    }
    let at = std::array::from_fn(|i| {
        first.at[i].clone() * second.over.clone() + second.at[i].clone() * first.over.clone()
    });
    let middle = Corner {
        at,
        over: T::from(2) * first.over.clone() * second.over.clone(),
    };
    let on_edge = |triangle| edges(triangle).into_iter().any(|edge| middle.is_on(edge));
    if on_edge(s) || on_edge(t) {
        Meeting::Segment
    } else {
        Meeting::Crossing
    }
}

/// Returns the vertices in integer multiples of the smallest bit of any float.
pub fn whole(pair: &[Triangle; 2]) -> [[Vector<BigInt>; 3]; 2] {
    const LOW: i32 = -149;
    pair.map(|t| {
        t.map(|v| {
            v.map(|c| {
                let bits = c.abs().to_bits();
                let exponent = (bits >> 23) as i32;
                let fraction = i64::from(bits & 0x7f_ffff);
                let mantissa = if exponent == 0 {
                    fraction
                } else {
                    fraction | 1 << 23
                };
                let size = BigInt::from(mantissa) << (exponent.max(1) - 150 - LOW) as usize;
                if c < 0.0 { -size } else { size }
            })
        })
    })
}
