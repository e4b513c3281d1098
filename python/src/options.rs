//! Translation of keyword arguments, as text, to a request of the library.

use pyo3::prelude::*;
use voxelize::job::{JobLabels, OPTIONS, OptionValues, Request, RequestOption};
use voxelize::{Error, Result};

use crate::mesh::Reading;

/// Options that decide the cells.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Options {
    /// Arguments with their texts: no text for a flag, one per number or name.
    given: Vec<(String, Vec<String>)>,
    pub reading: Reading,
}

impl Options {
    /// Returns the request of the arguments.
    pub fn request(&self) -> Result<Request> {
        let mut request = Request::new(|name| name.replace('-', "_"));
        for (argument, texts) in &self.given {
            // Only Python has labels of surface and interior.
            if argument == "labels" && texts == &["layer"] {
                request.labels = Some(JobLabels::SurfaceAndInterior);
                continue;
            }
            let name = argument.replace('_', "-");
            let is_list = RequestOption::from_name(&name)
                .is_some_and(|option| matches!(option.values, OptionValues::Texts));
            let texts = if is_list {
                texts.clone()
            } else {
                vec![texts.join(",")]
            };
            for text in texts {
                request
                    .set(&name, &text)
                    .map_err(|error| error.about(argument))?;
            }
        }
        Ok(request)
    }
}

/// Returns the names of the arguments that decide the cells, each with true for a flag.
#[pyfunction]
pub fn options() -> Vec<(String, bool)> {
    OPTIONS
        .iter()
        .filter(|option| option.name != "like")
        .map(|option| {
            let is_flag = matches!(option.values, OptionValues::Flag);
            (option.name.replace('-', "_"), is_flag)
        })
        .collect()
}

/// Returns one of the names of an argument.
pub fn named<T>(argument: &str, text: &str, found: Option<T>, known: &[&str]) -> Result<T> {
    found.ok_or_else(|| {
        let known = known.join(", ");
        Error::usage(format!("{argument}: there is no '{text}'"))
            .with_hint(format!("it is one of {known}"))
    })
}
