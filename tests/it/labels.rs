//! Labels of objects match their definition for any order of triangles, threads, levels and slabs.

use dot_vox::SceneNode;
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
use crate::support::rows;
use crate::support::solids::{between, inside_out};

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
        text += &format!("solid {name}\n");
        for triangle in triangles {
            text += "facet normal 0 0 0\nouter loop\n";
            for [x, y, z] in triangle {
                text += &format!("vertex {x} {y} {z}\n");
            }
            text += "endloop\nendfacet\n";
        }
        text += &format!("endsolid {name}\n");
    }
    text
}

fn parsed(text: &str) -> Mesh {
    read::read_stream(&mut text.as_bytes(), "a.stl", &ReadOptions::default())
        .unwrap()
        .mesh
}

fn rules() -> Vec<(&'static str, Rule)> {
    let flood = Inside::Flood { close_holes: None };
    vec![
        ("--surface", Rule::surface()),
        ("--solid", Rule::solid()),
        ("--filled", Rule::filled()),
        (
            "--filled --inside flood",
            Rule::filled().with_inside(flood).unwrap(),
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

/// Returns labelled cells and the result of the run.
fn labelled(voxelizer: &Voxelizer, mesh: &Mesh, lattice: &Lattice) -> (Voxels, JobResult) {
    let prepared = voxelizer.prepare(mesh, lattice, None).unwrap();
    prepared.voxels().unwrap()
}

fn raw() -> voxelize::job::Target<'static> {
    voxelize::job::Target {
        format: format::by_name("raw").unwrap(),
        path: None,
        dtype: None,
        choices: &[],
    }
}

/// Returns the bytes of a file of labelled cells, the number of slabs, and the result of the run.
fn file(voxelizer: &Voxelizer, mesh: &Mesh, lattice: &Lattice) -> (Vec<u8>, usize, JobResult) {
    let format = raw().format;
    let prepared = voxelizer.prepare(mesh, lattice, Some(raw())).unwrap();
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
        let mut alone = vec![];
        for (_, triangles) in solids() {
            let mesh = Mesh::from_triangles(triangles).unwrap();
            let voxels = voxelize(&mesh, &lattice, rule).unwrap();
            alone.push(voxels.into_occupied().unwrap());
        }
        let (voxels, result) = labelled(&labelling(rule), &mesh, &lattice);
        let labels = voxels.labels().unwrap();
        let names: Vec<_> = labels.legend().labels().iter().map(|l| &*l.name).collect();
        assert_eq!(names, ["body", "the lid", "body (2)"]);
        assert_eq!(labels.legend().digest(), LabelDigest::Values);
        let [nx, ny, nz] = lattice.dims();
        let mut taken = 0;
        for n in 0..nx * ny * nz {
            let cell = [n % nx, n / nx % ny, n / nx / ny];
            let first = alone.iter().position(|cells| cells.get(cell));
            let wanted = first.map_or(0, |first| first as u8 + 1);
            assert_eq!(labels.get(cell), wanted, "{words} {cell:?}");
            let parts = alone.iter().filter(|cells| cells.get(cell)).count();
            taken += parts.saturating_sub(1) as u64;
            seen[usize::from(wanted)] += 1;
        }
        assert_eq!(result.taken, taken, "{words}");
        all_taken += taken;
        let counted = labels.counts().into_iter().map(|(_, cells)| cells);
        let reported = result.labels.iter().map(|(_, cells)| *cells);
        assert!(counted.eq(reported), "{words}");
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
    let mut in_slabs = 0;
    for (words, rule) in rules() {
        let (wanted, _, wanted_result) = file(&labelling(rule), &mesh, &lattice);
        for round in 0..6 {
            let mut shuffled = solids();
            for (_, triangles) in &mut shuffled {
                *triangles = random.shuffled(triangles);
            }
            let mesh = parsed(&ascii(&shuffled));
            let level = Level::available().into_iter().cycle().nth(round).unwrap();
            let mut voxelizer = labelling(rule).threads(1 + round % 3).level(level);
            if round % 2 == 0 {
                let small = voxelizer.memory(60_000);
                if small.prepare(&mesh, &lattice, Some(raw())).is_ok() {
                    voxelizer = small;
                }
            }
            let (found, slabs, result) = file(&voxelizer, &mesh, &lattice);
            assert!(found == wanted, "{words}, round {round}");
            assert_eq!(result.digest, wanted_result.digest, "{words}");
            assert_eq!(result.labels, wanted_result.labels, "{words}");
            in_slabs += usize::from(slabs > 1);
        }
    }
    assert!(in_slabs > 5, "{in_slabs}");
}

#[test]
fn the_command_labels_objects_and_files_name_them() {
    let place = Place::new();
    place.write("three.stl", ascii(&solids()));
    let mesh = parsed(&ascii(&solids()));
    for (words, rule) in rules() {
        let fit = Fit::longest(20).margin(rule.margin());
        let lattice = fit.to(mesh.bounds()).unwrap();
        let (voxels, result) = labelled(&labelling(rule), &mesh, &lattice);
        for format in ["npz", "vox", "raw"] {
            let runs = rows::check(
                &place,
                &format!(
                    "0 three.stl -r 20 {words} --labels object -o a.{format} --json
                         /digest/cells \"{}\"
                     0 info a.{format}
                         out the lid
                         out body (2)",
                    voxels.digest().cells
                ),
            );
            let json = runs[0].json();
            let counts = json["counts"]["labels"].as_array().unwrap();
            assert_eq!(counts.len(), 3, "{words}");
            for (counted, (label, cells)) in counts.iter().zip(&result.labels) {
                assert_eq!(counted["label"], *label.name);
                assert_eq!(counted["cells"], *cells);
            }
        }
    }
    rows::check(
        &place,
        "0 three.stl -r 20 --solid --labels object -o a.npz
             err labels  body (1):
         2 three.stl -r 20 --rule distance --labels object -o a.npz
             err --labels: the rule distance makes a field",
    );
}

#[test]
fn more_objects_than_labels_are_an_error() {
    let one = between([0.0; 3], [1.0; 3]);
    let many: Vec<_> = (0..256).map(|_| ("same", one.clone())).collect();
    let place = Place::new();
    place.write("many.stl", ascii(&many));
    place.write("most.stl", ascii(&many[1..]));
    rows::check(
        &place,
        "4 many.stl -r 4 --labels object -o a.npz
             err the mesh has 256 parts, but there are only 255 labels
         0 most.stl -r 4 --labels object -o a.npz",
    );
}

#[test]
fn parts_that_come_first_win_the_cells_they_share() {
    let mesh = parsed(&ascii(&solids()));
    let lattice = lattice(&mesh);
    let counts = |priority: &[&str]| -> Vec<(String, u64)> {
        let names: Vec<String> = priority.iter().map(ToString::to_string).collect();
        let voxelizer = labelling(Rule::solid()).priority(&names);
        let (_, result) = labelled(&voxelizer, &mesh, &lattice);
        let labels = result.labels.into_iter();
        labels
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
    let prepared = voxelizer.prepare(&mesh, &lattice, None);
    let error = prepared.and_then(|prepared| prepared.voxels()).unwrap_err();
    let message = error.message();
    assert!(message.contains("no part is named 'nothing'"), "{message}");
}

#[test]
fn parts_are_taken_or_left_out_by_name() {
    let place = Place::new();
    place.write("a.stl", ascii(&solids()).replace("the lid", "lid"));
    rows::check(
        &place,
        "0 a.stl -r 8 -o a.npz --json
             /mesh/triangles 36
         # Both parts have this name.
         0 a.stl -r 8 -o a.npz --json --only body
             /mesh/triangles 24
         0 a.stl -r 8 -o a.npz --json --skip body
             /mesh/triangles 12
         0 a.stl -r 8 -o a.npz --json --only lid --only body
             /mesh/triangles 36
         4 a.stl -r 8 -o a.npz --only screw
             err no part is named 'screw'
             err lid
         4 a.stl -r 8 -o a.npz --only body --skip body
             err no triangles
         4 a.stl -r 8 -o a.npz --labels material --only body
             err no named parts of the kind material
         2 a.stl -r 8 -o a.npz --priority body
             err --labels
         0 a.stl -r 8 -o a.npz --labels object --priority lid",
    );
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
    assert_eq!(of(PartKind::Object), ["body", "the lid", "body", "b"]);
    assert!(both.parts(PartKind::Material).is_none());
}

#[test]
fn parts_are_layers_of_a_scene() {
    let place = Place::new();
    // In planes, as bytes, and too many; three tiles along x.
    for (count, layers) in [(3, 3), (8, 8), (40, 1)] {
        let names: Vec<String> = (0..count).map(|n| format!("part {n}")).collect();
        let mut boxes = vec![];
        for (n, name) in names.iter().enumerate() {
            let x = n as f32;
            boxes.push((&**name, between([x, 0.0, 0.0], [x + 1.5, 1.0, 1.0])));
        }
        place.write("a.stl", ascii(&boxes));
        rows::check(
            &place,
            "0 a.stl -r 600 --solid --labels object -o a.vox
             0 a.stl -r 600 --solid --labels object -o a.npz
             0 diff a.npz a.vox
             0 a.stl -r 600 --solid --labels object -o b.vox -j 5",
        );
        let [a, b] = ["a.vox", "b.vox"].map(|name| std::fs::read(place.path(name)).unwrap());
        assert!(a == b, "{count}: other bytes by threads");
        let scene = dot_vox::load_bytes(&a).unwrap();
        assert_eq!(scene.layers.len(), layers, "{count}");
        if layers > 1 {
            for (layer, name) in scene.layers.iter().zip(&names) {
                assert_eq!(layer.name().unwrap(), *name);
            }
        }
        // The voxels of a layer have its colour.
        let mut seen = 0;
        for node in &scene.scenes {
            let SceneNode::Transform {
                child, layer_id, ..
            } = node
            else {
                continue;
            };
            let SceneNode::Shape { models, .. } = &scene.scenes[*child as usize] else {
                continue;
            };
            for voxel in &scene.models[models[0].model_id as usize].voxels {
                assert!(layers == 1 || u32::from(voxel.i) == *layer_id, "{count}");
                seen += 1;
            }
        }
        let found = Voxels::open(place.path("a.vox")).unwrap();
        assert_eq!(seen, found.count());
    }
}

#[test]
fn parts_without_cells_are_named_once() {
    let place = Place::new();
    place.write(
        "three.stl",
        ascii(&[
            ("body", between([0.0; 3], [8.0; 3])),
            ("core", between([3.0; 3], [5.0; 3])),
            ("far", between([20.0; 3], [21.0; 3])),
        ]),
    );
    // If no part has cells, that is the only message.
    let runs = rows::check(
        &place,
        "0 three.stl --voxel-size 1 --bounds 0,0,0,12,12,12 --solid --labels object -o a.npz
             err 2 of 3 parts have no cells: core, far;
         0 three.stl --voxel-size 1 --bounds 0,0,0,12,12,12 --solid --labels object --priority core -o a.npz
             err 1 of 3 parts has no cells: far;
             err core (2): 8
         0 three.stl --voxel-size 1 --bounds 50,50,50,60,60,60 --solid --labels object -o a.npz",
    );
    for run in runs {
        assert_eq!(run.err.matches("W002").count(), 1, "{}", run.err);
    }
}

#[test]
fn parts_that_are_closed_only_together_share_the_inside_by_the_nearest_face() {
    let place = Place::new();
    let cube = between([0.0; 3], [8.0; 3]);
    let part = |name: &'static str| {
        let triangles = match name {
            "x" => cube[..4].to_vec(),
            "yz" => cube[4..].to_vec(),
            "far" => between([10.0, 0.0, 0.0], [12.0, 2.0, 2.0]),
            _ => cube.clone(),
        };
        (name, triangles)
    };
    for (parts, words, counts, is_said) in [
        // The two pyramids of a cube below its faces across x, and the rest. Ties go to the first.
        (
            &["x", "yz"][..],
            "--solid",
            "x (1): 240 (volume 240), yz (2): 272 (volume 272)",
            true,
        ),
        (
            &["yz", "x"],
            "--solid",
            "yz (1): 400 (volume 400), x (2): 112 (volume 112)",
            true,
        ),
        // A part that is closed by itself keeps its inside.
        (
            &["x", "far", "yz"],
            "--solid --priority far",
            "x (1): 240 (volume 240), far (2): 8 (volume 8), yz (3): 272 (volume 272)",
            true,
        ),
        (
            &["yz", "far", "x"],
            "--filled",
            "yz (1): 400 (volume 400), far (2): 8 (volume 8), x (3): 112 (volume 112)",
            true,
        ),
        // Closed parts have nothing to share, and neither has a rule without an inside.
        (
            &["one", "far"],
            "--solid",
            "one (1): 512 (volume 512), far (2): 8 (volume 8)",
            false,
        ),
        (&["x", "yz"], "--surface", "x (1): 128, yz (2): 168", false),
    ] {
        let parts: Vec<_> = parts.iter().map(|name| part(name)).collect();
        place.write("parts.stl", ascii(&parts));
        let no = if is_said { "" } else { "no " };
        let run = &rows::check(
            &place,
            &format!(
                "0 parts.stl --voxel-size 1 --labels object {words} -v -o a.npz
                     {no}err are closed only together"
            ),
        )[0];
        assert_eq!(run.line("labels"), counts, "{words}");
    }
    // Independent of threads and levels.
    place.write("parts.stl", ascii(&[part("x"), part("yz")]));
    let runs = rows::check(
        &place,
        "0 parts.stl -r 40 --labels object --solid -j 1 -o a.raw
         0 parts.stl -r 40 --labels object --solid -j 3 -o a.raw
         0 parts.stl -r 40 --labels object --solid --simd scalar -o a.raw",
    );
    let digests = [0, 1, 2].map(|n: usize| runs[n].line("digest"));
    assert_eq!(digests, [digests[0]; 3]);
}

/// The cells of parts that share open edges are those of the mesh without labels.
#[test]
fn parts_of_a_body_with_a_hole_are_filled_as_one_body() {
    let place = Place::new();
    let cube = between([0.0; 3], [8.0; 3]);
    let far = between([10.0, 0.0, 0.0], [12.0, 2.0, 2.0]);
    for (parts, expected) in [
        (
            [("x", &cube[1..4]), ("yz", &cube[4..])],
            "x, yz share open edges",
        ),
        (
            [("x", &cube[..4]), ("yz", &cube[5..])],
            "x, yz share open edges",
        ),
        (
            [("body", &cube[..]), ("far", &far[2..])],
            "far: the mesh is not closed",
        ),
    ] {
        let parts: Vec<_> = parts
            .map(|(name, triangles)| (name, triangles.to_vec()))
            .into();
        place.write("parts.stl", ascii(&parts));
        let runs = rows::check(
            &place,
            &format!(
                "0 parts.stl --voxel-size 1 --solid --labels object -v -o a.npz
                     err {expected}
                 0 parts.stl --voxel-size 1 --solid -o b.npz --json"
            ),
        );
        let [a, b] = ["a.npz", "b.npz"].map(|name| Voxels::open(place.path(name)).unwrap());
        assert_eq!(a.occupied().unwrap(), b.occupied().unwrap(), "{expected}");
        assert!(runs[0].err.contains("W006"), "{}", runs[0].err);
    }
}

#[test]
fn parts_that_occupy_the_same_cells_are_reported_as_pairs() {
    let place = Place::new();
    place.write("three.stl", ascii(&solids()));
    rows::check(
        &place,
        r#"0 three.stl --voxel-size 1 --solid --labels object -o a.npz
             err body (1) and the lid (2): 72 cells
             err body (1) and body (2) (3): 8 cells
           0 three.stl --voxel-size 1 --solid --labels object -o a.npz --json
             /counts/shared/0/labels ["body", "the lid"]
             /counts/shared/0/cells 72
             /counts/shared/1/labels ["body", "body (2)"]
             /counts/shared/1/cells 8
             /counts/taken 80"#,
    );
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
    for (meshes, labels) in [
        ("liver.stl", "liver (1): 64 (volume 64)"),
        ("organ=liver.stl", "organ (1): 64 (volume 64)"),
        (
            "liver.stl left-lung.stl",
            "liver (1): 64 (volume 64), left-lung (2): 8 (volume 8)",
        ),
        (
            "b=liver.stl a=left-lung.stl",
            "b (1): 64 (volume 64), a (2): 8 (volume 8)",
        ),
        // An existing file takes precedence.
        (
            "a=b.stl v1.2.stl",
            "a=b (1): 1 (volume 1), v1.2 (2): 1 (volume 1)",
        ),
        (
            "liver.stl c=a=b.stl",
            "liver (1): 64 (volume 64), c (2): 1 (volume 1)",
        ),
        (
            "liver.stl left-lung.stl --only liver.stl",
            "liver (1): 64 (volume 64)",
        ),
        ("liver.stl x=left-lung.stl --only x", "x (1): 8 (volume 8)"),
        (
            "liver.stl left-lung.stl --priority liver",
            "liver (1): 64 (volume 64), left-lung (2): 8 (volume 8)",
        ),
    ] {
        let line = format!("{meshes} --voxel-size 1 --solid --labels file -o a.npz");
        assert_eq!(
            place.run(&line).expect(0).line("labels"),
            labels,
            "{meshes}"
        );
    }
    std::fs::create_dir(place.path("organs")).unwrap();
    for (file, high) in [("organs/liver.stl", 4.0), ("organs/spleen.stl", 2.0)] {
        place.write(file, ascii(&[("", between([0.0; 3], [high; 3]))]));
    }
    rows::check(
        &place,
        "0 organs --voxel-size 1 --solid --labels file --priority spleen -o all.npz
             err labels  liver (1): 56 (volume 56), spleen (2): 8 (volume 8)
             err these cells have the label spleen
         2 organs --voxel-size 1 --solid -o all.nii.gz
             err use -f nii.gz -o all/ for one file per mesh; organs/*.stl puts all meshes into one file
         3 big=lver.stl -r 8
             err lver.stl: no such file
             err did you mean 'liver.stl'?",
    );
}

#[test]
fn bits_of_a_seg_nrrd_are_one_segment_called_as_the_mesh() {
    let place = Place::new();
    place.write("liver.stl", ascii(&[("", between([0.0; 3], [4.0; 3]))]));
    for (options, file, segments) in [
        ("liver.stl --solid", "one.seg.nrrd", &["liver"][..]),
        ("liver.stl --surface", "one.SEG.nrrd", &["liver"]),
        ("organ=liver.stl --solid", "one.seg.nrrd", &["organ"]),
        ("liver.stl --labels file", "one.seg.nrrd", &["liver"]),
        ("liver.stl --solid", "one.nrrd", &[]),
    ] {
        rows::check(&place, &format!("0 {options} -r 4 -o {file}"));
        let bytes = std::fs::read(place.path(file)).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        let fields = text.lines().filter_map(|line| line.split_once("_Name:="));
        let names: Vec<_> = fields.map(|(_, name)| name).collect();
        assert_eq!(names, segments, "{options} {file}");
    }
}

#[test]
fn a_body_keeps_its_colour_where_another_touches_it() {
    let place = Place::new();
    place.write("m.mtl", "newmtl red\nKd 1 0 0\nnewmtl blue\nKd 0 0 1\n");
    let pocket = [
        between([0.0; 3], [10.0; 3]),
        inside_out(between([3.0; 3], [7.0; 3])),
    ]
    .concat();
    let core = between([3.0; 3], [7.0; 3]);
    let [left, right] =
        [[0.0, 4.0], [4.0, 8.0]].map(|[low, high]| between([low, 0.0, 0.0], [high, 4.0, 4.0]));
    for (red, blue, counts) in [(core, pocket, [64, 936]), (left, right, [64, 64])] {
        for order in [["red", "blue"], ["blue", "red"]] {
            let mut text = "mtllib m.mtl\n".to_string();
            for name in order {
                text += &format!("usemtl {name}\n");
                for triangle in if name == "red" { &red } else { &blue } {
                    for [x, y, z] in triangle {
                        text += &format!("v {x} {y} {z}\n");
                    }
                    text += "f -3 -2 -1\n";
                }
            }
            place.write("two.obj", text);
            for words in [
                "--solid",
                "--filled",
                "--solid -j 1",
                "--solid --simd scalar",
            ] {
                let [red, blue] = counts;
                rows::check(
                    &place,
                    &format!(
                        "0 two.obj --voxel-size 1 {words} --labels colour -o a.npz
                             err #0000ff (1): {blue}, #ff0000 (2): {red}"
                    ),
                );
            }
        }
    }
}
