//! Files of voxels: every format and type as written by this tool, and by other programs.

use voxelize::compare::diff;
use voxelize::format::{self, Carries, FORMATS, Format, SaveOptions, Sidecar};
use voxelize::grid::record::FIELDS;
use voxelize::grid::{Label, Legend};
use voxelize::{BitGrid, Cells, Field, Labels, Lattice, Rational, Record, Snap, Voxels};

use super::Seeds;

const F: &str = "###\n#..\n##.\n#..\n\n...\n..#\n...\n...\n";

/// Returns the letter F, with and without a lattice, and an empty grid.
fn grids() -> [(&'static str, Voxels); 3] {
    let bits = BitGrid::from_text(F).expect("a grid");
    let tenth = [(); 3].map(|()| Rational::new(1, 10));
    let origin = [
        Rational::new(-1, 3),
        Rational::new(22, 7),
        Rational::from(5),
    ];
    let lattice = Lattice::new(bits.dims(), origin, tenth, [true, false, true]).expect("a lattice");
    let text = |text: &str| Some(text.to_string());
    let record = Record {
        tool: text("voxelize 0.1.0"),
        rule_name: text("surface"),
        fields: FIELDS.map(|name| (name, format!("some {name}"))).into(),
        drain: None,
        transform: vec![("up", "y".to_string()), ("unit", "mm".to_string())],
        snap: text("none"),
        mesh_volume: None,
        input: text("f.stl"),
    };
    let empty = BitGrid::new([65, 2, 1]).expect("a grid");
    [
        (
            "f",
            Voxels {
                cells: bits.clone().into(),
                lattice: Some(lattice.with_snap(Snap::None)),
                record,
            },
        ),
        ("plain", Voxels::new(bits)),
        ("empty", Voxels::new(empty)),
    ]
}

/// Returns labels of a legend with colours.
fn named() -> Labels {
    let colour = [0x12, 0x34, 0xff];
    let labels = (1..=6).map(|n| Label::new(n * 40, format!("label {n}")).with_colour(colour));
    let mut labels =
        Labels::new([3, 2, 2], Legend::new(labels).expect("a legend")).expect("a grid");
    (0..6).for_each(|n| labels.set([n % 3, n / 3, n % 2], 40 * (n as u8 + 1)));
    labels
}

/// Returns the labels of a difference.
fn changes() -> Labels {
    let grid = |text| BitGrid::from_text(text).expect("a grid");
    diff::labels(&grid("##.\n##."), &grid("##.\n#.#")).expect("a small grid")
}

fn field() -> Field {
    let values = vec![0.0, -0.0, f32::NAN, f32::INFINITY, 1.5, -2.25];
    Field::from_values([3, 2, 1], f32::INFINITY, values).expect("a small grid")
}

/// Returns labels and fields without a lattice.
fn bare() -> [(&'static str, Voxels); 3] {
    let cells: [(_, Cells); 3] = [
        ("labels", named().into()),
        ("parts", changes().into()),
        ("field", field().into()),
    ];
    cells.map(|(name, cells)| (name, Voxels::new(cells)))
}

/// Returns all grids by name.
pub fn all() -> Vec<(&'static str, Voxels)> {
    bare().into_iter().chain(grids()).collect()
}

/// Returns every readable single-file format.
fn readable() -> impl Iterator<Item = &'static Format> {
    FORMATS
        .iter()
        .filter(|format| format.is_readable() && !format.is_folder())
}

/// Returns every format, type and grid. A sidecar precedes its file.
pub fn files() -> Seeds {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let mut seeds = foreign();
    seeds.extend(super::folders::files());
    for (name, voxels) in bare() {
        for format in readable().filter(|format| format.holds(voxels.kind())) {
            let path = folder.path().join(format!("a.{}", format.extensions[0]));
            let options = SaveOptions {
                sidecar: Sidecar::Write,
                ..SaveOptions::default()
            };
            format::save(&voxels, &path, format, &options).expect("a small file");
            let file = std::fs::read(&path).expect("it was written");
            let sidecar =
                std::fs::read(format!("{}.json", path.display())).expect("it was written");
            if format.carries != Carries::InFile {
                seeds.push((
                    format!("{}-{name}-described", format.name),
                    [&sidecar[..], &[0], &file].concat(),
                ));
            }
            seeds.push((format!("{}-{name}", format.name), file));
        }
    }
    for (name, voxels) in grids() {
        for format in readable() {
            for &dtype in format.dtypes {
                let path = folder.path().join(format!("a.{}", format.extensions[0]));
                let options = SaveOptions {
                    dtype: Some(dtype),
                    sidecar: Sidecar::Write,
                    ..SaveOptions::default()
                };
                format::save(&voxels, &path, format, &options).expect("a small file");
                let file = std::fs::read(&path).expect("it was written");
                let sidecar =
                    std::fs::read(format!("{}.json", path.display())).expect("it was written");
                let seed = format!("{}-{}-{name}", format.name, dtype.name());
                if format.carries != Carries::InFile {
                    seeds.push((
                        format!("{seed}-described"),
                        [&sidecar[..], &[0], &file].concat(),
                    ));
                }
                seeds.push((seed, file));
            }
        }
    }
    seeds
}

/// Returns files in the form of other programs.
fn foreign() -> Seeds {
    let npy = |version: u8, dict: &str, cells: &[u8]| {
        let mut bytes = [b"\x93NUMPY", &[version, 0][..]].concat();
        let length = (dict.len() as u32).to_le_bytes();
        bytes.extend(&length[..if version > 1 { 4 } else { 2 }]);
        bytes.extend(dict.bytes());
        bytes.extend(cells);
        bytes
    };
    let dict = "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 4, 2), }\n";
    let cells: Vec<u8> = (0..24).map(|n| u8::from(n % 5 == 0)).collect();
    vec![
        ("npy-c-order".into(), npy(1, dict, &cells)),
        ("npy-version-2".into(), npy(2, dict, &cells)),
        (
            "npy-doubles".into(),
            npy(1, &dict.replace("|u1", "<f8"), &[0; 192]),
        ),
        (
            "npy-claims".into(),
            npy(1, &dict.replace("(3,", "(99999999999,"), &cells),
        ),
        ("vox-one-model".into(), vox(&[model()].concat())),
        (
            "vox-scene".into(),
            vox(&[model(), scene("1 2 3", "17")].concat()),
        ),
        (
            "vox-wide".into(),
            vox(&[model(), scene("1900 1900 900", "4")].concat()),
        ),
        (
            "vox-far".into(),
            vox(&[model(), scene("-2147483648 2147483647 0", "4")].concat()),
        ),
        // Half floats with another value elsewhere; all values, negative where inactive; an unpacked chunk.
        (
            "vdb-half".into(),
            vdb(
                "Tree_float_5_4_3_HalfFloat",
                2,
                &[0],
                &[2, 0, 0, 128, 63, 0, 60, 0, 64],
            ),
        ),
        (
            "vdb-bool".into(),
            vdb(
                "Tree_bool_5_4_3",
                2,
                &[0],
                &[vec![0; 12], vec![1; 64]].concat(),
            ),
        ),
        (
            "vdb-blosc".into(),
            vdb(
                "Tree_float_5_4_3",
                6,
                &[&[0][..], &[0; 8]].concat(),
                &blosc(),
            ),
        ),
    ]
}

/// Returns a `.vdb` of one leaf without offsets. Values of nodes and of the leaf are inserted unchanged.
fn vdb(kind: &str, compression: u32, no_values: &[u8], values: &[u8]) -> Vec<u8> {
    let text = |text: &str| [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat();
    let doubles = [
        [0.5_f64; 3],
        [1.0; 3],
        [1.0; 3],
        [1.0; 3],
        [1.0; 3],
        [0.5; 3],
    ];
    let map: Vec<u8> = doubles
        .as_flattened()
        .iter()
        .flat_map(|n| n.to_le_bytes())
        .collect();
    let background = vec![0; if kind.contains("bool") { 1 } else { 4 }];
    let node = |places: usize| [&[1][..], &vec![0; 2 * places / 8 - 1], no_values].concat();
    let mask = [&[1][..], &[0; 62], &[128]].concat();
    [
        [
            &b" BDV\0\0\0\0"[..],
            &numbers([224, 9, 1]),
            &[0; 37],
            &numbers([0, 1]),
        ]
        .concat(),
        [
            text("a"),
            text(kind),
            text(""),
            vec![0; 24],
            numbers([compression, 0]),
        ]
        .concat(),
        [
            text("UniformScaleTranslateMap"),
            map,
            numbers([1]),
            background,
            numbers([0, 1, 0, 0, 0]),
        ]
        .concat(),
        [node(32768), node(4096), mask.clone(), mask, values.to_vec()].concat(),
    ]
    .concat()
}

/// Returns the two values of a leaf as a chunk of Blosc.
fn blosc() -> Vec<u8> {
    [
        &[0][..],
        &24_i64.to_le_bytes(),
        &[2, 1, 0x22, 4],
        &numbers([8, 8, 24]),
        &[0, 0, 128, 63, 0, 0, 0, 64],
    ]
    .concat()
}

fn vox(chunks: &[u8]) -> Vec<u8> {
    [
        &b"VOX "[..],
        &150_u32.to_le_bytes(),
        b"MAIN",
        &[0; 4],
        &(chunks.len() as u32).to_le_bytes(),
        chunks,
    ]
    .concat()
}

fn chunk(id: &[u8; 4], content: &[u8]) -> Vec<u8> {
    [
        &id[..],
        &(content.len() as u32).to_le_bytes(),
        &[0; 4],
        content,
    ]
    .concat()
}

fn numbers<const N: usize>(values: [u32; N]) -> Vec<u8> {
    values.into_iter().flat_map(u32::to_le_bytes).collect()
}

fn model() -> Vec<u8> {
    let voxels = [numbers([3]), vec![0, 0, 0, 1, 2, 1, 0, 79, 1, 1, 3, 255]].concat();
    [chunk(b"SIZE", &numbers([3, 2, 4])), chunk(b"XYZI", &voxels)].concat()
}

/// Returns a scene with the model twice: unchanged, and translated and rotated.
fn scene(by: &str, turn: &str) -> Vec<u8> {
    let text = |text: &str| [numbers([text.len() as u32]), text.as_bytes().to_vec()].concat();
    let place = |id: u32, child: u32, frame: &[u8]| {
        chunk(
            b"nTRN",
            &[&numbers([id, 0, child, u32::MAX, 0, 1])[..], frame].concat(),
        )
    };
    let moved = [numbers([2]), text("_t"), text(by), text("_r"), text(turn)].concat();
    let shape = |id: u32| chunk(b"nSHP", &numbers([id, 0, 1, 0, 0]));
    let group = chunk(b"nGRP", &numbers([1, 0, 2, 2, 4]));
    [
        place(0, 1, &numbers([0])),
        group,
        place(2, 3, &numbers([0])),
        shape(3),
        place(4, 5, &moved),
        shape(5),
    ]
    .concat()
}
