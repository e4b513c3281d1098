//! What is shown: the cells of a voxel file, or of a mesh that is voxelized, or the mesh itself.

use std::path::Path;
use std::time::{Duration, Instant};

use clap::Args as _;
use serde_json::{Value, json}; // the schema is the command line's own
use voxelize::format::{self, Written};
use voxelize::{Digest, Error, Lattice, Mesh, Part, Rational, Result, Sort, Voxels};

use super::super::args::{GridArgs, RuleArgs};
use super::super::call::Call;
use super::super::facts::{Facts, timed};
use super::super::job::{How, Job};
use super::super::{errors, files, make};
use super::Args;
use super::request::{Request, What};

/// What was opened, and what is known of it.
pub struct Shown {
    /// The file, as messages call it.
    pub name: String,
    /// The mesh, where it is to be drawn.
    pub mesh: Option<Mesh>,
    /// The cells, where they are.
    pub parts: Vec<Part>,
    /// What was found on the way.
    pub facts: Facts,
    /// How long drawing took.
    pub draw: Option<Duration>,
}

impl Shown {
    /// Opens what is asked for.
    ///
    /// # Errors
    /// Whatever went wrong; options for meshes with a voxel file are a usage error.
    pub fn open(args: Args, request: &Request, call: &Call) -> Result<Self> {
        let facts = Facts::new(Instant::now());
        let name = args.file.display().to_string();
        let mut shown = Self { name, mesh: None, parts: Vec::new(), facts, draw: None };
        let beside = request.bytes(call.how.threads);
        request.admit(&How::new(&args.run.power, args.run.max_memory, call.typed)?)?;
        if matches!(request.what, What::Mesh) {
            refuse_given(call, "--mesh", "the triangles are drawn as they are")?;
            shown.read_mesh(args, beside, call)?;
        } else if let Some((voxels, parts)) = shown.voxel_file(&args.file, call)? {
            refuse_given(call, &shown.name, "a voxel file says where its cells are")?;
            shown.take(voxels, parts, None);
        } else {
            shown.voxelize(args, beside, call)?;
        }
        Ok(shown)
    }

    /// The cells of a voxel file; `None` if it is no such file, by content and name.
    fn voxel_file(&mut self, path: &Path, call: &Call) -> Result<Option<(Voxels, Vec<Part>)>> {
        if path.as_os_str() == "-" {
            return Ok(None);
        }
        files::is_there(path)?;
        call.listen()?;
        match timed(&mut self.facts.times.read, || format::open_parts(path)) {
            Err(error) if error.code() == "V001" && format::by_path(path).is_none() => Ok(None),
            read => read.map(Some),
        }
    }

    fn read_mesh(&mut self, args: Args, beside: u64, call: &Call) -> Result<()> {
        let mut job = Job::new(Some(args.file), args.grid, &args.rule, &args.run, call.typed)?;
        job.how.beside = beside;
        self.mesh = Some(make::read(&job, &call.bar(), call.signals, &mut self.facts)?);
        Ok(())
    }

    fn voxelize(&mut self, args: Args, beside: u64, call: &Call) -> Result<()> {
        let mut job = Job::new(Some(args.file), args.grid, &args.rule, &args.run, call.typed)?;
        job.how.beside = beside;
        let (voxels, digest) = make::voxels(&job, &call.bar(), call.signals, &mut self.facts)?;
        self.take(voxels, Vec::new(), Some(digest));
        Ok(())
    }

    fn take(&mut self, voxels: Voxels, parts: Vec<Part>, digest: Option<Digest>) {
        self.facts.digest = Some(digest.unwrap_or_else(|| voxels.digest()));
        self.facts.occupied = Some(voxels.count());
        self.facts.lattice = voxels.lattice;
        let whole = |cells| vec![Part { sort: Sort::Surface, cells }];
        self.parts = if parts.is_empty() { whole(voxels.bits) } else { parts };
    }

    /// Cells per axis.
    pub fn dims(&self) -> [usize; 3] {
        self.parts.first().map(|part| part.cells.dims()).unwrap_or_default()
    }

    /// The size of a cell; cubes where nothing says it.
    pub fn spacing(&self) -> [f64; 3] {
        let size = |lattice: &Lattice| lattice.spacing().each_ref().map(Rational::to_f64);
        self.facts.lattice.as_ref().map_or([1.0; 3], size)
    }

    /// Notes what was opened.
    pub fn know(&self, call: &mut Call) {
        let source = self.facts.source.as_ref();
        let (format, bytes) = (source.map(|source| source.format), source.map(|source| source.bytes));
        call.know("input", json!({"path": self.name, "format": format, "bytes": bytes}));
        if !self.parts.is_empty() {
            let spacing = self.facts.lattice.as_ref().map(|_| self.spacing());
            call.know("grid", json!({"dims": self.dims(), "spacing": spacing}));
            let parts: serde_json::Map<String, Value> = self
                .parts
                .iter()
                .map(|part| (part.sort.name().to_string(), json!(part.cells.count())))
                .collect();
            call.know("counts", json!({"occupied": self.facts.occupied, "parts": parts}));
        }
        if let Some(digest) = &self.facts.digest {
            let grid = digest.grid.map(|grid| grid.to_string());
            call.know("digest", json!({"grid": grid, "cells": digest.cells.to_string()}));
        }
    }

    /// Notes what came of it.
    pub fn know_end(&self, call: &mut Call, written: Option<&Written>) {
        let times = &self.facts.times;
        let ms = |time: Option<Duration>| time.map(|time| (time.as_secs_f64() * 1e6).round() / 1e3);
        call.know(
            "timings_ms",
            json!({
                "read": ms(times.read),
                "voxelize": ms(times.voxelize),
                "draw": ms(self.draw),
                "write": ms(times.write),
                "total": ms(Some(self.facts.started.elapsed())),
            }),
        );
        let outputs = written
            .iter()
            .map(|one| json!({"path": one.path.to_string_lossy(), "format": one.format, "bytes": one.bytes}));
        call.know("outputs", outputs.collect::<Value>());
    }
}

/// Refuses options that say how a mesh becomes cells.
fn refuse_given(call: &Call, beside: &str, hint: &str) -> Result<()> {
    let command = RuleArgs::augment_args(GridArgs::augment_args(clap::Command::new("")));
    let given = command.get_arguments().find(|arg| call.given(arg.get_id().as_str()));
    let option = given.and_then(|arg| arg.get_long()).map(|long| call.typed.name(long));
    match option {
        Some(option) => Err::<(), Error>(errors::exclusive(&option, beside).with_hint(hint)),
        None => Ok(()),
    }
}
