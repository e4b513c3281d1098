//! `voxelize completions` and `voxelize man` generate shell completions and manual pages from the
//! commands and their options.

use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use voxelize::Result;

use super::args::arguments;
use super::command::{Call, Command};
use super::report::{NoResult, Outcome, Report, ReportRows, empty};
use super::{COMMANDS, help};

/// Name of the program.
const PROGRAM: &str = "voxelize";

pub const COMPLETIONS: Command = Command {
    name: "completions",
    about: "print completions for a shell",
    examples: "\
voxelize completions bash > ~/.local/share/bash-completion/completions/voxelize
voxelize completions zsh > ~/.zfunc/_voxelize    a folder of fpath
voxelize completions fish > ~/.config/fish/completions/voxelize.fish
voxelize completions powershell >> $PROFILE",
    notes: "",
    empty: empty::<NoResult>,
    arguments: arguments::<CompletionsArgs>,
    run: completions,
};

pub const MAN: Command = Command {
    name: "man",
    about: "print a manual page",
    examples: "\
voxelize man > voxelize.1                 the page of the program
voxelize man check > voxelize-check.1     the page of a command",
    notes: "",
    empty: empty::<NoResult>,
    arguments: arguments::<ManArgs>,
    run: man,
};

#[derive(Debug, clap::Args)]
struct CompletionsArgs {
    /// bash, zsh, fish, powershell or elvish
    #[arg(value_enum, required = true, value_name = "SHELL")]
    shell: Shell,
}

#[derive(Debug, clap::Args)]
struct ManArgs {
    /// The command; without one it is the page of the program [default: none]
    #[arg(value_name = "COMMAND", value_parser = PossibleValuesParser::new(named().map(|command| command.name)),
          hide_possible_values = true)]
    command: Option<String>,
}

fn completions(call: &Call) -> Result<Vec<Report>> {
    let CompletionsArgs { shell, .. } = call.args()?;
    call.check_files()?;
    Ok(vec![printed(script(shell))])
}

fn man(call: &Call) -> Result<Vec<Report>> {
    let ManArgs { command: name, .. } = call.args()?;
    call.check_files()?;
    let command = crate::cli::command_of_name(&name.unwrap_or_default()).unwrap_or(&COMMANDS[0]);
    Ok(vec![printed(page(command))])
}

/// Returns a report that consists of a text which the user requested.
fn printed(text: Vec<u8>) -> Report {
    Report::of(|report, _: &mut NoResult| {
        report.out = ReportRows(String::from_utf8_lossy(&text).into_owned());
        Ok(Outcome::Done)
    })
}

/// Returns the commands that have a name.
fn named() -> impl Iterator<Item = &'static Command> {
    COMMANDS.iter().filter(|command| !command.name.is_empty())
}

/// Returns the completion script for a shell.
fn script(shell: Shell) -> Vec<u8> {
    if shell == Shell::Zsh {
        return zsh().into_bytes();
    }
    generated(
        shell,
        crate::cli::command_line().disable_help_subcommand(true),
        PROGRAM,
    )
}

fn generated(shell: Shell, mut parser: clap::Command, name: &str) -> Vec<u8> {
    let mut text = vec![];
    clap_complete::generate(shell, &mut parser, name, &mut text);
    text
}

/// Returns the completion script for zsh. The script that clap generates completes commands only after a
/// mesh. In this script each command has its own function, and the first command on the line decides which
/// function is called.
fn zsh() -> String {
    // Takes only the function out of clap's script, without the lines that make the script a complete file.
    let function = |command: &Command| {
        let name = if command.name.is_empty() {
            "mesh"
        } else {
            command.name
        };
        let name = format!("{PROGRAM}-{name}");
        let text =
            String::from_utf8_lossy(&generated(Shell::Zsh, command.parser(), &name)).into_owned();
        let start = text.find(&format!("_{name}()")).unwrap_or(0);
        text[start..text.find("\n(( $+functions").unwrap_or(text.len())].to_string() + "\n"
    };
    // The first argument may be a command as well as a mesh.
    let whole = function(&COMMANDS[0]);
    let is_mesh = |line: &&str| line.starts_with("'*::meshes");
    let of_mesh = whole.lines().find(is_mesh).unwrap_or_default();
    let whole = whole.replace(of_mesh, &format!("'*:mesh or command:_{PROGRAM}-words' \\"));
    let functions: String = named().map(function).collect();
    let names: Vec<_> = named().map(|command| command.name).collect();
    let names = names.join("|");
    let escaped = |about: &str| about.replace('\'', "'\\''").replace(':', "\\:");
    let list: String = named()
        .map(|command| format!("        '{}:{}'\n", command.name, escaped(command.about)))
        .collect();
    format!(
        "#compdef {PROGRAM}

autoload -U is-at-least

_{PROGRAM}-words() {{
    local -a commands=(
{list}    )
    # Not behind a mesh.
    (( ${{#words[2,CURRENT-1]:#-*}} )) || _describe -t commands command commands
    _files
}}

{whole}
{functions}
_{PROGRAM}() {{
    local -i n
    for (( n = 2; n < CURRENT; n++ )); do
        case $words[n] in
        ({names})
            local command=$words[n]
            words=(\"$words[1]\" \"${{(@)words[n+1,-1]}}\")
            (( CURRENT -= n - 1 ))
            _{PROGRAM}-$command
            return
        esac
    done
    _{PROGRAM}-mesh
}}

if [ \"$funcstack[1]\" = \"_{PROGRAM}\" ]; then
    _{PROGRAM} \"$@\"
else
    compdef _{PROGRAM} {PROGRAM}
fi
"
    )
}

/// Returns the manual page of a command.
fn page(command: &Command) -> Vec<u8> {
    let is_program = command.name.is_empty();
    let name = if is_program {
        PROGRAM.to_string()
    } else {
        format!("{PROGRAM}-{}", command.name)
    };
    let words = name.replace('-', " ");
    let mut parser = command.parser().display_name(name.clone()).bin_name(words);
    let usage = parser.render_usage().to_string();
    let man = Man::new(parser).title(name.to_uppercase());
    let examples = if is_program {
        help::EXAMPLES
    } else {
        command.examples
    };
    let commands: Vec<_> = named()
        .map(|command| format!("{PROGRAM}-{}(1)  {}", command.name, command.about))
        .collect();
    let mut text = vec![];
    let mut write = || -> std::io::Result<()> {
        man.render_title(&mut text)?;
        man.render_name_section(&mut text)?;
        section("SYNOPSIS", usage.trim_start_matches("Usage: ")).to_writer(&mut text)?;
        preformatted("EXAMPLES", examples).to_writer(&mut text)?;
        man.render_options_section(&mut text)?;
        if is_program {
            preformatted("COMMANDS", &commands.join("\n")).to_writer(&mut text)?;
            section("NOTES", help::GENERAL).to_writer(&mut text)?;
            preformatted("EXIT STATUS", help::EXIT_CODES).to_writer(&mut text)?;
        } else if !command.notes.is_empty() {
            section("NOTES", command.notes).to_writer(&mut text)?;
        }
        Ok(())
    };
    write().expect("a buffer takes all that is written");
    text
}

/// Returns a section of the manual page with a text of several paragraphs.
fn section(heading: &str, text: &str) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", [heading]);
    for paragraph in text.split("\n\n") {
        roff.control("PP", []);
        roff.text([roman(paragraph)]);
    }
    roff
}

/// Returns a section of the manual page whose lines are not wrapped.
fn preformatted(heading: &str, lines: &str) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", [heading]);
    roff.control("nf", []);
    for line in lines.lines() {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
    roff
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn completions_know_every_command_and_option() {
        let mut seen = 0;
        for shell in Shell::value_variants() {
            let text = String::from_utf8(script(*shell)).unwrap();
            for command in COMMANDS {
                assert!(text.contains(command.name), "{shell}: {}", command.name);
                for long in command
                    .parser()
                    .get_arguments()
                    .filter_map(clap::Arg::get_long)
                {
                    assert!(text.contains(long), "{shell}: --{long}");
                    seen += 1;
                }
            }
        }
        assert!(seen > 100, "{seen}");
    }

    #[test]
    fn pages_have_every_option_and_example() {
        let mut seen = 0;
        for command in COMMANDS {
            let text = String::from_utf8(page(command))
                .unwrap()
                .replace("\\-", "-");
            let arguments = command.parser();
            let shown = arguments.get_arguments().filter(|arg| !arg.is_hide_set());
            for long in shown.filter_map(clap::Arg::get_long) {
                assert!(
                    text.contains(&format!("--{long}")),
                    "{}: --{long}",
                    command.name
                );
                seen += 1;
            }
            assert!(text.contains(".SH EXAMPLES"), "{}", command.name);
        }
        assert!(seen > 50, "{seen}");
    }
}
