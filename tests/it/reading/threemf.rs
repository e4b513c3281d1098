//! 3MF: placed items and components, units, materials, split packages, and damage.

use std::io::{Cursor, Write};

use voxelize::job::{UnitOfLength, UpAxis};
use voxelize::mesh::PartKind;
use voxelize::mesh::read::{Loaded, ReadOptions, Tolerance, read_stream};
use voxelize::{Code, Error, Mesh, Result};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::indexed::{CUBE, SIDES};

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
    <model unit=\"inch\" xmlns=\"http://schemas.microsoft.com/3dmanufacturing/core/2015/02\" \
    xmlns:m=\"http://schemas.microsoft.com/3dmanufacturing/material/2015/02\" \
    xmlns:p=\"http://schemas.microsoft.com/3dmanufacturing/production/2015/06\"";

fn read(bytes: &[u8], tolerance: Tolerance) -> Result<Loaded> {
    read_stream(
        &mut &bytes[..],
        "-",
        &ReadOptions::default().tolerance(tolerance),
    )
}

fn usual(bytes: impl AsRef<[u8]>) -> Mesh {
    read(bytes.as_ref(), Tolerance::Strict)
        .unwrap_or_else(|error| panic!("{error}"))
        .mesh
}

fn refused(bytes: impl AsRef<[u8]>) -> Error {
    read(bytes.as_ref(), Tolerance::Usual)
        .map(|loaded| loaded.mesh)
        .expect_err("it is damaged")
}

/// Returns a zip archive of these entries.
fn zip(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(vec![]));
    for (name, text) in entries {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Returns a package of this model.
fn package(resources: &str, build: &str) -> Vec<u8> {
    zip(&[
        ("[Content_Types].xml", "<Types/>"),
        ("3D/3dmodel.model", &model(resources, build)),
    ])
}

fn model(resources: &str, build: &str) -> String {
    format!("{HEAD}><resources>{resources}</resources><build>{build}</build></model>")
}

/// Returns the corners of the triangles of the box.
fn corners() -> Vec<[u32; 3]> {
    SIDES
        .iter()
        .flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]])
        .collect()
}

fn whole() -> Mesh {
    Mesh::from_triangles(
        corners()
            .iter()
            .map(|t| t.map(|n| CUBE[n as usize]))
            .collect(),
    )
    .unwrap()
}

/// Returns the mesh element of the box. `more` returns attributes of triangle `n`.
fn mesh(more: impl Fn(usize) -> String) -> String {
    let vertices: String = CUBE
        .iter()
        .map(|[x, y, z]| format!("<vertex x=\"{x}\" y=\"{y}\" z=\"{z}\"/>"))
        .collect();
    let triangle = |(n, [a, b, c]): (usize, [u32; 3])| {
        format!("<triangle v1=\"{a}\" v2=\"{b}\" v3=\"{c}\" {}/>", more(n))
    };
    let triangles: String = corners().into_iter().enumerate().map(triangle).collect();
    format!("<mesh><vertices>{vertices}</vertices><triangles>{triangles}</triangles></mesh>")
}

fn object(id: u32, more: &str) -> String {
    format!(
        "<object id=\"{id}\" {more}>{}</object>",
        mesh(|_| String::new())
    )
}

fn item(id: u32, more: &str) -> String {
    format!("<item objectid=\"{id}\" {more}/>")
}

#[test]
fn a_box_is_the_same_as_in_other_formats() {
    let loaded = read(
        &package(&object(1, "name=\"a &amp; b\""), &item(1, "")),
        Tolerance::Strict,
    )
    .unwrap();
    assert_eq!(
        (loaded.format, loaded.unit, loaded.up),
        ("3mf", Some(UnitOfLength::Inch), Some(UpAxis::Z))
    );
    assert!(loaded.mesh == whole() && loaded.mesh.edge_counts().is_oriented());
    assert_eq!(
        loaded.mesh.parts(PartKind::Object).unwrap().names(),
        ["a & b"]
    );
    assert!(loaded.mesh.parts(PartKind::Material).is_none());
    let mut seen = 0;
    for (text, unit) in [
        ("micron", UnitOfLength::Micrometre),
        ("millimeter", UnitOfLength::Millimetre),
        ("centimeter", UnitOfLength::Centimetre),
        ("foot", UnitOfLength::Foot),
        ("meter", UnitOfLength::Metre),
    ] {
        let text = model(&object(1, ""), &item(1, ""))
            .replace("unit=\"inch\"", &format!("unit=\"{text}\""));
        let loaded = read(&zip(&[("3D/3dmodel.model", &text)]), Tolerance::Strict).unwrap();
        assert_eq!((loaded.unit, loaded.mesh == whole()), (Some(unit), true));
        seen += 1;
    }
    assert_eq!(seen, 5);
    // Without a namespace, without a unit, and at the path given by the relationships.
    let plain = format!(
        "<model><resources>{}</resources><build>{}</build></model>",
        object(7, ""),
        item(7, "")
    );
    let relations = "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\
        <Relationship Target=\"/other/a.model\" Id=\"r\" \
        Type=\"http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel\"/></Relationships>";
    let loaded = read(
        &zip(&[("_rels/.rels", relations), ("other/a.model", &plain)]),
        Tolerance::Strict,
    )
    .unwrap();
    assert_eq!(
        (loaded.unit, loaded.mesh == whole()),
        (Some(UnitOfLength::Millimetre), true)
    );
    // An object without an item is not built.
    assert!(usual(package(&(object(1, "") + &object(2, "")), &item(2, ""))) == whole());
}

#[test]
fn components_are_placed_in_their_items() {
    let resources = object(1, "name=\"leaf\"")
        + "<object id=\"2\" name=\"pair\"><components><component objectid=\"1\"/>\
           <component objectid=\"1\" transform=\"-1 0 0 0 1 0 0 0 1 100 0 0\"/></components></object>"
        + "<object id=\"3\"><components><component objectid=\"2\" transform=\"0 2 0 -2 0 0 0 0 2 0 0 0\"/>\
           </components></object>";
    let build = item(3, "transform=\"1 0 0 0 1 0 0 0 1 10 20 30\"") + &item(1, "");
    let mesh = usual(package(&resources, &build));
    let objects = mesh.parts(PartKind::Object).unwrap();
    assert_eq!(objects.names(), ["leaf", "leaf", "leaf"]);
    let bounds = |part: u32| *mesh.select(|n| objects.of(n) == part).bounds();
    let edges = |part| (bounds(part).min, bounds(part).max);
    // Doubled, rotated by a quarter turn, translated.
    assert_eq!(edges(0), ([6.0, 20.0, 30.0], [10.0, 24.0, 35.0]));
    assert_eq!(edges(1), ([6.0, 216.0, 30.0], [10.0, 220.0, 35.0]));
    assert_eq!(edges(2), ([0.0; 3], [2.0, 2.0, 2.5]));
    assert_eq!(
        mesh.volume(),
        80.0 + 80.0 + 10.0,
        "a mirror does not turn a box inside out"
    );
    assert!(mesh.edge_counts().is_oriented());
}

#[test]
fn parts_of_a_package_lie_in_several_files() {
    let leaf = model(&object(4, "name=\"far\""), "");
    let start = model(
        "<object id=\"4\"><components><component p:path=\"/3D/Objects/leaf.model\" objectid=\"4\"/></components></object>",
        &(item(4, "") + &item(4, "p:path=\"/3D/Objects/leaf.model\"")),
    );
    let start = start.replacen("<model", "<model requiredextensions=\"p m\"", 1);
    let mesh = usual(zip(&[
        ("3D/3dmodel.model", &start),
        ("3D/Objects/leaf.model", &leaf),
    ]));
    assert_eq!(
        mesh.triangles(),
        [whole().triangles(), whole().triangles()].concat()
    );
    assert_eq!(
        mesh.parts(PartKind::Object).unwrap().names(),
        ["far", "far"]
    );
    let error = refused(zip(&[("3D/3dmodel.model", &start)]));
    assert!(
        error.code() == Code::S006 && error.message().contains("leaf.model"),
        "{error}"
    );
}

#[test]
fn materials_have_names_or_colours() {
    let groups = "<basematerials id=\"5\"><base name=\"steel\" displaycolor=\"#808080FF\"/><base name=\"brass\"/>\
        </basematerials><m:colorgroup id=\"6\"><m:color color=\"#ff8000FF\"/><m:color color=\"#0000FF\"/></m:colorgroup>";
    let by_number = mesh(|n| match n {
        0 | 1 => "pid=\"5\" p1=\"0\"".to_string(),
        2 => "pid=\"6\" p1=\"0\" p2=\"0\" p3=\"1\"".to_string(),
        3 => "p1=\"1\"".to_string(),
        4 => "pid=\"9\" p1=\"0\"".to_string(),
        _ => String::new(),
    });
    let resources = format!("{groups}<object id=\"1\" pid=\"5\" pindex=\"1\">{by_number}</object>");
    let loaded = read(&package(&resources, &item(1, "")), Tolerance::Usual).unwrap();
    let mesh = loaded.mesh;
    let [finding] = &loaded.findings[..] else {
        panic!("{:?}", loaded.findings)
    };
    assert!(
        finding.code() == Code::S110 && finding.text().contains("1 triangle has"),
        "{}",
        finding.text()
    );
    let materials = mesh.parts(PartKind::Material).unwrap();
    let named: Vec<_> = (0..12)
        .map(|n| materials.names()[materials.of(n) as usize].as_str())
        .collect();
    let mut expected = ["brass"; 12];
    expected[..5].copy_from_slice(&["steel", "steel", "#ff8000", "brass", ""]);
    assert_eq!(named, expected);
    let colours = mesh.colours().unwrap();
    assert_eq!(colours.of(0), [[0x80; 3]; 3]);
    assert_eq!(colours.of(2), [[255, 128, 0], [255, 128, 0], [0, 0, 255]]);
    // The colour of brass is unknown.
    assert_eq!(colours.of(3), [[255; 3]; 3]);
}

#[test]
fn mixtures_of_properties_have_their_colours() {
    let groups = "<basematerials id=\"5\"><base name=\"a\" displaycolor=\"#FF0000\"/><base name=\"b\" displaycolor=\"#0000FF\"/>\
        </basematerials><m:colorgroup id=\"6\"><m:color color=\"#00FF00FF\"/><m:color color=\"#00FF0080\"/><m:color color=\"#808080FF\"/></m:colorgroup>\
        <m:compositematerials id=\"7\" matid=\"5\" matindices=\"0 1\"><m:composite values=\"1 3\"/><m:composite values=\"0 1\"/></m:compositematerials>\
        <m:multiproperties id=\"8\" pids=\"5 6\"><m:multi pindices=\"0 0\"/><m:multi pindices=\"0 1\"/><m:multi pindices=\"1\"/></m:multiproperties>\
        <m:multiproperties id=\"9\" pids=\"5 6\" blendmethods=\"multiply\"><m:multi pindices=\"0 2\"/></m:multiproperties>";
    let mut seen = 0;
    for (property, name, colour) in [
        ("pid=\"7\" p1=\"0\"", "a 1 + b 3", [64, 0, 191]),
        ("pid=\"7\" p1=\"1\"", "b 1", [0, 0, 255]),
        ("pid=\"8\" p1=\"0\"", "a", [0, 255, 0]),
        ("pid=\"8\" p1=\"1\"", "a", [127, 128, 0]),
        ("pid=\"8\" p1=\"2\"", "b", [0, 255, 0]),
        ("pid=\"9\" p1=\"0\"", "a", [128, 0, 0]),
    ] {
        let object = format!(
            "<object id=\"1\">{}</object>",
            mesh(|_| property.to_string())
        );
        let mesh = usual(package(&(groups.to_string() + &object), &item(1, "")));
        assert_eq!(mesh.colours().unwrap().of(0), [colour; 3], "{property}");
        assert_eq!(
            mesh.parts(PartKind::Material).unwrap().names(),
            [name],
            "{property}"
        );
        seen += 1;
    }
    assert_eq!(seen, 6);
}

#[test]
fn packages_are_read_in_every_form() {
    let plain = model(&object(1, ""), &item(1, ""));
    let relations = |target: &str, kind: &str| {
        format!(
            "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\
             <Relationship Target=\"/Metadata/thumbnail.png\" Id=\"t\" Type=\"http://a/thumbnail\"/>\
             <Relationship Target=\"{target}\" Id=\"r\" Type=\"{kind}\"/></Relationships>"
        )
    };
    let usual_kind = "http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel";
    let model_at = |name: &str| vec![(name.to_string(), plain.clone())];
    let related = |target: &str, name: &str| {
        vec![
            ("_rels/.rels".to_string(), relations(target, usual_kind)),
            (name.to_string(), plain.clone()),
        ]
    };
    let first = |name: &str| {
        vec![
            (name.to_string(), "a".to_string()),
            ("3D/3dmodel.model".to_string(), plain.clone()),
        ]
    };
    let in_2013 = "http://schemas.microsoft.com/3dmanufacturing/2013/01";
    let core = "http://schemas.microsoft.com/3dmanufacturing/core/2015/02";
    let mut seen = 0;
    for entries in [
        model_at("3D/3dmodel.model"),
        model_at("3d/3DModel.Model"),
        model_at("3D\\3dmodel.model"),
        model_at("other/a.model"),
        first("2D/a.svg"),
        first("docProps/core.xml"),
        first("Auxiliaries/.thumbnails/a.png"),
        first("\u{e4}/b"),
        related("/3D/3DModel.model", "3D/3dmodel.model"),
        related("./3D/3dmodel.model", "3D/3dmodel.model"),
        related("3D\\a.model", "3D/a.model"),
        related("/3D/../3D/a.model", "3D/a.model"),
        related("/3D/a%20b.model", "3D/a b.model"),
        related("/3D/a%20b.model", "3D/a%20b.model"),
        related("/3D/missing.model", "3D/3dmodel.model"),
        vec![
            (
                "_rels/.rels".to_string(),
                relations("/a.model", &usual_kind.to_uppercase()),
            ),
            ("a.model".to_string(), plain.clone()),
        ],
        vec![("3D/3dmodel.model".to_string(), plain.replace(core, in_2013))],
        vec![("3D/3dmodel.model".to_string(), format!("\u{feff}{plain}"))],
        vec![
            ("_rels/.rels".to_string(), "<Relationships".to_string()),
            ("3D/3dmodel.model".to_string(), plain.clone()),
        ],
    ] {
        let entries: Vec<_> = entries
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()))
            .collect();
        assert!(usual(zip(&entries)) == whole(), "{:?}", entries[0]);
        seen += 1;
    }
    assert_eq!(seen, 19);
    let text = plain.replace("UTF-8", "UTF-16");
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for bytes in [
        [b"\xff\xfe", &little[..]].concat(),
        [b"\xfe\xff", &big[..]].concat(),
        little,
    ] {
        let mut zip = ZipWriter::new(Cursor::new(vec![]));
        zip.add_directory("Metadata/", SimpleFileOptions::default())
            .unwrap();
        zip.start_file("3D/3dmodel.model", SimpleFileOptions::default())
            .unwrap();
        zip.write_all(&bytes).unwrap();
        assert!(usual(zip.finish().unwrap().into_inner()) == whole());
    }
    // Sizes follow the data.
    let mut zip = ZipWriter::new_stream(vec![]);
    zip.start_file("3D/3dmodel.model", SimpleFileOptions::default())
        .unwrap();
    zip.write_all(plain.as_bytes()).unwrap();
    assert!(usual(zip.finish().unwrap().into_inner()) == whole());
}

#[test]
fn a_model_is_in_its_own_unit() {
    let leaf = |unit: &str| {
        model(&(object(1, "") + "<object id=\"2\"><components><component objectid=\"1\" transform=\"1 0 0 0 1 0 0 0 1 2 0 0\"/></components></object>"), "")
            .replace("unit=\"inch\"", &format!("unit=\"{unit}\""))
    };
    let start = |unit: &str| {
        model(
            "<object id=\"1\"><components><component p:path=\"/3D/a.model\" objectid=\"2\" transform=\"1 0 0 0 1 0 0 0 1 0 1 0\"/></components></object>",
            &item(1, ""),
        )
        .replace("unit=\"inch\"", &format!("unit=\"{unit}\""))
    };
    let mut seen = 0;
    for (outer, inner, factor) in [
        ("millimeter", "inch", 25.4_f32),
        ("inch", "foot", 12.0),
        ("meter", "millimeter", 0.001),
        ("inch", "inch", 1.0),
    ] {
        let mesh = usual(zip(&[
            ("3D/3dmodel.model", &start(outer)),
            ("3D/a.model", &leaf(inner)),
        ]));
        // The box extends from 0 to 2, 2, 2.5.
        let expected = [4.0 * factor, 2.0 * factor + 1.0, 2.5 * factor];
        let found = mesh.bounds().max;
        assert!(
            (0..3).all(|n| (found[n] - expected[n]).abs() <= f32::EPSILON * expected[n]),
            "{found:?} {expected:?}"
        );
        assert_eq!(
            (mesh.bounds().min[0], mesh.bounds().min[1]),
            (2.0 * factor, 1.0)
        );
        seen += 1;
    }
    assert_eq!(seen, 4);
}

#[test]
fn unnamed_objects_are_parts_of_their_own() {
    let build = item(1, "") + &item(2, "") + &item(1, "transform=\"1 0 0 0 1 0 0 0 1 9 0 0\"");
    let mesh = usual(package(&(object(1, "") + &object(2, "")), &build));
    let parts = mesh.parts(PartKind::Object).unwrap();
    assert_eq!(
        (
            parts.names().len(),
            parts.of(11),
            parts.of(12),
            parts.of(35)
        ),
        (3, 0, 1, 2)
    );
    let alone = usual(package(&object(1, ""), &item(1, "")));
    assert!(alone.parts(PartKind::Object).is_none());
}

#[test]
fn items_that_are_not_printable_are_read_with_a_warning() {
    let file = package(
        &(object(1, "") + &object(2, "")),
        &(item(1, "") + &item(2, "printable=\"0\"")),
    );
    let loaded = read(&file, Tolerance::Usual).unwrap();
    assert_eq!(loaded.mesh.triangles().len(), 24);
    let [finding] = &loaded.findings[..] else {
        panic!("{:?}", loaded.findings)
    };
    assert!(
        finding.code() == Code::S112 && finding.text().contains("12 triangles"),
        "{}",
        finding.text()
    );
}

#[test]
fn vertices_without_triangles_take_no_time_at_each_place() {
    let vertices: String = "<vertex x=\"9\" y=\"9\" z=\"9\"/>".repeat(100_000);
    let many = object(1, "").replace("<vertices>", &format!("<vertices>{vertices}"));
    // The indices of the box follow.
    let many = (0..8).rev().fold(many, |text, n| {
        ["v1", "v2", "v3"].iter().fold(text, |text, name| {
            text.replace(
                &format!("{name}=\"{n}\""),
                &format!("{name}=\"{}\"", 100_000 + n),
            )
        })
    });
    let start = std::time::Instant::now();
    let mesh = usual(package(&many, &item(1, "").repeat(5_000)));
    assert!(mesh.triangles()[..12] == *whole().triangles() && mesh.triangles().len() == 60_000);
    // Regression: this took minutes in a test build when all vertices were placed.
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

#[test]
fn supports_are_left_out_and_noted() {
    let mut seen = 0;
    for kind in ["support", "solidsupport", "other"] {
        let resources = object(1, "") + &object(2, &format!("type=\"{kind}\""));
        let file = package(&resources, &(item(1, "") + &item(2, "") + &item(2, "")));
        let loaded = read(&file, Tolerance::Usual).unwrap();
        assert!(loaded.mesh == whole());
        let [finding] = &loaded.findings[..] else {
            panic!("{:?}", loaded.findings)
        };
        assert_eq!((finding.code(), finding.count), (Code::S109, 1));
        seen += 1;
    }
    assert_eq!(seen, 3);
}

#[test]
fn damage_is_named_with_its_part() {
    let cube = object(1, "");
    let with = |from: &str, to: &str| package(&cube.replacen(from, to, 1), &item(1, ""));
    let required = |prefix: &str, more: &str| {
        let text = model(&cube, &item(1, "")).replacen(
            "<model",
            &format!("<model requiredextensions=\"{prefix}\" {more}"),
            1,
        );
        zip(&[("3D/3dmodel.model", &text)])
    };
    let circle = "<object id=\"1\"><components><component objectid=\"1\"/><component objectid=\"1\"/></components></object>";
    let beam = "xmlns:b=\"http://schemas.microsoft.com/3dmanufacturing/beamlattice/2017/02\"";
    let mut seen = 0;
    for (file, code, says) in [
        (
            zip(&[("[Content_Types].xml", "<Types/>")]),
            Code::S002,
            "no 3MF",
        ),
        (
            package(&cube, &item(2, "")),
            Code::S012,
            "object 2 does not exist",
        ),
        (package(&cube, "<item/>"), Code::S006, "no objectid"),
        (
            package(&cube, &item(1, "transform=\"1 0 0\"")),
            Code::S006,
            "not 12 numbers",
        ),
        (
            package(&cube, &item(1, "transform=\"nan 0 0 0 1 0 0 0 1 0 0 0\"")),
            Code::S006,
            "not 12 numbers",
        ),
        (
            package(&(cube.clone() + &cube), &item(1, "")),
            Code::S006,
            "two objects have the id 1",
        ),
        (package(circle, &item(1, "")), Code::S006, "in a circle"),
        (
            with("v1=\"0\"", "v1=\"8\""),
            Code::S012,
            "vertex 8 does not exist",
        ),
        (
            with("v1=\"0\"", "v1=\"99999999999\""),
            Code::S012,
            "does not exist",
        ),
        (with("v1=\"0\"", "v1=\"-1\""), Code::S007, "no whole number"),
        (with("v1=\"0\"", ""), Code::S006, "it has no v1"),
        (with("x=\"2\"", "x=\"2,5\""), Code::S007, "no number"),
        (with("x=\"2\"", "x=\"1e39\""), Code::S004, "infinite"),
        (with("x=\"2\"", ""), Code::S007, "no number"),
        (with("id=\"1\"", "id=\"one\""), Code::S007, "id is 'one'"),
        (
            with("<vertices>", "<vertices"),
            Code::S006,
            "3D/3dmodel.model",
        ),
        (with("</mesh>", ""), Code::S006, "3D/3dmodel.model"),
        (
            package(&cube, "<item objectid=\"1\" objectid=\"1\"/>"),
            Code::S006,
            "item",
        ),
        (required("b", beam), Code::S009, "beamlattice"),
        (required("x", ""), Code::S009, "'x'"),
        (
            zip(&[(
                "3D/3dmodel.model",
                "<!DOCTYPE a [<!ENTITY b \"c\">]><model/>",
            )]),
            Code::S006,
            "document type",
        ),
        (
            zip(&[("3D/3dmodel.model", "<model unit=\"mile\"/>")]),
            Code::S006,
            "mile",
        ),
        (
            zip(&[("3D/3dmodel.model", "<model><resources>")]),
            Code::S003,
            "cut short",
        ),
        (
            zip(&[(
                "3D/3dmodel.model",
                &format!("<model {}", "a".repeat(3 << 20)),
            )]),
            Code::S006,
            "piece of XML",
        ),
        (
            b"PK\x03\x04"
                .iter()
                .chain(&[0; 26])
                .chain(b"3D/3dmodel.model")
                .copied()
                .collect(),
            Code::S006,
            "zip",
        ),
    ] {
        let error = refused(&file);
        assert!(
            error.code() == code && error.to_string().contains(says),
            "{says}\n{error}"
        );
        seen += 1;
    }
    assert_eq!(seen, 25);
    // A zip archive of other files is not a 3MF.
    assert_eq!(refused(zip(&[("a.txt", "text")])).code(), Code::S009);
    let lenient = read(&with("v1=\"0\"", "v1=\"8\""), Tolerance::Lenient).unwrap();
    assert_eq!((lenient.mesh.triangles().len(), lenient.dropped), (11, 1));
}

#[test]
fn a_package_that_is_cut_is_an_error_and_one_that_explodes_ends() {
    let file = package(&object(1, ""), &item(1, ""));
    for length in 50..file.len() {
        refused(&file[..length]);
    }
    for limit in [100, 1000, 4000] {
        let error =
            read_stream(&mut &file[..], "-", &ReadOptions::default().memory(limit)).unwrap_err();
        assert_eq!(error.kind(), voxelize::Kind::TooLarge, "{limit}");
    }
    // Each level doubles the number of components, of nothing and of a box.
    let levels: String = (2..32)
        .map(|n| format!("<object id=\"{n}\"><components><component objectid=\"{0}\"/><component objectid=\"{0}\"/></components></object>", n - 1))
        .collect();
    let nothing = package(
        &format!("<object id=\"1\"><mesh/></object>{levels}"),
        &item(31, ""),
    );
    assert!(refused(&nothing).message().contains("a million components"));
    let options = ReadOptions::default().memory(1 << 20);
    let boxes = package(&(object(1, "") + &levels), &item(31, ""));
    let error = read_stream(&mut &boxes[..], "-", &options).unwrap_err();
    assert_eq!(error.kind(), voxelize::Kind::TooLarge);
    // Many vertices in a few compressed bytes.
    let many = "<vertex x=\"0\" y=\"0\" z=\"0\"/>".repeat(100_000);
    let bomb = package(
        &format!("<object id=\"1\"><mesh><vertices>{many}</vertices></mesh></object>"),
        &item(1, ""),
    );
    assert!(bomb.len() < 60_000);
    let error = read_stream(&mut &bomb[..], "-", &options).unwrap_err();
    assert_eq!(error.kind(), voxelize::Kind::TooLarge);
}
