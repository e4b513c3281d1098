//! What a benchmark is asked: options are taken out by name, what is left are meshes.

use std::str::FromStr;

/// The arguments not yet taken.
pub struct Args(Vec<String>);

impl Args {
    /// The arguments of this process, less the one that cargo adds.
    pub fn from_env() -> Self {
        Self(
            std::env::args()
                .skip(1)
                .filter(|arg| arg != "--bench")
                .collect(),
        )
    }

    /// Whether the option `name`, which has no value, is there.
    pub fn flag(&mut self, name: &str) -> bool {
        let found = self.0.iter().position(|arg| arg == name);
        found.inspect(|at| drop(self.0.remove(*at))).is_some()
    }

    /// The value of the option `name`.
    pub fn value(&mut self, name: &str) -> Option<String> {
        let at = self.0.iter().position(|arg| arg == name)?;
        if at + 1 == self.0.len() {
            refuse(&format!("{name} needs a value"));
        }
        self.0.remove(at);
        Some(self.0.remove(at))
    }

    /// The values of the option `name`, which commas separate.
    pub fn list<T: FromStr>(&mut self, name: &str, default: &str) -> Vec<T> {
        let text = self.value(name).unwrap_or_else(|| default.into());
        let parse = |part: &str| {
            part.parse()
                .unwrap_or_else(|_| refuse(&format!("{name} cannot be {part}")))
        };
        text.split(',').map(parse).collect()
    }

    /// The one value of the option `name`.
    pub fn one<T: FromStr>(&mut self, name: &str, default: &str) -> T {
        let mut values = self.list(name, default);
        if values.len() > 1 {
            refuse(&format!("{name} takes one value"));
        }
        values.remove(0)
    }

    /// What is left: words.
    pub fn words(self) -> Vec<String> {
        if let Some(option) = self.0.iter().find(|arg| arg.starts_with('-')) {
            refuse(&format!("no option {option}"));
        }
        self.0
    }
}

/// Ends the benchmark: it was asked for what it does not have.
pub fn refuse(reason: &str) -> ! {
    eprintln!("error: {reason}");
    std::process::exit(2)
}
