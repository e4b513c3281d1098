//! Memory that this process may use. It is limited by the available memory of the system, by its
//! container (cgroup v2 and v1), and by the address space (`ulimit -v`).

use std::path::Path;

/// Bytes of address space that the allocator of glibc reserves for a thread, and of the thread's
/// stack.
const THREAD: u64 = 66 << 20;

/// Extra bytes that the allocator maps briefly to align a reservation.
const ALIGNMENT: u64 = 64 << 20;

/// Returns the number of threads for which `ulimit -v` leaves enough address space, including the
/// same amount again for their work. `None` without a limit. If too little is left, the first small
/// allocation that fails ends the process.
pub fn affordable_threads() -> Option<usize> {
    let threads = address_space()? / (2 * THREAD + ALIGNMENT);
    Some(usize::try_from(threads).unwrap_or(usize::MAX).max(1))
}

/// Returns the bytes that new work in `threads` new threads can use without swapping and without
/// being killed. `None` if unknown.
pub fn available_memory(threads: usize) -> Option<u64> {
    let system = kilobytes("/proc/meminfo", "MemAvailable:");
    let cgroups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let container = of_cgroups(Path::new("/sys/fs/cgroup"), &cgroups);
    // If too little is left for a reservation, the allocator makes none.
    let addresses =
        address_space().map(|space| space.checked_sub(THREAD * threads as u64).unwrap_or(space));
    system.into_iter().chain(container).chain(addresses).min()
}

/// Returns the free bytes on the disk for a new file at `path`. `None` if unknown, or if `path`
/// exists and is not a file.
pub fn free_space(path: &Path) -> Option<u64> {
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        return None;
    }
    let folder = path
        .ancestors()
        .skip(1)
        .find(|folder| folder.as_os_str().is_empty() || folder.is_dir())?;
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    free_in(folder)
}

#[cfg(unix)]
fn free_in(folder: &Path) -> Option<u64> {
    rustix::fs::statvfs(folder)
        .ok()
        .map(|found| found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(not(unix))]
fn free_in(_: &Path) -> Option<u64> {
    None
}

/// Returns the most bytes that this process ever had in memory. `None` if unknown.
pub fn peak_memory() -> Option<u64> {
    kilobytes("/proc/self/status", "VmHWM:")
}

/// Returns the bytes that `ulimit -v` leaves. `None` without a limit.
pub fn address_space() -> Option<u64> {
    let limit = limit("Max address space")?;
    Some(limit.saturating_sub(kilobytes("/proc/self/status", "VmSize:").unwrap_or(0)))
}

/// Returns the number of files that this process may have open at a time, by `ulimit -n`. `None` if
/// unknown.
pub fn open_files() -> Option<u64> {
    limit("Max open files")
}

/// Returns the soft limit of this name. `None` without a limit.
fn limit(name: &str) -> Option<u64> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Files of a cgroup: its limit, its usage, and the reclaimable part of the usage.
struct CgroupFiles {
    limit: &'static str,
    used: &'static str,
    reclaimable: &'static str,
}

const V2: CgroupFiles = CgroupFiles {
    limit: "memory.max",
    used: "memory.current",
    reclaimable: "inactive_file ",
};
const V1: CgroupFiles = CgroupFiles {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    reclaimable: "total_inactive_file ",
};

/// Returns the memory that the cgroups of a process leave. They are mounted at `root`, and
/// `cgroups` is the text of `/proc/self/cgroup`.
fn of_cgroups(root: &Path, cgroups: &str) -> Option<u64> {
    let mut left = vec![];
    for line in cgroups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else {
            continue;
        };
        if controllers.is_empty() {
            left.extend(of_cgroup(root, path, &V2));
        } else if controllers.split(',').any(|name| name == "memory") {
            left.extend(of_cgroup(&root.join("memory"), path, &V1));
        }
    }
    left.into_iter().min()
}

/// Returns the memory that a cgroup and its parents leave. A container may see its own cgroup at
/// the root.
fn of_cgroup(root: &Path, path: &str, files: &CgroupFiles) -> Option<u64> {
    let below = Path::new(path.trim_start_matches('/'));
    let left_in = |folder: &Path| left_in_folder(&root.join(folder), files);
    below.ancestors().filter_map(left_in).min()
}

/// Returns the memory that the cgroup of one folder leaves. `None` without a limit.
fn left_in_folder(folder: &Path, files: &CgroupFiles) -> Option<u64> {
    // Without a limit the file has the word `max`, or in v1 a number larger than any memory.
    let limit = number_in(&folder.join(files.limit)).filter(|limit| *limit < 1 << 60)?;
    let used = number_in(&folder.join(files.used)).unwrap_or(0);
    let stat = std::fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let reclaimable = stat
        .lines()
        .find_map(|line| line.strip_prefix(files.reclaimable)?.trim().parse().ok());
    let used = used.saturating_sub(reclaimable.unwrap_or(0));
    Some(limit.saturating_sub(used))
}

/// Reads the number in a file.
fn number_in(path: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(path).ok()?;
    text.trim().parse().ok()
}

/// Returns the value of a line such as `VmHWM:     6144 kB`, in bytes.
fn kilobytes(file: &str, key: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    let value: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    value.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_least_of_all_cgroups_counts() {
        let place = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = place.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        assert_eq!(of_cgroups(place.path(), "0::/a/b\n"), None);
        write("a/memory.max", "1000\n");
        write("a/memory.current", "700\n");
        write("a/memory.stat", "anon 600\ninactive_file 100\n");
        write("a/b/memory.max", "max\n");
        assert_eq!(of_cgroups(place.path(), "0::/a/b\n"), Some(400));
        write("a/b/memory.max", "300\n");
        assert_eq!(of_cgroups(place.path(), "0::/a/b\n"), Some(300));
        // In a container of version 1 the path belongs to the host, and the limit is at the root.
        write("memory/memory.limit_in_bytes", "500\n");
        write("memory/memory.usage_in_bytes", "450\n");
        assert_eq!(
            of_cgroups(place.path(), "3:cpu:/x\n2:memory,hugetlb:/docker/1\n0::/\n"),
            Some(50)
        );
        write("memory/memory.limit_in_bytes", "9223372036854771712\n");
        assert_eq!(of_cgroups(place.path(), "2:memory:/docker/1\n"), None);
    }
}
