//! What a mesh is: its size, whether it is closed, and cell sizes to begin with.

use std::path::Path;

use serde_json::{Value, json};
use voxelize::mesh::closed::Closedness;
use voxelize::mesh::read::{self, ReadOptions};
use voxelize::run::bytes;
use voxelize::{BitGrid, Bounds, Fit, Lattice, Mesh, Rational, Result, Size};

use super::super::args::DEFAULT_RES;
use super::super::call::Call;
use super::super::numbers::{counted, grouped, grouped_number, number};
use super::super::{json, summary, tell};

/// Tells of the mesh in a file.
pub fn look(path: &Path, call: &mut Call) -> Result<String> {
    let bar = call.bar();
    let options = ReadOptions { max_memory: call.how.memory.bytes(), progress: &bar };
    let loaded = read::read_file(path, &options);
    bar.clear();
    let loaded = loaded?;
    let (mesh, edges) = (&loaded.mesh, loaded.mesh.closedness());
    let median = median_edge(mesh);
    let solid = edges.is_closed() && edges.is_oriented() && !mesh.triangles().is_empty();
    let volume = solid.then(|| mesh.volume());
    call.know("format", loaded.format);
    call.know("bytes", loaded.bytes);
    call.know("mesh", facts(mesh, &edges, volume, median));
    let suggestions = suggestions(mesh.bounds(), median);
    call.know("suggestions", suggestions.iter().map(Suggestion::json).collect::<Value>());

    let mut text = String::new();
    let kind = summary::mesh_format(loaded.format);
    let triangles = summary::triangles(mesh.triangles().len(), mesh.degenerate());
    let mut line = |label: &str, said: &str| tell::line(&mut text, label, said);
    line("mesh", &format!("{}: {kind}, {triangles}, {}", path.display(), bytes(loaded.bytes.into())));
    if !mesh.bounds().is_empty() {
        line("size", &size(mesh.bounds()));
        line("closed", &closed(&edges, volume));
    }
    for (n, suggestion) in suggestions.iter().enumerate() {
        line(if n == 0 { "cells" } else { "" }, &suggestion.text());
    }
    Ok(text)
}

fn facts(mesh: &Mesh, edges: &Closedness, volume: Option<f64>, median: Option<f64>) -> Value {
    let bounds = mesh.bounds();
    let extent: [f64; 3] = std::array::from_fn(|a| f64::from(bounds.max[a]) - f64::from(bounds.min[a]));
    json!({
        "triangles": mesh.triangles().len(),
        "degenerate": mesh.degenerate(),
        "bounds": json::bounds(bounds),
        "extent": (!bounds.is_empty()).then_some(extent),
        "closed": edges.is_closed(),
        "oriented": edges.is_oriented(),
        "open_edges": edges.open_edges,
        "unbalanced_edges": edges.unbalanced_edges,
        "volume": volume,
        "median_edge": median,
    })
}

/// `63 × 65 × 28, x -28.5 … 34.5, …`.
fn size(bounds: &Bounds) -> String {
    let (low, high) = (bounds.min.map(f64::from), bounds.max.map(f64::from));
    let extent: Vec<_> = (0..3).map(|a| number(high[a] - low[a])).collect();
    let range = |(a, axis): (usize, &str)| format!("{axis} {} … {}", number(low[a]), number(high[a]));
    let ranges: Vec<_> = ["x", "y", "z"].into_iter().enumerate().map(range).collect();
    format!("{}: {}", extent.join(" × "), ranges.join(", "))
}

fn closed(edges: &Closedness, volume: Option<f64>) -> String {
    match volume {
        Some(volume) if volume < 0.0 => {
            format!("yes, but inside out: its volume is {}", grouped_number(volume))
        }
        Some(volume) => format!("yes, and oriented; volume {}", grouped_number(volume)),
        None if edges.is_closed() => {
            let edges = counted(edges.unbalanced_edges, "edge is", "edges are");
            format!("yes, but not oriented: {edges} not cancelled by their reverse")
        }
        None => format!("no, {}", counted(edges.open_edges, "open edge", "open edges")),
    }
}

/// The middle one of the lengths of all sides that have a length.
fn median_edge(mesh: &Mesh) -> Option<f64> {
    let length = |a: &[f32; 3], b: &[f32; 3]| {
        (0..3).map(|i| (f64::from(b[i]) - f64::from(a[i])).powi(2)).sum::<f64>().sqrt()
    };
    let sides = mesh.triangles().iter().flat_map(|t| (0..3).map(|n| length(&t[n], &t[(n + 1) % 3])));
    let mut lengths: Vec<f64> = sides.filter(|length| *length > 0.0).collect();
    let middle = lengths.len() / 2;
    (!lengths.is_empty()).then(|| *lengths.select_nth_unstable_by(middle, f64::total_cmp).1)
}

/// The cells on the longest axis that are worth suggesting.
const SENSIBLE: std::ops::RangeInclusive<usize> = 16..=4096;

fn longest(lattice: &Lattice) -> usize {
    lattice.dims().into_iter().max().unwrap_or(0)
}

/// Options that make a grid of this mesh, and what that grid would be.
struct Suggestion {
    option: String,
    why: String,
    lattice: Lattice,
}

/// The default, and a size by which an edge is about as long as a cell: where edges are that short, they
/// are as long as the details they draw. What does not fit is left out.
fn suggestions(bounds: &Bounds, median: Option<f64>) -> Vec<Suggestion> {
    let mut found = Vec::new();
    let mut add = |option: String, why: String, fit: Fit, lengths: std::ops::RangeInclusive<usize>| {
        let lattice = fit.to(bounds).ok().filter(|lattice| lengths.contains(&longest(lattice)));
        found.extend(lattice.map(|lattice| Suggestion { option, why, lattice }));
    };
    let default = format!("--res {DEFAULT_RES}");
    add(default, "the default".to_string(), Fit::longest(DEFAULT_RES), 1..=usize::MAX);
    if let Some(median) = median {
        // Two digits are enough to begin with.
        let size = number(format!("{median:.1e}").parse().unwrap_or(median));
        if let Ok(exact) = Rational::parse_decimal(&size) {
            let fit = Fit::new(Size::Spacing([exact.clone(), exact.clone(), exact]));
            let why = format!("about the median edge, {}", number(median));
            add(format!("--voxel-size {size}"), why, fit, SENSIBLE);
        }
    }
    found
}

impl Suggestion {
    fn text(&self) -> String {
        let [x, y, z] = self.lattice.dims().map(|n| grouped(n as u64));
        let size = number(self.lattice.spacing()[0].to_f64());
        let memory = bytes(BitGrid::bytes_for(self.lattice.dims()));
        format!("{} ({}): {x} × {y} × {z} of {size}, {memory} as bits", self.option, self.why)
    }

    fn json(&self) -> Value {
        json!({
            "option": self.option,
            "why": self.why,
            "dims": self.lattice.dims(),
            "spacing": self.lattice.spacing()[0].to_f64(),
            "spacing_exact": self.lattice.spacing()[0].to_string(),
        })
    }
}
