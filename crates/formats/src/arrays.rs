//! Arrays that are stored in addition to the cells of a field.

use super::{Choice, FORMATS, Format};
use voxelize_core::error::{Error, Result};
use voxelize_core::grid::Quantity;

/// Name of the only format that can store arrays in addition to its cells.
const ARRAY_FORMAT: &str = "npz";

impl Format {
    /// Returns `true` if the format can store arrays in addition to its cells.
    pub fn has_arrays(&self) -> bool {
        self.name == ARRAY_FORMAT
    }

    /// Checks that the format can store the arrays of `quantities` with these choices.
    ///
    /// # Errors
    /// Fails if there is an array and the format, or one of the choices, cannot store it.
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
                "{} cannot store '{name}' next to the cells",
                self.name
            ))
            .with_hint(format!("save it as {}", known.join(" or "))));
        }
        match choices
            .iter()
            .find(|choice| choice.option() == Choice::SparseRuns.option())
        {
            Some(choice) => Err(Error::usage(format!(
                "'{}' cannot store '{name}'",
                choice.words()
            ))),
            None => Ok(()),
        }
    }
}
