//! Breadth-first search through cells.

use std::collections::VecDeque;

use voxelize::BitGrid;

pub type Cell = [usize; 3];

pub fn cells(dims: [usize; 3]) -> impl Iterator<Item = Cell> {
    (0..dims.iter().product::<usize>())
        .map(move |n| [n % dims[0], n / dims[0] % dims[1], n / dims[0] / dims[1]])
}

/// Returns the neighbours of a cell: below and above along x, y and z.
pub fn beside(cell: Cell, dims: [usize; 3]) -> impl Iterator<Item = Cell> {
    (0..3)
        .flat_map(|a| [(a, usize::MAX), (a, 1)])
        .filter_map(move |(a, step)| {
            let mut next = cell;
            next[a] = next[a].wrapping_add(step);
            (next[a] < dims[a]).then_some(next)
        })
}

pub fn on_face(cell: Cell, dims: [usize; 3]) -> bool {
    (0..3).any(|a| cell[a] == 0 || cell[a] + 1 == dims[a])
}

/// Steps through cells that are not walls, by a queue. `None` for unreachable cells.
pub struct Steps {
    dims: [usize; 3],
    all: Vec<Option<u32>>,
}

impl Steps {
    pub fn from(starts: impl Iterator<Item = Cell>, walls: &BitGrid) -> Self {
        let dims = walls.dims();
        let mut steps = Self {
            dims,
            all: vec![None; dims.iter().product()],
        };
        let mut queue = VecDeque::new();
        for cell in starts.filter(|cell| !walls.get(*cell)) {
            *steps.at(cell) = Some(0);
            queue.push_back(cell);
        }
        while let Some(cell) = queue.pop_front() {
            let next = steps.of(cell).map(|n| n + 1);
            for other in beside(cell, dims).filter(|other| !walls.get(*other)) {
                if steps.of(other).is_none() {
                    *steps.at(other) = next;
                    queue.push_back(other);
                }
            }
        }
        steps
    }

    pub fn outside(walls: &BitGrid) -> Self {
        let dims = walls.dims();
        Self::from(cells(dims).filter(|cell| on_face(*cell, dims)), walls)
    }

    fn at(&mut self, [i, j, k]: Cell) -> &mut Option<u32> {
        &mut self.all[(k * self.dims[1] + j) * self.dims[0] + i]
    }

    pub fn of(&self, [i, j, k]: Cell) -> Option<u32> {
        self.all[(k * self.dims[1] + j) * self.dims[0] + i]
    }

    /// Returns the path back from a cell, starting with the cell itself.
    pub fn back(&self, mut cell: Cell) -> Vec<Cell> {
        let mut way = vec![cell];
        while let Some(n @ 1..) = self.of(cell) {
            cell = beside(cell, self.dims)
                .find(|other| self.of(*other) == Some(n - 1))
                .unwrap();
            way.push(cell);
        }
        way
    }
}
