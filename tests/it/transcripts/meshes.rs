//! Meshes for transcripts.

use std::fs;

use voxelize::Mesh;
use voxelize::geom::Triangle;

use crate::support::bless;
use crate::support::solids::{
    between, block, cuboid, damaged, inside_out, plate, ribbed, stl, without,
};

/// Returns a mesh by the name of its file: a mesh created here, or a fixture.
pub fn bytes(name: &str) -> Vec<u8> {
    let cube = cuboid([20.0; 3]);
    let sphere = || Mesh::open(bless::root("fixtures/sphere.stl")).unwrap();
    match name {
        "cube.stl" => stl(&cube),
        "thirds.stl" => stl(&cuboid([0.7, 0.3, 0.5])),
        "half.stl" => stl(&cuboid([20.0, 20.0, 10.0])),
        "tall.stl" => stl(&cuboid([20.0, 20.0, 30.0])),
        // Next to the cube, on its face, at its corner, in its middle.
        "beside.stl" => stl(&between([23.0, 2.0, 24.0], [25.0, 4.0, 26.0])),
        "touching.stl" => stl(&between([20.0, 5.0, 5.0], [22.0, 7.0, 7.0])),
        "corner.stl" => stl(&between([15.0; 3], [30.0; 3])),
        "inner.stl" => stl(&between([5.0; 3], [10.0; 3])),
        // One triangle is missing, flipped, duplicated, without area.
        "hole.stl" => stl(&cube[1..]),
        "turned.stl" => stl(&[&[[cube[0][1], cube[0][0], cube[0][2]]], &cube[1..]].concat()),
        "twice.stl" => stl(&[&cube[..], &cube[..1]].concat()),
        "flat.stl" => stl(&[&cube[..], &[[[0.5; 3]; 3]]].concat()),
        "inside_out.stl" => stl(&inside_out(cube)),
        "one.stl" => stl(&[[[2.0; 3]; 3]]),
        "none.stl" => stl(&[]),
        "many.stl" => stl(&cube.into_iter().cycle().take(40_000).collect::<Vec<_>>()),
        "far.stl" => stl(&cube
            .iter()
            .map(|t| t.map(|[x, y, z]| [x + 500_000.0, y, z]))
            .collect::<Vec<_>>()),
        "bad.stl" => damaged(),
        "odd.stl" => [b"solid", &stl(&cube)[5..]].concat(),
        "nan.stl" => {
            let mut nan = cube;
            nan[7][1][2] = f32::NAN;
            stl(&nan)
        }
        // Parts and places that solid loses.
        "plate.stl" => stl(&[block(), plate(0.0)].concat()),
        "plates.stl" => stl(&[block(), plate(0.0), plate(30.0)].concat()),
        "tilted.stl" => stl(&[block(), plate(30.0)].concat()),
        "two_sided.stl" => {
            let one = cuboid([10.0, 20.0, 30.0]);
            stl(&[one.clone(), inside_out(one)].concat())
        }
        "ribbed.stl" => stl(&ribbed(0.0)),
        "ribbed_open.stl" => stl(&ribbed(0.0)[1..]),
        // The sphere without one triangle, and without several.
        "holed.stl" => stl(&without(&sphere(), |n| n == 100)),
        "torn.stl" => stl(&without(&sphere(), |n| n % 97 == 3)),
        #[cfg(feature = "3mf")]
        "project.3mf" => project(),
        fixture => fs::read(bless::root("fixtures").join(fixture))
            .unwrap_or_else(|_| panic!("no mesh {fixture}")),
    }
}

/// Returns a project of PrusaSlicer: a cube with a hole and a modifier, a cube that is not printed, and the
/// settings of a third.
#[cfg(feature = "3mf")]
fn project() -> Vec<u8> {
    use std::io::{Cursor, Write};
    use zip::{ZipWriter, write::SimpleFileOptions};

    let mesh = |triangles: &[Triangle]| {
        let mut vertices = String::new();
        let mut places = String::new();
        for (n, [x, y, z]) in triangles.iter().flatten().enumerate() {
            vertices += &format!("<vertex x=\"{x}\" y=\"{y}\" z=\"{z}\"/>");
            if n % 3 == 2 {
                places += &format!("<triangle v1=\"{}\" v2=\"{}\" v3=\"{n}\"/>", n - 2, n - 1);
            }
        }
        format!("<mesh><vertices>{vertices}</vertices><triangles>{places}</triangles></mesh>")
    };
    let hole = between([2.0, 2.0, 5.0], [8.0, 8.0, 15.0]);
    let modifier = between([0.0, 0.0, 9.0], [10.0, 10.0, 20.0]);
    let first = mesh(&[block(), hole, modifier].concat());
    let second = mesh(&between([12.0, 0.0, 0.0], [16.0, 4.0, 4.0]));
    let model = format!(
        "<model unit=\"millimeter\" xmlns=\"http://schemas.microsoft.com/3dmanufacturing/core/2015/02\"><resources>\
         <object id=\"1\" name=\"bracket\">{first}</object><object id=\"2\">{second}</object></resources>\
         <build><item objectid=\"1\"/><item objectid=\"2\" printable=\"0\"/></build></model>"
    );
    let volume = |n: usize, kind: &str| {
        let first = 12 * n;
        let last = 12 * n + 11;
        format!(
            "<volume firstid=\"{first}\" lastid=\"{last}\"><metadata key=\"volume_type\" value=\"{kind}\"/></volume>"
        )
    };
    let volumes =
        volume(0, "ModelPart") + &volume(1, "NegativeVolume") + &volume(2, "ParameterModifier");
    let third = volume(0, "SupportBlocker");
    let config = format!(
        "<config><object id=\"1\">{volumes}</object><object id=\"3\">{third}</object></config>"
    );
    let mut zip = ZipWriter::new(Cursor::new(vec![]));
    for (name, text) in [
        ("3D/3dmodel.model", model),
        ("Metadata/Slic3r_PE_model.config", config),
    ] {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}
