//! The memory that this process may use: available memory of the system, of its container (cgroup v2 and v1), and its
//! address space (`ulimit -v`).

use std::path::Path;

/// The address space that the allocator of glibc reserves for a thread, and the thread's stack, in bytes.
const THREAD: u64 = 66 << 20;

/// The extra bytes that the allocator maps briefly to align a reservation.
const ALIGNMENT: u64 = 64 << 20;

/// The threads for which `ulimit -v` leaves enough, and as much again for their work; `None` if it sets no limit.
/// Where too little is left, the first small allocation that fails ends the process.
pub fn affordable_threads() -> Option<usize> {
    let threads = address_space()? / (2 * THREAD + ALIGNMENT);
    Some(usize::try_from(threads).unwrap_or(usize::MAX).max(1))
}

/// The bytes that new work in so many new threads can have without swapping, or being ended for it; `None` if the
/// system does not say.
pub fn available_memory(threads: usize) -> Option<u64> {
    let system = kilobytes("/proc/meminfo", "MemAvailable:");
    let cgroups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let container = of_cgroups(Path::new("/sys/fs/cgroup"), &cgroups);
    // Where too little is left for a reservation, the allocator makes none.
    let addresses =
        address_space().map(|space| space.checked_sub(THREAD * threads as u64).unwrap_or(space));
    system.into_iter().chain(container).chain(addresses).min()
}

/// The bytes that a new file at `path` may have on its disk; `None` if the system does not report it, or `path` is not a file.
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

/// The most bytes this process ever had in memory; `None` if the system does not say.
pub fn peak_memory() -> Option<u64> {
    kilobytes("/proc/self/status", "VmHWM:")
}

/// The bytes that `ulimit -v` leaves; `None` if it sets no limit.
pub fn address_space() -> Option<u64> {
    let limit = limit("Max address space")?;
    Some(limit.saturating_sub(kilobytes("/proc/self/status", "VmSize:").unwrap_or(0)))
}

/// The number of files that this process may have open at a time, by `ulimit -n`; `None` if the system does not say.
pub fn open_files() -> Option<u64> {
    limit("Max open files")
}

/// The soft limit of this name; `None` if there is none.
fn limit(name: &str) -> Option<u64> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The files of a cgroup: its limit, its usage, and the part of the usage that the system can reclaim.
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

/// The memory that the cgroups of a process leave, mounted at `root`; `cgroups` is the text of `/proc/self/cgroup`.
fn of_cgroups(root: &Path, cgroups: &str) -> Option<u64> {
    let left = |line: &str| {
        let mut fields = line.splitn(3, ':').skip(1);
        let controllers = fields.next()?;
        let path = fields.next()?;
        match controllers {
            "" => of_cgroup(root, path, &V2),
            _ if controllers.split(',').any(|name| name == "memory") => {
                of_cgroup(&root.join("memory"), path, &V1)
            }
            _ => None,
        }
    };
    cgroups.lines().filter_map(left).min()
}

/// The memory that a cgroup and its parents leave. A container may see its own at the root.
fn of_cgroup(root: &Path, path: &str, files: &CgroupFiles) -> Option<u64> {
    let below = Path::new(path.trim_start_matches('/'));
    let left = |folder: &Path| {
        let read = |name: &str| std::fs::read_to_string(root.join(folder).join(name)).ok();
        let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
        // A limit that is none is the word `max`, or in v1 a number that no machine has.
        let limit = number(files.limit).filter(|limit| *limit < 1 << 60)?;
        let stat = read("memory.stat").unwrap_or_default();
        let given_back = stat
            .lines()
            .find_map(|line| line.strip_prefix(files.reclaimable)?.trim().parse().ok());
        let used = number(files.used)
            .unwrap_or(0)
            .saturating_sub(given_back.unwrap_or(0));
        Some(limit.saturating_sub(used))
    };
    below.ancestors().filter_map(left).min()
}

/// The value of a line such as `VmHWM:     6144 kB`, in bytes.
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
        // Version 1; in a container the path is that of the host, and the limit is at the root.
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
