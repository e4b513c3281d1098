//! Conversion of keyword arguments to a request of the library. The values of the arguments are texts.

use pyo3::prelude::*;
use voxelize::job::{JobLabels, OPTIONS, OptionValues, Request, RequestOption};
use voxelize::{Error, Result};

use crate::mesh::Reading;

/// Options that decide the cells.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Options {
    /// Each argument with its texts. A flag has no text, other arguments have one for each number or name.
    given: Vec<(String, Vec<String>)>,
    pub reading: Reading,
}

impl Options {
    /// Returns the request that the arguments make.
    pub fn request(&self) -> Result<Request> {
        let mut request = Request::new(|name| name.replace('-', "_"));
        for (argument, texts) in &self.given {
            // Labels for surface and interior can be requested only in Python.
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

/// Returns the names of the arguments that decide the cells. The value is true for a flag.
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

/// Returns `found`. If it is `None`, returns the error that `text` is not a known name for the argument.
pub fn named<T>(argument: &str, text: &str, found: Option<T>, known: &[&str]) -> Result<T> {
    found.ok_or_else(|| {
        let known = known.join(", ");
        Error::usage(format!("{argument}: there is no '{text}'"))
            .with_hint(format!("it is one of {known}"))
    })
}
