//! Tests that cells, rows and counts of labels agree for each kind of storage.

use super::*;
use crate::grid::legend::Label;

/// Returns legends for each kind of storage: zero to four planes, and bytes with and without names.
fn legends() -> Vec<Legend> {
    let named = |count: u8| {
        Legend::new((1..=count).map(|n| Label::new(n * 15, format!("label {n}")))).unwrap()
    };
    [1, 2, 3, 4, 5, 15, 16, 17]
        .map(named)
        .into_iter()
        .chain([Legend::default()])
        .collect()
}

/// Returns a grid with several words per row and with values from the legend, and the list of these values.
fn filled(legend: &Legend) -> (Labels, Vec<u8>) {
    let dims = [150, 4, 3];
    let mut labels = Labels::new(dims, legend.clone()).unwrap();
    let mut values = vec![0; 150 * 4 * 3];
    for n in (0..values.len()).filter(|n| n * n % 7 < 3) {
        let all = legend.labels();
        values[n] = if all.is_empty() {
            (n % 255 + 1) as u8
        } else {
            all[n % all.len()].value
        };
        labels.set([n % 150, n / 150 % 4, n / 600], values[n]);
    }
    (labels, values)
}

#[test]
fn cells_rows_and_counts_agree_in_every_store() {
    for legend in legends() {
        let (labels, values) = filled(&legend);
        let mut again = Labels::new(labels.dims(), legend.clone()).unwrap();
        let mut row = [9; 150];
        for (n, values) in values.chunks(150).enumerate() {
            labels.row(n % 4, n / 4, &mut row);
            assert_eq!(row, values, "{legend:?}");
            labels.word_values(2, n % 4, n / 4, &mut row[..150 - 128]);
            assert_eq!(row[..150 - 128], values[128..], "{legend:?}");
            again.put_row(n % 4, n / 4, values).unwrap();
        }
        assert_eq!(again, labels);
        let cells: Vec<_> = labels
            .iter()
            .map(|([i, j, k], value)| (i + 150 * (j + 4 * k), value))
            .collect();
        let expected: Vec<_> = values
            .iter()
            .copied()
            .enumerate()
            .filter(|(_, value)| *value > 0)
            .collect();
        assert_eq!(cells, expected);
        for (value, count) in labels.counts() {
            assert_eq!(
                count,
                values.iter().filter(|other| **other == value).count() as u64
            );
            assert_eq!(labels.cells_of(value).unwrap().count(), count);
        }
        assert_eq!(
            labels.count(254),
            u64::from(values.contains(&254)) * labels.count(254)
        );
    }
}

#[test]
fn cells_change_their_labels() {
    for legend in legends() {
        let (mut labels, values) = filled(&legend);
        let last = *values.iter().rfind(|value| **value > 0).unwrap();
        let before = labels.clone();
        labels.set([0, 0, 0], 0);
        assert_eq!(
            (labels.get([0, 0, 0]), labels.occupied().get([0, 0, 0])),
            (0, false)
        );
        labels.set([0, 0, 0], last);
        assert_eq!(labels.get([0, 0, 0]), last);
        labels.set([0, 0, 0], values[0]);
        assert_eq!(labels, before, "{legend:?}");
    }
}

#[test]
fn values_without_a_name_are_refused() {
    let legend = Legend::new([Label::new(1, "a"), Label::new(2, "b")]).unwrap();
    let mut labels = Labels::new([3, 1, 1], legend).unwrap();
    assert_eq!(labels.put_row(0, 0, &[1, 0, 7]), Err(Unnamed(7)));
    let labels = filled(&legends()[3]).0;
    assert!(labels.clone().with_legend(legends()[2].clone()).is_err());
    let back = labels.clone().with_legend(legends()[6].clone()).unwrap();
    assert_eq!(
        back.iter().collect::<Vec<_>>(),
        labels.iter().collect::<Vec<_>>()
    );
}
