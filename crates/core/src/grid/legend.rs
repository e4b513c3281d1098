//! What the labels of a grid mean: for each value a name and, if given, a colour.

use std::borrow::Cow;

use crate::error::{Error, Result, sanitize};

/// One value of a [`Legend`], with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The value that cells have, 1 to 255.
    pub value: u8,
    /// Its name.
    pub name: Cow<'static, str>,
    /// Red, green and blue; `None` leaves the choice to the format or the picture.
    pub colour: Option<[u8; 3]>,
}

impl Label {
    /// Touched by the mesh, as `surface_and_interior` has it.
    pub const SURFACE: Self = Self::standard(1, "surface");
    /// The other cells of the same grid.
    pub const INTERIOR: Self = Self::standard(2, "interior");
    /// Occupied in both of two grids.
    pub const COMMON: Self = Self::standard(3, "common");
    /// Occupied in the second of two grids only.
    pub const ADDED: Self = Self::standard(4, "added");
    /// Occupied in the first of two grids only.
    pub const REMOVED: Self = Self::standard(5, "removed");

    /// Cells around others that are of interest: pictures draw them translucent.
    pub const AROUND: Self = Self {
        value: 255,
        name: Cow::Borrowed("around"),
        colour: Some(Self::STANDARD_COLOURS[2]),
    };

    /// Cells without defect, around those of the defects of a mesh; translucent as well.
    pub const SOUND: Self = Self {
        value: 100,
        name: Cow::Borrowed("without defect"),
        colour: Some([0xd8, 0xd8, 0xd4]),
    };

    /// The labels that this crate gives itself.
    pub const STANDARD: [Self; 5] = [
        Self::SURFACE,
        Self::INTERIOR,
        Self::COMMON,
        Self::ADDED,
        Self::REMOVED,
    ];

    /// Their colours, in files and in pictures: sand, slate, grey, and the blue and vermilion of Okabe and Ito, which
    /// nearly all eyes tell apart.
    pub const STANDARD_COLOURS: [[u8; 3]; 5] = [
        [0xe8, 0xb0, 0x6c],
        [0x5b, 0x7c, 0x99],
        [0xbd, 0xbd, 0xbd],
        [0x00, 0x72, 0xb2],
        [0xd5, 0x5e, 0x00],
    ];

    /// The colour of a standard label; `None` of others.
    pub fn standard_colour(&self) -> Option<[u8; 3]> {
        Self::STANDARD
            .iter()
            .position(|label| label == self)
            .map(|n| Self::STANDARD_COLOURS[n])
    }

    const fn standard(value: u8, name: &'static str) -> Self {
        Self {
            value,
            name: Cow::Borrowed(name),
            colour: None,
        }
    }

    /// A label without a colour of its own.
    pub fn new(value: u8, name: impl Into<String>) -> Self {
        Self {
            value,
            name: Cow::Owned(name.into()),
            colour: None,
        }
    }

    /// This label in this colour.
    #[must_use]
    pub fn with_colour(self, colour: [u8; 3]) -> Self {
        Self {
            colour: Some(colour),
            ..self
        }
    }

    /// The standard label of this name.
    pub(crate) fn standard_of(name: &str) -> Option<Self> {
        Self::STANDARD.into_iter().find(|label| label.name == name)
    }
}

/// The content that a digest of labels covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LabelDigest {
    /// Which cells are occupied: the digest is that of the bits.
    #[default]
    Occupancy,
    /// The value of every cell.
    Values,
}

impl LabelDigest {
    /// The word for it in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Occupancy => "occupancy",
            Self::Values => "values",
        }
    }

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Occupancy, Self::Values]
            .into_iter()
            .find(|digest| digest.name() == name)
    }
}

/// Colours of labels that have none of their own: eight that nearly all eyes tell apart (Okabe and Ito, Color
/// Universal Design, 2008), then darker and lighter ones.
const COLOURS: [[u8; 3]; 8] = [
    [0xe6, 0x9f, 0x00],
    [0x56, 0xb4, 0xe9],
    [0x00, 0x9e, 0x73],
    [0xf0, 0xe4, 0x42],
    [0x00, 0x72, 0xb2],
    [0xd5, 0x5e, 0x00],
    [0xcc, 0x79, 0xa7],
    [0x82, 0x82, 0x82],
];

/// The values of a grid of labels and their names. It names every value that a cell may have, or none:
/// then cells may have any value from 1 to 255.
///
/// ```
/// # use voxelize_core as voxelize;
/// use voxelize::grid::{Label, Legend};
///
/// let legend = Legend::new([
///     Label::new(1, "cortical bone").with_colour([0xee, 0xe8, 0xd5]),
///     Label::new(7, "marrow"),
/// ])?;
/// assert_eq!(legend.get(7).unwrap().name, "marrow");
/// assert!(Legend::new([Label::new(0, "air")]).is_err());
/// # Ok::<(), voxelize::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Legend {
    labels: Vec<Label>,
    digest: LabelDigest,
    /// One bit for each value that has a name.
    named: [u64; 4],
}

impl Legend {
    /// A legend of these labels. Values count in digests; [`with_digest`](Self::with_digest) leaves them out.
    ///
    /// # Errors
    /// If a value is 0 or named twice, or a name is empty, longer than 255 bytes, used twice, or has a control
    /// character.
    pub fn new(labels: impl IntoIterator<Item = Label>) -> Result<Self> {
        let labels: Vec<Label> = labels.into_iter().collect();
        for (n, label) in labels.iter().enumerate() {
            let value = label.value;
            let name = sanitize(&*label.name);
            let before = &labels[..n];
            let refused = match () {
                () if value == 0 => format!("label '{name}' has the value 0, which means empty"),
                () if label.name.trim().is_empty() => format!("label {value} has no name"),
                () if label.name.chars().any(char::is_control) => {
                    format!("the name of label {value} has a control character: {name}")
                }
                () if label.name.len() > 255 => {
                    format!("the name of label {value} has more than 255 bytes")
                }
                () if before.iter().any(|other| other.value == value) => {
                    format!("label {value} is there twice")
                }
                () if before.iter().any(|other| other.name == label.name) => {
                    format!("two labels are named '{name}'")
                }
                () => continue,
            };
            return Err(Error::usage(refused));
        }
        Ok(Self::of(labels, LabelDigest::Values))
    }

    fn of(labels: Vec<Label>, digest: LabelDigest) -> Self {
        let mut named = [0; 4];
        labels
            .iter()
            .for_each(|label| named[usize::from(label.value / 64)] |= 1 << (label.value % 64));
        Self {
            labels,
            digest,
            named,
        }
    }

    /// Labels that this crate gives, which no digest covers.
    fn standard(labels: &[Label]) -> Self {
        Self::of(labels.to_vec(), LabelDigest::Occupancy)
    }

    /// Surface and interior of a filled grid.
    pub fn surface_and_interior() -> Self {
        Self::standard(&[Label::SURFACE, Label::INTERIOR])
    }

    /// Common, added and removed cells of two grids.
    pub fn difference() -> Self {
        Self::standard(&[Label::COMMON, Label::ADDED, Label::REMOVED])
    }

    /// Added and removed cells of two grids.
    pub fn changes() -> Self {
        Self::standard(&[Label::ADDED, Label::REMOVED])
    }

    /// This legend, its values part of digests or not.
    #[must_use]
    pub fn with_digest(self, digest: LabelDigest) -> Self {
        Self { digest, ..self }
    }

    /// The labels, in the order given.
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// The content that digests cover.
    pub fn digest(&self) -> LabelDigest {
        self.digest
    }

    /// The label of a value.
    pub fn get(&self, value: u8) -> Option<&Label> {
        self.labels.iter().find(|label| label.value == value)
    }

    /// The name of a value: that of its label, or the number.
    pub fn name(&self, value: u8) -> Cow<'_, str> {
        self.get(value).map_or_else(
            || format!("label {value}").into(),
            |label| (&*label.name).into(),
        )
    }

    /// Red, green and blue of a value: those of its label, or else a colour that values near it do not have.
    pub fn colour(&self, value: u8) -> [u8; 3] {
        if let Some(colour) = self.get(value).and_then(|label| label.colour) {
            return colour;
        }
        let n = usize::from(value.max(1) - 1);
        let colour = COLOURS[n % COLOURS.len()];
        // By turns a quarter darker and a quarter lighter, then a half of either, round after round.
        let round = n / COLOURS.len() % 5;
        let share = [0, 1, 1, 2, 2][round];
        let towards = if round % 2 == 1 { 0 } else { 255 };
        colour.map(|c| ((u16::from(c) * (4 - share) + towards * share) / 4) as u8)
    }

    /// Whether a cell may have this value.
    pub fn allows(&self, value: u8) -> bool {
        value != 0
            && (self.labels.is_empty()
                || self.named[usize::from(value / 64)] >> (value % 64) & 1 == 1)
    }

    /// Whether all labels are standard ones and no digest covers them, so that their names say it all.
    pub fn is_standard(&self) -> bool {
        self.digest == LabelDigest::Occupancy
            && !self.labels.is_empty()
            && self
                .labels
                .iter()
                .all(|label| Label::STANDARD.contains(label))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_and_name_is_there_once() {
        let label = |value, name: &str| Label::new(value, name);
        for labels in [
            vec![label(0, "air")],
            vec![label(1, " ")],
            vec![label(1, "a\0")],
            vec![label(1, "\u{1b}[2J")],
            vec![label(1, &"x".repeat(256))],
            vec![label(1, "a"), label(1, "b")],
            vec![label(1, "a"), label(2, "a")],
        ] {
            assert!(Legend::new(labels.clone()).is_err(), "{labels:?}");
        }
        let legend = Legend::new([label(200, "a"), label(3, "b")]).unwrap();
        assert_eq!(
            (legend.name(200), legend.name(4)),
            ("a".into(), "label 4".into())
        );
        assert!(legend.allows(3) && !legend.allows(4) && !legend.allows(0));
        assert!(Legend::default().allows(4) && !Legend::default().allows(0));
    }

    #[test]
    fn standard_labels_are_known_by_their_names() {
        for (n, label) in Label::STANDARD.into_iter().enumerate() {
            assert_eq!(usize::from(label.value), n + 1);
            assert_eq!(Label::standard_of(&label.name), Some(label));
        }
        assert_eq!(Label::standard_of("neither"), None);
        assert!(Legend::difference().is_standard() && !Legend::default().is_standard());
        assert!(
            !Legend::changes()
                .with_digest(LabelDigest::Values)
                .is_standard()
        );
    }
}
