//! Tests that digests match their documentation and do not depend on the division into slabs.

use super::*;
use crate::geom::Rational;
use crate::grid::legend::{Label, Legend};

fn grid() -> BitGrid {
    BitGrid::from_text("##.\n#..\n\n...\n...\n\n..#\n...").unwrap()
}

#[test]
fn every_cell_and_the_dims_count() {
    let whole = Digest::of(&grid(), None).cells;
    for cell in [[2, 0, 0], [0, 0, 1], [2, 1, 1]] {
        let mut other = grid();
        other.set(cell);
        assert_ne!(Digest::of(&other, None).cells, whole, "{cell:?}");
    }
    let flat = BitGrid::new([4, 2, 1]).unwrap();
    let tall = BitGrid::new([4, 1, 2]).unwrap();
    assert_ne!(Digest::of(&flat, None).cells, Digest::of(&tall, None).cells);
}

#[test]
fn the_lattice_counts_in_the_grid_digest_alone() {
    let at = |origin: i64, closed: bool| {
        let origin = [origin, 0, 0].map(Rational::from);
        let lattice = Lattice::new(
            [3, 2, 3],
            origin,
            [1, 1, 1].map(Rational::from),
            [closed, true, true],
        );
        Digest::of(&grid(), Some(&lattice.unwrap()))
    };
    let base = at(0, true);
    for other in [at(1, true), at(0, false)] {
        assert_eq!(base.cells, other.cells);
        assert_ne!(base.grid, other.grid);
    }
}

#[test]
fn slabs_change_nothing() {
    let whole = Digest::of(&grid(), None);
    for cuts in [&[1, 1, 1][..], &[2, 1], &[1, 2]] {
        let mut builder = DigestBuilder::new([3, 2, 3], CellType::Bits);
        let mut first = 0;
        for &layers in cuts {
            let mut slab = BitGrid::new([3, 2, layers]).unwrap();
            let within = |k: usize| (first..first + layers).contains(&k);
            let cells = grid()
                .iter()
                .filter(|cell| within(cell[2]))
                .collect::<Vec<_>>();
            cells
                .iter()
                .for_each(|&[i, j, k]| slab.set([i, j, k - first]));
            builder.add(&slab);
            first += layers;
        }
        assert_eq!(builder.finish(None), whole, "{cuts:?}");
    }
}

#[test]
#[should_panic(expected = "layers are missing")]
fn half_a_grid_has_no_digest() {
    DigestBuilder::new([3, 2, 3], CellType::Bits).finish(None);
}

#[test]
fn version_one_never_changes() {
    // If this digest changes, the version must become `v2`. The value here must not be edited.
    let digest = Digest::of(&grid(), None).cells.to_string();
    assert_eq!(digest, "v1:8d57eded3c8acae39a79bdb0ed729896");
}

/// Returns labels for the occupied cells of [`grid`], which has an empty layer.
fn labels(digest: LabelDigest) -> Labels {
    let legend =
        Legend::new([1, 2, 200].map(|value| Label::new(value, format!("label {value}")))).unwrap();
    let mut labels = Labels::new([3, 2, 3], legend.with_digest(digest)).unwrap();
    grid()
        .iter()
        .zip([2, 1, 200, 1])
        .for_each(|(cell, value)| labels.set(cell, value));
    labels
}

fn field() -> Field {
    let mut field = Field::new([3, 2, 3], 9.5).unwrap();
    grid()
        .iter()
        .zip([-0.0, f32::NAN, 1.25, 0.0])
        .for_each(|(cell, value)| field.set(cell, value));
    field
}

/// Computes the digest `cells` as documented, word by word. In these grids every row is a single word.
fn as_documented(domain: &str, background: &[u8], value: impl Fn([usize; 3]) -> Vec<u8>) -> Hash {
    let number = |n: usize| (n as u64).to_le_bytes();
    let mut cells = [
        domain.as_bytes(),
        &[3, 2, 3].map(number).concat(),
        background,
    ]
    .concat();
    for k in 0..3 {
        let mut layer = vec![];
        for j in 0..2 {
            let word = grid().row(j, k)[0];
            if word != 0 {
                layer.extend([number(2 * k + j), word.to_le_bytes()].concat());
                layer.extend(bits_of(word).flat_map(|i| value([i, j, k])));
            }
        }
        if !layer.is_empty() {
            cells.extend([&number(k)[..], blake3::hash(&layer).as_bytes()].concat());
        }
    }
    Hash::cut(blake3::hash(&cells))
}

#[test]
fn labels_and_fields_are_hashed_as_documented() {
    let found = Digest::of(&labels(LabelDigest::Values), None).cells;
    let value = |cell| vec![labels(LabelDigest::Values).get(cell)];
    assert_eq!(found, as_documented("voxelize labels v1\n", &[], value));
    assert_eq!(found.to_string(), "v1:8ff0bc410ce6d9d2d21a281ad08ff9e4");

    let found = Digest::of(&field(), None).cells;
    let value = |cell| canonical(field().get(cell)).to_le_bytes().to_vec();
    assert_eq!(
        found,
        as_documented("voxelize field v1\n", &9.5_f32.to_le_bytes(), value)
    );
    assert_eq!(found.to_string(), "v1:03d7868ee8c42f4a0510368361811af2");
}

#[test]
fn values_count_if_the_legend_states_it() {
    let plain = Digest::of(&grid(), None);
    assert_eq!(Digest::of(&labels(LabelDigest::Occupancy), None), plain);
    let counted = Digest::of(&labels(LabelDigest::Values), None);
    let mut other = labels(LabelDigest::Values);
    other.set([0, 0, 0], 200);
    assert!(counted != plain && Digest::of(&other, None) != counted);
}

#[test]
fn every_value_and_the_background_of_a_field_count() {
    let whole = Digest::of(&field(), None);
    let mut seen = 0;
    for (cell, value) in [
        ([0, 0, 0], -f32::NAN),
        ([0, 1, 0], f32::NAN),
        ([1, 1, 0], 0.0),
        ([2, 0, 2], 1.0),
    ] {
        let mut other = field();
        let same = canonical(other.get(cell)) == canonical(value);
        other.set(cell, value);
        assert_eq!(Digest::of(&other, None) == whole, same, "{cell:?} {value}");
        seen += u32::from(same);
    }
    assert_eq!(seen, 1);
    assert_ne!(Digest::of(&field().with_background(9.25), None), whole);
    let mut builder = DigestBuilder::new([3, 2, 3], CellType::Field { background: 9.5 });
    for k in 0..3 {
        let values = field().values()[6 * k..6 * k + 6].to_vec();
        builder.add(&Field::from_values([3, 2, 1], 9.5, values).unwrap());
    }
    assert_eq!(builder.finish(None), whole);
}

#[test]
fn digests_are_read_as_they_are_written() {
    let hash = Digest::of(&grid(), None).cells;
    assert_eq!(hash.to_string().parse(), Ok(hash));
    for text in [
        "",
        "v1:",
        "v2:8d57eded3c8acae39a79bdb0ed729896",
        "v1:8D57eded3c8acae39a79bdb0ed729896",
    ] {
        assert!(text.parse::<Hash>().is_err(), "{text}");
    }
    for text in [
        &hash.to_string()[..34],
        &format!("{hash}0"),
        &hash.to_string().replace('8', "+"),
    ] {
        assert!(text.parse::<Hash>().is_err(), "{text}");
    }
}
