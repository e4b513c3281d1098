//! Legend of labels: the name and the optional colour of each value.

use std::borrow::Cow;

use crate::error::{Error, Result, sanitize};

/// Value of cells, with its name and colour. A [`Legend`] is a list of labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Value of the cells, from 1 to 255.
    pub value: u8,
    /// Name that describes the value.
    pub name: Cow<'static, str>,
    /// Colour as red, green and blue. `None` leaves the choice to the format or the picture.
    pub colour: Option<[u8; 3]>,
}

impl Label {
    /// Cells that the mesh touches, as labelled by `surface_and_interior`.
    pub const SURFACE: Self = Self::standard(1, "surface");
    /// Occupied cells that the mesh does not touch, as labelled by `surface_and_interior`.
    pub const INTERIOR: Self = Self::standard(2, "interior");
    /// Cells that are occupied in both of two grids.
    pub const COMMON: Self = Self::standard(3, "common");
    /// Cells that are occupied only in the second of two grids.
    pub const ADDED: Self = Self::standard(4, "added");
    /// Cells that are occupied only in the first of two grids.
    pub const REMOVED: Self = Self::standard(5, "removed");

    /// Cells around the cells that a picture is about. Pictures draw them translucent.
    pub const AROUND: Self = Self {
        value: 255,
        name: Cow::Borrowed("around"),
        colour: Some(Self::STANDARD_COLOURS[2]),
    };

    /// Cells without a defect, shown around the defects of a mesh. Pictures draw them translucent.
    pub const SOUND: Self = Self {
        value: 100,
        name: Cow::Borrowed("without defect"),
        colour: Some([0xd8, 0xd8, 0xd4]),
    };

    /// Standard labels, which this crate assigns.
    pub const STANDARD: [Self; 5] = [
        Self::SURFACE,
        Self::INTERIOR,
        Self::COMMON,
        Self::ADDED,
        Self::REMOVED,
    ];

    /// Colours of the standard labels in files and pictures: sand, slate, grey, and the blue and vermilion of
    /// Okabe and Ito, which nearly all people can distinguish, including those with colour vision
    /// deficiencies.
    pub const STANDARD_COLOURS: [[u8; 3]; 5] = [
        [0xe8, 0xb0, 0x6c],
        [0x5b, 0x7c, 0x99],
        [0xbd, 0xbd, 0xbd],
        [0x00, 0x72, 0xb2],
        [0xd5, 0x5e, 0x00],
    ];

    /// Returns the colour of a standard label. `None` for other labels.
    pub fn standard_colour(&self) -> Option<[u8; 3]> {
        let n = Self::STANDARD.iter().position(|label| label == self)?;
        Some(Self::STANDARD_COLOURS[n])
    }

    const fn standard(value: u8, name: &'static str) -> Self {
        Self {
            value,
            name: Cow::Borrowed(name),
            colour: None,
        }
    }

    /// Creates a label without a colour.
    pub fn new(value: u8, name: impl Into<String>) -> Self {
        Self {
            value,
            name: Cow::Owned(name.into()),
            colour: None,
        }
    }

    /// Sets the colour of the label.
    #[must_use]
    pub fn with_colour(self, colour: [u8; 3]) -> Self {
        Self {
            colour: Some(colour),
            ..self
        }
    }

    /// Creates the label of the cells of a part that have this colour. Its name is that of the part and the
    /// colour, such as `lid #ff0000`.
    pub fn of_part(value: u8, part: &str, colour: [u8; 3]) -> Self {
        Self::new(value, format!("{part} {}", hex(colour))).with_colour(colour)
    }

    /// Returns the name of the part if the label stands for the cells of a part that have one colour.
    pub fn part(&self) -> Option<&str> {
        let name = self.name.strip_suffix(&*hex(self.colour?))?;
        name.strip_suffix(' ')
            .filter(|part| !part.trim().is_empty())
    }

    /// Reports whether the label stands for all cells of one colour: its name is that colour.
    pub fn is_colour(&self) -> bool {
        self.colour.is_some_and(|colour| self.name == hex(colour))
    }

    /// Returns the standard label with this name. `None` if there is none.
    pub(crate) fn standard_of(name: &str) -> Option<Self> {
        Self::STANDARD.into_iter().find(|label| label.name == name)
    }
}

/// Returns a colour as text, such as `#ff0000`.
fn hex([r, g, b]: [u8; 3]) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Content of a grid of labels that its digest covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LabelDigest {
    /// Only the occupied cells. The digest equals that of a grid of bits with the same cells.
    #[default]
    Occupancy,
    /// The values of all cells.
    Values,
}

impl LabelDigest {
    /// Returns the name of the variant in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Occupancy => "occupancy",
            Self::Values => "values",
        }
    }

    /// Returns the variant with this name. `None` if there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Occupancy, Self::Values]
            .into_iter()
            .find(|digest| digest.name() == name)
    }
}

/// Default colours of labels, which nearly all people can distinguish (Okabe and Ito, Color Universal Design,
/// 2008). Further labels have darker and lighter variants of these.
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

/// List of the labels that the cells of a grid may have. If the list is empty, cells may have any value from
/// 1 to 255.
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
    /// Bit set with one bit for each value. The bits of the values of the labels are set.
    named: [u64; 4],
}

impl<'a> IntoIterator for &'a Legend {
    type Item = &'a Label;
    type IntoIter = std::slice::Iter<'a, Label>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Legend {
    /// Creates a legend of these labels. The digest of a grid covers the values of its cells, unless
    /// [`with_digest`](Self::with_digest) excludes them.
    ///
    /// # Errors
    /// Fails if a value is 0 or occurs twice, or if a name is empty, is longer than 255 bytes, occurs twice
    /// or contains a control character.
    pub fn new(labels: impl IntoIterator<Item = Label>) -> Result<Self> {
        let labels: Vec<Label> = labels.into_iter().collect();
        for (n, label) in labels.iter().enumerate() {
            if let Some(problem) = problem_of(label, &labels[..n]) {
                return Err(Error::usage(problem));
            }
        }
        Ok(Self::of(labels, LabelDigest::Values))
    }

    fn of(labels: Vec<Label>, digest: LabelDigest) -> Self {
        let mut named = [0; 4];
        for label in &labels {
            named[usize::from(label.value / 64)] |= 1 << (label.value % 64);
        }
        Self {
            labels,
            digest,
            named,
        }
    }

    /// Creates a legend of standard labels. The digest of a grid does not cover them.
    fn standard(labels: &[Label]) -> Self {
        Self::of(labels.to_vec(), LabelDigest::Occupancy)
    }

    /// Returns the legend with the labels surface and interior, for a filled grid.
    pub fn surface_and_interior() -> Self {
        Self::standard(&[Label::SURFACE, Label::INTERIOR])
    }

    /// Returns the legend with the labels common, added and removed, for the comparison of two grids.
    pub fn difference() -> Self {
        Self::standard(&[Label::COMMON, Label::ADDED, Label::REMOVED])
    }

    /// Returns the legend with the labels added and removed, for the differences between two grids.
    pub fn changes() -> Self {
        Self::standard(&[Label::ADDED, Label::REMOVED])
    }

    /// Sets the content that the digest of a grid covers.
    #[must_use]
    pub fn with_digest(self, digest: LabelDigest) -> Self {
        Self { digest, ..self }
    }

    /// Returns the labels in the order in which they were given.
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// Iterates over the labels in the order in which they were given.
    pub fn iter(&self) -> std::slice::Iter<'_, Label> {
        self.labels.iter()
    }

    /// Returns the names of the parts, each once, if every label stands for the [colour of a
    /// part](Label::part). Empty otherwise.
    pub fn coloured_parts(&self) -> Vec<&str> {
        let mut names: Vec<&str> = vec![];
        for label in &self.labels {
            let Some(part) = label.part() else {
                return vec![];
            };
            if !names.contains(&part) {
                names.push(part);
            }
        }
        names
    }

    /// Returns the content that the digest of a grid covers.
    pub fn digest(&self) -> LabelDigest {
        self.digest
    }

    /// Returns the label with this value. `None` if there is none.
    pub fn get(&self, value: u8) -> Option<&Label> {
        self.labels.iter().find(|label| label.value == value)
    }

    /// Returns the name of the label with this value, or `label N` if the value `N` has no label.
    pub fn name(&self, value: u8) -> Cow<'_, str> {
        match self.get(value) {
            Some(label) => (&*label.name).into(),
            None => format!("label {value}").into(),
        }
    }

    /// Returns the colour of a value as red, green and blue. It is the colour of its label, if the label has
    /// one, otherwise a default colour that differs from the default colours of nearby values.
    pub fn colour(&self, value: u8) -> [u8; 3] {
        if let Some(colour) = self.get(value).and_then(|label| label.colour) {
            return colour;
        }
        let n = usize::from(value.max(1) - 1);
        let colour = COLOURS[n % COLOURS.len()];
        // The first eight values have the default colours. For the next eight values the colours are a
        // quarter darker, then a quarter lighter, then a half darker, then a half lighter. Then the cycle
        // repeats.
        let round = n / COLOURS.len() % 5;
        let share = [0, 1, 1, 2, 2][round];
        let towards = if round % 2 == 1 { 0 } else { 255 };
        colour.map(|c| ((u16::from(c) * (4 - share) + towards * share) / 4) as u8)
    }

    /// Reports whether a cell may have this value.
    pub fn allows(&self, value: u8) -> bool {
        value != 0
            && (self.labels.is_empty()
                || self.named[usize::from(value / 64)] >> (value % 64) & 1 == 1)
    }

    /// Reports whether all labels are standard labels and the digest does not cover them. The names then
    /// describe the legend completely.
    pub fn is_standard(&self) -> bool {
        self.digest == LabelDigest::Occupancy
            && !self.labels.is_empty()
            && self
                .labels
                .iter()
                .all(|label| Label::STANDARD.contains(label))
    }
}

/// Returns a description of the fault in a label, given the labels before it in the legend. `None` if the
/// label is valid.
fn problem_of(label: &Label, before: &[Label]) -> Option<String> {
    let value = label.value;
    let name = sanitize(&*label.name);
    if value == 0 {
        return Some(format!("label '{name}' has the value 0, which means empty"));
    }
    if label.name.trim().is_empty() {
        return Some(format!("label {value} has no name"));
    }
    if label.name.chars().any(char::is_control) {
        return Some(format!(
            "the name of label {value} has a control character: {name}"
        ));
    }
    if label.name.len() > 255 {
        return Some(format!("the name of label {value} has more than 255 bytes"));
    }
    if before.iter().any(|other| other.value == value) {
        return Some(format!("label {value} occurs twice"));
    }
    if before.iter().any(|other| other.name == label.name) {
        return Some(format!("two labels are named '{name}'"));
    }
    None
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
    fn names_of_labels_contain_parts_and_colours() {
        let red = Label::of_part(1, "lid", [0xff, 0, 0]);
        assert_eq!((&*red.name, red.part()), ("lid #ff0000", Some("lid")));
        let plain = Label::new(2, "#00ff00").with_colour([0, 0xff, 0]);
        for (label, part, is_colour) in [
            (red.clone(), Some("lid"), false),
            (plain.clone(), None, true),
            (red.clone().with_colour([0xfe, 0, 0]), None, false),
            (Label::new(3, "lid #ff0000"), None, false),
            (
                Label::new(3, " #ff0000").with_colour([0xff, 0, 0]),
                None,
                false,
            ),
        ] {
            assert_eq!((label.part(), label.is_colour()), (part, is_colour));
        }
        let blue = Label::of_part(7, "lid", [0, 0, 0xff]);
        let body = Label::of_part(3, "body", [0, 0, 0xff]);
        let legend = Legend::new([red.clone(), body, blue]).unwrap();
        assert_eq!(legend.coloured_parts(), ["lid", "body"]);
        let legend = Legend::new([red, plain]).unwrap();
        assert!(legend.coloured_parts().is_empty());
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
