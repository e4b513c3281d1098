//! A `.vdb` file is what OpenVDB reads, cell by cell, and files of other programs are read with their
//! meaning.

mod by_hand;
mod files;
mod foreign;

use voxelize::grid::{Field, Label, LabelDigest, Labels, Legend};
use voxelize::{Cells, Rule};

use self::by_hand::ByHand;
use super::*;

fn vdb() -> &'static Format {
    named("vdb")
}

fn bytes_of(voxels: &Voxels, choices: &[Choice]) -> Vec<u8> {
    written(voxels, vdb(), &with_choices(choices)).unwrap()
}

fn read_vdb(bytes: &[u8]) -> Result<Voxels> {
    read(bytes, vdb(), None)
}

/// Returns a ball of signed distances in a band. The far inside has the negated background.
fn ball(dims: [usize; 3], radius: f32, background: f32) -> Field {
    let mut field = Field::new(dims, background).unwrap();
    for cell in every_cell(dims) {
        let squared = |axis: usize| (cell[axis] as f32 - dims[axis] as f32 / 2.0).powi(2);
        let value = (squared(0) + squared(1) + squared(2)).sqrt() - radius;
        field.set(cell, value.clamp(-background, background));
    }
    field
}

/// Returns labels of three values in irregular places, and whole blocks of one value.
fn labelled(dims: [usize; 3]) -> Labels {
    let values = [3, 200, 255];
    let legend = Legend::new(values.map(|n| Label::new(n, format!("label {n}")))).unwrap();
    let mut labels = Labels::new(dims, legend.with_digest(LabelDigest::Values)).unwrap();
    for (n, cell) in scattered(dims).iter().enumerate() {
        labels.set(cell, values[n * n % 7 % 3]);
    }
    for cell in every_cell([16; 3]) {
        labels.set(cell, 200);
    }
    labels
}

fn on_a_lattice(cells: impl Into<Cells>) -> Voxels {
    let cells = cells.into();
    let bits = BitGrid::new(cells.as_ref().dims()).unwrap();
    Voxels {
        cells,
        ..at_odd_place(bits)
    }
}

/// Returns the expected value and state of each cell, x fastest.
fn expected(cells: &Cells, is_fog: bool) -> Vec<(u32, bool)> {
    let occupied = |value: u8| match value {
        0 => (0, false),
        _ if is_fog => (1_f32.to_bits(), true),
        value => (value.into(), true),
    };
    let of = |cell: [usize; 3]| match cells {
        Cells::Bits(bits) => occupied(bits.get(cell).into()),
        Cells::Labels(labels) => occupied(labels.get(cell)),
        Cells::Field(field) => {
            let value = field.get(cell);
            let is_active = !field.is_background(value) && !field.is_negated(value);
            let bits = if value.is_nan() {
                0x7fc0_0000
            } else {
                value.to_bits()
            };
            (bits, is_active)
        }
    };
    every_cell(cells.as_ref().dims()).map(of).collect()
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
    for cells in grids {
        let voxels = on_a_lattice(cells);
        for choices in [
            &[][..],
            &[Choice::Uncompressed],
            &[Choice::VdbFog],
            &[Choice::VdbFog, Choice::Uncompressed],
        ] {
            let is_fog = choices.contains(&Choice::VdbFog);
            if is_fog && voxels.kind() == CellKind::Field {
                continue;
            }
            let bytes = bytes_of(&voxels, choices);
            let file = ByHand::of(&bytes);
            let expected = expected(&voxels.cells, is_fog);
            let what = format!("{:?} {choices:?}", voxels.cells);
            assert!(file.cells(voxels.dims()) == expected, "{what}");
            let active = expected.iter().filter(|(_, is_active)| *is_active).count() as u64;
            assert_eq!(file.metadata["file_voxel_count"], active.to_le_bytes());
            let back = read_vdb(&bytes).unwrap();
            if is_fog && voxels.kind() == CellKind::Labels {
                assert_eq!(back.cells, voxels.occupied().unwrap().clone().into());
            } else {
                assert_eq!(back, voxels, "{what}");
                assert_eq!(back.digest(), voxels.digest());
            }
        }
    }
}

/// Returns the numbers of tiles of 128 and of 8 cells a side, active and then inactive, and of leaves.
fn tiles(cells: impl Into<Cells>) -> [usize; 5] {
    let bytes = bytes_of(&Voxels::new(cells), &[]);
    let file = ByHand::of(&bytes);
    let count = |side: i32, is_active: bool| {
        let tiles = file.tiles.iter();
        let is_such = |tile: &&([i32; 3], i32, u32, bool)| (tile.1, tile.3) == (side, is_active);
        tiles.filter(is_such).count()
    };
    let [active, inactive] =
        [true, false].map(|is_active| [128, 8].map(|side| count(side, is_active)));
    [
        active[0],
        active[1],
        inactive[0],
        inactive[1],
        file.leaves.len(),
    ]
}

#[test]
fn whole_leaves_and_nodes_are_tiles() {
    assert_eq!(tiles(full([128, 256, 129])), [2, 0, 0, 0, 16 * 32]);
    assert_eq!(tiles(full([16, 24, 8])), [0, 6, 0, 0, 0]);
    // The inside of a ball becomes tiles.
    let [_, active, _, inside, leaves] = tiles(ball([40, 40, 40], 19.0, 1.0));
    assert!(
        active == 0 && inside > 10 && leaves > 50,
        "{inside} {leaves}"
    );
    let negative = Field::from_values([128; 3], 3.0, vec![-3.0; 128 * 128 * 128]).unwrap();
    assert_eq!(tiles(negative.clone()), [0, 0, 1, 0, 0]);
    let negative = Voxels::new(negative);
    assert_eq!(read_vdb(&bytes_of(&negative, &[])).unwrap(), negative);
    // A leaf of equal values becomes a tile, other leaves do not.
    let mut field = Field::from_values([8, 8, 8], 3.0, vec![0.5; 512]).unwrap();
    assert_eq!(tiles(field.clone()), [0, 1, 0, 0, 0]);
    field.set([7, 7, 7], -0.0);
    assert_eq!(tiles(field), [0, 0, 0, 0, 1]);
}

#[test]
fn grids_beyond_a_child_of_the_root_have_several() {
    for dims in [[9000, 3, 2], [2, 4097, 3], [3, 2, 8193]] {
        let bits = scattered(dims);
        let mut field = Field::new(dims, 2.0).unwrap();
        for (n, cell) in bits.iter().enumerate() {
            field.set(cell, -(n as f32));
        }
        for cells in [Cells::from(bits), field.into()] {
            let voxels = on_a_lattice(cells);
            let bytes = bytes_of(&voxels, &[]);
            let found = ByHand::of(&bytes).cells(dims);
            assert!(found == expected(&voxels.cells, false), "{dims:?}");
            assert_eq!(read_vdb(&bytes).unwrap(), voxels);
        }
    }
}

#[test]
fn names_classes_boxes_and_maps_are_what_programs_expect() {
    let f = on_a_lattice(f_grid());
    let fog: &[Choice] = &[Choice::VdbFog];
    let plain_fog: &[Choice] = &[Choice::VdbFog, Choice::Uncompressed];
    let labels = on_a_lattice(labelled([16, 16, 16]));
    for (voxels, choices, [name, class, kind, compression]) in [
        (&f, &[][..], ["voxels", "unknown", "bool", "active values"]),
        (
            &f,
            fog,
            ["density", "fog volume", "float", "zip + active values"],
        ),
        (
            &f,
            plain_fog,
            ["density", "fog volume", "float", "active values"],
        ),
        (
            &labels,
            &[],
            ["voxels", "unknown", "int32", "zip + active values"],
        ),
    ] {
        let bytes = bytes_of(voxels, choices);
        let file = ByHand::of(&bytes);
        assert_eq!([file.words("name"), file.words("class")], [name, class]);
        assert_eq!(file.kind, format!("Tree_{kind}_5_4_3"));
        assert_eq!(file.words("file_compression"), compression, "{kind}");
    }
    let plain = bytes_of(&f, &[]);
    let file = ByHand::of(&plain);
    let ends = ["file_bbox_min", "file_bbox_max"];
    assert_eq!(ends.map(|key| file.cell(key)), [[0; 3], [2, 3, 1]]);
    assert_eq!(file.metadata["is_saved_as_half_float"], [0]);
    let json = file.words("voxelize");
    assert!(
        json.contains(r#""spacing":["1/10","1/10","1/10"]"#),
        "{json}"
    );
    // The centre of the first cell; then the sizes twice, their inverses, the squares of these, and halves.
    let (map, numbers) = &file.map;
    assert_eq!(map, "UniformScaleTranslateMap");
    let centre = [-1.0 / 3.0 + 0.05, 22.0 / 7.0 + 0.05, 5.05];
    let is_near = |axis: usize| (numbers[axis] - centre[axis]).abs() < 1e-15;
    assert!((0..3).all(is_near), "{numbers:?}");
    assert_eq!(numbers[3..9], [0.1; 6]);
    assert_eq!(numbers[9..], [[10.0; 3], [100.0; 3], [5.0; 3]].concat());
    // An empty tree, as OpenVDB writes it.
    let empty = bytes_of(&Voxels::new(BitGrid::new([9, 9, 9]).unwrap()), &[]);
    let empty = ByHand::of(&empty);
    assert_eq!(
        ends.map(|key| empty.cell(key)),
        [[i32::MAX; 3], [i32::MIN; 3]]
    );
    assert_eq!(empty.map.1[..6], [0.5, 0.5, 0.5, 1.0, 1.0, 1.0]);
    assert!(empty.leaves.is_empty());
    // The uuids of different files differ.
    assert_ne!(plain[21..57], bytes_of(&f, fog)[21..57]);
}

#[test]
fn only_a_signed_distance_in_a_band_of_cubes_is_a_level_set() {
    for (rule, variant, background, height, name, class) in [
        (
            "distance",
            Some("signed"),
            0.3,
            "1",
            "distance",
            "level set",
        ),
        (
            "distance",
            Some("signed"),
            f32::INFINITY,
            "1",
            "distance",
            "unknown",
        ),
        (
            "distance",
            Some("signed"),
            0.3,
            "0.5",
            "distance",
            "unknown",
        ),
        ("distance", None, 0.3, "1", "distance", "unknown"),
        ("other", Some("signed"), 0.3, "1", "values", "unknown"),
    ] {
        let mut voxels = on_a_lattice(ball([20, 20, 20], 7.0, background));
        voxels.record.rule_name = Some(rule.to_string());
        let entry = variant.map(|variant| ("variant", variant.to_string()));
        voxels.record.fields = entry.into_iter().collect();
        voxels.lattice = sized([20; 3], ["1", "1", height]);
        let bytes = bytes_of(&voxels, &[]);
        let file = ByHand::of(&bytes);
        assert_eq!([file.words("name"), file.words("class")], [name, class]);
        assert_eq!(f32::from_bits(file.background), background);
        assert_eq!(file.map.0 == "ScaleTranslateMap", height != "1");
        assert_eq!(read_vdb(&bytes).unwrap(), voxels);
    }
}

/// Returns a lattice at the origin whose cells have these sizes.
fn sized(dims: [usize; 3], sizes: [&str; 3]) -> Option<Lattice> {
    let origin = [(); 3].map(|()| Rational::ZERO);
    let spacing = sizes.map(|size| Rational::parse_decimal(size).unwrap());
    let lattice = Lattice::new(dims, origin, spacing, [true; 3]).unwrap();
    Some(lattice.with_snap(voxelize::Snap::None))
}

/// Sizes far from one neither underflow nor overflow.
#[test]
fn cells_of_any_size_come_back() {
    for size in ["1e-50", "1e50", "0.3"] {
        let mut voxels = at_odd_place(f_grid());
        voxels.lattice = sized([3, 4, 2], [size; 3]);
        assert_eq!(read_vdb(&bytes_of(&voxels, &[])).unwrap(), voxels);
    }
}

#[test]
fn slabs_of_any_height_make_the_same_bytes() {
    let mesh = voxelize::Mesh::open("fixtures/f.stl").unwrap();
    let lattice = Lattice::fit(mesh.bounds(), 45).unwrap();
    for rule in [Rule::surface(), Rule::distance().with_sign().unwrap()] {
        let voxelizer = voxelize::Voxelizer::new(rule);
        for choices in [&[][..], &[Choice::Uncompressed]] {
            let made = |height: usize| {
                let plan = voxelize::run::Plan::Slabs(height);
                let mut slabs = voxelizer.slabs(&mesh, &lattice, plan).unwrap();
                let mut bytes = Vec::new();
                let options = with_choices(choices);
                format::write_source_to(&mut slabs, &mut bytes, vdb(), &options).unwrap();
                bytes
            };
            let whole = made(lattice.dims()[2].next_multiple_of(8));
            assert!(ByHand::of(&whole).leaves.len() > 20);
            for height in [8, 16, 24] {
                assert!(made(height) == whole, "{height}");
            }
        }
    }
}

#[test]
fn fog_is_for_occupied_cells_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.vdb");
    let fog = |dtype| SaveOptions {
        dtype,
        ..with_choices(&[Choice::VdbFog])
    };
    let bits = at_odd_place(f_grid());
    let field = on_a_lattice(ball([8, 8, 8], 3.0, 1.0));
    for (voxels, dtype, message) in [
        (
            &field,
            None,
            "'vdb fog' is for bits and labels, not for fields",
        ),
        (
            &bits,
            Some(Dtype::U8),
            "'vdb fog' stores cells as 'bool', not 'u8'",
        ),
    ] {
        let error = format::save(voxels, &path, vdb(), &fog(dtype)).unwrap_err();
        assert_eq!((error.kind(), error.message()), (Kind::Usage, message));
        let lattice = voxels.lattice.as_ref().unwrap();
        let early = format::check(voxels.kind(), lattice, vdb(), &fog(dtype));
        assert_eq!(early, Err(error));
        assert!(!path.exists());
    }
    format::save(&bits, &path, vdb(), &fog(Some(Dtype::Bool))).unwrap();
    assert_eq!(Voxels::open(&path).unwrap(), bits);
}

#[test]
fn cut_and_changed_files_of_every_choice_never_panic() {
    let mut errors = 0;
    let mut seen = 0;
    for (cells, choices) in [
        (
            Cells::from(ball([20, 12, 9], 4.0, 1.0)),
            &[Choice::Uncompressed][..],
        ),
        (ball([20, 12, 9], 4.0, 1.0).into(), &[]),
        (f_grid().into(), &[Choice::VdbFog]),
        (labelled([16, 16, 17]).into(), &[]),
    ] {
        let bytes = bytes_of(&on_a_lattice(cells), choices);
        for at in (0..bytes.len()).step_by(7) {
            let error = read_vdb(&bytes[..at]).unwrap_err();
            assert_eq!(error.kind(), Kind::Input, "{error}");
            assert!(error.code().name().starts_with('V'), "{error}");
            for change in [1, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[at] ^= change;
                seen += 1;
                if let Err(error) = read_vdb(&changed) {
                    let kind = error.kind();
                    assert!(matches!(kind, Kind::Input | Kind::TooLarge), "{error}");
                    errors += 1;
                }
            }
        }
    }
    assert!(seen > 5000 && errors > seen / 3, "{errors} of {seen}");
}
