//! Vertex attributes: stored or decompressed numbers, displaced by morph targets.

use super::accessor::{Accessor, ComponentType};
use super::buffers::Buffers;
use super::document::GltfObject;
use voxelize_core::error::{Code, Result};

/// Values of an attribute: `N` numbers for each vertex.
pub(super) enum AttributeNumbers<'a, const N: usize> {
    Plain(Accessor<'a, N>),
    #[cfg_attr(not(feature = "draco"), expect(dead_code))]
    Decoded {
        values: Vec<[f32; N]>,
        /// Integer type of normalized numbers. `None` if the numbers are not normalized.
        shares: Option<ComponentType>,
    },
}

impl<const N: usize> AttributeNumbers<'_, N> {
    pub(super) fn count(&self) -> u64 {
        match self {
            Self::Plain(accessor) => accessor.count,
            Self::Decoded { values, .. } => values.len() as u64,
        }
    }

    /// Returns the `N` numbers of vertex `n`, which must exist.
    pub(super) fn at(&self, n: u64) -> [f64; N] {
        match self {
            Self::Plain(accessor) => accessor.at(n),
            Self::Decoded { values, shares } => {
                let values = values[n as usize].map(f64::from);
                match shares {
                    Some(shares) => values.map(|value| shares.normalized(value)),
                    None => values,
                }
            }
        }
    }
}

/// Attribute, and the morph targets that displace it.
pub(super) struct Morphed<'a, const N: usize> {
    base: AttributeNumbers<'a, N>,
    targets: Vec<(f64, Accessor<'a, N>)>,
}

impl<'a, const N: usize> Morphed<'a, N> {
    /// Creates the attribute `name` of a primitive, displaced by the primitive's morph targets with these
    /// weights.
    pub(super) fn new(
        base: AttributeNumbers<'a, N>,
        name: &str,
        types: &[&str],
        primitive: &GltfObject,
        weights: &[(usize, f64)],
        buffers: &'a Buffers,
        admit: &dyn Fn(u64) -> Result<()>,
    ) -> Result<Self> {
        let mut targets = vec![];
        for (n, weight) in weights {
            let Some(target) = primitive.element("targets", *n) else {
                continue;
            };
            let Some(index) = target.whole(name)? else {
                continue;
            };
            let accessor = Accessor::first_of(types, buffers, index, admit)?;
            if accessor.count != base.count() {
                let text = format!(
                    "target {n}: {name} of {} vertices, not {}",
                    accessor.count,
                    base.count()
                );
                return Err(primitive.error(Code::S006, text));
            }
            targets.push((*weight, accessor));
        }
        Ok(Self { base, targets })
    }

    pub(super) fn count(&self) -> u64 {
        self.base.count()
    }

    /// Returns the displaced `N` numbers of vertex `n`, which must exist.
    pub(super) fn at(&self, n: u64) -> [f64; N] {
        let mut numbers = self.base.at(n);
        for (weight, target) in &self.targets {
            for (number, moved) in numbers.iter_mut().zip(target.at(n)) {
                *number += weight * moved;
            }
        }
        numbers
    }
}
