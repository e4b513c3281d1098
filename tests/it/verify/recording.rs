//! Recording: added, changed and unchanged cases.

use std::fs;

use serde_json::json;

use super::Place;

#[test]
fn cases_are_added_and_recorded_again() {
    let place = Place::new();
    let run = place
        .run("--update goldens.toml meshes/cube.stl meshes/f.stl -r 16 --pad 1 --json")
        .expect(0);
    assert_eq!(run.outcomes(), ["new", "new"]);
    let cube = &run.cases()[0];
    assert_eq!(
        (&cube["options"], &cube["result"]["cells"]),
        (&json!("--res 16 --pad 1"), &json!(1538))
    );
    let list = place.read("goldens.toml");
    assert!(
        list.contains("mesh = \"meshes/f.stl\"\nres = 16\npad = 1\ngrid = \"v1:"),
        "{list}"
    );

    // The same options in another spelling are the same case.
    assert_eq!(
        place.outcomes("--update goldens.toml meshes/cube.stl --pad=1 -r16", 0),
        ["same"]
    );
    assert_eq!(place.read("goldens.toml"), list);
    assert_eq!(
        place.outcomes("--update goldens.toml meshes/cube.stl -r 17", 0),
        ["new"]
    );
    assert_eq!(place.outcomes("goldens.toml", 0), ["same"; 3]);
}

/// Earlier versions wrote the options of a case as one text, with repeated options without their names.
#[test]
fn texts_of_options_give_the_same_results_and_stay() {
    let place = Place::new();
    let mut seen = 0;
    for (typed, keys) in [
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
    ] {
        let name = format!("list-{seen}.toml");
        assert_eq!(
            place.outcomes(&format!("--update {name} meshes/cube.stl {typed}"), 0),
            ["new"]
        );
        let list = place.read(&name);
        assert!(
            list.contains(&format!("mesh = \"meshes/cube.stl\"\n{keys}grid = ")),
            "{list}"
        );
        assert_eq!(place.outcomes(&name, 0), ["same"]);
        let text = list.replace(keys, &format!("options = \"{typed}\"\n"));
        place.write(&name, &text);
        assert_eq!(place.outcomes(&name, 0), ["same"]);
        assert_eq!(
            place.outcomes(&format!("--update {name} meshes/cube.stl {typed}"), 0),
            ["same"]
        );
        assert_eq!(place.read(&name), text);
        seen += 1;
    }
    assert_eq!(seen, 5);
}

#[test]
fn changes_are_printed_and_comments_stay() {
    let place = Place::recorded();
    let list = place
        .read("goldens.toml")
        .replace("[[case]]", "# mine\n[[case]] # and mine");
    place.write("goldens.toml", &list);
    let files = ["cells/f-res-20.npz", "cells/knot-res-40.npz"];
    let before = files.map(|file| fs::metadata(place.path(file)).unwrap().modified().unwrap());
    assert_eq!(place.outcomes("--update goldens.toml", 0), ["same"; 3]);
    assert_eq!(place.read("goldens.toml"), list);
    // A matching golden file is not even touched.
    assert_eq!(
        files.map(|file| fs::metadata(place.path(file)).unwrap().modified().unwrap()),
        before
    );

    place.bring("octahedron.stl", "meshes/cube.stl");
    place.bring("octahedron.stl", "meshes/f.stl");
    place.run("goldens.toml").expect(1);
    let run = place.run("--update goldens.toml --json").expect(0);
    assert_eq!(run.outcomes(), ["changed", "changed", "same"]);
    let [cube, f, _] = run.cases().try_into().unwrap();
    assert_eq!(
        (&cube["mesh"], &cube["golden"]["cells"]),
        (&json!("meshes/cube.stl"), &json!(1538))
    );
    assert!(
        cube["result"]["digest"] != cube["golden"]["digest"],
        "{cube}"
    );
    assert!(
        f["mismatch"]
            .as_array()
            .is_some_and(|list| !list.is_empty()),
        "{f}"
    );
    let now = place.read("goldens.toml");
    assert!(
        now != list && now.matches("# mine\n[[case]] # and mine").count() == 3,
        "{now}"
    );
    place.run("goldens.toml").expect(0);
}

#[test]
fn keeping_cells_names_files_that_no_other_case_has() {
    let place = Place::new();
    fs::create_dir_all(place.path("other")).unwrap();
    place.bring("octahedron.stl", "other/cube.stl");
    place
        .run("--update goldens.toml meshes/cube.stl other/cube.stl -r 8 --golden cells")
        .expect(0);
    place
        .run("--update goldens.toml meshes/cube.stl --bounds -1,0,0,9,9,9 -r 8 --golden cells")
        .expect(0);
    place
        .run("--update goldens.toml meshes/cube.stl --bounds 1,0,0,9,9,9 -r 8 --golden cells")
        .expect(0);
    let cells: Vec<_> = place
        .files()
        .into_iter()
        .filter(|file| file.starts_with("cells/"))
        .collect();
    assert_eq!(
        cells,
        [
            "cells/cube-res-8-2.npz",
            "cells/cube-res-8-bounds-1-0-0-9-9-9-2.npz",
            "cells/cube-res-8-bounds-1-0-0-9-9-9.npz",
            "cells/cube-res-8.npz"
        ]
    );
    assert_eq!(place.outcomes("goldens.toml", 0), ["same"; 4]);
    // A digest becomes a file on request. A file remains a file.
    place
        .run("--update goldens.toml other/cube.stl -r 9")
        .expect(0);
    place
        .run("--update goldens.toml other/cube.stl -r 9 --golden cells")
        .expect(0);
    assert_eq!(
        place.outcomes("--update goldens.toml other/cube.stl -r 9", 0),
        ["same"]
    );
    let list = place.read("goldens.toml");
    assert!(
        list.contains("golden = \"cells/cube-res-9.npz\"") && !list.contains("grid ="),
        "{list}"
    );
}

#[test]
fn paths_are_relative_to_the_list() {
    let place = Place::new();
    fs::create_dir_all(place.path("tests/lists")).unwrap();
    let line = "--update tests/lists/a.toml meshes/cube.stl -r 8 --golden tests/cells";
    place.run(&format!("{line} --allow-outside")).expect(0);
    let list = place.read("tests/lists/a.toml");
    assert!(list.contains("mesh = \"../../meshes/cube.stl\""), "{list}");
    assert!(
        list.contains("golden = \"../cells/cube-res-8.npz\""),
        "{list}"
    );
    place.run("tests/lists/a.toml --allow-outside").expect(0);
}

#[test]
fn cases_that_verify_would_refuse_are_not_recorded() {
    let place = Place::recorded();
    fs::create_dir_all(place.path("lists")).unwrap();
    let list = place.read("goldens.toml");
    let before = place.files();
    for line in [
        "--update lists/a.toml meshes/cube.stl -r 8",
        "--update meshes/a.toml meshes/cube.stl -r 8 --golden cells",
    ] {
        let run = place.run(line).expect(3);
        assert!(
            run.err.contains("outside the folder of the list"),
            "{}",
            run.err
        );
        assert!(run.err.contains("--allow-outside"), "{}", run.err);
        let code =
            place.run(&format!("{line} --json")).expect(3).cases()[0]["error"]["code"].clone();
        assert_eq!(code, "G010", "{line}");
        assert_eq!(
            (&place.read("goldens.toml"), &place.files()),
            (&list, &before),
            "{line}"
        );
    }
    place
        .run("--update lists/a.toml meshes/cube.stl -r 8 --allow-outside")
        .expect(0);
    place.run("lists/a.toml").expect(3);
    place.run("lists/a.toml --allow-outside").expect(0);
}

#[test]
fn formats_without_a_lattice_get_their_sidecar() {
    let place = Place::new();
    for format in ["npy", "raw", "vox"] {
        let list = format!(
            "[[case]]\nmesh = \"meshes/cube.stl\"\noptions = \"-r 8\"\ngolden = \"a.{format}\"\n"
        );
        place.write("a.toml", list);
        place.run("a.toml").expect(3);
        assert_eq!(place.outcomes("--update a.toml", 0), ["again"]);
        assert_eq!(
            place.path(&format!("a.{format}.json")).exists(),
            format != "vox",
            "{format}"
        );
        place.run("a.toml").expect(0);
    }
}

#[test]
fn failed_cases_keep_their_goldens() {
    let place = Place::recorded();
    let list = place.read("goldens.toml");
    fs::remove_file(place.path("meshes/knot.stl")).unwrap();
    place.bring("octahedron.stl", "meshes/cube.stl");
    let run = place.run("--update goldens.toml --json").expect(3);
    assert!(run.err.contains("meshes/knot.stl"), "{}", run.err);
    assert_eq!(run.outcomes(), ["changed", "same", "error"]);
    assert_eq!(run.cases()[2]["error"]["code"], "not-found");
    let now = place.read("goldens.toml");
    let knot = |list: &str| list[list.find("mesh = \"meshes/knot.stl\"").unwrap()..].to_string();
    assert!(now != list && knot(&now) == knot(&list), "{now}");
    // Neither an empty list nor an empty folder is created.
    place
        .run("--update new.toml missing.stl -r 8 --golden new/cells")
        .expect(3);
    assert!(!place.path("new.toml").exists() && !place.path("new").exists());
}

#[test]
fn a_digest_that_becomes_a_file_is_still_compared() {
    let place = Place::recorded();
    let line = "--update goldens.toml meshes/cube.stl -r 16 --pad 1 --golden cells";
    let file = "cells/cube-res-16-pad-1.npz";
    let list = place.read("goldens.toml");
    assert_eq!(place.outcomes(line, 0), ["same"]);
    assert!(place.path(file).exists() && place.read("goldens.toml").contains(file));
    place.run("goldens.toml").expect(0);

    place.write("goldens.toml", &list);
    fs::remove_file(place.path(file)).unwrap();
    place.bring("octahedron.stl", "meshes/cube.stl");
    let run = place.run(&format!("{line} --json")).expect(0);
    assert_eq!(run.outcomes(), ["changed"]);
    assert_eq!(run.cases()[0]["golden"]["cells"], 1538);
    assert!(place.path(file).exists());
    place.run("goldens.toml").expect(0);
    // Kept cells are in memory as a whole. A grid that only fits in slabs is not recorded.
    place
        .run("--update large.toml meshes/knot.stl -r 512")
        .expect(0);
    let large = place.read("large.toml");
    let line = "--update large.toml meshes/knot.stl -r 512 --golden large -j 2 --max-memory 24M";
    assert_eq!(place.outcomes(line, 5), ["error"]);
    assert!(!place.path("large").exists() && place.read("large.toml") == large);
}

#[test]
fn a_golden_file_that_is_gone_is_made_again() {
    let place = Place::recorded();
    let list = place.read("goldens.toml");
    let file = "cells/f-res-20.npz";
    let bytes = place.read_bytes(file);
    for broken in [None, Some(&b""[..])] {
        match broken {
            None => fs::remove_file(place.path(file)).unwrap(),
            Some(bytes) => place.write(file, bytes),
        }
        place.run("goldens.toml").expect(3);
        assert_eq!(
            place.outcomes("--update goldens.toml", 0),
            ["same", "again", "same"]
        );
        assert!(place.read("goldens.toml") == list && place.read_bytes(file) == bytes);
    }
    // The truncated file no longer identifies itself as created by this tool.
    place.write(file, &bytes[..200]);
    place.run("--update goldens.toml").expect(6);
    assert_eq!(place.read_bytes(file), bytes[..200]);
}

#[test]
fn cases_written_by_hand_are_recorded() {
    let place = Place::recorded();
    let case = "\n[[case]] # mine\nmesh = \"meshes/f.stl\"\noptions = \"-r 9\"\n";
    let whole = place.read("goldens.toml");
    let damaged = whole.replacen("grid = \"v1:", "grid = \"v1:oops", 1);
    for (text, code, outcomes) in [
        (whole + case, "G004", &["same", "same", "same", "new"][..]),
        (damaged, "G005", &["again", "same", "same"]),
    ] {
        place.write("goldens.toml", text);
        let run = place.run("goldens.toml --json").expect(3);
        assert_eq!(run.cases()[0]["error"]["code"], code, "{}", run.err);
        assert!(run.err.contains("voxelize verify --update"), "{}", run.err);
        assert_eq!(place.outcomes("--update goldens.toml", 0), outcomes);
        place.run("goldens.toml").expect(0);
        assert_eq!(
            place.read("goldens.toml").contains("[[case]] # mine"),
            code == "G004"
        );
    }
}
