//! Commands write faces and accept them as meshes wherever meshes are read.

use voxelize::format;

use crate::support::place::Place;
use crate::support::rows;

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
    // The node of a GLB turns y up.
    for (name, turned) in [
        ("ply", ""),
        ("obj", ""),
        ("stl", ""),
        ("glb", "--axes x,-z,y"),
    ] {
        // Sidecars belong to voxels, so the name is free next to a mesh that is read.
        let table = "
            0 f.stl -r 20 --solid -o FILE
            0 FILE --solid TURNED --like cells.npz --json -o again.npz
                /digest DIGEST
            0 info FILE --json
                /kind \"mesh\"
                /mesh/closed true
            0 view FILE -o a.png
            0 view FILE --mesh -o a.png
            0 check FILE
            0 FILE f.stl -r 8 -o many/
            3 diff FILE cells.npz
                err is a mesh, not voxels
            3 convert FILE a.npz
                err is a mesh, not voxels
            3 f.stl --like FILE -o a.npz
                err is a mesh, not voxels
            0 FILE -r 8 -o a.npz --json=FILE.json";
        let file = format!("made.{name}");
        let table = table.replace("FILE", &file).replace("TURNED", turned);
        let table = table.replace("DIGEST", &cells["digest"].to_string());
        rows::check(&place, &table);
        assert!(voxelize::Voxels::open(place.path(&file)).is_err());
        assert!(format::sniff(&place.path(&file)).is_none());
    }
}

#[test]
fn an_older_file_is_replaced_if_this_tool_made_it() {
    let place = place();
    place.write(
        "g.obj",
        "v 0 0 0\nv 9 0 0\nv 0 9 0\nv 0 0 9\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n",
    );
    for (line, file) in [
        ("g.obj -r 8 -f ply", "g.ply"),
        ("g.obj -r 8 -f stl", "g.stl"),
        ("g.obj -r 8 -f glb", "g.glb"),
        ("f.stl -r 8 -f obj --filled --dtype u8", "f.mtl"),
    ] {
        rows::check(&place, &format!("0 {line}\n0 {line}"));
        place.write(file, "# of others");
        rows::refused(&place, &format!("6 {line}\nerr {file}"));
    }
    // The same holds for the outputs of an earlier batch. The input is never replaced.
    let batch = "
        0 f.stl cube.stl -r 8 -o many/ -f stl
        0 f.stl cube.stl -r 8 -o many/ -f ply --points\n";
    rows::check(&place, &batch.repeat(2));
    let table = "
        2 f.stl -r 8 -f stl
            err would be overwritten
        2 f.stl -r 8 -o f.stl
            err would be overwritten";
    rows::refused(&place, table);
}

#[test]
fn data_beyond_a_format_of_faces_is_refused_before_the_work() {
    let place = place();
    for (line, message) in [
        ("--rule distance -o a.ply", "ply cannot store fields"),
        (
            "--rule distance --points -o a.glb",
            "glb cannot store fields",
        ),
        ("--points -o a.stl", "stl has no such choice"),
        ("--points --merge greedy -o a.ply", "no faces to merge"),
        ("--merge greedy -o a.npz", "npz has no such choice"),
        ("--labels file -o a.stl", "stl does not store labels"),
        (
            "--translate 1e9,0,0 -o a.stl",
            "walls along x are the same as 32-bit floats",
        ),
    ] {
        for end in ["", "-n"] {
            let row = format!("2 f.stl -r 8 {line} {end}\nerr {message}");
            rows::refused(&place, &row);
        }
    }
    let table = "
        0 f.stl -r 8 --rule distance --points -o a.ply
        0 f.stl -r 8 --labels file --dtype bool -o a.stl
        0 f.stl -r 8 --merge greedy -o a.glb
        0 f.stl -r 8 --merge greedy -f glb -o -";
    let runs = rows::check(&place, table);
    assert!(runs[3].out == std::fs::read(place.path("a.glb")).unwrap());
}
