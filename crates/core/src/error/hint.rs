//! Advice for errors and findings. Each front end prints options in its own notation.

use std::fmt;

/// Advice for an error or a finding, as a list of steps. The best step comes first.
///
/// A step is a text. It contains options and commands as on the command line, between backquotes, such as ``
/// `--inside robust` `` or `` `voxelize info MESH` ``. A step that begins with `or` is an alternative to the
/// previous step.
///
/// ```
/// # use voxelize_core as voxelize;
/// use voxelize::{Code, Hint};
///
/// let hint = Hint::from(Code::M001.info().advice);
/// assert_eq!(hint.to_string(), "remove the copies; `--inside robust` drops them");
/// let python = |option: &str| (option == "--inside robust").then(|| "inside=\"robust\"".to_string());
/// assert_eq!(hint.spelled(python), "remove the copies; inside=\"robust\" drops them");
/// assert_eq!(hint.spelled(|_| None), "remove the copies");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hint {
    steps: Vec<String>,
}

impl Hint {
    /// Reports whether the hint has no steps.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Joins the steps to one text. `spell` converts an option or a command to the notation of a front end. A
    /// step is omitted if `spell` returns `None` for one of its options or commands.
    pub fn spelled(&self, spell: impl Fn(&str) -> Option<String>) -> String {
        let mut text = String::new();
        for step in &self.steps {
            let Some(spelled) = step_spelled(step, &spell) else {
                continue;
            };
            let alternative = spelled.strip_prefix("or ");
            if !text.is_empty() {
                text += if alternative.is_some() { ", or " } else { "; " };
            }
            text += alternative.unwrap_or(&spelled);
        }
        text
    }
}

/// Converts the options and commands in a step by `spell`. `None` if `spell` returns `None` for one of them.
fn step_spelled(step: &str, spell: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut text = String::new();
    let mut rest = step;
    while let Some((before, after)) = rest.split_once('`') {
        let Some((quoted, end)) = after.split_once('`') else {
            break;
        };
        text += before;
        if quoted.starts_with('-') || quoted.starts_with("voxelize ") {
            text += &spell(quoted)?;
        } else {
            text += &format!("`{quoted}`");
        }
        rest = end;
    }
    Some(text + rest)
}

impl fmt::Display for Hint {
    /// Writes the steps with options as on the command line, between backquotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spelled(|option| Some(format!("`{option}`"))))
    }
}

impl<S: AsRef<str>> From<&[S]> for Hint {
    fn from(steps: &[S]) -> Self {
        let steps = steps.iter().map(|step| step.as_ref().to_string()).collect();
        Self { steps }
    }
}

impl<S: Into<String>, const N: usize> From<[S; N]> for Hint {
    fn from(steps: [S; N]) -> Self {
        let steps = steps.map(Into::into).into();
        Self { steps }
    }
}

impl From<&str> for Hint {
    fn from(text: &str) -> Self {
        Self::from([text])
    }
}

impl From<&String> for Hint {
    fn from(text: &String) -> Self {
        Self::from([text])
    }
}

impl From<String> for Hint {
    fn from(text: String) -> Self {
        Self::from([text])
    }
}

impl From<&Self> for Hint {
    fn from(hint: &Self) -> Self {
        hint.clone()
    }
}
