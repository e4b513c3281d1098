//! `--like` adopts the whole grid of a voxel file.

use crate::support::place::{Place, refused};
use serde_json::{Value, json};
use voxelize::format::{self, FORMATS, SaveOptions, Sidecar};
use voxelize::{BitGrid, Voxels};

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
        for format in FORMATS.iter().filter(|format| {
            format.is_readable() && (cubes || !["vox", "binvox"].contains(&format.name))
        }) {
            let old = format!("old.{}", format.extensions[0]);
            let made = place
                .run(&format!("thirds.stl {way} --sidecar --json -o {old}"))
                .expect(0)
                .json();
            let again = place
                .run(&format!("thirds.stl --like {old} --json -o new.npz"))
                .expect(0)
                .json();
            assert_eq!(grid(&made), grid(&again), "{way} in {old}");
            assert!(made["digest"]["grid"].is_string());
            open += usize::from(made["grid"]["closed"].to_string().contains("false"));
            place.run(&format!("diff {old} new.npz -q")).expect(0);
            seen += 1;
        }
    }
    assert!(seen > 40 && open > 6, "{seen} cases, {open} of them open");
}

#[test]
fn another_mesh_gets_the_same_grid_and_a_report_of_its_end() {
    let place = Place::new();
    place
        .run("thirds.stl --voxel-size 0.1 -o old.npz")
        .expect(0);
    let json = place
        .run("cube.stl --like old.npz --json -o new.npz")
        .expect(0)
        .json();
    assert_eq!(
        (&json["grid"]["dims"], &json["warnings"][0]["code"]),
        (&json!([7, 3, 5]), &json!("W001"))
    );
    assert_eq!(
        (
            &json["grid"]["spacing_exact"],
            &json["grid"]["origin_exact"]
        ),
        (
            &json!(["1/10", "1/10", "1/10"]),
            &json!(["0/1", "0/1", "0/1"])
        )
    );
    let json = place
        .run("thirds.stl --like old.npz --json -o new.npz")
        .expect(0)
        .json();
    assert!(json["grid"]["pad"].is_null(), "not known");
    assert_eq!(json["warnings"], json!([]));
}

#[test]
fn snap_may_be_overridden() {
    let place = Place::new();
    place
        .run("thirds.stl --voxel-size 0.1 --snap none -o old.npz")
        .expect(0);
    let mode = |options: &str| {
        let line = format!("thirds.stl --like old.npz --json -o new.npz {options}");
        place.run(&line).expect(0).json()["snap"]["mode"].clone()
    };
    assert_eq!(
        (mode(""), mode("--snap float"), mode("--snap none")),
        ("none".into(), "float".into(), "none".into())
    );
}

#[test]
fn a_sidecar_of_other_cells_is_not_believed() {
    let place = Place::new();
    place.run("cube.stl -r 8 --sidecar -o a.npy").expect(0);
    place
        .run("cube.stl -r 8 --ties both --pad 1 -o b.npy")
        .expect(0);
    place.run("cube.stl -r 10 -o c.npy").expect(0);
    std::fs::copy(place.path("c.npy"), place.path("a.npy")).unwrap();
    refused(&place, "cube.stl --like a.npy -o d.npz", 2);
    std::fs::copy(place.path("a.npy.json"), place.path("b.npy.json")).unwrap();
    refused(&place, "cube.stl --like b.npy -o d.npz", 2);
}

#[test]
fn the_file_may_be_the_output() {
    let place = Place::new();
    place.run("thirds.stl -r 8 -o a.vox").expect(0);
    place
        .run("thirds.stl --like a.vox -o a.vox --json")
        .expect(0);
    place.run("thirds.stl -r 8 -o b.vox").expect(0);
    place.run("diff a.vox b.vox").expect(0);
}

#[test]
fn a_file_without_a_grid_is_an_error_with_a_hint() {
    let place = Place::new();
    place.run("cube.stl -r 4 -o a.npz").expect(0);
    place.run("cube.stl -r 4 -o a.npy").expect(0);
    place.write("broken.npz", b"PK\x03\x04");
    let before = place.files();
    let cases = [
        ("--like a.npy", 2),
        ("--like missing.npz", 3),
        ("--like cube.stl", 3),
        ("--like broken.npz", 3),
        ("--like", 2),
        ("--like a.npz -r 3", 2),
        ("--like a.npz --voxel-size 3", 2),
        ("--like a.npz --pitch 3", 2),
        ("--like a.npz --dims 3,3,3", 2),
        ("--like a.npz --stretch", 2),
        ("--like a.npz --origin 0,0,0", 2),
        ("--like a.npz --bounds 0,0,0,1,1,1", 2),
        ("--like a.npz --cube", 2),
        ("--like a.npz --pad 1", 2),
    ];
    let mut seen = 0;
    for (options, code) in cases {
        let error = refused(&place, &format!("cube.stl {options}"), code);
        // The error names both conflicting options, each by its first name.
        let options = options.replace("--pitch", "--voxel-size");
        let names: Vec<_> = options
            .split(' ')
            .filter(|word| word.starts_with("--"))
            .collect();
        assert!(
            names.len() < 2 || names.iter().all(|name| error.contains(name)),
            "{error}"
        );
        seen += 1;
    }
    assert!(seen > 0, "no case");
    assert_eq!(place.files(), before, "nothing is left");
}

#[test]
fn a_sidecar_goes_with_the_file_that_it_describes() {
    let place = Place::new();
    place.run("cube.stl -r 8 -o a.npy --sidecar").expect(0);
    // The same cells at twice the size: a stale sidecar would match them.
    place.run("cube.stl -r 8 --scale 2 -o a.npy").expect(0);
    assert!(!place.path("a.npy.json").exists());
    place.run("cube.stl -r 8 -o b.raw").expect(0);
    place.run("thirds.stl -r 8 -f npz -o b.raw").expect(0);
    assert!(!place.path("b.raw.json").exists());
    assert_eq!(
        format::open(&place.path("b.raw"))
            .unwrap()
            .record
            .input
            .as_deref(),
        Some("thirds.stl")
    );
}

#[test]
fn other_files_are_not_replaced_by_a_sidecar() {
    let place = Place::new();
    let mut seen = 0;
    for line in [
        "-o a.raw",
        "-o a.npy --sidecar",
        "-f raw",
        "--solid --doubt a.raw -o a.vox",
    ] {
        for name in ["a.raw.json", "a.npy.json", "cube.raw.json"] {
            place.write(name, "mine");
        }
        let refused = place.run(&format!("cube.stl -r 4 {line}")).expect(6);
        assert!(
            refused.err.contains("has no record that this tool made it"),
            "{}",
            refused.err
        );
        assert!(
            refused
                .err
                .contains("hint: move it away, or give the output another name"),
            "{}",
            refused.err
        );
        for name in ["a.raw.json", "a.npy.json", "cube.raw.json"] {
            assert_eq!(
                std::fs::read_to_string(place.path(name)).unwrap(),
                "mine",
                "{line}"
            );
            std::fs::remove_file(place.path(name)).unwrap();
        }
        place.run(&format!("cube.stl -r 4 {line}")).expect(0);
        place.run(&format!("cube.stl -r 5 {line}")).expect(0);
        seen += 1;
    }
    // A file that needs no sidecar leaves other files alone.
    place.write("c.npy.json", "mine");
    place.run("cube.stl -r 4 -o c.npy").expect(0);
    assert_eq!(
        std::fs::read_to_string(place.path("c.npy.json")).unwrap(),
        "mine"
    );
    assert_eq!(seen, 4);
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
        assert_eq!(
            format::save(&voxels, &place.path("a.npy"), npy, &options)
                .unwrap()
                .len(),
            2
        );
    }
    place.write("a.npy.json", "mine");
    assert!(format::save(&voxels, &place.path("a.npy"), npy, &options).is_err());
    assert_eq!(
        std::fs::read_to_string(place.path("a.npy.json")).unwrap(),
        "mine"
    );
}

#[test]
fn an_image_whose_axes_run_otherwise_is_named() {
    let place = Place::new();
    let head = |directions: &str| {
        format!(
            "NRRD0004\ntype: unsigned char\ndimension: 3\nsizes: 7 3 5\nspace: left-posterior-superior\n\
             space directions: {directions}\nspace origin: (0,0,0)\nencoding: raw\n\n"
        )
    };
    for (directions, said) in [
        ("(0.1,0,0) (0,0.1,0) (0,0,0.1)", None),
        ("(-0.1,0,0) (0,0.1,0) (0,0,0.1)", Some("-x,y,z")),
        ("(0,0.1,0) (0.1,0,0) (0,0,-0.1)", Some("y,x,-z")),
    ] {
        let file = [head(directions).as_bytes(), &[0; 105]].concat();
        place.write("scan.nrrd", file);
        let found = place
            .run("thirds.stl --like scan.nrrd -o new.npz")
            .expect(0);
        let text = said.map(|axes| {
            format!("W018]: the axes of the image run {axes}, the axes of the output run x,y,z")
        });
        assert_eq!(found.err.contains("W018"), said.is_some(), "{}", found.err);
        assert!(
            text.is_none_or(|text| found.err.contains(&text)),
            "{}",
            found.err
        );
    }
}

#[test]
fn a_grid_in_another_unit_than_the_mesh_is_refused() {
    let place = Place::new();
    let head = |space: &str| {
        format!(
            "NRRD0004\ntype: short\ndimension: 3\nsizes: 7 3 5\n{space}\
             space directions: (100,0,0) (0,100,0) (0,0,100)\nspace origin: (0,0,0)\nencoding: raw\n\n"
        )
    };
    place.write("mm.nrrd", head("space: left-posterior-superior\n"));
    place.write(
        "m.nrrd",
        head("space: left-posterior-superior\nspace units: \"m\" \"m\" \"m\"\n"),
    );
    place.write("unknown.nrrd", head(""));
    for (file, options, hint) in [
        (
            "mm",
            "--unit m",
            "--scale 1000 --unit mm converts the mesh; --unit mm alone if",
        ),
        (
            "mm",
            "--unit m --scale 2 --translate 0,0,1",
            "--unit mm if its coordinates are in mm, being scaled; else --scale 2000 --unit mm converts the mesh, with the translation in mm",
        ),
        (
            "m",
            "--unit mm",
            "--scale 1/1000 --unit m converts the mesh; --unit m alone if",
        ),
    ] {
        let run = place
            .run(&format!("thirds.stl --like {file}.nrrd {options} -o a.npz"))
            .expect(2);
        assert!(
            run.err.contains(hint) && run.err.contains("that grid is in"),
            "{}",
            run.err
        );
    }
    for (file, options) in [
        ("mm", "--unit mm"),
        ("m", "--unit m"),
        ("mm", ""),
        ("unknown", "--unit ft"),
    ] {
        place
            .run(&format!("thirds.stl --like {file}.nrrd {options} -o a.npz"))
            .expect(0);
    }
    // A mesh without a known unit is in the unit of the scan.
    place.run("thirds.stl --like mm.nrrd -o a.npz").expect(0);
    assert!(
        place
            .run("info a.npz")
            .expect(0)
            .text()
            .contains("cells of 100 mm")
    );
    // The hint results in the grid of the scan.
    place
        .run("thirds.stl --like mm.nrrd --scale 1000 --unit mm -o b.npz")
        .expect(0);
    let found = place.run("info b.npz").expect(0).text().to_string();
    assert!(
        found.contains("7 × 3 × 5 cells of 100 mm, corner (-50, -50, -50) mm"),
        "{found}"
    );
    // Files of this tool also state their unit.
    place.run("convert b.npz b.nrrd").expect(0);
    let header = std::fs::read(place.path("b.nrrd")).unwrap();
    assert!(String::from_utf8_lossy(&header).contains("\nspace units: \"mm\" \"mm\" \"mm\"\n"));
    place.run("thirds.stl -r 8 --unit in -o in.npz").expect(0);
    let run = place
        .run("cube.stl --like in.npz --unit cm -o a.npz")
        .expect(2);
    assert!(run.err.contains("--scale 50/127 --unit in"), "{}", run.err);
}
