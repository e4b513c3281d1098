use voxelize::*;
fn main() {
    let a = std::env::args().nth(1).unwrap();
    let r = std::env::args().nth(2).unwrap().parse().unwrap();
    let m = Mesh::open(&a).unwrap();
    let l = Lattice::fit(m.bounds(), r).unwrap();
    let mut g = BitGrid::try_from(&l).unwrap();
    g.touch();
    let what = What::from(Rule::Surface);
    for _ in 0..40 {
        let t = std::time::Instant::now();
        voxelize::par::with_threads(1, || {
            what.fill(&m, &l, &Run { threads: 1, ..Run::default() }, &mut g).unwrap()
        })
        .unwrap();
        if std::env::args().nth(3).is_some() {
            println!("{:?}", t.elapsed());
        }
    }
}
