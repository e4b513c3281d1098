//! The order of triangles, of their vertices and of the two meshes does not change the results of clearance
//! and check. The meshes are sheets, touching boxes and repeated triangles, in 100 orders each, with all
//! pairs and with the first.

use serde_json::{Value, json};

use super::relations::solid;
use crate::support::place::{Place, stl};
use crate::support::random::Random;
use crate::support::solids::Triangle;

const ORDERS: usize = 100;

/// Replaces the number of a triangle by its vertices, the least first.
fn vertices(triangles: &[Triangle], n: &Value) -> Value {
    let mut vertices = triangles[n.as_u64().unwrap() as usize];
    vertices.sort_by(|a, b| a.partial_cmp(b).unwrap());
    json!(vertices)
}

/// Normalizes the result of a pair of meshes, so that it does not depend on their order and on the numbers of
/// triangles.
fn of_pair(mut pair: Value, meshes: [&[Triangle]; 2], is_swapped: bool) -> Value {
    let named = |numbers: &Value| {
        let mut named = [0, 1].map(|n| vertices(meshes[n], &numbers[n]));
        named[..].rotate_left(usize::from(is_swapped));
        json!(named)
    };
    for place in pair["places"].as_array_mut().unwrap() {
        place["triangles"] = named(&place["triangles"]);
    }
    let meets = pair["meetings"] != 0;
    // Among the triangles that contain the closest point, the report names the one with the least number.
    pair["triangles"] = if meets {
        named(&pair["triangles"])
    } else {
        Value::Null
    };
    if is_swapped {
        pair["points"].as_array_mut().unwrap().reverse();
        for of in ["/direction", "/depth/separation"] {
            if let Some(Value::Array(direction)) = pair.pointer_mut(of) {
                direction
                    .iter_mut()
                    .for_each(|c| *c = json!(0.0 - c.as_f64().unwrap()));
            }
        }
    }
    (pair["a"], pair["b"]) = (Value::Null, Value::Null);
    pair
}

#[test]
fn clearance_does_not_depend_on_the_order() {
    let worlds = [
        ("boxes that touch", "0 0 0", "1 1 2 4 4 4"),
        ("boxes at an edge", "0 0 0", "2 0.5 2 3 3 3"),
        ("boxes that overlap", "0 0 0", "1 1 1 3 3 3"),
        ("boxes apart", "0 0 0", "3 0 0 4 2 2"),
        ("sheets", "sheet 4 0 0 0", "sheet 4 0.5 0.25 0"),
        ("sheets apart", "sheet 4 0 0 0", "sheet 4 0.5 0.25 1.5"),
        ("copies", "5 times 0 0 0", "3 times 1 1 2 4 4 4"),
        ("copies of one", "2 times sheet 2 0 0 0", "sheet 2 0 0 0"),
    ];
    let mut seen = 0;
    for (name, first, second) in worlds {
        let [first, second] = [first, second].map(solid);
        for limit in ["", "--max-pairs 150"] {
            let mut random = Random(0x0123);
            let mut wanted = [None, None];
            let mut both = None;
            let orders = if limit.is_empty() { ORDERS } else { ORDERS / 5 };
            for n in 0..orders {
                let place = Place::new();
                let meshes = [&first, &second].map(|mesh| random.shuffled(mesh));
                place.write("a.stl", stl(&meshes[0]));
                place.write("b.stl", stl(&meshes[1]));
                let is_swapped = n % 2 == 1;
                let files = ["a.stl b.stl", "b.stl a.stl"][n % 2];
                let run = place.run(&format!("clearance {files} --json {limit}"));
                assert!(
                    !run.text().contains("-0.0,") && !run.text().contains("-0.0]"),
                    "{name}: {}",
                    run.text()
                );
                let numbered = if is_swapped {
                    [&meshes[1], &meshes[0]]
                } else {
                    [&meshes[0], &meshes[1]]
                };
                let mut json = run.json();
                let mut found = match json["pairs"].get_mut(0) {
                    Some(pair) => of_pair(pair.take(), numbered.map(Vec::as_slice), is_swapped),
                    None => json["exit_code"].take(),
                };
                let wanted = wanted[n % 2].get_or_insert_with(|| found.clone());
                assert_eq!(found, *wanted, "{name} {limit}: {n}");
                // If two pairs consist of the same two triangles, one of each mesh, exchanging the meshes
                // exchanges the pairs.
                if let Some(places) = found.get_mut("places") {
                    places.as_array_mut().unwrap().sort_by_key(Value::to_string);
                }
                let both = both.get_or_insert_with(|| found.clone());
                assert_eq!(found, *both, "{name} {limit}: {n}, whichever is the first");
                seen += 1;
            }
        }
    }
    assert_eq!(seen, worlds.len() * (ORDERS + ORDERS / 5));
}

#[test]
fn checks_do_not_depend_on_the_order() {
    let worlds = [
        ("boxes that touch", "0 0 0 + 1 1 2 4 4 4"),
        ("boxes that overlap", "0 0 0 + 1 1 1 3 3 3"),
        (
            "sheets",
            "sheet 4 0 0 0 + sheet 4 0.5 0.25 0 + sheet 3 0 0 0.5",
        ),
        ("copies", "4 times 0 0 0 + 3 times 1 1 2 4 4 4"),
    ];
    let mut seen = 0;
    for (name, triangles) in worlds {
        let triangles = solid(triangles);
        for limit in ["", "--max-pairs 150"] {
            let mut random = Random(0x0456);
            let mut wanted = None;
            for n in 0..ORDERS {
                let place = Place::new();
                let mesh = random.shuffled(&triangles);
                place.write("mesh.stl", stl(&mesh));
                let run = place.run(&format!("check mesh.stl -r 8 --json --places 1000 {limit}"));
                let mut json = run.expect(0).json();
                for finding in json["findings"].as_array_mut().unwrap() {
                    for place in finding["places"].as_array_mut().unwrap() {
                        let numbers = place["triangles"].as_array_mut().unwrap();
                        numbers.iter_mut().for_each(|n| *n = vertices(&mesh, n));
                        numbers.sort_by_key(Value::to_string);
                    }
                }
                let found = json!([
                    json["findings"],
                    json["verdict"],
                    json["warnings"],
                    json["vertices"]
                ]);
                assert_eq!(
                    found,
                    *wanted.get_or_insert_with(|| found.clone()),
                    "{name} {limit}: {n}"
                );
                seen += 1;
            }
        }
    }
    assert_eq!(seen, worlds.len() * 2 * ORDERS);
}
