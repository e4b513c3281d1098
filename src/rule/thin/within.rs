//! Parts that lie within the material of others, as cavities do and what is buried: nothing of them is lost.

use std::cmp::Ordering;

use crate::geom::{Bounds, Point, Triangle, Winding, solid_angle};
use crate::mesh::closed::Seal;
use crate::mesh::parts::MeshPart;
use crate::par;

/// From so many places on a tree is worth its time.
const MANY: usize = 16;

/// How exactly a tree tells: a place is within a part or not, unless their surfaces touch there.
const ENOUGH: f64 = 1.0 / 16.0;

/// As close to a half is touching.
const TOUCHING: f64 = 1.0 / 1024.0;

/// Of the parts `asked` those that lie within the material of the `whole` ones together, by one place on each.
pub(super) fn of(
    asked: &[usize],
    whole: &[usize],
    parts: &[MeshPart],
    triangles: impl Fn(usize) -> Vec<Triangle> + Sync,
    seal: Seal,
) -> Vec<usize> {
    let groups = groups(asked, whole, parts);
    let found = par::map_range(0..groups.len(), |n| {
        let (outer, inner) = &groups[n];
        turns(*outer, inner, &triangles)
    });
    // How often whole parts turn around each, with their signs and without.
    let mut sums = vec![(0, 0); parts.len()];
    for ((_, inner), turns) in groups.iter().zip(found) {
        for (part, turns) in inner.iter().zip(turns) {
            let (signed, all) = sums[*part];
            sums[*part] = (signed + turns, all + turns.abs());
        }
    }
    let is_within =
        |(signed, all): (i32, i32)| if seal == Seal::Oriented { signed != 0 } else { all % 2 == 1 };
    asked.iter().copied().filter(|part| is_within(sums[*part])).collect()
}

/// Of the parts `inner` those that lie within another one.
pub(super) fn one(outer: usize, inner: &[usize], triangles: impl Fn(usize) -> Vec<Triangle>) -> Vec<usize> {
    let turns = turns(outer, inner, &triangles);
    inner.iter().zip(turns).filter(|(_, turns)| *turns != 0).map(|(part, _)| *part).collect()
}

/// The least vertex of some triangles.
fn least(triangles: &[Triangle]) -> Point {
    let lesser = |a: Point, b: Point| if b < a { b } else { a };
    triangles.as_flattened().iter().copied().reduce(lesser).expect("a part has triangles")
}

/// How often a closed part turns around a place on each of others, in whole numbers; where they touch, no
/// further than it does for sure.
fn turns(outer: usize, inner: &[usize], triangles: &impl Fn(usize) -> Vec<Triangle>) -> Vec<i32> {
    let points: Vec<Point> = inner.iter().map(|part| least(&triangles(*part))).collect();
    let triangles = triangles(outer);
    let corners = |triangle: &Triangle| triangle.map(|v| v.map(f64::from));
    let side = || Ordering::Equal;
    let tree = (points.len() >= MANY).then(|| Winding::new(triangles.iter().map(corners).collect()));
    let around = |point: &Point| {
        let point = point.map(f64::from);
        tree.as_ref().map_or_else(
            || triangles.iter().map(|t| solid_angle::of(&corners(t), &point, side).value).sum::<f64>(),
            |tree| tree.at(&point, ENOUGH, |_| side()).value,
        )
    };
    points
        .iter()
        .map(|point| {
            let around = around(point);
            (around.abs() + 0.5 - TOUCHING).floor().copysign(around) as i32
        })
        .collect()
}

/// The whole parts whose bounds hold those of others that are asked about, each with these.
pub(super) fn groups(asked: &[usize], whole: &[usize], parts: &[MeshPart]) -> Vec<(usize, Vec<usize>)> {
    let left = |part: &usize| parts[*part].bounds.min[0];
    let from_left = |some: &[usize]| {
        let mut some = some.to_vec();
        some.sort_by(|a, b| left(a).total_cmp(&left(b)));
        some
    };
    let mut inner = vec![vec![]; parts.len()];
    let mut coming = from_left(whole).into_iter().peekable();
    // Those that a plane meets which sweeps along x.
    let mut met: Vec<usize> = vec![];
    for part in from_left(asked) {
        while let Some(other) = coming.next_if(|other| left(other) <= left(&part)) {
            met.push(other);
        }
        met.retain(|other| parts[*other].bounds.max[0] >= left(&part));
        let is_around =
            |other: &&usize| **other != part && holds(&parts[**other].bounds, &parts[part].bounds);
        let around = met.iter().filter(is_around);
        around.for_each(|other| inner[*other].push(part));
    }
    inner.into_iter().enumerate().filter(|(_, inner)| !inner.is_empty()).collect()
}

/// Whether the bounds of one hold those of the other.
fn holds(outer: &Bounds, inner: &Bounds) -> bool {
    (0..3).all(|i| outer.min[i] <= inner.min[i] && inner.max[i] <= outer.max[i])
}
