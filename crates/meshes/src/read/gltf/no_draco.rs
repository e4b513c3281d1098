//! Replacement for `draco.rs` if the feature `draco` is disabled. No primitive is decoded.

use std::convert::Infallible;
use std::marker::PhantomData;

use super::attribute::AttributeNumbers;
use super::buffers::Buffers;
use super::document::{GltfObject, unknown_extension};
use voxelize_core::error::Result;

pub(super) use self::NotDecoded as Decoded;

/// Decoded primitive. No value of this type exists.
pub(super) struct NotDecoded<'a>(Infallible, PhantomData<&'a ()>);

impl<'a> NotDecoded<'a> {
    pub(super) fn new(
        _: GltfObject<'a>,
        _: &Buffers,
        _: &dyn Fn(u64) -> Result<()>,
    ) -> Result<Self> {
        Err(unknown_extension("KHR_draco_mesh_compression"))
    }

    pub(super) fn corners(&self) -> u64 {
        match self.0 {}
    }

    pub(super) fn corner(&self, _: u64) -> u64 {
        match self.0 {}
    }

    pub(super) fn attribute<'n, const N: usize>(
        &self,
        _: &str,
        _: Option<&GltfObject>,
        _: &dyn Fn(u64) -> Result<()>,
    ) -> Result<Option<AttributeNumbers<'n, N>>> {
        match self.0 {}
    }
}
