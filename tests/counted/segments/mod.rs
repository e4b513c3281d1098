//! Exactness of the segment–box test: compared with an oracle that clips in exact arithmetic, on segments
//! from generic to aimed at edges and corners, and tested for the symmetries of the problem.

mod cases;
mod oracle;
use crate::support::random::Random;
use crate::support::suite::{Counts, Suite};
use cases::{Case, FAMILIES, Kind};
use oracle::{exact_span, is_close};
use voxelize::geom::segment_box::{ClosedBox, crossing, touches};

pub const SUITE: Suite = Suite::of(
    "segments",
    &[
        ("decisions_are_exact", decisions_are_exact),
        ("fractions_are_close", fractions_are_close),
        ("symmetries_hold", symmetries_hold),
        ("whole_numbers_move", whole_numbers_move),
        ("larger_boxes_are_touched", larger_boxes_are_touched),
    ],
);

/// Calls `check` with the cases of every family.
fn each_case(share: u64, mut check: impl FnMut(&str, &Case)) {
    for family in FAMILIES {
        let mut random = Random(0x5e9_0001 + family.name.len() as u64);
        for _ in 0..family.cases / share {
            check(family.name, &(family.make)(&mut random));
        }
    }
}

fn decisions_are_exact() -> Counts {
    let mut decisions = 0;
    let mut touching = 0;
    let mut wrong = 0;
    for family in FAMILIES {
        let mut random = Random(0xb0c5 + family.name.len() as u64);
        let mut hits = 0;
        let mut bad = 0;
        for _ in 0..family.cases {
            let case = (family.make)(&mut random);
            let expected = exact_span(&case).is_some();
            hits += u64::from(expected);
            if touches(case.segment, &case.within) != expected {
                bad += 1;
                println!("{}: {case:?} is {expected}", family.name);
            }
        }
        println!(
            "  {:<28} {:>9} segments {hits:>9} touch {bad:>3} wrong",
            family.name, family.cases
        );
        assert!(hits > 0, "{}: none touches", family.name);
        (decisions, touching, wrong) = (decisions + family.cases, touching + hits, wrong + bad);
    }
    println!("  total {decisions} decisions, {wrong} wrong");
    assert_eq!(wrong, 0);
    assert!(decisions >= 1_000_000);
    vec![
        ("decisions", decisions),
        ("touch", touching),
        ("do not", decisions - touching),
    ]
}

fn fractions_are_close() -> Counts {
    let mut fractions = 0;
    let mut within = 0;
    each_case(8, |family, case| {
        let found = crossing(case.segment, &case.within);
        let expected = exact_span(case);
        assert_eq!(found.is_some(), expected.is_some(), "{family}: {case:?}");
        let (Some([enter, leave]), Some(exact)) = (found, expected) else {
            return;
        };
        assert!(
            0.0 <= enter && enter <= leave && leave <= 1.0,
            "{family}: {case:?} {enter} {leave}"
        );
        for (fraction, exact) in [enter, leave].into_iter().zip(&exact) {
            assert!(is_close(fraction, exact), "{family}: {case:?} {fraction}");
            fractions += 1;
            within += u64::from(fraction > 0.0 && fraction < 1.0);
        }
    });
    vec![
        ("fractions", fractions),
        ("of them within the segment", within),
    ]
}

/// Swapping ends, permuting axes, mirroring axes, and scaling by a power of two do not change the result.
fn symmetries_hold() -> Counts {
    let mut compared = 0;
    let mut touching = 0;
    each_case(8, |family, case| {
        let Case {
            segment: [p, q],
            within,
            kind,
        } = *case;
        let answer = touches(case.segment, &within);
        touching += u64::from(answer);
        assert_eq!(
            touches([q, p], &within),
            answer,
            "{family}: {case:?} swapped"
        );
        for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let turn = |v: [f64; 3]| order.map(|a| v[a]);
            let turned = ClosedBox {
                low: turn(within.low),
                high: turn(within.high),
            };
            assert_eq!(
                touches([turn(p), turn(q)], &turned),
                answer,
                "{family}: {case:?} {order:?}"
            );
        }
        for axis in 0..3 {
            let flip = |mut v: [f64; 3]| {
                v[axis] = -v[axis];
                v
            };
            let mut low = within.low;
            let mut high = within.high;
            (low[axis], high[axis]) = (-within.high[axis], -within.low[axis]);
            let mirrored = ClosedBox { low, high };
            assert_eq!(
                touches([flip(p), flip(q)], &mirrored),
                answer,
                "{family}: {case:?} mirrored {axis}"
            );
        }
        compared += 9;
        if kind == Kind::Whole {
            let scale = |v: [f64; 3]| v.map(|c| c * 2.0_f64.powi(-40));
            let scaled = ClosedBox {
                low: scale(within.low),
                high: scale(within.high),
            };
            assert_eq!(
                touches([scale(p), scale(q)], &scaled),
                answer,
                "{family}: {case:?} scaled"
            );
            compared += 1;
        }
    });
    vec![("comparisons", compared), ("segments touch", touching)]
}

/// Integer coordinates translated by integers, without rounding.
fn whole_numbers_move() -> Counts {
    let mut compared = 0;
    let mut random = Random(77);
    each_case(8, |family, case| {
        if case.kind != Kind::Whole {
            return;
        }
        let by: [f64; 3] = std::array::from_fn(|_| random.below(1 << 45) as f64 - 2.0_f64.powi(44));
        let shift = |v: [f64; 3]| std::array::from_fn(|a| v[a] + by[a]);
        let within = ClosedBox {
            low: shift(case.within.low),
            high: shift(case.within.high),
        };
        let moved = touches(case.segment.map(shift), &within);
        assert_eq!(
            moved,
            touches(case.segment, &case.within),
            "{family}: {case:?} by {by:?}"
        );
        compared += 1;
    });
    vec![("segments", compared)]
}

/// A segment that touches a box touches every larger box around it.
fn larger_boxes_are_touched() -> Counts {
    let mut compared = 0;
    let mut only = 0;
    each_case(8, |family, case| {
        let low = case.within.low.map(f64::next_down);
        let larger = ClosedBox {
            low,
            high: case.within.high.map(f64::next_up),
        };
        if !larger.low.iter().chain(&larger.high).all(|c| c.is_finite()) {
            return;
        }
        let inner = touches(case.segment, &case.within);
        let outer = touches(case.segment, &larger);
        assert!(outer || !inner, "{family}: {case:?}");
        compared += u64::from(inner);
        only += u64::from(outer && !inner);
    });
    vec![
        ("boxes", compared),
        ("segments touch the larger one alone", only),
    ]
}
