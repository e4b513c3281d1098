//! Walls of a given thickness: the cells of solid or filled whose centre is within a distance of the mesh. Also their
//! measured thickness, drain holes, and parts that shrink.

use voxelize::grid::CellSource;
use voxelize::job::{Extras, Request};
use voxelize::run::Plan;
use voxelize::{
    Band, Code, Digest, Inside, Iso, Lattice, Length, Mesh, Rule, ShellThickness, Voxelizer, Voxels,
};

use crate::support::place::Place;
use crate::support::rows;

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

/// The faces between wall and cavity of the cube are parallel to its faces, at whole cells.
#[test]
fn walls_are_measured_from_the_cavity_to_the_surface() {
    let place = Place::new();
    place.write("f.stl", std::fs::read("fixtures/f.stl").unwrap());
    rows::check(
        &place,
        "0 cube.stl -r 20 --unit mm --solid --hollow 2.5mm --json -o a.npz
            /walls {\"faces\":1176,\"greatest\":3.0,\"least\":3.0,\"mean\":3.0}
         0 cube.stl -r 20 --unit mm --solid --hollow 2.5mm -o a.npz
            err 3 to 3 mm, mean 3 mm, from the surface to the faces of the cavity
         0 cube.stl -r 20 --filled --hollow 4 --json -o a.npz
            /walls {\"faces\":864,\"greatest\":4.0,\"least\":4.0,\"mean\":4.0}
         0 cube.stl --scale 0.5 --voxel-size 0.5 --filled --hollow 4vx --json -o a.npz
            /walls {\"faces\":864,\"greatest\":2.0,\"least\":2.0,\"mean\":2.0}
         0 cube.stl -r 20 --solid --hollow 10units --json -o a.npz
            /walls {\"faces\":0,\"greatest\":null,\"least\":null,\"mean\":null}
         0 cube.stl -r 20 --solid --hollow 10units -o a.npz
            err no cavity: the wall fills the part
         0 cube.stl f.stl -r 20 --labels file --solid --hollow 1vx -o b.npz
            err not measured, because of labels of parts",
    );
    let place = Place::new();
    place.write("knot.stl", std::fs::read("fixtures/knot.stl").unwrap());
    let walls = |options: &str| {
        let line = format!("knot.stl -r 90 --solid --hollow 2units {options} -o a.npz --json");
        let json = place.run(&line).expect(0).json();
        (json["walls"].clone(), json["run"]["plan"].clone())
    };
    let (whole, plan) = walls("");
    assert_eq!(plan, "dense");
    for key in ["least", "mean", "greatest"] {
        let half = 65.7 / 90.0 / 2.0;
        let value = whole[key].as_f64().unwrap();
        assert!((value - 2.0).abs() <= half, "{key} {value}");
    }
    assert_eq!(walls("-j 1 --simd scalar").0, whole);
}

/// A gauge that measures slab by slab finds the same faces.
#[test]
fn walls_do_not_depend_on_slabs() {
    let mesh = Mesh::open("fixtures/knot.stl").unwrap();
    let lattice = Lattice::fit(mesh.bounds(), 60).unwrap();
    let rules = [
        Rule::solid().with_shell("2".parse::<Length>().unwrap()),
        Rule::filled().with_shell("1.5vx".parse::<Length>().unwrap()),
        Rule::filled().with_shell(2),
    ];
    for rule in rules {
        let voxelizer = Voxelizer::new(rule.unwrap()).extras(Extras {
            walls: true,
            ..Extras::default()
        });
        let measured = |plan: Plan| {
            let mut slabs = voxelizer.slabs(&mesh, &lattice, plan).unwrap();
            while slabs.next().unwrap().is_some() {}
            slabs.made().walls.expect("walls are measured")
        };
        let whole = measured(Plan::Dense);
        assert!(whole.faces > 1000, "{whole:?}");
        for height in [1, 7, 8, 30] {
            assert_eq!(measured(Plan::Slabs(height)), whole, "slabs of {height}");
        }
    }
}

/// The cavity begins three cells above the base. The axis of the hole is an edge of four columns of cells, and
/// the centres of the next eight columns are √2.5 cells from it.
#[test]
fn a_drain_hole_has_the_cells_within_its_radius() {
    rows::check(
        &Place::new(),
        "0 cube.stl -r 20 --solid --hollow 2.5units --drain 10,10,0,3 --json -o a.npz
            /drains [{\"cells\":12,\"diameter\":3.0,\"end\":[10.0,10.0,3.0],\"length\":3.0,\"point\":[10.0,10.0,0.0]}]
            /walls/least 3.0
            /counts/occupied 5244
         0 info a.npz
            out drain: 10,10,0,3
         0 verify a.npz cube.stl
         0 cube.stl -r 20 --solid --hollow 2.5units --drain 10,10,0,3.16 --json -o a.npz
            /drains/0/cells 12
         0 cube.stl -r 20 --solid --hollow 2.5units --drain 10,10,0,3.1623 --json -o a.npz
            /drains/0/cells 36
        # Four columns are exactly at the radius. The point is half a cell below the base.
         0 cube.stl -r 20 --solid --hollow 2.5units --drain 10.5,10.5,-0.5,2 --json -o a.npz
            /drains/0/cells 15
         0 cube.stl -r 20 --unit cm --solid --hollow 25mm --drain 0.1m,100mm,0,30mm --drain 10,10,20,3 --json -o a.npz
            /drains/0/cells 12
            /drains/1/cells 12
            /drains/1/end [10.0,10.0,17.0]
         0 info a.npz
            out drain: 10,10,0,3;10,10,20,3
         0 verify a.npz cube.stl
         0 cube.stl --scale 2 --translate 5,0,0 --voxel-size 2 --solid --hollow 2.5vx --drain 25,20,0,6 --json -o a.npz
            /drains/0/cells 12
            /drains/0/end [25.0,20.0,6.0]
            /drains/0/length 6.0
         0 cube.stl -r 20 --unit mm --filled --hollow 3 --drain 0,10,10,3mm -o a.npz
            err 0,10,10,3: 3 mm to the cavity at 3, 10, 10; 12 cells emptied
         0 verify --update list.toml cube.stl -r 20 --solid --hollow 2.5units --drain 10,10,0,3
         0 verify list.toml",
    );
}

#[test]
fn drain_holes_that_lead_nowhere_are_refused() {
    rows::refused(
        &Place::new(),
        "2 cube.stl -r 20 --solid --drain 10,10,0,3 -o a.npz
            err --drain needs --hollow
         2 cube.stl -r 20 --solid --hollow 2vx --drain 10,10,0 -o a.npz
            err expected 4 numbers X,Y,Z,D, a point and a diameter, found 3
         2 cube.stl -r 20 --solid --hollow 2vx --drain 10,10,0,3mm -o a.npz
            err --drain 10,10,0,3mm: the unit of the file is unknown
         2 cube.stl -r 20 --unit mm --solid --hollow 2vx --drain 10,10,0,1.7 -o a.npz
            err the hole is narrower than the diagonal of a cell, 1.73205 mm
         4 cube.stl -r 20 --unit mm --solid --hollow 2vx --drain 10,10,-2,3 -o a.npz
            err drain 10,10,-2,3: the point is more than 1.5 mm away from the part
         4 cube.stl -r 20 --solid --hollow 2vx --drain 10,10,10,3 -o a.npz
            err the point is more than 1.5 inside the part
         4 cube.stl -r 20 --solid --hollow 10units --drain 10,10,0,3 -o a.npz
            err the part has no cavity
         2 plan cube.stl -r 20 --solid --hollow 2vx --drain 10,10,0,3 -o a.zarr
            err the regions of a store have no drain holes
         2 cube.stl f.stl -r 20 --labels file --solid --hollow 2vx --drain 10,10,0,3 -o a.npz
            err --drain and --labels exclude each other",
    );
}

/// Holes are cut slab by slab.
#[test]
fn drain_holes_do_not_depend_on_slabs() {
    let mesh = Mesh::open("fixtures/knot.stl").unwrap();
    let lattice = Lattice::fit(mesh.bounds(), 60).unwrap();
    let mut request = Request::default();
    for (name, text) in [
        ("solid", ""),
        ("hollow", "2units"),
        ("drain", "34.5,0,0,5"),
        ("drain", "-19.07,0.8,-14.47,3.3"),
    ] {
        request.set(name, text).unwrap();
    }
    let job = request.resolve(&[]).unwrap();
    let voxelizer = Voxelizer::new(job.rule).drains(&job.drains);
    let made = |plan: Plan| {
        let mut slabs = voxelizer.slabs(&mesh, &lattice, plan).unwrap();
        while slabs.next().unwrap().is_some() {}
        (slabs.digest(), slabs.made().drains)
    };
    let whole = made(Plan::Dense);
    assert!(whole.1.iter().all(|hole| hole.cells > 10), "{:?}", whole.1);
    for height in [1, 7, 60] {
        assert_eq!(made(Plan::Slabs(height)), whole, "slabs of {height}");
    }
}

/// A part that shrinks by a distance has the solid cells that the wall of this thickness lacks. A centre at
/// exactly the distance is in both.
#[test]
fn a_part_shrinks_by_an_iso_value_below_zero() {
    let mesh = Mesh::open("fixtures/knot.stl").unwrap();
    let lattice = Lattice::fit(mesh.bounds(), 60).unwrap();
    for text in ["0.7", "2", "2.5vx"] {
        let solid = Rule::solid().with_inside(Inside::Robust).unwrap();
        let wall: Length = text.parse().unwrap();
        let wall = solid.with_shell(wall).unwrap();
        let mut wanted = run(&mesh, &lattice, solid).occupied().unwrap().clone();
        wanted.remove(run(&mesh, &lattice, wall).occupied().unwrap(), 0);
        let iso: Iso = format!("-{text}").parse().unwrap();
        let rule = Rule::distance()
            .with_band(Band::All)
            .and_then(Rule::with_sign)
            .and_then(|rule| rule.with_inside(Inside::Robust))
            .and_then(|rule| rule.with_iso(iso))
            .unwrap();
        let found = run(&mesh, &lattice, rule);
        assert!(wanted.count() > 100, "{text}");
        assert!(*found.occupied().unwrap() == wanted, "-{text}");
        assert_eq!(Rule::from_record(&found.record), Some(rule), "-{text}");
        for height in [1, 7] {
            let digest = in_slabs(&mesh, &lattice, rule, height);
            assert_eq!(digest, found.digest(), "-{text}, slabs of {height}");
        }
    }
    rows::check(
        &Place::new(),
        "0 cube.stl -r 20 --unit mm --rule distance --signed --iso -2.5mm --json -o a.npz
            /counts/occupied 4096
            /iso \"-2.5\"
            /band \"all\"
            /grid/dims [20,20,20]
         0 info a.npz
            out iso: -2.5 mm
         0 verify a.npz cube.stl
         0 cube.stl -r 20 --rule distance --signed --iso=-2.6vx --json -o a.npz
            /counts/occupied 2744
         0 cube.stl -r 20 --rule distance --signed --band 3 --iso -2.5 --pad 0 --json -o a.npz
            /counts/occupied 4096",
    );
    rows::refused(
        &Place::new(),
        "2 cube.stl -r 20 --rule distance --iso -2.5 -o a.npz
            err --iso: -2.5 is below zero, and distances without a sign never are
         2 cube.stl -r 20 --rule distance --signed --band 2 --iso -2.5vx -o a.npz
            err 2.5vx must be less than the band, 2 cells
         2 cube.stl -r 20 --rule distance --signed --iso -2.5mm -o a.npz
            err --iso -2.5mm: the unit of the file is unknown",
    );
}
