//! Regions computed separately give the cells, the levels and the digest of one process.

use std::fs;

use voxelize::format::{Choice, Durability};
use voxelize::job::regions::{RegionMaker, RegionState, RegionStore, StoreReport};
use voxelize::job::{Extras, JobLabels};
use voxelize::mesh::PartKind;
use voxelize::rule::Band;
use voxelize::{Fit, Inside, Lattice, Mesh, Rule, ThinFeatures, Voxelizer, Voxels};

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
        let report = store.finish(Durability::Unsynced, &()).unwrap();
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

/// Returns the cells of a level, read as a separate array.
fn level(root: &std::path::Path, level: usize) -> Voxels {
    let group = fs::read_to_string(root.join("zarr.json")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files(root) {
        let Some(rest) = name.strip_prefix(&format!("{level}/")) else {
            continue;
        };
        let path = folder.path().join("level.zarr").join(rest);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    assert!(group.contains(&format!("\"path\": \"{level}\"")), "{group}");
    Voxels::open(folder.path().join("level.zarr")).unwrap()
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
        make(
            &store,
            &mesh,
            &voxelizer,
            &(0..plan.regions()).rev().collect::<Vec<_>>(),
        );
        store.finish(Durability::Unsynced, &()).unwrap();
        let one = folder.path().join("one.zarr");
        let voxels = voxelizer.run(&mesh, &lattice).unwrap().voxels;
        voxels.save(&one).unwrap();
        for n in 0.. {
            if !store.root.join(format!("{n}")).exists() {
                break;
            }
            let [a, b] = [&store.root, &one].map(|root| level(root, n));
            assert_eq!(
                a.digest().cells,
                b.digest().cells,
                "{} level {n}",
                plan.rule.name()
            );
            levels += 1;
        }
        let group = |root: &std::path::Path| fs::read_to_string(root.join("zarr.json")).unwrap();
        assert_eq!(group(&store.root), group(&one));
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
            let parts = make(
                &store,
                &mesh,
                &voxelizer,
                &(0..plan.regions()).collect::<Vec<_>>(),
            );
            let mut names: Vec<_> = parts
                .iter()
                .flat_map(|part| part.shards.iter().map(|shard| &shard.name))
                .collect();
            shards += names.len();
            let all = names.len();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), all);
            plans += 1;
        }
    }
    assert!(
        plans == 12 && shards > 100,
        "{plans} plans, {shards} shards"
    );
}

#[test]
fn rules_that_need_more_than_a_region_are_refused_by_name() {
    let mesh = fixture("knot.stl");
    let lattice = Lattice::fit(mesh.bounds(), 64).unwrap();
    let refused = |voxelizer: &Voxelizer| plan(voxelizer, &mesh, &lattice, 2, &[]).unwrap_err();
    for (rule, word) in [
        (
            Rule::solid().with_inside(Inside::flood()).unwrap(),
            "a flood",
        ),
        (Rule::filled().with_shell(2).unwrap(), "hollow"),
        (
            Rule::solid().with_thin(ThinFeatures::Keep).unwrap(),
            "keep-thin",
        ),
    ] {
        let error = refused(&Voxelizer::new(rule));
        assert!(
            error.message().contains(word) && error.hint().is_some(),
            "{error}"
        );
    }
    assert!(
        refused(&of_labels(Rule::surface(), JobLabels::Colours))
            .message()
            .contains("colours")
    );
    let little = Voxelizer::new(Rule::surface()).memory(1000);
    assert!(
        refused(&little)
            .message()
            .contains("a slab of 8 layers needs")
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
    let report = stale.finish(Durability::Unsynced, &()).unwrap();
    assert!(
        report.digest.is_none()
            && report
                .findings
                .iter()
                .all(|finding| finding.code().name() == "R003")
    );
    // Creating the same plan again changes nothing.
    let before = files(&store.root);
    RegionStore::create(&store.root, first.clone(), Durability::Unsynced).unwrap();
    assert_eq!(files(&store.root), before);
    let path = folder.path().join("mesh.stl");
    fs::copy(
        concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/cube.stl"),
        &path,
    )
    .unwrap();
    let error = first
        .read_mesh(&first.meshes(&store.root), &Default::default())
        .unwrap_err();
    assert_eq!(error.code().name(), "R004");
    fs::copy(
        concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/knot.stl"),
        &path,
    )
    .unwrap();
    let (read, _) = first
        .read_mesh(&first.meshes(&store.root), &Default::default())
        .unwrap();
    assert_eq!(read, mesh);
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
        let store = store(
            folder.path(),
            &plan(&voxelizer, &mesh, &lattice, 4, &[]).unwrap(),
        );
        make(
            &store,
            &mesh,
            &voxelizer,
            &(0..store.plan.regions()).collect::<Vec<_>>(),
        );
        let found = store.finish(Durability::Unsynced, &()).unwrap().digest;
        assert_eq!(found, Some(expected), "{inside:?}");
        expected
    });
    assert_ne!(digests[0], digests[1], "the method matters");
    let error = plan_with(&labelled(Inside::Auto), &mesh, &lattice, 4, &[], true).unwrap_err();
    assert!(
        error.message().contains("whether a part is closed"),
        "{error}"
    );
}

/// Reports whether a rule needs the whole mesh to find the inside.
fn needs_the_whole_mesh(rule: &Rule) -> bool {
    matches!(rule.inside(), Some(Inside::Vote | Inside::Robust))
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
    let mut refused = 0;
    let mut fewer = 0;
    for lattice in [whole, cut] {
        for voxelizer in local() {
            let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
            let planned = plan_with(&voxelizer, &mesh, &lattice, 16, &[], true);
            let plan = plan(&voxelizer, &mesh, &lattice, 16, &[]).unwrap();
            let name = format!("{:?}", plan.rule);
            if matches!(plan.rule, Rule::Fraction { .. }) {
                let error = planned.unwrap_err();
                assert!(
                    error.message().contains("parts of the mesh may overlap"),
                    "{name}: {error}"
                );
                refused += 1;
                continue;
            }
            if needs_the_whole_mesh(&plan.rule) || plan.store.source.auto {
                let error = planned.unwrap_err();
                let method = format!("the method {}", plan.rule.inside().unwrap().name());
                let words = if plan.store.source.auto {
                    "whether a part is closed"
                } else {
                    &method
                };
                assert!(error.message().contains(words), "{name}: {error}");
                refused += 1;
                continue;
            }
            assert_eq!(
                planned.unwrap().store,
                plan.store,
                "{name}: bins are no part of the plan"
            );
            let all = store(folders[0].path(), &plan);
            make(
                &all,
                &mesh,
                &voxelizer,
                &(0..plan.regions()).collect::<Vec<_>>(),
            );
            let bins = store_with_bins(folders[1].path(), &plan, &mesh);
            make_of_bins(&bins, &voxelizer, &shuffled(&bins, &mut random));
            let [all, of_bins] =
                [&all, &bins].map(|store| store.finish(Durability::Unsynced, &()).unwrap());
            let numbers = |report: &StoreReport| {
                let StoreReport {
                    digest,
                    occupied,
                    labels,
                    field,
                    snapped,
                    findings,
                    shards,
                    ..
                } = report.clone();
                (digest, occupied, labels, field, snapped, findings, shards)
            };
            assert!(all.digest.is_some(), "{name}");
            assert_eq!(numbers(&all), numbers(&of_bins), "{name}");
            let most = plan.largest_bin(&mesh).unwrap().triangles().len();
            fewer += usize::from(most < mesh.triangles().len() * 4 / 5);
            binned += 1;
        }
    }
    assert!(
        binned > 25 && refused == 12 && fewer >= 15,
        "{binned} {refused} {fewer}"
    );
    // Shares of a single part work with bins.
    let knot = fixture("knot.stl");
    let lattice = Fit::longest(150).to(knot.bounds()).unwrap();
    let voxelizer = Voxelizer::new(Rule::fraction());
    let plan = plan(&voxelizer, &knot, &lattice, 8, &[]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let bins = store_with_bins(folder.path(), &plan, &knot);
    make_of_bins(&bins, &voxelizer, &shuffled(&bins, &mut random));
    let found = bins.finish(Durability::Unsynced, &()).unwrap().digest;
    let expected = voxelizer.run(&knot, &lattice).unwrap().voxels.digest();
    assert_eq!(found, Some(expected));
    let all = Rule::distance().with_band(Band::All).unwrap();
    let lattice = Lattice::fit(mesh.bounds(), 64).unwrap();
    let error = plan_with(&Voxelizer::new(all), &mesh, &lattice, 2, &[], true).unwrap_err();
    assert!(
        error.message().contains("a band of all cells") && error.hint().is_some(),
        "{error}"
    );
    let open = fixture("open.stl");
    let error = plan_with(
        &Voxelizer::new(Rule::solid()),
        &open,
        &lattice,
        2,
        &[],
        true,
    )
    .unwrap_err();
    assert!(
        error.message().contains("the mesh is not closed"),
        "{error}"
    );
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
    let other = {
        let plan = self::plan(&voxelizer, &moved, &lattice, 16, &[]).unwrap();
        files(&store_with_bins(second.path(), &plan, &moved).root)
    };
    let names: Vec<_> = good
        .keys()
        .filter(|name| name.starts_with("bins/"))
        .cloned()
        .collect();
    assert_eq!(names.len(), plan.regions() + 1);
    let mut random = Random(4);
    let mut damages = 0;
    for name in &names {
        let region = name
            .strip_prefix("bins/")
            .and_then(|name| name.strip_suffix(".bin"));
        let region: Option<usize> = region.map(|number| number.parse::<usize>().unwrap() - 1);
        for kind in ["cut", "bit", "longer", "missing", "other"] {
            let path = store.root.join(name);
            let mut bytes = good[name].clone();
            match kind {
                "cut" => bytes.truncate(bytes.len() - 1 - random.index(bytes.len() - 1)),
                "bit" => {
                    let place = random.index(bytes.len());
                    bytes[place] ^= 1 << random.index(8);
                }
                "longer" => bytes.extend_from_slice(&[0; 40]),
                "missing" => {}
                _ => bytes.clone_from(&other[name]),
            }
            match kind {
                "missing" => fs::remove_file(&path).unwrap(),
                _ => fs::write(&path, bytes).unwrap(),
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
            RegionStore::create_with_bins(
                &store.root,
                plan.clone(),
                &mesh,
                Durability::Unsynced,
                &(),
            )
            .unwrap();
            assert_eq!(files(&store.root), good, "{kind} {name}");
            damages += 1;
        }
    }
    assert!(damages > 20, "{damages}");
    // Bins may be removed on purpose, and can be added to an existing store.
    fs::remove_dir_all(store.root.join("bins")).unwrap();
    assert!(store.bins().unwrap().is_none());
    RegionStore::create_with_bins(&store.root, plan, &mesh, Durability::Unsynced, &()).unwrap();
    assert_eq!(files(&store.root), good);
    let bins = store.bins().unwrap().unwrap();
    let error = bins.mesh(0, Some(1000), &()).unwrap_err();
    assert!(error.message().contains("of region 1 take"), "{error}");
}
