//! Advice as data: steps that name options by [`Opt`]. A front end spells the options, and leaves out the steps whose
//! options it does not have.

use std::borrow::Cow;
use std::fmt;

/// Makes [`Opt`] and the names of its values from one list.
macro_rules! options {
    ($($option:ident $name:literal $what:literal;)*) => {
        /// An option, or a call of the tool, that a hint may name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Opt {
            $(#[doc = concat!($what, ".")] $option,)*
        }

        impl Opt {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$option,)*];

            /// Its name, such as `keep-thin`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$option => $name,)*
                }
            }
        }
    };
}

options! {
    AllowOutside "allow-outside" "Paths of a list may lead out of its folder";
    Axes "axes" "The axes of the file that become those of the grid";
    Band "band" "The band of distances";
    Bin "bin" "The call that bins the triangles of a store";
    Bounds "bounds" "The corners of the grid";
    CloseHoles "close-holes" "Holes that are closed before a flood";
    Dims "dims" "The cells on each axis";
    DryRun "dry-run" "A job is planned, and not run";
    Filled "filled" "The rule filled";
    Info "info" "The call that describes a mesh or a voxel file";
    Formats "formats" "The call that lists the formats";
    Help "help" "The page of all options";
    Inside "inside" "The method that finds the inside";
    Iso "iso" "The distance up to which cells are occupied";
    KeepThin "keep-thin" "Thin features are kept";
    Dtype "dtype" "The type of number of a cell";
    Labels "labels" "What cells are labelled by";
    Like "like" "The file whose grid is taken";
    Lenient "lenient" "Damage in a file is tolerated where it can be";
    MaxMemory "max-memory" "The limit of memory";
    MaxPairs "max-pairs" "The limit of pairs of triangles";
    Mesh "mesh" "The files of the mesh of a store";
    NulNames "null" "Names in a list end in NUL";
    Origin "origin" "A point that walls of the grid go through";
    Output "output" "The name of the output";
    OutputFormat "format" "The format of the output";
    Pad "pad" "The cells that are added on every side";
    Priority "priority" "The parts that come first where several share cells";
    Radius "radius" "The radius of the rule offset";
    Region "region" "The call that makes a region of a store";
    Rule "rule" "The rule";
    Scale "scale" "The factor of the coordinates";
    Solid "solid" "The rule solid";
    Strict "strict" "No finding in a mesh file is tolerated";
    Threads "threads" "The number of threads";
    Ties "ties" "The cells that a mesh on walls between them belongs to";
    Translate "translate" "The move of the coordinates";
    Unit "unit" "The unit of the coordinates";
    Up "up" "The axis of the file that points up";
    Update "update" "The call that records goldens";
    Verify "verify" "The call that compares with goldens";
    VoxelSize "voxel-size" "The size of a cell";
    VoxSplit "vox-split" "A scene goes to several files";
}

/// An option with the value that a hint proposes for it; empty if it has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The option.
    pub option: Opt,
    /// Its value, such as `robust`; may be a placeholder in capitals, such as `LIST`.
    pub value: Cow<'static, str>,
}

/// One thing to do, or to know: a text with `{}` where each of its options is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The text.
    pub text: Cow<'static, str>,
    /// The options that it names, in their order.
    pub settings: Cow<'static, [Setting]>,
    /// Whether it takes the place of the step before it.
    pub is_alternative: bool,
}

/// What to do about an error or a finding.
///
/// ```
/// # use voxelize_core as voxelize;
/// use voxelize::{Code, Hint, Opt};
///
/// let hint = Hint::from(Code::M001.info().advice);
/// let spelled = hint.spelled(|set| (set.option == Opt::Inside).then(|| format!("inside={:?}", set.value)));
/// assert_eq!(spelled, "remove the copies; inside=\"robust\" drops them");
/// assert_eq!(hint.spelled(|_| None), "remove the copies");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hint {
    /// The steps, the best first.
    pub steps: Vec<Step>,
}

/// Steps, each with its options behind its text, separated by `;`, or by `|` from one that they take the place of:
/// `hint!["compare fewer triangles" | "raise {}" MaxPairs; "{} closes the holes" CloseHoles = "3"]`.
#[macro_export]
#[doc(hidden)]
macro_rules! hint {
    (@step $is_alternative:literal $text:literal $($option:ident $(= $value:literal)?),*) => {
        $crate::error::Step {
            text: std::borrow::Cow::Borrowed($text),
            settings: std::borrow::Cow::Borrowed(&[$($crate::error::Setting {
                option: $crate::error::Opt::$option,
                value: std::borrow::Cow::Borrowed(concat!($($value)?)),
            }),*]),
            is_alternative: $is_alternative,
        }
    };
    ($($text:literal $($option:ident $(= $value:literal)?),*
        $(| $or_text:literal $($or_option:ident $(= $or_value:literal)?),*)*);+) => {
        &[$(
            $crate::hint!(@step false $text $($option $(= $value)?),*),
            $($crate::hint!(@step true $or_text $($or_option $(= $or_value)?),*),)*
        )+] as &'static [$crate::error::Step]
    };
}

impl Hint {
    /// This hint with another step: a text with `{}` where it names the option.
    #[must_use]
    pub fn with_step(
        self,
        text: impl Into<Cow<'static, str>>,
        option: Opt,
        value: impl fmt::Display,
    ) -> Self {
        self.with_settings(text, [(option, value)])
    }

    /// This hint with another step that names several options, each in place of a `{}`.
    #[must_use]
    pub fn with_settings<V: fmt::Display, const N: usize>(
        mut self,
        text: impl Into<Cow<'static, str>>,
        settings: [(Opt, V); N],
    ) -> Self {
        let settings = settings.map(|(option, value)| Setting {
            option,
            value: value.to_string().into(),
        });
        self.steps.push(Step {
            text: text.into(),
            settings: settings.to_vec().into(),
            is_alternative: false,
        });
        self
    }

    /// The text, each option spelled by `spell`; without the steps that name an option for which it has no words.
    pub fn spelled(&self, spell: impl Fn(&Setting) -> Option<String>) -> String {
        let step = |step: &Step| {
            let mut pieces = step.text.split("{}");
            let mut text = pieces.next().unwrap_or_default().to_string();
            for (setting, piece) in step.settings.iter().zip(pieces) {
                text += &spell(setting)?;
                text += piece;
            }
            Some(text)
        };
        let mut all = String::new();
        for (step, text) in self.steps.iter().filter_map(|s| Some((s, step(s)?))) {
            if !all.is_empty() {
                all += if step.is_alternative { ", or " } else { "; " };
            }
            all += &text;
        }
        all
    }
}

impl fmt::Display for Hint {
    /// The text with the names of options: `remove the copies; inside robust drops them`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |Setting { option, value }: &Setting| match &**value {
            "" => option.name().to_string(),
            value => format!("{} {value}", option.name()),
        };
        f.write_str(&self.spelled(|setting| Some(name(setting))))
    }
}

impl From<&[Step]> for Hint {
    fn from(steps: &[Step]) -> Self {
        Self {
            steps: steps.to_vec(),
        }
    }
}

impl From<&str> for Hint {
    fn from(text: &str) -> Self {
        Self::from(text.to_string())
    }
}

impl From<&String> for Hint {
    fn from(text: &String) -> Self {
        Self::from(text.clone())
    }
}

impl From<&Self> for Hint {
    fn from(hint: &Self) -> Self {
        hint.clone()
    }
}

impl From<String> for Hint {
    fn from(text: String) -> Self {
        let settings = Cow::Borrowed(&[] as &[Setting]);
        Self {
            steps: vec![Step {
                text: text.into(),
                settings,
                is_alternative: false,
            }],
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::error::CODES;

    #[test]
    fn every_place_in_an_advice_has_its_option() {
        let mut settings = 0;
        for row in CODES {
            for step in row.advice {
                assert_eq!(
                    step.text.matches("{}").count(),
                    step.settings.len(),
                    "{}",
                    row.name
                );
                assert!(!step.text.contains("--"), "{}: {}", row.name, step.text);
                settings += step.settings.len();
            }
        }
        assert!(settings > 20, "{settings}");
    }
}
