//! Zip file of a package: finds its files by name, and reads the models and settings in them.

use std::collections::HashMap;
use std::io::{Cursor, Read};
use std::path::Path;
use std::rc::Rc;

use zip::ZipArchive;

use super::model::{ModelReader, PackageModel};
use super::slicer::{SettingsReader, SlicerSettings};
use super::xml::each_element;
use crate::read::indexed::Indexed;
use crate::read::triage::Triage;
use crate::read::{picture, refuse};
use voxelize_core::error::{Code, Error, Kind, Result, sanitize};
use voxelize_core::par::Progress;

/// Usual name of the model with the build. The relations of the package may name another model.
const START: &str = "3D/3dmodel.model";

/// End of the type of the relation that points to the model with the build.
const RELATION: &str = "/3dmodel";

/// Files of a package. Each model is read when it is first needed.
pub(super) struct Package<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    /// Indices of files in the archive by their names. Upper and lower case of names are equivalent.
    places: HashMap<String, usize>,
    models: HashMap<usize, Rc<PackageModel>>,
    pub progress: &'a dyn Progress,
}

impl<'a> Package<'a> {
    pub(super) fn open(
        file: &'a [u8],
        progress: &'a dyn Progress,
        indexed: &mut Indexed,
    ) -> Result<Self> {
        let archive = ZipArchive::new(Cursor::new(file)).map_err(|error| {
            let text = format!(
                "the zip of the 3MF is broken: {}",
                sanitize(error.to_string())
            );
            Error::input(Code::S006, text).with_hint("export or copy the file again")
        })?;
        let mut places = HashMap::new();
        let mut bytes = 0;
        for place in 0..archive.len() {
            // A file with an unreadable name is skipped, because no model can refer to it.
            let Some(Ok(name)) = archive.name_for_index(place) else {
                continue;
            };
            if name.ends_with(['/', '\\']) {
                continue;
            }
            let name = in_package(&name);
            bytes += (name.len() + 64) as u64;
            places.entry(name).or_insert(place);
        }
        indexed.hold(bytes)?;
        Ok(Self {
            archive,
            places,
            models: HashMap::new(),
            progress,
        })
    }

    /// Returns the index of the file with this name, which may be percent-encoded. `None` if there is no such
    /// file.
    fn place(&self, name: &str) -> Option<usize> {
        if let Some(place) = self.archive.index_for_name(name) {
            return Some(place);
        }
        let name = in_package(name);
        self.places
            .get(&name)
            .or_else(|| self.places.get(&percent_decoded(&name)))
            .copied()
    }

    /// Returns the name of the model with the build. Unreadable relations are ignored if a model with the
    /// usual name exists.
    pub(super) fn start(&mut self) -> Result<Rc<str>> {
        let mut target = None;
        if let Some(relations) = self.place("_rels/.rels") {
            let read = self.each_element(relations, "_rels/.rels", |element| {
                let kind = element.text("Type")?.unwrap_or_default();
                let is_model = kind.trim().to_ascii_lowercase().ends_with(RELATION);
                if element.local == "Relationship" && is_model && target.is_none() {
                    target = element.text("Target")?;
                }
                Ok(())
            });
            match read {
                Err(error) if error.kind() == Kind::Input && self.place(START).is_some() => {}
                read => read?,
            }
        }
        let mut named = None;
        for name in [target.as_deref(), Some(START)].into_iter().flatten() {
            if named.is_none() && self.place(name).is_some() {
                named = Some(name);
            }
        }
        if let Some(name) = named {
            return Ok(name.trim_start_matches(['/', '.']).into());
        }
        let models = self
            .places
            .iter()
            .filter(|(name, _)| name.ends_with(".model"));
        if let Some((name, _)) = models.min_by_key(|(_, place)| **place) {
            return Ok(name.as_str().into());
        }
        Err(self.no_model(target.as_deref().unwrap_or(START)))
    }

    /// Returns the error for a zip in which the model is missing.
    fn no_model(&self, name: &str) -> Error {
        let is_package = ["[content_types].xml", "_rels/.rels"]
            .iter()
            .any(|name| self.places.contains_key(*name));
        let has = |end: &str| self.places.keys().any(|name| name.ends_with(end));
        let known = if is_package {
            None
        } else if has(".npy") {
            refuse::by_extension(Path::new("a.npz"))
        } else if has(".usdc") || has(".usda") {
            refuse::by_extension(Path::new("a.usdz"))
        } else {
            refuse::by_extension(Path::new("a.zip"))
        };
        if let Some(error) = known {
            return error;
        }
        let name = short(name.trim_start_matches(['/', '\\']));
        let error = Error::input(
            Code::S002,
            format!("the zip is not a 3MF: it has no {name}"),
        );
        error.with_hint("a mesh is expected")
    }

    /// Returns the model with this name. It is read at the first call.
    pub(super) fn load(&mut self, name: &str, indexed: &mut Indexed) -> Result<Rc<PackageModel>> {
        let Some(place) = self.place(name) else {
            return Err(Error::input(
                Code::S006,
                format!("the package has no file '{}'", short(name)),
            ));
        };
        if let Some(model) = self.models.get(&place) {
            return Ok(Rc::clone(model));
        }
        let mut reader = ModelReader::new(indexed);
        self.each_element(place, name, |element| reader.element(element))?;
        let model = Rc::new(reader.finish().map_err(|error| error.about(name))?);
        self.models.insert(place, Rc::clone(&model));
        Ok(model)
    }

    /// Reads the settings of slicers for the objects of the build. A settings file that cannot be read is
    /// only reported, because the model is complete without it.
    pub(super) fn settings(
        &mut self,
        indexed: &mut Indexed,
        triage: &Triage,
    ) -> Result<SlicerSettings> {
        let mut settings = SlicerSettings::default();
        let mut files: Vec<(usize, String)> = vec![];
        for (name, place) in &self.places {
            if SlicerSettings::is_in(name) {
                files.push((*place, name.clone()));
            }
        }
        files.sort();
        for (place, name) in files {
            let mut reader = SettingsReader::new(&mut settings);
            let mut bytes = 0;
            let read = self.each_element(place, &name, |element| {
                bytes += reader.element(element)?;
                if bytes > 1 << 16 {
                    indexed.hold(std::mem::take(&mut bytes))?;
                }
                Ok(())
            });
            match read {
                Err(error) if error.kind() == Kind::Input => {
                    let text = format!(
                        "settings of a slicer that cannot be read: {}",
                        error.message()
                    );
                    let note = || Error::input(Code::S113, text.clone()).about(&name);
                    triage.found_all(Code::S113, 1, note)?;
                }
                read => read?,
            }
        }
        Ok(settings)
    }

    /// Returns the bytes of a picture. `admit` fails if the memory exceeds the limit.
    pub(super) fn picture(
        &mut self,
        name: &str,
        admit: impl Fn(u64) -> Result<()>,
    ) -> Result<Vec<u8>> {
        let Some(place) = self.place(name) else {
            return Err(Error::input(
                Code::S110,
                format!("the package has no file '{}'", short(name)),
            ));
        };
        let broken = |error: &dyn std::fmt::Display| {
            Error::input(
                Code::S110,
                format!("its image: {}", sanitize(error.to_string())),
            )
        };
        let entry = self
            .archive
            .by_index(place)
            .map_err(|error| broken(&error))?;
        let mut entry = entry.take(picture::MAX_BYTES);
        let mut bytes = vec![];
        loop {
            const BLOCK: usize = 1 << 16;
            let more = bytes.len().max(BLOCK);
            // When the buffer grows, the old and the new memory exist at the same time.
            admit(2 * (bytes.len() + more) as u64)?;
            let read = entry.by_ref().take(more as u64).read_to_end(&mut bytes);
            if read.map_err(|error| broken(&error))? < more {
                return Ok(bytes);
            }
        }
    }

    /// Calls `take` for every element of an XML file.
    fn each_element(
        &mut self,
        place: usize,
        name: &str,
        take: impl FnMut(&super::xml::XmlElement) -> Result<()>,
    ) -> Result<()> {
        let entry = self
            .archive
            .by_index(place)
            .map_err(|error| Error::input(Code::S006, sanitize(error.to_string())).about(name))?;
        each_element(entry, name, self.progress, take)
    }
}

/// Returns the start of a long name, for messages.
fn short(name: &str) -> String {
    const SHOWN: usize = 120;
    let end = if name.chars().nth(SHOWN).is_some() {
        "…"
    } else {
        ""
    };
    let text: String = name.chars().take(SHOWN).collect();
    sanitize(text) + end
}

/// Returns a normalized name for comparisons: relative to the root of the package, in lower case, and with
/// slashes.
fn in_package(name: &str) -> String {
    let mut parts: Vec<&str> = vec![];
    for part in name.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/").to_lowercase()
}

/// Decodes `%20` and other percent escapes in a name.
fn percent_decoded(name: &str) -> String {
    let mut bytes = vec![];
    let mut rest = name.as_bytes();
    while let Some((first, following)) = rest.split_first() {
        let digits = following.get(..2).filter(|_| *first == b'%');
        let byte = digits
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        match byte {
            Some(byte) => {
                bytes.push(byte);
                rest = &following[2..];
            }
            None => {
                bytes.push(*first);
                rest = following;
            }
        }
    }
    String::from_utf8_lossy(&bytes).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_compare_without_case_and_slashes() {
        let mut seen = 0;
        for name in [
            "/3D/3dmodel.model",
            "./3d/3DModel.model",
            "3D\\3dmodel.model",
            "a/../3d/./3dmodel.model",
        ] {
            assert_eq!(in_package(name), "3d/3dmodel.model", "{name}");
            seen += 1;
        }
        assert_eq!(seen, 4);
        assert_eq!(percent_decoded("a%20b%2"), "a b%2");
    }
}
