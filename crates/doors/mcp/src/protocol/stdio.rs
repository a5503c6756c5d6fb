//! The transport on stdin and stdout: the library's, and an error for each line that is not JSON.
//!
//! The library ignores such a line, and an agent would wait for its answer for ever.

use std::pin::Pin;

use rmcp::model::{ErrorData, JsonRpcMessage};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::mpsc::UnboundedReceiver;

type Sending = Pin<Box<dyn Future<Output = Result<(), std::io::Error>> + Send>>;

pub struct Stdio<T> {
    library: T,
    complaints: UnboundedReceiver<String>,
    /// The error that is being written. Receiving may be given up at any time and begun again.
    sending: Option<Sending>,
}

impl<T> Stdio<T> {
    /// `complaints` are those of the stdin that the library's transport reads.
    pub fn new(library: T, complaints: UnboundedReceiver<String>) -> Self {
        Stdio { library, complaints, sending: None }
    }
}

impl<T: Transport<RoleServer, Error = std::io::Error>> Transport<RoleServer> for Stdio<T> {
    type Error = std::io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.library.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(sending) = &mut self.sending {
                let sent = sending.await;
                self.sending = None;
                sent.ok()?;
            }
            let complaint = tokio::select! {
                biased;
                Some(complaint) = self.complaints.recv() => complaint,
                message = self.library.receive() => match message {
                    Some(_) => return message,
                    // The last lines may be among those that are not JSON.
                    None => self.complaints.try_recv().ok()?,
                },
            };
            let error = JsonRpcMessage::error(ErrorData::parse_error(complaint, None), None);
            self.sending = Some(Box::pin(self.library.send(error)));
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.library.close().await
    }
}
