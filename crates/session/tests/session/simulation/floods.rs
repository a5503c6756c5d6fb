//! Invariant 5, of one client: what was held for it is bounded, and it is told of every output that it missed.

use breakroom_session::ClientId;

use crate::rig::Heard;

/// What a client that does not read may cost: the mark above which it is sent no more output, one more message, and
/// room for answers and states, which are never left out.
const HELD: usize = (4 << 20) + (1 << 20) + (512 << 10);

/// What one client had of the floods.
#[derive(Default)]
pub struct Floods {
    pub owed: u64,
    heard: u64,
    told_missing: u64,
}

impl Floods {
    /// What a client is given at once is what was held for it.
    pub fn hear(&mut self, id: ClientId, batch: &[Heard]) {
        let held: usize = batch.iter().map(|heard| heard.bytes.len()).sum();
        assert!(held <= HELD, "invariant 5: {held} bytes were held for {id:?}");
        for heard in batch {
            self.heard += u64::from(!heard.is_read());
            let text = heard.json["body"]["output"].as_str().unwrap_or_default();
            if let Some(said) = text.strip_prefix("breakroom: ").filter(|said| said.contains("left out")) {
                self.told_missing +=
                    said.split(' ').next().and_then(|count| count.parse::<u64>().ok()).unwrap();
            }
        }
    }

    pub fn was_told(&self) -> bool {
        self.told_missing > 0
    }

    /// It has all that it is owed, or word of what it has not. `who` is the client and how it stands.
    pub fn assert_none_missing(&self, who: &str) {
        let Floods { owed, heard, told_missing } = self;
        assert!(
            heard + told_missing >= *owed,
            "invariant 5: {who} heard {heard} of {owed} floods, and of {told_missing} that it did not"
        );
    }
}
