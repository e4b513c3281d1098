//! The options of rules: which rule takes which, and their names and values in saved files.
//!
//! Every combination that makes no sense is refused here and nowhere else. A message begins with the name of
//! the option, which on the command line is the same behind two dashes.

use super::{Inside, RULES, Rule, ThinFeatures};
use crate::error::{Error, Result};
use crate::geom::Ties;
use crate::grid::Record;
use crate::grid::record::FIELDS;

/// The variant of solid that keeps thin features.
const KEEP_THIN: &str = "keep-thin";

/// The variant of filled that is a shell; its thickness follows.
const HOLLOW: &str = "hollow";

impl Rule {
    /// This rule with other ties.
    ///
    /// ```
    /// use voxelize::{Inside, Rule, Ties};
    ///
    /// let rule = Rule::filled().with_inside(Inside::Vote)?.with_ties(Ties::Both)?;
    /// assert_eq!(rule, Rule::Filled { inside: Inside::Vote, ties: Ties::Both, shell: None });
    /// assert!(Rule::solid().with_ties(Ties::Both).is_err());
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the rule has no ties, or a flood finds the inside and these are not its ties.
    pub fn with_ties(self, ties: Ties) -> Result<Self> {
        match self {
            Self::Surface { .. } => Ok(Self::Surface { ties }),
            Self::Filled { inside, shell, .. } => Self::Filled { inside, ties, shell }.checked(),
            Self::Solid { .. } => {
                Err(Error::usage(format!("ties: the rule {} asks for centres of cells", self.name()))
                    .with_hint("a centre is never on the mesh: surface and filled have ties"))
            }
        }
    }

    /// This rule with another method that finds the inside. A flood has ties of its own: a rule filled whose
    /// ties are its default takes these, and its default again where the flood goes.
    ///
    /// # Errors
    /// If the rule has no inside, or its ties are other than those of a flood and its own default.
    pub fn with_inside(self, inside: Inside) -> Result<Self> {
        match self {
            Self::Solid { thin, .. } => Ok(Self::Solid { inside, thin }),
            Self::Filled { inside: old, ties, shell } => {
                let ties = match (old.is_flood(), inside.is_flood()) {
                    (false, true) if ties == Self::FILLED_TIES => Ties::Up,
                    (true, false) => Self::FILLED_TIES,
                    _ => ties,
                };
                Self::Filled { inside, ties, shell }.checked()
            }
            Self::Surface { .. } => {
                Err(Error::usage(format!("inside: the rule {} leaves the inside empty", self.name()))
                    .with_hint("--filled and --solid fill it"))
            }
        }
    }

    /// This rule with holes of at most so many cells closed before the flood, as [`Inside::Flood`] has it.
    ///
    /// # Errors
    /// If no flood finds the inside.
    pub fn with_closed_holes(self, cells: u32) -> Result<Self> {
        let why = match self.inside() {
            Some(Inside::Flood { .. }) => {
                return self.with_inside(Inside::Flood { close_holes: Some(cells) });
            }
            Some(inside) => format!("inside is told by {}", inside.name()),
            None => format!("the rule {} leaves the inside empty", self.name()),
        };
        Err(Error::usage(format!("close-holes: is for a flood, and {why}"))
            .with_hint("it goes with --filled or --solid, and --inside flood"))
    }

    /// This rule with thin features kept or lost.
    ///
    /// # Errors
    /// If the rule cannot lose any.
    pub fn with_thin(self, thin: ThinFeatures) -> Result<Self> {
        match self {
            Self::Solid { inside, .. } => Ok(Self::Solid { inside, thin }),
            _ => Err(Error::usage(format!("{KEEP_THIN}: the rule {} loses no part", self.name()))
                .with_hint("it goes with --solid, which asks for centres of cells")),
        }
    }

    /// This rule with only the outer `cells` of its cells, as [`Rule::Filled`] has it.
    ///
    /// # Errors
    /// If it is another rule, or `cells` is 0.
    pub fn with_shell(self, cells: u32) -> Result<Self> {
        match self {
            Self::Filled { inside, ties, .. } => Self::Filled { inside, ties, shell: Some(cells) }.checked(),
            _ => Err(Error::usage(format!("{HOLLOW}: is not for the rule {}", self.name()))
                .with_hint("it goes with --filled, no part of which is thinner than a cell")),
        }
    }

    /// This rule, if its options go together.
    pub(super) fn checked(self) -> Result<Self> {
        match self {
            Self::Filled { inside, ties, .. } if inside.is_flood() && ties != Ties::Up => {
                Err(Error::usage("ties: a flood stops at the surface under ties up, there are no others")
                    .with_hint("leave the ties out, or take another way to tell inside from outside"))
            }
            Self::Filled { shell: Some(0), .. } => {
                Err(Error::usage(format!("{HOLLOW}: a shell is at least one cell thick"))
                    .with_hint("leave it out to keep all cells"))
            }
            _ => Ok(self),
        }
    }

    /// Its options by name and value, as files have them: those in force, in the order of
    /// [`FIELDS`](crate::grid::record::FIELDS).
    ///
    /// ```
    /// use voxelize::{Inside, Rule};
    ///
    /// let rule = Rule::filled().with_inside(Inside::EvenOdd)?.with_shell(2)?;
    /// let fields = [("variant", "hollow 2"), ("ties", "none"), ("inside", "evenodd")];
    /// assert_eq!(rule.fields(), fields.map(|(name, value)| (name, value.to_string())));
    /// assert_eq!(Rule::from_fields("filled", fields)?, rule);
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    pub fn fields(&self) -> Vec<(&'static str, String)> {
        let variant = match self {
            Self::Solid { thin: ThinFeatures::Keep, .. } => Some(KEEP_THIN.to_string()),
            Self::Filled { shell: Some(cells), .. } => Some(format!("{HOLLOW} {cells}")),
            _ => None,
        };
        let close_holes = self.inside().and_then(Inside::closed_holes);
        let values: [Option<String>; FIELDS.len()] = [
            variant,
            self.ties().map(|ties| ties.name().to_string()),
            self.inside().map(|inside| inside.name().to_string()),
            close_holes.map(|cells| cells.to_string()),
        ];
        FIELDS.into_iter().zip(values).filter_map(|(name, value)| Some((name, value?))).collect()
    }

    /// The rule of this name with these options, in any order: the inverse of [`name`](Self::name) and
    /// [`fields`](Self::fields). An option that is absent has its default.
    ///
    /// # Errors
    /// If there is no such rule, it has no such option, or an option has no such value.
    pub fn from_fields<N, V>(name: &str, fields: impl IntoIterator<Item = (N, V)>) -> Result<Self>
    where
        N: AsRef<str>,
        V: AsRef<str>,
    {
        let mut rule = Self::from_name(name).ok_or_else(|| {
            let known: Vec<_> = RULES.iter().map(|info| info.name).collect();
            Error::usage(format!("no rule is named '{name}'"))
                .with_hint(format!("it is {}", known.join(", ")))
        })?;
        let mut fields: Vec<_> = fields.into_iter().collect();
        // Ties and other options depend on the method.
        fields.sort_by_key(|(name, _)| Setter::place(name.as_ref()));
        for (name, value) in &fields {
            let (name, value) = (name.as_ref(), value.as_ref());
            let Some(setter) = SETTERS.get(Setter::place(name)) else {
                return Err(Error::usage(format!("the rule {} has no option '{name}'", rule.name())));
            };
            let other = || Error::usage(format!("{name}: '{value}' is no such option of {}", rule.name()));
            rule = (setter.set)(rule, value).ok_or_else(other)??;
        }
        Ok(rule)
    }
}

/// Gives a rule an option by the value it has in files; `None` if no option has this value.
struct Setter {
    name: &'static str,
    set: fn(Rule, &str) -> Option<Result<Rule>>,
}

/// The setter of every name in [`FIELDS`], in the order in which they are applied.
static SETTERS: [Setter; FIELDS.len()] = [
    Setter { name: "inside", set: |rule, value| Some(rule.with_inside(Inside::from_name(value)?)) },
    Setter { name: "close_holes", set: |rule, value| Some(rule.with_closed_holes(value.parse().ok()?)) },
    Setter { name: "variant", set: variant },
    Setter {
        name: "ties",
        set: |rule, value| {
            Ties::ALL.into_iter().find(|ties| ties.name() == value).map(|ties| rule.with_ties(ties))
        },
    },
];

impl Setter {
    fn place(name: &str) -> usize {
        SETTERS.iter().position(|setter| setter.name == name).unwrap_or(SETTERS.len())
    }
}

fn variant(rule: Rule, value: &str) -> Option<Result<Rule>> {
    match value.split_once(' ') {
        None if value == KEEP_THIN => Some(rule.with_thin(ThinFeatures::Keep)),
        Some((HOLLOW, cells)) => Some(rule.with_shell(cells.parse().ok()?)),
        _ => None,
    }
}

impl Record {
    /// The rule that made the cells; `None` if the record has none, or none of this version.
    pub fn rule(&self) -> Option<Rule> {
        let fields = self.fields.iter().map(|(name, value)| (name, value));
        Rule::from_fields(self.rule_name.as_deref()?, fields).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::METHODS;

    /// Rules with every option, in every combination that is none to refuse.
    fn all() -> Vec<Rule> {
        let mut insides: Vec<_> = METHODS.iter().map(|method| method.inside).collect();
        insides.push(Inside::Flood { close_holes: Some(3) });
        let mut rules = Ties::ALL.map(|ties| Rule::Surface { ties }).to_vec();
        for inside in insides {
            rules.extend([ThinFeatures::Lose, ThinFeatures::Keep].map(|thin| Rule::Solid { inside, thin }));
            for ties in Ties::ALL {
                rules.extend([None, Some(1), Some(40)].map(|shell| Rule::Filled { inside, ties, shell }));
            }
        }
        rules.into_iter().filter_map(|rule| rule.checked().ok()).collect()
    }

    #[test]
    fn fields_round_trip_in_any_order() {
        let rules = all();
        assert_eq!(rules.len(), 3 + 7 * 2 + 5 * 9 + 2 * 3);
        for rule in rules {
            let mut fields = rule.fields();
            let places = fields.iter().map(|(name, _)| FIELDS.iter().position(|field| field == name));
            assert!(places.is_sorted(), "{fields:?}");
            for _ in 0..2 {
                assert_eq!(Rule::from_fields(rule.name(), fields.clone()), Ok(rule));
                fields.reverse();
            }
            let record = Record { rule_name: Some(rule.name().into()), fields, ..Record::default() };
            assert_eq!(record.rule(), Some(rule));
        }
    }

    #[test]
    fn defaults_are_those_of_the_table() {
        for info in RULES {
            assert_eq!(Rule::from_fields(info.name, [("", ""); 0]), Ok(info.rule));
            assert_eq!(info.rule.checked(), Ok(info.rule));
        }
    }

    #[test]
    fn what_no_rule_has_is_refused_with_its_name() {
        for (rule, fields, words) in [
            ("doubt", &[][..], "no rule is named 'doubt'"),
            ("surface", &[("seed", "3")], "the rule surface has no option 'seed'"),
            ("surface", &[("ties", "down")], "ties: 'down'"),
            ("solid", &[("ties", "up")], "ties: the rule solid"),
            ("surface", &[("inside", "vote")], "inside: the rule surface"),
            ("solid", &[("inside", "outside")], "inside: 'outside'"),
            ("solid", &[("variant", "hollow 2")], "hollow: is not for the rule solid"),
            ("filled", &[("variant", "keep-thin")], "keep-thin: the rule filled"),
            ("filled", &[("variant", "hollow")], "variant: 'hollow'"),
            ("filled", &[("variant", "hollow -1")], "variant: 'hollow -1'"),
            ("filled", &[("variant", "hollow 0")], "hollow: a shell"),
            ("filled", &[("close_holes", "3")], "close-holes: is for a flood, and inside is told by auto"),
            ("surface", &[("close_holes", "3")], "close-holes: is for a flood, and the rule surface"),
            ("solid", &[("close_holes", "many"), ("inside", "flood")], "close_holes: 'many'"),
            ("filled", &[("ties", "none"), ("inside", "flood")], "ties: a flood stops"),
        ] {
            let error = Rule::from_fields(rule, fields.iter().copied()).unwrap_err();
            assert!(error.kind() == crate::Kind::Usage && error.message().contains(words), "{error}");
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
        assert_eq!(both.with_inside(Inside::Vote).unwrap().ties(), Some(Ties::Both));
    }
}
