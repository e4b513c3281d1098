//! Arrays beside the cells of a field.

use super::{Choice, FORMATS, Format};
use voxelize_core::error::{Error, Result};
use voxelize_core::grid::Quantity;

/// The format that holds arrays beside its cells.
const OF_ARRAYS: &str = "npz";

impl Format {
    /// Whether it holds arrays beside its cells.
    pub fn has_arrays(&self) -> bool {
        self.name == OF_ARRAYS
    }

    /// Refuses arrays beside the cells where the format, or the form that is chosen, has no place for them.
    ///
    /// # Errors
    /// If it is so.
    pub fn check_arrays(
        &self,
        quantities: impl IntoIterator<Item = Quantity>,
        choices: &[Choice],
    ) -> Result<()> {
        let Some(first) = quantities.into_iter().next() else {
            return Ok(());
        };
        let name = first.name();
        if !self.has_arrays() {
            let known: Vec<_> = FORMATS
                .iter()
                .filter(|format| format.has_arrays())
                .map(|format| format.name)
                .collect();
            return Err(Error::usage(format!(
                "{} has no place for '{name}' beside its cells",
                self.name
            ))
            .with_hint(format!("save it as {}", known.join(" or "))));
        }
        match choices
            .iter()
            .find(|choice| choice.option() == Choice::SparseRuns.option())
        {
            Some(choice) => Err(Error::usage(format!(
                "'{}' has no place for '{name}'",
                choice.words()
            ))),
            None => Ok(()),
        }
    }
}
