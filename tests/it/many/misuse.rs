//! Misuse is rejected before anything runs, with a valid alternative.

use std::fs;

use super::{below, scans};
use crate::support::place::{refused, stl};

#[test]
fn misuse_is_refused_with_a_hint() {
    let place = scans();
    place.write("b.stl", stl(&[]));
    place.write("b.STL", stl(&[]));
    place.write("empty.txt", "\n\n");
    place.write("nul.txt", "cube.stl\0thirds.stl\0");
    place.write("list.vox", "list.stl\n");
    place.write("list.stl", stl(&[]));
    place.write("here.vox", fs::read(place.path("cube.stl")).unwrap());
    let before = below(&place, "");
    let cases = [
        ("cube.stl thirds.stl", 2),
        ("scans -o all.npz", 2),
        ("scans", 2),
        ("scans -o scans.npz", 2),
        ("--files-from list.txt", 2),
        ("cube.stl new.vox", 2),
        ("cube.stl cube.stl -o out/", 2),
        ("b.stl b.STL -o out/", 2),
        ("scans/b.stl scans -o out/", 2),
        ("b.stl ./b.stl -o out/", 2),
        ("- cube.stl -o out/", 2),
        ("- -o out/", 2),
        ("- --files-from - -o out/", 2),
        ("cube.stl -0", 2),
        ("--files-from", 2),
        ("--files-from missing.txt -o out/", 3),
        ("--files-from scans -o out/", 3),
        ("--files-from empty.txt -o out/", 3),
        ("--files-from nul.txt -o out/", 3),
        ("--files-from list.vox -o .", 2),
        ("here.vox cube.stl -o .", 2),
        ("cube.stl thirds.stl -o out/ --json=cube.stl", 2),
        ("cube.stl thirds.stl -o out/ --json=out/cube.vox", 2),
        (
            "cube.stl thirds.stl -f raw -o out/ --json=out/cube.raw.json",
            2,
        ),
        ("cube.stl thirds.stl -o cube.stl/", 6),
        ("cube.stl thirds.stl -o cube.stl/out/", 6),
        ("cube.stl thirds.stl -o out/ --dtype bit", 2),
        ("cube.stl thirds.stl -o out/ -r 3 --dims 1,2,3", 2),
        ("cube.stl thirds.stl -o out/ --same-grid --like a.npz", 2),
        ("cube.stl thirds.stl -o out/ --same-grid -r 999999999", 5),
        ("cube.stl -o - -f raw --skip-existing", 2),
        ("verfy goldens.toml", 2),
    ];
    let mut seen = 0;
    for (line, code) in cases {
        refused(&place, line, code);
        assert_eq!(below(&place, ""), before, "voxelize {line}");
        assert!(!place.path("out").exists(), "voxelize {line}");
        seen += 1;
    }
    assert!(seen > 0);
}

#[test]
fn hints_name_an_alternative() {
    let place = scans();
    for (line, hint) in [
        ("scans -o all.npz", "-o all/"),
        ("cube.stl new.vox", "-o new.vox"),
        ("verfy goldens.toml", "voxelize verify"),
    ] {
        assert!(place.run(line).line("hint:").contains(hint), "{line}");
    }
}
