//! Is a `.vdb` what OpenVDB reads, cell by cell, and are files of other programs read as they mean it?

use std::collections::BTreeMap;
use std::io::Read as _;

use voxelize::format::{Choice, check, read_from, save, write_source_to, write_to};
use voxelize::grid::{Field, Label, LabelDigest, Labels, Legend};
use voxelize::{Cells, Code, Kind};

use super::*;

fn vdb() -> &'static Format {
    format::by_name("vdb").unwrap()
}

fn written(voxels: &Voxels, choices: &[Choice]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_to(voxels, &mut bytes, vdb(), &SaveOptions { choices, ..SaveOptions::default() }).unwrap();
    bytes
}

fn read_vdb(bytes: &[u8]) -> Result<Voxels> {
    read_from(Cursor::new(bytes), vdb(), None)
}

/// A file as its bytes say it, from the layout that OpenVDB has.
struct ByHand<'a> {
    rest: &'a [u8],
    whole: &'a [u8],
    kind: String,
    is_zipped: bool,
    metadata: BTreeMap<String, Vec<u8>>,
    map: (String, Vec<f64>),
    background: u32,
    /// Lowest cell, cells along a side, value and state of each tile.
    tiles: Vec<([i32; 3], i32, u32, bool)>,
    /// Lowest cell, mask and values of each leaf.
    leaves: Vec<([i32; 3], Vec<u8>, Vec<u32>)>,
}

impl<'a> ByHand<'a> {
    fn of(whole: &'a [u8]) -> Self {
        let mut file = ByHand {
            rest: whole,
            whole,
            kind: String::new(),
            is_zipped: false,
            metadata: BTreeMap::new(),
            map: (String::new(), vec![]),
            background: 0,
            tiles: vec![],
            leaves: vec![],
        };
        file.read();
        file
    }

    fn at(&self) -> i64 {
        (self.whole.len() - self.rest.len()) as i64
    }

    fn take(&mut self, count: usize) -> &'a [u8] {
        let (some, rest) = self.rest.split_at(count);
        self.rest = rest;
        some
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take(4).try_into().unwrap())
    }

    fn i64(&mut self) -> i64 {
        i64::from_le_bytes(self.take(8).try_into().unwrap())
    }

    fn text(&mut self) -> String {
        let length = self.u32();
        String::from_utf8(self.take(length as usize).to_vec()).unwrap()
    }

    fn origin(&mut self) -> [i32; 3] {
        [(); 3].map(|()| self.u32() as i32)
    }

    fn width(&self) -> usize {
        if self.kind == "Tree_bool_5_4_3" { 1 } else { 4 }
    }

    fn value(&mut self) -> u32 {
        let mut bytes = [0; 4];
        let width = self.width();
        bytes[..width].copy_from_slice(self.take(width));
        u32::from_le_bytes(bytes)
    }

    fn read(&mut self) {
        assert_eq!(self.take(8), b" BDV\0\0\0\0");
        assert_eq!(self.u32(), 224);
        let _library = [self.u32(), self.u32()];
        assert_eq!(self.take(1), [1], "offsets");
        let uuid = std::str::from_utf8(self.take(36)).unwrap();
        assert!(uuid.split('-').map(str::len).eq([8, 4, 4, 4, 12]), "{uuid}");
        assert_eq!((self.u32(), self.u32()), (0, 1), "metadata, grids");
        let name = self.text();
        self.kind = self.text();
        assert_eq!(self.text(), "", "an instance");
        let offsets = [self.i64(), self.i64(), self.i64()];
        assert_eq!(offsets[0], self.at());
        let compression = self.u32();
        assert!([2, 3].contains(&compression));
        self.is_zipped = compression == 3;
        for _ in 0..self.u32() {
            let (key, kind) = (self.text(), self.text());
            let length = self.u32() as usize;
            let expected = match &*kind {
                "bool" => Some(1),
                "int64" => Some(8),
                "vec3i" => Some(12),
                _ => None,
            };
            assert!(expected.is_none_or(|expected| expected == length), "{key}");
            let value = self.take(length).to_vec();
            self.metadata.insert(key, value);
        }
        assert_eq!(self.metadata["name"], name.as_bytes());
        let map = self.text();
        let doubles = (0..18).map(|_| f64::from_le_bytes(self.take(8).try_into().unwrap())).collect();
        self.map = (map, doubles);
        self.tree();
        assert_eq!(offsets[1], self.at());
        for n in 0..self.leaves.len() {
            let (origin, mask) = (self.leaves[n].0, self.leaves[n].1.clone());
            assert_eq!(self.take(64), mask);
            self.leaves[n].2 = if self.width() == 1 {
                assert_eq!(self.origin(), origin);
                let values = self.take(64);
                (0..512).map(|n| u32::from(values[n / 8] >> (n % 8) & 1)).collect()
            } else {
                self.values(&mask)
            };
        }
        assert_eq!((offsets[2], self.rest.len()), (self.at(), 0));
    }

    fn tree(&mut self) {
        assert_eq!(self.u32(), 1, "buffers");
        self.background = self.value();
        let [tiles, children] = [self.u32(), self.u32()];
        for _ in 0..tiles {
            let tile = (self.origin(), 4096, self.value(), self.take(1) == [1]);
            self.tiles.push(tile);
        }
        let mut last = [i32::MIN; 3];
        for _ in 0..children {
            let origin = self.origin();
            assert!(last < origin && origin.iter().all(|n| n % 4096 == 0));
            last = origin;
            self.node(origin, 32, 128);
        }
    }

    fn node(&mut self, origin: [i32; 3], along: usize, side: i32) {
        let count = along * along * along;
        let [children, active] = [self.take(count / 8), self.take(count / 8)];
        let values = self.values(active);
        let is_on = |mask: &[u8], n: usize| mask[n / 8] >> (n % 8) & 1 == 1;
        let place = |n: usize| {
            let within = [n / (along * along), n / along % along, n % along];
            [0, 1, 2].map(|axis| origin[axis] + side * within[axis] as i32)
        };
        for (n, value) in values.into_iter().enumerate().take(count) {
            let is_active = is_on(active, n);
            if is_on(children, n) {
                assert!(!is_active);
            } else if is_active || value != self.background {
                self.tiles.push((place(n), side, value, is_active));
            }
        }
        for n in (0..count).filter(|n| is_on(children, *n)) {
            if side == 128 {
                self.node(place(n), 16, 8);
            } else {
                let mask = self.take(64).to_vec();
                self.leaves.push((place(n), mask, vec![]));
            }
        }
    }

    fn values(&mut self, active: &[u8]) -> Vec<u32> {
        let [kind] = self.take(1) else { panic!() };
        let which = match kind {
            0 => vec![0xff; active.len()],
            1 => vec![0; active.len()],
            3 => self.take(active.len()).to_vec(),
            other => panic!("kind {other}"),
        };
        let width = self.width();
        let bytes = width * active.iter().map(|byte| byte.count_ones() as usize).sum::<usize>();
        let data = match self.is_zipped {
            false => self.take(bytes).to_vec(),
            true => match self.i64() {
                raw if raw <= 0 => {
                    assert_eq!(-raw, bytes as i64);
                    self.take(bytes).to_vec()
                }
                packed => {
                    let mut data = vec![];
                    flate2::read::ZlibDecoder::new(self.take(packed as usize))
                        .read_to_end(&mut data)
                        .unwrap();
                    data
                }
            },
        };
        assert_eq!(data.len(), bytes);
        let mut data = data.chunks(width).map(|value| {
            let mut bytes = [0; 4];
            bytes[..width].copy_from_slice(value);
            u32::from_le_bytes(bytes)
        });
        let is_on = |mask: &[u8], n: usize| mask[n / 8] >> (n % 8) & 1 == 1;
        let other = |n: usize| if is_on(&which, n) { self.background } else { self.background ^ 1 << 31 };
        (0..8 * active.len())
            .map(|n| if is_on(active, n) { data.next().unwrap() } else { other(n) })
            .collect()
    }

    fn words(&self, key: &str) -> &str {
        std::str::from_utf8(&self.metadata[key]).unwrap()
    }

    fn cell(&self, key: &str) -> [i32; 3] {
        let bytes = &self.metadata[key];
        [0, 4, 8].map(|n| i32::from_le_bytes(bytes[n..n + 4].try_into().unwrap()))
    }

    /// The value and the state of every cell of a grid, x fastest; nothing is active or another value elsewhere.
    fn cells(&self, dims: [usize; 3]) -> Vec<(u32, bool)> {
        let mut cells = vec![(self.background, false); dims.iter().product()];
        let mut put = |cell: [i32; 3], value: u32, is_active: bool| {
            let is_in = (0..3).all(|n| (0..dims[n] as i32).contains(&cell[n]));
            if is_in {
                let [x, y, z] = cell.map(|n| n as usize);
                cells[(z * dims[1] + y) * dims[0] + x] = (value, is_active);
            } else {
                assert!(!is_active && value == self.background, "{cell:?} is not of the grid");
            }
        };
        let mut cube = |origin: [i32; 3], side: i32, value: &dyn Fn(usize) -> (u32, bool)| {
            for n in 0..(side * side * side) as usize {
                let s = side as usize;
                let within = [n / (s * s), n / s % s, n % s];
                let (bits, is_active) = value(n);
                put([0, 1, 2].map(|axis| origin[axis] + within[axis] as i32), bits, is_active);
            }
        };
        for (origin, side, bits, is_active) in &self.tiles {
            assert!(*side < 4096);
            cube(*origin, *side, &|_| (*bits, *is_active));
        }
        for (origin, mask, values) in &self.leaves {
            cube(*origin, 8, &|n| (values[n], mask[n / 8] >> (n % 8) & 1 == 1));
        }
        cells
    }
}

/// A ball of signed distances in a band, with the far inside at minus the background.
fn ball(dims: [usize; 3], radius: f32, background: f32) -> Field {
    let mut field = Field::new(dims, background).unwrap();
    for (k, j, i) in
        (0..dims[2]).flat_map(|k| (0..dims[1]).flat_map(move |j| (0..dims[0]).map(move |i| (k, j, i))))
    {
        let far =
            [i, j, k].iter().zip(dims).map(|(n, all)| (*n as f32 - all as f32 / 2.0).powi(2)).sum::<f32>();
        let value = far.sqrt() - radius;
        field.set([i, j, k], value.clamp(-background, background));
    }
    field
}

/// Labels of three values in strange places, and whole blocks of one.
fn labelled(dims: [usize; 3]) -> Labels {
    let legend = Legend::new([3, 200, 255].map(|n| Label::new(n, format!("label {n}")))).unwrap();
    let mut labels = Labels::new(dims, legend.with_digest(LabelDigest::Values)).unwrap();
    for (n, cell) in scattered(dims).iter().enumerate() {
        labels.set(cell, [3, 200, 255][n * n % 7 % 3]);
    }
    for n in 0..16 * 16 * 16 {
        labels.set([n % 16, n / 16 % 16, n / 256], 200);
    }
    labels
}

fn on_a_lattice(cells: impl Into<Cells>) -> Voxels {
    let cells = cells.into();
    let bits = BitGrid::new(cells.as_ref().dims()).unwrap();
    Voxels { cells, ..at_odd_place(bits) }
}

/// The value and the state that a cell is to have, x fastest.
fn expected(cells: &Cells, is_fog: bool) -> Vec<(u32, bool)> {
    let [nx, ny, nz] = cells.as_ref().dims();
    let all = (0..nz).flat_map(|k| (0..ny).flat_map(move |j| (0..nx).map(move |i| [i, j, k])));
    let value = |cell: [usize; 3]| match cells {
        Cells::Bits(bits) if bits.get(cell) => (if is_fog { 1_f32.to_bits() } else { 1 }, true),
        Cells::Labels(labels) if labels.get(cell) > 0 && is_fog => (1_f32.to_bits(), true),
        Cells::Labels(labels) if labels.get(cell) > 0 => (labels.get(cell).into(), true),
        Cells::Field(field) => {
            let value = field.get(cell);
            let bits = if value.is_nan() { 0x7fc0_0000 } else { value.to_bits() };
            (bits, !field.is_background(value) && !field.is_negated(value))
        }
        _ => (0, false),
    };
    all.map(value).collect()
}

#[test]
fn every_cell_of_every_kind_is_in_the_tree_and_comes_back() {
    let grids: Vec<Cells> = vec![
        f_grid().into(),
        scattered([300, 19, 23]).into(),
        BitGrid::new([5, 4, 3]).unwrap().into(),
        full([144, 136, 130]).into(),
        labelled([70, 33, 40]).into(),
        ball([60, 50, 41], 19.0, 3.0).into(),
        ball([30, 30, 30], 9.0, 0.25).into(),
        ball([30, 30, 30], 9.0, f32::INFINITY).into(),
        Field::new([20, 20, 20], -1.5).unwrap().into(),
    ];
    let mut seen = 0;
    for cells in grids {
        let voxels = on_a_lattice(cells);
        let is_field = voxels.kind() == CellKind::Field;
        let choices =
            [&[][..], &[Choice::Uncompressed], &[Choice::VdbFog], &[Choice::VdbFog, Choice::Uncompressed]];
        for choices in &choices[..if is_field { 2 } else { 4 }] {
            let is_fog = choices.contains(&Choice::VdbFog);
            let bytes = written(&voxels, choices);
            let file = ByHand::of(&bytes);
            let expected = expected(&voxels.cells, is_fog);
            assert!(file.cells(voxels.dims()) == expected, "{:?} {choices:?}", voxels.cells);
            let active = expected.iter().filter(|(_, is_active)| *is_active).count() as u64;
            assert_eq!(file.metadata["file_voxel_count"], active.to_le_bytes());
            let back = read_vdb(&bytes).unwrap();
            if is_fog && voxels.kind() == CellKind::Labels {
                assert_eq!(back.cells, voxels.occupied().unwrap().clone().into());
            } else {
                assert_eq!(back, voxels, "{choices:?}");
                assert_eq!(back.digest(), voxels.digest());
            }
            seen += 1;
        }
    }
    assert_eq!(seen, 5 * 4 + 4 * 2);
}

#[test]
fn whole_leaves_and_nodes_are_tiles() {
    let tiles = |cells: Cells| {
        let bytes = written(&Voxels::new(cells), &[]);
        let file = ByHand::of(&bytes);
        let of = |side: i32, is_active: bool| {
            file.tiles.iter().filter(|(_, s, _, a)| (*s, *a) == (side, is_active)).count()
        };
        (of(128, true), of(8, true), of(128, false), of(8, false), file.leaves.len())
    };
    assert_eq!(tiles(full([128, 256, 129]).into()), (2, 0, 0, 0, 16 * 32));
    assert_eq!(tiles(full([16, 24, 8]).into()), (0, 6, 0, 0, 0));
    // Of a ball the inside.
    let (_, active, _, inside, leaves) = tiles(ball([40, 40, 40], 19.0, 1.0).into());
    assert!(active == 0 && inside > 10 && leaves > 50, "{inside} {leaves}");
    let negative = Field::from_values([128, 128, 128], 3.0, vec![-3.0; 128 * 128 * 128]).unwrap();
    assert_eq!(tiles(negative.clone().into()), (0, 0, 1, 0, 0));
    let back = read_vdb(&written(&Voxels::new(negative.clone()), &[])).unwrap();
    assert_eq!(back.cells, negative.into());
    // Equal values are a tile, others not.
    let mut field = Field::from_values([8, 8, 8], 3.0, vec![0.5; 512]).unwrap();
    assert_eq!(tiles(field.clone().into()), (0, 1, 0, 0, 0));
    field.set([7, 7, 7], -0.0);
    assert_eq!(tiles(field.into()), (0, 0, 0, 0, 1));
}

#[test]
fn grids_beyond_a_child_of_the_root_have_several() {
    let mut seen = 0;
    for dims in [[9000, 3, 2], [2, 4097, 3], [3, 2, 8193]] {
        let bits = scattered(dims);
        let mut field = Field::new(dims, 2.0).unwrap();
        bits.iter().enumerate().for_each(|(n, cell)| field.set(cell, -(n as f32)));
        for cells in [Cells::from(bits), field.into()] {
            let voxels = on_a_lattice(cells);
            let bytes = written(&voxels, &[]);
            assert!(ByHand::of(&bytes).cells(dims) == expected(&voxels.cells, false), "{dims:?}");
            assert_eq!(read_vdb(&bytes).unwrap(), voxels);
            seen += 1;
        }
    }
    assert_eq!(seen, 6);
}

#[test]
fn names_classes_boxes_and_maps_are_what_programs_expect() {
    let f = on_a_lattice(f_grid());
    let plain = written(&f, &[]);
    let file = ByHand::of(&plain);
    let facts = |file: &ByHand| [file.words("name"), file.words("class"), &file.kind].map(str::to_string);
    assert_eq!(facts(&file), ["voxels", "unknown", "Tree_bool_5_4_3"]);
    assert_eq!((file.cell("file_bbox_min"), file.cell("file_bbox_max")), ([0; 3], [2, 3, 1]));
    assert_eq!(
        (file.words("file_compression"), &*file.metadata["is_saved_as_half_float"]),
        ("zip + active values", &[0][..])
    );
    assert!(
        file.words("voxelize").contains(r#""spacing":["1/10","1/10","1/10"]"#),
        "{}",
        file.words("voxelize")
    );
    // The centre of the first cell; then sizes twice, their inverses, squares of these, and halves.
    let (map, numbers) = &file.map;
    let centre = [-1.0 / 3.0 + 0.05, 22.0 / 7.0 + 0.05, 5.05];
    assert!(
        map == "UniformScaleTranslateMap"
            && numbers[..3].iter().zip(centre).all(|(a, b)| (a - b).abs() < 1e-15)
    );
    assert_eq!(numbers[3..9], [0.1; 6]);
    assert_eq!(numbers[9..], [[10.0; 3], [100.0; 3], [5.0; 3]].concat());
    let fog = written(&f, &[Choice::VdbFog]);
    assert_eq!(facts(&ByHand::of(&fog)), ["density", "fog volume", "Tree_float_5_4_3"]);
    let labels = written(&on_a_lattice(labelled([16, 16, 16])), &[]);
    assert_eq!(facts(&ByHand::of(&labels)), ["voxels", "unknown", "Tree_int32_5_4_3"]);
    // No cell: as OpenVDB has it.
    let empty = written(&Voxels::new(BitGrid::new([9, 9, 9]).unwrap()), &[]);
    let empty = ByHand::of(&empty);
    assert_eq!((empty.cell("file_bbox_min"), empty.cell("file_bbox_max")), ([i32::MAX; 3], [i32::MIN; 3]));
    assert_eq!((empty.map.1[..6].to_vec(), empty.leaves.len()), (vec![0.5, 0.5, 0.5, 1.0, 1.0, 1.0], 0));
    assert_ne!(plain[21..57], fog[21..57], "the uuids of different files differ");
}

#[test]
fn only_a_signed_distance_in_a_band_of_cubes_is_a_level_set() {
    let mut seen = 0;
    for (rule, variant, background, stretched, expected) in [
        ("distance", Some("signed"), 0.3, false, ["distance", "level set"]),
        ("distance", Some("signed"), f32::INFINITY, false, ["distance", "unknown"]),
        ("distance", Some("signed"), 0.3, true, ["distance", "unknown"]),
        ("distance", None, 0.3, false, ["distance", "unknown"]),
        ("other", Some("signed"), 0.3, false, ["values", "unknown"]),
    ] {
        let mut voxels = on_a_lattice(ball([20, 20, 20], 7.0, background));
        voxels.record.rule_name = Some(rule.to_string());
        voxels.record.fields = variant.map(|variant| ("variant", variant.to_string())).into_iter().collect();
        if stretched {
            let spacing = [Rational::ONE, Rational::ONE, Rational::new(1, 2)];
            let origin = [(); 3].map(|()| Rational::ZERO);
            let lattice = Lattice::new([20; 3], origin, spacing, [true; 3]).unwrap();
            voxels.lattice = Some(lattice.with_snap(voxelize::Snap::None));
        }
        let bytes = written(&voxels, &[]);
        let file = ByHand::of(&bytes);
        assert_eq!([file.words("name"), file.words("class")], expected);
        assert_eq!(f32::from_bits(file.background), background);
        assert_eq!(file.map.0 == "ScaleTranslateMap", stretched);
        assert_eq!(read_vdb(&bytes).unwrap(), voxels);
        seen += 1;
    }
    assert_eq!(seen, 5);
}

/// Sizes far from one are neither lost nor infinite.
#[test]
fn cells_of_any_size_come_back() {
    let mut seen = 0;
    for digits in ["1e-50", "1e50", "0.3"] {
        let size = Rational::parse_decimal(digits).unwrap();
        let origin = [(); 3].map(|()| Rational::ZERO);
        let lattice = Lattice::new([3, 4, 2], origin, [(); 3].map(|()| size.clone()), [true; 3]).unwrap();
        let lattice = Some(lattice.with_snap(voxelize::Snap::None));
        let voxels = Voxels { lattice, ..at_odd_place(f_grid()) };
        assert_eq!(read_vdb(&written(&voxels, &[])).unwrap(), voxels);
        seen += 1;
    }
    assert_eq!(seen, 3);
}

#[test]
fn slabs_of_any_height_make_the_same_bytes() {
    let mesh = voxelize::Mesh::open("fixtures/f.stl").unwrap();
    let lattice = Lattice::fit(mesh.bounds(), 45).unwrap();
    let mut seen = 0;
    for rule in [voxelize::Rule::surface(), voxelize::Rule::distance().with_sign().unwrap()] {
        let voxelizer = voxelize::Voxelizer::new(rule);
        let made = |height: usize, choices: &[Choice]| {
            let mut slabs = voxelizer.slabs(&mesh, &lattice, voxelize::run::Plan::Slabs(height)).unwrap();
            let mut bytes = Vec::new();
            let options = SaveOptions { choices, ..SaveOptions::default() };
            write_source_to(&mut slabs, &mut bytes, vdb(), &options).unwrap();
            bytes
        };
        for choices in [&[][..], &[Choice::Uncompressed]] {
            let whole = made(lattice.dims()[2].next_multiple_of(8), choices);
            assert!(ByHand::of(&whole).leaves.len() > 20);
            for height in [8, 16, 24] {
                assert!(made(height, choices) == whole, "{height}");
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 12);
}

#[test]
fn fog_is_for_occupied_cells_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.vdb");
    let fog = |dtype| SaveOptions { dtype, choices: &[Choice::VdbFog], ..SaveOptions::default() };
    let field = on_a_lattice(ball([8, 8, 8], 3.0, 1.0));
    let error = save(&field, &path, vdb(), &fog(None)).unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (Kind::Usage, "'vdb fog' is for bits and labels, not for fields")
    );
    let lattice = field.lattice.unwrap();
    assert_eq!(check(CellKind::Field, &lattice, vdb(), &fog(None)).unwrap_err(), error);
    let error = save(&at_odd_place(f_grid()), &path, vdb(), &fog(Some(Dtype::U8))).unwrap_err();
    assert_eq!(error.message(), "'vdb fog' stores cells as 'bool', not 'u8'");
    assert!(!path.exists());
    save(&at_odd_place(f_grid()), &path, vdb(), &fog(Some(Dtype::Bool))).unwrap();
    assert_eq!(Voxels::open(&path).unwrap(), at_odd_place(f_grid()));
}

/// A file of another program: one grid with one leaf, whose lowest cell is (-8, 0, 16), or what a case changes of it.
struct Foreign {
    version: u32,
    has_offsets: bool,
    kind: &'static str,
    compression: u32,
    json: Option<String>,
    map: Vec<u8>,
    background: Vec<u8>,
    tiles: Vec<([i32; 3], Vec<u8>, bool)>,
    root: [i32; 3],
    /// Values of tiles of the nodes as they stand in the file, those of the leaf, and its mask.
    no_values: Vec<u8>,
    values: Vec<u8>,
    mask: [u8; 64],
    /// Another grid before it, of a type that holds no cells.
    before: bool,
}

fn put_text(text: &str) -> Vec<u8> {
    [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat()
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn uniform_map(centre: [f64; 3], size: f64) -> Vec<u8> {
    let numbers = [centre, [size; 3], [size; 3], [1.0 / size; 3], [1.0 / size / size; 3], [0.5 / size; 3]];
    [
        put_text("UniformScaleTranslateMap"),
        numbers.as_flattened().iter().flat_map(|n| n.to_le_bytes()).collect(),
    ]
    .concat()
}

/// The first and the last cell.
fn ends() -> [u8; 64] {
    let mut mask = [0; 64];
    (mask[0], mask[63]) = (1, 0x80);
    mask
}

impl Default for Foreign {
    fn default() -> Self {
        Self {
            version: 224,
            has_offsets: true,
            kind: "Tree_float_5_4_3",
            compression: 2,
            json: None,
            map: uniform_map([1.0, 2.0, 3.0], 0.5),
            background: floats(&[4.0]),
            tiles: vec![],
            root: [-4096, 0, 0],
            no_values: vec![0],
            values: [vec![0], floats(&[1.0, 2.0])].concat(),
            mask: ends(),
            before: false,
        }
    }
}

impl Foreign {
    fn grid(&self) -> [Vec<u8>; 2] {
        let mut head = self.compression.to_le_bytes().to_vec();
        let text = |name: &str, value: &str| [put_text(name), put_text("string"), put_text(value)].concat();
        let delayed =
            [put_text("file_delayed_load"), put_text("__delayedload"), put_text("anything")].concat();
        let mut entries = vec![text("name", "a"), delayed];
        entries.extend(self.json.as_ref().map(|json| text("voxelize", json)));
        head.extend((entries.len() as u32).to_le_bytes());
        head.extend(entries.concat());
        head.extend(&self.map);
        head.extend(1_u32.to_le_bytes());
        head.extend(&self.background);
        head.extend((self.tiles.len() as u32).to_le_bytes());
        head.extend(1_u32.to_le_bytes());
        for (origin, value, is_active) in &self.tiles {
            head.extend(origin.iter().flat_map(|n| n.to_le_bytes()));
            head.extend(value);
            head.push(u8::from(*is_active));
        }
        head.extend(self.root.iter().flat_map(|n| n.to_le_bytes()));
        for (count, place) in [(32768, 31 * 32 * 32), (4096, 15 * 256 + 2)] {
            let mut masks = vec![0_u8; 2 * count / 8];
            masks[place / 8] |= 1 << (place % 8);
            head.extend(masks);
            head.extend(&self.no_values);
        }
        head.extend(self.mask);
        let mut buffers = self.mask.to_vec();
        if self.kind.contains("bool") {
            buffers.extend(
                [self.root[0] + 4088, self.root[1], self.root[2] + 16].iter().flat_map(|n| n.to_le_bytes()),
            );
        }
        buffers.extend(&self.values);
        [head, buffers]
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = b" BDV\0\0\0\0".to_vec();
        [self.version, 9, 1].iter().for_each(|n| bytes.extend(n.to_le_bytes()));
        bytes.push(u8::from(self.has_offsets));
        bytes.extend([b'x'; 36]);
        bytes.extend(
            [1_u32.to_le_bytes().to_vec(), put_text("by"), put_text("string"), put_text("hand")].concat(),
        );
        bytes.extend((1 + u32::from(self.before)).to_le_bytes());
        let mut put = |name: &str, kind: &str, parts: [Vec<u8>; 2]| {
            bytes.extend([put_text(name), put_text(kind), put_text("")].concat());
            let start = bytes.len() + 24;
            let buffers = start + parts[0].len();
            let offsets = [start, buffers, buffers + parts[1].len()]
                .map(|n| if self.has_offsets { n as u64 } else { 0 });
            bytes.extend(offsets.iter().flat_map(|n| n.to_le_bytes()));
            bytes.extend(parts.concat());
        };
        if self.before {
            put("v", "Tree_vec3s_5_4_3", [vec![1; 99], vec![2; 7]]);
        }
        put("a", self.kind, self.grid());
        bytes
    }
}

fn doubles(name: &str, numbers: &[f64]) -> Vec<u8> {
    [put_text(name), numbers.iter().flat_map(|n| n.to_le_bytes()).collect()].concat()
}

/// The values of the leaf, z fastest.
fn values_of(voxels: &Voxels) -> Vec<f32> {
    let field = voxels.field().unwrap();
    assert_eq!(field.dims(), [8; 3]);
    (0..512).map(|n| field.get([n / 64, n / 8 % 8, n % 8])).collect()
}

/// The zlib stream of some values, behind its length.
fn zipped(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    flate2::read::ZlibEncoder::new(bytes, flate2::Compression::best()).read_to_end(&mut packed).unwrap();
    [&(packed.len() as i64).to_le_bytes()[..], &packed].concat()
}

#[test]
fn values_of_other_programs_are_read_however_they_are_stored() {
    // Where a mask says which of two values an inactive cell has.
    let mut which = [0_u8; 64];
    which[1] = 0b1010;
    let chosen = |n: usize| n == 9 || n == 11;
    let all: Vec<f32> = (0..512).map(|n| n as f32 / 8.0).collect();
    let active = floats(&[1.0, 2.0]);
    let no_zip = 0_i64.to_le_bytes();
    let case = |values: &[&[u8]], other: fn(bool) -> f32| {
        let expected = (0..512).map(|n| match n {
            0 => 1.0,
            511 => 2.0,
            n => other(chosen(n)),
        });
        (Foreign { values: values.concat(), ..Foreign::default() }, expected.collect::<Vec<f32>>())
    };
    let halves: Vec<u8> = [0x3c00_u16, 0x4000].iter().flat_map(|half| half.to_le_bytes()).collect();
    let lz4 = {
        // 512 floats of 1.0, in four streams of one byte each: 0, 0, 0x80, 0x3f.
        let stream = |byte: u8| [&[0x1f, byte, 1, 0, 255, 236][..], &[0x10, byte]].concat();
        let streams: Vec<_> = [0, 0, 0x80, 0x3f]
            .map(stream)
            .iter()
            .flat_map(|s| [&8_u32.to_le_bytes()[..], s].concat())
            .collect();
        let length = 16 + 4 + streams.len() as u32;
        let numbers: Vec<u8> = [2048, 2048, length, 20].iter().flat_map(|n: &u32| n.to_le_bytes()).collect();
        [&i64::from(length).to_le_bytes()[..], &[2, 1, 0x21, 4], &numbers, &streams].concat()
    };
    let cases = [
        case(&[&[0], &active], |_| 4.0),
        case(&[&[1], &active], |_| -4.0),
        case(&[&[2], &floats(&[7.0]), &active], |_| 7.0),
        case(&[&[3], &which, &active], |chosen| if chosen { 4.0 } else { -4.0 }),
        case(&[&[4], &floats(&[7.0]), &which, &active], |chosen| if chosen { 4.0 } else { 7.0 }),
        case(&[&[5], &floats(&[7.0, 9.0]), &which, &active], |chosen| if chosen { 9.0 } else { 7.0 }),
        (Foreign { values: [vec![6], floats(&all)].concat(), ..Foreign::default() }, all.clone()),
        // Every value of every node.
        (
            Foreign {
                compression: 0,
                values: [vec![6], floats(&all)].concat(),
                no_values: vec![6],
                ..Foreign::default()
            },
            all.clone(),
        ),
        (
            Foreign {
                compression: 3,
                no_values: [&[0][..], &no_zip].concat(),
                values: [&[6][..], &zipped(&floats(&all))].concat(),
                ..Foreign::default()
            },
            all.clone(),
        ),
        (
            Foreign {
                compression: 3,
                no_values: [&[0][..], &no_zip].concat(),
                values: [&[1][..], &(-8_i64).to_le_bytes(), &active].concat(),
                ..Foreign::default()
            },
            (0..512)
                .map(|n| {
                    [1.0, 2.0, -4.0][match n {
                        0 => 0,
                        511 => 1,
                        _ => 2,
                    }]
                })
                .collect(),
        ),
        (
            Foreign {
                kind: "Tree_float_5_4_3_HalfFloat",
                values: [&[2][..], &floats(&[0.25]), &halves].concat(),
                ..Foreign::default()
            },
            (0..512)
                .map(|n| {
                    [1.0, 2.0, 0.25][match n {
                        0 => 0,
                        511 => 1,
                        _ => 2,
                    }]
                })
                .collect(),
        ),
        (
            Foreign {
                compression: 6,
                no_values: [&[0][..], &no_zip].concat(),
                values: [&[6][..], &lz4].concat(),
                ..Foreign::default()
            },
            vec![1.0; 512],
        ),
    ];
    let mut seen = 0;
    for (mut file, expected) in cases {
        // The nodes of the case without compression have all their values.
        if file.compression == 0 {
            let bytes = without_compression(&file);
            assert_eq!(values_of(&read_vdb(&bytes).unwrap()), expected, "case {seen}");
        } else {
            for version in 222..=225 {
                file.version = version;
                let found = read_vdb(&file.bytes()).unwrap_or_else(|error| panic!("case {seen}: {error}"));
                assert_eq!(values_of(&found), expected, "case {seen}");
                assert_eq!(found.field().unwrap().background(), 4.0);
            }
        }
        seen += 1;
    }
    assert_eq!(seen, 12);
}

/// A file whose nodes have the values of all their places.
fn without_compression(file: &Foreign) -> Vec<u8> {
    let [head, buffers] = file.grid();
    let start = head.len() - 64 - 2 * (1 + 512) - 2 * 4096;
    let mut nodes = head[start..].to_vec();
    let (upper, rest) = nodes.split_at(2 * 4096 + 1);
    let (middle, mask) = rest.split_at(2 * 512 + 1);
    let [many, some] = [32768, 4096].map(|count| floats(&vec![4.0; count]));
    nodes = [upper, &many, middle, &some, mask].concat();
    let whole = file.bytes();
    let at = whole.len() - head.len() - buffers.len();
    let mut bytes = whole[..at].to_vec();
    let start = [head[..start].to_vec(), nodes].concat();
    let offsets = [at, at + start.len(), at + start.len() + buffers.len()];
    let place = at - 24;
    bytes[place..].copy_from_slice(&offsets.map(|n| (n as u64).to_le_bytes()).concat());
    [bytes, start, buffers].concat()
}

#[test]
fn cells_of_other_programs_are_where_their_maps_say() {
    let zero = [0.0; 3];
    let scale = |sizes: [f64; 3]| {
        [sizes, sizes, sizes.map(|s| 1.0 / s), sizes.map(|s| 1.0 / s / s), sizes.map(|s| 0.5 / s)].concat()
    };
    let rows =
        [[0.0, 2.0, 0.0, 0.0], [0.25, 0.0, 0.0, 0.0], [0.0, 0.0, -1.0, 0.0], [1.0, 2.0, 3.0, 1.0]].concat();
    let mut seen = 0;
    // The leaf is from (-8, 0, 16) to (-1, 7, 23).
    for (map, origin, spacing, first) in [
        (uniform_map([1.0, 2.0, 3.0], 0.5), [-3.25, 1.75, 10.75], [0.5; 3], [0, 0, 0]),
        (
            doubles("ScaleTranslateMap", &[&[1.0, 2.0, 3.0][..], &scale([0.5, 1.0, 2.0])].concat()),
            [-3.25, 1.5, 34.0],
            [0.5, 1.0, 2.0],
            [0; 3],
        ),
        (doubles("UniformScaleMap", &scale([2.0; 3])), [-17.0, -1.0, 31.0], [2.0; 3], [0; 3]),
        (doubles("ScaleMap", &scale([1.0, 2.0, 4.0])), [-8.5, -1.0, 62.0], [1.0, 2.0, 4.0], [0; 3]),
        (doubles("TranslationMap", &zero), [-8.5, -0.5, 15.5], [1.0; 3], [0; 3]),
        // x of the tree goes along y, y along x, and z down.
        (doubles("AffineMap", &rows), [0.875, -15.0, -20.5], [0.25, 2.0, 1.0], [0, 0, 7]),
    ] {
        let found = read_vdb(&Foreign { map, ..Foreign::default() }.bytes()).unwrap();
        let lattice = found.lattice.as_ref().unwrap();
        let numbers = |values: &[Rational; 3]| values.each_ref().map(Rational::to_f64);
        assert_eq!((numbers(lattice.origin()), numbers(lattice.spacing())), (origin, spacing), "map {seen}");
        assert_eq!(found.field().unwrap().get(first), 1.0, "map {seen}");
        let voxels = Voxels { record: Record::default(), ..found };
        assert_eq!(read_vdb(&written(&voxels, &[])).unwrap(), voxels);
        seen += 1;
    }
    assert_eq!(seen, 6);
}

#[test]
fn grids_of_other_kinds_and_files_of_several() {
    // The first grid that holds cells; and a stream without offsets.
    for file in
        [Foreign { before: true, ..Foreign::default() }, Foreign { has_offsets: false, ..Foreign::default() }]
    {
        assert_eq!(values_of(&read_vdb(&file.bytes()).unwrap())[511], 2.0);
    }
    let both = Foreign { before: true, has_offsets: false, ..Foreign::default() };
    let error = read_vdb(&both.bytes()).unwrap_err();
    assert_eq!(error.message(), "no grid of bool, int32 or float: 'v' is a Tree_vec3s_5_4_3");
    // Of bool, cells whose value is true: not all that are active, and not those beyond the box of these.
    let mut values = ends();
    (values[0], values[1]) = (0, 0b10);
    let bool_tree = Foreign {
        kind: "Tree_bool_5_4_3",
        background: vec![0],
        values: values.to_vec(),
        ..Foreign::default()
    };
    let found = read_vdb(&bool_tree.bytes()).unwrap();
    assert_eq!(found.occupied().unwrap().iter().collect::<Vec<_>>(), [[0, 1, 1], [7, 7, 7]]);
    // Whole numbers are labels, or bits if there is one alone.
    let whole = |numbers: [i32; 2]| Foreign {
        kind: "Tree_int32_5_4_3",
        background: vec![0; 4],
        values: [vec![0], numbers.iter().flat_map(|n| n.to_le_bytes()).collect()].concat(),
        ..Foreign::default()
    };
    let found = read_vdb(&whole([7, 255]).bytes()).unwrap();
    assert_eq!(found.labels().unwrap().iter().collect::<Vec<_>>(), [([0, 0, 0], 7), ([7, 7, 7], 255)]);
    let found = read_vdb(&whole([9, 9]).bytes()).unwrap();
    assert_eq!((found.kind(), found.count()), (CellKind::Bits, 2));
    for numbers in [[1, 256], [-1, 1]] {
        assert_eq!(read_vdb(&whole(numbers).bytes()).unwrap_err().code(), Code::V004);
    }
    // A tile of the root is 4096 cells along each axis; the file is too short for so many.
    let tile = Foreign { tiles: vec![([0; 3], floats(&[1.0]), true)], ..Foreign::default() };
    assert_eq!(read_vdb(&tile.bytes()).unwrap_err().kind(), Kind::TooLarge);
}

#[test]
fn our_description_counts_only_while_it_fits() {
    let json = |dims: &str| format!(r#"{{"tool":"voxelize 9.9","dims":{dims},"background":"4"}}"#);
    let at = |json: String, root: i32| {
        let root = [root, 0, 0];
        read_vdb(&Foreign { json: Some(json), root, ..Foreign::default() }.bytes())
    };
    // The leaf is at (4088, 0, 16): within the dims, beside them, and at negative indices.
    let within = at(json("[4096,8,24]"), 0).unwrap();
    assert_eq!((within.dims(), within.record.tool.as_deref()), ([4096, 8, 24], Some("voxelize 9.9")));
    assert_eq!((within.field().unwrap().get([4095, 7, 23]), within.field().unwrap().get([0; 3])), (2.0, 4.0));
    for (dims, root) in [("[4096,8,23]", 0), ("[4096,8,24]", -4096), ("[0,8,24]", 0)] {
        let other = at(json(dims), root).unwrap();
        assert_eq!((other.dims(), other.record.tool), ([8; 3], None), "{dims}");
    }
    assert_eq!(at("{".into(), 0).unwrap_err().code(), Code::V007);
    // A tile that reaches beyond the grid is cut.
    let tile = Foreign {
        json: Some(json("[4100,8,24]")),
        root: [0; 3],
        tiles: vec![([4096, 0, 0], floats(&[-4.0]), false)],
        ..Foreign::default()
    };
    let found = read_vdb(&tile.bytes()).unwrap();
    assert_eq!(
        (found.field().unwrap().get([4099, 3, 3]), found.field().unwrap().get([4087, 3, 3])),
        (-4.0, 4.0)
    );
}

#[test]
fn broken_files_are_errors_that_say_what() {
    let default = Foreign::default;
    let mut cut = default().bytes();
    cut.pop();
    let mut longer = default().bytes();
    longer.push(0);
    let mut stream = Foreign { has_offsets: false, ..default() }.bytes();
    stream.push(0);
    let mut other_mask = default().bytes();
    let leaf = other_mask.len() - 64 - 9;
    other_mask[leaf] ^= 2;
    let mut early = default().bytes();
    let place = early.len() - default().grid().concat().len() - 16;
    early[place] ^= 1;
    let mut seen = 0;
    for (bytes, code) in [
        (cut, Code::V002),
        (longer, Code::V005),
        (stream, Code::V005),
        (other_mask, Code::V003),
        (early, Code::V003),
        (Foreign { version: 221, ..default() }.bytes(), Code::V004),
        (Foreign { version: 226, ..default() }.bytes(), Code::V004),
        (Foreign { kind: "Tree_double_5_4_3", ..default() }.bytes(), Code::V004),
        (Foreign { compression: 8, ..default() }.bytes(), Code::V003),
        (Foreign { compression: 7, ..default() }.bytes(), Code::V003),
        (Foreign { map: doubles("UnitaryMap", &[0.0; 16]), ..default() }.bytes(), Code::V004),
        (Foreign { map: uniform_map([f64::NAN, 0.0, 0.0], 1.0), ..default() }.bytes(), Code::V003),
        (Foreign { map: uniform_map([0.0; 3], 0.0), ..default() }.bytes(), Code::V003),
        (Foreign { root: [-4095, 0, 0], ..default() }.bytes(), Code::V003),
        (Foreign { values: [vec![7], floats(&[1.0, 2.0])].concat(), ..default() }.bytes(), Code::V003),
        (Foreign { values: [vec![0], floats(&[1.0])].concat(), ..default() }.bytes(), Code::V002),
        (Foreign { values: [vec![0], floats(&[1.0; 3])].concat(), ..default() }.bytes(), Code::V005),
        (Foreign { mask: [0; 64], values: vec![0], ..default() }.bytes(), Code::V004),
        // A zlib stream that is broken, too short, and one that claims to be long.
        (zip_of(&[1, 2, 3]), Code::V003),
        (zip_of(&zipped(&[0; 7])[8..]), Code::V003),
        (zip_of(&zipped(&[0; 9])[8..]), Code::V003),
        (zip_of(&[0; 1000]), Code::V003),
        (b" BDV\0\0\0\x01".to_vec(), Code::V001),
    ] {
        let error = read_vdb(&bytes).unwrap_err();
        assert_eq!(error.code(), code, "{error}, case {seen}");
        seen += 1;
    }
    assert_eq!(seen, 23);
}

/// The default file, zipped, with this as the stream of its leaf.
fn zip_of(packed: &[u8]) -> Vec<u8> {
    let no_values = [&[0][..], &0_i64.to_le_bytes()].concat();
    let values = [&[0][..], &(packed.len() as i64).to_le_bytes(), packed].concat();
    Foreign { compression: 3, no_values, values, ..Foreign::default() }.bytes()
}

/// Two cells at both ends of the numbers that a tree has, and a count of nodes that is not there.
#[test]
fn files_cannot_claim_memory() {
    let far = Foreign {
        tiles: vec![([i32::MIN; 3], floats(&[1.0]), true), ([i32::MAX - 4095; 3], floats(&[1.0]), true)],
        ..Foreign::default()
    };
    assert_eq!(read_vdb(&far.bytes()).unwrap_err().kind(), Kind::Input);
    let json = r#"{"dims":[100000,100000,100000],"background":"4"}"#.to_string();
    let wide = Foreign { json: Some(json), root: [0; 3], ..Foreign::default() };
    assert_eq!(read_vdb(&wide.bytes()).unwrap_err().kind(), Kind::TooLarge);
    let mut many = Foreign::default().bytes();
    let at = many.windows(8).position(|window| window == [0, 0, 0, 0, 1, 0, 0, 0]).unwrap();
    assert!(at > 100);
    many[at..at + 8].fill(0xff);
    assert_eq!(read_vdb(&many).unwrap_err().code(), Code::V003);
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.vdb");
    std::fs::write(&path, Foreign::default().bytes()).unwrap();
    assert!(format::open_within(&path, Some(4096)).is_ok());
    assert_eq!(format::open_within(&path, Some(2000)).unwrap_err().kind(), Kind::TooLarge);
}

#[test]
fn cut_and_changed_files_of_every_choice_never_panic() {
    let mut errors = 0;
    let mut seen = 0;
    for (cells, choices) in [
        (Cells::from(ball([20, 12, 9], 4.0, 1.0)), &[Choice::Uncompressed][..]),
        (ball([20, 12, 9], 4.0, 1.0).into(), &[]),
        (f_grid().into(), &[Choice::VdbFog]),
        (labelled([16, 16, 17]).into(), &[]),
    ] {
        let bytes = written(&on_a_lattice(cells), choices);
        for at in (0..bytes.len()).step_by(7) {
            let error = read_vdb(&bytes[..at]).unwrap_err();
            assert!(error.kind() == Kind::Input && error.code().name().starts_with('V'), "{error}");
            for change in [1, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[at] ^= change;
                match read_vdb(&changed) {
                    Ok(_) => {}
                    Err(error) => {
                        assert!(matches!(error.kind(), Kind::Input | Kind::TooLarge), "{error}");
                        errors += 1;
                    }
                }
                seen += 1;
            }
        }
    }
    assert!(seen > 5000 && errors > seen / 3, "{errors} of {seen}");
}
