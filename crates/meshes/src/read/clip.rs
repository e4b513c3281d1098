//! Ear clipping in bounded time, for long polygons whose sides touch or cross each other in many places.
//!
//! An ear is a triangle at a convex corner in which no other corner lies. Ears are cut off one after another.
//! If there is no ear, any corner is cut off. After a maximum number of steps, the remaining polygon becomes
//! a fan. The result is then arbitrary, but programs do not agree on the inside of such polygons anyway.

/// Maximum number of steps of the search for ears. They take about a second on an ordinary machine.
const STEPS: u64 = 300_000_000;

/// Returns twice the signed area of a triangle. It is positive if the corners are in counter-clockwise order.
fn area([ax, ay]: [f64; 2], [bx, by]: [f64; 2], [cx, cy]: [f64; 2]) -> f64 {
    (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
}

/// Returns whether more than `limit` pairs of sides have a common point. Adjacent sides do not count.
pub(super) fn has_contacts(corners: &[[f64; 2]], limit: usize) -> bool {
    let count = corners.len();
    let side = |n: usize| [corners[n], corners[(n + 1) % count]];
    let bounds = |n: usize, axis: usize| {
        let [a, b] = side(n);
        [a[axis].min(b[axis]), a[axis].max(b[axis])]
    };
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|a, b| bounds(*a, 0)[0].total_cmp(&bounds(*b, 0)[0]));
    let mut found = 0;
    for (n, &one) in order.iter().enumerate() {
        let end = bounds(one, 0)[1];
        let [low, high] = bounds(one, 1);
        for &other in &order[n + 1..] {
            if bounds(other, 0)[0] > end {
                break;
            }
            let [least, most] = bounds(other, 1);
            let apart = one.abs_diff(other);
            if least > high || most < low || apart == 1 || apart == count - 1 {
                continue;
            }
            let [a, b] = side(one);
            let [c, d] = side(other);
            let is_crossed =
                area(a, b, c) * area(a, b, d) <= 0.0 && area(c, d, a) * area(c, d, b) <= 0.0;
            found += usize::from(is_crossed);
            if found > limit {
                return true;
            }
        }
    }
    false
}

/// Adds the triangles of a polygon, two fewer than it has corners. Each side of the polygon becomes an edge
/// of a triangle.
pub(super) fn cut(corners: &[[f64; 2]], triangles: &mut Vec<[u32; 3]>) {
    let count = corners.len();
    let mut next: Vec<usize> = (1..count).chain([0]).collect();
    let mut previous: Vec<usize> = (0..count).map(|n| (n + count - 1) % count).collect();
    let total: f64 = (1..count - 1)
        .map(|n| area(corners[0], corners[n], corners[n + 1]))
        .sum();
    let sign = if total < 0.0 { -1.0 } else { 1.0 };
    let turn = |a: usize, b: usize, c: usize| sign * area(corners[a], corners[b], corners[c]);
    let is_reflex =
        |n: usize, next: &[usize], previous: &[usize]| turn(previous[n], n, next[n]) <= 0.0;
    // Only reflex corners can lie in an ear. Corners may become convex later and stay in this list for a
    // while.
    let mut reflex: Vec<usize> = (0..count)
        .filter(|n| is_reflex(*n, &next, &previous))
        .collect();
    let mut is_left = vec![true; count];
    let mut steps = 0;
    let mut missed = 0;
    let mut left = count;
    let mut at = 0;
    while left > 3 && steps < STEPS {
        let before = previous[at];
        let after = next[at];
        let ear = [before, at, after];
        let area_of_ear = turn(before, at, after);
        let is_ear = area_of_ear == 0.0
            || area_of_ear > 0.0
                && !reflex.iter().any(|&other| {
                    steps += 1;
                    let point = corners[other];
                    is_left[other]
                        && ear.iter().all(|corner| corners[*corner] != point)
                        && turn(before, at, other) >= 0.0
                        && turn(at, after, other) >= 0.0
                        && turn(after, before, other) >= 0.0
                });
        steps += 1;
        if !is_ear && missed < left {
            missed += 1;
            at = after;
            continue;
        }
        let mut triangle = ear.map(|corner| corner as u32);
        // Gives the triangle the orientation of the polygon.
        triangle.sort_unstable();
        triangles.push(triangle);
        next[before] = after;
        previous[after] = before;
        is_left[at] = false;
        left -= 1;
        missed = 0;
        if left.is_multiple_of(1024) {
            reflex.retain(|n| is_left[*n] && is_reflex(*n, &next, &previous));
        }
        // Skips the next corner, so that not all ears are cut off at the same corner.
        at = next[after];
    }
    let first = (0..count).find(|n| is_left[*n]).unwrap_or(0);
    let mut at = next[first];
    while next[at] != first {
        triangles.push([first as u32, at as u32, next[at] as u32]);
        at = next[at];
    }
}
