//! JSON with its own hash as the last entry, so that a changed file is known by itself.

use serde_json::{Map, Value};

use voxelize_core::grid::{BytesHasher, Hash};

/// The key of the hash.
const HASH: &str = "hash";

/// The hash of a value.
pub(super) fn hash_of(value: &Value) -> Hash {
    let mut hasher = BytesHasher::default();
    // Nothing is written that could fail.
    let _ = std::io::Write::write_all(&mut hasher, value.to_string().as_bytes());
    hasher.finish()
}

/// The text of an object, indented, with its hash.
pub(super) fn sealed(mut value: Value) -> String {
    let hash = hash_of(&value);
    if let Value::Object(map) = &mut value {
        map.insert(HASH.into(), Value::from(hash.to_string()));
    }
    format!("{value:#}\n")
}

/// The object of such a text, if the hash is its own.
pub(super) fn unsealed(text: &str) -> Result<Value, String> {
    let value: Value =
        serde_json::from_str(text).map_err(|error| format!("it is no JSON: {error}"))?;
    let Value::Object(mut map) = value else {
        return Err("it is no object".into());
    };
    let hash = map.shift_remove(HASH).ok_or("it has no hash")?;
    let value = Value::Object(map);
    match hash.as_str() == Some(&*hash_of(&value).to_string()) {
        true => Ok(value),
        false => Err("its hash is not that of its content".into()),
    }
}

/// An object, whose entries are asked for by name and kind.
pub(super) struct JsonFields<'a>(pub &'a Value);

impl<'a> JsonFields<'a> {
    pub(super) fn value(&self, name: &str) -> Result<&'a Value, String> {
        self.0
            .as_object()
            .and_then(|map: &Map<_, _>| map.get(name))
            .ok_or_else(|| format!("it has no {name}"))
    }

    fn of<T>(&self, name: &str, get: impl Fn(&'a Value) -> Option<T>) -> Result<T, String> {
        get(self.value(name)?).ok_or_else(|| format!("its {name} is of another kind"))
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

    pub(super) fn texts(&self, name: &str) -> Result<Vec<String>, String> {
        let text = |value: &Value| value.as_str().map(str::to_string);
        let list = self.list(name)?.iter().map(text).collect::<Option<_>>();
        list.ok_or_else(|| format!("its {name} are no texts"))
    }
}
