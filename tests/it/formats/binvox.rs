//! `.binvox` files match their specification, cell by cell.

use voxelize::format::{self, Choice, SaveOptions, read_from};
use voxelize::{BitGrid, Code, Result, Voxels};

use super::{at_odd_place, f_grid, scattered};

fn read(bytes: &[u8]) -> Result<Voxels> {
    read_from(
        std::io::Cursor::new(bytes),
        format::by_name("binvox").unwrap(),
        None,
    )
}

fn written(bits: &BitGrid, choices: &[Choice]) -> Vec<u8> {
    let options = SaveOptions {
        choices,
        ..SaveOptions::default()
    };
    let mut bytes = Vec::new();
    let format = format::by_name("binvox").unwrap();
    format::write_to(&at_odd_place(bits.clone()), &mut bytes, format, &options).unwrap();
    bytes
}

/// Reads the dims of the header and every cell as the text of the specification describes: y fastest, then z,
/// then x.
fn by_hand(bytes: &[u8]) -> ([usize; 3], Vec<[usize; 3]>) {
    let end = bytes
        .windows(6)
        .position(|window| window == b"\ndata\n")
        .unwrap()
        + 6;
    let head = std::str::from_utf8(&bytes[..end]).unwrap();
    let dim = head
        .lines()
        .nth(1)
        .unwrap()
        .split(' ')
        .skip(1)
        .map(|n| n.parse().unwrap());
    let [x, z, y] = <[usize; 3]>::try_from(dim.collect::<Vec<_>>()).unwrap();
    let cells = bytes[end..]
        .chunks(2)
        .flat_map(|run| vec![run[0]; run[1].into()])
        .collect::<Vec<_>>();
    assert_eq!(cells.len(), x * y * z);
    let place = |n: usize| [n / (y * z), n % y, n / y % z];
    (
        [x, y, z],
        cells
            .iter()
            .enumerate()
            .filter(|(_, value)| **value == 1)
            .map(|(n, _)| place(n))
            .collect(),
    )
}

#[test]
fn every_run_is_of_the_right_cells_in_a_cube_or_not() {
    let mut seen = 0;
    for bits in [
        f_grid(),
        scattered([65, 3, 7]),
        scattered([3, 90, 20]),
        scattered([200, 130, 1]),
    ] {
        let dims = bits.dims();
        for (choices, expected) in [
            (&[][..], [dims.into_iter().max().unwrap(); 3]),
            (&[Choice::NoCube], dims),
        ] {
            let bytes = written(&bits, choices);
            let (found, mut cells) = by_hand(&bytes);
            cells.sort_by_key(|[x, y, z]| [*z, *y, *x]);
            assert!(
                found == expected && bits.iter().eq(cells),
                "{dims:?} {choices:?}"
            );
            let back = read(&bytes).unwrap();
            assert!(
                back.dims() == expected && back.occupied().unwrap().iter().eq(bits.iter()),
                "{dims:?}"
            );
            seen += 1;
        }
    }
    assert_eq!(seen, 8);
}

#[test]
fn slabs_are_put_together() {
    let mesh = voxelize::Mesh::open("fixtures/f.stl").unwrap();
    let lattice = voxelize::Lattice::fit(mesh.bounds(), 30).unwrap();
    let voxelizer = voxelize::Voxelizer::new(voxelize::Rule::surface());
    let written = |height: usize| {
        let mut slabs = voxelizer
            .slabs(&mesh, &lattice, voxelize::run::Plan::Slabs(height))
            .unwrap();
        let mut bytes = Vec::new();
        let format = format::by_name("binvox").unwrap();
        format::write_source_to(&mut slabs, &mut bytes, format, &SaveOptions::default()).unwrap();
        bytes
    };
    let whole = written(lattice.dims()[2]);
    assert!(by_hand(&whole).1.len() > 100);
    for height in [1, 4, 7] {
        assert!(written(height) == whole, "{height}");
    }
}

#[test]
fn files_of_others_and_broken_ones() {
    let file = |head: &str, runs: &[u8]| [head.as_bytes(), b"\ndata\n", runs].concat();
    let usual = "#binvox 1\ndim 2 2 2";
    let placed = read(&file(
        &format!("{usual}\ntranslate -1 0.5 2e1\nscale 0.5"),
        &[1, 3, 0, 5],
    ))
    .unwrap();
    assert_eq!(
        placed.occupied().unwrap().iter().collect::<Vec<_>>(),
        [[0, 0, 0], [0, 1, 0], [0, 0, 1]]
    );
    let lattice = placed.lattice.unwrap();
    assert_eq!(
        (
            lattice.origin()[1].to_string(),
            lattice.spacing()[2].to_string()
        ),
        ("1/2".into(), "1/4".into())
    );
    assert!(read(&file(usual, &[0, 8])).unwrap().lattice.is_none());
    for (bytes, code) in [
        (file(usual, &[1, 3, 0, 4]), Code::V002),
        (file(usual, &[1, 3, 0, 6]), Code::V005),
        (file(usual, &[1, 3, 0, 0, 0, 5]), Code::V005),
        (file(usual, &[1, 3, 0, 5, 0, 1]), Code::V005),
        (
            file("#binvox 1\ndim 99999 99999 99999", &[1, 3, 0, 5]),
            Code::V002,
        ),
        (file("#binvox 1\ndim 2 0 2", &[]), Code::V003),
        (file("#binvox 1\ndim 2 2", &[0, 8]), Code::V003),
        (file("#binvox 1", &[0, 8]), Code::V003),
        (file("#binvox 2\ndim 2 2 2", &[0, 8]), Code::V004),
        (file(&format!("{usual}\nscale x"), &[0, 8]), Code::V003),
        (b"#binvox 1\ndim 2 2 2\n".to_vec(), Code::V002),
    ] {
        let error = read(&bytes).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
    }
}
