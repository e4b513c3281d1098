//! Labels of objects match their definition for any order of triangles, threads, levels and slabs.

use std::fmt::Write;

use voxelize::format::{self, SaveOptions};
use voxelize::geom::Triangle;
use voxelize::grid::{CellSource, LabelDigest};
use voxelize::job::{Extras, JobLabels, JobResult};
use voxelize::mesh::PartKind;
use voxelize::mesh::read::{self, ReadOptions};
use voxelize::{
    Fit, Inside, Lattice, Level, Mesh, Rule, ThinFeatures, Voxelizer, Voxels, voxelize,
};

use crate::support::place::Place;
use crate::support::random::Random;
use crate::support::solids::between;

/// Returns three solids: one box, one that overlaps it, one inside the first.
fn solids() -> Vec<(&'static str, Vec<Triangle>)> {
    vec![
        ("body", between([0.0; 3], [8.0; 3])),
        ("the lid", between([2.0, 2.0, 6.0], [10.0, 10.0, 12.0])),
        ("body", between([3.0; 3], [5.0; 3])),
    ]
}

/// Returns an ASCII STL of these solids.
fn ascii(solids: &[(&str, Vec<Triangle>)]) -> String {
    let mut text = String::new();
    for (name, triangles) in solids {
        writeln!(text, "solid {name}").unwrap();
        for triangle in triangles {
            text += "facet normal 0 0 0\nouter loop\n";
            triangle
                .iter()
                .for_each(|[x, y, z]| writeln!(text, "vertex {x} {y} {z}").unwrap());
            text += "endloop\nendfacet\n";
        }
        writeln!(text, "endsolid {name}").unwrap();
    }
    text
}

fn parsed(text: &str) -> Mesh {
    read::read_stream(&mut text.as_bytes(), "a.stl", &ReadOptions::default())
        .unwrap()
        .mesh
}

fn rules() -> Vec<(&'static str, Rule)> {
    vec![
        ("--surface", Rule::surface()),
        ("--solid", Rule::solid()),
        ("--filled", Rule::filled()),
        (
            "--filled --inside flood",
            Rule::filled()
                .with_inside(Inside::Flood { close_holes: None })
                .unwrap(),
        ),
        (
            "--solid --keep-thin",
            Rule::solid().with_thin(ThinFeatures::Keep).unwrap(),
        ),
        (
            "--rule offset --radius 1vx",
            Rule::offset("1vx".parse().unwrap()),
        ),
    ]
}

fn labelling(rule: Rule) -> Voxelizer<'static> {
    Voxelizer::new(rule).extras(Extras {
        labels: JobLabels::Parts(PartKind::Object),
        ..Extras::default()
    })
}

fn lattice(mesh: &Mesh) -> Lattice {
    Fit::longest(24).pad(1).to(mesh.bounds()).unwrap()
}

/// Returns the bytes of a file of labelled cells.
fn file(voxelizer: Voxelizer, mesh: &Mesh, lattice: &Lattice) -> (Vec<u8>, usize, JobResult) {
    let format = format::by_name("raw").unwrap();
    let target = voxelize::job::Target {
        format,
        path: None,
        dtype: None,
        choices: &[],
    };
    let prepared = voxelizer.prepare(mesh, lattice, Some(target)).unwrap();
    let mut bytes = vec![];
    let write = |cells: &mut dyn CellSource| {
        format::write_source_to(cells, &mut bytes, format, &SaveOptions::default())
    };
    let (_, result) = prepared.run(write, None).unwrap();
    (bytes, prepared.memory.slabs, result)
}

#[test]
fn solids_of_a_file_are_the_parts_of_a_mesh() {
    let mesh = parsed(&ascii(&solids()));
    let parts = mesh.parts(PartKind::Object).unwrap();
    assert_eq!(parts.names(), ["body", "the lid", "body"]);
    let of: Vec<_> = (0..mesh.triangles().len() as u32)
        .map(|n| parts.of(n))
        .collect();
    assert_eq!(of, [[0; 12], [1; 12], [2; 12]].concat());
    let lid = mesh.select(|n| parts.of(n) == 1);
    assert_eq!(lid.triangles(), solids()[1].1);
    assert_eq!(
        (
            lid.number(0),
            lid.number(11),
            lid.parts(PartKind::Object).unwrap().of(0)
        ),
        (12, 23, 1)
    );
    let moved = mesh
        .map(|triangle| triangle.map(|v| v.map(|c| c + 1.0)))
        .unwrap();
    assert_eq!(moved.parts(PartKind::Object), mesh.parts(PartKind::Object));
    // A facet directly after a name, names that look like keywords, and a solid without a name.
    let facet =
        "facet normal 0 0 0 outer loop vertex 0 0 0 vertex 1 0 0 vertex 0 1 0 endloop endfacet";
    let text = format!(
        "solid a facet of {facet}\nendsolid\nsolid\n{facet}\nendsolid solid c {facet} endsolid"
    );
    assert_eq!(
        parsed(&text).parts(PartKind::Object).unwrap().names(),
        ["a facet of", "", "c"]
    );
}

#[test]
fn a_cell_has_the_first_object_that_occupies_it() {
    let mesh = parsed(&ascii(&solids()));
    let lattice = lattice(&mesh);
    let mut seen = [0; 4];
    let mut all_taken = 0;
    for (words, rule) in rules() {
        let alone: Vec<_> = solids()
            .into_iter()
            .map(|(_, triangles)| {
                voxelize(&Mesh::from_triangles(triangles).unwrap(), &lattice, rule).unwrap()
            })
            .collect();
        let (voxels, result) = labelling(rule)
            .prepare(&mesh, &lattice, None)
            .unwrap()
            .voxels()
            .unwrap();
        let labels = voxels.labels().unwrap();
        let names: Vec<_> = labels
            .legend()
            .labels()
            .iter()
            .map(|label| label.name.as_ref())
            .collect();
        assert_eq!(
            (names, labels.legend().digest()),
            (vec!["body", "the lid", "body (2)"], LabelDigest::Values)
        );
        let [nx, ny, nz] = lattice.dims();
        let mut taken = 0;
        for cell in (0..nx * ny * nz).map(|n| [n % nx, n / nx % ny, n / nx / ny]) {
            let first = alone
                .iter()
                .position(|voxels| voxels.occupied().unwrap().get(cell));
            let wanted = first.map_or(0, |first| first as u8 + 1);
            assert_eq!(labels.get(cell), wanted, "{words} {cell:?}");
            let parts = alone
                .iter()
                .filter(|voxels| voxels.occupied().unwrap().get(cell))
                .count();
            taken += parts.saturating_sub(1) as u64;
            seen[usize::from(wanted)] += 1;
        }
        assert_eq!(result.taken, taken, "{words}");
        all_taken += taken;
        let counted: Vec<_> = labels
            .counts()
            .into_iter()
            .map(|(_, cells)| cells)
            .collect();
        assert_eq!(
            result
                .labels
                .iter()
                .map(|(_, cells)| *cells)
                .collect::<Vec<_>>(),
            counted,
            "{words}"
        );
    }
    assert!(
        seen.iter().all(|cells| *cells > 10) && all_taken > 10,
        "{seen:?} {all_taken}"
    );
}

#[test]
fn nothing_but_the_order_of_objects_decides() {
    let mesh = parsed(&ascii(&solids()));
    let lattice = lattice(&mesh);
    let mut random = Random(7);
    let mut compared = 0;
    let mut in_slabs = 0;
    for (words, rule) in rules() {
        let (wanted, _, wanted_result) = file(labelling(rule), &mesh, &lattice);
        for round in 0..6 {
            let mut shuffled = solids();
            for (_, triangles) in &mut shuffled {
                *triangles = random.shuffled(triangles);
            }
            let mesh = parsed(&ascii(&shuffled));
            let level = Level::available().into_iter().cycle().nth(round);
            let voxelizer = labelling(rule).threads(1 + round % 3).level(level.unwrap());
            let (found, slabs, result) = match [700_000, 60_000].map(|most| voxelizer.memory(most))
            {
                [_, small]
                    if round % 2 == 0 && small.prepare(&mesh, &lattice, Some(raw())).is_ok() =>
                {
                    file(small, &mesh, &lattice)
                }
                [_, _] => file(voxelizer, &mesh, &lattice),
            };
            assert!(found == wanted, "{words}, round {round}");
            assert_eq!(
                (result.digest, &result.labels),
                (wanted_result.digest, &wanted_result.labels),
                "{words}"
            );
            compared += 1;
            in_slabs += usize::from(slabs > 1);
        }
    }
    assert!(compared > 30 && in_slabs > 5, "{compared} {in_slabs}");
}

fn raw() -> voxelize::job::Target<'static> {
    voxelize::job::Target {
        format: format::by_name("raw").unwrap(),
        path: None,
        dtype: None,
        choices: &[],
    }
}

#[test]
fn the_command_labels_objects_and_files_name_them() {
    let place = Place::new();
    place.write("three.stl", ascii(&solids()));
    let mesh = parsed(&ascii(&solids()));
    for (words, rule) in rules() {
        let lattice = Fit::longest(20)
            .margin(rule.margin())
            .to(mesh.bounds())
            .unwrap();
        let (voxels, result) = labelling(rule)
            .prepare(&mesh, &lattice, None)
            .unwrap()
            .voxels()
            .unwrap();
        for format in ["npz", "vox", "raw"] {
            let line = format!("three.stl -r 20 {words} --labels object -o a.{format}");
            let run = place.run(&format!("{line} --json")).expect(0).json();
            assert_eq!(
                run["digest"]["cells"],
                voxels.digest().cells.to_string(),
                "{line}"
            );
            let counts = run["counts"]["labels"].as_array().unwrap();
            for (counted, (label, cells)) in counts.iter().zip(&result.labels) {
                assert_eq!(
                    (
                        counted["label"].as_str().unwrap(),
                        counted["cells"].as_u64().unwrap()
                    ),
                    (&*label.name, *cells)
                );
            }
            assert_eq!(counts.len(), 3, "{line}");
            let named = place.run(&format!("info a.{format}")).expect(0);
            assert!(
                named.text().contains("the lid") && named.text().contains("body (2)"),
                "{}",
                named.text()
            );
        }
    }
    let run = place
        .run("three.stl -r 20 --solid --labels object -o a.npz")
        .expect(0);
    assert!(run.err.contains("labels  body (1): "), "{}", run.err);
    let refused = place
        .run("three.stl -r 20 --rule distance --labels object -o a.npz")
        .expect(2);
    assert!(
        refused
            .err
            .contains("--labels: the rule distance makes a field"),
        "{}",
        refused.err
    );
}

#[test]
fn more_objects_than_labels_are_an_error() {
    let one = between([0.0; 3], [1.0; 3]);
    let many: Vec<_> = (0..256).map(|_| ("same", one.clone())).collect();
    let place = Place::new();
    place.write("many.stl", ascii(&many));
    let run = place
        .run("many.stl -r 4 --labels object -o a.npz")
        .expect(4);
    assert!(
        run.err
            .contains("the mesh has 256 parts, labels tell 255 apart"),
        "{}",
        run.err
    );
    place.write("many.stl", ascii(&many[1..]));
    place
        .run("many.stl -r 4 --labels object -o a.npz")
        .expect(0);
}

#[test]
fn parts_that_come_first_win_the_cells_they_share() {
    let mesh = parsed(&ascii(&solids()));
    let lattice = lattice(&mesh);
    let counts = |priority: &[&str]| -> Vec<(String, u64)> {
        let names: Vec<String> = priority.iter().map(ToString::to_string).collect();
        let voxelizer = labelling(Rule::solid()).priority(&names);
        let (_, result) = voxelizer
            .prepare(&mesh, &lattice, None)
            .unwrap()
            .voxels()
            .unwrap();
        result
            .labels
            .into_iter()
            .map(|(label, cells)| (label.name.into_owned(), cells))
            .collect()
    };
    let usual = counts(&[]);
    let [(body, whole), (lid, under), (inner, none)] = &usual[..] else {
        panic!("{usual:?}")
    };
    assert_eq!([body, lid, inner], ["body", "the lid", "body (2)"]);
    assert_eq!(*none, 0, "it lies in the body");
    let first = counts(&["body (2)", "the lid"]);
    let total = |all: &[(String, u64)]| all.iter().map(|(_, cells)| cells).sum::<u64>();
    assert_eq!(total(&first), total(&usual), "the cells are the same");
    assert!(
        first[2].1 > 0 && first[1].1 > *under && first[0].1 < *whole,
        "{first:?}"
    );
    // Parts that are not listed follow in the order of the file. A name of the file stands for all parts with
    // that name.
    assert_eq!(counts(&["body"]), usual);
    let names = ["nothing".to_string()];
    let voxelizer = labelling(Rule::solid()).priority(&names);
    let error = voxelizer
        .prepare(&mesh, &lattice, None)
        .and_then(|prepared| prepared.voxels().map(drop));
    assert!(
        error
            .unwrap_err()
            .message()
            .contains("no part is named 'nothing'")
    );
}

#[test]
fn parts_are_taken_or_left_out_by_name() {
    let place = Place::new();
    place.write(
        "a.stl",
        ascii(&solids()).replace("the lid", "lid").as_bytes(),
    );
    let triangles = |options: &str| {
        let run = place
            .run(&format!("a.stl -r 8 -o - -f raw --json=r.json {options}"))
            .expect(0);
        drop(run);
        let report: serde_json::Value =
            serde_json::from_slice(&std::fs::read(place.path("r.json")).unwrap()).unwrap();
        std::fs::remove_file(place.path("r.json")).unwrap();
        report["mesh"]["triangles"].as_u64().unwrap()
    };
    assert_eq!(triangles(""), 36);
    assert_eq!(triangles("--only body"), 24, "both of this name");
    let run = |options: &str, code| {
        place
            .run(&format!("a.stl -r 8 -o a.npz {options}"))
            .expect(code)
    };
    for (options, count) in [("--skip body", 12), ("--only lid --only body", 36)] {
        assert_eq!(triangles(options), count, "{options}");
    }
    let refused = run("--only screw", 4);
    assert!(
        refused.err.contains("no part is named 'screw'") && refused.err.contains("lid"),
        "{}",
        refused.err
    );
    let none = run("--only body --skip body", 4);
    assert!(none.err.contains("no triangles"), "{}", none.err);
    assert!(
        run("--labels material --only body", 4)
            .err
            .contains("no parts of kind material")
    );
    assert!(run("--priority body", 2).err.contains("--labels"));
    run("--labels object --priority lid", 0);
}

#[test]
fn meshes_are_joined_as_parts() {
    let mesh = parsed(&ascii(&solids()));
    let plain = Mesh::from_triangles(between([20.0; 3], [21.0; 3])).unwrap();
    let both = Mesh::join([("a", &mesh), ("b", &plain)]).unwrap();
    assert_eq!(
        both.triangles(),
        [mesh.triangles(), plain.triangles()].concat()
    );
    let of = |kind| {
        let parts = both.parts(kind).unwrap();
        (0..48)
            .step_by(12)
            .map(|n| parts.names()[parts.of(n) as usize].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(of(PartKind::File), ["a", "a", "a", "b"]);
    assert_eq!(of(PartKind::Object), ["body", "the lid", "body", ""]);
    assert!(both.parts(PartKind::Material).is_none());
}

#[test]
fn parts_are_layers_of_a_scene() {
    let place = Place::new();
    let boxes = |count: usize| -> Vec<(String, Vec<Triangle>)> {
        let at = |n: usize| between([n as f32, 0.0, 0.0], [n as f32 + 1.5, 1.0, 1.0]);
        (0..count).map(|n| (format!("part {n}"), at(n))).collect()
    };
    // In planes, as bytes, and too many; three tiles along x.
    for (count, layers) in [(3, 3), (8, 8), (40, 1)] {
        let boxes = boxes(count);
        let named: Vec<_> = boxes
            .iter()
            .map(|(name, triangles)| (name.as_str(), triangles.clone()))
            .collect();
        place.write("a.stl", ascii(&named));
        place
            .run("a.stl -r 600 --solid --labels object -o a.vox")
            .expect(0);
        let scene = dot_vox::load(place.path("a.vox").to_str().unwrap()).unwrap();
        assert_eq!(scene.layers.len(), layers, "{count}");
        if layers > 1 {
            let names: Vec<_> = scene
                .layers
                .iter()
                .map(|layer| layer.name().unwrap())
                .collect();
            assert!(
                names.iter().eq(boxes.iter().map(|(name, _)| name)),
                "{names:?}"
            );
        }
        // The voxels of a layer have its colour.
        let mut seen = 0;
        for node in &scene.scenes {
            let dot_vox::SceneNode::Transform {
                child, layer_id, ..
            } = node
            else {
                continue;
            };
            let dot_vox::SceneNode::Shape { models, .. } = &scene.scenes[*child as usize] else {
                continue;
            };
            let model = &scene.models[models[0].model_id as usize];
            seen += model.voxels.len();
            assert!(
                layers == 1
                    || model
                        .voxels
                        .iter()
                        .all(|voxel| u32::from(voxel.i) == *layer_id),
                "{count}"
            );
        }
        let found = Voxels::open(place.path("a.vox")).unwrap();
        assert_eq!(seen as u64, found.count());
        place
            .run("a.stl -r 600 --solid --labels object -o a.npz")
            .expect(0);
        place.run("diff a.npz a.vox").expect(0);
        place
            .run("a.stl -r 600 --solid --labels object -o b.vox -j 5")
            .expect(0);
        let [a, b] = ["a.vox", "b.vox"].map(|name| std::fs::read(place.path(name)).unwrap());
        assert!(a == b, "{count}: other bytes by threads");
    }
}

#[cfg(feature = "cli")]
#[test]
fn parts_without_cells_are_named_once() {
    let place = Place::new();
    let [body, core, far] = [
        [[0.0; 3], [8.0; 3]],
        [[3.0; 3], [5.0; 3]],
        [[20.0; 3], [21.0; 3]],
    ];
    let all = [("body", body), ("core", core), ("far", far)]
        .map(|(name, [low, high])| (name, between(low, high)));
    place.write("three.stl", ascii(&all));
    let line = "three.stl --voxel-size 1 --bounds 0,0,0,12,12,12 --solid --labels object -o a.npz";
    let run = place.run(line).expect(0);
    let said: Vec<_> = run
        .err
        .lines()
        .filter(|line| line.contains("W002"))
        .collect();
    assert!(
        said.len() == 1 && said[0].contains("no cell is labelled core, far (2 of 3 parts): "),
        "{said:?}"
    );
    // With priority the inner box has cells.
    let run = place.run(&format!("{line} --priority core")).expect(0);
    assert!(
        run.err.contains("no cell is labelled far (1 of 3 parts)"),
        "{}",
        run.err
    );
    assert!(run.err.contains("core (2): 8"), "{}", run.err);
    // If no part has cells, that is the only message.
    let run = place.run(
        "three.stl --voxel-size 1 --bounds 50,50,50,60,60,60 --solid --labels object -o a.npz",
    );
    let run = run.expect(0);
    assert_eq!(run.err.matches("W002").count(), 1, "{}", run.err);
}

#[test]
fn parts_that_are_closed_only_together_share_the_inside_by_the_nearest_face() {
    let place = Place::new();
    let cube = between([0.0; 3], [8.0; 3]);
    let (left_right, rest) = cube.split_at(4);
    let far = between([10.0, 0.0, 0.0], [12.0, 2.0, 2.0]);
    let labels = |parts: &[(&str, Vec<Triangle>)], words: &str| {
        place.write("parts.stl", ascii(parts));
        let run = place
            .run(&format!(
                "parts.stl --voxel-size 1 --labels object {words} -o a.npz"
            ))
            .expect(0);
        let line = run
            .err
            .lines()
            .find(|line| line.starts_with("labels"))
            .unwrap_or_default();
        (
            line.trim_start_matches("labels").trim().to_string(),
            run.err,
        )
    };
    let lid = left_right.to_vec();
    let others = rest.to_vec();
    for (parts, words, counts, is_said) in [
        // The two pyramids of a cube below its faces across x, and the rest. Ties go to the first.
        (
            vec![("x", lid.clone()), ("yz", others.clone())],
            "--solid",
            "x (1): 240, yz (2): 272",
            true,
        ),
        (
            vec![("yz", others.clone()), ("x", lid.clone())],
            "--solid",
            "yz (1): 400, x (2): 112",
            true,
        ),
        // A part that is closed by itself keeps its inside.
        (
            vec![
                ("x", lid.clone()),
                ("far", far.clone()),
                ("yz", others.clone()),
            ],
            "--solid --priority far",
            "x (1): 240, far (2): 8, yz (3): 272",
            true,
        ),
        (
            vec![
                ("yz", others.clone()),
                ("far", far.clone()),
                ("x", lid.clone()),
            ],
            "--filled",
            "yz (1): 400, far (2): 8, x (3): 112",
            true,
        ),
        // Closed parts have nothing to share, and neither has a rule without an inside.
        (
            vec![("one", cube.clone()), ("far", far)],
            "--solid",
            "one (1): 512, far (2): 8",
            false,
        ),
        (
            vec![("x", lid), ("yz", others)],
            "--surface",
            "x (1): 128, yz (2): 168",
            false,
        ),
    ] {
        let (line, err) = labels(&parts, &format!("{words} -v"));
        assert_eq!(line, counts, "{words} {err}");
        assert_eq!(
            err.contains("are closed together, and not each alone"),
            is_said,
            "{err}"
        );
    }
    // Independent of threads and slabs.
    place.write(
        "parts.stl",
        ascii(&[("x", left_right.to_vec()), ("yz", rest.to_vec())]),
    );
    let digest = |words: &str| {
        let line = format!("parts.stl -r 40 --labels object --solid {words} -o a.raw");
        let run = place.run(&line).expect(0);
        run.err
            .lines()
            .find(|line| line.starts_with("digest"))
            .unwrap()
            .to_string()
    };
    let all: Vec<_> = ["-j 1", "-j 3", "--simd scalar"].map(digest).into();
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{all:?}");
}

#[test]
fn parts_that_occupy_the_same_cells_are_reported_as_pairs() {
    let place = Place::new();
    place.write("three.stl", ascii(&solids()));
    let line = "three.stl --voxel-size 1 --solid --labels object -o a.npz";
    let err = place.run(line).expect(0).err;
    assert!(err.contains("body (1) and the lid (2): 72 cells"), "{err}");
    assert!(err.contains("body (1) and body (2) (3): 8 cells"), "{err}");
    let json = place.run(&format!("{line} --json")).expect(0).json();
    let shared = json["counts"]["shared"].as_array().unwrap();
    let pairs: Vec<_> = shared
        .iter()
        .map(|pair| (pair["labels"].to_string(), pair["cells"].as_u64()))
        .collect();
    assert_eq!(
        pairs,
        [
            (r#"["body","the lid"]"#.to_string(), Some(72)),
            (r#"["body","body (2)"]"#.to_string(), Some(8))
        ]
    );
    assert_eq!(json["counts"]["taken"], 80);
}

#[test]
fn files_are_labels_without_their_extension_or_by_the_name_given() {
    let place = Place::new();
    for (name, [low, high]) in [
        ("liver.stl", [[0.0; 3], [4.0; 3]]),
        ("left-lung.stl", [[6.0; 3], [8.0; 3]]),
        ("a=b.stl", [[9.0; 3], [10.0; 3]]),
        ("v1.2.stl", [[11.0; 3], [12.0; 3]]),
    ] {
        place.write(name, ascii(&[("", between(low, high))]));
    }
    for (meshes, words, labels) in [
        (vec!["liver.stl"], "", "liver (1): 64"),
        (vec!["organ=liver.stl"], "", "organ (1): 64"),
        (
            vec!["liver.stl", "left-lung.stl"],
            "",
            "liver (1): 64, left-lung (2): 8",
        ),
        (
            vec!["b=liver.stl", "a=left-lung.stl"],
            "",
            "b (1): 64, a (2): 8",
        ),
        // An existing file takes precedence.
        (vec!["a=b.stl", "v1.2.stl"], "", "a=b (1): 1, v1.2 (2): 1"),
        (
            vec!["liver.stl", "c=a=b.stl"],
            "",
            "liver (1): 64, c (2): 1",
        ),
        (
            vec!["liver.stl", "left-lung.stl"],
            "--only liver.stl",
            "liver (1): 64",
        ),
        (vec!["liver.stl", "x=left-lung.stl"], "--only x", "x (1): 8"),
        (
            vec!["liver.stl", "left-lung.stl"],
            "--priority liver",
            "liver (1): 64, left-lung (2): 8",
        ),
    ] {
        let options = format!("--voxel-size 1 --solid --labels file {words} -o a.npz");
        let err = place
            .run(&format!("{} {options}", meshes.join(" ")))
            .expect(0)
            .err;
        assert!(
            err.lines().any(|line| line == format!("labels  {labels}")),
            "{meshes:?} {err}"
        );
    }
    let err = place.run("big=lver.stl -r 8").expect(3).err;
    assert!(
        err.contains("lver.stl: no such file") && err.contains("did you mean 'liver.stl'?"),
        "{err}"
    );
}

#[test]
fn bits_of_a_seg_nrrd_are_one_segment_called_as_the_mesh() {
    let place = Place::new();
    place.write("liver.stl", ascii(&[("", between([0.0; 3], [4.0; 3]))]));
    for (line, segments) in [
        ("liver.stl -r 4 --solid -o one.seg.nrrd", vec!["liver"]),
        ("liver.stl -r 4 --surface -o one.SEG.nrrd", vec!["liver"]),
        (
            "organ=liver.stl -r 4 --solid -o one.seg.nrrd",
            vec!["organ"],
        ),
        (
            "liver.stl -r 4 --labels file -o one.seg.nrrd",
            vec!["liver"],
        ),
        ("liver.stl -r 4 --solid -o one.nrrd", vec![]),
    ] {
        place.run(line).expect(0);
        let bytes = std::fs::read(place.path(line.split(' ').next_back().unwrap())).unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let names: Vec<_> = text
            .lines()
            .filter_map(|line| line.split_once("_Name:="))
            .collect();
        assert_eq!(
            names.iter().map(|(_, name)| *name).collect::<Vec<_>>(),
            segments,
            "{line}"
        );
    }
}

#[test]
fn a_body_keeps_its_colour_where_another_touches_it() {
    let place = Place::new();
    place.write("m.mtl", "newmtl red\nKd 1 0 0\nnewmtl blue\nKd 0 0 1\n");
    let turned = |triangles: Vec<Triangle>| {
        triangles
            .into_iter()
            .map(|[a, b, c]| [a, c, b])
            .collect::<Vec<_>>()
    };
    let pocket = [
        between([0.0; 3], [10.0; 3]),
        turned(between([3.0; 3], [7.0; 3])),
    ]
    .concat();
    let core = between([3.0; 3], [7.0; 3]);
    let [left, right] =
        [[0.0, 4.0], [4.0, 8.0]].map(|[low, high]| between([low, 0.0, 0.0], [high, 4.0, 4.0]));
    for (red, blue, counts) in [(core, pocket, [64, 936]), (left, right, [64, 64])] {
        for order in [["red", "blue"], ["blue", "red"]] {
            let mut text = "mtllib m.mtl\n".to_string();
            let mut vertices = 0;
            for name in order {
                writeln!(text, "usemtl {name}").unwrap();
                for triangle in if name == "red" { &red } else { &blue } {
                    triangle
                        .iter()
                        .for_each(|[x, y, z]| writeln!(text, "v {x} {y} {z}").unwrap());
                    writeln!(text, "f {} {} {}", vertices + 1, vertices + 2, vertices + 3).unwrap();
                    vertices += 3;
                }
            }
            place.write("two.obj", text);
            for words in [
                "--solid",
                "--filled",
                "--solid -j 1",
                "--solid --simd scalar",
            ] {
                let line = format!("two.obj --voxel-size 1 {words} --labels colour -o a.npz");
                let err = place.run(&line).expect(0).err;
                let [red, blue] = counts;
                let labels = format!("#0000ff (1): {blue}, #ff0000 (2): {red}");
                assert!(err.contains(&labels), "{order:?} {words} {err}");
            }
        }
    }
}
