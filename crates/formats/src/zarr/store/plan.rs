//! The plan of a store: its grid, where its cells come from, and how its layers are shared out.

use std::ops::Range;

use serde_json::{Value, json};

use super::text::{self, JsonFields};
use crate::zarr::write::ShardLayout;
use crate::zarr::{CHUNK, levels};
use crate::{Choice, Dtype};
use voxelize_core::grid::metadata::{Metadata, Style};
use voxelize_core::grid::{CellType, Hash};

/// The plan of a store.
#[derive(Debug, Clone, PartialEq)]
pub struct StorePlan {
    /// The grid: its lattice, the record of how it is made, its legend or its background.
    pub grid: Metadata,
    /// The type of its numbers.
    pub dtype: Dtype,
    /// What else is chosen for the format.
    pub choices: Vec<Choice>,
    /// The layers of a region; the last may have fewer.
    pub region_layers: usize,
    /// The layers of a shard of the first level.
    pub shard_layers: usize,
    /// The mesh.
    pub source: StoreSource,
}

/// Largest divisor of the layers of a region, at most `highest`. It is even unless the level is the last, as two layers
/// become one of the next level.
fn largest_divisor(layers: usize, highest: usize, is_last: bool) -> usize {
    let is_whole =
        |height: &usize| layers.is_multiple_of(*height) && (is_last || height.is_multiple_of(2));
    (1..=highest).rev().find(is_whole).unwrap_or(1)
}

/// The mesh of a store, and how it is taken, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreSource {
    /// Its files: relative names are relative to the folder that the store is in.
    pub meshes: Vec<String>,
    /// The hash of its triangles, and of their parts.
    pub hash: Hash,
    /// How many triangles it has.
    pub triangles: u64,
    /// Which damage is tolerated.
    pub tolerance: String,
    /// What labels stand for.
    pub labels: String,
    /// The parts that win shared cells, those that are taken alone, and those that are left out.
    pub priority: Vec<String>,
    /// The parts that are taken alone.
    pub only: Vec<String>,
    /// The parts that are left out.
    pub skip: Vec<String>,
    /// Whether each part finds its method for the inside by itself; the record has that of the first.
    pub auto: bool,
}

impl StorePlan {
    /// Cells per axis.
    pub fn dims(&self) -> [usize; 3] {
        self.grid.dims.unwrap_or([1; 3])
    }

    /// The kind of the cells, with their legend or background.
    pub fn cell_type(&self) -> CellType<'_> {
        match (&self.grid.legend, self.grid.background) {
            (_, Some(background)) => CellType::Field { background },
            (Some(legend), _) => CellType::Labels(legend),
            _ => CellType::Bits,
        }
    }

    /// How many regions there are.
    pub fn regions(&self) -> usize {
        self.dims()[2].div_ceil(self.region_layers.max(1))
    }

    /// The layers of a region, the first of which is 0.
    pub fn layers(&self, region: usize) -> Range<usize> {
        let first = region * self.region_layers;
        first..self.dims()[2].min(first + self.region_layers)
    }

    /// The dims of its levels.
    pub(super) fn levels(&self) -> Vec<[usize; 3]> {
        levels(self.dims(), &self.choices)
    }

    /// Layers of a shard of each level. They divide the layers of a region, so that no two regions share a shard.
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

    /// Layers of a shard of each level, at most those of a region.
    fn capped_shards(&self) -> Vec<usize> {
        (0..self.levels().len())
            .map(|level| self.shard_layers.min(self.region_layers >> level))
            .collect()
    }

    /// The shards of a region.
    pub(super) fn layout(&self, region: usize) -> ShardLayout {
        ShardLayout::new(&self.levels(), &self.layers(region), &self.shards())
    }

    /// The layers of which a region has a multiple, where shards have so many.
    pub(crate) fn unit(dims: [usize; 3], choices: &[Choice], shard_layers: usize) -> usize {
        shard_layers.max(1 << (levels(dims, choices).len() - 1))
    }

    /// Layers of a region of a grid that is shared out among at most `regions`. More than the least number are taken
    /// where a smaller level would have many low shards.
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

    /// The numbers of layers that shards may have: the most first.
    pub fn heights() -> impl Iterator<Item = usize> {
        (0..4).map(|n| CHUNK >> n)
    }

    /// The hash of the plan, by which parts name it.
    pub fn hash(&self) -> Hash {
        text::hash_of(&self.value())
    }

    /// The text of its file.
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
        if source.auto {
            value["source"]["auto"] = Value::Bool(true);
        }
        let shards = self.shards();
        if shards != self.capped_shards() {
            value["level_shard_layers"] = json!(shards);
        }
        value
    }

    /// Reads the text of its file.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let value = text::unsealed(text)?;
        let fields = JsonFields(&value);
        if fields.number("voxelize_plan")? != 1 {
            return Err("it is of another version of voxelize".into());
        }
        let grid = Metadata::from_json(&fields.value("grid")?.to_string())?;
        let source = JsonFields(fields.value("source")?);
        let chosen = |name: &str, choice: Choice| {
            Ok::<_, String>(if fields.flag(name)? {
                None
            } else {
                Some(choice)
            })
        };
        let choices = [
            chosen("compressed", Choice::Uncompressed)?,
            chosen("pyramid", Choice::NoPyramid)?,
        ];
        let plan = Self {
            dtype: Dtype::from_name(fields.text("dtype")?).ok_or("its dtype is unknown")?,
            choices: choices.into_iter().flatten().collect(),
            region_layers: fields.count("region_layers")?,
            shard_layers: fields.count("shard_layers")?,
            source: StoreSource {
                meshes: source.texts("meshes")?,
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
        match plan.text() == text {
            true => Ok(plan),
            false => Err("it is not as it was written".into()),
        }
    }

    /// Refuses layers that do not make whole shards.
    fn check(&self) -> Result<(), String> {
        let Some(dims) = self.grid.dims.filter(|_| self.grid.lattice.is_some()) else {
            return Err("its grid has no lattice".into());
        };
        let is_height = Self::heights().any(|height| height == self.shard_layers);
        let unit = Self::unit(dims, &self.choices, self.shard_layers);
        match is_height && self.region_layers > 0 && self.region_layers.is_multiple_of(unit) {
            true => Ok(()),
            false => Err("its regions do not make whole shards".into()),
        }
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

    /// A plan of these dims for so many regions, as `plan` makes it.
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
    fn no_two_regions_share_a_file_and_all_of_them_have_the_store() {
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
            // Cells per axis, regions; layers of a region, layers of a shard of each level.
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
