//! The parts of a mesh that may overlap in a cell: connected components near each other, and those that overlap
//! themselves.

use voxelize_core::error::Result;
use voxelize_core::geom::{Bounds, Ties, Triangle};
use voxelize_core::grid::Lattice;
use voxelize_core::par::{self, Progress};
use voxelize_kernel::KernelLattice;
use voxelize_kernel::fraction::{NO_PART, OVERLAPS_ITSELF, crossing_along_x, may_overlap_itself};
use voxelize_meshes::{Mesh, components};

/// Components, and triangles, between two looks at whether to go on.
const CHUNK: usize = 1 << 8;
const TRIANGLES: usize = 1 << 14;

/// A box in index space: the least and the greatest coordinate along each axis.
type IndexBox = [[f64; 2]; 3];

/// Nothing.
const EMPTY: IndexBox = [[f64::INFINITY, f64::NEG_INFINITY]; 3];

/// The component of each triangle that may be in one cell with another component; [`NO_PART`] of the others.
/// Components that overlap themselves are marked by [`OVERLAPS_ITSELF`]. `None` if there are neither.
pub(super) fn near_parts(
    (triangles, bounds): (&[Triangle], &Bounds),
    frame: &KernelLattice,
    progress: &dyn Progress,
) -> Result<Option<Vec<u32>>> {
    let (mut of, bounds) = components::of_triangles(triangles, bounds)?;
    // What is in one cell with a component is at most a cell away from its bounds.
    let boxes: Vec<_> = bounds
        .iter()
        .map(|bounds| index_box(frame, bounds, 1.0))
        .collect();
    let shared = shared_boxes(&boxes, progress)?;
    let overlaps_itself = overlapping(triangles, &of, &bounds, progress)?;
    if shared.iter().all(is_empty) && !overlaps_itself.contains(&true) {
        return Ok(None);
    }
    for (part, triangle) in of.iter_mut().zip(triangles) {
        let n = *part as usize;
        if overlaps_itself[n] {
            *part |= OVERLAPS_ITSELF;
        } else if is_empty(&shared[n])
            || !meet(
                &shared[n],
                &index_box(frame, &Bounds::of(&[*triangle]), 0.0),
            )
        {
            *part = NO_PART;
        }
    }
    Ok(Some(of))
}

/// Whether a mesh has parts that may overlap, or that overlap themselves.
pub(crate) fn may_overlap(mesh: &Mesh, lattice: &Lattice, progress: &dyn Progress) -> Result<bool> {
    let frame = KernelLattice::new(lattice.axes(), mesh.bounds(), Ties::None);
    Ok(near_parts((mesh.triangles(), mesh.bounds()), &frame, progress)?.is_some())
}

/// Lines along x through the bounds of a component, across y and across z: these of a component that is alone, fewer of
/// thousands.
const LINES: usize = 32;

/// Lines at most, unless there are more components.
const MOST_LINES: usize = 1 << 17;

/// A line is not in the middle between two others, where corners of meshes often are.
const ASIDE: f64 = 0.445_041_867_912_629;

/// Triangles of a component whose pairs are compared, at most. A component of more has lines.
const MOST_OF_PAIRS: usize = 1 << 7;

/// Pairs of triangles that are compared in all, about.
const MOST_PAIRS: usize = 1 << 18;

/// A triangle on a line: the component, the number of the line, where, and by how much the winding number is greater
/// beyond.
type OnLine = (u32, u32, f64, i32);

/// Which components may wind around some points more than once, or around some once in each direction.
fn overlapping(
    triangles: &[Triangle],
    of: &[u32],
    bounds: &[Bounds],
    progress: &dyn Progress,
) -> Result<Vec<bool>> {
    let mut counts = vec![0_u32; bounds.len()];
    for part in of {
        counts[*part as usize] += 1;
    }
    let most = ((MOST_PAIRS / bounds.len().max(1)) as f64)
        .sqrt()
        .clamp(4.0, MOST_OF_PAIRS as f64) as u32;
    let is_small: Vec<_> = counts.iter().map(|count| *count <= most).collect();
    let lines = by_lines((triangles, of), bounds, &is_small, progress)?;
    let pairs = by_pairs((triangles, of), bounds, &is_small, progress)?;
    Ok(lines
        .into_iter()
        .zip(pairs)
        .map(|(line, pair)| line || pair)
        .collect())
}

/// Which of the small components may overlap themselves: the facets of each are compared with one another.
fn by_pairs(
    (triangles, of): (&[Triangle], &[u32]),
    bounds: &[Bounds],
    is_small: &[bool],
    progress: &dyn Progress,
) -> Result<Vec<bool>> {
    let mut order: Vec<u32> = (0..)
        .take(of.len())
        .filter(|n| is_small[of[*n as usize] as usize])
        .collect();
    order.sort_by_key(|n| of[*n as usize]);
    let groups: Vec<_> = order
        .chunk_by(|m, n| of[*m as usize] == of[*n as usize])
        .collect();
    let work = groups.chunks(CHUNK).collect();
    let found = par::map(work, |groups: &[&[u32]]| {
        let mut found = vec![];
        for group in groups {
            let part = of[group[0] as usize];
            let Bounds { min, max } = &bounds[part as usize];
            let unit = |v: &[f32; 3]| {
                [0, 1, 2].map(|a| {
                    let [low, high] = [min[a], max[a]].map(f64::from);
                    if low < high {
                        (f64::from(v[a]) - low) / (high - low)
                    } else {
                        0.5
                    }
                })
            };
            let facets = group
                .iter()
                .map(|n| triangles[*n as usize].each_ref().map(unit))
                .collect();
            if may_overlap_itself(facets) {
                found.push(part);
            }
        }
        progress.check().map(|()| found)
    });
    let mut overlaps = vec![false; bounds.len()];
    for some in found {
        for part in some? {
            overlaps[part as usize] = true;
        }
    }
    Ok(overlaps)
}

/// Which of the large components overlap themselves: the least and the greatest winding number around points of all lines
/// through a component differ by two or more. Lines in parallel may pass through lobes of it that are wound in opposite
/// directions.
fn by_lines(
    (triangles, of): (&[Triangle], &[u32]),
    bounds: &[Bounds],
    is_small: &[bool],
    progress: &dyn Progress,
) -> Result<Vec<bool>> {
    let lines = ((MOST_LINES / bounds.len().max(1)) as f64)
        .sqrt()
        .clamp(1.0, LINES as f64) as usize;
    let per_side = |bounds: &Bounds| {
        let side = |a: usize| f64::from(bounds.max[a]) - f64::from(bounds.min[a]);
        [0, 1, 2].map(|a| {
            if side(a) > 0.0 {
                lines as f64 / side(a)
            } else {
                0.0
            }
        })
    };
    let per_side: Vec<_> = bounds.iter().map(per_side).collect();
    let work = triangles
        .chunks(TRIANGLES)
        .zip(of.chunks(TRIANGLES))
        .collect();
    let found = par::map(work, |(triangles, of): (&[Triangle], &[u32])| {
        let mut found = vec![];
        for (triangle, part) in triangles.iter().zip(of) {
            let n = *part as usize;
            if !is_small[n] {
                on_lines(
                    triangle,
                    *part,
                    (&bounds[n], &per_side[n]),
                    lines,
                    &mut found,
                );
            }
        }
        progress.check().map(|()| found)
    });
    let mut all = vec![];
    for some in found {
        all.append(&mut some?);
    }
    all.sort_unstable_by(|p, q| (p.0, p.1).cmp(&(q.0, q.1)).then(p.2.total_cmp(&q.2)));
    let mut overlaps = vec![false; bounds.len()];
    for part in all.chunk_by(|p, q| p.0 == q.0) {
        // Around points outside it winds 0 times.
        let (mut least, mut most) = (0, 0);
        for line in part.chunk_by(|p, q| p.1 == q.1) {
            let mut winding = 0;
            for (n, (.., x, sign)) in line.iter().enumerate() {
                winding += sign;
                if line.get(n + 1).is_some_and(|next| next.2 > *x) {
                    (least, most) = (least.min(winding), most.max(winding));
                }
            }
        }
        overlaps[part[0].0 as usize] = most - least > 1;
    }
    Ok(overlaps)
}

/// Finds the lines through a component on which one of its triangles is.
fn on_lines(
    triangle: &Triangle,
    part: u32,
    (bounds, per_side): (&Bounds, &[f64; 3]),
    lines: usize,
    found: &mut Vec<OnLine>,
) {
    let at = |axis: usize, n: usize| {
        let [low, high] = [bounds.min[axis], bounds.max[axis]].map(f64::from);
        low + (high - low) * (n as f64 + ASIDE) / lines as f64
    };
    // The lines between the least and the greatest coordinate: one more on either side are tried, for rounding.
    let among = |axis: usize| {
        let all = triangle.map(|corner| corner[axis]);
        let [low, high] = [
            all[0].min(all[1]).min(all[2]),
            all[0].max(all[1]).max(all[2]),
        ]
        .map(f64::from);
        let index = |c: f64| (c - f64::from(bounds.min[axis])) * per_side[axis] - ASIDE;
        // Rounded up without a call of a function; below zero to zero.
        let from = index(low) - 1e-6;
        let first = from as usize;
        let some = first + usize::from((first as f64) < from)
            ..lines.min((index(high) + 1e-6 + 1.0) as usize);
        some.filter(move |n| (low..=high).contains(&at(axis, *n)))
    };
    let mut corners = None;
    for k in among(2) {
        for j in among(1) {
            let corners =
                corners.get_or_insert_with(|| triangle.map(|corner| corner.map(f64::from)));
            let crossing = crossing_along_x(corners, [at(1, j), at(2, k)]);
            found.extend(crossing.map(|(x, sign)| (part, (k * lines + j) as u32, x, sign)));
        }
    }
}

/// The bytes that it takes at most.
pub(super) fn bytes_for(triangles: usize) -> u128 {
    // The forest and the table of vertices; boxes of components, which have four triangles if they are closed.
    let component = 2 * size_of::<IndexBox>() + size_of::<Bounds>() + size_of::<usize>();
    (triangles * (24 + component / 4)) as u128
}

/// The box around all that a component has in common with the boxes of others, for each of them.
fn shared_boxes(boxes: &[IndexBox], progress: &dyn Progress) -> Result<Vec<IndexBox>> {
    let mut order: Vec<_> = (0..boxes.len()).collect();
    order.sort_unstable_by(|m, n| boxes[*m][0][0].total_cmp(&boxes[*n][0][0]));
    let mut shared = vec![EMPTY; boxes.len()];
    for (n, first) in order.iter().enumerate() {
        if n.is_multiple_of(CHUNK) {
            progress.check()?;
        }
        let end = boxes[*first][0][1];
        for second in order[n + 1..]
            .iter()
            .take_while(|second| boxes[**second][0][0] <= end)
        {
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

/// The box of bounds and so many cells around them.
fn index_box(frame: &KernelLattice, bounds: &Bounds, cells: f64) -> IndexBox {
    // Snapping and rounding move a coordinate by less than this.
    let around = cells + 1.0 / 64.0;
    [0, 1, 2].map(|a| {
        let index = |v: f32| frame.axes[a].index(v);
        [index(bounds.min[a]) - around, index(bounds.max[a]) + around]
    })
}

fn meet(p: &IndexBox, q: &IndexBox) -> bool {
    (0..3).all(|a| p[a][0] <= q[a][1] && q[a][0] <= p[a][1])
}

fn is_empty(one: &IndexBox) -> bool {
    one[0][0] > one[0][1]
}
