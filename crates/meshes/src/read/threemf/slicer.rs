//! Settings of slicers beside a model: which pieces of its objects are bodies, negative volumes, modifiers and supports.
//!
//! | file | |
//! |---|---|
//! | `Metadata/Slic3r_PE_model.config` | PrusaSlicer and its relatives: `volume` with `firstid` and `lastid`, the first and last triangle of a piece of the object; `metadata` with the key `volume_type`, or `modifier` in old files |
//! | `Metadata/model_settings.config` | Bambu Studio and OrcaSlicer: `part` with the `id` of a component of the object, and its `subtype` |
//! | the model itself | Slic3r: `volume` with `ts` and `te`, the first and last triangle, and `modifier` |

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::xml::XmlElement;
use voxelize_core::error::Result;
use voxelize_core::text::counted;

/// Meaning of a piece of an object.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum VolumeKind {
    /// Solid matter.
    #[default]
    Body,
    /// Cut out of the bodies of the same object.
    Negative,
    /// Other settings for the slicer within it.
    Modifier,
    SupportBlocker,
    SupportEnforcer,
    /// Object of type `support` or `solidsupport`.
    Support,
    /// Object of type `other`.
    Other,
}

impl VolumeKind {
    /// The kind of this name in any of the forms, `NegativeVolume` or `negative_part`; a body if it has another name.
    fn of(name: &str) -> Self {
        let letters: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        let letters = letters.to_ascii_lowercase();
        let kinds = [
            ("negative", Self::Negative),
            ("modifier", Self::Modifier),
            ("parametermodifier", Self::Modifier),
            ("supportblocker", Self::SupportBlocker),
            ("supportenforcer", Self::SupportEnforcer),
        ];
        let is_this = |word: &str| {
            letters == word
                || ["volume", "part"]
                    .iter()
                    .any(|end| letters.strip_suffix(end) == Some(word))
        };
        kinds
            .into_iter()
            .find(|(word, _)| is_this(word))
            .map(|(_, kind)| kind)
            .unwrap_or_default()
    }

    /// The kind of an object of this type.
    pub(super) fn of_object(kind: Option<&str>) -> Self {
        match kind {
            Some("support" | "solidsupport") => Self::Support,
            Some("other") => Self::Other,
            _ => Self::Body,
        }
    }

    /// Its triangles are no triangles of the mesh, and not cut out of it.
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

/// `24 triangles: 12 of modifiers, 12 of supports`.
pub(super) fn counts_text(counts: &BTreeMap<VolumeKind, u64>) -> String {
    let of = |(kind, count): (&VolumeKind, &u64)| match counts.len() {
        1 => format!(" of {}", kind.plural()),
        _ => format!("{count} of {}", kind.plural()),
    };
    let all: Vec<_> = counts.iter().map(of).collect();
    let sum = counted(counts.values().sum(), "triangle", "triangles");
    if counts.len() == 1 {
        sum + &all[0]
    } else {
        format!("{sum}: {}", all.join(", "))
    }
}

/// A piece of an object that its triangles belong to.
#[derive(Debug, Clone, Default)]
pub(super) struct Volume {
    pub kind: VolumeKind,
    pub name: Option<Rc<str>>,
    /// Its first and last triangle.
    pub first: u64,
    pub last: u64,
}

/// A piece of an object that is a component.
#[derive(Debug, Clone, Default)]
pub(super) struct ComponentPiece {
    pub kind: VolumeKind,
    pub name: Option<Rc<str>>,
    /// Object that the component places.
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
    /// Some piece of the object is cut out of its bodies.
    pub(super) fn has_negative(&self) -> bool {
        let volumes = self.volumes.iter().map(|volume| volume.kind);
        volumes
            .chain(self.pieces.iter().map(|piece| piece.kind))
            .any(|kind| kind == VolumeKind::Negative)
    }

    /// The object has several bodies, which have names of their own.
    pub(super) fn has_bodies(&self) -> bool {
        let volumes = self.volumes.iter().map(|volume| volume.kind);
        let bodies = volumes.chain(self.pieces.iter().map(|piece| piece.kind));
        bodies.filter(|kind| *kind == VolumeKind::Body).count() > 1
    }

    /// Pieces that the components of an object are, by the objects that these place; and the number of other pieces than
    /// bodies that no component is. Of several components of one object each is the next of its pieces.
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
            // Some versions number pieces from 1 on.
            return (self.pieces.iter().map(Some).collect(), 0);
        }
        let missing = self.pieces.iter().zip(is_taken);
        let missing =
            missing.filter(|(piece, is_taken)| !is_taken && piece.kind != VolumeKind::Body);
        (found, missing.count() as u64)
    }

    /// Number of its pieces other than bodies.
    pub(super) fn others(&self) -> u64 {
        let volumes = self.volumes.iter().map(|volume| volume.kind);
        let kinds = volumes.chain(self.pieces.iter().map(|piece| piece.kind));
        kinds.filter(|kind| *kind != VolumeKind::Body).count() as u64
    }
}

/// Settings of all objects of a build.
#[derive(Debug, Default)]
pub(super) struct SlicerSettings {
    objects: HashMap<u64, ObjectSettings>,
}

impl SlicerSettings {
    /// Whether a file of a package, of this name in lower case, has settings.
    pub(super) fn is_in(name: &str) -> bool {
        let name = name.strip_prefix("metadata/").unwrap_or_default();
        name == "model_settings.config" || name.ends_with("_model.config")
    }

    pub(super) fn of(&self, object: u64) -> Option<&ObjectSettings> {
        self.objects.get(&object)
    }

    /// Objects with settings.
    pub(super) fn objects(&self) -> impl Iterator<Item = (u64, &ObjectSettings)> {
        self.objects.iter().map(|(id, settings)| (*id, settings))
    }
}

/// What the metadata of a file of settings belong to.
enum Subject {
    Nothing,
    Object,
    Volume,
    Piece,
}

/// Elements on their way to settings.
pub(super) struct SettingsReader<'a> {
    settings: &'a mut SlicerSettings,
    object: Option<u64>,
    subject: Subject,
    /// The kind of the current volume is known by its type, which counts more than `modifier`.
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

    /// Takes an element, and returns the bytes that it takes.
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
        // One mesh as a body and as a modifier.
        let shared = vec![piece(1, Body), piece(1, Modifier)];
        assert_eq!(
            of(shared, &[1, 1, 1]),
            (vec![Some(Body), Some(Modifier), Some(Modifier)], 0)
        );
        // Numbered from 1 on.
        assert_eq!(of(both(), &[40, 41]), (vec![Some(Body), Some(Negative)], 0));
    }
}
