//! Writing `.vox`. As slabs arrive, the models of their tiles are written. The scene graph that places the
//! models follows at the end. A grid that is split has several files. A file is open as long as its layers
//! arrive.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use vox_format::chunk::ChunkId;

use tempfile::NamedTempFile;

use super::chunks::ChunkFile;
use super::cuts::{Cuts, ScenePiece};
use super::layers::{CarriedLayers, SceneLayers, Shell};
use super::nodes::{self, numbers};
use super::objects::SceneObjects;
use super::tile::{Tile, tiles_of};
use super::{TILE, Turn};
use crate::save::Sink;
use crate::several::Companions;
use crate::steps::{cancelled, next};
use crate::{CHOICES, Choice, Dtype, SaveOptions, metadata, put_digest};
use voxelize_core::error::{Error, Result};
use voxelize_core::grid::metadata::{Metadata, Style};
use voxelize_core::grid::{CellSource, Digest, Slab};
use voxelize_core::par::{self, Progress};

/// Data that all scenes of a grid share.
struct SceneForm {
    dims: [usize; 3],
    cuts: Cuts,
    turn: Turn,
    shell: Shell,
    /// Metadata of the grid. The digest is missing, because it is known only at the end.
    metadata: Metadata,
    objects: SceneObjects,
    palette: Vec<u8>,
    /// Upper bound for the number of bytes that follow the models, without the nodes of tiles.
    tail: u64,
}

/// Scene file that is being written.
struct SceneFile<'a> {
    piece: ScenePiece,
    chunks: ChunkFile<'a>,
    /// Temporary file of the scene. `None` if the scene is written to the output itself.
    companion: Option<NamedTempFile>,
    tiles: Vec<Tile>,
    voxels: u64,
}

pub(super) fn write(
    source: &mut dyn CellSource,
    out: &mut dyn Sink,
    dtype: Dtype,
    options: &SaveOptions,
    (path, companions): (&Path, &Companions),
) -> io::Result<()> {
    let form = SceneForm::new(source, dtype, options);
    let is_split = form.cuts.pieces() != [1; 3];
    if is_split && !companions.are_possible() {
        let error = Error::usage("a split grid has several files, but a stream is a single file");
        return Err(io::Error::other(error.with_hint("write it to a file")));
    }
    let mut out = Some(out);
    let mut open = BTreeMap::new();
    let mut carried = None;
    let mut next_tile = 0;
    let mut count = 0;
    while let Some(slab) = next(source)? {
        form.check_slab(&slab).map_err(io::Error::other)?;
        let layers = SceneLayers::new(&slab, carried.as_ref(), form.shell, form.dims[2]);
        let first = next_tile;
        while next_tile < form.cuts.tiles(2) && form.cuts.tile(2, next_tile).end <= layers.end() {
            next_tile += 1;
        }
        let is_here =
            |piece: &ScenePiece| piece.tiles[2].start < next_tile && first < piece.tiles[2].end;
        for piece in form.cuts.all().filter(is_here) {
            let number = piece.number;
            let mut scene = match open.remove(&number) {
                Some(scene) => scene,
                None => SceneFile::open(piece, &mut out, path, companions)?,
            };
            scene.add(
                &layers,
                first..next_tile,
                &form,
                (&mut count, options.progress),
            )?;
            if is_split && scene.piece.tiles[2].end <= next_tile {
                scene.finish(&form, None, path, companions)?;
            } else {
                open.insert(number, scene);
            }
        }
        if form.shell == Shell::Hull {
            carried = Some(CarriedLayers::of(&slab).map_err(io::Error::other)?);
        }
    }
    // A grid that is not split is completed here, because its digest is known only now.
    for scene in open.into_values() {
        scene.finish(&form, Some(source.digest()), path, companions)?;
    }
    Ok(())
}

impl SceneForm {
    fn new(source: &dyn CellSource, dtype: Dtype, options: &SaveOptions) -> Self {
        let mut metadata = metadata(source, dtype);
        if !options.choices.is_empty() {
            metadata
                .extra
                .insert(CHOICES.into(), Choice::list(options.choices));
        }
        let objects = SceneObjects::of(&source.cell_type());
        // The index of a piece and the digests add little to the JSON. An object has its name in a node and
        // perhaps in a layer. A group of its tiles takes at most 200 bytes in addition to their nodes.
        let names = objects.names().iter();
        let names: usize = names.map(|name| 2 * name.len() + 200).sum();
        let tail = metadata.to_json(Style::OneLine).len() + names + 4096;
        let turn = Turn::of(source.record());
        Self {
            dims: source.dims(),
            cuts: Cuts::new(source.dims(), turn, options.choices),
            turn,
            shell: Shell::of(options.choices),
            metadata,
            palette: nodes::palette(source.cell_type(), &objects),
            objects,
            tail: tail as u64,
        }
    }

    /// Fails if the slab does not consist of whole tiles.
    fn check_slab(&self, slab: &Slab) -> Result<()> {
        let end = slab.first + slab.cells.occupied()?.dims()[2];
        if slab.first.is_multiple_of(TILE) && (end.is_multiple_of(TILE) || end == self.dims[2]) {
            return Ok(());
        }
        Err(Error::usage(format!(
            "a .vox file is made of slabs of {TILE} layers"
        )))
    }

    /// Fails if the file would become too long. Lengths are stored in 32 bits, so a file has at most 4 GiB.
    /// The nodes of a tile take less than 300 bytes.
    fn check_length(&self, voxels: u64, tiles: usize) -> Result<()> {
        let bytes = 4 * voxels + 300 * tiles as u64 + self.tail;
        if super::FORMAT.max_bytes.is_none_or(|most| bytes <= most) {
            return Ok(());
        }
        Err(Error::too_large(format!(
            "{voxels} voxels do not fit a .vox file, which ends at 4 GiB"
        ))
        .with_hint("use larger cells, or save as .npz"))
    }

    /// Returns the JSON for a piece of the grid.
    fn about(&self, piece: &ScenePiece, digest: Option<Digest>) -> Result<String> {
        let mut metadata = self.metadata.clone();
        if let Some(digest) = digest {
            put_digest(digest, &mut metadata);
        }
        if piece.dims() != self.dims {
            metadata.dims = Some(piece.dims());
            if let Some(lattice) = &metadata.lattice {
                metadata.lattice = Some(lattice.region(piece.cells.clone())?);
            }
            metadata.extra.insert("piece".into(), piece.words("-"));
            metadata
                .extra
                .insert("piece_first".into(), list(piece.origin()));
            metadata.extra.insert("whole_dims".into(), list(self.dims));
        }
        super::annotate(Dtype::U8, &mut metadata);
        Ok(metadata.to_json(Style::OneLine))
    }
}

fn list(numbers: [usize; 3]) -> String {
    numbers.map(|n| n.to_string()).join(",")
}

impl<'a> SceneFile<'a> {
    /// Begins the file of a piece. The first piece is written to the output itself.
    fn open(
        piece: ScenePiece,
        out: &mut Option<&'a mut dyn Sink>,
        path: &Path,
        companions: &Companions,
    ) -> io::Result<Self> {
        let (sink, companion): (Box<dyn Sink + 'a>, _) = match out.take() {
            Some(out) => (Box::new(out), None),
            None => {
                let file = companions.open(&piece.path(path))?;
                let buffered = BufWriter::with_capacity(64 << 10, file.as_file().try_clone()?);
                (Box::<BufWriter<File>>::new(buffered), Some(file))
            }
        };
        Ok(Self {
            piece,
            chunks: ChunkFile::new(sink)?,
            companion,
            tiles: vec![],
            voxels: 0,
        })
    }

    /// Writes the models of the piece's tiles whose index along z is in `zs`. Each object in a tile has its own
    /// model.
    fn add(
        &mut self,
        layers: &SceneLayers,
        zs: std::ops::Range<usize>,
        form: &SceneForm,
        (count, progress): (&mut u64, &dyn Progress),
    ) -> io::Result<()> {
        let [xs, ys, all] = self.piece.tiles.clone();
        let zs = zs.start.max(all.start)..zs.end.min(all.end);
        let tiles = tiles_of(layers, &form.cuts, [xs, ys, zs], &form.objects);
        let voxels: u64 = tiles.iter().map(|tile| u64::from(tile.voxels)).sum();
        self.voxels += voxels;
        *count += voxels;
        form.check_length(self.voxels, self.tiles.len() + tiles.len())
            .map_err(io::Error::other)?;
        progress.begin("write", *count);
        for tile in &tiles {
            self.chunks
                .put(ChunkId::Size, &numbers(tile.even_size(form.turn)))?;
            self.chunks
                .begin(ChunkId::Xyzi, 4 + 4 * u64::from(tile.voxels))?;
            self.chunks.write(&tile.voxels.to_le_bytes())?;
            for parts in tile.parts().chunks(2 * par::current_threads()) {
                cancelled(progress)?;
                for voxels in par::map(parts.to_vec(), |part| {
                    tile.make(&part, layers, form.turn, &form.objects)
                }) {
                    self.chunks.write(&voxels)?;
                    progress.advance(voxels.len() as u64 / 4);
                }
            }
        }
        self.tiles.extend(tiles);
        Ok(())
    }

    /// Writes the chunks after the models: the root with the JSON, the nodes of the objects, the layers and
    /// the palette.
    fn finish(
        mut self,
        form: &SceneForm,
        digest: Option<Digest>,
        path: &Path,
        companions: &Companions,
    ) -> io::Result<()> {
        if self.tiles.is_empty() {
            let first = self.piece.tiles.clone().map(|tiles| tiles.start);
            let tile = Tile::new(first, &form.cuts);
            self.chunks
                .put(ChunkId::Size, &numbers(tile.even_size(form.turn)))?;
            self.chunks.put(ChunkId::Xyzi, &numbers([0]))?;
            self.tiles.push(tile);
        }
        let json = form.about(&self.piece, digest).map_err(io::Error::other)?;
        self.chunks.put(ChunkId::NTrn, &nodes::root(&json))?;
        nodes::put_objects(
            &mut self.chunks,
            &self.tiles,
            &form.objects,
            form.turn,
            &self.piece,
        )?;
        let mut names: Vec<&str> = form.objects.layers().iter().map(String::as_str).collect();
        if names.is_empty() {
            names.push("voxels");
        }
        for (n, name) in names.into_iter().enumerate() {
            self.chunks
                .put(ChunkId::Layr, &nodes::layer(n as u32, name))?;
        }
        self.chunks.put(ChunkId::Rgba, &form.palette)?;
        self.chunks.finish()?;
        match self.companion {
            Some(file) => companions.close(&self.piece.path(path), file),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::{InMemory, Voxels};
    use voxelize_core::error::Kind;
    use voxelize_core::grid::BitGrid;

    #[test]
    fn a_scene_beyond_4_gib_is_refused_before_its_voxels_are_written() {
        let mut bits = BitGrid::new([1024, 1024, 1025]).unwrap();
        bits.words_mut().fill(!0);
        let voxels = Voxels::new(bits);
        let written = |choices: &[Choice]| {
            let mut out = Cursor::new(Vec::new());
            let options = SaveOptions {
                choices,
                ..SaveOptions::default()
            };
            let path = (Path::new("-"), &Companions::none());
            let result = write(
                &mut InMemory::new(&voxels),
                &mut out,
                Dtype::U8,
                &options,
                path,
            );
            (result, out.into_inner().len())
        };
        let (refused, bytes) = written(&[]);
        let error = crate::place::failure(refused.unwrap_err());
        assert_eq!(
            (error.kind(), error.message()),
            (
                Kind::TooLarge,
                "1074790400 voxels do not fit a .vox file, which ends at 4 GiB"
            )
        );
        assert!(bytes < 100, "{bytes}");
        // All voxels are on the surface except for 1022 × 1022 × 1023.
        let (result, bytes) = written(&[Choice::VoxHull]);
        let hull = 1024 * 1024 * 1025 - 1022 * 1022 * 1023;
        assert!(
            result.is_ok() && bytes.abs_diff(4 * hull) < 20_000,
            "{result:?} {bytes}"
        );
    }
}
