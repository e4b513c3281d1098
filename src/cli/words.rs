//! What any words come to, up to what a dry run says, without a look at any file: for the test below
//! and for fuzzing, which feeds it words that nobody would type.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::error::ErrorKind;
use voxelize::mesh::read::Packing;
use voxelize::{Error, Mesh, Result, Run, format};

use super::args::Args;
use super::estimate::Estimate;
use super::facts::{Ending, Facts, Source, Warning};
use super::job::Recipe;
use super::plan::{Plan, Telling};
use super::room::{self, Room};
use super::typed::Typed;
use super::verb::Verb;
use super::{Request, errors, json, make, many, parse, summary, tell, why};

/// What is said in the end.
pub enum Said {
    /// Help, version.
    Text(String),
    /// A verb would be called, and looks at files.
    Called(&'static str),
    /// Several meshes would be looked for, and what is to become of them makes sense.
    Many,
    /// What a dry run says to people, and to programs.
    Planned { text: String, json: String },
    /// What was wrong: the error, as it is printed, and the exit code.
    Failed { error: Error, printed: String, exit_code: u8 },
}

/// What is said to `words`, the name of the program first. They are taken as they are, but that files
/// are devices: nothing is read, and nothing could be written.
pub fn said(words: impl IntoIterator<Item = impl Into<OsString>>) -> Said {
    let typed = Typed::new(words);
    let result = match typed.verb() {
        Some(verb) => called(verb, &typed),
        None => parse(&typed).and_then(|request| match request {
            Request::Show(text) => Ok(Said::Text(text)),
            Request::Voxelize(args) => planned(without_files(*args), &typed),
        }),
    };
    result.unwrap_or_else(|error| {
        let (printed, exit_code) = (errors::text("", &error), errors::exit_code(&error, None));
        Said::Failed { error, printed, exit_code }
    })
}

/// What a verb takes words for, before it looks at any file.
fn called(verb: &Verb, typed: &Typed) -> Result<Said> {
    match verb.command().try_get_matches_from(typed.words()) {
        Ok(_) => Ok(Said::Called(verb.name)),
        Err(e) if e.kind() == ErrorKind::DisplayHelp => Ok(Said::Text(e.render().to_string())),
        Err(e) => Err(errors::from_clap(&e, typed)),
    }
}

fn planned(args: Args, typed: &Typed) -> Result<Said> {
    if many::is_asked(&args) {
        return Recipe::new(args.grid, &args.rule, &args.read, &args.run, typed).map(|_| Said::Many);
    }
    let telling = Telling::new(&args.tell, args.input.meshes.first().cloned());
    let plan = Plan::resolve(args, telling.json.as_ref(), typed)?;
    let (mesh, mut facts) = (pyramid(), Facts::new(Instant::now()));
    facts.source = Some(Source {
        format: "stl-binary",
        bytes: 284,
        triangles: mesh.triangles().len(),
        degenerate: mesh.degenerate(),
        dropped: 0,
        packing: Packing::None,
        bounds: *mesh.bounds(),
    });
    let lattice = make::fit(&plan.job, &mesh, &mut facts)?;
    let options = format::SaveOptions { dtype: plan.output.dtype, ..Default::default() };
    format::check(&lattice, plan.output.format, &options)?;
    let limits = format::warnings(lattice.dims(), plan.output.format);
    facts.warnings.extend(limits.into_iter().map(|text| Warning::new("W004", text)));
    let run = Run { max_memory: room::for_job(&plan.job.how), ..Run::default() };
    let room = Room::find(&plan, &mesh, &lattice, &run)?;
    facts.estimate = Some(Estimate::new(&mesh, &lattice, &room, &plan.output));
    facts.room = Some(room);
    let odd = facts.odd_lines(telling.voice).collect();
    let text = tell::text(&[summary::lines(&plan, &facts), odd, why::lines(&plan, &facts)].concat());
    Ok(Said::Planned { text, json: json::line(&telling, Some(&plan), &facts, &Ending::Planned) })
}

/// With devices in place of the files that were named; formats are those of the names. No device is a
/// grid to be like.
fn without_files(mut args: Args) -> Args {
    let output = &mut args.output;
    let named = output.output.take().filter(|path| !path.as_os_str().as_encoded_bytes().ends_with(b"/"));
    let unnamed = || if named.is_none() { format::by_name("vox") } else { None };
    output.format = output.format.or_else(|| named.as_deref().and_then(format::by_path)).or_else(unnamed);
    output.output = Some(PathBuf::from("/dev/null"));
    if args.tell.json.as_deref().is_some_and(|path| path != Path::new("-")) {
        args.tell.json = Some(PathBuf::from("-"));
    }
    args.input.meshes.fill(PathBuf::from("/dev/zero"));
    args.grid.like = None;
    args
}

/// A mesh whose extents differ, one of them no double.
fn pyramid() -> Mesh {
    let corners = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [4.0, 2.5, 0.0], [0.0, 2.5, 0.0]];
    let sides = (0..4).map(|n| [corners[n], corners[(n + 1) % 4], [1.0, 1.0, -0.7]]);
    Mesh::from_triangles(sides.collect()).expect("finite coordinates")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_to_plans_or_to_errors() {
        for (line, code, expected) in [
            ("a.stl", 0, "grid    256 × 160 × 45 cells of 0.015625, corner (0, 0, -0.7)"),
            ("a.stl --voxel-size 0.1", 0, "grid    40 × 25 × 7 cells of 0.1, corner (0, 0, -0.7)"),
            ("a.stl --dims 8,8,8 --stretch -o a.npy", 0, "why     format npy: --format"),
            ("a.stl -r 4096 --max-memory 64M -o a.raw", 0, "--max-memory allows 64 MiB"),
            ("--version", 0, "voxelize "),
            (
                "a.stl --dims 8,8,8 --stretch",
                2,
                "error: a .vox file cannot hold cells that are not cubes\nhint: ",
            ),
            ("view a.vox --size 64x48", 0, "calls view"),
            ("diff --help", 0, "--iou"),
            ("-q info --frobnicate", 2, "error: --frobnicate: no such option\nhint: "),
            ("a.stl b.stl", 0, "several meshes"),
            ("--files-from a.txt -o out/ --strict", 0, "several meshes"),
            ("a.stl b.stl --stretch", 2, "error: --stretch needs --dims\nhint: "),
            ("a.stl -0", 2, "error: -0 needs --files-from\nhint: "),
            ("a.stl -o out/", 0, "as vox"),
            ("a.stl -v --voxel-size 1,1,0.000001 -o a.raw", 0, "warn: "),
            ("a.stl --strict --voxel-size 1,1,0.000001 -o a.raw", 3, "error: "),
            ("a.stl --dims 8,\t8,8", 0, ": --dims 8,\u{fffd}8,8\n"),
            ("a.stl --res 0", 2, "error: --res 0: must be at least 1\nhint: such as --res 256"),
            ("--pitch 1 --res 2 a.stl", 2, "exclude each other"),
            ("a.stl --close-holes 2", 2, "error: --close-holes: is for a flood, and the rule surface"),
            ("a.stl --solid --inside flood --close-holes 2", 0, "; holes of at most 2 cells closed"),
            ("a.stl --solid --leak l.vox", 2, "error: --leak: is for a flood, and inside is told by auto"),
            ("a.stl -r 99999999", 5, "more than 16777216 cells along x"),
            ("", 2, "error: no mesh is given"),
        ] {
            let words = std::iter::once("voxelize").chain(line.split(' ').filter(|word| !word.is_empty()));
            let (found, text) = match said(words) {
                Said::Text(text) => (0, text),
                Said::Called(verb) => (0, format!("calls {verb}")),
                Said::Many => (0, "several meshes".to_string()),
                Said::Planned { text, json } => {
                    assert!(json.contains(r#""status":"planned","exit_code":0"#), "{line}: {json}");
                    (0, text)
                }
                Said::Failed { error, printed, exit_code } => {
                    assert!(printed.contains(error.message()), "{line}: {error:?}");
                    (exit_code, printed)
                }
            };
            assert_eq!(found, code, "{line}: {text}");
            assert!(text.contains(expected), "{line}: {text}");
        }
    }
}
