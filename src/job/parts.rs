//! Cells labelled by the parts of a mesh. The rule judges each part as a mesh of its own; a cell that several parts
//! occupy has the label of the first of them in the file.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use super::slabs::Slabs;
use super::voxelizer::{Voxelized, Voxelizer};
use crate::error::{Error, Finding, Result};
use crate::grid::{
    CellSource, CellType, Digest, DigestBuilder, Label, Labels, Lattice, Legend, Record, Slab, Voxels,
};
use crate::mesh::Mesh;
use crate::rule::Stats;
use crate::run::Plan;

/// The most parts that labels tell apart.
pub(super) const MOST: usize = 255;

/// A part that has triangles.
pub(super) struct LabelledPart {
    pub label: Label,
    pub mesh: Mesh,
}

/// The parts of a mesh that have triangles, with the values 1, 2, …; a mesh without parts is one.
///
/// # Errors
/// If there are more than 255.
pub(super) fn parts(mesh: &Mesh) -> Result<Vec<LabelledPart>> {
    let Some(parts) = mesh.parts() else {
        return Ok(vec![LabelledPart { label: Label::new(1, "mesh"), mesh: mesh.clone() }]);
    };
    let mut count = vec![0_u64; parts.names().len()];
    (0..mesh.triangles().len() as u32).for_each(|n| count[parts.of(n) as usize] += 1);
    let some = count.iter().filter(|count| **count > 0).count();
    if some > MOST {
        let text = format!("the mesh has {some} parts, labels tell {MOST} apart");
        return Err(Error::unfit(text).with_hint("unite parts in the program that made them"));
    }
    let mut names = HashSet::new();
    let mut found = vec![];
    for (part, name) in (0..).zip(parts.names()).filter(|(part, _)| count[*part as usize] > 0) {
        let value = found.len() as u8 + 1;
        let name = unique(name, part + 1, &mut names);
        found.push(LabelledPart {
            label: Label::new(value, name),
            mesh: mesh.select(|n| parts.of(n) == part),
        });
    }
    Ok(found)
}

/// The name of part `number`, which no other has: `object 3` if the file gives none, `lid (2)` for a second one.
fn unique(name: &str, number: u32, names: &mut HashSet<String>) -> String {
    let name: String = name.chars().filter(|c| !c.is_control()).collect();
    let name = if name.trim().is_empty() { format!("object {number}") } else { name };
    let numbered = (2_u32..).map(|n| format!("{name} ({n})"));
    let is_new = |name: &String| names.insert(name.clone());
    std::iter::once(name.clone()).chain(numbered).find(is_new).unwrap_or_default()
}

/// The legend of parts, whose values digests cover.
pub(super) fn legend(parts: &[LabelledPart]) -> Result<Legend> {
    Legend::new(parts.iter().map(|part| part.label.clone()))
}

/// The cells of all parts in memory, one part after the other.
pub(super) fn at_once(voxelizer: &Voxelizer, parts: &[LabelledPart], lattice: &Lattice) -> Result<Voxelized> {
    let mut labels = Labels::new(lattice.dims(), legend(parts)?)?;
    let mut stats = Stats::default();
    let mut findings: Vec<Finding> = vec![];
    let mut about = None;
    for part in parts {
        let made = voxelizer.fill(&part.mesh, lattice)?;
        labels.add(made.voxels.occupied()?, part.label.value);
        stats.snapped += made.stats.snapped;
        findings.extend(made.findings.into_iter().map(|finding| finding.about(&part.label.name)));
        about.get_or_insert((made.voxels.lattice, made.voxels.record));
    }
    let (lattice, record) = about.ok_or_else(|| Error::unfit("the mesh has no triangles"))?;
    Ok(Voxelized { voxels: Voxels { cells: labels.into(), lattice, record }, findings, stats })
}

/// The slabs of all parts, joined.
pub(super) struct PartSlabs<'a> {
    slabs: Vec<(Slabs<'a>, &'a Label)>,
    legend: Legend,
    labels: Option<Labels>,
    digest: DigestBuilder,
    /// How many cells have each label.
    counts: Vec<u64>,
    filling: Duration,
    hashing: Duration,
    next: usize,
}

impl<'a> PartSlabs<'a> {
    pub(super) fn new(
        voxelizer: &Voxelizer<'a>,
        parts: &'a [LabelledPart],
        lattice: &'a Lattice,
        plan: Plan,
    ) -> Result<Self> {
        let legend = legend(parts)?;
        let slabs = parts.iter().map(|part| Ok((voxelizer.slabs(&part.mesh, lattice, plan)?, &part.label)));
        let digest = DigestBuilder::new(lattice.dims(), CellType::Labels(&legend));
        Ok(Self {
            slabs: slabs.collect::<Result<_>>()?,
            legend,
            labels: None,
            digest,
            counts: vec![0; parts.len()],
            filling: Duration::ZERO,
            hashing: Duration::ZERO,
            next: 0,
        })
    }

    /// The counts of all parts; findings begin with the name of their part.
    pub(super) fn stats_and_findings(&self) -> (Stats, Vec<Finding>) {
        let mut stats = Stats::default();
        let mut findings = vec![];
        for (slabs, label) in &self.slabs {
            stats.snapped += slabs.made().stats.snapped;
            findings.extend(slabs.findings().into_iter().map(|finding| finding.about(&label.name)));
        }
        (stats, findings)
    }

    /// How many cells have each label so far.
    pub(super) fn counts(&self) -> Vec<(Label, u64)> {
        self.legend.labels().iter().cloned().zip(self.counts.iter().copied()).collect()
    }

    /// How long filling took, and how long digests and counts.
    pub(super) fn times(&self) -> (Duration, Duration) {
        (self.filling, self.hashing)
    }

    fn first(&self) -> &Slabs<'a> {
        &self.slabs[0].0
    }
}

impl CellSource for PartSlabs<'_> {
    fn dims(&self) -> [usize; 3] {
        self.first().dims()
    }

    fn lattice(&self) -> Option<&Lattice> {
        self.first().lattice()
    }

    fn record(&self) -> &Record {
        CellSource::record(self.first())
    }

    fn cell_type(&self) -> CellType<'_> {
        CellType::Labels(&self.legend)
    }

    fn next(&mut self) -> Result<Option<Slab<'_>>> {
        let start = Instant::now();
        let mut joined: Option<Labels> = None;
        for (slabs, label) in &mut self.slabs {
            let Some(slab) = slabs.next()? else { return Ok(None) };
            let cells = slab.cells.occupied()?;
            let labels = match &mut joined {
                Some(labels) => labels,
                None => joined.insert(Labels::new(cells.dims(), self.legend.clone())?),
            };
            labels.add(cells, label.value);
        }
        let labels = self.labels.insert(joined.expect("a mesh has a part"));
        let filled = Instant::now();
        self.digest.add(&*labels);
        self.counts.iter_mut().zip(labels.counts()).for_each(|(sum, (_, cells))| *sum += cells);
        self.filling += filled - start;
        self.hashing += filled.elapsed();
        let first = self.next;
        self.next += labels.dims()[2];
        Ok(Some(Slab { first, cells: (&*labels).into() }))
    }

    fn digest(&self) -> Digest {
        self.digest.finish(self.lattice())
    }
}
