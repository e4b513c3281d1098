//! The `voxelize` command: parse → plan → run → exit code, all in `cli`.
#![forbid(unsafe_code)]

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
