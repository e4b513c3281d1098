//! Accessors: arrays of elements of numbers, stored in a view of a buffer. A sparse accessor replaces some
//! elements by others.

use super::buffers::{BufferView, Buffers, slice};
use super::document::GltfObject;
use voxelize_core::error::{Code, Result};

/// Number type of the components of an element.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ComponentType {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl ComponentType {
    fn of(object: &GltfObject) -> Result<Self> {
        Ok(match object.needed("componentType")? {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            5126 => Self::F32,
            other => {
                return Err(
                    object.error(Code::S006, format!("{other} is not a type of components"))
                );
            }
        })
    }

    fn is_unsigned(self) -> bool {
        matches!(self, Self::U8 | Self::U16 | Self::U32)
    }

    fn size(self) -> u64 {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    /// Returns the first `N` numbers in these bytes as doubles.
    fn values<const N: usize>(self, bytes: &[u8]) -> [f64; N] {
        fn each<const N: usize, const S: usize>(
            bytes: &[u8],
            value: impl Fn([u8; S]) -> f64,
        ) -> [f64; N] {
            let numbers = bytes.as_chunks::<S>().0;
            std::array::from_fn(|n| numbers.get(n).map_or(f64::NAN, |bytes| value(*bytes)))
        }
        match self {
            Self::I8 => each(bytes, |[byte]| f64::from(byte as i8)),
            Self::U8 => each(bytes, |[byte]| f64::from(byte)),
            Self::I16 => each(bytes, |bytes| f64::from(i16::from_le_bytes(bytes))),
            Self::U16 => each(bytes, |bytes| f64::from(u16::from_le_bytes(bytes))),
            Self::U32 => each(bytes, |bytes| f64::from(u32::from_le_bytes(bytes))),
            Self::F32 => each(bytes, |bytes| f64::from(f32::from_le_bytes(bytes))),
        }
    }

    /// Returns the number between −1 and 1 that a normalized integer stands for.
    pub(super) fn normalized(self, value: f64) -> f64 {
        match self {
            Self::I8 => (value / 127.0).max(-1.0),
            Self::U8 => value / 255.0,
            Self::I16 => (value / 32767.0).max(-1.0),
            Self::U16 => value / 65535.0,
            Self::U32 | Self::F32 => value,
        }
    }
}

/// Accessor whose elements have `N` numbers each.
pub(super) struct Accessor<'a, const N: usize> {
    pub count: u64,
    component: ComponentType,
    is_normalized: bool,
    /// Stored elements. `None` if all numbers are zero.
    elements: Option<Elements<'a>>,
    sparse: Option<Replacements<'a>>,
}

/// Replacements for some elements of a sparse accessor.
struct Replacements<'a> {
    count: u64,
    component: ComponentType,
    /// Indices of the replaced elements, in ascending order.
    indices: Elements<'a>,
    values: Elements<'a>,
}

impl<'a> Replacements<'a> {
    fn index(&self, n: u64) -> u64 {
        let [index] = self.component.values(self.indices.at(n));
        index as u64
    }

    /// Returns the bytes that replace element `n`. `None` if it is not replaced.
    fn at(&self, n: u64) -> Option<&'a [u8]> {
        let mut low = 0;
        let mut high = self.count;
        while low < high {
            let middle = low + (high - low) / 2;
            if self.index(middle) < n {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if low < self.count && self.index(low) == n {
            Some(self.values.at(low))
        } else {
            None
        }
    }

    /// Checks that the indices ascend and are below `count`.
    fn check(&self, count: u64, about: &GltfObject) -> Result<()> {
        let mut least = 0;
        for n in 0..self.count {
            let index = self.index(n);
            if index < least || index >= count {
                let text = format!("sparse index {index} is not between {least} and {count}");
                return Err(about.error(Code::S006, text));
            }
            least = index + 1;
        }
        Ok(())
    }
}

/// Elements of equal size at equal distances in a view.
#[derive(Clone, Copy)]
struct Elements<'a> {
    bytes: &'a [u8],
    stride: usize,
}

impl<'a> Elements<'a> {
    /// Returns `count` elements of `size` bytes from byte `from` on. Fails unless all of them are within the
    /// view.
    fn new(
        view: BufferView<'a>,
        from: u64,
        count: u64,
        size: u64,
        about: &GltfObject,
    ) -> Result<Self> {
        // Some exporters write a stride of 0 for elements without gaps.
        let stride = view.stride.filter(|stride| *stride > 0).unwrap_or(size);
        if stride < size {
            let text = format!("elements of {size} bytes, {stride} bytes apart");
            return Err(about.error(Code::S006, text));
        }
        let length = match count {
            0 => Some(0),
            _ => stride
                .checked_mul(count - 1)
                .and_then(|length| length.checked_add(size)),
        };
        let bytes = length
            .and_then(|length| slice(view.bytes, from, length))
            .ok_or_else(|| {
                let text = format!(
                    "cut short: {count} elements are not in the {} bytes of its view",
                    view.bytes.len()
                );
                about.error(Code::S003, text)
            })?;
        Ok(Self {
            bytes,
            stride: stride as usize,
        })
    }

    fn at(&self, n: u64) -> &'a [u8] {
        self.bytes
            .get(n as usize * self.stride..)
            .unwrap_or_default()
    }
}

/// Returns the number of components of an element of this type. `None` if the type is unknown.
fn width(name: &str) -> Option<u64> {
    Some(match name {
        "SCALAR" => 1,
        "VEC2" => 2,
        "VEC3" => 3,
        "VEC4" => 4,
        "MAT4" => 16,
        _ => return None,
    })
}

impl<'a, const N: usize> Accessor<'a, N> {
    /// Name of the type whose elements have `N` numbers.
    const TYPE: &'static str = match N {
        1 => "SCALAR",
        2 => "VEC2",
        3 => "VEC3",
        4 => "VEC4",
        16 => "MAT4",
        _ => panic!("no type has as many numbers"),
    };

    /// Returns the accessor with this index. Its elements must have `N` numbers. `admit` fails if the memory
    /// exceeds the limit.
    pub(super) fn new(
        buffers: &'a Buffers,
        index: u64,
        admit: &dyn Fn(u64) -> Result<()>,
    ) -> Result<Self> {
        Self::first_of(&[Self::TYPE], buffers, index, admit)
    }

    /// Returns an accessor for the first `N` numbers of each element. The accessor with this index must have
    /// one of these types.
    pub(super) fn first_of(
        types: &[&str],
        buffers: &'a Buffers,
        index: u64,
        admit: &dyn Fn(u64) -> Result<()>,
    ) -> Result<Self> {
        let object = buffers.document.get("accessors", index)?;
        let found = object.text("type").filter(|name| types.contains(name));
        let Some(width) = found.and_then(width) else {
            return Err(object.error(
                Code::S006,
                format!("its type is not {}", types.join(" or ")),
            ));
        };
        let component = ComponentType::of(&object)?;
        let count = object.needed("count")?;
        let size = width * component.size();
        let elements = match object.whole("bufferView")? {
            Some(view) => {
                let from = object.whole("byteOffset")?.unwrap_or(0);
                Some(Elements::new(
                    buffers.view(view, admit)?,
                    from,
                    count,
                    size,
                    &object,
                )?)
            }
            // Elements without stored bytes take no space in the file, so their number is limited by its
            // length.
            None if count > buffers.length => {
                return Err(object.error(
                    Code::S006,
                    format!("{count} elements without a view of a buffer"),
                ));
            }
            None => None,
        };
        let mut sparse = None;
        if let Some(replaced) = object.inner("sparse") {
            let part = |key: &str| {
                let part = replaced.inner(key);
                part.ok_or_else(|| {
                    object.error(Code::S006, format!("it is sparse, but has no {key}"))
                })
            };
            let indices = part("indices")?;
            let values = part("values")?;
            let replacements = replaced.needed("count")?;
            let elements = |part: &GltfObject, size: u64| {
                let view = buffers.view(part.needed("bufferView")?, admit)?;
                let from = part.whole("byteOffset")?.unwrap_or(0);
                Elements::new(
                    BufferView {
                        stride: None,
                        ..view
                    },
                    from,
                    replacements,
                    size,
                    part,
                )
            };
            let component = ComponentType::of(&indices)?;
            if !component.is_unsigned() {
                return Err(object.error(
                    Code::S006,
                    "its sparse indices are not whole numbers of at least 0",
                ));
            }
            let found = Replacements {
                count: replacements,
                component,
                indices: elements(&indices, component.size())?,
                values: elements(&values, size)?,
            };
            if buffers.is_first_use(index) {
                found.check(count, &object)?;
            }
            sparse = Some(found);
        }
        Ok(Self {
            count,
            component,
            is_normalized: object.flag("normalized"),
            elements,
            sparse,
        })
    }

    /// Returns element `n`, which must exist.
    pub(super) fn at(&self, n: u64) -> [f64; N] {
        let replaced = self.sparse.as_ref().and_then(|sparse| sparse.at(n));
        let Some(bytes) = replaced.or_else(|| Some(self.elements.as_ref()?.at(n))) else {
            return [0.0; N];
        };
        let values = self.component.values(bytes);
        if self.is_normalized {
            values.map(|value| self.component.normalized(value))
        } else {
            values
        }
    }

    /// Returns whether the numbers are unsigned integers, as indices are.
    pub(super) fn is_unsigned(&self) -> bool {
        self.component.is_unsigned()
    }

    /// Returns the maximum rounding error of the stored numbers.
    pub(super) fn rounding(&self) -> f64 {
        match self.component {
            ComponentType::I8 | ComponentType::U8 => 1.0 / 127.0,
            ComponentType::I16 | ComponentType::U16 => 1.0 / 32767.0,
            ComponentType::U32 | ComponentType::F32 => 1e-5,
        }
    }
}
