//! The `voxelize` command. The module `cli` does all the work.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    voxelize::cli::main()
}
