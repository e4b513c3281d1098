//! Slices are the layers seen from above, with their size and their heights.

use std::collections::BTreeMap;
use std::io::Read;

use png::{BitDepth, ColorType, Unit};
use serde_json::Value;
use voxelize::grid::{CellSource, Cells, Field, InMemory, Label, Labels, Legend};
use voxelize::par;

use super::kinds::Split;
use super::*;

/// Files by name.
type Files = BTreeMap<String, Vec<u8>>;

/// Returns the files of a folder or of an archive.
fn files(source: &mut dyn CellSource, format: &str, dtype: Option<Dtype>) -> Files {
    files_on(source, format, dtype, None)
}

/// Returns the files of a folder or of an archive, with pictures of the size of the plate.
fn files_on(
    source: &mut dyn CellSource,
    format: &str,
    dtype: Option<Dtype>,
    plate: Option<[usize; 2]>,
) -> Files {
    let folder = tempfile::tempdir().unwrap();
    let format = named(format);
    let path = path_of(&folder, format);
    let options = SaveOptions {
        dtype,
        plate,
        ..SaveOptions::default()
    };
    format::save_source(source, &path, format, &options).unwrap();
    let mut found = BTreeMap::new();
    if format.is_folder() {
        for entry in fs::read_dir(&path).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            found.insert(name, fs::read(entry.path()).unwrap());
        }
        return found;
    }
    let mut archive = zip::ZipArchive::new(fs::File::open(&path).unwrap()).unwrap();
    for n in 0..archive.len() {
        let mut member = archive.by_index(n).unwrap();
        assert_eq!(member.compression(), zip::CompressionMethod::Stored);
        let mut bytes = vec![];
        member.read_to_end(&mut bytes).unwrap();
        found.insert(member.name().unwrap().to_string(), bytes);
    }
    found
}

/// Returns the pixels of a picture, rows from the top, one byte each, and its header.
fn picture(bytes: &[u8]) -> (Vec<Vec<u8>>, png::Info<'static>) {
    let mut reader = png::Decoder::new(Cursor::new(bytes)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut pixels).unwrap();
    let info = reader.info().clone();
    assert_eq!(info.color_type, ColorType::Grayscale);
    let mut rows = vec![];
    for row in pixels[..frame.buffer_size()].chunks(frame.line_size) {
        let bit = |x: usize| row[x / 8] >> (7 - x % 8) & 1;
        rows.push(match info.bit_depth {
            BitDepth::One => (0..info.width as usize).map(bit).collect(),
            _ => row.to_vec(),
        });
    }
    (rows, info)
}

fn in_memory(voxels: &Voxels, format: &str, dtype: Option<Dtype>) -> Files {
    files(&mut InMemory::new(voxels), format, dtype)
}

fn description(files: &Files) -> Value {
    serde_json::from_slice(&files["slices.json"]).unwrap()
}

#[test]
fn layers_are_seen_from_above() {
    let voxels = at_odd_place(f_grid());
    for format in ["slices", "slices.zip"] {
        for (dtype, white, bits) in [
            (None, 1, BitDepth::One),
            (Some(Dtype::U8), 255, BitDepth::Eight),
        ] {
            let found = in_memory(&voxels, format, dtype);
            let names: Vec<_> = found.keys().collect();
            assert_eq!(names, ["0000.png", "0001.png", "slices.json"]);
            for k in 0..2 {
                let (rows, info) = picture(&found[names[k]]);
                assert_eq!((info.width, info.height, info.bit_depth), (3, 4, bits));
                let mut text = String::new();
                for row in rows {
                    let shown = |pixel: u8| if pixel == white { '#' } else { '.' };
                    text.extend(row.into_iter().map(shown));
                    text.push('\n');
                }
                // The highest y first, like a grid as text.
                assert_eq!(text, voxels.occupied().unwrap().layer_text(k), "{format}");
            }
        }
    }
}

#[test]
fn sizes_and_heights_are_exact() {
    let mut voxels = at_odd_place(f_grid());
    for (unit, density) in [
        ("um", 10_000_000),
        ("mm", 10_000),
        ("cm", 1000),
        ("m", 10),
        ("in", 394),
        ("ft", 33),
    ] {
        voxels.record.transform = vec![("unit", unit.into())];
        let found = in_memory(&voxels, "slices.zip", None);
        let pixels = picture(&found["0001.png"]).1.pixel_dims.unwrap();
        assert_eq!([pixels.xppu, pixels.yppu], [density; 2], "{unit}");
        assert_eq!(pixels.unit, Unit::Meter);
        assert_eq!(description(&found)["unit"], unit);
    }
    voxels.record.transform = vec![];
    let unknown = in_memory(&voxels, "slices", None);
    assert!(picture(&unknown["0000.png"]).1.pixel_dims.is_none());
    let described = description(&unknown);
    assert_eq!(described["layers"].as_array().unwrap().len(), 2);
    for (pointer, value) in [
        ("/unit", "null"),
        ("/dims", "[3,4,2]"),
        ("/first_row", "\"highest y\""),
        ("/first_picture", "\"lowest z\""),
        ("/pixel_size", "[0.1,0.1]"),
        ("/pixel_size_exact", r#"["1/10","1/10"]"#),
        ("/layer_height", "0.1"),
        ("/picture", r#"{"width":3,"height":4,"bits":1}"#),
        ("/layers/1/file", "\"0001.png\""),
        ("/layers/1/z", "[5.1,5.2]"),
        ("/layers/1/z_exact", r#"["51/10","26/5"]"#),
        ("/layers/1/centre", "5.15"),
        ("/layers/1/centre_exact", "\"103/20\""),
        ("/voxelize/rule", "\"surface\""),
        ("/voxelize/dtype", "\"bit\""),
    ] {
        let value: Value = serde_json::from_str(value).unwrap();
        assert_eq!(described.pointer(pointer), Some(&value), "{pointer}");
    }
}

/// Rows that end within a byte and within a word, and more layers than are drawn at a time.
const DIMS: [usize; 3] = [131, 5, 70];

#[test]
fn labels_are_greys_and_every_cell_is_there() {
    let values = [7, 200, 255];
    let legend = Legend::new(values.map(|value| Label::new(value, format!("label {value}"))));
    let mut labels = Labels::new(DIMS, legend.unwrap()).unwrap();
    let bits = scattered(DIMS);
    for (n, cell) in bits.iter().enumerate() {
        labels.set(cell, values[n % 3]);
    }
    for (cells, dtype) in [
        (Cells::from(bits), None),
        (labels.clone().into(), None),
        (labels.into(), Some(Dtype::Bit)),
    ] {
        let voxels = Voxels::new(cells);
        let found = in_memory(&voxels, "slices", dtype);
        assert_eq!(found.len(), 71);
        let mut pixels = vec![];
        for k in 0..DIMS[2] {
            let (rows, _) = picture(&found[&format!("{k:04}.png")]);
            pixels.extend(rows.into_iter().rev().flatten());
        }
        let value = |cell: [usize; 3]| match &voxels.cells {
            Cells::Labels(labels) if dtype.is_none() => labels.get(cell),
            _ => voxels.occupied().unwrap().get(cell).into(),
        };
        assert!(every_cell(DIMS).map(value).eq(pixels), "{dtype:?}");
        for height in [1, 7] {
            let slabs = files(&mut Split::new(&voxels, height), "slices", dtype);
            assert!(slabs == found, "{height} layers");
        }
        for threads in [1, 3] {
            let write = || in_memory(&voxels, "slices.zip", dtype);
            assert!(par::with_threads(threads, write).unwrap() == found);
        }
    }
}

#[test]
fn names_have_as_many_digits_as_layers_need() {
    let tall = Voxels::new(full([1, 1, 10_001]));
    let found = in_memory(&tall, "slices.zip", None);
    assert!(found.contains_key("10000.png") && found.contains_key("00000.png"));
    assert!(!found.contains_key("0000.png"));
}

/// Returns the pixel of a cell by its definition.
fn pixel_of(voxels: &Voxels, dtype: Option<Dtype>, cell: [usize; 3]) -> u8 {
    match &voxels.cells {
        Cells::Labels(labels) if dtype.is_none() => labels.get(cell),
        Cells::Field(field) => (f64::from(field.get(cell)) * 255.0 + 0.5).floor() as u8,
        _ => {
            let white = if dtype == Some(Dtype::U8) { 255 } else { 1 };
            white * u8::from(voxels.occupied().unwrap().get(cell))
        }
    }
}

#[test]
fn layers_are_in_the_middle_of_a_plate() {
    let dims = [67, 5, 3];
    let bits = scattered(dims);
    let mut labels = Labels::new(dims, Legend::default()).unwrap();
    for (n, cell) in bits.iter().enumerate() {
        labels.set(cell, (n % 255) as u8 + 1);
    }
    let mut field = Field::new(dims, 0.0).unwrap();
    for (n, value) in field.values_mut().iter_mut().enumerate() {
        // Halves of 255ths are among them.
        *value = (n % 511) as f32 / 510.0;
    }
    let mut shares = Voxels::new(field);
    shares.record.rule_name = Some("fraction".into());
    let mut seen = 0;
    for (voxels, dtype) in [
        (Voxels::new(bits.clone()), None),
        (Voxels::new(bits), Some(Dtype::U8)),
        (Voxels::new(labels), None),
        (shares.clone(), None),
        (shares, Some(Dtype::U8)),
    ] {
        for plate in (0..10).map(|n| [67 + n, 5 + n / 2]).chain([[200, 101]]) {
            let source = &mut InMemory::new(&voxels);
            let found = files_on(source, "slices.zip", dtype, Some(plate));
            let left = (plate[0] - dims[0]) / 2;
            let top = (plate[1] - dims[1]) / 2;
            let described = description(&found);
            assert_eq!(described["corner"], serde_json::json!([left, top]));
            assert_eq!(described["picture"]["width"], plate[0]);
            assert_eq!(described["picture"]["height"], plate[1]);
            for k in 0..dims[2] {
                let (rows, _) = picture(&found[&format!("{k:04}.png")]);
                assert_eq!((rows[0].len(), rows.len()), (plate[0], plate[1]));
                for (y, row) in rows.into_iter().enumerate() {
                    for (x, pixel) in row.into_iter().enumerate() {
                        let i = x.checked_sub(left).filter(|i| *i < dims[0]);
                        let j = y
                            .checked_sub(top)
                            .and_then(|n| (dims[1] - 1).checked_sub(n));
                        let wanted = match (i, j) {
                            (Some(i), Some(j)) => pixel_of(&voxels, dtype, [i, j, k]),
                            _ => 0,
                        };
                        assert_eq!(pixel, wanted, "{plate:?} {dtype:?}: {x}, {y}, layer {k}");
                        seen += 1;
                    }
                }
            }
        }
    }
    assert!(seen > 300_000, "{seen}");
}

#[test]
fn plates_and_fields_that_do_not_fit_are_usage_errors() {
    let bits = Voxels::new(full([4, 3, 2]));
    let mut distances = Voxels::new(Field::new([4, 3, 2], 0.0).unwrap());
    distances.record.rule_name = Some("distance".into());
    for (voxels, format, plate, dtype, text) in [
        (
            &bits,
            "slices",
            Some([3, 9]),
            None,
            "4 × 3 cells does not fit on a plate of 3 × 9 pixels",
        ),
        (&bits, "slices", Some([9, 2]), None, "does not fit"),
        (
            &bits,
            "slices",
            Some([0, 9]),
            None,
            "each side is 1 to 16384",
        ),
        (&bits, "npz", Some([9, 9]), None, "npz has no pictures"),
        (&distances, "slices", None, None, "stores shares of cells"),
        (
            &distances,
            "slices.zip",
            None,
            Some(Dtype::F32),
            "as 'u8', not 'f32'",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = path_of(&folder, named(format));
        let options = SaveOptions {
            dtype,
            plate,
            ..SaveOptions::default()
        };
        let error = format::save(voxels, &path, named(format), &options).unwrap_err();
        assert_eq!(
            (error.kind(), error.code()),
            (Kind::Usage, Code::Usage),
            "{text}"
        );
        assert!(error.message().contains(text), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{text}");
    }
}
