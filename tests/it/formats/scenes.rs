//! `.vox` files as seen by an independent reader.

use std::collections::BTreeSet;

use dot_vox::{DotVoxData, SceneNode};

use super::*;
use voxelize::grid::{Label, LabelDigest, Labels, Legend};

fn vox() -> &'static Format {
    format::by_name("vox").unwrap()
}

fn load(voxels: &Voxels) -> (Vec<u8>, DotVoxData) {
    let (bytes, _) = saved(voxels, vox(), Dtype::U8);
    let data = dot_vox::load_bytes(&bytes).expect("dot_vox reads it");
    (bytes, data)
}

/// Returns the place of every voxel of the scene. No place may occur twice.
fn positions(data: &DotVoxData) -> BTreeSet<[i64; 3]> {
    let mut found = BTreeSet::new();
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
                    assert!(found.insert(place), "{place:?} is there twice");
                    assert_eq!(voxel.i, 0, "colour 1");
                }
            }
        }
    }
    found
}

/// Returns the expected places: x and y around 0, z from the floor up.
fn expected(bits: &BitGrid) -> BTreeSet<[i64; 3]> {
    let [nx, ny, _] = bits.dims();
    let place = |[i, j, k]: [usize; 3]| {
        [
            i as i64 - (nx / 2) as i64,
            j as i64 - (ny / 2) as i64,
            k as i64,
        ]
    };
    bits.iter().map(place).collect()
}

#[test]
fn every_voxel_is_in_its_place() {
    let mut sparse = BitGrid::new([600, 300, 520]).unwrap();
    for cell in [
        [0, 0, 0],
        [599, 299, 519],
        [255, 256, 255],
        [256, 255, 256],
        [599, 0, 0],
    ] {
        sparse.set(cell);
    }
    let grids = [
        f_grid(),
        scattered([256, 3, 2]),
        scattered([257, 3, 2]),
        scattered([600, 5, 3]),
        scattered([3, 257, 259]),
        sparse,
    ];
    for bits in grids {
        let voxels = at_odd_place(bits);
        let (_, data) = load(&voxels);
        assert!(
            positions(&data) == expected(voxels.occupied().unwrap()),
            "{:?}",
            voxels.dims()
        );
        assert_eq!(data.palette.len(), 256);
        assert_eq!(data.layers.len(), 1);
    }
}

#[test]
fn labels_come_back_from_every_tile() {
    let dims = [300, 9, 260];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("labels.vox");
    let plain = at_odd_place(scattered(dims));
    let all = Legend::new(Label::STANDARD)
        .unwrap()
        .with_digest(LabelDigest::Occupancy);
    // Labels stored as bytes and in planes of bits.
    for legend in [all, Legend::difference(), Legend::changes()] {
        let mut labels = Labels::new(dims, legend.clone()).unwrap();
        for (n, cell) in scattered(dims).iter().enumerate() {
            labels.set(cell, legend.labels()[n % legend.labels().len()].value);
        }
        let voxels = Voxels {
            cells: labels.into(),
            ..plain.clone()
        };
        voxels.save(&path).unwrap();
        assert!(Voxels::open(&path).unwrap() == voxels, "{legend:?}");
        assert_eq!(voxels.digest(), plain.digest());
        assert_eq!(format::sniff(&path).map(|format| format.name), Some("vox"));
    }
    plain.save(&path).unwrap();
    assert!(Voxels::open(&path).unwrap() == plain, "bits have no labels");
}

#[test]
fn empty_tiles_are_left_out() {
    let mut bits = BitGrid::new([1000, 1000, 1000]).unwrap();
    bits.set([999, 0, 0]);
    bits.set([0, 0, 999]);
    let (bytes, data) = load(&at_odd_place(bits));
    assert_eq!((data.models.len(), data.scenes.len()), (2, 6));
    assert!(bytes.len() < 3000);
}

#[test]
fn an_empty_grid_is_a_scene_that_loads() {
    let (_, data) = load(&at_odd_place(BitGrid::new([300, 1, 1]).unwrap()));
    assert_eq!((data.models.len(), positions(&data).len()), (1, 0));
}

#[test]
fn the_palette_is_complete_and_the_root_states_the_lattice() {
    let (bytes, data) = load(&at_odd_place(f_grid()));
    let at = bytes
        .windows(4)
        .position(|w| w == b"RGBA")
        .expect("always a palette");
    assert_eq!(
        u32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap()),
        1024
    );
    let SceneNode::Transform { attributes, .. } = &data.scenes[0] else {
        panic!("node 0 is a transform")
    };
    assert!(attributes["_voxelize"].contains(r#""origin":["-1/3","22/7","5/1"]"#));
}

#[test]
fn scenes_of_others_are_read_as_the_box_of_their_voxels() {
    let (_, mut data) = load(&at_odd_place(scattered([300, 9, 4])));
    let SceneNode::Transform { attributes, .. } = &mut data.scenes[0] else {
        panic!()
    };
    attributes.clear();
    let mut bytes = Vec::new();
    data.write_vox(&mut bytes).unwrap();
    let back = read(&bytes, vox(), None).unwrap();
    assert_eq!((&back.lattice, &back.record), (&None, &Record::default()));
    let bits = scattered([300, 9, 4]);
    let [low, high] = bits.occupied_box().unwrap();
    assert_eq!(
        back.occupied().unwrap().dims(),
        std::array::from_fn(|a| high[a] - low[a] + 1)
    );
    let moved: Vec<_> = bits
        .iter()
        .map(|c| std::array::from_fn(|a| c[a] - low[a]))
        .collect();
    assert_eq!(
        back.occupied().unwrap().iter().collect::<Vec<[usize; 3]>>(),
        moved
    );
}

#[test]
fn a_single_model_without_a_scene_is_read() {
    let (_, mut data) = load(&at_odd_place(f_grid()));
    data.scenes.clear();
    let mut bytes = Vec::new();
    data.write_vox(&mut bytes).unwrap();
    assert_eq!(
        read(&bytes, vox(), None).unwrap().into_occupied().unwrap(),
        f_grid()
    );
}

#[test]
fn scenes_too_large_to_show_give_a_warning() {
    let lattice = at_odd_place(f_grid()).lattice.unwrap();
    assert!(format::warnings(&lattice, [2000, 2000, 1000], vox()).is_empty());
    assert_eq!(format::warnings(&lattice, [256, 256, 1001], vox()).len(), 1);
}

/// Regression: each of two labels had the cell, and together they had more cells than the grid.
#[test]
fn labels_that_share_a_cell_are_refused() {
    let grid = |text| BitGrid::from_text(text).unwrap();
    let changes = voxelize::compare::diff::changes(&grid(".#"), &grid("#.")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("labels.vox");
    Voxels::new(changes).save(&path).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let from = [0, 0, 0, 4, 1, 0, 0, 5];
    let at = bytes
        .windows(from.len())
        .position(|window| window == from)
        .expect("is there");
    bytes[at + 4] = 0;
    std::fs::write(&path, bytes).unwrap();
    let error = format::open(&path).unwrap_err();
    assert_eq!(
        (error.code().name(), error.message()),
        ("V007", "there are two voxels at [-1, 0, 0]")
    );
}

/// Returns a chunk of `.vox`: its name, its content, and no children.
fn chunk(id: &[u8; 4], content: &[u32]) -> Vec<u8> {
    let bytes = content.iter().flat_map(|n| n.to_le_bytes());
    let head = [4 * content.len() as u32, 0];
    id.iter()
        .copied()
        .chain(head.iter().flat_map(|n| n.to_le_bytes()))
        .chain(bytes)
        .collect()
}

/// Returns a scene of one model of `voxels` voxels below a chain of `deep` transforms, placed `uses` times.
fn scene(voxels: u32, deep: u32, uses: u32) -> Vec<u8> {
    let mut model = vec![voxels];
    model.extend(
        (0..voxels).map(|n| (n % 32) | ((n / 32 % 32) << 8) | ((n / 1024) << 16) | (1 << 24)),
    );
    let mut chunks = [chunk(b"SIZE", &[32; 3]), chunk(b"XYZI", &model)].concat();
    let transform = |id: u32, child: u32| chunk(b"nTRN", &[id, 0, child, u32::MAX, u32::MAX, 1, 0]);
    (0..deep).for_each(|id| chunks.extend(transform(id, id + 1)));
    let group: Vec<u32> = [deep, 0, uses]
        .into_iter()
        .chain((0..uses).map(|n| deep + 1 + n))
        .collect();
    chunks.extend(chunk(b"nGRP", &group));
    (0..uses).for_each(|n| chunks.extend(chunk(b"nSHP", &[deep + 1 + n, 0, 1, 0, 0])));
    let head = [150, u32::from_le_bytes(*b"MAIN"), 0, chunks.len() as u32];
    [
        b"VOX ".to_vec(),
        head.iter().flat_map(|n| n.to_le_bytes()).collect(),
        chunks,
    ]
    .concat()
}

/// Regression: a file of a megabyte took minutes, because its model was placed thousands of times.
#[test]
fn scenes_place_no_more_than_their_file_is_worth() {
    let read = |bytes: Vec<u8>| format::read_from(Cursor::new(bytes), vox(), None);
    assert_eq!(
        read(scene(1000, 40_000, 1)).unwrap().count(),
        1000,
        "deep, and little work"
    );
    assert_eq!(read(scene(1000, 1, 500)).unwrap().count(), 1000);
    let error = read(scene(32_000, 1, 8000)).unwrap_err();
    assert_eq!(error.kind(), voxelize::Kind::TooLarge, "{error}");
}
