//! `voxelize clearance` on the command line. Its rows and messages are in the transcripts.

use serde_json::json;
use voxelize::Voxels;
use voxelize::geom::Triangle;

use crate::support::place::{Place, Run, stl};
use crate::support::rows;
use crate::support::solids::{between, inside_out};

/// Creates the cube of 20, a box next to it at a distance of 3, a small box inside it, and a box that touches
/// it.
fn place() -> Place {
    let place = Place::new();
    place.write(
        "beside.stl",
        stl(&between([23.0, 0.0, 0.0], [25.0, 2.0, 2.0])),
    );
    place.write("inner.stl", stl(&between([5.0; 3], [10.0; 3])));
    place.write(
        "touching.stl",
        stl(&between([20.0, 5.0, 5.0], [22.0, 7.0, 7.0])),
    );
    place.write("corner.stl", stl(&between([15.0; 3], [30.0; 3])));
    place
}

#[test]
fn json_has_all_pairs() {
    rows::check(
        &place(),
        r#"0 clearance cube.stl beside.stl inner.stl --json
             no err
             /meshes/1 {"path": "beside.stl", "object": null, "triangles": 12, "closed": true, "oriented": true}
             /pairs/0/a "cube.stl"
             /pairs/0/b "beside.stl"
             /pairs/0/relation "apart"
             /pairs/0/distance 3.0
             /pairs/0/points [[20.0, 0.0, 0.0], [23.0, 0.0, 0.0]]
             /pairs/0/direction [-1.0, 0.0, 0.0]
             /pairs/0/closer null
             /pairs/0/places []
             /pairs/1/b "inner.stl"
             /pairs/1/relation "contains"
             /pairs/1/distance 5.0
             /pairs/2/a "beside.stl"
             /pairs/2/b "inner.stl"
             /pairs/2/relation "apart"
             /pairs/2/distance 13.674794331177344"#,
    );
}

#[test]
fn a_least_distance_is_a_gate() {
    rows::check(
        &place(),
        r#"0 clearance cube.stl beside.stl --min-distance 3 --json
             /closer 0
             /status "ok"
           1 clearance cube.stl beside.stl --min-distance 3.0001 --json
             /closer 1
             /status "failed"
           0 clearance cube.stl touching.stl --min-distance 0 --json
             /closer 0
           1 clearance cube.stl touching.stl --min-distance 1e-30 --json
             /closer 1
           1 clearance cube.stl inner.stl --min-distance 0 --json
             /closer 1
           1 clearance inner.stl cube.stl --min-distance 0 --json
             /closer 1
           1 clearance cube.stl corner.stl --min-distance 0 --json
             /closer 1
           1 clearance cube.stl beside.stl touching.stl inner.stl --min-distance 2 --json
             /closer 2
             /status "failed"
           0 clearance cube.stl corner.stl --json
             /closer null
             /status "ok"
           1 clearance cube.stl inner.stl --min-distance 1
             err 1 of 1 pair fails --min-distance 1: cube.stl contains inner.stl
           1 clearance cube.stl inner.stl --min-distance 1 -q
             no out
           0 clearance cube.stl corner.stl -v
             no out more"#,
    );
}

/// Distances that round to D in doubles.
#[test]
fn within_is_compared_exactly() {
    let place = Place::new();
    for (begin, code) in [(-1e-20, 1), (0.0, 0), (1e-20, 0)] {
        place.write("a.stl", stl(&between([begin, 0.0, 0.0], [1.0; 3])));
        place.write("b.stl", stl(&between([-1.0, 0.0, 0.0], [-0.5, 1.0, 1.0])));
        for distance in ["0.5", "1/2"] {
            place
                .run(&format!("clearance a.stl b.stl --within {distance}"))
                .expect(code);
        }
    }
}

/// A thousand planes across a thousand others: all of them meet.
#[test]
fn pairs_beyond_the_limit_are_reported() {
    let place = Place::new();
    let plane = |n: u16, axis: usize| {
        [[-1.0, -1.0], [4.0, -1.0], [-1.0, 4.0]].map(|[u, v]| {
            let mut corner = [u; 3];
            corner[(axis + 1) % 3] = v;
            corner[axis] = f32::from(n) / 1024.0;
            corner
        })
    };
    let planes = |axis| (0..1000).map(|n| plane(n, axis)).collect::<Vec<_>>();
    place.write("x.stl", stl(&planes(0)));
    place.write("y.stl", stl(&planes(1)));
    place.write("both.stl", stl(&[planes(0), planes(1)].concat()));
    let runs = rows::check(
        &place,
        r#"0 clearance x.stl y.stl --max-pairs 999999 --json
             /pairs/0/relation "crossing"
             /pairs/0/at_least true
             no /warnings []
           1 clearance x.stl y.stl --max-pairs 999999 --min-distance 1 --json
             /pairs/0/relation "crossing"
             /pairs/0/at_least true
             no /warnings []
           0 clearance x.stl y.stl --json
             /pairs/0/relation "crossing"
             /pairs/0/at_least false
             /pairs/0/meetings 1000000
             /warnings []
           0 clearance x.stl y.stl --max-pairs 1000000 --json
             /pairs/0/at_least false
             /pairs/0/meetings 1000000
           0 clearance x.stl y.stl --max-pairs all --json
             /pairs/0/at_least false
             /pairs/0/meetings 1000000
           0 check both.stl --json
           0 check both.stl --max-pairs 999999 --json
           4 check both.stl --max-pairs 999999 --strict"#,
    );
    let crossings = |run: &Run| {
        let json = run.json();
        let findings = json["findings"].as_array().unwrap();
        let found = findings.iter().find(|found| found["code"] == "M009");
        found.unwrap().clone()
    };
    let all = crossings(&runs[5]);
    assert_eq!(
        (&all["count"], &all["at_least"]),
        (&json!(1_000_000), &json!(false))
    );
    let first = crossings(&runs[6]);
    assert_eq!(first["at_least"], true);
    let pair = |n: usize| runs[n].json()["pairs"][0]["meetings"].clone();
    for count in [pair(0), pair(1), first["count"].clone()] {
        assert!(
            (900_000..1_000_000).contains(&count.as_u64().unwrap()),
            "{count}"
        );
    }
}

/// Returns a cube from 0 to 1 with `count` squares along each edge.
fn tiles(count: u16) -> Vec<Triangle> {
    let at = |n: u16| f32::from(n) / f32::from(count);
    let square = |axis: usize, side: u16, i: u16, j: u16| {
        let corner = |u: u16, v: u16| {
            let mut corner = [f32::from(side); 3];
            corner[(axis + 1) % 3] = at(i + u);
            corner[(axis + 2) % 3] = at(j + v);
            corner
        };
        let [a, b, c, d] = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
        if side == 1 {
            [[a, b, c], [a, c, d]]
        } else {
            [[a, c, b], [a, d, c]]
        }
    };
    let faces = (0..3).flat_map(|axis| [0, 1].map(|side| (axis, side)));
    let squares = faces.flat_map(|(axis, side)| {
        (0..count).flat_map(move |i| (0..count).flat_map(move |j| square(axis, side, i, j)))
    });
    squares.collect()
}

/// A cube in a cavity that it fits exactly: no plane separates them. Exact places of many pairs are slow, so
/// the last case is not examined without a limit.
#[test]
fn places_beyond_the_limit_are_reported() {
    let place = Place::new();
    let write = |count: u16, of_hole: u16| {
        let cavity = inside_out(tiles(of_hole));
        place.write("peg.stl", stl(&tiles(count)));
        place.write(
            "hole.stl",
            stl(&[between([-1.0; 3], [2.0; 3]), cavity].concat()),
        );
    };
    for (count, of_hole) in [(1, 1), (5, 4), (1, 12)] {
        write(count, of_hole);
        for limit in ["", "--max-pairs all"] {
            rows::check(
                &place,
                &format!(
                    r#"0 clearance peg.stl hole.stl {limit} --json
                         /pairs/0/relation "touching"
                         /pairs/0/at_least false
                         /pairs/0/shares_volume false
                         /warnings []"#
                ),
            );
        }
    }
    write(17, 16);
    rows::check(
        &place,
        r#"0 clearance peg.stl hole.stl --json
             /pairs/0/relation "touching"
             /pairs/0/at_least false
             /pairs/0/shares_volume null
             no /warnings []
           1 clearance peg.stl hole.stl --min-distance 0
             out too many to decide whether they share volume"#,
    );
}

#[test]
fn bad_calls_are_refused() {
    let place = place();
    place.run("cube.stl -r 8 -o cube.vox").expect(0);
    rows::refused(
        &place,
        "3 clearance cube.stl cube.vox
             err holds voxels
         2 clearance cube.stl inner.stl --json=inner.stl
             err inner.stl
         2 clearance cube.stl inner.stl@turn=z,90
             err @turn=z,90: is not one of axes, matrix, rotate, rpy, scale, translate
         2 clearance cube.stl inner.stl@translate=1,2
             err expected 3 numbers
         2 clearance cube.stl inner.stl@scale=2@scale=3
             err there twice
         4 clearance cube.stl inner.stl@scale=1e38
             err inner.stl@scale=1e38: a coordinate is beyond
         2 clearance cube.stl inner.stl@translate=1mm,2,3
             err unit of the file is unknown
         2 clearance cube.stl inner.stl -r 8
             err nothing is voxelized
         2 clearance cube.stl inner.stl --mark a.stl
             err a.stl
         2 clearance cube.stl inner.stl --mark cube.stl
             err cube.stl",
    );
}

/// Meshes are transformed before they are compared. Lengths may have units.
#[test]
fn each_mesh_has_its_transforms_and_all_one_unit() {
    let place = place();
    for (line, distance) in [
        ("beside.stl@translate=2,0,0", 5.0),
        ("beside.stl@translate=2mm,0,0.5cm", 5.0),
        ("beside.stl@scale=2", 26.0),
        ("beside.stl@translate=-0.5,0,0@scale=2", 25.5),
        // To the negative side of x, then of y.
        ("beside.stl@rotate=z,180", 23.0),
        ("beside.stl@axes=-x,y,z@translate=0,30,0", 25.079_872),
    ] {
        let json = place
            .run(&format!("clearance cube.stl {line} --unit mm --json"))
            .expect(0)
            .json();
        let found = json["pairs"][0]["distance"].as_f64().unwrap();
        assert!((found - distance).abs() < 1e-5, "{line}: {found}");
        assert_eq!(
            (&json["pairs"][0]["b"], &json["unit"]),
            (&json!(line), &json!("mm"))
        );
    }
    // A file with that literal name takes precedence.
    place.write("inner.stl@scale=2", stl(&between([30.0; 3], [31.0; 3])));
    rows::check(
        &place,
        r#"1 clearance cube.stl beside.stl --unit mm --min-distance 0.31cm
             out FAIL    cube.stl and beside.stl are 3 mm apart
             err 1 of 1 pair fails --min-distance 3.1 mm
           0 clearance cube.stl beside.stl --unit mm --min-distance 0.3cm
           0 clearance cube.stl inner.stl@scale=2 --json
             /pairs/0/relation "apart""#,
    );
}

/// Contact cells belong to both surfaces, and closest points are connected by a line of cells. A failing gate
/// still marks cells.
#[test]
fn contacts_are_marked() {
    let place = place();
    rows::check(
        &place,
        r#"0 clearance cube.stl corner.stl beside.stl@translate=5,0,0 --mark marked.npz -r 30
             out wrote   marked.npz
           0 clearance cube.stl corner.stl --mark marked.vox -r 30 --json
             /outputs/0/path "marked.vox"
           1 clearance cube.stl corner.stl --min-distance 1 --mark gate.vox -r 30
             file gate.vox"#,
    );
    let voxels = Voxels::open(place.path("marked.npz")).unwrap();
    let labels = voxels.labels().unwrap();
    for (value, name) in [
        (1, "contact"),
        (2, "closest"),
        (3, "collision"),
        (255, "around"),
    ] {
        assert_eq!(labels.legend().get(value).unwrap().name, name);
    }
    assert_eq!(labels.legend().labels().len(), 4);
    // 30 cells of 1 along x. The faces at 20 and at 15 have a layer each.
    assert_eq!(labels.count(1), 0);
    let collision = labels.cells_of(3).unwrap();
    assert!(collision.count() > 0);
    for cell in collision.iter() {
        let on_faces = cell.iter().filter(|c| [15, 19, 20].contains(c)).count();
        assert!(on_faces >= 2, "{cell:?}");
    }
    let closest = labels.cells_of(2).unwrap();
    for x in 21..27 {
        assert!(closest.iter().any(|cell| cell[0] == x), "{x}");
    }
    // All cells that the meshes touch, and the line.
    assert!(labels.count(255) > 1000);
}

/// Contact and collision have labels of their own. A mesh within another one collides with it.
#[test]
fn contacts_are_told_from_collisions() {
    let place = place();
    for (line, contact, collision) in [
        ("cube.stl touching.stl", true, false),
        ("cube.stl corner.stl", false, true),
        ("cube.stl inner.stl", false, true),
        ("inner.stl cube.stl", false, true),
        ("cube.stl touching.stl corner.stl", true, true),
        ("cube.stl beside.stl", false, false),
    ] {
        place
            .run(&format!("clearance {line} --mark marked.npz -r 40 -q"))
            .expect(0);
        let voxels = Voxels::open(place.path("marked.npz")).unwrap();
        let labels = voxels.labels().unwrap();
        let found = [1, 3].map(|value| labels.count(value) > 0);
        assert_eq!(found, [contact, collision], "{line}");
        let has_apart = line.contains("beside") || line.contains("corner") && contact;
        assert_eq!(labels.count(2) > 0, has_apart, "{line}");
    }
}

/// Boxes as the solids of an ASCII STL.
fn solids(all: &[(&str, [[f32; 3]; 2])]) -> String {
    let mut text = String::new();
    for (name, [low, high]) in all {
        text += &format!("solid {name}\n");
        for triangle in between(*low, *high) {
            text += "facet normal 0 0 0\nouter loop\n";
            for [x, y, z] in triangle {
                text += &format!("vertex {x} {y} {z}\n");
            }
            text += "endloop\nendfacet\n";
        }
        text += &format!("endsolid {name}\n");
    }
    text
}

#[test]
fn objects_of_a_file_are_compared_with_each_other() {
    let place = place();
    place.write(
        "gearbox.stl",
        solids(&[
            ("shaft", [[0.0; 3], [2.0, 2.0, 10.0]]),
            ("hub, left", [[2.0, 0.0, 0.0], [4.0, 2.0, 2.0]]),
            ("bolt", [[1.0, 1.0, 9.0], [3.0, 3.0, 12.0]]),
            ("bolt", [[50.0; 3], [51.0; 3]]),
        ]),
    );
    rows::check(
        &place,
        r#"0 clearance gearbox.stl --unit mm
             out mesh    shaft: 12 triangles, closed
             out pair    shaft and bolt cross:
             out ; shared volume 1 mm³; depth 1 mm
             out depth   moving shaft by (-1, 0, 0) mm separates the meshes
             out ) mm
           0 clearance gearbox.stl --json
             /meshes/1 {"path": "gearbox.stl", "object": "hub, left", "triangles": 12, "closed": true, "oriented": true}
             /pairs/0/relation "touching"
             /pairs/0/shared_volume null
             /pairs/0/depth null
             /pairs/0/allowed false
             /pairs/1/a "shaft"
             /pairs/1/b "bolt"
             /pairs/1/shared_volume 1.0
             /pairs/1/depth {"at_least": 1.0, "at_most": 1.0, "exact": true, "separation": [-1.0, 0.0, 0.0], "deepest": null}
             /pairs/5/a "bolt"
             /pairs/5/b "bolt (2)"
             /pairs/5/relation "apart"
           1 clearance gearbox.stl --min-distance 0.5 --junit pairs.xml
             out FAIL    shaft and bolt cross
             err 2 of 6 pairs fail --min-distance 0.5
           1 clearance gearbox.stl --min-distance 0.5 --allow bolt,shaft --json
             /closer 1
             /pairs/1/allowed true
             /pairs/1/closer false
           0 clearance gearbox.stl@scale=2 --min-distance 0 --allow shaft,bolt
             out allowed shaft and bolt cross
             out ; shared volume 8
           2 clearance cube.stl
             err at least two meshes or objects of one file
           0 clearance cube.stl corner.stl touching.stl --min-distance 0.1 --allow corner,cube --allow cube.stl,touching
           0 clearance corner.stl inner.stl --json
             /pairs/0/shared_volume null
             /pairs/0/depth null
           0 clearance cube.stl inner.stl --json
             /pairs/0/shared_volume 125.0
           0 clearance cube.stl corner.stl --json
             /pairs/0/shared_volume 125.0"#,
    );
    let xml = std::fs::read_to_string(place.path("pairs.xml")).unwrap();
    for line in [
        r#"<testsuite name="voxelize clearance" tests="6" failures="2" errors="0""#,
        r#"<testcase classname="gearbox.stl" name="shaft, bolt" file="gearbox.stl""#,
        r#"<failure type="closer" message="shaft and bolt cross"#,
    ] {
        assert!(xml.contains(line), "{line}\n{xml}");
    }
    rows::refused(
        &place,
        "2 clearance gearbox.stl --allow shaft,nut
             err no mesh is named 'nut'
             err the meshes are shaft, hub, left, bolt, bolt (2)
         2 clearance gearbox.stl --allow shaft
             err expected two names
         2 clearance cube.stl corner.stl --junit corner.stl
             err corner.stl",
    );
    // A failed comparison is an error in the report.
    place
        .run("clearance cube.stl none.stl --junit failed.xml")
        .expect(3);
    let xml = std::fs::read_to_string(place.path("failed.xml")).unwrap();
    assert!(
        xml.contains(r#"tests="1" failures="0" errors="1""#),
        "{xml}"
    );
}
