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
    let with = |rule: Rule, inside| rule.with_inside(inside).unwrap();
    vec![
        ("--surface", Rule::surface()),
        ("--rule thin", Rule::Thin),
        (
            "--rule offset --radius 2vx",
            Rule::offset("2vx".parse().unwrap()),
        ),
        ("--solid", Rule::solid()),
        ("--filled", Rule::filled()),
        (
            "--solid --inside robust",
            with(Rule::solid(), Inside::Robust),
        ),
        (
            "--filled --inside flood",
            with(Rule::filled(), Inside::Flood { close_holes: None }),
        ),
        ("--solid --inside vote", with(Rule::solid(), Inside::Vote)),
        ("--filled --hollow 2", Rule::filled().with_shell(2).unwrap()),
        ("--rule distance", Rule::distance()),
    ]
}

/// Creates a mesh of each kind: closed, open, thin, inside out, with two bodies.
fn place() -> (Place, Vec<&'static str>) {
    let place = Place::new();
    for name in ["knot.stl", "open.stl", "sphere.stl"] {
        std::fs::copy(folder().join(name), place.path(name)).unwrap();
    }
    let sheet = cuboid([40.0, 40.0, 0.01]);
    let moved = sheet.iter().map(|t| t.map(|[x, y, z]| [x, y, z + 0.3]));
    place.write(
        "thin.stl",
        stl(&moved.chain(cuboid([40.0, 8.0, 8.0])).collect::<Vec<_>>()),
    );
    place.write("two_sided.stl", {
        let turned = sheet.iter().map(|[a, b, c]| [*a, *c, *b]);
        stl(&sheet.iter().copied().chain(turned).collect::<Vec<_>>())
    });
    (
        place,
        vec![
            "knot.stl",
            "open.stl",
            "sphere.stl",
            "thin.stl",
            "two_sided.stl",
        ],
    )
}

/// Returns the code, the severity and the text of findings.
fn told(findings: &[Finding]) -> Vec<[String; 3]> {
    let one = |finding: &Finding| {
        [
            finding.code().name(),
            finding.severity.name(),
            finding.first.message(),
        ]
        .map(str::to_string)
    };
    findings.iter().map(one).collect()
}

fn told_by(json: &Value) -> Vec<[String; 3]> {
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap().to_string();
    let one = |finding: &Value| ["code", "level", "message"].map(|key| text(finding, key));
    json["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(one)
        .collect()
}

fn told_digest(digest: &Digest) -> Value {
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
    let Loaded {
        mesh,
        findings: of_file,
        ..
    } = read::read_file(&place.path(name), &ReadOptions::default()).unwrap();
    let lattice = fitted(&mesh, &rule, 24);
    let format = format::by_name(format).unwrap();
    // The command labels cells if the format stores a byte per cell.
    let has_labels = format.dtypes_of(rule.kind()).first() == Some(&Dtype::U8);
    let voxelizer = Voxelizer::new(rule).input(Some(name));
    let voxelizer = if has_labels {
        voxelizer.labelled()
    } else {
        voxelizer
    };
    let made = voxelizer.run(&mesh, &lattice).unwrap();
    if run.code != Some(0) {
        let error = format::check(rule.kind(), &lattice, format, &SaveOptions::default());
        assert!(error.is_err(), "{line}: {}", run.err);
        return 0;
    }
    let json = run.expect(0).json();
    let mut source = InMemory::new(&made.voxels);
    let bytes = |source: &mut dyn CellSource| {
        let mut bytes = vec![];
        format::write_source_to(source, &mut bytes, format, &SaveOptions::default()).unwrap();
        bytes
    };
    let expected = std::fs::read(place.path(&format!("command.{}", format.name))).unwrap();
    assert!(bytes(&mut source) == expected, "{line}: bytes");
    let of_file = told(&of_file);
    let findings = told_by(&json);
    assert_eq!(
        [of_file.clone(), told(&made.findings)].concat(),
        findings,
        "{line}"
    );
    let height = format.slab_layers.max(1);
    let bricks = Plan::Bricks(height.next_multiple_of(8));
    for plan in [
        Some(Plan::Slabs(height)),
        Some(bricks).filter(|_| rule.has_bricks()),
    ]
    .into_iter()
    .flatten()
    {
        let mut slabs = voxelizer.slabs(&mesh, &lattice, plan).unwrap();
        assert!(bytes(&mut slabs) == expected, "{line}: bytes of {plan:?}");
        assert_eq!(
            told_digest(&slabs.digest()),
            json["digest"],
            "{line}, {plan:?}"
        );
        assert_eq!(
            [of_file.clone(), told(&slabs.findings())].concat(),
            findings,
            "{line}, {plan:?}"
        );
    }
    let target = Target {
        format,
        path: None,
        dtype: None,
        choices: &[],
    };
    let prepared = voxelizer.prepare(&mesh, &lattice, Some(target)).unwrap();
    let (written, result) = prepared.run(|source| Ok(bytes(source)), None).unwrap();
    assert!(written == expected, "{line}: bytes of a job");
    assert_eq!(told_digest(&result.digest), json["digest"], "{line}, a job");
    assert_eq!(
        [of_file, told(&result.findings)].concat(),
        findings,
        "{line}, a job"
    );
    findings.len()
}

#[test]
fn bytes_digests_and_findings_match_the_command() {
    let (place, names) = place();
    let mut findings = 0;
    for name in names {
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
    let (place, _) = place();
    let line = "knot.stl -r 24 --solid --axes x,-z,y --scale 1/3 --unit mm -o command.npz --json";
    let json = place.run(line).expect(0).json();
    let transform = Transform {
        axes: "x,-z,y".parse().unwrap(),
        scale: Rational::new(1, 3),
        unit: Some(UnitOfLength::Millimetre),
        ..Transform::default()
    };
    let mesh = transform
        .apply(Mesh::open(place.path("knot.stl")).unwrap())
        .unwrap();
    let lattice = fitted(&mesh, &Rule::solid(), 24);
    let voxelizer = Voxelizer::new(Rule::solid()).transform(&transform);
    let mut made = voxelizer.run(&mesh, &lattice).unwrap();
    made.voxels.record.input = Some("knot.stl".to_string());
    made.voxels.save(place.path("library.npz")).unwrap();
    assert_eq!(told_digest(&made.voxels.digest()), json["digest"]);
    let bytes = |name: &str| std::fs::read(place.path(name)).unwrap();
    assert!(bytes("library.npz") == bytes("command.npz"));
    let mut slabs = voxelizer.slabs(&mesh, &lattice, Plan::Slabs(8)).unwrap();
    while slabs.next().unwrap().is_some() {}
    assert_eq!(told_digest(&slabs.digest()), json["digest"]);
}
