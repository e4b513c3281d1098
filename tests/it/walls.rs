//! Walls of a given thickness: the cells of solid or filled whose centre is within a distance of the mesh.

use voxelize::grid::CellSource;
use voxelize::run::Plan;
use voxelize::{
    Code, Digest, Inside, Lattice, Length, Mesh, Rule, ShellThickness, Voxelizer, Voxels,
};

use crate::support::place::Place;

fn run(mesh: &Mesh, lattice: &Lattice, rule: Rule) -> Voxels {
    Voxelizer::new(rule).run(mesh, lattice).unwrap().voxels
}

fn in_slabs(mesh: &Mesh, lattice: &Lattice, rule: Rule, height: usize) -> Digest {
    let mut slabs = Voxelizer::new(rule)
        .slabs(mesh, lattice, Plan::Slabs(height))
        .unwrap();
    while slabs.next().unwrap().is_some() {}
    slabs.digest()
}

/// The rules solid, surface and offset are proved by oracles of their own, so a wall is compared with their
/// cells.
#[test]
fn a_wall_is_what_solid_and_offset_share() {
    let mut emptied = 0;
    for name in ["cube", "knot", "sphere", "bracket", "open"] {
        let mesh = Mesh::open(format!("fixtures/{name}.stl")).unwrap();
        let lattice = Lattice::fit(mesh.bounds(), 40).unwrap();
        for thickness in ["0.001", "2vx", "3.5vx", "1000"] {
            let thickness: Length = thickness.parse().unwrap();
            let what = format!("{name}, {thickness}");
            let near = run(&mesh, &lattice, Rule::offset(thickness));
            let near = near.occupied().unwrap();

            let solid = Rule::solid().with_inside(Inside::Robust).unwrap();
            let mut wanted = run(&mesh, &lattice, solid).occupied().unwrap().clone();
            let before = wanted.count();
            wanted.keep(near);
            emptied += before - wanted.count();
            let rule = solid.with_shell(ShellThickness::Wall(thickness)).unwrap();
            let found = run(&mesh, &lattice, rule);
            assert!(*found.occupied().unwrap() == wanted, "solid, {what}");
            assert_eq!(Rule::from_record(&found.record), Some(rule), "{what}");
            for height in [1, 7] {
                let digest = in_slabs(&mesh, &lattice, rule, height);
                assert_eq!(digest, found.digest(), "solid, {what}, slabs of {height}");
            }

            let filled = Rule::filled().with_inside(Inside::Robust).unwrap();
            let ties = filled.ties().unwrap();
            let mut kept = near.clone();
            kept.add(
                run(&mesh, &lattice, Rule::Surface { ties })
                    .occupied()
                    .unwrap(),
            );
            let mut wanted = run(&mesh, &lattice, filled).occupied().unwrap().clone();
            wanted.keep(&kept);
            let rule = filled.with_shell(ShellThickness::Wall(thickness)).unwrap();
            let found = run(&mesh, &lattice, rule);
            assert!(*found.occupied().unwrap() == wanted, "filled, {what}");
            assert_eq!(Rule::from_record(&found.record), Some(rule), "{what}");
            for height in [1, 7] {
                let digest = in_slabs(&mesh, &lattice, rule, height);
                assert_eq!(digest, found.digest(), "filled, {what}, slabs of {height}");
            }
        }
    }
    assert!(emptied > 10_000, "{emptied}");
}

/// The centres of the cells are 0.5, 1.5, … cells from the faces of the cube.
#[test]
fn a_centre_at_exactly_the_thickness_is_in_the_wall() {
    let mesh = Mesh::open("fixtures/cube.stl").unwrap();
    let lattice = Lattice::fit(mesh.bounds(), 20).unwrap();
    for (thickness, cavity) in [
        ("2.4999vx", 16),
        ("2.5vx", 14),
        ("2.5001vx", 14),
        ("0.4vx", 20),
    ] {
        let rule = Rule::solid()
            .with_shell(ShellThickness::Wall(thickness.parse().unwrap()))
            .unwrap();
        let count = run(&mesh, &lattice, rule).count();
        assert_eq!(count, 8000 - u64::pow(cavity, 3), "{thickness}");
    }
}

#[test]
fn the_command_makes_a_wall_in_every_unit() {
    let place = Place::new();
    let digest = |options: &str| {
        let line = format!("cube.stl -r 20 {options} -o a.npz --json");
        place.run(&line).expect(0).json()["digest"]["cells"].clone()
    };
    let wall = digest("--solid --hollow 2.5units");
    for options in [
        "--solid --unit mm --hollow 2.5mm",
        "--solid --unit cm --hollow 25mm",
        "--solid --hollow 2.5vx",
        "--solid --hollow 2.5units --max-memory 64M -j 1",
    ] {
        assert_eq!(digest(options), wall, "{options}");
    }
    // Nothing is lost: the cavity is no second piece of the part.
    let json = place
        .run("cube.stl -r 20 --solid --unit mm --hollow 2.5mm -o a.npz --json")
        .expect(0)
        .json();
    assert_eq!(json["warnings"], serde_json::json!([]));
    assert_eq!(json["wall"], "2.5");
    let info = place.run("info a.npz").expect(0);
    assert!(info.text().contains("wall: 2.5 mm"), "{}", info.text());
    place.run("verify a.npz cube.stl").expect(0);
}

/// A process that makes a region of a store reads only the triangles of its bin.
#[test]
fn a_bin_has_the_triangles_within_the_thickness() {
    let place = Place::new();
    for rule in ["solid", "filled"] {
        let options = format!("-r 96 --{rule} --hollow 40vx");
        let whole = place
            .run(&format!("cube.stl {options} -o a.npz --json"))
            .expect(0)
            .json();
        let store = format!("{rule}.zarr");
        let plan = format!("plan cube.stl {options} --regions 3 --bin -o {store}");
        place.run(&plan).expect(0);
        for region in 1..=3 {
            place.run(&format!("{store} --region {region}/3")).expect(0);
        }
        let finished = place
            .run(&format!("finish {store} --json"))
            .expect(0)
            .json();
        assert_eq!(finished["digest"], whole["digest"], "{rule}");
    }
}

#[test]
fn other_rules_and_a_thickness_of_zero_are_refused() {
    let wall = |text: &str| ShellThickness::Wall(text.parse().unwrap());
    for refused in [
        Rule::solid().with_shell(wall("0")),
        Rule::filled().with_shell(wall("0vx")),
        Rule::surface().with_shell(wall("1")),
        Rule::solid().with_shell(ShellThickness::Steps(2)),
    ] {
        assert_eq!(refused.unwrap_err().code(), Code::Usage);
    }
}
