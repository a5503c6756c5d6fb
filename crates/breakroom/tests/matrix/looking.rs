//! Rows about what is seen at a stop: variables, changed variables, expressions, exceptions.

use serde_json::{Value, json};

use super::adapter::{Adapter, Paging};
use super::session::{DONE, SUMS, Session};

/// The locals, and a list of 120 of which a part is asked for.
pub fn variables(adapter: &'static Adapter) {
    let (mut session, stop) = Session::at(adapter, None, "call", adapter.names.main);
    let locals = session.locals(&stop);
    let numbers = session.variable(&locals, adapter.numbers.variable);
    match adapter.numbers.paging {
        Paging::Text(between) => {
            let part = ["1000", "1010", "1020", "1030", "1040"].join(between);
            assert!(numbers["value"].as_str().is_some_and(|text| text.contains(&part)), "{numbers}");
        }
        paging => page(&mut session, &numbers, paging),
    }
    session.runs_on(&stop, &format!("{SUMS}{DONE}"));
}

fn page(session: &mut Session, numbers: &Value, paging: Paging) {
    let adapter = session.adapter;
    let reference = &numbers["variablesReference"];
    assert!(reference.as_i64().is_some_and(|reference| reference > 0), "{numbers}");
    let part = json!({"variablesReference": reference, "filter": "indexed", "start": 100, "count": 5});
    let mut part = session.variables(part);
    if let Paging::Behind(node) = paging {
        let more = part.iter().find(|variable| variable["name"] == node);
        let more = more.unwrap_or_else(|| panic!("no `{node}` in {part:?}"))["variablesReference"].clone();
        part = session.variables(json!({"variablesReference": more}));
    }
    let place = part.iter().position(|variable| variable["name"] == adapter.numbers.hundredth);
    let place = place.unwrap_or_else(|| panic!("no `{}` in {part:?}", adapter.numbers.hundredth));
    let values: Vec<&Value> = part[place..].iter().take(5).map(|variable| &variable["value"]).collect();
    assert_eq!(values, ["1000", "1010", "1020", "1030", "1040"], "{part:?}");
    match paging {
        // One that is no element may come with them: what the list inherits from.
        Paging::Honoured => assert!(place == 0 && part.len() <= 6, "{part:?}"),
        Paging::Everything => assert!(part.len() >= 120, "{part:?}"),
        Paging::Behind(_) | Paging::Text(_) => {}
    }
}

/// A changed variable is what the program goes on with.
pub fn set_variable(adapter: &'static Adapter) {
    let (mut session, stop) = Session::at(adapter, None, "add", adapter.names.add);
    assert_eq!(session.offered["supportsSetVariable"], true, "{}", session.offered);
    let locals = session.locals(&stop);
    let total = session.variable(&locals, adapter.names.total);
    assert_eq!(total["value"], "10", "{total}");
    let change = json!({"variablesReference": locals, "name": adapter.names.total, "value": "50"});
    session.client.call("setVariable", change);
    assert_eq!(session.evaluate(&stop, adapter.names.total), "50");
    session.runs_on(&stop, &format!("{}{DONE}", SUMS.replace("sum 10", "sum 50")));
}

/// A value is the same in a watch, in the console and under the pointer.
pub fn evaluate(adapter: &'static Adapter) {
    let (mut session, stop) = Session::at(adapter, None, "add", adapter.names.add);
    let sum = adapter.names.sum;
    let values: Vec<Value> =
        ["watch", "repl", "hover"].iter().map(|context| session.evaluate_in(context, &stop, sum)).collect();
    assert_eq!(values, ["10", "10", "10"], "`{sum}` in watch, repl and hover");
    let wrong = json!({"expression": "nothing_of_this_name", "frameId": stop.frame, "context": "watch"});
    if !adapter.names.unknown_is_a_value {
        let answer = session.client.call_failing("evaluate", wrong);
        let told = answer["message"].as_str().or_else(|| answer["body"]["error"]["format"].as_str());
        assert!(told.is_some_and(|text| !text.is_empty()), "{answer}");
    }
    session.runs_on(&stop, &format!("{SUMS}{DONE}"));
}

/// The program stops where it fails, if the filter is set.
pub fn exceptions(adapter: &'static Adapter) {
    let exception = &adapter.exception;
    let mut session = Session::open(adapter);
    let offered = session.offered["exceptionBreakpointFilters"].as_array().cloned().unwrap_or_default();
    for filter in exception.filters {
        assert!(offered.iter().any(|offered| offered["filter"] == *filter), "no `{filter}` in {offered:?}");
    }
    let launch = session.begin(session.arguments(Some("throw")));
    session.client.call("setExceptionBreakpoints", json!({"filters": exception.filters}));
    session.configured(launch);
    let stop = session.stopped_for(exception.reason);
    let frames = session.stack(&stop.thread);
    let line = session.line("throw");
    assert!(frames.iter().any(|frame| frame["line"] == line), "no frame at `throw`: {frames:?}");
    let mut said = stop.told.to_string();
    if session.offered["supportsExceptionInfoRequest"] == true {
        said += &session.client.call("exceptionInfo", json!({"threadId": stop.thread})).to_string();
    }
    assert!(said.contains(exception.said), "{:?} is not in {said}", exception.said);
    session.abandoned();
}
