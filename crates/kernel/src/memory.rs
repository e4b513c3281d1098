//! Memory that is initially zero, in huge pages if the system supports them.
//!
//! Most pages of a large grid are used. With pages of 4 KiB, the first access to a page costs more than
//! filling the page.
//!
//! Lists that are not small are mapped directly, and their memory returns to the system when they are
//! dropped. The allocator would keep the memory that a thread frees, so that every thread would hold the
//! memory of its largest list until the end.

use std::fmt;
use std::ops::{Deref, DerefMut};

use bytemuck::Pod;
use memmap2::MmapMut;

/// Minimum length in bytes of memory in huge pages. A huge page has 2 MiB on most machines.
const HUGE: usize = 8 << 20;

/// Length in bytes of a huge page on most machines. The whole page occupies memory once one of its bytes is
/// used.
const HUGE_PAGE: usize = 2 << 20;

/// Minimum length in bytes of memory that is mapped directly.
const MAPPED: usize = 128 << 10;

/// List of fixed length. It is initially zero unless it was created from another list. The system provides
/// the memory of a page at the first write.
pub struct Zeroed<T>(Memory<T>);

enum Memory<T> {
    List(Vec<T>),
    Pages { pages: MmapMut, length: usize },
}

impl<T: Pod> Zeroed<T> {
    /// Creates a list of `length` zeros. `None` if the system does not provide the memory.
    pub fn new(length: usize) -> Option<Self> {
        let bytes = length.checked_mul(size_of::<T>())?;
        if bytes >= MAPPED
            && let Ok(pages) = MmapMut::map_anon(bytes)
        {
            // If huge pages are refused, the list is only slower.
            #[cfg(target_os = "linux")]
            if bytes >= HUGE {
                let _ = pages.advise(memmap2::Advice::HugePage);
            }
            return Some(Self(Memory::Pages { pages, length }));
        }
        // Reserves the memory first, so that a failure returns `None` and does not abort the program.
        Vec::<T>::new().try_reserve_exact(length).ok()?;
        Some(Self(Memory::List(vec![T::zeroed(); length])))
    }

    /// Returns the memory in bytes that a list of `length` items occupies after its first `used` items were
    /// written.
    pub fn bytes_for(length: usize, used: usize) -> usize {
        let [all, used] = [length, used].map(|items| items * size_of::<T>());
        if all < HUGE {
            used
        } else {
            used.next_multiple_of(HUGE_PAGE).min(all)
        }
    }

    /// Drops all items from index `to` on. Does nothing if the list is shorter.
    pub fn truncate(&mut self, to: usize) {
        match &mut self.0 {
            Memory::List(list) => list.truncate(to),
            Memory::Pages { length, .. } => *length = to.min(*length),
        }
    }
}

impl<T> From<Vec<T>> for Zeroed<T> {
    fn from(list: Vec<T>) -> Self {
        Self(Memory::List(list))
    }
}

impl<T: Pod + fmt::Debug> fmt::Debug for Zeroed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Pod> Deref for Zeroed<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        match &self.0 {
            Memory::List(list) => list,
            Memory::Pages { pages, length } => &bytemuck::cast_slice(pages)[..*length],
        }
    }
}

impl<T: Pod> DerefMut for Zeroed<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.0 {
            Memory::List(list) => list,
            Memory::Pages { pages, length } => &mut bytemuck::cast_slice_mut(pages)[..*length],
        }
    }
}

impl<T: Pod> Clone for Zeroed<T> {
    fn clone(&self) -> Self {
        let mut copy = Self::new(self.len()).expect("memory for a copy");
        copy.copy_from_slice(self);
        copy
    }
}

impl<T: Pod + PartialEq> PartialEq for Zeroed<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Pod + Eq> Eq for Zeroed<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_lists_start_zeroed_and_keep_values() {
        for length in [
            0,
            3,
            MAPPED / 8 - 1,
            MAPPED / 8,
            HUGE / 8 - 1,
            HUGE / 8,
            HUGE / 8 + 5,
        ] {
            let mut list = Zeroed::<u64>::new(length).unwrap();
            assert!(list.len() == length && list.iter().all(|n| *n == 0));
            if let Some(last) = list.last_mut() {
                *last = 7;
            }
            assert!(list.clone() == list);
            let half = length / 2;
            list.truncate(half);
            list.truncate(length);
            assert!(list.len() == half && list.clone() == list);
        }
        assert!(Zeroed::<u64>::new(usize::MAX / 4).is_none());
    }
}
