//! Reads the nodes of a Zarr folder. They state the array with the cells, how its chunks are stored, and the
//! lattice.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::{NODE, OME, OWN};
use crate::Dtype;
use crate::image::{ImageFrame, parse_metadata};
use crate::open::{VoxelSource, failure};
use voxelize_core::error::{Code, Error, Result, sanitize};
use voxelize_core::geom::Rational;
use voxelize_core::grid::metadata::Metadata;

/// Maximum size of a node that is read, in bytes.
const MAX_NODE: u64 = 1 << 20;

/// How the files of chunks are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChunkNames {
    /// The names begin with `c`.
    pub has_prefix: bool,
    /// The indices along the axes are nested folders. Otherwise they are joined by points.
    pub are_folders: bool,
}

/// Step of encoding the bytes of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ByteCodec {
    Gzip,
    Crc32c,
}

/// Layout of a file that contains several chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sharding {
    pub is_index_at_end: bool,
    /// The index is followed by a checksum.
    pub has_checksum: bool,
}

/// Array of cells. Its axes are listed from the slowest to the fastest.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ZarrArray {
    pub folder: PathBuf,
    pub shape: [usize; 3],
    pub dtype: Dtype,
    /// Bytes of a cell in a chunk that is not stored.
    pub fill: Vec<u8>,
    pub names: ChunkNames,
    /// Number of cells along each axis that are in one file.
    pub shard: [usize; 3],
    /// Number of cells along each axis of a chunk.
    pub chunk: [usize; 3],
    /// Layout of a file with several chunks. `None` if each file is a single chunk.
    pub sharding: Option<Sharding>,
    /// Steps by which the bytes of a chunk are encoded, in order.
    pub codecs: Vec<ByteCodec>,
    /// Axis of the lattice (0, 1, 2 for x, y, z) for each axis of the array.
    axes: [usize; 3],
}

/// Array with the cells, their position and their metadata.
pub(super) struct ZarrImage {
    pub array: ZarrArray,
    pub frame: ImageFrame,
    pub metadata: Metadata,
}

fn unfit(message: impl Into<String>) -> Error {
    Error::input(Code::V004, message)
}

fn broken(message: impl Into<String>) -> Error {
    Error::input(Code::V003, message)
}

/// Formats a value of a node for messages.
fn word(value: Option<&Value>) -> String {
    value.map_or("not there".into(), |value| {
        format!(
            "'{}'",
            sanitize(value.as_str().unwrap_or(&value.to_string()))
        )
    })
}

/// Returns the name and the configuration of a codec, a chunk grid or an encoding.
fn named(value: &Value) -> (&str, &Value) {
    let name = value.get("name").unwrap_or(value);
    (
        name.as_str().unwrap_or_default(),
        value.get("configuration").unwrap_or(&Value::Null),
    )
}

impl ZarrImage {
    /// Opens the source: an array, or the image in a group.
    pub(super) fn open(source: &mut VoxelSource) -> Result<Self> {
        let Some(folder) = source.folder.clone() else {
            return Err(unfit(
                "only the metadata file of a Zarr node: its cells are in other files of its folder",
            ));
        };
        let node = parse(source.vec(source.len().min(MAX_NODE + 1))?)?;
        let attributes = node.get("attributes").unwrap_or(&Value::Null);
        let (array, places) = match node.get("node_type").and_then(Value::as_str) {
            Some("array") => (ZarrArray::parse(folder, &node, None)?, None),
            Some("group") => {
                let image = attributes
                    .pointer(&format!("/{OME}/multiscales/0"))
                    .ok_or_else(|| {
                        unfit("the Zarr group has no OME image")
                            .with_hint("name the folder of an array in it")
                    })?;
                let path = image.pointer("/datasets/0/path").and_then(Value::as_str);
                let folder = dataset(
                    &folder,
                    path.ok_or_else(|| broken("the OME image has no dataset"))?,
                )?;
                let array = node_of(&folder)?;
                if array.get("node_type").and_then(Value::as_str) != Some("array") {
                    return Err(unfit("the dataset of an image is not an array").in_file(folder));
                }
                (
                    ZarrArray::parse(folder, &array, image.get("axes"))?,
                    Some(image),
                )
            }
            _ => {
                return Err(unfit(format!(
                    "node_type is {}, not group or array",
                    word(node.get("node_type"))
                )));
            }
        };
        let frame = array.frame(places)?;
        let json = attributes.get(OWN).map(Value::to_string);
        let mut metadata = parse_metadata(json.as_deref(), frame.lattice.dims())?;
        // OME requires a position, so the file states one even if the grid has no lattice.
        let is_stated = places.is_some() && (metadata.dims.is_none() || metadata.lattice.is_some());
        metadata.lattice = frame.lattice_of(&metadata, is_stated, Rational::to_f64);
        Ok(Self {
            array,
            frame,
            metadata,
        })
    }
}

fn parse(text: Vec<u8>) -> Result<Value> {
    if text.len() as u64 > MAX_NODE {
        return Err(broken(format!("the node has more than {MAX_NODE} bytes")));
    }
    let node: Value = serde_json::from_slice(&text)
        .map_err(|why| broken(format!("{NODE} is not JSON: {why}")))?;
    let version = node.get("zarr_format");
    if version.and_then(Value::as_u64) != Some(3) {
        return Err(unfit(format!("zarr_format is {}, not 3", word(version))));
    }
    Ok(node)
}

/// Reads the node in `folder`.
fn node_of(folder: &Path) -> Result<Value> {
    let path = folder.join(NODE);
    read_node(&path).map_err(|error| error.in_file(&path))
}

fn read_node(path: &Path) -> Result<Value> {
    let mut text = vec![];
    regular_file(path)?
        .take(MAX_NODE + 1)
        .read_to_end(&mut text)
        .map_err(failure)?;
    parse(text)
}

/// Opens the file at `path`. It must be a regular file, because a link may lead out of the folder and a pipe
/// may never end.
pub(super) fn regular_file(path: &Path) -> Result<File> {
    let found = fs::symlink_metadata(path).map_err(failure)?;
    if !found.is_file() {
        return Err(unfit("is not a file").in_file(path));
    }
    File::open(path).map_err(failure)
}

/// Returns the folder of a dataset. Fails unless it is below the folder of the group.
fn dataset(group: &Path, path: &str) -> Result<PathBuf> {
    let refused = |why: &str| unfit(format!("the dataset '{}' {why}", sanitize(path)));
    let mut folder = group.to_path_buf();
    if path.is_empty() || path.contains('\\') {
        return Err(refused("is not below its group"));
    }
    for part in Path::new(path).components() {
        let Component::Normal(name) = part else {
            return Err(refused("is not below its group"));
        };
        folder.push(name);
        let found =
            fs::symlink_metadata(&folder).map_err(|error| failure(error).in_file(&folder))?;
        if !found.is_dir() {
            return Err(refused("is not a folder"));
        }
    }
    Ok(folder)
}

impl ZarrArray {
    /// Parses the array that `node` describes. `axes` are the axes that OME's JSON lists.
    fn parse(folder: PathBuf, node: &Value, axes: Option<&Value>) -> Result<Self> {
        let shape = node.get("shape").and_then(three).ok_or_else(|| {
            unfit(format!(
                "its shape is {}, which does not have three axes with cells",
                word(node.get("shape"))
            ))
        })?;
        let dtype = match node.get("data_type").and_then(Value::as_str) {
            Some("uint8") => Dtype::U8,
            Some("bool") => Dtype::Bool,
            Some("float32") => Dtype::F32,
            _ => return Err(other_type(node.get("data_type"))),
        };
        let fill = fill(dtype, node.get("fill_value").unwrap_or(&Value::Null));
        let fill = fill.ok_or_else(|| {
            broken(format!(
                "its fill_value is {}",
                word(node.get("fill_value"))
            ))
        })?;
        let (grid, configuration) = named(node.get("chunk_grid").unwrap_or(&Value::Null));
        let shard = configuration
            .get("chunk_shape")
            .and_then(three)
            .filter(|_| grid == "regular");
        let shard =
            shard.ok_or_else(|| unfit("its chunks are not a regular grid of three axes"))?;
        if node
            .get("storage_transformers")
            .and_then(Value::as_array)
            .is_some_and(|all| !all.is_empty())
        {
            return Err(unfit("it has storage transformers"));
        }
        let names = chunk_names(node.get("chunk_key_encoding"))?;
        let (chunk, sharding, codecs) = encoding(shard, dtype, node.get("codecs"))?;
        let axes = axes_of(axes.or(node.get("dimension_names")));
        Ok(Self {
            folder,
            shape,
            dtype,
            fill,
            names,
            shard,
            chunk,
            sharding,
            codecs,
            axes,
        })
    }

    /// Returns the number of bytes of a cell.
    pub(super) fn width(&self) -> usize {
        self.fill.len()
    }

    /// Returns the position of the cells. It is taken from the OME image if the array belongs to one.
    fn frame(&self, image: Option<&Value>) -> Result<ImageFrame> {
        let mut scale = [Rational::ONE; 3];
        let mut centre = [Rational::ZERO; 3];
        let of_level =
            image.and_then(|image| image.pointer("/datasets/0/coordinateTransformations"));
        let of_all = image.and_then(|image| image.get("coordinateTransformations"));
        let all = [of_level, of_all]
            .into_iter()
            .flatten()
            .filter_map(Value::as_array);
        for step in all.flatten() {
            let kind = step.get("type").and_then(Value::as_str).unwrap_or_default();
            match kind {
                "identity" => {}
                "scale" => {
                    let factors = transform_numbers(step, kind)
                        .filter(|all| !all.iter().any(Rational::is_zero))
                        .ok_or_else(|| bad_transform(step))?;
                    for (axis, factor) in factors.iter().enumerate() {
                        scale[axis] = &scale[axis] * factor;
                        centre[axis] = &centre[axis] * factor;
                    }
                }
                "translation" => {
                    let offsets =
                        transform_numbers(step, kind).ok_or_else(|| bad_transform(step))?;
                    for (axis, by) in offsets.iter().enumerate() {
                        centre[axis] = &centre[axis] + by;
                    }
                }
                _ => return Err(bad_transform(step)),
            }
        }
        let mut place = [Rational::ZERO; 3];
        for (axis, centre) in self.axes.iter().zip(centre) {
            place[*axis] = centre;
        }
        // An `ImageFrame` lists the fastest axis first.
        let steps = [2, 1, 0].map(|n| {
            let mut step = [Rational::ZERO; 3];
            step[self.axes[n]] = scale[n].clone();
            step
        });
        let [z, y, x] = self.shape;
        ImageFrame::parallel([x, y, z], &place, &steps)
    }
}

/// Returns the three numbers of a coordinate transformation. `None` if they are missing or invalid.
fn transform_numbers(step: &Value, kind: &str) -> Option<[Rational; 3]> {
    let numbers = step.get(kind)?.as_array()?.iter();
    let numbers: Option<Vec<_>> = numbers
        .map(|number| Rational::from_f64(number.as_f64()?))
        .collect();
    numbers?.try_into().ok()
}

fn bad_transform(step: &Value) -> Error {
    unfit(format!(
        "a transformation of its coordinates is {}",
        word(Some(step))
    ))
}

/// Parses three positive integers.
fn three(value: &Value) -> Option<[usize; 3]> {
    let numbers = value.as_array()?;
    let numbers: Option<Vec<usize>> = numbers
        .iter()
        .map(|number| usize::try_from(number.as_u64()?).ok().filter(|n| *n > 0))
        .collect();
    numbers?.try_into().ok()
}

fn other_type(value: Option<&Value>) -> Error {
    unfit(format!(
        "its cells are of type {}, not uint8, bool or float32",
        word(value)
    ))
    .with_hint([
        "save them as uint8 or float32",
        "`--like FOLDER` takes the grid of any type",
    ])
}

/// Returns the bytes of a fill value. `None` if the type cannot have this value.
fn fill(dtype: Dtype, value: &Value) -> Option<Vec<u8>> {
    Some(match dtype {
        Dtype::Bool => vec![u8::from(value.as_bool()?)],
        Dtype::F32 => {
            let float = match value.as_str() {
                None => value.as_f64()? as f32,
                Some("NaN") => f32::NAN,
                Some("Infinity") => f32::INFINITY,
                Some("-Infinity") => f32::NEG_INFINITY,
                Some(bits) => {
                    f32::from_bits(u32::from_str_radix(bits.strip_prefix("0x")?, 16).ok()?)
                }
            };
            float.to_le_bytes().to_vec()
        }
        _ => vec![u8::try_from(value.as_u64()?).ok()?],
    })
}

fn chunk_names(value: Option<&Value>) -> Result<ChunkNames> {
    let (name, configuration) = named(value.unwrap_or(&Value::Null));
    let separator = configuration.get("separator").and_then(Value::as_str);
    let are_folders = match (name, separator) {
        ("default", None | Some("/")) | ("v2", Some("/")) => true,
        ("default", Some(".")) | ("v2", None | Some(".")) => false,
        _ => return Err(unfit(format!("its chunk_key_encoding is {}", word(value)))),
    };
    Ok(ChunkNames {
        has_prefix: name == "default",
        are_folders,
    })
}

/// Returns the shape of a chunk, the layout of files with several chunks, and the steps by which a chunk is
/// encoded.
fn encoding(
    shard: [usize; 3],
    dtype: Dtype,
    codecs: Option<&Value>,
) -> Result<([usize; 3], Option<Sharding>, Vec<ByteCodec>)> {
    let codecs = codecs
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    let [only] = codecs else {
        return Ok((shard, None, byte_codecs(codecs, dtype)?));
    };
    let ("sharding_indexed", configuration) = named(only) else {
        return Ok((shard, None, byte_codecs(codecs, dtype)?));
    };
    let chunk = configuration.get("chunk_shape").and_then(three);
    let chunk = chunk.filter(|chunk| (0..3).all(|axis| shard[axis].is_multiple_of(chunk[axis])));
    let chunk = chunk.ok_or_else(|| broken("its shards do not consist of whole chunks"))?;
    let has_checksum =
        match byte_codecs(list(configuration, "index_codecs"), Dtype::F32)?.as_slice() {
            [] => false,
            [ByteCodec::Crc32c] => true,
            _ => return Err(unfit("the indices of its shards are packed")),
        };
    let is_index_at_end = match configuration.get("index_location").and_then(Value::as_str) {
        None | Some("end") => true,
        Some("start") => false,
        Some(_) => {
            return Err(broken(
                "the indices of its shards are neither at the start nor at the end",
            ));
        }
    };
    let sharding = Sharding {
        is_index_at_end,
        has_checksum,
    };
    Ok((
        chunk,
        Some(sharding),
        byte_codecs(list(configuration, "codecs"), dtype)?,
    ))
}

fn list<'a>(configuration: &'a Value, key: &str) -> &'a [Value] {
    let list = configuration.get(key).and_then(Value::as_array);
    list.map(Vec::as_slice).unwrap_or_default()
}

/// Returns the steps of encoding after the first one. The first step must convert cells to little-endian
/// bytes.
fn byte_codecs(codecs: &[Value], dtype: Dtype) -> Result<Vec<ByteCodec>> {
    let mut codecs = codecs.iter().filter(|codec| !is_identity(codec));
    let first = codecs.next().ok_or_else(|| broken("it has no codec"))?;
    let (name, configuration) = named(first);
    let is_big = configuration.get("endian").and_then(Value::as_str) == Some("big");
    if name != "bytes" || is_big && dtype == Dtype::F32 {
        return Err(unknown_codec(first));
    }
    let mut steps = Vec::new();
    for codec in codecs {
        steps.push(match named(codec).0 {
            "gzip" => ByteCodec::Gzip,
            "crc32c" => ByteCodec::Crc32c,
            _ => return Err(unknown_codec(codec)),
        });
    }
    let packed = steps.iter().filter(|step| **step == ByteCodec::Gzip);
    if packed.count() > 1 {
        return Err(unfit("its cells are packed twice"));
    }
    Ok(steps)
}

/// Returns `true` for a transposition that does not change the order of the axes.
fn is_identity(codec: &Value) -> bool {
    let (name, configuration) = named(codec);
    name == "transpose" && configuration.get("order") == Some(&serde_json::json!([0, 1, 2]))
}

fn unknown_codec(codec: &Value) -> Error {
    let text = format!(
        "its cells are encoded by {}",
        word(Some(codec.get("name").unwrap_or(codec)))
    );
    unfit(text).with_hint([
        "save it with the codecs bytes and gzip, in the order of C",
        "`--like FOLDER` takes the grid of any array",
    ])
}

/// Returns the lattice axis (0, 1, 2 for x, y, z) of each axis of the array, by its name. The default is z,
/// y, x.
fn axes_of(names: Option<&Value>) -> [usize; 3] {
    let axes: Option<Vec<usize>> = names
        .and_then(Value::as_array)
        .and_then(|all| all.iter().map(axis_of).collect());
    let axes = axes.and_then(|axes| <[usize; 3]>::try_from(axes).ok());
    axes.filter(|axes| (0..3).all(|axis| axes.contains(&axis)))
        .unwrap_or([2, 1, 0])
}

fn axis_of(value: &Value) -> Option<usize> {
    match value.get("name").unwrap_or(value).as_str()? {
        "x" | "X" => Some(0),
        "y" | "Y" => Some(1),
        "z" | "Z" => Some(2),
        _ => None,
    }
}
