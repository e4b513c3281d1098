//! Compares other readers of meshes with this one on the same files, in one thread, as a table.
//!
//! `reading-peers [--large MB] MESH …`
//!
//! Each mesh is written with shared vertices as OBJ, OFF, PLY (text and binary), GLB and 3MF, and read from
//! the system's cache. Times are medians of nine. `voxelize` returns triangles with verified finite
//! coordinates, their bounds, and the number of triangles without area; the peers return vertices and indices
//! in their own types. With `--large`, an OBJ of that many megabytes is assembled from copies of the first
//! mesh, and read once.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Cursor, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::Deserialize;
use voxelize::{Mesh, par};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const RUNS: usize = 9;

/// Mesh whose triangles share vertices.
struct Shared {
    vertices: Vec<[f32; 3]>,
    triangles: Vec<[u32; 3]>,
}

impl Shared {
    fn of(mesh: &Mesh) -> Self {
        let mut known: HashMap<[u32; 3], u32> = HashMap::new();
        let mut vertices = vec![];
        let mut number = |point: &[f32; 3]| {
            *known.entry(point.map(f32::to_bits)).or_insert_with(|| {
                vertices.push(*point);
                vertices.len() as u32 - 1
            })
        };
        let triangles = mesh.triangles().iter().map(|t| t.each_ref().map(&mut number)).collect();
        Self { vertices, triangles }
    }

    fn lines(&self, before: [&str; 2], first: u32) -> String {
        let mut text = String::new();
        for [x, y, z] in &self.vertices {
            writeln!(text, "{}{x} {y} {z}", before[0]).expect("text grows");
        }
        for triangle in &self.triangles {
            let [a, b, c] = triangle.map(|n| n + first);
            writeln!(text, "{}{a} {b} {c}", before[1]).expect("text grows");
        }
        text
    }

    fn ply(&self, format: &str) -> Vec<u8> {
        let head = format!(
            "ply\nformat {format} 1.0\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\n\
             element face {}\nproperty list uchar int vertex_indices\nend_header\n",
            self.vertices.len(),
            self.triangles.len()
        );
        let mut bytes = head.into_bytes();
        if format == "ascii" {
            bytes.extend(self.lines(["", "3 "], 0).bytes());
            return bytes;
        }
        bytes.extend(self.vertices.as_flattened().iter().flat_map(|c| c.to_le_bytes()));
        for triangle in &self.triangles {
            bytes.push(3);
            bytes.extend(triangle.iter().flat_map(|n| n.to_le_bytes()));
        }
        bytes
    }

    fn glb(&self) -> Vec<u8> {
        let points: Vec<u8> = self.vertices.as_flattened().iter().flat_map(|c| c.to_le_bytes()).collect();
        let indices: Vec<u8> = self.triangles.as_flattened().iter().flat_map(|n| n.to_le_bytes()).collect();
        let ends = |least: bool| {
            [0, 1, 2].map(|axis| {
                let all = self.vertices.iter().map(|point| point[axis]);
                if least { all.fold(f32::INFINITY, f32::min) } else { all.fold(f32::NEG_INFINITY, f32::max) }
            })
        };
        let document = serde_json::json!({
            "asset": {"version": "2.0"},
            "scene": 0,
            "scenes": [{"nodes": [0]}],
            "nodes": [{"mesh": 0}],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
            "buffers": [{"byteLength": points.len() + indices.len()}],
            "bufferViews": [
                {"buffer": 0, "byteLength": points.len()},
                {"buffer": 0, "byteOffset": points.len(), "byteLength": indices.len()}
            ],
            "accessors": [
                {"bufferView": 0, "componentType": 5126, "count": self.vertices.len(), "type": "VEC3",
                 "min": ends(true), "max": ends(false)},
                {"bufferView": 1, "componentType": 5125, "count": 3 * self.triangles.len(), "type": "SCALAR"}
            ],
        });
        let mut json = document.to_string().into_bytes();
        json.resize(json.len().next_multiple_of(4), b' ');
        let bin = [points, indices].concat();
        let chunk = |kind: u32, bytes: &[u8]| {
            [&(bytes.len() as u32).to_le_bytes()[..], &kind.to_le_bytes(), bytes].concat()
        };
        let chunks = [chunk(0x4e4f_534a, &json), chunk(0x004e_4942, &bin)].concat();
        [b"glTF\x02\0\0\0", &(12 + chunks.len() as u32).to_le_bytes()[..], &chunks].concat()
    }

    fn threemf(&self) -> Vec<u8> {
        let mut model = String::from(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<model unit=\"millimeter\" xml:lang=\"en-US\" \
             xmlns=\"http://schemas.microsoft.com/3dmanufacturing/core/2015/02\"><resources>\
             <object id=\"1\" type=\"model\"><mesh><vertices>\n",
        );
        for [x, y, z] in &self.vertices {
            writeln!(model, "<vertex x=\"{x}\" y=\"{y}\" z=\"{z}\" />").expect("text grows");
        }
        model += "</vertices><triangles>\n";
        for [a, b, c] in &self.triangles {
            writeln!(model, "<triangle v1=\"{a}\" v2=\"{b}\" v3=\"{c}\" />").expect("text grows");
        }
        model += "</triangles></mesh></object></resources><build><item objectid=\"1\" /></build></model>\n";
        let types = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Types \
             xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"><Default Extension=\"rels\" \
             ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/><Default Extension=\"model\" \
             ContentType=\"application/vnd.ms-package.3dmanufacturing-3dmodel+xml\"/></Types>";
        let relations = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Relationships \
             xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship \
             Target=\"/3D/3dmodel.model\" Id=\"rel0\" \
             Type=\"http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel\"/></Relationships>";
        let mut zip = ZipWriter::new(Cursor::new(vec![]));
        for (name, text) in
            [("[Content_Types].xml", types), ("_rels/.rels", relations), ("3D/3dmodel.model", &model)]
        {
            zip.start_file(name, SimpleFileOptions::default()).expect("a name");
            zip.write_all(text.as_bytes()).expect("memory grows");
        }
        zip.finish().expect("memory grows").into_inner()
    }
}

/// Peer: a function that reads a file and returns the number of triangles.
type Peer = fn(&Path) -> usize;

fn tobj(path: &Path) -> usize {
    let (models, _) = tobj::load_obj(path, &tobj::LoadOptions::default()).expect("it is whole");
    models.iter().map(|model| model.mesh.indices.len() / 3).sum()
}

#[derive(Deserialize)]
struct Ply {
    vertex: Vec<PlyVertex>,
    face: Vec<PlyFace>,
}

#[derive(Deserialize)]
#[allow(dead_code)]
struct PlyVertex {
    x: f32,
    y: f32,
    z: f32,
}

#[derive(Deserialize)]
struct PlyFace {
    vertex_indices: Vec<u32>,
}

fn serde_ply(path: &Path) -> usize {
    let ply: Ply = serde_ply::from_reader(BufReader::new(open(path))).expect("it is whole");
    assert!(!ply.vertex.is_empty());
    ply.face.iter().map(|face| face.vertex_indices.len() - 2).sum()
}

fn gltf(path: &Path) -> usize {
    let gltf = gltf::Gltf::open(path).expect("it is whole");
    let blob = gltf.blob.clone().expect("a GLB");
    let primitives = gltf.document.meshes().flat_map(|mesh| mesh.primitives().collect::<Vec<_>>());
    let read = primitives.map(|primitive| {
        let reader = primitive.reader(|_| Some(&blob));
        let points: Vec<[f32; 3]> = reader.read_positions().expect("points").collect();
        let indices: Vec<u32> = reader.read_indices().expect("indices").into_u32().collect();
        assert!(!points.is_empty());
        indices.len() / 3
    });
    read.sum()
}

fn threemf(path: &Path) -> usize {
    let models = threemf::read(BufReader::new(open(path))).expect("it is whole");
    let objects = models.iter().flat_map(|model| &model.resources.object);
    objects.filter_map(|object| object.mesh.as_ref()).map(|mesh| mesh.triangles.triangle.len()).sum()
}

fn open(path: &Path) -> File {
    File::open(path).expect("it was written")
}

fn median(run: impl Fn()) -> f64 {
    let mut times: Vec<f64> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[RUNS / 2]
}

fn ours(path: &Path) -> Mesh {
    par::with_threads(1, || Mesh::open(path)).expect("a thread").expect("it is whole")
}

fn compare(mesh: &Mesh, name: &str, folder: &Path) {
    let shared = Shared::of(mesh);
    let off = format!("OFF\n{} {} 0\n", shared.vertices.len(), shared.triangles.len());
    let mut stl = vec![0; 80];
    stl.extend((mesh.triangles().len() as u32).to_le_bytes());
    for triangle in mesh.triangles() {
        stl.extend([0; 12]);
        stl.extend(triangle.as_flattened().iter().flat_map(|c| c.to_le_bytes()));
        stl.extend([0; 2]);
    }
    let forms: [(&str, Vec<u8>, Option<(&str, Peer)>); 7] = [
        ("a.stl", stl, None),
        ("a.obj", shared.lines(["v ", "f "], 1).into_bytes(), Some(("tobj", tobj))),
        ("a.off", (off + &shared.lines(["", "3 "], 0)).into_bytes(), None),
        ("text.ply", shared.ply("ascii"), Some(("serde-ply", serde_ply))),
        ("binary.ply", shared.ply("binary_little_endian"), Some(("serde-ply", serde_ply))),
        ("a.glb", shared.glb(), Some(("gltf", gltf))),
        ("a.3mf", shared.threemf(), Some(("threemf", threemf))),
    ];
    for (file, bytes, peer) in forms {
        let path: PathBuf = folder.join(file);
        fs::write(&path, &bytes).expect("room for a copy");
        let count = mesh.triangles().len();
        assert_eq!(ours(&path).triangles().len(), count, "{file}");
        let time = median(|| drop(ours(&path)));
        let rate = bytes.len() as f64 / 1e6 / time;
        let own = format!("{:.1} | {:.1} | {rate:.0}", bytes.len() as f64 / 1e6, 1e3 * time);
        let other = match peer {
            Some((peer, read)) => {
                assert_eq!(read(&path), count, "{peer}: {file}");
                let other = median(|| {
                    read(&path);
                });
                format!("{peer} | {:.1} | {:.2}", 1e3 * other, other / time)
            }
            None => "| |".into(),
        };
        println!("| {name} | {file} | {own} | {other} |");
    }
}

/// Reads once an OBJ of `megabytes` MB, assembled from copies of a mesh.
fn large(mesh: &Mesh, megabytes: u64, folder: &Path) {
    let shared = Shared::of(mesh);
    let path = folder.join("large.obj");
    let mut out = BufWriter::new(File::create(&path).expect("room for a copy"));
    let copy = {
        let mut text = String::new();
        for [x, y, z] in &shared.vertices {
            writeln!(text, "v {x} {y} {z}").expect("text grows");
        }
        let back = shared.vertices.len() as i64;
        for triangle in &shared.triangles {
            let [a, b, c] = triangle.map(|n| i64::from(n) - back);
            writeln!(text, "f {a} {b} {c}").expect("text grows");
        }
        text
    };
    let mut length = 0;
    while length < megabytes * 1_000_000 {
        out.write_all(copy.as_bytes()).expect("room on the disk");
        length += copy.len() as u64;
    }
    out.flush().expect("room on the disk");
    let start = Instant::now();
    let read = ours(&path);
    let time = start.elapsed().as_secs_f64();
    let peak = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak =
        peak.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("not known").trim().to_string();
    println!(
        "\nAn OBJ of {:.0} MB: {:.1} s, {:.0} MB/s, {} triangles of {:.0} MiB, peak of the process {peak}.",
        length as f64 / 1e6,
        time,
        length as f64 / 1e6 / time,
        read.triangles().len(),
        size_of_val(read.triangles()) as f64 / f64::from(1 << 20)
    );
}

fn main() {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let megabytes = words.iter().position(|word| word == "--large").map(|at| {
        let rest = words.split_off(at);
        words.extend_from_slice(rest.get(2..).unwrap_or_default());
        rest.get(1).and_then(|word| word.parse().ok()).expect("--large MB")
    });
    let folder = tempfile::tempdir().expect("a folder to write to");
    let meshes: Vec<_> = words.iter().map(|path| (path, ours(Path::new(path)))).collect();
    if let (Some(megabytes), Some((_, mesh))) = (megabytes, meshes.first()) {
        large(mesh, megabytes, folder.path());
        return;
    }
    println!("| mesh | file | MB | voxelize, ms | MB/s | peer | ms | peer / voxelize |");
    println!("|---|---|---|---|---|---|---|---|");
    for (path, mesh) in &meshes {
        let name = Path::new(path).file_stem().map_or("mesh".into(), |name| name.to_string_lossy());
        compare(mesh, &name, folder.path());
    }
}
