//! Shares of cells, from 0 to 1, as bytes: 255ths, rounded to the nearest. The entry `value_scale` with the
//! value 1/255 in a file states this.

use super::{Choice, Dtype, FORMATS, Format, SaveOptions};
use voxelize_core::error::{Error, Result};
use voxelize_core::grid::metadata::Metadata;
use voxelize_core::grid::{CellKind, CellType, Record};

/// Metadata key for the factor that converts bytes to shares, and its value in files of this tool.
pub(super) const SCALE: [&str; 2] = ["value_scale", "1/255"];

/// Formats that can store shares as bytes.
const BYTE_FORMATS: [&str; 7] = ["npy", "npz", "nrrd", "nii", "nii.gz", "vti", "raw"];

/// Formats that hold fields only as greys.
const GREY_FORMATS: [&str; 2] = ["slices", "slices.zip"];

/// Rule that makes fields of shares.
const RULE: &str = "fraction";

/// Returns the byte that is nearest to a share.
pub(super) fn byte(share: f32) -> u8 {
    // The product has no rounding error.
    (f64::from(share) * 255.0).round() as u8
}

/// Returns the share that a byte stands for.
pub(super) fn share(byte: u8) -> f32 {
    f32::from(byte) / 255.0
}

/// Returns `true` if cells of this type are stored as bytes that are shares.
pub(super) fn are_bytes(cells: CellType, dtype: Dtype) -> bool {
    cells.kind() == CellKind::Field && dtype == Dtype::U8
}

/// Returns `true` if `metadata` states that the bytes are shares.
pub(super) fn are_stated(metadata: &Metadata) -> bool {
    metadata
        .extra
        .get(SCALE[0])
        .is_some_and(|scale| scale == SCALE[1])
}

/// Adds the entry that states that the bytes are shares.
pub(super) fn annotate(metadata: &mut Metadata) {
    metadata.extra.insert(SCALE[0].into(), SCALE[1].into());
}

impl Format {
    /// Returns `true` if the format can store shares of cells as [`Dtype::U8`]: as 255ths, rounded to the
    /// nearest.
    pub fn has_bytes_of_shares(&self) -> bool {
        BYTE_FORMATS.contains(&self.name)
    }

    /// Returns the names of the formats that store shares of cells as bytes.
    pub fn names_with_bytes_of_shares() -> Vec<&'static str> {
        FORMATS
            .iter()
            .filter(|format| format.has_bytes_of_shares())
            .map(|format| format.name)
            .collect()
    }

    /// Returns `true` if the format holds fields only as greys: shares of cells, as 255ths, rounded to the
    /// nearest. Its [`kinds`](Self::kinds) do not list fields, because it cannot hold others.
    pub fn has_greys(&self) -> bool {
        GREY_FORMATS.contains(&self.name)
    }

    /// Checks that a field which is to be stored as bytes consists of shares of cells.
    ///
    /// # Errors
    /// Fails if the record states another rule.
    pub fn check_shares(&self, record: &Record) -> Result<()> {
        if !self.has_greys() {
            return check_rule(record);
        }
        if is_of_shares(record) {
            return Ok(());
        }
        let name = self.name;
        let text =
            format!("{name} stores shares of cells (the rule fraction) as greys, no other field");
        Err(Error::usage(text).with_hint("use `--rule fraction`"))
    }

    /// Returns the type for a field in a format of greys: [`Dtype::U8`]. `wanted` is the requested type.
    pub(super) fn dtype_of_greys(&self, wanted: Option<Dtype>) -> Result<Dtype> {
        match wanted {
            None | Some(Dtype::U8) => Ok(Dtype::U8),
            Some(other) => Err(Error::usage(format!(
                "{} stores shares of cells as 'u8', not '{}'",
                self.name,
                other.name()
            ))),
        }
    }

    /// Checks that shares can be stored as bytes in this format with these options.
    pub(super) fn check_bytes_of_shares(&self, options: &SaveOptions) -> Result<()> {
        if !self.has_bytes_of_shares() {
            let known = Self::names_with_bytes_of_shares().join(", ");
            return Err(
                Error::usage(format!("{} stores fields as 'f32', not 'u8'", self.name))
                    .with_hint(format!("formats that can store fractions as u8: {known}")),
            );
        }
        if !options.values.is_empty() {
            return Err(Error::usage(
                "values can be chosen for bits and labels, not for shares of cells",
            ));
        }
        match options
            .choices
            .iter()
            .find(|choice| choice.option() == Choice::SparseRuns.option())
        {
            Some(choice) => Err(Error::usage(format!(
                "'{}' stores fields as 'f32', not 'u8'",
                choice.words()
            ))),
            None => Ok(()),
        }
    }
}

/// Returns `true` if the record states that the values are shares of cells.
fn is_of_shares(record: &Record) -> bool {
    record.rule_name.as_deref() == Some(RULE)
}

/// Checks that a field which is to be stored as bytes consists of shares of cells.
///
/// # Errors
/// Fails if the record states another rule.
pub fn check_rule(record: &Record) -> Result<()> {
    if is_of_shares(record) {
        return Ok(());
    }
    Err(Error::usage(
        "only shares of cells (the rule fraction) can be stored as u8; other fields are f32",
    )
    .with_hint("omit the type, or use `--rule fraction`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_the_nearest_and_come_back() {
        for n in 0..=255 {
            assert_eq!(byte(share(n)), n);
        }
        let half = 0.5 / 255.0_f32;
        assert_eq!(
            [half.next_down(), half.next_up(), 1.0, -0.0, 2.0].map(byte),
            [0, 1, 255, 0, 255]
        );
    }

    #[test]
    fn formats_with_bytes_of_shares_hold_fields_and_bytes() {
        assert!(BYTE_FORMATS.iter().all(|name| cfg!(not(all(
            feature = "npz",
            feature = "vti",
            feature = "vox"
        ))) || crate::by_name(name).is_some()));
        for format in FORMATS.iter().filter(|format| format.has_bytes_of_shares()) {
            assert!(format.holds(CellKind::Field) && format.dtypes.contains(&Dtype::U8));
        }
    }
}
