//! Components inside the material of others, as cavities and buried shells are: they lose nothing.

use std::cmp::Ordering;

use crate::geom::{Bounds, Point, Triangle, Winding, solid_angle};
use crate::mesh::closed::Seal;
use crate::mesh::components::Component;
use crate::par;

/// From so many places on a tree is worth its time.
const MANY: usize = 16;

/// How exactly a tree tells: a place is within a component or not, unless their surfaces touch there.
const ENOUGH: f64 = 1.0 / 16.0;

/// As close to a half is touching.
const TOUCHING: f64 = 1.0 / 1024.0;

/// The components of `candidates` inside the material of all the `whole` ones together, by one point on each.
pub(super) fn of(
    candidates: &[usize],
    whole: &[usize],
    components: &[Component],
    triangles: impl Fn(usize) -> Vec<Triangle> + Sync,
    seal: Seal,
) -> Vec<usize> {
    let groups = groups(candidates, whole, components);
    let found = par::map_range(0..groups.len(), |n| {
        let (outer, inner) = &groups[n];
        turns(*outer, inner, &triangles)
    });
    // How often whole components turn around each, with their signs and without.
    let mut sums = vec![(0, 0); components.len()];
    for ((_, inner), turns) in groups.iter().zip(found) {
        for (component, turns) in inner.iter().zip(turns) {
            let (signed, all) = sums[*component];
            sums[*component] = (signed + turns, all + turns.abs());
        }
    }
    let is_within =
        |(signed, all): (i32, i32)| if seal == Seal::Oriented { signed != 0 } else { all % 2 == 1 };
    candidates.iter().copied().filter(|component| is_within(sums[*component])).collect()
}

/// Of the components `inner` those that lie within another one.
pub(super) fn one(outer: usize, inner: &[usize], triangles: impl Fn(usize) -> Vec<Triangle>) -> Vec<usize> {
    let turns = turns(outer, inner, &triangles);
    inner.iter().zip(turns).filter(|(_, turns)| *turns != 0).map(|(component, _)| *component).collect()
}

/// The least vertex of some triangles.
fn least(triangles: &[Triangle]) -> Point {
    let lesser = |a: Point, b: Point| if b < a { b } else { a };
    triangles.as_flattened().iter().copied().reduce(lesser).expect("a component has triangles")
}

/// How often a closed component turns around a place on each of others, in whole numbers; where they touch, no
/// further than it does for sure.
fn turns(outer: usize, inner: &[usize], triangles: &impl Fn(usize) -> Vec<Triangle>) -> Vec<i32> {
    let points: Vec<Point> = inner.iter().map(|component| least(&triangles(*component))).collect();
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

/// The whole components whose bounds contain those of candidates, each with these.
pub(super) fn groups(
    candidates: &[usize],
    whole: &[usize],
    components: &[Component],
) -> Vec<(usize, Vec<usize>)> {
    let left = |component: &usize| components[*component].bounds.min[0];
    let from_left = |some: &[usize]| {
        let mut some = some.to_vec();
        some.sort_by(|a, b| left(a).total_cmp(&left(b)));
        some
    };
    let mut inner = vec![vec![]; components.len()];
    let mut coming = from_left(whole).into_iter().peekable();
    // Those that a plane meets which sweeps along x.
    let mut met: Vec<usize> = vec![];
    for component in from_left(candidates) {
        while let Some(other) = coming.next_if(|other| left(other) <= left(&component)) {
            met.push(other);
        }
        met.retain(|other| components[*other].bounds.max[0] >= left(&component));
        let is_around = |other: &&usize| {
            **other != component && holds(&components[**other].bounds, &components[component].bounds)
        };
        let around = met.iter().filter(is_around);
        around.for_each(|other| inner[*other].push(component));
    }
    inner.into_iter().enumerate().filter(|(_, inner)| !inner.is_empty()).collect()
}

/// Whether the bounds of one hold those of the other.
fn holds(outer: &Bounds, inner: &Bounds) -> bool {
    (0..3).all(|i| outer.min[i] <= inner.min[i] && inner.max[i] <= outer.max[i])
}
