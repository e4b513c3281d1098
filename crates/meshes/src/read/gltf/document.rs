//! The JSON of a glTF: objects in lists that name each other by index.

use serde_json::Value;

use voxelize_core::error::{Code, Error, Result, sanitize};

/// What may be required of a reader that makes triangles. Materials, textures and lights do not matter to these.
/// Compressed views may have a fallback, and are refused where they have none.
const KNOWN: &[&str] = &[
    "KHR_mesh_quantization",
    "KHR_node_visibility",
    "KHR_texture_",
    "KHR_materials_",
    "KHR_lights_",
    "KHR_animation_pointer",
    "KHR_xmp",
    "KHR_meshopt_compression",
    "EXT_meshopt_compression",
    "EXT_mesh_gpu_instancing",
    "EXT_texture_",
    "MSFT_texture_dds",
];

#[cfg(feature = "draco")]
const DRACO: &[&str] = &["KHR_draco_mesh_compression"];
#[cfg(not(feature = "draco"))]
const DRACO: &[&str] = &[];

/// A glTF document.
pub(super) struct Document(Value);

/// An object of a list of the document.
#[derive(Clone, Copy)]
pub(super) struct GltfObject<'a> {
    list: &'static str,
    index: u64,
    fields: &'a Value,
}

/// The memory that JSON takes once it is read, at most: a value for each number, name and bracket.
pub(super) fn bytes_of(json: &[u8]) -> u64 {
    const VALUE: usize = 2 * size_of::<Value>() + 64;
    let values = json
        .iter()
        .filter(|byte| matches!(byte, b',' | b':' | b'[' | b'{'))
        .count();
    (json.len() + VALUE * values) as u64
}

impl Document {
    /// The document of this text, if it needs nothing that is not known.
    pub(super) fn new(json: &[u8]) -> Result<Self> {
        let mut json = json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json);
        // Some exporters pad the chunk of a GLB with zeros.
        while let Some((0, text)) = json.split_last() {
            json = text;
        }
        let root: Value = serde_json::from_slice(json).map_err(|error| {
            let text = format!("the JSON of a glTF is broken: {error}");
            Error::input(Code::S006, text).at_line(error.line() as u64)
        })?;
        match root.get("asset").and_then(|asset| asset.get("version")) {
            Some(version) => check_version(version)?,
            None => {
                let error = Error::input(
                    Code::S002,
                    "JSON that is no glTF: it has no asset with a version",
                );
                return Err(error.with_hint("a mesh is expected"));
            }
        }
        let required = root.get("extensionsRequired").and_then(Value::as_array);
        let is_known =
            |name: &str| KNOWN.iter().any(|known| name.starts_with(known)) || DRACO.contains(&name);
        let mut names = required.into_iter().flatten().filter_map(Value::as_str);
        match names.find(|name| !is_known(name)) {
            Some(name) => Err(unknown_extension(name)),
            None => Ok(Self(root)),
        }
    }

    /// The object of this index.
    pub(super) fn get(&self, list: &'static str, index: u64) -> Result<GltfObject<'_>> {
        let all = self.all(list);
        match usize::try_from(index).ok().and_then(|index| all.get(index)) {
            Some(fields) => Ok(GltfObject {
                list,
                index,
                fields,
            }),
            None => {
                let text = format!("{list}[{index}] is not there: there are {}", all.len());
                Err(Error::input(Code::S012, text))
            }
        }
    }

    /// How many objects a list has.
    pub(super) fn count(&self, list: &'static str) -> u64 {
        self.all(list).len() as u64
    }

    fn all(&self, list: &'static str) -> &[Value] {
        self.0
            .get(list)
            .and_then(Value::as_array)
            .map_or(&[], Vec::as_slice)
    }

    /// The index of the default scene.
    pub(super) fn scene(&self) -> Result<u64> {
        let root = GltfObject {
            list: "glTF",
            index: 0,
            fields: &self.0,
        };
        Ok(root.whole("scene")?.unwrap_or(0))
    }
}

/// Refuses other versions than 2. Some exporters write `2` or a number.
fn check_version(version: &Value) -> Result<()> {
    let text = version
        .as_str()
        .map_or_else(|| version.to_string(), str::to_string);
    if text.trim().split('.').next() == Some("2") {
        return Ok(());
    }
    let text = format!("this is glTF {}, and glTF 2.0 is read", sanitize(text));
    Err(Error::input(Code::S009, text).with_hint("export glTF 2.0"))
}

/// The refusal of what cannot be read without an extension.
pub(super) fn unknown_extension(name: &str) -> Error {
    let error = Error::input(
        Code::S009,
        format!("the glTF extension {} is not supported", sanitize(name)),
    );
    error.with_hint("export the glTF without it, or binary STL")
}

impl<'a> GltfObject<'a> {
    /// Its place in the document.
    pub(super) fn path(&self) -> String {
        format!("{}[{}]", self.list, self.index)
    }

    pub(super) fn index(&self) -> u64 {
        self.index
    }

    /// An error about it.
    pub(super) fn error(&self, code: Code, text: impl Into<String>) -> Error {
        Error::input(code, text).about(&self.path())
    }

    /// Its name; empty if it has none.
    pub(super) fn name(&self) -> &'a str {
        self.fields
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        self.fields.get(key).and_then(Value::as_str)
    }

    pub(super) fn flag(&self, key: &str) -> bool {
        self.fields
            .get(key)
            .and_then(Value::as_bool)
            .unwrap_or(false)
    }

    /// An object that it holds.
    pub(super) fn inner(&self, key: &str) -> Option<Self> {
        self.fields.get(key).map(|fields| Self { fields, ..*self })
    }

    /// An extension of it.
    pub(super) fn extension(&self, name: &str) -> Option<Self> {
        self.inner("extensions")?.inner(name)
    }

    /// Names of the extensions that it has.
    pub(super) fn extension_names(&self) -> impl Iterator<Item = &'a str> {
        let all = self.fields.get("extensions").and_then(Value::as_object);
        all.into_iter().flatten().map(|(name, _)| name.as_str())
    }

    /// Length of a list that it holds.
    pub(super) fn length(&self, key: &str) -> usize {
        self.fields
            .get(key)
            .and_then(Value::as_array)
            .map_or(0, Vec::len)
    }

    /// Element of a list that it holds.
    pub(super) fn element(&self, key: &str, n: usize) -> Option<Self> {
        self.fields
            .get(key)?
            .get(n)
            .map(|fields| Self { fields, ..*self })
    }

    /// This number, if it is one and finite.
    pub(super) fn as_number(&self) -> Option<f64> {
        self.fields.as_f64().filter(|number| number.is_finite())
    }

    /// The flag is there and false.
    pub(super) fn denies(&self, key: &str) -> bool {
        self.fields.get(key).and_then(Value::as_bool) == Some(false)
    }

    /// The objects of a list that it holds.
    pub(super) fn each(&self, key: &str) -> impl DoubleEndedIterator<Item = Self> {
        let all = self
            .fields
            .get(key)
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice);
        let this = *self;
        all.iter().map(move |fields| Self { fields, ..this })
    }

    /// A number that is whole and not negative, if it is there.
    pub(super) fn whole(&self, key: &str) -> Result<Option<u64>> {
        self.inner(key)
            .map(|number| number.as_whole(key))
            .transpose()
    }

    /// This number.
    pub(super) fn as_whole(&self, key: &str) -> Result<u64> {
        // Some write 1.0 for 1.
        let rounded = self
            .fields
            .as_f64()
            .filter(|n| n.fract() == 0.0 && (0.0..1e15).contains(n));
        let whole = self.fields.as_u64().or(rounded.map(|n| n as u64));
        whole.ok_or_else(|| self.error(Code::S006, format!("{key} is no whole number")))
    }

    /// A number that must be there.
    pub(super) fn needed(&self, key: &str) -> Result<u64> {
        self.whole(key)?
            .ok_or_else(|| self.error(Code::S006, format!("it has no {key}")))
    }

    /// A number, if it is there and finite.
    pub(super) fn number(&self, key: &str) -> Option<f64> {
        self.fields
            .get(key)
            .and_then(Value::as_f64)
            .filter(|number| number.is_finite())
    }

    /// So many numbers, if they are there.
    pub(super) fn numbers<const N: usize>(&self, key: &str) -> Result<Option<[f64; N]>> {
        let Some(list) = self.fields.get(key) else {
            return Ok(None);
        };
        let numbers: Option<Vec<f64>> = list
            .as_array()
            .and_then(|list| list.iter().map(Value::as_f64).collect());
        let numbers = numbers.and_then(|numbers| <[f64; N]>::try_from(numbers).ok());
        let numbers = numbers.filter(|numbers| numbers.iter().all(|n| n.is_finite()));
        numbers
            .map(Some)
            .ok_or_else(|| self.error(Code::S006, format!("{key} has not {N} numbers")))
    }
}
