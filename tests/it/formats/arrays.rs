//! Arrays of packed bits and of chosen numbers: compared with bytes written by hand, read back with their
//! descriptions, and rejected if cells could not be distinguished.

use voxelize::grid::{Label, Labels, Legend};

use super::kinds::Split;
use super::*;

fn npy() -> &'static Format {
    named("npy")
}

fn raw() -> &'static Format {
    named("raw")
}

/// Returns the header of an array and the bytes after it.
fn parts(bytes: &[u8]) -> (String, &[u8]) {
    let length = u16::from_le_bytes([bytes[8], bytes[9]]).into();
    let (header, data) = bytes[10..].split_at(length);
    (String::from_utf8_lossy(header).trim().to_string(), data)
}

#[test]
fn packed_bits_are_bytes_of_eight_cells_along_x() {
    let mut bits = BitGrid::new([11, 2, 2]).unwrap();
    for cell in [[0, 0, 0], [3, 0, 0], [8, 0, 0], [10, 1, 0], [7, 0, 1]] {
        bits.set(cell);
    }
    let voxels = at_odd_place(bits);
    let (bytes, sidecar) = saved(&voxels, npy(), Dtype::Bit);
    let header = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2, 2), }";
    // Rows (0, 0), (1, 0), (0, 1) and (1, 1).
    let data = [0b1001, 1, 0, 0b100, 0b1000_0000, 0, 0, 0];
    assert_eq!(parts(&bytes), (header.to_string(), &data[..]));
    let text = sidecar.clone().unwrap();
    for entry in ["\"dtype\": \"bit\"", "\"bit_order\": \"little\""] {
        assert!(text.contains(entry), "{text}");
    }
    assert_eq!(read(&bytes, npy(), sidecar.as_deref()).unwrap(), voxels);
    // Without its sidecar it is an array of numbers.
    let plain = read(&bytes, npy(), None).unwrap();
    let first = plain.labels().unwrap().get([0, 0, 0]);
    assert_eq!((plain.dims(), first), ([2, 2, 2], 0b1001));
    // A sidecar of other bits does not apply.
    let (_, other) = saved(&at_odd_place(full([11, 2, 2])), npy(), Dtype::Bit);
    assert_eq!(read(&bytes, npy(), other.as_deref()).unwrap(), plain);
}

#[test]
fn packed_bits_come_back_from_slabs_and_either_order() {
    let folder = tempfile::tempdir().unwrap();
    let mut seen = 0;
    for dims in [
        [1, 1, 1],
        [8, 3, 2],
        [63, 4, 5],
        [65, 40, 90],
        [1000, 30, 20],
    ] {
        let voxels = at_odd_place(scattered(dims));
        for format in FORMATS {
            if !["npy", "npz"].contains(&format.name) {
                continue;
            }
            for choices in [&[][..], &[Choice::Zyx]] {
                let options = SaveOptions {
                    choices,
                    ..as_dtype(Dtype::Bit)
                };
                let path = path_of(&folder, format);
                format::save(&voxels, &path, format, &options).unwrap();
                assert_eq!(Voxels::open(&path).unwrap(), voxels, "{format:?} {dims:?}");
                let described = format::describe(&path).unwrap();
                assert_eq!(described.dtype, Some(Dtype::Bit));
                assert_eq!(described.metadata.dims, Some(dims));
                let whole = fs::read(&path).unwrap();
                for height in [1, 7] {
                    let mut slabs = vec![];
                    let mut source = Split::new(&voxels, height);
                    format::write_source_to(&mut source, &mut slabs, format, &options).unwrap();
                    assert!(slabs == whole, "{format:?} {dims:?} {height}");
                }
                seen += 1;
            }
        }
    }
    assert!(seen >= 10, "{seen}");
}

#[test]
fn packed_bits_that_do_not_fit_their_dims_are_read_as_numbers() {
    let voxels = at_odd_place(scattered([11, 5, 4]));
    let (bytes, sidecar) = saved(&voxels, npy(), Dtype::Bit);
    let sidecar = sidecar.unwrap();
    // A bit beyond the row contradicts these cells.
    let mut beyond = bytes.clone();
    *beyond.last_mut().unwrap() |= 0x80;
    for (bytes, from, to) in [
        (&beyond, "", ""),
        (&bytes, "\"little\"", "\"big\""),
        (&bytes, "11,", "21,"),
        (&bytes, "\"bit\"", "\"u8\""),
    ] {
        let found = read(bytes, npy(), Some(&sidecar.replace(from, to)));
        assert_eq!(found.unwrap().dims(), [2, 5, 4], "{from}");
    }
}

#[cfg(feature = "npz")]
#[test]
fn archives_of_packed_bits_are_small_and_state_their_dims() {
    use super::sparse::archive;
    let voxels = at_odd_place(scattered([300, 200, 20]));
    let [packed, plain] =
        [Dtype::Bit, Dtype::Bool].map(|dtype| saved(&voxels, named("npz"), dtype).0.len());
    assert!(packed < plain, "{packed} {plain}");
    for (order, dims, expected) in [
        ("little", [9, 1, 1], Ok(9)),
        ("little", [16, 1, 1], Ok(16)),
        ("bigger", [16, 1, 1], Err("V004")),
        ("little", [17, 1, 1], Err("V005")),
        ("little", [8, 2, 1], Err("V005")),
        ("little", [-8, 1, 1], Err("V004")),
    ] {
        let text = order.chars().flat_map(|c| u32::from(c).to_le_bytes());
        let bytes = archive(&[
            ("voxels", "|u1", "(2, 1, 1)", vec![0b101, 1]),
            ("bit_order", "<U6", "()", text.collect()),
            ("shape", "<i8", "(3,)", dims.map(i64::to_le_bytes).concat()),
        ]);
        let found = match read(&bytes, named("npz"), None) {
            Ok(voxels) => Ok((voxels.dims()[0], voxels.count())),
            Err(error) => Err(error.code().name()),
        };
        assert_eq!(found, expected.map(|nx| (nx, 3)), "{order} {dims:?}");
    }
}

fn numbered(dtype: Dtype, values: &[i16]) -> SaveOptions<'_> {
    SaveOptions {
        values,
        ..as_dtype(dtype)
    }
}

/// Saves cells and reads them back. Returns the bytes of the cells and the sidecar.
fn back_and_forth(
    voxels: &Voxels,
    format: &Format,
    options: &SaveOptions,
) -> (Voxels, Vec<u8>, String) {
    let (bytes, sidecar) = saved_with(voxels, format, options);
    let back = read(&bytes, format, Some(&sidecar)).unwrap();
    let cells = if format.name == "npy" {
        parts(&bytes).1.to_vec()
    } else {
        bytes
    };
    (back, cells, sidecar)
}

#[test]
fn cells_have_the_numbers_that_were_chosen() {
    let voxels = at_odd_place(BitGrid::from_text("#..\n.#.").unwrap());
    for format in [raw(), npy()] {
        for (dtype, values, bytes, text) in [
            (Dtype::I8, &[][..], [1, 0, 0, 0, 1, 0], ""),
            (Dtype::I8, &[-1, 1], [1, 255, 255, 255, 1, 255], "-1,1"),
            (
                Dtype::I8,
                &[127, -128],
                [128, 127, 127, 127, 128, 127],
                "127,-128",
            ),
            // Bits use the first two numbers.
            (Dtype::I8, &[-1, 0, 1], [0, 255, 255, 255, 0, 255], "-1,0,1"),
            (Dtype::U8, &[0, 255], [255, 0, 0, 0, 255, 0], "0,255"),
            (Dtype::U8, &[255, 0], [0, 255, 255, 255, 0, 255], "255,0"),
        ] {
            let (back, cells, sidecar) = back_and_forth(&voxels, format, &numbered(dtype, values));
            // Text starts with the top row.
            let [upper, lower] = [&bytes[..3], &bytes[3..]];
            assert_eq!(cells, [lower, upper].concat(), "{format:?} {values:?}");
            assert_eq!(back, voxels, "{format:?} {values:?}");
            assert_eq!(back.digest(), voxels.digest());
            if !text.is_empty() {
                let entry = format!("\"values\": \"{text}\"");
                assert!(sidecar.contains(&entry), "{sidecar}");
            }
        }
    }
    let (bytes, _) = saved(&voxels, npy(), Dtype::I8);
    assert!(
        parts(&bytes)
            .0
            .starts_with("{'descr': '|i1', 'fortran_order': True")
    );
}

#[test]
fn labels_have_numbers_of_their_own_or_one() {
    let label = |value| Label::new(value, format!("part {value}"));
    let legend = Legend::new([1, 2, 5].map(label)).unwrap();
    let mut labels = Labels::new([4, 1, 1], legend).unwrap();
    for (i, value) in [1, 2, 5].into_iter().enumerate() {
        labels.set([i, 0, 0], value);
    }
    let occupied = labels.occupied().clone();
    // Digests cover the values.
    let voxels = Voxels {
        cells: labels.into(),
        lattice: None,
        ..at_odd_place(f_grid())
    };
    let bits = Voxels {
        cells: occupied.into(),
        ..voxels.clone()
    };
    for format in [raw(), npy()] {
        for (options, expected, bytes) in [
            (
                numbered(Dtype::I8, &[-1, 0, 1, 2, 3, -7]),
                &voxels,
                &[0, 1, 249, 255][..],
            ),
            (numbered(Dtype::I8, &[]), &voxels, &[1, 2, 5, 0]),
            // With two numbers, one stands for all labels, as with bits.
            (numbered(Dtype::I8, &[-1, 1]), &bits, &[1, 1, 1, 255]),
            (numbered(Dtype::U8, &[9, 8]), &bits, &[8, 8, 8, 9]),
        ] {
            let (back, cells, _) = back_and_forth(&voxels, format, &options);
            assert_eq!((&back, &cells[..]), (expected, bytes), "{format:?}");
        }
        let (back, ..) = back_and_forth(&voxels, format, &as_dtype(Dtype::Bit));
        assert_eq!(back, bits);
        let few = written(&voxels, format, &numbered(Dtype::I8, &[-1, 0, 1])).unwrap_err();
        assert_eq!(few.kind(), Kind::Usage);
        assert_eq!(few.message(), "label 5 has no value");
    }
    let mut labels = Labels::new([2, 1, 1], Legend::new([label(128)]).unwrap()).unwrap();
    labels.set([1, 0, 0], 128);
    let nameless = labels.clone().with_legend(Legend::default()).unwrap();
    for beyond in [labels, nameless] {
        let error = written(&Voxels::new(beyond), raw(), &as_dtype(Dtype::I8)).unwrap_err();
        assert_eq!(error.message(), "label 128 has no value");
    }
}

#[test]
fn ambiguous_numbers_and_numbers_that_do_not_fit_are_refused() {
    let voxels = at_odd_place(f_grid());
    let lattice = voxels.lattice.as_ref().unwrap();
    for [name, dtype, values, message] in table(
        "
        raw i8 -1,-1 the value -1 occurs twice: cells could not be distinguished
        raw i8 -1,0,0 the value 0 occurs twice: cells could not be distinguished
        raw i8 0,128 the value 128 does not fit i8: -128 to 127
        raw u8 -1,1 the value -1 does not fit u8: 0 to 255
        raw i8 1 at least two values are needed: one for empty cells, then those of occupied cells
        raw bit -1,1 values are stored as i8 or u8, not as bit
        npy bool 0,1 values are stored as i8 or u8, not as bool
        nrrd u8 0,255 the values of cells of nrrd cannot be chosen",
    ) {
        let values: Vec<i16> = values.split(',').map(|n| n.parse().unwrap()).collect();
        let options = numbered(Dtype::from_name(dtype).unwrap(), &values);
        let error = written(&voxels, named(name), &options).unwrap_err();
        assert_eq!((error.kind(), error.message()), (Kind::Usage, message));
        let early = format::check(CellKind::Bits, lattice, named(name), &options);
        assert_eq!(early, Err(error), "{values:?}");
    }
}

#[test]
fn broken_numbers_in_a_sidecar_and_bytes_of_none_are_errors() {
    let voxels = at_odd_place(f_grid());
    let (mut bytes, sidecar) = saved_with(&voxels, raw(), &numbered(Dtype::I8, &[-1, 1]));
    for (values, code) in [
        ("-1,x", "V007"),
        ("", "V007"),
        ("-1,-1", "V007"),
        ("-1,200", "V007"),
        ("0,1", "V003"),
        ("1,-1", "V007"),
    ] {
        let sidecar = sidecar.replace("\"-1,1\"", &format!("\"{values}\""));
        check_error(read(&bytes, raw(), Some(&sidecar)), code, values);
    }
    bytes[3] = 7;
    let error = read(&bytes, raw(), Some(&sidecar)).unwrap_err();
    let message = "byte 7 is not in the sidecar's list of values";
    assert_eq!(error.message(), message);
}

/// Labels of a filled grid on the command line, and the rejected combinations.
#[cfg(feature = "cli")]
#[test]
fn solvers_get_outside_surface_and_interior() {
    use crate::support::{place::Place, rows};
    let place = Place::new();
    let runs = rows::check(
        &place,
        "0 cube.stl -r 4 --filled --dtype i8 --values -1,0,1 -o a.raw
         0 cube.stl -r 4 --pad 1 --filled --dtype i8 --values=-1,1 -o b.npy --sidecar
         0 convert a.raw d.raw --dtype i8 --values 5,-5,6
         0 cube.stl -r 4 --filled -o c.npz --json
         0 info a.raw --json
         0 info d.raw --json",
    );
    let digests = [3, 4, 5].map(|n: usize| runs[n].json()["digest"].clone());
    assert!(digests[0].is_object() && digests[1] == digests[0] && digests[2] == digests[0]);
    let count = |cells: &[u8], value: u8| cells.iter().filter(|cell| **cell == value).count();
    let a = fs::read(place.path("a.raw")).unwrap();
    let counts = [255, 0, 1].map(|value| count(&a, value));
    assert_eq!((a.len(), counts), (64, [0, 56, 8]));
    let b = fs::read(place.path("b.npy")).unwrap();
    assert_eq!([255, 1].map(|value| count(parts(&b).1, value)), [152, 64]);
    rows::check(
        &place,
        "2 cube.stl --values 0,1 -o a.vox
             err --values
         2 cube.stl --values -1,1 -o a.raw
             err --values
         2 cube.stl --values -1,1 -o a.npy
             err --values
         2 cube.stl --dtype i8 --values 1,1 -o a.raw
             err --values
         2 cube.stl --dtype i8 --values 1 -o a.raw
             err --values
         2 cube.stl --dtype i8 --values 1,x -o a.raw
             err --values",
    );
}
