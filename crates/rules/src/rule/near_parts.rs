//! Finds the parts of a mesh that may overlap within a cell. These are connected components that are near
//! each other, and components that overlap themselves.

use voxelize_core::error::Result;
use voxelize_core::geom::{Bounds, Ties, Triangle};
use voxelize_core::grid::Lattice;
use voxelize_core::par::{self, Progress};
use voxelize_kernel::KernelLattice;
use voxelize_kernel::fraction::{NO_PART, OVERLAPS_ITSELF, crossing_along_x, may_overlap_itself};
use voxelize_meshes::{Mesh, components};

/// Number of components between two checks for cancellation.
const CHUNK: usize = 1 << 8;

/// Number of triangles between two checks for cancellation.
const TRIANGLES: usize = 1 << 14;

/// Box in the index space of the lattice: the least and the greatest coordinate along each axis.
type IndexBox = [[f64; 2]; 3];

/// Empty box.
const EMPTY: IndexBox = [[f64::INFINITY, f64::NEG_INFINITY]; 3];

/// Returns one value for each triangle. If the triangle may be in the same cell as another component, the
/// value is the number of its own component, otherwise it is [`NO_PART`]. The bit [`OVERLAPS_ITSELF`] marks
/// triangles of components that may overlap themselves. `None` if no component may overlap another component
/// or itself.
pub(super) fn near_parts(
    (triangles, bounds): (&[Triangle], &Bounds),
    frame: &KernelLattice,
    progress: &dyn Progress,
) -> Result<Option<Vec<u32>>> {
    let (mut of, bounds) = components::of_triangles(triangles, bounds)?;
    // A triangle in the same cell as a component is at most one cell away from the component's bounding box.
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

/// Returns true if some components of a mesh may overlap each other or themselves.
pub(crate) fn may_overlap(mesh: &Mesh, lattice: &Lattice, progress: &dyn Progress) -> Result<bool> {
    let frame = KernelLattice::new(lattice.axes(), mesh.bounds(), Ties::None);
    Ok(near_parts((mesh.triangles(), mesh.bounds()), &frame, progress)?.is_some())
}

/// Number of test lines along x through the bounding box of a component, in each of the directions y and z.
/// If a mesh has many components, each has fewer lines.
const LINES: usize = 32;

/// Greatest total number of test lines, unless the mesh has more components than this.
const MOST_LINES: usize = 1 << 17;

/// Position of a test line within its interval, as a fraction. It is not one half, because the middle often
/// contains vertices of the mesh.
const ASIDE: f64 = 0.445_041_867_912_629;

/// Greatest number of triangles in a component that is tested by comparing all pairs of its triangles. Larger
/// components are tested by lines.
const MOST_OF_PAIRS: usize = 1 << 7;

/// Approximate total number of pairs of triangles that are compared.
const MOST_PAIRS: usize = 1 << 18;

/// Crossing of a triangle and a test line: the component, the number of the line, the coordinate along the
/// line, and the change of the winding number.
type OnLine = (u32, u32, f64, i32);

/// Finds the components that may overlap themselves: they wind around some points more than once, or around
/// some points once in the positive and around others once in the negative direction.
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

/// Finds the small components that may overlap themselves, by comparing all pairs of triangles of a
/// component.
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

/// Finds the large components that overlap themselves. For such a component, the least and the greatest
/// winding number along all test lines differ by at least two. The extremes are taken over all lines, because
/// two lines may pass through lobes of opposite orientation.
fn by_lines(
    (triangles, of): (&[Triangle], &[u32]),
    bounds: &[Bounds],
    is_small: &[bool],
    progress: &dyn Progress,
) -> Result<Vec<bool>> {
    let lines = ((MOST_LINES / bounds.len().max(1)) as f64)
        .sqrt()
        .clamp(1.0, LINES as f64) as usize;
    let mut per_side = vec![];
    for bounds in bounds {
        per_side.push([0, 1, 2].map(|a| {
            let side = f64::from(bounds.max[a]) - f64::from(bounds.min[a]);
            if side > 0.0 { lines as f64 / side } else { 0.0 }
        }));
    }
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
        // The winding number of points outside the component is 0.
        let mut least = 0;
        let mut most = 0;
        for line in part.chunk_by(|p, q| p.1 == q.1) {
            let mut winding = 0;
            for (n, (.., x, sign)) in line.iter().enumerate() {
                winding += sign;
                if line.get(n + 1).is_some_and(|next| next.2 > *x) {
                    least = least.min(winding);
                    most = most.max(winding);
                }
            }
        }
        overlaps[part[0].0 as usize] = most - least > 1;
    }
    Ok(overlaps)
}

/// Finds the test lines of a component that one of its triangles crosses.
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
    // Returns the lines between the least and the greatest coordinate of the triangle. The range has a small
    // margin for rounding, and the filter tests each line exactly.
    let among = |axis: usize| {
        let [a, b, c] = triangle.map(|corner| corner[axis]);
        let low = f64::from(a.min(b).min(c));
        let high = f64::from(a.max(b).max(c));
        let index = |c: f64| (c - f64::from(bounds.min[axis])) * per_side[axis] - ASIDE;
        // Rounds up without a call of a library function. Negative numbers become zero.
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

/// Returns an upper bound of the memory, in bytes, that the search needs.
pub(super) fn bytes_for(triangles: usize) -> u128 {
    // 24 bytes per triangle are for the union-find forest and the hash table of vertices. The rest is for the
    // boxes of components. A closed component has at least four triangles.
    let component = 2 * size_of::<IndexBox>() + size_of::<Bounds>() + size_of::<usize>();
    (triangles * (24 + component / 4)) as u128
}

/// Returns, for each component, the bounding box of the intersections of its box with the boxes of all
/// others.
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

/// Converts bounds to cell indices and extends them by `cells` cells and a margin for rounding.
fn index_box(frame: &KernelLattice, bounds: &Bounds, cells: f64) -> IndexBox {
    // Snapping and rounding move a coordinate by less than 1/64 of a cell.
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
