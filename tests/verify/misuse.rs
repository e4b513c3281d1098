//! Every way to use it wrongly: the exit code, and what is said. Nothing is written.

use super::Place;

const DIGEST: &str = "grid = \"v1:00000000000000000000000000000001\"\ncells = 1\n";

#[test]
fn wrong_questions_are_refused() {
    let place = Place::recorded();
    place.run("--update cube.toml meshes/cube.stl -r 8").expect(0);
    place.write("said.toml", "[[case]]\nmesh = \"meshes/f.stl\"\ngolden = \"a.npz\"\nallow = 1\n");
    let files =
        |place: &Place| -> Vec<_> { place.files().into_iter().map(|f| (place.read_bytes(&f), f)).collect() };
    let before = files(&place);
    let mut seen = 0;
    for (line, code, message, hint) in [
        ("", 2, "<GOLDENS>: not given", "--help"),
        (
            "missing.toml",
            3,
            "missing.toml: cannot be read",
            "'voxelize verify --update LIST MESH' makes a list",
        ),
        ("meshes", 3, "meshes: cannot be read", "'voxelize verify"),
        ("meshes/cube.stl", 3, "meshes/cube.stl: is not TOML", "[[case]]"),
        ("cells/f-res-20.npz", 2, "is compared with one mesh", "voxelize verify cells/f-res-20.npz part.stl"),
        ("goldens.toml -r 8", 2, "--res 8: what is verified has its options", "--update MESH"),
        ("goldens.toml --ties both", 2, "--ties both: what is verified", "--update MESH"),
        ("cube.toml --allow 3", 2, "--allow changes nothing: it needs golden files", "--golden DIR"),
        ("cube.toml --iou-min 0.5", 2, "--iou-min changes nothing: it needs golden files", "--golden DIR"),
        ("said.toml --allow 3", 2, "--allow changes nothing: every case with a golden", "--golden DIR"),
        ("goldens.toml --allow -1", 2, "--allow -1: ", ""),
        ("goldens.toml --iou-min 2", 2, "--iou-min 2: must be from 0 to 1", ""),
        ("goldens.toml --golden cells", 2, "--update", ""),
        ("goldens.toml --update --allow 1", 2, "exclude each other", "give one of them"),
        ("goldens.toml --update --junit a.xml", 2, "exclude each other", "give one of them"),
        (
            "goldens.toml --junit goldens.toml",
            2,
            "goldens.toml: is what is verified with",
            "name another file",
        ),
        ("goldens.toml --junit meshes/f.stl", 2, "is a mesh, and would be overwritten", "name another file"),
        ("goldens.toml --junit no/such.xml", 6, "no/such.xml: cannot be written", "make the folder no first"),
        ("goldens.toml --junit cells", 6, "cells: is a folder", "--junit FILE"),
        ("goldens.toml --json=no/such.json", 6, "no/such.json: cannot be", "make the folder no first"),
        ("goldens.toml --pictures goldens.toml/a", 6, "goldens.toml/a: cannot be made", "--pictures DIR"),
        ("goldens.toml --json=goldens.toml", 2, "and would be overwritten", "name another file"),
        ("--update goldens.toml -r 8", 2, "every case of a list has its own options", "name the meshes"),
        ("--update goldens.toml --golden new", 2, "--golden: no mesh is given", "--golden cells/"),
        ("--update missing.toml", 3, "missing.toml: cannot be read", "'voxelize verify --update LIST MESH'"),
        ("--update new.toml meshes/f.stl meshes/f.stl", 2, "meshes/f.stl: is given twice", "give it once"),
        ("--update meshes/f.stl meshes/cube.stl", 3, "meshes/f.stl: is not TOML", "[[case]]"),
        ("--update no/new.toml meshes/f.stl", 6, "no/new.toml: cannot be written", "make the folder"),
        ("--update new.toml meshes/f.stl -o a.npz", 2, "no such option", ""),
        ("--update new.toml meshes/f.stl --origin 0,0,0", 2, "error: --origin needs --voxel-size", ""),
        ("--update new.toml - -r 5", 2, "error: -: a case names its mesh", "save it"),
        ("--update new.toml meshes/f.stl --golden goldens.toml/a", 6, "cannot be made", "--golden DIR"),
        ("--update new.npz meshes/f.stl", 2, "new.npz: is the name of a voxel file", "name it goldens.toml"),
        (
            "--update cells/f-res-20.npz meshes/f.stl",
            2,
            "cells/f-res-20.npz: is a voxel file, and --update records in a list",
            "voxelize meshes/f.stl --like cells/f-res-20.npz -o cells/f-res-20.npz makes it again",
        ),
    ] {
        let run = place.run(line).expect(code);
        assert!(run.err.starts_with("error: ") && run.err.contains(message), "{line}\n{}", run.err);
        let said = run.err.lines().find_map(|line| line.strip_prefix("hint: ")).unwrap_or_default();
        assert!(said.contains(hint), "{line}\n{}", run.err);
        assert!(run.out.is_empty(), "{line}\n{}", run.out);
        assert!(files(&place) == before && !place.path("new").exists(), "{line} left something");
        assert!(!run.err.contains("(line 0)"), "{}", run.err);
        seen += 1;
    }
    assert!(seen > 20);
}

#[test]
fn broken_lists_are_refused_with_their_line() {
    let place = Place::recorded();
    let mut seen = 0;
    for (list, line, message) in [
        (String::new(), None, "there is no [[case]] in it, so nothing would be verified"),
        ("# later\n".into(), None, "there is no [[case]]"),
        ("[[case]]\nmesh = \n".into(), Some(2), "is not TOML"),
        (format!("\n[[case]]\n{DIGEST}"), Some(2), "the case has no mesh"),
        (format!("[[case]]\nmesh = \"a\"\n{DIGEST}toleranz = 1\n"), Some(5), "'toleranz' is not known"),
        (format!("[[case]]\nmesh = \"a\"\n{DIGEST}allow = 1\n"), Some(5), "allow needs a golden file"),
        (format!("[[case]]\nmesh = \"-\"\n{DIGEST}"), Some(1), "mesh is standard input"),
        (
            format!("[[case]]\nmesh = \"a\"\n{DIGEST}[[case]]\nmesh = \"a\"\n{DIGEST}"),
            Some(5),
            "the case of line 1 has the same mesh and options",
        ),
    ] {
        place.write("list.toml", &list);
        for verb in ["", "--update "] {
            // A list without a case is one to add to, but not one to record again.
            let run = place.run(&format!("{verb}list.toml")).expect(3);
            assert!(
                run.err.starts_with("error: list.toml: ") && run.err.contains(message),
                "{list}\n{}",
                run.err
            );
            let place_said = line.map(|line| format!("(line {line})")).unwrap_or_default();
            assert!(run.err.contains(&place_said) && run.err.contains("\nhint: "), "{list}\n{}", run.err);
            assert_eq!(place.read("list.toml"), list);
        }
        seen += 1;
    }
    assert!(seen > 5);
}

#[test]
fn options_of_a_case_are_those_that_decide_its_cells() {
    let place = Place::recorded();
    for (options, message) in [
        ("-o a.npz", "options: -o: a case writes and says nothing"),
        ("--json", "options: --json: a case writes and says nothing"),
        ("-q", "options: -q: a case writes and says nothing"),
        ("-j 4", "options: -j: is not part of a case: it changes no cell"),
        ("--dry-run", "options: --dry-run: is not part of a case"),
        ("--rez 8", "options: --rez: no such option"),
        ("--res eight", "options: --res eight: 'eight' is not a whole number"),
        ("--res 8 --dims 1,1,1", "options: --res and --dims exclude each other"),
        ("--stretch", "options: --stretch needs --dims"),
        ("meshes/f.stl", "options: meshes/f.stl: is no option"),
        ("--res '8", "options: a quote is opened and not closed"),
    ] {
        place.write(
            "list.toml",
            format!("\n[[case]]\nmesh = \"meshes/f.stl\"\n# These:\noptions = \"{options}\"\n{DIGEST}"),
        );
        let run = place.run("list.toml").expect(3);
        assert!(run.err.contains(&format!("error: list.toml: {message}")), "{options}\n{}", run.err);
        assert!(run.err.contains("(line 5)") && run.err.contains("\nhint: "), "{}", run.err);
    }
}

#[test]
fn cases_that_cannot_be_compared_fail() {
    let place = Place::recorded();
    place.write("cut.npz", &place.read_bytes("cells/f-res-20.npz")[..200]);
    place.write("empty.stl", "solid\nendsolid\n");
    place.write("nowhere.npy", npy(&place));
    for (mesh, golden, code, message) in [
        ("missing.stl", "cells/f-res-20.npz", 3, "missing.stl: no such file"),
        ("meshes/f.stl", "missing.npz", 3, "missing.npz: no such file"),
        ("meshes/f.stl", "cut.npz", 3, "cut.npz: "),
        ("meshes/f.stl", "goldens.toml", 3, "goldens.toml: "),
        ("meshes", "cells/f-res-20.npz", 2, "meshes: a folder, with 3 meshes in it"),
        ("cells/f-res-20.npz", "cells/f-res-20.npz", 3, "cells/f-res-20.npz: "),
        ("empty.stl", "cells/f-res-20.npz", 4, "empty.stl: has no triangles"),
        ("meshes/f.stl", "nowhere.npy", 2, "nowhere.npy: does not say where its cells are"),
    ] {
        let list = format!("[[case]]\nmesh = \"{mesh}\"\noptions = \"-r 20\"\ngolden = \"{golden}\"\n");
        place.write("list.toml", list);
        let run = place.run("list.toml").expect(code);
        assert!(run.row(mesh).starts_with("ERROR "), "{}", run.out);
        run.says(&[message, "       hint: ", "list.toml: 0 of 1 cases pass, 1 error\n"]);
        assert!(run.err.is_empty() && !run.out.contains("standard input"), "{}", run.out);
        let missing = golden == "missing.npz";
        assert_eq!(
            run.out.contains("hint: 'voxelize verify --update list.toml' makes it"),
            missing,
            "{}",
            run.out
        );
    }
}

/// A .npy without a sidecar.
fn npy(place: &Place) -> Vec<u8> {
    let mut voxels = voxelize::format::open(&place.path("cells/f-res-20.npz")).unwrap();
    voxels.lattice = None;
    let (mut bytes, npy) = (vec![], voxelize::format::by_name("npy").unwrap());
    voxelize::format::write_to(&voxels, &mut bytes, npy, &voxelize::format::SaveOptions::default()).unwrap();
    bytes
}

#[test]
fn nothing_is_recorded_in_ci() {
    let place = Place::recorded();
    let (list, files) = (place.read("goldens.toml"), place.files());
    for line in ["--update goldens.toml", "--update new.toml meshes/f.stl"] {
        let run = place.run_as(line, Some("true")).expect(2);
        assert!(
            run.err.contains("CI is set, and a run that records goldens verifies nothing"),
            "{}",
            run.err
        );
        assert_eq!((place.read("goldens.toml"), place.files()), (list.clone(), files.clone()));
    }
    place.run_as("goldens.toml", Some("true")).expect(0);
    place.run_as("--update goldens.toml", Some("")).expect(0);
}

#[test]
fn shared_golden_files_are_verified_but_not_recorded() {
    let place = Place::recorded();
    place.bring("f.stl", "meshes/copy.stl");
    let case =
        "\n[[case]]\nmesh = \"meshes/copy.stl\"\noptions = \"--res 20\"\ngolden = \"cells/f-res-20.npz\"\n";
    place.write("goldens.toml", place.read("goldens.toml") + case);
    place.run("goldens.toml").expect(0).says(&["4 of 4 cases pass"]);
    let run = place.run("--update goldens.toml").expect(2);
    assert!(run.err.contains("cells/f-res-20.npz: is the golden file of another case"), "{}", run.err);
}
