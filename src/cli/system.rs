//! What the system says of memory, where it has a /proc to say it in.

/// The bytes that new work can have without swapping; `None` if the system does not say.
pub fn available_memory() -> Option<u64> {
    kilobytes("/proc/meminfo", "MemAvailable:")
}

/// The most bytes this process ever had in memory; `None` if the system does not say.
pub fn peak_memory() -> Option<u64> {
    kilobytes("/proc/self/status", "VmHWM:")
}

/// The value of a line such as `VmHWM:     6144 kB`, in bytes.
fn kilobytes(file: &str, key: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    let value: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    value.checked_mul(1024)
}
