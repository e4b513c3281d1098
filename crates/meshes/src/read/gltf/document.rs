//! JSON of a glTF file. It has lists of objects, which refer to each other by their indices.

use serde_json::Value;

use voxelize_core::error::{Code, Error, Result, sanitize};

/// Extensions that a document may require. Extensions for materials, textures and lights do not affect
/// triangles. Documents with compressed views are accepted here, but refused later if there is no
/// uncompressed fallback.
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

/// Parsed glTF document.
pub(super) struct Document(Value);

/// Object in a list of the document.
#[derive(Clone, Copy)]
pub(super) struct GltfObject<'a> {
    list: &'static str,
    index: u64,
    fields: &'a Value,
}

/// Returns an upper bound of the memory for parsed JSON in bytes. Each number, name and bracket may become a
/// value.
pub(super) fn bytes_of(json: &[u8]) -> u64 {
    const VALUE: usize = 2 * size_of::<Value>() + 64;
    let values = json
        .iter()
        .filter(|byte| matches!(byte, b',' | b':' | b'[' | b'{'))
        .count();
    (json.len() + VALUE * values) as u64
}

impl Document {
    /// Parses a document. Fails if it requires an unknown extension.
    pub(super) fn new(json: &[u8]) -> Result<Self> {
        let mut json = json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json);
        // Some exporters pad the JSON chunk of a GLB with zero bytes.
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
                    "the JSON is not a glTF: it has no asset with a version",
                );
                return Err(error.with_hint("a mesh is expected; `--scene FILE` reads a scene"));
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

    /// Returns the object with this index in a list.
    pub(super) fn get(&self, list: &'static str, index: u64) -> Result<GltfObject<'_>> {
        let all = self.all(list);
        match usize::try_from(index).ok().and_then(|index| all.get(index)) {
            Some(fields) => Ok(GltfObject {
                list,
                index,
                fields,
            }),
            None => {
                let text = format!("{list}[{index}] does not exist (entries: {})", all.len());
                Err(Error::input(Code::S012, text))
            }
        }
    }

    /// Returns the number of objects in a list.
    pub(super) fn count(&self, list: &'static str) -> u64 {
        self.all(list).len() as u64
    }

    fn all(&self, list: &'static str) -> &[Value] {
        self.0
            .get(list)
            .and_then(Value::as_array)
            .map_or(&[], Vec::as_slice)
    }

    /// Returns the index of the default scene. It is 0 if the document does not state it.
    pub(super) fn scene(&self) -> Result<u64> {
        let root = GltfObject {
            list: "glTF",
            index: 0,
            fields: &self.0,
        };
        Ok(root.whole("scene")?.unwrap_or(0))
    }
}

/// Checks that the version is 2.x. Some exporters write `2` or a number in place of a string `2.0`.
fn check_version(version: &Value) -> Result<()> {
    let text = version
        .as_str()
        .map_or_else(|| version.to_string(), str::to_string);
    if text.trim().split('.').next() == Some("2") {
        return Ok(());
    }
    let text = format!("this is glTF {}, but only glTF 2.0 is read", sanitize(text));
    Err(Error::input(Code::S009, text).with_hint("export glTF 2.0"))
}

/// Returns the error for a document that requires an unknown extension.
pub(super) fn unknown_extension(name: &str) -> Error {
    let error = Error::input(
        Code::S009,
        format!("the glTF extension {} is not supported", sanitize(name)),
    );
    error.with_hint("export the glTF without it, or binary STL")
}

impl<'a> GltfObject<'a> {
    /// Returns the path of the object in the document, such as `nodes[3]`.
    pub(super) fn path(&self) -> String {
        format!("{}[{}]", self.list, self.index)
    }

    pub(super) fn index(&self) -> u64 {
        self.index
    }

    /// Returns an error about the object.
    pub(super) fn error(&self, code: Code, text: impl Into<String>) -> Error {
        Error::input(code, text).about(&self.path())
    }

    /// Returns the name of the object, which may be empty.
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

    /// Returns the value of a key as an object. `None` if the key is absent.
    pub(super) fn inner(&self, key: &str) -> Option<Self> {
        self.fields.get(key).map(|fields| Self { fields, ..*self })
    }

    /// Returns an extension of the object. `None` if it has none of this name.
    pub(super) fn extension(&self, name: &str) -> Option<Self> {
        self.inner("extensions")?.inner(name)
    }

    /// Returns the names of the object's extensions.
    pub(super) fn extension_names(&self) -> impl Iterator<Item = &'a str> {
        let all = self.fields.get("extensions").and_then(Value::as_object);
        all.into_iter().flatten().map(|(name, _)| name.as_str())
    }

    /// Returns the length of the list at a key of the object.
    pub(super) fn length(&self, key: &str) -> usize {
        self.fields
            .get(key)
            .and_then(Value::as_array)
            .map_or(0, Vec::len)
    }

    /// Returns element `n` of the list at a key of the object.
    pub(super) fn element(&self, key: &str, n: usize) -> Option<Self> {
        self.fields
            .get(key)?
            .get(n)
            .map(|fields| Self { fields, ..*self })
    }

    /// Returns the value as a number. `None` unless it is a finite number.
    pub(super) fn as_number(&self) -> Option<f64> {
        self.fields.as_f64().filter(|number| number.is_finite())
    }

    /// Returns whether the flag is present and `false`.
    pub(super) fn denies(&self, key: &str) -> bool {
        self.fields.get(key).and_then(Value::as_bool) == Some(false)
    }

    /// Returns the elements of the list at a key of the object.
    pub(super) fn each(&self, key: &str) -> impl DoubleEndedIterator<Item = Self> {
        let all = self
            .fields
            .get(key)
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice);
        let this = *self;
        all.iter().map(move |fields| Self { fields, ..this })
    }

    /// Returns the non-negative integer at a key. `None` if the key is absent.
    pub(super) fn whole(&self, key: &str) -> Result<Option<u64>> {
        match self.inner(key) {
            Some(number) => Ok(Some(number.as_whole(key)?)),
            None => Ok(None),
        }
    }

    /// Returns the value as a non-negative integer.
    pub(super) fn as_whole(&self, key: &str) -> Result<u64> {
        // Some exporters write 1.0 in place of 1.
        let rounded = self
            .fields
            .as_f64()
            .filter(|n| n.fract() == 0.0 && (0.0..1e15).contains(n));
        let whole = self.fields.as_u64().or(rounded.map(|n| n as u64));
        whole.ok_or_else(|| self.error(Code::S006, format!("{key} is not a whole number")))
    }

    /// Returns the non-negative integer at a key. Fails if the key is absent.
    pub(super) fn needed(&self, key: &str) -> Result<u64> {
        self.whole(key)?
            .ok_or_else(|| self.error(Code::S006, format!("it has no {key}")))
    }

    /// Returns the number at a key. `None` unless it is a finite number.
    pub(super) fn number(&self, key: &str) -> Option<f64> {
        self.fields
            .get(key)
            .and_then(Value::as_f64)
            .filter(|number| number.is_finite())
    }

    /// Returns the `N` numbers at a key. `None` if the key is absent.
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
            .ok_or_else(|| self.error(Code::S006, format!("{key} does not have {N} numbers")))
    }
}
