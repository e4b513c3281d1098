//! The parts of a mesh that may overlap: connected components whose bounds meet.

use crate::error::Result;
use crate::geom::{Bounds, Triangle};
use crate::kernel::KernelLattice;
use crate::kernel::fraction::NO_PART;
use crate::mesh::components;
use crate::par::Progress;
use crate::run::Run;

/// Components between two looks at whether to go on.
const CHUNK: usize = 1 << 8;

/// A box in index space: the least and the greatest coordinate along each axis.
type IndexBox = [[f64; 2]; 3];

/// Nothing.
const EMPTY: IndexBox = [[f64::INFINITY, f64::NEG_INFINITY]; 3];

/// The component of each triangle that may be in one cell with a point of another component; [`NO_PART`] of the others.
/// `None` if no two bounds meet.
pub(super) fn near_parts(
    triangles: &[Triangle],
    frame: &KernelLattice,
    run: &Run,
) -> Result<Option<Vec<u32>>> {
    let Some((mut of, bounds)) = components::several(triangles)? else { return Ok(None) };
    let boxes: Vec<_> = bounds.iter().map(|bounds| index_box(frame, bounds)).collect();
    let shared = shared_boxes(&boxes, run)?;
    if shared.iter().all(is_empty) {
        return Ok(None);
    }
    // Two components around one point share a box with it in, and what is in its cell is at most a cell away.
    let near: Vec<_> =
        shared.iter().map(|common| common.map(|[low, high]| [low - 1.0, high + 1.0])).collect();
    for (part, triangle) in of.iter_mut().zip(triangles) {
        let common = &near[*part as usize];
        if is_empty(common) || !meet(common, &index_box(frame, &Bounds::of(&[*triangle]))) {
            *part = NO_PART;
        }
    }
    Ok(Some(of))
}

/// The bytes that it takes at most.
pub(super) fn bytes_for(triangles: usize) -> u128 {
    // The forest, the table of vertices and the bounds, if every triangle is a component.
    (triangles * (64 + 2 * size_of::<IndexBox>() + size_of::<Bounds>())) as u128
}

/// The box around all that a component has in common with the boxes of others, for each of them.
fn shared_boxes(boxes: &[IndexBox], run: &Run) -> Result<Vec<IndexBox>> {
    let mut order: Vec<_> = (0..boxes.len()).collect();
    order.sort_unstable_by(|m, n| boxes[*m][0][0].total_cmp(&boxes[*n][0][0]));
    let mut shared = vec![EMPTY; boxes.len()];
    for (n, first) in order.iter().enumerate() {
        if n % CHUNK == 0 {
            run.check()?;
        }
        let end = boxes[*first][0][1];
        for second in order[n + 1..].iter().take_while(|second| boxes[**second][0][0] <= end) {
            let [p, q] = [&boxes[*first], &boxes[*second]];
            if meet(p, q) {
                let common = [0, 1, 2].map(|a| [p[a][0].max(q[a][0]), p[a][1].min(q[a][1])]);
                for component in [*first, *second] {
                    for (all, [low, high]) in shared[component].iter_mut().zip(common) {
                        *all = [all[0].min(low), all[1].max(high)];
                    }
                }
            }
        }
    }
    Ok(shared)
}

/// The box of bounds, by more than snapping and rounding move a coordinate.
fn index_box(frame: &KernelLattice, bounds: &Bounds) -> IndexBox {
    const MOST: f64 = 1.0 / 64.0;
    [0, 1, 2].map(|a| [frame.axes[a].index(bounds.min[a]) - MOST, frame.axes[a].index(bounds.max[a]) + MOST])
}

fn meet(p: &IndexBox, q: &IndexBox) -> bool {
    (0..3).all(|a| p[a][0] <= q[a][1] && q[a][0] <= p[a][1])
}

fn is_empty(one: &IndexBox) -> bool {
    one[0][0] > one[0][1]
}
