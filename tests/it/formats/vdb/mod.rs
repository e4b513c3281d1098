//! A `.vdb` file is what OpenVDB reads, cell by cell, and files of other programs are read with their
//! meaning.

mod by_hand;
mod files;
mod foreign;

use voxelize::format::{Choice, check, read_from, save, write_source_to, write_to};
use voxelize::grid::{Field, Label, LabelDigest, Labels, Legend};
use voxelize::{Cells, Kind};

use self::by_hand::ByHand;
use super::*;

fn vdb() -> &'static Format {
    format::by_name("vdb").unwrap()
}

fn written(voxels: &Voxels, choices: &[Choice]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_to(
        voxels,
        &mut bytes,
        vdb(),
        &SaveOptions {
            choices,
            ..SaveOptions::default()
        },
    )
    .unwrap();
    bytes
}

fn read_vdb(bytes: &[u8]) -> Result<Voxels> {
    read_from(Cursor::new(bytes), vdb(), None)
}

/// Returns a ball of signed distances in a band. The far inside has the negated background.
fn ball(dims: [usize; 3], radius: f32, background: f32) -> Field {
    let mut field = Field::new(dims, background).unwrap();
    for (k, j, i) in (0..dims[2])
        .flat_map(|k| (0..dims[1]).flat_map(move |j| (0..dims[0]).map(move |i| (k, j, i))))
    {
        let far = [i, j, k]
            .iter()
            .zip(dims)
            .map(|(n, all)| (*n as f32 - all as f32 / 2.0).powi(2))
            .sum::<f32>();
        let value = far.sqrt() - radius;
        field.set([i, j, k], value.clamp(-background, background));
    }
    field
}

/// Returns labels of three values in irregular places, and whole blocks of one value.
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
    Voxels {
        cells,
        ..at_odd_place(bits)
    }
}

/// Returns the expected value and state of each cell, x fastest.
fn expected(cells: &Cells, is_fog: bool) -> Vec<(u32, bool)> {
    let [nx, ny, nz] = cells.as_ref().dims();
    let mut values = vec![];
    for k in 0..nz {
        for j in 0..ny {
            values.extend((0..nx).map(|i| expected_cell(cells, [i, j, k], is_fog)));
        }
    }
    values
}

fn expected_cell(cells: &Cells, cell: [usize; 3], is_fog: bool) -> (u32, bool) {
    match cells {
        Cells::Bits(bits) if bits.get(cell) => (if is_fog { 1_f32.to_bits() } else { 1 }, true),
        Cells::Labels(labels) if labels.get(cell) > 0 && is_fog => (1_f32.to_bits(), true),
        Cells::Labels(labels) if labels.get(cell) > 0 => (labels.get(cell).into(), true),
        Cells::Field(field) => {
            let value = field.get(cell);
            let bits = if value.is_nan() {
                0x7fc0_0000
            } else {
                value.to_bits()
            };
            (
                bits,
                !field.is_background(value) && !field.is_negated(value),
            )
        }
        _ => (0, false),
    }
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
        let choices = [
            &[][..],
            &[Choice::Uncompressed],
            &[Choice::VdbFog],
            &[Choice::VdbFog, Choice::Uncompressed],
        ];
        for choices in &choices[..if is_field { 2 } else { 4 }] {
            let is_fog = choices.contains(&Choice::VdbFog);
            let bytes = written(&voxels, choices);
            let file = ByHand::of(&bytes);
            let expected = expected(&voxels.cells, is_fog);
            assert!(
                file.cells(voxels.dims()) == expected,
                "{:?} {choices:?}",
                voxels.cells
            );
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

/// Returns the numbers of tiles of 128 and of 8 cells a side, active and then inactive, and of leaves.
fn tiles(cells: Cells) -> (usize, usize, usize, usize, usize) {
    let bytes = written(&Voxels::new(cells), &[]);
    let file = ByHand::of(&bytes);
    let of = |side: i32, is_active: bool| {
        file.tiles
            .iter()
            .filter(|(_, s, _, a)| (*s, *a) == (side, is_active))
            .count()
    };
    (
        of(128, true),
        of(8, true),
        of(128, false),
        of(8, false),
        file.leaves.len(),
    )
}

#[test]
fn whole_leaves_and_nodes_are_tiles() {
    assert_eq!(tiles(full([128, 256, 129]).into()), (2, 0, 0, 0, 16 * 32));
    assert_eq!(tiles(full([16, 24, 8]).into()), (0, 6, 0, 0, 0));
    // The inside of a ball becomes tiles.
    let (_, active, _, inside, leaves) = tiles(ball([40, 40, 40], 19.0, 1.0).into());
    assert!(
        active == 0 && inside > 10 && leaves > 50,
        "{inside} {leaves}"
    );
    let negative = Field::from_values([128, 128, 128], 3.0, vec![-3.0; 128 * 128 * 128]).unwrap();
    assert_eq!(tiles(negative.clone().into()), (0, 0, 1, 0, 0));
    let back = read_vdb(&written(&Voxels::new(negative.clone()), &[])).unwrap();
    assert_eq!(back.cells, negative.into());
    // A leaf of equal values becomes a tile, other leaves do not.
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
        bits.iter()
            .enumerate()
            .for_each(|(n, cell)| field.set(cell, -(n as f32)));
        for cells in [Cells::from(bits), field.into()] {
            let voxels = on_a_lattice(cells);
            let bytes = written(&voxels, &[]);
            assert!(
                ByHand::of(&bytes).cells(dims) == expected(&voxels.cells, false),
                "{dims:?}"
            );
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
    let facts =
        |file: &ByHand| [file.words("name"), file.words("class"), &file.kind].map(str::to_string);
    assert_eq!(facts(&file), ["voxels", "unknown", "Tree_bool_5_4_3"]);
    assert_eq!(
        (file.cell("file_bbox_min"), file.cell("file_bbox_max")),
        ([0; 3], [2, 3, 1])
    );
    assert_eq!(
        (
            file.words("file_compression"),
            &*file.metadata["is_saved_as_half_float"]
        ),
        ("active values", &[0][..])
    );
    assert!(
        file.words("voxelize")
            .contains(r#""spacing":["1/10","1/10","1/10"]"#),
        "{}",
        file.words("voxelize")
    );
    // The centre of the first cell; then the sizes twice, their inverses, the squares of these, and halves.
    let (map, numbers) = &file.map;
    let centre = [-1.0 / 3.0 + 0.05, 22.0 / 7.0 + 0.05, 5.05];
    assert!(
        map == "UniformScaleTranslateMap"
            && numbers[..3]
                .iter()
                .zip(centre)
                .all(|(a, b)| (a - b).abs() < 1e-15)
    );
    assert_eq!(numbers[3..9], [0.1; 6]);
    assert_eq!(numbers[9..], [[10.0; 3], [100.0; 3], [5.0; 3]].concat());
    let fog = written(&f, &[Choice::VdbFog]);
    let file = ByHand::of(&fog);
    assert_eq!(facts(&file), ["density", "fog volume", "Tree_float_5_4_3"]);
    assert_eq!(file.words("file_compression"), "zip + active values");
    let plain_fog = written(&f, &[Choice::VdbFog, Choice::Uncompressed]);
    assert_eq!(
        ByHand::of(&plain_fog).words("file_compression"),
        "active values"
    );
    let labels = written(&on_a_lattice(labelled([16, 16, 16])), &[]);
    assert_eq!(
        facts(&ByHand::of(&labels)),
        ["voxels", "unknown", "Tree_int32_5_4_3"]
    );
    // An empty tree, as OpenVDB writes it.
    let empty = written(&Voxels::new(BitGrid::new([9, 9, 9]).unwrap()), &[]);
    let empty = ByHand::of(&empty);
    assert_eq!(
        (empty.cell("file_bbox_min"), empty.cell("file_bbox_max")),
        ([i32::MAX; 3], [i32::MIN; 3])
    );
    assert_eq!(
        (empty.map.1[..6].to_vec(), empty.leaves.len()),
        (vec![0.5, 0.5, 0.5, 1.0, 1.0, 1.0], 0)
    );
    assert_ne!(
        plain[21..57],
        fog[21..57],
        "the uuids of different files differ"
    );
}

#[test]
fn only_a_signed_distance_in_a_band_of_cubes_is_a_level_set() {
    let mut seen = 0;
    for (rule, variant, background, stretched, expected) in [
        (
            "distance",
            Some("signed"),
            0.3,
            false,
            ["distance", "level set"],
        ),
        (
            "distance",
            Some("signed"),
            f32::INFINITY,
            false,
            ["distance", "unknown"],
        ),
        (
            "distance",
            Some("signed"),
            0.3,
            true,
            ["distance", "unknown"],
        ),
        ("distance", None, 0.3, false, ["distance", "unknown"]),
        ("other", Some("signed"), 0.3, false, ["values", "unknown"]),
    ] {
        let mut voxels = on_a_lattice(ball([20, 20, 20], 7.0, background));
        voxels.record.rule_name = Some(rule.to_string());
        voxels.record.fields = variant
            .map(|variant| ("variant", variant.to_string()))
            .into_iter()
            .collect();
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

/// Sizes far from one neither underflow nor overflow.
#[test]
fn cells_of_any_size_come_back() {
    let mut seen = 0;
    for digits in ["1e-50", "1e50", "0.3"] {
        let size = Rational::parse_decimal(digits).unwrap();
        let origin = [(); 3].map(|()| Rational::ZERO);
        let lattice =
            Lattice::new([3, 4, 2], origin, [(); 3].map(|()| size.clone()), [true; 3]).unwrap();
        let lattice = Some(lattice.with_snap(voxelize::Snap::None));
        let voxels = Voxels {
            lattice,
            ..at_odd_place(f_grid())
        };
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
    for rule in [
        voxelize::Rule::surface(),
        voxelize::Rule::distance().with_sign().unwrap(),
    ] {
        let voxelizer = voxelize::Voxelizer::new(rule);
        let made = |height: usize, choices: &[Choice]| {
            let mut slabs = voxelizer
                .slabs(&mesh, &lattice, voxelize::run::Plan::Slabs(height))
                .unwrap();
            let mut bytes = Vec::new();
            let options = SaveOptions {
                choices,
                ..SaveOptions::default()
            };
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
    let fog = |dtype| SaveOptions {
        dtype,
        choices: &[Choice::VdbFog],
        ..SaveOptions::default()
    };
    let field = on_a_lattice(ball([8, 8, 8], 3.0, 1.0));
    let error = save(&field, &path, vdb(), &fog(None)).unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (
            Kind::Usage,
            "'vdb fog' is for bits and labels, not for fields"
        )
    );
    let lattice = field.lattice.unwrap();
    assert_eq!(
        check(CellKind::Field, &lattice, vdb(), &fog(None)).unwrap_err(),
        error
    );
    let error = save(&at_odd_place(f_grid()), &path, vdb(), &fog(Some(Dtype::U8))).unwrap_err();
    assert_eq!(
        error.message(),
        "'vdb fog' stores cells as 'bool', not 'u8'"
    );
    assert!(!path.exists());
    save(
        &at_odd_place(f_grid()),
        &path,
        vdb(),
        &fog(Some(Dtype::Bool)),
    )
    .unwrap();
    assert_eq!(Voxels::open(&path).unwrap(), at_odd_place(f_grid()));
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
        let bytes = written(&on_a_lattice(cells), choices);
        for at in (0..bytes.len()).step_by(7) {
            let error = read_vdb(&bytes[..at]).unwrap_err();
            assert!(
                error.kind() == Kind::Input && error.code().name().starts_with('V'),
                "{error}"
            );
            for change in [1, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[at] ^= change;
                match read_vdb(&changed) {
                    Ok(_) => {}
                    Err(error) => {
                        assert!(
                            matches!(error.kind(), Kind::Input | Kind::TooLarge),
                            "{error}"
                        );
                        errors += 1;
                    }
                }
                seen += 1;
            }
        }
    }
    assert!(seen > 5000 && errors > seen / 3, "{errors} of {seen}");
}
