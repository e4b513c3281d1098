//! Every damaged, missing or stale file of a store is found, reported and recreated, and nothing else is
//! touched.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use voxelize::format::Durability;
use voxelize::grid::Digest;
use voxelize::job::regions::{RegionMaker, RegionState, RegionStore};
use voxelize::{Fit, Rule, Voxelizer};

use crate::support::meshes::{fitted, fixture};
use crate::support::random::Random;
use crate::support::stores::{files, make, plan, store, whole};
use crate::support::suite::{Counts, Suite};

pub const SUITE: Suite = Suite::of("stores", &[("damage", damage)]);

/// Number of damaged files.
const DAMAGES: usize = 1000;

/// Kinds of damage.
const KINDS: [&str; 6] = [
    "cut",
    "flipped bit",
    "missing",
    "longer",
    "of another mesh",
    "shard too many",
];

/// Returns the time of each file below a folder.
fn times(root: &Path) -> BTreeMap<String, SystemTime> {
    let time = |name: &String| fs::metadata(root.join(name)).unwrap().modified().unwrap();
    files(root)
        .keys()
        .map(|name| (name.clone(), time(name)))
        .collect()
}

/// Returns the region that a file belongs to.
fn region_of(store: &RegionStore, name: &str) -> usize {
    let regions = 0..store.plan.regions();
    let mut owners = regions.filter(|region| match store.state(*region, &()).unwrap() {
        RegionState::Whole(part) => {
            name == format!("parts/{}.json", region + 1)
                || part.shards.iter().any(|shard| shard.name == name)
        }
        _ => false,
    });
    owners
        .next()
        .unwrap_or_else(|| panic!("{name} is of no region"))
}

fn damage() -> Counts {
    let mut random = Random(1000);
    let [mesh, other] = ["knot.stl", "sphere.stl"].map(fixture);
    let lattice = fitted(Fit::longest(150).pad(40), &mesh);
    let voxelizer = Voxelizer::new(Rule::surface());
    let expected: Digest = whole(&voxelizer, &mesh, &lattice).digest;
    let [place, second] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let store_of = |folder: &Path, mesh| {
        let plan = plan(&voxelizer, mesh, &lattice, 99, &[]).unwrap();
        let store = store(folder, &plan);
        make(
            &store,
            mesh,
            &voxelizer,
            &(0..plan.regions()).collect::<Vec<_>>(),
        );
        assert!(
            store
                .finish(Durability::Unsynced, &())
                .unwrap()
                .digest
                .is_some()
        );
        store
    };
    let store = store_of(place.path(), &mesh);
    let others = files(&store_of(second.path(), &other).root);
    let good = files(&store.root);
    let is_mine = |name: &str| name.starts_with("parts/") || name.contains("/c/");
    let names: Vec<_> = good.keys().filter(|name| is_mine(name)).cloned().collect();
    let owner: BTreeMap<_, _> = names
        .iter()
        .map(|name| (name, region_of(&store, name)))
        .collect();
    let mut damaged = 0;
    let mut kinds = [0_u64; KINDS.len()];
    let mut of_parts = 0;
    let mut kept = 0;
    while damaged < DAMAGES {
        let mut name = names[random.index(names.len())].clone();
        let path = store.root.join(&name);
        let mut region = owner[&name];
        let mut bytes = good[&name].clone();
        let kind = random.index(KINDS.len());
        let before = times(&store.root);
        match kind {
            0 => bytes.truncate(random.index(bytes.len())),
            1 => {
                let place = random.index(bytes.len());
                bytes[place] ^= 1 << random.index(8);
            }
            2 => {}
            3 => bytes.extend_from_slice(&[random.index(256) as u8; 7]),
            4 => match others.get(&name).filter(|other| **other != bytes) {
                Some(other) => bytes.clone_from(other),
                None => continue,
            },
            _ => {
                // A shard that the region does not have.
                let is_new = |region: &usize| {
                    let new = format!("0/c/{region}/0/0");
                    (!good.contains_key(&new)).then_some((*region, new))
                };
                let Some((empty, new)) =
                    (0..store.plan.regions()).find_map(|region| is_new(&region))
                else {
                    panic!("every region has cells")
                };
                (region, name) = (empty, new);
            }
        }
        if kind == 2 {
            fs::remove_file(&path).unwrap();
        } else {
            let path = store.root.join(&name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        let report = store.check(&()).unwrap();
        assert!(report.digest.is_none(), "{} of {name} passes", KINDS[kind]);
        for (n, state) in report.states.iter().enumerate() {
            let is_whole = matches!(state, RegionState::Whole(_));
            assert_eq!(
                is_whole,
                n != region,
                "{} of {name}: region {n} is {}",
                KINDS[kind],
                state.name()
            );
        }
        let is_part = name.starts_with("parts/");
        match &report.states[region] {
            RegionState::Missing => assert!(is_part && kind == 2, "{} of {name}", KINDS[kind]),
            RegionState::Stale => assert!(is_part && kind == 4, "{} of {name}", KINDS[kind]),
            RegionState::Damaged(faults) => {
                assert!(
                    faults.len() == 1 && faults[0].name == name,
                    "{} of {name}: {faults:?}",
                    KINDS[kind]
                );
                assert!(report.findings[0].first.message().contains(&name));
            }
            RegionState::Whole(_) => unreachable!(),
        }
        let mut maker = RegionMaker::new(&store, &mesh, &voxelizer, Durability::Unsynced).unwrap();
        maker.make(region).unwrap();
        let report = store.check(&()).unwrap();
        assert_eq!(report.digest, Some(expected), "{} of {name}", KINDS[kind]);
        let after = files(&store.root);
        for (name, bytes) in &good {
            // A part records its duration.
            assert!(
                name.starts_with("parts/") || after[name] == *bytes,
                "{name} has changed"
            );
        }
        assert_eq!(after.len(), good.len());
        for (name, time) in times(&store.root) {
            if owner.get(&name) != Some(&region) {
                assert_eq!(before[&name], time, "{name} was touched");
                kept += 1;
            }
        }
        of_parts += u64::from(is_part);
        kinds[kind] += 1;
        damaged += 1;
    }
    let mut counts = vec![
        ("damaged", damaged as u64),
        ("of parts", of_parts),
        ("files left alone", kept),
    ];
    counts.extend(KINDS.into_iter().zip(kinds));
    counts
}
