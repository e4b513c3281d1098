//! What `diff -o` writes: the cells that differ, to be looked at.

use std::path::Path;

use voxelize::compare::diff;
use voxelize::format::{self, FORMATS, Format, SaveOptions, Written};
use voxelize::grid::{Part, Sort};
use voxelize::{Error, Lattice, Result, Voxels};

use super::super::call::Call;
use super::super::tell;
use super::Args;

/// Where to write, and what.
pub struct Target<'a> {
    pub path: &'a Path,
    kind: Kind,
}

/// What `-o` asks for, by its extension.
enum Kind {
    /// Voxels that tell parts apart.
    Voxels(&'static Format),
}

impl<'a> Target<'a> {
    pub fn of(path: &'a Path, args: &Args) -> Result<Self> {
        let names = [(args.first.as_path(), "the first file"), (args.second.as_path(), "the second file")];
        tell::refuse_same(path, &names)?;
        let Some(format) = format::by_path(path).filter(|format| format.tells_parts()) else {
            let known = FORMATS.iter().filter(|format| format.tells_parts());
            let known: Vec<_> = known.map(|format| format!(".{}", format.extensions[0])).collect();
            return Err(Error::usage("no format that tells added from removed has this extension")
                .in_file(path)
                .with_hint(format!("{} does", known.join(", "))));
        };
        format::probe_output(path)?;
        Ok(Self { path, kind: Kind::Voxels(format) })
    }

    pub fn write(
        &self,
        first: &Voxels,
        second: &Voxels,
        lattice: Option<&Lattice>,
        call: &Call,
    ) -> Result<Vec<Written>> {
        let Kind::Voxels(format) = self.kind;
        let changed: Vec<Part> = diff::parts(&first.bits, &second.bits)?
            .into_iter()
            .filter(|part| part.sort != Sort::Common)
            .collect();
        call.listen()?;
        let bar = call.bar();
        let options = SaveOptions { progress: &bar, ..SaveOptions::default() };
        let written = format::save_parts(&changed, lattice, self.path, format, &options);
        bar.clear();
        written
    }
}
