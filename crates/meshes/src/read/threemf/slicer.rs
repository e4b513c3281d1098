//! Settings of slicers for a model. They state which volumes of its objects are bodies, negative volumes,
//! modifiers or supports.
//!
//! | file | |
//! |---|---|
//! | `Metadata/Slic3r_PE_model.config` | PrusaSlicer and its relatives: `volume` with `firstid` and `lastid`, the first and last of its triangles in the object; `metadata` with the key `volume_type`, or `modifier` in old files |
//! | `Metadata/model_settings.config` | Bambu Studio and OrcaSlicer: `part` with the `id` of a component of the object, and its `subtype` |
//! | the model itself | Slic3r: `volume` with `ts` and `te`, the first and last of its triangles, and `modifier` |

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::xml::XmlElement;
use voxelize_core::error::Result;
use voxelize_core::text::counted;

/// Meaning of a volume, which is a range of the triangles of an object or one of its components.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum VolumeKind {
    /// Solid material.
    #[default]
    Body,
    /// Subtracted from the bodies of the same object.
    Negative,
    /// Region in which the slicer uses other settings.
    Modifier,
    SupportBlocker,
    SupportEnforcer,
    /// Object whose type is `support` or `solidsupport`.
    Support,
    /// Object whose type is `other`.
    Other,
}

impl VolumeKind {
    /// Returns the kind with this name. Spellings such as `NegativeVolume` and `negative_part` are
    /// equivalent. Any other name is a body.
    fn of(name: &str) -> Self {
        let letters: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        let letters = letters.to_ascii_lowercase();
        let word = letters
            .strip_suffix("volume")
            .or(letters.strip_suffix("part"))
            .unwrap_or(&letters);
        match word {
            "negative" => Self::Negative,
            "modifier" | "parametermodifier" => Self::Modifier,
            "supportblocker" => Self::SupportBlocker,
            "supportenforcer" => Self::SupportEnforcer,
            _ => Self::Body,
        }
    }

    /// Returns the kind of an object, given its type.
    pub(super) fn of_object(kind: Option<&str>) -> Self {
        match kind {
            Some("support" | "solidsupport") => Self::Support,
            Some("other") => Self::Other,
            _ => Self::Body,
        }
    }

    /// Returns whether triangles of this kind are neither in the mesh nor subtracted from it.
    pub(super) fn is_left_out(self) -> bool {
        !matches!(self, Self::Body | Self::Negative)
    }

    fn plural(self) -> &'static str {
        match self {
            Self::Body => "bodies",
            Self::Negative => "negative volumes",
            Self::Modifier => "modifiers",
            Self::SupportBlocker => "support blockers",
            Self::SupportEnforcer => "support enforcers",
            Self::Support => "supports",
            Self::Other => "objects of type 'other'",
        }
    }
}

/// Describes counts by kind, such as `24 triangles: 12 of modifiers, 12 of supports`.
pub(super) fn counts_text(counts: &BTreeMap<VolumeKind, u64>) -> String {
    let sum = counted(counts.values().sum(), "triangle", "triangles");
    if counts.len() == 1
        && let Some(kind) = counts.keys().next()
    {
        return format!("{sum} of {}", kind.plural());
    }
    let mut all = vec![];
    for (kind, count) in counts {
        all.push(format!("{count} of {}", kind.plural()));
    }
    format!("{sum}: {}", all.join(", "))
}

/// Volume of an object that is a range of its triangles.
#[derive(Debug, Clone, Default)]
pub(super) struct Volume {
    pub kind: VolumeKind,
    pub name: Option<Rc<str>>,
    /// Number of the first triangle.
    pub first: u64,
    /// Number of the last triangle.
    pub last: u64,
}

/// Volume of an object that is one of its components.
#[derive(Debug, Clone, Default)]
pub(super) struct ComponentPiece {
    pub kind: VolumeKind,
    pub name: Option<Rc<str>>,
    /// Object that the component refers to.
    object: u64,
}

/// Settings of an object.
#[derive(Debug, Default)]
pub(super) struct ObjectSettings {
    pub name: Option<Rc<str>>,
    pub volumes: Vec<Volume>,
    pieces: Vec<ComponentPiece>,
}

impl ObjectSettings {
    /// Returns the kinds of all volumes and components.
    fn kinds(&self) -> impl Iterator<Item = VolumeKind> {
        let volumes = self.volumes.iter().map(|volume| volume.kind);
        volumes.chain(self.pieces.iter().map(|piece| piece.kind))
    }

    /// Returns whether something is subtracted from the bodies of the object.
    pub(super) fn has_negative(&self) -> bool {
        self.kinds().any(|kind| kind == VolumeKind::Negative)
    }

    /// Returns whether the object has several bodies. Each body then has its own name.
    pub(super) fn has_bodies(&self) -> bool {
        let bodies = self.kinds().filter(|kind| *kind == VolumeKind::Body);
        bodies.count() > 1
    }

    /// Matches the settings with the components of an object. `components` has the object that each component
    /// refers to. Returns the settings for each component. Several components of the same object get its
    /// settings in order. Also returns the number of settings that match no component, except those of
    /// bodies.
    pub(super) fn pieces_of(
        &self,
        components: impl Iterator<Item = u64>,
    ) -> (Vec<Option<&ComponentPiece>>, u64) {
        let mut by_object: HashMap<u64, Vec<usize>> = HashMap::new();
        for (n, piece) in self.pieces.iter().enumerate() {
            by_object.entry(piece.object).or_default().push(n);
        }
        let mut seen: HashMap<u64, usize> = HashMap::new();
        let mut is_taken = vec![false; self.pieces.len()];
        let mut found = vec![];
        for object in components {
            let before = seen.entry(object).or_default();
            let piece = by_object
                .get(&object)
                .map(|all| all[(*before).min(all.len() - 1)]);
            *before += 1;
            if let Some(n) = piece {
                is_taken[n] = true;
            }
            found.push(piece.map(|n| &self.pieces[n]));
        }
        if found.iter().all(Option::is_none) && found.len() == self.pieces.len() {
            // Some versions number the components from 1. Then components and settings are matched in order.
            return (self.pieces.iter().map(Some).collect(), 0);
        }
        let mut missing = 0;
        for (piece, is_taken) in self.pieces.iter().zip(is_taken) {
            if !is_taken && piece.kind != VolumeKind::Body {
                missing += 1;
            }
        }
        (found, missing)
    }

    /// Returns the number of volumes and components that are not bodies.
    pub(super) fn others(&self) -> u64 {
        let others = self.kinds().filter(|kind| *kind != VolumeKind::Body);
        others.count() as u64
    }
}

/// Settings of all objects of a build.
#[derive(Debug, Default)]
pub(super) struct SlicerSettings {
    objects: HashMap<u64, ObjectSettings>,
}

impl SlicerSettings {
    /// Returns whether a file of a package has settings of a slicer. `name` is its name in lower case.
    pub(super) fn is_in(name: &str) -> bool {
        let name = name.strip_prefix("metadata/").unwrap_or_default();
        name == "model_settings.config" || name.ends_with("_model.config")
    }

    pub(super) fn of(&self, object: u64) -> Option<&ObjectSettings> {
        self.objects.get(&object)
    }

    /// Returns the numbers of the objects that have settings, and their settings.
    pub(super) fn objects(&self) -> impl Iterator<Item = (u64, &ObjectSettings)> {
        self.objects.iter().map(|(id, settings)| (*id, settings))
    }
}

/// Element that the current metadata belongs to.
enum Subject {
    Nothing,
    Object,
    Volume,
    Piece,
}

/// State of the conversion of elements to settings.
pub(super) struct SettingsReader<'a> {
    settings: &'a mut SlicerSettings,
    object: Option<u64>,
    subject: Subject,
    /// The kind of the current volume is known from `volume_type`, which takes precedence over `modifier`.
    is_typed: bool,
}

impl<'a> SettingsReader<'a> {
    pub(super) fn new(settings: &'a mut SlicerSettings) -> Self {
        Self {
            settings,
            object: None,
            subject: Subject::Nothing,
            is_typed: false,
        }
    }

    /// Reads an element and returns the memory of its content in bytes.
    pub(super) fn element(&mut self, element: &XmlElement) -> Result<u64> {
        match element.local {
            "object" => {
                self.object = element.whole("id")?;
                self.subject = Subject::Object;
                if let Some(id) = self.object {
                    self.settings.objects.entry(id).or_default();
                }
                Ok(2 * size_of::<ObjectSettings>() as u64)
            }
            "volume" => {
                self.subject = Subject::Volume;
                self.is_typed = false;
                let [Some(first), Some(last)] =
                    [element.whole("firstid")?, element.whole("lastid")?]
                else {
                    self.subject = Subject::Nothing;
                    return Ok(0);
                };
                if let Some(object) = self.object() {
                    object.volumes.push(Volume {
                        first,
                        last,
                        ..Volume::default()
                    });
                }
                Ok(2 * size_of::<Volume>() as u64)
            }
            "part" => {
                self.subject = Subject::Piece;
                let kind = element
                    .text("subtype")?
                    .map(|name| VolumeKind::of(&name))
                    .unwrap_or_default();
                let Some(id) = element.whole("id")? else {
                    self.subject = Subject::Nothing;
                    return Ok(0);
                };
                if let Some(object) = self.object() {
                    object.pieces.push(ComponentPiece {
                        kind,
                        object: id,
                        name: None,
                    });
                }
                Ok(2 * size_of::<ComponentPiece>() as u64)
            }
            "metadata" => self.metadata(element),
            "plate" | "assemble" => {
                self.object = None;
                self.subject = Subject::Nothing;
                Ok(0)
            }
            _ => Ok(0),
        }
    }

    fn metadata(&mut self, element: &XmlElement) -> Result<u64> {
        let Some(key) = element.text("key")? else {
            return Ok(0);
        };
        if !matches!(key.as_str(), "name" | "volume_type" | "modifier") {
            return Ok(0);
        }
        let value = element.text("value")?.unwrap_or_default();
        let bytes = value.len() as u64;
        let is_typed = self.is_typed;
        self.is_typed |= key == "volume_type";
        let subject = std::mem::replace(&mut self.subject, Subject::Nothing);
        if let Some(object) = self.object() {
            match (&subject, key.as_str()) {
                (Subject::Object, "name") => object.name = Some(value.into()),
                (Subject::Volume, key) => {
                    if let Some(volume) = object.volumes.last_mut() {
                        match key {
                            "name" => volume.name = Some(value.into()),
                            "volume_type" => volume.kind = VolumeKind::of(&value),
                            _ if !is_typed && value.trim() == "1" => {
                                volume.kind = VolumeKind::Modifier
                            }
                            _ => {}
                        }
                    }
                }
                (Subject::Piece, "name") => {
                    if let Some(piece) = object.pieces.last_mut() {
                        piece.name = Some(value.into());
                    }
                }
                _ => {}
            }
        }
        self.subject = subject;
        Ok(bytes)
    }

    fn object(&mut self) -> Option<&mut ObjectSettings> {
        self.settings.objects.get_mut(&self.object?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_known_in_every_form() {
        let mut seen = 0;
        for (name, kind) in [
            ("ModelPart", VolumeKind::Body),
            ("normal_part", VolumeKind::Body),
            ("NegativeVolume", VolumeKind::Negative),
            ("negative_part", VolumeKind::Negative),
            ("NEGATIVE_PART", VolumeKind::Negative),
            ("ParameterModifier", VolumeKind::Modifier),
            ("modifier_part", VolumeKind::Modifier),
            ("SupportBlocker", VolumeKind::SupportBlocker),
            ("support_blocker", VolumeKind::SupportBlocker),
            ("SupportEnforcer", VolumeKind::SupportEnforcer),
            ("support_enforcer", VolumeKind::SupportEnforcer),
            ("", VolumeKind::Body),
        ] {
            assert_eq!(VolumeKind::of(name), kind, "{name}");
            seen += 1;
        }
        assert_eq!(seen, 12);
    }

    #[test]
    fn components_are_pieces_by_the_objects_that_they_place() {
        let piece = |object, kind| ComponentPiece {
            kind,
            object,
            name: None,
        };
        let of = |pieces: Vec<ComponentPiece>, components: &[u64]| {
            let settings = ObjectSettings {
                pieces,
                ..ObjectSettings::default()
            };
            let (found, missing) = settings.pieces_of(components.iter().copied());
            (
                found
                    .iter()
                    .map(|piece| piece.map(|piece| piece.kind))
                    .collect::<Vec<_>>(),
                missing,
            )
        };
        use VolumeKind::{Body, Modifier, Negative};
        let both = || vec![piece(1, Body), piece(2, Negative)];
        assert_eq!(of(both(), &[2, 1]), (vec![Some(Negative), Some(Body)], 0));
        assert_eq!(
            of(both(), &[1, 7, 1]),
            (vec![Some(Body), None, Some(Body)], 1)
        );
        assert_eq!(of(both(), &[2]), (vec![Some(Negative)], 0));
        // The same mesh is a body and a modifier.
        let shared = vec![piece(1, Body), piece(1, Modifier)];
        assert_eq!(
            of(shared, &[1, 1, 1]),
            (vec![Some(Body), Some(Modifier), Some(Modifier)], 0)
        );
        // Settings that number the components from 1.
        assert_eq!(of(both(), &[40, 41]), (vec![Some(Body), Some(Negative)], 0));
    }
}
