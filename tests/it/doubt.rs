//! The cells in doubt are the cells on which the methods disagree, and the gate reports them. The cells of
//! filled are labelled in every format that can store labels, in memory and in slabs.

use std::collections::BTreeSet;
use std::fs;

use crate::support::meshes::{fixture, fixtures, surface};
use crate::support::place::{Place, Triangle, cuboid, stl};
use crate::support::rows;
use crate::support::solids::{between, inside_out};
use serde_json::json;
use voxelize::format::{self, Carries, FORMATS, SaveOptions};
use voxelize::grid::{CellKind, CellSource, Labels, Legend};
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
    let cavity = inside_out(moved(&cuboid([10.0; 3]), 5.0));
    let of = |triangles: Vec<Triangle>| Mesh::from_triangles(triangles).unwrap();
    let mut cases = fixtures();
    cases.extend([
        ("cube".to_string(), of(cube.clone())),
        ("turned".to_string(), of(inside_out(cube.clone()))),
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
            for (value, count) in cells.counts() {
                if count > 0 {
                    sets.insert(value);
                }
            }
            for threads in [1, 3] {
                let run = Run::default().threads(threads);
                let found = doubt::doubt(mesh, &lattice, Inside::Auto, &run).unwrap();
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
    rows::check(
        &place,
        r#"0 top.stl --solid -r 20 --pad 1 -o a.npz --max-doubt 20% --json
            /doubt/left_out ["flood"]
            /doubt/inside 8000
           0 top.stl --solid -r 20 --pad 1 -o a.npz --max-doubt 0
            err flood leaked and is not compared
           0 top.stl --solid -r 20 --pad 1 -o a.npz --max-doubt 100% --inside flood --close-holes 20 --json
            /doubt/left_out []"#,
    );
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
    let [nonzero, evenodd, robust] = [Inside::Nonzero, Inside::EvenOdd, Inside::Robust]
        .map(|method| Rule::solid().with_inside(method).unwrap())
        .map(|rule| voxelize(&mesh, &lattice, rule).unwrap().count());
    let mut labelled = Vec::new();
    for (gate, code, status, err, most) in [
        ("", 0, "ok", "no err", "null"),
        ("--max-doubt 0", 1, "failed", "err failed: ", "0.0"),
        ("--max-doubt 1%", 1, "failed", "err failed: ", "0.01"),
        ("--max-doubt 100%", 0, "ok", "no err", "1.0"),
    ] {
        for format in FORMATS {
            if !format.is_readable() || format.carries == Carries::Rounded {
                continue;
            }
            let name = format!("doubt.{}", format.name);
            let table = format!(
                r#"{code} open.stl --solid -r 24 -q {gate} --doubt {name} -o a.npz --json
                    {err}
                    /status "{status}"
                    /exit_code {code}
                    /doubt/asked_most {most}
                    /doubt/cells {}
                    /doubt/inside_by {{"flood": 0, "nonzero": {nonzero}, "evenodd": {evenodd}, "robust": {robust}}}
                    /outputs/0/path "a.npz"
                    /outputs/1/path "{name}""#,
                cells.count()
            );
            let run = &rows::check(&place, &table)[0];
            assert_eq!(run.err.lines().count() as i32, code, "{}", run.err);
            assert_eq!(
                run.json()["doubt"]["share"],
                cells.count() as f64 / inside as f64
            );
            let opened = Voxels::open(place.path(&name)).unwrap();
            if let Cells::Labels(opened) = &opened.cells {
                assert!(opened.iter().eq(labels.iter()), "{name}");
                labelled.push(format.name);
            }
            assert!(opened.into_occupied().unwrap() == *cells, "{name}");
            assert!(Voxels::open(place.path("a.npz")).unwrap().count() > 0);
        }
    }
    for format in ["npz", "vox", "npy", "zarr"] {
        assert!(labelled.contains(&format), "{labelled:?}");
    }
    // The set of methods has a name in files with metadata. The grid is the grid of the mesh, but its cells
    // were not created by a rule.
    rows::check(
        &place,
        r#"0 info doubt.npz
            out inside by robust
           0 open.stl --solid -r 24 --doubt doubt.npy --sidecar -o g.npz
           0 info doubt.npy --json
            /rule "doubt"
           0 cube.stl --solid -r 24 --max-doubt 0 -o f.npz
           0 cube.stl --solid -r 24 -o f.npz --json
            /doubt null"#,
    );
    rows::refused(
        &place,
        "2 verify doubt.npy open.stl
         2 open.stl --solid -r 24 --doubt doubt.npy --sidecar -o doubt.npy.json -f raw",
    );
    let run = place
        .run("open.stl --filled -r 24 --max-doubt 0 -o e.npz")
        .expect(1);
    let last = run.err.lines().last().unwrap().replace(',', "");
    assert!(last.starts_with("failed: "), "{}", run.err);
    assert!(last.contains(&cells.count().to_string()), "{}", run.err);
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
            assert_eq!(report["mesh"]["closed"], closed, "{line}");
            assert_eq!(report["mesh"]["oriented"], oriented, "{line}");
            let is_warned = report["warnings"].to_string().contains("\"W006\"");
            let minds = match method.inside {
                Inside::Auto | Inside::EvenOdd | Inside::Vote => !closed,
                Inside::Nonzero => !oriented,
                _ => false,
            };
            assert_eq!(is_warned, minds, "{line}: {report}");
            if minds { warned += 1 } else { silent += 1 }
        }
    }
    assert!(warned > 5 && silent > 5, "{warned} {silent}");
    rows::check(
        &place,
        r#"0 cube.stl --filled -r 12 --json -o out.npz
            /inside/requested "auto"
            /inside/used "nonzero"
            no /inside/repairs
           0 turned.stl --filled -r 12 --json -o out.npz
            /inside/used "evenodd"
            no /inside/repairs
           0 hole.stl --filled -r 12 --json -o out.npz
            /inside/used "robust"
            /inside/repairs/duplicates 0
            /inside/repairs/holes 1
           0 twice.stl --filled -r 12 --json -o out.npz
            /inside/used "robust"
            /inside/repairs/duplicates 1
            /inside/repairs/holes 0"#,
    );
}

#[test]
fn holes_that_are_closed_are_closed_for_doubt() {
    let place = with_open();
    let mut cube = cuboid([20.0; 3]);
    let hole = cube
        .iter()
        .position(|triangle| triangle.iter().all(|corner| corner[0] == 0.0));
    cube.remove(hole.unwrap());
    place.write("hole.stl", stl(&cube));
    let runs = rows::check(
        &place,
        "1 hole.stl --solid --inside flood -r 20 --pad 1 -o a.npz --json --max-doubt 1%
            /doubt/inside_by/flood 0
         0 hole.stl --solid --inside flood -r 20 --pad 1 -o a.npz --json --max-doubt 60% --close-holes 20",
    );
    let closed = runs[1].json();
    let occupied = &closed["counts"]["occupied"];
    assert_eq!(closed["doubt"]["inside_by"]["flood"], *occupied);
    assert!(occupied.as_u64() > Some(5000), "{closed}");
}

#[test]
fn two_names_of_one_new_file_are_one() {
    let place = with_open();
    let absolute = place.path("x.npz").display().to_string();
    let table = format!(
        "2 open.stl --solid -r 8 -o ./x.npz --doubt x.npz
         2 open.stl --solid -r 8 -o x.npz --doubt {absolute}"
    );
    rows::refused(&place, &table);
}

#[test]
fn the_cells_in_doubt_take_memory_and_may_be_a_mesh() {
    // A format without numbers stores the cells alone. Without doubt the limit of memory suffices.
    rows::check(
        &Place::new(),
        "0 cube.stl --solid -r 8 --doubt d.stl -o e.npz
            file d.stl
         5 cube.stl --solid -r 500 --doubt d.vox -o a.npz --max-memory 40M
         0 cube.stl --solid -r 500 -o a.npz --max-memory 40M -n",
    );
}

/// Returns the triangles of two towers, one within the other.
fn towers() -> Vec<Triangle> {
    [
        cuboid([9.5, 7.0, 300.0]),
        moved(&cuboid([6.0, 3.0, 40.0]), 5.5),
    ]
    .concat()
}

/// Returns a mesh, a lattice with more layers than a tile of a .vox, and the filled cells.
fn tower() -> (Mesh, Lattice, Voxels) {
    let mesh = Mesh::from_triangles(towers()).unwrap();
    let fit = Fit::new(Size::Spacing([1, 1, 1].map(Rational::from))).pad(1);
    let lattice = fit.to(mesh.bounds()).unwrap();
    let voxels = voxelize(&mesh, &lattice, Rule::filled()).unwrap();
    (mesh, lattice, voxels)
}

#[test]
fn slabs_have_the_labels_and_the_bytes_of_the_whole() {
    let (mesh, lattice, voxels) = tower();
    let run = Run::default();
    let bits = voxels.digest();
    let labels =
        surface_and_interior(&mesh, &lattice, voxels.cells.into_occupied().unwrap(), &run).unwrap();
    assert_eq!(*labels.legend(), Legend::surface_and_interior());
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
    place.write("tower.stl", stl(&towers()));
    let touched = surface(&mesh, &lattice, Ties::Both);
    let [nx, ny, nz] = lattice.dims();
    let number = |n: usize| {
        let cell = [n % nx, n / nx % ny, n / (nx * ny)];
        u8::from(voxels.occupied().unwrap().get(cell)) * if touched.get(cell) { 1 } else { 2 }
    };
    let numbers: Vec<u8> = (0..nx * ny * nz).map(number).collect();
    let count = |n: u8| numbers.iter().filter(|other| **other == n).count();
    assert!(count(1) > 1000 && count(2) > 1000);
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
        let [surface, interior] = [1, 2].map(|n| known.then(|| count(n)));
        let table = format!(
            r#"0 {base} --filled {output}
                /counts/surface {}
                /counts/interior {}
                /digest/cells "{digest}""#,
            json!(surface),
            json!(interior)
        );
        rows::check(&place, &table);
        let path = place.path(output.split_whitespace().nth(1).unwrap());
        let read = Voxels::open(&path).unwrap();
        assert_eq!(read.occupied(), voxels.occupied(), "{output}");
        assert_eq!(read.digest().cells, voxels.digest().cells, "{output}");
        assert_eq!(read.labels().is_some(), known, "{output}");
        if let Some(labels) = read.labels() {
            let counts = [(1, count(1) as u64), (2, count(2) as u64)];
            assert_eq!(labels.counts(), counts, "{output}");
        }
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
    for (name, options) in [("raw", ""), ("npz", "--dtype u8")] {
        let line = format!("{base} {options} -o slabs.{name} --max-memory");
        let limit = (12..60)
            .map(|n| n * 512)
            .find(|limit| place.run(&format!("{line} {limit}K -n")).code == Some(0))
            .unwrap();
        let table = format!(
            r#"0 {base} {options} -o whole.{name}
                /run/plan "dense"
               0 {line} {limit}K
                /run/plan "slabs""#
        );
        let runs = rows::check(&place, &table);
        let [whole, slabs] = [runs[0].json(), runs[1].json()];
        assert_eq!(whole["counts"], slabs["counts"]);
        assert!(whole["counts"]["interior"].as_u64() > Some(0), "{whole}");
        let [one, other] =
            ["whole", "slabs"].map(|what| fs::read(place.path(&format!("{what}.{name}"))));
        assert!(one.unwrap() == other.unwrap(), "{name}");
    }
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
    place.write("both.stl", stl(&[&tower[..], &up].concat()));
    place.write("tower.stl", stl(&tower));
    place.write("sheet.stl", stl(&up));
    rows::check(
        &place,
        "0 both.stl --solid --voxel-size 0.5 --pad 2 -o cells.npz
            err W006
            err 2 triangles belong to open sheets: cells in front of them may be lost
         0 tower.stl --solid --voxel-size 0.5 --pad 2 -o cells.npz
            err W006
            no err belong to open sheets
         0 sheet.stl --solid --voxel-size 0.5 --pad 2 -o cells.npz
            err W006
            no err belong to open sheets",
    );
}
