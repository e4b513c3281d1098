//! Seeds of 3MF: models that the target puts into a package.

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::Seeds;

/// Returns small models of every kind, sound and odd.
pub fn files() -> Seeds {
    let head = "<model unit=\"inch\" xmlns=\"http://schemas.microsoft.com/3dmanufacturing/core/2015/02\" \
                xmlns:m=\"http://schemas.microsoft.com/3dmanufacturing/material/2015/02\">";
    let mesh = "<mesh><vertices><vertex x=\"0\" y=\"0\" z=\"0\"/><vertex x=\"2\" y=\"0\" z=\"0\"/>\
                <vertex x=\"0\" y=\"2.5\" z=\"0\"/><vertex x=\"0\" y=\"0\" z=\"1e0\"/></vertices><triangles>\
                <triangle v1=\"0\" v2=\"2\" v3=\"1\" pid=\"5\" p1=\"0\"/><triangle v1=\"0\" v2=\"1\" v3=\"3\"/>\
                <triangle v1=\"1\" v2=\"2\" v3=\"3\" p1=\"1\"/><triangle v1=\"0\" v2=\"3\" v3=\"2\"/></triangles></mesh>";
    let groups = "<basematerials id=\"5\"><base name=\"a\" displaycolor=\"#112233\"/></basematerials>\
                  <m:colorgroup id=\"6\"><m:color color=\"#445566FF\"/></m:colorgroup>";
    let model = |resources: String, build: &str| {
        format!("{head}<resources>{resources}</resources><build>{build}</build></model>")
            .into_bytes()
    };
    let object = |id: u32, more: &str| format!("<object id=\"{id}\" {more}>{mesh}</object>");
    let placed = "<item objectid=\"1\" transform=\"-1 0 0 0 1 0 0 0 1 5 6 7\"/>";
    let nested = "<object id=\"2\"><components><component objectid=\"1\"/>\
                  <component objectid=\"1\" transform=\"2 0 0 0 2 0 0 0 2 0 0 0\"/></components></object>";
    let circle = "<object id=\"1\"><components><component objectid=\"1\"/></components></object>";
    let seeds = [
        (
            "box",
            model(object(1, "name=\"box\""), "<item objectid=\"1\"/>"),
        ),
        (
            "materials",
            model(
                groups.to_string() + &object(1, "pid=\"6\" pindex=\"0\""),
                placed,
            ),
        ),
        (
            "nested",
            model(
                object(1, "") + nested,
                "<item objectid=\"2\"/><item objectid=\"1\"/>",
            ),
        ),
        (
            "support",
            model(object(1, "type=\"support\""), "<item objectid=\"1\"/>"),
        ),
        (
            "circle",
            model(circle.to_string(), "<item objectid=\"1\"/>"),
        ),
        ("missing", model(object(1, ""), "<item objectid=\"9\"/>")),
        (
            "damaged",
            model(
                object(1, "")
                    .replace("v3=\"1\"", "v3=\"9\"")
                    .replace("2.5", "x"),
                placed,
            ),
        ),
    ];
    let mut all: Seeds = seeds.map(|(name, bytes)| (name.to_string(), bytes)).into();
    let volumes = "<volume firstid=\"0\" lastid=\"1\"><metadata key=\"volume_type\" value=\"NegativeVolume\"/></volume>\
                   <volume firstid=\"2\" lastid=\"2\"><metadata key=\"modifier\" value=\"1\"/></volume>";
    let part = "<object id=\"2\"><part id=\"1\" subtype=\"negative_part\"><metadata key=\"name\" value=\"cut\"/></part></object>";
    let project = model(
        object(1, "") + nested,
        "<item objectid=\"2\"/><item objectid=\"1\"/>",
    );
    for (name, path, config) in [
        (
            "prusa",
            "Metadata/Slic3r_PE_model.config",
            format!("<config><object id=\"1\">{volumes}</object></config>"),
        ),
        (
            "bambu",
            "Metadata/model_settings.config",
            format!("<config>{part}</config>"),
        ),
    ] {
        let mut zip = ZipWriter::new(Cursor::new(vec![]));
        for (path, text) in [
            ("3D/3dmodel.model", &project[..]),
            (path, config.as_bytes()),
        ] {
            let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
            zip.start_file(path, stored).expect("a name");
            zip.write_all(text).expect("a Vec takes all");
        }
        all.push((
            name.to_string(),
            zip.finish().expect("a Vec takes all").into_inner(),
        ));
    }
    all
}
