//! What is said of several meshes: of each as soon as all before it are done, so that the order is theirs,
//! and of all in the end.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use voxelize::run::bytes;

use super::super::bar::Bar;
use super::super::facts::{Ending, Facts};
use super::super::numbers::{counted, grouped};
use super::super::plan::{Mode, Plan, Voice};
use super::super::signals::Signals;
use super::super::typed::JsonTarget;
use super::super::{errors, json, summary, tell};
use super::work::Done;
use super::{Item, Many};

/// What is to be said of a mesh that is done.
pub struct Ended {
    /// For stderr.
    text: String,
    /// A line of JSON, if that is wanted.
    json: Option<String>,
    /// What it counts as.
    sort: Sort,
    code: u8,
    /// Occupied cells.
    cells: u64,
    /// What was written, or would be; for a dry run only where it can be estimated.
    bytes: u64,
    /// What it takes in memory; for a dry run.
    memory: u64,
}

/// What became of a mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    /// It was written, or would be.
    Good,
    Skipped,
    Failed,
    Interrupted,
}

impl Ended {
    pub fn new(many: &Many, item: &Item, done: &Done) -> Self {
        let Done { plan, facts, ending } = done;
        let json = many.telling.json.as_ref().map(|_| {
            let mut telling = many.telling.clone();
            telling.mesh = Some(item.path.clone());
            json::line(&telling, plan.as_ref(), facts, ending) + "\n"
        });
        let (sort, code) = match ending {
            Ending::Done | Ending::Planned | Ending::Closed => (Sort::Good, errors::OK),
            // It was written all the same.
            Ending::Doubtful => (Sort::Good, errors::NO),
            Ending::Skipped => (Sort::Skipped, errors::OK),
            Ending::Failed(error, code) if error.kind() == voxelize::Kind::Interrupted => {
                (Sort::Interrupted, *code)
            }
            Ending::Failed(_, code) => (Sort::Failed, *code),
        };
        let estimated = facts.estimate.as_ref();
        let written: u64 = facts.outputs.iter().flatten().map(|written| written.bytes).sum();
        Self {
            text: text(many, item, done),
            json,
            sort,
            code,
            cells: facts.occupied.filter(|_| sort == Sort::Good).unwrap_or(0),
            bytes: written + estimated.and_then(|e| e.output).map_or(0, |size| size.bytes()),
            memory: estimated.map_or(0, |estimate| estimate.memory),
        }
    }
}

/// What is said of one: an error always, warnings unless quiet, all else only if verbose.
fn text(many: &Many, item: &Item, Done { plan, facts, ending }: &Done) -> String {
    let (name, voice) = (item.path.display(), many.voice());
    let mut text = match (ending, plan) {
        // Said once, for all.
        (Ending::Failed(error, _), _) if error.kind() == voxelize::Kind::Interrupted => String::new(),
        (Ending::Failed(error, _), _) => {
            // Not every error has the name of a file, and not every name is that of the mesh.
            let is_named = error.file() == Some(&name.to_string());
            errors::text(&if is_named { String::new() } else { format!("{name}: ") }, error)
        }
        (_, Some(plan)) if voice == Voice::Verbose => {
            format!("{name}: {}\n", outcome(plan, facts))
        }
        _ => String::new(),
    };
    if let (Ending::Doubtful, Some(found)) = (ending, &facts.doubt) {
        text += &format!("{name}: {}\n", found.refusal());
    }
    if voice != Voice::Quiet {
        text.extend(facts.odd(voice).map(|warning| warning.line_of(&name.to_string()) + "\n"));
    }
    text
}

/// What became of a mesh, in brief.
fn outcome(plan: &Plan, facts: &Facts) -> String {
    let grid = facts.lattice.as_ref().map_or_else(String::new, |lattice| {
        let [x, y, z] = lattice.dims();
        format!("{x} × {y} × {z} cells, ")
    });
    let time = summary::short(facts.started.elapsed());
    match (facts.occupied, &facts.estimate) {
        (Some(occupied), _) => {
            format!("{grid}{} occupied; wrote {}, {time}", grouped(occupied), plan.output.name())
        }
        (None, Some(estimate)) => {
            let memory = bytes(u128::from(estimate.memory));
            format!("{grid}{memory} of memory; would be {}", plan.output.name())
        }
        (None, None) => format!("skipped, {} is there already", plan.output.name()),
    }
}

/// Says what becomes of meshes, in their order, whatever the order they are done in.
pub struct Teller<'a> {
    many: &'a Many,
    bar: &'a Bar,
    told: Mutex<Told>,
}

/// What was said, and what waits for others.
#[derive(Default)]
struct Told {
    waiting: BTreeMap<usize, Ended>,
    next: usize,
    /// What goes to the file of `--json`.
    lines: String,
    codes: Vec<u8>,
    counts: [u64; 4],
    cells: u64,
    bytes: u64,
    /// The most that one takes.
    memory: u64,
}

impl<'a> Teller<'a> {
    pub fn new(many: &'a Many, bar: &'a Bar) -> Self {
        Self { many, bar, told: Mutex::default() }
    }

    /// Takes what is to be said of number `n`, and says what is due.
    pub fn take(&self, n: usize, ended: Ended) {
        let mut told = self.told.lock().unwrap_or_else(|e| e.into_inner());
        told.waiting.insert(n, ended);
        loop {
            let next = told.next;
            let Some(ended) = told.waiting.remove(&next) else { return };
            told.next += 1;
            self.say(&mut told, &ended);
        }
    }

    fn say(&self, told: &mut Told, ended: &Ended) {
        told.codes.push(ended.code);
        told.counts[ended.sort as usize] += 1;
        told.cells += ended.cells;
        told.bytes += ended.bytes;
        told.memory = told.memory.max(ended.memory);
        if !ended.text.is_empty() {
            // If stderr is gone there is nobody left to tell.
            self.bar.aside(|| drop(std::io::stderr().write_all(ended.text.as_bytes())));
        }
        match (&self.many.telling.json, &ended.json) {
            (Some(target @ JsonTarget::Stdout), Some(line)) => {
                let code = self.bar.aside(|| tell::write_json_after(target, line, errors::OK));
                told.codes.push(code);
            }
            (_, Some(line)) => told.lines += line,
            _ => {}
        }
    }

    /// Says what became of all, and gives the exit code.
    pub fn end(self, signals: &Signals, started: Instant) -> u8 {
        let many = self.many;
        let told = self.told.into_inner().unwrap_or_else(|e| e.into_inner());
        let interrupted = told.counts[Sort::Interrupted as usize] > 0;
        let code = match signals.caught() {
            Some(signal) if interrupted => 128 + signal,
            _ => errors::common_code(told.codes.iter().copied()),
        };
        let mut text = String::new();
        if interrupted {
            text += "error: interrupted; what was written is whole\n";
        }
        let to_stdout = many.telling.json == Some(JsonTarget::Stdout);
        if many.voice() != Voice::Quiet && !to_stdout {
            tell::line(&mut text, "total", &total(many, &told, started.elapsed()));
        }
        let _ = std::io::stderr().write_all(text.as_bytes());
        match &many.telling.json {
            Some(target @ JsonTarget::File(_)) => tell::write_json_after(target, &told.lines, code),
            _ => code,
        }
    }
}

/// `490 of 500 written to out/, 10 failed; …`.
fn total(many: &Many, told: &Told, time: Duration) -> String {
    let [good, skipped, failed, interrupted] = told.counts;
    let all = grouped(many.items.len() as u64);
    let would = if many.mode == Mode::DryRun { "would be written" } else { "written" };
    let folder = many.output.folders.as_ref().map_or_else(String::new, |f| f.root().display().to_string());
    let mut text = format!("{} of {all} {would} to {folder}", grouped(good));
    for (count, what) in [(skipped, "skipped"), (failed, "failed"), (interrupted, "interrupted")] {
        if count > 0 {
            text += &format!(", {} {what}", grouped(count));
        }
    }
    text += &match many.mode {
        Mode::Write => {
            let cells = counted(told.cells, "cell", "cells");
            format!("; {cells} occupied, {}", bytes(u128::from(told.bytes)))
        }
        Mode::DryRun => {
            let [memory, written] = [told.memory, told.bytes].map(|n| bytes(u128::from(n)));
            format!("; {written}, with {memory} of memory for the largest")
        }
    };
    format!("{text}; {}", summary::took(time, &[], &many.recipe.how, ""))
}

impl Many {
    fn voice(&self) -> Voice {
        self.telling.voice
    }
}
