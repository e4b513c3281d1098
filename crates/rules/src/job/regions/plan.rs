//! The plan of regions, which specifies everything that affects the cells and divides the layers into
//! regions.

use std::borrow::Cow;

use super::hash::mesh_hash;
use super::share::{TriangleBins, check_bins, check_parts};
use super::source::RegionMesh;
use crate::job::slabs::Slabs;
use crate::job::transform::Transform;
use crate::job::voxelizer::{Extras, JobLabels, Voxelizer};
use crate::job::{MeshPose, PartChoice, findings};
use crate::rule::{self, Inside, Rule, ShellThickness, Stats, ThinFeatures};
use crate::run::Plan;
use voxelize_core::error::{Code, Error, Finding, Hint, Result, Severity};
use voxelize_core::grid::metadata::Metadata;
use voxelize_core::grid::{BitGrid, CellKind, CellSource, CellType, Hash, Lattice};
use voxelize_core::text::bytes;
use voxelize_formats::zarr::store::{StorePlan, StoreSource};
use voxelize_formats::{self as format, Choice, Dtype};
use voxelize_meshes::closed::Closedness;
use voxelize_meshes::read::Tolerance;
use voxelize_meshes::{Mesh, PartKind};

/// Greatest size, in bytes, of the cells in the layers of a shard if memory is not limited.
const SLAB: u128 = 1 << 30;

/// Default number of regions.
const REGIONS: usize = 64;

/// Options for making a grid in regions.
#[derive(Debug, Clone)]
pub struct RegionRequest<'a> {
    /// Type of the values in the store. `None` for the default. A field is always stored as 32-bit floats.
    pub dtype: Option<Dtype>,
    /// Other options of the format zarr.
    pub choices: &'a [Choice],
    /// Number of regions. The plan has fewer regions if the grid has too few layers. `None` for the default.
    pub regions: Option<usize>,
    /// Files of the mesh, with their names and poses. Relative paths are relative to the folder that contains
    /// the store.
    pub meshes: Vec<RegionMesh>,
    /// Kinds of damage that were tolerated when the files were read.
    pub tolerance: Tolerance,
    /// Parts of the mesh that were selected.
    pub parts: &'a PartChoice,
    /// The triangles of each region are stored in a bin. The memory plan then includes the largest bin
    /// instead of the mesh.
    pub bins: bool,
}

/// Plan of regions: everything that affects the cells, and the layers of each region.
#[derive(Debug, Clone)]
pub struct RegionPlan {
    /// Plan in the form in which the store saves it.
    pub store: StorePlan,
    /// Hash of the plan. The parts of a store refer to the plan by this hash.
    pub hash: Hash,
    /// Rule with the method that is used to find the inside.
    pub rule: Rule,
    /// Lattice in the coordinates of the turned mesh.
    pub lattice: Lattice,
    /// Transform of the mesh.
    pub transform: Transform,
    /// Kind of labels of the cells.
    pub labels: JobLabels,
    /// Poses of the meshes. The list is empty if no mesh has a pose.
    pub poses: Vec<MeshPose>,
    /// Kinds of damage that are tolerated when files are read.
    pub tolerance: Tolerance,
    /// Selected parts of the mesh.
    pub parts: PartChoice,
}

impl Voxelizer<'_> {
    /// Plans the regions of a grid, without writing anything. Also returns the findings about the mesh and
    /// the rule.
    ///
    /// # Errors
    /// Fails if the rule needs cells outside a region, if the labels are colours, if additional quantities
    /// are requested, or if not even the lowest slab fits in memory.
    pub fn plan_regions(
        &self,
        mesh: &Mesh,
        lattice: &Lattice,
        request: &RegionRequest,
    ) -> Result<(RegionPlan, Vec<Finding>)> {
        check_rule(&self.rule)?;
        let labels = label_name(self.extras.labels)?;
        if !self.extras.quantities.is_empty() {
            return Err(
                Error::usage("regions cannot have arrays in addition to their cells")
                    .with_hint("omit them, or make the grid in one process"),
            );
        }
        if !self.drains.is_empty() {
            return Err(
                Error::usage("drain: the regions of a store have no drain holes").with_hint(
                    "make the grid in one process; with `--max-memory` it is made in slabs",
                ),
            );
        }
        if self.label_fields().is_some() {
            let error = Error::usage("labels: regions have no field for each part");
            return Err(error.with_hint("leave out the labels, or make the grid in one process"));
        }
        let run_free = self.without_findings();
        let slabs = Slabs::new(&run_free, mesh, lattice, Plan::Slabs(1))?;
        let (legend, background) = match slabs.cell_type() {
            CellType::Labels(legend) => (Some(legend.clone()), None),
            CellType::Field { background } => (None, Some(background)),
            CellType::Bits => (None, None),
        };
        let dtype = match (background, request.dtype) {
            (None, dtype) => dtype.unwrap_or(Dtype::U8),
            (Some(_), None | Some(Dtype::F32)) => Dtype::F32,
            (Some(_), Some(dtype)) => {
                let text = format!(
                    "dtype {}: regions of a field are written as f32",
                    dtype.name()
                );
                return Err(Error::usage(text).with_hint("leave it out"));
            }
        };
        let placed = self.placed(lattice)?;
        let dims = lattice.dims();
        let kind = if let JobLabels::Parts(kind) = self.extras.labels {
            Some(kind)
        } else {
            None
        };
        let decides_by_part = kind.is_some_and(|kind| mesh.parts(kind).is_some())
            && self.rule.inside() == Some(Inside::Auto);
        let region_layers = |shard_layers: usize| {
            let wanted = request.regions.unwrap_or(REGIONS);
            StorePlan::region_layers(dims, request.choices, shard_layers, wanted)
        };
        let sharing = if request.bins {
            let used = Rule::from_record(&slabs.record).unwrap_or(self.rule);
            check_bins(&self.rule, &used, decides_by_part)?;
            if kind.is_some_and(|kind| self.paints_parts(mesh, kind)) {
                let text = "a bin holds only the triangles near its region: the parts are closed only together, and the nearest of all faces decides";
                return Err(Error::usage(text).with_hint("leave out `--bin`"));
            }
            check_parts(mesh, lattice, &used, &())?;
            Some(TriangleBins::new(mesh, lattice, &used, kind))
        } else {
            None
        };
        let mesh_of = |shard_layers: usize| match &sharing {
            Some(sharing) => sharing.largest(region_layers(shard_layers)).map(Cow::Owned),
            None => Ok(Cow::Borrowed(mesh)),
        };
        let shard_layers = self.shard_layers(mesh_of, lattice, dtype, request.choices)?;
        let region_layers = region_layers(shard_layers);
        let source = StoreSource {
            meshes: RegionMesh::texts(&request.meshes, |mesh| mesh.file.clone()),
            names: RegionMesh::texts(&request.meshes, |mesh| {
                mesh.name.clone().unwrap_or_default()
            }),
            poses: RegionMesh::texts(&request.meshes, |mesh| mesh.pose.to_string()),
            hash: mesh_hash(mesh, kind),
            triangles: mesh.triangles().len() as u64,
            tolerance: tolerance_name(request.tolerance).to_string(),
            labels: labels.to_string(),
            priority: self.priority.to_vec(),
            only: request.parts.only.clone(),
            skip: request.parts.skip.clone(),
            auto: decides_by_part,
        };
        let grid = Metadata {
            dims: Some(dims),
            lattice: Some(placed),
            record: slabs.record.clone(),
            legend,
            background,
            ..Metadata::default()
        };
        drop(slabs);
        let store = StorePlan {
            grid,
            dtype,
            choices: request.choices.to_vec(),
            region_layers,
            shard_layers,
            source,
        };
        let plan = RegionPlan::new(store)
            .map_err(|fault| Error::internal(format!("the plan: {fault}")))?;
        let findings = self.findings_of_mesh(mesh, lattice, plan.rule);
        Ok((plan, findings))
    }

    /// Returns the findings about the whole mesh, which no region reports.
    fn findings_of_mesh(&self, mesh: &Mesh, lattice: &Lattice, used: Rule) -> Vec<Finding> {
        let mut found = rule::findings(
            &self.rule,
            mesh,
            lattice,
            &Stats::default(),
            &self.coordinates(),
        );
        if self.rule.inside() == Some(Inside::Auto)
            && used.inside() == Some(Inside::Robust)
            && mesh.closedness() == Closedness::Open
            && !mesh.is_two_sided()
        {
            let text = "the mesh is not closed; a winding number above 0.5 is inside (robust)";
            found.push(Finding::new(Code::W006, text));
        }
        if let Rule::Solid { .. } = self.rule {
            let text =
                "skipped the search for lost features: each region is made without its neighbours";
            let finding =
                Finding::new(Code::W010, text).with_hint("use `--filled`, which loses nothing");
            // Regions always skip the search, so the finding is only a note.
            found.push(Finding {
                severity: Severity::Note,
                ..finding
            });
        }
        let mut all = vec![];
        findings::add(&mut all, found);
        all
    }

    /// Returns the greatest number of layers per shard for which a slab of a shard's height and a mesh fit in
    /// memory together. `mesh_of` returns the mesh for a number of layers.
    fn shard_layers<'m>(
        &self,
        mesh_of: impl Fn(usize) -> Result<Cow<'m, Mesh>>,
        lattice: &Lattice,
        dtype: Dtype,
        choices: &[Choice],
    ) -> Result<usize> {
        let [nx, ny, nz] = lattice.dims();
        let need = |layers: usize| {
            let pending = pending(lattice.dims(), choices, layers);
            let demand = self.region_demand(&*mesh_of(layers)?, lattice, &pending, dtype, choices);
            Ok::<_, Error>(demand.bytes(Plan::Slabs(layers.min(nz))))
        };
        let cells = |layers: usize| match self.rule.kind() {
            CellKind::Field => 4 * (nx * ny * layers) as u128,
            _ => BitGrid::bytes_for([nx, ny, layers]),
        };
        let limit = self.run.max_memory().map_or(u128::MAX, u128::from);
        let lowest = StorePlan::heights().last().unwrap_or(1);
        for layers in StorePlan::heights()
            .filter(|layers| cells((*layers).min(nz)) <= SLAB || *layers == lowest)
        {
            if need(layers)? <= limit {
                return Ok(layers);
            }
        }
        let least = bytes(need(lowest)?);
        let most = bytes(limit);
        let text = format!("a slab of {lowest} layers needs {least}, {most} are allowed");
        Err(Error::too_large(text).with_hint(["make the cells larger", "or raise `--max-memory`"]))
    }
}

/// Returns the dims of the layers of smaller resolution levels that stay in memory while a slab is written.
pub(super) fn pending(
    dims: [usize; 3],
    choices: &[Choice],
    shard_layers: usize,
) -> Vec<[usize; 3]> {
    let Some(format) = format::by_name("zarr") else {
        return vec![];
    };
    let mut pending = format.pending(dims, choices);
    for [_, _, nz] in &mut pending {
        *nz = shard_layers.min(*nz);
    }
    pending
}

/// Fails if the cells of the rule depend on cells outside a region.
fn check_rule(rule: &Rule) -> Result<()> {
    if rule.is_local() {
        return Ok(());
    }
    let name = rule.name();
    let refused = |what: &str, hint: Hint| {
        Err(Error::usage(format!(
            "{what} needs cells outside a region: {name} cannot be made in regions"
        ))
        .with_hint(hint))
    };
    match rule {
        Rule::Solid {
            thin: ThinFeatures::Keep,
            ..
        } => refused(
            "keep-thin",
            ["leave it out", "or use `--filled`, which loses nothing"].into(),
        ),
        Rule::Filled {
            shell: Some(ShellThickness::Steps(_)),
            ..
        } => refused(
            "hollow",
            [
                "give a length such as `--hollow 2mm` or `--hollow 3vx`",
                "or make the grid in one process",
            ]
            .into(),
        ),
        _ => refused("a flood", "use another `--inside robust`".into()),
    }
}

/// Returns the name of a kind of labels in a plan. Fails for colours, which regions cannot have.
fn label_name(labels: JobLabels) -> Result<&'static str> {
    match labels {
        JobLabels::Off => Ok("off"),
        JobLabels::SurfaceAndInterior => Ok("layers"),
        JobLabels::Parts(kind) => Ok(kind.name()),
        JobLabels::Colours | JobLabels::PartColours(_) => {
            Err(Error::usage("labels: colours cannot be made in regions")
                .with_hint("label objects or materials, or make the grid in one process"))
        }
    }
}

fn labels_of(name: &str) -> Option<JobLabels> {
    match name {
        "off" => Some(JobLabels::Off),
        "layers" => Some(JobLabels::SurfaceAndInterior),
        name => PartKind::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
            .map(JobLabels::Parts),
    }
}

const TOLERANCES: [(Tolerance, &str); 3] = [
    (Tolerance::Usual, "usual"),
    (Tolerance::Strict, "strict"),
    (Tolerance::Lenient, "lenient"),
];

fn tolerance_name(tolerance: Tolerance) -> &'static str {
    TOLERANCES
        .iter()
        .find(|(one, _)| *one == tolerance)
        .map_or("usual", |(_, name)| name)
}

impl RegionPlan {
    /// Creates the plan from the plan that a store saved.
    ///
    /// # Errors
    /// Fails if this version does not support the content of the plan. The error is a text that names the
    /// unsupported content.
    pub(super) fn new(store: StorePlan) -> std::result::Result<Self, String> {
        let record = &store.grid.record;
        let rule = Rule::from_record(record).ok_or("its rule is unknown")?;
        let transform =
            Transform::from_entries(&record.transform).map_err(|error| error.to_string())?;
        let placed = store
            .grid
            .lattice
            .as_ref()
            .ok_or("its grid has no lattice")?;
        let lattice = transform
            .unplace(placed)
            .map_err(|error| error.to_string())?;
        let source = &store.source;
        let tolerance = TOLERANCES
            .iter()
            .find(|(_, name)| *name == source.tolerance);
        let mut poses = vec![];
        for text in &source.poses {
            poses.push(text.parse().map_err(|error: Error| error.to_string())?);
        }
        Ok(Self {
            hash: store.hash(),
            poses,
            rule,
            transform,
            lattice,
            labels: labels_of(&source.labels).ok_or("its labels are unknown")?,
            tolerance: tolerance.ok_or("its tolerance is unknown")?.0,
            parts: PartChoice {
                only: source.only.clone(),
                skip: source.skip.clone(),
            },
            store,
        })
    }

    /// Returns the kind of parts that the labels represent. `None` if the labels do not represent parts.
    pub(super) fn part_kind(&self) -> Option<PartKind> {
        if let JobLabels::Parts(kind) = self.labels {
            Some(kind)
        } else {
            None
        }
    }

    /// Returns the number of regions.
    pub fn regions(&self) -> usize {
        self.store.regions()
    }

    /// Returns true if another plan makes the same cells from the same mesh files. The two plans may divide
    /// the layers into different regions and shards.
    pub fn makes_same(&self, other: &Self) -> bool {
        let StorePlan {
            region_layers,
            shard_layers,
            ..
        } = self.store;
        StorePlan {
            region_layers,
            shard_layers,
            ..other.store.clone()
        } == self.store
    }

    /// Returns the voxelizer that makes regions of this plan. It takes the settings of the run from `like`.
    pub(super) fn voxelizer<'a>(&'a self, like: &Voxelizer<'a>) -> Voxelizer<'a> {
        let extras = Extras {
            labels: self.labels,
            ..Extras::default()
        };
        let rule = if self.store.source.auto {
            self.rule.with_inside(Inside::Auto).unwrap_or(self.rule)
        } else {
            self.rule
        };
        like.with_rule(rule)
            .extras(extras)
            .transform(&self.transform)
            .input(self.store.grid.record.input.as_deref())
            .priority(&self.store.source.priority)
            .without_findings()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_labels_and_tolerances_round_trip() {
        let kinds = PartKind::ALL.map(JobLabels::Parts);
        for labels in [JobLabels::Off, JobLabels::SurfaceAndInterior]
            .into_iter()
            .chain(kinds)
        {
            assert_eq!(labels_of(label_name(labels).unwrap()), Some(labels));
        }
        assert!(label_name(JobLabels::Colours).is_err());
        assert_eq!(
            TOLERANCES.map(|(tolerance, _)| tolerance_name(tolerance)),
            TOLERANCES.map(|(_, name)| name)
        );
    }
}
