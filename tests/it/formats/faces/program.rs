//! Commands write faces and accept them as meshes wherever meshes are read.

use voxelize::format;

use crate::support::place::{Place, refused};

fn place() -> Place {
    let place = Place::new();
    place.write("f.stl", std::fs::read("fixtures/f.stl").unwrap());
    place
}

#[test]
fn files_of_faces_are_meshes_to_every_command() {
    let place = place();
    place.run("f.stl -r 20 --solid -o cells.npz").expect(0);
    let cells = place.run("info cells.npz --json").expect(0).json();
    let mut seen = 0;
    for name in ["ply", "obj", "stl", "glb"] {
        let file = format!("made.{name}");
        place
            .run(&format!("f.stl -r 20 --solid -o {file}"))
            .expect(0);
        let info = place.run(&format!("info {file} --json")).expect(0).json();
        assert_eq!(
            (&info["kind"], &info["mesh"]["closed"]),
            (&"mesh".into(), &true.into()),
            "{file}"
        );
        // The same cells in their places. A GLB has to be turned back.
        let turned = if name == "glb" { "--axes x,-z,y" } else { "" };
        let again = format!("{file} --solid {turned} --like cells.npz --json -o again.npz");
        let again = place.run(&again).expect(0).json();
        assert_eq!(again["digest"], cells["digest"], "{file}");
        place.run(&format!("view {file} -o a.png")).expect(0);
        place.run(&format!("view {file} --mesh -o a.png")).expect(0);
        place.run(&format!("check {file}")).expect(0);
        place.run(&format!("{file} f.stl -r 8 -o many/")).expect(0);
        for words in [
            format!("diff {file} cells.npz"),
            format!("convert {file} a.npz"),
        ] {
            let error = refused(&place, &words, 3);
            assert!(error.contains("is a mesh, not voxels"), "{words}: {error}");
        }
        let error = refused(&place, &format!("f.stl --like {file} -o a.npz"), 3);
        assert!(error.contains("is a mesh, not voxels"), "{error}");
        assert!(voxelize::Voxels::open(place.path(&file)).is_err());
        assert!(format::sniff(&place.path(&file)).is_none());
        // Sidecars belong to voxels, so the name is free next to a mesh that is read.
        place
            .run(&format!("{file} -r 8 -o a.npz --json={file}.json"))
            .expect(0);
        seen += 1;
    }
    assert_eq!(seen, 4);
}

#[test]
fn an_older_file_is_replaced_if_this_tool_made_it() {
    let place = place();
    place.write(
        "g.obj",
        "v 0 0 0\nv 9 0 0\nv 0 9 0\nv 0 0 9\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n",
    );
    for name in ["ply", "stl", "glb"] {
        let line = format!("g.obj -r 8 -f {name}");
        place.run(&line).expect(0);
        place.run(&line).expect(0);
        place.write(&format!("g.{name}"), "of others");
        refused(&place, &line, 6);
        std::fs::remove_file(place.path(&format!("g.{name}"))).unwrap();
    }
    let line = "f.stl -r 8 -f obj --filled --dtype u8";
    place.run(line).expect(0);
    place.run(line).expect(0);
    place.write("f.mtl", "# of others");
    let error = refused(&place, line, 6);
    assert!(error.contains("f.mtl"), "{error}");
    // The same holds for the outputs of an earlier batch.
    for _ in 0..2 {
        place.run("f.stl cube.stl -r 8 -o many/ -f stl").expect(0);
        place
            .run("f.stl cube.stl -r 8 -o many/ -f ply --points")
            .expect(0);
    }
    // The input is never replaced.
    assert!(refused(&place, "f.stl -r 8 -f stl", 2).contains("would be overwritten"));
    assert!(refused(&place, "f.stl -r 8 -o f.stl", 2).contains("would be overwritten"));
}

#[test]
fn data_beyond_a_format_of_faces_is_refused_before_the_work() {
    let place = place();
    let before = place.files();
    for (words, said) in [
        (
            "f.stl -r 8 --rule distance -o a.ply",
            "ply does not hold fields",
        ),
        (
            "f.stl -r 8 --rule distance --points -o a.glb",
            "glb does not hold fields",
        ),
        ("f.stl -r 8 --points -o a.stl", "stl has no such choice"),
        (
            "f.stl -r 8 --points --merge greedy -o a.ply",
            "no faces to merge",
        ),
        (
            "f.stl -r 8 --merge greedy -o a.npz",
            "npz has no such choice",
        ),
        (
            "f.stl -r 8 --labels file -o a.stl",
            "stl does not store labels",
        ),
        (
            "f.stl -r 8 --translate 1e9,0,0 -o a.stl",
            "walls along x are the same as 32-bit floats",
        ),
    ] {
        let error = refused(&place, words, 2);
        assert!(error.contains(said), "{words}: {error}");
        let dry = refused(&place, &format!("{words} -n"), 2);
        assert!(dry.contains(said), "{words} -n: {dry}");
        assert_eq!(place.files(), before, "{words}");
    }
    place
        .run("f.stl -r 8 --rule distance --points -o a.ply")
        .expect(0);
    place
        .run("f.stl -r 8 --labels file --dtype bool -o a.stl")
        .expect(0);
    let piped = place.run("f.stl -r 8 --merge greedy -f glb -o -").expect(0);
    place.run("f.stl -r 8 --merge greedy -o a.glb").expect(0);
    assert!(piped.out == std::fs::read(place.path("a.glb")).unwrap());
}
