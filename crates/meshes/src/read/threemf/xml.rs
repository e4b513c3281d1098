//! XML of the files in a package, as a sequence of elements with attributes.

use std::borrow::Cow;
use std::cell::Cell;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::rc::Rc;

use quick_xml::events::{BytesStart, Event};
use quick_xml::name::{Namespace, ResolveResult};
use quick_xml::{NsReader, XmlVersion};

use voxelize_core::error::{Code, Error, Result, sanitize};
use voxelize_core::par::Progress;

/// Maximum length in bytes of a token of XML, which extends from one bracket to the next.
const MAX_TOKEN: usize = 1 << 20;

/// Common prefix of all namespaces of 3MF.
const NAMESPACES: &str = "http://schemas.microsoft.com/3dmanufacturing/";

const CORE: &str = "http://schemas.microsoft.com/3dmanufacturing/core/2015/02";

/// Vocabulary that an element belongs to, by its namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vocabulary {
    Core,
    Materials,
    BeamLattice,
    /// No namespace, as in some files.
    Unstated,
    Other,
}

impl Vocabulary {
    fn of(namespace: Option<&str>) -> Self {
        match namespace {
            None => Self::Unstated,
            Some(CORE) => Self::Core,
            Some(name) => match name.strip_prefix(NAMESPACES) {
                // Files from 2013 are older than the first specification of the consortium.
                Some(rest) if rest.starts_with("core/") || rest.starts_with("2013/") => Self::Core,
                Some(rest) if rest.starts_with("material") => Self::Materials,
                Some(rest) if rest.starts_with("beamlattice") => Self::BeamLattice,
                _ => Self::Other,
            },
        }
    }
}

/// Start tag of an element.
pub(super) struct XmlElement<'a> {
    pub local: &'a str,
    pub vocabulary: Vocabulary,
    pub namespace: Option<&'a str>,
    start: &'a BytesStart<'a>,
}

/// Calls `take` for every element of an XML file. `path` is the name of the file in errors.
pub(super) fn each_element(
    file: impl Read,
    path: &str,
    progress: &dyn Progress,
    mut take: impl FnMut(&XmlElement) -> Result<()>,
) -> Result<()> {
    let broken = |text: String| Error::input(Code::S006, sanitize(text)).about(path);
    let length = Rc::new(Cell::new(0));
    let (text, start) = utf8(file).map_err(|error| broken(error.to_string()))?;
    let placed = |error: Error, at: u64| match start {
        Some(start) => error.at_byte(start + at),
        None => error,
    };
    let mut reader = NsReader::from_reader(XmlBytes {
        reader: BufReader::new(text),
        length: Rc::clone(&length),
    });
    let mut buffer = vec![];
    let mut depth = 0_u64;
    for n in 0_u64.. {
        if n % 4096 == 0 {
            progress.check()?;
        }
        buffer.clear();
        length.set(0);
        let at = reader.buffer_position();
        let (namespace, event) = reader
            .read_resolved_event_into(&mut buffer)
            .map_err(|error| placed(broken(error.to_string()), at))?;
        let element = match event {
            Event::Start(element) => {
                depth += 1;
                element
            }
            Event::Empty(element) => element,
            Event::End(_) => {
                depth = depth.saturating_sub(1);
                continue;
            }
            Event::DocType(_) => {
                return Err(placed(
                    broken("the XML has a document type, which 3MF forbids".into()),
                    at,
                ));
            }
            Event::Eof if depth > 0 => {
                return Err(Error::input(Code::S003, "cut short: elements do not end").about(path));
            }
            Event::Eof => return Ok(()),
            _ => continue,
        };
        let namespace = match namespace {
            ResolveResult::Bound(Namespace(name)) => Some(name),
            _ => None,
        };
        let found = XmlElement {
            local: element.local_name().into_inner(),
            vocabulary: Vocabulary::of(namespace),
            namespace,
            start: &element,
        };
        take(&found).map_err(|error| placed(error.about(path), at))?;
    }
    Ok(())
}

impl XmlElement<'_> {
    /// Returns the value of the attribute with this local name, whatever its prefix is. `None` if there is
    /// none.
    pub(super) fn text(&self, name: &str) -> Result<Option<String>> {
        for attribute in self.start.attributes() {
            let attribute = attribute.map_err(|error| self.bad(&error.to_string()))?;
            if attribute.key.local_name().into_inner() == name
                && !attribute.key.0.starts_with("xmlns")
            {
                let value = attribute.normalized_value(XmlVersion::Implicit1_0);
                let value = value.map_err(|error| self.bad(&error.to_string()))?;
                return Ok(Some(value.into_owned()));
            }
        }
        Ok(None)
    }

    /// Returns the values of the attributes with these qualified names, in one pass over all attributes.
    /// Reading attributes takes most of the time in a file with many elements.
    pub(super) fn texts<const N: usize>(
        &self,
        names: [&str; N],
    ) -> Result<[Option<Cow<'_, str>>; N]> {
        let mut found = [const { None }; N];
        for attribute in self.start.attributes().with_checks(false) {
            let attribute = attribute.map_err(|error| self.bad(&error.to_string()))?;
            let Some(n) = names.iter().position(|name| *name == attribute.key.0) else {
                continue;
            };
            let is_plain = !attribute
                .value
                .bytes()
                .any(|byte| matches!(byte, b'&' | b'<' | b'\t' | b'\n' | b'\r'));
            let value = match attribute.value {
                value if is_plain => value,
                _ => {
                    let value = attribute.normalized_value(XmlVersion::Implicit1_0);
                    Cow::Owned(
                        value
                            .map_err(|error| self.bad(&error.to_string()))?
                            .into_owned(),
                    )
                }
            };
            if found[n].replace(value).is_some() {
                return Err(self.bad(&format!("it has {} twice", names[n])));
            }
        }
        Ok(found)
    }

    /// Returns the namespace that the element itself declares for a prefix. `None` if it does not declare
    /// one.
    pub(super) fn namespace_of(&self, prefix: &str) -> Option<String> {
        let name = format!("xmlns:{prefix}");
        let bound = self
            .start
            .attributes()
            .flatten()
            .find(|attribute| attribute.key.0 == name);
        bound.map(|attribute| attribute.value.into_owned())
    }

    /// Returns the length of the start tag in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.start.len()
    }

    /// Parses the text of the attribute `name` as a non-negative integer.
    pub(super) fn number(&self, name: &str, text: &str) -> Result<u64> {
        text.trim().parse().map_err(|_| {
            let text = sanitize(text);
            Error::input(
                Code::S007,
                format!(
                    "<{}>: {name} is '{text}', not a whole number",
                    sanitize(self.local)
                ),
            )
        })
    }

    /// Returns the integers in the list that is the value of an attribute.
    pub(super) fn numbers(&self, name: &str) -> Result<Vec<u64>> {
        let text = self.text(name)?.unwrap_or_default();
        text.split_ascii_whitespace()
            .map(|word| self.number(name, word))
            .collect()
    }

    pub(super) fn bad(&self, what: &str) -> Error {
        Error::input(
            Code::S006,
            format!("<{}>: {}", sanitize(self.local), sanitize(what)),
        )
    }

    pub(super) fn whole(&self, name: &str) -> Result<Option<u64>> {
        match self.text(name)? {
            Some(text) => self.number(name, &text).map(Some),
            None => Ok(None),
        }
    }

    pub(super) fn needed(&self, name: &str) -> Result<u64> {
        self.whole(name)?
            .ok_or_else(|| self.bad(&format!("it has no {name}")))
    }

    /// Returns whether the element has this name in the core vocabulary.
    pub(super) fn is_core(&self, local: &str) -> bool {
        matches!(self.vocabulary, Vocabulary::Core | Vocabulary::Unstated) && self.local == local
    }

    /// Returns whether the element has this name in the vocabulary of materials.
    pub(super) fn is_material(&self, local: &str) -> bool {
        matches!(
            self.vocabulary,
            Vocabulary::Materials | Vocabulary::Unstated
        ) && self.local == local
    }
}

/// Bytes of XML. Fails if a token is too long, because its end is probably missing.
struct XmlBytes<R> {
    reader: BufReader<R>,
    /// Number of bytes since the start of the current token.
    length: Rc<Cell<usize>>,
}

impl<R: Read> Read for XmlBytes<R> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        self.reader.read(bytes)
    }
}

impl<R: Read> BufRead for XmlBytes<R> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        if self.length.get() > MAX_TOKEN {
            return Err(std::io::Error::other(format!(
                "a piece of XML has more than {MAX_TOKEN} bytes"
            )));
        }
        self.reader.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.length.set(self.length.get() + count);
        self.reader.consume(count);
    }
}

/// Returns a text as UTF-8 without a byte order mark, and the position in the file where the text starts.
///
/// Packages may contain UTF-16, which is recognized by its byte order mark or by the zero byte in its first
/// character. It is converted, so positions in the UTF-8 do not correspond to positions in the file. Then the
/// start is `None`.
fn utf8<'r>(mut file: impl Read + 'r) -> std::io::Result<(Box<dyn Read + 'r>, Option<u64>)> {
    let mut head = vec![];
    file.by_ref().take(4).read_to_end(&mut head)?;
    let (mark, is_big) = match head[..] {
        [0xef, 0xbb, 0xbf, ..] => (3, None),
        [0xff, 0xfe, ..] => (2, Some(false)),
        [0xfe, 0xff, ..] => (2, Some(true)),
        [b'<', 0, _, 0] => (0, Some(false)),
        [0, b'<', 0, _] => (0, Some(true)),
        _ => (0, None),
    };
    head.drain(..mark);
    let whole = Cursor::new(head).chain(file);
    Ok(match is_big {
        None => (Box::new(whole), Some(mark as u64)),
        Some(is_big) => (
            Box::new(Utf16 {
                reader: BufReader::new(whole),
                is_big,
                text: vec![],
                at: 0,
            }),
            None,
        ),
    })
}

/// Reader that converts UTF-16 to UTF-8.
struct Utf16<R> {
    reader: BufReader<R>,
    is_big: bool,
    /// UTF-8 of the last code units.
    text: Vec<u8>,
    /// Number of bytes of `text` that were returned.
    at: usize,
}

impl<R: Read> Utf16<R> {
    /// Returns the next 16-bit code unit. `None` at the end of the file. A single byte at the end is ignored.
    fn unit(&mut self) -> std::io::Result<Option<u16>> {
        let mut bytes = vec![];
        self.reader.by_ref().take(2).read_to_end(&mut bytes)?;
        Ok(match bytes[..] {
            [high, low] if self.is_big => Some(u16::from_be_bytes([high, low])),
            [low, high] => Some(u16::from_le_bytes([low, high])),
            _ => None,
        })
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        const UNITS: usize = 2048;
        if self.at == self.text.len() {
            let mut units = Vec::with_capacity(UNITS + 1);
            while units.len() < UNITS {
                let Some(unit) = self.unit()? else { break };
                units.push(unit);
            }
            // Does not separate a surrogate pair.
            if units
                .last()
                .is_some_and(|unit| (0xd800..0xdc00).contains(unit))
            {
                units.extend(self.unit()?);
            }
            self.text = String::from_utf16_lossy(&units).into_bytes();
            self.at = 0;
        }
        let count = bytes.len().min(self.text.len() - self.at);
        bytes[..count].copy_from_slice(&self.text[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_every_encoding_is_the_same() {
        let text = format!("<a b=\"ä\u{1f600}\"/>{}", " \u{1f600}".repeat(3000));
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let mut seen = 0;
        for (mark, bytes) in [
            (&b""[..], text.as_bytes()),
            (b"\xef\xbb\xbf", text.as_bytes()),
            (b"\xff\xfe", &little),
            (b"", &little),
            (b"\xfe\xff", &big),
            (b"", &big),
        ] {
            let mut found = String::new();
            utf8(&[mark, bytes].concat()[..])
                .unwrap()
                .0
                .read_to_string(&mut found)
                .unwrap();
            assert!(found == text, "{mark:?}");
            seen += 1;
        }
        assert_eq!(seen, 6);
        let mut short = vec![];
        utf8(&b"<"[..]).unwrap().0.read_to_end(&mut short).unwrap();
        assert_eq!(short, b"<");
    }

    #[test]
    fn errors_are_at_bytes_of_the_file() {
        let text = "<a>\u{4e00}\u{4e00}\u{4e00}\u{4e00}<b></c></a>";
        let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let mut seen = 0;
        for (mark, bytes, wanted) in [
            (&b""[..], text.as_bytes(), Some(18)),
            (b"\xef\xbb\xbf", text.as_bytes(), Some(21)),
            (b"\xff\xfe", &wide, None),
        ] {
            let file = [mark, bytes].concat();
            let error = each_element(&file[..], "a.model", &(), |_| Ok(())).unwrap_err();
            assert_eq!(error.byte(), wanted, "{error}");
            seen += 1;
        }
        assert_eq!(seen, 3);
    }
}
