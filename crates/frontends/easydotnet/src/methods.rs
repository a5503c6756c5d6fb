//! The table of methods that a client can call.
//!
//! A row names the method, the form of its parameters and the function that carries it out. `initialize` lists the rows.

use serde_json::Value;

use crate::client::Call;
use crate::message::{RpcError, code};
use crate::params::{Form, Params};
use crate::{debug, initialize, profiles};

type Outcome = Result<Value, RpcError>;

struct Method {
    name: &'static str,
    form: Form,
    perform: fn(&Call, &Params) -> Outcome,
}

const REQUEST: Form = Form::Named("request");

const METHODS: &[Method] = &[
    Method { name: "initialize", form: REQUEST, perform: initialize::initialize },
    Method { name: "debugger/start", form: REQUEST, perform: debug::start },
    Method { name: "workspace/debug", form: Form::Flat, perform: debug::workspace_debug },
    Method { name: "workspace/debug-attach", form: Form::Flat, perform: debug::workspace_attach },
    Method { name: "workspace/stop", form: Form::Flat, perform: debug::workspace_stop },
    Method { name: "launch-profiles", form: Form::Flat, perform: profiles::launch_profiles },
    Method { name: "$/enumerator/next", form: Form::Flat, perform: profiles::next },
];

/// What `initialize` lists: methods of the protocol itself are not among them.
pub fn routes() -> impl Iterator<Item = &'static str> {
    METHODS.iter().map(|method| method.name).filter(|name| !name.starts_with('$'))
}

/// Whether the next message has to wait for it: what follows relies on what it sets.
pub fn is_immediate(name: &str) -> bool {
    name == "initialize"
}

pub fn perform(call: &Call, name: &str, params: Value) -> Outcome {
    let Some(method) = METHODS.iter().find(|method| method.name == name) else {
        let text =
            format!("there is no method `{name}`; breakroom serves only the debugging part of easy-dotnet");
        return Err(RpcError::new(code::NO_METHOD, text));
    };
    (method.perform)(call, &Params::bind(params, method.form)?)
}
