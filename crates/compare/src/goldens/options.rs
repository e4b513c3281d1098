//! Options of a case. Each option is a key in the table of the case, and has the name of the long option of
//! the command line.

use std::borrow::Cow;
use std::fmt;

use toml_edit::{Array, Value};

use voxelize_core::error::{Error, Result};

/// Key of options that are written as one text, `options = "--res 64 --pad 1"`. Earlier versions wrote such
/// texts, which can still be read.
const TEXT: &str = "options";

/// Options of the command line that decide the cells of a case. They are in the order of the list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CaseOptions(pub Vec<CaseOption>);

/// Option of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseOption {
    /// Long name without dashes. `options` stands for a text with any number of options.
    pub name: String,
    /// Values as on the command line. Empty for a flag. A repeated option has several.
    pub values: Vec<String>,
    /// Line of the key in the list, counted from 1. `None` for an option that is not from a list.
    pub line: Option<u64>,
}

impl CaseOptions {
    /// Returns the options as arguments of a command line.
    ///
    /// # Errors
    /// Fails if a text of options has a quote that is not closed.
    pub fn words(&self) -> Result<Vec<String>> {
        let mut words = vec![];
        for option in &self.0 {
            let name = &option.name;
            if option.is_text() {
                for text in &option.values {
                    words.extend(shlex::split(text).ok_or_else(|| {
                        Error::usage("a quote is not closed")
                            .with_hint("close the quote, or write \\\" for a quote character")
                    })?);
                }
            } else if option.values.is_empty() {
                words.push(format!("--{name}"));
            } else {
                // As a separate argument, the value might be taken for an option.
                words.extend(
                    option
                        .values
                        .iter()
                        .map(|value| format!("--{name}={value}")),
                );
            }
        }
        Ok(words)
    }
}

impl CaseOption {
    /// Returns `true` if this is a text with any number of options.
    pub fn is_text(&self) -> bool {
        self.name == TEXT
    }

    /// Returns the TOML value for the key. If TOML can express the value as a number, it is a number.
    pub(super) fn to_toml(&self) -> Value {
        match self.values.as_slice() {
            [] => true.into(),
            [value] => numbers(value).unwrap_or_else(|| value.into()),
            values => values.iter().collect::<Array>().into(),
        }
    }
}

/// Shows the options as on a command line, with the quotes that a shell needs.
impl fmt::Display for CaseOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = vec![];
        for option in &self.0 {
            if option.is_text() {
                words.extend(option.values.iter().map(|text| text.trim().to_string()));
            } else if option.values.is_empty() {
                words.push(format!("--{}", option.name));
            } else {
                for value in &option.values {
                    words.push(format!("--{} {}", option.name, quoted(value)));
                }
            }
        }
        f.write_str(words.join(" ").trim())
    }
}

/// Returns a value with quotes if a shell needs them. A comma needs quotes only inside braces.
fn quoted(value: &str) -> Cow<'_, str> {
    let is_list = value
        .split(',')
        .all(|part| matches!(shlex::try_quote(part), Ok(Cow::Borrowed(_))) && !part.is_empty());
    if is_list {
        return value.into();
    }
    shlex::try_quote(value).unwrap_or(value.into())
}

/// Returns the values of an option from its TOML value, which is part of `text`. The TOML value may be
/// `true`, a number, a string, an array of strings for a repeated option, or another array for a value with
/// commas. `None` for anything else.
pub(super) fn values_of(value: &Value, text: &str) -> Option<Vec<String>> {
    match value {
        Value::Boolean(is_set) => is_set.value().then(Vec::new),
        Value::Array(array) if !array.is_empty() => {
            let items: Vec<_> = array
                .iter()
                .map(|item| scalar(item, text))
                .collect::<Option<_>>()?;
            let is_repeated = array.iter().all(Value::is_str);
            Some(if is_repeated {
                items
            } else {
                vec![items.join(",")]
            })
        }
        value => Some(vec![scalar(value, text)?]),
    }
}

/// Returns a string, or a number with all digits that it has in the list. `None` for other values.
fn scalar(value: &Value, text: &str) -> Option<String> {
    match value {
        Value::String(string) => Some(string.value().clone()),
        Value::Integer(_) | Value::Float(_) => Some(text.get(value.span()?)?.replace('_', "")),
        _ => None,
    }
}

/// Returns a TOML number or an array of numbers from which [`values_of`] restores `value`. `None` if `value`
/// has anything but numbers.
fn numbers(value: &str) -> Option<Value> {
    for number in value.split(',') {
        let has_letters = number
            .bytes()
            .any(|byte| !byte.is_ascii_digit() && !b"+-.eE".contains(&byte));
        if has_letters || number.parse::<Value>().is_err() {
            return None;
        }
    }
    let array = format!("[{}]", value.replace(',', ", "));
    if value.contains(',') {
        array.parse().ok()
    } else {
        value.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goldens::Goldens;

    /// Reads a case with these keys and returns its options.
    fn read(keys: &str) -> Result<CaseOptions> {
        let list = format!("[[case]]\nmesh = \"a\"\ngolden = \"b\"\n{keys}\n");
        Goldens::parse(&list).map(|goldens| goldens.cases()[0].options.clone())
    }

    #[test]
    fn keys_become_words() {
        for (keys, words, text) in [
            ("", &[][..], ""),
            (
                "res = 64\nsolid = true",
                &["--res=64", "--solid"],
                "--res 64 --solid",
            ),
            (
                "voxel-size = 0.10",
                &["--voxel-size=0.10"],
                "--voxel-size 0.10",
            ),
            (
                "scale = 0.1000000000000000000000001",
                &["--scale=0.1000000000000000000000001"],
                "--scale 0.1000000000000000000000001",
            ),
            ("res = 1_000", &["--res=1000"], "--res 1000"),
            (
                "dims = [64, 64, 32]",
                &["--dims=64,64,32"],
                "--dims 64,64,32",
            ),
            (
                "origin = [\"1/3\", 0, -0.5]",
                &["--origin=1/3,0,-0.5"],
                "--origin 1/3,0,-0.5",
            ),
            (
                "only = [\"a b\", \"--c\"]",
                &["--only=a b", "--only=--c"],
                "--only 'a b' --only --c",
            ),
            ("only = [\"a\"]", &["--only=a"], "--only a"),
            (
                "options = \" -r 64  --pad=1 \"",
                &["-r", "64", "--pad=1"],
                "-r 64  --pad=1",
            ),
            (
                "options = \"--only 'a b'\"\npad = 1",
                &["--only", "a b", "--pad=1"],
                "--only 'a b' --pad 1",
            ),
        ] {
            let options = read(keys).unwrap();
            assert_eq!(options.words().unwrap(), words, "{keys}");
            assert_eq!(options.to_string(), text);
        }
        assert!(read("options = \"--res '4\"").unwrap().words().is_err());
        for keys in [
            "solid = false",
            "only = []",
            "rotate = [[1]]",
            "res = 1979-05-27",
            "res = {}",
            "res.a = 1",
        ] {
            assert_eq!(read(keys).unwrap_err().line(), Some(4), "{keys}");
        }
    }

    #[test]
    fn written_options_are_read_back() {
        for (values, toml) in [
            (&[][..], "true"),
            (&["64"], "64"),
            (&["0.50"], "0.50"),
            (&["-1e-3"], "-1e-3"),
            (&["64,-1,0.5"], "[64, -1, 0.5]"),
            (&["1/3"], "\"1/3\""),
            (&["007"], "\"007\""),
            (&["nan"], "\"nan\""),
            (&["0x10"], "\"0x10\""),
            (&["99999999999999999999"], "\"99999999999999999999\""),
            (&["-1, 0"], "\"-1, 0\""),
            (&["1,"], "\"1,\""),
            (&["[1]"], "\"[1]\""),
            (&["true"], "\"true\""),
            (&["1", "2"], "[\"1\", \"2\"]"),
            (&["5mm"], "\"5mm\""),
        ] {
            let values = values.iter().map(ToString::to_string).collect();
            let option = CaseOption {
                name: "x".to_string(),
                values,
                line: Some(4),
            };
            assert_eq!(option.to_toml().to_string(), toml);
            assert_eq!(
                read(&format!("x = {toml}")).unwrap(),
                CaseOptions(vec![option])
            );
        }
    }
}
