//! Help pages, which are generated from the commands and their options, and the text of `--version`.

use clap::Arg;
use voxelize::Level;
use voxelize::format::Choice;

use super::argv::spelled;
use super::command::Command;
use super::{COMMANDS, meshes};

/// Groups of options, in the order in which the pages show them.
const GROUPS: [&str; 5] = ["Grid", "Rule", "Input", "Output", "Run"];

/// Column at which the description of an option begins.
const COLUMN: usize = 31;
const WIDTH: usize = 80;

/// Commands that the short page lists by name only.
const RARE: [&str; 4] = ["plan", "finish", "completions", "man"];

const SHORT_HEAD: &str = "\
Turn triangle meshes into voxels, exactly.

Usage: voxelize [OPTIONS] <MESH>...        (- reads standard input)
       voxelize <COMMAND>

  voxelize part.stl                       surface, 256 cells long, part.vox
  voxelize part.stl --filled -r 512 -o part.npz    no hole inside, for NumPy
  voxelize part.stl --solid --voxel-size 0.5 --pad 1 -o part.raw
  voxelize scans/ -r 64 -f npz -o out/    every mesh in a folder, one file each
  voxelize part.stl -r 4096 -f npy -n     the plan only: grid, memory, bytes
";

const SHORT_FOOT: &str = "\
Exit: 0 ok, 1 check failed, 2 usage error, 3 unreadable input, 4 unsuitable
      mesh, 5 too large, 6 not written, 7 mixed codes, 70 a bug, 130 interrupted
-h this page, --help everything, 'voxelize COMMAND --help' one command";

const LONG_HEAD: &str = "\
Turn triangle meshes into voxels, exactly.

Usage: voxelize [OPTIONS] <MESH>...
       voxelize [OPTIONS] <COMMAND>
       voxelize [OPTIONS] <STORE> --region I/N      ('voxelize plan --help')
";

/// Examples of the conversion.
pub const EXAMPLES: &str = "\
voxelize part.stl                       surface, 256 cells long, part.vox
voxelize part.stl --filled -r 512 -o part.npz    no hole inside, for NumPy
voxelize part.stl --solid --voxel-size 0.5 --pad 1 -o part.raw
voxelize part.stl --bounds -1,0,0,1,1,1 --voxel-size 0.1 -o corner.npy
voxelize scan.stl --filled --inside flood --close-holes 3 --leak leak.vox
voxelize new.stl --like old.npz -o new.npz    on the same grid, to compare
voxelize scans/ -r 64 -f npz -o out/    every mesh in a folder, one file each
find . -name '*.stl' -print0 | voxelize -0 --files-from - --same-grid -o out/
voxelize - -f npy -o - < part.stl       from a pipe to a pipe
voxelize part.stl -r 4096 -f npy -n     the plan only: grid, memory, bytes";

pub const GENERAL: &str = "\
Axes are always in the order x, y, z. The origin of a grid is the outer corner of its first cell. The digests \
in the summary do not depend on threads, instruction set, memory limit, order of triangles or output format: \
compare digests instead of files.

An output is written to a temporary file in its folder, flushed to the disk and renamed. After an error, an \
interrupt or a full disk the old file is intact. A failing mesh does not stop the others; each failure names its \
file.";

/// Meaning of the exit codes, one per line.
pub const EXIT_CODES: &str = "\
0  done
1  check failed: grids differ, meshes nearer than --min-distance, --max-doubt, 'check --require'
2  usage error: options that conflict, a value out of range
3  unreadable input: missing, cut short, not a mesh, or S and L findings under --strict
4  unsuitable mesh: it has no triangles, no extent, or M findings under 'check --strict'
5  the result does not fit: memory, or a limit of the format
6  the output could not be written
7  some meshes failed, for different reasons; if all codes agree, that code
70  an internal error, which is a bug: please report it
130  interrupted (143 when terminated, 129 when the terminal closed); no partial file is left";

/// Adds the help pages of all commands to the command line.
pub fn with_pages(tree: clap::Command) -> clap::Command {
    let commands = list(COMMANDS, "  ");
    tree.help_template("{before-help}{all-args}{after-help}")
        .max_term_width(100)
        .mut_args(|arg| arg.hide_short_help(true))
        .before_help(short_page(COMMANDS))
        .before_long_help(format!(
            "{LONG_HEAD}\n{}\nCommands; 'voxelize COMMAND --help' has the options and examples of each:\n{commands}If a mesh has the name of a command, write its path: ./formats",
            indented(EXAMPLES),
        ))
        .after_long_help(format!("{GENERAL}\n\nExit codes:\n{}", exit_codes()))
        .mut_subcommands(with_page)
}

/// Adds the help page of a command. The command is hidden from the list that clap generates.
fn with_page(parser: clap::Command) -> clap::Command {
    let Some(command) = crate::cli::command_of_name(parser.get_name()) else {
        return parser;
    };
    let about = capitalised(command.about);
    parser
        .hide(true)
        .help_template(format!(
            "{about}.\n\nUsage: {{usage}}\n\n{{before-help}}{{all-args}}{{after-help}}"
        ))
        .before_help(indented(command.examples).trim_end().to_string())
        .after_help(command.notes)
}

/// Returns the text with a capital first letter.
pub fn capitalised(text: &str) -> String {
    let (first, rest) = text.split_at(1);
    first.to_uppercase() + rest
}

fn indented(lines: &str) -> String {
    lines.lines().map(|line| format!("  {line}\n")).collect()
}

/// Returns the table of exit codes with aligned columns.
fn exit_codes() -> String {
    let line = |line: &str| {
        line.split_once("  ")
            .map_or_else(String::new, |(code, what)| format!("{code:>5}  {what}"))
    };
    EXIT_CODES.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns a list of the commands, one per line. Each line begins with `margin`.
fn list<'a>(commands: impl IntoIterator<Item = &'a Command>, margin: &str) -> String {
    let line = |command: &Command| format!("{margin}{:11} {}\n", command.name, command.about);
    commands
        .into_iter()
        .filter(|command| !command.name.is_empty())
        .map(line)
        .collect()
}

/// Returns the page of `-h`. Usual options have one line each. Rare options are listed by name only.
fn short_page(commands: &[Command]) -> String {
    let parser = meshes::COMMAND.parser();
    let groups: String = GROUPS
        .iter()
        .map(|group| group_lines(&parser, group))
        .collect();
    // Commands that only clusters and packagers need are listed by name only.
    let (rare, usual): (Vec<&Command>, Vec<&Command>) = commands
        .iter()
        .partition(|command| RARE.contains(&command.name));
    let rare: String = rare
        .iter()
        .map(|command| format!("  {}", command.name))
        .collect();
    let commands = format!("{}        also{rare}\n", list(usual, "        "));
    let shared = "Commands, with -q, -v, --json, -j, --simd, before or after, and --help:";
    format!("{SHORT_HEAD}\n{groups}{shared}\n{commands}{SHORT_FOOT}")
}

fn group_lines(parser: &clap::Command, group: &str) -> String {
    // Options for variants of formats are described on the page of `voxelize formats`.
    let is_choice = |arg: &Arg| {
        Choice::ALL
            .iter()
            .any(|choice| arg.get_long() == Some(choice.option()))
    };
    let of_group = parser
        .get_arguments()
        .filter(|arg| arg.get_help_heading() == Some(group) && !is_choice(arg));
    let (rare, usual): (Vec<&Arg>, Vec<&Arg>) =
        of_group.partition(|arg| arg.is_hide_short_help_set());
    // File arguments come before the options.
    let (options, names): (Vec<&Arg>, Vec<&Arg>) =
        usual.into_iter().partition(|arg| arg.get_long().is_some());
    let mut lines: Vec<String> = names.into_iter().chain(options).map(option_line).collect();
    let mut names = rare.into_iter().map(spelled).peekable();
    while let Some(name) = names.next() {
        let mut line = format!("    also {name}");
        while let Some(next) = names.next_if(|next| 8 + line.len() + 2 + next.len() <= WIDTH) {
            line += &format!("  {next}");
        }
        lines.push(line);
    }
    let first = |n: usize| if n == 0 { group } else { "" };
    lines
        .iter()
        .enumerate()
        .map(|(n, line)| format!("{:<8}{line}\n", first(n)))
        .collect()
}

fn option_line(arg: &Arg) -> String {
    let short = arg
        .get_short()
        .map_or_else(String::new, |short| format!("-{short}, "));
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let name = match arg.get_long() {
        None => spelled(arg),
        Some(_) => format!("{short:<4}{}", spelled(arg)),
    };
    format!("{name:<width$}  {help}", width = COLUMN - 10)
}

/// Returns the text of `--version`.
pub fn version() -> String {
    let list = |levels: &[Level]| {
        levels
            .iter()
            .map(|level| level.name())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let offered = Level::available();
    format!(
        "voxelize {}\nthis build has the SIMD levels {}\nthis machine offers {}, and --simd auto takes {}\n",
        env!("CARGO_PKG_VERSION"),
        list(&Level::built()),
        list(&offered),
        Level::best().name()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns every word in `text` that looks like a long option.
    fn named(text: &str) -> Vec<&str> {
        text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'))
            .filter(|word| word.len() > 2 && word.starts_with("--"))
            .collect()
    }

    #[test]
    fn the_short_page_has_every_option_and_fits_a_screen() {
        let page = short_page(COMMANDS);
        let mut seen = 0;
        let choices: Vec<_> = Choice::ALL.iter().map(|choice| choice.option()).collect();
        for long in meshes::COMMAND
            .parser()
            .get_arguments()
            .filter_map(Arg::get_long)
        {
            if choices.contains(&long) {
                continue;
            }
            let is_there = named(&page).contains(&format!("--{long}").as_str());
            assert!(is_there || long == "version", "{long} is not in\n{page}");
            seen += 1;
        }
        assert!(
            seen > 20 && page.lines().count() <= 62,
            "{}\n{page}",
            page.lines().count()
        );
        for line in page.lines() {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
    }

    #[test]
    fn commands_have_a_page_with_examples() {
        let mut pages = with_pages(crate::cli::command_line());
        pages.build();
        for command in COMMANDS.iter().filter(|command| !command.name.is_empty()) {
            let page = pages
                .find_subcommand_mut(command.name)
                .unwrap()
                .render_long_help()
                .to_string();
            assert!(
                page.contains(&format!("Usage: voxelize {} ", command.name)),
                "{page}"
            );
            let example = |line: &&str| line.starts_with(&format!("voxelize {} ", command.name));
            assert!(
                command.examples.lines().filter(example).count() > 1,
                "{}",
                command.examples
            );
            let is_rare = RARE.contains(&command.name);
            assert!(
                is_rare || short_page(COMMANDS).contains(command.about),
                "{}",
                command.about
            );
            for shared in [
                "--json",
                "--quiet",
                "--verbose",
                "--threads",
                "--simd",
                "--help",
            ] {
                assert!(named(&page).contains(&shared), "{shared} is not in\n{page}");
            }
        }
    }

    /// Options whose long help does not have to state a default.
    const NO_DEFAULT: [&str; 6] = ["voxel-size", "dims", "like", "radius", "json", "MESH"];

    #[test]
    fn options_say_one_line_for_the_screen_and_at_most_three_more_with_their_default() {
        let mut seen = 0;
        for command in COMMANDS {
            for arg in command.parser().get_arguments() {
                let name = arg.get_long().unwrap_or("MESH");
                let short = arg.get_help().map(ToString::to_string).unwrap_or_default();
                let long = arg
                    .get_long_help()
                    .map_or_else(|| short.clone(), ToString::to_string);
                assert!(
                    !short.is_empty() && !short.contains('\n') && long.len() <= 275,
                    "{name}: {long}"
                );
                if arg.get_action().takes_values() && !arg.is_required_set() {
                    let has_default = long.contains("[default: ");
                    assert!(has_default || NO_DEFAULT.contains(&name), "{name}: {long}");
                    seen += 1;
                }
            }
        }
        assert!(seen > 10, "{seen}");
        assert!(
            meshes::COMMAND
                .parser()
                .render_long_help()
                .to_string()
                .contains(&format!("{}]", voxelize::job::DEFAULT_RES))
        );
    }
}
