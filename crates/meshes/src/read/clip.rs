//! Ear clipping of long polygons whose sides meet in many places, in bounded time.
//!
//! Ears are cut off one after another if no other corner lies in them. If there is no ear, any
//! corner is cut off. After a number of steps the rest becomes a fan. Programs do not agree on the
//! inside of such a polygon.

/// Maximum number of steps of the search, about a second on an ordinary machine.
const STEPS: u64 = 300_000_000;

/// Returns twice the area of a triangle. Positive if the triangle turns left.
fn area([ax, ay]: [f64; 2], [bx, by]: [f64; 2], [cx, cy]: [f64; 2]) -> f64 {
    (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
}

/// Returns whether more than `limit` pairs of sides that are not adjacent have a point in common.
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

/// Adds the triangles of a polygon, two fewer than it has corners. All its sides become edges of
/// triangles.
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
    // Only reflex corners can lie in an ear. Some of these are no longer reflex.
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
        // Keeps the order of the polygon.
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
        // Avoids cutting from the same corner repeatedly.
        at = next[after];
    }
    let first = (0..count).find(|n| is_left[*n]).unwrap_or(0);
    let mut at = next[first];
    while next[at] != first {
        triangles.push([first as u32, at as u32, next[at] as u32]);
        at = next[at];
    }
}
