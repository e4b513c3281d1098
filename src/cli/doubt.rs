//! Cells in doubt: what `--doubt` and `--max-doubt` ask for, the file, and what is told of it.

use serde_json::{Map, Value, json}; // the schema is the command line's own
use voxelize::{Error, Inside, Rational, Result, Rule};

use super::args::DoubtArgs;
use super::extra::Extra;
use super::numbers::{grouped, number, percent};
use super::typed::Typed;

/// What is asked about doubt.
#[derive(Clone)]
pub struct Asked {
    /// Where the cells go.
    pub file: Option<Extra>,
    /// How many are allowed, of those that any method calls inside.
    pub most: Option<Rational>,
}

/// What was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// Cells in doubt.
    pub cells: u64,
    /// Cells that any method calls inside.
    pub inside: u64,
    /// Cells that each of them does.
    by: [(Inside, u64); 4],
    /// How many are allowed, of these.
    most: Option<Rational>,
}

impl Asked {
    /// What these arguments ask for; `None` if nothing.
    ///
    /// # Errors
    /// If the rule has no inside, or no format has the file's extension.
    pub fn new(args: &DoubtArgs, rule: &Rule, typed: &Typed) -> Result<Option<Self>> {
        let option = match args {
            DoubtArgs { doubt: Some(_), .. } => "doubt",
            DoubtArgs { max_doubt: Some(_), .. } => "max-doubt",
            _ => return Ok(None),
        };
        if rule.inside().is_none() {
            let (option, rule) = (typed.name(option), rule.name());
            let error = Error::usage(format!("{option}: the rule {rule} leaves the inside empty"));
            return Err(error.with_hint("--filled and --solid fill it"));
        }
        let file = args.doubt.as_deref().map(|path| Extra::new(path, "--doubt", "the cells in doubt"));
        Ok(Some(Self { file: file.transpose()?, most: args.max_doubt.clone() }))
    }

    /// What becomes of doubt about so many cells.
    pub fn judge(&self, cells: u64, inside: u64, by: [(Inside, u64); 4]) -> Found {
        Found { cells, inside, by, most: self.most.clone() }
    }
}

impl Found {
    /// Whether the gate lets it pass.
    pub fn passes(&self) -> bool {
        let whole = |n: u64| Rational::from(i64::try_from(n).unwrap_or(i64::MAX));
        self.most.as_ref().is_none_or(|most| whole(self.cells) <= most * &whole(self.inside))
    }

    /// `1,234 cells (0.4 % of 310,000 that any method calls inside)`.
    pub fn line(&self) -> String {
        let cells = if self.cells == 1 { "cell" } else { "cells" };
        let share = percent(self.cells, u128::from(self.inside));
        let inside = grouped(self.inside);
        format!("{} {cells} ({share} of {inside} that any method calls inside)", grouped(self.cells))
    }

    /// `inside by nonzero 310,000, evenodd 309,980, flood 0, robust 309,990`.
    pub fn by_method(&self) -> String {
        let by = self.by.map(|(method, cells)| format!("{} {}", method.name(), grouped(cells)));
        format!("inside by {}", by.join(", "))
    }

    /// Why the gate says no.
    pub fn refusal(&self) -> String {
        let most = self.most.as_ref().map_or(1.0, Rational::to_f64);
        format!("failed: in doubt are {}; --max-doubt allows {} %", self.line(), number(100.0 * most))
    }

    /// The entry `doubt` of the JSON.
    pub fn json(&self) -> Value {
        let share = if self.inside == 0 { 0.0 } else { self.cells as f64 / self.inside as f64 };
        let by: Map<_, _> =
            self.by.iter().map(|(method, cells)| (method.name().to_string(), json!(cells))).collect();
        let most = self.most.as_ref().map(Rational::to_f64);
        json!({"cells": self.cells, "share": share, "inside_by": by, "asked_most": most})
    }
}

#[cfg(test)]
mod tests {
    use super::super::values;
    use super::*;

    #[test]
    fn as_many_as_are_allowed_pass_and_no_more() {
        for (most, cells, inside, passes) in [
            ("0.7%", 7, 1000, true),
            ("0.007", 8, 1000, false),
            ("0", 0, 0, true),
            ("0", 1, u64::MAX >> 1, false),
            ("100 %", 5, 5, true),
        ] {
            let by = [(Inside::Nonzero, inside); 4];
            let found = Found { cells, inside, by, most: Some(values::portion(most).unwrap()) };
            assert_eq!(found.passes(), passes, "{found:?}");
        }
        assert!(Found { cells: 5, inside: 5, by: [(Inside::Robust, 5); 4], most: None }.passes());
        for wrong in ["101%", "-1%", "1.1", "%", "1%%", "some"] {
            assert!(values::portion(wrong).is_err(), "{wrong}");
        }
    }
}
