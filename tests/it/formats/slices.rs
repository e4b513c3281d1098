//! Slices are the layers seen from above, with their size and their heights.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Read};

use png::{BitDepth, ColorType, Unit};
use serde_json::{Value, json};
use voxelize::grid::{CellSource, Cells, Label, Labels, Legend};
use voxelize::par;

use super::kinds::Split;
use super::*;

/// Returns the files of a folder or of an archive by name.
fn files(
    voxels: &mut dyn CellSource,
    format: &str,
    dtype: Option<Dtype>,
) -> BTreeMap<String, Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let format = format::by_name(format).unwrap();
    let path = folder.path().join(format!("a.{}", format.extensions[0]));
    format::save_source(
        voxels,
        &path,
        format,
        &SaveOptions {
            dtype,
            ..SaveOptions::default()
        },
    )
    .unwrap();
    if format.is_folder() {
        let entries = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap());
        return entries
            .map(|e| {
                (
                    e.file_name().into_string().unwrap(),
                    fs::read(e.path()).unwrap(),
                )
            })
            .collect();
    }
    let mut archive = zip::ZipArchive::new(fs::File::open(&path).unwrap()).unwrap();
    let mut found = BTreeMap::new();
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
    let rows = pixels[..frame.buffer_size()]
        .chunks(frame.line_size)
        .map(|row| match info.bit_depth {
            BitDepth::One => (0..info.width as usize)
                .map(|x| row[x / 8] >> (7 - x % 8) & 1)
                .collect(),
            _ => row.to_vec(),
        });
    (rows.collect(), info)
}

fn description(files: &BTreeMap<String, Vec<u8>>) -> Value {
    serde_json::from_slice(&files["slices.json"]).unwrap()
}

fn in_memory(voxels: &Voxels) -> voxelize::grid::InMemory<'_> {
    voxelize::grid::InMemory::new(voxels)
}

#[test]
fn layers_are_seen_from_above() {
    let voxels = at_odd_place(f_grid());
    for format in ["slices", "slices.zip"] {
        for (dtype, white, bits) in [
            (None, 1, BitDepth::One),
            (Some(Dtype::U8), 255, BitDepth::Eight),
        ] {
            let found = files(&mut in_memory(&voxels), format, dtype);
            assert_eq!(
                found.keys().collect::<Vec<_>>(),
                ["0000.png", "0001.png", "slices.json"]
            );
            for (k, name) in ["0000.png", "0001.png"].into_iter().enumerate() {
                let (rows, info) = picture(&found[name]);
                assert_eq!((info.width, info.height, info.bit_depth), (3, 4, bits));
                let text: Vec<String> = rows
                    .iter()
                    .map(|row| {
                        row.iter()
                            .map(|pixel| if *pixel == white { '#' } else { '.' })
                            .collect()
                    })
                    .collect();
                // The highest y first, like a grid as text.
                let expected = voxels.occupied().unwrap().layer_text(k);
                assert_eq!(text.join("\n") + "\n", expected, "{format}");
            }
        }
    }
}

#[test]
fn sizes_and_heights_are_exact() {
    let mut voxels = at_odd_place(f_grid());
    voxels.record.transform.retain(|(name, _)| *name != "unit");
    let unknown = files(&mut in_memory(&voxels), "slices", None);
    assert!(picture(&unknown["0000.png"]).1.pixel_dims.is_none());
    assert_eq!(description(&unknown)["unit"], Value::Null);
    let mut seen = 0;
    for (unit, density) in [
        ("um", 10_000_000),
        ("mm", 10_000),
        ("cm", 1000),
        ("m", 10),
        ("in", 394),
        ("ft", 33),
    ] {
        voxels.record.transform.push(("unit", unit.into()));
        let found = files(&mut in_memory(&voxels), "slices.zip", None);
        let pixels = picture(&found["0001.png"]).1.pixel_dims.unwrap();
        assert_eq!(
            (pixels.xppu, pixels.yppu, pixels.unit),
            (density, density, Unit::Meter),
            "{unit}"
        );
        assert_eq!(description(&found)["unit"], unit);
        voxels.record.transform.pop();
        seen += 1;
    }
    assert_eq!(seen, 6);
    let described = description(&unknown);
    for (key, value) in [
        ("dims", json!([3, 4, 2])),
        ("first_row", json!("highest y")),
        ("first_picture", json!("lowest z")),
        ("pixel_size", json!([0.1, 0.1])),
        ("pixel_size_exact", json!(["1/10", "1/10"])),
        ("layer_height", json!(0.1)),
        ("picture", json!({"width": 3, "height": 4, "bits": 1})),
    ] {
        assert_eq!(described[key], value, "{key}");
    }
    let layer = &described["layers"][1];
    assert_eq!(
        (&layer["file"], &layer["z"], &layer["centre"]),
        (&json!("0001.png"), &json!([5.1, 5.2]), &json!(5.15))
    );
    assert_eq!(
        (&layer["z_exact"], &layer["centre_exact"]),
        (&json!(["51/10", "26/5"]), &json!("103/20"))
    );
    assert_eq!(
        (
            &described["voxelize"]["rule"],
            &described["voxelize"]["dtype"]
        ),
        (&json!("surface"), &json!("bit"))
    );
    assert_eq!(described["layers"].as_array().unwrap().len(), 2);
}

/// Rows that end within a byte and within a word, and more layers than are drawn at a time.
const DIMS: [usize; 3] = [131, 5, 70];

#[test]
fn labels_are_greys_and_every_cell_is_there() {
    let legend =
        Legend::new([7, 200, 255].map(|value| Label::new(value, format!("label {value}"))))
            .unwrap();
    let mut labels = Labels::new(DIMS, legend).unwrap();
    let bits = scattered(DIMS);
    bits.iter()
        .enumerate()
        .for_each(|(n, cell)| labels.set(cell, [7, 200, 255][n % 3]));
    let mut compared = 0;
    for (cells, dtype) in [
        (Cells::from(bits), None),
        (labels.clone().into(), None),
        (labels.into(), Some(Dtype::Bit)),
    ] {
        let voxels = Voxels::new(cells);
        let found = files(&mut in_memory(&voxels), "slices", dtype);
        assert_eq!(found.len(), 71);
        for k in 0..DIMS[2] {
            let (rows, _) = picture(&found[&format!("{k:04}.png")]);
            for (j, row) in rows.iter().rev().enumerate() {
                for (i, pixel) in row.iter().enumerate() {
                    let cell = [i, j, k];
                    let expected = match &voxels.cells {
                        Cells::Labels(labels) if dtype.is_none() => labels.get(cell),
                        _ => u8::from(voxels.occupied().unwrap().get(cell)),
                    };
                    assert_eq!(*pixel, expected, "{cell:?}");
                    compared += 1;
                }
            }
        }
        for height in [1, 7] {
            let slabs = files(&mut Split::new(&voxels, height), "slices", dtype);
            assert!(slabs == found, "{height} layers");
        }
        let with = |threads| {
            par::with_threads(threads, || {
                files(&mut in_memory(&voxels), "slices.zip", dtype)
            })
            .unwrap()
        };
        assert!(with(1) == found && with(3) == found);
    }
    assert_eq!(compared, 3 * 131 * 5 * 70);
}

#[test]
fn names_have_as_many_digits_as_layers_need() {
    let tall = Voxels::new(full([1, 1, 10_001]));
    let found = files(&mut in_memory(&tall), "slices.zip", None);
    assert!(
        found.contains_key("10000.png")
            && found.contains_key("00000.png")
            && !found.contains_key("0000.png")
    );
}
