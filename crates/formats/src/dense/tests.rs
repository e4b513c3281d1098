//! Arrays of cells are written and read back, in both orders.

use super::*;
use crate::room::CellRoom;
use crate::{InMemory, Voxels};
use voxelize_core::error::Code;
use voxelize_core::grid::Label;
use voxelize_core::grid::{BitGrid, Cells, Field, Labels, Legend};

fn bytes(cells: impl Into<Cells>, dtype: Dtype) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(
        &mut InMemory::new(&Voxels::new(cells)),
        &mut bytes,
        dtype,
        &(),
    )
    .unwrap();
    bytes
}

#[test]
fn bytes_and_bits_agree_for_every_length() {
    for n in 1..=130 {
        let mut bits = BitGrid::new([n, 2, 1]).unwrap();
        (0..n)
            .filter(|i| i * i % 7 < 3)
            .for_each(|i| bits.set([i, 1, 0]));
        let bytes = bytes(bits.clone(), Dtype::U8);
        let expected: Vec<u8> = (0..2 * n)
            .map(|c| u8::from(bits.get([c % n, c / n, 0])))
            .collect();
        assert_eq!(bytes, expected);
        let back = read_occupied(
            &mut &bytes[..],
            [n, 2, 1],
            Order::XFastest,
            CellRoom::default(),
        )
        .unwrap();
        assert_eq!(back, bits);
        let back = read_values(
            &mut &bytes[..],
            [n, 2, 1],
            Order::XFastest,
            None,
            CellRoom::default(),
        )
        .unwrap();
        assert_eq!(back, bits.clone().into());
        // A mask with another value than 1 also gives bits.
        let mask: Vec<u8> = bytes.iter().map(|byte| byte * 255).collect();
        assert_eq!(
            read_values(
                &mut &mask[..],
                [n, 2, 1],
                Order::XFastest,
                None,
                CellRoom::default()
            )
            .unwrap(),
            bits.into()
        );
    }
}

/// The grid has more cells than a block, so that blocks end within the grid.
const DIMS: [usize; 3] = [130, 70, 40];

fn labels(legend: &Legend, value: impl Fn(usize) -> u8) -> Labels {
    let mut labels = Labels::new(DIMS, legend.clone()).unwrap();
    for n in 0..130 * 70 * 40_usize {
        labels.set([n % 130, n / 130 % 70, n / (130 * 70)], value(n));
    }
    labels
}

#[test]
fn labels_are_numbers_as_u8_and_1_as_bool() {
    let number = |n: usize| [0, 1, 0, 2, 1, 0, 0, 0, 0, 0, 0][n * n % 11];
    let legend = Legend::surface_and_interior();
    let labels = labels(&legend, number);
    let numbers = bytes(labels.clone(), Dtype::U8);
    assert!(numbers.len() > BLOCK && (0..numbers.len()).all(|n| numbers[n] == number(n)));
    let ones = bytes(labels.clone(), Dtype::Bool);
    assert_eq!(
        ones,
        numbers.iter().map(|n| u8::from(*n > 0)).collect::<Vec<_>>()
    );
    let back = read_values(
        &mut &numbers[..],
        DIMS,
        Order::XFastest,
        Some(&legend),
        CellRoom::default(),
    )
    .unwrap();
    assert_eq!(back, labels.into());
}

#[test]
fn a_value_without_a_name_removes_the_legend() {
    // The first value above 1, and the first value without a name, occur late in the array.
    let value = |n: usize| match n % 5 {
        1 => {
            if n < 300_000 {
                1
            } else {
                9
            }
        }
        2 => u8::from(n > 310_000) * 200,
        _ => 0,
    };
    let expected = Cells::from(labels(&Legend::default(), value));
    let bytes = bytes(expected.clone(), Dtype::U8);
    let named =
        Legend::new([1, 9].map(|value| Label::new(value, format!("label {value}")))).unwrap();
    for legend in [None, Some(&Legend::surface_and_interior()), Some(&named)] {
        let back = read_values(
            &mut &bytes[..],
            DIMS,
            Order::XFastest,
            legend,
            CellRoom::default(),
        )
        .unwrap();
        assert!(back == expected, "{legend:?}");
        // The same bytes are the C order of a grid with reversed axes.
        let [x, y, z] = DIMS;
        let turned = read_values(
            &mut &bytes[..],
            [z, y, x],
            Order::ZFastest,
            legend,
            CellRoom::default(),
        )
        .unwrap();
        let (Cells::Labels(turned), Cells::Labels(back)) = (turned, back) else {
            panic!("{legend:?}")
        };
        assert!(
            back.iter()
                .all(|([i, j, k], value)| turned.get([k, j, i]) == value)
        );
        assert_eq!(turned.occupied().count(), back.occupied().count());
    }
}

#[test]
fn fields_come_back_in_either_order() {
    let values: Vec<f32> = (0..130 * 70 * 40)
        .map(|n| (n as f32).sqrt() - 7.0)
        .collect();
    let field = Field::from_values(DIMS, 3.5, values).unwrap();
    let bytes = bytes(field.clone(), Dtype::F32);
    assert_eq!(bytes[4..8], (-6.0_f32).to_le_bytes());
    assert_eq!(
        read_floats(
            &mut &bytes[..],
            DIMS,
            Order::XFastest,
            Some(3.5),
            CellRoom::default()
        )
        .unwrap(),
        field
    );
    let [x, y, z] = DIMS;
    let turned = read_floats(
        &mut &bytes[..],
        [z, y, x],
        Order::ZFastest,
        None,
        CellRoom::default(),
    )
    .unwrap();
    assert_eq!(
        (turned.get([39, 3, 129]), turned.background()),
        (field.get([129, 3, 39]), 0.0)
    );
}

#[test]
fn bits_beyond_a_row_are_refused() {
    let bytes: Vec<u8> = [7u64, 8]
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    assert_eq!(
        read_words(&mut &bytes[..], [3, 2, 1], CellRoom::default())
            .unwrap_err()
            .code(),
        Code::V003
    );
}
