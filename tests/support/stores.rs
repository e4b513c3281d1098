//! Stores of regions for tests: planned and computed, with the result of one process for comparison.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use voxelize::format::{Choice, Dtype, Durability};
use voxelize::job::regions::{RegionMaker, RegionPlan, RegionRequest, RegionStore, StorePart};
use voxelize::job::{JobResult, PartChoice};
use voxelize::mesh::read::Tolerance;
use voxelize::{Lattice, Mesh, Voxelizer};

use super::random::Random;

/// Returns the plan of this number of regions.
pub fn plan(
    voxelizer: &Voxelizer,
    mesh: &Mesh,
    lattice: &Lattice,
    regions: usize,
    choices: &[Choice],
) -> voxelize::Result<RegionPlan> {
    plan_with(voxelizer, mesh, lattice, regions, choices, false)
}

/// Returns the plan of this number of regions, with or without bins of triangles.
pub fn plan_with(
    voxelizer: &Voxelizer,
    mesh: &Mesh,
    lattice: &Lattice,
    regions: usize,
    choices: &[Choice],
    bins: bool,
) -> voxelize::Result<RegionPlan> {
    let request = RegionRequest {
        dtype: None,
        choices,
        regions: Some(regions),
        meshes: vec!["mesh.stl".into()],
        tolerance: Tolerance::Usual,
        parts: &PartChoice::default(),
        bins,
    };
    voxelizer
        .plan_regions(mesh, lattice, &request)
        .map(|(plan, _)| plan)
}

/// Creates a store of this plan in a new folder.
pub fn store(folder: &Path, plan: &RegionPlan) -> RegionStore {
    RegionStore::create(
        &folder.join("cells.zarr"),
        plan.clone(),
        Durability::Unsynced,
    )
    .unwrap()
}

/// Computes these regions in this order.
pub fn make(
    store: &RegionStore,
    mesh: &Mesh,
    like: &Voxelizer,
    regions: &[usize],
) -> Vec<StorePart> {
    let mut maker = RegionMaker::new(store, mesh, like, Durability::Unsynced).unwrap();
    regions
        .iter()
        .map(|region| maker.make(*region).unwrap())
        .collect()
}

/// Creates a store of this plan with bins in a new folder.
pub fn store_with_bins(folder: &Path, plan: &RegionPlan, mesh: &Mesh) -> RegionStore {
    let root = folder.join("cells.zarr");
    RegionStore::create_with_bins(&root, plan.clone(), mesh, Durability::Unsynced, &()).unwrap()
}

/// Computes these regions in this order, each from its bin.
pub fn make_of_bins(store: &RegionStore, like: &Voxelizer, regions: &[usize]) -> Vec<StorePart> {
    let bins = store.bins().unwrap().unwrap();
    let make_one = |region: &usize| {
        let mesh = bins.mesh(*region, None, &()).unwrap();
        make(store, &mesh, like, &[*region]).remove(0)
    };
    regions.iter().map(make_one).collect()
}

/// Returns the numbers of all regions in random order.
pub fn shuffled(store: &RegionStore, random: &mut Random) -> Vec<usize> {
    let mut all: Vec<usize> = (0..store.plan.regions()).collect();
    for n in (1..all.len()).rev() {
        all.swap(n, random.index(n + 1));
    }
    all
}

/// Returns the result of one process.
pub fn whole(voxelizer: &Voxelizer, mesh: &Mesh, lattice: &Lattice) -> JobResult {
    let target = voxelize::job::Target {
        format: voxelize::format::by_name("zarr").unwrap(),
        path: None,
        dtype: Some(Dtype::U8),
        choices: &[],
    };
    voxelizer
        .prepare(mesh, lattice, Some(target))
        .unwrap()
        .voxels()
        .unwrap()
        .1
}

/// Returns the files below a folder with their bytes, by relative name.
pub fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders: Vec<PathBuf> = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path
                    .strip_prefix(root)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .replace('\\', "/");
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}
