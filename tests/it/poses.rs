//! Poses of single meshes, after their names and in scenes, against meshes that were transformed before.

use voxelize::job::{MeshPose, PosedName};
use voxelize::{Mesh, Rational};

use crate::support::place::{Place, Triangle, stl};
use crate::support::random::Random;
use crate::support::rows;
use crate::support::solids::between;

/// Creates a bracket without any symmetry, whose coordinates are multiples of 1/4.
fn bracket() -> Vec<Triangle> {
    [
        between([0.0, 0.0, 0.0], [8.0, 2.0, 1.0]),
        between([0.0, 0.0, 1.0], [1.0, 2.0, 5.25]),
        between([6.5, -1.0, -2.0], [7.25, 0.0, 0.0]),
    ]
    .concat()
}

fn moved(triangles: &[Triangle], to: impl Fn([f32; 3]) -> [f32; 3]) -> Vec<Triangle> {
    triangles.iter().map(|triangle| triangle.map(&to)).collect()
}

/// Map of a point.
type PointMap = fn([f32; 3]) -> [f32; 3];

/// Creates the bracket, a box, and the bracket after each exact pose, `0.stl`, `1.stl`, ….
fn place(poses: &[(&str, PointMap)]) -> Place {
    let place = Place::new();
    place.write("bracket.stl", stl(&bracket()));
    place.write("box.stl", stl(&between([3.0, 3.0, 3.0], [5.0, 4.5, 7.0])));
    for (n, (_, to)) in poses.iter().enumerate() {
        place.write(&format!("{n}.stl"), stl(&moved(&bracket(), to)));
    }
    place
}

/// Poses whose results are exact.
const EXACT: [(&str, PointMap); 12] = [
    ("translate=0.25,-3,40", |[x, y, z]| {
        [x + 0.25, y - 3.0, z + 40.0]
    }),
    ("rotate=z,90", |[x, y, z]| [-y, x, z]),
    ("rotate=x,-90", |[x, y, z]| [x, z, -y]),
    ("rotate=z,90@rotate=x,90", |[x, y, z]| [-y, -z, x]),
    ("rotate=x,90@rotate=z,90", |[x, y, z]| [z, x, y]),
    ("translate=1,2,3,rotate=z,90,rotate=x,90", |[x, y, z]| {
        [1.0 - y, 2.0 - z, 3.0 + x]
    }),
    ("rpy=1.5708,0,1.5708", |[x, y, z]| [z, x, y]),
    ("rpy=0,-90deg,0", |[x, y, z]| [-z, y, x]),
    ("rotate=z,45@rotate=z,45", |[x, y, z]| [-y, x, z]),
    ("matrix=0,-1,0,5,1,0,0,0,0,0,2,-1", |[x, y, z]| {
        [5.0 - y, x, 2.0 * z - 1.0]
    }),
    ("axes=x,-z,y@scale=1/2@translate=1,0,0", |[x, y, z]| {
        [x / 2.0 + 1.0, -z / 2.0, y / 2.0]
    }),
    (
        "matrix=1,0,0,5,0,1,0,0,0,0,1,0@rotate=z,90@scale=2",
        |[x, y, z]| [-2.0 * y, 2.0 * x + 10.0, 2.0 * z],
    ),
];

#[test]
fn exact_poses_give_the_digests_of_meshes_transformed_before() {
    let place = place(&EXACT);
    let digest =
        |line: &str| place.run(&format!("{line} --json")).expect(0).json()["digest"].clone();
    let mut compared = 0;
    for (n, (pose, _)) in EXACT.iter().enumerate() {
        for options in [
            "-r 21 -o a.npz",
            "--voxel-size 0.25 --filled --labels file -o a.npz",
            "--voxel-size 0.5 --solid --rotate y,90 --translate 1,0,0 -o a.npz",
        ] {
            let posed = digest(&format!("bracket.stl@{pose} box.stl {options}"));
            let before = digest(&format!("bracket={n}.stl box.stl {options}"));
            assert_eq!(posed, before, "{pose} {options}");
            compared += 1;
        }
        let alone = digest(&format!("bracket.stl@{pose} -r 30 -o a.npz"));
        assert_eq!(alone, digest(&format!("{n}.stl -r 30 -o a.npz")), "{pose}");
        let folder = |mesh: &str| {
            let line = format!("{mesh} box.stl --same-grid -r 12 -o out/ --json");
            let run = place.run(&line).expect(0);
            rows::json(&run)[0]["digest"].clone()
        };
        assert_eq!(
            folder(&format!("bracket.stl@{pose}")),
            folder(&format!("{n}.stl")),
            "{pose}"
        );
    }
    assert!(compared > 30);
}

/// A quaternion has no order of axes and no sines of its own.
fn turned([w, x, y, z]: [f64; 4], p: [f64; 3]) -> [f64; 3] {
    let u = [x, y, z];
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [0, 1, 2].map(|i| {
            let [s, t] = [(i + 1) % 3, (i + 2) % 3];
            a[s] * b[t] - a[t] * b[s]
        })
    };
    let v = cross(u, p).map(|c| 2.0 * c);
    let last = cross(u, v);
    [0, 1, 2].map(|i| p[i] + w * v[i] + last[i])
}

/// Returns the product of two quaternions: the second rotation first.
fn product([a, b, c, d]: [f64; 4], [w, x, y, z]: [f64; 4]) -> [f64; 4] {
    [
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    ]
}

fn about(axis: usize, radians: f64) -> [f64; 4] {
    let (sin, cos) = (radians / 2.0).sin_cos();
    let mut quaternion = [cos, 0.0, 0.0, 0.0];
    quaternion[axis + 1] = sin;
    quaternion
}

#[test]
fn rotations_agree_with_quaternions() {
    let mut random = Random::new(59);
    let mut compared = 0;
    for n in 0..300 {
        let mut all = [1.0, 0.0, 0.0, 0.0];
        let mut steps = vec![];
        if n % 2 == 0 {
            let angles = [(); 3].map(|()| random.within(-3.2, 3.2));
            steps.push(("rpy", angles.map(|angle| format!("{angle:.3}")).join(",")));
            for (axis, angle) in angles.into_iter().enumerate() {
                let angle: f64 = format!("{angle:.3}").parse().unwrap();
                all = product(about(axis, angle), all);
            }
        } else {
            for _ in 0..3 {
                let axis = random.index(3);
                let degrees = random.within(-400.0, 400.0).round() / 4.0;
                steps.push(("rotate", format!("{},{degrees}", ["x", "y", "z"][axis])));
                all = product(about(axis, degrees.to_radians()), all);
            }
        }
        let by = [(); 3].map(|()| random.within(-50.0, 50.0).round() / 8.0);
        steps.push(("translate", by.map(|c| c.to_string()).join(",")));
        let steps: Vec<_> = steps
            .iter()
            .map(|(name, text)| (*name, text.as_str()))
            .collect();
        let pose = MeshPose::new(&steps).unwrap();
        let triangle: Triangle =
            [(); 3].map(|()| [(); 3].map(|()| random.within(-9.0, 9.0) as f32));
        let mesh = Mesh::from_triangles(vec![triangle]).unwrap();
        let found = pose.transform(None).unwrap().apply_all(mesh).unwrap();
        for (p, q) in triangle.iter().zip(found.triangles()[0]) {
            let expected = turned(all, p.map(f64::from));
            for axis in 0..3 {
                let exact = expected[axis] + by[axis];
                // Half a unit in the last place of a float below 32, and a few of doubles.
                let error = (f64::from(q[axis]) - exact).abs();
                assert!(error <= 0.96e-6 + 1e-13, "{pose}: {error}");
                let rounded = (exact as f32 - q[axis]).abs();
                assert!(
                    rounded <= exact.abs() as f32 * 1.2e-7 + 1e-13,
                    "{pose}: {rounded}"
                );
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 2700);
    let PosedName { file, steps } = PosedName::new("a.stl@scale=1/3,rotate=z,10").unwrap();
    let transform = MeshPose::new(&steps).unwrap().transform(None).unwrap();
    assert_eq!((file, transform.scale), ("a.stl", Rational::new(1, 3)));
}

/// Scene of the bracket, an arm and a box, in TOML and in JSON.
fn scene() -> Place {
    let place = place(&[]);
    std::fs::create_dir(place.path("robot")).unwrap();
    for name in ["bracket.stl", "box.stl"] {
        std::fs::copy(place.path(name), place.path(&format!("robot/{name}"))).unwrap();
    }
    place.write(
        "robot/arm.toml",
        "# Two links.\n\
         [[mesh]]\nfile = \"bracket.stl\"\nname = \"base\"\n\n\
         [[mesh]]\nfile = \"bracket.stl\"\nname = \"upper arm\"\nrotate = [\"z,90\", \"x,90\"]\ntranslate = [0, 0.5, 20]\n\n\
         [[mesh]]\nfile = \"../box.stl\"\nrpy = [0, 0, 1.5708]\n",
    );
    place.write(
        "arm.json",
        r#"{"mesh": [{"file": "bracket.stl", "name": "base"},
  {"file": "bracket.stl", "name": "upper arm", "rotate": ["z,90", "x,90"], "translate": "0,0.5,20"},
  {"file": "box.stl", "matrix": [[0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0]]}]}"#,
    );
    place
}

#[test]
fn a_scene_is_the_list_of_its_meshes() {
    let place = scene();
    let named = "base=bracket.stl arm=bracket.stl@rotate=z,90@rotate=x,90@translate=0,0.5,20 box.stl@rotate=z,90";
    let digest =
        |line: &str| place.run(&format!("{line} --json")).expect(0).json()["digest"].clone();
    for options in ["-r 40 -o a.npz", "-r 40 --filled -o a.npz"] {
        let listed = digest(&format!("{named} {options}"));
        for scene in ["robot/arm.toml", "arm.json"] {
            assert_eq!(
                digest(&format!("--scene {scene} {options}")),
                listed,
                "{scene} {options}"
            );
        }
    }
    rows::check(
        &place,
        r#"0 --scene robot/arm.toml -r 40 --filled --labels file -o a.npz --json
             /counts/labels/0/label "base"
             /counts/labels/1/label "upper arm"
             /counts/labels/2/label "box"
             /input/path "robot/arm.toml"
             /input/files/1/pose "rotate=z,90@rotate=x,90@translate=0,0.5,20"
             /input/files/1/path "robot/bracket.stl"
             no /input/files/0/pose
           0 --scene robot/arm.toml -r 40 --filled --labels file --only base -o a.npz
           0 --scene robot/arm.toml -r 8
             file arm.vox
           0 thirds.stl --scene arm.json -r 8 -o a.npz
             err 4 meshes
           0 info a.npz
             out upper arm@rotate=z,90@rotate=x,90@translate=0,0.5,20
           0 clearance --scene arm.json --json
             /meshes/1/path "bracket.stl@rotate=z,90@rotate=x,90@translate=0,0.5,20"
             /pairs/0/a "base"
             /pairs/0/relation "apart"
             /pairs/0/distance 14.75
           0 check --scene robot/arm.toml --json
             /0/path "robot/bracket.stl"
             /1/path "robot/bracket.stl@rotate=z,90@rotate=x,90@translate=0,0.5,20"
             /2/mesh/bounds/min [-4.5,3.0,3.0]
           0 info --scene robot/arm.toml --json
             /1/mesh/bounds/min [-2.0,-4.75,20.0]
             /1/mesh/bounds/max [1.0,2.5,28.0]
             /2/path "robot/../box.stl@rpy=0,0,1.5708"
           0 view --scene robot/arm.toml -r 20 -o arm.png
           0 view --scene arm.json --mesh
             file arm.png"#,
    );
}

#[test]
fn commands_take_poses() {
    let place = place(&[]);
    place.run("bracket.stl -r 8 -o b.npz").expect(0);
    place.write(
        "list.toml",
        "[[case]]\nmesh = \"bracket.stl@rotate=z,90\"\noptions = [\"-r\", \"8\"]\n",
    );
    rows::check(
        &place,
        r#"0 info bracket.stl@rotate=z,90 --json
             /mesh/bounds/min [-2.0,0.0,-2.0]
             /mesh/bounds/max [1.0,8.0,5.25]
           0 check bracket.stl@translate=1,2,3 --json
             /mesh/bounds/min [1.0,1.0,1.0]
           0 view bracket.stl@rotate=x,90 -r 8
             file bracket.png
           0 bracket.stl@rotate=x,90 -r 8
             file bracket.vox
             err bracket.stl@rotate=x,90: 
           0 bracket.stl@rotate=x,90 other=bracket.stl@rotate=x,180 -r 8 -o out/
             file out/bracket.vox
             file out/other.vox
           0 verify --update new.toml bracket.stl@rotate=z,90 -r 8
           0 verify new.toml
           0 bracket.stl@translate=1mm,0,0 --unit mm -r 8 -o a.npz"#,
    );
    rows::refused(
        &place,
        "2 bracket.stl@turn=z,90 -o c.npz
             err bracket.stl: @turn=z,90: is not one of axes, matrix, rotate, rpy, scale, translate
         3 brackt.stl@rotate=z,90 -o c.npz
             err did you mean 'bracket.stl'?
         2 bracket.stl@rpy=0,0,90 -o c.npz
             err 90 radians are more than a turn
             err 90deg
         2 bracket.stl@translate=1mm,0,0 -o c.npz
             err @translate=1mm,0,0: the unit of the file is unknown
         4 bracket.stl@scale=1e38 -o c.npz
             err a coordinate is beyond the range
         2 bracket.stl@rotate=x,90 bracket.stl@rotate=x,180 -o d/
             err NAME=FILE
         2 info b.npz@rotate=z,90
             err voxels have no pose
         2 view b.npz@rotate=z,90 -o c.png
             err voxels have no pose
         2 plan bracket.stl@turn=z,90 -o c.zarr
             err bracket.stl: @turn=z,90: is not one of axes",
    );
}

/// The rotations of `--rotate` and `--rpy` are those of a pose, in the order in which they were typed.
#[test]
fn rotations_of_all_meshes_are_applied_as_typed() {
    let place = place(&EXACT);
    let digest =
        |line: &str| place.run(&format!("{line} --json")).expect(0).json()["digest"].clone();
    let mut compared = 0;
    for (options, number) in [
        ("--rotate z,90 --rotate x,90", 3),
        ("--rotate x,90 --rotate z,90", 4),
        ("--rotate x,90 --rpy 0,0,90deg", 4),
        ("--rpy 0,0,90deg --rotate x,90", 3),
        ("--rpy 1.5708,0,1.5708", 6),
        ("--rpy=0,-90deg,0", 7),
        ("--rpy 0,0,90deg --rpy 90deg,0,0", 3),
    ] {
        let turned = digest(&format!("bracket.stl {options} -r 21 --filled -o a.npz"));
        let before = digest(&format!("{number}.stl -r 21 --filled -o a.npz"));
        assert_eq!(turned, before, "{options}");
        // A list of goldens keeps the order.
        let line = format!("verify --update {compared}.toml bracket.stl {options} -r 8");
        place.run(&line).expect(0);
        let golden = digest(&format!("bracket.stl {options} -r 8 -o a.npz"))["grid"].clone();
        let list = std::fs::read_to_string(place.path(&format!("{compared}.toml"))).unwrap();
        assert!(list.contains(golden.as_str().unwrap()), "{options}: {list}");
        place.run(&format!("verify {compared}.toml")).expect(0);
        compared += 1;
    }
    assert!(compared > 5);
    rows::check(
        &place,
        r#"0 bracket.stl --rpy 0.5,0,1.5708 -r 8 -o a.npz --json
             /transform/rotate "x,1/2rad;y,0;z,90"
           0 info a.npz --json
             /transform/rotate "x,1/2rad;y,0;z,90""#,
    );
    rows::refused(
        &place,
        "2 bracket.stl --rpy 0,0,90 -o c.npz
             err 90 radians are more than a turn",
    );
}

/// Regions read the meshes again, with their names and poses.
#[test]
fn regions_repeat_names_and_poses() {
    let place = place(&[]);
    let mut compared = 0;
    for (n, (by, options)) in [
        (
            "0,0.5mm,2",
            "-r 150 --filled --inside nonzero --labels file --unit mm",
        ),
        (
            "0,1/2,2",
            "-r 150 --unit mm --up y --scale 1/3 --translate 1,2,3",
        ),
        ("0,0.05cm,2", "-r 150 --solid --unit mm --rotate z,30"),
    ]
    .into_iter()
    .enumerate()
    {
        let meshes = format!(
            "base=bracket.stl arm=bracket.stl@rotate=z,90@rotate=x,90@translate={by} box.stl@scale=1/2"
        );
        let whole = place
            .run(&format!("{meshes} {options} -o whole.npz --json"))
            .expect(0)
            .json();
        for bin in ["", " --bin"] {
            let store = format!("{n}{}.zarr", bin.trim());
            place
                .run(&format!(
                    "plan {meshes} {options} -o {store} --regions 3{bin}"
                ))
                .expect(0);
            place.run(&format!("{store} --region 2/2")).expect(0);
            place.run(&format!("{store} --region 1/2")).expect(0);
            let finished = place
                .run(&format!("finish {store} --json"))
                .expect(0)
                .json();
            assert_eq!(finished["digest"], whole["digest"], "{options}{bin}");
            compared += 1;
        }
        let line = format!("{meshes} {options} -o r{n}.zarr --resume --json");
        let resumed = place.run(&line).expect(0).json();
        assert_eq!(resumed["digest"], whole["digest"], "{options}");
    }
    assert_eq!(compared, 6);
    // A scene is a list of such meshes.
    let place = scene();
    for name in ["robot/arm.toml", "arm.json"] {
        let options = "-r 150 --labels file --solid";
        place
            .run(&format!("plan --scene {name} {options} -o s.zarr"))
            .expect(0);
        place.run("s.zarr --region 1/1").expect(0);
        let finished = place.run("finish s.zarr --json").expect(0).json();
        let whole = place
            .run(&format!("--scene {name} {options} -o s.npz --json"))
            .expect(0)
            .json();
        assert_eq!(finished["digest"], whole["digest"], "{name}");
        std::fs::remove_dir_all(place.path("s.zarr")).unwrap();
    }
    // Another pose is another mesh.
    rows::check(
        &place,
        "0 plan bracket.stl@rotate=x,10 box.stl -r 150 -o a.zarr
         6 plan bracket.stl@rotate=x,11 box.stl -r 150 -o a.zarr
             err a.zarr
         0 a.zarr --region 1/1 --mesh bracket.stl --mesh box.stl
         0 finish a.zarr
         0 plan bracket.stl@rotate=x,12 box.stl -r 150 -o b.zarr
         3 b.zarr --region 1/1 --mesh box.stl --mesh bracket.stl
             err error[R004]",
    );
}

#[test]
fn scenes_are_checked() {
    let place = scene();
    place.write(
        "colour.toml",
        "[[mesh]]\nfile = \"box.stl\"\ncolour = \"red\"\n",
    );
    place.write("gone.toml", "\n[[mesh]]\nfile = \"gone.stl\"\n");
    place.write(
        "angle.json",
        "{\"mesh\": [\n{\"file\": \"box.stl\",\n\"rotate\": [\"w,90\"]}]}",
    );
    place.write("empty.toml", "");
    place.write("one.toml", "[[mesh]]\nfile = \"box.stl\"\n");
    rows::refused(
        &place,
        "3 --scene colour.toml -o c.npz
             err error: colour.toml: a mesh has no key 'colour' (line 3)
         3 --scene gone.toml -o c.npz
             err gone.toml names it in line 2
         3 --scene angle.json -o c.npz
             err angle.json: rotate: expected an axis and degrees such as z,90 (line 3)
         3 one.toml -o c.npz
             err hint: --scene FILE reads it
         3 angle.json -o c.npz
             err --scene FILE reads a scene
         3 --scene empty.toml -o c.npz
             err the scene has no mesh
         3 --scene cube.stl -o c.npz
             err cube.stl
         3 --scene missing.toml -o c.npz
             err missing.toml
         2 --scene one.toml --same-grid -o c.npz
             err --same-grid
         2 view cube.stl --scene one.toml -o c.png
             err --scene
         2 clearance --scene one.toml
             err at least two meshes
         2 --scene one.toml -o one.toml
             err one.toml",
    );
}

/// A map of the default rule has two layers where the walls of a part lie on walls of the grid.
#[test]
fn the_default_rule_warns_on_walls_of_a_map() {
    let place = Place::new();
    place.write("wall.stl", stl(&between([0.0, 0.0, 0.0], [4.0, 0.1, 2.0])));
    let options = "--unit m --voxel-size 0.1 --origin 0,0,0 --pad 2";
    let warning = "on walls between cells";
    rows::check(
        &place,
        &format!(
            "0 wall.stl {options} -o wall.bt
                 err warning[W004]: 12 triangles lie {warning}
                 err --filled marks the cells that the part fills
             0 wall.stl {options} --filled -o wall.bt
                 no err {warning}
             0 wall.stl {options} --surface -o wall.bt
                 no err {warning}
             0 wall.stl {options} -o wall.npz
                 no err {warning}
             0 wall.stl --unit m --voxel-size 0.1 --origin 0.05,0.05,0.05 --pad 2 -o wall.bt
                 no err {warning}"
        ),
    );
}

/// Faces at tenths are not at tenths of a cell from the float of the lowest corner.
#[test]
fn filled_warns_of_faces_past_walls_by_rounding() {
    let place = Place::new();
    let low = between([-2.0, -0.9, 0.3], [2.0, 0.9, 1.1]);
    let tall = between([-1.2, -0.8, 1.0], [0.8, 0.8, 1.6]);
    place.write("step.stl", stl(&[low, tall].concat()));
    place.write(
        "whole.stl",
        stl(&between([-3.0, 0.0, 1.0], [5.0, 4.0, 7.0])),
    );
    let grid = "--unit m --voxel-size 0.1 --pad 2,2,2";
    let warning = "warning[W017]";
    rows::check(
        &place,
        &format!(
            "0 step.stl {grid} --filled -o a.npz
                 err {warning}
                 err the rounding of coordinates to floats: the rule filled marks one more layer of cells there
                 err --origin 0,0,0
             0 step.stl {grid} --origin 0,0,0 --filled -o a.npz
                 no err {warning}
             0 step.stl {grid} --translate 0.05,0,0 --filled -o a.npz
                 err --solid marks the cells whose centre is inside
             0 step.stl {grid} --solid -o a.npz
                 no err {warning}
             0 whole.stl {grid} --filled -o a.npz
                 no err {warning}
             0 cube.stl -r 20 --rule distance --signed --band 0.1 -o a.npz
                 err warning[W002]: no cell centre is within the band
                 err --band 10mm
             2 cube.stl -r 20 --pad 4m,3m,0 -o a.npz
                 err --pad counts cells"
        ),
    );
}
