//! Parsers of option values. Their errors do not contain the name of the option, because the command line
//! adds it.

use std::io::IsTerminal;
use std::str::FromStr;

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use voxelize::format::{Dtype, FORMATS, Format};
use voxelize::grid::{AXES, Quantity};
use voxelize::job::Measure;
use voxelize::mesh::PairLimit;
use voxelize::par::MAX_THREADS;
use voxelize::tool::MAX_PLATE_SIDE;
pub use voxelize::tool::text::{count, whole};
use voxelize::view::{Background, Layer, MAX_SIDE, Up, parse_colour};
use voxelize::{Error, Level, Rational};

/// Parses `8`: number of threads.
pub fn threads(text: &str) -> Result<usize, String> {
    match count(text)? {
        n if n > MAX_THREADS => Err(format!("the maximum is {MAX_THREADS}")),
        n => Ok(n),
    }
}

/// Parses `100`: number of cells that may differ.
pub fn allowance(text: &str) -> Result<u64, String> {
    Ok(whole(text)? as u64)
}

/// Parses `0.999`: a share from 0 to 1.
pub fn share(text: &str) -> Result<f64, String> {
    let share = Rational::parse(text)?;
    if share < Rational::ZERO || share > Rational::ONE {
        return Err("must be from 0 to 1".to_string());
    }
    Ok(share.to_f64())
}

/// Parses `0.001`: a difference of values, 0 or more.
pub fn tolerance(text: &str) -> Result<f64, String> {
    let tolerance = Rational::parse(text)?;
    if tolerance < Rational::ZERO {
        return Err("must be 0 or more".to_string());
    }
    Ok(tolerance.to_f64())
}

/// Parses `0.2`, `1/3` or `0.2mm`: an exact distance, 0 or more.
pub fn distance(text: &str) -> Result<Measure, String> {
    let distance: Measure = parsed(text)?;
    if distance.number < Rational::ZERO {
        return Err("must be 0 or more".to_string());
    }
    Ok(distance)
}

/// Parses `1000000` or `all`: number of pairs of triangles to examine.
pub fn pairs(text: &str) -> Result<PairLimit, String> {
    if text == "all" {
        return Ok(PairLimit::All);
    }
    let count = |_| format!("'{text}' is neither a count nor 'all'");
    Ok(PairLimit::AtMost(text.parse().map_err(count)?))
}

/// Parses `0.01` or `1%`: an exact share from 0 to 1.
pub fn portion(text: &str) -> Result<Rational, String> {
    let portion = match text.strip_suffix('%') {
        Some(percent) => &Rational::parse(percent.trim_end())? * &Rational::new(1, 100),
        None => Rational::parse(text)?,
    };
    if portion < Rational::ZERO || portion > Rational::ONE {
        return Err("must be from 0 to 1, or from 0% to 100%".to_string());
    }
    Ok(portion)
}

/// Parses `1.24`: a density in grams per cubic centimetre.
pub fn density(text: &str) -> Result<Rational, String> {
    let density = Rational::parse(text)?;
    if !density.is_positive() {
        return Err("must be more than 0".to_string());
    }
    Ok(density)
}

/// Share that one of several processes makes: `3/64` is the third of 64 shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessShare {
    number: usize,
    of: usize,
}

impl ProcessShare {
    /// Returns the positions in the share, out of `count` positions: every N-th position, beginning with the
    /// I-th.
    pub fn of(self, count: usize) -> impl Iterator<Item = usize> {
        (self.number - 1..count).step_by(self.of)
    }

    /// Returns `true` if the share contains this position.
    pub fn has(self, place: usize) -> bool {
        place % self.of == self.number - 1
    }
}

/// Parses `3/64`: the third of 64 shares.
pub fn share_of(text: &str) -> Result<ProcessShare, String> {
    let numbers = text
        .split_once('/')
        .and_then(|(n, of)| Some((n.parse().ok()?, of.parse().ok()?)));
    match numbers {
        Some((number, of)) if (1..=of).contains(&number) => Ok(ProcessShare { number, of }),
        Some((_, _)) => Err("must be a number from 1 to N".into()),
        None => Err("expected a number and the total, such as 3/64".into()),
    }
}

/// Parses `4G`, `1.5GiB`, `512M` or `1000000`: bytes. K, M, G and T are powers of 1024.
pub fn memory(text: &str) -> Result<u64, String> {
    let bad = || "expected a size such as 4G, 512M or plain bytes".to_string();
    let upper = text.to_ascii_uppercase();
    let digits = upper.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let power = match &upper[digits.len()..] {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 1,
        "M" | "MB" | "MIB" => 2,
        "G" | "GB" | "GIB" => 3,
        "T" | "TB" | "TIB" => 4,
        _ => return Err(bad()),
    };
    let value = Rational::parse_decimal(digits.trim()).map_err(|_| bad())?;
    let bytes = &value * &Rational::from(1_i64 << (10 * power));
    let bytes = bytes.floor().and_then(|n| u64::try_from(n).ok());
    bytes
        .filter(|n| *n > 0)
        .ok_or_else(|| "must be at least one byte".to_string())
}

/// Returns a parser that accepts the given names and returns the value of the name.
pub fn named<T: Clone + Send + Sync + 'static>(
    rows: impl IntoIterator<Item = (&'static str, T)>,
) -> impl TypedValueParser<Value = T> {
    let rows: Vec<(&str, T)> = rows.into_iter().collect();
    let names: Vec<_> = rows.iter().map(|(name, _)| *name).collect();
    PossibleValuesParser::new(names).try_map(move |word| {
        let row = rows.iter().find(|(name, _)| *name == word);
        row.map(|(_, value)| value.clone()).ok_or("no such name")
    })
}

/// Returns a parser of voxel formats.
pub fn format() -> impl TypedValueParser<Value = &'static Format> {
    named(FORMATS.iter().map(|format| (format.name, format)))
}

/// Returns a parser of number types.
pub fn dtype() -> impl TypedValueParser<Value = Dtype> {
    named([Dtype::Bool, Dtype::U8, Dtype::I8, Dtype::Bit].map(|dtype| (dtype.name(), dtype)))
}

/// Returns a parser of the quantities that are stored in addition to the shares of the cells.
pub fn quantity() -> impl TypedValueParser<Value = Quantity> {
    named(Quantity::ALL.map(|quantity| (quantity.name(), quantity)))
}

/// Numbers that are written for empty cells and for labels, such as `-1,0,1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellValues(pub Vec<i16>);

/// Parses `-1,0,1`: the numbers that are written for empty cells and for labels 1, 2 and so on.
pub fn cell_values(text: &str) -> Result<CellValues, String> {
    let one = |word: &str| {
        word.trim()
            .parse()
            .map_err(|_| "expected whole numbers, such as -1,0,1")
    };
    Ok(CellValues(
        text.split(',').map(one).collect::<Result<_, _>>()?,
    ))
}

/// Parses `1200x900` or `cells`: the size of a picture.
pub fn picture_size(text: &str) -> Result<PixelSize, String> {
    if text == "cells" {
        return Ok(PixelSize::Cells);
    }
    sides(text, MAX_SIDE).map(PixelSize::Pixels)
}

/// Parses `1440x2560`: the size of a plate in pixels.
pub fn plate(text: &str) -> Result<[usize; 2], String> {
    sides(text, MAX_PLATE_SIDE)
}

/// Parses a width and a height in pixels, each at most `most`.
fn sides(text: &str, most: usize) -> Result<[usize; 2], String> {
    let Some((width, height)) = text.split_once(['x', 'X', '×']) else {
        return Err("expected width and height in pixels, such as 1200x900".to_string());
    };
    let side = |text: &str| match count(text)? {
        n if n > most => Err(format!("the maximum is {most} pixels")),
        n => Ok(n),
    };
    Ok([side(width)?, side(height)?])
}

/// Returns a parser of the axes that may point up.
pub fn up() -> impl TypedValueParser<Value = Up> {
    named([("y", Up::Y), ("z", Up::Z)])
}

/// Parses `x`, `y` or `z` and returns the index of the axis.
pub fn axis(text: &str) -> Result<usize, String> {
    let found = AXES.iter().position(|axis| text.parse() == Ok(*axis));
    found.ok_or_else(|| "expected an axis: x, y or z".to_string())
}

/// Layers across one axis: a given layer, the middle layer, or all layers.
#[derive(Debug, Clone, Copy)]
pub struct LayerChoice {
    axis: usize,
    index: Option<usize>,
    pub is_all: bool,
}

impl LayerChoice {
    /// Returns the chosen layer in a grid of these dims. The middle layer if no index is given.
    pub fn layer(self, dims: [usize; 3]) -> Layer {
        Layer {
            axis: self.axis,
            index: self.index.unwrap_or(dims[self.axis] / 2),
        }
    }

    /// Returns all layers across the axis in a grid of these dims.
    pub fn layers(self, dims: [usize; 3]) -> impl Iterator<Item = Layer> {
        let axis = self.axis;
        (0..dims[axis]).map(move |index| Layer { axis, index })
    }
}

/// Parses `z=40` (layer 40), `z` (the middle layer) or `z=all`.
pub fn layer(text: &str) -> Result<LayerChoice, String> {
    let choice = LayerChoice {
        axis: axis(text.split('=').next().unwrap_or_default())?,
        index: None,
        is_all: false,
    };
    match text.split_once('=') {
        None => Ok(choice),
        Some((_, "all")) => Ok(LayerChoice {
            is_all: true,
            ..choice
        }),
        Some((_, index)) => {
            let place = "the layer at a height is (height - corner) / cell size; 'voxelize info' prints corner and cell size";
            let index = whole(index).map_err(|why| format!("{why}: {place}"))?;
            Ok(LayerChoice {
                index: Some(index),
                ..choice
            })
        }
    }
}

/// Size of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PixelSize {
    /// Width and height in pixels.
    Pixels([usize; 2]),
    /// One pixel per cell.
    Cells,
}

/// Parses `white` or `#f4f1ea`: the background of a picture.
pub fn background(text: &str) -> Result<Background, String> {
    parse_colour(text).map(Background::Plain)
}

/// Condition for colours in messages on stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ColourWhen {
    #[default]
    Auto,
    Always,
    Never,
}

impl ColourWhen {
    /// Returns `true` if messages on stderr are coloured. `Auto` follows https://no-color.org.
    pub fn is_on(self) -> bool {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = || std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => std::io::stderr().is_terminal() && !is_set("NO_COLOR") && !is_dumb(),
        }
    }
}

/// Instruction set of the kernels. `None` stands for the best one of this machine.
pub type Simd = Option<Level>;

/// Returns a parser of `auto` and the names of the instruction sets.
pub fn simd() -> impl TypedValueParser<Value = Simd> {
    named(
        [("auto", None)]
            .into_iter()
            .chain(Level::ALL.map(|level| (level.name(), Some(level)))),
    )
}

/// Parses a value type of the library.
pub fn parsed<T: FromStr<Err = Error>>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|error: Error| error.message().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_of_1024() {
        for (text, bytes) in [
            ("4G", 4 << 30),
            ("512M", 512 << 20),
            ("1.5GiB", 3 << 29),
            ("2 kb", 2048),
            ("1000000", 1_000_000),
            ("7B", 7),
            ("1T", 1 << 40),
        ] {
            assert_eq!(memory(text), Ok(bytes), "{text}");
        }
        for text in ["", "G", "4X", "-1G", "0", "0.1", "4G4", "1e30T"] {
            assert!(memory(text).is_err(), "{text}");
        }
    }

    #[test]
    fn shares_are_disjoint_and_make_up_the_whole() {
        for wrong in [
            "0/4", "5/4", "3", "3/", "/4", "-1/4", "3/64/2", "a/b", "1/0", "",
        ] {
            assert!(share_of(wrong).is_err(), "{wrong}");
        }
        let mut seen = 0;
        for (of, count) in [(1, 7), (3, 7), (7, 7), (9, 7), (4, 0)] {
            let mut all: Vec<_> = (1..=of)
                .flat_map(|n| {
                    let share = share_of(&format!("{n}/{of}")).unwrap();
                    assert!(share.of(count).all(|place| share.has(place)));
                    share.of(count)
                })
                .collect();
            all.sort_unstable();
            assert_eq!(all, (0..count).collect::<Vec<_>>());
            seen += all.len();
        }
        assert_eq!(seen, 28);
    }
}
