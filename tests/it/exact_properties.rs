//! The library compared with the oracle on triangles and lattices that proptest draws and shrinks.
//!
//! Failures are printed in the form of `tests/it/regressions.rs`.

use crate::support::check::Case;
use crate::support::listed::compare;
use proptest::prelude::*;
use voxelize::geom::Triangle;
use voxelize::{Lattice, Rational, Snap};

/// Coordinates from simple to arbitrary: integers, halves, tenths, their neighbours, uniform numbers, tiny
/// numbers.
fn coordinate() -> impl Strategy<Value = f32> {
    let beside = |v: f32, step: i32| match step {
        0 => v,
        1 => v.next_up(),
        _ => v.next_down(),
    };
    prop_oneof![
        4 => (-4..9_i32).prop_map(|n| n as f32),
        2 => (-8..17_i32).prop_map(|n| n as f32 / 2.0),
        2 => (-40..90_i32).prop_map(|n| n as f32 / 10.0),
        2 => ((-8..17_i32), (0..3_i32)).prop_map(move |(n, step)| beside(n as f32 / 2.0, step)),
        3 => -4.0..9.0_f32,
        1 => (0..40_u32).prop_map(f32::from_bits),
        1 => Just(-0.0_f32),
    ]
}

fn triangle() -> impl Strategy<Value = Triangle> {
    prop::array::uniform3(prop::array::uniform3(coordinate()))
}

fn fraction(p: std::ops::Range<i64>) -> impl Strategy<Value = Rational> {
    (p, prop::sample::select(vec![1, 2, 3, 8, 10, 24])).prop_map(|(p, q)| Rational::new(p, q))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_decision_is_that_of_the_oracle(
        triangles in prop::collection::vec(triangle(), 1..4),
        dims in prop::array::uniform3(1_usize..9),
        origin in prop::array::uniform3(fraction(-6..6)),
        spacing in prop::array::uniform3(fraction(1..25)),
        closed in any::<[bool; 3]>(),
        snap in prop::sample::select(vec![Snap::Float, Snap::None]),
    ) {
        let lattice = Lattice::new(dims, origin, spacing, closed).expect("a lattice");
        let case = Case { triangles, lattice: lattice.with_snap(snap) };
        compare(&case).map_err(TestCaseError::fail)?;
    }
}
