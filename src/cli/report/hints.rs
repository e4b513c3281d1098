//! Text of hints for the command line. Options appear as typed, and commands in quotes.

use voxelize::{Error, Hint, Kind};

/// Returns the hint of an error, or the advice for its code if it has no hint. `None` if there is neither.
pub fn hint(error: &Error) -> Option<String> {
    Some(hint_text(&error.advice())).filter(|hint| !hint.is_empty())
}

/// Returns a hint as text for the command line.
pub fn hint_text(hint: &Hint) -> String {
    hint.spelled(|option| Some(spelled(option)))
}

/// Removes the steps of an error's hint that name options which the command does not have. `options` adds the
/// arguments of the command to a parser.
pub fn fitting(error: Error, options: fn(clap::Command) -> clap::Command) -> Error {
    let own = error.hint().filter(|hint| !hint.is_empty());
    let hint = match own {
        Some(hint) => hint.clone(),
        None if error.kind() == Kind::Usage => return error,
        None => error.code().info().advice.into(),
    };
    let options = options(clap::Command::default());
    let has = |name: &str| {
        options.get_arguments().any(|arg| {
            let long = arg.get_long().map(|long| format!("--{long}"));
            let short = arg.get_short().map(|short| format!("-{short}"));
            long.as_deref() == Some(name) || short.as_deref() == Some(name)
        })
    };
    let fitted = hint.spelled(|option| {
        let name = option.split(' ').next().unwrap_or_default();
        (is_call(option) || has(name)).then(|| spelled(option))
    });
    error.with_hint(fitted)
}

/// Returns `true` for a call of the tool, such as `voxelize info`. Returns `false` for an option.
fn is_call(option: &str) -> bool {
    option.starts_with("voxelize ")
}

/// Returns an option unchanged, and a call of the tool in quotes.
fn spelled(option: &str) -> String {
    if is_call(option) {
        format!("'{option}'")
    } else {
        option.to_string()
    }
}
