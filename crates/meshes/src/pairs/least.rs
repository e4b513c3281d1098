//! The least of many items, in the memory of these.

use std::collections::BinaryHeap;

/// At most so many items: the least of all that were added.
#[derive(Debug, Clone)]
pub struct Least<T> {
    most: usize,
    kept: BinaryHeap<T>,
}

impl<T: Ord> Least<T> {
    /// Creates an empty collection of at most `most` items.
    pub fn new(most: usize) -> Self {
        Self {
            most,
            kept: BinaryHeap::new(),
        }
    }

    /// Adds an item, and drops the greatest one if there are too many.
    pub fn add(&mut self, item: T) {
        if self.kept.len() < self.most {
            return self.kept.push(item);
        }
        if let Some(mut greatest) = self.kept.peek_mut().filter(|greatest| item < **greatest) {
            *greatest = item;
        }
    }

    /// Adds all items of another collection.
    pub fn join(&mut self, other: Self) {
        other.kept.into_iter().for_each(|item| self.add(item));
    }

    /// The items, the least first.
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
            (0..50_u32).for_each(|n| parts[n as usize % 2].add(n * 37 % 50));
            let [mut all, other] = parts;
            all.join(other);
            assert_eq!(all.into_sorted(), (0..50).take(most).collect::<Vec<_>>());
        }
    }
}
