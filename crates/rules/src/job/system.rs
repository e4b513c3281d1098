//! Resources that this process may use. Memory is limited by the available memory of the system, by the
//! container of the process (cgroup v2 and v1), and by the address space (`ulimit -v`).

use std::path::Path;

/// Address space, in bytes, for the stack of a thread and for the arena that the allocator of glibc reserves
/// for it.
const THREAD: u64 = 66 << 20;

/// Address space, in bytes, that the allocator maps for a short time to align a reservation.
const ALIGNMENT: u64 = 64 << 20;

/// Returns the number of threads for which `ulimit -v` leaves enough address space. For each thread, the
/// estimate has its reservation and as much again for its work. `None` if the address space is not limited.
/// With more threads, a small allocation could fail, which would end the process.
pub fn affordable_threads() -> Option<usize> {
    let threads = address_space()? / (2 * THREAD + ALIGNMENT);
    Some(usize::try_from(threads).unwrap_or(usize::MAX).max(1))
}

/// Returns the memory, in bytes, that `threads` new threads together can use without swapping and without the
/// process being killed. `None` if it is unknown.
pub fn available_memory(threads: usize) -> Option<u64> {
    let system = kilobytes("/proc/meminfo", "MemAvailable:");
    let cgroups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let container = of_cgroups(Path::new("/sys/fs/cgroup"), &cgroups);
    // If the address space is too small for the reservations, the allocator does not make them.
    let addresses =
        address_space().map(|space| space.checked_sub(THREAD * threads as u64).unwrap_or(space));
    system.into_iter().chain(container).chain(addresses).min()
}

/// Returns the number of free bytes on the disk for a new file at `path`. `None` if it is unknown, or if
/// `path` exists and is not a file.
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

/// Returns the peak memory of this process so far, in bytes. `None` if it is unknown.
pub fn peak_memory() -> Option<u64> {
    kilobytes("/proc/self/status", "VmHWM:")
}

/// Returns the address space, in bytes, that `ulimit -v` leaves. `None` if it is not limited.
pub fn address_space() -> Option<u64> {
    let limit = limit("Max address space")?;
    Some(limit.saturating_sub(kilobytes("/proc/self/status", "VmSize:").unwrap_or(0)))
}

/// Returns the number of files that this process may have open at the same time (`ulimit -n`). `None` if it
/// is unknown.
pub fn open_files() -> Option<u64> {
    limit("Max open files")
}

/// Returns the soft limit of this name in `/proc/self/limits`. `None` if there is no limit.
fn limit(name: &str) -> Option<u64> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Names of the files of a cgroup with its memory limit and its usage, and the key of the reclaimable memory
/// in `memory.stat`.
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

/// Returns the memory, in bytes, that the cgroups of a process leave. `None` if they have no limit. `root` is
/// the mount point of the cgroups, and `cgroups` is the content of `/proc/self/cgroup`.
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

/// Returns the memory, in bytes, that a cgroup and all of its parents leave. The parents include the root,
/// because a container may see its own cgroup there.
fn of_cgroup(root: &Path, path: &str, files: &CgroupFiles) -> Option<u64> {
    let below = Path::new(path.trim_start_matches('/'));
    let left_in = |folder: &Path| left_in_folder(&root.join(folder), files);
    below.ancestors().filter_map(left_in).min()
}

/// Returns the memory, in bytes, that the cgroup of one folder leaves. `None` if it has no limit.
fn left_in_folder(folder: &Path, files: &CgroupFiles) -> Option<u64> {
    // If there is no limit, the file contains the word `max`, or in cgroup v1 a number larger than any
    // memory.
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

/// Returns the value, in bytes, of the line of a file that begins with `key`, such as `VmHWM: 6144 kB`.
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
        // In a container with cgroup v1 the path is that of the host, and the limit is at the root.
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
