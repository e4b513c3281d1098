//! Reader of `.vdb` files, written from the layout of OpenVDB without the library.

use std::collections::BTreeMap;
use std::io::Read as _;

/// File parsed by the layout of OpenVDB.
#[derive(Default)]
pub struct ByHand<'a> {
    rest: &'a [u8],
    whole: &'a [u8],
    pub kind: String,
    is_zipped: bool,
    pub metadata: BTreeMap<String, Vec<u8>>,
    pub map: (String, Vec<f64>),
    pub background: u32,
    /// Lowest cell, cells along a side, value and state of each tile.
    pub tiles: Vec<([i32; 3], i32, u32, bool)>,
    /// Lowest cell, mask and values of each leaf.
    pub leaves: Vec<([i32; 3], Vec<u8>, Vec<u32>)>,
}

impl<'a> ByHand<'a> {
    pub fn of(whole: &'a [u8]) -> Self {
        let mut file = ByHand {
            rest: whole,
            whole,
            ..ByHand::default()
        };
        file.read();
        file
    }

    fn at(&self) -> i64 {
        (self.whole.len() - self.rest.len()) as i64
    }

    fn take(&mut self, count: usize) -> &'a [u8] {
        let (some, rest) = self.rest.split_at(count);
        self.rest = rest;
        some
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take(4).try_into().unwrap())
    }

    fn i64(&mut self) -> i64 {
        i64::from_le_bytes(self.take(8).try_into().unwrap())
    }

    fn text(&mut self) -> String {
        let length = self.u32();
        String::from_utf8(self.take(length as usize).to_vec()).unwrap()
    }

    fn origin(&mut self) -> [i32; 3] {
        [(); 3].map(|()| self.u32() as i32)
    }

    fn width(&self) -> usize {
        if self.kind == "Tree_bool_5_4_3" { 1 } else { 4 }
    }

    fn value(&mut self) -> u32 {
        let mut bytes = [0; 4];
        let width = self.width();
        bytes[..width].copy_from_slice(self.take(width));
        u32::from_le_bytes(bytes)
    }

    fn read(&mut self) {
        assert_eq!(self.take(8), b" BDV\0\0\0\0");
        assert_eq!(self.u32(), 224);
        let _library = [self.u32(), self.u32()];
        assert_eq!(self.take(1), [1], "offsets");
        let uuid = std::str::from_utf8(self.take(36)).unwrap();
        assert!(uuid.split('-').map(str::len).eq([8, 4, 4, 4, 12]), "{uuid}");
        assert_eq!((self.u32(), self.u32()), (0, 1), "metadata, grids");
        let name = self.text();
        self.kind = self.text();
        assert_eq!(self.text(), "", "an instance");
        let offsets = [self.i64(), self.i64(), self.i64()];
        assert_eq!(offsets[0], self.at());
        let compression = self.u32();
        assert!([2, 3].contains(&compression));
        self.is_zipped = compression == 3;
        for _ in 0..self.u32() {
            let key = self.text();
            let kind = self.text();
            let length = self.u32() as usize;
            let expected = match &*kind {
                "bool" => 1,
                "int64" => 8,
                "vec3i" => 12,
                _ => length,
            };
            assert_eq!(length, expected, "{key}");
            let value = self.take(length).to_vec();
            self.metadata.insert(key, value);
        }
        assert_eq!(self.metadata["name"], name.as_bytes());
        let map = self.text();
        let doubles = self.take(18 * 8).as_chunks().0;
        let doubles = doubles.iter().map(|bytes| f64::from_le_bytes(*bytes));
        self.map = (map, doubles.collect());
        self.tree();
        assert_eq!(offsets[1], self.at());
        for n in 0..self.leaves.len() {
            let origin = self.leaves[n].0;
            let mask = self.leaves[n].1.clone();
            assert_eq!(self.take(64), mask);
            self.leaves[n].2 = if self.width() == 1 {
                assert_eq!(self.origin(), origin);
                let values = self.take(64);
                (0..512).map(|n| is_on(values, n).into()).collect()
            } else {
                self.values(&mask)
            };
        }
        assert_eq!((offsets[2], self.rest.len()), (self.at(), 0));
    }

    fn tree(&mut self) {
        assert_eq!(self.u32(), 1, "buffers");
        self.background = self.value();
        let [tiles, children] = [self.u32(), self.u32()];
        for _ in 0..tiles {
            let tile = (self.origin(), 4096, self.value(), self.take(1) == [1]);
            self.tiles.push(tile);
        }
        let mut last = [i32::MIN; 3];
        for _ in 0..children {
            let origin = self.origin();
            assert!(last < origin && origin.iter().all(|n| n % 4096 == 0));
            last = origin;
            self.node(origin, 32, 128);
        }
    }

    fn node(&mut self, origin: [i32; 3], along: usize, side: i32) {
        let count = along * along * along;
        let [children, active] = [self.take(count / 8), self.take(count / 8)];
        let values = self.values(active);
        let place = |n: usize| {
            let within = [n / (along * along), n / along % along, n % along];
            [0, 1, 2].map(|axis| origin[axis] + side * within[axis] as i32)
        };
        for (n, value) in values.into_iter().enumerate().take(count) {
            let is_active = is_on(active, n);
            if is_on(children, n) {
                assert!(!is_active);
            } else if is_active || value != self.background {
                self.tiles.push((place(n), side, value, is_active));
            }
        }
        for n in (0..count).filter(|n| is_on(children, *n)) {
            if side == 128 {
                self.node(place(n), 16, 8);
            } else {
                let mask = self.take(64).to_vec();
                self.leaves.push((place(n), mask, vec![]));
            }
        }
    }

    fn values(&mut self, active: &[u8]) -> Vec<u32> {
        let [kind] = self.take(1) else { panic!() };
        let which = match kind {
            0 => vec![0xff; active.len()],
            1 => vec![0; active.len()],
            3 => self.take(active.len()).to_vec(),
            other => panic!("kind {other}"),
        };
        let width = self.width();
        let count: u32 = active.iter().map(|byte| byte.count_ones()).sum();
        let bytes = width * count as usize;
        let packed = if self.is_zipped {
            self.i64()
        } else {
            -(bytes as i64)
        };
        let data = if packed > 0 {
            let mut data = vec![];
            let stream = self.take(packed as usize);
            flate2::read::ZlibDecoder::new(stream)
                .read_to_end(&mut data)
                .unwrap();
            data
        } else {
            assert_eq!(-packed, bytes as i64);
            self.take(bytes).to_vec()
        };
        assert_eq!(data.len(), bytes);
        let mut data = data.chunks(width).map(|value| {
            let mut bytes = [0; 4];
            bytes[..width].copy_from_slice(value);
            u32::from_le_bytes(bytes)
        });
        let value = |n: usize| {
            if is_on(active, n) {
                data.next().unwrap()
            } else if is_on(&which, n) {
                self.background
            } else {
                self.background ^ 1 << 31
            }
        };
        (0..8 * active.len()).map(value).collect()
    }

    pub fn words(&self, key: &str) -> &str {
        std::str::from_utf8(&self.metadata[key]).unwrap()
    }

    pub fn cell(&self, key: &str) -> [i32; 3] {
        let bytes = &self.metadata[key];
        [0, 4, 8].map(|n| i32::from_le_bytes(bytes[n..n + 4].try_into().unwrap()))
    }

    /// Returns the value and the state of every cell of a grid, x fastest. Checks that all other cells are
    /// inactive background.
    pub fn cells(&self, dims: [usize; 3]) -> Vec<(u32, bool)> {
        let mut cells = vec![(self.background, false); dims.iter().product()];
        let mut cube = |origin: [i32; 3], side: usize, value: &dyn Fn(usize) -> (u32, bool)| {
            for (n, within) in super::every_cell([side; 3]).enumerate() {
                let cell = [0, 1, 2].map(|axis| origin[axis] + within[2 - axis] as i32);
                if (0..3).all(|axis| (0..dims[axis] as i32).contains(&cell[axis])) {
                    let [x, y, z] = cell.map(|n| n as usize);
                    cells[(z * dims[1] + y) * dims[0] + x] = value(n);
                } else {
                    assert_eq!(
                        value(n),
                        (self.background, false),
                        "{cell:?} is beyond the grid"
                    );
                }
            }
        };
        for (origin, side, bits, is_active) in &self.tiles {
            assert!(*side < 4096);
            cube(*origin, *side as usize, &|_| (*bits, *is_active));
        }
        for (origin, mask, values) in &self.leaves {
            cube(*origin, 8, &|n| (values[n], is_on(mask, n)));
        }
        cells
    }
}

fn is_on(mask: &[u8], n: usize) -> bool {
    mask[n / 8] >> (n % 8) & 1 == 1
}
