//! A `.schem` file is the schematic that Minecraft tools paste, block by block.

use std::collections::BTreeMap;
use std::io::Read;

use voxelize::grid::{Cells, Label, Labels, Legend};

use super::kinds::{Split, grids};
use super::*;
#[cfg(feature = "cli")]
use crate::support::place::{Place, refused};

fn schem() -> &'static Format {
    format::by_name("schem").unwrap()
}

fn written(voxels: &Voxels, dtype: Option<Dtype>) -> Vec<u8> {
    let mut bytes = Vec::new();
    format::write_to(
        voxels,
        &mut bytes,
        schem(),
        &SaveOptions {
            dtype,
            ..SaveOptions::default()
        },
    )
    .unwrap();
    bytes
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

/// Returns the schematic and the block at each place (x, y, z).
fn parse(bytes: &[u8]) -> (Tag, BTreeMap<[usize; 3], String>) {
    let mut plain = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes)
        .read_to_end(&mut plain)
        .unwrap();
    assert_eq!(plain[..3], [10, 0, 0]);
    let mut tags = Tags(&plain[3..]);
    let root = tags.content(10);
    assert!(tags.0.is_empty());
    let schematic = root.of("Schematic").clone();
    assert_eq!(
        (schematic.of("Version"), schematic.of("DataVersion")),
        (&Tag::Int(3), &Tag::Int(2586))
    );
    assert_eq!(schematic.of("Offset"), &Tag::Ints(vec![0; 3]));
    let [width, height, length] =
        ["Width", "Height", "Length"].map(|name| match schematic.of(name) {
            Tag::Short(size) => usize::from(*size),
            other => panic!("{other:?}"),
        });
    let blocks = schematic.of("Blocks");
    assert_eq!(blocks.of("BlockEntities"), &Tag::NoCompounds);
    let Tag::Compound(palette) = blocks.of("Palette") else {
        panic!()
    };
    let names: BTreeMap<u8, String> = palette
        .iter()
        .map(|(name, number)| match number {
            Tag::Int(number @ 0..=127) => (*number as u8, name.clone()),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!((&*names[&0], names.len()), ("minecraft:air", palette.len()));
    let Tag::Bytes(data) = blocks.of("Data") else {
        panic!()
    };
    assert_eq!(data.len(), width * height * length);
    let place = |n: usize| [n % width, n / width / length, n / width % length];
    let found = data.iter().enumerate().filter(|(_, number)| **number != 0);
    let found = found
        .map(|(n, number)| (place(n), names[number].clone()))
        .collect();
    (schematic, found)
}

fn with_up(voxels: &Voxels, up: Option<&str>) -> Voxels {
    let mut voxels = voxels.clone();
    voxels.record.transform.retain(|(name, _)| *name != "up");
    voxels
        .record
        .transform
        .extend(up.map(|up| ("up", up.to_string())));
    voxels
}

#[test]
fn every_block_is_at_its_cell_and_not_mirrored() {
    let mut seen = 0;
    for bits in [
        f_grid(),
        scattered([65, 3, 7]),
        scattered([3, 90, 20]),
        BitGrid::new([2, 3, 4]).unwrap(),
    ] {
        let [_, ny, _] = bits.dims();
        let voxels = at_odd_place(bits.clone());
        for (up, turned) in [(None, true), (Some("z"), true), (Some("y"), false)] {
            let (schematic, blocks) = parse(&written(&with_up(&voxels, up), None));
            let place = |[i, j, k]: [usize; 3]| {
                if turned {
                    [i, k, ny - 1 - j]
                } else {
                    [i, j, k]
                }
            };
            let expected: BTreeMap<_, _> = bits
                .iter()
                .map(|cell| (place(cell), "minecraft:stone".to_string()))
                .collect();
            assert_eq!(blocks, expected, "{up:?}");
            let metadata = schematic.of("Metadata");
            assert_eq!(metadata.of("Name").text(), "Würfel \"1\".stl");
            let json: serde_json::Value =
                serde_json::from_str(metadata.of("Voxelize").text()).unwrap();
            assert_eq!(
                (&json["origin"][0], metadata.has("VoxelizeBlocks")),
                (&"-1/3".into(), false)
            );
            seen += 1;
        }
    }
    assert_eq!(seen, 12);
}

#[test]
fn the_first_bytes_match_the_specification() {
    let mut plain = Vec::new();
    let bytes = written(&Voxels::new(BitGrid::from_text("#.").unwrap()), None);
    assert_eq!(bytes[..4], [0x1f, 0x8b, 8, 0]);
    flate2::read::MultiGzDecoder::new(&bytes[..])
        .read_to_end(&mut plain)
        .unwrap();
    let begin =
        b"\x0a\0\0\x0a\0\x09Schematic\x03\0\x07Version\0\0\0\x03\x03\0\x0bDataVersion\0\0\x0a\x1a\
                  \x0a\0\x08Metadata\x08\0\x04Name\0\x08voxelize\x08\0\x08Voxelize\0";
    assert!(
        plain.starts_with(begin),
        "{:?}",
        String::from_utf8_lossy(&plain)
    );
    let end = b"\0\x02\0\x05Width\0\x02\x02\0\x06Height\0\x01\x02\0\x06Length\0\x01\
                \x0b\0\x06Offset\0\0\0\x03\0\0\0\0\0\0\0\0\0\0\0\0\x0a\0\x06Blocks\x0a\0\x07Palette\
                \x03\0\x0dminecraft:air\0\0\0\0\x03\0\x0fminecraft:stone\0\0\0\x01\0\
                \x07\0\x04Data\0\0\0\x02\x01\0\x09\0\x0dBlockEntities\x0a\0\0\0\0\0\0\0";
    assert!(
        plain.ends_with(end),
        "{:?}",
        String::from_utf8_lossy(&plain)
    );
}

#[test]
fn labels_are_blocks_and_slabs_make_the_bytes_of_the_whole() {
    let mut seen = 0;
    for voxels in grids()
        .into_iter()
        .filter(|voxels| voxels.kind() == CellKind::Labels)
    {
        for up in [None, Some("y")] {
            let voxels = with_up(&voxels, up);
            let labels = voxels.labels().unwrap();
            let bytes = written(&voxels, None);
            let (schematic, blocks) = parse(&bytes);
            let of = schematic.of("Metadata").of("VoxelizeBlocks");
            let [_, ny, _] = voxels.dims();
            let place = |[i, j, k]: [usize; 3]| {
                if up.is_none() {
                    [i, k, ny - 1 - j]
                } else {
                    [i, j, k]
                }
            };
            let cells: Vec<([usize; 3], u8)> = labels.iter().collect();
            assert_eq!(blocks.len(), cells.len());
            for (cell, value) in cells {
                assert_eq!(
                    blocks[&place(cell)],
                    of.of(&value.to_string()).text(),
                    "{cell:?} {value}"
                );
            }
            for height in [1, 4, 10] {
                let mut slabs = Vec::new();
                let mut source = Split::new(&voxels, height);
                format::write_source_to(&mut source, &mut slabs, schem(), &SaveOptions::default())
                    .unwrap();
                assert!(slabs == bytes, "{height} {up:?}");
            }
            let (schematic, blocks) = parse(&written(&voxels, Some(Dtype::Bool)));
            assert!(blocks.values().all(|block| block == "minecraft:stone"));
            assert!(!schematic.of("Metadata").has("VoxelizeBlocks"));
            seen += 1;
        }
    }
    assert_eq!(seen, 16);
    for up in [None, Some("y")] {
        let voxels = with_up(&at_odd_place(scattered([70, 9, 11])), up);
        for height in [1, 5] {
            let mut slabs = Vec::new();
            let mut source = Split::new(&voxels, height);
            format::write_source_to(&mut source, &mut slabs, schem(), &SaveOptions::default())
                .unwrap();
            assert!(slabs == written(&voxels, None), "{height} {up:?}");
        }
    }
}

/// Names of labels that exceed the length of a text in NBT are omitted. The file contains everything else.
#[test]
fn names_longer_than_a_text_are_left_out() {
    let legend =
        Legend::new((1..=255).map(|n| Label::new(n, format!("{n} {}", "ü".repeat(125))))).unwrap();
    let mut labels = Labels::new([3, 1, 1], legend).unwrap();
    labels.set([1, 0, 0], 255);
    let voxels = Voxels {
        cells: Cells::Labels(labels),
        ..at_odd_place(BitGrid::new([3, 1, 1]).unwrap())
    };
    let (schematic, blocks) = parse(&written(&voxels, None));
    let json: serde_json::Value =
        serde_json::from_str(schematic.of("Metadata").of("Voxelize").text()).unwrap();
    assert_eq!(
        (json.get("labels"), &json["dims"]),
        (None, &serde_json::json!([3, 1, 1]))
    );
    assert_eq!(blocks.len(), 1);
}

#[cfg(feature = "cli")]
#[test]
fn a_file_holds_65535_blocks_an_axis_and_fewer_than_two_to_the_31() {
    let lattice = |dims: [usize; 3]| {
        Lattice::new(
            dims,
            [(); 3].map(|()| Rational::ZERO),
            [(); 3].map(|()| Rational::ONE),
            [true; 3],
        )
        .unwrap()
    };
    let check = |dims| {
        format::check(
            CellKind::Bits,
            &lattice(dims),
            schem(),
            &SaveOptions::default(),
        )
    };
    for dims in [
        [257, 2001, 3],
        [65_535, 1, 1],
        [1, 1, 65_535],
        [65_535, 32_767, 1],
        [2047, 1024, 1024],
    ] {
        check(dims).unwrap();
    }
    for dims in [
        [65_536, 1, 1],
        [1, 70_000, 1],
        [65_535, 32_769, 1],
        [2048, 1024, 1024],
    ] {
        let error = check(dims).unwrap_err();
        assert_eq!(error.code(), Code::TooLarge, "{dims:?}: {error}");
    }
    // Shorts are read as unsigned.
    let mut row = BitGrid::new([1, 1, 40_000]).unwrap();
    row.set([0, 0, 39_999]);
    let (schematic, blocks) = parse(&written(&Voxels::new(row), None));
    assert_eq!(schematic.of("Height"), &Tag::Short(40_000));
    assert!(blocks.keys().eq([&[0, 39_999, 0]]));
    let long = Voxels::new(BitGrid::new([70_000, 1, 1]).unwrap());
    let error =
        format::write_to(&long, &mut Vec::new(), schem(), &SaveOptions::default()).unwrap_err();
    assert_eq!(error.code(), Code::TooLarge);
    let place = Place::new();
    for (words, code, said) in [
        (
            "thirds.stl --dims 70000,1,1 -o a.schem",
            5,
            "70000 cells along x",
        ),
        ("thirds.stl -r 70000 -o a.schem", 5, "70000 cells along x"),
        (
            "thirds.stl --dims 3,3,3 --stretch -o a.schem",
            2,
            "not cubes",
        ),
        ("info a.schem", 3, "a.schem"),
    ] {
        let error = refused(&place, words, code);
        assert!(error.contains(said), "{words}: {error}");
    }
    assert!(
        place.files().iter().all(|name| name.ends_with(".stl")),
        "{:?}",
        place.files()
    );
}

/// Formats that are only written: their own marks identify a file of this tool.
#[cfg(feature = "cli")]
#[test]
fn implicit_names_replace_files_of_this_tool_alone() {
    let place = Place::new();
    for name in ["bt", "vtu", "inp", "schem"] {
        let line = format!("cube.stl -r 8 -f {name}");
        place.run(&line).expect(0);
        let bytes = std::fs::read(place.path(&format!("cube.{name}"))).unwrap();
        place.run(&line).expect(0);
        place.write(&format!("cube.{name}"), &bytes[..20]);
        let error = refused(&place, &line, 6);
        assert!(error.contains(&format!("cube.{name}")), "{error}");
        assert_eq!(
            std::fs::read(place.path(&format!("cube.{name}"))).unwrap(),
            bytes[..20]
        );
    }
}
