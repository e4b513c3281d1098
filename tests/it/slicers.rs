//! Slicer projects are voxelized as they are printed. Negative volumes are subtracted from the bodies of
//! their object; modifiers and supports are omitted with a warning.

use std::io::{Cursor, Write};

use serde_json::Value;
use voxelize::geom::Triangle;
use voxelize::grid::CellSource;
use voxelize::job::{Extras, JobLabels};
use voxelize::mesh::PartKind;
use voxelize::mesh::read::{ReadOptions, read_stream};
use voxelize::run::Plan;
use voxelize::{Code, Inside, Lattice, Mesh, Rule, Severity, Voxelizer, voxelize};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::support::place::{Place, refused};
use crate::support::random::Random;
use crate::support::solids::between;

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
    for (n, [x, y, z]) in boxes
        .iter()
        .flat_map(|[low, high]| between(*low, *high))
        .flatten()
        .enumerate()
    {
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
fn prusa(objects: &[&[(&str, Cuboid)]], items: &str) -> Vec<u8> {
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
    let start = model(
        &object(
            9,
            "type=\"model\"",
            &format!("<components>{components}</components>"),
        ),
        item,
    );
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

fn loaded(file: &[u8]) -> voxelize::mesh::read::Loaded {
    read_stream(&mut &file[..], "a.3mf", &ReadOptions::default())
        .unwrap_or_else(|error| panic!("{error}"))
}

fn solid(mesh: &Mesh, dims: [usize; 3]) -> u64 {
    voxelize(mesh, &unit_cells(dims), Rule::solid())
        .unwrap()
        .count()
}

const ITEM: &str = "<item objectid=\"1\"/>";

#[test]
fn pieces_mean_what_the_slicer_shows() {
    let both = |kind: &str| prusa(&[&[("ModelPart", CUBE), (kind, HOLE)]], ITEM);
    let item = "<item objectid=\"9\" printable=\"1\"/>";
    let parts = |kind: &str, more: &str| bambu(&[("normal_part", CUBE), (kind, HOLE)], more, item);
    let negative = Some((
        Code::S111,
        Severity::Note,
        "negative volumes of 12 triangles",
    ));
    let left_out = |text| Some((Code::S109, Severity::Warning, text));
    let slic3r = |modifier: u32| {
        let volumes = format!(
            "<slic3r:volumes><slic3r:volume ts=\"0\" te=\"11\" modifier=\"0\"/>\
             <slic3r:volume ts=\"12\" te=\"23\" modifier=\"{modifier}\"/></slic3r:volumes>"
        );
        let mesh = mesh(&[CUBE, HOLE]).replace("</mesh>", &(volumes + "</mesh>"));
        zip(&[("3D/3dmodel.model", &model(&object(1, "", &mesh), ITEM))])
    };
    let mut seen = 0;
    for (name, file, cells, finding) in [
        ("prusa negative", both("NegativeVolume"), 820, negative),
        ("upper case", both("NEGATIVEVOLUME"), 820, negative),
        (
            "prusa modifier",
            both("ParameterModifier"),
            1000,
            left_out("12 triangles of modifiers"),
        ),
        (
            "prusa blocker",
            both("SupportBlocker"),
            1000,
            left_out("12 triangles of support blockers"),
        ),
        (
            "prusa enforcer",
            both("SupportEnforcer"),
            1000,
            left_out("12 triangles of support enforcers"),
        ),
        ("prusa parts", both("ModelPart"), 1000 + 180, None),
        (
            "bambu negative",
            parts("negative_part", "type=\"other\""),
            820,
            negative,
        ),
        (
            "bambu negative of type model",
            parts("negative_part", "type=\"model\""),
            820,
            negative,
        ),
        (
            "bambu modifier",
            parts("modifier_part", "type=\"model\""),
            1000,
            left_out("12 triangles of modifiers"),
        ),
        (
            "bambu blocker",
            parts("support_blocker", "type=\"other\""),
            1000,
            left_out("12 triangles of support blockers"),
        ),
        (
            "bambu enforcer",
            parts("support_enforcer", ""),
            1000,
            left_out("12 triangles of support enforcers"),
        ),
        (
            "bambu parts",
            parts("normal_part", "type=\"other\""),
            1000 + 180,
            None,
        ),
        ("slic3r parts", slic3r(0), 1000 + 180, None),
        (
            "slic3r modifier",
            slic3r(1),
            1000,
            left_out("12 triangles of modifiers"),
        ),
    ] {
        let loaded = loaded(&file);
        assert_eq!(solid(&loaded.mesh, [10, 10, 15]), cells, "{name}");
        let found: Vec<_> = loaded
            .findings
            .iter()
            .map(|one| (one.code(), one.severity))
            .collect();
        let wanted: Vec<_> = finding
            .iter()
            .map(|(code, severity, _)| (*code, *severity))
            .collect();
        assert_eq!(found, wanted, "{name}");
        if let Some((_, _, text)) = finding {
            assert!(
                loaded.findings[0].text().contains(text),
                "{name}: {}",
                loaded.findings[0].text()
            );
        }
        seen += 1;
    }
    assert_eq!(seen, 14);
    // Bodies of several pieces have the names of the slicer.
    for file in [both("ModelPart"), parts("normal_part", "")] {
        let mesh = loaded(&file).mesh;
        let names = mesh.parts(PartKind::Object).unwrap().names();
        assert!(
            names == ["piece 0", "piece 1"] || names == ["part 1", "part 2"],
            "{names:?}"
        );
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
    let mut seen = 0;
    for config in [
        volume(1, 12, 23),
        volume(1, 5, 3),
        volume(2, 0, 11),
        "<config><object id=\"1\"><part id=\"7\" subtype=\"negative_part\"/></object></config>"
            .to_string(),
        "<config><object id=\"1\">".to_string(),
        "<config><object id=\"one\"/></config>".to_string(),
    ] {
        let loaded = loaded(&file(&config));
        let codes: Vec<_> = loaded
            .findings
            .iter()
            .map(|one| (one.code(), one.severity))
            .collect();
        assert_eq!(codes, [(Code::S113, Severity::Warning)], "{config}");
        assert_eq!(loaded.mesh.triangles().len(), 12, "{config}");
        seen += 1;
    }
    assert_eq!(seen, 6);
    assert!(loaded(&file("<config/>")).findings.is_empty());
}

#[test]
fn a_negative_volume_cuts_the_bodies_of_its_object_at_every_place() {
    let far: Cuboid = [[20.0, 0.0, 0.0], [30.0, 10.0, 10.0]];
    // Extends from one cube into the other.
    let bar: Cuboid = [[5.0, 3.0, 3.0], [25.0, 7.0, 7.0]];
    let dims = [32, 10, 10];
    let moved = |x: i32, y: i32| {
        format!("<item objectid=\"1\" transform=\"1 0 0 0 1 0 0 0 1 {x} {y} 0\"/>")
    };
    let mirrored = "<item objectid=\"1\" transform=\"-1 0 0 0 1 0 0 0 1 30 0 0\"/>";
    let cut = &[
        ("ModelPart", CUBE),
        ("NegativeVolume", [[2.0, 2.0, 2.0], [4.0, 4.0, 4.0]]),
    ][..];
    let mut seen = 0;
    for (name, file, cells) in [
        (
            "of both bodies",
            prusa(
                &[&[
                    ("ModelPart", CUBE),
                    ("ModelPart", far),
                    ("NegativeVolume", bar),
                ]],
                ITEM,
            ),
            2000 - 160,
        ),
        (
            "first in the file",
            prusa(
                &[&[
                    ("NegativeVolume", bar),
                    ("ModelPart", CUBE),
                    ("ModelPart", far),
                ]],
                ITEM,
            ),
            2000 - 160,
        ),
        (
            "not of another object",
            prusa(
                &[
                    &[("ModelPart", CUBE), ("NegativeVolume", bar)],
                    &[("ModelPart", far)],
                ],
                &(ITEM.to_string() + "<item objectid=\"2\"/>"),
            ),
            2000 - 80,
        ),
        (
            "of the second object",
            prusa(
                &[
                    &[("ModelPart", CUBE)],
                    &[("ModelPart", far), ("NegativeVolume", bar)],
                ],
                &(ITEM.to_string() + "<item objectid=\"2\"/>"),
            ),
            2000 - 80,
        ),
        (
            "of each instance",
            prusa(&[cut], &(moved(0, 0) + &moved(12, 0))),
            2000 - 16,
        ),
        (
            "mirrored",
            prusa(&[cut], &(mirrored.to_string() + &moved(0, 0))),
            2000 - 16,
        ),
        // The body of one instance fills the cut-out of the other.
        (
            "of instances that overlap",
            prusa(&[cut], &(moved(0, 0) + &moved(1, 0))),
            1100 - 4,
        ),
        (
            "twice",
            prusa(
                &[&[
                    ("ModelPart", CUBE),
                    ("NegativeVolume", HOLE),
                    ("NegativeVolume", HOLE),
                ]],
                ITEM,
            ),
            820,
        ),
        (
            "all of it",
            prusa(&[&[("ModelPart", CUBE), ("NegativeVolume", CUBE)]], ITEM),
            0,
        ),
        (
            "beside it",
            prusa(&[&[("ModelPart", CUBE), ("NegativeVolume", far)]], ITEM),
            1000,
        ),
    ] {
        assert_eq!(solid(&loaded(&file).mesh, dims), cells, "{name}");
        seen += 1;
    }
    assert_eq!(seen, 10);
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
        let bodies: Vec<(Cuboid, Vec<Cuboid>)> = (0..1 + random.below(3))
            .map(|_| {
                let body = cuboid(&mut random, 9.0);
                (
                    body,
                    (0..random.below(3))
                        .map(|_| cuboid(&mut random, 9.0))
                        .collect(),
                )
            })
            .collect();
        let triangles = |boxes: &[Cuboid]| -> Vec<Triangle> {
            boxes
                .iter()
                .flat_map(|[low, high]| between(*low, *high))
                .collect()
        };
        let meshes: Vec<Mesh> = bodies
            .iter()
            .map(|(body, cuts)| {
                let whole = Mesh::from_triangles(triangles(&[*body])).unwrap();
                let cut = |cut: &Cuboid| Mesh::from_triangles(triangles(&[*cut])).unwrap();
                cuts.iter()
                    .fold(whole, |mesh, one| mesh.less(cut(one)).unwrap())
            })
            .collect();
        let mesh = Mesh::join(meshes.iter().map(|mesh| ("a", mesh))).unwrap();
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
            for cell in (0..dims.iter().product::<usize>())
                .map(|n| [n % dims[0], n / dims[0] % dims[1], n / dims[0] / dims[1]])
            {
                let wanted = bodies.iter().any(|body| is_so(cell, body));
                assert_eq!(cells.get(cell), wanted, "{rule:?} {cell:?} {bodies:?}");
                occupied += u64::from(wanted);
                removed += u64::from(
                    !wanted
                        && bodies
                            .iter()
                            .any(|(body, _)| within(cell, body, &has_centre)),
                );
            }
            // Slabs of any height, and labels of the bodies.
            for height in [1, 4, 5] {
                let mut slabs = Voxelizer::new(rule)
                    .slabs(&mesh, &lattice, Plan::Slabs(height))
                    .unwrap();
                while slabs.advance().unwrap() {}
                assert_eq!(
                    slabs.digest().cells,
                    whole.digest().cells,
                    "{rule:?} {height}"
                );
            }
            let extras = Extras {
                labels: JobLabels::Parts(PartKind::File),
                ..Extras::default()
            };
            let labelled = Voxelizer::new(rule)
                .extras(extras)
                .run(&mesh, &lattice)
                .unwrap()
                .voxels;
            let labels = labelled.labels().unwrap();
            for cell in (0..dims.iter().product::<usize>())
                .map(|n| [n % dims[0], n / dims[0] % dims[1], n / dims[0] / dims[1]])
            {
                let wanted = bodies
                    .iter()
                    .position(|body| is_so(cell, body))
                    .map_or(0, |n| n as u8 + 1);
                assert_eq!(labels.get(cell), wanted, "{rule:?} {cell:?}");
            }
        }
    }
    assert!(removed > 500 && occupied > 10_000, "{removed} {occupied}");
}

#[test]
fn a_shell_surrounds_cut_outs() {
    let cube = Mesh::from_triangles(between([0.0; 3], [9.0; 3])).unwrap();
    let cut = Mesh::from_triangles(between([4.0; 3], [5.0; 3])).unwrap();
    let mesh = cube.less(cut).unwrap();
    let rule = Rule::filled().with_shell(1).unwrap();
    // The outermost layer, and the cells around the cut-out box.
    let cells = voxelize(&mesh, &unit_cells([9; 3]), rule).unwrap();
    assert_eq!(cells.count(), 729 - 343 + 26);
}

/// Creates a folder with a project whose bodies are cut.
fn place() -> Place {
    let place = Place::new();
    place.write(
        "a.3mf",
        prusa(&[&[("ModelPart", CUBE), ("NegativeVolume", HOLE)]], ITEM),
    );
    place
}

#[test]
fn commands_subtract_negative_volumes_or_warn() {
    let place = place();
    let warns = |json: &Value| {
        let all = json["warnings"].as_array().unwrap();
        all.iter()
            .filter(|one| one["code"] == "W023" && one["level"] == "warning")
            .count()
    };
    let mut seen = 0;
    for (line, occupied, warnings) in [
        ("a.3mf --voxel-size 1 --solid -o a.npz --json", Some(820), 0),
        (
            "a.3mf --voxel-size 1 --filled -o a.npz --json",
            Some(820),
            0,
        ),
        (
            "a.3mf --voxel-size 1 --solid --labels object -o a.npz --json",
            Some(820),
            0,
        ),
        // A flood omits the cells of the surface.
        (
            "a.3mf --voxel-size 1 --solid --inside flood -o a.npz --json",
            Some(512 - 144),
            0,
        ),
        (
            "a.3mf --voxel-size 1 --solid --keep-thin -o a.npz --json",
            Some(820),
            0,
        ),
        (
            "a.3mf --voxel-size 1 --rotate z,90 --axes x,-z,y --solid -o a.npz --json",
            Some(820),
            0,
        ),
        (
            "a.3mf --voxel-size 1 --scale 2 --solid -o a.npz --json",
            Some(8 * 820),
            0,
        ),
        ("a.3mf --voxel-size 1 -o a.npz --json", Some(488), 1),
        ("a.3mf --voxel-size 1 --rule thin -o a.npz --json", None, 1),
        (
            "a.3mf --voxel-size 1 --rule offset --radius 1 -o a.npz --json",
            None,
            1,
        ),
        (
            "a.3mf --voxel-size 1 --rule distance --signed -o a.npz --json",
            None,
            1,
        ),
        ("a.3mf --voxel-size 1 --rule area -o a.npz --json", None, 1),
        (
            "a.3mf --voxel-size 1 --rule fraction -o a.npz --json",
            None,
            0,
        ),
        (
            "a.3mf a.3mf --voxel-size 1 --rule fraction -o a.npz --json",
            None,
            1,
        ),
        ("a.3mf --voxel-size 1 --solid --dry-run --json", None, 0),
        ("a.3mf --voxel-size 1 --dry-run --json", None, 1),
        ("info a.3mf --json", None, 1),
        ("check a.3mf --json", None, 1),
    ] {
        let json = place.run(line).expect(0).json();
        assert_eq!(warns(&json), warnings, "{line}: {json}");
        if let Some(occupied) = occupied {
            assert_eq!(json["counts"]["occupied"], occupied, "{line}");
        }
        seen += 1;
    }
    assert_eq!(seen, 18);
    assert!(
        refused(&place, "a.3mf -r 8 --rule fraction --with area -o a.npz", 2)
            .contains("negative volumes")
    );
    let info = place.run("info a.3mf --json").expect(0).json();
    assert_eq!(
        (&info["mesh"]["volume"], &info["mesh"]["bounds"]["max"][2]),
        (&Value::Null, &10.0.into())
    );
    assert!(place.run("clearance a.3mf a.3mf").err.contains("W023"));
    assert!(
        place
            .run("view a.3mf --mesh -o a.png")
            .expect(0)
            .err
            .contains("W023")
    );
    // Parts that are cut away are not lost.
    assert!(
        !place
            .run("a.3mf --voxel-size 1 --solid -o a.npz")
            .expect(0)
            .err
            .contains("warning")
    );
}

#[test]
fn shares_are_bodies_minus_their_negative_volumes() {
    let far = |[low, high]: Cuboid| [low, high].map(|[x, y, z]| [x + 12.5, y, z]);
    let touching = |[low, high]: Cuboid| [low, high].map(|[x, y, z]| [x + 10.0, y, z]);
    let within: Cuboid = [[1.25, 1.25, 1.25], [3.75, 4.5, 8.0]];
    let lattice = Lattice::from_f64([34, 17, 18], [-1.0; 3], [0.75; 3]).unwrap();
    let mut cells = 0;
    for (name, bodies) in [
        ("through the top", vec![(CUBE, vec![HOLE])]),
        ("within", vec![(CUBE, vec![within])]),
        ("two that overlap", vec![(CUBE, vec![within, HOLE])]),
        ("nothing is left", vec![(within, vec![CUBE])]),
        (
            "one of two",
            vec![(CUBE, vec![within]), (far(CUBE), vec![])],
        ),
        (
            "two of two, touching",
            vec![(CUBE, vec![within]), (touching(CUBE), vec![touching(HOLE)])],
        ),
    ] {
        let own = |cuboid: &Cuboid, inverted: bool| {
            let triangles = between(cuboid[0], cuboid[1]);
            Mesh::from_triangles(
                triangles
                    .into_iter()
                    .map(|[a, b, c]| if inverted { [a, c, b] } else { [a, b, c] })
                    .collect(),
            )
            .unwrap()
        };
        for inverted in [false, true] {
            let meshes: Vec<Mesh> = bodies
                .iter()
                .map(|(body, cuts)| {
                    let start = own(body, inverted);
                    cuts.iter()
                        .fold(start, |mesh, cut| mesh.less(own(cut, inverted)).unwrap())
                })
                .collect();
            let mesh = Mesh::join(meshes.iter().map(|mesh| ("", mesh))).unwrap();
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
fn regions_subtract_negative_volumes_and_bins_are_refused() {
    let place = place();
    for rule in ["--solid", "--filled", "--rule fraction"] {
        let grid = format!("a.3mf -r 140 {rule}");
        let digest = place
            .run(&format!("{grid} -o one.zarr --json"))
            .expect(0)
            .json()["digest"]
            .clone();
        place
            .run(&format!("plan {grid} --regions 3 -o cells.zarr"))
            .expect(0);
        for n in 1..=3 {
            place.run(&format!("cells.zarr --region {n}/3"));
        }
        assert_eq!(
            place.run("finish cells.zarr --json").expect(0).json()["digest"],
            digest,
            "{rule}"
        );
        std::fs::remove_dir_all(place.path("cells.zarr")).unwrap();
        std::fs::remove_dir_all(place.path("one.zarr")).unwrap();
    }
    assert!(
        refused(
            &place,
            "plan a.3mf -r 140 --solid --regions 3 --bin -o bins.zarr",
            2
        )
        .contains("negative volumes")
    );
}
