//! The library compared with the oracle on triangles and lattices that proptest draws and shrinks.
//!
//! Failures are printed in the form of `tests/it/regressions.rs`.

use crate::support::listed::Listed;
use proptest::prelude::*;
use voxelize::Snap;

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

fn triangle() -> impl Strategy<Value = [u32; 9]> {
    prop::array::uniform9(coordinate().prop_map(f32::to_bits))
}

fn fraction(p: std::ops::Range<i64>) -> impl Strategy<Value = String> {
    (p, prop::sample::select(vec![1_i64, 2, 3, 8, 10, 24])).prop_map(|(p, q)| format!("{p}/{q}"))
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
        let listed = Listed {
            triangles: &triangles,
            dims,
            origin: origin.each_ref().map(String::as_str),
            spacing: spacing.each_ref().map(String::as_str),
            closed,
            snap,
        };
        if let Err(wrong) = listed.check() {
            return Err(TestCaseError::fail(wrong));
        }
    }
}
