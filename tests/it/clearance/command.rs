//! `voxelize clearance`: its objects, rows and exit codes.

use serde_json::{Value, json};

use crate::support::place::{Place, cuboid, refused, stl};
use crate::support::solids::between;
use voxelize::Voxels;
use voxelize::geom::Triangle;

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
    place.write("half.stl", stl(&cuboid([20.0, 20.0, 10.0])[1..]));
    place
}

fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn json_has_all_pairs() {
    let place = place();
    let run = place
        .run("clearance cube.stl beside.stl inner.stl --json")
        .expect(0);
    let json = run.json();
    assert_eq!(run.err, "");
    assert_eq!(
        keys(&json),
        [
            "schema",
            "tool",
            "command",
            "status",
            "exit_code",
            "meshes",
            "unit",
            "pairs",
            "within",
            "closer",
            "outputs",
            "warnings"
        ]
    );
    let pairs = json["pairs"].as_array().unwrap();
    let lie: Vec<_> = pairs
        .iter()
        .map(|p| [&p["a"], &p["b"], &p["relation"], &p["distance"]])
        .collect();
    assert_eq!(
        json!(lie),
        json!([
            ["cube.stl", "beside.stl", "apart", 3.0],
            ["cube.stl", "inner.stl", "contains", 5.0],
            ["beside.stl", "inner.stl", "apart", 13.674_794_331_177_344]
        ])
    );
    assert_eq!(
        keys(&pairs[0]),
        [
            "a",
            "b",
            "relation",
            "shares_volume",
            "distance",
            "points",
            "direction",
            "triangles",
            "closer",
            "meetings",
            "at_least",
            "places",
            "more"
        ]
    );
    assert_eq!(
        pairs[0]["points"],
        json!([[20.0, 0.0, 0.0], [23.0, 0.0, 0.0]])
    );
    assert_eq!(pairs[0]["direction"], json!([-1.0, 0.0, 0.0]));
    assert!(pairs[0]["closer"].is_null() && pairs[0]["places"].as_array().unwrap().is_empty());
    assert_eq!(
        json["meshes"][1],
        json!({"path": "beside.stl", "triangles": 12, "closed": true, "oriented": true})
    );
}

#[test]
fn places_of_a_collision_are_listed_and_counted() {
    let place = place();
    let pair = &place
        .run("clearance cube.stl corner.stl --json")
        .expect(0)
        .json()["pairs"][0];
    let places = pair["places"].as_array().unwrap();
    assert_eq!(
        (pair["relation"].as_str(), pair["distance"].as_f64()),
        (Some("crossing"), Some(0.0))
    );
    assert_eq!(pair["meetings"].as_u64(), Some(places.len() as u64));
    assert!(places.len() > 5 && pair["direction"].is_null());
    for found in places {
        assert_eq!(keys(found), ["triangles", "meeting", "ends"]);
        // The surfaces meet in the edges of the box from 15 to 20.
        let ends = found["ends"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|end| end.as_array().unwrap());
        assert!(
            ends.clone().count() == 6
                && ends
                    .clone()
                    .all(|c| (15.0..=20.0).contains(&c.as_f64().unwrap()))
        );
    }
    let [few, all] = ["", "-v"].map(|how| {
        place
            .run(&format!("clearance cube.stl corner.stl {how}"))
            .expect(0)
    });
    assert!(
        few.text().contains("more") && !all.text().contains("more"),
        "{}",
        few.text()
    );
}

#[test]
fn within_is_a_gate() {
    let place = place();
    for (line, code, closer) in [
        ("cube.stl beside.stl --min-distance 3", 0, 0),
        ("cube.stl beside.stl --min-distance 3.0001", 1, 1),
        ("cube.stl touching.stl --min-distance 0", 0, 0),
        ("cube.stl touching.stl --min-distance 1e-30", 1, 1),
        ("cube.stl inner.stl --min-distance 0", 1, 1),
        ("inner.stl cube.stl --min-distance 0", 1, 1),
        ("cube.stl corner.stl --min-distance 0", 1, 1),
        (
            "cube.stl beside.stl touching.stl inner.stl --min-distance 2",
            1,
            2,
        ),
        ("cube.stl corner.stl", 0, -1),
    ] {
        let json = place
            .run(&format!("clearance {line} --json"))
            .expect(code)
            .json();
        assert_eq!(json["closer"].as_i64().unwrap_or(-1), closer, "{line}");
        assert_eq!(
            json["status"],
            if code == 0 { "ok" } else { "failed" },
            "{line}"
        );
    }
    let run = place
        .run("clearance cube.stl inner.stl --min-distance 1")
        .expect(1);
    assert!(
        run.err
            .contains("1 of 1 pair fails --min-distance 1: cube.stl contains inner.stl"),
        "{}",
        run.err
    );
    assert!(
        place
            .run("clearance cube.stl inner.stl --min-distance 1 -q")
            .expect(1)
            .out
            .is_empty()
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
    for (line, code, at_least) in [
        ("x.stl y.stl", 0, false),
        ("x.stl y.stl --max-pairs 1000000", 0, false),
        ("x.stl y.stl --max-pairs 999999", 0, true),
        ("x.stl y.stl --max-pairs 999999 --min-distance 1", 1, true),
        ("x.stl y.stl --max-pairs all", 0, false),
    ] {
        let json = place
            .run(&format!("clearance {line} --json"))
            .expect(code)
            .json();
        let pair = &json["pairs"][0];
        assert_eq!(
            (&pair["relation"], &pair["at_least"]),
            (&json!("crossing"), &json!(at_least)),
            "{line}"
        );
        let count = pair["meetings"].as_u64().unwrap();
        assert!(
            if at_least {
                (900_000..1_000_000).contains(&count)
            } else {
                count == 1_000_000
            },
            "{count}"
        );
        assert_eq!(
            json["warnings"].as_array().unwrap().len(),
            usize::from(at_least),
            "{line}"
        );
    }
    for (limit, at_least) in [("", false), ("--max-pairs 999999", true)] {
        let json = place
            .run(&format!("check both.stl {limit} --json"))
            .expect(0)
            .json();
        let of_crossings = |finding: &&Value| finding["code"] == "M009";
        let crossings = json["findings"]
            .as_array()
            .unwrap()
            .iter()
            .find(of_crossings)
            .unwrap();
        let count = crossings["count"].as_u64().unwrap();
        assert_eq!(crossings["at_least"], json!(at_least));
        assert!(
            if at_least {
                (900_000..1_000_000).contains(&count)
            } else {
                count == 1_000_000
            },
            "{count}"
        );
    }
    place
        .run("check both.stl --max-pairs 999999 --strict")
        .expect(4);
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

/// A cube in a cavity that it fits exactly: no plane separates them.
#[test]
fn places_beyond_the_limit_are_reported() {
    let place = Place::new();
    let turned = |t: Triangle| [t[0], t[2], t[1]];
    for (count, of_hole, are_too_many) in
        [(1, 1, false), (5, 4, false), (1, 12, false), (17, 16, true)]
    {
        place.write("peg.stl", stl(&tiles(count)));
        let cavity: Vec<Triangle> = tiles(of_hole).into_iter().map(turned).collect();
        place.write(
            "hole.stl",
            stl(&[between([-1.0; 3], [2.0; 3]), cavity].concat()),
        );
        for (limit, is_known) in [("", !are_too_many), ("--max-pairs all", true)] {
            // Exact places of many pairs are slow.
            if are_too_many && is_known {
                continue;
            }
            let json = place
                .run(&format!("clearance peg.stl hole.stl {limit} --json"))
                .expect(0)
                .json();
            let pair = &json["pairs"][0];
            assert_eq!(
                (&pair["relation"], &pair["at_least"]),
                (&json!("touching"), &json!(false))
            );
            assert_eq!(
                pair["shares_volume"],
                if is_known { json!(false) } else { Value::Null },
                "{count}"
            );
            assert_eq!(
                json["warnings"].as_array().unwrap().len(),
                usize::from(!is_known),
                "{count}"
            );
        }
    }
    let run = place
        .run("clearance peg.stl hole.stl --min-distance 0")
        .expect(1);
    assert!(
        run.text()
            .contains("too many to find out whether they share volume"),
        "{}",
        run.text()
    );
}

#[test]
fn rows_name_the_relation() {
    let place = place();
    for (line, row) in [
        ("cube.stl beside.stl", "cube.stl and beside.stl are 3 apart"),
        (
            "cube.stl inner.stl",
            "cube.stl contains inner.stl; the surfaces are 5 apart",
        ),
        (
            "inner.stl cube.stl",
            "inner.stl is within cube.stl; the surfaces are 5 apart",
        ),
        ("cube.stl touching.stl", "cube.stl and touching.stl touch"),
        ("cube.stl corner.stl", "cube.stl and corner.stl cross"),
    ] {
        let run = place.run(&format!("clearance {line}")).expect(0);
        assert!(
            run.text().contains(&format!("pair    {row}")),
            "{line}: {}",
            run.text()
        );
    }
    let open = place.run("clearance cube.stl half.stl").expect(0);
    assert!(
        open.text().contains("half.stl: 11 triangles, not closed"),
        "{}",
        open.text()
    );
}

#[test]
fn bad_calls_have_their_exit_codes() {
    let place = place();
    place.write("empty.stl", stl(&[]));
    place.run("cube.stl -r 8 -o cube.vox").expect(0);
    for (line, code, expected) in [
        ("clearance cube.stl", 2, "at least two meshes"),
        ("clearance cube.stl missing.stl", 3, "missing.stl"),
        ("clearance cube.stl cube.vox", 3, "holds voxels"),
        ("clearance cube.stl empty.stl", 4, "no triangles"),
        (
            "clearance cube.stl inner.stl --min-distance -1",
            2,
            "0 or more",
        ),
        (
            "clearance cube.stl inner.stl --json=inner.stl",
            2,
            "inner.stl",
        ),
        (
            "clearance cube.stl inner.stl@turn=z,90",
            2,
            "@turn=z,90: is none of axes, matrix, rotate, scale, translate",
        ),
        (
            "clearance cube.stl inner.stl@translate=1,2",
            2,
            "three numbers",
        ),
        (
            "clearance cube.stl inner.stl@scale=2@scale=3",
            2,
            "there twice",
        ),
        (
            "clearance cube.stl inner.stl@scale=1e38",
            4,
            "inner.stl@scale=1e38: a coordinate is beyond",
        ),
        (
            "clearance cube.stl inner.stl@translate=1mm,2,3",
            2,
            "unit of the file is unknown",
        ),
        (
            "clearance cube.stl inner.stl --min-distance 1mm",
            2,
            "unit of the file is unknown",
        ),
        (
            "clearance cube.stl inner.stl -r 8",
            2,
            "nothing is voxelized",
        ),
        ("clearance cube.stl inner.stl --mark a.stl", 2, "a.stl"),
        (
            "clearance cube.stl inner.stl --mark cube.stl",
            2,
            "cube.stl",
        ),
    ] {
        let message = refused(&place, line, code);
        assert!(message.contains(expected), "{line}: {message}");
    }
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
    let run = place
        .run("clearance cube.stl beside.stl --unit mm --min-distance 0.31cm")
        .expect(1);
    assert!(
        run.text()
            .contains("FAIL    cube.stl and beside.stl are 3 mm apart"),
        "{}",
        run.text()
    );
    assert!(
        run.err.contains("1 of 1 pair fails --min-distance 3.1 mm"),
        "{}",
        run.err
    );
    place
        .run("clearance cube.stl beside.stl --unit mm --min-distance 0.3cm")
        .expect(0);
    // A file with that literal name takes precedence.
    place.write("inner.stl@scale=2", stl(&between([30.0; 3], [31.0; 3])));
    let json = place
        .run("clearance cube.stl inner.stl@scale=2 --json")
        .expect(0)
        .json();
    assert_eq!(json["pairs"][0]["relation"], "apart");
}

/// Contact cells belong to both surfaces, and closest points are connected by a line of cells.
#[test]
fn contacts_are_marked() {
    let place = place();
    let run = place
        .run("clearance cube.stl corner.stl beside.stl@translate=5,0,0 --mark marked.npz -r 30")
        .expect(0);
    assert!(run.text().contains("wrote   marked.npz"), "{}", run.text());
    let voxels = Voxels::open(place.path("marked.npz")).unwrap();
    let labels = voxels.labels().unwrap();
    let names: Vec<_> = labels
        .legend()
        .labels()
        .iter()
        .map(|label| (label.value, &*label.name))
        .collect();
    assert_eq!(names, [(1, "contact"), (2, "closest"), (255, "around")]);
    // 30 cells of 1 along x. The faces at 20 and at 15 have a layer each.
    let contact = labels.cells_of(1).unwrap();
    assert!(
        contact.count() > 0
            && contact
                .iter()
                .all(|cell| cell.iter().filter(|c| [15, 19, 20].contains(c)).count() >= 2),
        "{:?}",
        contact.iter().collect::<Vec<_>>()
    );
    let closest: Vec<_> = labels
        .cells_of(2)
        .unwrap()
        .iter()
        .map(|[x, ..]| x)
        .collect();
    assert!((21..27).all(|x| closest.contains(&x)), "{closest:?}");
    // All cells that the meshes touch, and the line.
    let around = labels.count(255);
    assert!(around > 1000, "{around}");
    let json = place
        .run("clearance cube.stl corner.stl --mark marked.vox -r 30 --json")
        .expect(0)
        .json();
    assert_eq!(json["outputs"][0]["path"], "marked.vox");
    // A failing gate still marks cells.
    place
        .run("clearance cube.stl corner.stl --min-distance 1 --mark gate.vox -r 30")
        .expect(1);
    assert!(place.path("gate.vox").exists());
}
