//! 3MF: placed items and components, units, materials, split packages, and damage.

use std::io::{Cursor, Write};

use voxelize::Mesh;
use voxelize::job::{UnitOfLength, UpAxis};
use voxelize::mesh::PartKind;
use voxelize::mesh::read::Tolerance;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::indexed::{CUBE, SIDES};
use super::inputs::{codes, refused, rows, sound, stream, text, too_large};

/// Type of the relationship to the model.
const MODEL: &str = "http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel";

/// Usual path of the model.
const PATH: &str = "3D/3dmodel.model";

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
    <model unit=\"inch\" xmlns=\"http://schemas.microsoft.com/3dmanufacturing/core/2015/02\" \
    xmlns:m=\"http://schemas.microsoft.com/3dmanufacturing/material/2015/02\" \
    xmlns:p=\"http://schemas.microsoft.com/3dmanufacturing/production/2015/06\"";

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
        (PATH, &model(resources, build)),
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
    let corner = |n: u32| CUBE[n as usize];
    Mesh::from_triangles(corners().iter().map(|t| t.map(corner)).collect()).unwrap()
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
    let named = package(&object(1, "name=\"a &amp; b\""), &item(1, ""));
    let loaded = stream(named, Tolerance::Strict).unwrap();
    assert_eq!(
        (loaded.format, loaded.unit, loaded.up),
        ("3mf", Some(UnitOfLength::Inch), Some(UpAxis::Z))
    );
    assert!(loaded.mesh == whole() && loaded.mesh.edge_counts().is_oriented());
    let objects = loaded.mesh.parts(PartKind::Object).unwrap();
    assert_eq!(objects.names(), ["a & b"]);
    assert!(loaded.mesh.parts(PartKind::Material).is_none());
    for (text, unit) in [
        ("unit=\"micron\"", UnitOfLength::Micrometre),
        ("unit=\"millimeter\"", UnitOfLength::Millimetre),
        ("unit=\"centimeter\"", UnitOfLength::Centimetre),
        ("unit=\"foot\"", UnitOfLength::Foot),
        ("unit=\"meter\"", UnitOfLength::Metre),
        ("", UnitOfLength::Millimetre),
    ] {
        let model = model(&object(1, ""), &item(1, "")).replace("unit=\"inch\"", text);
        let loaded = stream(zip(&[(PATH, &model)]), Tolerance::Strict).unwrap();
        assert_eq!((loaded.unit, loaded.mesh == whole()), (Some(unit), true));
    }
    // An object without an item is not built.
    assert!(sound(package(&(object(1, "") + &object(2, "")), &item(2, ""))) == whole());
}

#[test]
fn components_are_placed_in_their_items() {
    let resources = object(1, "name=\"leaf\"")
        + "<object id=\"2\" name=\"pair\"><components><component objectid=\"1\"/>\
           <component objectid=\"1\" transform=\"-1 0 0 0 1 0 0 0 1 100 0 0\"/></components></object>"
        + "<object id=\"3\"><components><component objectid=\"2\" transform=\"0 2 0 -2 0 0 0 0 2 0 0 0\"/>\
           </components></object>";
    let build = item(3, "transform=\"1 0 0 0 1 0 0 0 1 10 20 30\"") + &item(1, "");
    let mesh = sound(package(&resources, &build));
    let objects = mesh.parts(PartKind::Object).unwrap();
    assert_eq!(objects.names(), ["leaf", "leaf", "leaf"]);
    let edges = |part: u32| {
        let bounds = *mesh.select(|n| objects.of(n) == part).bounds();
        (bounds.min, bounds.max)
    };
    // Doubled, rotated by a quarter turn, translated.
    assert_eq!(edges(0), ([6.0, 20.0, 30.0], [10.0, 24.0, 35.0]));
    assert_eq!(edges(1), ([6.0, 216.0, 30.0], [10.0, 220.0, 35.0]));
    assert_eq!(edges(2), ([0.0; 3], [2.0, 2.0, 2.5]));
    // A mirrored box is not inside out.
    assert_eq!(mesh.volume(), 80.0 + 80.0 + 10.0);
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
    let mesh = sound(zip(&[(PATH, &start), ("3D/Objects/leaf.model", &leaf)]));
    assert_eq!(mesh.triangles(), whole().triangles().repeat(2));
    let objects = mesh.parts(PartKind::Object).unwrap();
    assert_eq!(objects.names(), ["far", "far"]);
    refused(zip(&[(PATH, &start)]), "S006", "leaf.model");
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
    let loaded = stream(package(&resources, &item(1, "")), Tolerance::Usual).unwrap();
    assert_eq!(codes(&loaded), "S110");
    let text = loaded.findings[0].text();
    assert!(text.contains("1 triangle has"), "{text}");
    let mesh = loaded.mesh;
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
    for (property, name, colour) in [
        ("pid=\"7\" p1=\"0\"", "a 1 + b 3", [64, 0, 191]),
        ("pid=\"7\" p1=\"1\"", "b 1", [0, 0, 255]),
        ("pid=\"8\" p1=\"0\"", "a", [0, 255, 0]),
        ("pid=\"8\" p1=\"1\"", "a", [127, 128, 0]),
        ("pid=\"8\" p1=\"2\"", "b", [0, 255, 0]),
        ("pid=\"9\" p1=\"0\"", "a", [128, 0, 0]),
    ] {
        let mesh = mesh(|_| property.to_string());
        let object = format!("<object id=\"1\">{mesh}</object>");
        let mesh = sound(package(&(groups.to_string() + &object), &item(1, "")));
        assert_eq!(mesh.colours().unwrap().of(0), [colour; 3], "{property}");
        let materials = mesh.parts(PartKind::Material).unwrap();
        assert_eq!(materials.names(), [name], "{property}");
    }
}

/// Targets of the relationship, if there is one, paths of the model, and first entries of the package.
const PACKAGES: &str = r"
    | 3D/3dmodel.model |
    | 3d/3DModel.Model |
    | 3D\\3dmodel.model |
    | other/a.model |
    | 3D/3dmodel.model | 2D/a.svg
    | 3D/3dmodel.model | docProps/core.xml
    | 3D/3dmodel.model | Auxiliaries/.thumbnails/a.png
    | 3D/3dmodel.model | ä/b
    /other/a.model | other/a.model |
    /3D/3DModel.model | 3D/3dmodel.model |
    ./3D/3dmodel.model | 3D/3dmodel.model |
    3D\\a.model | 3D/a.model |
    /3D/../3D/a.model | 3D/a.model |
    /3D/a%20b.model | 3D/a b.model |
    /3D/a%20b.model | 3D/a%20b.model |
    /3D/missing.model | 3D/3dmodel.model |
";

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
    for [target, path, first] in rows(PACKAGES) {
        let related = relations(&text(target), MODEL);
        let path = text(path);
        let mut entries = vec![(path.as_str(), plain.as_str())];
        if !target.is_empty() {
            entries.insert(0, ("_rels/.rels", &related));
        }
        if !first.is_empty() {
            entries.insert(0, (first, "a"));
        }
        assert!(sound(zip(&entries)) == whole(), "{target} {path} {first}");
    }
    let shouted = relations("/a.model", &MODEL.to_uppercase());
    let core = "http://schemas.microsoft.com/3dmanufacturing/core/2015/02";
    let in_2013 = "http://schemas.microsoft.com/3dmanufacturing/2013/01";
    let bare = format!(
        "<model><resources>{}</resources><build>{}</build></model>",
        object(7, ""),
        item(7, "")
    );
    for entries in [
        &[("_rels/.rels", shouted.as_str()), ("a.model", &plain)][..],
        &[("_rels/.rels", "<Relationships"), (PATH, &plain)],
        &[(PATH, &plain.replace(core, in_2013))],
        &[(PATH, &format!("\u{feff}{plain}"))],
        &[(PATH, &bare)],
    ] {
        assert!(sound(zip(entries)) == whole(), "{entries:?}");
    }
    let wide = plain.replace("UTF-8", "UTF-16");
    let little: Vec<u8> = wide.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = wide.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for bytes in [
        [b"\xff\xfe", &little[..]].concat(),
        [b"\xfe\xff", &big[..]].concat(),
        little,
    ] {
        let mut zip = ZipWriter::new(Cursor::new(vec![]));
        zip.add_directory("Metadata/", SimpleFileOptions::default())
            .unwrap();
        zip.start_file(PATH, SimpleFileOptions::default()).unwrap();
        zip.write_all(&bytes).unwrap();
        assert!(sound(zip.finish().unwrap().into_inner()) == whole());
    }
    // Sizes follow the data.
    let mut zip = ZipWriter::new_stream(vec![]);
    zip.start_file(PATH, SimpleFileOptions::default()).unwrap();
    zip.write_all(plain.as_bytes()).unwrap();
    assert!(sound(zip.finish().unwrap().into_inner()) == whole());
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
    for (outer, inner, factor) in [
        ("millimeter", "inch", 25.4_f32),
        ("inch", "foot", 12.0),
        ("meter", "millimeter", 0.001),
        ("inch", "inch", 1.0),
    ] {
        let mesh = sound(zip(&[(PATH, &start(outer)), ("3D/a.model", &leaf(inner))]));
        // The box extends from 0 to 2, 2, 2.5.
        let expected = [4.0 * factor, 2.0 * factor + 1.0, 2.5 * factor];
        let found = mesh.bounds().max;
        for n in 0..3 {
            let off = (found[n] - expected[n]).abs();
            assert!(off <= f32::EPSILON * expected[n], "{found:?} {expected:?}");
        }
        assert_eq!(mesh.bounds().min[..2], [2.0 * factor, 1.0]);
    }
}

#[test]
fn unnamed_objects_are_parts_of_their_own() {
    let build = item(1, "") + &item(2, "") + &item(1, "transform=\"1 0 0 0 1 0 0 0 1 9 0 0\"");
    let mesh = sound(package(&(object(1, "") + &object(2, "")), &build));
    let parts = mesh.parts(PartKind::Object).unwrap();
    assert_eq!(parts.names().len(), 3);
    assert_eq!([11, 12, 35].map(|n| parts.of(n)), [0, 1, 2]);
    let alone = sound(package(&object(1, ""), &item(1, "")));
    assert!(alone.parts(PartKind::Object).is_none());
}

#[test]
fn items_that_are_not_printable_are_read_with_a_warning() {
    let file = package(
        &(object(1, "") + &object(2, "")),
        &(item(1, "") + &item(2, "printable=\"0\"")),
    );
    let loaded = stream(&file, Tolerance::Usual).unwrap();
    assert_eq!(loaded.mesh.triangles().len(), 24);
    assert_eq!(codes(&loaded), "S112");
    let text = loaded.findings[0].text();
    assert!(text.contains("12 triangles"), "{text}");
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
    let mesh = sound(package(&many, &item(1, "").repeat(5_000)));
    assert!(mesh.triangles()[..12] == *whole().triangles() && mesh.triangles().len() == 60_000);
    // Regression: this took minutes in a test build when all vertices were placed.
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

#[test]
fn supports_are_left_out_and_noted() {
    for kind in ["support", "solidsupport", "other"] {
        let resources = object(1, "") + &object(2, &format!("type=\"{kind}\""));
        let file = package(&resources, &(item(1, "") + &item(2, "") + &item(2, "")));
        let loaded = stream(&file, Tolerance::Usual).unwrap();
        assert!(loaded.mesh == whole());
        assert_eq!(
            (codes(&loaded).as_str(), loaded.findings[0].count),
            ("S109", 1)
        );
    }
}

/// Codes, replaced texts of a model of one box, replacements, and parts of the message.
const DAMAGED: &str = r#"
    S012 | objectid="1" | objectid="2" | object 2 does not exist
    S006 | <item objectid="1" /> | <item/> | no objectid
    S006 | <item objectid="1" | <item objectid="1" transform="1 0 0" | not 12 numbers
    S006 | <item objectid="1" | <item objectid="1" transform="nan 0 0 0 1 0 0 0 1 0 0 0" | not 12 numbers
    S006 | <item objectid="1" | <item objectid="1" objectid="1" | item
    S006 | </object> | </object><object id="1"/> | two objects have the id 1
    S012 | v1="0" | v1="8" | vertex 8 does not exist
    S012 | v1="0" | v1="99999999999" | does not exist
    S007 | v1="0" | v1="-1" | not a whole number
    S006 | v1="0" | | it has no v1
    S007 | x="2" | x="2,5" | not a number
    S004 | x="2" | x="1e39" | infinite
    S007 | x="2" | | not a number
    S007 | id="1" | id="one" | id is 'one'
    S006 | <vertices> | <vertices | 3D/3dmodel.model
    S006 | </mesh> | | 3D/3dmodel.model
    S009 | <model | <model requiredextensions="b" xmlns:b="http://schemas.microsoft.com/3dmanufacturing/beamlattice/2017/02" | beamlattice
    S009 | <model | <model requiredextensions="x" | 'x'
"#;

#[test]
fn damage_is_named_with_its_part() {
    let plain = model(&object(1, ""), &item(1, ""));
    let with = |from: &str, to: &str| {
        assert!(plain.contains(from), "{from}");
        zip(&[(PATH, &plain.replacen(from, to, 1))])
    };
    for [code, from, to, text] in rows(DAMAGED) {
        refused(with(from, to), code, text);
    }
    let long = format!("<model {}", "a".repeat(3 << 20));
    for (model, code, text) in [
        (
            "<!DOCTYPE a [<!ENTITY b \"c\">]><model/>",
            "S006",
            "document type",
        ),
        ("<model unit=\"mile\"/>", "S006", "mile"),
        ("<model><resources>", "S003", "cut short"),
        (&long, "S006", "piece of XML"),
    ] {
        refused(zip(&[(PATH, model)]), code, text);
    }
    refused(
        zip(&[("[Content_Types].xml", "<Types/>")]),
        "S002",
        "not a 3MF",
    );
    let cut = [b"PK\x03\x04", &[0; 26][..], PATH.as_bytes()].concat();
    refused(cut, "S006", "zip");
    // A zip archive of other files is not a 3MF.
    refused(zip(&[("a.txt", "text")]), "S009", "");
    let lenient = stream(with("v1=\"0\"", "v1=\"8\""), Tolerance::Lenient).unwrap();
    assert_eq!((lenient.mesh.triangles().len(), lenient.dropped), (11, 1));
}

#[test]
fn a_package_that_is_cut_is_an_error_and_one_that_explodes_ends() {
    let file = package(&object(1, ""), &item(1, ""));
    for length in 50..file.len() {
        assert!(
            stream(&file[..length], Tolerance::Usual).is_err(),
            "{length}"
        );
    }
    for limit in [100, 1000, 4000] {
        too_large(&file, limit);
    }
    // Each level doubles the number of components, of nothing and of a box.
    let levels: String = (2..32)
        .map(|n| format!("<object id=\"{n}\"><components><component objectid=\"{0}\"/><component objectid=\"{0}\"/></components></object>", n - 1))
        .collect();
    let nothing = format!("<object id=\"1\"><mesh/></object>{levels}");
    let error = stream(package(&nothing, &item(31, "")), Tolerance::Usual).unwrap_err();
    assert!(error.message().contains("a million components"), "{error}");
    too_large(package(&(object(1, "") + &levels), &item(31, "")), 1 << 20);
    // Many vertices in a few compressed bytes.
    let many = "<vertex x=\"0\" y=\"0\" z=\"0\"/>".repeat(100_000);
    let many = format!("<object id=\"1\"><mesh><vertices>{many}</vertices></mesh></object>");
    let bomb = package(&many, &item(1, ""));
    assert!(bomb.len() < 60_000);
    too_large(bomb, 1 << 20);
}
