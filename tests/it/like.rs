//! `--like` adopts the whole grid of a voxel file.

use std::fs;

use serde_json::Value;
use voxelize::format::{self, FORMATS, SaveOptions, Sidecar};
use voxelize::{BitGrid, Voxels};

use crate::support::place::Place;
use crate::support::rows;

/// Line of a header of an image.
const LPS: &str = "space: left-posterior-superior\n";

/// Every way to choose a lattice. Some have non-cubic cells, which a .vox cannot store.
const WAYS: [(&str, bool); 12] = [
    ("-r 20", true),
    ("-r 7 --pad 2", true),
    ("-r 9 --cube", true),
    ("--voxel-size 0.03", true),
    ("--voxel-size 0.1 --origin 0.05,-0.01,3", true),
    ("--voxel-size 0.02,0.03,0.05", false),
    ("--dims 9,8,7", true),
    ("--dims 9,8,7 --stretch", false),
    ("-r 13 --bounds 0.1,0.1,0.1,0.5,0.2,0.3", true),
    (
        "--voxel-size 0.1 --bounds -1,-1,-1,0.3,0.3,0.3 --pad 1",
        true,
    ),
    ("--voxel-size 0.1 --snap none", true),
    ("--voxel-size 0.1", true),
];

fn grid(json: &Value) -> [&Value; 5] {
    let grid = &json["grid"];
    [
        &json["digest"],
        &json["snap"],
        &grid["origin_exact"],
        &grid["spacing_exact"],
        &grid["closed"],
    ]
}

#[test]
fn every_lattice_comes_back_from_every_format() {
    let place = Place::new();
    let mut seen = 0;
    let mut open = 0;
    for (way, cubes) in WAYS {
        for format in FORMATS.iter().filter(|format| format.is_readable()) {
            if !cubes && ["vox", "binvox", "bt"].contains(&format.name) {
                continue;
            }
            let old = format!("old.{}", format.extensions[0]);
            let table = format!(
                "0 thirds.stl {way} --sidecar --json -o {old}
                 0 thirds.stl --like {old} --json -o new.npz
                 0 diff {old} new.npz -q"
            );
            let runs = rows::check(&place, &table);
            let [made, again] = [runs[0].json(), runs[1].json()];
            assert_eq!(grid(&made), grid(&again), "{way} in {old}");
            assert!(made["digest"]["grid"].is_string());
            open += usize::from(made["grid"]["closed"].to_string().contains("false"));
            seen += 1;
        }
    }
    assert!(seen > 40 && open > 6, "{seen} cases, {open} of them open");
}

#[test]
fn another_mesh_gets_the_same_grid_and_a_report_of_its_end() {
    // The padding of the earlier grid is not known.
    rows::check(
        &Place::new(),
        r#"0 thirds.stl --voxel-size 0.1 -o old.npz
           0 cube.stl --like old.npz --json -o new.npz
            /grid/dims [7, 3, 5]
            /grid/spacing_exact ["1/10", "1/10", "1/10"]
            /grid/origin_exact ["0/1", "0/1", "0/1"]
            /warnings/0/code "W001"
           0 thirds.stl --like old.npz --json -o new.npz
            /grid/pad null
            /warnings []"#,
    );
}

#[test]
fn snap_may_be_overridden() {
    rows::check(
        &Place::new(),
        r#"0 thirds.stl --voxel-size 0.1 --snap none -o old.npz
           0 thirds.stl --like old.npz --json -o new.npz
            /snap/mode "none"
           0 thirds.stl --like old.npz --json -o new.npz --snap float
            /snap/mode "float"
           0 thirds.stl --like old.npz --json -o new.npz --snap none
            /snap/mode "none""#,
    );
}

#[test]
fn a_sidecar_of_other_cells_is_not_believed() {
    let place = Place::new();
    rows::check(
        &place,
        "0 cube.stl -r 8 --sidecar -o a.npy
         0 cube.stl -r 8 --ties both --pad 1 -o b.npy
         0 cube.stl -r 10 -o c.npy",
    );
    for (from, to) in [("c.npy", "a.npy"), ("a.npy.json", "b.npy.json")] {
        fs::copy(place.path(from), place.path(to)).unwrap();
    }
    rows::refused(
        &place,
        "2 cube.stl --like a.npy -o d.npz
         2 cube.stl --like b.npy -o d.npz",
    );
}

#[test]
fn the_file_may_be_the_output() {
    rows::check(
        &Place::new(),
        "0 thirds.stl -r 8 -o a.vox
         0 thirds.stl --like a.vox -o a.vox
         0 thirds.stl -r 8 -o b.vox
         0 diff a.vox b.vox",
    );
}

#[test]
fn a_sidecar_goes_with_the_file_that_it_describes() {
    // The same cells at twice the size: a stale sidecar would match them.
    rows::check(
        &Place::new(),
        r#"0 cube.stl -r 8 -o a.npy --sidecar
           0 cube.stl -r 8 --scale 2 -o a.npy
            no file a.npy.json
           0 cube.stl -r 8 -o b.raw
           0 thirds.stl -r 8 -f npz -o b.raw
            no file b.raw.json
           0 info b.raw --json
            /input "thirds.stl""#,
    );
}

#[test]
fn other_files_are_not_replaced_by_a_sidecar() {
    for (options, sidecar) in [
        ("-o a.raw", "a.raw.json"),
        ("-o a.npy --sidecar", "a.npy.json"),
        ("-f raw", "cube.raw.json"),
        ("--solid --doubt a.raw -o a.vox", "a.raw.json"),
    ] {
        let place = Place::new();
        place.write(sidecar, "mine");
        let table = format!(
            "6 cube.stl -r 4 {options}
                err {sidecar}: already exists, and nothing in it shows that voxelize wrote it
                err hint: move it away, or give the output another name"
        );
        rows::refused(&place, &table);
        fs::remove_file(place.path(sidecar)).unwrap();
        let table = format!("0 cube.stl -r 4 {options}\n 0 cube.stl -r 5 {options}");
        rows::check(&place, &table);
    }
    // A file that needs no sidecar leaves other files alone.
    let place = Place::new();
    place.write("c.npy.json", "mine");
    place.run("cube.stl -r 4 -o c.npy").expect(0);
    assert_eq!(fs::read(place.path("c.npy.json")).unwrap(), b"mine");
}

#[test]
fn a_sidecar_of_a_program_without_a_name_is_replaced() {
    let place = Place::new();
    let voxels = Voxels::new(BitGrid::new([2, 2, 2]).unwrap());
    let options = SaveOptions {
        sidecar: Sidecar::Write,
        ..SaveOptions::default()
    };
    let npy = format::by_name("npy").unwrap();
    for _ in 0..2 {
        let saved = format::save(&voxels, &place.path("a.npy"), npy, &options).unwrap();
        assert_eq!(saved.len(), 2);
    }
    place.write("a.npy.json", "mine");
    assert!(format::save(&voxels, &place.path("a.npy"), npy, &options).is_err());
    assert_eq!(fs::read(place.path("a.npy.json")).unwrap(), b"mine");
}

/// Returns the header of an image of 7 × 3 × 5 cells.
fn header(number: &str, space: &str, directions: &str) -> String {
    format!(
        "NRRD0004\ntype: {number}\ndimension: 3\nsizes: 7 3 5\n{space}\
         space directions: {directions}\nspace origin: (0,0,0)\nencoding: raw\n\n"
    )
}

#[test]
fn an_image_whose_axes_run_otherwise_is_named() {
    let place = Place::new();
    for (directions, expectation) in [
        ("(0.1,0,0) (0,0.1,0) (0,0,0.1)", "no err W018"),
        (
            "(-0.1,0,0) (0,0.1,0) (0,0,0.1)",
            "err W018]: the axes of the image run -x,y,z, the axes of the output run x,y,z
             err in NumPy: array[::-1]",
        ),
        (
            "(0,0.1,0) (0.1,0,0) (0,0,-0.1)",
            "err W018]: the axes of the image run y,x,-z, the axes of the output run x,y,z
             err in NumPy: array.transpose(1, 0, 2)[:, :, ::-1]",
        ),
    ] {
        let header = header("unsigned char", LPS, directions);
        place.write("scan.nrrd", [header.as_bytes(), &[0; 105]].concat());
        let table = format!(
            "0 thirds.stl --like scan.nrrd -o new.npz\n {expectation}
             0 thirds.stl --like scan.nrrd -o new.nrrd\n no err W018
             0 thirds.stl --like new.nrrd -o new.nii.gz\n no err W018
             0 diff new.npz new.nrrd
             0 diff new.npz new.nii.gz"
        );
        rows::check(&place, &table);
    }
}

#[test]
fn a_grid_in_another_unit_than_the_mesh_is_refused() {
    let place = Place::new();
    let metres = format!("{LPS}space units: \"m\" \"m\" \"m\"\n");
    for (name, space) in [("mm", LPS), ("m", &metres), ("unknown", "")] {
        let header = header("short", space, "(100,0,0) (0,100,0) (0,0,100)");
        place.write(&format!("{name}.nrrd"), header);
    }
    rows::check(&place, "0 thirds.stl -r 8 --unit in -o in.npz");
    rows::refused(
        &place,
        "2 thirds.stl --like mm.nrrd --unit m -o a.npz
            err that grid is in
            err --scale 1000 --unit mm converts the mesh; --unit mm alone if
         2 thirds.stl --like mm.nrrd --unit m --scale 2 --translate 0,0,1 -o a.npz
            err that grid is in
            err --unit mm if its coordinates are in mm, being scaled; else --scale 2000 --unit mm converts the mesh, with the translation in mm
         2 thirds.stl --like m.nrrd --unit mm -o a.npz
            err that grid is in
            err --scale 1/1000 --unit m converts the mesh; --unit m alone if
         2 cube.stl --like in.npz --unit cm -o a.npz
            err --scale 50/127 --unit in",
    );
    // A mesh without a known unit is in the unit of the scan. The hint results in the grid of the scan.
    rows::check(
        &place,
        "0 thirds.stl --like mm.nrrd --unit mm -o a.npz
         0 thirds.stl --like m.nrrd --unit m -o a.npz
         0 thirds.stl --like unknown.nrrd --unit ft -o a.npz
         0 thirds.stl --like mm.nrrd -o a.npz
         0 info a.npz
            out cells of 100 mm
         0 thirds.stl --like mm.nrrd --scale 1000 --unit mm -o b.npz
         0 info b.npz
            out 7 × 3 × 5 cells of 100 mm, corner (-50, -50, -50) mm
         0 convert b.npz b.nrrd",
    );
    let header = fs::read(place.path("b.nrrd")).unwrap();
    assert!(String::from_utf8_lossy(&header).contains("\nspace units: \"mm\" \"mm\" \"mm\"\n"));
}
