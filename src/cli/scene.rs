//! Scenes: lists of meshes with names and poses, in TOML or JSON.
//!
//! ```toml
//! [[mesh]]
//! file = "arm.stl"
//! name = "upper arm"
//! rpy = [0, 0, 1.5708]
//! translate = [0, 0, 0.4]
//! ```
//!
//! JSON has the same keys, `{"mesh": [{"file": "arm.stl"}]}`. Numbers are taken as written.

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use toml_edit::{Document, Item, Key, TableLike, Value as Toml};
use voxelize::job::MeshPose;
use voxelize::{Code, Error, Result};

use super::files::{self, MeshSource, PartSource};
use super::names::Names;
use super::suggest;

/// Maximum length of a scene in bytes.
const MAX_SCENE: u64 = 16 << 20;

/// Keys of a mesh.
const KEYS: [&str; 8] = [
    "file",
    "name",
    "axes",
    "matrix",
    "rotate",
    "rpy",
    "scale",
    "translate",
];

/// Mesh of a scene.
struct SceneMesh {
    /// Name of the part. `None` for the name of the file.
    name: Option<String>,
    /// File, relative to the working directory.
    file: PathBuf,
    pose: MeshPose,
    /// File and line of the scene that name the mesh, for hints.
    origin: String,
}

/// Finds the meshes of these names and of a scene, which are joined.
pub fn joined(paths: &[PathBuf], scene: Option<&Path>, names: &Names) -> Result<MeshSource> {
    let mut source = MeshSource::find_all(paths, names)?;
    if let Some(path) = scene {
        source.parts.extend(parts(path, names)?);
        source.scene = Some(path.to_path_buf());
    }
    Ok(source)
}

/// Finds the meshes of a scene.
pub fn parts(path: &Path, names: &Names) -> Result<Vec<PartSource>> {
    files::is_there(path)?;
    let text = text(names.reads(path, "the scene")?.path())?;
    let found = meshes(&text, path).map_err(|error| {
        let error = error.in_file(path);
        files::or_hint(error, "docs/how-to/robots.md shows a scene")
    })?;
    let mut parts = vec![];
    for SceneMesh {
        name,
        file,
        pose,
        origin,
    } in found
    {
        files::is_there(&file).map_err(|error| files::or_hint(error, &origin))?;
        parts.push(PartSource {
            given_name: name,
            file: Some(names.reads(&file, "a mesh of this run")?),
            pose,
        });
    }
    Ok(parts)
}

fn text(path: &Path) -> Result<String> {
    let mut bytes = vec![];
    let read = File::open(path).and_then(|file| file.take(MAX_SCENE + 1).read_to_end(&mut bytes));
    read.map_err(|error| {
        Error::input(Code::Unreadable, format!("cannot be read: {error}")).in_file(path)
    })?;
    match String::from_utf8(bytes) {
        Ok(text) if text.len() as u64 <= MAX_SCENE => Ok(text),
        _ => Err(bad("is not a scene: it is not text")
            .in_file(path)
            .with_hint("a scene is TOML or JSON; a mesh is named without --scene")),
    }
}

fn bad(text: impl Into<String>) -> Error {
    Error::input(Code::BadScene, text.into())
}

/// Key of a mesh with its value. Numbers are as written.
struct SceneEntry {
    key: String,
    value: SceneValue,
    line: u64,
}

enum SceneValue {
    One(String),
    Many(Vec<String>),
    /// Value that is neither text, nor a number, nor an array of these.
    Other,
}

/// Keys of a mesh, and the line where the mesh begins.
struct SceneTable {
    entries: Vec<SceneEntry>,
    line: u64,
}

fn meshes(text: &str, path: &Path) -> Result<Vec<SceneMesh>> {
    let tables = if text.trim_start().starts_with(['{', '[']) && !is_toml(text) {
        json_tables(text)?
    } else {
        toml_tables(text)?
    };
    if tables.is_empty() {
        return Err(bad("the scene has no mesh")
            .with_hint("write [[mesh]] and file = \"part.stl\" below it"));
    }
    tables.iter().map(|table| mesh(table, path)).collect()
}

/// Returns `true` for a file that begins with a table of TOML.
fn is_toml(text: &str) -> bool {
    let begin = text.trim_start();
    begin.starts_with('[') && serde_json::from_str::<Json>(text).is_err()
}

fn mesh(table: &SceneTable, path: &Path) -> Result<SceneMesh> {
    let mut file = None;
    let mut name = None;
    let mut pose = MeshPose::default();
    for entry in &table.entries {
        let about = |error: Error| error.about(&entry.key).at_line(entry.line);
        if !KEYS.contains(&entry.key.as_str()) {
            let near = suggest::nearest(&entry.key, KEYS);
            let hint = match near {
                Some(near) => format!("did you mean '{near}'?"),
                None => format!("its keys are {}", KEYS.join(", ")),
            };
            return Err(bad(format!("a mesh has no key '{}'", entry.key))
                .at_line(entry.line)
                .with_hint(hint));
        }
        let value = match (&entry.value, entry.key.as_str()) {
            (SceneValue::One(text), _) => vec![text.clone()],
            (SceneValue::Many(_), "file" | "name" | "scale") | (SceneValue::Other, _) => {
                return Err(
                    about(bad("expected a text or a number")).with_hint(example(&entry.key))
                );
            }
            (SceneValue::Many(texts), _) => texts.clone(),
        };
        match entry.key.as_str() {
            "file" => file = Some(value.concat()),
            "name" => name = Some(value.concat()),
            "rotate" => {
                for text in &value {
                    pose.set("rotate", text)
                        .map_err(|error| in_scene(&about(error), &entry.key))?;
                }
            }
            key => pose
                .set(key, &value.join(","))
                .map_err(|error| in_scene(&about(error), key))?,
        }
    }
    let Some(file) = file.filter(|file| !file.is_empty()) else {
        return Err(bad("a mesh has no file")
            .at_line(table.line)
            .with_hint("add file = \"part.stl\""));
    };
    let folder = path.parent().unwrap_or(Path::new(""));
    Ok(SceneMesh {
        name: name.filter(|name| !name.trim().is_empty()),
        file: folder.join(file),
        pose,
        origin: format!("{} names it in line {}", path.display(), table.line),
    })
}

/// Returns the error of a value as an error of the scene.
fn in_scene(error: &Error, key: &str) -> Error {
    let line = error.line().unwrap_or(1);
    let found = bad(error.message()).at_line(line);
    match error.hint() {
        Some(hint) => found.with_hint(hint.clone()),
        None => found.with_hint(example(key)),
    }
}

fn example(key: &str) -> &'static str {
    match key {
        "file" => "such as file = \"part.stl\"",
        "name" => "such as name = \"arm\"",
        "axes" => "such as axes = \"x,-z,y\"",
        "matrix" => "such as matrix = [1,0,0,5, 0,1,0,0, 0,0,1,0], row by row",
        "rotate" => "such as rotate = [\"x,90\", \"z,45\"], in this order",
        "rpy" => "such as rpy = [0, 0, 1.5708] in radians, or rpy = \"0,0,90deg\"",
        "scale" => "such as scale = 1000, or scale = \"1/1000\"",
        _ => "such as translate = [0, 0, 5], or translate = \"0,0,5mm\"",
    }
}

fn toml_tables(text: &str) -> Result<Vec<SceneTable>> {
    let line_of = |span: Option<Range<usize>>| {
        let before = &text.as_bytes()[..span.map_or(0, |span| span.start).min(text.len())];
        before.iter().filter(|byte| **byte == b'\n').count() as u64 + 1
    };
    let document = Document::parse(text).map_err(|error| {
        let why = error.message().lines().next().unwrap_or_default();
        bad(format!("is not TOML: {why}")).at_line(line_of(error.span()))
    })?;
    let mut tables = vec![];
    for (key, item) in document.iter() {
        let line = line_of(document.key(key).and_then(Key::span));
        if key != "mesh" {
            return Err(other_key(key, line));
        }
        let all: Vec<(&dyn TableLike, Option<Range<usize>>)> = match item {
            Item::ArrayOfTables(all) => all
                .iter()
                .map(|table| (table as &dyn TableLike, table.span()))
                .collect(),
            Item::Value(Toml::Array(all)) if all.iter().all(Toml::is_inline_table) => all
                .iter()
                .filter_map(|value| {
                    Some((value.as_inline_table()? as &dyn TableLike, value.span()))
                })
                .collect(),
            _ => return Err(no_tables(line)),
        };
        for (table, span) in all {
            let mut entries = vec![];
            for (key, item) in table.iter() {
                entries.push(SceneEntry {
                    key: key.to_string(),
                    value: scene_value(&item.as_value().map_or(Json::Null, as_json)),
                    line: line_of(table.key(key).and_then(Key::span)),
                });
            }
            tables.push(SceneTable {
                entries,
                line: line_of(span),
            });
        }
    }
    Ok(tables)
}

/// Returns a value of TOML as a value of JSON, numbers as the text that is written.
fn as_json(value: &Toml) -> Json {
    match value {
        Toml::Array(all) => Json::Array(all.iter().map(as_json).collect()),
        Toml::String(text) => Json::String(text.value().clone()),
        Toml::Integer(number) => Json::String(number.display_repr().trim().replace('_', "")),
        Toml::Float(number) => Json::String(number.display_repr().trim().replace('_', "")),
        _ => Json::Null,
    }
}

fn json_tables(text: &str) -> Result<Vec<SceneTable>> {
    let root: Json = serde_json::from_str(text).map_err(|error| {
        let why = error.to_string();
        let why = why.split(" at line").next().unwrap_or_default();
        bad(format!("is not JSON: {why}")).at_line(error.line() as u64)
    })?;
    let Json::Object(root) = root else {
        return Err(
            bad("a scene is an object").with_hint("such as {\"mesh\": [{\"file\": \"part.stl\"}]}")
        );
    };
    let keys = json_keys(text);
    let mut lines = keys.iter();
    let mut next_line = |key: &str| {
        // A key that occurs twice in an object is in the text twice, and in the object once.
        let line = lines.find(|(found, _)| found == key);
        line.map_or(1, |(_, line)| *line)
    };
    let mut tables = vec![];
    for (key, value) in &root {
        let line = next_line(key);
        if key != "mesh" {
            return Err(other_key(key, line));
        }
        let Json::Array(all) = value else {
            return Err(no_tables(line));
        };
        for value in all {
            let Json::Object(table) = value else {
                return Err(no_tables(line));
            };
            let entries: Vec<_> = table
                .iter()
                .map(|(key, value)| SceneEntry {
                    key: key.clone(),
                    value: scene_value(value),
                    line: next_line(key),
                })
                .collect();
            let line = entries.first().map_or(line, |entry| entry.line);
            tables.push(SceneTable { entries, line });
        }
    }
    let entries = || tables.iter().flat_map(|table| &table.entries);
    let is_plain = !entries().any(|entry| matches!(entry.value, SceneValue::Other));
    if is_plain && keys.len() != root.len() + entries().count() {
        return Err(bad("a key occurs twice in one object").with_hint("leave out one of them"));
    }
    Ok(tables)
}

fn scene_value(value: &Json) -> SceneValue {
    match value {
        Json::String(text) => SceneValue::One(text.clone()),
        Json::Number(number) => SceneValue::One(number.to_string()),
        Json::Array(all) => {
            let mut texts = vec![];
            for value in all {
                match scene_value(value) {
                    SceneValue::One(text) => texts.push(text),
                    SceneValue::Many(row) => texts.extend(row),
                    SceneValue::Other => return SceneValue::Other,
                }
            }
            SceneValue::Many(texts)
        }
        _ => SceneValue::Other,
    }
}

/// Returns the keys of all objects of a valid JSON text with their lines, in the order of the text.
fn json_keys(text: &str) -> Vec<(String, u64)> {
    let bytes = text.as_bytes();
    let mut keys = vec![];
    let mut line = 1;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\n' => line += 1,
            b'"' => {
                let begin = at;
                at += 1;
                while bytes.get(at).is_some_and(|byte| *byte != b'"') {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                let after = text.get(at + 1..).unwrap_or_default().trim_start();
                if after.starts_with(':') {
                    let key = text.get(begin..=at).unwrap_or_default();
                    keys.push((serde_json::from_str(key).unwrap_or_default(), line));
                }
            }
            _ => {}
        }
        at += 1;
    }
    keys
}

fn other_key(key: &str, line: u64) -> Error {
    bad(format!("a scene has no key '{key}'"))
        .at_line(line)
        .with_hint("it has [[mesh]] tables and nothing else")
}

fn no_tables(line: u64) -> Error {
    bad("'mesh' is not a list of tables")
        .at_line(line)
        .with_hint("write [[mesh]], and its keys below it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toml_and_json_say_the_same() {
        let toml = "# a robot\n[[mesh]]\nfile = \"a.stl\"\n\n[[mesh]]\nname = \"arm\"\nfile = \"b.stl\"\n\
                    rotate = [\"x,90\", \"z,45\"]\ntranslate = [0, 0.1, \"5mm\"]\n";
        let inline = "mesh = [{file = \"a.stl\"},\n{name = \"arm\", file = \"b.stl\", rotate = [\"x,90\", \"z,45\"], \
                      translate = \"0,0.1,5mm\"}]";
        let json = "{\"mesh\": [{\"file\": \"a.stl\"},\n{\"name\": \"arm\", \"file\": \"b.stl\",\n\
                    \"rotate\": [\"x,90\", \"z,45\"], \"translate\": [0, \"0.1\", \"5mm\"]}]}";
        for (text, lines) in [(toml, [2, 5]), (inline, [1, 2]), (json, [1, 2])] {
            let found = meshes(text, Path::new("robots/r.toml")).unwrap();
            let [a, b] = found.as_slice() else {
                panic!("{}", found.len())
            };
            assert_eq!(
                (&a.name, a.file.as_path()),
                (&None, Path::new("robots/a.stl"))
            );
            assert!(a.pose.is_empty() && b.name.as_deref() == Some("arm"));
            assert_eq!(
                b.pose.to_string(),
                "rotate=x,90@rotate=z,45@translate=0,0.1,5mm"
            );
            for (mesh, line) in found.iter().zip(lines) {
                assert_eq!(
                    mesh.origin,
                    format!("robots/r.toml names it in line {line}")
                );
            }
        }
    }

    #[test]
    fn errors_name_key_and_line() {
        let mut tried = 0;
        for (text, line, words) in [
            (
                "[[mesh]]\nfile = \"a.stl\"\ncolour = 3\n",
                3,
                "a mesh has no key 'colour'",
            ),
            (
                "[[mesh]]\nfile = \"a.stl\"\n[[meshes]]\n",
                3,
                "a scene has no key 'meshes'",
            ),
            ("[[mesh]]\nname = \"a\"\n", 1, "a mesh has no file"),
            (
                "[mesh]\nfile = \"a.stl\"\n",
                1,
                "'mesh' is not a list of tables",
            ),
            (
                "[[mesh]]\nfile = 1\nfile = 2\n",
                3,
                "is not TOML: duplicate key",
            ),
            (
                "[[mesh]]\nfile = true\n",
                2,
                "file: expected a text or a number",
            ),
            (
                "[[mesh]]\nfile = \"a\"\nrotate = [\"w,90\"]\n",
                3,
                "rotate: expected an axis",
            ),
            (
                "[[mesh]]\nfile = \"a\"\nrpy = [0, 0, 90]\n",
                3,
                "rpy: 90 radians are more",
            ),
            (
                "[[mesh]]\nfile = \"a\"\ntranslate = [0, 0]\n",
                3,
                "translate: expected 3 numbers",
            ),
            (
                "{\"mesh\": [\n{\"file\": \"a\",\n\"turn\": 1}]}",
                3,
                "a mesh has no key 'turn'",
            ),
            (
                "{\"mesh\": [\n{\"file\": \"a\",\n\"scale\": 0}]}",
                3,
                "scale: must be above zero",
            ),
            ("{\"mesh\": [\n{\"file\": \"a\"\n}", 3, "is not JSON"),
            (
                "{\"mesh\": [{\"file\": \"a\", \"file\": \"b\"}]}",
                0,
                "a key occurs twice",
            ),
            ("{\"mesh\": 5}", 1, "'mesh' is not a list of tables"),
        ] {
            let error = meshes(text, Path::new("r.toml")).map(|_| ()).unwrap_err();
            assert_eq!(error.line().unwrap_or_default(), line, "{text}: {error}");
            assert!(error.message().starts_with(words), "{text}: {error}");
            tried += 1;
        }
        assert!(tried > 10);
        assert!(meshes("", Path::new("r.toml")).is_err());
    }
}
