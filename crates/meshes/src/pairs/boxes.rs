//! Comparisons of sixteen bounding boxes at a time.

/// Number of boxes that are compared at a time.
pub const LANES: usize = 16;

/// Sixteen boxes: their lowest x, y and z, then their highest x, y and z. Unused boxes contain no point.
pub type LaneBoxes = [[f32; LANES]; 6];

/// Stores at most sixteen boxes in lanes.
pub(super) fn lane_boxes(bounds: impl Iterator<Item = [[f32; 3]; 2]>) -> LaneBoxes {
    let low = [f32::INFINITY; LANES];
    let high = [f32::NEG_INFINITY; LANES];
    let mut boxes = [low, low, low, high, high, high];
    for (lane, corners) in bounds.enumerate() {
        for (row, coordinate) in corners.as_flattened().iter().enumerate() {
            boxes[row][lane] = *coordinate;
        }
    }
    boxes
}

/// Returns the numbers of the lanes in a mask, in ascending order.
pub(crate) fn lanes(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros() as usize;
        (mask != 0).then(|| {
            mask &= mask - 1;
            lane
        })
    })
}

/// Bit of each lane in a mask.
const BITS: [u32; LANES] = {
    let mut bits = [0; LANES];
    let mut lane = 0;
    while lane < LANES {
        bits[lane] = 1 << lane;
        lane += 1;
    }
    bits
};

/// Returns the lanes whose boxes intersect a box. One common point is sufficient. Floats are compared
/// exactly.
#[inline]
pub(crate) fn meeting(boxes: &LaneBoxes, [low, high]: &[[f32; 3]; 2]) -> u32 {
    // The compiler compares integers of all ones or all zeros as vectors, but booleans one by one.
    let mut meets = [u32::MAX; LANES];
    for axis in 0..3 {
        let lowest = &boxes[axis];
        let highest = &boxes[3 + axis];
        for lane in 0..LANES {
            let begins = if lowest[lane] <= high[axis] {
                u32::MAX
            } else {
                0
            };
            let ends = if highest[lane] >= low[axis] {
                u32::MAX
            } else {
                0
            };
            meets[lane] &= begins & ends;
        }
    }
    meets
        .iter()
        .zip(BITS)
        .fold(0, |mask, (meets, bit)| mask | meets & bit)
}

/// Computes the squared distances between sixteen boxes and one box.
#[inline]
pub fn squared_gaps(boxes: &LaneBoxes, [low, high]: &[[f32; 3]; 2], gaps: &mut [f64; LANES]) {
    *gaps = [0.0; LANES];
    for axis in 0..3 {
        let low = f64::from(low[axis]);
        let high = f64::from(high[axis]);
        let lowest = &boxes[axis];
        let highest = &boxes[3 + axis];
        for lane in 0..LANES {
            let below = f64::from(lowest[lane]) - high;
            let above = low - f64::from(highest[lane]);
            let gap = if below > above { below } else { above };
            let gap = if gap > 0.0 { gap } else { 0.0 };
            gaps[lane] += gap * gap;
        }
    }
}
