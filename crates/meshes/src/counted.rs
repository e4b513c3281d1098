//! Counting sort and radix sort of items by integers. They are many times as fast as a sort by comparisons if
//! the integers are small and few items have the same integer.

/// Number of bits of a digit.
const DIGIT: u32 = 11;
/// Number of digits in half of a 64-bit number.
const DIGITS: usize = 3;

/// Minimum number of items for a radix sort, which is slower for fewer items.
const MANY: usize = 1 << 12;

/// Sorts items by their numbers, which are below `count`. Items with equal numbers are in their own order.
pub(super) fn sorted<T: Copy + Ord + Default>(
    items: impl Iterator<Item = T> + Clone,
    count: usize,
    number: impl Fn(&T) -> u32,
) -> Vec<T> {
    // At first the start of each number's items in the result. After the items are placed, the end of each
    // number's items.
    let mut places = vec![0_usize; count + 1];
    for item in items.clone() {
        places[number(&item) as usize + 1] += 1;
    }
    for n in 0..count {
        places[n + 1] += places[n];
    }
    let mut sorted = vec![T::default(); places[count]];
    for item in items {
        let place = &mut places[number(&item) as usize];
        sorted[*place] = item;
        *place += 1;
    }
    let mut begin = 0;
    for end in &places[..count] {
        sorted[begin..*end].sort_unstable();
        begin = *end;
    }
    sorted
}

/// Returns digit `n` of the upper half of a number.
fn digit(number: u64, n: usize) -> usize {
    (number >> (32 + DIGIT * n as u32)) as usize & ((1 << DIGIT) - 1)
}

/// Sorts numbers whose lower halves are in ascending order. A stable sort by the upper halves is therefore
/// sufficient.
pub(super) fn sort_by_upper_half(numbers: &mut Vec<u64>) {
    if numbers.len() < MANY {
        return numbers.sort_unstable();
    }
    let mut counts = vec![[0_usize; 1 << DIGIT]; DIGITS];
    for number in numbers.iter() {
        for (n, counts) in counts.iter_mut().enumerate() {
            counts[digit(*number, n)] += 1;
        }
    }
    let mut other = vec![0; numbers.len()];
    for (n, counts) in counts.iter_mut().enumerate() {
        let mut next = 0;
        for count in counts.iter_mut() {
            next += std::mem::replace(count, next);
        }
        for number in numbers.iter() {
            let place = &mut counts[digit(*number, n)];
            other[*place] = *number;
            *place += 1;
        }
        std::mem::swap(numbers, &mut other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns numbers of which some are equal.
    fn numbers(count: u64) -> impl Iterator<Item = u64> + Clone {
        (0..count).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 23 & 0xffff_f000 | (n % 3))
    }

    #[test]
    fn results_are_in_order() {
        for count in [0, 1, 100, 3 * MANY as u64] {
            let mut upper: Vec<u64> = numbers(count)
                .zip(0..)
                .map(|(number, n)| number << 32 | n)
                .collect();
            let mut expected = upper.clone();
            expected.sort_unstable();
            sort_by_upper_half(&mut upper);
            assert_eq!(upper, expected);

            let pairs = numbers(count).map(|number| [(number >> 12) as u32 % 1000, number as u32]);
            let mut expected: Vec<_> = pairs.clone().collect();
            expected.sort_unstable();
            assert_eq!(sorted(pairs, 1000, |pair| pair[0]), expected);
        }
    }
}
