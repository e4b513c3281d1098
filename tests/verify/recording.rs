//! Recording: what is added, what changes, what stays as it is.

use std::fs;

use super::Place;

#[test]
fn cases_are_added_and_recorded_again() {
    let place = Place::new();
    let run = place.run("--update goldens.toml meshes/cube.stl meshes/f.stl -r 16 --pad 1").expect(0);
    run.says(&["new      meshes/cube.stl --res 16 --pad 1  1,538 cells\n"]);
    run.says(&["goldens.toml: 2 new, 0 changed, 0 same\n"]);
    let list = place.read("goldens.toml");
    assert!(list.contains("mesh = \"meshes/f.stl\"\noptions = \"--res 16 --pad 1\"\ngrid = \"v1:"), "{list}");

    // The same options in another spelling are the same case.
    let run = place.run("--update goldens.toml meshes/cube.stl --pad=1 -r16").expect(0);
    run.says(&["same     meshes/cube.stl", "0 new, 0 changed, 1 same"]);
    assert_eq!(place.read("goldens.toml"), list);
    place.run("--update goldens.toml meshes/cube.stl -r 17").expect(0).says(&["1 new, "]);
    place.run("goldens.toml").expect(0).says(&["3 of 3 cases pass"]);
}

#[test]
fn changes_are_said_and_comments_stay() {
    let place = Place::recorded();
    let list = place.read("goldens.toml").replace("[[case]]", "# mine\n[[case]] # and mine");
    place.write("goldens.toml", &list);
    let files = ["cells/f-res-20.npz", "cells/knot-res-40.npz"];
    let before = files.map(|file| fs::metadata(place.path(file)).unwrap().modified().unwrap());
    let run = place.run("--update goldens.toml").expect(0);
    run.says(&["0 new, 0 changed, 3 same"]);
    assert_eq!(place.read("goldens.toml"), list);
    // A golden file that is right is not even touched.
    assert_eq!(files.map(|file| fs::metadata(place.path(file)).unwrap().modified().unwrap()), before);

    place.bring("octahedron.stl", "meshes/cube.stl");
    place.bring("octahedron.stl", "meshes/f.stl");
    place.run("goldens.toml").expect(1);
    let run = place.run("--update goldens.toml").expect(0);
    run.says(&["changed  meshes/cube.stl --res 16 --pad 1  1,538 → ", " → v1:", "2 changed, 1 same"]);
    run.says(&["changed  meshes/f.stl", "the grid is another; golden and now:"]);
    let now = place.read("goldens.toml");
    assert!(now != list && now.matches("# mine\n[[case]] # and mine").count() == 3, "{now}");
    place.run("goldens.toml").expect(0);
}

#[test]
fn keeping_cells_names_files_that_no_other_case_has() {
    let place = Place::new();
    fs::create_dir_all(place.path("other")).unwrap();
    place.bring("octahedron.stl", "other/cube.stl");
    place.run("--update goldens.toml meshes/cube.stl other/cube.stl -r 8 --golden cells").expect(0);
    place.run("--update goldens.toml meshes/cube.stl --bounds -1,0,0,9,9,9 -r 8 --golden cells").expect(0);
    place.run("--update goldens.toml meshes/cube.stl --bounds 1,0,0,9,9,9 -r 8 --golden cells").expect(0);
    let cells: Vec<_> = place.files().into_iter().filter(|file| file.starts_with("cells/")).collect();
    assert_eq!(
        cells,
        [
            "cells/cube-res-8-2.npz",
            "cells/cube-res-8-bounds-1-0-0-9-9-9-2.npz",
            "cells/cube-res-8-bounds-1-0-0-9-9-9.npz",
            "cells/cube-res-8.npz"
        ]
    );
    place.run("goldens.toml").expect(0).says(&["4 of 4 cases pass"]);
    // A digest becomes a file when that is asked for; a file stays one.
    place.run("--update goldens.toml other/cube.stl -r 9").expect(0);
    place.run("--update goldens.toml other/cube.stl -r 9 --golden cells").expect(0);
    place.run("--update goldens.toml other/cube.stl -r 9").expect(0).says(&["1 same"]);
    let list = place.read("goldens.toml");
    assert!(list.contains("golden = \"cells/cube-res-9.npz\"") && !list.contains("grid ="), "{list}");
}

#[test]
fn paths_are_those_of_the_list() {
    let place = Place::new();
    fs::create_dir_all(place.path("tests/lists")).unwrap();
    place.run("--update tests/lists/a.toml meshes/cube.stl -r 8 --golden tests/cells").expect(0);
    let list = place.read("tests/lists/a.toml");
    assert!(list.contains("mesh = \"../../meshes/cube.stl\""), "{list}");
    assert!(list.contains("golden = \"../cells/cube-res-8.npz\""), "{list}");
    place.run("tests/lists/a.toml").expect(0);
}

#[test]
fn formats_without_a_lattice_get_their_sidecar() {
    let place = Place::new();
    for format in ["npy", "raw", "vox"] {
        let list =
            format!("[[case]]\nmesh = \"meshes/cube.stl\"\noptions = \"-r 8\"\ngolden = \"a.{format}\"\n");
        place.write("a.toml", list);
        place.run("a.toml").expect(3);
        place.run("--update a.toml").expect(0).says(&["0 same, 1 made again"]);
        assert_eq!(place.path(&format!("a.{format}.json")).exists(), format != "vox", "{format}");
        place.run("a.toml").expect(0);
    }
}

#[test]
fn what_cannot_be_made_stays_as_it_was() {
    let place = Place::recorded();
    let list = place.read("goldens.toml");
    fs::remove_file(place.path("meshes/knot.stl")).unwrap();
    place.bring("octahedron.stl", "meshes/cube.stl");
    let run = place.run("--update goldens.toml").expect(3);
    assert!(run.err.contains("meshes/knot.stl: no such file"), "{}", run.err);
    run.says(&["0 new, 1 changed, 1 same, 1 not made"]);
    let now = place.read("goldens.toml");
    let knot = |list: &str| list[list.find("mesh = \"meshes/knot.stl\"").unwrap()..].to_string();
    assert!(now != list && knot(&now) == knot(&list), "{now}");
    // Nothing of a list that would be empty, nor of a folder.
    place.run("--update new.toml missing.stl -r 8 --golden new/cells").expect(3);
    assert!(!place.path("new.toml").exists() && !place.path("new").exists());
}

#[test]
fn a_digest_that_becomes_a_file_is_still_compared() {
    let place = Place::recorded();
    let line = "--update goldens.toml meshes/cube.stl -r 16 --pad 1 --golden cells";
    let file = "cells/cube-res-16-pad-1.npz";
    let list = place.read("goldens.toml");
    let run = place.run(line).expect(0);
    run.says(&[
        &format!("same     meshes/cube.stl --res 16 --pad 1  1,538 cells, now in {file}\n"),
        "1 same",
    ]);
    assert!(place.path(file).exists() && place.read("goldens.toml").contains(file));
    place.run("goldens.toml").expect(0);

    place.write("goldens.toml", &list);
    fs::remove_file(place.path(file)).unwrap();
    place.bring("octahedron.stl", "meshes/cube.stl");
    let run = place.run(line).expect(0);
    run.says(&["changed  meshes/cube.stl --res 16 --pad 1  1,538 → ", &format!(" cells, now in {file}\n")]);
    run.says(&["         v1:", " → v1:", "0 new, 1 changed, 0 same\n"]);
    place.run("goldens.toml").expect(0);
    // Cells that are kept are whole: what fits in slabs alone is not recorded.
    place.run("--update large.toml meshes/knot.stl -r 512").expect(0);
    let large = place.read("large.toml");
    let run =
        place.run("--update large.toml meshes/knot.stl -r 512 --golden large --max-memory 16M").expect(5);
    run.says(&["1 not made"]);
    assert!(!place.path("large").exists() && place.read("large.toml") == large);
}

#[test]
fn a_golden_file_that_is_gone_is_made_again() {
    let place = Place::recorded();
    let (list, file) = (place.read("goldens.toml"), "cells/f-res-20.npz");
    let bytes = place.read_bytes(file);
    for broken in [None, Some(&bytes[..200])] {
        match broken {
            None => fs::remove_file(place.path(file)).unwrap(),
            Some(bytes) => place.write(file, bytes),
        }
        place.run("goldens.toml").expect(3);
        let run = place.run("--update goldens.toml").expect(0);
        run.says(&["again    meshes/f.stl --res 20  ", &format!("         {file}: "), ": made again\n"]);
        run.says(&["goldens.toml: 0 new, 0 changed, 2 same, 1 made again\n"]);
        assert!(place.read("goldens.toml") == list && place.read_bytes(file) == bytes);
    }
}

#[test]
fn cases_written_by_hand_are_recorded() {
    let place = Place::recorded();
    let case = "\n[[case]] # mine\nmesh = \"meshes/f.stl\"\noptions = \"-r 9\"\n";
    let whole = place.read("goldens.toml");
    let damaged = whole.replacen("grid = \"v1:", "grid = \"v1:oops", 1);
    for (text, message, says) in [
        (whole + case, "the case has no grid", "new      meshes/f.stl -r 9  "),
        (
            damaged,
            "grid: ",
            "again    meshes/cube.stl --res 16 --pad 1  1,538 cells\n         the digest could not",
        ),
    ] {
        place.write("goldens.toml", text);
        let run = place.run("goldens.toml").expect(3);
        assert!(run.err.contains(message), "{}", run.err);
        assert!(run.err.contains("hint: 'voxelize verify --update LIST' records"), "{}", run.err);
        place.run("--update goldens.toml").expect(0).says(&[says]);
        place.run("goldens.toml").expect(0);
        assert_eq!(place.read("goldens.toml").contains("[[case]] # mine"), message.contains("no grid"));
    }
}
