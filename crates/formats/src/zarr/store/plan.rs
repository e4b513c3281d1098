//! Plan of a store: its grid, the mesh that its cells are made from, and the division of its layers into
//! regions.

use std::ops::Range;

use serde_json::{Value, json};

use super::text::{self, JsonFields};
use crate::zarr::write::ShardLayout;
use crate::zarr::{CHUNK, levels};
use crate::{Choice, Dtype};
use voxelize_core::grid::metadata::{Metadata, Style};
use voxelize_core::grid::{CellType, Hash};

/// Plan of a store.
#[derive(Debug, Clone, PartialEq)]
pub struct StorePlan {
    /// Description of the grid: its lattice, the record of how the cells are made, and its legend or
    /// background.
    pub grid: Metadata,
    /// Number type of the cells.
    pub dtype: Dtype,
    /// Chosen variants of the format.
    pub choices: Vec<Choice>,
    /// Number of layers in a region. The last region may have fewer.
    pub region_layers: usize,
    /// Number of layers in a shard of the first level.
    pub shard_layers: usize,
    /// The mesh that the cells are made from.
    pub source: StoreSource,
}

/// Returns the largest divisor of `layers` that is at most `highest`. `layers` is the number of layers in a
/// region. Unless the level is the last one, the result is even, because two layers become one layer of the
/// next level.
fn largest_divisor(layers: usize, highest: usize, is_last: bool) -> usize {
    let is_whole =
        |height: &usize| layers.is_multiple_of(*height) && (is_last || height.is_multiple_of(2));
    (1..=highest).rev().find(is_whole).unwrap_or(1)
}

/// The mesh that the cells of a store are made from, and how it is read, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreSource {
    /// Files of the mesh. Relative paths are relative to the folder that contains the store.
    pub meshes: Vec<String>,
    /// Name of each mesh, empty for the name of its file. The list is empty if no mesh has another name.
    pub names: Vec<String>,
    /// Pose of each mesh, empty for a mesh that is not moved. The list is empty if no mesh is.
    pub poses: Vec<String>,
    /// Hash of the triangles and of the parts that they belong to.
    pub hash: Hash,
    /// Number of triangles.
    pub triangles: u64,
    /// Name of the reader's tolerance for damaged files.
    pub tolerance: String,
    /// Name of what labels stand for.
    pub labels: String,
    /// Parts that get the cells which several parts occupy. The first part has priority.
    pub priority: Vec<String>,
    /// Names of the only parts that are used. Empty if all parts are used.
    pub only: Vec<String>,
    /// Names of the parts that are left out.
    pub skip: Vec<String>,
    /// Each part chooses its own method for the inside. The record states the method of the first part.
    pub auto: bool,
}

impl StorePlan {
    /// Returns the number of cells along each axis.
    pub fn dims(&self) -> [usize; 3] {
        self.grid.dims.unwrap_or([1; 3])
    }

    /// Returns the kind of the cells with their legend or background.
    pub fn cell_type(&self) -> CellType<'_> {
        match (&self.grid.legend, self.grid.background) {
            (_, Some(background)) => CellType::Field { background },
            (Some(legend), _) => CellType::Labels(legend),
            _ => CellType::Bits,
        }
    }

    /// Returns the number of regions.
    pub fn regions(&self) -> usize {
        self.dims()[2].div_ceil(self.region_layers.max(1))
    }

    /// Returns the range of layers of a region. The first region has the number 0.
    pub fn layers(&self, region: usize) -> Range<usize> {
        let first = region * self.region_layers;
        first..self.dims()[2].min(first + self.region_layers)
    }

    /// Returns the dims of all levels.
    pub(super) fn levels(&self) -> Vec<[usize; 3]> {
        levels(self.dims(), &self.choices)
    }

    /// Returns the number of layers in a shard for each level. It divides the number of layers in a region,
    /// so that no two regions share a shard.
    pub(super) fn shards(&self) -> Vec<usize> {
        let heights = self.capped_shards();
        if self.regions() == 1 {
            return heights;
        }
        let last = heights.len() - 1;
        let heights = heights.into_iter().enumerate();
        heights
            .map(|(level, height)| {
                largest_divisor(self.region_layers >> level, height, level == last)
            })
            .collect()
    }

    /// Returns the number of layers in a shard for each level, limited to the number of layers in a region.
    fn capped_shards(&self) -> Vec<usize> {
        (0..self.levels().len())
            .map(|level| self.shard_layers.min(self.region_layers >> level))
            .collect()
    }

    /// Returns the shards of a region.
    pub(super) fn layout(&self, region: usize) -> ShardLayout {
        ShardLayout::new(&self.levels(), &self.layers(region), &self.shards())
    }

    /// Returns the number that the number of layers in a region must be a multiple of. `shard_layers` is the
    /// number of layers in a shard.
    pub(crate) fn unit(dims: [usize; 3], choices: &[Choice], shard_layers: usize) -> usize {
        shard_layers.max(1 << (levels(dims, choices).len() - 1))
    }

    /// Returns the number of layers in a region if the grid is divided into at most `regions` regions. The
    /// result may be larger than this requires, to avoid that a smaller level has many shards with few
    /// layers.
    pub fn region_layers(
        dims: [usize; 3],
        choices: &[Choice],
        shard_layers: usize,
        regions: usize,
    ) -> usize {
        let unit = Self::unit(dims, choices, shard_layers);
        let last = levels(dims, choices).len() - 1;
        let is_high = |layers: usize, level: usize| {
            let layers = layers >> level;
            let height = largest_divisor(layers, shard_layers, level == last);
            layers <= shard_layers || 2 * height > shard_layers
        };
        let mut layers = dims[2].div_ceil(regions.max(1)).next_multiple_of(unit);
        while layers < dims[2] && !(0..=last).all(|level| is_high(layers, level)) {
            layers += unit;
        }
        layers
    }

    /// Returns the possible numbers of layers in a shard. The largest comes first.
    pub fn heights() -> impl Iterator<Item = usize> {
        (0..4).map(|n| CHUNK >> n)
    }

    /// Returns the hash of the plan. Part files state it.
    pub fn hash(&self) -> Hash {
        text::hash_of(&self.value())
    }

    /// Returns the content of the plan's file.
    pub(super) fn text(&self) -> String {
        text::sealed(self.value())
    }

    fn value(&self) -> Value {
        let grid: Value =
            serde_json::from_str(&self.grid.to_json(Style::OneLine)).unwrap_or_default();
        let source = &self.source;
        let mut value = json!({
            "voxelize_plan": 1,
            "grid": grid,
            "dtype": self.dtype.name(),
            "compressed": !self.choices.contains(&Choice::Uncompressed),
            "pyramid": !self.choices.contains(&Choice::NoPyramid),
            "regions": self.regions(),
            "region_layers": self.region_layers,
            "shard_layers": self.shard_layers,
            "source": {
                "meshes": source.meshes,
                "hash": source.hash.to_string(),
                "triangles": source.triangles,
                "tolerance": source.tolerance,
                "labels": source.labels,
                "priority": source.priority,
                "only": source.only,
                "skip": source.skip,
            },
        });
        for (key, texts) in [("names", &source.names), ("poses", &source.poses)] {
            if !texts.is_empty() {
                value["source"][key] = json!(texts);
            }
        }
        if source.auto {
            value["source"]["auto"] = Value::Bool(true);
        }
        let shards = self.shards();
        if shards != self.capped_shards() {
            value["level_shard_layers"] = json!(shards);
        }
        value
    }

    /// Parses the content of the plan's file.
    ///
    /// # Errors
    /// Returns a sentence that describes the fault.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let value = text::unsealed(text)?;
        let fields = JsonFields(&value);
        if fields.number("voxelize_plan")? != 1 {
            return Err("it is of another version of voxelize".into());
        }
        let grid = Metadata::from_json(&fields.value("grid")?.to_string())?;
        let source = JsonFields(fields.value("source")?);
        // Entries that only some plans have.
        let texts = |key: &str| match source.0.get(key) {
            Some(_) => source.texts(key),
            None => Ok(vec![]),
        };
        let mut choices = Vec::new();
        if !fields.flag("compressed")? {
            choices.push(Choice::Uncompressed);
        }
        if !fields.flag("pyramid")? {
            choices.push(Choice::NoPyramid);
        }
        let plan = Self {
            dtype: Dtype::from_name(fields.text("dtype")?).ok_or("its dtype is unknown")?,
            choices,
            region_layers: fields.count("region_layers")?,
            shard_layers: fields.count("shard_layers")?,
            source: StoreSource {
                meshes: source.texts("meshes")?,
                names: texts("names")?,
                poses: texts("poses")?,
                hash: source.text("hash")?.parse()?,
                triangles: source.number("triangles")?,
                tolerance: source.text("tolerance")?.to_string(),
                labels: source.text("labels")?.to_string(),
                priority: source.texts("priority")?,
                only: source.texts("only")?,
                skip: source.texts("skip")?,
                auto: source.0.get("auto").is_some() && source.flag("auto")?,
            },
            grid,
        };
        plan.check()?;
        if plan.shards() != plan.capped_shards() && value.get("level_shard_layers").is_none() {
            return Err(
                "its regions share files of smaller levels, as an older version planned them"
                    .into(),
            );
        }
        if plan.text() != text {
            return Err("it was changed after it was written".into());
        }
        Ok(plan)
    }

    /// Fails if a region would not consist of whole shards.
    fn check(&self) -> Result<(), String> {
        let Some(dims) = self.grid.dims.filter(|_| self.grid.lattice.is_some()) else {
            return Err("its grid has no lattice".into());
        };
        let is_height = Self::heights().any(|height| height == self.shard_layers);
        let unit = Self::unit(dims, &self.choices, self.shard_layers);
        if !is_height || self.region_layers == 0 || !self.region_layers.is_multiple_of(unit) {
            return Err("its regions do not consist of whole shards".into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use voxelize_core::geom::Rational;
    use voxelize_core::grid::{BytesHasher, Lattice, Record};

    #[test]
    fn plans_round_trip_and_no_changed_byte_passes() {
        let lattice = Lattice::new(
            [300, 20, 500],
            [const { Rational::ZERO }; 3],
            [const { Rational::ONE }; 3],
            [true; 3],
        );
        let record = Record {
            rule_name: Some("surface".into()),
            ..Record::default()
        };
        let plan = StorePlan {
            grid: Metadata {
                dims: Some([300, 20, 500]),
                lattice: lattice.ok(),
                record,
                ..Metadata::default()
            },
            dtype: Dtype::U8,
            choices: vec![Choice::Uncompressed],
            region_layers: 192,
            shard_layers: 64,
            source: StoreSource {
                meshes: vec!["../a \"b\".stl".into()],
                names: vec![],
                poses: vec![],
                hash: BytesHasher::default().finish(),
                triangles: 12,
                tolerance: "usual".into(),
                labels: "off".into(),
                priority: vec![],
                only: vec!["lid".into()],
                skip: vec![],
                auto: false,
            },
        };
        let auto = StorePlan {
            source: StoreSource {
                auto: true,
                ..plan.source.clone()
            },
            ..plan.clone()
        };
        assert_eq!(StorePlan::parse(&auto.text()), Ok(auto.clone()));
        assert_ne!(auto.hash(), plan.hash());
        let posed = StorePlan {
            source: StoreSource {
                names: vec!["arm".into()],
                poses: vec!["rotate=z,90".into()],
                ..plan.source.clone()
            },
            ..plan.clone()
        };
        assert_eq!(StorePlan::parse(&posed.text()), Ok(posed.clone()));
        assert_ne!(posed.hash(), plan.hash());
        let text = plan.text();
        assert_eq!(StorePlan::parse(&text), Ok(plan.clone()));
        assert_eq!(
            (plan.regions(), plan.layers(2), plan.shards()),
            (3, 384..500, vec![64, 48, 48])
        );
        let names: Vec<_> = plan.layout(2).names().collect();
        let expected = [
            "0/c/6/0/0",
            "0/c/7/0/0",
            "1/c/4/0/0",
            "1/c/5/0/0",
            "2/c/2/0/0",
        ];
        assert_eq!(names, expected);
        let mut changed = 0;
        for place in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[place] ^= 1 << (place % 7);
            let read = String::from_utf8(bytes).map_err(|e| e.to_string());
            assert!(
                read.and_then(|text| StorePlan::parse(&text)).is_err(),
                "byte {place}"
            );
            changed += 1;
        }
        assert!(changed > 500);
        for (region, shard) in [(0, 64), (96, 64), (192, 63), (192, 0), (128, 128)] {
            let text = StorePlan {
                region_layers: region,
                shard_layers: shard,
                ..plan.clone()
            }
            .text();
            assert!(StorePlan::parse(&text).is_err(), "{region} {shard}");
        }
    }

    /// Returns a plan for a grid with these dims and `regions` regions, as the command `plan` makes it.
    fn planned(
        dims: [usize; 3],
        choices: &[Choice],
        shard_layers: usize,
        regions: usize,
    ) -> StorePlan {
        let lattice = Lattice::new(
            dims,
            [const { Rational::ZERO }; 3],
            [const { Rational::ONE }; 3],
            [true; 3],
        );
        StorePlan {
            grid: Metadata {
                dims: Some(dims),
                lattice: lattice.ok(),
                ..Metadata::default()
            },
            dtype: Dtype::U8,
            choices: choices.to_vec(),
            region_layers: StorePlan::region_layers(dims, choices, shard_layers, regions),
            shard_layers,
            source: StoreSource {
                meshes: vec!["a.stl".into()],
                names: vec![],
                poses: vec![],
                hash: BytesHasher::default().finish(),
                triangles: 12,
                tolerance: "usual".into(),
                labels: "off".into(),
                priority: vec![],
                only: vec![],
                skip: vec![],
                auto: false,
            },
        }
    }

    #[test]
    fn regions_share_no_file_and_cover_the_store() {
        let mut plans = 0;
        let mut parsed = HashSet::new();
        for (width, choices) in [
            (1, &[][..]),
            (700, &[]),
            (3000, &[]),
            (700, &[Choice::NoPyramid]),
        ] {
            for (height, regions) in (1..=700).flat_map(|height| (1..=12).map(move |n| (height, n)))
            {
                let shard_layers = [64, 32, 16, 8][(height + regions) % 4];
                let dims = [width, 5, height];
                let plan = planned(dims, choices, shard_layers, regions);
                let case = format!("{dims:?} {choices:?} in {regions}: {}", plan.region_layers);
                assert!(plan.regions() <= regions, "{case}");
                let shards = plan.shards();
                let all: usize = plan
                    .levels()
                    .iter()
                    .zip(&shards)
                    .map(|(dims, shard)| dims[2].div_ceil(*shard))
                    .sum();
                let mut names = HashSet::new();
                for region in 0..plan.regions() {
                    for (level, shard) in shards.iter().enumerate() {
                        let first = plan.layers(region).start;
                        assert!(
                            first.is_multiple_of(shard << level),
                            "{case}: level {level} of region {region}"
                        );
                    }
                    for name in plan.layout(region).names() {
                        assert!(names.insert(name), "{case}: region {region}");
                    }
                }
                assert_eq!(names.len(), all, "{case}");
                if parsed.insert((
                    plan.levels().len(),
                    plan.region_layers,
                    shard_layers,
                    plan.regions() == 1,
                )) {
                    assert_eq!(StorePlan::parse(&plan.text()), Ok(plan), "{case}");
                }
                plans += 1;
            }
        }
        assert_eq!(plans, 4 * 700 * 12);
        assert!(parsed.len() > 200, "{}", parsed.len());
    }

    #[test]
    fn shards_of_smaller_levels_are_high_and_regions_hardly_higher_than_requested() {
        let cases = [
            // Dims of the grid, number of regions, layers in a region, and layers in a shard of each level.
            ([257, 257, 257], 2, 192, vec![64, 48, 48]),
            ([512, 512, 512], 3, 192, vec![64, 48, 48]),
            ([576, 576, 576], 2, 320, vec![64, 40, 40, 40]),
            ([3000, 3000, 3000], 2, 1536, vec![64, 64, 64, 64, 48, 48]),
            ([4096, 4096, 4096], 64, 64, vec![64, 32, 16, 8, 4, 2]),
            ([4096, 4096, 4096], 3, 1408, vec![64, 64, 44, 44, 44, 44]),
            ([300, 20, 500], 1, 512, vec![64, 64, 64]),
        ];
        for (dims, regions, layers, shards) in cases {
            let plan = planned(dims, &[], 64, regions);
            assert_eq!(
                (plan.region_layers, plan.shards()),
                (layers, shards),
                "{dims:?} in {regions}"
            );
        }
    }

    #[test]
    fn a_plan_of_an_older_version_whose_regions_share_files_is_refused() {
        let plan = planned([257; 3], &[], 64, 2);
        let mut value = plan.value();
        value
            .as_object_mut()
            .unwrap()
            .remove("level_shard_layers")
            .unwrap();
        let error = StorePlan::parse(&text::sealed(value)).unwrap_err();
        assert!(error.contains("share files"), "{error}");
    }
}
