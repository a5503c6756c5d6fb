//! "`initialize`" and "Launch": what a client is promised, what an engine is told, and how it is reached.

use breakroom_testkit::{Arrival, Strict};
use serde_json::{Value, json};

use crate::support::commands::listed;
use crate::support::rig::{Rig, begin, end, launch, text};
use crate::support::trio::{Trio, Words, asked, introduction, join, lines, on_word, sent, start};

/// What the fake adapter says that it can do, and what the hub adds.
fn exact() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true, "supportsConditionalBreakpoints": true,
        "supportsFunctionBreakpoints": true, "supportsEvaluateForHovers": true, "supportsSetVariable": true,
        "supportsTerminateRequest": true, "supportsCancelRequest": true, "supportsRestartRequest": true,
    })
}

#[test]
fn without_a_known_engine_the_base_set_is_answered_at_once_and_the_exact_one_follows_before_initialized() {
    let rig = Rig::new();
    let mut client = rig.client();
    let base = client.call("initialize", introduction("First", &Value::Null))["body"].clone();
    assert_eq!(base["supportsConfigurationDoneRequest"], true, "{base}");
    assert_eq!(listed(&rig)[0]["nodes"], 0, "no adapter was asked: {:?}", listed(&rig));
    let launched = client.request("launch", launch(rig.fake(&[])));
    let told = client.expect_order(&[Arrival::Event("capabilities"), Arrival::Event("initialized")]);
    let mut taken_back = base;
    taken_back.as_object_mut().unwrap().values_mut().for_each(|promised| *promised = json!(false));
    taken_back.as_object_mut().unwrap().extend(exact().as_object().unwrap().clone());
    assert_eq!(told[0]["body"]["capabilities"], taken_back, "what this engine has not is taken back");
    client.response(launched);
    client.call("configurationDone", Value::Null);
    end(client);
}

#[test]
fn the_engine_hears_the_hubs_own_introduction_whatever_its_clients_can_do() {
    let rig = Rig::new();
    let odd = json!({"clientID": "odd", "linesStartAt1": false, "columnsStartAt1": false, "pathFormat": "uri",
        "supportsRunInTerminalRequest": false, "supportsANSIStyling": true, "locale": "fi"});
    let mut client = rig.client();
    let log = text(&rig.log_path());
    start(&mut client, "First", &odd, "launch", launch(rig.fake_with(&[], &["--log", &log])));
    let late = join(&rig, "Late", &Words::declaring(json!({"clientID": "late"})));
    let heard = asked(&rig, "initialize");
    assert_eq!(heard.len(), 1, "nobody who joins is introduced");
    let heard = &heard[0];
    for (key, value) in [
        ("clientID", json!("odd")),
        ("locale", json!("fi")),
        ("linesStartAt1", json!(true)),
        ("columnsStartAt1", json!(true)),
        ("pathFormat", json!("path")),
        ("supportsANSIStyling", json!(false)),
    ] {
        assert_eq!(heard[key], value, "{key} in {heard}");
    }
    for able in [
        "supportsVariableType",
        "supportsVariablePaging",
        "supportsRunInTerminalRequest",
        "supportsMemoryReferences",
        "supportsProgressReporting",
        "supportsInvalidatedEvent",
        "supportsMemoryEvent",
    ] {
        assert_eq!(heard[able], true, "{able} in {heard}");
    }
    end(late);
    end(client);
}

#[test]
fn what_a_client_did_not_declare_is_kept_from_it_and_told_to_those_who_did() {
    let rig = Rig::new();
    let events = [
        sent("progressStart", json!({"progressId": "p", "title": "t"})),
        sent("progressUpdate", json!({"progressId": "p"})),
        sent("progressEnd", json!({"progressId": "p"})),
        sent("invalidated", json!({"areas": ["all"]})),
        sent("memory", json!({"memoryReference": "0x1", "offset": 0, "count": 1})),
        sent("x-end", json!({})),
    ];
    let able = Words::declaring(json!({"supportsProgressReporting": true, "supportsInvalidatedEvent": true,
        "supportsMemoryEvent": true}));
    let words = [Words::default(), able, Words::default()];
    let mut trio = Trio::saying(&rig, "launch", &on_word("x-say", &events), &words);
    trio.first.call("x-say", Value::Null);
    trio.first.event("x-end");
    // The word itself may have changed anything.
    assert_eq!(trio.late.event("invalidated")["body"]["areas"], json!(["all"]));
    let names = ["progressStart", "progressUpdate", "progressEnd", "invalidated", "memory", "x-end"];
    trio.late.expect_order(&names.map(Arrival::Event));
    trio.wake();
    trio.stalled.event("x-end");
    trio.end();
}

#[test]
fn clients_that_count_and_name_differently_share_one_breakpoint_and_see_it_each_in_its_own_way() {
    let rig = Rig::new();
    let odd = json!({"linesStartAt1": false, "columnsStartAt1": false, "pathFormat": "uri"});
    let frame = json!({"id": 1, "name": "f", "line": 5, "column": 3, "source": {"path": "/no where/a.py"}});
    let steps =
        [json!({"expect": "stackTrace"}), json!({"respond": "stackTrace", "body": {"stackFrames": [frame]}})];
    let words = [Words::default(), Words::declaring(odd), Words::default()];
    let mut trio = Trio::saying(&rig, "launch", &steps, &words);
    let set = |client: &mut Strict, path: &str, line: i64| {
        let arguments = json!({"source": {"path": path}, "breakpoints": [{"line": line}]});
        client.call("setBreakpoints", arguments)["body"]["breakpoints"][0]["line"].clone()
    };
    assert_eq!(set(&mut trio.first, "/no where/a.py", 5), 5);
    assert_eq!(set(&mut trio.late, "file:///no%20where/a.py", 4), 4);
    let told = trio.asked("setBreakpoints");
    assert!(
        told.iter().all(|told| lines(told) == [5] && told["source"]["path"] == "/no where/a.py"),
        "{told:?}"
    );
    for (client, line, column, path) in
        [(&mut trio.first, 5, 3, "/no where/a.py"), (&mut trio.late, 4, 2, "file:///no%20where/a.py")]
    {
        let stack = client.call("stackTrace", json!({"threadId": 1}));
        let top = &stack["body"]["stackFrames"][0];
        assert_eq!((&top["line"], &top["column"]), (&json!(line), &json!(column)), "{top}");
        assert_eq!(top["source"]["path"], path);
    }
    trio.end();
}

#[test]
fn the_record_of_a_launch_says_how_its_adapter_is_reached() {
    let rig = Rig::new();
    for (mode, options, printed) in [
        ("stdio", &[][..], None),
        ("tcp-connect", &["--listen", "{{port}}"], Some("listening on")),
        ("tcp-callback", &["--connect", "{{port}}"], None),
        ("unix", &["--socket", "{{socket}}"], None),
    ] {
        let mut record = rig.fake_with(&[], options);
        record["mode"] = json!(mode);
        record["connectionTimeoutSeconds"] = json!(60);
        let mut client = rig.client();
        begin(&mut client, record);
        client.call("threads", Value::Null);
        printed.map(|printed| client.output_containing(printed));
        end(client);
    }
    rig.only_the_daemon_is_left();
}

#[test]
fn an_engine_that_answers_its_launch_only_when_it_is_configured_is_not_waited_for() {
    let rig = Rig::new();
    let steps = [
        json!({"expect": "launch"}),
        sent("initialized", json!({})),
        json!({"expect": "configurationDone"}),
        json!({"respond": "configurationDone"}),
        json!({"respond": "launch"}),
    ];
    let mut client = rig.client();
    client.call("initialize", introduction("First", &Value::Null));
    let launched = client.request("launch", launch(rig.fake(&steps)));
    client.event("capabilities");
    client.event("initialized");
    // One who joins meanwhile does not wait for it either.
    let late = join(&rig, "Late", &Words::default());
    client.call("setBreakpoints", json!({"source": {"path": "/a"}, "breakpoints": []}));
    client.call("configurationDone", Value::Null);
    client.response(launched);
    end(late);
    end(client);
    rig.only_the_daemon_is_left();
}
