//! Are fields that are made in slabs, under a limit of memory, the fields that are made at once?

use crate::support::place::Place;

#[test]
fn slabs_under_a_limit_of_memory_have_the_bytes_of_the_whole() {
    let place = Place::new();
    let knot = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/knot.stl");
    std::fs::copy(knot, place.path("knot.stl")).unwrap();
    let mut seen = 0;
    for options in ["", "--band all", "--signed"] {
        for extension in ["npy", "npz", "raw"] {
            let make = |name: &str, limit: &str| {
                let nearest = format!("--nearest {name}.nearest.npy");
                let words = format!("knot.stl -r 150 --rule distance {options} {nearest} {limit} --json");
                place.run(&format!("{words} -o {name}.{extension}")).expect(0).json()
            };
            let whole = make("whole", "");
            let slabs = make("slabs", "-j 2 --max-memory 30M");
            assert_ne!(whole["run"]["plan"], slabs["run"]["plan"], "{options}: {}", slabs["run"]);
            assert_eq!(whole["digest"], slabs["digest"]);
            let bytes = |name: &str| std::fs::read(place.path(name)).unwrap();
            for end in [extension, "nearest.npy"] {
                let [whole, slabs] = ["whole", "slabs"].map(|name| bytes(&format!("{name}.{end}")));
                assert!(whole == slabs, "{options}: .{end} has other bytes");
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 18);
}

#[test]
fn cells_within_a_distance_are_not_cut_by_the_grid() {
    let place = Place::new();
    let sphere = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/sphere.stl");
    std::fs::copy(sphere, place.path("sphere.stl")).unwrap();
    let cells = |options: &str| {
        let line = format!("sphere.stl -r 20 --rule distance --signed --iso 2vx {options} --json -o x.npz");
        place.run(&line).expect(0).json()["counts"]["occupied"].as_u64().unwrap()
    };
    assert_eq!(cells("--band all"), cells("--band 5"));
    assert!(cells("--band all --pad 0") < cells("--band all"));
}
