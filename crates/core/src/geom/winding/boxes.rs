//! Tests that compare views from boxes with direct sums. The errors of polynomials stay within their bounds,
//! and numbers that a view decides equal the numbers by the direct sum.

use super::tests::{plus, sets};
use super::*;
use crate::random::Random;
use voxelize_geom::vector::minus;

#[cfg(test)]
mod batches {
    use super::*;
    use crate::geom::solid_angle::turn;
    use voxelize_kernel::Level;
    use voxelize_kernel::angles::{self, BRICK, CELLS};

    /// Returns a brick of cells near a node: its least cell centre, and the distances between adjacent cell
    /// centres.
    fn brick(random: &mut Random, winding: &Winding, n: usize) -> (Vector, Vector) {
        let node = &winding.nodes[(n * 31) % winding.nodes.len()].moments;
        let size = node.radius * 2f64.powi(-((n % 9) as i32)) * 0.1;
        let low = plus(
            &node.centre,
            &random.point(1.0),
            node.radius * [0.3, 1.0, 4.0][n % 3],
        );
        (low, [size, size * [1.0, 0.5, 3.0][n % 3], size])
    }

    #[test]
    fn polynomials_and_batches_keep_their_bounds() {
        let mut random = Random::new(21);
        let mut tried = 0;
        let mut known = 0;
        let mut far = 0;
        let mut worst = 0.0_f64;
        for (set, level) in sets(&mut random)
            .into_iter()
            .zip(Level::available().into_iter().cycle())
        {
            let winding = Winding::new(set);
            for n in 0..200 {
                let (low, step) = brick(&mut random, &winding, n);
                let high = std::array::from_fn(|i| low[i] + step[i] * (BRICK - 1) as f64);
                // The view is narrowed from a larger box through an intermediate box.
                let out: [Vector; 2] = [plus(&low, &step, -20.0), plus(&high, &step, 28.0)];
                let between: [Vector; 2] = [plus(&low, &step, -4.0), plus(&high, &step, 8.0)];
                let view = BoxView::whole(&winding, &out[0], &out[1], Depth::Further, level)
                    .narrowed(&winding, &between[0], &between[1], Depth::Further);
                let closer = view.narrowed(&winding, &low, &high, Depth::Last);
                let whole = [view.outside(&winding), closer.outside(&winding)];
                // Every second box uses polynomials that were computed for this box only.
                let closer = Some(&closer)
                    .filter(|_| n % 2 == 1)
                    .and_then(|closer| closer.sharpened(&winding))
                    .unwrap_or(closer);
                let (near, slack) = closer.near(&winding, &low);
                let sums = angles::sums(level, &near, step, slack);
                for cell in (0..CELLS).step_by(5) {
                    let at = [cell % BRICK, cell / BRICK % BRICK, cell / BRICK / BRICK];
                    let p: Vector = std::array::from_fn(|i| low[i] + at[i] as f64 * step[i]);
                    let direct = winding.direct(&p, |_| Ordering::Equal);
                    let expected = (direct.value + 0.5 + direct.error).floor() as i32;
                    for number in whole.into_iter().flatten() {
                        assert_eq!(number, expected, "{p:?}");
                    }
                    let of_near = sums.turns[cell] + turn(sums.real[cell], sums.imaginary[cell]);
                    if let Some(off) =
                        closer.off(&winding, &p, of_near, sums.off[cell], direct.value)
                    {
                        assert!(off <= 1.0, "{p:?}: {off} of the bound");
                        worst = worst.max(off);
                    }
                    if let Some(number) = closer.outside_at(&winding, &p, of_near, sums.off[cell]) {
                        assert_eq!(number, expected, "{p:?}");
                        known += 1;
                    }
                    tried += 1;
                }
                far += usize::from(near.len() < winding.len());
            }
        }
        println!(
            "{tried} points, {known} known, {far} boxes with far triangles: at most {worst:.3} of the bound"
        );
        assert!(tried > 20_000 && known * 10 > tried * 9 && far > 1000 && worst > 0.05);
    }
}

#[test]
fn one_triangle_seen_from_a_ball_keeps_its_bound() {
    let mut random = Random::new(22);
    let mut seen = 0;
    let mut worst = 0.0_f64;
    for n in 0..60_000 {
        // Half of the triangles are extremely thin.
        let a = random.point(1.0);
        let b = random.point(1.0);
        let c = if n % 2 == 0 {
            random.point(1.0)
        } else {
            plus(&a, &random.point(1.0), 1e-3)
        };
        let ball = local::Ball {
            centre: random.point(2.0),
            radius: 2f64.powf(3.0 * random.signed() - 4.0),
        };
        let Some(found) = local::Local::of_triangle(&[a, b, c], &ball, 0.1, 0.0) else {
            continue;
        };
        for _ in 0..4 {
            let h = random.direction().map(|x| x * ball.radius);
            let exact =
                solid_angle::of(&[a, b, c], &plus(&ball.centre, &h, 1.0), || Ordering::Equal);
            let off = (found.at(&h) - exact.value).abs();
            assert!(
                off <= found.error + exact.error,
                "{off} is above {}",
                found.error
            );
            assert!(
                (found.value - exact.value).abs()
                    <= found.varies(ball.radius) + found.error + 1e-12
            );
            worst = worst.max(off / (found.error + exact.error));
            seen += 1;
        }
    }
    println!("{seen} seen: at most {worst:.3} of the bound");
    assert!(seen > 10_000 && worst > 0.05);
}

#[test]
fn corners_that_are_off_by_little_do_not_decide() {
    // A square of two triangles that is slightly bent by the errors of its corners. The exact square has a
    // winding number of at most one half.
    let mut random = Random::new(23);
    let mut decided = 0;
    for _ in 0..3000 {
        let u = random.direction();
        let v = random.direction();
        let corners = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)].map(|(s, t)| {
            std::array::from_fn(|i| 100.0 + s * u[i] + t * v[i] + 1e-13 * random.signed())
        });
        let [a, b, c, d] = corners;
        let s = (random.signed() + 1.0) / 2.0;
        let t = (random.signed() + 1.0) / 2.0;
        let p = std::array::from_fn(|i| 100.0 + s * u[i] + t * v[i]);
        let of = |slack| {
            let winding = Winding::about(vec![[a, b, c], [a, c, d]], slack, &()).unwrap();
            winding.outside_up_to(&p, |_| Ordering::Less, |_| None)
        };
        // The winding number is −½. Without crossings the point is inside only if the number is distinguished
        // from −½.
        assert_eq!(of(2e-13), 0);
        decided += usize::from(of(0.0) != 0);
    }
    assert!(decided > 100, "{decided}");
}

impl BoxView {
    /// Returns the error of a sum, divided by the error bound. `None` if the bound is so large that the
    /// comparison is meaningless.
    fn off(&self, winding: &Winding, p: &Vector, near: f64, off: f64, exact: f64) -> Option<f64> {
        let value = near + self.far.at(&minus(*p, self.ball.centre));
        let margin = self.margin(winding, off);
        (margin < 0.1).then(|| (value - exact).abs() / margin)
    }
}
