//! What `diff -o` writes: the cells that differ, to be looked at.

use std::path::Path;

use voxelize::compare::diff;
use voxelize::format::{self, FORMATS, Format, SaveOptions, Written};
use voxelize::grid::{Part, Sort};
use voxelize::view::{self, View};
use voxelize::{Error, Kind as ErrorKind, Lattice, Rational, Result, Voxels};

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
    /// A picture.
    Picture,
}

impl<'a> Target<'a> {
    pub fn of(path: &'a Path, args: &Args) -> Result<Self> {
        let names = [(args.first.as_path(), "the first file"), (args.second.as_path(), "the second file")];
        tell::refuse_same(path, &names)?;
        let is_picture = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png"));
        let kind = match format::by_path(path).filter(|format| format.tells_parts()) {
            Some(format) => Kind::Voxels(format),
            None if is_picture => Kind::Picture,
            None => {
                let known = FORMATS.iter().filter(|format| format.tells_parts());
                let known: Vec<_> = known.map(|format| format!(".{}", format.extensions[0])).collect();
                return Err(Error::usage("no format that tells added from removed has this extension")
                    .in_file(path)
                    .with_hint(format!("{} does, and .png is a picture", known.join(", "))));
            }
        };
        format::probe_output(path)?;
        Ok(Self { path, kind })
    }

    pub fn write(
        &self,
        first: &Voxels,
        second: &Voxels,
        lattice: Option<&Lattice>,
        call: &Call,
    ) -> Result<Vec<Written>> {
        let parts = diff::parts(&first.bits, &second.bits)?;
        call.listen()?;
        let Kind::Voxels(format) = self.kind else {
            // What is common is there, too, dim, to see where in the part it is.
            let size = |lattice: &Lattice| lattice.spacing().each_ref().map(Rational::to_f64);
            let picture = view::cells(&parts, lattice.map_or([1.0; 3], size), &View::default())?;
            return picture.save(self.path).map(|one| vec![one]);
        };
        let changed: Vec<Part> = parts.into_iter().filter(|part| part.sort != Sort::Common).collect();
        let bar = call.bar();
        let options = SaveOptions { progress: &bar, ..SaveOptions::default() };
        let written = format::save_parts(&changed, lattice, self.path, format, &options);
        bar.clear();
        written.map_err(|error| match error.kind() {
            // Cells that are no cubes; saving otherwise is no way out here.
            ErrorKind::Usage => {
                error.in_file(self.path).with_hint("without -o the grids are compared all the same")
            }
            _ => error,
        })
    }
}
