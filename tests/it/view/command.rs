//! `voxelize view` on the command line.

use std::path::Path;
use std::process::{Command, Output};

fn run(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_voxelize"))
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::copy(root.join("fixtures/f.stl"), folder.path().join("f.stl")).unwrap();
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn error(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn a_mesh_becomes_a_picture_that_replaces_only_its_like() {
    let folder = folder();
    let view = |args: &[&str]| {
        run(
            folder.path(),
            &[&["view", "f.stl", "--size", "80x60"], args].concat(),
        )
    };
    let output = view(&["-r", "12"]);
    assert!(
        output.status.success() && output.stdout.is_empty(),
        "{}",
        error(&output)
    );
    let message = error(&output);
    let labels: Vec<_> = message
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(labels.len() > 4 && message.contains("f.png"), "{message}");
    let png = std::fs::read(folder.path().join("f.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG"));
    // Its own picture is replaced, another one is not.
    assert!(view(&["-q", "-r", "8"]).status.success());
    assert!(std::fs::read(folder.path().join("f.png")).unwrap() != png);
    std::fs::write(folder.path().join("f.png"), "mine").unwrap();
    let output = view(&[]);
    assert_eq!(output.status.code(), Some(6), "{}", error(&output));
    assert!(
        error(&output).contains("hint: -o f.png"),
        "{}",
        error(&output)
    );
    assert!(view(&["-r", "12", "-o", "f.png", "-q"]).status.success());
    assert_eq!(std::fs::read(folder.path().join("f.png")).unwrap(), png);
    assert_eq!(names(folder.path()), ["f.png", "f.stl"]);
}

#[test]
fn files_and_pipes_show_the_same() {
    let folder = folder();
    let all = |args: &[&str]| {
        let output = run(folder.path(), args);
        assert!(output.status.success(), "{args:?} {}", error(&output));
        output.stdout
    };
    all(&["f.stl", "-r", "12", "-o", "f.npz", "-q"]);
    let size = ["--size", "80x60", "-o", "-"];
    let mesh = all(&[&["view", "f.stl", "-r", "12"], &size[..]].concat());
    let voxels = all(&[&["view", "f.npz"], &size[..]].concat());
    assert!(mesh == voxels && mesh.starts_with(b"\x89PNG"));
    let facets = all(&[&["view", "f.stl", "--mesh"], &size[..]].concat());
    let layer = all(&[&["view", "f.npz", "--slice", "z=1"], &size[..]].concat());
    let sheet = all(&[&["view", "f.npz", "--sheet", "y"], &size[..]].concat());
    let pictures = [&mesh, &facets, &layer, &sheet];
    for (n, one) in pictures.iter().enumerate() {
        assert!(
            pictures.iter().skip(n + 1).all(|other| other != one),
            "picture {n}"
        );
    }
    assert_eq!(names(folder.path()), ["f.npz", "f.stl"]);
}

#[test]
fn a_slice_is_text() {
    let folder = folder();
    let output = run(
        folder.path(),
        &["view", "f.stl", "-r", "6", "--slice", "z=0"],
    );
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.lines().count() > 3 && text.bytes().all(|b| b"#.\n".contains(&b)),
        "{text}"
    );
    assert!(output.stderr.is_empty());
    let json = run(
        folder.path(),
        &["view", "f.stl", "-r", "6", "--slice", "z=0", "--json"],
    );
    let answer: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(answer["text"], text.as_str());
    assert_eq!(
        (&answer["command"], &answer["exit_code"]),
        (&"view".into(), &0.into())
    );
}

#[test]
fn json_names_the_written_files() {
    let folder = folder();
    let output = run(
        folder.path(),
        &["view", "f.stl", "-r", "12", "--size", "80x60", "--json"],
    );
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(output.stderr.is_empty());
    assert_eq!(
        answer["picture"],
        serde_json::json!({"shows": "cells", "size": [80, 60]})
    );
    assert_eq!(answer["outputs"][0]["path"], "f.png");
    let bytes = std::fs::metadata(folder.path().join("f.png"))
        .unwrap()
        .len();
    assert_eq!(answer["outputs"][0]["bytes"], bytes);
    assert!(
        answer["grid"]["dims"].is_array() && answer["counts"]["occupied"].as_u64() > Some(10),
        "{answer}"
    );
}

#[test]
fn wrong_questions_are_refused_before_anything_is_written() {
    let folder = folder();
    run(folder.path(), &["f.stl", "-r", "4", "-o", "f.npz", "-q"]);
    std::fs::write(folder.path().join("not.vox"), "no voxels").unwrap();
    let mut seen = 0;
    for (args, code) in [
        (&["f.stl", "-o", "f.jpg"][..], 2),
        (&["f.npz", "-r", "8"], 2),
        (&["f.stl", "--mesh", "--pad", "1"], 2),
        (&["f.stl", "--slice", "z", "--from", "top"], 2),
        (&["f.stl", "--sheet", "z", "--no-axes"], 2),
        (&["f.stl", "--slice", "z=999"], 2),
        (&["f.stl", "--slice", "w"], 2),
        (&["f.stl", "--size", "0x9"], 2),
        (&["f.stl", "--size", "9x99999"], 2),
        (&["f.stl", "--size", "99"], 2),
        (&["f.stl", "--from", "above"], 2),
        (&["f.stl", "--from", "0,91"], 2),
        (&["f.stl", "--background", "beige"], 2),
        (&["f.stl", "-o", "-", "--json"], 2),
        (&["f.stl", "--size", "6000x4000", "--max-memory", "40M"], 5),
        (
            &["f.stl", "-r", "999", "--size", "9x9", "--max-memory", "16M"],
            5,
        ),
        (&["p.png"], 3),
        (&["-"], 2),
        (&["f.npz", "--mesh"], 3),
        (&["none.stl"], 3),
        (&["not.vox"], 3),
        (&["f.stl", "-o", "none/f.png"], 6),
    ] {
        let output = run(folder.path(), &[&["view"], args].concat());
        assert_eq!(
            output.status.code(),
            Some(code),
            "{args:?} {}",
            error(&output)
        );
        let message = error(&output);
        assert!(
            message.starts_with("error") && message.contains("\nhint: "),
            "{args:?} {message}"
        );
        seen += 1;
    }
    assert!(seen > 15);
    assert_eq!(names(folder.path()), ["f.npz", "f.stl", "not.vox"]);
}

#[test]
fn a_difference_is_drawn() {
    let folder = folder();
    let prism = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/prism.stl");
    for (name, ties) in [("a.npz", "up"), ("b.npz", "both")] {
        run(
            folder.path(),
            &[
                prism,
                "--voxel-size",
                "2",
                "--pad",
                "1",
                "--ties",
                ties,
                "-o",
                name,
                "-q",
            ],
        );
    }
    let output = run(
        folder.path(),
        &["diff", "a.npz", "b.npz", "-o", "d.png", "-q"],
    );
    assert_eq!(output.status.code(), Some(1), "{}", error(&output));
    let png = std::fs::read(folder.path().join("d.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG"));
}

/// Returns the pixels of a picture of one bit per pixel as text.
fn pixels(path: &std::path::Path) -> String {
    let file = std::fs::File::open(path).unwrap();
    let mut decoder = png::Decoder::new(std::io::BufReader::new(file));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    // One bit per pixel, for printers.
    assert_eq!(
        reader.info().color_type,
        png::ColorType::Grayscale,
        "{path:?}"
    );
    assert_eq!(reader.info().bit_depth, png::BitDepth::One, "{path:?}");
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    let letter = |pixel: &u8| match pixel {
        255 => '#',
        0 => '.',
        other => panic!("{other:?}"),
    };
    let row = |row: &[u8]| row.iter().map(letter).collect::<String>() + "\n";
    bytes
        .chunks(info.width as usize)
        .map(row)
        .collect::<String>()
}

#[test]
fn all_layers_are_pictures_of_a_pixel_a_cell() {
    let folder = folder();
    let all = |args: &[&str], code: i32| {
        let output = run(folder.path(), args);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{args:?} {}",
            error(&output)
        );
        output
    };
    all(
        &[
            "f.stl",
            "--voxel-size",
            "1",
            "--filled",
            "-o",
            "f.npz",
            "-q",
        ],
        0,
    );
    let text = |layer: &str| {
        String::from_utf8(all(&["view", "f.npz", "--slice", layer], 0).stdout).unwrap()
    };
    let mut seen = 0;
    for axis in ["x", "y", "z"] {
        let output = all(
            &[
                "view",
                "f.npz",
                "--slice",
                &format!("{axis}=all"),
                "-o",
                &format!("{axis}/"),
            ],
            0,
        );
        assert!(error(&output).contains("layers in"), "{}", error(&output));
        for name in names(&folder.path().join(axis)) {
            let index: usize = name[1..name.len() - 4].parse().unwrap();
            assert_eq!(
                pixels(&folder.path().join(format!("{axis}/{name}"))),
                text(&format!("{axis}={index}")),
                "{name}"
            );
            seen += 1;
        }
    }
    assert!(seen > 10, "{seen}");
    all(
        &[
            "view", "f.npz", "--slice", "z=1", "--size", "cells", "-o", "one.png",
        ],
        0,
    );
    assert_eq!(pixels(&folder.path().join("one.png")), text("z=1"));
    // In the middle of a plate.
    all(
        &[
            "view", "f.npz", "--slice", "z=all", "--size", "9x12", "-o", "plate/",
        ],
        0,
    );
    let empty = ".".repeat(9) + "\n";
    let middle: String = text("z=1")
        .lines()
        .map(|line| format!("..{line}..\n"))
        .collect();
    assert_eq!(
        pixels(&folder.path().join("plate/z1.png")),
        empty.repeat(2) + &middle + &empty.repeat(3)
    );
    let small = all(
        &[
            "view", "f.npz", "--slice", "z=all", "--size", "4x12", "-o", "small/",
        ],
        2,
    );
    assert!(
        error(&small).contains("does not fit on a plate of 4 × 12 pixels"),
        "{}",
        error(&small)
    );
    assert!(!folder.path().join("small").exists());
    for args in [
        &["view", "f.npz", "--slice", "z=all"][..],
        &["view", "f.npz", "--slice", "z=all", "-o", "a.png"],
        &["view", "f.npz", "--slice", "z=all", "-o", "z/", "--caption"],
        &["view", "f.npz", "--size", "cells"],
        &["view", "f.npz", "--slice", "z=none"],
    ] {
        all(args, 2);
    }
}

#[test]
fn a_caption_makes_a_picture_higher_and_changes_no_more() {
    let folder = folder();
    let png = |args: &[&str]| {
        let output = run(
            folder.path(),
            &[&["view", "f.stl", "-r", "12", "--size", "320x200"], args].concat(),
        );
        assert!(output.status.success(), "{}", error(&output));
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        answer["picture"]["size"].clone()
    };
    assert_eq!(png(&["--json"]), serde_json::json!([320, 200]));
    assert_eq!(png(&["--json", "--caption"]), serde_json::json!([320, 217]));
    assert_eq!(
        png(&["--json", "--caption", "--perspective"]),
        serde_json::json!([320, 217])
    );
}

/// The part around a leak.
#[test]
fn cells_around_others_are_a_veil() {
    let folder = folder();
    let all = |args: &[&str], code: i32| {
        let output = run(folder.path(), args);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{args:?} {}",
            error(&output)
        );
        output
    };
    all(
        &["f.stl", "-r", "40", "--filled", "-o", "part.npz", "-q"],
        0,
    );
    all(&["f.stl", "-r", "12", "-o", "coarse.npz", "-q"], 0);
    // One cell of the part.
    let mut bits = voxelize::BitGrid::new(
        voxelize::Voxels::open(folder.path().join("part.npz"))
            .unwrap()
            .cells
            .as_ref()
            .dims(),
    )
    .unwrap();
    bits.set([1, 1, 1]);
    let part = voxelize::Voxels::open(folder.path().join("part.npz")).unwrap();
    let one = voxelize::Voxels {
        cells: bits.into(),
        lattice: part.lattice.clone(),
        record: Default::default(),
    };
    one.save(folder.path().join("one.npz")).unwrap();
    all(
        &[
            "view", "one.npz", "--veil", "part.npz", "--size", "300x300", "-o", "veil.png", "-q",
        ],
        0,
    );
    let file = std::fs::File::open(folder.path().join("veil.png")).unwrap();
    let mut reader = png::Decoder::new(std::io::BufReader::new(file))
        .read_info()
        .unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut bytes).unwrap();
    let count = |is: fn(i32, i32, i32) -> bool| {
        let is = |p: &&[u8]| p[3] == 255 && is(p[0].into(), p[1].into(), p[2].into());
        bytes.chunks(4).filter(is).count()
    };
    // The cell is orange, the part grey, and a dark ring surrounds the cell.
    assert!(count(|r, _, b| r > b + 40) > 20, "no cell");
    assert!(
        count(|r, g, b| (r - g).abs() < 6 && (g - b).abs() < 6 && r > 90) > 10_000,
        "no part"
    );
    assert!(count(|r, _, b| r < 40 && b < 50) > 40, "no ring");
    for (args, expected) in [
        (
            &["view", "one.npz", "--veil", "coarse.npz"][..],
            "its grid is not that of one.npz",
        ),
        (
            &["view", "one.npz", "--veil", "part.npz", "--slice", "z"],
            "--slice",
        ),
    ] {
        let output = all(args, 2);
        assert!(error(&output).contains(expected), "{}", error(&output));
    }
    all(&["view", "one.npz", "--veil", "missing.npz"], 3);
    assert!(!folder.path().join("one.png").exists());
}

#[test]
fn mismatching_layers_of_a_run_are_reported() {
    let folder = folder();
    let layers = |res: &str, more: &[&str]| {
        let line = [
            "view", "f.stl", "-r", res, "--solid", "--slice", "z=all", "-o", "layers/",
        ];
        let output = run(folder.path(), &[&line[..], more].concat());
        assert!(output.status.success(), "{}", error(&output));
        error(&output)
    };
    assert!(!layers("12", &[]).contains("of another run"));
    let all = names(&folder.path().join("layers")).len();
    let again = layers("6", &[]);
    let left = names(&folder.path().join("layers")).len();
    assert!(
        all > 3 && left > 3 && again.contains("are from another run"),
        "{again}"
    );
    assert!(!again.contains("W019"), "{again}");
    let save = run(
        folder.path(),
        &["f.stl", "-r", "6", "--up", "y", "--solid", "-o", "f.npz"],
    );
    assert!(save.status.success());
    let lying = run(
        folder.path(),
        &["view", "f.npz", "--slice", "z=all", "-o", "lying/"],
    );
    assert!(
        error(&lying).contains("warning[W019]: printers take z as up; in this grid y is up"),
        "{}",
        error(&lying)
    );
    // A mesh that is voxelized for the picture is hollow by the default rule.
    let hollow = run(
        folder.path(),
        &[
            "view", "f.stl", "-r", "9", "--slice", "z=all", "-o", "hollow/",
        ],
    );
    assert!(
        error(&hollow).contains("; hollow; --filled or --solid fills it"),
        "{}",
        error(&hollow)
    );
}
