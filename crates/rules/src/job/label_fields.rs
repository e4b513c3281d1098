//! Fields of single labels: the share or the area of each part in each cell. They are stored as arrays in
//! addition to the field of the whole mesh.
//!
//! The field of a part equals the field that the part would have as a separate mesh on the same lattice. Where
//! parts overlap, each keeps its own share.

use std::ops::Range;

use super::parts::{self, LabelledMesh};
use super::voxelizer::{JobLabels, Voxelizer};
use crate::rule::{Inside, Rule};
use crate::run::Run;
use crate::run::memory::{MemoryEstimate, MemoryFigure};
use voxelize_core::error::{Code, Error, Finding, Kind, Result, sanitize};
use voxelize_core::grid::{CellArray, CellKind, CellsMut, Field, Label, Lattice};
use voxelize_core::par;
use voxelize_meshes::{Mesh, PartKind};

/// Share of a cell that rounding may add to the sum of the shares of one part and of the whole mesh.
const ROUNDING: f64 = 1.0 / (1 << 23) as f64;

/// Values of the field of one label.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LabelFieldSum {
    /// Label of the part.
    pub label: Label,
    /// Number of cells whose value is not zero.
    pub cells: u64,
    /// Sum of the values of all cells, added layer by layer.
    pub sum: f64,
}

/// Cells in which parts overlap: the sum of their shares is greater than the share of the whole mesh.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct SharedShares {
    /// Number of cells.
    pub cells: u64,
    /// Sum, over these cells, by which the shares of the parts exceed the share of the whole mesh.
    pub sum: f64,
}

/// Parts of a mesh that have fields of their own, and what their fields contain so far.
pub(super) struct LabelFields<'a> {
    parts: Vec<LabelledMesh<'a>>,
    pub(super) values: Vec<LabelFieldSum>,
    /// `None` if the values are not shares.
    pub(super) shared: Option<SharedShares>,
    /// Some part overlaps itself or is inside out.
    pub(super) has_odd_part: bool,
}

impl Rule {
    /// Returns true if a job can make a field for each part of a mesh, in addition to the field of the whole
    /// mesh.
    pub fn has_label_fields(&self) -> bool {
        matches!(self, Self::Fraction { .. } | Self::Area)
    }
}

impl Voxelizer<'_> {
    /// Returns the kind of the parts that have fields of their own. `None` if no part has one.
    pub(super) fn label_fields(&self) -> Option<PartKind> {
        match self.extras.labels {
            JobLabels::Parts(kind) if self.rule.has_label_fields() => Some(kind),
            _ => None,
        }
    }

    /// Returns the greatest number of fields of labels.
    pub(super) fn label_field_count(&self, mesh: &Mesh) -> usize {
        match self.label_fields() {
            Some(kind) => mesh.parts(kind).map_or(1, |parts| parts.names().len()),
            None => 0,
        }
    }

    /// Fails if the rule makes a field that cannot have the requested labels.
    pub(super) fn refuse_other_labels(&self) -> Result<()> {
        let labels = self.extras.labels;
        if !labels.are_of_mesh() || self.rule.kind() != CellKind::Field {
            return Ok(());
        }
        let rule = self.rule.name();
        if !self.rule.has_label_fields() {
            let error = Error::usage(format!("labels: the rule {rule} makes a field"));
            return Err(error.with_hint(
                "rules that make bits can have labels; the rules fraction and area make a field for each part",
            ));
        }
        if labels == JobLabels::Colours {
            let text =
                format!("labels: the rule {rule} makes a field for each part, not for each colour");
            return Err(Error::usage(text).with_hint("label files, objects or materials"));
        }
        if !self.priority.is_empty() {
            let text = format!(
                "priority: each part has its own field of the rule {rule}, so none comes first"
            );
            return Err(Error::usage(text).with_hint("leave it out"));
        }
        Ok(())
    }
}

impl<'a> LabelFields<'a> {
    /// Creates the fields of the parts of a mesh.
    ///
    /// # Errors
    /// Fails if there are more than 255 parts, or if some parts are closed only together.
    pub(super) fn new(mesh: &'a Mesh, kind: PartKind, rule: &Rule) -> Result<Self> {
        let mut parts = parts::parts(mesh, kind, &[], rule.inside().is_some())?;
        let mut values = vec![];
        for part in &parts {
            if let [label] = part.labels.as_slice() {
                values.push(LabelFieldSum {
                    label: label.clone(),
                    cells: 0,
                    sum: 0.0,
                });
                continue;
            }
            let names: Vec<_> = part.labels.iter().map(|label| &*label.name).collect();
            let names = sanitize(names.join(", "));
            let text =
                format!("{names} are closed only together: no volume belongs to one of them");
            return Err(Error::unfit(text).with_hint(
                "`--labels object` or `--labels file`; or `--solid`, which gives each cell the label of the nearest face",
            ));
        }
        parts.sort_by_key(|part| part.labels[0].value);
        values.sort_by_key(|values| values.label.value);
        let is_shares = matches!(rule, Rule::Fraction { .. });
        Ok(Self {
            parts,
            values,
            shared: is_shares.then(SharedShares::default),
            has_odd_part: false,
        })
    }

    /// Returns the labels, in the order of their arrays.
    pub(super) fn labels(&self) -> impl Iterator<Item = &Label> {
        self.values.iter().map(|values| &values.label)
    }

    /// Fills the fields of some layers, one array for each part. Each rule is prepared anew, because the
    /// prepared rules of many parts together may need much memory.
    pub(super) fn fill(
        &mut self,
        layers: &Range<usize>,
        (lattice, rule): (&Lattice, &Rule),
        run: &Run,
        arrays: &mut [CellArray],
    ) -> Result<()> {
        for (part, array) in self.parts.iter().zip(arrays) {
            let Some(field) = array.as_field_mut() else {
                continue;
            };
            let filled = rule.prepare(&part.mesh, lattice, run).and_then(|prepared| {
                prepared.fill(layers.clone(), run, CellsMut::Field(field, None))
            });
            let stats = filled.map_err(|error| match error.kind() {
                Kind::Unfit => error.about(&part.labels[0].name),
                _ => error,
            })?;
            self.has_odd_part |= stats.fraction.has_overlaps();
        }
        Ok(())
    }

    /// Adds the values of a slab. `whole` is the field of the whole mesh. Uses the calling thread pool.
    pub(super) fn add(&mut self, whole: &Field, arrays: &[CellArray]) {
        let [nx, ny, nz] = whole.dims();
        let layer = nx * ny;
        let fields: Vec<&[f32]> = arrays.iter().map(CellArray::numbers).collect();
        let most = ROUNDING * (fields.len() + 1) as f64;
        let is_shares = self.shared.is_some();
        let layers = par::map_range(0..nz, |k| {
            let cells = k * layer..(k + 1) * layer;
            let mut found = vec![];
            let mut sums = vec![0.0; if is_shares { layer } else { 0 }];
            for field in &fields {
                let (mut count, mut sum) = (0, 0.0);
                for value in &field[cells.clone()] {
                    count += u64::from(*value != 0.0);
                    sum += f64::from(*value);
                }
                for (all, value) in sums.iter_mut().zip(&field[cells.clone()]) {
                    *all += f64::from(*value);
                }
                found.push((count, sum));
            }
            let mut shared = SharedShares::default();
            for (all, share) in sums.iter().zip(&whole.values()[cells]) {
                let more = all - f64::from(*share);
                if more > most {
                    shared.cells += 1;
                    shared.sum += more;
                }
            }
            (found, shared)
        });
        // The sums of layers are added in order, so that they do not depend on slabs and threads.
        for (found, more) in layers {
            for (values, (cells, sum)) in self.values.iter_mut().zip(found) {
                values.cells += cells;
                values.sum += sum;
            }
            if let Some(shared) = &mut self.shared {
                shared.cells += more.cells;
                shared.sum += more.sum;
            }
        }
    }

    /// Returns the finding about parts whose field is zero everywhere (W002).
    pub(super) fn finding(&self, rule: &Rule) -> Option<Finding> {
        const SHOWN: usize = 12;
        let mut without = vec![];
        for values in &self.values {
            if values.cells == 0 {
                without.push(sanitize(values.label.name.as_bytes()));
            }
        }
        if without.is_empty() {
            return None;
        }
        let count = without.len();
        let more = match count.saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        without.truncate(SHOWN);
        let names = without.join(", ");
        let verb = if count == 1 { "has" } else { "have" };
        let text = format!(
            "{count} of {} parts {verb} no {} in any cell: {names}{more}; such a part is outside the grid",
            self.values.len(),
            rule.name()
        );
        Some(Finding::new(Code::W002, text).with_hint("check the grid and the place of the part"))
    }
}

/// Returns the memory, in bytes, that the fields of labels need in addition to their values: a copy of the mesh
/// divided into parts, and the rule prepared for one part next to the rule of the whole mesh.
pub(super) fn memory(rule: &Rule, estimate: &MemoryEstimate) -> u128 {
    let [nx, ny, _] = estimate.lattice.dims();
    // Each thread adds the shares of one layer.
    let sums = (estimate.run.thread_count() * nx * ny * size_of::<f64>()) as u128;
    let of_part = match (rule, estimate.figure) {
        // A part may be inside out and then be repaired, even if the whole mesh is not.
        (
            Rule::Fraction {
                inside: Inside::Auto,
            },
            MemoryFigure::UpperBound,
        ) => Rule::Fraction {
            inside: Inside::Robust,
        },
        _ => *rule,
    };
    of_part.memory(estimate) + estimate.meshes(2, 1.5) + sums
}
