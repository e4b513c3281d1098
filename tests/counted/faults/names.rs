//! Is a file ever lost to a name? Every way to name a file twice, however it is spelt: the command refuses, and every
//! file has the bytes it had.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;

use super::disk;
use crate::support::place::Place;
use crate::support::suite::Counts;

/// One way to name a file twice.
struct Collision {
    what: &'static str,
    /// Links and lists that it needs.
    prepare: fn(&Place),
    line: &'static str,
    code: i32,
}

const fn collision(what: &'static str, prepare: fn(&Place), line: &'static str, code: i32) -> Collision {
    Collision { what, prepare, line, code }
}

const NOTHING: fn(&Place) = |_| ();

const COLLISIONS: &[Collision] = &[
    collision("info and the sidecar it reads", NOTHING, "info part.raw --json=part.raw.json", 2),
    collision("diff and a sidecar", NOTHING, "diff part.npz part.raw --json=part.raw.json", 2),
    collision("view and a sidecar", NOTHING, "view part.raw --slice z --json=part.raw.json", 2),
    collision("the grid of --like", NOTHING, "cube.stl --like part.npz -o new.npz --json=part.npz", 2),
    collision("its sidecar", NOTHING, "cube.stl --like part.raw -o new.npz --json=part.raw.json", 2),
    collision(
        "the same of many",
        NOTHING,
        "cube.stl thirds.stl --like part.raw -o out/ --json=part.raw.json",
        2,
    ),
    collision("verify and a sidecar", NOTHING, "verify part.raw cube.stl --json=part.raw.json", 2),
    collision("--junit and a sidecar", NOTHING, "verify part.raw cube.stl --junit part.raw.json", 2),
    collision("the grid of a case's --like", list, "verify list.toml --junit part.npz", 2),
    collision("--pictures and the golden that is compared", pictured, "verify list.toml --pictures cells", 2),
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

/// A list with a case whose grid is that of a file.
fn list(place: &Place) {
    place.run("verify --update list.toml cube.stl --like part.npz").expect(0);
}

fn golden_of(place: &Place, golden: &str) {
    let list = format!("[[case]]\nmesh = \"cube.stl\"\noptions = \"-r 4\"\ngolden = \"{golden}\"\n");
    place.write("list.toml", list);
}

/// A golden called as the picture of its case would be, of other cells.
fn pictured(place: &Place) {
    fs::create_dir(place.path("cells")).unwrap();
    place.run("cube.stl -r 4 --solid -o cells/cube.stl-r-4.vox").expect(0);
    golden_of(place, "cells/cube.stl-r-4.vox");
}

pub fn no_file_is_lost_to_a_name() -> Counts {
    let (mut refused, mut kept) = (0, 0);
    let mut wrong = vec![];
    for Collision { what, prepare, line, code } in COLLISIONS {
        let place = Place::new();
        place.run("cube.stl -r 4 -o part.npz").expect(0);
        place.run("cube.stl -r 4 -o part.raw").expect(0);
        place.write("notes.npz", "notes, not voxels");
        prepare(&place);
        let before = contents(&place);
        let run = place.run(line);
        let after = contents(&place);
        let lost = before.iter().filter(|(name, bytes)| after.get(*name) != Some(bytes)).count();
        if run.code != Some(*code) || lost > 0 || after.len() > before.len() {
            wrong.push(format!("{what}: exit code {:?}, {lost} files changed\n{}", run.code, run.err));
        }
        (refused, kept) = (refused + 1, kept + before.len() as u64);
    }
    assert!(wrong.is_empty(), "{} of {} are wrong:\n{}", wrong.len(), COLLISIONS.len(), wrong.join("\n"));
    vec![("ways to name a file twice, all refused", refused), ("files unchanged", kept)]
}

/// The bytes of every file there is, links followed.
fn contents(place: &Place) -> BTreeMap<String, Vec<u8>> {
    let read = |name: String| fs::read(place.path(&name)).ok().map(|bytes| (name, bytes));
    disk::files(place).into_iter().filter_map(read).collect()
}
