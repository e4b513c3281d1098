//! Unit of length and upward axis of a mesh file.

use voxelize_core::geom::Rational;

/// Unit of length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitOfLength {
    /// A thousandth of a millimetre.
    Micrometre,
    /// 1/1000 of a millimetre.
    Millimetre,
    /// 1/1000 of a metre.
    Centimetre,
    /// 1/100 of a metre.
    Metre,
    /// 25.4 millimetres.
    Inch,
    /// Twelve inches.
    Foot,
}

impl UnitOfLength {
    /// All units.
    pub const ALL: [Self; 6] = [
        Self::Micrometre,
        Self::Millimetre,
        Self::Centimetre,
        Self::Metre,
        Self::Inch,
        Self::Foot,
    ];

    /// Suffix of a number: `um`, `mm`, `cm`, `m`, `in` or `ft`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Micrometre => "um",
            Self::Millimetre => "mm",
            Self::Centimetre => "cm",
            Self::Metre => "m",
            Self::Inch => "in",
            Self::Foot => "ft",
        }
    }

    /// Other names of units: `inch`, `inches`, `millimetre`, `millimeters` and so on.
    pub const ALIASES: [(&str, Self); 23] = [
        ("µm", Self::Micrometre),
        ("micron", Self::Micrometre),
        ("microns", Self::Micrometre),
        ("micrometre", Self::Micrometre),
        ("micrometer", Self::Micrometre),
        ("millimetre", Self::Millimetre),
        ("millimetres", Self::Millimetre),
        ("millimeter", Self::Millimetre),
        ("millimeters", Self::Millimetre),
        ("centimetre", Self::Centimetre),
        ("centimetres", Self::Centimetre),
        ("centimeter", Self::Centimetre),
        ("centimeters", Self::Centimetre),
        ("metre", Self::Metre),
        ("metres", Self::Metre),
        ("meter", Self::Metre),
        ("meters", Self::Metre),
        ("inch", Self::Inch),
        ("inches", Self::Inch),
        ("foot", Self::Foot),
        ("feet", Self::Foot),
        ("micrometres", Self::Micrometre),
        ("micrometers", Self::Micrometre),
    ];

    /// Returns the unit with this name, or with one of the [`ALIASES`](Self::ALIASES).
    pub fn from_name(name: &str) -> Option<Self> {
        if let Some(known) = Self::ALL.into_iter().find(|unit| unit.name() == name) {
            return Some(known);
        }
        let (_, unit) = Self::ALIASES.iter().find(|(alias, _)| *alias == name)?;
        Some(*unit)
    }

    /// Returns the exact length in millimetres.
    pub fn millimetres(self) -> Rational {
        match self {
            Self::Micrometre => Rational::new(1, 1000),
            Self::Millimetre => Rational::ONE,
            Self::Centimetre => Rational::from(10),
            Self::Metre => Rational::from(1000),
            Self::Inch => Rational::new(127, 5),
            Self::Foot => Rational::new(1524, 5),
        }
    }
}

/// Axis that points up in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UpAxis {
    /// The y axis, as usual in games.
    Y,
    /// The z axis, as usual for printers.
    #[default]
    Z,
}

impl UpAxis {
    /// Both axes.
    pub const ALL: [Self; 2] = [Self::Y, Self::Z];

    /// Name in records and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Y => "y",
            Self::Z => "z",
        }
    }
}
