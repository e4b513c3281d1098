//! Prints the pairs of triangles of a mesh that meet beyond shared vertices and edges, or the relation of two
//! meshes, as JSON with the elapsed seconds. `just peers check` compares this output.
//!
//! `cargo run --release --example contacts -- MESH [OTHER] [--threads N]`

use std::process::ExitCode;
use std::time::Instant;

use serde_json::{Value, json};
use voxelize::compare::clearance::{ClearanceBody, ClearanceOptions};
use voxelize::{Mesh, Result, par};

fn main() -> ExitCode {
    let Some((meshes, threads)) = parse(std::env::args().skip(1)) else {
        return usage();
    };
    let found = match &meshes[..] {
        [mesh] => itself(mesh, threads),
        [mesh, other] => two(mesh, other, threads),
        _ => return usage(),
    };
    match found {
        Ok(found) => println!("{found}"),
        Err(error) => eprintln!("error: {error}"),
    }
    ExitCode::SUCCESS
}

/// Parses the paths of meshes and the number of threads, 0 for all.
fn parse(words: impl Iterator<Item = String>) -> Option<(Vec<String>, usize)> {
    let mut meshes = vec![];
    let mut threads = 0;
    let mut words = words;
    while let Some(word) = words.next() {
        if word == "--threads" {
            threads = words.next()?.parse().ok()?;
        } else {
            meshes.push(word);
        }
    }
    Some((meshes, threads))
}

fn usage() -> ExitCode {
    eprintln!("usage: contacts MESH [OTHER] [--threads N]");
    2.into()
}

fn itself(mesh: &str, threads: usize) -> Result<Value> {
    let mesh = Mesh::open(mesh)?;
    par::with_threads(threads, || {
        let start = Instant::now();
        let contacts = mesh.contacts(&())?;
        let seconds = start.elapsed().as_secs_f64();
        let mut pairs = vec![];
        for contact in contacts.iter() {
            let [first, second] = contact.triangles;
            pairs.push(json!([first, second, contact.meeting.name()]));
        }
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
        Ok(json!({
            "seconds": seconds,
            "relation": found.relation.name(),
            "distance": found.distance,
            "meetings": found.meetings,
        }))
    })?
}
