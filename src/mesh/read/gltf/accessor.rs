//! Accessors: numbers in a view of a buffer, element by element, some of which may be replaced.

use super::buffers::{BufferView, Buffers, slice};
use super::document::GltfObject;
use crate::error::{Code, Result};

/// The type of the numbers of an element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ComponentType {
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
            other => return Err(object.error(Code::S006, format!("{other} is no type of components"))),
        })
    }

    fn size(self) -> u64 {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    /// The first `N` numbers in these bytes.
    fn values<const N: usize>(self, bytes: &[u8]) -> [f64; N] {
        fn each<const N: usize, const S: usize>(bytes: &[u8], value: impl Fn([u8; S]) -> f64) -> [f64; N] {
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

    /// The number that a whole number stands for, where it is normalized.
    fn normalized(self, value: f64) -> f64 {
        match self {
            Self::I8 => (value / 127.0).max(-1.0),
            Self::U8 => value / 255.0,
            Self::I16 => (value / 32767.0).max(-1.0),
            Self::U16 => value / 65535.0,
            Self::U32 | Self::F32 => value,
        }
    }
}

/// Elements of `N` numbers.
pub(super) struct Accessor<'a, const N: usize> {
    pub count: u64,
    component: ComponentType,
    is_normalized: bool,
    /// Without it all numbers are zero.
    elements: Option<Elements<'a>>,
    /// The numbers of elements in order, and those that they have.
    replaced: Option<[Elements<'a>; 2]>,
    replaced_by: ComponentType,
    replacements: u64,
}

/// Elements that lie one after the other.
#[derive(Clone, Copy)]
struct Elements<'a> {
    bytes: &'a [u8],
    stride: usize,
}

impl<'a> Elements<'a> {
    /// `count` elements of `size` bytes, all of which are there.
    fn new(view: BufferView<'a>, from: u64, count: u64, size: u64, about: &GltfObject) -> Result<Self> {
        let stride = view.stride.unwrap_or(size);
        let length = match count {
            0 => Some(0),
            _ => stride.checked_mul(count - 1).and_then(|length| length.checked_add(size)),
        };
        let bytes = length.and_then(|length| slice(view.bytes, from, length)).ok_or_else(|| {
            let text =
                format!("cut short: {count} elements are not in the {} bytes of its view", view.bytes.len());
            about.error(Code::S003, text)
        })?;
        Ok(Self { bytes, stride: stride as usize })
    }

    fn at(&self, n: u64) -> &'a [u8] {
        self.bytes.get(n as usize * self.stride..).unwrap_or_default()
    }
}

impl<'a, const N: usize> Accessor<'a, N> {
    /// The accessor of this index, of a type with as many numbers; `admit` refuses memory.
    pub(super) fn new(buffers: &'a Buffers, index: u64, admit: &dyn Fn(u64) -> Result<()>) -> Result<Self> {
        let object = buffers.document.get("accessors", index)?;
        let wanted = ["SCALAR", "VEC2", "VEC3", "VEC4"][N - 1];
        if object.text("type") != Some(wanted) {
            return Err(object.error(Code::S006, format!("its type is not {wanted}")));
        }
        let component = ComponentType::of(&object)?;
        let count = object.needed("count")?;
        let size = N as u64 * component.size();
        let elements = match object.whole("bufferView")? {
            Some(view) => {
                let from = object.whole("byteOffset")?.unwrap_or(0);
                Some(Elements::new(buffers.view(view, admit)?, from, count, size, &object)?)
            }
            // Zeros that nothing vouches for.
            None if count > buffers.length => {
                return Err(object.error(Code::S006, format!("{count} elements without a view of a buffer")));
            }
            None => None,
        };
        let (mut replaced, mut replaced_by, mut replacements) = (None, ComponentType::U8, 0);
        if let Some(sparse) = object.inner("sparse") {
            replacements = sparse.needed("count")?;
            let part = |key: &str, size: &dyn Fn(&GltfObject) -> Result<u64>| {
                let part = sparse.inner(key);
                let part = part.ok_or_else(|| object.error(Code::S006, format!("sparse, without {key}")))?;
                let view = buffers.view(part.needed("bufferView")?, admit)?;
                let from = part.whole("byteOffset")?.unwrap_or(0);
                Elements::new(BufferView { stride: None, ..view }, from, replacements, size(&part)?, &part)
            };
            let indices = sparse.inner("indices");
            replaced_by = indices.map_or(Ok(ComponentType::U8), |indices| ComponentType::of(&indices))?;
            let numbers = part("indices", &|_| Ok(replaced_by.size()))?;
            replaced = Some([numbers, part("values", &|_| Ok(size))?]);
        }
        let is_normalized = object.flag("normalized");
        Ok(Self { count, component, is_normalized, elements, replaced, replaced_by, replacements })
    }

    /// Its elements, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = [f64; N]> {
        let mut next = 0;
        (0..self.count).map(move |n| {
            let mut bytes = self.elements.map(|elements| elements.at(n));
            if let Some([numbers, values]) = self.replaced {
                while next < self.replacements {
                    let [number] = self.replaced_by.values(numbers.at(next));
                    if number > n as f64 {
                        break;
                    }
                    if number == n as f64 {
                        bytes = Some(values.at(next));
                    }
                    next += 1;
                }
            }
            let Some(bytes) = bytes else { return [0.0; N] };
            let values = self.component.values(bytes);
            if self.is_normalized { values.map(|value| self.component.normalized(value)) } else { values }
        })
    }

    /// Its elements as shares of 1, whether or not the file says that whole numbers are.
    pub(super) fn shares(&self) -> impl Iterator<Item = [f64; N]> {
        let is_normalized = self.is_normalized;
        self.iter().map(move |element| match is_normalized {
            true => element,
            false => element.map(|value| self.component.normalized(value)),
        })
    }

    /// Whether its numbers are floats.
    pub(super) fn is_float(&self) -> bool {
        self.component == ComponentType::F32
    }
}
