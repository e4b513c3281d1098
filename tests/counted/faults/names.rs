//! No file is ever lost to a name conflict. For every way to name a file twice and every spelling, the
//! command refuses, and every file keeps its bytes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;

use super::disk;
use crate::support::place::{Place, cuboid, stl};
use crate::support::suite::Counts;

/// Ways to name a file twice: the exit code and the line.
const COLLISIONS: &str = "\
2 info part.raw --json=part.raw.json
2 diff part.npz part.raw --json=part.raw.json
2 view part.raw --slice z --json=part.raw.json
2 cube.stl --like part.npz -o new.npz --json=part.npz
2 cube.stl --like part.raw -o new.npz --json=part.raw.json
2 cube.stl thirds.stl --like part.raw -o out/ --json=part.raw.json
2 verify part.raw cube.stl --json=part.raw.json
2 verify part.raw cube.stl --junit part.raw.json
";

/// Function that creates the files of a case.
type Preparation = fn(&Place);

/// Ways to name a file twice that need links, lists or goldens.
const PREPARED: &[(Preparation, &str)] = &[
    // The grid of a case's `--like`.
    (list, "2 verify list.toml --junit part.npz"),
    // The golden that is compared.
    (pictured, "2 verify list.toml --pictures cells"),
    // Two outputs that are one file, which exists or does not.
    (
        |place| linked_outputs(place, "../part.npz"),
        "2 cube.stl thirds.stl -r 4 -f npz -o out/",
    ),
    (
        |place| linked_outputs(place, "../new.npz"),
        "2 cube.stl thirds.stl -r 4 -f npz -o out/",
    ),
    // A dangling link, a hard link, a linked folder.
    (
        |place| symlink("b.vox", place.path("l.vox")).unwrap(),
        "2 cube.stl -r 4 -o b.vox --json=l.vox",
    ),
    (
        |place| fs::hard_link(place.path("cube.stl"), place.path("hard.json")).unwrap(),
        "2 cube.stl -r 4 -o b.vox --json=hard.json",
    ),
    (
        |place| symlink(".", place.path("here")).unwrap(),
        "2 cube.stl -r 4 -o new.vox --json=here/new.vox",
    ),
    // A golden in place of a file that is none.
    (
        |place| place.write("list.toml", case_of("notes.npz")),
        "6 verify --update list.toml",
    ),
    // A golden outside of the folder of its list, also through a link.
    (
        |place| list_in_folder(place, "../part.npz"),
        "3 verify --update lists/list.toml",
    ),
    (
        |place| {
            list_in_folder(place, "in.npz");
            symlink("../part.npz", place.path("lists/in.npz")).unwrap();
        },
        "3 verify --update lists/list.toml",
    ),
];

/// Creates a folder of outputs that are links to one file.
fn linked_outputs(place: &Place, to: &str) {
    fs::create_dir(place.path("out")).unwrap();
    for name in ["cube", "thirds"] {
        symlink(to, place.path(&format!("out/{name}.npz"))).unwrap();
    }
}

/// Creates a folder with a mesh and a list.
fn list_in_folder(place: &Place, golden: &str) {
    fs::create_dir(place.path("lists")).unwrap();
    place.write("lists/list.toml", case_of(golden));
    fs::copy(place.path("cube.stl"), place.path("lists/cube.stl")).unwrap();
}

/// Creates a list with a case on the grid of a file.
fn list(place: &Place) {
    place
        .run("verify --update list.toml cube.stl --like part.npz")
        .expect(0);
}

/// Returns a case of a list with this golden.
fn case_of(golden: &str) -> String {
    format!("[[case]]\nmesh = \"cube.stl\"\noptions = \"-r 4\"\ngolden = \"{golden}\"\n")
}

/// Returns a folder with the grids of the cube.
fn place_with_grids() -> Place {
    let place = Place::new();
    place.run("cube.stl -r 4 -o part.npz").expect(0);
    place.run("cube.stl -r 4 -o part.raw").expect(0);
    place
}

/// Creates a golden with the name of the picture of its case, with other cells.
fn pictured(place: &Place) {
    fs::create_dir(place.path("cells")).unwrap();
    place
        .run("cube.stl -r 4 --solid -o cells/cube.stl-r-4.vox")
        .expect(0);
    place.write("list.toml", case_of("cells/cube.stl-r-4.vox"));
}

pub fn no_file_is_lost_to_a_name() -> Counts {
    let mut refused = 0;
    let mut kept = 0;
    let mut wrong = vec![];
    let plain = COLLISIONS
        .lines()
        .map(|row| ((|_: &Place| ()) as fn(&Place), row));
    for (prepare, row) in plain.chain(PREPARED.iter().copied()) {
        let (code, line) = row.split_once(' ').unwrap();
        let place = place_with_grids();
        place.write("notes.npz", "notes, not voxels");
        prepare(&place);
        let before = contents(&place);
        let run = place.run(line);
        let after = contents(&place);
        let lost = before
            .iter()
            .filter(|(name, bytes)| after.get(*name) != Some(bytes))
            .count();
        if run.code != code.parse().ok() || lost > 0 || after.len() > before.len() {
            let found = run.code;
            wrong.push(format!(
                "{line}: {found:?}, {lost} files changed\n{}",
                run.err
            ));
        }
        (refused, kept) = (refused + 1, kept + before.len() as u64);
    }
    assert!(
        wrong.is_empty(),
        "{} of {refused} are wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    vec![
        ("ways to name a file twice, all refused", refused),
        ("files unchanged", kept),
    ]
}

/// Every command that reads and writes files: the extension that its output needs, the line with `OUT` for the
/// output, and the files that it reads.
const OVERLAPS: &str = "\
npz | cube.stl -r 4 -f npz -o OUT | cube.stl
npz | cube.stl --like part.raw -o OUT | cube.stl
json | cube.stl -r 4 -o new.npz --json=OUT | cube.stl
json | cube.stl --like part.raw -o new.npz --json=OUT | cube.stl part.raw part.raw.json
json | cube.stl --like part.npz -o part.npz --json=OUT | cube.stl part.npz
npz | cube.stl --solid --like part.raw -o new.npz --doubt OUT | cube.stl part.raw part.raw.json
npz | cube.stl --solid --inside flood -r 4 -o new.npz --leak OUT | cube.stl
npy | cube.stl --rule distance --like part.npz -o n.npz --nearest OUT | cube.stl part.npz
json | cube.stl thirds.stl -r 4 -o out/ --json=OUT | cube.stl thirds.stl
json | --files-from meshes.txt --like part.raw -o out/ --json=OUT | cube.stl meshes.txt part.raw
npz | check cube.stl --like part.npz --mark OUT | cube.stl part.npz
stl | check cube.stl --like part.raw --mark OUT | cube.stl part.raw part.raw.json
json | check cube.stl --like part.raw --json=OUT | cube.stl part.raw part.raw.json
json | check cube.stl thirds.stl -r 4 --json=OUT | cube.stl thirds.stl
png | view cube.stl --like part.npz -o OUT | cube.stl part.npz
json | view cube.stl --like part.raw -o n.png --json=OUT | cube.stl part.raw part.raw.json
png | view part.raw --slice z -o OUT | part.raw part.raw.json
json | view part.raw --slice z=all -o layers/ --json=OUT | part.raw part.raw.json
json | view part.npz --slice z --json=OUT | part.npz
png | view cube.stl --mesh -o OUT | cube.stl
npz | diff part.npz part.raw -o OUT | part.npz part.raw part.raw.json
png | diff part.npz part.raw -o OUT | part.npz part.raw part.raw.json
json | diff part.npz part.raw --json=OUT | part.npz part.raw part.raw.json
json | info part.raw cube.stl --json=OUT | cube.stl part.raw part.raw.json
json | clearance cube.stl thirds.stl --json=OUT | cube.stl thirds.stl
xml | verify list.toml --junit OUT | list.toml cube.stl part.npz golden.npz
json | verify list.toml --json=OUT | list.toml cube.stl part.npz golden.npz
xml | verify part.raw cube.stl --junit OUT | cube.stl part.raw part.raw.json
json | verify --update list.toml --json=OUT | list.toml cube.stl part.npz golden.npz
toml | verify --update OUT cube.stl --like part.npz | cube.stl part.npz
";

/// Spellings of a file name: unchanged, through other folders, absolute, by links of both kinds.
const SPELLINGS: [fn(&Place, &str, &str) -> String; 6] = [
    |_, name, _| name.to_string(),
    |_, name, _| format!("./{name}"),
    |_, name, _| format!("sub/../{name}"),
    |place, name, _| place.path(name).display().to_string(),
    |place, name, extension| {
        let link = format!("link.{extension}");
        symlink(name, place.path(&link)).unwrap();
        link
    },
    |place, name, extension| {
        let link = format!("link.{extension}");
        fs::hard_link(place.path(name), place.path(&link)).unwrap();
        link
    },
];

/// Every command × every file that it reads × every file that it writes × every spelling.
pub fn no_output_is_an_input() -> Counts {
    let mut refused = 0;
    let mut other = 0;
    for row in OVERLAPS.lines() {
        let columns: Vec<&str> = row.split(" | ").collect();
        let [extension, line, reads] = columns[..] else {
            panic!("{row}")
        };
        let place = place_with_grids();
        place
            .run("verify --update list.toml cube.stl --like part.npz")
            .expect(0);
        let list = fs::read_to_string(place.path("list.toml")).unwrap();
        place.write("list.toml", format!("{list}\n{}", case_of("golden.npz")));
        place.run("cube.stl -r 4 -o golden.npz").expect(0);
        place.write("meshes.txt", "cube.stl\n");
        fs::create_dir(place.path("sub")).unwrap();
        let before = contents(&place);
        for name in reads.split(' ') {
            for spell in SPELLINGS {
                let out = spell(&place, name, extension);
                let run = place.run(&line.replace("OUT", &out));
                let _ = fs::remove_file(place.path(&format!("link.{extension}")));
                let after = contents(&place);
                let lost = before
                    .iter()
                    .find(|(name, bytes)| after.get(*name) != Some(bytes));
                let lost = lost.map(|(name, _)| name);
                assert_eq!(lost, None, "{line}, OUT is {out}\n{}", run.err);
                assert_ne!(run.code, Some(0), "{line}, OUT is {out}: not refused");
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
    // The file that a line writes, and the line.
    let rows = "\
cube.vox | cube.stl -r 4
cube.npz | cube.stl -r 4 -f npz
cube.raw | cube.stl -r 4 -f raw
cube.raw.json | cube.stl -r 4 -f raw
cube.npz | cube.stl -r 4 --rule distance
out/cube.vox | cube.stl -r 4 -o out/
out/thirds.npy | cube.stl thirds.stl -r 4 -f npy -o out/
out/cube.raw.json | cube.stl thirds.stl -r 4 -f raw -o out/
cube.png | view cube.stl -r 4 --size 99x99
out/z3.png | view cube.stl -r 4 --slice z=all -o out/
out/cube.stl-r-4.png | verify --pictures out list.toml
out/cube.stl-r-4.vox | verify --pictures out list.toml
golden.npz | verify --update list.toml
golden.raw | verify --update raw.toml
golden.raw.json | verify --update raw.toml";
    let arrays = (npy("<f8", [4, 4, 4], 8), npy("|u1", [64, 1, 1], 1));
    let contents: [&[u8]; 4] = [
        b"a file of the user",
        br#"{"mine": true}"#,
        &arrays.0,
        &arrays.1,
    ];
    let mut kept = 0;
    let mut replaced = 0;
    for (name, line) in rows.lines().filter_map(|row| row.split_once(" | ")) {
        let place = Place::new();
        place.write("list.toml", case_of("golden.npz"));
        place.write("raw.toml", case_of("golden.raw"));
        if line.contains("--pictures") {
            // The golden of a cube that has since lost a face, so that pictures are drawn.
            place.run("cube.stl -r 4 -o golden.npz").expect(0);
            place.write("cube.stl", stl(&cuboid([20.0; 3])[2..]));
        }
        for bytes in contents {
            fs::create_dir_all(place.path("out")).unwrap();
            place.write(name, bytes);
            let run = place.run(line).expect(6);
            let is_named = run
                .err
                .contains("nothing in it shows that voxelize wrote it");
            assert!(is_named, "{line}, {name}\n{}", run.err);
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
