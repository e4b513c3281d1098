//! Reading lists of goldens. Errors state the line with the fault.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use toml_edit::{Document, DocumentMut, Item, Key, Table, Value};

use super::options::values_of;
use super::{Case, CaseOption, CaseOptions, Gate, Golden};
use voxelize_core::error::{Code, Error, Hint, Result, sanitize};

/// Maximum size of a list in bytes.
const MAX_LIST: u64 = 64 << 20;

/// Advice for a case that has no recorded result.
const RECORD: &[&str] = &[
    "`voxelize verify --update LIST` records grid and cells",
    "golden = \"part.npz\" instead of them names a voxel file",
];

/// Why a list is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// To compare results. Each case must have an expected result.
    Compare,
    /// To record results.
    Record,
}

/// Reads the file at `path` as text.
pub(super) fn text(path: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_LIST + 1).read_to_end(&mut bytes));
    read.map_err(|e| {
        let error = Error::input(Code::G001, format!("cannot be read: {e}"));
        error.with_hint("`voxelize verify --update LIST MESH` makes a list")
    })?;
    match String::from_utf8(bytes) {
        Ok(text) if text.len() as u64 <= MAX_LIST => Ok(text),
        _ => Err(hinted(Error::input(
            Code::G002,
            "expected a list of goldens (TOML text), found binary data or a very large file",
        ))),
    }
}

/// Returns the cases in `text`, and the text as a document that can be edited.
pub(super) fn list(text: &str, to: Use) -> Result<(Vec<Case>, DocumentMut)> {
    let document = Document::parse(text).map_err(|e| {
        let why = e.message().lines().next().unwrap_or_default();
        at(
            hinted(Error::input(Code::G002, format!("is not TOML: {why}"))),
            text,
            e.span(),
        )
    })?;
    let tables = tables(&document, text)?;
    let cases = tables
        .iter()
        .map(|table| case(table, text, to))
        .collect::<Result<Vec<_>>>()?;
    refuse_doubles(&cases)?;
    Ok((cases, document.into_mut()))
}

/// Returns the tables of all cases. Fails if the file contains anything else.
fn tables<'a>(document: &'a Document<&str>, text: &str) -> Result<Vec<&'a Table>> {
    for (key, item) in document.iter() {
        let span = document.key(key).and_then(Key::span);
        if key != "case" {
            return Err(at(
                unknown(key, "a list of goldens contains only [[case]] tables"),
                text,
                span,
            ));
        }
        if !item.is_array_of_tables() {
            let error = Error::input(Code::G005, format!("'case' is {}", kind(item)));
            return Err(at(
                error.with_hint("write [[case]], and its keys below it"),
                text,
                span,
            ));
        }
    }
    let cases = document.get("case").and_then(Item::as_array_of_tables);
    Ok(cases
        .map(|cases| cases.iter().collect())
        .unwrap_or_default())
}

fn case(table: &Table, text: &str, to: Use) -> Result<Case> {
    let keys = Keys { table, text };
    let Some(mesh) = keys.text("mesh")? else {
        return Err(keys.missing("mesh", "add mesh = \"part.stl\""));
    };
    let options = keys.options()?;
    let gate = Gate {
        allow: keys.count("allow")?,
        iou_min: keys.share("iou_min")?,
    };
    let golden = keys.golden(to)?;
    if !matches!(golden, Golden::File(_)) && !gate.is_closed() {
        let key = if gate.allow.is_some() {
            "allow"
        } else {
            "iou_min"
        };
        let error = Error::input(
            Code::G006,
            format!("{key} needs a golden file: a digest does not contain the cells"),
        );
        return Err(keys.at(
            key,
            error.with_hint("or set golden = \"part.npz\", to compare with a voxel file"),
        ));
    }
    Ok(Case {
        name: keys.text("name")?,
        mesh,
        options,
        golden,
        gate,
        line: line_of(text, table.span()),
    })
}

/// Table of a case that is being read.
struct Keys<'a> {
    table: &'a Table,
    text: &'a str,
}

impl Keys<'_> {
    /// Reads all keys that are not in [`Case::KEYS`] as options. The command line checks whether such options
    /// exist.
    fn options(&self) -> Result<CaseOptions> {
        const WANTED: &str = "true, a number, a string, or an array of numbers or strings that is not empty; omit an option that is off";
        let mut options = vec![];
        for (name, _) in self
            .table
            .iter()
            .filter(|(name, _)| !Case::KEYS.contains(name))
        {
            let values = self.value(name, WANTED, |item| values_of(item.as_value()?, self.text))?;
            let line = line_of(self.text, self.table.key(name).and_then(Key::span));
            options.push(CaseOption {
                name: name.to_string(),
                values: values.unwrap_or_default(),
                line,
            });
        }
        Ok(CaseOptions(options))
    }

    fn golden(&self, to: Use) -> Result<Golden> {
        let has = |key: &str| self.table.contains_key(key);
        let has_digest = has("grid") || has("cells");
        if let Some(file) = self.text("golden")? {
            if has_digest {
                let error =
                    Error::input(Code::G006, "the case has both a golden file and a digest");
                return Err(self.at(
                    "golden",
                    error.with_hint("keep either golden, or grid and cells"),
                ));
            }
            return Ok(Golden::File(file));
        }
        match (self.digest(), to) {
            (Err(_), Use::Record) if has_digest => Ok(Golden::Unreadable),
            (Err(_), Use::Record) => Ok(Golden::Unrecorded),
            (digest, _) => digest,
        }
    }

    fn digest(&self) -> Result<Golden> {
        let grid = self.text("grid")?;
        let cells = self.count("cells")?;
        let grid = grid.ok_or_else(|| self.missing("grid", RECORD))?;
        let cells = cells.ok_or_else(|| self.missing("cells", RECORD))?;
        let grid = grid.parse().map_err(|why| {
            let error = Error::input(Code::G005, format!("grid: {why}"));
            self.at("grid", error.with_hint(RECORD))
        })?;
        Ok(Golden::Digest { grid, cells })
    }

    fn text(&self, key: &str) -> Result<Option<String>> {
        self.value(key, "a non-empty string in quotes", |item| {
            item.as_str()
                .filter(|text| !text.is_empty())
                .map(str::to_string)
        })
    }

    fn count(&self, key: &str) -> Result<Option<u64>> {
        self.value(key, "a whole number", |item| {
            item.as_integer().and_then(|n| u64::try_from(n).ok())
        })
    }

    fn share(&self, key: &str) -> Result<Option<f64>> {
        self.value(key, "a number from 0 to 1", |item| {
            let number = item.as_float().or(item.as_integer().map(|n| n as f64));
            number.filter(|share| (0.0..=1.0).contains(share))
        })
    }

    fn value<T>(
        &self,
        key: &str,
        wanted: &str,
        read: impl Fn(&Item) -> Option<T>,
    ) -> Result<Option<T>> {
        let Some(item) = self.table.get(key) else {
            return Ok(None);
        };
        if let Some(value) = read(item) {
            return Ok(Some(value));
        }
        let found = match item {
            Item::Value(value) => sanitize(value.clone().decorated("", "").to_string()),
            _ => kind(item).to_string(),
        };
        let error = Error::input(
            Code::G005,
            format!("{} is {found}; expected {wanted}", sanitize(key)),
        );
        Err(self.at(key, error.with_hint("correct that line")))
    }

    fn missing(&self, key: &str, hint: impl Into<Hint>) -> Error {
        let error = Error::input(Code::G004, format!("the case has no {key}")).with_hint(hint);
        at(error, self.text, self.table.span())
    }

    fn at(&self, key: &str, error: Error) -> Error {
        at(error, self.text, self.table.key(key).and_then(Key::span))
    }
}

/// Fails if two cases have the same mesh and options, or the same name.
fn refuse_doubles(cases: &[Case]) -> Result<()> {
    let mut lines = HashMap::new();
    for case in cases {
        let title = case.title();
        for (what, key) in [
            ("mesh and options", case.identity()),
            ("name", (title.clone(), String::new())),
        ] {
            if let Some(other) = lines.insert((what, key), case.line.unwrap_or_default()) {
                let title = sanitize(title);
                let message = format!("{title}: the case of line {other} has the same {what}");
                let error =
                    Error::input(Code::G007, message).with_hint("remove one of them, or rename it");
                return Err(case.line.map_or(error.clone(), |line| error.at_line(line)));
            }
        }
    }
    Ok(())
}

fn unknown(key: &str, hint: impl Into<Hint>) -> Error {
    Error::input(Code::G003, format!("'{}' is an unknown key", sanitize(key))).with_hint(hint)
}

fn hinted(error: Error) -> Error {
    error.with_hint([
        "a list of goldens is TOML with [[case]] tables",
        "`voxelize verify --help` shows one",
    ])
}

/// Returns the type of a TOML item, for messages.
fn kind(item: &Item) -> &'static str {
    match item {
        Item::Value(Value::Array(_)) => "an array",
        Item::ArrayOfTables(_) => "an array of tables",
        Item::Value(_) => "a value",
        _ => "a table",
    }
}

/// Adds the line number at which `span` begins to an error.
fn at(error: Error, text: &str, span: Option<Range<usize>>) -> Error {
    match line_of(text, span) {
        Some(line) => error.at_line(line),
        None => error,
    }
}

fn line_of(text: &str, span: Option<Range<usize>>) -> Option<u64> {
    let before = text.get(..span?.start)?;
    Some(before.bytes().filter(|byte| *byte == b'\n').count() as u64 + 1)
}

#[cfg(test)]
mod tests {
    use super::{Use, list};
    use crate::goldens::{Golden, Goldens};
    use voxelize_core::error::Code;

    #[test]
    fn errors_have_their_line() {
        let digest = "grid = \"v1:00000000000000000000000000000001\"\ncells = 7\n";
        let case = |keys: &str| format!("[[case]]\n{keys}");
        let mut seen = 0;
        for (text, code, line, message) in [
            (String::new(), Code::G008, None, "no [[case]]"),
            ("# nothing\n".into(), Code::G008, None, "no [[case]]"),
            ("\n[[case]\n".into(), Code::G002, Some(2), "is not TOML"),
            (
                case("mesh = \"a\"\nmesh = \"b\"\n"),
                Code::G002,
                Some(3),
                "duplicate key",
            ),
            ("x = 1\n".into(), Code::G003, Some(1), "'x'"),
            (
                "\ncase = 1\n".into(),
                Code::G005,
                Some(2),
                "'case' is a value",
            ),
            (
                "[case]\nmesh = \"a\"\n".into(),
                Code::G005,
                Some(1),
                "'case' is a table",
            ),
            (
                case(&format!("mesh = \"a\"\nres = {{}}\n{digest}")),
                Code::G005,
                Some(3),
                "res is {}; expected true",
            ),
            (
                case(&format!("mesh = \"a\"\nsolid = false\n{digest}")),
                Code::G005,
                Some(3),
                "solid is false; expected true",
            ),
            (case(digest), Code::G004, Some(1), "no mesh"),
            (
                case(&format!("mesh = 3\n{digest}")),
                Code::G005,
                Some(2),
                "mesh is 3; expected a non-empty string",
            ),
            (
                case(&format!("mesh = \"\"\n{digest}")),
                Code::G005,
                Some(2),
                "expected a non-empty string",
            ),
            (case("mesh = \"a\"\n"), Code::G004, Some(1), "no grid"),
            (
                case("mesh = \"a\"\ncells = 1\n"),
                Code::G004,
                Some(1),
                "no grid",
            ),
            (
                case("mesh = \"a\"\ngrid = \"v1:0\"\n"),
                Code::G004,
                Some(1),
                "no cells",
            ),
            (
                case("mesh = \"a\"\ngrid = \"v1:0\"\ncells = 1\n"),
                Code::G005,
                Some(3),
                "grid: ",
            ),
            (
                case("mesh = \"a\"\ngrid = \"v1:0\"\ncells = -1\n"),
                Code::G005,
                Some(4),
                "cells is -1",
            ),
            (
                case(&format!("mesh = \"a\"\n{digest}golden = \"b\"\n")),
                Code::G006,
                Some(5),
                "both a golden file and a digest",
            ),
            (
                case(&format!("mesh = \"a\"\nallow = 1\n{digest}")),
                Code::G006,
                Some(3),
                "allow needs a golden file",
            ),
            (
                case("mesh = \"a\"\ngolden = \"b\"\niou_min = 1.5\n"),
                Code::G005,
                Some(4),
                "from 0 to 1",
            ),
            (
                case("mesh = \"a\"\ngolden = \"b\"\nallow = \"1\"\n"),
                Code::G005,
                Some(4),
                "a whole number",
            ),
            (
                [1, 2]
                    .map(|n| case(&format!("mesh = \"a\"\ngolden = \"b{n}\"\n")))
                    .concat(),
                Code::G007,
                Some(4),
                "the case of line 1 has the same mesh and options",
            ),
            (
                [1, 2]
                    .map(|n| case(&format!("name = \"x\"\nmesh = \"a{n}\"\ngolden = \"b\"\n")))
                    .concat(),
                Code::G007,
                Some(5),
                "the case of line 1 has the same name",
            ),
        ] {
            let error = Goldens::parse(&text).unwrap_err();
            assert_eq!(
                (error.code(), error.line()),
                (code, line),
                "{text}\n{error}"
            );
            assert!(error.message().contains(message), "{text}\n{error}");
            assert!(error.hint().is_some(), "{error}");
            seen += 1;
        }
        assert!(seen > 20);
    }

    #[test]
    fn a_list_to_record_in_may_lack_results() {
        for (keys, golden) in [
            ("", Golden::Unrecorded),
            ("cells = 1\n", Golden::Unreadable),
            ("grid = \"v1:0\"\ncells = 1\n", Golden::Unreadable),
            ("grid = 7\ncells = 1\n", Golden::Unreadable),
            ("golden = \"b\"\nallow = 1\n", Golden::File("b".into())),
        ] {
            let (cases, _) = list(&format!("[[case]]\nmesh = \"a\"\n{keys}"), Use::Record).unwrap();
            assert_eq!(cases[0].golden, golden, "{keys}");
        }
        for (keys, line) in [
            ("allow = 1\n", 3),
            ("golden = \"b\"\ncells = 1\n", 3),
            ("golden = 3\n", 3),
        ] {
            let error = list(&format!("[[case]]\nmesh = \"a\"\n{keys}"), Use::Record).unwrap_err();
            assert_eq!(error.line(), Some(line), "{keys}");
        }
    }

    /// In earlier versions, messages quoted keys, values and names of any length, including tabs and line
    /// breaks.
    #[test]
    fn messages_quote_short_text_without_control_characters() {
        let odd = format!("\\u001b[2J\\n{}", "x".repeat(2000));
        let digest = format!("grid = \"{odd}\"\ncells = 1\n");
        for keys in [
            format!("mesh = \"a\"\n{digest}"),
            format!("mesh = [\"{odd}\"]\n"),
            format!("mesh = \"a\"\n\"{odd}\" = {{}}\n"),
            format!(
                "mesh = \"{odd}\"\ngolden = \"b\"\n[[case]]\nmesh = \"{odd}\"\ngolden = \"b\"\n"
            ),
        ] {
            let error = Goldens::parse(&format!("[[case]]\n{keys}")).unwrap_err();
            let message = error.message();
            assert!(
                message.len() < 200 && !message.contains(char::is_control),
                "{message}"
            );
        }
    }
}
