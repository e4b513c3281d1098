//! Folders of Zarr match the specifications at every level, and broken folders are rejected.

use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};
use voxelize::format::Written;
use voxelize::grid::{Cells, Field, Label, Labels, Legend};
use voxelize::par;

use super::kinds::{Split, grids};
use super::*;
use crate::support::stores::files;

/// Cells along each side of a chunk.
const CHUNK: usize = 64;

fn zarr() -> &'static Format {
    named("zarr")
}

fn save(voxels: &Voxels, path: &Path, options: &SaveOptions) -> Vec<Written> {
    format::save(voxels, path, zarr(), options).unwrap()
}

/// Saves with the default options, without waiting for the disk.
fn save_quickly(voxels: &Voxels, path: &Path) {
    let options = SaveOptions {
        durability: Durability::Unsynced,
        ..SaveOptions::default()
    };
    save(voxels, path, &options);
}

fn node(folder: &Path) -> Value {
    serde_json::from_slice(&fs::read(folder.join("zarr.json")).unwrap()).unwrap()
}

/// Computes the checksum by its definition, one bit at a time.
fn crc32c(bytes: &[u8]) -> u32 {
    let mut sum = !0;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            let is_odd = sum & 1 == 1;
            sum >>= 1;
            if is_odd {
                sum ^= 0x82f6_3b78;
            }
        }
    }
    !sum
}

#[test]
fn a_small_folder_is_known_byte_by_byte() {
    let all = tempfile::tempdir().unwrap();
    let path = all.path().join("f.zarr");
    let voxels = at_odd_place(f_grid());
    let written = save(&voxels, &path, &with_choices(&[Choice::Uncompressed]));
    let found = files(&path);
    let names: Vec<_> = found.keys().collect();
    assert_eq!(names, ["0/c/0/0/0", "0/zarr.json", "zarr.json"]);
    let bytes: usize = found.values().map(Vec::len).sum();
    assert_eq!(written[0].bytes, bytes as u64);
    // One chunk of 64 x 64 x 64 bytes, its index entry, and the checksum of the index.
    let (cells, index) = found["0/c/0/0/0"].split_at(CHUNK * CHUNK * CHUNK);
    let bits = voxels.occupied().unwrap();
    for (n, byte) in cells.iter().enumerate() {
        let cell @ [x, y, z] = [n % CHUNK, n / CHUNK % CHUNK, n / CHUNK / CHUNK];
        let is_occupied = x < 3 && y < 4 && z < 2 && bits.get(cell);
        assert_eq!(*byte, u8::from(is_occupied), "{cell:?}");
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
    let found: [f64; 3] = serde_json::from_value(found.clone()).unwrap();
    (0..3).all(|axis| (found[axis] - expected[axis]).abs() < 1e-12)
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
    assert_eq!(group["zarr_format"], 3);
    assert_eq!(group["node_type"], "group");
    let ome = &group["attributes"]["ome"];
    assert_eq!(ome["version"], "0.5");
    let image = &ome["multiscales"][0];
    let axis = |name: &str| json!({"name": name, "type": "space", "unit": "millimeter"});
    assert_eq!(image["axes"], json!([axis("z"), axis("y"), axis("x")]));
    assert_eq!(image["name"], "Würfel \"1\".stl");
    assert_eq!(image["type"], "any");
    // Cells of 1/10 starting at (-1/3, 22/7, 5). The centre of the first cell is half a cell away.
    for (level, size) in [0.1, 0.2, 0.4].into_iter().enumerate() {
        let dataset = &image["datasets"][level];
        assert_eq!(dataset["path"], level.to_string());
        let steps = &dataset["coordinateTransformations"];
        let centre = [5.0, 22.0 / 7.0, -1.0 / 3.0].map(|corner| corner + size / 2.0);
        assert!(is_near(&steps[0]["scale"], [size; 3]), "{dataset}");
        assert!(is_near(&steps[1]["translation"], centre), "{dataset}");
    }
    assert_eq!(image["datasets"].as_array().unwrap().len(), 3);
    let own = &group["attributes"]["voxelize"];
    assert_eq!(own["origin"], json!(["-1/3", "22/7", "5/1"]));
    assert_eq!(own["dtype"], "u8");
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
    let colour = json!({"label-value": 7, "rgba": [1, 2, 3, 255]});
    assert_eq!(label["colors"][0], colour);
    let name = json!({"label-value": 9, "name": "marrow"});
    assert_eq!(label["properties"][1], name);
    assert_eq!(Voxels::open(&path).unwrap().cells, labels.clone().into());
    // Stored as bool, labels become bits without a label image.
    save(&Voxels::new(labels.clone()), &path, &as_dtype(Dtype::Bool));
    assert_eq!(node(&path)["attributes"]["ome"].get("image-label"), None);
    let array = node(&path.join("0"));
    assert_eq!(array["data_type"], "bool");
    assert_eq!(array["fill_value"], false);
    let bits = labels.into_occupied();
    assert_eq!(Voxels::open(&path).unwrap().cells, bits.into());
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
        let dtypes = if voxels.kind() == CellKind::Bits {
            zarr().dtypes
        } else {
            zarr().dtypes_of(voxels.kind())
        };
        for dtype in dtypes {
            for choices in [&[][..], &[Choice::Uncompressed], &[Choice::NoPyramid]] {
                let options = SaveOptions {
                    dtype: Some(*dtype),
                    ..with_choices(choices)
                };
                save(&voxels, &path, &options);
                let back = Voxels::open(&path).unwrap();
                assert_eq!(back, voxels, "{} {choices:?}", dtype.name());
                assert_eq!(back.digest(), voxels.digest());
                let described = format::describe(&path).unwrap();
                assert_eq!(described.metadata.dims, Some(voxels.dims()));
                assert_eq!(described.metadata.lattice, back.lattice);
                assert_eq!(described.dtype, Some(*dtype));
                assert!(described.bytes > 0);
                assert!(voxelize::tool::made_by_this_tool(&path));
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 3 * (5 * 2 + 13));
    let bare = Voxels::new(f_grid());
    save(&bare, &path, &SaveOptions::default());
    assert_eq!(Voxels::open(&path), Ok(bare), "a grid without a lattice");
}

const DIMS: [usize; 3] = [150, 67, 270];

/// Returns cells of every kind that fill several shards. Odd dims leave layers, rows and columns without a
/// partner.
fn tall() -> [Voxels; 3] {
    let bits = scattered(DIMS);
    let label = |value| Label::new(value, format!("label {value}"));
    let legend = Legend::new([3, 4, 250].map(label)).unwrap();
    let mut labels = Labels::new(DIMS, legend).unwrap();
    let mut field = Field::new(DIMS, f32::INFINITY).unwrap();
    for (n, cell) in bits.iter().enumerate() {
        let place = cell[0] / 3 + cell[1] / 2 + n / 1000;
        labels.set(cell, [3, 250, 4][place % 3]);
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
            let mut best = (0, 0.0);
            for value in eight.iter().filter(|value| **value > 0.0) {
                let count = eight.iter().filter(|other| *other == value).count();
                if count > best.0 || count == best.0 && *value < best.1 {
                    best = (count, *value);
                }
            }
            best.1
        }
        Cells::Field(_) => {
            let finite = eight.iter().filter(|value| value.is_finite());
            let finite: Vec<f64> = finite.map(|value| f64::from(*value)).collect();
            if finite.is_empty() {
                return eight[0];
            }
            (finite.iter().sum::<f64>() / finite.len() as f64) as f32
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
            for at in full(dims).iter() {
                let mut eight = vec![];
                for m in 0..8 {
                    let steps = [m % 2, m / 2 % 2, m / 4];
                    let cell = [0, 1, 2].map(|axis| at[axis] * 2 + steps[axis]);
                    if (0..3).all(|axis| cell[axis] < before_dims[axis]) {
                        eight.push(value(&before, cell));
                    }
                }
                let expected = reduced(&before, &eight);
                assert_eq!(value(&found, at), expected, "{n}, level {level}, {at:?}");
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
        save_quickly(&voxels, &path);
        let whole = files(&path);
        let shards = whole.keys().filter(|name| name.contains("/c/")).count();
        assert_eq!(shards, 5 + 3 + 2, "{:?}", whole.keys());
        for threads in [1, 3] {
            par::with_threads(threads, || save_quickly(&voxels, &path)).unwrap();
            assert!(files(&path) == whole, "{threads} threads");
            compared += 1;
        }
        for height in [64, 128, 192] {
            let mut source = Split::new(&voxels, height);
            format::save_source(&mut source, &path, zarr(), &SaveOptions::default()).unwrap();
            assert!(files(&path) == whole, "{height} layers");
            compared += 1;
        }
    }
    assert_eq!(compared, 3 * 5);
    let [_, labels, _] = tall();
    let mut source = Split::new(&labels, 65);
    let cut = format::save_source(&mut source, &path, zarr(), &SaveOptions::default());
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
    let names: Vec<_> = found
        .keys()
        .filter(|name| name.starts_with("0/c"))
        .collect();
    assert_eq!(names, ["0/c/4/0/0"]);
    // Four chunks along x and three along y. Only the last is stored, at offset 0.
    let shard = &found["0/c/4/0/0"];
    let length = shard.len() - 4 - 16 * 12;
    let (others, last) = shard[length..length + 16 * 12].split_at(16 * 11);
    assert!(others.iter().all(|byte| *byte == 0xff));
    assert_eq!(last, [0, length as u64].map(u64::to_le_bytes).concat());
    let gzip = [0x1f, 0x8b, 8, 0];
    assert_eq!(shard[..4], gzip, "a gzip stream without a name");
    let empty = Voxels::new(Field::new([70, 3, 2], f32::NAN).unwrap());
    save(&empty, &path, &SaveOptions::default());
    let found = files(&path);
    assert!(found.keys().eq(["0/zarr.json", "zarr.json"]));
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
        save_quickly(&self.voxels, &path);
        change(&path);
        Voxels::open(&path)
    }

    /// Reads the folder after replacing a file.
    fn with_file(&self, name: &str, bytes: &[u8]) -> Result<Voxels> {
        self.read(|path| fs::write(path.join(name), bytes).unwrap())
    }
}

#[test]
fn nodes_that_lie_are_errors() {
    let changed = Changed::new();
    let rows = table(
        r#"
        V004 . /zarr_format 2
        V004 . /node_type "tree"
        V004 . /attributes/ome/multiscales []
        V003 . /attributes/ome/multiscales/0/datasets []
        V010 . DATASET/path "7"
        V004 . DATASET/path ""
        V004 . DATASET/path "../a.zarr/0"
        V004 . DATASET/path "/tmp"
        V004 . DATASET/path "0/zarr.json"
        V004 . DATASET/coordinateTransformations/0/scale [1, 0, 1]
        V004 . DATASET/coordinateTransformations/0/scale [1, 1]
        V004 . DATASET/coordinateTransformations/0/type "affine"
        V007 . /attributes/voxelize/origin "x"
        V004 0 /node_type "group"
        V004 0 /shape [100, 70]
        V004 0 /shape [100, 0, 130]
        too-large 0 /shape [10000000, 10000000, 10000000]
        V007 0 /shape [18446744073709551615, 18446744073709551615, 18446744073709551615]
        V004 0 /data_type "int16"
        V004 0 /data_type {"name": "uint8"}
        V003 0 /data_type "float32"
        V003 0 /fill_value 256
        V003 0 /fill_value "NaN"
        V004 0 /chunk_grid/name "rectilinear"
        V004 0 /chunk_grid/configuration/chunk_shape [64, 128]
        V003 0 /chunk_grid/configuration/chunk_shape [64, 128, 100]
        V004 0 /chunk_grid/configuration/chunk_shape [64, 0, 192]
        V002 0 /chunk_grid/configuration/chunk_shape [64, 128, 72057594037927936]
        V004 0 /chunk_key_encoding/name "v4"
        V003 0 /codecs []
        V004 0 /codecs [{"name": "zstd"}]
        V004 0 /codecs [{"name": "bytes"}, {"name": "zstd"}]
        V004 0 /codecs [{"name": "bytes"}, {"name": "gzip"}, {"name": "gzip"}]
        V004 0 SHARD/codecs/0/name "transpose"
        V005 0 SHARD/codecs [{"name": "bytes"}]
        V003 0 SHARD/codecs [{"name": "bytes"}, {"name": "crc32c"}]
        V003 0 SHARD/chunk_shape [64, 64, 32]
        V003 0 SHARD/chunk_shape [64, 64, 63]
        V002 0 SHARD/index_codecs [{"name": "bytes"}]
        V004 0 SHARD/index_codecs [{"name": "bytes"}, {"name": "gzip"}]
        V003 0 SHARD/index_location "start"
        V003 0 SHARD/index_location "middle""#,
    );
    for [code, folder, pointer, value] in rows {
        let pointer = pointer
            .replace("DATASET", "/attributes/ome/multiscales/0/datasets/0")
            .replace("SHARD", "/codecs/0/configuration");
        let found = changed.read(|path| {
            let mut node = node(&path.join(folder));
            *node.pointer_mut(&pointer).expect(&pointer) = serde_json::from_str(value).unwrap();
            fs::write(path.join(folder).join("zarr.json"), node.to_string()).unwrap();
        });
        check_error(found, code, (pointer, value));
    }
    for text in ["", "[]", "{", "{\"zarr_format\": 3}", "\u{0}"] {
        let error = changed
            .with_file("0/zarr.json", text.as_bytes())
            .unwrap_err();
        let is_right = ["V003", "V004"].contains(&error.code().name());
        assert!(is_right, "{text}: {error}");
    }
    let long = changed.with_file("zarr.json", &vec![b' '; 2 << 20]);
    check_error(long, "V003", "a long node");
}

#[test]
fn shards_that_are_cut_or_changed_are_errors() {
    const SHARD: &str = "0/c/1/0/0";
    let changed = Changed::new();
    changed.read(|_| ()).unwrap();
    let bytes = fs::read(changed.path().join(SHARD)).unwrap();
    let mut seen = 0;
    let lengths = (0..bytes.len()).step_by(bytes.len() / 50);
    for length in lengths.chain(bytes.len() - 100..bytes.len()) {
        let error = changed.with_file(SHARD, &bytes[..length]).unwrap_err();
        let is_right = ["V002", "V003"].contains(&error.code().name());
        assert!(is_right, "{length}: {error}");
        seen += 1;
    }
    // Damage in the index and its checksum, and in the streams of cells.
    for at in (bytes.len() - 100..bytes.len()).chain((0..bytes.len() - 100).step_by(997)) {
        let mut other = bytes.clone();
        other[at] ^= 0x10;
        // Some bytes of the header of a gzip stream have no effect.
        let found = changed.with_file(SHARD, &other);
        assert!(found.is_err() || found.unwrap() == changed.voxels, "{at}");
        seen += 1;
    }
    assert!(seen > 200);
    // Two cells of 130 x 70: the chunks of a shard are 3 x 2.
    let with_index = |places: [[u64; 2]; 6]| {
        let cells = &bytes[..bytes.len() - 4 - 16 * 6];
        let index = places.as_flattened().iter().flat_map(|n| n.to_le_bytes());
        let index: Vec<u8> = index.collect();
        let shard = [cells, &index, &crc32c(&index).to_le_bytes()].concat();
        changed.with_file(SHARD, &shard)
    };
    let none = [u64::MAX; 2];
    let end = bytes.len() as u64;
    for (place, codes) in [
        ([0, u64::MAX], &["V002"][..]),
        ([u64::MAX, 1], &["V002"]),
        ([u64::MAX - 5, 10], &["V002"]),
        ([0, end], &["V005", "V003"]),
        ([0, end + 1], &["V002"]),
        ([0, 0], &["V003"]),
        ([3, 40], &["V003"]),
    ] {
        let error = with_index([none, none, place, none, none, none]).unwrap_err();
        assert!(codes.contains(&error.code().name()), "{place:?}: {error}");
    }
    // Missing chunk, and missing file.
    let upper = |found: Result<Voxels>| {
        let cells = occupied_cells(&found.unwrap());
        cells.iter().filter(|[.., k]| *k >= 64).count()
    };
    assert_eq!(upper(with_index([none; 6])), 0);
    let missing = changed.read(|path| fs::remove_file(path.join(SHARD)).unwrap());
    assert_eq!(upper(missing), 0);
    assert!(upper(changed.read(|_| ())) > 1000);
}

#[test]
fn changed_bytes_never_panic() {
    let all = tempfile::tempdir().unwrap();
    let path = all.path().join("a.zarr");
    save_quickly(&at_odd_place(f_grid()), &path);
    let [mut cases, mut errors] = [0; 2];
    for (name, bytes) in files(&path) {
        for (n, at) in (0..bytes.len()).enumerate() {
            let mut changed = bytes.clone();
            changed[at] ^= [1, 0x10, 0x80, 0xff][n % 4];
            fs::write(path.join(&name), changed).unwrap();
            if let Err(error) = Voxels::open(&path) {
                let is_right = matches!(error.kind(), Kind::Input | Kind::TooLarge);
                assert!(is_right, "{name} {at}: {error}");
                errors += 1;
            }
            cases += 1;
        }
        fs::write(path.join(&name), bytes).unwrap();
    }
    assert!(cases > 3000 && errors > cases / 4, "{errors} of {cases}");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
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
    let bomb = gzip(&vec![0; 100 << 20]);
    for (cells, shape, code) in [
        (&gzip(&[1; 65])[..], json!([4, 4, 4]), "V003"),
        (&gzip(&[1; 63]), json!([4, 4, 4]), "V003"),
        (&bomb, json!([4, 4, 4]), "V005"),
        (&bomb[..1000], json!([100, 1024, 1024]), "V003"),
        (&[0; 10], json!([4, 4, 1_u64 << 40]), "too-large"),
        (&[0; 10], json!([4, 4, 1 << 20]), "V003"),
    ] {
        fs::write(&chunk, cells).unwrap();
        check_error(read(shape.clone()), code, shape);
    }
    fs::write(&chunk, gzip(&[1; 64])).unwrap();
    let cube = json!([4, 4, 4]);
    assert_eq!(read(cube.clone()).unwrap().count(), 64);
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        let elsewhere = changed.all.path().join("elsewhere");
        fs::rename(&chunk, &elsewhere).unwrap();
        symlink(&elsewhere, &chunk).unwrap();
        check_error(read(cube.clone()), "V004", "a link");
        fs::remove_file(&chunk).unwrap();
        fs::create_dir(&chunk).unwrap();
        check_error(read(cube), "V004", "a folder");
        for name in ["0", "0/zarr.json", "0/c", "0/c/1", "0/c/1/0"] {
            let found = changed.read(|path| {
                let place = changed.all.path().join(format!("moved-{}", name.len()));
                fs::rename(path.join(name), &place).unwrap();
                symlink(&place, path.join(name)).unwrap();
            });
            check_error(found, "V004", name);
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
        let is_v2 = self.encoding["name"] == "v2";
        let separator = match self.encoding["configuration"]["separator"].as_str() {
            Some(separator) => separator,
            None if is_v2 => ".",
            None => "/",
        };
        let prefix = if is_v2 { "" } else { &format!("c{separator}") };
        let [layers, rows, columns] = counts;
        for place in full([layers.max(2) - 1, rows, columns]).iter() {
            let mut bytes = vec![];
            for n in 0..self.chunk.iter().product() {
                let [_, ny, nx] = self.chunk;
                let within = [n / nx / ny, n / nx % ny, n % nx];
                let at = [0, 1, 2].map(|axis| place[axis] * self.chunk[axis] + within[axis]);
                bytes.extend(cell(at));
            }
            let numbers = place.map(|n| n.to_string()).join(separator);
            let path = folder.join(format!("{prefix}{numbers}"));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, encode(bytes)).unwrap();
        }
    }
}

fn occupied([a, b, c]: [usize; 3]) -> bool {
    (a * 63 + b * 9 + c) * 7 % 11 < 4
}

/// Encoder of the bytes of a chunk.
type Encoder<'a> = &'a dyn Fn(Vec<u8>) -> Vec<u8>;

#[test]
fn arrays_of_others_are_read() {
    let all = tempfile::tempdir().unwrap();
    let checked = |bytes: Vec<u8>| [&bytes[..], &crc32c(&bytes).to_le_bytes()].concat();
    let packed = |bytes: Vec<u8>| gzip(&bytes);
    let same = |bytes: Vec<u8>| bytes;
    let both = move |bytes: Vec<u8>| checked(gzip(&bytes));
    let codecs: [(Value, Encoder); 3] = [
        (json!([{"name": "bytes"}]), &same),
        (
            json!([{"name": "bytes"}, {"name": "gzip", "configuration": {"level": 5}}]),
            &packed,
        ),
        (
            json!([{"name": "transpose", "configuration": {"order": [0, 1, 2]}}, "bytes", {"name": "gzip"}, {"name": "crc32c"}]),
            &both,
        ),
    ];
    let slash = json!({"name": "default", "configuration": {"separator": "/"}});
    let encodings = [
        slash.clone(),
        json!({"name": "default", "configuration": {"separator": "."}}),
        json!({"name": "v2"}),
        json!({"name": "v2", "configuration": {"separator": "/"}}),
    ];
    let mut seen = 0;
    // Layers of the array that are in a chunk.
    for (chunk, stored) in [
        ([5, 7, 9], 5),
        ([2, 3, 4], 4),
        ([1, 7, 16], 4),
        ([1, 1, 1], 4),
    ] {
        for (codecs, encode) in &codecs {
            for encoding in &encodings {
                for (data_type, fill, is_filled) in [
                    ("uint8", json!(0), false),
                    ("bool", json!(false), false),
                    ("uint8", json!(1), true),
                    ("bool", json!(true), true),
                ] {
                    let folder = all.path().join(format!("{seen}"));
                    let array = Foreign {
                        data_type,
                        fill,
                        chunk,
                        codecs: codecs.clone(),
                        encoding: encoding.clone(),
                        names: json!(["z", "y", "x"]),
                    };
                    array.write(&folder, |cell| vec![u8::from(occupied(cell))], encode);
                    let found = Voxels::open(&folder).unwrap();
                    let bits = found.occupied().unwrap();
                    assert_eq!((bits.dims(), &found.lattice), ([9, 7, 5], &None));
                    for cell @ [x, y, z] in full([9, 7, 5]).iter() {
                        let expected = if z < stored {
                            occupied([z, y, x])
                        } else {
                            is_filled
                        };
                        assert_eq!(bits.get(cell), expected, "{} {cell:?}", array.node());
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
            codecs: json!([{"name": "bytes"}]),
            encoding: slash.clone(),
            names: json!(["x", "z", "y"]),
        };
        let number = |[a, b, c]: [usize; 3]| (a * 100 + b * 10 + c) as f32;
        array.write(&folder, |cell| number(cell).to_le_bytes().to_vec(), same);
        let found = Voxels::open(&folder).unwrap();
        let field = found.field().unwrap();
        assert_eq!((field.dims(), field.background()), ([5, 9, 7], background));
        let values = [[1, 2, 3], [4, 2, 3]].map(|cell| field.get(cell));
        assert_eq!(values, [132.0, background]);
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
    let folder = group.join("scale/s0");
    array.write(&folder, |cell| vec![u8::from(cell == [1, 2, 3])], |b| b);
    for (axes, of_all, frame) in [
        (
            ["z", "y", "x"],
            json!([]),
            "9 7 5 at 29.5 19 9.75 by 1 2 0.5: 3 2 1",
        ),
        // Reversed along x: the last cell becomes the first.
        (
            ["z", "y", "x"],
            json!([{"type": "scale", "scale": [2.0, 2.0, -1.0]}]),
            "9 7 5 at -38.5 38 19.5 by 1 4 1: 5 2 1",
        ),
        (
            ["x", "y", "z"],
            json!([]),
            "5 7 9 at 9.75 19 29.5 by 0.5 2 1: 1 2 3",
        ),
    ] {
        let steps = json!([{"type": "scale", "scale": [0.5, 2.0, 1.0]}, {"type": "translation", "translation": [10.0, 20.0, 30.0]}]);
        let axes = axes.map(|name| json!({"name": name, "type": "space"}));
        let image = json!({"axes": axes, "coordinateTransformations": of_all,
            "datasets": [{"path": "scale/s0", "coordinateTransformations": steps}]});
        let node = json!({"zarr_format": 3, "node_type": "group", "attributes": {"ome": {"version": "0.5", "multiscales": [image]}}});
        fs::write(group.join("zarr.json"), node.to_string()).unwrap();
        check_frame(&Voxels::open(&group).unwrap(), frame);
    }
    assert!(format::sniff(&group).is_some_and(|format| format.name == "zarr"));
    // A node without its folder.
    let node = fs::read(group.join("zarr.json")).unwrap();
    check_error(read(&node, zarr(), None), "V004", "a node");
}

/// Every shard under its final name is complete, whenever the process was killed.
#[cfg(all(unix, feature = "cli"))]
#[test]
fn a_killed_run_leaves_the_older_folder_and_the_next_removes_its_own() {
    use std::time::{Duration, Instant};

    use crate::support::place::Place;

    let left = |place: &Place| {
        let mut names = place.files().into_iter();
        names.find(|name| name.starts_with(".voxelize-"))
    };
    for (shards, is_older) in [(1, true), (2, false), (4, true)] {
        let place = Place::new();
        if is_older {
            place.run("cube.stl -r 9 -o a.zarr").expect(0);
        }
        let older = is_older.then(|| files(&place.path("a.zarr")));
        let line = "cube.stl -r 600 --filled -o a.zarr -j 1 -q";
        let mut child = place.command(line).spawn().unwrap();
        let start = Instant::now();
        let last = format!("0/c/{}/0/0", shards - 1);
        while !left(&place).is_some_and(|name| place.path(&name).join(&last).exists()) {
            assert!(start.elapsed().as_secs() < 60, "it wrote no shard");
            assert_eq!(child.try_wait().unwrap(), None, "it has ended");
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let path = place.path("a.zarr");
        assert_eq!(path.exists(), is_older);
        assert_eq!(is_older.then(|| files(&path)), older);
        // Names of unfinished files start with a dot. An array consists of the renamed files.
        let folder = place.path(&left(&place).expect("the folder of the process"));
        let found = Voxels::open(folder.join("0")).unwrap();
        let found = found.into_occupied().unwrap();
        for n in 0..shards {
            let layer = found.layer_text(64 * n + 1);
            assert_eq!(layer.matches('#').count(), 600 * 600, "shard {n}");
        }
        place.run("cube.stl -r 4 -o b.zarr").expect(0);
        assert_eq!(left(&place), None, "{:?}", place.files());
    }
}

/// Commands accept a folder wherever they accept a file.
#[cfg(feature = "cli")]
#[test]
fn commands_take_folders() {
    use crate::support::{place::Place, rows};
    let place = Place::new();
    let made = rows::check(
        &place,
        "0 thirds.stl --voxel-size 0.1 --pad 1 -o a.zarr --json
             /outputs/0/path \"a.zarr\"
             /outputs/0/format \"zarr\"",
    );
    let made = made[0].json();
    let bytes: usize = files(&place.path("a.zarr")).values().map(Vec::len).sum();
    assert_eq!(made["outputs"][0]["bytes"], bytes);
    let runs = rows::check(
        &place,
        "0 info a.zarr --json
             /dtype \"u8\"
         0 info a.zarr/
         0 verify a.zarr thirds.stl
         0 diff a.zarr a.zarr/0
         0 view a.zarr -o a.png
         0 thirds.stl --like a.zarr -o b.zarr
         0 diff a.zarr b.zarr
         0 convert a.zarr c.npz
         0 convert c.npz c.zarr --dtype bool --no-pyramid
         0 diff c.zarr a.zarr -o d.zarr
         0 convert a.zarr a.slices
         0 thirds.stl --voxel-size 0.1 --pad 1 -o a.zarr/
         0 thirds.stl -r 8 --solid --doubt doubt.zarr -o e.zarr
         0 info b.zarr --json
         0 info c.zarr --json",
    );
    for n in [0, 13, 14] {
        assert_eq!(runs[n].json()["digest"], made["digest"], "{}", runs[n].line);
    }
    let before = files(&place.path("a.zarr"));
    rows::check(
        &place,
        "2 thirds.stl -r 8 -f zarr -o -
         2 convert a.zarr a.zarr
         2 convert a.zarr a.zarr/0
         2 thirds.stl --like a.zarr -o a.zarr --json=a.zarr/x.json
         3 info cube.stl.zarr",
    );
    assert_eq!(files(&place.path("a.zarr")), before);
    // A file that does not belong to the format is kept, and with it the whole folder.
    place.write("a.zarr/notes.txt", "of the user");
    rows::check(&place, "6 thirds.stl -r 8 -o a.zarr\n err notes.txt");
}
