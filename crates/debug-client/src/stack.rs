//! The frames of a thread, read in pages.

use breakroom_client::model::{self, Frame, ThreadId};
use serde_json::json;

use crate::Requests;

/// How many frames are asked for at once.
pub const PAGE: usize = 100;
const MOST_FRAMES: usize = 10_000;

/// Some frames from this one on, and how many there are if the debugger says.
pub async fn page<R: Requests>(
    to: &mut R,
    thread: ThreadId,
    from: usize,
) -> Result<(Vec<Frame>, Option<usize>), R::Error> {
    let arguments = json!({"threadId": thread.0, "startFrame": from, "levels": PAGE});
    let body = to.request("stackTrace", arguments).await?;
    let total = model::integer(&body["totalFrames"]).and_then(|total| usize::try_from(total).ok());
    Ok((model::list(&body["stackFrames"], Frame::read), total))
}

/// The frames of a thread, innermost first.
pub async fn all_frames<R: Requests>(to: &mut R, thread: ThreadId) -> Result<Vec<Frame>, R::Error> {
    let mut frames = Vec::new();
    while frames.len() < MOST_FRAMES {
        let (more, total) = page(to, thread, frames.len()).await?;
        let is_last = match total {
            Some(total) => more.is_empty() || frames.len() + more.len() >= total,
            None => more.len() < PAGE,
        };
        frames.extend(more);
        if is_last {
            break;
        }
    }
    Ok(frames)
}
