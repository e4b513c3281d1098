//! Recording: added, changed and unchanged cases.

use std::fs;

use super::{bring, cases, meshes, outcomes, read, recorded};
use crate::support::rows;
use crate::support::stores::files;

/// Earlier versions wrote the options of a case as one text, with repeated options without their names.
#[test]
fn texts_of_options_give_the_same_results_and_stay() {
    let place = meshes();
    for (n, (typed, keys)) in [
        ("-r 16 --pad=1", "res = 16\npad = 1\n"),
        (
            "--dims 12,10,8 --stretch --solid --inside evenodd",
            "dims = [12, 10, 8]\nstretch = true\nsolid = true\ninside = \"evenodd\"\n",
        ),
        (
            "--pitch 2.50 --origin 1/3,0,-1",
            "voxel-size = 2.50\norigin = \"1/3,0,-1\"\n",
        ),
        (
            "-r 9 --rotate z,90 --rotate x,45 --translate -1,0,5",
            "res = 9\nrotate = [\"z,90\", \"x,45\"]\ntranslate = [-1, 0, 5]\n",
        ),
        (
            "-r 8 --filled --hollow 1",
            "res = 8\nfilled = true\nhollow = 1\n",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("list-{n}.toml");
        let update = format!("--update {name} meshes/cube.stl {typed}");
        assert_eq!(outcomes(&place, &update, 0), ["new"]);
        let list = read(&place, &name);
        let case = format!("mesh = \"meshes/cube.stl\"\n{keys}grid = ");
        assert!(list.contains(&case), "{list}");
        assert_eq!(outcomes(&place, &name, 0), ["same"]);
        let text = list.replace(keys, &format!("options = \"{typed}\"\n"));
        place.write(&name, &text);
        assert_eq!(outcomes(&place, &name, 0), ["same"]);
        assert_eq!(outcomes(&place, &update, 0), ["same"]);
        assert_eq!(read(&place, &name), text);
    }
}

#[test]
fn changes_are_recorded_and_comments_stay() {
    let place = recorded();
    let comment = "# mine\n[[case]] # and mine";
    let list = read(&place, "goldens.toml").replace("[[case]]", comment);
    place.write("goldens.toml", &list);
    let times = || {
        ["cells/f-res-20.npz", "cells/knot-res-40.npz"]
            .map(|file| fs::metadata(place.path(file)).unwrap().modified().unwrap())
    };
    let before = times();
    assert_eq!(outcomes(&place, "--update goldens.toml", 0), ["same"; 3]);
    assert_eq!(read(&place, "goldens.toml"), list);
    assert_eq!(times(), before, "a matching golden file is not touched");

    bring(&place, "octahedron.stl", "meshes/cube.stl");
    bring(&place, "octahedron.stl", "meshes/f.stl");
    let runs = rows::check(
        &place,
        r#"1 verify goldens.toml
           0 verify --update goldens.toml --json
               /0/outcome "changed"
               /0/mesh "meshes/cube.stl"
               /0/golden/cells 1538
               /1/outcome "changed"
               no /1/mismatch []
               no /1/mismatch null
               /2/outcome "same"
           0 verify goldens.toml"#,
    );
    let cube = &cases(&runs[1])[0];
    assert_ne!(cube["result"]["digest"], cube["golden"]["digest"]);
    let now = read(&place, "goldens.toml");
    assert!(now != list && now.matches(comment).count() == 3, "{now}");
}

#[test]
fn kept_cells_get_file_names_that_no_other_case_has() {
    let place = meshes();
    fs::create_dir(place.path("other")).unwrap();
    bring(&place, "octahedron.stl", "other/cube.stl");
    rows::check(
        &place,
        "0 verify --update goldens.toml meshes/cube.stl other/cube.stl -r 8 --golden cells
         0 verify --update goldens.toml meshes/cube.stl --bounds -1,0,0,9,9,9 -r 8 --golden cells
         0 verify --update goldens.toml meshes/cube.stl --bounds 1,0,0,9,9,9 -r 8 --golden cells",
    );
    let cells: Vec<_> = files(&place.path("cells")).into_keys().collect();
    assert_eq!(
        cells,
        [
            "cube-res-8-2.npz",
            "cube-res-8-bounds-1-0-0-9-9-9-2.npz",
            "cube-res-8-bounds-1-0-0-9-9-9.npz",
            "cube-res-8.npz"
        ]
    );
    assert_eq!(outcomes(&place, "goldens.toml", 0), ["same"; 4]);
    // A digest becomes a file on request. A file remains a file.
    rows::check(
        &place,
        r#"0 verify --update goldens.toml other/cube.stl -r 9
           0 verify --update goldens.toml other/cube.stl -r 9 --golden cells
           0 verify --update goldens.toml other/cube.stl -r 9 --json
               /outcome "same""#,
    );
    let list = read(&place, "goldens.toml");
    assert!(list.contains("golden = \"cells/cube-res-9.npz\""), "{list}");
    assert!(!list.contains("grid ="), "{list}");
}

#[test]
fn paths_are_relative_to_the_list_and_within_its_folder() {
    let place = meshes();
    fs::create_dir_all(place.path("tests/lists")).unwrap();
    rows::refused(
        &place,
        "3 verify --update tests/lists/a.toml meshes/cube.stl -r 8
             err --allow-outside
         3 verify --update meshes/a.toml meshes/cube.stl -r 8 --golden cells
             err error[G010]: meshes/a.toml: golden is outside the folder of the list",
    );
    rows::check(
        &place,
        "0 verify --update tests/lists/a.toml meshes/cube.stl -r 8 --golden tests/cells --allow-outside
         3 verify tests/lists/a.toml
         0 verify tests/lists/a.toml --allow-outside",
    );
    let list = read(&place, "tests/lists/a.toml");
    for line in [
        "mesh = \"../../meshes/cube.stl\"",
        "golden = \"../cells/cube-res-8.npz\"",
    ] {
        assert!(list.contains(line), "{list}");
    }
}

#[test]
fn formats_without_a_lattice_get_their_sidecar() {
    let place = meshes();
    for (format, sidecar) in [("npy", ""), ("raw", ""), ("vox", "no ")] {
        place.write(
            "a.toml",
            format!(
                "[[case]]\nmesh = \"meshes/cube.stl\"\noptions = \"-r 8\"\ngolden = \"a.{format}\"\n"
            ),
        );
        rows::check(
            &place,
            &format!(
                r#"3 verify a.toml
                   0 verify --update a.toml --json
                       /outcome "again"
                       {sidecar}file a.{format}.json
                   0 verify a.toml"#
            ),
        );
    }
}

#[test]
fn failed_cases_keep_their_goldens() {
    let place = recorded();
    let list = read(&place, "goldens.toml");
    fs::remove_file(place.path("meshes/knot.stl")).unwrap();
    bring(&place, "octahedron.stl", "meshes/cube.stl");
    rows::check(
        &place,
        r#"3 verify --update goldens.toml --json
               err meshes/knot.stl
               /0/outcome "changed"
               /1/outcome "same"
               /2/outcome "error"
               /2/error/code "not-found"
           3 verify --update new.toml missing.stl -r 8 --golden new/cells
               no file new.toml
               no file new"#,
    );
    let now = read(&place, "goldens.toml");
    let knot = |list: &str| list[list.find("mesh = \"meshes/knot.stl\"").unwrap()..].to_string();
    assert!(now != list && knot(&now) == knot(&list), "{now}");
}

#[test]
fn a_digest_that_becomes_a_file_is_still_compared() {
    let place = recorded();
    bring(&place, "octahedron.stl", "meshes/cube.stl");
    rows::check(
        &place,
        r#"0 verify --update goldens.toml meshes/cube.stl -r 16 --pad 1 --golden cells --json
               /outcome "changed"
               /golden/cells 1538
               file cells/cube-res-16-pad-1.npz
           0 verify goldens.toml"#,
    );
}

#[test]
fn an_empty_or_missing_golden_file_is_recorded_again() {
    let place = recorded();
    let file = "cells/f-res-20.npz";
    let before = files(&place.path(""));
    for is_missing in [true, false] {
        if is_missing {
            fs::remove_file(place.path(file)).unwrap();
        } else {
            place.write(file, "");
        }
        rows::check(&place, "3 verify goldens.toml");
        let again = outcomes(&place, "--update goldens.toml", 0);
        assert_eq!(again, ["same", "again", "same"]);
        assert!(files(&place.path("")) == before);
    }
}

#[test]
fn cases_written_by_hand_are_recorded() {
    let place = recorded();
    let case = "\n[[case]] # mine\nmesh = \"meshes/f.stl\"\noptions = \"-r 9\"\n";
    let whole = read(&place, "goldens.toml");
    let damaged = whole.replacen("grid = \"v1:", "grid = \"v1:oops", 1);
    for (text, code, expected) in [
        (whole + case, "G004", &["same", "same", "same", "new"][..]),
        (damaged, "G005", &["again", "same", "same"]),
    ] {
        place.write("goldens.toml", text);
        rows::check(
            &place,
            &format!(
                "3 verify goldens.toml --json
                     /error/code \"{code}\"
                     err voxelize verify --update"
            ),
        );
        assert_eq!(outcomes(&place, "--update goldens.toml", 0), expected);
        rows::check(&place, "0 verify goldens.toml");
        let has_comment = read(&place, "goldens.toml").contains("[[case]] # mine");
        assert_eq!(has_comment, code == "G004");
    }
}
