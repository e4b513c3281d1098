//! Every triangle of a mesh, into one slab.

use fearless_simd::{Simd, dispatch};

use crate::geom::Triangle;

use super::frame::Frame;
use super::levels::Level;
use super::setup::Setup;
use super::slab::Slab;
use super::span::{self, Scratch};

/// Occupies every cell of `slab` that one of `triangles` touches. The answer counts the
/// coordinates that snapping moved, of triangles that begin in this slab.
pub fn cover(level: Level, frame: &Frame, triangles: &[Triangle], slab: &mut Slab) -> u64 {
    let token = level.token().expect("the level was checked to run here");
    dispatch!(token, simd => cover_with(simd, frame, triangles, slab))
}

#[inline(always)]
fn cover_with<S: Simd>(simd: S, frame: &Frame, triangles: &[Triangle], slab: &mut Slab) -> u64 {
    let mut scratch = Scratch::default();
    let mut snapped = 0;
    for triangle in triangles {
        if let Some(setup) = Setup::new(frame, triangle) {
            if slab.layers.contains(&setup.base[2].max(0)) {
                snapped += u64::from(setup.snapped);
            }
            span::cover(simd, frame, &setup, triangle, slab, &mut scratch);
        }
    }
    snapped
}
