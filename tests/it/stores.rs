//! Regions computed separately give the cells, the levels and the digest of one process.

use std::collections::BTreeSet;
use std::fs;

use voxelize::format::{Choice, Durability};
use voxelize::job::regions::{
    RegionMaker, RegionPlan, RegionState, RegionStore, StorePart, StoreReport,
};
use voxelize::job::{Extras, JobLabels};
use voxelize::mesh::PartKind;
use voxelize::rule::Band;
use voxelize::{Fit, Inside, Lattice, Mesh, Rule, Voxelizer, Voxels};

use crate::support::meshes::fixture;
use crate::support::random::Random;
use crate::support::rules;
use crate::support::solids::between;
use crate::support::stores::{
    files, make, make_of_bins, plan, plan_with, shuffled, store, store_with_bins, whole,
};

fn of_labels(rule: Rule, labels: JobLabels) -> Voxelizer<'static> {
    Voxelizer::new(rule).extras(Extras {
        labels,
        ..Extras::default()
    })
}

/// Returns every kind of local rule, and labels.
fn local() -> Vec<Voxelizer<'static>> {
    let rules = rules::local()
        .into_iter()
        .chain([Rule::fraction(), Rule::Area]);
    let mut all: Vec<_> = rules.map(Voxelizer::new).collect();
    all.push(of_labels(Rule::filled(), JobLabels::SurfaceAndInterior));
    all.push(of_labels(Rule::surface(), JobLabels::Parts(PartKind::File)));
    all.push(of_labels(Rule::solid(), JobLabels::Parts(PartKind::File)));
    let nonzero = Rule::filled().with_inside(Inside::Nonzero).unwrap();
    all.push(of_labels(nonzero, JobLabels::Parts(PartKind::File)));
    all
}

/// Makes every region of a store.
fn make_all(store: &RegionStore, mesh: &Mesh, voxelizer: &Voxelizer) -> Vec<StorePart> {
    let regions: Vec<_> = (0..store.plan.regions()).collect();
    make(store, mesh, voxelizer, &regions)
}

fn finish(store: &RegionStore) -> StoreReport {
    store.finish(Durability::Unsynced, &()).unwrap()
}

/// Checks that a plan is refused with these words and a hint.
#[track_caller]
fn refused(plan: voxelize::Result<RegionPlan>, words: &str) {
    let error = plan.unwrap_err();
    assert!(error.message().contains(words), "{error}");
    assert!(error.hint().is_some(), "{error}");
}

/// Returns a mesh of two parts that is higher than wide.
fn mesh() -> Mesh {
    let [knot, cube] = ["knot.stl", "cube.stl"].map(fixture);
    Mesh::join([("knot", &knot), ("cube", &cube)]).unwrap()
}

#[test]
fn regions_in_any_order_and_twice_give_the_digest_of_one_process() {
    let mesh = mesh();
    let lattice = Fit::longest(300).pad(2).to(mesh.bounds()).unwrap();
    let mut random = Random(31);
    let mut rules = 0;
    let mut regions = 0;
    for voxelizer in local() {
        let expected = whole(&voxelizer.without_findings(), &mesh, &lattice);
        let plan = plan(&voxelizer, &mesh, &lattice, 16, &[]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path(), &plan);
        let order = [shuffled(&store, &mut random), shuffled(&store, &mut random)].concat();
        for half in order.chunks(3) {
            make(&store, &mesh, &voxelizer, half);
        }
        let report = finish(&store);
        let name = plan.rule.name();
        assert_eq!(report.digest, Some(expected.digest), "{name}");
        assert_eq!(
            (report.occupied, report.field),
            (expected.occupied, expected.field),
            "{name}"
        );
        assert_eq!(report.labels, expected.labels, "{name}");
        let voxels = Voxels::open(&store.root).unwrap();
        assert_eq!(voxels.digest(), expected.digest, "{name}, read back");
        rules += 1;
        regions += store.plan.regions();
    }
    assert!(
        rules > 15 && regions > 3 * rules,
        "{rules} rules, {regions} regions"
    );
}

#[test]
fn every_level_has_the_cells_of_one_process() {
    let mesh = mesh();
    let lattice = Fit::longest(300).to(mesh.bounds()).unwrap();
    let mut levels = 0;
    for voxelizer in [
        Voxelizer::new(Rule::solid()),
        Voxelizer::new(Rule::distance()),
        of_labels(Rule::filled(), JobLabels::SurfaceAndInterior),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let plan = plan(&voxelizer, &mesh, &lattice, 3, &[]).unwrap();
        let store = store(folder.path(), &plan);
        let last_first: Vec<_> = (0..plan.regions()).rev().collect();
        make(&store, &mesh, &voxelizer, &last_first);
        finish(&store);
        let one = folder.path().join("one.zarr");
        let voxels = voxelizer.run(&mesh, &lattice).unwrap().voxels;
        voxels.save(&one).unwrap();
        let groups =
            [&store.root, &one].map(|root| fs::read_to_string(root.join("zarr.json")).unwrap());
        assert_eq!(groups[0], groups[1]);
        for n in 0.. {
            if !store.root.join(format!("{n}")).exists() {
                break;
            }
            let [a, b] = [&store.root, &one]
                .map(|root| Voxels::open(root.join(format!("{n}"))).unwrap().digest());
            assert_eq!(a.cells, b.cells, "{} level {n}", plan.rule.name());
            assert!(groups[0].contains(&format!("\"path\": \"{n}\"")));
            levels += 1;
        }
    }
    assert!(levels >= 6, "{levels}");
}

#[test]
fn no_two_regions_write_one_file() {
    let mesh = mesh();
    let lattice = Fit::longest(520).to(mesh.bounds()).unwrap();
    let voxelizer = Voxelizer::new(Rule::surface());
    let mut plans = 0;
    let mut shards = 0;
    for choices in [&[][..], &[Choice::NoPyramid], &[Choice::Uncompressed]] {
        for regions in [1, 2, 5, 100] {
            let folder = tempfile::tempdir().unwrap();
            let plan = plan(&voxelizer, &mesh, &lattice, regions, choices).unwrap();
            let store = store(folder.path(), &plan);
            assert!(plan.regions() <= regions);
            let mut names = BTreeSet::new();
            for part in make_all(&store, &mesh, &voxelizer) {
                for shard in part.shards {
                    assert!(names.insert(shard.name.clone()), "{} twice", shard.name);
                    shards += 1;
                }
            }
            plans += 1;
        }
    }
    assert!(
        plans == 12 && shards > 100,
        "{plans} plans, {shards} shards"
    );
}

#[test]
fn another_mesh_or_plan_is_known() {
    let mesh = fixture("knot.stl");
    let lattice = Fit::longest(200).to(mesh.bounds()).unwrap();
    let voxelizer = Voxelizer::new(Rule::surface());
    let first = plan(&voxelizer, &mesh, &lattice, 2, &[]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path(), &first);
    assert_eq!(
        RegionStore::open(&store.root).unwrap().plan.store,
        first.store
    );
    make(&store, &mesh, &voxelizer, &[0, 1]);
    let moved = mesh
        .map(|triangle| triangle.map(|[x, y, z]| [x, y, z + 0.01]))
        .unwrap();
    let second = plan(&voxelizer, &moved, &lattice, 2, &[]).unwrap();
    let error = RegionStore::create(&store.root, second.clone(), Durability::Unsynced).unwrap_err();
    assert!(error.message().contains("another plan"), "{error}");
    // The parts of the first plan under the second.
    let stale = RegionStore {
        root: store.root.clone(),
        plan: second,
    };
    assert_eq!(stale.state(0, &()).unwrap(), RegionState::Stale);
    let report = finish(&stale);
    assert!(report.digest.is_none());
    for finding in report.findings {
        assert_eq!(finding.code().name(), "R003");
    }
    // Creating the same plan again changes nothing.
    let before = files(&store.root);
    RegionStore::create(&store.root, first.clone(), Durability::Unsynced).unwrap();
    assert_eq!(files(&store.root), before);
    let path = folder.path().join("mesh.stl");
    let read = || first.read_mesh(&first.meshes(&store.root), &Default::default());
    fs::copy("fixtures/cube.stl", &path).unwrap();
    assert_eq!(read().unwrap_err().code().name(), "R004");
    fs::copy("fixtures/knot.stl", &path).unwrap();
    assert_eq!(read().unwrap().0, mesh);
    let maker = RegionMaker::new(&store, &mesh, &voxelizer, Durability::Unsynced);
    assert!(maker.unwrap().make(2).is_err());
}

#[test]
fn each_part_finds_its_method_also_in_regions() {
    // Lines along x enter the second box but do not leave it.
    let far = |triangle: &[[f32; 3]; 3]| triangle.iter().all(|corner| corner[0] == -6.0);
    let closed = Mesh::from_triangles(between([0.0; 3], [4.0; 3])).unwrap();
    let open = between([-10.0, 0.0, 0.0], [-6.0, 4.0, 4.0])
        .into_iter()
        .filter(|triangle| !far(triangle));
    let open = Mesh::from_triangles(open.collect()).unwrap();
    assert_eq!(open.triangles().len(), 10);
    let mesh = Mesh::join([("closed", &closed), ("open", &open)]).unwrap();
    let lattice = Fit::longest(200).to(mesh.bounds()).unwrap();
    let labelled = |inside| {
        of_labels(
            Rule::solid().with_inside(inside).unwrap(),
            JobLabels::Parts(PartKind::File),
        )
    };
    let digests = [Inside::Auto, Inside::Nonzero].map(|inside| {
        let voxelizer = labelled(inside);
        let expected = whole(&voxelizer, &mesh, &lattice).digest;
        let folder = tempfile::tempdir().unwrap();
        let plan = plan(&voxelizer, &mesh, &lattice, 4, &[]).unwrap();
        let store = store(folder.path(), &plan);
        make_all(&store, &mesh, &voxelizer);
        let found = finish(&store).digest;
        assert_eq!(found, Some(expected), "{inside:?}");
        expected
    });
    assert_ne!(digests[0], digests[1], "the method matters");
    let planned = plan_with(&labelled(Inside::Auto), &mesh, &lattice, 4, &[], true);
    refused(planned, "whether the whole part is closed");
}

/// Returns why a plan cannot have bins. `None` if it can.
fn reason_against_bins(plan: &RegionPlan) -> Option<String> {
    if matches!(plan.rule, Rule::Fraction { .. }) {
        return Some("parts of the mesh may overlap".to_string());
    }
    if plan.store.source.auto {
        return Some("whether the whole part is closed".to_string());
    }
    match plan.rule.inside()? {
        method @ (Inside::Vote | Inside::Robust) => Some(format!("the method {}", method.name())),
        _ => None,
    }
}

#[test]
fn bins_give_the_cells_of_the_whole_mesh() {
    let mesh = mesh();
    let whole = Fit::longest(300).pad(2).to(mesh.bounds()).unwrap();
    let [nx, ny, nz] = whole.dims();
    // The second lattice cuts the mesh, along z at both ends.
    let cut = whole
        .region([nx / 4..nx, ny / 3..2 * ny / 3, nz / 5..4 * nz / 5])
        .unwrap();
    let mut random = Random(77);
    let mut binned = 0;
    let mut refusals = 0;
    let mut fewer = 0;
    for lattice in [whole, cut] {
        for voxelizer in local() {
            let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
            let planned = plan_with(&voxelizer, &mesh, &lattice, 16, &[], true);
            let plan = plan(&voxelizer, &mesh, &lattice, 16, &[]).unwrap();
            let name = format!("{:?}", plan.rule);
            if let Some(reason) = reason_against_bins(&plan) {
                refused(planned, &reason);
                refusals += 1;
                continue;
            }
            assert_eq!(
                planned.unwrap().store,
                plan.store,
                "{name}: bins are no part of the plan"
            );
            let all = store(folders[0].path(), &plan);
            make_all(&all, &mesh, &voxelizer);
            let bins = store_with_bins(folders[1].path(), &plan, &mesh);
            make_of_bins(&bins, &voxelizer, &shuffled(&bins, &mut random));
            let [all, of_bins] = [&all, &bins].map(finish);
            assert!(all.digest.is_some(), "{name}");
            assert_eq!(all.digest, of_bins.digest, "{name}");
            assert_eq!(all.occupied, of_bins.occupied, "{name}");
            assert_eq!(all.labels, of_bins.labels, "{name}");
            assert_eq!(all.field, of_bins.field, "{name}");
            assert_eq!(all.snapped, of_bins.snapped, "{name}");
            assert_eq!(all.findings, of_bins.findings, "{name}");
            assert_eq!(all.shards, of_bins.shards, "{name}");
            let most = plan.largest_bin(&mesh).unwrap().triangles().len();
            fewer += usize::from(most < mesh.triangles().len() * 4 / 5);
            binned += 1;
        }
    }
    assert!(
        binned > 25 && refusals == 12 && fewer >= 15,
        "{binned} {refusals} {fewer}"
    );
    // Shares of a single part work with bins.
    let knot = fixture("knot.stl");
    let lattice = Fit::longest(150).to(knot.bounds()).unwrap();
    let voxelizer = Voxelizer::new(Rule::fraction());
    let plan = plan(&voxelizer, &knot, &lattice, 8, &[]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let bins = store_with_bins(folder.path(), &plan, &knot);
    make_of_bins(&bins, &voxelizer, &shuffled(&bins, &mut random));
    let expected = voxelizer.run(&knot, &lattice).unwrap().voxels.digest();
    assert_eq!(finish(&bins).digest, Some(expected));
    let all = Voxelizer::new(Rule::distance().with_band(Band::All).unwrap());
    let lattice = Lattice::fit(mesh.bounds(), 64).unwrap();
    let planned = plan_with(&all, &mesh, &lattice, 2, &[], true);
    refused(planned, "a band of all cells");
    let solid = Voxelizer::new(Rule::solid());
    let planned = plan_with(&solid, &fixture("open.stl"), &lattice, 2, &[], true);
    refused(planned, "the mesh is not closed");
}

#[test]
fn a_damaged_bin_is_found_and_made_again() {
    let mesh = mesh();
    let lattice = Fit::longest(300).to(mesh.bounds()).unwrap();
    let voxelizer = of_labels(Rule::surface(), JobLabels::Parts(PartKind::File));
    let plan = plan(&voxelizer, &mesh, &lattice, 16, &[]).unwrap();
    let [folder, second] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let store = store_with_bins(folder.path(), &plan, &mesh);
    let good = files(&store.root);
    let moved = mesh
        .map(|triangle| triangle.map(|[x, y, z]| [x + 0.25, y, z]))
        .unwrap();
    let other_plan = self::plan(&voxelizer, &moved, &lattice, 16, &[]).unwrap();
    let other = files(&store_with_bins(second.path(), &other_plan, &moved).root);
    let is_bin = |name: &&String| name.starts_with("bins/");
    let names: Vec<_> = good.keys().filter(is_bin).collect();
    assert_eq!(names.len(), plan.regions() + 1);
    let mut random = Random(4);
    let mut damages = 0;
    for name in names {
        let path = store.root.join(name);
        // The index of a region whose bin it is, or none for the list of the bins.
        let number = path.file_stem().unwrap().to_str().unwrap();
        let region = number.parse::<usize>().ok().map(|number| number - 1);
        for kind in ["cut", "bit", "longer", "missing", "other"] {
            let mut bytes = good[name].clone();
            match kind {
                "cut" => bytes.truncate(bytes.len() - 1 - random.index(bytes.len() - 1)),
                "bit" => {
                    let place = random.index(bytes.len());
                    bytes[place] ^= 1 << random.index(8);
                }
                "longer" => bytes.extend_from_slice(&[0; 40]),
                "missing" => fs::remove_file(&path).unwrap(),
                _ => bytes.clone_from(&other[name]),
            }
            if kind != "missing" {
                fs::write(&path, bytes).unwrap();
            }
            for n in 0..plan.regions() {
                let found = store
                    .bins()
                    .and_then(|bins| bins.unwrap().mesh(n, None, &()).map(drop));
                if region.is_some_and(|region| region != n) {
                    found.unwrap();
                    continue;
                }
                let error = found.unwrap_err();
                assert_eq!(error.code().name(), "R005", "{kind} {name}: {error}");
                assert!(error.file().unwrap().ends_with(name.as_str()), "{error}");
            }
            store_with_bins(folder.path(), &plan, &mesh);
            assert_eq!(files(&store.root), good, "{kind} {name}");
            damages += 1;
        }
    }
    assert!(damages > 20, "{damages}");
    // Bins may be removed on purpose, and can be added to an existing store.
    fs::remove_dir_all(store.root.join("bins")).unwrap();
    assert!(store.bins().unwrap().is_none());
    store_with_bins(folder.path(), &plan, &mesh);
    assert_eq!(files(&store.root), good);
    let bins = store.bins().unwrap().unwrap();
    let error = bins.mesh(0, Some(1000), &()).unwrap_err();
    assert!(error.message().contains("of region 1 take"), "{error}");
}
