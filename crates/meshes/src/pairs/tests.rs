//! Compares the pairs that trees and stars find with all pairs, and compares limited searches of the same
//! triangles in different orders.

use super::*;
use crate::random::Random;
use crate::weld::Welded;
use voxelize_core::geom::beyond::beyond_shared;
use voxelize_core::geom::tri_tri::{Meeting, meeting};
use voxelize_core::geom::{Bounds, Point};

/// Collector of pairs by the keys of their triangles, with their counts.
#[derive(Default)]
struct SeenPairs {
    triangles: [Vec<Triangle>; 2],
    pairs: Vec<([TriangleKey; 2], u64)>,
}

impl Findings for SeenPairs {
    fn take(&mut self, pair: Pair) {
        let [a, b] = pair.numbers;
        let keys = pair_key([
            &self.triangles[0][a as usize],
            &self.triangles[1][b as usize],
        ]);
        self.pairs.push((keys, pair.count));
    }

    fn join(&mut self, mut other: Self) {
        self.pairs.append(&mut other.pairs);
    }
}

/// Returns the examined pairs, sorted, and whether all pairs were examined.
fn seen(
    lists: [&[Triangle]; 2],
    is_one: bool,
    limit: PairLimit,
) -> (Vec<([TriangleKey; 2], u64)>, bool) {
    let lists = if is_one { [lists[0]; 2] } else { lists };
    let new = || SeenPairs {
        triangles: lists.map(<[_]>::to_vec),
        pairs: vec![],
    };
    let exam = Exam {
        phase: "pairs",
        progress: &(),
        limit,
        max_bytes: None,
        new: &new,
    };
    let trees = lists.map(PairTree::new);
    let vertices = Welded::of(lists[0]).unwrap().triangles;
    let pairs = if is_one {
        PairsOf::One(lists[0], &vertices)
    } else {
        PairsOf::Two([&trees[0], &trees[1]])
    };
    let examined = examine(&pairs, &|_| false, &exam).unwrap();
    let mut pairs = examined.found.pairs;
    pairs.sort_unstable();
    (pairs, examined.is_all)
}

fn do_meet(s: &Triangle, t: &Triangle) -> bool {
    let [a, b] = [s, t].map(|t| Bounds::of(std::slice::from_ref(t)));
    (0..3).all(|i| a.min[i] <= b.max[i] && b.min[i] <= a.max[i])
}

/// Returns many small triangles and a few large ones. If `is_whole`, their coordinates are on a coarse
/// lattice, where many triangles share vertices.
fn soup(random: &mut Random, count: usize, is_whole: bool) -> Vec<Triangle> {
    let triangle = |n: usize| {
        let at: Point = [random.unit(), random.unit(), random.unit()];
        let size = if n % 40 == 7 { 0.9 } else { 0.2 };
        [(); 3].map(|()| {
            let v: Point = at.map(|c| c + size * (random.unit() - 0.5));
            if is_whole {
                v.map(|c| (c * 8.0).round() / 8.0)
            } else {
                v
            }
        })
    };
    (0..count).map(triangle).collect()
}

#[test]
fn two_lists_give_all_pairs_whose_bounds_meet() {
    let mut random = Random::new(11);
    let mut count = 0;
    for n in 0..12 {
        let [a, b] = [40 + 30 * n, 300 - 20 * n].map(|count| soup(&mut random, count, n % 2 == 0));
        let mut wanted = vec![];
        for s in &a {
            for t in &b {
                if do_meet(s, t) {
                    wanted.push((pair_key([s, t]), 1));
                }
            }
        }
        wanted.sort_unstable();
        let found = seen([&a, &b], false, PairLimit::All);
        assert_eq!(found, (wanted, true), "{n}");
        count += found.0.len();
    }
    assert!(count > 7_000, "{count}");
}

/// Returns the pairs of one list that have common points beyond their shared vertices and edges, and the
/// number of examined pairs.
fn contacts(triangles: &[Triangle]) -> (Vec<[TriangleKey; 2]>, usize) {
    let (given, is_all) = seen([triangles, triangles], true, PairLimit::All);
    assert!(is_all);
    let of = |keys: &[TriangleKey; 2]| {
        let triangle = |key: &TriangleKey| {
            *triangles
                .iter()
                .find(|t| TriangleKey::of(t) == *key)
                .unwrap()
        };
        let [s, t] = &keys.each_ref().map(triangle);
        beyond_shared([s, t], [s, t]).is_some()
    };
    (
        given.iter().map(|(keys, _)| *keys).filter(of).collect(),
        given.len(),
    )
}

fn contacts_by_all_pairs(triangles: &[Triangle]) -> Vec<[TriangleKey; 2]> {
    let pairs =
        (0..triangles.len()).flat_map(|i| (0..i).map(move |j| [&triangles[i], &triangles[j]]));
    let mut all: Vec<_> = pairs
        .filter(|[s, t]| beyond_shared([s, t], [s, t]).is_some())
        .map(pair_key)
        .collect();
    all.sort_unstable();
    all
}

/// Returns many triangles around the origin. Depending on `sort`, their other vertices are random, in few
/// directions, or around few edges.
fn star(random: &mut Random, count: usize, sort: usize) -> Vec<Triangle> {
    let scale = [1.0, 1e-20, 3e30][sort % 3];
    let point = |random: &mut Random| -> Point {
        loop {
            let v: Point = match sort / 3 {
                0 => [
                    random.unit() - 0.5,
                    random.unit() - 0.5,
                    random.unit() - 0.5,
                ],
                1 => [(); 3].map(|()| random.below(5) as f32 - 2.0),
                _ => [random.unit() - 0.5, random.unit() - 0.5, 0.0],
            };
            if v != [0.0; 3] {
                return v.map(|c| c * scale);
            }
        }
    };
    let ends = [point(random), point(random)];
    let mut all = vec![];
    while all.len() < count {
        let first = if random.below(2) == 0 {
            ends[random.below(2) as usize]
        } else {
            point(random)
        };
        let second = if random.below(3) == 0 {
            // Near the first vertex, so that most triangles are narrow.
            std::array::from_fn(|i| first[i] * 0.9 + point(random)[i] * 0.1)
        } else {
            point(random)
        };
        let triangle = [[0.0; 3], first, second];
        if !voxelize_core::geom::degenerate::is_degenerate(&triangle) {
            all.push(triangle);
        }
    }
    all
}

#[test]
fn stars_give_all_pairs_with_further_common_points() {
    let mut random = Random::new(12);
    let mut count = [0; 9];
    let mut skipped = 0;
    for (sort, count) in count.iter_mut().enumerate() {
        for around in [70, 200, 400] {
            let mut triangles = star(&mut random, around, sort);
            // Some triangles outside the star pass through it.
            triangles.extend(
                soup(&mut random, 60, false)
                    .iter()
                    .map(|t| t.map(|v| v.map(|c| c - 0.5))),
            );
            let triangles = random.shuffled(&triangles);
            let (found, given) = contacts(&triangles);
            assert_eq!(found, contacts_by_all_pairs(&triangles), "{sort} {around}");
            *count += found.len();
            skipped += around * (around - 1) / 2 - given.min(around * (around - 1) / 2);
        }
    }
    assert!(
        count.iter().all(|count| *count > 1000) && skipped > 30_000,
        "{count:?} {skipped}"
    );
}

#[test]
fn fans_take_few_pairs() {
    let turn = |n: usize, of: usize| (n as f64 / of as f64 * std::f64::consts::TAU).sin_cos();
    let rim = |n: usize, of: usize| -> Point {
        let (s, c) = turn(n, of);
        [c as f32, s as f32, 0.25]
    };
    for count in [1000, 4000] {
        let fan: Vec<Triangle> = (0..count)
            .map(|n| [[0.0; 3], rim(n, count), rim(n + 1, count)])
            .collect();
        let book: Vec<Triangle> = (0..count)
            .map(|n| [[0.0; 3], [0.0, 0.0, 1.0], rim(n, count)])
            .collect();
        for star in [fan, book] {
            let given = seen([&star, &star], true, PairLimit::All).0.len();
            assert!(given < 40 * count, "{given} pairs of {count} triangles");
        }
    }
}

#[test]
fn limited_searches_give_the_same_pairs_in_every_order() {
    let mut random = Random::new(13);
    let mut partial = 0;
    for n in 0..6 {
        let [mut a, mut b] = [150, 130].map(|count| soup(&mut random, count, n % 2 == 0));
        // Copies of triangles within one list and in both lists.
        a.extend_from_within(..20);
        b.extend_from_slice(&a[10..40]);
        let all = seen([&a, &b], false, PairLimit::All).0;
        for most in [0, 1, 50, 400, all.len() as u64 - 1, all.len() as u64] {
            for is_one in [false, true] {
                let limit = PairLimit::AtMost(most);
                let (wanted, is_all) = seen([&a, &b], is_one, limit);
                let distinct = |pairs: &[([TriangleKey; 2], u64)]| pairs.len() as u64;
                assert!(is_all || distinct(&wanted) <= most, "{n} {most}");
                partial += usize::from(!is_all && !wanted.is_empty());
                for threads in [1, 3] {
                    let [c, d] = [&a, &b].map(|list| random.shuffled(list));
                    let again =
                        |lists| par::with_threads(threads, || seen(lists, is_one, limit)).unwrap();
                    assert_eq!(again([&c, &d]), (wanted.clone(), is_all), "{n} {most}");
                    if !is_one {
                        assert_eq!(
                            again([&d, &c]),
                            (wanted.clone(), is_all),
                            "{n} {most}, swapped"
                        );
                    }
                }
                if !is_one && !is_all {
                    // The pairs are a subset of all pairs.
                    assert!(
                        wanted
                            .iter()
                            .all(|(keys, _)| all.iter().any(|(known, _)| known == keys))
                    );
                }
            }
        }
    }
    assert!(partial > 20, "{partial}");
}

#[test]
fn copies_count_individually() {
    let mut random = Random::new(14);
    let distinct = soup(&mut random, 60, false);
    let mut copies = distinct.clone();
    for _ in 0..400 {
        copies.push(distinct[random.below(60) as usize]);
    }
    let meets = |([s, t], count): &([TriangleKey; 2], u64)| {
        let of = |key: &TriangleKey| {
            *distinct
                .iter()
                .find(|t| TriangleKey::of(t) == *key)
                .unwrap()
        };
        if meeting(&of(s), &of(t)) == Meeting::Apart {
            0
        } else {
            *count
        }
    };
    let sum = |limit| {
        let (pairs, is_all) = seen([&copies, &distinct], false, limit);
        assert!(is_all);
        pairs.iter().map(meets).sum::<u64>()
    };
    // The limit is sufficient for all distinct pairs, but not for all pairs.
    let all = seen([&copies, &distinct], false, PairLimit::All).0.len() as u64;
    let few = seen([&distinct, &distinct], false, PairLimit::All).0.len() as u64;
    assert!(few < all / 2);
    assert_eq!(sum(PairLimit::AtMost(few)), sum(PairLimit::All));
}

#[test]
fn trees_of_volumes_stay_within_their_memory() {
    let mut random = Random::new(15);
    for count in [10, 1000, 30_000] {
        for size in [0.001, 0.1, 1.0] {
            let triangle = |_| {
                let at: Point = [random.unit(), random.unit(), random.unit()];
                [(); 3].map(|()| at.map(|c| c + size * random.unit()))
            };
            let triangles: Vec<Triangle> = (0..count).map(triangle).collect();
            let tree = PairTree::new(&triangles);
            let bytes = tree.bytes();
            assert!(
                bytes <= PairTree::bytes_for(count) + 4096,
                "{count} {size}: {bytes}"
            );
        }
    }
}
