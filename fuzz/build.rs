//! The command line is compiled in as fuzzing has it, also where no fuzzer compiles this: nothing is printed, and no
//! signal is caught.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cfg=fuzzing");
}
