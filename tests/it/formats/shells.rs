//! Scenes of `.vox`: hulls, labelled cells in their colours, and sizes at a limit.

use std::collections::{BTreeMap, BTreeSet};

use dot_vox::{DotVoxData, SceneNode};
use voxelize::format::Choice;
use voxelize::grid::{Label, Labels, Legend};

use super::kinds::Split;
use super::*;

fn vox() -> &'static Format {
    format::by_name("vox").unwrap()
}

const HULL: SaveOptions = SaveOptions {
    choices: &[Choice::VoxHull],
    dtype: None,
    values: &[],
    is_segmentation: false,
    sidecar: Sidecar::Auto,
    durability: Durability::Unsynced,
    existing: voxelize::format::Existing::Replace,
    later: None,
    progress: &(),
};

fn written(voxels: &Voxels, options: &SaveOptions) -> Vec<u8> {
    let mut bytes = vec![];
    format::write_to(voxels, &mut bytes, vox(), options).unwrap();
    bytes
}

/// Returns every voxel of a scene with its colour, by place. No place may occur twice.
pub(super) fn voxels_of(data: &DotVoxData) -> BTreeMap<[i64; 3], [u8; 3]> {
    let mut found = BTreeMap::new();
    let mut open = vec![(0, [0; 3])];
    while let Some((id, at)) = open.pop() {
        match &data.scenes[id as usize] {
            SceneNode::Transform { frames, child, .. } => {
                let by = frames[0]
                    .position()
                    .map_or([0; 3], |p| [p.x, p.y, p.z].map(i64::from));
                open.push((*child, std::array::from_fn(|a| at[a] + by[a])));
            }
            SceneNode::Group { children, .. } => {
                open.extend(children.iter().map(|child| (*child, at)))
            }
            SceneNode::Shape { models, .. } => {
                let model = &data.models[models[0].model_id as usize];
                let size = [model.size.x, model.size.y, model.size.z].map(i64::from);
                assert!(size.iter().all(|n| n % 2 == 0 && *n <= 256), "{size:?}");
                for voxel in &model.voxels {
                    let cell = [voxel.x, voxel.y, voxel.z].map(i64::from);
                    let place = std::array::from_fn(|a| at[a] + cell[a] - size[a] / 2);
                    let colour = data.palette[usize::from(voxel.i)];
                    let before = found.insert(place, [colour.r, colour.g, colour.b]);
                    assert_eq!(before, None, "{place:?} is there twice");
                }
            }
        }
    }
    found
}

/// Returns the place of a cell of a grid of these dims: x and y around 0, z from the floor up.
fn place([i, j, k]: [usize; 3], [nx, ny, nz]: [usize; 3], is_turned: bool) -> [i64; 3] {
    let (at, [sx, sy]) = if is_turned {
        ([i, nz - 1 - k, j], [nx, nz])
    } else {
        ([i, j, k], [nx, ny])
    };
    [
        at[0] as i64 - (sx / 2) as i64,
        at[1] as i64 - (sy / 2) as i64,
        at[2] as i64,
    ]
}

fn with_y_up(voxels: Voxels) -> Voxels {
    let record = Record {
        transform: vec![("up", "y".into())],
        ..voxels.record
    };
    Voxels { record, ..voxels }
}

/// Returns solid blocks with gaps. Some gaps cross the borders of tiles.
fn blocks(dims: [usize; 3]) -> BitGrid {
    let mut bits = BitGrid::new(dims).unwrap();
    for k in 0..dims[2] {
        for j in 0..dims[1] {
            for i in (0..dims[0]).filter(|i| (i / 9 + j / 4 + k / 13) % 4 != 0) {
                bits.set([i, j, k]);
            }
        }
    }
    bits
}

/// The definition: a cell is omitted if all six neighbours are occupied.
fn hull(bits: &BitGrid) -> BitGrid {
    let dims = bits.dims();
    let is_open = |cell: [usize; 3], axis: usize| {
        let with = |n: usize| {
            let mut other = cell;
            other[axis] = n;
            bits.get(other)
        };
        cell[axis] == 0
            || cell[axis] + 1 == dims[axis]
            || !with(cell[axis] - 1)
            || !with(cell[axis] + 1)
    };
    let mut hull = BitGrid::new(dims).unwrap();
    bits.iter()
        .filter(|cell| (0..3).any(|axis| is_open(*cell, axis)))
        .for_each(|cell| hull.set(cell));
    hull
}

/// Grids whose tiles end within blocks on every axis.
const DIMS: [[usize; 3]; 6] = [
    [3, 4, 5],
    [20, 300, 9],
    [300, 9, 256],
    [9, 7, 257],
    [70, 5, 512],
    [11, 7, 530],
];

#[test]
fn hulls_are_the_cells_that_can_be_seen() {
    for dims in DIMS {
        for is_turned in [false, true] {
            let voxels = at_odd_place(blocks(dims));
            let voxels = if is_turned { with_y_up(voxels) } else { voxels };
            let hull = hull(voxels.occupied().unwrap());
            assert!(
                dims == [3, 4, 5] || hull.count() < voxels.count() * 9 / 10,
                "{dims:?}"
            );
            let bytes = written(&voxels, &HULL);
            let found: BTreeSet<_> = voxels_of(&dot_vox::load_bytes(&bytes).unwrap())
                .into_keys()
                .collect();
            let expected: BTreeSet<_> = hull
                .iter()
                .map(|cell| place(cell, dims, is_turned))
                .collect();
            assert!(found == expected, "{dims:?} {is_turned}");
            let back = read(&bytes, vox(), None).unwrap();
            let rule = back.record.rule_name.as_deref();
            assert_eq!(
                (&back.lattice, rule),
                (&voxels.lattice, Some("hull of surface"))
            );
            assert_eq!(back.cells, hull.into());
            // A hull is its own hull.
            assert_eq!(read(&written(&back, &HULL), vox(), None).unwrap(), back);
        }
    }
}

#[test]
fn models_come_in_one_order_from_slabs_of_any_height() {
    let threads = |count, write: &(dyn Fn() -> Vec<u8> + Sync)| {
        voxelize::par::with_threads(count, write).unwrap()
    };
    let mut compared = 0;
    for dims in [[11, 7, 530], [300, 260, 3], [5, 270, 770]] {
        let voxels = at_odd_place(blocks(dims));
        for options in [SaveOptions::default(), HULL] {
            let whole = threads(3, &|| written(&voxels, &options));
            assert!(
                threads(1, &|| written(&voxels, &options)) == whole,
                "{dims:?}"
            );
            for height in [256, 512, 768] {
                let mut slabs = vec![];
                let mut source = Split::new(&voxels, height);
                format::write_source_to(&mut source, &mut slabs, vox(), &options).unwrap();
                assert!(slabs == whole, "{dims:?} {height} {:?}", options.choices);
                compared += 1;
            }
        }
        // x fastest, then y, then z, by their places in the scene.
        let data = dot_vox::load_bytes(&written(&voxels, &SaveOptions::default())).unwrap();
        let place = |n: usize| {
            let SceneNode::Transform { frames, .. } = &data.scenes[2 * n + 2] else {
                panic!("a transform")
            };
            let at = frames[0].position().unwrap();
            [at.z, at.y, at.x]
        };
        let places: Vec<_> = (0..data.models.len()).map(place).collect();
        assert!(
            places.is_sorted()
                && places.len() == dims.map(|n| n.div_ceil(256)).iter().product::<usize>()
        );
    }
    assert_eq!(compared, 18);
}

fn label(value: u8) -> Label {
    Label::new(value, format!("part {value}")).with_colour([value, 255 - value, value ^ 0x55])
}

/// Returns a legend of the values 1 to `values`.
fn legend(values: u8) -> Legend {
    Legend::new((1..=values).map(label)).unwrap()
}

/// Returns labels with all values of a legend in turn.
fn labelled(bits: &BitGrid, legend: Legend) -> Labels {
    let values = legend.labels().len();
    let mut labels = Labels::new(bits.dims(), legend).unwrap();
    for (n, cell) in bits.iter().enumerate() {
        labels.set(cell, (n / 3 % values) as u8 + 1);
    }
    labels
}

#[test]
fn hulls_of_labels_keep_the_labels_of_visible_cells() {
    // In separate layers as planes and as bytes, too many for layers, and with names that need no layers.
    for legend in [
        legend(3),
        legend(9),
        legend(60),
        Legend::surface_and_interior(),
    ] {
        let bits = blocks([20, 9, 530]);
        let all = labelled(&bits, legend);
        let values = all.legend().labels().len();
        let voxels = Voxels {
            cells: all.clone().into(),
            ..at_odd_place(bits.clone())
        };
        let bytes = written(&voxels, &HULL);
        for height in [256, 512] {
            let mut slabs = vec![];
            format::write_source_to(&mut Split::new(&voxels, height), &mut slabs, vox(), &HULL)
                .unwrap();
            assert!(slabs == bytes, "{values} {height}");
        }
        let hull = hull(&bits);
        let mut expected = Labels::new(bits.dims(), all.legend().clone()).unwrap();
        hull.iter()
            .for_each(|cell| expected.set(cell, all.get(cell)));
        assert!(
            read(&bytes, vox(), None).unwrap().cells == expected.into(),
            "{values}"
        );
        let found = voxels_of(&dot_vox::load_bytes(&bytes).unwrap());
        assert_eq!(found.len() as u64, hull.count());
        for cell in hull.iter() {
            let label = all.legend().get(all.get(cell)).unwrap();
            let colour = label.colour.or(label.standard_colour()).unwrap();
            assert_eq!(found[&place(cell, bits.dims(), false)], colour, "{cell:?}");
        }
    }
}

#[test]
fn all_255_labels_have_their_colours() {
    let bits = full([17, 5, 9]);
    let labels = labelled(&bits, legend(255));
    let voxels = Voxels {
        cells: labels.clone().into(),
        ..at_odd_place(bits)
    };
    let (bytes, _) = saved(&voxels, vox(), Dtype::U8);
    let found = voxels_of(&dot_vox::load_bytes(&bytes).unwrap());
    let colours: BTreeSet<_> = found.values().copied().collect();
    assert_eq!((found.len(), colours.len()), (765, 255));
    for (cell, value) in labels.iter() {
        assert_eq!(
            found[&place(cell, labels.dims(), false)],
            [value, 255 - value, value ^ 0x55]
        );
    }
}

/// The record and the sidecar of a hull, which replace the digest of the omitted cells.
#[test]
fn hulls_do_not_claim_to_be_the_whole() {
    let voxels = at_odd_place(blocks([30, 20, 10]));
    let digest = voxels.digest().cells.to_string();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hull.vox");
    let options = SaveOptions {
        sidecar: Sidecar::Write,
        ..HULL
    };
    format::save(&voxels, &path, vox(), &options).unwrap();
    let described = format::describe(&path).unwrap().metadata;
    let sidecar = std::fs::read_to_string(folder.path().join("hull.vox.json")).unwrap();
    let sidecar = voxelize::grid::metadata::Metadata::from_json(&sidecar).unwrap();
    for metadata in [described, sidecar] {
        assert_eq!(
            metadata.record.rule_name.as_deref(),
            Some("hull of surface")
        );
        let said = |key: &str| metadata.extra.get(key).map(String::as_str);
        assert_eq!(
            (said("hull_of"), said("cells"), said("choices")),
            (Some(&*digest), None, Some("vox-hull"))
        );
        assert_eq!(metadata.record.fields, voxels.record.fields);
    }
    let back = Voxels::open(&path).unwrap();
    assert_ne!(back.digest().cells, voxels.digest().cells);
    assert_eq!(
        back.digest().cells,
        Voxels::new(hull(voxels.occupied().unwrap())).digest().cells
    );
    // A file of all cells contains its digest.
    format::save(&voxels, &path, vox(), &SaveOptions::default()).unwrap();
    assert_eq!(
        format::describe(&path).unwrap().metadata.extra["cells"],
        digest
    );
}

#[test]
fn voxels_at_the_ends_of_long_axes_are_in_their_places() {
    let mut seen = 0;
    for dims in [
        [257, 3, 2],
        [3, 257, 2],
        [2, 3, 257],
        [2001, 2, 2],
        [2, 70_000, 1],
        [70_000, 1, 2],
        [2, 3, 1001],
        [1, 1, 70_000],
    ] {
        let mut bits = BitGrid::new(dims).unwrap();
        let longest = dims.into_iter().max().unwrap();
        for n in (0..longest).filter(|n| n % 257 < 2 || n % 256 > 253 || n + 2 > longest) {
            bits.set(dims.map(|size| n % size));
        }
        for is_turned in [false, true] {
            let voxels = at_odd_place(bits.clone());
            let voxels = if is_turned { with_y_up(voxels) } else { voxels };
            let (bytes, _) = saved(&voxels, vox(), Dtype::U8);
            let found: BTreeSet<_> = voxels_of(&dot_vox::load_bytes(&bytes).unwrap())
                .into_keys()
                .collect();
            let expected: BTreeSet<_> = bits
                .iter()
                .map(|cell| place(cell, dims, is_turned))
                .collect();
            assert!(
                found == expected && found.len() >= 5,
                "{dims:?} {is_turned}"
            );
            assert_eq!(read(&bytes, vox(), None).unwrap(), voxels);
            seen += 1;
        }
    }
    assert_eq!(seen, 16);
}

/// The largest scene that was tested with other readers: 600 cells, in tiles along every axis.
#[test]
fn a_scene_of_600_cells_has_every_voxel_in_its_place() {
    let dims = [600, 300, 280];
    let mut bits = BitGrid::new(dims).unwrap();
    for k in 0..dims[2] {
        for j in (0..dims[1]).filter(|j| (j + k) % 5 == 0 || j % 256 > 253) {
            (0..dims[0])
                .filter(|i| (3 * i + j + 7 * k) % 11 == 0)
                .for_each(|i| bits.set([i, j, k]));
        }
    }
    let voxels = at_odd_place(bits.clone());
    let data = dot_vox::load_bytes(&saved(&voxels, vox(), Dtype::U8).0).unwrap();
    assert_eq!(data.models.len(), 12);
    let found = voxels_of(&data);
    assert!(found.len() > 500_000 && found.len() as u64 == bits.count());
    assert!(
        bits.iter()
            .all(|cell| found.contains_key(&place(cell, dims, false)))
    );
}

/// Returns the files of a split grid by name.
fn split(
    source: &mut dyn voxelize::grid::CellSource,
    choices: &[Choice],
    folder: &std::path::Path,
) -> BTreeMap<String, Vec<u8>> {
    let options = SaveOptions { choices, ..HULL };
    let written = format::save_source(source, &folder.join("big.vox"), vox(), &options).unwrap();
    let name = |path: &std::path::Path| path.file_name().unwrap().to_str().unwrap().to_string();
    let all = written
        .iter()
        .map(|file| (name(&file.path), std::fs::read(&file.path).unwrap()));
    let all: BTreeMap<_, _> = all.collect();
    assert_eq!(
        all.len(),
        std::fs::read_dir(folder).unwrap().count(),
        "no other file"
    );
    all
}

#[test]
fn pieces_are_scenes_of_their_own_that_join_to_the_whole() {
    let mut seen = 0;
    for (dims, is_turned) in [
        ([2001, 3, 1001], false),
        ([3, 2001, 2], false),
        ([3, 1001, 2001], true),
        ([2001, 2, 3], true),
    ] {
        let voxels = at_odd_place(blocks(dims));
        let voxels = if is_turned { with_y_up(voxels) } else { voxels };
        let lattice = voxels.lattice.clone().unwrap();
        for choices in [
            &[Choice::VoxSplit][..],
            &[Choice::VoxSplit, Choice::VoxHull],
        ] {
            let folder = tempfile::tempdir().unwrap();
            let files = split(
                &mut voxelize::grid::InMemory::new(&voxels),
                choices,
                folder.path(),
            );
            let slabs = tempfile::tempdir().unwrap();
            assert!(
                split(&mut Split::new(&voxels, 256), choices, slabs.path()) == files,
                "{dims:?}"
            );
            let expected = if choices.len() == 1 {
                blocks(dims)
            } else {
                hull(&blocks(dims))
            };
            let mut joined = BitGrid::new(dims).unwrap();
            for name in files.keys() {
                let path = folder.path().join(name);
                let piece = Voxels::open(&path).unwrap();
                let extra = format::describe(&path).unwrap().metadata.extra;
                let list = |key: &str| -> Vec<usize> {
                    extra[key].split(',').map(|n| n.parse().unwrap()).collect()
                };
                assert_eq!(list("whole_dims"), dims, "{name}");
                let first = list("piece_first");
                let range = |axis: usize| first[axis]..first[axis] + piece.dims()[axis];
                let region = lattice.region([range(0), range(1), range(2)]).unwrap();
                assert_eq!(piece.lattice, Some(region), "{name}");
                piece
                    .occupied()
                    .unwrap()
                    .iter()
                    .for_each(|cell| joined.set([0, 1, 2].map(|a| first[a] + cell[a])));
                // An independent reader finds all voxels within the world.
                let found = voxels_of(&dot_vox::load_bytes(&files[name]).unwrap());
                let is_shown = |at: &[i64; 3]| {
                    (-1000..1000).contains(&at[0])
                        && (-1000..1000).contains(&at[1])
                        && (0..1000).contains(&at[2])
                };
                assert!(
                    found.len() as u64 == piece.count() && found.keys().all(is_shown),
                    "{name}"
                );
                seen += 1;
            }
            assert!(joined == expected, "{dims:?} {choices:?}");
        }
    }
    assert_eq!(seen, 2 * (4 + 2 + 4 + 2));
}

#[test]
fn grids_that_are_shown_whole_are_one_file() {
    let voxels = at_odd_place(blocks([2000, 2, 1000]));
    let folder = tempfile::tempdir().unwrap();
    let files = split(
        &mut voxelize::grid::InMemory::new(&voxels),
        &[Choice::VoxSplit],
        folder.path(),
    );
    assert_eq!(files.keys().collect::<Vec<_>>(), ["big.vox"]);
    assert_eq!(Voxels::open(folder.path().join("big.vox")).unwrap(), voxels);
    // A stream contains one file.
    let beyond = at_odd_place(blocks([2001, 2, 1]));
    let options = SaveOptions {
        choices: &[Choice::VoxSplit],
        ..HULL
    };
    let error = format::write_to(&beyond, &mut vec![], vox(), &options).unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (
            voxelize::Kind::Usage,
            "a grid that is split has several files, and a stream is one"
        )
    );
}

#[cfg(feature = "cli")]
mod command {
    use super::*;
    use crate::support::place::{Place, refused};

    /// MagicaVoxel shows -1000 to 999 along x and y, and 0 to 999 along z, which is up.
    #[test]
    fn scenes_beyond_the_world_need_a_name_or_a_format() {
        let place = Place::new();
        for (name, bounds) in [
            ("x", "20.01,0.02,0.02"),
            ("y", "0.02,20.01,0.02"),
            ("z", "0.02,0.02,10.01"),
        ] {
            let line = format!("cube.stl --voxel-size 0.01 --bounds 0,0,0,{bounds}");
            let error = refused(&place, &line, 5);
            assert!(
                error.contains("MagicaVoxel shows 2000 × 2000 × 1000 cells"),
                "{name}: {error}"
            );
            assert!(
                place.run(&line).err.contains("hint: -f npy "),
                "{name}: {}",
                place.run(&line).err
            );
            assert_eq!(
                place.run(&format!("{line} -n")).code,
                Some(5),
                "{name}: before computing"
            );
            assert_eq!(place.files(), ["cube.stl", "thirds.stl"], "{name}");
            for named in ["-o big.vox", "-f vox -o big.vox"] {
                let run = place.run(&format!("{line} {named}")).expect(0);
                assert!(
                    run.err.contains("warning[W004]: MagicaVoxel shows"),
                    "{}",
                    run.err
                );
            }
            std::fs::remove_file(place.path("big.vox")).unwrap();
            place.run(&format!("{line} -f npy -o big.npy")).expect(0);
            std::fs::remove_file(place.path("big.npy")).unwrap();
        }
        // The largest visible sizes, and a rotated grid.
        for line in [
            "--bounds 0,0,0,20,0.02,0.02",
            "--bounds 0,0,0,0.02,20,0.02",
            "--bounds 0,0,0,0.02,0.02,10",
            "--bounds 0,0,0,0.02,10,0.02 --up y",
            "--bounds 0,0,0,0.02,0.02,20 --up y",
        ] {
            let run = place
                .run(&format!("cube.stl --voxel-size 0.01 {line}"))
                .expect(0);
            assert!(!run.err.contains("W004"), "{line}");
        }
        refused(
            &place,
            "cube.stl --voxel-size 0.01 --bounds 0,0,0,0.02,10.01,0.02 --up y",
            5,
        );
        refused(
            &place,
            "cube.stl --voxel-size 0.01 --bounds 0,0,0,0.02,0.02,20.01 --up y",
            5,
        );
    }

    #[test]
    fn several_files_are_written_if_one_is_too_large() {
        let place = Place::new();
        let line = "cube.stl --voxel-size 0.01 --bounds 0,0,0,20.01,0.02,10.01 --vox-split";
        let files = [
            "cube-0-0-1.vox",
            "cube-1-0-0.vox",
            "cube-1-0-1.vox",
            "cube.stl",
            "cube.vox",
            "thirds.stl",
        ];
        let run = place.run(&format!("{line} --json")).expect(0);
        assert!(!run.err.contains("W004"), "{}", run.err);
        assert_eq!(
            (
                place.files(),
                run.json()["outputs"].as_array().unwrap().len()
            ),
            (files.map(String::from).to_vec(), 4)
        );
        let info = place.run("info cube-1-0-1.vox --json").expect(0).json();
        assert_eq!(
            (&info["grid"]["dims"], &info["grid"]["origin_exact"][0]),
            (&serde_json::json!([209, 2, 233]), &"448/25".into())
        );
        // A second run replaces its own files. Files of others stay, and then nothing is written.
        place.run(line).expect(0);
        place.write("cube-1-0-0.vox", "mine");
        let error = refused(&place, line, 6);
        assert!(error.contains("cube-1-0-0.vox"), "{error}");
        assert_eq!(
            std::fs::read(place.path("cube-1-0-0.vox")).unwrap(),
            b"mine"
        );
        refused(&place, &format!("{line} -f vox -o -"), 2);
        let error = place.run(&format!("{line} -o cube.npz")).expect(2).err;
        assert!(
            error.starts_with("error: --vox-split: npz has no such choice"),
            "{error}"
        );
    }

    #[test]
    fn hulls_are_half_of_a_filled_grid_and_less() {
        let place = Place::new();
        place.run("cube.stl -r 40 --filled -o whole.vox").expect(0);
        let run = place
            .run("cube.stl -r 40 --filled --vox-hull -o hull.vox --json")
            .expect(0);
        let bytes = |name: &str| std::fs::metadata(place.path(name)).unwrap().len();
        assert!(bytes("hull.vox") * 4 < bytes("whole.vox"));
        let info = place.run("info hull.vox --json").expect(0).json();
        assert_eq!(
            (&info["counts"]["occupied"], &info["rule"]),
            (&(64_000 - 38_u64.pow(3)).into(), &"hull of filled".into())
        );
        assert_ne!(info["digest"]["cells"], run.json()["digest"]["cells"]);
        let error = place.run("cube.stl --vox-hull -o a.npz").expect(2).err;
        assert!(
            error.starts_with("error: --vox-hull: npz has no such choice"),
            "{error}"
        );
        place
            .run("convert whole.vox again.vox --vox-hull")
            .expect(0);
        assert_eq!(
            place.run("info again.vox --json").expect(0).json()["digest"],
            info["digest"]
        );
    }

    /// Colours of a mesh are stored in the palette, each at the index of its cells.
    #[test]
    fn colours_of_a_mesh_match_its_voxels() {
        let place = Place::new();
        let corners = "0 0 0\n8 0 0\n8 8 0\n0 8 0\n0 0 8\n8 0 8\n8 8 8\n0 8 8\n";
        let faces = "4 0 3 2 1 255 0 0\n4 4 5 6 7 0 255 0\n4 0 1 5 4 0 0 255\n4 1 2 6 5 255 255 0\n\
                     4 2 3 7 6 255 0 255\n4 3 0 4 7 51 102 153\n";
        place.write("box.off", format!("OFF\n8 6 0\n{corners}{faces}"));
        for options in ["", "--vox-hull"] {
            place
                .run(&format!(
                    "box.off -r 8 --filled --labels colour {options} -o a.vox"
                ))
                .expect(0);
            place
                .run("box.off -r 8 --filled --labels colour -o a.npz")
                .expect(0);
            let whole = Voxels::open(place.path("a.npz")).unwrap();
            let labels = whole.labels().unwrap();
            let found = voxels_of(
                &dot_vox::load_bytes(&std::fs::read(place.path("a.vox")).unwrap()).unwrap(),
            );
            assert_eq!(
                found.len(),
                if options.is_empty() { 512 } else { 512 - 216 }
            );
            let mut seen = BTreeSet::new();
            for (cell, value) in labels.iter() {
                let Some(colour) = found.get(&super::place(cell, [8; 3], false)) else {
                    continue;
                };
                assert_eq!(*colour, labels.legend().colour(value), "{cell:?}");
                seen.insert(*colour);
            }
            assert_eq!(seen.len(), 6);
        }
    }
}
