//! `.binvox` files match their specification, cell by cell.

use super::*;

fn binvox() -> &'static Format {
    named("binvox")
}

/// Reads the dims of the header and every cell as the text of the specification describes: y fastest, then z,
/// then x.
fn by_hand(bytes: &[u8]) -> ([usize; 3], Vec<[usize; 3]>) {
    let mut windows = bytes.windows(6);
    let end = windows.position(|window| window == b"\ndata\n").unwrap() + 6;
    let head = std::str::from_utf8(&bytes[..end]).unwrap();
    let dim = head.lines().nth(1).unwrap().strip_prefix("dim ").unwrap();
    let dim: Vec<usize> = dim.split(' ').map(|n| n.parse().unwrap()).collect();
    let [x, z, y] = dim.try_into().unwrap();
    let mut cells = vec![];
    let mut n = 0;
    for run in bytes[end..].chunks(2) {
        for _ in 0..run[1] {
            if run[0] == 1 {
                cells.push([n / (y * z), n % y, n / y % z]);
            }
            n += 1;
        }
    }
    assert_eq!(n, x * y * z);
    ([x, y, z], cells)
}

#[test]
fn every_run_is_of_the_right_cells_in_a_cube_or_not() {
    let grids = [[65, 3, 7], [3, 90, 20], [200, 130, 1]].map(scattered);
    for bits in grids.into_iter().chain([f_grid()]) {
        let dims = bits.dims();
        for (choices, expected) in [
            (&[][..], [dims.into_iter().max().unwrap(); 3]),
            (&[Choice::NoCube], dims),
        ] {
            let voxels = at_odd_place(bits.clone());
            let bytes = written(&voxels, binvox(), &with_choices(choices)).unwrap();
            let (found, mut cells) = by_hand(&bytes);
            cells.sort_by_key(|[x, y, z]| [*z, *y, *x]);
            let of_bits: Vec<_> = bits.iter().collect();
            assert_eq!((found, &cells), (expected, &of_bits), "{choices:?}");
            let back = read(&bytes, binvox(), None).unwrap();
            assert_eq!((back.dims(), occupied_cells(&back)), (expected, of_bits));
        }
    }
}

#[test]
fn slabs_are_put_together() {
    let mesh = voxelize::Mesh::open("fixtures/f.stl").unwrap();
    let lattice = Lattice::fit(mesh.bounds(), 30).unwrap();
    let voxelizer = voxelize::Voxelizer::new(voxelize::Rule::surface());
    let written = |height: usize| {
        let plan = voxelize::run::Plan::Slabs(height);
        let mut slabs = voxelizer.slabs(&mesh, &lattice, plan).unwrap();
        let mut bytes = Vec::new();
        let options = SaveOptions::default();
        format::write_source_to(&mut slabs, &mut bytes, binvox(), &options).unwrap();
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
    let file = |head: &str, runs: &[u8]| {
        let bytes = [b"#binvox ", head.as_bytes(), b"\ndata\n", runs].concat();
        read(&bytes, binvox(), None)
    };
    let placed = file(
        "1\ndim 2 2 2\ntranslate -1 0.5 2e1\nscale 0.5",
        &[1, 3, 0, 5],
    );
    check_frame(
        &placed.unwrap(),
        "2 2 2 at -1 0.5 20 by 0.25 0.25 0.25: 0 0 0 0 1 0 0 0 1",
    );
    assert!(file("1\ndim 2 2 2", &[0, 8]).unwrap().lattice.is_none());
    for (head, runs, code) in [
        ("1\ndim 2 2 2", &[1, 3, 0, 4][..], "V002"),
        ("1\ndim 2 2 2", &[1, 3, 0, 6], "V005"),
        ("1\ndim 2 2 2", &[1, 3, 0, 0, 0, 5], "V005"),
        ("1\ndim 2 2 2", &[1, 3, 0, 5, 0, 1], "V005"),
        ("1\ndim 99999 99999 99999", &[1, 3, 0, 5], "V002"),
        ("1\ndim 2 0 2", &[], "V003"),
        ("1\ndim 2 2", &[0, 8], "V003"),
        ("1", &[0, 8], "V003"),
        ("2\ndim 2 2 2", &[0, 8], "V004"),
        ("1\ndim 2 2 2\nscale x", &[0, 8], "V003"),
    ] {
        check_error(file(head, runs), code, (head, runs));
    }
    check_error(
        read(b"#binvox 1\ndim 2 2 2\n", binvox(), None),
        "V002",
        "no data",
    );
}
