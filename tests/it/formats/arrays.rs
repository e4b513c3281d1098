//! Arrays of packed bits and of chosen numbers: compared with bytes written by hand, read back with their
//! descriptions, and rejected if cells could not be distinguished.

use voxelize::Kind;
use voxelize::format::Choice;
use voxelize::grid::{Label, Labels, Legend};

use super::kinds::Split;
use super::*;

fn npy() -> &'static Format {
    format::by_name("npy").unwrap()
}

/// Returns the bytes after the header of an array.
fn data(bytes: &[u8]) -> &[u8] {
    &bytes[10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]))..]
}

fn header(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[10..bytes.len() - data(bytes).len()])
        .trim()
        .to_string()
}

#[test]
fn packed_bits_are_bytes_of_eight_cells_along_x() {
    let mut bits = BitGrid::new([11, 2, 2]).unwrap();
    for cell in [[0, 0, 0], [3, 0, 0], [8, 0, 0], [10, 1, 0], [7, 0, 1]] {
        bits.set(cell);
    }
    let voxels = at_odd_place(bits);
    let (bytes, sidecar) = saved(&voxels, npy(), Dtype::Bit);
    assert_eq!(
        header(&bytes),
        "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2, 2), }"
    );
    // Rows (0, 0), (1, 0), (0, 1) and (1, 1).
    assert_eq!(data(&bytes), [0b1001, 1, 0, 0b100, 0b1000_0000, 0, 0, 0]);
    let text = sidecar.clone().unwrap();
    for entry in ["\"dtype\": \"bit\"", "\"bit_order\": \"little\""] {
        assert!(text.contains(entry), "{text}");
    }
    assert_eq!(read(&bytes, npy(), sidecar.as_deref()).unwrap(), voxels);
    // Without its sidecar it is an array of numbers.
    let plain = read(&bytes, npy(), None).unwrap();
    assert_eq!(
        (plain.dims(), plain.labels().unwrap().get([0, 0, 0])),
        ([2, 2, 2], 0b1001)
    );
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
        for format in FORMATS
            .iter()
            .filter(|format| ["npy", "npz"].contains(&format.name))
        {
            for choices in [&[][..], &[Choice::Zyx]] {
                let options = SaveOptions {
                    choices,
                    ..as_dtype(Dtype::Bit)
                };
                let path = folder.path().join(format!("{seen}.{}", format.name));
                format::save(&voxels, &path, format, &options).unwrap();
                assert_eq!(
                    Voxels::open(&path).unwrap(),
                    voxels,
                    "{} {dims:?}",
                    format.name
                );
                let described = format::describe(&path).unwrap();
                assert_eq!(
                    (described.dtype, described.metadata.dims),
                    (Some(Dtype::Bit), Some(dims))
                );
                let whole = std::fs::read(&path).unwrap();
                for height in [1, 7] {
                    let mut slabs = vec![];
                    let mut source = Split::new(&voxels, height);
                    format::write_source_to(&mut source, &mut slabs, format, &options).unwrap();
                    assert!(slabs == whole, "{} {dims:?} {height}", format.name);
                }
                seen += 1;
            }
        }
    }
    assert!(seen >= 10, "{seen}");
}

#[test]
fn packed_bits_that_do_not_fit_their_dims_are_errors() {
    let voxels = at_odd_place(scattered([11, 5, 4]));
    let (bytes, sidecar) = saved(&voxels, npy(), Dtype::Bit);
    // A bit beyond the row contradicts these cells, so the array is read as numbers.
    let mut beyond = bytes.clone();
    let at = beyond.len() - 1;
    beyond[at] |= 0x80;
    assert_eq!(
        read(&beyond, npy(), sidecar.as_deref()).unwrap().dims(),
        [2, 5, 4]
    );
    for (from, to) in [
        ("\"little\"", "\"big\""),
        ("11,", "21,"),
        ("\"bit\"", "\"u8\""),
    ] {
        let sidecar = sidecar.as_deref().unwrap().replace(from, to);
        assert_eq!(
            read(&bytes, npy(), Some(&sidecar)).unwrap().dims(),
            [2, 5, 4],
            "{from}"
        );
    }
}

#[cfg(feature = "npz")]
#[test]
fn archives_of_packed_bits_are_small_and_state_their_dims() {
    use super::sparse::archive;
    let npz = format::by_name("npz").unwrap();
    let voxels = at_odd_place(scattered([300, 200, 20]));
    let (packed, _) = saved(&voxels, npz, Dtype::Bit);
    let (plain, _) = saved(&voxels, npz, Dtype::Bool);
    assert!(
        packed.len() < plain.len(),
        "{} {}",
        packed.len(),
        plain.len()
    );
    let text = |text: &str| {
        text.chars()
            .flat_map(|c| u32::from(c).to_le_bytes())
            .collect::<Vec<_>>()
    };
    let sizes = |dims: [i64; 3]| dims.map(i64::to_le_bytes).concat();
    for (order, dims, code) in [
        ("little", [9, 1, 1], Ok(9)),
        ("little", [16, 1, 1], Ok(16)),
        ("bigger", [16, 1, 1], Err("V004")),
        ("little", [17, 1, 1], Err("V005")),
        ("little", [8, 2, 1], Err("V005")),
        ("little", [-8, 1, 1], Err("V004")),
    ] {
        let bytes = archive(&[
            ("voxels", "|u1", "(2, 1, 1)", vec![0b101, 1]),
            ("bit_order", "<U6", "()", text(order)),
            ("shape", "<i8", "(3,)", sizes(dims)),
        ]);
        let back = read(&bytes, npz, None);
        let found = back
            .as_ref()
            .map(|voxels| voxels.dims()[0])
            .map_err(|error| error.code().name());
        assert_eq!(found, code, "{order} {dims:?}");
        assert!(back.is_err() || back.unwrap().count() == 3);
    }
}

fn raw() -> &'static Format {
    format::by_name("raw").unwrap()
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
    let folder = tempfile::tempdir().unwrap();
    let path = folder
        .path()
        .join("grid")
        .with_extension(format.extensions[0]);
    format::save(voxels, &path, format, options).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let cells = if format.name == "npy" {
        data(&bytes).to_vec()
    } else {
        bytes
    };
    let sidecar = std::fs::read_to_string(format!("{}.json", path.display())).unwrap();
    (Voxels::open(&path).unwrap(), cells, sidecar)
}

#[test]
fn cells_have_the_numbers_that_were_chosen() {
    let voxels = at_odd_place(BitGrid::from_text("#..\n.#.").unwrap());
    for format in [raw(), npy()] {
        for (dtype, values, bytes, text) in [
            (Dtype::I8, &[][..], [1, 0, 0, 0, 1, 0], None),
            (
                Dtype::I8,
                &[-1, 1],
                [1, 255, 255, 255, 1, 255],
                Some("-1,1"),
            ),
            (
                Dtype::I8,
                &[127, -128],
                [128, 127, 127, 127, 128, 127],
                Some("127,-128"),
            ),
            // Bits use the first two numbers.
            (
                Dtype::I8,
                &[-1, 0, 1],
                [0, 255, 255, 255, 0, 255],
                Some("-1,0,1"),
            ),
            (Dtype::U8, &[0, 255], [255, 0, 0, 0, 255, 0], Some("0,255")),
            (
                Dtype::U8,
                &[255, 0],
                [0, 255, 255, 255, 0, 255],
                Some("255,0"),
            ),
        ] {
            let (back, cells, sidecar) = back_and_forth(&voxels, format, &numbered(dtype, values));
            // Text starts with the top row.
            let [upper, lower] = [&bytes[..3], &bytes[3..]];
            assert_eq!(cells, [lower, upper].concat(), "{} {values:?}", format.name);
            assert_eq!(back, voxels, "{} {values:?}", format.name);
            assert_eq!(back.digest(), voxels.digest());
            let said = text.map(|text| format!("\"values\": \"{text}\""));
            assert_eq!(
                said.as_ref().is_some_and(|said| sidecar.contains(said)),
                text.is_some(),
                "{sidecar}"
            );
        }
    }
    assert!(
        header(&saved(&voxels, npy(), Dtype::I8).0)
            .starts_with("{'descr': '|i1', 'fortran_order': True")
    );
}

/// Returns labels with the values 1, 2 and 5. Digests cover the values.
fn three_labels() -> Voxels {
    let legend =
        Legend::new([1, 2, 5].map(|value| Label::new(value, format!("part {value}")))).unwrap();
    let mut labels = Labels::new([4, 1, 1], legend).unwrap();
    [1, 2, 5]
        .into_iter()
        .enumerate()
        .for_each(|(i, value)| labels.set([i, 0, 0], value));
    Voxels {
        cells: labels.into(),
        lattice: None,
        ..at_odd_place(f_grid())
    }
}

#[test]
fn labels_have_numbers_of_their_own_or_one() {
    let voxels = three_labels();
    for format in [raw(), npy()] {
        let (back, cells, _) =
            back_and_forth(&voxels, format, &numbered(Dtype::I8, &[-1, 0, 1, 2, 3, -7]));
        assert_eq!(
            (&back, cells),
            (&voxels, vec![0, 1, 249, 255]),
            "{}",
            format.name
        );
        let (back, cells, _) = back_and_forth(&voxels, format, &numbered(Dtype::I8, &[]));
        assert_eq!(
            (&back, cells),
            (&voxels, vec![1, 2, 5, 0]),
            "{}",
            format.name
        );
        // With two numbers, one stands for all labels, as with bits.
        for options in [numbered(Dtype::I8, &[-1, 1]), numbered(Dtype::U8, &[9, 8])] {
            let (back, ..) = back_and_forth(&voxels, format, &options);
            assert_eq!(
                back.cells,
                voxels.occupied().unwrap().clone().into(),
                "{}",
                format.name
            );
            assert_eq!(back.record, voxels.record);
        }
        let (back, ..) = back_and_forth(&voxels, format, &as_dtype(Dtype::Bit));
        assert_eq!(
            (back.cells, back.record),
            (
                voxels.occupied().unwrap().clone().into(),
                voxels.record.clone()
            )
        );
        let few = format::write_to(
            &voxels,
            &mut Vec::new(),
            format,
            &numbered(Dtype::I8, &[-1, 0, 1]),
        );
        assert_eq!(
            (few.as_ref().unwrap_err().kind(), few.unwrap_err().message()),
            (Kind::Usage, "no value stands for label 5")
        );
    }
    let legend = Legend::new([Label::new(128, "beyond")]).unwrap();
    let mut labels = Labels::new([2, 1, 1], legend.clone()).unwrap();
    labels.set([1, 0, 0], 128);
    let nameless = Voxels::new(labels.clone().with_legend(Legend::default()).unwrap());
    for beyond in [Voxels::new(labels), nameless] {
        let error =
            format::write_to(&beyond, &mut Vec::new(), raw(), &as_dtype(Dtype::I8)).unwrap_err();
        assert_eq!(error.message(), "no value stands for label 128");
    }
}

#[test]
fn ambiguous_numbers_and_numbers_that_do_not_fit_are_refused() {
    let voxels = at_odd_place(f_grid());
    for (name, dtype, values, says) in [
        (
            "raw",
            Dtype::I8,
            &[-1, -1][..],
            "the value -1 is there twice: cells could not be told apart",
        ),
        (
            "raw",
            Dtype::I8,
            &[-1, 0, 0],
            "the value 0 is there twice: cells could not be told apart",
        ),
        (
            "raw",
            Dtype::I8,
            &[0, 128],
            "the value 128 does not fit i8: -128 to 127",
        ),
        (
            "raw",
            Dtype::U8,
            &[-1, 1],
            "the value -1 does not fit u8: 0 to 255",
        ),
        (
            "raw",
            Dtype::I8,
            &[1],
            "values are at least two: that of empty cells, then those of occupied ones",
        ),
        (
            "raw",
            Dtype::Bit,
            &[-1, 1],
            "values are stored as i8 or u8, not as bit",
        ),
        (
            "npy",
            Dtype::Bool,
            &[0, 1],
            "values are stored as i8 or u8, not as bool",
        ),
        (
            "nrrd",
            Dtype::U8,
            &[0, 255],
            "the values of cells of nrrd cannot be chosen",
        ),
    ] {
        let format = format::by_name(name).unwrap();
        let options = numbered(dtype, values);
        let error = format::write_to(&voxels, &mut Vec::new(), format, &options).unwrap_err();
        assert_eq!((error.kind(), error.message()), (Kind::Usage, says));
        let early = format::check(
            CellKind::Bits,
            voxels.lattice.as_ref().unwrap(),
            format,
            &options,
        );
        assert_eq!(early, Err(error), "{values:?}");
    }
}

#[test]
fn broken_numbers_in_a_sidecar_and_bytes_of_none_are_errors() {
    let voxels = at_odd_place(f_grid());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grid.raw");
    format::save(&voxels, &path, raw(), &numbered(Dtype::I8, &[-1, 1])).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let sidecar = std::fs::read_to_string(folder.path().join("grid.raw.json")).unwrap();
    assert_eq!(read(&bytes, raw(), Some(&sidecar)).unwrap(), voxels);
    for (values, code) in [
        ("-1,x", "V007"),
        ("", "V007"),
        ("-1,-1", "V007"),
        ("-1,200", "V007"),
        ("0,1", "V003"),
        ("1,-1", "V007"),
    ] {
        let sidecar = sidecar.replace("\"-1,1\"", &format!("\"{values}\""));
        assert_eq!(
            read(&bytes, raw(), Some(&sidecar))
                .unwrap_err()
                .code()
                .name(),
            code,
            "{values}"
        );
    }
    let mut odd = bytes.clone();
    odd[3] = 7;
    let error = read(&odd, raw(), Some(&sidecar)).unwrap_err();
    assert_eq!(
        error.message(),
        "the byte 7 is none of the values that the sidecar says"
    );
}

/// Labels of a filled grid on the command line, and the rejected combinations.
#[cfg(feature = "cli")]
#[test]
fn solvers_get_outside_surface_and_interior() {
    use crate::support::place::Place;
    let place = Place::new();
    place
        .run("cube.stl -r 4 --filled --dtype i8 --values -1,0,1 -o a.raw")
        .expect(0);
    let cells = std::fs::read(place.path("a.raw")).unwrap();
    let count = |byte: u8| cells.iter().filter(|cell| **cell == byte).count();
    assert_eq!(
        (cells.len(), count(255), count(0), count(1)),
        (64, 0, 56, 8)
    );
    place
        .run("cube.stl -r 4 --pad 1 --filled --dtype i8 --values=-1,1 -o b.npy --sidecar")
        .expect(0);
    let cells = std::fs::read(place.path("b.npy")).unwrap();
    let count = |byte: u8| data(&cells).iter().filter(|cell| **cell == byte).count();
    assert_eq!((count(255), count(1)), (216 - 64, 64));
    let digest = |line: &str| place.run(line).expect(0).json()["digest"].clone();
    let whole = digest("cube.stl -r 4 --filled -o c.npz --json");
    assert_eq!(digest("info a.raw --json"), whole);
    place
        .run("convert a.raw d.raw --dtype i8 --values 5,-5,6")
        .expect(0);
    assert_eq!(digest("info d.raw --json"), whole);
    for line in [
        "cube.stl --values 0,1 -o a.vox",
        "cube.stl --values -1,1 -o a.raw",
        "cube.stl --values -1,1 -o a.npy",
        "cube.stl --dtype i8 --values 1,1 -o a.raw",
        "cube.stl --dtype i8 --values 1 -o a.raw",
        "cube.stl --dtype i8 --values 1,x -o a.raw",
    ] {
        let run = place.run(line).expect(2);
        assert!(
            run.err.starts_with("error: ") && run.err.contains("--values"),
            "{line}: {}",
            run.err
        );
    }
}
