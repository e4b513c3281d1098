//! Concurrent writers of the same files: recorded cases are never lost, and a file and its sidecar come from
//! the same writer.

use std::process::{Child, Stdio};

use crate::support::place::Place;
use crate::support::suite::Counts;

/// Concurrent processes.
const WRITERS: usize = 8;

/// Number of times that all processes write the same pair.
const ROUNDS: usize = 12;

pub fn writers_side_by_side() -> Counts {
    vec![
        ("cases recorded by processes of their own", recorded()),
        ("pairs written at a time", pairs()),
    ]
}

fn all(place: &Place, line: impl Fn(usize) -> String) {
    let start = |n| {
        let mut command = place.command(&line(n));
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    let running: Vec<Child> = (0..WRITERS).map(start).collect();
    for (n, mut child) in running.into_iter().enumerate() {
        assert!(child.wait().unwrap().success(), "{}", line(n));
    }
}

/// Each process adds a case to one list. All cases must be present at the end.
fn recorded() -> u64 {
    let place = Place::new();
    all(&place, |n| {
        format!("verify --update list.toml cube.stl -r {} -j 1", n + 4)
    });
    let list = std::fs::read_to_string(place.path("list.toml")).unwrap();
    assert_eq!(list.matches("[[case]]").count(), WRITERS, "{list}");
    place.run("verify list.toml").expect(0);
    WRITERS as u64
}

/// Each process writes a.raw with other cells. The remaining pair must come from one of them.
fn pairs() -> u64 {
    let place = Place::new();
    for round in 0..ROUNDS {
        all(&place, |n| format!("cube.stl -r {} -o a.raw -j 1", n + 4));
        let info = place.run("info a.raw --json");
        assert_eq!(info.code, Some(0), "round {round}: {}", info.text());
        assert!(
            info.json()["grid"]["origin"].is_array(),
            "round {round}: {}",
            info.text()
        );
    }
    (ROUNDS * WRITERS) as u64
}
