//! The two pages of help and the text of --version. Tests hold them, and the pages of verbs, against
//! the options that exist.

use voxelize::Level;
use voxelize::METHODS;
use voxelize::format::FORMATS;
use voxelize::mesh::read::INPUTS;

use super::verb::{VERBS, Verb};

/// The head of the long page.
pub fn before() -> String {
    BEFORE.replace("{verbs}", &verbs("  "))
}

/// The verbs, a line each, behind `margin`.
fn verbs(margin: &str) -> String {
    let line = |verb: &Verb| format!("{margin}{:10} {}", verb.name, verb.about);
    VERBS.iter().map(line).collect::<Vec<_>>().join("\n")
}

const BEFORE: &str = "\
Turn triangle meshes into voxels, exactly.

Usage: voxelize [OPTIONS] <MESH>...
       voxelize [OPTIONS] <COMMAND>

  voxelize part.stl                       surface, 256 cells long, part.vox
  voxelize part.stl --filled -r 512 -o part.npz    no hole inside, for NumPy
  voxelize part.stl --solid --voxel-size 0.5 --pad 1 -o part.raw
  voxelize part.stl --bounds -1,0,0,1,1,1 --voxel-size 0.1 -o corner.npy
  voxelize scan.stl --filled --inside flood --close-holes 3 --leak leak.vox
  voxelize new.stl --like old.npz -o new.npz    on the same grid, to compare
  voxelize scans/ -r 64 -f npz -o out/    every mesh in a folder, one file each
  find . -name '*.stl' -print0 | voxelize -0 --files-from - --same-grid -o out/
  voxelize - -f npy -o - < part.stl       from a pipe to a pipe
  voxelize part.stl -r 4096 --dry-run     what would happen: grid, memory, bytes

Commands; 'voxelize COMMAND --help' has the options and examples of each:
{verbs}
A mesh of that name is written ./formats";

/// The foot of the long page.
pub const AFTER: &str = "\
Order is always x, y, z; the origin of a grid is the outer corner of its first cell.
The digests in the summary are the same for every number of threads, instruction set, limit of
memory, order of triangles and output format: compare them instead of files.

An output is written beside its place, put on the disk, and renamed: after an error, an interrupt or a
full disk, what was there before is still there. Of many meshes, one that fails stops no other.

Exit codes:
    0  done
    1  a gate said no: the grids that were compared differ, --max-doubt is exceeded
    2  the question was wrong: options that conflict, a value out of range
    3  the input cannot be read: missing, cut short, not a mesh
    4  the mesh is unfit for what was asked: it has no triangles, or no size to divide
    5  the result does not fit: memory, or a limit of the format
    6  the output could not be written
    7  some of many failed, for different reasons; else the code they have in common
  130  interrupted (143 when terminated, 129 when the terminal went); nothing is left behind";

/// The short page: all of it in sight at once.
pub fn short() -> String {
    let formats: Vec<_> = FORMATS.iter().map(|format| format.name).collect();
    let mut inputs: Vec<_> =
        INPUTS.iter().flat_map(|input| input.extensions).map(|e| e.to_ascii_uppercase()).collect();
    inputs.dedup();
    let text = SHORT.replace("{formats}", &formats.join("|")).replace("{inputs}", &inputs.join(", "));
    let methods: Vec<_> = METHODS.iter().map(|method| method.name).collect();
    text.replace("{methods}", &methods.join("|")).replace("{verbs}", &verbs("        "))
}

const SHORT: &str = "\
Turn triangle meshes into voxels, exactly.

Usage: voxelize [OPTIONS] <MESH>...       (- reads standard input)
       voxelize <COMMAND>                 (see below)

  voxelize part.stl                       surface, 256 cells long, part.vox
  voxelize part.stl --filled -r 512 -o part.npz    no hole inside, for NumPy
  voxelize part.stl --solid --voxel-size 0.5 --pad 1 -o part.raw
  voxelize scans/ -r 64 -f npz -o out/    every mesh in a folder, one file each
  voxelize part.stl -r 4096 --dry-run     what would happen: grid, memory, bytes

Grid    -r, --res N            cells on the longest axis [256]
            --voxel-size S     cell size, 0.1 or SX,SY,SZ
            --dims X,Y,Z       exactly this many cubic cells
            --stretch          with --dims: fill the bounds, sides may differ
            --origin X,Y,Z     with --voxel-size: walls pass through here
            --bounds X0,Y0,Z0,X1,Y1,Z1   this box [the mesh's bounds]
            --cube             as many cells on every axis, mesh centred
            --pad N            cells to add on every side [0]
            --like FILE        the grid of this voxel file, all of it
            --same-grid        one grid for many, around all of them
            --snap float|none  take 0.7 as a float for 0.7 [float]
Rule        --surface          every cell the mesh touches [default]
            --filled           every cell the part has any share of
            --solid            cells whose centre is inside
            --rule RULE        the same, by name
            --inside METHOD    {methods}
            --close-holes N, --leak FILE   of a flood: small holes; its way in
            --doubt FILE, --max-doubt 1%   cells they do not agree on; a gate
            --keep-thin        with solid: what it loses as filled has it
            --hollow N         with filled: only the outer N cells
            --ties up|both|none  a face on a cell wall marks: the cell above /
                               both / neither [up; filled: none]
Input   MESH...                {inputs}, told by content; a folder: all in it
            --files-from LIST  names of meshes, one a line; - is standard input
        -0, --null             these end in NUL bytes
            --strict, --lenient  refuse whatever is odd; take what is whole
Output  -o, --output PATH      format from the extension; - is stdout,
                               DIR/ a file for each mesh [NAME.vox]
        -f, --format F         {formats} [by extension, else vox]
            --dtype bool|u8|bit   type of the numbers [the format's first]
            --sidecar          describe the grid in PATH.json; raw always does
            --skip-existing    leave out what is there already
            --no-sync          do not wait for the disk
            --json[=FILE]      summary as JSON, in place of the text or to FILE
        -q, --quiet            only errors
        -v, --verbose          what was chosen, and why
Run     -j, --threads N        threads [all]
            --simd LEVEL       instruction set; changes speed only [auto]
            --max-memory 4G    larger grids in slabs [refuse beyond available]
        -n, --dry-run          read, say what would happen, write nothing
Commands, with -q, -v, --json, -j, --simd, before or after, and --help:
{verbs}
Exit: 0 ok, 1 a gate said no, 2 usage, 3 bad input, 4 unfit mesh,
      5 does not fit, 6 not written, 7 some failed, 130 or 143 interrupted
-h this page, --help everything, -V, --version with the SIMD levels";

/// The text of --version.
pub fn version() -> String {
    let list = |levels: &[Level]| levels.iter().map(|level| level.name()).collect::<Vec<_>>().join(" ");
    let offered = Level::available();
    format!(
        "voxelize {}\nthis build has the SIMD levels {}\nthis machine offers {}, and --simd auto takes {}",
        env!("CARGO_PKG_VERSION"),
        list(&Level::built()),
        list(&offered),
        Level::best().name()
    )
}

#[cfg(test)]
mod tests {
    use super::super::args;
    use super::*;

    /// Other names of an option.
    const ALIASES: [&str; 2] = ["--pitch", "--spacing"];

    /// The long options of a command.
    fn options(command: &clap::Command) -> Vec<String> {
        let long = |arg: &clap::Arg| arg.get_long().map(|long| format!("--{long}"));
        command.get_arguments().filter_map(long).collect()
    }

    /// Everything in `text` that looks like a long option.
    fn named(text: &str) -> Vec<&str> {
        text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'))
            .filter(|word| word.len() > 2 && word.starts_with("--"))
            .collect()
    }

    #[test]
    fn both_pages_name_every_option_and_no_other() {
        let long = args::command().render_long_help().to_string();
        let options = options(&args::command());
        assert!(options.len() > 20, "{options:?}");
        for page in [short(), long] {
            for option in &options {
                assert!(named(&page).contains(&option.as_str()), "{option} is not in\n{page}");
            }
            for word in named(&page) {
                let known = options.iter().any(|option| option == word) || ALIASES.contains(&word);
                assert!(known, "{word} is no option, but in\n{page}");
            }
        }
    }

    #[test]
    fn the_short_page_is_the_text_here_alone_and_fits_a_screen() {
        let page = args::command().render_help().to_string();
        assert_eq!(page.trim(), short());
        assert!(page.lines().count() <= 60);
        for line in page.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn verbs_have_a_page_with_examples_and_the_options_that_all_share() {
        const SHARED: [&str; 6] = ["--json", "--quiet", "--verbose", "--threads", "--simd", "--help"];
        assert!(!VERBS.is_empty());
        for verb in VERBS {
            let page = verb.command().render_long_help().to_string();
            let options = options(&verb.command());
            for option in options.iter().map(String::as_str).chain(SHARED) {
                assert!(named(&page).contains(&option), "{option} is not in\n{page}");
            }
            for word in named(&page) {
                let known = options.iter().any(|option| option == word) || ALIASES.contains(&word);
                assert!(known, "{word} is no option, but in\n{page}");
            }
            assert!(page.contains(&format!("Usage: voxelize {} ", verb.name)), "{page}");
            let example = |line: &str| line.starts_with(&format!("voxelize {} ", verb.name));
            assert!(verb.examples.lines().filter(|line| example(line)).count() > 1, "{}", verb.examples);
            for main in [short(), before()] {
                let says = |line: &&str| line.trim().starts_with(&format!("{} ", verb.name));
                assert!(main.lines().find(says).is_some_and(|line| line.contains(verb.about)), "{main}");
            }
        }
    }

    #[test]
    fn options_with_values_name_their_default() {
        // Without these nothing happens that they could change.
        const NO_DEFAULT: [&str; 5] = ["--voxel-size", "--dims", "--like", "--json", "MESH"];
        let commands = VERBS.iter().map(Verb::command).chain([args::command()]);
        let mut seen = 0;
        for arg in commands.flat_map(|command| command.get_arguments().cloned().collect::<Vec<_>>()) {
            if !arg.get_action().takes_values() || arg.is_required_set() {
                continue;
            }
            let name = arg.get_long().map_or("MESH".to_string(), |long| format!("--{long}"));
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            assert!(NO_DEFAULT.contains(&name.as_str()) || help.contains("[default: "), "{name}: {help}");
            seen += 1;
        }
        assert!(seen > 10, "{seen}");
        let default = format!("[default: {}]", args::DEFAULT_RES);
        assert!(args::command().render_long_help().to_string().contains(&default));
        assert!(short().contains(&format!("longest axis [{}]", args::DEFAULT_RES)));
    }
}
