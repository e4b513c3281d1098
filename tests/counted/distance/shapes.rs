//! Fields of triangles of every shape and scale, on every level. Every value is bitwise the least of all
//! triangles by the defining sequence of doubles. Every nearest triangle is the first of the exactly nearest.
//! The sequence is within its error bound of the exact distance.
//!
//! `VOXELIZE_DISTANCE_SOAK=100` multiplies the number of worlds.

use std::time::Instant;

use voxelize::geom::Triangle;
use voxelize::geom::distance::squared_distance;
use voxelize::grid::Field;
use voxelize::{Lattice, Level, Run, Voxelizer};

use super::exact::{Ruler, Squared};
use super::needles::{World, beside_a_triangle};
use super::rule;
use crate::support::meshes::{each_cell, mesh_of};
use crate::support::random::Random;
use crate::support::suite::Counts;

/// Proven error of the sequence of doubles, relative to the largest coordinate, including the error of
/// centres.
const BOUND: f64 = 1.0 / (1_u64 << 46) as f64;

/// Distances whose errors are certainly below this are distinguished without integers.
const CLOSE: f64 = 1e-13;

/// Counts of the comparisons.
#[derive(Default)]
pub struct Compared {
    pub worlds: u64,
    /// Cells, each compared on every level.
    pub cells: u64,
    pub background: u64,
    /// Cells with several candidates for the nearest triangle.
    pub close: u64,
    /// Cells whose exactly nearest triangle is not the first one with the least double.
    pub corrected: u64,
    /// Largest error in parts of the bound.
    pub worst: f64,
}

/// Value of a cell and its nearest triangles.
pub struct Cell {
    /// Least distance by the sequence of doubles.
    pub value: f64,
    /// Exactly nearest triangles in ascending order.
    pub nearest: Vec<usize>,
}

impl Compared {
    /// Returns the value and the nearest triangles of a cell.
    pub fn cell(
        &mut self,
        ruler: &Ruler,
        triangles: &[Triangle],
        lattice: &Lattice,
        cell: [usize; 3],
    ) -> Cell {
        let point = lattice.centre(cell);
        let largest =
            |of: &mut dyn Iterator<Item = f64>| of.fold(0.0, |most: f64, c| most.max(c.abs()));
        let centre = largest(&mut point.into_iter());
        let squares: Vec<f64> = triangles
            .iter()
            .map(|triangle| squared_distance(point, triangle))
            .collect();
        let slack = |n: usize| {
            CLOSE
                * centre.max(largest(
                    &mut triangles[n].iter().flatten().map(|c| (*c).into()),
                ))
        };
        let most = (0..triangles.len())
            .map(|n| squares[n].sqrt() + slack(n))
            .fold(f64::INFINITY, f64::min);
        let close: Vec<usize> = (0..triangles.len())
            .filter(|n| squares[*n].sqrt() - slack(*n) <= most)
            .collect();
        let centre_exactly = ruler.centre(cell);
        let exact: Vec<Squared> = close
            .iter()
            .map(|n| ruler.squared(&centre_exactly, &triangles[*n]))
            .collect();
        let least = exact
            .iter()
            .reduce(|a, b| if a.order(b).is_le() { a } else { b })
            .expect("triangles");
        let is_nearest = |(_, squared): &(&usize, &Squared)| squared.order(least).is_eq();
        let nearest: Vec<usize> = close
            .iter()
            .zip(&exact)
            .filter(is_nearest)
            .map(|(n, _)| *n)
            .collect();
        let value = squares.iter().copied().fold(f64::INFINITY, f64::min);
        for (n, exact) in close.iter().zip(&exact) {
            let off = (squares[*n].sqrt() - ruler.length(exact)).abs();
            let share = off / (slack(*n) / CLOSE * BOUND).max(f64::MIN_POSITIVE);
            assert!(
                share <= 1.0,
                "{share} of the bound: {point:?} {:?}",
                triangles[*n]
            );
            self.worst = self.worst.max(share);
        }
        self.close += u64::from(close.len() > 1);
        self.corrected +=
            u64::from(squares.iter().position(|squared| *squared == value) != Some(nearest[0]));
        Cell {
            value: value.sqrt(),
            nearest,
        }
    }

    /// Compares a world on every level.
    pub fn add(&mut self, world: &World, band: &str, what: &str) {
        let World { triangles, lattice } = world;
        let mesh = mesh_of(triangles.clone());
        let ruler = Ruler::of_cells(lattice, triangles);
        let fields: Vec<(Level, Field, Vec<i32>)> = Level::available()
            .into_iter()
            .map(|level| {
                let run = Run::default().threads(1).level(level);
                let made = Voxelizer::new(rule(band))
                    .with_run(run)
                    .run_with_nearest(&mesh, lattice);
                let (made, nearest) = made.expect("a small field");
                (
                    level,
                    made.voxels.field().expect("a field").clone(),
                    nearest,
                )
            })
            .collect();
        let background = fields[0].1.background();
        for (n, cell) in each_cell(lattice.dims()).enumerate() {
            let expected = self.cell(&ruler, triangles, lattice, cell);
            let value = expected.value as f32;
            let is_within = value < background;
            let nearest = if is_within {
                expected.nearest[0] as i32
            } else {
                -1
            };
            let value = if is_within { value } else { background };
            for (level, field, numbers) in &fields {
                let found = (field.get(cell).to_bits(), numbers[n]);
                assert_eq!(
                    found,
                    (value.to_bits(), nearest),
                    "{what}, {level:?}, {cell:?}: {} instead of {value}\n{triangles:?}\n{lattice:?}",
                    field.get(cell)
                );
            }
            self.cells += 1;
            self.background += u64::from(!is_within);
        }
        self.worlds += 1;
    }
}

/// Returns the multiplier for the number of worlds.
pub fn soak() -> usize {
    std::env::var("VOXELIZE_DISTANCE_SOAK")
        .map_or(1, |times| times.parse().expect("a whole number"))
}

/// Compares the sequence of doubles with exact distances, for points close to triangles of every shape and
/// scale.
pub fn doubles_are_within_their_bound() -> Counts {
    let mut points = 0;
    let mut inexact = 0;
    let mut worst = 0.0_f64;
    for n in 0..soak() * 200_000 {
        let (triangle, point) = beside_a_triangle(&mut Random::new(n as u64));
        let ruler = Ruler::of_point(point, &triangle);
        let exact = ruler.length(&ruler.squared(&ruler.point(point), &triangle));
        let off = (squared_distance(point, &triangle).sqrt() - exact).abs();
        let largest = triangle
            .iter()
            .flatten()
            .map(|c| f64::from(*c))
            .chain(point);
        let largest = largest.fold(0.0_f64, |most, c| most.max(c.abs()));
        let share = off / (BOUND * largest).max(f64::MIN_POSITIVE);
        assert!(share <= 1.0, "{share} of the bound: {point:?} {triangle:?}");
        worst = worst.max(share);
        inexact += u64::from(off > 0.0);
        points += 1;
    }
    println!("largest error: {worst:.3} of the bound");
    vec![("points", points), ("off by rounding", inexact)]
}

/// Needles of every width from 1e-15 to 1 next to other triangles, from the smallest floats to the largest.
pub fn needles_of_every_width() -> Counts {
    let start = Instant::now();
    let mut compared = Compared::default();
    for n in 0..soak() * 1600 {
        let mut random = Random::new(n as u64);
        let world = match n % 8 {
            0..4 => World::of_a_needle(&mut random),
            4..7 => World::of_all(&mut random, 6),
            _ => World::of_all(&mut random, 40),
        };
        let band = random.of(&["all", "all", "all", "all", "all", "3", "0.7"]);
        compared.add(&world, band, &format!("world {n}"));
    }
    println!(
        "largest error: {:.3} of the bound; {:.0} s",
        compared.worst,
        start.elapsed().as_secs_f64()
    );
    vec![
        ("worlds", compared.worlds),
        ("cells", compared.cells),
        ("of the background", compared.background),
        ("close", compared.close),
        ("decided exactly", compared.corrected),
    ]
}
