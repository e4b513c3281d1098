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
        for bits in grids() {
            let voxels = at_odd_place(bits);
            let path = folder
                .path()
                .join(format!("{cases}.{}", format.extensions[0]));
            let written = format::save(&voxels, &path, format, &as_dtype(dtype)).unwrap();
            assert_eq!(written[0].bytes, std::fs::metadata(&path).unwrap().len());
            assert_eq!((written.len(), written[1].format), (2, "json"));
            let back = Voxels::open(&path).unwrap();
            assert_eq!(back, voxels, "{} {}", format.name, dtype.name());
            assert_eq!(back.digest(), voxels.digest());
            assert!(voxelize::tool::made_by_this_tool(&path));
            cases += 1;
        }
    }
    assert!(cases >= 70);
}

#[test]
fn files_that_carry_the_lattice_need_no_sidecar() {
    let voxels = at_odd_place(f_grid());
    let mut cases = 0;
    for (format, dtype) in kinds() {
        let (bytes, _) = saved(&voxels, format, dtype);
        match (format.carries, read(&bytes, format, None)) {
            (Carries::InFile, back) => assert_eq!(back.unwrap(), voxels),
            (Carries::Rounded, back) => {
                let place = |voxels: Voxels| {
                    voxels
                        .lattice
                        .unwrap()
                        .origin()
                        .each_ref()
                        .map(Rational::to_f64)
                };
                assert_eq!(
                    place(back.unwrap()),
                    place(voxels.clone()),
                    "{}",
                    format.name
                );
            }
            (Carries::Sidecar, back) => assert_eq!(back.unwrap_err().code().name(), "V006"),
            // Without a sidecar, nothing states that an array contains packed bits.
            (_, back) if dtype == Dtype::Bit => assert_eq!(back.unwrap().dims(), [1, 4, 2]),
            (_, back) => {
                let back = back.unwrap();
                assert_eq!(
                    (back.lattice, back.record),
                    (None, Record::default()),
                    "{}",
                    format.name
                );
                assert_eq!(back.cells, voxels.cells);
            }
        }
        cases += 1;
    }
    assert!(cases >= 7);
}

#[test]
fn streams_and_files_have_the_same_bytes_each_time() {
    let voxels = at_odd_place(scattered([300, 5, 4]));
    for (format, dtype) in kinds() {
        let mut stream = Vec::new();
        let bytes = format::write_to(&voxels, &mut stream, format, &as_dtype(dtype)).unwrap();
        assert_eq!(bytes, stream.len() as u64);
        assert_eq!(stream, saved(&voxels, format, dtype).0, "{}", format.name);
    }
}

#[test]
fn threads_change_no_byte() {
    let voxels = at_odd_place(scattered([700, 60, 20]));
    for (format, dtype) in kinds() {
        let with = |threads| {
            let write = || {
                let mut stream = Vec::new();
                format::write_to(&voxels, &mut stream, format, &as_dtype(dtype)).map(|_| stream)
            };
            voxelize::par::with_threads(threads, write)
                .unwrap()
                .unwrap()
        };
        assert!(with(1) == with(3), "{}", format.name);
    }
}

#[test]
fn grids_without_a_lattice_can_be_saved() {
    let voxels = Voxels::new(f_grid());
    for (format, dtype) in kinds() {
        let (bytes, sidecar) = saved(&voxels, format, dtype);
        assert_eq!(
            read(&bytes, format, sidecar.as_deref()).unwrap(),
            voxels,
            "{}",
            format.name
        );
    }
}

#[test]
fn stretched_cells_are_refused_by_formats_without_them() {
    let mut voxels = at_odd_place(f_grid());
    let spacing = [Rational::ONE, Rational::ONE, Rational::new(1, 2)];
    let lattice = Lattice::new(
        [3, 4, 2],
        [(); 3].map(|()| Rational::ZERO),
        spacing,
        [true; 3],
    )
    .unwrap();
    voxels.lattice = Some(lattice.clone().with_snap(voxelize::Snap::None));
    let mut refused = 0;
    for (format, dtype) in kinds() {
        match format::check(CellKind::Bits, &lattice, format, &as_dtype(dtype)) {
            Ok(()) => {
                let (bytes, sidecar) = saved(&voxels, format, dtype);
                assert_eq!(read(&bytes, format, sidecar.as_deref()).unwrap(), voxels);
            }
            Err(error) => {
                assert!(
                    error.kind() == voxelize::Kind::Usage
                        && ["vox", "binvox"].contains(&format.name),
                    "{error}"
                );
                let mut stream = Vec::new();
                let again = format::write_to(&voxels, &mut stream, format, &as_dtype(dtype));
                assert_eq!((again, stream.len()), (Err(error), 0));
                refused += 1;
            }
        }
    }
    assert_eq!(refused, 2);
}

#[test]
fn types_of_other_formats_are_a_usage_error() {
    let lattice = at_odd_place(f_grid()).lattice.unwrap();
    for format in FORMATS {
        for dtype in [Dtype::Bool, Dtype::U8, Dtype::Bit] {
            let answer = format::check(CellKind::Bits, &lattice, format, &as_dtype(dtype));
            assert_eq!(
                answer.is_ok(),
                format.dtypes.contains(&dtype),
                "{}",
                format.name
            );
        }
    }
}

#[test]
fn raw_bytes_run_x_fastest_and_rows_up() {
    let voxels = at_odd_place(f_grid());
    let raw = format::by_name("raw").unwrap();
    let (bytes, sidecar) = saved(&voxels, raw, Dtype::U8);
    let first = [1, 0, 0, 1, 1, 0, 1, 0, 0, 1, 1, 1];
    let second = [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0];
    assert_eq!(bytes, [first, second].concat());
    assert!(sidecar.unwrap().contains("\"row_bytes\": 3"));
    let (bits, sidecar) = saved(&voxels, raw, Dtype::Bit);
    let rows = [1u64, 3, 1, 7, 0, 0, 4, 0];
    assert_eq!(bits, rows.map(u64::to_le_bytes).concat());
    assert!(sidecar.unwrap().contains("\"bit_order\": \"little\""));
}

#[test]
fn arrays_of_either_order_and_any_nonzero_byte_are_read() {
    let npy = format::by_name("npy").unwrap();
    let header = |order| {
        let dict = format!("{{'descr': '|u1', 'fortran_order': {order}, 'shape': (3, 4, 2)}}");
        let mut bytes = b"\x93NUMPY\x02\x00".to_vec();
        bytes.extend((dict.len() as u32).to_le_bytes());
        bytes.extend(dict.bytes());
        bytes
    };
    let bits = f_grid();
    let byte = |i, j, k| if bits.get([i, j, k]) { 0x80 } else { 0 };
    let mut c = header("False");
    let mut fortran = header("True");
    for n in 0..24 {
        c.push(byte(n / 8, n / 2 % 4, n % 2));
        fortran.push(byte(n % 3, n / 3 % 4, n / 12));
    }
    assert_eq!(read(&c, npy, None).unwrap().into_occupied().unwrap(), bits);
    assert_eq!(
        read(&fortran, npy, None).unwrap().into_occupied().unwrap(),
        bits
    );
}

#[test]
fn a_sidecar_of_another_file_is_ignored() {
    let npy = format::by_name("npy").unwrap();
    let (_, old) = saved(&at_odd_place(full([3, 4, 2])), npy, Dtype::Bool);
    let (bytes, _) = saved(&at_odd_place(f_grid()), npy, Dtype::Bool);
    assert_eq!(read(&bytes, npy, old.as_deref()).unwrap().lattice, None);
    let raw = format::by_name("raw").unwrap();
    let (_, old) = saved(&at_odd_place(full([3, 4, 2])), raw, Dtype::U8);
    let (bytes, _) = saved(&at_odd_place(f_grid()), raw, Dtype::U8);
    assert_eq!(
        read(&bytes, raw, old.as_deref()).unwrap_err().code().name(),
        "V007"
    );
}

/// The same bytes of cells with the header of the other axis order.
#[test]
fn arrays_with_the_axes_z_y_x_come_back_if_the_sidecar_states_it() {
    let folder = tempfile::tempdir().unwrap();
    let voxels = at_odd_place(scattered([5, 4, 3]));
    let options = SaveOptions {
        choices: &[format::Choice::Zyx],
        sidecar: Sidecar::Write,
        ..as_dtype(Dtype::U8)
    };
    let mut seen = 0;
    for format in FORMATS
        .iter()
        .filter(|format| format.choices.contains(&format::Choice::Zyx))
    {
        let path = folder
            .path()
            .join("turned")
            .with_extension(format.extensions[0]);
        format::save(&voxels, &path, format, &options).unwrap();
        assert_eq!(Voxels::open(&path).unwrap(), voxels, "{}", format.name);
        if format.name == "npy" {
            let turned = std::fs::read(&path).unwrap();
            let (usual, _) = saved(&voxels, format, Dtype::U8);
            assert!(
                String::from_utf8_lossy(&turned)
                    .contains("'fortran_order': False, 'shape': (3, 4, 5)")
            );
            assert_eq!(turned[turned.len() - 60..], usual[usual.len() - 60..]);
            // Like any array of another program.
            let unsaid = read(&turned, format, None).unwrap();
            assert_eq!(unsaid.dims(), [3, 4, 5]);
            assert!(
                voxels
                    .occupied()
                    .unwrap()
                    .iter()
                    .all(|[x, y, z]| unsaid.occupied().unwrap().get([z, y, x]))
            );
        }
        seen += 1;
    }
    assert!(seen >= 1);
    if let Some(npz) = format::by_name("npz") {
        let choices = &[format::Choice::Zyx, format::Choice::SparseRuns];
        let both = SaveOptions {
            choices,
            ..SaveOptions::default()
        };
        assert_eq!(
            format::write_to(&voxels, &mut Vec::new(), npz, &both)
                .unwrap_err()
                .kind(),
            voxelize::Kind::Usage
        );
        let choices = &[format::Choice::SparseIndices, format::Choice::SparseRuns];
        let both = SaveOptions {
            choices,
            ..SaveOptions::default()
        };
        assert_eq!(
            format::write_to(&voxels, &mut Vec::new(), npz, &both)
                .unwrap_err()
                .kind(),
            voxelize::Kind::Usage
        );
    }
}
