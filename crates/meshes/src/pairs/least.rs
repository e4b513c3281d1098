//! Collection of the least of many items. It needs memory only for the items that it keeps.

use std::collections::BinaryHeap;

/// The least of all added items, at most a given number.
#[derive(Debug, Clone)]
pub struct Least<T> {
    most: usize,
    kept: BinaryHeap<T>,
}

impl<T: Ord> Least<T> {
    /// Creates an empty collection that keeps at most `most` items.
    pub fn new(most: usize) -> Self {
        Self {
            most,
            kept: BinaryHeap::new(),
        }
    }

    /// Adds an item. If there are now too many items, drops the greatest.
    pub fn add(&mut self, item: T) {
        if self.kept.len() < self.most {
            self.kept.push(item);
        } else if let Some(mut greatest) = self.kept.peek_mut()
            && item < *greatest
        {
            *greatest = item;
        }
    }

    /// Adds all items of another collection.
    pub fn join(&mut self, other: Self) {
        for item in other.kept {
            self.add(item);
        }
    }

    /// Returns the items, the least first.
    pub fn into_sorted(self) -> Vec<T> {
        self.kept.into_sorted_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_are_kept_in_any_order() {
        for most in [0, 1, 7, 100] {
            let mut parts = [Least::new(most), Least::new(most)];
            for n in 0..50_u32 {
                parts[n as usize % 2].add(n * 37 % 50);
            }
            let [mut all, other] = parts;
            all.join(other);
            assert_eq!(all.into_sorted(), (0..50).take(most).collect::<Vec<_>>());
        }
    }
}
