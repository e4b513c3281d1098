//! What makes no sense is refused before anything runs, with what is possible instead.

use std::fs;

use super::place::{refused, stl};
use super::{below, scans};

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
        ("cube.stl thirds.stl", 2, "2 meshes make a file each, in a folder that is not named"),
        ("cube.stl thirds.stl -o all.npz", 2, "-o all.npz: 2 meshes make a file each, and this is no folder"),
        ("cube.stl thirds.stl -o - -f npy", 2, "-o -: 2 meshes"),
        ("scans", 2, "scans is a folder; its meshes make a file each"),
        ("scans -o scans.npz", 2, "-o scans.npz: scans is a folder"),
        ("--files-from list.txt", 2, "a list of meshes makes a file each"),
        ("cube.stl new.vox", 2, "2 meshes make a file each"),
        ("cube.stl cube.stl -o out/", 2, "cube.stl: is there twice"),
        ("b.stl b.STL -o out/", 2, "b.stl and b.STL would both be written to out/b.vox"),
        ("scans/b.stl scans -o out/", 2, "scans/b.stl: is there twice"),
        ("b.stl ./b.stl -o out/", 2, "b.stl and ./b.stl would both be written to out/b.vox"),
        ("- cube.stl -o out/", 2, "-: standard input has no name"),
        ("- -o out/", 2, "-: standard input"),
        ("- --files-from - -o out/", 2, "standard input is the list"),
        ("cube.stl -0", 2, "-0 needs --files-from"),
        ("--files-from", 2, "--files-from needs a value"),
        ("--files-from missing.txt -o out/", 3, "missing.txt: no such file"),
        ("--files-from scans -o out/", 3, "scans: is a folder"),
        ("--files-from empty.txt -o out/", 3, "empty.txt: names no mesh"),
        ("--files-from nul.txt -o out/", 3, "nul.txt: a NUL byte"),
        ("--files-from list.vox -o .", 2, "is the list of meshes, and would be overwritten"),
        ("here.vox cube.stl -o .", 2, "here.vox: is a mesh of this run, and would be overwritten"),
        ("cube.stl thirds.stl -o out/ --json=cube.stl", 2, "cube.stl: is a mesh of this run"),
        ("cube.stl thirds.stl -o out/ --json=out/cube.vox", 2, "is an output"),
        ("cube.stl thirds.stl -f raw -o out/ --json=out/cube.raw.json", 2, "is the sidecar of an output"),
        ("cube.stl thirds.stl -o cube.stl/", 6, "cube.stl/: is no folder"),
        ("cube.stl thirds.stl -o cube.stl/out/", 6, "cube.stl/out/: is no folder"),
        ("cube.stl thirds.stl -o out/ --dtype bit", 2, "--dtype bit"),
        ("cube.stl thirds.stl -o out/ -r 3 --dims 1,2,3", 2, "exclude each other"),
        (
            "cube.stl thirds.stl -o out/ --same-grid --like a.npz",
            2,
            "--same-grid and --like exclude each other",
        ),
        ("cube.stl thirds.stl -o out/ --same-grid -r 999999999", 5, "-r 999999999"),
        ("cube.stl -o - -f raw --skip-existing", 2, "--skip-existing and -o - exclude each other"),
        ("cube.stl thirds.stl -o all.vox --labels file", 2, "--labels: "),
        ("verfy goldens.toml", 3, "verfy: no such file"),
    ];
    let mut seen = 0;
    for (line, code, says) in cases {
        refused(&place, line, code, says);
        assert_eq!(below(&place, ""), before, "voxelize {line}");
        assert!(!place.path("out").exists(), "voxelize {line}");
        seen += 1;
    }
    assert!(seen > 0);
}

#[test]
fn hints_say_what_is_possible() {
    let place = scans();
    for (line, hint) in [
        ("cube.stl thirds.stl -o all.npz", "-o all/ is one; a grid of all together is not made"),
        ("cube.stl new.vox", "-o DIR/ names it; -o new.vox writes one mesh there"),
        ("verfy goldens.toml", "did you mean 'voxelize verify'?"),
        (
            "cube.stl thirds.stl -o a.vox --labels",
            "-o DIR/ makes a grid of each, --same-grid on the same cells",
        ),
    ] {
        assert_eq!(place.run(line).line("hint:"), hint, "{line}");
    }
}
