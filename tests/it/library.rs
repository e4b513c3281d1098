//! The library produces the same bytes, digests and findings as the command.

use serde_json::{Value, json};
use voxelize::format::{self, Dtype, SaveOptions};
use voxelize::grid::{CellSource, InMemory};
use voxelize::job::{Target, Transform, UnitOfLength};
use voxelize::mesh::read::{self, Loaded, ReadOptions};
use voxelize::run::Plan;
use voxelize::{Digest, Finding, Fit, Inside, Lattice, Mesh, Rational, Rule, Voxelizer};

use crate::support::meshes::folder;
use crate::support::place::{Place, cuboid, stl};

/// Options of the command with the equivalent rule.
fn rules() -> Vec<(&'static str, Rule)> {
    let solid = |inside| Rule::solid().with_inside(inside).unwrap();
    let offset = Rule::offset("2vx".parse().unwrap());
    let flood = Inside::Flood { close_holes: None };
    let flooded = Rule::filled().with_inside(flood).unwrap();
    let hollow = Rule::filled().with_shell(2).unwrap();
    vec![
        ("--surface", Rule::surface()),
        ("--rule thin", Rule::Thin),
        ("--rule offset --radius 2vx", offset),
        ("--solid", Rule::solid()),
        ("--filled", Rule::filled()),
        ("--solid --inside robust", solid(Inside::Robust)),
        ("--filled --inside flood", flooded),
        ("--solid --inside vote", solid(Inside::Vote)),
        ("--filled --hollow 2", hollow),
        ("--rule distance", Rule::distance()),
    ]
}

/// Meshes of each kind: closed, open, round, thin, with two sides.
const MESHES: [&str; 5] = [
    "knot.stl",
    "open.stl",
    "sphere.stl",
    "thin.stl",
    "two_sided.stl",
];

fn place() -> Place {
    let place = Place::new();
    for name in &MESHES[..3] {
        std::fs::copy(folder().join(name), place.path(name)).unwrap();
    }
    let sheet = cuboid([40.0, 40.0, 0.01]);
    let mut thin: Vec<_> = sheet
        .iter()
        .map(|t| t.map(|[x, y, z]| [x, y, z + 0.3]))
        .collect();
    thin.extend(cuboid([40.0, 8.0, 8.0]));
    place.write("thin.stl", stl(&thin));
    let mut two_sided = sheet.clone();
    two_sided.extend(sheet.iter().map(|[a, b, c]| [*a, *c, *b]));
    place.write("two_sided.stl", stl(&two_sided));
    place
}

/// Returns the code, the severity and the text of findings, as the command prints them.
fn as_json(findings: &[Finding]) -> Vec<Value> {
    let one = |finding: &Finding| {
        json!([
            finding.code().name(),
            finding.severity.name(),
            finding.first.message()
        ])
    };
    findings.iter().map(one).collect()
}

fn digest_as_json(digest: &Digest) -> Value {
    json!({"grid": digest.grid.unwrap().to_string(), "cells": digest.cells.to_string()})
}

fn fitted(mesh: &Mesh, rule: &Rule, cells: usize) -> Lattice {
    Fit::longest(cells)
        .margin(rule.margin())
        .to(mesh.bounds())
        .unwrap()
}

/// Compares the results of a rule by the command and by the library under every plan. Returns the number of
/// findings.
fn compare(place: &Place, name: &str, (words, rule): (&str, Rule), format: &str) -> usize {
    let line = format!("{name} -r 24 {words}");
    let run = place.run(&format!("{line} -o command.{format} --json"));
    let path = place.path(name);
    let Loaded {
        mesh,
        findings: of_file,
        ..
    } = read::read_file(&path, &ReadOptions::default()).unwrap();
    let lattice = fitted(&mesh, &rule, 24);
    let format = format::by_name(format).unwrap();
    let options = SaveOptions::default();
    if run.code != Some(0) {
        let refused = format::check(rule.kind(), &lattice, format, &options);
        assert!(refused.is_err(), "{line}: {}", run.err);
        return 0;
    }
    // The command labels cells if the format stores a byte per cell.
    let has_labels = format.dtypes_of(rule.kind()).first() == Some(&Dtype::U8);
    let mut voxelizer = Voxelizer::new(rule).input(Some(name));
    if has_labels {
        voxelizer = voxelizer.labelled();
    }
    let json = run.expect(0).json();
    let all = json["warnings"].as_array().unwrap().iter();
    let findings: Vec<_> = all
        .map(|one| json!([one["code"], one["level"], one["message"]]))
        .collect();
    let file = std::fs::read(place.path(&format!("command.{}", format.name))).unwrap();
    let bytes = |source: &mut dyn CellSource| {
        let mut bytes = vec![];
        format::write_source_to(source, &mut bytes, format, &options).unwrap();
        bytes
    };
    let check = |plan: &str, written: Vec<u8>, digest: Digest, found: &[Finding]| {
        let case = format!("{line}, {plan}");
        assert!(written == file, "{case}: bytes");
        assert_eq!(digest_as_json(&digest), json["digest"], "{case}");
        let found = [as_json(&of_file), as_json(found)].concat();
        assert_eq!(found, findings, "{case}");
    };
    let made = voxelizer.run(&mesh, &lattice).unwrap();
    let written = bytes(&mut InMemory::new(&made.voxels));
    check("whole", written, made.voxels.digest(), &made.findings);
    let height = format.slab_layers.max(1);
    let mut plans = vec![Plan::Slabs(height)];
    if rule.has_bricks() {
        plans.push(Plan::Bricks(height.next_multiple_of(8)));
    }
    for plan in plans {
        let mut slabs = voxelizer.slabs(&mesh, &lattice, plan).unwrap();
        let written = bytes(&mut slabs);
        let digest = slabs.digest();
        check(&format!("{plan:?}"), written, digest, &slabs.findings());
    }
    let target = Target {
        format,
        path: None,
        dtype: None,
        choices: &[],
    };
    let prepared = voxelizer.prepare(&mesh, &lattice, Some(target)).unwrap();
    let (written, result) = prepared.run(|source| Ok(bytes(source)), None).unwrap();
    check("a job", written, result.digest, &result.findings);
    findings.len()
}

#[test]
fn bytes_digests_and_findings_match_the_command() {
    let place = place();
    let mut findings = 0;
    for name in MESHES {
        for rule in rules() {
            for format in ["vox", "npz", "raw", "npy"] {
                findings += compare(&place, name, rule, format);
            }
        }
    }
    assert!(findings > 40, "{findings}");
}

#[test]
fn a_transformed_mesh_is_that_of_the_command() {
    let place = place();
    let line = "knot.stl -r 24 --solid --axes x,-z,y --scale 1/3 --unit mm -o command.npz --json";
    let json = place.run(line).expect(0).json();
    let transform = Transform {
        axes: "x,-z,y".parse().unwrap(),
        scale: Rational::new(1, 3),
        unit: Some(UnitOfLength::Millimetre),
        ..Transform::default()
    };
    let mesh = Mesh::open(place.path("knot.stl")).unwrap();
    let mesh = transform.apply(mesh).unwrap();
    let lattice = fitted(&mesh, &Rule::solid(), 24);
    let voxelizer = Voxelizer::new(Rule::solid()).transform(&transform);
    let mut made = voxelizer.run(&mesh, &lattice).unwrap();
    made.voxels.record.input = Some("knot.stl".to_string());
    made.voxels.save(place.path("library.npz")).unwrap();
    assert_eq!(digest_as_json(&made.voxels.digest()), json["digest"]);
    let bytes = |name: &str| std::fs::read(place.path(name)).unwrap();
    assert!(bytes("library.npz") == bytes("command.npz"));
    let mut slabs = voxelizer.slabs(&mesh, &lattice, Plan::Slabs(8)).unwrap();
    while slabs.next().unwrap().is_some() {}
    assert_eq!(digest_as_json(&slabs.digest()), json["digest"]);
}
