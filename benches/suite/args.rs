//! Arguments of a benchmark: options are removed by name, the rest are meshes.

use std::str::FromStr;

/// Remaining arguments.
pub struct Args(Vec<String>);

impl Args {
    /// Returns the arguments of this process without the one that cargo adds.
    pub fn from_env() -> Self {
        Self(
            std::env::args()
                .skip(1)
                .filter(|arg| arg != "--bench")
                .collect(),
        )
    }

    /// Reports whether the option `name` without a value is present.
    pub fn flag(&mut self, name: &str) -> bool {
        let found = self.0.iter().position(|arg| arg == name);
        found.inspect(|at| drop(self.0.remove(*at))).is_some()
    }

    /// Returns the value of the option `name`.
    pub fn value(&mut self, name: &str) -> Option<String> {
        let at = self.0.iter().position(|arg| arg == name)?;
        if at + 1 == self.0.len() {
            refuse(&format!("{name} needs a value"));
        }
        self.0.remove(at);
        Some(self.0.remove(at))
    }

    /// Returns the comma-separated values of the option `name`.
    pub fn list<T: FromStr>(&mut self, name: &str, default: &str) -> Vec<T> {
        let text = self.value(name).unwrap_or_else(|| default.into());
        let parse = |part: &str| {
            part.parse()
                .unwrap_or_else(|_| refuse(&format!("{name} cannot be {part}")))
        };
        text.split(',').map(parse).collect()
    }

    /// Returns the single value of the option `name`.
    pub fn one<T: FromStr>(&mut self, name: &str, default: &str) -> T {
        let mut values = self.list(name, default);
        if values.len() > 1 {
            refuse(&format!("{name} takes one value"));
        }
        values.remove(0)
    }

    /// Returns the remaining words.
    pub fn words(self) -> Vec<String> {
        if let Some(option) = self.0.iter().find(|arg| arg.starts_with('-')) {
            refuse(&format!("no option {option}"));
        }
        self.0
    }
}

/// Ends the benchmark because of unsupported arguments.
pub fn refuse(reason: &str) -> ! {
    eprintln!("error: {reason}");
    std::process::exit(2)
}
