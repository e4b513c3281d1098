//! Levels of detail, `-r 64,32,16`: each equals a run of its own in the box of the coarsest level, and cells nest.

use std::fs;

use serde_json::Value;
use voxelize::{Rational, format};

use crate::support::bless;
use crate::support::place::{Place, cuboid, stl};
use crate::support::rows;

/// Options of the fit, and options of the rule. A run in a given box has only the second ones.
const OPTIONS: [[&str; 2]; 14] = [
    ["", ""],
    ["", "--filled"],
    ["--pad 1", "--solid"],
    ["--pad 2", "--snap none --filled"],
    ["--cube", "--filled"],
    ["--bounds -30,-20,-9,31,10,7", "--filled"],
    ["--bounds -30,-20,-9,31,10,7 --pad 1 --cube", ""],
    ["", "--rule thin"],
    ["", "--rule offset --radius 1.5vx"],
    ["", "--rule offset --radius 1.7"],
    ["", "--rule distance --signed --band 2"],
    ["", "--rule fraction"],
    ["", "--scale 3/7 --translate 100,-7,1/3 --filled"],
    ["", "--rotate z,30 --axes x,z,-y --filled"],
];

fn knot() -> Place {
    let place = Place::new();
    let fixture = bless::root("fixtures/knot.stl");
    fs::copy(fixture, place.path("knot.stl")).unwrap();
    place
}

/// Returns the grid in a report: its dims, and the exact coordinates of its corners and the side of a cell.
fn grid(report: &Value) -> ([u64; 3], [Rational; 3], [Rational; 3], Rational) {
    let grid = &report["grid"];
    let exact =
        |key: &str, axis: usize| Rational::parse(grid[key][axis].as_str().unwrap()).unwrap();
    let dims = [0, 1, 2].map(|axis| grid["dims"][axis].as_u64().unwrap());
    let low = [0, 1, 2].map(|axis| exact("origin_exact", axis));
    let side = exact("spacing_exact", 0);
    let high = [0, 1, 2].map(|axis| {
        let length = &side * &Rational::from(dims[axis] as i64);
        &low[axis] + &length
    });
    (dims, low, high, side)
}

fn joined(numbers: &[Rational]) -> String {
    let texts: Vec<_> = numbers.iter().map(Rational::to_string).collect();
    texts.join(",")
}

#[test]
fn levels_are_runs_in_one_box() {
    const LEVELS: [u64; 4] = [24, 6, 12, 9];
    let place = knot();
    for [fit, rule] in OPTIONS {
        let line = format!("knot.stl -r 24,6,12,9 {fit} {rule} --json -o level.npz");
        let reports = rows::json(&place.run(&line).expect(0));
        let reports = reports.as_array().unwrap();
        assert_eq!(reports.len(), LEVELS.len());
        let (coarse, low, high, _) = grid(&reports[1]);
        let alone = rows::json(
            &place
                .run(&format!("knot.stl -r 6 {fit} {rule} --json -o alone.npz"))
                .expect(0),
        );
        assert_eq!(alone["digest"], reports[1]["digest"], "{line}");
        for (longest, report) in LEVELS.iter().zip(reports) {
            let (dims, corner, _, side) = grid(report);
            assert_eq!(corner, low, "{line}");
            if longest % 6 == 0 {
                assert_eq!(dims, coarse.map(|n| n * longest / 6), "{line}");
            }
            let walls = [joined(&low), joined(&high)].join(",");
            let own =
                format!("knot.stl --bounds {walls} --voxel-size {side} {rule} --json -o own.npz");
            let own = rows::json(&place.run(&own).expect(0));
            assert_eq!(report["digest"], own["digest"], "{line}: {longest}");
            let name = format!("level-{longest}.npz");
            assert_eq!(report["outputs"][0]["path"], name.as_str());
            let [made, wanted] = [name.as_str(), "own.npz"].map(|name| {
                let voxels = format::open(&place.path(name)).unwrap();
                (voxels.cells, voxels.lattice)
            });
            assert!(made == wanted, "{line}: {longest}");
        }
    }
}

#[test]
fn occupied_cells_nest() {
    let place = knot();
    let mut compared = 0;
    for rule in ["", "--filled", "--snap none"] {
        let line = format!("knot.stl -r 64,32,16 {rule} -o level.npz -q");
        place.run(&line).expect(0);
        let open = |n: u64| format::open(&place.path(&format!("level-{n}.npz"))).unwrap();
        let coarse = open(16);
        let coarse = coarse.occupied().unwrap();
        for (n, ratio) in [(64, 4), (32, 2)] {
            let fine = open(n);
            for cell in fine.occupied().unwrap().iter() {
                let above = cell.map(|index| index / ratio);
                assert!(coarse.get(above), "{rule}: {cell:?} of {n}");
                compared += 1;
            }
        }
    }
    assert!(compared > 10_000);
}

#[test]
fn levels_are_reported_and_named() {
    let place = knot();
    fs::create_dir(place.path("in")).unwrap();
    fs::copy(place.path("knot.stl"), place.path("in/knot.stl")).unwrap();
    place.write("in/plate.stl", stl(&cuboid([10.0, 10.0, 0.1])));
    place.write("scan-8.nii.gz", "of another program");
    rows::check(
        &place,
        r#"0 knot.stl -r 16,8
             err mesh    knot.stl
             err level   16: 16 ×
             err level   8: 8 ×
             file knot-16.vox
             file knot-8.vox
             no file knot.vox
           0 knot.stl -r 16,8 -n -o plan.vox
             err would write plan-16.vox
             no file plan-16.vox
           0 knot.stl -r 16,8 --skip-existing --json
             /0/status "skipped"
             /1/status "skipped"
           6 knot.stl -r 16,8 -o scan.nii.gz
             err scan-8.nii.gz
             no file scan-16.nii.gz
           0 in -r 16,8 --filled -o out/ --json
             /0/outputs/0/path "out/knot-16.vox"
             /1/outputs/0/path "out/knot-8.vox"
             /2/outputs/0/path "out/plate-16.vox"
             /3/grid/dims [8, 8, 1]
           0 in -r 16,8 --same-grid -o same/ --json
             /3/outputs/0/path "same/plate-8.vox"
           0 in/plate.stl -r 200,10 --solid -o thin.vox
             err level 10:
             no err level 200:"#,
    );
    let same = rows::json(
        &place
            .run("in -r 16,8 --same-grid -o same/ --json")
            .expect(0),
    );
    let grids: Vec<_> = (0..4).map(|n| &same[n]["grid"]["dims"]).collect();
    assert_eq!((grids[0], grids[1]), (grids[2], grids[3]));
    for (n, both) in [(0, "16"), (1, "8")] {
        let alone = place
            .run("knot.stl -r 16,8 --filled -o alone.vox --json")
            .expect(0);
        let out = place.run("in -r 16,8 --filled -o out/ --json").expect(0);
        assert_eq!(
            rows::json(&alone)[n]["digest"],
            rows::json(&out)[n]["digest"],
            "{both}"
        );
    }
    // Standard input is read once.
    let mesh = fs::read(place.path("knot.stl")).unwrap();
    let run = place
        .run_with("- -r 16,8 -o piped.vox --json", &mesh)
        .expect(0);
    assert_eq!(rows::json(&run).as_array().unwrap().len(), 2);
}

#[test]
fn one_file_for_several_levels_is_refused() {
    let place = Place::new();
    rows::refused(
        &place,
        "2 cube.stl -r 8,4 -f npz -o -
             err several levels of detail need several files
         2 cube.stl -r 8,4 --filled --doubt d.npz -o a.npz
             err every level of detail would overwrite this file
         2 cube.stl -r 8,4 --filled --inside flood --leak l.npz -o a.npz
             err every level of detail would overwrite this file
         2 cube.stl -r 8,4 --rule distance --nearest n.npy -o a.npz
             err every level of detail would overwrite this file
         2 cube.stl -r 8,4 --cube --stack -o a.npz
             err levels of detail have different dimensions
         2 cube.stl -r 8,4 --resume -o a.zarr
             err each level of detail is a grid of its own
         2 verify --update g.toml cube.stl -r 8,4
             err each level of detail is a grid of its own",
    );
    #[cfg(unix)]
    rows::refused(
        &place,
        "2 cube.stl -r 8,4 -f npz -o /dev/null
             err several levels of detail need several files",
    );
    rows::check(
        &place,
        "2 cube.stl -r 8,8 -o a.npz
             err the level of detail 8 is given twice
         2 cube.stl -r 8,0 -o a.npz
             err must be at least 1
         2 cube.stl -r 8,4 --dims 8,8,8 -o a.npz
             err cannot be used with
         2 plan cube.stl -r 8,4 -o a.zarr
             err each level of detail is a grid of its own",
    );
}
