//! Labels of the colours of parts. Each colour of each part has a label, such as `lid #ff0000`.
//!
//! All parts share a palette of at most 255 colours. Several parts may have more than 255 labels then. Colours
//! are merged until 255 labels are left: always the colour whose replacement by another colour of its part
//! changes the least, which is its area times the square of the distance between the colours.

use super::palette::{MOST, Palette, Rgb, areas, colours, distance};
use super::parts::LabelledMesh;
use voxelize_core::error::{Code, Finding, Result};
use voxelize_core::grid::{Label, Lattice, Legend};
use voxelize_core::text::grouped;
use voxelize_meshes::{Mesh, PartKind};

/// Memory, in bytes, for the colours of parts besides the palette: at most 255 colours of 255 parts.
pub(super) const PART_COLOURS_BYTES: u128 = 2 << 20;

/// Labels of the colours of all parts.
pub(super) struct PartColours {
    palette: Palette,
    /// Parts, sorted by the value of their label.
    parts: Vec<ColouredPart>,
    /// Number of different colours of each part, added up.
    seen: usize,
    /// The colours of the mesh were distinguished exactly.
    is_all: bool,
}

struct ColouredPart {
    /// Label of the part without regard to colours.
    part: Label,
    labels: Vec<Label>,
    /// Value of the label for each entry of the palette.
    values: Vec<u8>,
}

/// Colour of a part: entry of the palette, and the area in the part.
#[derive(Debug, Clone, PartialEq)]
struct Shade {
    colour: Rgb,
    area: f64,
}

/// Replacement of the shade `from` of a part by the shade `to`.
struct Replacement {
    change: f64,
    from: usize,
    to: usize,
}

impl PartColours {
    /// Finds the colours of these parts. `kind` is their kind.
    ///
    /// # Errors
    /// Fails if the mesh has no colours.
    pub(super) fn new(
        mesh: &Mesh,
        kind: PartKind,
        parts: &[LabelledMesh],
        lattice: &Lattice,
    ) -> Result<Self> {
        let palette = Palette::new(mesh, colours(mesh)?, lattice);
        let mut all: Vec<(Label, Vec<Shade>)> = vec![];
        let mut seen = 0;
        let mut is_all = true;
        for labelled in parts {
            for label in &labelled.labels {
                let own = labelled.part(label.value, kind);
                let (areas, is_exact) = areas(&own, colours(&own)?, lattice);
                seen += areas.len();
                is_all &= is_exact;
                let mut by_entry = vec![None; palette.entries().len()];
                for (colour, area) in areas {
                    let entry = usize::from(palette.label(colour)) - 1;
                    *by_entry[entry].get_or_insert(0.0) += area;
                }
                let mut shades = vec![];
                for (colour, area) in palette.entries().iter().zip(by_entry) {
                    if let Some(area) = area {
                        shades.push(Shade {
                            colour: *colour,
                            area,
                        });
                    }
                }
                all.push((label.clone(), shades));
            }
        }
        all.sort_by_key(|(label, _)| label.value);
        let mut shades = vec![];
        let mut labels = vec![];
        for (label, own) in all {
            labels.push(label);
            shades.push(own);
        }
        merge(&mut shades, MOST);
        let mut count = 0;
        let mut parts = vec![];
        for (part, shades) in labels.into_iter().zip(shades) {
            let first = count;
            let mut labels = vec![];
            for shade in &shades {
                count += 1;
                labels.push(Label::of_part(count as u8, &part.name, shade.colour));
            }
            let mut values = vec![];
            for entry in palette.entries() {
                values.push((first + nearest(&shades, *entry) + 1) as u8);
            }
            parts.push(ColouredPart {
                part,
                labels,
                values,
            });
        }
        Ok(Self {
            palette,
            parts,
            seen,
            is_all,
        })
    }

    /// Returns the legend with the labels of all parts.
    ///
    /// # Errors
    /// Fails if the name of a part is too long for a label with a colour.
    pub(super) fn legend(&self) -> Result<Legend> {
        Legend::new(self.parts.iter().flat_map(|part| part.labels.clone()))
    }

    /// Returns the value of the label for a colour of the part whose own label has the value `part`. `None`
    /// stands for a cell without a colour.
    pub(super) fn value(&self, part: u8, colour: Option<Rgb>) -> u8 {
        let own = self.parts.iter().find(|own| own.part.value == part);
        let Some(own) = own else {
            return 1;
        };
        match colour {
            Some(colour) => own.values[usize::from(self.palette.label(colour)) - 1],
            None => own.labels[0].value,
        }
    }

    /// Returns the label of the part to which a label of the legend belongs.
    pub(super) fn part(&self, value: u8) -> Option<&Label> {
        let part = self
            .parts
            .iter()
            .find(|part| part.labels.iter().any(|label| label.value == value))?;
        Some(&part.part)
    }

    /// Adds up the cells of each part. `cells` are those of the labels of the legend.
    pub(super) fn totals(&self, cells: &[(Label, u64)]) -> Vec<(Label, u64)> {
        let mut totals = vec![];
        for part in &self.parts {
            let mut total = 0;
            for (label, cells) in cells {
                if part.labels.contains(label) {
                    total += cells;
                }
            }
            totals.push((part.part.clone(), total));
        }
        totals
    }

    /// Returns the finding that similar colours were merged. `None` if all colours are kept.
    pub(super) fn finding(&self) -> Option<Finding> {
        let kept: usize = self.parts.iter().map(|part| part.labels.len()).sum();
        if self.seen <= kept {
            return None;
        }
        let more = if self.is_all { "" } else { "more than " };
        let seen = grouped(self.seen as u64);
        let text = format!("{more}{seen} colours of parts are merged into {kept}");
        Some(Finding::new(Code::W015, text))
    }
}

/// Merges colours within parts until at most `most` are left. Each part keeps at least one.
fn merge(parts: &mut [Vec<Shade>], most: usize) {
    let mut count: usize = parts.iter().map(Vec::len).sum();
    let mut next: Vec<Option<Replacement>> = parts.iter().map(|part| cheapest(part)).collect();
    while count > most {
        let mut best: Option<(usize, f64)> = None;
        for (n, replacement) in next.iter().enumerate() {
            if let Some(replacement) = replacement
                && best.is_none_or(|(_, change)| replacement.change < change)
            {
                best = Some((n, replacement.change));
            }
        }
        let Some((n, _)) = best else {
            return;
        };
        if let Some(Replacement { from, to, .. }) = next[n] {
            parts[n][to].area += parts[n][from].area;
            parts[n].remove(from);
            count -= 1;
        }
        next[n] = cheapest(&parts[n]);
    }
}

/// Returns the replacement that changes a part the least. The shade with less area is replaced, among equal
/// ones the later. `None` if the part has a single shade.
fn cheapest(shades: &[Shade]) -> Option<Replacement> {
    let mut best: Option<Replacement> = None;
    for (n, one) in shades.iter().enumerate() {
        for (m, other) in shades.iter().enumerate().skip(n + 1) {
            let (from, to) = if one.area < other.area {
                (n, m)
            } else {
                (m, n)
            };
            let change = shades[from].area * f64::from(distance(one.colour, other.colour));
            if best.as_ref().is_none_or(|best| change < best.change) {
                best = Some(Replacement { change, from, to });
            }
        }
    }
    best
}

/// Returns the index of the shade that is closest to a colour. Among equally close ones the first is used.
fn nearest(shades: &[Shade], colour: Rgb) -> usize {
    (0..shades.len())
        .min_by_key(|n| distance(shades[*n].colour, colour))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shades(list: &[(u8, f64)]) -> Vec<Shade> {
        list.iter()
            .map(|(grey, area)| Shade {
                colour: [*grey; 3],
                area: *area,
            })
            .collect()
    }

    #[test]
    fn the_least_changes_are_made_and_each_part_keeps_a_colour() {
        let before = [
            shades(&[(0, 5.0), (3, 1.0), (200, 9.0)]),
            shades(&[(10, 1.0), (30, 4.0)]),
            shades(&[(7, 0.0)]),
        ];
        for (most, expected) in [
            (
                6,
                [
                    &[(0, 5.0), (3, 1.0), (200, 9.0)][..],
                    &[(10, 1.0), (30, 4.0)],
                ],
            ),
            (5, [&[(0, 6.0), (200, 9.0)], &[(10, 1.0), (30, 4.0)]]),
            (4, [&[(0, 6.0), (200, 9.0)], &[(30, 5.0)]]),
            (3, [&[(200, 15.0)], &[(30, 5.0)]]),
            (0, [&[(200, 15.0)], &[(30, 5.0)]]),
        ] {
            let mut parts = before.clone();
            merge(&mut parts, most);
            let [one, other] = expected.map(shades);
            assert_eq!(parts, [one, other, shades(&[(7, 0.0)])], "{most}");
        }
    }
}
