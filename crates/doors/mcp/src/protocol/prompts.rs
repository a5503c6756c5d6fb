//! How to debug with these tools, for clients that offer prompts to people.

use rmcp::ErrorData;
use rmcp::model::{
    ErrorCode, GetPromptRequestParams, GetPromptResponse, GetPromptResult, ListPromptsResult, Prompt,
    PromptArgument, PromptMessage, Role,
};

const NAME: &str = "debugging-workflow";
const ABOUT: &str = "Find the cause of a bug with the debugger";

pub fn list() -> ListPromptsResult {
    let program = PromptArgument::new("program").with_description("What to debug").with_required(false);
    let problem = PromptArgument::new("problem").with_description("What goes wrong").with_required(false);
    ListPromptsResult::with_all_items(vec![Prompt::new(NAME, Some(ABOUT), Some(vec![program, problem]))])
}

pub fn get(request: &GetPromptRequestParams) -> Result<GetPromptResponse, ErrorData> {
    if request.name != NAME {
        let text = format!("there is no prompt `{}`; there is `{NAME}`", request.name);
        return Err(ErrorData::new(ErrorCode::INVALID_PARAMS, text, None));
    }
    let argument = |name: &str| {
        let value = request.arguments.as_ref().and_then(|arguments| arguments.get(name));
        value.and_then(|value| value.as_str().map(str::to_owned)).filter(|value| !value.is_empty())
    };
    let program = argument("program").unwrap_or_else(|| "the program".to_owned());
    let problem = argument("problem").map(|problem| format!(" The problem: {problem}")).unwrap_or_default();
    let text = format!(
        "Debug {program}.{problem}\n\
         1. Say what you expect and where it could go wrong.\n\
         2. debugger_start with breakpoints just before that place; without any, an uncaught exception stops it where it is raised.\n\
         3. At the stop compare the variables with what you expected. Look up the stack: debugger_evaluate and debugger_inspect take frame_id.\n\
         4. Narrow it down: a condition on the breakpoint, `capture` to record values over many hits, debugger_script for a loop of steps. Prefer these to many single steps.\n\
         5. When you know the cause, check it: debugger_set_variable or debugger_evaluate, then go on and see.\n\
         6. Mend the source, debugger_restart, and see that it is gone. debugger_stop at the end."
    );
    let mut result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]);
    result.description = Some(ABOUT.to_owned());
    Ok(result.into())
}
