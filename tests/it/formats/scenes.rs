//! `.vox` scenes as seen by an independent reader: cells in their places and colours, hulls, and pieces.

use std::collections::{BTreeMap, BTreeSet};

use dot_vox::{DotVoxData, SceneNode};
use voxelize::grid::{CellSource, InMemory, Label, LabelDigest, Labels, Legend};

use super::kinds::Split;
use super::slabs::from_slabs;
use super::*;
#[cfg(feature = "cli")]
use crate::support::{place::Place, rows};

fn vox() -> &'static Format {
    named("vox")
}

const HULL: &[Choice] = &[Choice::VoxHull];

fn bytes_of(voxels: &Voxels, choices: &[Choice]) -> Vec<u8> {
    written(voxels, vox(), &with_choices(choices)).unwrap()
}

fn load(voxels: &Voxels) -> DotVoxData {
    dot_vox::load_bytes(&bytes_of(voxels, &[])).expect("dot_vox reads it")
}

/// Returns every voxel of a scene with its colour, by place. No place may occur twice.
fn voxels_of(data: &DotVoxData) -> BTreeMap<[i64; 3], [u8; 3]> {
    let mut found = BTreeMap::new();
    let mut open = vec![(0, [0; 3])];
    while let Some((id, at)) = open.pop() {
        match &data.scenes[id as usize] {
            SceneNode::Transform { frames, child, .. } => {
                let by = frames[0].position().map_or([0; 3], |p| [p.x, p.y, p.z]);
                open.push((*child, [0, 1, 2].map(|a| at[a] + i64::from(by[a]))));
            }
            SceneNode::Group { children, .. } => {
                open.extend(children.iter().map(|child| (*child, at)));
            }
            SceneNode::Shape { models, .. } => {
                let model = &data.models[models[0].model_id as usize];
                let size = [model.size.x, model.size.y, model.size.z].map(i64::from);
                assert!(size.iter().all(|n| n % 2 == 0 && *n <= 256), "{size:?}");
                for voxel in &model.voxels {
                    let cell = [voxel.x, voxel.y, voxel.z].map(i64::from);
                    let place = [0, 1, 2].map(|a| at[a] + cell[a] - size[a] / 2);
                    let colour = data.palette[usize::from(voxel.i)];
                    assert_eq!(colour.a, 255);
                    let before = found.insert(place, [colour.r, colour.g, colour.b]);
                    assert_eq!(before, None, "{place:?} is there twice");
                }
            }
        }
    }
    found
}

fn places_of(bytes: &[u8]) -> BTreeSet<[i64; 3]> {
    let data = dot_vox::load_bytes(bytes).expect("dot_vox reads it");
    voxels_of(&data).into_keys().collect()
}

/// Returns the place of a cell of a grid of these dims: x and y around 0, z from the floor up.
fn place([i, j, k]: [usize; 3], [nx, ny, nz]: [usize; 3], is_turned: bool) -> [i64; 3] {
    let (at, [sx, sy]) = if is_turned {
        ([i, nz - 1 - k, j], [nx, nz])
    } else {
        ([i, j, k], [nx, ny])
    };
    let [x, y, z] = at.map(|n| n as i64);
    [x - (sx / 2) as i64, y - (sy / 2) as i64, z]
}

/// Returns voxels on a lattice, once with z up and once with y up.
fn turned(bits: &BitGrid) -> [(Voxels, bool); 2] {
    let voxels = at_odd_place(bits.clone());
    [(voxels.clone(), false), (with_y_up(voxels), true)]
}

/// Returns solid blocks with gaps. Some gaps cross the borders of tiles.
fn blocks(dims: [usize; 3]) -> BitGrid {
    let is_block = |[i, j, k]: &[usize; 3]| !(i / 9 + j / 4 + k / 13).is_multiple_of(4);
    grid_of(dims, every_cell(dims).filter(is_block))
}

/// Returns the hull by its definition: the cells without six occupied neighbours.
fn hull(bits: &BitGrid) -> BitGrid {
    let is_open = |cell: &[usize; 3], axis: usize| {
        let is_empty = |n: usize| {
            let mut other = *cell;
            other[axis] = n;
            !bits.get(other)
        };
        cell[axis] == 0
            || cell[axis] + 1 == bits.dims()[axis]
            || is_empty(cell[axis] - 1)
            || is_empty(cell[axis] + 1)
    };
    let visible = |cell: &[usize; 3]| (0..3).any(|axis| is_open(cell, axis));
    grid_of(bits.dims(), bits.iter().filter(visible))
}

/// Tiles end within blocks, within scattered cells, and next to the ends of long axes. The largest scene was
/// tested with other readers.
#[test]
fn scenes_and_hulls_have_every_voxel_in_its_place() {
    let solid = [
        [3, 4, 5],
        [20, 300, 9],
        [300, 9, 256],
        [9, 7, 257],
        [70, 5, 512],
        [11, 7, 530],
    ];
    let tiles = [[256, 3, 2], [257, 3, 2], [600, 5, 3], [3, 257, 259]];
    let long = [
        [2001, 2, 2],
        [3, 257, 2],
        [2, 3, 257],
        [2, 70_000, 1],
        [70_000, 1, 2],
        [2, 3, 1001],
        [1, 1, 70_000],
    ];
    let mut grids: Vec<_> = solid
        .map(blocks)
        .into_iter()
        .chain(tiles.map(scattered))
        .collect();
    for dims in long {
        let longest = dims.into_iter().max().unwrap();
        let is_end = |n: &usize| n % 257 < 2 || n % 256 > 253 || n + 2 > longest;
        let ends = (0..longest).filter(is_end);
        grids.push(grid_of(dims, ends.map(|n| dims.map(|size| n % size))));
    }
    let corners = [
        [0, 0, 0],
        [599, 299, 519],
        [255, 256, 255],
        [256, 255, 256],
        [599, 0, 0],
    ];
    grids.push(grid_of([600, 300, 520], corners));
    let dims = [600, 300, 280];
    let is_occupied = |[i, j, k]: &[usize; 3]| {
        ((j + k).is_multiple_of(5) || j % 256 > 253) && (3 * i + j + 7 * k).is_multiple_of(11)
    };
    grids.push(grid_of(dims, every_cell(dims).filter(is_occupied)));
    let mut hidden = 0;
    for bits in grids.into_iter().chain([f_grid()]) {
        let dims = bits.dims();
        let hull = hull(&bits);
        hidden += bits.count() - hull.count();
        for (voxels, is_turned) in turned(&bits) {
            for (choices, cells, rule) in [
                (&[][..], &bits, "surface"),
                (HULL, &hull, "hull of surface"),
            ] {
                let bytes = bytes_of(&voxels, choices);
                let expected: BTreeSet<_> = cells
                    .iter()
                    .map(|cell| place(cell, dims, is_turned))
                    .collect();
                assert!(places_of(&bytes) == expected, "{dims:?} {is_turned} {rule}");
                let back = read(&bytes, vox(), None).unwrap();
                assert_eq!(back.record.rule_name.as_deref(), Some(rule));
                assert!(back.lattice == voxels.lattice && back.occupied() == Ok(cells));
                // A hull is its own hull.
                assert_eq!(read(&bytes_of(&back, choices), vox(), None).unwrap(), back);
            }
        }
    }
    assert!(hidden > 50_000, "{hidden}");
}

#[test]
fn palettes_are_complete_and_the_root_states_the_lattice() {
    let bytes = bytes_of(&at_odd_place(f_grid()), &[]);
    let at = bytes
        .windows(4)
        .position(|window| window == b"RGBA")
        .unwrap();
    assert_eq!(bytes[at + 4..at + 8], 1024_u32.to_le_bytes());
    let data = dot_vox::load_bytes(&bytes).unwrap();
    assert_eq!((data.palette.len(), data.layers.len()), (256, 1));
    let voxels = data.models.iter().flat_map(|model| &model.voxels);
    assert!(voxels.into_iter().all(|voxel| voxel.i == 0), "colour 1");
    let SceneNode::Transform { attributes, .. } = &data.scenes[0] else {
        panic!("node 0 is a transform")
    };
    assert!(attributes["_voxelize"].contains(r#""origin":["-1/3","22/7","5/1"]"#));
}

#[test]
fn empty_tiles_are_left_out() {
    let sparse = at_odd_place(grid_of([1000; 3], [[999, 0, 0], [0, 0, 999]]));
    let data = load(&sparse);
    assert_eq!((data.models.len(), data.scenes.len()), (2, 6));
    assert!(bytes_of(&sparse, &[]).len() < 3000);
    let data = load(&at_odd_place(BitGrid::new([300, 1, 1]).unwrap()));
    assert_eq!((data.models.len(), voxels_of(&data).len()), (1, 0));
}

#[test]
fn models_come_in_one_order_from_slabs_of_any_height() {
    for dims in [[11, 7, 530], [300, 260, 3], [5, 270, 770]] {
        let voxels = at_odd_place(blocks(dims));
        for choices in [&[][..], HULL] {
            let write = || bytes_of(&voxels, choices);
            let [one, whole] = [1, 3].map(|n| voxelize::par::with_threads(n, write).unwrap());
            assert!(one == whole, "{dims:?}");
            for height in [256, 512, 768] {
                let slabs = from_slabs(&voxels, height, vox(), &with_choices(choices));
                assert!(slabs == whole, "{dims:?} {height} {choices:?}");
            }
        }
        // x fastest, then y, then z, by their places in the scene.
        let data = load(&voxels);
        let place = |n: usize| {
            let SceneNode::Transform { frames, .. } = &data.scenes[2 * n + 2] else {
                panic!("a transform")
            };
            let at = frames[0].position().unwrap();
            [at.z, at.y, at.x]
        };
        assert!((0..data.models.len()).map(place).is_sorted());
        let tiles = dims.map(|n| n.div_ceil(256));
        assert_eq!(data.models.len(), tiles.iter().product::<usize>());
    }
}

/// Returns a legend of the values 1 to `values`.
fn legend(values: u8) -> Legend {
    let label = |value: u8| {
        Label::new(value, format!("part {value}")).with_colour([value, 255 - value, value ^ 0x55])
    };
    Legend::new((1..=values).map(label)).unwrap()
}

/// Returns labels with all values of a legend in turn.
fn labelled(bits: &BitGrid, legend: Legend) -> Labels {
    let values: Vec<u8> = legend.labels().iter().map(|label| label.value).collect();
    let mut labels = Labels::new(bits.dims(), legend).unwrap();
    for (n, cell) in bits.iter().enumerate() {
        labels.set(cell, values[n / 3 % values.len()]);
    }
    labels
}

fn on_a_lattice(labels: &Labels) -> Voxels {
    Voxels {
        cells: labels.clone().into(),
        ..at_odd_place(BitGrid::new(labels.dims()).unwrap())
    }
}

/// Labels in separate layers as planes and as bytes, too many for layers, and with names that need no layers.
#[test]
fn visible_cells_have_their_labels_and_colours() {
    let bits = blocks([20, 9, 530]);
    for legend in [
        legend(3),
        legend(9),
        legend(60),
        legend(255),
        Legend::surface_and_interior(),
    ] {
        let all = labelled(&bits, legend);
        let voxels = on_a_lattice(&all);
        for (choices, shown) in [(&[][..], bits.clone()), (HULL, hull(&bits))] {
            let bytes = bytes_of(&voxels, choices);
            for height in [256, 512] {
                let slabs = from_slabs(&voxels, height, vox(), &with_choices(choices));
                assert!(slabs == bytes, "{choices:?} {height}");
            }
            let mut expected = Labels::new(bits.dims(), all.legend().clone()).unwrap();
            let found = voxels_of(&dot_vox::load_bytes(&bytes).unwrap());
            assert_eq!(found.len() as u64, shown.count());
            for cell in shown.iter() {
                let value = all.get(cell);
                expected.set(cell, value);
                let label = all.legend().get(value).unwrap();
                let colour = label.colour.or(label.standard_colour()).unwrap();
                assert_eq!(found[&place(cell, bits.dims(), false)], colour, "{cell:?}");
            }
            assert!(read(&bytes, vox(), None).unwrap().cells == expected.into());
        }
    }
}

#[test]
fn labels_come_back_from_every_tile() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("labels.vox");
    let bits = scattered([300, 9, 260]);
    let all = Legend::new(Label::STANDARD).unwrap();
    // Labels stored as bytes and in planes of bits.
    for legend in [
        all.with_digest(LabelDigest::Occupancy),
        Legend::difference(),
        Legend::changes(),
    ] {
        let voxels = on_a_lattice(&labelled(&bits, legend));
        voxels.save(&path).unwrap();
        assert!(Voxels::open(&path).unwrap() == voxels, "{:?}", voxels.cells);
        assert_eq!(voxels.digest(), at_odd_place(bits.clone()).digest());
        assert_eq!(format::sniff(&path).map(|format| format.name), Some("vox"));
    }
}

/// The record and the sidecar of a hull, which replace the digest of the omitted cells.
#[test]
fn hulls_do_not_claim_to_be_the_whole() {
    let voxels = at_odd_place(blocks([30, 20, 10]));
    let digest = voxels.digest().cells;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hull.vox");
    let options = SaveOptions {
        sidecar: Sidecar::Write,
        ..with_choices(HULL)
    };
    format::save(&voxels, &path, vox(), &options).unwrap();
    let described = format::describe(&path).unwrap().metadata;
    let sidecar = fs::read_to_string(folder.path().join("hull.vox.json")).unwrap();
    let sidecar = voxelize::grid::metadata::Metadata::from_json(&sidecar).unwrap();
    for metadata in [described, sidecar] {
        assert_eq!(
            metadata.record.rule_name.as_deref(),
            Some("hull of surface")
        );
        assert_eq!(metadata.extra["hull_of"], digest.to_string());
        assert_eq!(metadata.extra.get("cells"), None);
        assert_eq!(metadata.extra["choices"], "vox-hull");
        assert_eq!(metadata.record.fields, voxels.record.fields);
    }
    let found = Voxels::open(&path).unwrap().digest().cells;
    let hull = Voxels::new(hull(voxels.occupied().unwrap()));
    assert_ne!(found, digest);
    assert_eq!(found, hull.digest().cells);
    // A file of all cells contains its digest.
    voxels.save(&path).unwrap();
    let extra = format::describe(&path).unwrap().metadata.extra;
    assert_eq!(extra["cells"], digest.to_string());
}

/// Returns the files of a split grid by name.
fn split(
    source: &mut dyn CellSource,
    choices: &[Choice],
    folder: &TempDir,
) -> BTreeMap<String, Vec<u8>> {
    let path = folder.path().join("big.vox");
    let written = format::save_source(source, &path, vox(), &with_choices(choices)).unwrap();
    let mut files = BTreeMap::new();
    for file in written {
        let name = file.path.file_name().unwrap().to_str().unwrap().to_string();
        files.insert(name, fs::read(&file.path).unwrap());
    }
    let count = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(files.len(), count, "no other file");
    files
}

#[test]
fn pieces_are_scenes_of_their_own_that_join_to_the_whole() {
    let mut seen = 0;
    for (dims, y_up) in [
        ([2001, 3, 1001], false),
        ([3, 2001, 2], false),
        ([3, 1001, 2001], true),
        ([2001, 2, 3], true),
    ] {
        let [(voxels, _), (standing, _)] = turned(&blocks(dims));
        let voxels = if y_up { standing } else { voxels };
        let lattice = voxels.lattice.clone().unwrap();
        for (choices, expected) in [
            (&[Choice::VoxSplit][..], blocks(dims)),
            (&[Choice::VoxSplit, Choice::VoxHull], hull(&blocks(dims))),
        ] {
            let [folder, slabs] = [(); 2].map(|()| tempfile::tempdir().unwrap());
            let files = split(&mut InMemory::new(&voxels), choices, &folder);
            let from_slabs = split(&mut Split::new(&voxels, 256), choices, &slabs);
            assert!(from_slabs == files, "{dims:?}");
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
                for cell in piece.occupied().unwrap().iter() {
                    joined.set([0, 1, 2].map(|a| first[a] + cell[a]));
                }
                // An independent reader finds all voxels within the world.
                let found = places_of(&files[name]);
                let across = -1000..1000;
                let is_shown = |[x, y, z]: &[i64; 3]| {
                    across.contains(x) && across.contains(y) && (0..1000).contains(z)
                };
                assert!(found.len() as u64 == piece.count(), "{name}");
                assert!(found.iter().all(is_shown), "{name}");
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
    let choices = &[Choice::VoxSplit];
    let files = split(&mut InMemory::new(&voxels), choices, &folder);
    assert_eq!(files.keys().collect::<Vec<_>>(), ["big.vox"]);
    assert_eq!(Voxels::open(folder.path().join("big.vox")).unwrap(), voxels);
    // A stream contains one file.
    let beyond = at_odd_place(blocks([2001, 2, 1]));
    let error = written(&beyond, vox(), &with_choices(choices)).unwrap_err();
    let message = "a split grid has several files, but a stream is a single file";
    assert_eq!((error.kind(), error.message()), (Kind::Usage, message));
}

#[test]
fn files_of_others_are_read_as_the_box_of_their_voxels() {
    let mut scene = load(&at_odd_place(scattered([300, 9, 4])));
    let SceneNode::Transform { attributes, .. } = &mut scene.scenes[0] else {
        panic!()
    };
    attributes.clear();
    // A single model without a scene.
    let mut model = load(&at_odd_place(f_grid()));
    model.scenes.clear();
    for (data, bits) in [(scene, scattered([300, 9, 4])), (model, f_grid())] {
        let mut bytes = Vec::new();
        data.write_vox(&mut bytes).unwrap();
        let [low, high] = bits.occupied_box().unwrap();
        let dims = [0, 1, 2].map(|a| high[a] - low[a] + 1);
        let moved = bits.iter().map(|c| [0, 1, 2].map(|a| c[a] - low[a]));
        let expected = Voxels::new(grid_of(dims, moved));
        assert_eq!(read(&bytes, vox(), None).unwrap(), expected);
    }
}

/// Regression: each of two labels had the cell, and together they had more cells than the grid.
#[test]
fn labels_that_share_a_cell_are_refused() {
    let grid = |text| BitGrid::from_text(text).unwrap();
    let changes = voxelize::compare::diff::changes(&grid(".#"), &grid("#.")).unwrap();
    let mut bytes = bytes_of(&Voxels::new(changes), &[]);
    let from = [0, 0, 0, 4, 1, 0, 0, 5];
    let at = bytes.windows(8).position(|window| window == from).unwrap();
    bytes[at + 4] = 0;
    let error = read(&bytes, vox(), None).unwrap_err();
    let message = "there are two voxels at [-1, 0, 0]";
    assert_eq!((error.code(), error.message()), (Code::V007, message));
}

fn le_bytes(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

/// Returns a chunk of `.vox`: its name, its content, and no children.
fn chunk(id: &[u8; 4], content: &[u32]) -> Vec<u8> {
    let head = le_bytes(&[4 * content.len() as u32, 0]);
    [id.to_vec(), head, le_bytes(content)].concat()
}

/// Returns a scene of one model of `voxels` voxels below a chain of `deep` transforms, placed `uses` times.
fn scene(voxels: u32, deep: u32, uses: u32) -> Vec<u8> {
    let voxel = |n: u32| (n % 32) | ((n / 32 % 32) << 8) | ((n / 1024) << 16) | (1 << 24);
    let model: Vec<_> = [voxels].into_iter().chain((0..voxels).map(voxel)).collect();
    let mut chunks = [chunk(b"SIZE", &[32; 3]), chunk(b"XYZI", &model)].concat();
    for id in 0..deep {
        chunks.extend(chunk(b"nTRN", &[id, 0, id + 1, u32::MAX, u32::MAX, 1, 0]));
    }
    let mut group = vec![deep, 0, uses];
    group.extend((0..uses).map(|n| deep + 1 + n));
    chunks.extend(chunk(b"nGRP", &group));
    for n in 0..uses {
        chunks.extend(chunk(b"nSHP", &[deep + 1 + n, 0, 1, 0, 0]));
    }
    let main = [150, u32::from_le_bytes(*b"MAIN"), 0, chunks.len() as u32];
    [b"VOX ".to_vec(), le_bytes(&main), chunks].concat()
}

/// Regression: a file of a megabyte took minutes, because its model was placed thousands of times.
#[test]
fn scenes_place_no_more_than_their_file_is_worth() {
    // Deep, and little work.
    let deep = read(&scene(1000, 40_000, 1), vox(), None).unwrap();
    let often = read(&scene(1000, 1, 500), vox(), None).unwrap();
    assert_eq!((deep.count(), often.count()), (1000, 1000));
    let error = read(&scene(32_000, 1, 8000), vox(), None).unwrap_err();
    assert_eq!(error.kind(), Kind::TooLarge, "{error}");
}

/// MagicaVoxel shows -1000 to 999 along x and y, and 0 to 999 along z, which is up.
#[cfg(feature = "cli")]
#[test]
fn scenes_beyond_the_world_need_a_name_or_a_format() {
    let place = Place::new();
    let rows = |code: i32, bounds: &[&str], end: &str| -> String {
        let line = |bounds: &&str| {
            format!("{code} cube.stl --voxel-size 0.01 --bounds 0,0,0,{bounds} {end}\n")
        };
        bounds.iter().map(line).collect()
    };
    let beyond = ["20.01,0.02,0.02", "0.02,20.01,0.02", "0.02,0.02,10.01"];
    let limit = "\nerr MagicaVoxel shows 2000 × 2000 × 1000 cells\nerr hint: -f npy ";
    for end in [limit, &format!("-n {limit}")] {
        rows::refused(&place, &rows(5, &beyond, end));
    }
    let turned = ["0.02,10.01,0.02 --up y", "0.02,0.02,20.01 --up y"];
    rows::refused(&place, &rows(5, &turned, ""));
    let warning = "\nerr warning[W004]: MagicaVoxel shows";
    for named in ["-o big.vox", "-f vox -o big.vox"] {
        rows::check(&place, &rows(0, &beyond, &format!("{named} {warning}")));
    }
    rows::check(&place, &rows(0, &beyond, "-f npy -o big.npy"));
    let largest = [
        "20,0.02,0.02",
        "0.02,20,0.02",
        "0.02,0.02,10",
        "0.02,10,0.02 --up y",
        "0.02,0.02,20 --up y",
    ];
    rows::check(&place, &rows(0, &largest, "\nno err W004"));
}

#[cfg(feature = "cli")]
#[test]
fn several_files_are_written_if_one_is_too_large() {
    let place = Place::new();
    let line = "cube.stl --voxel-size 0.01 --bounds 0,0,0,20.01,0.02,10.01 --vox-split";
    let runs = rows::check(
        &place,
        &format!(
            "0 {line} --json
                no err W004
             0 info cube-1-0-1.vox --json
                /grid/dims [209,2,233]
                /grid/origin_exact/0 \"448/25\"
             # A second run replaces its own files.
             0 {line}"
        ),
    );
    let outputs = runs[0].json()["outputs"].as_array().unwrap().len();
    let files = "cube-0-0-1.vox cube-1-0-0.vox cube-1-0-1.vox cube.stl cube.vox thirds.stl";
    assert_eq!((place.files().join(" "), outputs), (files.into(), 4));
    // Files of others stay, and then nothing is written.
    place.write("cube-1-0-0.vox", "mine");
    rows::refused(
        &place,
        &format!(
            "6 {line}
                err cube-1-0-0.vox
             2 {line} -f vox -o -
             2 {line} -o cube.npz
                err error: --vox-split: npz has no such choice"
        ),
    );
}

#[cfg(feature = "cli")]
#[test]
fn hulls_are_half_of_a_filled_grid_and_less() {
    let place = Place::new();
    let runs = rows::check(
        &place,
        "0 cube.stl -r 40 --filled -o whole.vox
         0 cube.stl -r 40 --filled --vox-hull -o hull.vox --json
         0 info hull.vox --json
            /counts/occupied 9128
            /rule \"hull of filled\"
         0 convert whole.vox again.vox --vox-hull
         0 info again.vox --json
         2 cube.stl --vox-hull -o a.npz
            err error: --vox-hull: npz has no such choice",
    );
    let bytes = |name: &str| fs::metadata(place.path(name)).unwrap().len();
    assert!(bytes("hull.vox") * 4 < bytes("whole.vox"));
    let digest = |n: usize| runs[n].json()["digest"].clone();
    assert_ne!(digest(2)["cells"], digest(1)["cells"]);
    assert_eq!(digest(2), digest(4));
}

/// Colours of a mesh are stored in the palette, each at the index of its cells.
#[cfg(feature = "cli")]
#[test]
fn colours_of_a_mesh_match_its_voxels() {
    let folder = Place::new();
    let corners = "0 0 0\n8 0 0\n8 8 0\n0 8 0\n0 0 8\n8 0 8\n8 8 8\n0 8 8\n";
    let faces = "4 0 3 2 1 255 0 0\n4 4 5 6 7 0 255 0\n4 0 1 5 4 0 0 255\n4 1 2 6 5 255 255 0\n\
                 4 2 3 7 6 255 0 255\n4 3 0 4 7 51 102 153\n";
    folder.write("box.off", format!("OFF\n8 6 0\n{corners}{faces}"));
    rows::check(
        &folder,
        "0 box.off -r 8 --filled --labels colour -o a.npz
         0 box.off -r 8 --filled --labels colour -o whole.vox
         0 box.off -r 8 --filled --labels colour --vox-hull -o hull.vox",
    );
    let voxels = Voxels::open(folder.path("a.npz")).unwrap();
    let labels = voxels.labels().unwrap();
    for (name, count) in [("whole.vox", 512), ("hull.vox", 512 - 216)] {
        let data = dot_vox::load_bytes(&fs::read(folder.path(name)).unwrap()).unwrap();
        let found = voxels_of(&data);
        assert_eq!(found.len(), count);
        let mut colours = BTreeSet::new();
        for (cell, value) in labels.iter() {
            if let Some(colour) = found.get(&place(cell, [8; 3], false)) {
                assert_eq!(*colour, labels.legend().colour(value), "{cell:?}");
                colours.insert(*colour);
            }
        }
        assert_eq!(colours.len(), 6);
    }
}
