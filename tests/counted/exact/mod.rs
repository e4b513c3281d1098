//! Exactness of every decision: the library at every level, on every family of triangles, is compared with an
//! oracle in independent arithmetic.
//!
//! - `cargo test --test counted exact` is the gate with fixed seeds. `exact::FAMILY` selects families.
//! - `cargo test --release --test counted exact -- --soak 30` draws new cases for 30 minutes.
//! - `--seed N` makes both draw other cases, or repeats a failure of a soak.
//!
//! A failure prints the smallest case found, for pasting into `tests/it/regressions.rs`.

pub mod aimed;
pub mod exactly;
pub mod families;
mod kinds;
pub mod space;

use std::panic;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use crate::support::check::{self, Compared, Wrong};
use crate::support::random::Random;
use crate::support::suite::{Args, Checks, Suite};
use families::{FAMILIES, Family};
use voxelize::Level;

/// Minimum number of decisions of the whole gate, counted at every level.
const ENOUGH: u64 = 10_000_000;

/// Failures per family that are shrunk and shown. Further failures are only counted.
const SHOWN: usize = 2;

/// Results of one family.
#[derive(Default)]
struct Tally {
    compared: Compared,
    wrong: Vec<(u64, Wrong)>,
}

pub const SUITE: Suite = Suite {
    name: "exact",
    checks: Checks::Own {
        names,
        run: run_families,
    },
};

fn names() -> Vec<&'static str> {
    FAMILIES.iter().map(|family| family.name).collect()
}

fn run_families(chosen: &[&'static str], args: &Args) -> bool {
    let families: Vec<&Family> = FAMILIES
        .iter()
        .filter(|family| chosen.contains(&family.name))
        .collect();
    let now = || {
        SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_or(1, |time| time.as_secs())
    };
    let seed = args
        .seed
        .unwrap_or_else(|| if args.soak.is_some() { now() } else { 1 });
    let levels: Vec<_> = Level::available().into_iter().map(Level::name).collect();
    println!("exact: seed {seed}, levels {}", levels.join(" "));
    // A panic of the library counts as a failure and prints its case. Shrinking it panics many times.
    static PANICS: AtomicUsize = AtomicUsize::new(0);
    let usual = panic::take_hook();
    panic::set_hook(Box::new(|info| {
        if PANICS.fetch_add(1, Ordering::Relaxed) < SHOWN {
            println!("exact: {info}");
        }
    }));
    let start = Instant::now();
    let tallies = match args.soak {
        Some(minutes) => soak(&families, seed, Duration::from_secs_f64(60.0 * minutes)),
        None => gate(&families, seed),
    };
    panic::set_hook(usual);
    let whole = args.soak.is_none() && families.len() == FAMILIES.len();
    report(&families, &tallies, start.elapsed(), whole)
}

/// Returns the seed of a case.
fn seed_of(base: u64, family: &Family, case: u64) -> u64 {
    let name = family.name.bytes().fold(base, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    name.wrapping_add(case.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Compares one case and records the outcome.
fn run(family: &Family, seed: u64, tally: &Mutex<Tally>) {
    let case = (family.make)(&mut Random::new(seed));
    let (compared, wrong) = check::compare(&case);
    let mut tally = tally.lock().expect("no thread panicked");
    tally.compared += compared;
    tally.wrong.extend(wrong.map(|wrong| (seed, wrong)));
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// Compares every case of the gate once.
fn gate(families: &[&Family], seed: u64) -> Vec<Tally> {
    let tallies: Vec<Mutex<Tally>> = families.iter().map(|_| Mutex::default()).collect();
    let work: Vec<(usize, u64)> = families
        .iter()
        .enumerate()
        .flat_map(|(n, family)| (0..family.cases).map(move |c| (n, c)))
        .collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..threads() {
            scope.spawn(|| {
                while let Some(&(n, case)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    run(families[n], seed_of(seed, families[n], case), &tallies[n]);
                }
            });
        }
    });
    tallies
        .into_iter()
        .map(|tally| tally.into_inner().expect("no thread panicked"))
        .collect()
}

/// Compares new cases of every family in turn until the time is up.
fn soak(families: &[&Family], seed: u64, time: Duration) -> Vec<Tally> {
    let tallies: Vec<Mutex<Tally>> = families.iter().map(|_| Mutex::default()).collect();
    let next = AtomicU64::new(0);
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..threads() {
            scope.spawn(|| {
                while start.elapsed() < time {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    let family = (n % families.len() as u64) as usize;
                    let seed = seed_of(seed, families[family], n / families.len() as u64);
                    run(families[family], seed, &tallies[family]);
                }
            });
        }
    });
    tallies
        .into_iter()
        .map(|tally| tally.into_inner().expect("no thread panicked"))
        .collect()
}

/// Prints the table, the failures, and the verdict.
fn report(families: &[&Family], tallies: &[Tally], time: Duration, whole: bool) -> bool {
    let levels = Level::available().len() as u64;
    let mut total = Compared::default();
    let mut empty = 0;
    println!(
        "{:<36} {:>10} {:>13} {:>6} {:>8}",
        "family", "triangles", "decisions", "levels", "wrong"
    );
    for (family, tally) in families.iter().zip(tallies) {
        let Compared {
            triangles,
            decisions,
            wrong,
        } = tally.compared;
        println!(
            "{:<36} {triangles:>10} {decisions:>13} {levels:>6} {wrong:>8}",
            family.name
        );
        total += tally.compared;
        empty += u32::from(decisions == 0);
    }
    let at_levels = total.decisions * levels;
    let Compared {
        triangles, wrong, ..
    } = total;
    println!(
        "{:<36} {triangles:>10} {:>13} {levels:>6} {wrong:>8}",
        "total", total.decisions
    );
    println!(
        "exact: {at_levels} decisions at {levels} levels, {wrong} wrong, in {:.1} s",
        time.as_secs_f64()
    );
    for (family, tally) in families.iter().zip(tallies) {
        for (seed, wrong) in tally.wrong.iter().take(SHOWN) {
            println!(
                "\n{}, case of seed {seed}:\n{}",
                family.name,
                wrong.clone().shrunk()
            );
        }
    }
    if empty > 0 {
        println!("exact: {empty} families compared nothing");
    }
    if whole && at_levels < ENOUGH {
        println!("exact: that is below {ENOUGH}");
    }
    let good = wrong == 0 && empty == 0 && (!whole || at_levels >= ENOUGH);
    println!("exact: {}", if good { "ok" } else { "FAILED" });
    good
}
