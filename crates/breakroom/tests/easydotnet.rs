//! The easy-dotnet front end against the statements of its protocol, over a real socket with the real binary and the fake
//! adapter.
//!
//! Names begin with the number of the statement. Real adapters are in `easydotnet_adapters.rs`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod dotnet;
    pub mod plugin;
    pub mod rig;
}

#[path = "easy_dotnet/as_client.rs"]
mod as_client;
#[path = "easy_dotnet/client_flow.rs"]
mod client_flow;
#[path = "easy_dotnet/dotnet.rs"]
mod dotnet;
#[path = "easy_dotnet/ends.rs"]
mod ends;
#[path = "easy_dotnet/rpc.rs"]
mod rpc;
#[path = "easy_dotnet/server_flow.rs"]
mod server_flow;
#[path = "easy_dotnet/windows.rs"]
mod windows;
