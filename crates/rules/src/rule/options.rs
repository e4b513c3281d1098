//! Options of rules, and their names and values in saved files.
//!
//! This file alone rejects combinations of options that make no sense. A message begins with the name of the
//! option, which is the command-line flag without its dashes.

use super::distance;
use super::{Band, Inside, Iso, Rule, ShellThickness, ThinFeatures};
use voxelize_core::error::{Error, Result};
use voxelize_core::geom::{Rational, Ties};
use voxelize_core::grid::record::FIELDS;
use voxelize_core::grid::{Length, Record};

/// Radius of the rule offset.
const RADIUS: &str = "radius";

/// Name of the variant of solid that keeps thin features.
const KEEP_THIN: &str = "keep-thin";

/// Name of the variant of distance in which cells inside have a negative sign.
const SIGNED: &str = "signed";

/// Name of the variant of filled that keeps only a shell. In files the number of steps follows the name.
const HOLLOW: &str = "hollow";

impl Rule {
    /// Returns this rule with the ties `new`.
    ///
    /// ```
    /// # use voxelize_rules as voxelize;
    /// use voxelize::{Inside, Rule, Ties};
    ///
    /// let rule = Rule::filled().with_inside(Inside::Vote)?.with_ties(Ties::Both)?;
    /// assert_eq!(rule, Rule::Filled { inside: Inside::Vote, ties: Ties::Both, shell: None });
    /// assert!(Rule::solid().with_ties(Ties::Both).is_err());
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails if the rule has no ties. Also fails if the method for the inside is a flood and `new` is not
    /// ties up.
    pub fn with_ties(mut self, new: Ties) -> Result<Self> {
        let no_ties = self.info().no_ties;
        match &mut self {
            Self::Surface { ties } | Self::Filled { ties, .. } => *ties = new,
            _ => return Err(Error::usage(format!("ties: {}", no_ties[0])).with_hint(no_ties[1])),
        }
        self.checked()
    }

    /// Returns this rule with another method for the inside. With [`Rule::Distance`], the method determines
    /// the sign of the distances.
    ///
    /// A flood requires ties up. If the rule is filled and has its default ties, setting a flood changes them
    /// to ties up. Replacing a flood by another method restores the default ties.
    ///
    /// # Errors
    /// Fails if the rule has no inside, or if `new` is a flood and the ties of the rule are neither the
    /// default ties nor ties up.
    pub fn with_inside(mut self, new: Inside) -> Result<Self> {
        if let Self::Filled { inside, ties, .. } = &mut self {
            match (inside.is_flood(), new.is_flood()) {
                (false, true) if *ties == Self::FILLED_TIES => *ties = Ties::Up,
                (true, false) => *ties = Self::FILLED_TIES,
                _ => {}
            }
        }
        if let Self::Distance { sign, .. } = &mut self {
            *sign = Some(new);
            return self.checked();
        }
        let Some(inside) = self.inside_mut() else {
            let error = Error::usage(format!(
                "inside: the rule {} leaves the inside empty",
                self.name()
            ));
            return Err(error.with_hint("`--filled` and `--solid` fill it"));
        };
        *inside = new;
        self.checked()
    }

    /// Returns this rule with the option to close holes of at most `cells` cells before the flood, as
    /// described at [`Inside::Flood`].
    ///
    /// # Errors
    /// Fails if the method for the inside is not a flood.
    pub fn with_closed_holes(mut self, cells: u32) -> Result<Self> {
        let why = match self.inside_mut() {
            Some(Inside::Flood { close_holes }) => {
                *close_holes = Some(cells);
                return Ok(self);
            }
            Some(inside) => format!("the method is {}", inside.name()),
            None => format!("the rule {} leaves the inside empty", self.name()),
        };
        Err(Error::usage(format!(
            "close-holes: works only with the method flood, but {why}"
        ))
        .with_hint("add `--inside flood`, with `--filled` or `--solid`"))
    }

    /// Returns this rule with the treatment `new` of thin features.
    ///
    /// # Errors
    /// Fails if the rule is not solid.
    pub fn with_thin(mut self, new: ThinFeatures) -> Result<Self> {
        let Self::Solid { thin, .. } = &mut self else {
            let error = Error::usage(format!(
                "{KEEP_THIN}: works only with the rule solid, not with the rule {}",
                self.name()
            ));
            return Err(error.with_hint("use it with `--solid`"));
        };
        *thin = new;
        self.checked()
    }

    /// Returns this rule with only its outer cells. [`Rule::Solid`] has only shells of a given
    /// distance.
    ///
    /// ```
    /// # use voxelize_rules as voxelize;
    /// use voxelize::{Length, Rule};
    ///
    /// let wall: Length = "2.5".parse()?;
    /// let rule = Rule::solid().with_shell(wall)?;
    /// assert_eq!(rule.wall(), Some(wall));
    /// // A number is a number of steps from cell to cell.
    /// assert!(Rule::filled().with_shell(3)?.wall().is_none());
    /// assert!(Rule::solid().with_shell(3).is_err());
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails if the rule has no such shell, or its thickness is 0.
    pub fn with_shell(mut self, new: impl Into<ShellThickness>) -> Result<Self> {
        let new = new.into();
        match (&mut self, new) {
            (Self::Filled { shell, .. }, _) => *shell = Some(new),
            (Self::Solid { wall, .. }, ShellThickness::Wall(length)) => *wall = Some(length),
            (Self::Solid { .. }, ShellThickness::Steps(_)) => {
                return Err(Error::usage(format!(
                    "{HOLLOW}: the rule solid has no shell of a number of cells"
                ))
                .with_hint([
                    "give the thickness of the wall, such as `--hollow 2mm` or `--hollow 3vx`",
                    "or use `--filled`",
                ]));
            }
            _ => {
                let error =
                    Error::usage(format!("{HOLLOW}: the rule {} has no shell", self.name()));
                return Err(error.with_hint("use it with `--filled` or `--solid`"));
            }
        }
        self.checked()
    }

    /// Returns this rule with the radius `new`. A rule that has no radius accepts `None` and stays unchanged.
    ///
    /// # Errors
    /// Fails if the rule has a radius and `new` is `None`. Also fails if the rule has no radius and `new` is
    /// a length.
    pub fn with_radius(mut self, new: impl Into<Option<Length>>) -> Result<Self> {
        let name = self.name();
        match (&mut self, new.into()) {
            (Self::Offset { radius }, Some(new)) => *radius = new,
            (Self::Offset { .. }, None) => {
                return Err(
                    Error::usage(format!("{RADIUS}: the rule {name} needs a radius")).with_hint(
                        "for example: `--radius 0.5` in units of the file, or `--radius 2vx` in cells",
                    ),
                );
            }
            (_, Some(_)) => {
                return Err(
                    Error::usage(format!("{RADIUS}: the rule {name} has no radius")).with_hint([
                        "use `--rule offset`, which marks cells on both sides of the surface",
                        "or `--rule distance` with `--signed` and `--iso 2vx`, which marks the part grown by two cells",
                    ]),
                );
            }
            (_, None) => {}
        }
        Ok(self)
    }

    /// Returns this rule with the band `new`.
    ///
    /// # Errors
    /// Fails if the rule is not [`Rule::Distance`].
    pub fn with_band(mut self, new: Band) -> Result<Self> {
        let Self::Distance { band, .. } = &mut self else {
            return Err(self.no_field("band"));
        };
        *band = new;
        self.checked()
    }

    /// Returns this rule with the iso value `new`. It then makes bits instead of a field: cells whose value
    /// is at most `new` are occupied. A value below zero shrinks the part.
    ///
    /// ```
    /// # use voxelize_rules as voxelize;
    /// use voxelize::{Length, Rule};
    ///
    /// let rule = Rule::distance().with_iso(Length::cells(2))?;
    /// assert_eq!(Rule::from_fields("distance", [("band", "3"), ("iso", "2vx")])?, rule);
    /// assert!(Rule::solid().with_iso(Length::cells(2)).is_err());
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails if the rule is not [`Rule::Distance`]. Also fails if the length is in cells and is not less than
    /// the width of the band, or if the value is below zero and distances have no sign.
    pub fn with_iso(mut self, new: impl Into<Iso>) -> Result<Self> {
        let Self::Distance { iso, .. } = &mut self else {
            return Err(self.no_field("iso"));
        };
        *iso = Some(new.into());
        self.checked()
    }

    /// Returns this rule with signed distances, which have the sign bit in cells inside. The method for the
    /// inside is [`Inside::Auto`] unless the rule already has a method.
    ///
    /// # Errors
    /// Fails if the rule is not [`Rule::Distance`].
    pub fn with_sign(mut self) -> Result<Self> {
        let Self::Distance { sign, .. } = &mut self else {
            return Err(self.no_field(SIGNED));
        };
        sign.get_or_insert_default();
        self.checked()
    }

    /// Returns the error for an option of the rule distance that is given to another rule.
    fn no_field(&self, option: &str) -> Error {
        Error::usage(format!(
            "{option}: the rule {} computes no distances",
            self.name()
        ))
        .with_hint("use it with `--rule distance`")
    }

    /// Returns this rule, or an error if its options exclude each other.
    pub(super) fn checked(self) -> Result<Self> {
        match self {
            Self::Filled { inside, ties, .. } if inside.is_flood() && ties != Ties::Up => Err(
                Error::usage("ties: a flood always stops at the cells of the surface with ties up")
                    .with_hint("omit the ties, or use another method for the inside"),
            ),
            Self::Filled {
                shell: Some(ShellThickness::Steps(0)),
                ..
            } => Err(
                Error::usage(format!("{HOLLOW}: a shell is at least one cell thick"))
                    .with_hint("omit it to keep all cells"),
            ),
            _ if self
                .wall()
                .is_some_and(|wall| wall.value() == Rational::ZERO) =>
            {
                Err(
                    Error::usage(format!("{HOLLOW}: the thickness must be above zero"))
                        .with_hint("omit it to keep all cells"),
                )
            }
            Self::Distance {
                sign: None,
                iso: Some(iso),
                ..
            } if iso.is_below_zero() => Err(Error::usage(format!(
                "iso: {iso} is below zero, and distances without a sign never are"
            ))
            .with_hint("add `--signed`, which makes distances inside negative")),
            Self::Distance {
                band: Band::Width(width),
                iso: Some(iso),
                ..
            } if iso.distance().unit() == width.unit()
                && iso.distance().value() >= width.value() =>
            {
                Err(distance::beyond_band(iso, width))
            }
            Self::Fraction { inside }
                if !matches!(inside, Inside::Auto | Inside::Nonzero | Inside::Robust) =>
            {
                let name = inside.name();
                Err(Error::usage(format!(
                    "inside: shares need a closed mesh, but {name} accepts open meshes"
                ))
                .with_hint("use `--inside robust` or `--inside auto`"))
            }
            _ => Ok(self),
        }
    }

    /// Returns the names and values of the options that this rule has, as in saved files. They are in the
    /// order of [`FIELDS`].
    ///
    /// ```
    /// # use voxelize_rules as voxelize;
    /// use voxelize::{Inside, Rule};
    ///
    /// let rule = Rule::filled().with_inside(Inside::EvenOdd)?.with_shell(2)?;
    /// let fields = [("variant", "hollow 2"), ("ties", "none"), ("inside", "evenodd")];
    /// assert_eq!(rule.fields(), fields.map(|(name, value)| (name, value.to_string())));
    /// assert_eq!(Rule::from_fields("filled", fields)?, rule);
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    pub fn fields(&self) -> Vec<(&'static str, String)> {
        let mut radius = None;
        let mut band = None;
        let mut iso = None;
        match self {
            Self::Offset { radius: of_rule } => radius = Some(of_rule.to_string()),
            Self::Distance {
                band: of_rule,
                iso: limit,
                ..
            } => {
                band = Some(of_rule.to_string());
                iso = limit.as_ref().map(Iso::to_string);
            }
            _ => {}
        }
        let inside = self.inside();
        let closed_holes = inside.and_then(Inside::closed_holes);
        let values: [Option<String>; FIELDS.len()] = [
            self.variant(),
            self.wall().map(|wall| wall.to_string()),
            radius,
            self.ties().map(|ties| ties.name().to_string()),
            band,
            iso,
            inside.map(|inside| inside.name().to_string()),
            closed_holes.map(|cells| cells.to_string()),
        ];
        let mut fields = vec![];
        for (name, value) in FIELDS.into_iter().zip(values) {
            fields.extend(value.map(|value| (name, value)));
        }
        fields
    }

    fn variant(&self) -> Option<String> {
        match self {
            Self::Solid {
                thin: ThinFeatures::Keep,
                ..
            } => Some(KEEP_THIN.to_string()),
            Self::Filled {
                shell: Some(ShellThickness::Steps(cells)),
                ..
            } => Some(format!("{HOLLOW} {cells}")),
            Self::Distance { sign: Some(_), .. } => Some(SIGNED.to_string()),
            _ => None,
        }
    }
}

impl Rule {
    /// Returns the rule that made the cells, as stated by the record of a file. `None` if this version has no
    /// such rule or cannot read its options.
    pub fn from_record(record: &Record) -> Option<Self> {
        let fields = record.fields.iter().map(|(name, value)| (name, value));
        Self::from_fields(record.rule_name.as_deref()?, fields).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::{METHODS, RULES, ShellThickness};

    /// Returns rules with all valid combinations of options.
    fn all() -> Vec<Rule> {
        let mut insides: Vec<_> = METHODS.iter().map(|method| method.inside).collect();
        insides.push(Inside::Flood {
            close_holes: Some(3),
        });
        let mut rules = Ties::ALL.map(|ties| Rule::Surface { ties }).to_vec();
        rules.extend([Rule::Thin, Rule::Area]);
        rules.extend(
            [Inside::Auto, Inside::Nonzero, Inside::Robust].map(|inside| Rule::Fraction { inside }),
        );
        rules.extend(["0", "0.125", "2vx"].map(|radius| Rule::offset(radius.parse().unwrap())));
        for inside in insides {
            rules.extend(
                [ThinFeatures::Lose, ThinFeatures::Keep].map(|thin| Rule::Solid {
                    inside,
                    thin,
                    wall: None,
                }),
            );
            rules.extend(["0.5", "2vx"].map(|wall| Rule::Solid {
                inside,
                thin: ThinFeatures::Keep,
                wall: wall.parse().ok(),
            }));
            for ties in Ties::ALL {
                let wall = ShellThickness::Wall("1.25".parse().unwrap());
                let shells = [
                    None,
                    Some(ShellThickness::Steps(1)),
                    Some(ShellThickness::Steps(40)),
                    Some(wall),
                ];
                rules.extend(shells.map(|shell| Rule::Filled {
                    inside,
                    ties,
                    shell,
                }));
            }
        }
        rules
            .into_iter()
            .filter_map(|rule| rule.checked().ok())
            .collect()
    }

    #[test]
    fn fields_round_trip_in_any_order() {
        let rules = all();
        assert_eq!(rules.len(), 3 + 2 + 3 + 3 + 7 * 4 + 5 * 12 + 2 * 4);
        for rule in rules {
            let mut fields = rule.fields();
            let places = fields
                .iter()
                .map(|(name, _)| FIELDS.iter().position(|field| field == name));
            assert!(places.is_sorted(), "{fields:?}");
            for _ in 0..2 {
                assert_eq!(Rule::from_fields(rule.name(), fields.clone()), Ok(rule));
                fields.reverse();
            }
            let record = Record {
                rule_name: Some(rule.name().into()),
                fields,
                ..Record::default()
            };
            assert_eq!(Rule::from_record(&record), Some(rule));
        }
    }

    #[test]
    fn defaults_are_those_of_the_table() {
        for info in RULES {
            let wanted = info.rule.with_radius(None);
            assert_eq!(Rule::from_fields(info.name, [("", ""); 0]), wanted);
            assert_eq!(info.rule.checked(), Ok(info.rule));
        }
    }

    #[test]
    fn invalid_options_are_refused_by_name() {
        for (rule, fields, words) in [
            ("doubt", &[][..], "rule: there is no 'doubt'"),
            ("surface", &[("seed", "3")], "a rule has no option 'seed'"),
            ("surface", &[("ties", "down")], "ties: there is no 'down'"),
            ("solid", &[("ties", "up")], "ties: the rule solid"),
            ("thin", &[("ties", "up")], "ties: the rule thin"),
            ("offset", &[], "radius: the rule offset needs a radius"),
            ("offset", &[("radius", "-1")], "radius: '-1' is below zero"),
            (
                "offset",
                &[("radius", "1"), ("ties", "up")],
                "ties: the rule offset",
            ),
            (
                "offset",
                &[("radius", "1"), ("inside", "vote")],
                "inside: the rule offset",
            ),
            ("surface", &[("radius", "1")], "radius: the rule surface"),
            ("thin", &[("inside", "vote")], "inside: the rule thin"),
            ("surface", &[("inside", "vote")], "inside: the rule surface"),
            (
                "solid",
                &[("inside", "outside")],
                "inside: there is no 'outside'",
            ),
            (
                "solid",
                &[("variant", "hollow 2")],
                "hollow: the rule solid has no shell",
            ),
            (
                "filled",
                &[("variant", "keep-thin")],
                "keep-thin: works only with the rule solid, not with the rule filled",
            ),
            (
                "filled",
                &[("variant", "hollow")],
                "variant: '' is not a whole number",
            ),
            (
                "filled",
                &[("variant", "hollow -1")],
                "variant: must be at least 1",
            ),
            (
                "filled",
                &[("variant", "hollow 0")],
                "variant: must be at least 1",
            ),
            (
                "filled",
                &[("close_holes", "3")],
                "close-holes: works only with the method flood, but the method is auto",
            ),
            (
                "surface",
                &[("close_holes", "3")],
                "close-holes: works only with the method flood, but the rule surface",
            ),
            (
                "solid",
                &[("close_holes", "many"), ("inside", "flood")],
                "close_holes: 'many' is not a whole number",
            ),
            (
                "filled",
                &[("ties", "none"), ("inside", "flood")],
                "ties: a flood always stops",
            ),
            (
                "fraction",
                &[("inside", "vote")],
                "inside: shares need a closed mesh",
            ),
            ("fraction", &[("ties", "up")], "ties: the rule fraction"),
            ("fraction", &[("band", "3")], "band: the rule fraction"),
            ("area", &[("inside", "vote")], "inside: the rule area"),
            ("area", &[("ties", "up")], "ties: the rule area"),
        ] {
            let error = Rule::from_fields(rule, fields.iter().copied()).unwrap_err();
            assert!(
                error.kind() == voxelize_core::Kind::Usage && error.message().contains(words),
                "{error}"
            );
        }
    }

    #[test]
    fn a_flood_brings_its_ties_and_takes_them_away() {
        let flood = Rule::filled().with_inside(Inside::flood()).unwrap();
        assert_eq!(flood.ties(), Some(Ties::Up));
        assert_eq!(flood.with_ties(Ties::Up), Ok(flood));
        assert!(flood.with_ties(Ties::None).is_err());
        assert_eq!(flood.with_inside(Inside::Auto), Ok(Rule::filled()));
        let both = Rule::filled().with_ties(Ties::Both).unwrap();
        assert!(both.with_inside(Inside::flood()).is_err());
        assert_eq!(
            both.with_inside(Inside::Vote).unwrap().ties(),
            Some(Ties::Both)
        );
    }
}
