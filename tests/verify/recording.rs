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
        place.run("--update a.toml").expect(0).says(&["1 new"]);
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
    // Nothing of a list that would be empty.
    place.run("--update new.toml missing.stl -r 8").expect(3);
    assert!(!place.path("new.toml").exists());
}
