//! A `.schem` file is the schematic that Minecraft tools paste, block by block.

use std::collections::BTreeMap;
use std::io::Read;

use serde_json::Value;
use voxelize::grid::{Label, Labels, Legend};

use super::kinds::grids;
use super::*;
#[cfg(feature = "cli")]
use crate::support::{place::Place, rows};

fn schem() -> &'static Format {
    named("schem")
}

fn bytes_of(voxels: &Voxels) -> Vec<u8> {
    written(voxels, schem(), &SaveOptions::default()).unwrap()
}

/// Tag, as the description of NBT defines it.
#[derive(Debug, Clone, PartialEq)]
enum Tag {
    Short(u16),
    Int(i32),
    Bytes(Vec<u8>),
    Text(String),
    NoCompounds,
    Compound(BTreeMap<String, Tag>),
    Ints(Vec<i32>),
}

struct Tags<'a>(&'a [u8]);

impl Tags<'_> {
    fn take(&mut self, count: usize) -> Vec<u8> {
        let (now, rest) = self.0.split_at(count);
        self.0 = rest;
        now.to_vec()
    }

    fn int(&mut self) -> i32 {
        i32::from_be_bytes(self.take(4).try_into().unwrap())
    }

    fn short(&mut self) -> u16 {
        u16::from_be_bytes(self.take(2).try_into().unwrap())
    }

    fn text(&mut self) -> String {
        let length = self.short();
        String::from_utf8(self.take(length.into())).unwrap()
    }

    fn content(&mut self, kind: u8) -> Tag {
        match kind {
            2 => Tag::Short(self.short()),
            3 => Tag::Int(self.int()),
            7 => {
                let length = self.int() as usize;
                Tag::Bytes(self.take(length))
            }
            8 => Tag::Text(self.text()),
            9 => {
                assert_eq!((self.take(1), self.int()), (vec![10], 0));
                Tag::NoCompounds
            }
            10 => {
                let mut tags = BTreeMap::new();
                loop {
                    match self.take(1)[0] {
                        0 => return Tag::Compound(tags),
                        kind => {
                            let name = self.text();
                            let tag = self.content(kind);
                            assert!(tags.insert(name, tag).is_none());
                        }
                    }
                }
            }
            11 => {
                let length = self.int();
                Tag::Ints((0..length).map(|_| self.int()).collect())
            }
            other => panic!("a tag of kind {other}"),
        }
    }
}

impl Tag {
    fn of(&self, name: &str) -> &Self {
        let Self::Compound(tags) = self else {
            panic!("{self:?}")
        };
        tags.get(name).unwrap_or_else(|| panic!("no {name}"))
    }

    fn has(&self, name: &str) -> bool {
        matches!(self, Self::Compound(tags) if tags.contains_key(name))
    }

    fn text(&self) -> &str {
        let Self::Text(text) = self else {
            panic!("{self:?}")
        };
        text
    }
}

fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let mut decoder = flate2::read::MultiGzDecoder::new(bytes);
    decoder.read_to_end(&mut plain).unwrap();
    plain
}

/// Returns the schematic and the block at each place (x, y, z).
fn parse(bytes: &[u8]) -> (Tag, BTreeMap<[usize; 3], String>) {
    let plain = unpacked(bytes);
    assert_eq!(plain[..3], [10, 0, 0]);
    let mut tags = Tags(&plain[3..]);
    let root = tags.content(10);
    assert!(tags.0.is_empty());
    let schematic = root.of("Schematic").clone();
    assert_eq!(schematic.of("Version"), &Tag::Int(3));
    assert_eq!(schematic.of("DataVersion"), &Tag::Int(2586));
    assert_eq!(schematic.of("Offset"), &Tag::Ints(vec![0; 3]));
    let size = |name: &str| match schematic.of(name) {
        Tag::Short(size) => usize::from(*size),
        other => panic!("{other:?}"),
    };
    let [width, height, length] = ["Width", "Height", "Length"].map(size);
    let blocks = schematic.of("Blocks");
    assert_eq!(blocks.of("BlockEntities"), &Tag::NoCompounds);
    let Tag::Compound(palette) = blocks.of("Palette") else {
        panic!()
    };
    let mut names = BTreeMap::new();
    for (name, number) in palette {
        let Tag::Int(number @ 0..=127) = number else {
            panic!("{number:?}")
        };
        assert_eq!(names.insert(*number as u8, name.clone()), None);
    }
    assert_eq!(names[&0], "minecraft:air");
    let Tag::Bytes(data) = blocks.of("Data") else {
        panic!()
    };
    assert_eq!(data.len(), width * height * length);
    let mut found = BTreeMap::new();
    for (n, number) in data.iter().enumerate() {
        if *number != 0 {
            let place = [n % width, n / width / length, n / width % length];
            found.insert(place, names[number].clone());
        }
    }
    (schematic, found)
}

/// Returns the voxels with each axis up, and the place of the block of a cell. Without an entry, z is up.
fn turned(voxels: &Voxels) -> [(Voxels, impl Fn([usize; 3]) -> [usize; 3]); 3] {
    let [_, ny, _] = voxels.dims();
    [None, Some("z"), Some("y")].map(|up| {
        let mut voxels = voxels.clone();
        let entry = up.map(|up| ("up", up.to_string()));
        voxels.record.transform = entry.into_iter().collect();
        let place = move |[i, j, k]: [usize; 3]| match up {
            Some("y") => [i, j, k],
            _ => [i, k, ny - 1 - j],
        };
        (voxels, place)
    })
}

/// Returns the description in a file.
fn json_of(schematic: &Tag) -> Value {
    let text = schematic.of("Metadata").of("Voxelize").text();
    serde_json::from_str(text).unwrap()
}

#[test]
fn every_block_is_at_its_cell_and_not_mirrored() {
    for bits in [
        f_grid(),
        scattered([65, 3, 7]),
        scattered([3, 90, 20]),
        BitGrid::new([2, 3, 4]).unwrap(),
    ] {
        for (voxels, place) in turned(&at_odd_place(bits)) {
            let (schematic, blocks) = parse(&bytes_of(&voxels));
            let stone = "minecraft:stone".to_string();
            let cells = occupied_cells(&voxels).into_iter();
            let expected: BTreeMap<_, _> = cells.map(|cell| (place(cell), stone.clone())).collect();
            assert_eq!(blocks, expected, "{:?}", voxels.record.transform);
            let metadata = schematic.of("Metadata");
            assert_eq!(metadata.of("Name").text(), "Würfel \"1\".stl");
            assert!(!metadata.has("VoxelizeBlocks"));
            assert_eq!(json_of(&schematic)["origin"][0], "-1/3");
        }
    }
}

#[test]
fn labels_are_blocks() {
    let is_labels = |voxels: &Voxels| voxels.kind() == CellKind::Labels;
    let all: Vec<_> = grids().into_iter().filter(is_labels).collect();
    assert_eq!(all.len(), 8);
    for (voxels, place) in all.iter().flat_map(turned) {
        let (schematic, blocks) = parse(&bytes_of(&voxels));
        let names = schematic.of("Metadata").of("VoxelizeBlocks");
        let labels = voxels.labels().unwrap().iter();
        let block = |value: u8| names.of(&value.to_string()).text().to_string();
        let expected: BTreeMap<_, _> = labels
            .map(|(cell, value)| (place(cell), block(value)))
            .collect();
        assert!(blocks == expected, "{:?}", voxels.cells);
        let bytes = written(&voxels, schem(), &as_dtype(Dtype::Bool)).unwrap();
        let (schematic, blocks) = parse(&bytes);
        assert!(blocks.values().all(|block| block == "minecraft:stone"));
        assert!(!schematic.of("Metadata").has("VoxelizeBlocks"));
    }
}

#[test]
fn the_first_bytes_match_the_specification() {
    let bytes = bytes_of(&Voxels::new(BitGrid::from_text("#.").unwrap()));
    assert_eq!(bytes[..4], [0x1f, 0x8b, 8, 0]);
    let plain = unpacked(&bytes);
    let shown = String::from_utf8_lossy(&plain);
    let begin =
        b"\x0a\0\0\x0a\0\x09Schematic\x03\0\x07Version\0\0\0\x03\x03\0\x0bDataVersion\0\0\x0a\x1a\
                  \x0a\0\x08Metadata\x08\0\x04Name\0\x08voxelize\x08\0\x08Voxelize\0";
    assert!(plain.starts_with(begin), "{shown:?}");
    let end = b"\0\x02\0\x05Width\0\x02\x02\0\x06Height\0\x01\x02\0\x06Length\0\x01\
                \x0b\0\x06Offset\0\0\0\x03\0\0\0\0\0\0\0\0\0\0\0\0\x0a\0\x06Blocks\x0a\0\x07Palette\
                \x03\0\x0dminecraft:air\0\0\0\0\x03\0\x0fminecraft:stone\0\0\0\x01\0\
                \x07\0\x04Data\0\0\0\x02\x01\0\x09\0\x0dBlockEntities\x0a\0\0\0\0\0\0\0";
    assert!(plain.ends_with(end), "{shown:?}");
}

/// Names of labels that exceed the length of a text in NBT are omitted. The file contains everything else.
#[test]
fn names_longer_than_a_text_are_left_out() {
    let label = |n: u8| Label::new(n, format!("{n} {}", "ü".repeat(125)));
    let legend = Legend::new((1..=255).map(label)).unwrap();
    let mut labels = Labels::new([3, 1, 1], legend).unwrap();
    labels.set([1, 0, 0], 255);
    let voxels = Voxels {
        cells: labels.into(),
        ..at_odd_place(BitGrid::new([3, 1, 1]).unwrap())
    };
    let (schematic, blocks) = parse(&bytes_of(&voxels));
    let json = json_of(&schematic);
    assert_eq!(json.get("labels"), None);
    assert_eq!(json["dims"], serde_json::json!([3, 1, 1]));
    assert_eq!(blocks.len(), 1);
}

#[cfg(feature = "cli")]
#[test]
fn a_file_holds_65535_blocks_an_axis_and_fewer_than_two_to_the_31() {
    for (dims, fits) in [
        ([257, 2001, 3], true),
        ([65_535, 1, 1], true),
        ([1, 1, 65_535], true),
        ([65_535, 32_767, 1], true),
        ([2047, 1024, 1024], true),
        ([65_536, 1, 1], false),
        ([1, 70_000, 1], false),
        ([65_535, 32_769, 1], false),
        ([2048, 1024, 1024], false),
    ] {
        let [zero, one] = [Rational::ZERO, Rational::ONE].map(|n| [(); 3].map(|()| n.clone()));
        let lattice = Lattice::new(dims, zero, one, [true; 3]).unwrap();
        let found = format::check(CellKind::Bits, &lattice, schem(), &SaveOptions::default());
        let code = found.map_err(|error| error.code());
        assert_eq!(
            code,
            if fits { Ok(()) } else { Err(Code::TooLarge) },
            "{dims:?}"
        );
    }
    // Shorts are read as unsigned.
    let row = grid_of([1, 1, 40_000], [[0, 0, 39_999]]);
    let (schematic, blocks) = parse(&bytes_of(&Voxels::new(row)));
    assert_eq!(schematic.of("Height"), &Tag::Short(40_000));
    assert!(blocks.keys().eq([&[0, 39_999, 0]]));
    let long = Voxels::new(BitGrid::new([70_000, 1, 1]).unwrap());
    let error = written(&long, schem(), &SaveOptions::default()).unwrap_err();
    assert_eq!(error.code(), Code::TooLarge);
    rows::refused(
        &Place::new(),
        "5 thirds.stl --dims 70000,1,1 -o a.schem
            err 70000 cells along x
         5 thirds.stl -r 70000 -o a.schem
            err 70000 cells along x
         2 thirds.stl --dims 3,3,3 --stretch -o a.schem
            err not cubes
         3 info a.schem
            err a.schem",
    );
}

/// Formats that are only written: their own marks identify a file of this tool.
#[cfg(feature = "cli")]
#[test]
fn implicit_names_replace_files_of_this_tool_alone() {
    let place = Place::new();
    for name in ["bt", "vtu", "inp", "schem"] {
        let line = format!("cube.stl -r 8 -f {name}");
        let file = format!("cube.{name}");
        rows::check(&place, &format!("0 {line}\n0 {line}"));
        let bytes = fs::read(place.path(&file)).unwrap();
        place.write(&file, &bytes[..20]);
        rows::refused(&place, &format!("6 {line}\nerr {file}"));
    }
}
