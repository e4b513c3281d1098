//! No file is ever lost to a name conflict. For every way to name a file twice and every spelling, the
//! command refuses, and every file keeps its bytes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;

use super::disk;
use crate::support::place::{Place, cuboid, stl};
use crate::support::suite::Counts;

/// Way to name a file twice.
struct Collision {
    what: &'static str,
    /// Creates the links and lists it needs.
    prepare: fn(&Place),
    line: &'static str,
    code: i32,
}

const fn collision(
    what: &'static str,
    prepare: fn(&Place),
    line: &'static str,
    code: i32,
) -> Collision {
    Collision {
        what,
        prepare,
        line,
        code,
    }
}

const NOTHING: fn(&Place) = |_| ();

const COLLISIONS: &[Collision] = &[
    collision(
        "info and the sidecar it reads",
        NOTHING,
        "info part.raw --json=part.raw.json",
        2,
    ),
    collision(
        "diff and a sidecar",
        NOTHING,
        "diff part.npz part.raw --json=part.raw.json",
        2,
    ),
    collision(
        "view and a sidecar",
        NOTHING,
        "view part.raw --slice z --json=part.raw.json",
        2,
    ),
    collision(
        "the grid of --like",
        NOTHING,
        "cube.stl --like part.npz -o new.npz --json=part.npz",
        2,
    ),
    collision(
        "its sidecar",
        NOTHING,
        "cube.stl --like part.raw -o new.npz --json=part.raw.json",
        2,
    ),
    collision(
        "the same of many",
        NOTHING,
        "cube.stl thirds.stl --like part.raw -o out/ --json=part.raw.json",
        2,
    ),
    collision(
        "verify and a sidecar",
        NOTHING,
        "verify part.raw cube.stl --json=part.raw.json",
        2,
    ),
    collision(
        "--junit and a sidecar",
        NOTHING,
        "verify part.raw cube.stl --junit part.raw.json",
        2,
    ),
    collision(
        "the grid of a case's --like",
        list,
        "verify list.toml --junit part.npz",
        2,
    ),
    collision(
        "--pictures and the golden that is compared",
        pictured,
        "verify list.toml --pictures cells",
        2,
    ),
    collision(
        "two outputs, one file through links",
        |place| {
            fs::create_dir(place.path("out")).unwrap();
            for name in ["cube", "thirds"] {
                symlink("../part.npz", place.path(&format!("out/{name}.npz"))).unwrap();
            }
        },
        "cube.stl thirds.stl -r 4 -f npz -o out/",
        2,
    ),
    collision(
        "two outputs, one file that is not there yet",
        |place| {
            fs::create_dir(place.path("out")).unwrap();
            for name in ["cube", "thirds"] {
                symlink("../new.npz", place.path(&format!("out/{name}.npz"))).unwrap();
            }
        },
        "cube.stl thirds.stl -r 4 -f npz -o out/",
        2,
    ),
    collision(
        "a dangling link",
        |place| symlink("b.vox", place.path("l.vox")).unwrap(),
        "cube.stl -r 4 -o b.vox --json=l.vox",
        2,
    ),
    collision(
        "a hard link",
        |place| fs::hard_link(place.path("cube.stl"), place.path("hard.json")).unwrap(),
        "cube.stl -r 4 -o b.vox --json=hard.json",
        2,
    ),
    collision(
        "a linked folder",
        |place| symlink(".", place.path("here")).unwrap(),
        "cube.stl -r 4 -o new.vox --json=here/new.vox",
        2,
    ),
    collision(
        "a golden in place of a file that is none",
        |place| {
            golden_of(place, "notes.npz");
        },
        "verify --update list.toml",
        6,
    ),
    collision(
        "a golden outside of the folder of its list",
        |place| {
            fs::create_dir(place.path("lists")).unwrap();
            place.write(
                "lists/list.toml",
                "[[case]]\nmesh = \"cube.stl\"\noptions = \"-r 4\"\ngolden = \"../part.npz\"\n",
            );
            fs::copy(place.path("cube.stl"), place.path("lists/cube.stl")).unwrap();
        },
        "verify --update lists/list.toml",
        3,
    ),
    collision(
        "the same through a link",
        |place| {
            fs::create_dir(place.path("lists")).unwrap();
            place.write(
                "lists/list.toml",
                "[[case]]\nmesh = \"cube.stl\"\noptions = \"-r 4\"\ngolden = \"in.npz\"\n",
            );
            symlink("../part.npz", place.path("lists/in.npz")).unwrap();
            fs::copy(place.path("cube.stl"), place.path("lists/cube.stl")).unwrap();
        },
        "verify --update lists/list.toml",
        3,
    ),
];

/// Creates a list with a case on the grid of a file.
fn list(place: &Place) {
    place
        .run("verify --update list.toml cube.stl --like part.npz")
        .expect(0);
}

fn golden_of(place: &Place, golden: &str) {
    let list =
        format!("[[case]]\nmesh = \"cube.stl\"\noptions = \"-r 4\"\ngolden = \"{golden}\"\n");
    place.write("list.toml", list);
}

/// Creates a golden with the name of the picture of its case, with other cells.
fn pictured(place: &Place) {
    fs::create_dir(place.path("cells")).unwrap();
    place
        .run("cube.stl -r 4 --solid -o cells/cube.stl-r-4.vox")
        .expect(0);
    golden_of(place, "cells/cube.stl-r-4.vox");
}

pub fn no_file_is_lost_to_a_name() -> Counts {
    let mut refused = 0;
    let mut kept = 0;
    let mut wrong = vec![];
    for Collision {
        what,
        prepare,
        line,
        code,
    } in COLLISIONS
    {
        let place = Place::new();
        place.run("cube.stl -r 4 -o part.npz").expect(0);
        place.run("cube.stl -r 4 -o part.raw").expect(0);
        place.write("notes.npz", "notes, not voxels");
        prepare(&place);
        let before = contents(&place);
        let run = place.run(line);
        let after = contents(&place);
        let lost = before
            .iter()
            .filter(|(name, bytes)| after.get(*name) != Some(bytes))
            .count();
        if run.code != Some(*code) || lost > 0 || after.len() > before.len() {
            wrong.push(format!(
                "{what}: exit code {:?}, {lost} files changed\n{}",
                run.code, run.err
            ));
        }
        (refused, kept) = (refused + 1, kept + before.len() as u64);
    }
    assert!(
        wrong.is_empty(),
        "{} of {} are wrong:\n{}",
        wrong.len(),
        COLLISIONS.len(),
        wrong.join("\n")
    );
    vec![
        ("ways to name a file twice, all refused", refused),
        ("files unchanged", kept),
    ]
}

/// Command with `OUT` for a file that it writes, the files that it reads, and the extension that the output
/// needs.
struct Overlap {
    line: &'static str,
    reads: &'static [&'static str],
    extension: &'static str,
}

const fn overlap(
    line: &'static str,
    reads: &'static [&'static str],
    extension: &'static str,
) -> Overlap {
    Overlap {
        line,
        reads,
        extension,
    }
}

const RAW: [&str; 2] = ["part.raw", "part.raw.json"];

const OVERLAPS: &[Overlap] = &[
    overlap("cube.stl -r 4 -f npz -o OUT", &["cube.stl"], "npz"),
    overlap("cube.stl --like part.raw -o OUT", &["cube.stl"], "npz"),
    overlap("cube.stl -r 4 -o new.npz --json=OUT", &["cube.stl"], "json"),
    overlap(
        "cube.stl --like part.raw -o new.npz --json=OUT",
        &["cube.stl", RAW[0], RAW[1]],
        "json",
    ),
    overlap(
        "cube.stl --like part.npz -o part.npz --json=OUT",
        &["cube.stl", "part.npz"],
        "json",
    ),
    overlap(
        "cube.stl --solid --like part.raw -o new.npz --doubt OUT",
        &["cube.stl", RAW[0], RAW[1]],
        "npz",
    ),
    overlap(
        "cube.stl --solid --inside flood -r 4 -o new.npz --leak OUT",
        &["cube.stl"],
        "npz",
    ),
    overlap(
        "cube.stl --rule distance --like part.npz -o n.npz --nearest OUT",
        &["cube.stl", "part.npz"],
        "npy",
    ),
    overlap(
        "cube.stl thirds.stl -r 4 -o out/ --json=OUT",
        &["cube.stl", "thirds.stl"],
        "json",
    ),
    overlap(
        "--files-from meshes.txt --like part.raw -o out/ --json=OUT",
        &["cube.stl", "meshes.txt", RAW[0]],
        "json",
    ),
    overlap(
        "check cube.stl --like part.npz --mark OUT",
        &["cube.stl", "part.npz"],
        "npz",
    ),
    overlap(
        "check cube.stl --like part.raw --mark OUT",
        &["cube.stl", RAW[0], RAW[1]],
        "stl",
    ),
    overlap(
        "check cube.stl --like part.raw --json=OUT",
        &["cube.stl", RAW[0], RAW[1]],
        "json",
    ),
    overlap(
        "check cube.stl thirds.stl -r 4 --json=OUT",
        &["cube.stl", "thirds.stl"],
        "json",
    ),
    overlap(
        "view cube.stl --like part.npz -o OUT",
        &["cube.stl", "part.npz"],
        "png",
    ),
    overlap(
        "view cube.stl --like part.raw -o n.png --json=OUT",
        &["cube.stl", RAW[0], RAW[1]],
        "json",
    ),
    overlap("view part.raw --slice z -o OUT", &RAW, "png"),
    overlap(
        "view part.raw --slice z=all -o layers/ --json=OUT",
        &RAW,
        "json",
    ),
    overlap("view part.npz --slice z --json=OUT", &["part.npz"], "json"),
    overlap("view cube.stl --mesh -o OUT", &["cube.stl"], "png"),
    overlap(
        "diff part.npz part.raw -o OUT",
        &["part.npz", RAW[0], RAW[1]],
        "npz",
    ),
    overlap(
        "diff part.npz part.raw -o OUT",
        &["part.npz", RAW[0], RAW[1]],
        "png",
    ),
    overlap(
        "diff part.npz part.raw --json=OUT",
        &["part.npz", RAW[0], RAW[1]],
        "json",
    ),
    overlap(
        "info part.raw cube.stl --json=OUT",
        &["cube.stl", RAW[0], RAW[1]],
        "json",
    ),
    overlap(
        "clearance cube.stl thirds.stl --json=OUT",
        &["cube.stl", "thirds.stl"],
        "json",
    ),
    overlap(
        "verify list.toml --junit OUT",
        &["list.toml", "cube.stl", "part.npz", "golden.npz"],
        "xml",
    ),
    overlap(
        "verify list.toml --json=OUT",
        &["list.toml", "cube.stl", "part.npz", "golden.npz"],
        "json",
    ),
    overlap(
        "verify part.raw cube.stl --junit OUT",
        &["cube.stl", RAW[0], RAW[1]],
        "xml",
    ),
    overlap(
        "verify --update list.toml --json=OUT",
        &["list.toml", "cube.stl", "part.npz", "golden.npz"],
        "json",
    ),
    overlap(
        "verify --update OUT cube.stl --like part.npz",
        &["cube.stl", "part.npz"],
        "toml",
    ),
];

/// Spellings of a file name: unchanged, through other folders, absolute, by links of both kinds.
const SPELLINGS: [fn(&Place, &str, &str) -> String; 6] = [
    |_, name, _| name.to_string(),
    |_, name, _| format!("./{name}"),
    |_, name, _| format!("sub/../{name}"),
    |place, name, _| place.path(name).display().to_string(),
    |place, name, extension| linked(place, extension, |link| symlink(name, link)),
    |place, name, extension| {
        linked(place, extension, |link| {
            fs::hard_link(place.path(name), link)
        })
    },
];

fn linked(
    place: &Place,
    extension: &str,
    link: impl Fn(&std::path::Path) -> std::io::Result<()>,
) -> String {
    let name = format!("link.{extension}");
    link(&place.path(&name)).unwrap();
    name
}

/// Every command × every file that it reads × every file that it writes × every spelling.
pub fn no_output_is_an_input() -> Counts {
    let mut refused = 0;
    let mut other = 0;
    for Overlap {
        line,
        reads,
        extension,
    } in OVERLAPS
    {
        let place = Place::new();
        place.run("cube.stl -r 4 -o part.npz").expect(0);
        place.run("cube.stl -r 4 -o part.raw").expect(0);
        place
            .run("verify --update list.toml cube.stl --like part.npz")
            .expect(0);
        let case = "[[case]]\nmesh = \"cube.stl\"\noptions = \"-r 4\"\ngolden = \"golden.npz\"\n";
        let list = fs::read_to_string(place.path("list.toml")).unwrap();
        place.write("list.toml", format!("{list}\n{case}"));
        place.run("cube.stl -r 4 -o golden.npz").expect(0);
        place.write("meshes.txt", "cube.stl\n");
        fs::create_dir(place.path("sub")).unwrap();
        let before = contents(&place);
        for name in *reads {
            for spell in SPELLINGS {
                let out = spell(&place, name, extension);
                let run = place.run(&line.replace("OUT", &out));
                if fs::symlink_metadata(place.path(&format!("link.{extension}"))).is_ok() {
                    fs::remove_file(place.path(&format!("link.{extension}"))).unwrap();
                }
                let after = contents(&place);
                for (name, bytes) in &before {
                    assert_eq!(
                        after.get(name),
                        Some(bytes),
                        "{line}, OUT is {out}: {name} is lost\n{}",
                        run.err
                    );
                }
                assert_ne!(
                    run.code,
                    Some(0),
                    "{line}, OUT is {out}: nothing was refused"
                );
                if run.err.contains("would be overwritten") {
                    refused += 1
                } else {
                    other += 1
                }
            }
        }
    }
    // A name without the extension that the option requires is refused for that reason.
    assert!(
        refused > 4 * other,
        "{refused} refused for the file, {other} for another reason"
    );
    vec![("outputs that were inputs, all refused", refused + other)]
}

/// Names that no option gives: a file of the user is kept, a file of this tool is replaced.
pub fn no_implied_name_replaces_a_file_of_others() -> Counts {
    // Command line, the file that it would write, and a flag for whether the line creates it if nothing
    // exists.
    let lines = [
        ("cube.stl -r 4", "cube.vox"),
        ("cube.stl -r 4 -f npz", "cube.npz"),
        ("cube.stl -r 4 -f raw", "cube.raw"),
        ("cube.stl -r 4 -f raw", "cube.raw.json"),
        ("cube.stl -r 4 --rule distance", "cube.npz"),
        ("cube.stl -r 4 -o out/", "out/cube.vox"),
        ("cube.stl thirds.stl -r 4 -f npy -o out/", "out/thirds.npy"),
        (
            "cube.stl thirds.stl -r 4 -f raw -o out/",
            "out/cube.raw.json",
        ),
        ("view cube.stl -r 4 --size 99x99", "cube.png"),
        ("view cube.stl -r 4 --slice z=all -o out/", "out/z3.png"),
        ("verify --pictures out list.toml", "out/cube.stl-r-4.png"),
        ("verify --pictures out list.toml", "out/cube.stl-r-4.vox"),
        ("verify --update list.toml", "golden.npz"),
        ("verify --update raw.toml", "golden.raw"),
        ("verify --update raw.toml", "golden.raw.json"),
    ];
    let arrays = (npy("<f8", [4, 4, 4], 8), npy("|u1", [64, 1, 1], 1));
    let contents: [&[u8]; 4] = [
        b"a file of the user",
        br#"{"mine": true}"#,
        &arrays.0,
        &arrays.1,
    ];
    let mut kept = 0;
    let mut replaced = 0;
    for (line, name) in lines {
        let place = Place::new();
        for (list, golden) in [("list.toml", "golden.npz"), ("raw.toml", "golden.raw")] {
            let case = format!(
                "[[case]]\nmesh = \"cube.stl\"\noptions = \"-r 4\"\ngolden = \"{golden}\"\n"
            );
            place.write(list, case);
        }
        if line.contains("--pictures") {
            // The golden of a cube that has since lost a face, so that pictures are drawn.
            place.run("cube.stl -r 4 -o golden.npz").expect(0);
            place.write("cube.stl", stl(&cuboid([20.0; 3])[2..]));
        }
        for bytes in contents {
            fs::create_dir_all(place.path("out")).unwrap();
            place.write(name, bytes);
            let run = place.run(line).expect(6);
            assert!(
                run.err.contains("has no record that this tool made it"),
                "{line}, {name}\n{}",
                run.err
            );
            assert_eq!(fs::read(place.path(name)).unwrap(), bytes, "{line}: {name}");
            kept += 1;
        }
        fs::remove_file(place.path(name)).unwrap();
        let code = i32::from(line.contains("--pictures"));
        for _ in 0..2 {
            place.run(line).expect(code);
            assert!(place.path(name).exists(), "{line} does not write {name}");
            replaced += 1;
        }
    }
    vec![
        ("files of the user kept", kept),
        ("files of this tool made or replaced", replaced),
    ]
}

/// Returns an array of this type in C order, all zeros.
fn npy(descr: &str, [x, y, z]: [usize; 3], size: usize) -> Vec<u8> {
    let header =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({x}, {y}, {z}), }}");
    let header = format!("{header:<117}\n");
    [
        b"\x93NUMPY\x01\x00v\x00",
        header.as_bytes(),
        &vec![0; x * y * z * size],
    ]
    .concat()
}

/// Returns the bytes of all files. Links are followed.
fn contents(place: &Place) -> BTreeMap<String, Vec<u8>> {
    let read = |name: String| fs::read(place.path(&name)).ok().map(|bytes| (name, bytes));
    disk::files(place).into_iter().filter_map(read).collect()
}
