//! Folders of Zarr match the specifications at every level, and broken folders are rejected.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;
use voxelize::format::{Choice, Written};
use voxelize::grid::{Cells, Field, Label, Labels, Legend};
use voxelize::{Kind, par};

use super::kinds::{Split, grids};
use super::*;

/// Cells along each side of a chunk.
const CHUNK: usize = 64;

fn zarr() -> &'static Format {
    format::by_name("zarr").unwrap()
}

fn save(voxels: &Voxels, path: &Path, options: &SaveOptions) -> Vec<Written> {
    format::save(voxels, path, zarr(), options).unwrap()
}

fn with(choices: &'static [Choice]) -> SaveOptions<'static> {
    SaveOptions {
        choices,
        ..SaveOptions::default()
    }
}

/// Returns the files below `folder` by name.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path
                    .strip_prefix(folder)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_string();
                found.insert(name, fs::read(path).unwrap());
            }
        }
    }
    found
}

fn node(folder: &Path) -> Value {
    serde_json::from_slice(&fs::read(folder.join("zarr.json")).unwrap()).unwrap()
}

/// Computes the checksum by its definition, one bit at a time.
fn crc32c(bytes: &[u8]) -> u32 {
    let step = |sum: u32| {
        if sum & 1 == 1 {
            sum >> 1 ^ 0x82f6_3b78
        } else {
            sum >> 1
        }
    };
    !bytes.iter().fold(!0, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| step(sum))
    })
}

#[test]
fn a_small_folder_is_known_byte_by_byte() {
    let all = tempfile::tempdir().unwrap();
    let path = all.path().join("f.zarr");
    let voxels = at_odd_place(f_grid());
    let written = save(&voxels, &path, &with(&[Choice::Uncompressed]));
    let found = files(&path);
    assert_eq!(
        found.keys().collect::<Vec<_>>(),
        ["0/c/0/0/0", "0/zarr.json", "zarr.json"]
    );
    assert_eq!(
        written[0].bytes,
        found.values().map(|bytes| bytes.len() as u64).sum::<u64>()
    );
    // One chunk of 64 x 64 x 64 bytes, its index entry, and the checksum of the index.
    let (cells, index) = found["0/c/0/0/0"].split_at(CHUNK * CHUNK * CHUNK);
    for (n, byte) in cells.iter().enumerate() {
        let cell = [n % CHUNK, n / CHUNK % CHUNK, n / CHUNK / CHUNK];
        let is_inside = cell[0] < 3 && cell[1] < 4 && cell[2] < 2;
        assert_eq!(
            *byte,
            u8::from(is_inside && voxels.occupied().unwrap().get(cell)),
            "{cell:?}"
        );
    }
    let place = [0_u64.to_le_bytes(), 262_144_u64.to_le_bytes()].concat();
    assert_eq!(index, [&place[..], &crc32c(&place).to_le_bytes()].concat());
    let array = node(&path.join("0"));
    let bytes = json!({"name": "bytes", "configuration": {"endian": "little"}});
    assert_eq!(
        array,
        json!({
            "zarr_format": 3, "node_type": "array", "shape": [2, 4, 3], "data_type": "uint8",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [64, 64, 64]}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": 0,
            "codecs": [{"name": "sharding_indexed", "configuration": {
                "chunk_shape": [64, 64, 64], "codecs": [bytes], "index_codecs": [bytes, {"name": "crc32c"}],
                "index_location": "end"
            }}],
            "attributes": {}, "dimension_names": ["z", "y", "x"]
        })
    );
}

fn is_near(found: &Value, expected: [f64; 3]) -> bool {
    let found: Vec<f64> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|number| number.as_f64().unwrap())
        .collect();
    found
        .iter()
        .zip(expected)
        .all(|(found, expected)| (found - expected).abs() < 1e-12)
        && found.len() == 3
}

#[test]
fn the_group_has_the_image_of_ome_and_our_json() {
    let all = tempfile::tempdir().unwrap();
    let path = all.path().join("f.zarr");
    let mut voxels = at_odd_place(full([260, 1, 2]));
    voxels.record.transform.retain(|(name, _)| *name != "unit");
    voxels.record.transform.push(("unit", "mm".into()));
    save(&voxels, &path, &SaveOptions::default());
    let group = node(&path);
    let ome = &group["attributes"]["ome"];
    assert_eq!(
        (&group["zarr_format"], &group["node_type"], &ome["version"]),
        (&3.into(), &"group".into(), &"0.5".into())
    );
    let image = &ome["multiscales"][0];
    let axis = |name: &str| json!({"name": name, "type": "space", "unit": "millimeter"});
    assert_eq!(image["axes"], json!([axis("z"), axis("y"), axis("x")]));
    assert_eq!(
        (&image["name"], &image["type"]),
        (&"Würfel \"1\".stl".into(), &"any".into())
    );
    // Cells of 1/10 starting at (-1/3, 22/7, 5). The centre of the first cell is half a cell away.
    for (level, size) in [0.1, 0.2, 0.4].into_iter().enumerate() {
        let dataset = &image["datasets"][level];
        assert_eq!(dataset["path"], level.to_string());
        let [scale, translation] = [0, 1].map(|n| &dataset["coordinateTransformations"][n]);
        assert!(is_near(&scale["scale"], [size; 3]), "{dataset}");
        let half = size / 2.0;
        assert!(
            is_near(
                &translation["translation"],
                [5.0 + half, 22.0 / 7.0 + half, -1.0 / 3.0 + half]
            ),
            "{dataset}"
        );
    }
    assert_eq!(image["datasets"].as_array().unwrap().len(), 3);
    let own = &group["attributes"]["voxelize"];
    assert_eq!(
        (&own["origin"], &own["dtype"]),
        (&json!(["-1/3", "22/7", "5/1"]), &"u8".into())
    );
}

#[test]
fn labels_have_their_names_and_colours() {
    let all = tempfile::tempdir().unwrap();
    let path = all.path().join("l.zarr");
    let legend = Legend::new([
        Label::new(7, "bone").with_colour([1, 2, 3]),
        Label::new(9, "marrow"),
    ])
    .unwrap();
    let mut labels = Labels::new([3, 2, 2], legend).unwrap();
    labels.set([2, 1, 0], 9);
    save(&Voxels::new(labels.clone()), &path, &SaveOptions::default());
    let label = &node(&path)["attributes"]["ome"]["image-label"];
    assert_eq!(
        label["colors"][0],
        json!({"label-value": 7, "rgba": [1, 2, 3, 255]})
    );
    assert_eq!(
        label["properties"][1],
        json!({"label-value": 9, "name": "marrow"})
    );
    assert_eq!(Voxels::open(&path).unwrap().cells, labels.clone().into());
    // Stored as bool, labels become bits without a label image.
    save(&Voxels::new(labels.clone()), &path, &as_dtype(Dtype::Bool));
    assert_eq!(node(&path)["attributes"]["ome"].get("image-label"), None);
    assert_eq!(
        (
            &node(&path.join("0"))["data_type"],
            &node(&path.join("0"))["fill_value"]
        ),
        (&"bool".into(), &false.into())
    );
    assert_eq!(
        Voxels::open(&path).unwrap().cells,
        labels.into_occupied().into()
    );
}

#[test]
fn every_kind_comes_back_by_every_choice() {
    let all = tempfile::tempdir().unwrap();
    let path = all.path().join("a.zarr");
    let bits = [
        f_grid(),
        scattered([65, 2, 3]),
        scattered([300, 2, 257]),
        BitGrid::new([5, 4, 3]).unwrap(),
        full([64, 64, 64]),
    ];
    let bits = bits.into_iter().map(at_odd_place);
    let mut seen = 0;
    for voxels in bits.chain(grids()) {
        for dtype in if voxels.kind() == CellKind::Bits {
            zarr().dtypes
        } else {
            zarr().dtypes_of(voxels.kind())
        } {
            for choices in [&[][..], &[Choice::Uncompressed], &[Choice::NoPyramid]] {
                save(
                    &voxels,
                    &path,
                    &SaveOptions {
                        dtype: Some(*dtype),
                        choices,
                        ..SaveOptions::default()
                    },
                );
                let back = Voxels::open(&path).unwrap();
                assert_eq!(back, voxels, "{} {choices:?}", dtype.name());
                assert_eq!(back.digest(), voxels.digest());
                let said = format::describe(&path).unwrap();
                assert_eq!(
                    (said.metadata.dims, said.metadata.lattice),
                    (Some(voxels.dims()), back.lattice)
                );
                assert_eq!((said.dtype, said.bytes > 0), (Some(*dtype), true));
                assert!(voxelize::tool::made_by_this_tool(&path));
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 3 * (5 * 2 + 13));
    let bare = Voxels::new(f_grid());
    save(&bare, &path, &SaveOptions::default());
    assert_eq!(
        Voxels::open(&path).unwrap(),
        bare,
        "a grid without a lattice"
    );
}

const DIMS: [usize; 3] = [150, 67, 270];

/// Returns cells of every kind that fill several shards. Odd dims leave layers, rows and columns without a
/// partner.
fn tall() -> [Voxels; 3] {
    let bits = scattered(DIMS);
    let legend =
        Legend::new([3, 4, 250].map(|value| Label::new(value, format!("label {value}")))).unwrap();
    let mut labels = Labels::new(DIMS, legend).unwrap();
    let mut field = Field::new(DIMS, f32::INFINITY).unwrap();
    for (n, cell) in bits.iter().enumerate() {
        labels.set(
            cell,
            [3, 250, 4][(cell[0] / 3 + cell[1] / 2 + n / 1000) % 3],
        );
        field.set(cell, (n as f32).sin() * 1e3);
    }
    [bits.into(), labels.into(), field.into()].map(|cells: Cells| Voxels {
        cells,
        ..at_odd_place(BitGrid::new(DIMS).unwrap())
    })
}

/// Returns the value of a cell of any kind.
fn value(cells: &Cells, cell: [usize; 3]) -> f32 {
    match cells {
        Cells::Bits(bits) => f32::from(u8::from(bits.get(cell))),
        Cells::Labels(labels) => f32::from(labels.get(cell)),
        Cells::Field(field) => field.get(cell),
    }
}

/// Returns the cell that replaces up to eight cells, given x fastest.
fn reduced(cells: &Cells, eight: &[f32]) -> f32 {
    match cells {
        Cells::Bits(_) => eight.iter().copied().fold(0.0, f32::max),
        Cells::Labels(_) => {
            let count = |value: f32| eight.iter().filter(|other| **other == value).count();
            let occupied = eight.iter().copied().filter(|value| *value > 0.0);
            let best = occupied.clone().map(count).max().unwrap_or(0);
            occupied
                .filter(|value| count(*value) == best)
                .reduce(f32::min)
                .unwrap_or(0.0)
        }
        _ => {
            let finite: Vec<f64> = eight
                .iter()
                .filter(|value| value.is_finite())
                .map(|value| f64::from(*value))
                .collect();
            if finite.is_empty() {
                eight[0]
            } else {
                (finite.iter().sum::<f64>() / finite.len() as f64) as f32
            }
        }
    }
}

#[test]
fn each_level_is_made_of_the_one_before() {
    let all = tempfile::tempdir().unwrap();
    let mut compared = 0;
    for (n, voxels) in tall().iter().enumerate() {
        let path = all.path().join(format!("{n}.zarr"));
        save(voxels, &path, &SaveOptions::default());
        let mut before = voxels.cells.clone();
        for level in 1..=2 {
            // A single array without a description.
            let found = Voxels::open(path.join(level.to_string())).unwrap().cells;
            let [before_dims, dims] = [&before, &found].map(|cells| cells.as_ref().dims());
            assert_eq!(dims, before_dims.map(|n| n.div_ceil(2)));
            for at in (0..dims.iter().product())
                .map(|n| [n % dims[0], n / dims[0] % dims[1], n / dims[0] / dims[1]])
            {
                let eight =
                    (0..8).map(|m| [at[0] * 2 + m % 2, at[1] * 2 + m / 2 % 2, at[2] * 2 + m / 4]);
                let eight = eight.filter(|cell| (0..3).all(|axis| cell[axis] < before_dims[axis]));
                let eight: Vec<f32> = eight.map(|cell| value(&before, cell)).collect();
                assert_eq!(
                    value(&found, at),
                    reduced(&before, &eight),
                    "{n}, level {level}, {at:?}"
                );
                compared += 1;
            }
            before = found;
        }
        assert!(!path.join("3").exists());
    }
    assert_eq!(compared, 3 * (75 * 34 * 135 + 38 * 17 * 68));
}

#[test]
fn slabs_and_threads_change_no_byte() {
    let all = tempfile::tempdir().unwrap();
    let path = all.path().join("a.zarr");
    let mut compared = 0;
    for voxels in tall() {
        let options = SaveOptions {
            durability: Durability::Unsynced,
            ..SaveOptions::default()
        };
        save(&voxels, &path, &options);
        let whole = files(&path);
        assert!(
            whole.keys().filter(|name| name.contains("/c/")).count() == 5 + 3 + 2,
            "{:?}",
            whole.keys()
        );
        for threads in [1, 3] {
            par::with_threads(threads, || save(&voxels, &path, &options)).unwrap();
            assert!(files(&path) == whole, "{threads} threads");
            compared += 1;
        }
        for height in [64, 128, 192] {
            format::save_source(&mut Split::new(&voxels, height), &path, zarr(), &options).unwrap();
            assert!(files(&path) == whole, "{height} layers");
            compared += 1;
        }
    }
    assert_eq!(compared, 3 * 5);
    let [_, labels, _] = tall();
    let cut = format::save_source(
        &mut Split::new(&labels, 65),
        &path,
        zarr(),
        &SaveOptions::default(),
    );
    assert_eq!(cut.unwrap_err().kind(), Kind::Usage);
}

#[test]
fn chunks_of_the_fill_value_are_not_stored() {
    let all = tempfile::tempdir().unwrap();
    let path = all.path().join("a.zarr");
    let mut bits = BitGrid::new([200, 130, 300]).unwrap();
    bits.set([199, 129, 299]);
    save(&Voxels::new(bits), &path, &SaveOptions::default());
    let found = files(&path);
    let shards: Vec<_> = found
        .keys()
        .filter(|name| name.starts_with("0/c"))
        .collect();
    assert_eq!(shards, ["0/c/4/0/0"]);
    let shard = &found["0/c/4/0/0"];
    // Four chunks along x and three along y. Only the last is stored, at offset 0.
    let index = &shard[shard.len() - 4 - 16 * 12..shard.len() - 4];
    assert!(index[..16 * 11].iter().all(|byte| *byte == 0xff));
    assert_eq!(index[16 * 11..16 * 11 + 8], [0; 8]);
    let cells = shard.len() - 4 - 16 * 12;
    assert_eq!(index[16 * 11 + 8..], (cells as u64).to_le_bytes());
    assert_eq!(
        shard[..4],
        [0x1f, 0x8b, 8, 0],
        "a gzip stream without a name"
    );
    let empty = Voxels::new(Field::new([70, 3, 2], f32::NAN).unwrap());
    save(&empty, &path, &SaveOptions::default());
    assert_eq!(
        files(&path).keys().collect::<Vec<_>>(),
        ["0/zarr.json", "zarr.json"]
    );
    assert_eq!(node(&path.join("0"))["fill_value"], "NaN");
    assert_eq!(Voxels::open(&path).unwrap(), empty);
}

/// Folder of 130 x 70 x 100 cells that is modified and read.
struct Changed {
    all: TempDir,
    voxels: Voxels,
}

impl Changed {
    fn new() -> Self {
        Self {
            all: tempfile::tempdir().unwrap(),
            voxels: at_odd_place(scattered([130, 70, 100])),
        }
    }

    fn path(&self) -> PathBuf {
        self.all.path().join("a.zarr")
    }

    /// Reads the folder after modifying it by `change`.
    fn read(&self, change: impl FnOnce(&Path)) -> Result<Voxels> {
        let path = self.path();
        save(
            &self.voxels,
            &path,
            &SaveOptions {
                durability: Durability::Unsynced,
                ..SaveOptions::default()
            },
        );
        change(&path);
        Voxels::open(&path)
    }

    /// Returns the code of the error after replacing a value in a node.
    fn code(&self, name: &str, pointer: &str, value: Value) -> String {
        let error = self.read(|path| {
            let mut changed = node(&path.join(name));
            *changed
                .pointer_mut(pointer)
                .unwrap_or_else(|| panic!("no {pointer}")) = value.clone();
            fs::write(path.join(name).join("zarr.json"), changed.to_string()).unwrap();
        });
        let error = error.expect_err(&format!("{pointer} {value}"));
        assert!(
            matches!(error.kind(), Kind::Input | Kind::TooLarge),
            "{error}"
        );
        error.code().name().to_string()
    }
}

#[test]
fn nodes_that_lie_are_errors() {
    let changed = Changed::new();
    let codec = "/codecs/0/configuration";
    let mut seen = 0;
    for (name, pointer, value, code) in [
        ("", "/zarr_format", json!(2), "V004"),
        ("", "/node_type", json!("tree"), "V004"),
        ("", "/attributes/ome/multiscales", json!([]), "V004"),
        (
            "",
            "/attributes/ome/multiscales/0/datasets",
            json!([]),
            "V003",
        ),
        (
            "",
            "/attributes/ome/multiscales/0/datasets/0/path",
            json!("7"),
            "V010",
        ),
        (
            "",
            "/attributes/ome/multiscales/0/datasets/0/path",
            json!(""),
            "V004",
        ),
        (
            "",
            "/attributes/ome/multiscales/0/datasets/0/path",
            json!("../a.zarr/0"),
            "V004",
        ),
        (
            "",
            "/attributes/ome/multiscales/0/datasets/0/path",
            json!("/tmp"),
            "V004",
        ),
        (
            "",
            "/attributes/ome/multiscales/0/datasets/0/path",
            json!("0/zarr.json"),
            "V004",
        ),
        (
            "",
            "/attributes/ome/multiscales/0/datasets/0/coordinateTransformations/0/scale",
            json!([1, 0, 1]),
            "V004",
        ),
        (
            "",
            "/attributes/ome/multiscales/0/datasets/0/coordinateTransformations/0/scale",
            json!([1, 1]),
            "V004",
        ),
        (
            "",
            "/attributes/ome/multiscales/0/datasets/0/coordinateTransformations/0/type",
            json!("affine"),
            "V004",
        ),
        ("", "/attributes/voxelize/origin", json!("x"), "V007"),
        ("0", "/node_type", json!("group"), "V004"),
        ("0", "/shape", json!([100, 70]), "V004"),
        ("0", "/shape", json!([100, 0, 130]), "V004"),
        (
            "0",
            "/shape",
            json!([10_000_000, 10_000_000, 10_000_000]),
            "too-large",
        ),
        ("0", "/shape", json!([u64::MAX, u64::MAX, u64::MAX]), "V007"),
        ("0", "/data_type", json!("int16"), "V004"),
        ("0", "/data_type", json!({"name": "uint8"}), "V004"),
        ("0", "/data_type", json!("float32"), "V003"),
        ("0", "/fill_value", json!(256), "V003"),
        ("0", "/fill_value", json!("NaN"), "V003"),
        ("0", "/chunk_grid/name", json!("rectilinear"), "V004"),
        (
            "0",
            "/chunk_grid/configuration/chunk_shape",
            json!([64, 128]),
            "V004",
        ),
        (
            "0",
            "/chunk_grid/configuration/chunk_shape",
            json!([64, 128, 100]),
            "V003",
        ),
        (
            "0",
            "/chunk_grid/configuration/chunk_shape",
            json!([64, 0, 192]),
            "V004",
        ),
        (
            "0",
            "/chunk_grid/configuration/chunk_shape",
            json!([64, 128, 64_u64 << 50]),
            "V002",
        ),
        ("0", "/chunk_key_encoding/name", json!("v4"), "V004"),
        ("0", "/codecs", json!([]), "V003"),
        ("0", "/codecs", json!([{"name": "zstd"}]), "V004"),
        (
            "0",
            "/codecs",
            json!([{"name": "bytes"}, {"name": "zstd"}]),
            "V004",
        ),
        (
            "0",
            "/codecs",
            json!([{"name": "bytes"}, {"name": "gzip"}, {"name": "gzip"}]),
            "V004",
        ),
        (
            "0",
            &format!("{codec}/codecs/0/name"),
            json!("transpose"),
            "V004",
        ),
        (
            "0",
            &format!("{codec}/codecs"),
            json!([{"name": "bytes"}]),
            "V005",
        ),
        (
            "0",
            &format!("{codec}/codecs"),
            json!([{"name": "bytes"}, {"name": "crc32c"}]),
            "V003",
        ),
        (
            "0",
            &format!("{codec}/chunk_shape"),
            json!([64, 64, 32]),
            "V003",
        ),
        (
            "0",
            &format!("{codec}/chunk_shape"),
            json!([64, 64, 63]),
            "V003",
        ),
        (
            "0",
            &format!("{codec}/index_codecs"),
            json!([{"name": "bytes"}]),
            "V002",
        ),
        (
            "0",
            &format!("{codec}/index_codecs"),
            json!([{"name": "bytes"}, {"name": "gzip"}]),
            "V004",
        ),
        (
            "0",
            &format!("{codec}/index_location"),
            json!("start"),
            "V003",
        ),
        (
            "0",
            &format!("{codec}/index_location"),
            json!("middle"),
            "V003",
        ),
    ] {
        assert_eq!(
            changed.code(name, pointer, value.clone()),
            code,
            "{name} {pointer} {value}"
        );
        seen += 1;
    }
    assert!(seen > 40, "{seen}");
    for text in ["", "[]", "{", "{\"zarr_format\": 3}", "\u{0}"] {
        let error = changed
            .read(|path| fs::write(path.join("0/zarr.json"), text).unwrap())
            .unwrap_err();
        assert!(
            ["V003", "V004"].contains(&error.code().name()),
            "{text}: {error}"
        );
    }
    let long = vec![b' '; 2 << 20];
    let error = changed
        .read(|path| fs::write(path.join("zarr.json"), long).unwrap())
        .unwrap_err();
    assert_eq!(error.code().name(), "V003");
}

#[test]
fn shards_that_are_cut_or_changed_are_errors() {
    let changed = Changed::new();
    let shard = |path: &Path| path.join("0/c/1/0/0");
    changed.read(|_| ()).unwrap();
    let bytes = fs::read(shard(&changed.path())).unwrap();
    let mut seen = 0;
    let lengths = (0..bytes.len())
        .step_by(bytes.len() / 50)
        .chain(bytes.len() - 100..bytes.len());
    for length in lengths {
        let error = changed
            .read(|path| fs::write(shard(path), &bytes[..length]).unwrap())
            .unwrap_err();
        assert!(
            ["V002", "V003"].contains(&error.code().name()),
            "{length}: {error}"
        );
        seen += 1;
    }
    // Damage in the index and its checksum, and in the streams of cells.
    for at in (bytes.len() - 100..bytes.len()).chain((0..bytes.len() - 100).step_by(997)) {
        let mut other = bytes.clone();
        other[at] ^= 0x10;
        let found = changed.read(|path| fs::write(shard(path), &other).unwrap());
        // Some bytes of the header of a gzip stream have no effect.
        assert!(found.is_err() || found.unwrap() == changed.voxels, "{at}");
        seen += 1;
    }
    assert!(seen > 200);
    // Two cells of 130 x 70: the chunks of a shard are 3 x 2.
    let with_index = |places: &[[u64; 2]; 6]| {
        let cells = &bytes[..bytes.len() - 4 - 16 * 6];
        let index: Vec<u8> = places
            .iter()
            .flatten()
            .flat_map(|number| number.to_le_bytes())
            .collect();
        [cells, &index, &crc32c(&index).to_le_bytes()].concat()
    };
    let none = [u64::MAX; 2];
    for (place, code) in [
        ([0, u64::MAX], "V002"),
        ([u64::MAX, 1], "V002"),
        ([u64::MAX - 5, 10], "V002"),
        ([0, bytes.len() as u64], "V005"),
        ([0, bytes.len() as u64 + 1], "V002"),
        ([0, 0], "V003"),
        ([3, 40], "V003"),
    ] {
        let mut places = [none; 6];
        places[2] = place;
        let found = changed.read(|path| fs::write(shard(path), with_index(&places)).unwrap());
        let error = found.expect_err(&format!("{place:?}"));
        let is_right =
            error.code().name() == code || code == "V005" && error.code().name() == "V003";
        assert!(is_right, "{place:?}: {error}");
    }
    // Missing chunk, and missing file.
    let upper = |voxels: Voxels| {
        voxels
            .occupied()
            .unwrap()
            .iter()
            .filter(|[.., k]| *k >= 64)
            .count()
    };
    assert_eq!(
        upper(
            changed
                .read(|path| fs::write(shard(path), with_index(&[none; 6])).unwrap())
                .unwrap()
        ),
        0
    );
    assert_eq!(
        upper(
            changed
                .read(|path| fs::remove_file(shard(path)).unwrap())
                .unwrap()
        ),
        0
    );
    assert!(upper(changed.read(|_| ()).unwrap()) > 1000);
}

#[test]
fn changed_bytes_never_panic() {
    let all = tempfile::tempdir().unwrap();
    let path = all.path().join("a.zarr");
    let options = SaveOptions {
        durability: Durability::Unsynced,
        ..SaveOptions::default()
    };
    save(&at_odd_place(f_grid()), &path, &options);
    let mut cases = 0;
    let mut errors = 0;
    for (name, bytes) in files(&path) {
        for (n, at) in (0..bytes.len()).enumerate() {
            let mut changed = bytes.clone();
            changed[at] ^= [1, 0x10, 0x80, 0xff][n % 4];
            fs::write(path.join(&name), changed).unwrap();
            if let Err(error) = Voxels::open(&path) {
                assert!(
                    matches!(error.kind(), Kind::Input | Kind::TooLarge),
                    "{name} {at}: {error}"
                );
                errors += 1;
            }
            cases += 1;
        }
        fs::write(path.join(&name), bytes).unwrap();
    }
    assert!(cases > 3000 && errors > cases / 4, "{errors} of {cases}");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(vec![], flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn bombs_and_ways_out_of_the_folder_are_errors() {
    let changed = Changed::new();
    let array = |chunk: Value| {
        json!({
            "zarr_format": 3, "node_type": "array", "shape": [4, 4, 4], "data_type": "uint8", "fill_value": 0,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
            "chunk_key_encoding": {"name": "default"},
            "codecs": [{"name": "bytes"}, {"name": "gzip", "configuration": {"level": 9}}]
        })
    };
    let folder = changed.all.path().join("b.zarr");
    fs::create_dir_all(folder.join("c/0/0")).unwrap();
    let chunk = folder.join("c/0/0/0");
    let read = |chunk_shape: Value| {
        fs::write(folder.join("zarr.json"), array(chunk_shape).to_string()).unwrap();
        Voxels::open(&folder)
    };
    for (cells, shape, code) in [
        (gzip(&[1; 65]), json!([4, 4, 4]), "V003"),
        (gzip(&[1; 63]), json!([4, 4, 4]), "V003"),
        (gzip(&vec![0; 100 << 20]), json!([4, 4, 4]), "V005"),
        (
            gzip(&vec![0; 100 << 20])[..1000].to_vec(),
            json!([100, 1024, 1024]),
            "V003",
        ),
        (vec![0; 10], json!([4, 4, 1_u64 << 40]), "too-large"),
        (vec![0; 10], json!([4, 4, 1 << 20]), "V003"),
    ] {
        fs::write(&chunk, &cells).unwrap();
        let error = read(shape.clone()).unwrap_err();
        assert_eq!(error.code().name(), code, "{shape}: {error}");
    }
    fs::write(&chunk, gzip(&[1; 64])).unwrap();
    assert_eq!(read(json!([4, 4, 4])).unwrap().count(), 64);
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        let elsewhere = changed.all.path().join("elsewhere");
        fs::rename(&chunk, &elsewhere).unwrap();
        symlink(&elsewhere, &chunk).unwrap();
        assert_eq!(read(json!([4, 4, 4])).unwrap_err().code().name(), "V004");
        fs::remove_file(&chunk).unwrap();
        fs::create_dir(&chunk).unwrap();
        assert_eq!(read(json!([4, 4, 4])).unwrap_err().code().name(), "V004");
        let link = |name: &'static str| {
            changed.read(|path| {
                let place = changed.all.path().join(format!("moved-{}", name.len()));
                let _ = fs::remove_dir_all(&place);
                fs::rename(path.join(name), &place).unwrap();
                symlink(&place, path.join(name)).unwrap();
            })
        };
        for name in ["0", "0/zarr.json", "0/c", "0/c/1", "0/c/1/0"] {
            let error = link(name).expect_err(name);
            assert_eq!(error.code().name(), "V004", "{name}: {error}");
            fs::remove_dir_all(changed.path()).unwrap();
        }
    }
}

/// Array of another program, assembled from its properties.
struct Foreign<'a> {
    data_type: &'a str,
    fill: Value,
    chunk: [usize; 3],
    codecs: Value,
    encoding: Value,
    names: Value,
}

const SHAPE: [usize; 3] = [5, 7, 9];

impl Foreign<'_> {
    fn node(&self) -> Value {
        json!({
            "zarr_format": 3, "node_type": "array", "shape": SHAPE, "data_type": self.data_type,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": self.chunk}},
            "chunk_key_encoding": self.encoding, "fill_value": self.fill, "codecs": self.codecs,
            "dimension_names": self.names, "attributes": {"a": 1}, "storage_transformers": []
        })
    }

    /// Writes each chunk except the chunks at the highest end of the first axis. `cell` takes places along the axes
    /// of the array.
    fn write(
        &self,
        folder: &Path,
        cell: impl Fn([usize; 3]) -> Vec<u8>,
        encode: impl Fn(Vec<u8>) -> Vec<u8>,
    ) {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join("zarr.json"), self.node().to_string()).unwrap();
        let counts: [usize; 3] = std::array::from_fn(|axis| SHAPE[axis].div_ceil(self.chunk[axis]));
        let all = (0..counts[0].max(2) - 1)
            .flat_map(|a| (0..counts[1]).flat_map(move |b| (0..counts[2]).map(move |c| [a, b, c])));
        for place in all {
            let mut bytes = vec![];
            for n in 0..self.chunk.iter().product() {
                let within = [
                    n / self.chunk[2] / self.chunk[1],
                    n / self.chunk[2] % self.chunk[1],
                    n % self.chunk[2],
                ];
                bytes.extend(cell(std::array::from_fn(|axis| {
                    place[axis] * self.chunk[axis] + within[axis]
                })));
            }
            let separator = self
                .encoding
                .pointer("/configuration/separator")
                .and_then(Value::as_str);
            let is_v2 = self.encoding["name"] == "v2";
            let separator = separator.unwrap_or(if is_v2 { "." } else { "/" });
            let numbers = place.map(|n| n.to_string()).join(separator);
            let name = if is_v2 {
                numbers
            } else {
                format!("c{separator}{numbers}")
            };
            fs::create_dir_all(folder.join(&name).parent().unwrap()).unwrap();
            fs::write(folder.join(name), encode(bytes)).unwrap();
        }
    }
}

fn occupied([a, b, c]: [usize; 3]) -> bool {
    (a * 63 + b * 9 + c) * 7 % 11 < 4
}

#[test]
fn arrays_of_others_are_read() {
    let all = tempfile::tempdir().unwrap();
    let bytes = json!({"name": "bytes"});
    let plain = json!([bytes]);
    let slash = json!({"name": "default", "configuration": {"separator": "/"}});
    let zyx = json!(["z", "y", "x"]);
    let checked = |bytes: Vec<u8>| [bytes.clone(), crc32c(&bytes).to_le_bytes().to_vec()].concat();
    let packed = |bytes: Vec<u8>| gzip(&bytes);
    let same = |bytes: Vec<u8>| bytes;
    let both = move |bytes: Vec<u8>| checked(gzip(&bytes));
    let codecs = [
        plain.clone(),
        json!([bytes, {"name": "gzip", "configuration": {"level": 5}}]),
        json!([{"name": "transpose", "configuration": {"order": [0, 1, 2]}}, "bytes", {"name": "gzip"}, {"name": "crc32c"}]),
    ];
    let encoders: [&dyn Fn(Vec<u8>) -> Vec<u8>; 3] = [&same, &packed, &both];
    let encodings = [
        slash.clone(),
        json!({"name": "default", "configuration": {"separator": "."}}),
        json!({"name": "v2"}),
        json!({"name": "v2", "configuration": {"separator": "/"}}),
    ];
    let mut seen = 0;
    for chunk in [[5, 7, 9], [2, 3, 4], [1, 7, 16], [1, 1, 1]] {
        for (codecs, encode) in codecs.iter().zip(encoders) {
            for encoding in &encodings {
                for (data_type, fill) in [
                    ("uint8", json!(0)),
                    ("bool", json!(false)),
                    ("uint8", json!(1)),
                    ("bool", json!(true)),
                ] {
                    let folder = all.path().join(format!("{seen}"));
                    let array = Foreign {
                        data_type,
                        fill: fill.clone(),
                        chunk,
                        codecs: codecs.clone(),
                        encoding: encoding.clone(),
                        names: zyx.clone(),
                    };
                    array.write(&folder, |cell| vec![u8::from(occupied(cell))], encode);
                    let found = Voxels::open(&folder).unwrap();
                    let bits = found.occupied().unwrap();
                    assert_eq!((bits.dims(), &found.lattice), ([9, 7, 5], &None));
                    let stored = if chunk[0] == 5 {
                        5
                    } else {
                        (5_usize.div_ceil(chunk[0]) - 1) * chunk[0]
                    };
                    let is_filled = fill == json!(1) || fill == json!(true);
                    for cell in (0..315).map(|n| [n / 63, n / 9 % 7, n % 9]) {
                        let expected = if cell[0] < stored {
                            occupied(cell)
                        } else {
                            is_filled
                        };
                        assert_eq!(
                            bits.get([cell[2], cell[1], cell[0]]),
                            expected,
                            "{} {cell:?}",
                            array.node()
                        );
                    }
                    seen += 1;
                }
            }
        }
    }
    assert_eq!(seen, 4 * 3 * 4 * 4);
    // Floats with their fill value as background, and axes in another order.
    for (fill, background) in [
        (json!(0), 0.0),
        (json!("-Infinity"), f32::NEG_INFINITY),
        (json!("0x3f800000"), 1.0),
        (json!(2.5), 2.5),
    ] {
        let folder = all.path().join(format!("floats-{background}"));
        let array = Foreign {
            data_type: "float32",
            fill,
            chunk: [2, 4, 4],
            codecs: plain.clone(),
            encoding: slash.clone(),
            names: json!(["x", "z", "y"]),
        };
        array.write(
            &folder,
            |[a, b, c]| ((a * 100 + b * 10 + c) as f32).to_le_bytes().to_vec(),
            same,
        );
        let found = Voxels::open(&folder).unwrap();
        let field = found.field().unwrap();
        assert_eq!((field.dims(), field.background()), ([5, 9, 7], background));
        assert_eq!(
            (field.get([1, 2, 3]), field.get([4, 2, 3])),
            (132.0, background)
        );
    }
}

#[test]
fn an_image_of_another_program_is_placed_by_its_ome_metadata() {
    let all = tempfile::tempdir().unwrap();
    let group = all.path().join("image.zarr");
    let array = Foreign {
        data_type: "uint8",
        fill: json!(0),
        chunk: [5, 7, 9],
        codecs: json!([{"name": "bytes"}]),
        encoding: json!({"name": "default"}),
        names: Value::Null,
    };
    array.write(
        &group.join("scale/s0"),
        |cell| vec![u8::from(cell == [1, 2, 3])],
        |bytes| bytes,
    );
    let of = |axes: [&str; 3], all: Value| {
        let steps = json!([{"type": "scale", "scale": [0.5, 2.0, 1.0]}, {"type": "translation", "translation": [10.0, 20.0, 30.0]}]);
        let axes = axes.map(|name| json!({"name": name, "type": "space"}));
        let image = json!({"axes": axes, "coordinateTransformations": all,
            "datasets": [{"path": "scale/s0", "coordinateTransformations": steps}]});
        let node = json!({"zarr_format": 3, "node_type": "group", "attributes": {"ome": {"version": "0.5", "multiscales": [image]}}});
        fs::write(group.join("zarr.json"), node.to_string()).unwrap();
        let found = Voxels::open(&group).unwrap();
        let lattice = found.lattice.clone().unwrap();
        let floats = |values: &[Rational; 3]| values.each_ref().map(Rational::to_f64);
        (
            lattice.dims(),
            floats(lattice.origin()),
            floats(lattice.spacing()),
            found.occupied().unwrap().iter().next().unwrap(),
        )
    };
    let usual = of(["z", "y", "x"], json!([]));
    assert_eq!(
        usual,
        ([9, 7, 5], [29.5, 19.0, 9.75], [1.0, 2.0, 0.5], [3, 2, 1])
    );
    let scaled = of(
        ["z", "y", "x"],
        json!([{"type": "scale", "scale": [2.0, 2.0, -1.0]}]),
    );
    // Reversed along x: the last cell becomes the first.
    assert_eq!(
        scaled,
        ([9, 7, 5], [-38.5, 38.0, 19.5], [1.0, 4.0, 1.0], [5, 2, 1])
    );
    let turned = of(["x", "y", "z"], json!([]));
    assert_eq!(
        turned,
        ([5, 7, 9], [9.75, 19.0, 29.5], [0.5, 2.0, 1.0], [1, 2, 3])
    );
    assert!(format::sniff(&group).is_some_and(|format| format.name == "zarr"));
    // A node without its folder.
    let error = read(&fs::read(group.join("zarr.json")).unwrap(), zarr(), None).unwrap_err();
    assert_eq!(error.code().name(), "V004");
}

/// Every shard under its final name is complete, whenever the process was killed.
#[cfg(all(unix, feature = "cli"))]
#[test]
fn a_killed_run_leaves_the_older_folder_and_the_next_removes_its_own() {
    use crate::support::place::Place;
    let left = |place: &Place| {
        place
            .files()
            .into_iter()
            .find(|name| name.starts_with(".voxelize-"))
    };
    let mut whole = 0;
    for (shards, is_older) in [(1, true), (2, false), (4, true)] {
        let place = Place::new();
        if is_older {
            place.run("cube.stl -r 9 -o a.zarr").expect(0);
        }
        let older = is_older.then(|| files(&place.path("a.zarr")));
        let mut child = place
            .command("cube.stl -r 600 --filled -o a.zarr -j 1 -q")
            .spawn()
            .unwrap();
        let start = std::time::Instant::now();
        let shard = |n: usize| Some(place.path(&left(&place)?).join(format!("0/c/{n}/0/0")));
        while !shard(shards - 1).is_some_and(|path| path.exists()) {
            assert!(
                start.elapsed().as_secs() < 60 && child.try_wait().unwrap().is_none(),
                "it wrote no shard"
            );
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(is_older.then(|| files(&place.path("a.zarr"))), older);
        assert_eq!(place.path("a.zarr").exists(), is_older);
        let folder = place.path(&left(&place).expect("the folder of the process"));
        // Names of unfinished files start with a dot. An array consists of the renamed files.
        let found = Voxels::open(folder.join("0"))
            .unwrap()
            .cells
            .into_occupied()
            .unwrap();
        let layer = |k: usize| {
            found
                .layer_text(k)
                .bytes()
                .filter(|byte| *byte == b'#')
                .count()
        };
        assert_eq!(
            (0..shards).map(|n| layer(64 * n + 1)).collect::<Vec<_>>(),
            vec![600 * 600; shards]
        );
        whole += shards;
        place.run("cube.stl -r 4 -o b.zarr").expect(0);
        assert_eq!(left(&place), None, "{:?}", place.files());
    }
    assert_eq!(whole, 7);
}

/// Commands accept a folder wherever they accept a file.
#[cfg(feature = "cli")]
#[test]
fn commands_take_folders() {
    use crate::support::place::Place;
    let place = Place::new();
    let made = place
        .run("thirds.stl --voxel-size 0.1 --pad 1 -o a.zarr --json")
        .expect(0)
        .json();
    assert_eq!(
        (&made["outputs"][0]["path"], &made["outputs"][0]["format"]),
        (&json!("a.zarr"), &json!("zarr"))
    );
    let bytes: u64 = files(&place.path("a.zarr"))
        .values()
        .map(|file| file.len() as u64)
        .sum();
    assert_eq!(made["outputs"][0]["bytes"], bytes);
    let info = place.run("info a.zarr --json").expect(0).json();
    assert_eq!(
        (&info["digest"], &info["dtype"]),
        (&made["digest"], &json!("u8"))
    );
    for line in [
        "info a.zarr/",
        "verify a.zarr thirds.stl",
        "diff a.zarr a.zarr/0",
        "view a.zarr -o a.png",
        "thirds.stl --like a.zarr -o b.zarr",
        "diff a.zarr b.zarr",
        "convert a.zarr c.npz",
        "convert c.npz c.zarr --dtype bool --no-pyramid",
        "diff c.zarr a.zarr -o d.zarr",
        "convert a.zarr a.slices",
        "thirds.stl --voxel-size 0.1 --pad 1 -o a.zarr/",
        "thirds.stl -r 8 --solid --doubt doubt.zarr -o e.zarr",
    ] {
        place.run(line).expect(0);
    }
    let digest =
        |name: &str| place.run(&format!("info {name} --json")).expect(0).json()["digest"].clone();
    assert_eq!(
        (digest("b.zarr"), digest("c.zarr")),
        (made["digest"].clone(), made["digest"].clone())
    );
    let before = files(&place.path("a.zarr"));
    for (line, code) in [
        ("thirds.stl -r 8 -f zarr -o -", 2),
        ("convert a.zarr a.zarr", 2),
        ("convert a.zarr a.zarr/0", 2),
        ("thirds.stl --like a.zarr -o a.zarr --json=a.zarr/x.json", 2),
        ("info cube.stl.zarr", 3),
    ] {
        assert_eq!(place.run(line).code, Some(code), "{line}");
    }
    assert_eq!(files(&place.path("a.zarr")), before);
    // A file that does not belong to the format is kept, and with it the whole folder.
    place.write("a.zarr/notes.txt", "of the user");
    let refused = place.run("thirds.stl -r 8 -o a.zarr").expect(6);
    assert!(refused.err.contains("notes.txt"), "{}", refused.err);
}
