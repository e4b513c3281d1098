//! Saved grids are read back unchanged: cells, lattice, record data, digests.

use super::*;

fn grids() -> Vec<BitGrid> {
    vec![
        BitGrid::from_text("#").unwrap(),
        f_grid(),
        scattered([65, 2, 3]),
        scattered([64, 3, 2]),
        scattered([129, 7, 3]),
        scattered([1, 1, 200]),
        scattered([300, 2, 257]),
        BitGrid::new([5, 4, 3]).unwrap(),
        full([66, 3, 2]),
        full([64, 64, 1]),
    ]
}

#[test]
fn every_format_reads_back_its_own_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut cases = 0;
    for (format, dtype) in kinds() {
        let path = path_of(&folder, format);
        for bits in grids() {
            let voxels = at_odd_place(bits);
            let written = format::save(&voxels, &path, format, &as_dtype(dtype)).unwrap();
            assert_eq!(written[0].bytes, fs::metadata(&path).unwrap().len());
            assert_eq!((written.len(), written[1].format), (2, "json"));
            let back = Voxels::open(&path).unwrap();
            assert_eq!(back, voxels, "{format:?} {}", dtype.name());
            assert_eq!(back.digest(), voxels.digest());
            assert!(voxelize::tool::made_by_this_tool(&path));
            cases += 1;
        }
        let bare = Voxels::new(f_grid());
        assert_eq!(returned(&bare, format, dtype), Ok(bare), "{format:?}");
    }
    assert!(cases >= 70);
}

#[test]
fn files_that_carry_the_lattice_need_no_sidecar() {
    let voxels = at_odd_place(f_grid());
    for (format, dtype) in kinds() {
        let (bytes, _) = saved(&voxels, format, dtype);
        let back = read(&bytes, format, None);
        match format.carries {
            Carries::InFile => assert_eq!(back.unwrap(), voxels),
            Carries::Rounded => {
                let origin = |voxels: &Voxels| {
                    let lattice = voxels.lattice.as_ref().unwrap();
                    lattice.origin().each_ref().map(Rational::to_f64)
                };
                assert_eq!(origin(&back.unwrap()), origin(&voxels), "{format:?}");
            }
            Carries::Sidecar => check_error(back, "V006", format),
            // Without a sidecar, nothing states that an array contains packed bits.
            _ if dtype == Dtype::Bit => assert_eq!(back.unwrap().dims(), [1, 4, 2]),
            _ => assert_eq!(back.unwrap(), Voxels::new(f_grid()), "{format:?}"),
        }
    }
}

#[test]
fn streams_files_and_threads_give_the_same_bytes() {
    let voxels = at_odd_place(scattered([700, 60, 20]));
    for (format, dtype) in kinds() {
        let with = |threads| {
            let write = || written(&voxels, format, &as_dtype(dtype));
            voxelize::par::with_threads(threads, write).unwrap()
        };
        let file = Ok(saved(&voxels, format, dtype).0);
        assert!(with(1) == file && with(3) == file, "{format:?}");
    }
}

#[test]
fn stretched_cells_are_refused_by_formats_without_them() {
    let spacing = [Rational::ONE, Rational::ONE, Rational::new(1, 2)];
    let origin = [(); 3].map(|()| Rational::ZERO);
    let lattice = Lattice::new([3, 4, 2], origin, spacing, [true; 3]).unwrap();
    let voxels = Voxels {
        lattice: Some(lattice.clone().with_snap(voxelize::Snap::None)),
        ..at_odd_place(f_grid())
    };
    let mut refused = 0;
    for (format, dtype) in kinds() {
        let options = as_dtype(dtype);
        if let Err(error) = format::check(CellKind::Bits, &lattice, format, &options) {
            assert_eq!(error.kind(), Kind::Usage);
            assert!(["vox", "binvox", "bt"].contains(&format.name), "{error}");
            let mut stream = Vec::new();
            let again = format::write_to(&voxels, &mut stream, format, &options);
            assert_eq!((again, stream.len()), (Err(error), 0));
            refused += 1;
        } else {
            assert_eq!(returned(&voxels, format, dtype).as_ref(), Ok(&voxels));
        }
    }
    assert_eq!(refused, 3);
}

#[test]
fn types_of_other_formats_are_a_usage_error() {
    let lattice = at_odd_place(f_grid()).lattice.unwrap();
    for format in FORMATS {
        for dtype in [Dtype::Bool, Dtype::U8, Dtype::Bit] {
            let answer = format::check(CellKind::Bits, &lattice, format, &as_dtype(dtype));
            let is_stored = format.dtypes.contains(&dtype);
            assert_eq!(answer.is_ok(), is_stored, "{format:?}");
        }
    }
}

#[test]
fn raw_bytes_run_x_fastest_and_rows_up() {
    let voxels = at_odd_place(f_grid());
    let (bytes, sidecar) = saved(&voxels, named("raw"), Dtype::U8);
    let first = [1, 0, 0, 1, 1, 0, 1, 0, 0, 1, 1, 1];
    let second = [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0];
    assert_eq!(bytes, [first, second].concat());
    assert!(sidecar.unwrap().contains("\"row_bytes\": 3"));
    let (bits, sidecar) = saved(&voxels, named("raw"), Dtype::Bit);
    let rows = [1u64, 3, 1, 7, 0, 0, 4, 0];
    assert_eq!(bits, rows.map(u64::to_le_bytes).concat());
    assert!(sidecar.unwrap().contains("\"bit_order\": \"little\""));
}

#[test]
fn arrays_of_either_order_and_any_nonzero_byte_are_read() {
    let bits = f_grid();
    let byte = |i, j, k| if bits.get([i, j, k]) { 0x80 } else { 0 };
    let c = |n: usize| byte(n / 8, n / 2 % 4, n % 2);
    let fortran = |n: usize| byte(n % 3, n / 3 % 4, n / 12);
    for (order, cells) in [
        ("False", (0..24).map(c).collect::<Vec<u8>>()),
        ("True", (0..24).map(fortran).collect()),
    ] {
        let dict = format!("{{'descr': '|u1', 'fortran_order': {order}, 'shape': (3, 4, 2)}}");
        let length = (dict.len() as u32).to_le_bytes();
        let file = [b"\x93NUMPY\x02\x00", &length[..], dict.as_bytes(), &cells].concat();
        let found = read(&file, named("npy"), None).unwrap();
        assert_eq!(found.occupied(), Ok(&bits), "{order}");
    }
}

#[test]
fn a_sidecar_of_another_file_is_ignored() {
    for (format, dtype) in [("npy", Dtype::Bool), ("raw", Dtype::U8)] {
        let format = named(format);
        let (_, old) = saved(&at_odd_place(full([3, 4, 2])), format, dtype);
        let (bytes, _) = saved(&at_odd_place(f_grid()), format, dtype);
        let found = read(&bytes, format, old.as_deref());
        if format.name == "raw" {
            check_error(found, "V007", format);
        } else {
            assert_eq!(found.unwrap().lattice, None);
        }
    }
}

/// The same bytes of cells with the header of the other axis order.
#[test]
fn arrays_with_the_axes_z_y_x_come_back_if_the_sidecar_states_it() {
    let voxels = at_odd_place(scattered([5, 4, 3]));
    let options = SaveOptions {
        choices: &[Choice::Zyx],
        ..as_dtype(Dtype::U8)
    };
    let mut seen = 0;
    for format in FORMATS {
        if !format.choices.contains(&Choice::Zyx) {
            continue;
        }
        let (turned, sidecar) = saved_with(&voxels, format, &options);
        let back = read(&turned, format, Some(&sidecar));
        assert_eq!(back.as_ref(), Ok(&voxels), "{format:?}");
        seen += 1;
        if format.name == "npy" {
            let (usual, _) = saved(&voxels, format, Dtype::U8);
            let text = String::from_utf8_lossy(&turned);
            assert!(text.contains("'fortran_order': False, 'shape': (3, 4, 5)"));
            assert_eq!(turned[turned.len() - 60..], usual[usual.len() - 60..]);
            // Like any array of another program.
            let plain = read(&turned, format, None).unwrap();
            assert_eq!(plain.dims(), [3, 4, 5]);
            let plain = plain.into_occupied().unwrap();
            let cells = occupied_cells(&voxels);
            assert!(cells.iter().all(|&[x, y, z]| plain.get([z, y, x])));
        }
    }
    assert!(seen >= 1);
    if let Some(npz) = format::by_name("npz") {
        for choice in [Choice::Zyx, Choice::SparseIndices] {
            let both = [choice, Choice::SparseRuns];
            let refused = written(&voxels, npz, &with_choices(&both));
            assert_eq!(refused.unwrap_err().kind(), Kind::Usage, "{choice:?}");
        }
    }
}
