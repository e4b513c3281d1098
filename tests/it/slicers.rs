//! Slicer projects are voxelized as they are printed. Negative volumes are subtracted from the bodies of
//! their object; modifiers and supports are omitted with a warning.

use std::io::{Cursor, Write};

use voxelize::grid::CellSource;
use voxelize::job::{Extras, JobLabels};
use voxelize::mesh::PartKind;
use voxelize::mesh::read::{Loaded, ReadOptions, read_stream};
use voxelize::run::Plan;
use voxelize::{Inside, Lattice, Mesh, Rule, Voxelizer, voxelize};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::support::place::Place;
use crate::support::random::Random;
use crate::support::rows::{self, check};
use crate::support::solids::{between, inside_out};
use crate::support::tables;

/// Low and high corner of a box.
type Cuboid = [[f32; 3]; 2];

/// Body with its negative volumes.
type CutBody = (Cuboid, Vec<Cuboid>);

/// Test for the cells that a rule occupies for a body.
type CellTest<'a> = &'a dyn Fn([usize; 3], &CutBody) -> bool;

const CUBE: Cuboid = [[0.0; 3], [10.0; 3]];
/// Extends beyond the top of the cube.
const HOLE: Cuboid = [[2.0, 2.0, 5.0], [8.0, 8.0, 15.0]];

fn zip(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(vec![]));
    for (name, text) in entries {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Returns the mesh element of these boxes, each of 12 triangles.
fn mesh(boxes: &[Cuboid]) -> String {
    let mut vertices = String::new();
    let mut triangles = String::new();
    let corners = boxes.iter().flat_map(|[low, high]| between(*low, *high));
    for (n, [x, y, z]) in corners.flatten().enumerate() {
        vertices += &format!("<vertex x=\"{x}\" y=\"{y}\" z=\"{z}\"/>");
        if n % 3 == 2 {
            triangles += &format!("<triangle v1=\"{}\" v2=\"{}\" v3=\"{n}\"/>", n - 2, n - 1);
        }
    }
    format!("<mesh><vertices>{vertices}</vertices><triangles>{triangles}</triangles></mesh>")
}

fn object(id: u32, more: &str, content: &str) -> String {
    format!("<object id=\"{id}\" {more}>{content}</object>")
}

fn model(resources: &str, build: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\
         <model unit=\"millimeter\" xmlns=\"http://schemas.microsoft.com/3dmanufacturing/core/2015/02\" \
         xmlns:p=\"http://schemas.microsoft.com/3dmanufacturing/production/2015/06\" \
         xmlns:slic3r=\"http://schemas.slic3r.org/3mf/2017/06\">\
         <resources>{resources}</resources><build>{build}</build></model>"
    )
}

/// Returns a project of PrusaSlicer: objects of boxes, each with the type of its volume, placed by items.
fn prusa(objects: &[Vec<(&str, Cuboid)>], items: &str) -> Vec<u8> {
    let mut resources = String::new();
    let mut config = String::new();
    for (id, volumes) in (1..).zip(objects) {
        let boxes: Vec<_> = volumes.iter().map(|(_, cuboid)| *cuboid).collect();
        resources += &object(id, "type=\"model\"", &mesh(&boxes));
        config += &format!("<object id=\"{id}\" instances_count=\"1\">");
        for (n, (kind, _)) in volumes.iter().enumerate() {
            let first = 12 * n;
            let last = 12 * n + 11;
            config += &format!(
                "<volume firstid=\"{first}\" lastid=\"{last}\"><metadata type=\"volume\" key=\"name\" value=\"piece {n}\"/>\
                 <metadata type=\"volume\" key=\"volume_type\" value=\"{kind}\"/></volume>"
            );
        }
        config += "</object>";
    }
    let config = format!("<?xml version=\"1.0\"?>\n<config>{config}</config>");
    zip(&[
        ("3D/3dmodel.model", &model(&resources, items)),
        ("Metadata/Slic3r_PE_model.config", &config),
    ])
}

/// Returns a project of Bambu Studio: one object of components in a separate model, each with the subtype of
/// its part.
fn bambu(parts: &[(&str, Cuboid)], more: &str, item: &str) -> Vec<u8> {
    let mut leaf = String::new();
    let mut components = String::new();
    let mut config = String::new();
    for (id, (subtype, cuboid)) in (1..).zip(parts) {
        leaf += &object(id, more, &mesh(&[*cuboid]));
        components += &format!("<component p:path=\"/3D/Objects/part.model\" objectid=\"{id}\"/>");
        config += &format!(
            "<part id=\"{id}\" subtype=\"{subtype}\"><metadata key=\"name\" value=\"part {id}\"/></part>"
        );
    }
    let components = format!("<components>{components}</components>");
    let start = model(&object(9, "type=\"model\"", &components), item);
    let config = format!(
        "<config><object id=\"9\">{config}</object><plate><metadata key=\"a\" value=\"b\"/></plate></config>"
    );
    zip(&[
        ("3D/3dmodel.model", &start),
        ("3D/Objects/part.model", &model(&leaf, "")),
        ("Metadata/model_settings.config", &config),
    ])
}

/// Returns unit cells starting at (0, 0, 0).
fn unit_cells(dims: [usize; 3]) -> Lattice {
    let bounds = Mesh::from_triangles(between([0.0; 3], dims.map(|n| n as f32))).unwrap();
    let lattice = Lattice::fit(bounds.bounds(), dims.into_iter().max().unwrap()).unwrap();
    assert_eq!(lattice.dims(), dims);
    lattice
}

fn loaded(file: &[u8]) -> Loaded {
    read_stream(&mut &file[..], "a.3mf", &ReadOptions::default())
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the findings: codes, severities and texts.
fn findings(loaded: &Loaded) -> Vec<String> {
    let findings = loaded.findings.iter();
    findings
        .map(|one| format!("{} {} {}", one.code(), one.severity.name(), one.text()))
        .collect()
}

fn solid(mesh: &Mesh, dims: [usize; 3]) -> u64 {
    let lattice = unit_cells(dims);
    voxelize(mesh, &lattice, Rule::solid()).unwrap().count()
}

/// Returns the joined mesh of bodies less their negative volumes.
fn less(bodies: &[CutBody], is_inverted: bool) -> Mesh {
    let own = |[low, high]: &Cuboid| {
        let mut triangles = between(*low, *high);
        if is_inverted {
            triangles = inside_out(triangles);
        }
        Mesh::from_triangles(triangles).unwrap()
    };
    let mut meshes = vec![];
    for (body, cuts) in bodies {
        let mut mesh = own(body);
        for cut in cuts {
            mesh = mesh.less(own(cut)).unwrap();
        }
        meshes.push(mesh);
    }
    Mesh::join(meshes.iter().map(|mesh| ("a", mesh))).unwrap()
}

const ITEM: &str = "<item objectid=\"1\"/>";

/// Slicers with the types of a piece in the cube and of its object, occupied cells, and the finding.
const PIECES: &str = r#"
    prusa | NegativeVolume | | 820 | S111 note negative volumes of 12 triangles
    prusa | NEGATIVEVOLUME | | 820 | S111 note negative volumes of 12 triangles
    prusa | ParameterModifier | | 1000 | S109 warning left out: 12 triangles of modifiers
    prusa | SupportBlocker | | 1000 | S109 warning left out: 12 triangles of support blockers
    prusa | SupportEnforcer | | 1000 | S109 warning left out: 12 triangles of support enforcers
    prusa | ModelPart | | 1180 |
    bambu | negative_part | type="other" | 820 | S111 note negative volumes of 12 triangles
    bambu | negative_part | type="model" | 820 | S111 note negative volumes of 12 triangles
    bambu | modifier_part | type="model" | 1000 | S109 warning left out: 12 triangles of modifiers
    bambu | support_blocker | type="other" | 1000 | S109 warning left out: 12 triangles of support blockers
    bambu | support_enforcer | | 1000 | S109 warning left out: 12 triangles of support enforcers
    bambu | normal_part | type="other" | 1180 |
    slic3r | 0 | | 1180 |
    slic3r | 1 | | 1000 | S109 warning left out: 12 triangles of modifiers
"#;

#[test]
fn pieces_mean_what_the_slicer_shows() {
    for [slicer, kind, more, cells, finding] in tables::rows(PIECES) {
        let file = match slicer {
            "prusa" => prusa(&[vec![("ModelPart", CUBE), (kind, HOLE)]], ITEM),
            "bambu" => {
                let item = "<item objectid=\"9\" printable=\"1\"/>";
                bambu(&[("normal_part", CUBE), (kind, HOLE)], more, item)
            }
            _ => {
                let volumes = format!(
                    "<slic3r:volumes><slic3r:volume ts=\"0\" te=\"11\" modifier=\"0\"/>\
                     <slic3r:volume ts=\"12\" te=\"23\" modifier=\"{kind}\"/></slic3r:volumes>"
                );
                let mesh = mesh(&[CUBE, HOLE]).replace("</mesh>", &(volumes + "</mesh>"));
                zip(&[("3D/3dmodel.model", &model(&object(1, "", &mesh), ITEM))])
            }
        };
        let loaded = loaded(&file);
        assert_eq!(
            solid(&loaded.mesh, [10, 10, 15]).to_string(),
            cells,
            "{slicer} {kind}"
        );
        let found = findings(&loaded);
        assert_eq!(
            found.len(),
            usize::from(!finding.is_empty()),
            "{slicer} {kind}"
        );
        assert!(
            found.iter().all(|found| found.starts_with(finding)),
            "{found:?}, not {finding}"
        );
        // Bodies of several pieces have the names of the slicer.
        let names = match kind {
            "ModelPart" => ["piece 0", "piece 1"],
            "normal_part" => ["part 1", "part 2"],
            _ => continue,
        };
        assert_eq!(loaded.mesh.parts(PartKind::Object).unwrap().names(), names);
    }
}

#[test]
fn settings_that_do_not_fit_are_a_warning() {
    let file = |config: &str| {
        let start = model(&object(1, "", &mesh(&[CUBE])), ITEM);
        zip(&[
            ("3D/3dmodel.model", &start),
            ("Metadata/Slic3r_PE_model.config", config),
        ])
    };
    let volume = |object: u32, first: u32, last: u32| {
        let kind = "<metadata key=\"volume_type\" value=\"NegativeVolume\"/>";
        format!(
            "<config><object id=\"{object}\"><volume firstid=\"{first}\" lastid=\"{last}\">{kind}</volume></object></config>"
        )
    };
    let part = "<part id=\"7\" subtype=\"negative_part\"/>";
    for config in [
        volume(1, 12, 23),
        volume(1, 5, 3),
        volume(2, 0, 11),
        format!("<config><object id=\"1\">{part}</object></config>"),
        "<config><object id=\"1\">".to_string(),
        "<config><object id=\"one\"/></config>".to_string(),
    ] {
        let loaded = loaded(&file(&config));
        let found = findings(&loaded);
        assert!(
            found.len() == 1 && found[0].starts_with("S113 warning"),
            "{config}: {found:?}"
        );
        assert_eq!(loaded.mesh.triangles().len(), 12, "{config}");
    }
    assert!(loaded(&file("<config/>")).findings.is_empty());
}

/// Occupied cells, objects with their volumes, and placed objects: by number, with a shift along x, and mirrored.
const CUTS: &str = "
    # Of both bodies, wherever it is in the file, and of no other object.
    1840 | cube far -bar | 1
    1840 | -bar cube far | 1
    1920 | cube -bar ; far | 1 2
    1920 | cube ; far -bar | 1 2
    # Of each instance.
    1984 | cube -nut | 1 1+12
    1984 | cube -nut | 1-30 1
    # The body of one instance fills the cut-out of the other.
    1096 | cube -nut | 1 1+1
    # Twice, the whole body, and nothing of it.
    820 | cube -hole -hole | 1
    0 | cube -cube | 1
    1000 | cube -far | 1
";

#[test]
fn a_negative_volume_cuts_the_bodies_of_its_object_at_every_place() {
    let volume = |word| {
        let (kind, name) = match str::strip_prefix(word, "-") {
            Some(name) => ("NegativeVolume", name),
            None => ("ModelPart", word),
        };
        let cuboid = match name {
            "cube" => CUBE,
            "hole" => HOLE,
            "far" => [[20.0, 0.0, 0.0], [30.0, 10.0, 10.0]],
            // Extends from one cube into the other.
            "bar" => [[5.0, 3.0, 3.0], [25.0, 7.0, 7.0]],
            _ => [[2.0; 3], [4.0; 3]],
        };
        (kind, cuboid)
    };
    let item = |word: &str| {
        let (object, shift) = word.split_at(1);
        let (side, shift) = match shift.strip_prefix('-') {
            Some(shift) => (-1, shift),
            None => (1, shift.strip_prefix('+').unwrap_or("0")),
        };
        format!("<item objectid=\"{object}\" transform=\"{side} 0 0 0 1 0 0 0 1 {shift} 0 0\"/>")
    };
    for [cells, objects, items] in tables::rows(CUTS) {
        let volumes = |words: &'static str| words.split_whitespace().map(volume).collect();
        let objects: Vec<_> = objects.split(';').map(volumes).collect();
        let items: String = items.split(' ').map(item).collect();
        let mesh = loaded(&prusa(&objects, &items)).mesh;
        assert_eq!(solid(&mesh, [32, 10, 10]).to_string(), cells, "{objects:?}");
    }
}

/// Returns a random box within some cells. Its sides are on walls or off centres.
fn cuboid(random: &mut Random, most: f32) -> Cuboid {
    let sides: [[f32; 2]; 3] = std::array::from_fn(|_| {
        loop {
            let mut ends: [f32; 2] = std::array::from_fn(|_| {
                random.below(most as u64) as f32 + random.of(&[0.0, 0.25, 0.75])
            });
            ends.sort_by(f32::total_cmp);
            if ends[0] < ends[1] {
                break ends;
            }
        }
    });
    [0, 1].map(|end| [0, 1, 2].map(|axis| sides[axis][end]))
}

#[test]
fn solid_and_filled_follow_their_definition() {
    let mut random = Random(3);
    let dims = [11, 9, 13];
    let lattice = unit_cells(dims);
    let mut removed = 0;
    let mut occupied = 0;
    for _ in 0..60 {
        let mut bodies: Vec<CutBody> = vec![];
        for _ in 0..1 + random.below(3) {
            let body = cuboid(&mut random, 9.0);
            let cuts = (0..random.below(3)).map(|_| cuboid(&mut random, 9.0));
            bodies.push((body, cuts.collect()));
        }
        let mesh = less(&bodies, false);
        let within =
            |cell: [usize; 3], [low, high]: &Cuboid, is_so: &dyn Fn(f32, f32, f32) -> bool| {
                (0..3).all(|axis| is_so(cell[axis] as f32, low[axis], high[axis]))
            };
        let has_centre = |i: f32, low: f32, high: f32| low < i + 0.5 && i + 0.5 < high;
        let meets = |i: f32, low: f32, high: f32| low < i + 1.0 && i < high;
        let holds = |i: f32, low: f32, high: f32| low <= i && i + 1.0 <= high;
        let solid = |cell: [usize; 3], (body, cuts): &CutBody| {
            within(cell, body, &has_centre)
                && !cuts.iter().any(|cut| within(cell, cut, &has_centre))
        };
        let filled = |cell: [usize; 3], (body, cuts): &CutBody| {
            within(cell, body, &meets) && !cuts.iter().any(|cut| within(cell, cut, &holds))
        };
        let rules: [(Rule, CellTest); 4] = [
            (Rule::solid(), &solid),
            (Rule::solid().with_inside(Inside::Robust).unwrap(), &solid),
            (Rule::solid().with_inside(Inside::Nonzero).unwrap(), &solid),
            (Rule::filled(), &filled),
        ];
        for (rule, is_so) in rules {
            let whole = voxelize(&mesh, &lattice, rule).unwrap();
            let cells = whole.occupied().unwrap();
            let extras = Extras {
                labels: JobLabels::Parts(PartKind::File),
                ..Extras::default()
            };
            let labelled = Voxelizer::new(rule).extras(extras);
            let labelled = labelled.run(&mesh, &lattice).unwrap().voxels;
            let labels = labelled.labels().unwrap();
            for n in 0..dims.iter().product::<usize>() {
                let cell = [n % dims[0], n / dims[0] % dims[1], n / dims[0] / dims[1]];
                let first = bodies.iter().position(|body| is_so(cell, body));
                assert_eq!(
                    cells.get(cell),
                    first.is_some(),
                    "{rule:?} {cell:?} {bodies:?}"
                );
                // Labels of the bodies.
                let label = first.map_or(0, |n| n as u8 + 1);
                assert_eq!(labels.get(cell), label, "{rule:?} {cell:?}");
                occupied += u64::from(first.is_some());
                let mut whole = bodies.iter().map(|(body, _)| body);
                let is_covered = whole.any(|body| within(cell, body, &has_centre));
                removed += u64::from(first.is_none() && is_covered);
            }
            for height in [1, 4, 5] {
                let plan = Plan::Slabs(height);
                let mut slabs = Voxelizer::new(rule).slabs(&mesh, &lattice, plan).unwrap();
                while slabs.advance().unwrap() {}
                assert_eq!(
                    slabs.digest().cells,
                    whole.digest().cells,
                    "{rule:?} {height}"
                );
            }
        }
    }
    assert!(removed > 500 && occupied > 10_000, "{removed} {occupied}");
}

#[test]
fn a_shell_surrounds_cut_outs() {
    let mesh = less(&[([[0.0; 3], [9.0; 3]], vec![[[4.0; 3], [5.0; 3]]])], false);
    let rule = Rule::filled().with_shell(1).unwrap();
    // The outermost layer, and the cells around the cut-out box.
    let cells = voxelize(&mesh, &unit_cells([9; 3]), rule).unwrap();
    assert_eq!(cells.count(), 729 - 343 + 26);
}

/// Creates a folder with a project whose bodies are cut.
fn place() -> Place {
    let place = Place::new();
    let cut = vec![("ModelPart", CUBE), ("NegativeVolume", HOLE)];
    place.write("a.3mf", prusa(&[cut], ITEM));
    place
}

#[test]
fn commands_subtract_negative_volumes_or_warn() {
    check(
        &place(),
        r#"
        0 a.3mf --voxel-size 1 --solid -o a.npz --json
            no out W023
            /counts/occupied 820
        0 a.3mf --voxel-size 1 --filled -o a.npz --json
            no out W023
            /counts/occupied 820
        0 a.3mf --voxel-size 1 --solid --labels object -o a.npz --json
            no out W023
            /counts/occupied 820
        # A flood omits the cells of the surface.
        0 a.3mf --voxel-size 1 --solid --inside flood -o a.npz --json
            no out W023
            /counts/occupied 368
        0 a.3mf --voxel-size 1 --solid --keep-thin -o a.npz --json
            no out W023
            /counts/occupied 820
        0 a.3mf --voxel-size 1 --rotate z,90 --axes x,-z,y --solid -o a.npz --json
            no out W023
            /counts/occupied 820
        0 a.3mf --voxel-size 1 --scale 2 --solid -o a.npz --json
            no out W023
            /counts/occupied 6560
        0 a.3mf --voxel-size 1 -o a.npz --json
            /counts/occupied 488
            out "level":"warning","code":"W023"
        0 a.3mf --voxel-size 1 --rule thin -o a.npz --json
            out "level":"warning","code":"W023"
        0 a.3mf --voxel-size 1 --rule offset --radius 1 -o a.npz --json
            out "level":"warning","code":"W023"
        0 a.3mf --voxel-size 1 --rule distance --signed -o a.npz --json
            out "level":"warning","code":"W023"
        0 a.3mf --voxel-size 1 --rule area -o a.npz --json
            out "level":"warning","code":"W023"
        0 a.3mf --voxel-size 1 --rule fraction -o a.npz --json
            no out W023
        0 a.3mf a.3mf --voxel-size 1 --rule fraction -o a.npz --json
            out "level":"warning","code":"W023"
        0 a.3mf --voxel-size 1 --solid --dry-run --json
            no out W023
        0 a.3mf --voxel-size 1 --dry-run --json
            out "level":"warning","code":"W023"
        0 info a.3mf --json
            out "level":"warning","code":"W023"
            /mesh/volume null
            /mesh/bounds/max/2 10.0
        0 check a.3mf --json
            out "level":"warning","code":"W023"
        0 clearance a.3mf a.3mf
            err W023
        0 view a.3mf --mesh -o a.png
            err W023
        # Parts that are cut away are not lost.
        0 a.3mf --voxel-size 1 --solid -o a.npz
            no err warning
        "#,
    );
    rows::refused(
        &place(),
        "
        2 a.3mf -r 8 --rule fraction --with area -o a.npz
            err negative volumes
        2 plan a.3mf -r 140 --solid --regions 3 --bin -o bins.zarr
            err negative volumes
        ",
    );
}

#[test]
fn shares_are_bodies_minus_their_negative_volumes() {
    let moved = |cuboid: Cuboid, by: f32| cuboid.map(|[x, y, z]| [x + by, y, z]);
    let far = moved(CUBE, 12.5);
    let touching = (moved(CUBE, 10.0), vec![moved(HOLE, 10.0)]);
    let within: Cuboid = [[1.25, 1.25, 1.25], [3.75, 4.5, 8.0]];
    let lattice = Lattice::from_f64([34, 17, 18], [-1.0; 3], [0.75; 3]).unwrap();
    let mut cells = 0;
    for (name, bodies) in [
        ("through the top", vec![(CUBE, vec![HOLE])]),
        ("within", vec![(CUBE, vec![within])]),
        ("two that overlap", vec![(CUBE, vec![within, HOLE])]),
        ("nothing is left", vec![(within, vec![CUBE])]),
        ("one of two", vec![(CUBE, vec![within]), (far, vec![])]),
        ("two of two, touching", vec![(CUBE, vec![within]), touching]),
    ] {
        for inverted in [false, true] {
            let mesh = less(&bodies, inverted);
            let field = voxelize::fraction(&mesh, &lattice).unwrap();
            let [nx, ny, _] = lattice.dims();
            for (n, share) in field.values().iter().enumerate() {
                let [i, j, k] = [n % nx, n / nx % ny, n / nx / ny];
                let low = [i, j, k].map(|n| -1.0 + 0.75 * n as f64);
                let cell = [low, low.map(|v| v + 0.75)];
                let wanted: f64 =
                    bodies.iter().map(|body| left_of(cell, body)).sum::<f64>() / 0.75_f64.powi(3);
                let found = f64::from(*share);
                assert!(
                    (found - wanted).abs() < 1.2e-7,
                    "{name}, {inverted}, {i},{j},{k}: {found}, {wanted}"
                );
                cells += 1;
            }
        }
    }
    assert_eq!(cells, 12 * lattice.dims().iter().product::<usize>());
}

/// Returns the volume of the part of a cell that is in a body and in none of its negative volumes, of which
/// there are at most two.
fn left_of(cell: [[f64; 3]; 2], (body, cuts): &CutBody) -> f64 {
    let common = |a: [[f64; 3]; 2], b: &Cuboid| {
        [
            std::array::from_fn(|n| a[0][n].max(f64::from(b[0][n]))),
            std::array::from_fn(|n| a[1][n].min(f64::from(b[1][n]))),
        ]
    };
    let volume =
        |[low, high]: [[f64; 3]; 2]| (0..3).map(|n| (high[n] - low[n]).max(0.0)).product::<f64>();
    let whole = common(cell, body);
    let cut: f64 = cuts.iter().map(|cut| volume(common(whole, cut))).sum();
    let both = if let [one, two] = cuts.as_slice() {
        volume(common(common(whole, one), two))
    } else {
        0.0
    };
    volume(whole) - cut + both
}

#[test]
fn regions_subtract_negative_volumes() {
    for rule in ["--solid", "--filled", "--rule fraction"] {
        let place = place();
        let whole = place.run(&format!("a.3mf -r 140 {rule} -o one.zarr --json"));
        let plan = format!("plan a.3mf -r 140 {rule} --regions 3 -o cells.zarr");
        place.run(&plan).expect(0);
        for n in 1..=3 {
            place.run(&format!("cells.zarr --region {n}/3")).expect(0);
        }
        let made = place.run("finish cells.zarr --json").expect(0).json();
        assert_eq!(made["digest"], whole.json()["digest"], "{rule}");
    }
}
