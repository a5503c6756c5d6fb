//! Rows about launches that cannot work: the client is told why, the session ends, nothing is left.

use breakroom_testkit::{Arrival, Request};
use serde_json::{Value, json};

use super::adapter::{Adapter, Failure};
use super::session::{Outcome, Session};

pub fn missing(adapter: &'static Adapter) {
    let mut session = Session::open(adapter);
    let extension = session.debuggee.program.extension().map(std::ffi::OsStr::to_owned);
    session.debuggee.program =
        session.debuggee.work.join("missing").with_extension(extension.unwrap_or_default());
    let arguments = session.arguments(None);
    fails(session, arguments, &adapter.missing);
}

pub fn broken(adapter: &'static Adapter) {
    let mut session = Session::open(adapter);
    let file = session.debuggee.work.join(adapter.broken.file);
    std::fs::create_dir_all(file.parent().expect("a file is in a folder"))
        .expect("the work folder is writable");
    std::fs::write(&file, adapter.broken.text).expect("the work folder is writable");
    session.debuggee.program.clone_from(&file);
    session.debuggee.source = file;
    let arguments = session.arguments(None);
    fails(session, arguments, &adapter.broken.failure);
}

/// Every value is of a kind that no adapter can use.
pub fn bad_arguments(adapter: &'static Adapter) {
    let session = Session::open(adapter);
    let mut arguments = session.arguments(None);
    for value in arguments.as_object_mut().expect("arguments are an object").values_mut() {
        *value = json!({"not": "this"});
    }
    fails(session, arguments, &adapter.bad_arguments);
}

fn fails(mut session: Session, arguments: Value, failure: &Failure) {
    let launch = session.client.request("launch", arguments);
    // Most find out at once, and some only when they are told to begin.
    session.client.allow(&["initialized"]);
    let begun = session.outcome(&launch) == Outcome::Initialized;
    let done = begun.then(|| {
        // Some would stop where the program cannot be read.
        let filters = session.client.request("setExceptionBreakpoints", json!({"filters": []}));
        session.answered(filters);
        session.client.request("configurationDone", Value::Null)
    });
    match failure {
        Failure::Refused(said) => {
            is_refused(&mut session, launch, said);
            session.client.event("terminated");
        }
        Failure::NotStarted(said) => is_refused(&mut session, launch, said),
        Failure::Ran { said, code } => {
            session.client.response(launch);
            session.client.output_containing(said);
            let order = [Arrival::Event("exited"), Arrival::Event("terminated")];
            let exited = &session.client.expect_order(&order)[0];
            assert_eq!(exited["body"]["exitCode"], *code, "{exited}");
        }
    }
    if let Some(done) = done {
        session.answered(done);
    }
    session.let_go();
}

fn is_refused(session: &mut Session, launch: Request, said: &str) {
    let answer = session.client.failure(launch);
    assert!(answer["message"].as_str().is_some_and(|text| !text.is_empty()), "{answer}");
    // Some say no more in it than that they failed, and the reason in the console before.
    let told = format!("{answer}{}", session.client.timeline().output());
    assert!(told.contains(said), "{said:?} is not in {told}");
    // Adapters panic on requests after this; the hub does not pass them on.
    let later = session.client.call_failing("threads", Value::Null);
    assert!(later["message"].as_str().is_some_and(|text| !text.is_empty()), "{later}");
}
