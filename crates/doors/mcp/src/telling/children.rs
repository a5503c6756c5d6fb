//! Processes that a program starts, where its debugger has no part in them: an agent whose breakpoint is not hit waits for
//! what a child does and nobody would tell.
//!
//! They are looked for only where something is waited for in vain, and among the processes of this machine.

use std::net::IpAddr;
use std::path::Path;

use crate::Wanted;
use crate::breakpoints::Breakpoint;
use crate::session::Session;

/// So many are named.
const MOST_NAMED: usize = 3;
/// So many processes are looked at: a tree of them may grow while one looks.
const MOST_LOOKED_AT: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Child {
    pid: i64,
    name: String,
}

impl Session {
    /// Says which processes nobody debugs, if a breakpoint may be waited for that is theirs.
    pub async fn children_in_the_way(&self) -> Option<String> {
        let process = {
            let seen = self.seen();
            seen.process
                .filter(|_| seen.children_run_freely && !seen.is_over() && is_of_this_machine(&self.wanted))?
        };
        let below = below(Path::new("/proc"), process);
        // While they are being set, nothing is known of them.
        let mut breakpoints = self.breakpoints.try_lock().ok().filter(|_| !below.is_empty())?;
        // Whether it was hit is not worth a failure.
        let _ = self.learn(&mut breakpoints).await;
        breakpoints.all.iter().any(is_waited_for).then(|| told(&below))
    }
}

/// Debuggers call the processes of their own machine local. Behind an address that may be another machine, and here the
/// number is a stranger's.
fn is_of_this_machine(wanted: &Wanted) -> bool {
    let Wanted::Attach(attach) = wanted else { return true };
    let Some((host, _)) = attach.to.rsplit_once(':') else { return true };
    let host = host.trim_matches(['[', ']']);
    host.eq_ignore_ascii_case("localhost") || host.parse().is_ok_and(|host: IpAddr| host.is_loopback())
}

/// Whether a child may have what it is to stop. What the program itself has not, some debuggers reject; of messages they
/// write none tells.
fn is_waited_for(breakpoint: &Breakpoint) -> bool {
    let Breakpoint { truth, terms, refused, .. } = breakpoint;
    truth.hits == 0 && refused.is_none() && terms.log.is_none()
}

fn told(children: &[Child]) -> String {
    let named: Vec<_> =
        children.iter().take(MOST_NAMED).map(|child| format!("{} ({})", child.pid, child.name)).collect();
    let more = children.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(
        "(this debugger does not follow child processes, and the program has started {}{more}: debugger_attach with the pid \
         debugs one)",
        named.join(", ")
    )
}

/// The processes below one, children before theirs.
fn below(proc: &Path, process: i64) -> Vec<Child> {
    let mut found = children(proc, process, MOST_LOOKED_AT);
    let mut at = 0;
    while let Some(pid) = found.get(at).map(|child| child.pid).filter(|_| found.len() < MOST_LOOKED_AT) {
        found.extend(children(proc, pid, MOST_LOOKED_AT - found.len()));
        at += 1;
    }
    found
}

/// Any thread of it may have started them. Whoever has gone meanwhile has none.
fn children(proc: &Path, process: i64, most: usize) -> Vec<Child> {
    let threads = std::fs::read_dir(proc.join(process.to_string()).join("task"));
    let lists = threads.into_iter().flatten().flatten();
    let lists = lists.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    let pids =
        |list: String| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<i64>>();
    let mut pids: Vec<i64> = lists.flat_map(pids).collect();
    pids.sort_unstable();
    pids.truncate(most);
    let named = |pid: i64| {
        let name = std::fs::read_to_string(proc.join(pid.to_string()).join("comm")).ok()?;
        Some(Child { pid, name: name.trim_end().to_owned() })
    };
    pids.into_iter().filter_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Attach;
    use crate::breakpoints::{Breakpoints, Place, Wish};
    use crate::failure::Failure;

    /// A process: its number and name, and its threads with whom each started.
    type Process = (i64, &'static str, &'static [(i64, &'static str)]);

    fn proc(processes: &[Process]) -> tempfile::TempDir {
        let proc = tempfile::tempdir().unwrap();
        for (pid, name, threads) in processes {
            let process = proc.path().join(pid.to_string());
            for (thread, children) in *threads {
                let thread = process.join("task").join(thread.to_string());
                std::fs::create_dir_all(&thread).unwrap();
                std::fs::write(thread.join("children"), children).unwrap();
            }
            std::fs::create_dir_all(&process).unwrap();
            std::fs::write(process.join("comm"), format!("{name}\n")).unwrap();
        }
        proc
    }

    #[test]
    fn children_of_every_thread_are_found_and_theirs() {
        let proc = proc(&[
            (1, "main", &[(1, "5 "), (2, "6 7 ")]),
            (5, "sh", &[(5, "8 ")]),
            (6, "one", &[(6, "")]),
            (8, "two", &[(8, "")]),
        ]);
        let found: Vec<_> = below(proc.path(), 1).into_iter().map(|child| (child.pid, child.name)).collect();
        // The one that ended in between is none.
        assert_eq!(found, [(5, "sh".to_owned()), (6, "one".to_owned()), (8, "two".to_owned())]);
        assert_eq!(below(proc.path(), 9), []);
    }

    #[test]
    fn no_more_are_looked_at_however_many_there_are() {
        let proc = proc(&[(1, "main", &[(1, "2 3 ")]), (2, "sh", &[]), (3, "sh", &[])]);
        let many = |from: usize| from..from + 3 * MOST_LOOKED_AT;
        for (parent, from) in [(2, 1_000), (3, 2_000)] {
            let thread = proc.path().join(format!("{parent}/task/{parent}"));
            std::fs::create_dir_all(&thread).unwrap();
            let list: Vec<_> = many(from).map(|pid| pid.to_string()).collect();
            std::fs::write(thread.join("children"), list.join(" ")).unwrap();
            for pid in list {
                std::fs::create_dir(proc.path().join(&pid)).unwrap();
                std::fs::write(proc.path().join(&pid).join("comm"), "work\n").unwrap();
            }
        }
        assert_eq!(below(proc.path(), 1).len(), MOST_LOOKED_AT);
        assert_eq!(below(proc.path(), 2).len(), MOST_LOOKED_AT);
    }

    #[test]
    fn a_process_behind_an_address_elsewhere_is_none_of_this_machine() {
        let attach = |to: &str| {
            let (to, cwd) = (to.to_owned(), "/".into());
            Wanted::Attach(Attach { to, language: None, file: None, cwd, more: serde_json::Map::new() })
        };
        for here in ["42", "localhost:1", "127.0.0.1:1", "127.1.2.3:1", "[::1]:1"] {
            assert!(is_of_this_machine(&attach(here)), "{here}");
        }
        for elsewhere in ["10.0.0.7:1", "build.example:1", "[2001:db8::7]:1", "0.0.0.0:1"] {
            assert!(!is_of_this_machine(&attach(elsewhere)), "{elsewhere}");
        }
        assert!(is_of_this_machine(&Wanted::Join("a".to_owned())));
    }

    #[test]
    fn of_many_the_first_are_named() {
        let child = |pid| Child { pid, name: "work".to_owned() };
        let all: Vec<_> = (10..15).map(child).collect();
        assert!(told(&all).contains("started 10 (work), 11 (work), 12 (work) and 2 more:"), "{}", told(&all));
        assert!(told(&all[..1]).contains("started 10 (work):"), "{}", told(&all[..1]));
    }

    #[test]
    fn what_was_hit_and_what_the_debugger_was_not_asked_for_is_not_waited_for() {
        let mut breakpoints = Breakpoints::default();
        for line in 1..=3 {
            breakpoints.add(Wish::plain(Place::Line { file: "/a/t.c".into(), line }));
        }
        breakpoints.all[1].truth.hits = 1;
        breakpoints.all[2].refused = Some(Failure::new("it was not asked"));
        let waited_for: Vec<_> = breakpoints.all.iter().map(is_waited_for).collect();
        assert_eq!(waited_for, [true, false, false]);
    }
}
