//! A page in Chromium: the browser coordinates, the page and each of its workers are nodes.

use breakroom_testkit::adapters::{on_path, skipped};
use breakroom_testkit::fixtures::family;
use serde_json::{Value, json};

use crate::support::company::listed;
use crate::support::editor::{Desk, Hub};
use crate::support::family::{Mark, NODE, Viewer, depth, tree};

const PAGE: Mark = ("page.js", "page");
const WORKER: Mark = ("page_worker.js", "worker");
const NEXT: Mark = ("page_worker.js", "next");

/// A browser that shows nothing and asks nobody for anything.
fn launch(desk: &Desk) -> Value {
    let browser = on_path("chromium").expect("no chromium on the PATH: run `cargo xtask test` once");
    json!({
        "type": "pwa-chrome", "request": "launch", "name": "family", "file": family("page.html"),
        // js-debug gives a browser ten seconds otherwise, which a busy machine may need.
        "timeout": 0,
        "runtimeExecutable": browser, "userDataDir": desk.sandbox.work().join("browser"),
        // What it keeps of its own there is not ours to count.
        "env": {"XDG_RUNTIME_DIR": desk.sandbox.work()},
        "runtimeArgs": [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--disable-background-networking", "--allow-file-access-from-files",
        ],
    })
}

#[test]
fn a_page_and_its_workers_stop_each_for_itself() {
    if NODE.skipped() || skipped("chromium") {
        return;
    }
    let desk = Desk::new();
    let mut viewer = Viewer::at(&desk, Hub::Shared, &["--type", "pwa-chrome"], json!({}));
    let arguments = launch(&desk);
    viewer.launch(arguments, &[WORKER]);
    let stops = viewer.stops(2);
    for stop in &stops {
        assert!(stop.is_at(WORKER), "{stop:?}");
        assert_eq!(stop.body["allThreadsStopped"], false, "{stop:?}");
    }
    let nodes = tree(&listed(&desk).remove(0));
    let mut depths: Vec<_> = nodes.iter().map(|node| depth(&nodes, node)).collect();
    depths.sort_unstable();
    assert_eq!(depths, [0, 1, 2, 2], "{nodes:?}");

    let stepped = viewer.step(&stops[0]);
    assert!(stepped.is_at(NEXT), "{stepped:?}");
    viewer.still_stopped(&stops[1]);
    assert_eq!(viewer.evaluate(&stops[1], "steps"), "0");
    viewer.resume(&stepped);
    viewer.resume(&stops[1]);
    viewer.client.output_containing("page heard one2 two2");

    viewer.leave();
    desk.leave(Hub::Shared);
}

#[test]
fn a_page_alone_looks_like_one_engine() {
    if NODE.skipped() || skipped("chromium") {
        return;
    }
    let desk = Desk::new();
    let mut viewer = Viewer::at(&desk, Hub::Private, &["--type", "pwa-chrome"], json!({}));
    let arguments = launch(&desk);
    viewer.launch(arguments, &[PAGE]);
    let stop = viewer.stop();
    assert!(stop.is_at(PAGE), "{stop:?}");
    assert_eq!(viewer.evaluate(&stop, "total"), "40");
    viewer.resume(&stop);
    viewer.client.output_containing("page 42");
    viewer.leave();
    desk.leave(Hub::Private);
}
