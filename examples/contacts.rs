//! Prints the pairs of triangles of a mesh that meet beyond shared vertices and edges, or the relation of two
//! meshes, as JSON with the elapsed seconds. `just peers check` compares this output.
//!
//! `cargo run --release --example contacts -- MESH [OTHER] [--threads N]`

use std::process::ExitCode;
use std::time::Instant;

use serde_json::{Value, json};
use voxelize::compare::clearance::{ClearanceBody, ClearanceOptions};
use voxelize::geom::tri_tri::Meeting;
use voxelize::{Mesh, Result, par};

fn main() -> ExitCode {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let threads = match words.iter().position(|word| word == "--threads") {
        Some(n) if n + 1 < words.len() => words
            .drain(n..n + 2)
            .nth(1)
            .and_then(|word| word.parse().ok()),
        _ => Some(0),
    };
    let found = match (words.as_slice(), threads) {
        ([mesh], Some(threads)) => itself(mesh, threads),
        ([mesh, other], Some(threads)) => two(mesh, other, threads),
        _ => {
            eprintln!("usage: contacts MESH [OTHER] [--threads N]");
            return 2.into();
        }
    };
    match found {
        Ok(found) => println!("{found}"),
        Err(error) => eprintln!("error: {error}"),
    }
    ExitCode::SUCCESS
}

fn pair(numbers: [u32; 2], meeting: Meeting) -> Value {
    json!([numbers[0], numbers[1], meeting.name()])
}

fn itself(mesh: &str, threads: usize) -> Result<Value> {
    let mesh = Mesh::open(mesh)?;
    par::with_threads(threads, || {
        let start = Instant::now();
        let contacts = mesh.contacts(&())?;
        let seconds = start.elapsed().as_secs_f64();
        let pairs: Value = contacts
            .iter()
            .map(|contact| pair(contact.triangles, contact.meeting))
            .collect();
        Ok(json!({"seconds": seconds, "pairs": pairs}))
    })?
}

fn two(mesh: &str, other: &str, threads: usize) -> Result<Value> {
    let [mesh, other] = [Mesh::open(mesh)?, Mesh::open(other)?];
    par::with_threads(threads, || {
        let start = Instant::now();
        let [first, second] = [ClearanceBody::new(&mesh)?, ClearanceBody::new(&other)?];
        let found = first.clearance(&second, &ClearanceOptions::default())?;
        let seconds = start.elapsed().as_secs_f64();
        let relation = found.relation.name();
        let distance = found.distance;
        let meetings = found.meetings;
        Ok(
            json!({"seconds": seconds, "relation": relation, "distance": distance, "meetings": meetings}),
        )
    })?
}
