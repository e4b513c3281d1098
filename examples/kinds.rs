//! Writes a ball as labels and as a field of distances, computed layer by layer, in every format that stores
//! them: `cargo run --example kinds -- FOLDER`. `just kinds` compares the arrays read by NumPy with the
//! formula.

use std::path::PathBuf;

use voxelize::format::{self, FORMATS, SaveOptions, Sidecar};
use voxelize::grid::{
    CellKind, CellSource, CellType, Digest, DigestBuilder, Field, Label, Labels, Legend, Record,
    Slab,
};
use voxelize::{Lattice, Rational, Result, Voxels};

const DIMS: [usize; 3] = [40, 30, 20];

/// Distances beyond this limit are background.
const BAND: f32 = 0.75;

/// Returns the distance from the ball of radius 0.8 around the middle, for cells of a tenth.
fn distance([i, j, k]: [usize; 3]) -> f32 {
    let [x, y, z] = [i as f32 - 19.5, j as f32 - 14.5, k as f32 - 9.5].map(|cells| cells / 10.0);
    (x * x + y * y + z * z).sqrt() - 0.8
}

/// Source of the field with one layer in memory.
struct Distances {
    lattice: Lattice,
    record: Record,
    layer: Field,
    next: usize,
    digest: DigestBuilder,
}

impl Distances {
    fn new(lattice: &Lattice) -> Result<Self> {
        let digest = DigestBuilder::new(DIMS, CellType::Field { background: BAND });
        let layer = Field::new([DIMS[0], DIMS[1], 1], BAND)?;
        Ok(Self {
            lattice: lattice.clone(),
            record: Record::default(),
            layer,
            next: 0,
            digest,
        })
    }
}

impl CellSource for Distances {
    fn dims(&self) -> [usize; 3] {
        DIMS
    }

    fn lattice(&self) -> Option<&Lattice> {
        Some(&self.lattice)
    }

    fn record(&self) -> &Record {
        &self.record
    }

    fn cell_type(&self) -> CellType<'_> {
        CellType::Field { background: BAND }
    }

    fn next(&mut self) -> Result<Option<Slab<'_>>> {
        let first = self.next;
        if first == DIMS[2] {
            return Ok(None);
        }
        for j in 0..DIMS[1] {
            for (i, value) in self.layer.row_mut(j, 0).iter_mut().enumerate() {
                *value = distance([i, j, first]).clamp(-BAND, BAND);
            }
        }
        self.digest.add(&self.layer);
        self.next += 1;
        Ok(Some(Slab {
            first,
            cells: (&self.layer).into(),
        }))
    }

    fn digest(&self) -> Digest {
        self.digest.finish(Some(&self.lattice))
    }
}

/// Returns the core of the ball and its shell.
fn labels() -> Result<Labels> {
    let legend = Legend::new([
        Label::new(7, "core").with_colour([0xd5, 0x5e, 0x00]),
        Label::new(200, "shell, 0.2 thick").with_colour([0x56, 0xb4, 0xe9]),
    ])?;
    let mut labels = Labels::new(DIMS, legend)?;
    for n in 0..DIMS.iter().product() {
        let cell = [n % DIMS[0], n / DIMS[0] % DIMS[1], n / DIMS[0] / DIMS[1]];
        match distance(cell) {
            inside if inside < -0.2 => labels.set(cell, 7),
            shell if shell < 0.0 => labels.set(cell, 200),
            _ => {}
        }
    }
    Ok(labels)
}

fn main() -> Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).expect("a folder to write to"));
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let tenth = [(); 3].map(|()| Rational::new(1, 10));
    let lattice = Lattice::new(DIMS, [(); 3].map(|()| Rational::ZERO), tenth, [true; 3])?;
    let labels = Voxels {
        lattice: Some(lattice.clone()),
        ..Voxels::new(labels()?)
    };
    let options = SaveOptions {
        sidecar: Sidecar::Write,
        ..SaveOptions::default()
    };
    let readable = FORMATS.iter().filter(|format| format.is_readable());
    for format in readable.clone() {
        let path = folder.join("labels").with_extension(format.extensions[0]);
        format::save(&labels, &path, format, &options)?;
        assert_eq!(Voxels::open(&path)?, labels, "{}", path.display());
    }
    println!("labels  {}", labels.digest().cells);
    for format in readable.filter(|format| format.holds(CellKind::Field)) {
        let path = folder.join("field").with_extension(format.extensions[0]);
        let mut source = Distances::new(&lattice)?;
        format::save_source(&mut source, &path, format, &options)?;
        let back = Voxels::open(&path)?;
        assert_eq!(back.digest(), source.digest(), "{}", path.display());
        println!("field   {}  {}", back.digest().cells, format.name);
    }
    Ok(())
}
