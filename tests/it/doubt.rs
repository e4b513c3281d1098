//! The cells in doubt are the cells on which the methods disagree, and the gate reports them. The cells of
//! filled are labelled in every format that can store labels, in memory and in slabs.

use std::collections::BTreeSet;
use std::fs;

use crate::support::meshes::{fixture, fixtures, surface};
use crate::support::place::{Place, Triangle, cuboid, refused, stl};
use crate::support::solids::between;
use serde_json::json;
use voxelize::format::{self, Carries, FORMATS, SaveOptions};
use voxelize::grid::{CellKind, CellSource, Label, Labels, Legend};
use voxelize::rule::{doubt, surface_and_interior};
use voxelize::{
    Bounds, Cells, Code, Fit, Inside, Lattice, METHODS, Mesh, Rational, Rule, Run, Size, Ties,
    Voxelizer, Voxels, voxelize,
};

fn moved(triangles: &[Triangle], by: f32) -> Vec<Triangle> {
    triangles
        .iter()
        .map(|triangle| triangle.map(|corner| corner.map(|c| c + by)))
        .collect()
}

/// Returns the half sphere, open on the low side of x. Lines along x pass through the hole, so the methods
/// differ.
fn open() -> Vec<Triangle> {
    fixture("open.stl")
        .triangles()
        .iter()
        .map(|triangle| triangle.map(|[x, y, z]| [z, x, y]))
        .collect()
}

/// Reports whether a run by flood finds that the flood entered the mesh.
fn has_leaked(mesh: &Mesh, lattice: &Lattice) -> bool {
    let rule = Rule::solid().with_inside(Inside::flood()).unwrap();
    let found = Voxelizer::new(rule).run(mesh, lattice).unwrap();
    found
        .findings
        .iter()
        .any(|finding| finding.code() == Code::W007)
}

/// Returns the cells in doubt, labelled by the methods that find them inside, and the number of cells that
/// any method finds inside, cell by cell. A flood that leaked does not vote.
fn expected_doubt(mesh: &Mesh, lattice: &Lattice) -> (Labels, u64) {
    let solid = |inside: Inside| {
        voxelize(mesh, lattice, Rule::solid().with_inside(inside).unwrap())
            .unwrap()
            .into_occupied()
            .unwrap()
    };
    let lines = [Inside::Nonzero, Inside::EvenOdd, Inside::Robust].map(solid);
    let flood = solid(Inside::flood());
    let walls = surface(mesh, lattice, Ties::Up);
    let leaked = has_leaked(mesh, lattice);
    let mut cells = Labels::new(lattice.dims(), doubt::legend()).unwrap();
    let mut inside = 0;
    let [nx, ny, nz] = lattice.dims();
    for n in 0..nx * ny * nz {
        let cell = [n % nx, n / nx % ny, n / (nx * ny)];
        let mut votes: Vec<bool> = lines.iter().map(|grid| grid.get(cell)).collect();
        if !leaked && !walls.get(cell) {
            votes.push(flood.get(cell));
        }
        inside += u64::from(votes.contains(&true));
        if votes.contains(&true) && votes.contains(&false) {
            let inside = votes.iter().zip([1, 2, 4, 8]).filter(|(vote, _)| **vote);
            cells.set(cell, inside.map(|(_, value)| value).sum());
        }
    }
    (cells, inside)
}

#[test]
fn doubt_is_where_the_methods_differ_cell_by_cell() {
    let cube = cuboid([20.0; 3]);
    let turned: Vec<Triangle> = cube.iter().map(|&[a, b, c]| [a, c, b]).collect();
    let cavity: Vec<Triangle> = moved(&cuboid([10.0; 3]), 5.0)
        .iter()
        .map(|&[a, b, c]| [a, c, b])
        .collect();
    let of = |triangles: Vec<Triangle>| Mesh::from_triangles(triangles).unwrap();
    let mut cases = fixtures();
    cases.extend([
        ("cube".to_string(), of(cube.clone())),
        ("turned".to_string(), of(turned)),
        ("one removed".to_string(), of(cube[1..].to_vec())),
        ("open along x".to_string(), of(open())),
        (
            "two overlap".to_string(),
            of([cube.clone(), moved(&cube, 10.3)].concat()),
        ),
        ("cavity".to_string(), of([cube, cavity].concat())),
    ]);
    let mut compared = 0;
    let mut leaks = 0;
    let mut sets = BTreeSet::new();
    for (name, mesh) in &cases {
        let whole = *mesh.bounds();
        let half = Bounds {
            max: [0, 1, 2].map(|a| f32::midpoint(whole.min[a], whole.max[a])),
            ..whole
        };
        let grids = [
            (Fit::longest(20), whole),
            (Fit::longest(37).pad(1), whole),
            (Fit::longest(20), half),
        ];
        for (n, (fit, bounds)) in grids.into_iter().enumerate() {
            let Ok(lattice) = fit.to(&bounds) else {
                continue;
            };
            let (cells, inside) = expected_doubt(mesh, &lattice);
            let count = cells.occupied().count();
            sets.extend(
                cells
                    .counts()
                    .into_iter()
                    .filter(|(_, count)| *count > 0)
                    .map(|(value, _)| value),
            );
            for threads in [1, 3] {
                let found = doubt::doubt(
                    mesh,
                    &lattice,
                    Inside::Auto,
                    &Run::default().threads(threads),
                )
                .unwrap();
                assert!(found.cells == cells && found.inside == inside, "{name} {n}");
                assert_eq!(found.leaked, has_leaked(mesh, &lattice), "{name} {n}");
                let share = if inside == 0 {
                    0.0
                } else {
                    count as f64 / inside as f64
                };
                assert_eq!(found.share(), share, "{name} {n}");
                compared += 1;
                leaks += usize::from(found.leaked);
            }
            let all_agree = ["cube", "turned", "cube.stl", "sphere.stl"].contains(&name.as_str());
            let some_differ =
                ["two overlap", "cavity", "open along x"].contains(&name.as_str()) && n < 2;
            assert!(
                !all_agree || count == 0 && inside > 0,
                "{name} {n}: {count}"
            );
            assert!(!some_differ || count > 0, "{name} {n}");
        }
    }
    assert!(
        compared > 40 && leaks > 10 && leaks < compared,
        "{compared} {leaks}"
    );
    assert!(
        sets.len() >= 5 && sets.iter().any(|set| *set >= 8),
        "{sets:?}"
    );
}

#[test]
fn a_flood_that_leaked_has_no_vote() {
    // The top is open. Lines along x still see a closed mesh, and the flood fills all of it.
    let open = cuboid([20.0; 3])
        .into_iter()
        .filter(|triangle| !triangle.iter().all(|corner| corner[2] == 20.0));
    let mesh = Mesh::from_triangles(open.collect()).unwrap();
    let lattice = Fit::longest(20).pad(1).to(mesh.bounds()).unwrap();
    let found = doubt::doubt(&mesh, &lattice, Inside::Auto, &Run::default()).unwrap();
    let by = |wanted: Inside| {
        found
            .by
            .iter()
            .find(|(method, _)| *method == wanted)
            .unwrap()
            .1
    };
    assert!(found.leaked);
    assert_eq!(
        [Inside::flood(), Inside::Nonzero, Inside::EvenOdd].map(by),
        [0, 8000, 8000]
    );
    assert_eq!(
        (
            by(Inside::Robust),
            found.inside,
            found.cells.occupied().count()
        ),
        (8000, 8000, 0)
    );
    // With its hole closed, the flood does not leak and votes.
    let closed = Inside::Flood {
        close_holes: Some(20),
    };
    let found = doubt::doubt(&mesh, &lattice, closed, &Run::default()).unwrap();
    assert!(!found.leaked && found.by[0].1 > 5000, "{:?}", found.by);

    let place = Place::new();
    place.write("top.stl", stl(mesh.triangles()));
    let line = "top.stl --solid -r 20 --pad 1 -o a.npz --max-doubt";
    let json = place.run(&format!("{line} 20% --json")).expect(0).json();
    assert_eq!(
        (&json["doubt"]["left_out"], &json["doubt"]["inside"]),
        (&json!(["flood"]), &json!(8000))
    );
    let run = place.run(&format!("{line} 0")).expect(0);
    assert!(
        run.err.contains("flood leaked and is not compared"),
        "{}",
        run.err
    );
    let json = place
        .run(&format!(
            "{line} 100% --inside flood --close-holes 20 --json"
        ))
        .expect(0)
        .json();
    assert_eq!(json["doubt"]["left_out"], json!([]));
}

#[test]
fn after_a_leak_nothing_else_is_blamed() {
    let place = Place::new();
    place.write("hole.stl", stl(&cuboid([20.0; 3])[1..]));
    for (options, codes) in [
        ("--inside flood", ["W007", "W002"]),
        ("--inside flood --bounds 0,0,0,9,9,9", ["W007", "W007"]),
    ] {
        let json = place
            .run(&format!("hole.stl --solid -r 40 {options} -o a.npz --json"))
            .expect(0)
            .json();
        let warnings = json["warnings"].as_array().unwrap();
        let found: Vec<_> = warnings
            .iter()
            .map(|warning| warning["code"].as_str().unwrap())
            .collect();
        assert!(
            codes.iter().all(|code| found.contains(code)),
            "{options}: {found:?}"
        );
        assert!(
            !found.contains(&"W009") && !found.contains(&"W011"),
            "{options}: {found:?}"
        );
        let hint = warnings[0]["hint"].as_str().unwrap();
        assert!(
            hint.starts_with("--close-holes ") && hint.ends_with(" closes it"),
            "{hint}"
        );
    }
}

#[test]
fn a_limit_of_memory_refuses_doubt_before_it_is_made() {
    let mesh = fixture("cube.stl");
    let lattice = Lattice::fit(mesh.bounds(), 400).unwrap();
    let run = Run::default().memory(16 << 20);
    let error = doubt::doubt(&mesh, &lattice, Inside::Auto, &run).unwrap_err();
    assert_eq!(error.kind(), voxelize::Kind::TooLarge);
}

/// Creates a place with the open half sphere.
fn with_open() -> Place {
    let place = Place::new();
    place.write("open.stl", stl(&open()));
    place
}

#[test]
fn the_gate_fails_and_everything_is_written() {
    let place = with_open();
    let mesh = Mesh::from_triangles(open()).unwrap();
    let lattice = Lattice::fit(mesh.bounds(), 24).unwrap();
    let (labels, inside) = expected_doubt(&mesh, &lattice);
    let cells = labels.occupied();
    let base = "open.stl --solid -r 24 -q";
    let mut labelled = Vec::new();
    for (name, gate, code, most) in [
        ("a", "", 0, json!(null)),
        ("b", " --max-doubt 0", 1, json!(0.0)),
        ("c", " --max-doubt 1%", 1, json!(0.01)),
        ("d", " --max-doubt 100%", 0, json!(1.0)),
    ] {
        for format in FORMATS
            .iter()
            .filter(|format| format.is_readable() && format.carries != Carries::Rounded)
        {
            let output = format!("{name}.npz");
            let doubtful = format!("{name}.{}", format.name);
            let doubtful = format!("doubt-{doubtful}");
            let line = format!("{base}{gate} --doubt {doubtful} -o {output} --json");
            let run = place.run(&line).expect(code);
            assert_eq!(
                run.err.lines().count(),
                usize::from(code == 1),
                "{line}\n{}",
                run.err
            );
            assert_eq!(
                run.err.starts_with("failed: "),
                code == 1,
                "{line}\n{}",
                run.err
            );
            let report = run.json();
            assert_eq!(
                report["status"],
                if code == 1 { "failed" } else { "ok" },
                "{line}"
            );
            assert_eq!(
                (&report["exit_code"], &report["doubt"]["asked_most"]),
                (&json!(code), &most),
                "{line}"
            );
            assert_eq!(report["doubt"]["cells"], cells.count(), "{line}");
            assert_eq!(
                report["doubt"]["share"],
                cells.count() as f64 / inside as f64,
                "{line}"
            );
            for method in [Inside::Nonzero, Inside::EvenOdd, Inside::Robust] {
                let alone = voxelize(&mesh, &lattice, Rule::solid().with_inside(method).unwrap())
                    .unwrap()
                    .count();
                assert_eq!(
                    report["doubt"]["inside_by"][method.info().name],
                    alone,
                    "{line}"
                );
            }
            assert_eq!(report["doubt"]["inside_by"]["flood"], 0, "{line}");
            let paths = [&report["outputs"][0]["path"], &report["outputs"][1]["path"]];
            assert_eq!(paths, [output.as_str(), doubtful.as_str()], "{line}");
            let opened = Voxels::open(place.path(&doubtful)).unwrap();
            if let Cells::Labels(opened) = &opened.cells {
                let values = |labels: &Labels| labels.iter().collect::<Vec<_>>();
                assert!(values(opened) == values(&labels), "{line}");
                labelled.push(format.name);
            }
            assert!(opened.into_occupied().unwrap() == *cells, "{line}");
            assert!(
                Voxels::open(place.path(&output)).unwrap().count() > 0,
                "{line}"
            );
        }
    }
    assert!(
        ["npz", "vox", "npy", "zarr"]
            .iter()
            .all(|format| labelled.contains(format)),
        "{labelled:?}"
    );
    // The set of methods has a name in files with metadata.
    let info = place.run("info doubt-a.npz").expect(0);
    assert!(info.text().contains("inside by robust"), "{}", info.text());
    // The grid is the grid of the mesh, but its cells were not created by a rule.
    place
        .run(&format!("{base} --doubt doubt.npy --sidecar -o g.npz"))
        .expect(0);
    assert_eq!(
        place.run("info doubt.npy --json").expect(0).json()["rule"],
        "doubt"
    );
    refused(&place, "verify doubt.npy open.stl", 2);
    refused(
        &place,
        &format!("{base} --doubt doubt.npy --sidecar -o doubt.npy.json -f raw"),
        2,
    );

    let run = place
        .run("open.stl --filled -r 24 --max-doubt 0 -o e.npz")
        .expect(1);
    assert!(
        run.err
            .replace(',', "")
            .contains(&cells.count().to_string()),
        "{}",
        run.err
    );
    assert!(
        run.err.lines().last().unwrap().starts_with("failed: "),
        "{}",
        run.err
    );
    place
        .run("cube.stl --solid -r 24 --max-doubt 0 -o f.npz")
        .expect(0);
    assert!(
        place
            .run("cube.stl --solid -r 24 -o f.npz --json")
            .expect(0)
            .json()["doubt"]
            .is_null()
    );
}

#[test]
fn a_method_that_is_ambiguous_on_an_open_mesh_warns() {
    let place = with_open();
    let cube = cuboid([20.0; 3]);
    place.write("hole.stl", stl(&cube[1..]));
    let mut turned = cube.clone();
    turned[0].swap(0, 1);
    place.write("turned.stl", stl(&turned));
    place.write("twice.stl", stl(&[&cube[..], &cube[..1]].concat()));
    let mut warned = 0;
    let mut silent = 0;
    for (mesh, closed, oriented) in [
        ("hole", false, false),
        ("turned", true, false),
        ("twice", false, false),
        ("cube", true, true),
    ] {
        for method in METHODS {
            let line = format!(
                "{mesh}.stl --filled --inside {} -r 12 --json -o out.npz",
                method.name
            );
            let report = place.run(&line).expect(0).json();
            let sealed = [&report["mesh"]["closed"], &report["mesh"]["oriented"]];
            assert_eq!(sealed, [&json!(closed), &json!(oriented)], "{line}");
            let codes: Vec<_> = report["warnings"]
                .as_array()
                .unwrap()
                .iter()
                .map(|w| w["code"].clone())
                .collect();
            let minds = match method.inside {
                Inside::Auto | Inside::EvenOdd | Inside::Vote => !closed,
                Inside::Nonzero => !oriented,
                _ => false,
            };
            assert_eq!(codes.contains(&json!("W006")), minds, "{line}: {report}");
            if minds { warned += 1 } else { silent += 1 }
        }
    }
    assert!(warned > 5 && silent > 5, "{warned} {silent}");
    for (mesh, used, repaired) in [
        ("cube", "nonzero", None),
        ("turned", "evenodd", None),
        ("hole", "robust", Some((0, 1))),
        ("twice", "robust", Some((1, 0))),
    ] {
        let json = place
            .run(&format!("{mesh}.stl --filled -r 12 --json -o out.npz"))
            .expect(0)
            .json();
        let inside = &json["inside"];
        assert_eq!(
            (&inside["requested"], &inside["used"]),
            (&json!("auto"), &json!(used)),
            "{mesh}"
        );
        let repairs = inside
            .get("repairs")
            .map(|all| (all["duplicates"].as_u64(), all["holes"].as_u64()));
        assert_eq!(
            repairs,
            repaired.map(|(duplicates, holes)| (Some(duplicates), Some(holes))),
            "{mesh}"
        );
    }
}

#[test]
fn holes_that_are_closed_are_closed_for_doubt() {
    let place = with_open();
    let is_low = |triangle: &&Triangle| triangle.iter().all(|corner| corner[0] == 0.0);
    let mut cube = cuboid([20.0; 3]);
    let hole = cube.iter().position(|triangle| is_low(&triangle)).unwrap();
    cube.remove(hole);
    place.write("hole.stl", stl(&cube));
    let base = "hole.stl --solid --inside flood -r 20 --pad 1 -o a.npz --json --max-doubt";
    let open = place.run(&format!("{base} 1%")).expect(1).json();
    assert_eq!(open["doubt"]["inside_by"]["flood"], 0);
    let closed = place
        .run(&format!("{base} 60% --close-holes 20"))
        .expect(0)
        .json();
    assert_eq!(
        closed["doubt"]["inside_by"]["flood"],
        closed["counts"]["occupied"]
    );
    assert!(
        closed["counts"]["occupied"].as_u64() > Some(5000),
        "{closed}"
    );
}

#[test]
fn two_names_of_one_new_file_are_one() {
    let place = with_open();
    let before = place.files();
    let absolute = place.path("x.npz").display().to_string();
    let base = "open.stl --solid -r 8 -o";
    for line in [
        format!("{base} x.npz --doubt ./x.npz"),
        format!("{base} ./x.npz --doubt x.npz"),
        format!("{base} x.npz --doubt {absolute}"),
        format!("{base} x.npz --json=./x.npz"),
        format!("{base} q.npz --doubt x.raw --json=./x.raw.json"),
        format!("{base} q.npz --inside flood --leak x.vox --doubt ./x.vox"),
    ] {
        refused(&place, &line, 2);
        // The file of --json may report the error if it has its own name.
        let left: Vec<_> = place
            .files()
            .into_iter()
            .filter(|name| name != "x.raw.json")
            .collect();
        assert_eq!(left, before, "{line}");
    }
}

#[test]
fn each_of_many_has_its_gate() {
    let place = with_open();
    let run = place
        .run("open.stl cube.stl --solid -r 24 --max-doubt 0 -o out/ --json")
        .expect(1);
    let codes: Vec<_> = run
        .text()
        .lines()
        .map(|line| line.contains(r#""exit_code":1"#))
        .collect();
    assert_eq!(codes, [true, false]);
    let failed = |name: &str| {
        run.err
            .lines()
            .any(|line| line.contains("failed") && line.contains(name))
    };
    assert!(failed("open.stl") && !failed("cube.stl"), "{}", run.err);
    assert!(place.path("out/open.vox").exists() && place.path("out/cube.vox").exists());
}

#[test]
fn contradictory_options_are_refused() {
    let place = with_open();
    // A format without numbers stores the cells alone.
    place
        .run("cube.stl --solid -r 8 --doubt d.stl -o e.npz")
        .expect(0);
    fs::remove_file(place.path("d.stl")).unwrap();
    for line in [
        "cube.stl --doubt d.vox",
        "cube.stl --max-doubt 0",
        "cube.stl --solid --doubt d.foo",
        "cube.stl --solid --doubt -",
        "cube.stl --solid --doubt d.vox -o d.vox",
        "cube.stl --solid --doubt d.vox --json=d.vox",
        "cube.stl --solid --doubt d.raw --json=d.raw.json",
        "cube.stl open.stl --solid --doubt d.vox -o out/",
        "cube.stl --solid --max-doubt 1.5",
    ] {
        refused(&place, line, 2);
    }
    refused(
        &place,
        "cube.stl --solid -r 500 --doubt d.vox -o a.npz --max-memory 40M",
        5,
    );
    place
        .run("cube.stl --solid -r 500 -o a.npz --max-memory 40M -n")
        .expect(0);
    let planned = place
        .run("cube.stl --solid -r 50 --doubt d.vox -o a.npz -n")
        .expect(0);
    assert!(planned.err.contains("d.vox"), "{}", planned.err);
    assert!(
        !place
            .files()
            .iter()
            .any(|file| file.starts_with("d.") || file.starts_with("a."))
    );
}

/// Returns a mesh, a lattice with more layers than a tile of a .vox, and the filled cells.
fn tower() -> (Mesh, Lattice, Voxels) {
    let triangles = [
        cuboid([9.5, 7.0, 300.0]),
        moved(&cuboid([6.0, 3.0, 40.0]), 5.5),
    ]
    .concat();
    let mesh = Mesh::from_triangles(triangles).unwrap();
    let lattice = Fit::new(Size::Spacing([1, 1, 1].map(Rational::from)))
        .pad(1)
        .to(mesh.bounds())
        .unwrap();
    let voxels = voxelize(&mesh, &lattice, Rule::filled()).unwrap();
    (mesh, lattice, voxels)
}

#[test]
fn filled_is_surface_under_ties_both_and_the_rest() {
    let (mesh, lattice, voxels) = tower();
    let cells = voxels.into_occupied().unwrap();
    let labels = surface_and_interior(&mesh, &lattice, cells.clone(), &Run::default()).unwrap();
    assert!(*labels.occupied() == cells && *labels.legend() == Legend::surface_and_interior());
    let touched = surface(&mesh, &lattice, Ties::Both);
    let mut seen = [0; 2];
    for (cell, value) in labels.iter() {
        let label = if touched.get(cell) {
            Label::SURFACE
        } else {
            Label::INTERIOR
        };
        assert_eq!(value, label.value, "{cell:?}");
        seen[usize::from(value) - 1] += 1;
    }
    assert_eq!(labels.counts(), [(1, seen[0]), (2, seen[1])]);
    assert!(seen[0] > 1000 && seen[1] > 1000, "{seen:?}");
}

#[test]
fn slabs_have_the_labels_and_the_bytes_of_the_whole() {
    let (mesh, lattice, voxels) = tower();
    let run = Run::default();
    let bits = voxels.digest();
    let labels =
        surface_and_interior(&mesh, &lattice, voxels.cells.into_occupied().unwrap(), &run).unwrap();
    let counts = [1, 2].map(|value| labels.count(value));
    let voxels = Voxels {
        cells: labels.into(),
        lattice: voxels.lattice,
        record: voxels.record,
    };
    assert_eq!(voxels.digest(), bits, "no digest knows of these labels");
    let mut compared = 0;
    for format in FORMATS
        .iter()
        .filter(|format| format.holds(CellKind::Labels) && !format.is_folder())
    {
        for &dtype in format.dtypes {
            let options = SaveOptions {
                dtype: Some(dtype),
                ..SaveOptions::default()
            };
            let mut bytes = Vec::new();
            format::write_to(&voxels, &mut bytes, format, &options).unwrap();
            for n in [1, 5] {
                let height = n * format.slab_layers;
                let mut slabs = Voxelizer::new(Rule::filled())
                    .with_run(run)
                    .labelled()
                    .slabs(&mesh, &lattice, voxelize::run::Plan::Slabs(height))
                    .unwrap();
                let mut same = Vec::new();
                format::write_source_to(&mut slabs, &mut same, format, &options).unwrap();
                assert!(bytes == same, "{} {} {height}", format.name, dtype.name());
                assert_eq!(slabs.digest(), voxels.digest());
                let made: Vec<u64> = slabs
                    .made()
                    .labels
                    .iter()
                    .map(|(_, cells)| *cells)
                    .collect();
                assert_eq!(made, counts);
                compared += 1;
            }
        }
    }
    assert!(compared >= 10, "{compared}");
}

#[test]
fn files_have_1_and_2_and_digests_know_of_no_difference() {
    let (mesh, lattice, voxels) = tower();
    let place = Place::new();
    let triangles = [
        cuboid([9.5, 7.0, 300.0]),
        moved(&cuboid([6.0, 3.0, 40.0]), 5.5),
    ]
    .concat();
    place.write("tower.stl", stl(&triangles));
    let touched = surface(&mesh, &lattice, Ties::Both);
    let [nx, ny, nz] = lattice.dims();
    let number = |n: usize| {
        let cell = [n % nx, n / nx % ny, n / (nx * ny)];
        u8::from(voxels.occupied().unwrap().get(cell)) * if touched.get(cell) { 1 } else { 2 }
    };
    let numbers: Vec<u8> = (0..nx * ny * nz).map(number).collect();
    let count = |n: u8| numbers.iter().filter(|other| **other == n).count();
    let base = "tower.stl --voxel-size 1 --pad 1 --json";
    let digest = voxels.digest().cells.to_string();
    for (output, known) in [
        ("-o a.vox", true),
        ("-o a.raw", true),
        ("-o a.npy --dtype u8", true),
        ("-o a.npz --dtype u8", true),
        ("-o b.raw --dtype bit", false),
        ("-o b.npy", false),
        ("-o b.npz", false),
    ] {
        let report = place
            .run(&format!("{base} --filled {output}"))
            .expect(0)
            .json();
        let [surface, interior] = if known {
            [json!(count(1)), json!(count(2))]
        } else {
            [json!(null), json!(null)]
        };
        assert_eq!(
            (&report["counts"]["surface"], &report["counts"]["interior"]),
            (&surface, &interior),
            "{output}"
        );
        assert_eq!(report["digest"]["cells"], digest.as_str(), "{output}");
        let path = place.path(output.split_whitespace().nth(1).unwrap());
        let read = Voxels::open(&path).unwrap();
        assert_eq!(read.occupied(), voxels.occupied(), "{output}");
        assert_eq!(read.digest().cells, voxels.digest().cells, "{output}");
        if let (true, Some(labels)) = (known, read.labels()) {
            assert_eq!(
                labels.counts(),
                [(1, count(1) as u64), (2, count(2) as u64)],
                "{output}"
            );
        }
        assert_eq!(read.labels().is_some(), known, "{output}");
        let bytes = fs::read(&path).unwrap();
        match path.extension().unwrap().to_str().unwrap() {
            "raw" if known => assert!(bytes == numbers, "{output}"),
            "npy" if known => assert!(bytes[bytes.len() - numbers.len()..] == numbers, "{output}"),
            _ => {}
        }
    }
    // Solid and surface grids have one label.
    for (rule, path) in [("--solid", "c.raw"), ("--surface", "d.raw")] {
        place.run(&format!("{base} {rule} -o {path}")).expect(0);
        assert!(
            fs::read(place.path(path)).unwrap().iter().all(|n| *n < 2),
            "{rule}"
        );
    }
}

#[test]
fn a_limit_of_memory_makes_the_same_files_in_slabs() {
    let place = Place::new();
    let base = "cube.stl --filled -r 240 -j 1 --json";
    let mut seen = 0;
    for output in ["raw", "npz --dtype u8"] {
        let name = output.split(' ').next().unwrap();
        let whole = place
            .run(&format!("{base} -o whole.{output}"))
            .expect(0)
            .json();
        let planned = |limit: &usize| {
            place.run(&format!(
                "{base} -o slabs.{output} --max-memory {limit}K -n"
            ))
        };
        let limit = (12..60)
            .map(|n| n * 512)
            .find(|limit| planned(limit).code == Some(0))
            .unwrap();
        let slabs = place
            .run(&format!("{base} -o slabs.{output} --max-memory {limit}K"))
            .expect(0)
            .json();
        assert_eq!(
            (&whole["run"]["plan"], &slabs["run"]["plan"]),
            (&json!("dense"), &json!("slabs"))
        );
        assert_eq!(whole["counts"], slabs["counts"]);
        assert!(whole["counts"]["interior"].as_u64() > Some(0), "{whole}");
        let [one, other] =
            ["whole", "slabs"].map(|what| fs::read(place.path(&format!("{what}.{name}"))));
        assert!(one.unwrap() == other.unwrap(), "{output}");
        seen += 1;
    }
    assert_eq!(seen, 2);
}

#[test]
fn sheets_in_front_of_open_parts_are_warned_of() {
    // A tower without its bottom, and the ground below it.
    let tower: Vec<Triangle> = between([2.0, 2.0, 0.0], [5.0, 5.0, 12.0])
        .into_iter()
        .filter(|triangle| triangle.iter().any(|corner| corner[2] > 0.0))
        .collect();
    let up: [Triangle; 2] = [
        [[0.0; 3], [9.0, 0.0, 0.0], [9.0, 8.0, 0.0]],
        [[0.0; 3], [9.0, 8.0, 0.0], [0.0, 8.0, 0.0]],
    ];
    let place = Place::new();
    let text = "2 triangles belong to open sheets: cells in front of them may be lost";
    let mut seen = 0;
    for (name, triangles, is_warned) in [
        ("both.stl", [&tower[..], &up].concat(), true),
        ("tower.stl", tower.clone(), false),
        ("sheet.stl", up.to_vec(), false),
    ] {
        place.write(name, stl(&triangles));
        let err = place
            .run(&format!(
                "{name} --solid --voxel-size 0.5 --pad 2 -o cells.npz"
            ))
            .err;
        assert!(err.contains("W006"), "{name}: {err}");
        assert_eq!(err.contains(text), is_warned, "{name}: {err}");
        seen += 1;
    }
    assert_eq!(seen, 3);
}
