//! The runtime's threads: their DAP ids, their names and where they are stopped.
//!
//! The runtime's ids are any integers and may be used again, so DAP gets ids of its own: 1, 2, 3 and so on.

use breakroom_remote_runtime::{Exception, Thread};

#[derive(Debug)]
pub struct KnownThread {
    pub runtime_id: i64,
    pub name: String,
    pub is_stopped: bool,
    /// Why it stopped, if by an exception.
    pub exception: Option<Exception>,
    has_exited: bool,
}

#[derive(Debug, Default)]
pub struct Threads(Vec<KnownThread>);

impl Threads {
    fn position(&self, runtime_id: i64) -> Option<usize> {
        self.0.iter().position(|thread| thread.runtime_id == runtime_id && !thread.has_exited)
    }

    /// The DAP id of a thread of the runtime. One that is unknown becomes known.
    pub fn dap_id(&mut self, runtime_id: i64) -> i64 {
        let at = self.position(runtime_id).unwrap_or_else(|| {
            let name = format!("Thread {runtime_id}");
            self.0.push(KnownThread {
                runtime_id,
                name,
                is_stopped: false,
                exception: None,
                has_exited: false,
            });
            self.0.len() - 1
        });
        i64::try_from(at).unwrap_or(i64::MAX - 1) + 1
    }

    pub fn get(&self, dap_id: i64) -> Result<&KnownThread, String> {
        let at = usize::try_from(dap_id).ok().and_then(|id| id.checked_sub(1));
        let thread = at.and_then(|at| self.0.get(at)).filter(|thread| !thread.has_exited);
        thread.ok_or_else(|| format!("there is no thread {dap_id}"))
    }

    pub fn by_runtime_id(&mut self, runtime_id: i64) -> Option<&mut KnownThread> {
        let at = self.position(runtime_id)?;
        self.0.get_mut(at)
    }

    /// The runtime's ids of the stopped threads.
    pub fn stopped(&self) -> Vec<i64> {
        let stopped = self.0.iter().filter(|thread| thread.is_stopped && !thread.has_exited);
        stopped.map(|thread| thread.runtime_id).collect()
    }

    /// Takes in the runtime's own list. Threads that are missing from it have exited, unless they are stopped.
    pub fn learn(&mut self, listed: &[Thread]) {
        for thread in listed {
            self.dap_id(thread.id);
            if let Some(known) = self.by_runtime_id(thread.id) {
                known.name.clone_from(&thread.name);
            }
        }
        for known in &mut self.0 {
            let is_listed = listed.iter().any(|thread| thread.id == known.runtime_id);
            known.has_exited |= !is_listed && !known.is_stopped;
        }
    }

    pub fn exit(&mut self, runtime_id: i64) {
        if let Some(known) = self.by_runtime_id(runtime_id) {
            known.has_exited = true;
        }
    }

    /// DAP id and name of each that lives.
    pub fn list(&self) -> impl Iterator<Item = (i64, &str)> {
        let numbered = (1_i64..).zip(&self.0).filter(|(_, thread)| !thread.has_exited);
        numbered.map(|(id, thread)| (id, thread.name.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_any_sign_are_numbered_and_used_again_after_an_exit() {
        let mut threads = Threads::default();
        assert_eq!([threads.dap_id(0), threads.dap_id(-5), threads.dap_id(0)], [1, 2, 1]);
        threads.exit(0);
        assert!(threads.get(1).is_err() && threads.get(0).is_err() && threads.get(-1).is_err());
        assert_eq!(threads.dap_id(0), 3);
        threads.learn(&[Thread { id: -5, name: "main".to_owned() }]);
        assert_eq!(threads.list().collect::<Vec<_>>(), [(2, "main")]);
    }
}
