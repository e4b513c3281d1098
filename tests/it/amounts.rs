//! Volumes in millilitres and masses: the cells of a cube of 20 units, in every unit.

use serde_json::Value;

use crate::support::place::Place;
use crate::support::rows;

/// Units, the volume of 8,000 cubic units in millilitres, and its mass at 1.25 g/cm³. All are exact decimals.
const VOLUMES: [(&str, f64, f64); 6] = [
    ("um", 8e-9, 1e-8),
    ("mm", 8.0, 10.0),
    ("cm", 8000.0, 10_000.0),
    ("m", 8e9, 1e10),
    ("in", 131_096.512, 163_870.64),
    ("ft", 226_534_772.736, 283_168_465.92),
];

#[test]
fn volumes_are_in_millilitres_in_every_unit() {
    let place = Place::new();
    for (unit, millilitres, grams) in VOLUMES {
        for rule in ["--solid", "--filled --ties none"] {
            let table = format!(
                "0 cube.stl --unit {unit} {rule} -r 20 --density 5/4 -o a.npz --json
                    /volume 8000.0
                    /volume_ml {}
                    /mass_g {}",
                Value::from(millilitres),
                Value::from(grams)
            );
            rows::check(&place, &table);
        }
    }
}

#[test]
fn summaries_have_the_volume_and_the_mass() {
    rows::check(
        &Place::new(),
        "0 cube.stl --unit mm --solid -r 20 -o a.npz
            err , volume 8,000 mm³ (8 ml)
            no err mass
         0 cube.stl --unit mm --solid -r 20 --density 1.24 -o a.npz
            err , volume 8,000 mm³ (8 ml), mass 9.92 g
         0 cube.stl --unit in --rule fraction -r 20 --density 1.24 -o a.npz
            err with a share inside, volume 8,000 in³ (131,097 ml), mass 162,560 g
         0 cube.stl --unit mm --scale 0.1 --solid --hollow 1vx -r 20 --density 1.1 -o a.npz
            err (0.00217 ml), mass 0.00238 g
        # Half of the cube, in a grid of centimetres.
         0 cube.stl --unit cm --scale 0.1 --solid --bounds 0,0,0,2,2,1 -r 20 --json -o a.npz
            /volume 4.0
            /volume_ml 4.0
            /mass_g null
         0 cube.stl --unit mm --rule fraction -r 20 --density 5/4 --json -o a.npz
            /volume 8000.0
            /volume_ml 8.0
            /mass_g 10.0
        # The unit is unknown, or the cells are a shell.
         0 cube.stl --solid -r 20 --json -o a.npz
            /volume 8000.0
            /volume_ml null
            /mass_g null
         0 cube.stl --solid -r 20 -o a.npz
            err , volume 8,000
            no err ml
         0 cube.stl --unit mm -r 20 --json -o a.npz
            /volume_ml null
         0 cube.stl --unit mm --rule distance -r 20 --json -o a.npz
            /volume null
            /volume_ml null
         0 cube.stl --unit mm --solid -r 20 --density 1.24 -n --json
            /volume_ml null
            /mass_g null
         0 cube.stl thirds.stl --unit mm --solid -r 20 --density 1.24 -o out/ --json
            /0/volume_ml 8.0
            /0/mass_g 9.92",
    );
    rows::refused(
        &Place::new(),
        "2 cube.stl --unit mm --solid --density=-1 -o a.npz
            err must be more than 0
         2 cube.stl --unit mm --surface --density 1 -o a.npz
            err the rule surface has no volume
         2 cube.stl --unit mm --rule area --density 1 -o a.npz
            err the rule area has no volume
         2 cube.stl --solid --density 1 -o a.npz
            err the unit of the mesh is unknown",
    );
}
