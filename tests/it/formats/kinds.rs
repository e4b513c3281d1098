//! Labels and fields in every format that stores them: read back as saved, or rejected.

use super::*;
use voxelize::grid::{
    CellSource, CellType, Cells, Digest, Field, Label, LabelDigest, Labels, Legend, Slab,
};

const DIMS: [usize; 3] = [70, 9, 11];

/// Legends: without names, with few labels and with many, covered by digests and not covered.
fn legends() -> Vec<Legend> {
    let named = |count: u8| {
        let label = |n: u8| Label::new(n * 20, format!("Würfel {n}")).with_colour([n * 20, 0, 255]);
        Legend::new((1..=count).map(label)).unwrap()
    };
    vec![
        Legend::default(),
        Legend::default().with_digest(LabelDigest::Values),
        named(2),
        named(3).with_digest(LabelDigest::Occupancy),
        named(12),
        Legend::new([Label::new(7, "one")]).unwrap(),
        Legend::surface_and_interior(),
        Legend::changes(),
    ]
}

fn labels(legend: Legend) -> Labels {
    let values: Vec<u8> = match legend.labels() {
        [] => vec![3, 1, 255, 8],
        labels => labels.iter().map(|label| label.value).collect(),
    };
    let mut labels = Labels::new(DIMS, legend).unwrap();
    for (n, cell) in scattered(DIMS).iter().enumerate() {
        labels.set(cell, values[n * n % 7 % values.len()]);
    }
    labels
}

/// Values of every kind, with NaNs, infinities and zeros of both signs.
fn field(background: f32) -> Field {
    let mut field = Field::new(DIMS, background).unwrap();
    let odd = [
        -0.0,
        0.0,
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::MIN_POSITIVE / 2.0,
        f32::MAX,
    ];
    for (n, cell) in scattered(DIMS).iter().enumerate() {
        field.set(
            cell,
            odd.get(n % 20).copied().unwrap_or((n as f32).sin() * 100.0),
        );
    }
    field
}

/// Returns grids of labels and fields on a lattice, with all metadata.
pub(super) fn grids() -> Vec<Voxels> {
    let place = at_odd_place(BitGrid::new(DIMS).unwrap());
    let labels = legends()
        .into_iter()
        .map(|legend| Cells::from(labels(legend)));
    let fields =
        [0.0, -0.0, f32::INFINITY, f32::NAN, -2.5].map(|background| Cells::from(field(background)));
    labels
        .chain(fields)
        .map(|cells| Voxels {
            cells,
            ..place.clone()
        })
        .collect()
}

/// Returns every grid with every format that stores it.
fn cases() -> Vec<(Voxels, &'static Format, Dtype)> {
    let mut cases = vec![];
    for voxels in grids() {
        for format in readable().filter(|format| !format.is_folder()) {
            for dtype in format.dtypes_of(voxels.kind()) {
                cases.push((voxels.clone(), format, *dtype));
            }
        }
    }
    assert!(cases.len() >= 8 * 8 + 5 * 7, "{} cases", cases.len());
    cases
}

#[test]
fn labels_and_fields_come_back_and_broken_files_are_errors() {
    let mut cuts = 0;
    for (voxels, format, dtype) in cases() {
        let (bytes, sidecar) = saved(&voxels, format, dtype);
        let read = |bytes: &[u8]| read(bytes, format, sidecar.as_deref());
        let back = read(&bytes).unwrap();
        assert_eq!(back, voxels, "{format:?} {:?}", voxels.cells);
        assert_eq!(back.digest(), voxels.digest());
        // The usual type is the one that keeps all values.
        let usual = written(&voxels, format, &SaveOptions::default());
        assert!(usual.as_ref() == Ok(&bytes), "{format:?}");
        let lengths = (0..bytes.len()).step_by(bytes.len() / 40 + 1);
        for length in lengths.chain([bytes.len() - 1]) {
            let error = read(&bytes[..length]).expect_err(format.name);
            let found = (error.kind(), &error.code().name()[..1]);
            assert_eq!(found, (Kind::Input, "V"), "{format:?} {length}");
            cuts += 1;
        }
        let longer = read(&[&bytes[..], &[0; 8]].concat());
        assert!(longer.is_err() || format.name == "npz", "{format:?}");
    }
    assert!(cuts > 1000, "{cuts}");
}

/// Source of voxels a few layers at a time.
pub(super) struct Split<'a> {
    voxels: &'a Voxels,
    height: usize,
    next: usize,
    slab: Cells,
    /// Type of cells that the source claims instead of its own.
    claimed: Option<CellType<'a>>,
}

impl<'a> Split<'a> {
    pub(super) fn new(voxels: &'a Voxels, height: usize) -> Self {
        Self {
            voxels,
            height,
            next: 0,
            slab: BitGrid::new([1; 3]).unwrap().into(),
            claimed: None,
        }
    }
}

impl CellSource for Split<'_> {
    fn dims(&self) -> [usize; 3] {
        self.voxels.dims()
    }

    fn lattice(&self) -> Option<&Lattice> {
        self.voxels.lattice.as_ref()
    }

    fn record(&self) -> &Record {
        &self.voxels.record
    }

    fn cell_type(&self) -> CellType<'_> {
        match self.claimed {
            Some(claimed) => claimed,
            None => self.voxels.cells.as_ref().cell_type(),
        }
    }

    fn next(&mut self) -> Result<Option<Slab<'_>>> {
        let [nx, ny, nz] = self.dims();
        let first = self.next;
        let end = nz.min(self.next + self.height);
        if first == end {
            return Ok(None);
        }
        let dims = [nx, ny, end - first];
        self.slab = match &self.voxels.cells {
            Cells::Labels(all) => {
                let mut slab = Labels::new(dims, all.legend().clone())?;
                let mut row = vec![0; nx];
                for (j, k) in (first..end).flat_map(|k| (0..ny).map(move |j| (j, k))) {
                    all.row(j, k, &mut row);
                    slab.put_row(j, k - first, &row).unwrap();
                }
                slab.into()
            }
            Cells::Bits(all) => {
                let mut slab = BitGrid::new(dims)?;
                let within = all.iter().filter(|cell| (first..end).contains(&cell[2]));
                within.for_each(|[i, j, k]| slab.set([i, j, k - first]));
                slab.into()
            }
            Cells::Field(all) => {
                let values = all.values()[first * nx * ny..end * nx * ny].to_vec();
                Field::from_values(dims, all.background(), values)?.into()
            }
        };
        self.next = end;
        Ok(Some(Slab {
            first,
            cells: self.slab.as_ref(),
        }))
    }

    fn digest(&self) -> Digest {
        self.voxels.digest()
    }
}

#[test]
fn shares_of_cells_are_bytes_if_the_format_has_them() {
    let mut shares = Field::new(DIMS, 0.0).unwrap();
    for (n, value) in shares.values_mut().iter_mut().enumerate() {
        *value = (n % 3001) as f32 / 3000.0;
    }
    let distances = Voxels {
        cells: shares.clone().into(),
        ..at_odd_place(BitGrid::new(DIMS).unwrap())
    };
    let mut voxels = distances.clone();
    voxels.record.rule_name = Some("fraction".into());
    let auto = SaveOptions {
        sidecar: Sidecar::Auto,
        ..as_dtype(Dtype::U8)
    };
    let [mut read, mut refused] = [0; 2];
    for format in FORMATS
        .iter()
        .filter(|format| format.holds(CellKind::Field))
    {
        let folder = tempfile::tempdir().unwrap();
        let path = path_of(&folder, format);
        let error = format::save(&distances, &path, format, &auto).unwrap_err();
        assert_eq!(error.kind(), Kind::Usage, "{format:?}");
        if !format.has_bytes_of_shares() {
            let error = format::save(&voxels, &path, format, &auto).unwrap_err();
            let is_right = error.message().contains("stores fields as 'f32'");
            assert!(is_right, "{error}");
            refused += 1;
            continue;
        }
        format::save(&voxels, &path, format, &as_dtype(Dtype::U8)).unwrap();
        let found = Voxels::open(&path).unwrap();
        assert_eq!(found.lattice, voxels.lattice, "{format:?}");
        assert_eq!(found.record, voxels.record, "{format:?}");
        let dtype = format::describe(&path).unwrap().dtype;
        assert_eq!(dtype, Some(Dtype::U8), "{format:?}");
        let values = found.field().unwrap().values();
        assert_eq!(values.len(), shares.values().len());
        for (value, share) in values.iter().zip(shares.values()) {
            let nearest = (f64::from(*share) * 255.0).round() as f32 / 255.0;
            assert_eq!(*value, nearest, "{format:?}: {share}");
        }
        // Rounded shares are saved with the same bytes as the shares.
        let bytes = fs::read(&path).unwrap();
        format::save(&found, &path, format, &as_dtype(Dtype::U8)).unwrap();
        assert!(bytes == fs::read(&path).unwrap(), "{format:?}");
        read += 1;
    }
    assert!(read == 7 && refused > 3, "{read} {refused}");
}

#[test]
fn slabs_of_another_kind_than_their_source_are_refused() {
    let voxels = Voxels::new(field(0.0));
    for format in FORMATS {
        let mut source = Split {
            claimed: Some(CellType::Bits),
            ..Split::new(&voxels, 11)
        };
        let options = SaveOptions::default();
        let error = format::write_source_to(&mut source, &mut Vec::new(), format, &options);
        assert_eq!(error.unwrap_err().kind(), Kind::Usage, "{format:?}");
    }
}

#[test]
fn kinds_and_types_that_a_format_does_not_hold_are_usage_errors() {
    let field = Voxels::new(field(0.0));
    let labels = Voxels::new(labels(Legend::default()));
    let folder = tempfile::tempdir().unwrap();
    let mut refused = 0;
    for format in FORMATS {
        let mut cases = vec![(&field, Dtype::U8), (&labels, Dtype::F32)];
        if !format.holds(CellKind::Field) {
            cases.push((&field, Dtype::F32));
        }
        for (voxels, dtype) in cases {
            let path = path_of(&folder, format);
            let error = format::save(voxels, &path, format, &as_dtype(dtype)).unwrap_err();
            assert_eq!(error.kind(), Kind::Usage, "{format:?}");
            refused += 1;
        }
        let mut entries = fs::read_dir(folder.path()).unwrap();
        assert!(entries.next().is_none(), "{format:?}");
    }
    assert!(refused >= 2 * FORMATS.len(), "{refused}");
    let error = field.save(folder.path().join("a.vox")).unwrap_err();
    let hint = error.hint().unwrap().to_string();
    assert_eq!(error.message(), "vox cannot store fields");
    let is_right = hint.starts_with("formats that can store fields: npy, npz, nrrd, ");
    assert!(is_right, "{hint}");
    // Labels stored as bool keep only the occupied cells.
    let (bytes, _) = saved(&labels, named("npy"), Dtype::Bool);
    let found = read(&bytes, named("npy"), None).unwrap();
    assert_eq!(found.cells, labels.occupied().unwrap().clone().into());
}

#[test]
fn arrays_that_nothing_describes_lose_names_and_background() {
    let npy = named("npy");
    for legend in legends() {
        let voxels = Voxels::new(labels(legend.clone()));
        let (bytes, sidecar) = saved(&voxels, npy, Dtype::U8);
        let back = read(&bytes, npy, None).unwrap();
        if let Some(labels) = back.labels() {
            assert!(labels.iter().eq(voxels.labels().unwrap().iter()));
            assert_eq!(*labels.legend(), Legend::default());
        } else {
            // A single non-zero value means bits.
            assert_eq!(legend.labels().len(), 1);
            assert_eq!(back.occupied(), voxels.occupied());
        }
        // So do arrays with a leftover sidecar of another file.
        let other = Voxels::new(full(DIMS));
        let (bytes, _) = saved(&other, npy, Dtype::U8);
        let found = read(&bytes, npy, sidecar.as_deref());
        assert_eq!(found, Ok(other), "{legend:?}");
    }
    let (bytes, sidecar) = saved(&Voxels::new(field(7.0)), npy, Dtype::F32);
    let found = read(&bytes, npy, None).unwrap();
    assert_eq!(found.cells, field(7.0).with_background(0.0).into());
    let (other, _) = saved(&Voxels::new(field(3.0)), npy, Dtype::F32);
    let found = read(&other, npy, sidecar.as_deref()).unwrap();
    assert_eq!(found.field().unwrap().background(), 0.0);
}

#[test]
fn sidecars_with_other_labels_are_refused_if_they_are_needed() {
    let voxels = Voxels::new(labels(legends()[4].clone()));
    for format in ["raw", "npy"].map(named) {
        let (bytes, sidecar) = saved(&voxels, format, Dtype::U8);
        let sidecar = sidecar.unwrap().replace("\"value\": 40", "\"value\": 41");
        let back = read(&bytes, format, Some(&sidecar));
        if format.name == "raw" {
            check_error(back, "V007", format);
        } else {
            assert_eq!(*back.unwrap().labels().unwrap().legend(), Legend::default());
        }
        for (key, broken) in [
            ("\"colour\"", "\"colour\": \"#140"),
            ("\"name\"", "\"name\": 7, \"n"),
        ] {
            let sidecar = sidecar.replacen(key, broken, 1);
            check_error(read(&bytes, format, Some(&sidecar)), "V007", broken);
        }
    }
}
