//! The `voxelize` command: parse → plan → run → exit code, all in `cli`.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    voxelize::cli::main()
}
