//! JSON objects whose last entry is the hash of the other entries. The hash reveals changes to a file.

use serde_json::{Map, Value};

use voxelize_core::grid::{BytesHasher, Hash};

/// Key of the entry with the hash.
const HASH: &str = "hash";

/// Returns the hash of a value.
pub(super) fn hash_of(value: &Value) -> Hash {
    let mut hasher = BytesHasher::default();
    // Writing to a hasher cannot fail.
    let _ = std::io::Write::write_all(&mut hasher, value.to_string().as_bytes());
    hasher.finish()
}

/// Adds its hash to an object and returns it as indented text.
pub(super) fn sealed(mut value: Value) -> String {
    let hash = hash_of(&value);
    if let Value::Object(map) = &mut value {
        map.insert(HASH.into(), Value::from(hash.to_string()));
    }
    format!("{value:#}\n")
}

/// Parses a text that [`sealed`] made. Fails if its hash is wrong.
pub(super) fn unsealed(text: &str) -> Result<Value, String> {
    let value: Value =
        serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
    let Value::Object(mut map) = value else {
        return Err("it is not an object".into());
    };
    let hash = map.shift_remove(HASH).ok_or("it has no hash")?;
    let value = Value::Object(map);
    if hash.as_str() != Some(&*hash_of(&value).to_string()) {
        return Err("its hash does not match its content".into());
    }
    Ok(value)
}

/// JSON object whose entries are read by their name and type.
pub(super) struct JsonFields<'a>(pub &'a Value);

impl<'a> JsonFields<'a> {
    pub(super) fn value(&self, name: &str) -> Result<&'a Value, String> {
        self.0
            .as_object()
            .and_then(|map: &Map<_, _>| map.get(name))
            .ok_or_else(|| format!("it has no {name}"))
    }

    fn of<T>(&self, name: &str, get: impl Fn(&'a Value) -> Option<T>) -> Result<T, String> {
        get(self.value(name)?).ok_or_else(|| format!("its {name} has the wrong type"))
    }

    pub(super) fn text(&self, name: &str) -> Result<&'a str, String> {
        self.of(name, Value::as_str)
    }

    pub(super) fn number(&self, name: &str) -> Result<u64, String> {
        self.of(name, Value::as_u64)
    }

    pub(super) fn count(&self, name: &str) -> Result<usize, String> {
        self.of(name, |value| {
            value
                .as_u64()
                .and_then(|number| usize::try_from(number).ok())
        })
    }

    pub(super) fn flag(&self, name: &str) -> Result<bool, String> {
        self.of(name, Value::as_bool)
    }

    pub(super) fn list(&self, name: &str) -> Result<&'a Vec<Value>, String> {
        self.of(name, Value::as_array)
    }

    /// Parses each element of a list entry.
    pub(super) fn each<T>(
        &self,
        name: &str,
        parse: impl Fn(&'a Value) -> Result<T, String>,
    ) -> Result<Vec<T>, String> {
        let mut all = Vec::new();
        for value in self.list(name)? {
            all.push(parse(value)?);
        }
        Ok(all)
    }

    pub(super) fn texts(&self, name: &str) -> Result<Vec<String>, String> {
        let mut texts = Vec::new();
        for value in self.list(name)? {
            let text = value
                .as_str()
                .ok_or_else(|| format!("its {name} are not texts"))?;
            texts.push(text.to_string());
        }
        Ok(texts)
    }
}
