//! What calls answer where a session is full of long names, or arguments are filled in with nothing: whole calls, in a hub
//! that is made up.

use serde_json::{Value, json};

use crate::made_up::{Engine, MadeUp, call};

/// What a stopped program is asked again and again.
struct Standing {
    frames: Value,
    scopes: Value,
    variables: Value,
}

impl Standing {
    fn at(frame: Value) -> Standing {
        Standing { frames: json!([frame]), scopes: json!([]), variables: json!([]) }
    }
}

impl Engine {
    /// Stands in one place, to the end.
    fn stands(mut self, standing: &Standing) {
        self.begin(&[json!({"threadId": 7, "reason": "breakpoint"})]);
        while let Some(request) = self.next() {
            let body = match request["command"].as_str().unwrap() {
                "stackTrace" => json!({"stackFrames": standing.frames, "totalFrames": 1}),
                "scopes" => json!({"scopes": standing.scopes}),
                "variables" => json!({"variables": standing.variables}),
                "disconnect" => return self.answer(&request),
                _ => {
                    self.answer(&request);
                    continue;
                }
            };
            self.answer_with(&request, body);
        }
    }
}

fn start() -> Value {
    json!({"program": "/bin/made-up", "wait_ms": 45_000})
}

#[tokio::test]
async fn the_long_name_of_a_function_leaves_room_for_its_variables() {
    let name = format!("fold<{}>", "std::vector<std::string>, ".repeat(200));
    let variables = json!([{"name": "total", "value": "42", "type": "int", "variablesReference": 0}]);
    let standing = Standing {
        scopes: json!([{"name": "Locals", "variablesReference": 9, "expensive": false}]),
        variables,
        ..Standing::at(json!({"id": 1, "name": name, "line": 1, "column": 1}))
    };
    let door = MadeUp::default().with(Some("a"), move |engine| engine.stands(&standing)).door();
    let told = call(&door, "debugger_start", start()).await;
    assert!(told.text.contains("total: int = 42") && told.text.contains("fold<std::"), "{told:?}");
    assert_eq!(told.data["locals"][0]["name"], "total", "{told:?}");
    assert_eq!(told.data.get("left_out"), None, "{told:?}");
    let function = told.data["function"].as_str().unwrap();
    assert!(function.starts_with("fold<std::") && function.len() < 200, "{told:?}");
}
