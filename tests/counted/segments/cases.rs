//! Families of segments and boxes.

use voxelize::geom::segment_box::ClosedBox;

use crate::support::random::Random;

/// Segment and box.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    pub segment: [[f64; 3]; 2],
    pub within: ClosedBox,
    pub kind: Kind,
}

/// Kind of coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Integers up to 2^44.
    Whole,
    /// Any doubles.
    Any,
}

/// Cases of one kind, from a seed.
pub struct Family {
    pub name: &'static str,
    pub cases: u64,
    pub make: fn(&mut Random) -> Case,
}

const fn family(name: &'static str, cases: u64, make: fn(&mut Random) -> Case) -> Family {
    Family { name, cases, make }
}

pub const FAMILIES: &[Family] = &[
    family("small whole numbers", 400_000, |r| whole(r, 5)),
    family("large whole numbers", 100_000, |r| whole(r, 1 << 40)),
    family("parallel to planes", 150_000, parallel),
    family("points", 100_000, point),
    family("begin inside", 50_000, inside),
    family("through edges and corners", 200_000, through),
    family("beside edges and corners", 200_000, beside),
    family("doubles", 150_000, doubles),
    family("doubles one step off", 150_000, one_step_off),
    family("any exponent", 60_000, any_exponent),
    family("smallest and largest", 60_000, extreme),
];

fn triple(mut make: impl FnMut() -> f64) -> [f64; 3] {
    std::array::from_fn(|_| make())
}

/// Returns an integer in `-n..=n`.
fn number(random: &mut Random, n: i64) -> i64 {
    (random.next() >> 1) as i64 % (n + 1) * if random.below(2) == 0 { 1 } else { -1 }
}

/// Returns the box between two points.
fn between(a: [f64; 3], b: [f64; 3]) -> ClosedBox {
    ClosedBox {
        low: std::array::from_fn(|i| a[i].min(b[i])),
        high: std::array::from_fn(|i| a[i].max(b[i])),
    }
}

fn case_of(mut make: impl FnMut() -> f64, kind: Kind) -> Case {
    let [a, b, c, d] = std::array::from_fn(|_| triple(&mut make));
    Case {
        segment: [a, b],
        within: between(c, d),
        kind,
    }
}

fn whole(random: &mut Random, n: i64) -> Case {
    case_of(|| number(random, n) as f64, Kind::Whole)
}

/// One or two axes along which the segment does not move, often on a plane of the box.
fn parallel(random: &mut Random) -> Case {
    let mut case = whole(random, 6);
    let moving = random.below(3) as usize;
    for axis in 0..3 {
        if axis == moving && random.below(2) == 0 {
            continue;
        }
        let at = match random.below(4) {
            0 => case.within.low[axis],
            1 => case.within.high[axis],
            _ => case.segment[0][axis],
        };
        case.segment.iter_mut().for_each(|end| end[axis] = at);
    }
    case
}

/// A segment without length.
fn point(random: &mut Random) -> Case {
    let mut case = whole(random, 3);
    case.segment[1] = case.segment[0];
    case
}

/// The first end in the box, or a step outside it.
fn inside(random: &mut Random) -> Case {
    let mut case = whole(random, 1000);
    let ClosedBox { low, high } = case.within;
    let within = |axis: usize, r: &mut Random| {
        low[axis] + r.below((high[axis] - low[axis]) as u64 + 1) as f64
    };
    case.segment[0] = std::array::from_fn(|axis| within(axis, random));
    if random.below(3) == 0 {
        let axis = random.below(3) as usize;
        case.segment[0][axis] = high[axis] + 1.0;
    }
    case
}

/// A point on an edge or corner of a box, and a segment through it that leans away from the box or not.
fn through(random: &mut Random) -> Case {
    let mut case = whole(random, 1 << 20);
    let ClosedBox { low, high } = case.within;
    let free = random.below(4) as usize;
    let corner: [f64; 3] = std::array::from_fn(|a| {
        let side = if random.below(2) == 0 {
            low[a]
        } else {
            high[a]
        };
        if a == free {
            ((low[a] + high[a]) / 2.0).floor()
        } else {
            side
        }
    });
    let lean: [f64; 3] = std::array::from_fn(|_| number(random, 1 << 16) as f64);
    let [back, on] = [0; 2].map(|_| random.below(1 << 10) as f64);
    case.segment = [
        std::array::from_fn(|a| corner[a] - back * lean[a]),
        std::array::from_fn(|a| corner[a] + on * lean[a]),
    ];
    case
}

/// A segment through an edge or corner with one end moved by one.
fn beside(random: &mut Random) -> Case {
    let mut case = through(random);
    let end = random.below(2) as usize;
    let axis = random.below(3) as usize;
    case.segment[end][axis] += if random.below(2) == 0 { 1.0 } else { -1.0 };
    case
}

fn unit(random: &mut Random) -> f64 {
    (random.next() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

fn doubles(random: &mut Random) -> Case {
    let scale = 10.0_f64.powi(random.below(9) as i32 - 4);
    case_of(|| unit(random) * scale, Kind::Any)
}

/// Through an edge or corner as exactly as doubles allow, and up to a step next to it.
fn one_step_off(random: &mut Random) -> Case {
    let mut case = doubles(random);
    let ClosedBox { low, high } = case.within;
    let corner: [f64; 3] = std::array::from_fn(|a| {
        if random.below(2) == 0 {
            low[a]
        } else {
            high[a]
        }
    });
    let lean = triple(|| unit(random));
    let end = |t: f64| -> [f64; 3] { std::array::from_fn(|a| corner[a] + t * lean[a]) };
    case.segment = [end(-unit(random).abs()), end(unit(random).abs())];
    for coordinate in case.segment.iter_mut().flatten() {
        *coordinate = match random.below(4) {
            0 => coordinate.next_up(),
            1 => coordinate.next_down(),
            _ => *coordinate,
        };
    }
    case
}

/// Doubles of any finite size next to each other.
fn any_exponent(random: &mut Random) -> Case {
    let mut any = || loop {
        let value = f64::from_bits(random.next());
        if value.is_finite() {
            return value;
        }
    };
    case_of(&mut any, Kind::Any)
}

/// A few steps of the smallest double, or of the largest.
fn extreme(random: &mut Random) -> Case {
    let step = if random.below(2) == 0 {
        f64::from_bits(1)
    } else {
        f64::MAX / 4.0
    };
    case_of(|| number(random, 4) as f64 * step, Kind::Any)
}
