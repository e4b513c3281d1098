//! Pictures show the cells: silhouettes and the nearest cells.

use voxelize::grid::{Label, Legend};
use voxelize::view::{self, Axes, Borders, From, NAMED, Projection, Up, View};
use voxelize::{BitGrid, Field, Labels};

use super::labels_of;
use super::plain::Plain;
use crate::support::random::Random;

/// Pixels closer to a border than this may be on either side of it.
const BORDER: f64 = 1e-6;

fn boxes(labels: &Labels, spacing: [f64; 3]) -> Vec<([[f64; 3]; 2], u8)> {
    let largest = spacing.iter().copied().fold(0.0, f64::max);
    let corner = |cell: [usize; 3], more: usize| {
        std::array::from_fn(|a| (cell[a] + more) as f64 * spacing[a] / largest)
    };
    labels
        .iter()
        .map(|(c, value)| ([corner(c, 0), corner(c, 1)], value))
        .collect()
}

/// Compares a picture with the simple renderer. Returns the number of compared pixels, of pixels that show a
/// cell, and of pixels too close to a border.
fn compare(labels: &Labels, spacing: [f64; 3], view: &View) -> [u64; 3] {
    let picture = view::cells(labels, spacing, view).unwrap();
    let boxes = boxes(labels, spacing);
    let plain = Plain::new(view, &boxes.iter().map(|(b, _)| *b).collect::<Vec<_>>());
    let [mut compared, mut shown, mut near] = [0; 3];
    for y in 0..view.size[1] {
        for x in 0..view.size[0] {
            let at = [x as f64 + 0.5, y as f64 + 0.5];
            let found: Vec<_> = boxes
                .iter()
                .map(|(b, value)| (plain.within(at, *b), b, *value))
                .collect();
            let covers = found.iter().any(|(inside, ..)| *inside > BORDER);
            let unsure = found.iter().any(|(inside, ..)| inside.abs() <= BORDER);
            let [r, _, b, a] = picture.get([x, y]);
            if !unsure || covers {
                assert_eq!(a > 0, covers, "pixel {x}, {y} of {view:?}");
                compared += 1;
            }
            near += u64::from(unsure);
            if unsure || !covers {
                continue;
            }
            shown += 1;
            let nearest = found
                .iter()
                .filter(|(inside, ..)| *inside > 0.0)
                .map(|(_, b, value)| (plain.depth(at, **b), *value));
            let (_, value) = nearest.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
            let seen = if b > r { Label::ADDED } else { Label::REMOVED };
            assert_eq!(
                seen.value,
                value,
                "pixel {x}, {y} of {view:?}: {:?}",
                picture.get([x, y])
            );
        }
    }
    [compared, shown, near]
}

#[test]
fn every_pixel_shows_the_nearest_cell() {
    let mut random = Random(0x5eed);
    let mut total = [0; 3];
    for (n, (_, named)) in NAMED.into_iter().cycle().take(28).enumerate() {
        // Several blocks of cells along one or two axes, some cut off by the end of the grid.
        let dims = [[5, 4, 3], [19, 3, 6], [9, 17, 2], [1, 1, 21], [10, 10, 10]][n % 5];
        let labels = labels_of(&mut random, dims, Legend::changes(), [3, 9][n / 2 % 2]);
        let spacing = [[1.0; 3], [0.5, 2.0, 1.25], [3.0, 0.1, 1.0]][n % 3];
        let degrees = |r: &mut Random, n: u64| r.below(2 * n) as f64 - n as f64;
        let from = if n % 3 == 1 {
            From::new(degrees(&mut random, 360), degrees(&mut random, 90))
        } else {
            named
        };
        let view = View {
            size: [[41, 30], [24, 37]][n % 2],
            from,
            up: [Up::Z, Up::Y][n / 3 % 2],
            projection: [Projection::Orthographic, Projection::Perspective][n / 7 % 2],
            axes: Axes::Hidden,
            borders: Borders::Hard,
            ..View::default()
        };
        let found = compare(&labels, spacing, &view);
        (0..3).for_each(|k| total[k] += found[k]);
    }
    let [compared, shown, near] = total;
    assert!(
        compared > 20_000 && shown > 5_000 && near < compared / 20,
        "{total:?}"
    );
}

#[test]
fn a_picture_is_the_same_for_any_number_of_threads() {
    let labels = labels_of(&mut Random(3), [40, 30, 50], Legend::difference(), 30);
    let view = View {
        size: [200, 300],
        projection: Projection::Perspective,
        ..View::default()
    };
    let picture = |threads| {
        voxelize::par::with_threads(threads, || {
            view::cells(&labels, [1.0, 1.0, 2.0], &view).unwrap()
        })
        .unwrap()
    };
    let one = picture(1);
    assert!(one.as_bytes().chunks(4).any(|pixel| pixel[3] > 0));
    for threads in [2, 7] {
        assert!(picture(threads) == one, "{threads} threads");
    }
}

#[test]
fn added_cells_show_through_common_cells() {
    // A block of common cells with an added cell in its middle.
    let mut labels = Labels::new([5; 3], Legend::difference()).unwrap();
    for n in 0..125 {
        let cell = [n % 5, n / 5 % 5, n / 25];
        labels.set(
            cell,
            if cell == [2; 3] {
                Label::ADDED
            } else {
                Label::COMMON
            }
            .value,
        );
    }
    let view = View {
        size: [100, 100],
        from: From::new(0.0, 0.0),
        axes: Axes::Hidden,
        ..View::default()
    };
    let picture = view::cells(&labels, [1.0; 3], &view).unwrap();
    let middle = picture.get([50, 50]);
    let side = picture.get([20, 50]);
    assert!(middle[2] > middle[0] + 40, "bluish: {middle:?}");
    assert!(
        side[2].abs_diff(side[0]) < 12 && side[3] == 255,
        "grey: {side:?}"
    );
}

#[test]
fn nothing_to_see_and_odd_sizes_are_errors() {
    let empty = BitGrid::new([3; 3]).unwrap();
    let view = View {
        size: [10, 10],
        ..View::default()
    };
    let error = view::cells(&empty, [1.0; 3], &view).unwrap_err();
    assert_eq!(error.kind(), voxelize::Kind::Unfit, "{error}");
    assert!(view::cells(&Field::new([3; 3], 0.0).unwrap(), [1.0; 3], &view).is_err());
    for size in [[0, 10], [10, view::MAX_SIDE + 1]] {
        let error = view::cells(&empty, [1.0; 3], &View { size, ..view }).unwrap_err();
        assert_eq!(error.kind(), voxelize::Kind::Usage, "{error}");
    }
}
