//! The protocol's side of the door: what it can do, the calls, and stdio as the way in.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorCode, GetPromptRequestParams,
    GetPromptResponse, Implementation, InitializeRequestParams, InitializeResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool, ToolAnnotations,
    UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{ErrorData, ServerHandler, ServiceExt};
use serde_json::Value;

use crate::Setup;
use crate::door::{Caller, Door};
use crate::protocol::prompts;
use crate::protocol::resources::{self, Subscriptions};
use crate::protocol::stdin::{Stdin, Watched};
use crate::protocol::stdio::Stdio;
use crate::telling::budget::Forms;
use crate::telling::reply::Rendered;
use crate::tools::{TOOLS, output_schema};

const INSTRUCTIONS: &str = "A debugger for every language, in sessions that you may share with people. \
    debugger_start runs a program with breakpoints and returns the first stop with source, variables, stack and output; \
    then debugger_step, debugger_continue, debugger_evaluate. debugger_script does many steps in one call. \
    Waiting calls answer state=running after wait_ms: go on with debugger_wait. End with debugger_stop. \
    debugger_get_session lists sessions; debugger_attach joins a person's.";

/// Clients that get the text alone, by how the names begin that they introduce themselves with. Most would show a model the
/// data instead of it, or both: the source, what was printed and what to do next are nowhere else. Gemini CLI (seen in 0.61)
/// and opencode (1.18) drop the data, for which half of the room would be left.
const TEXT_ALONE: [&str; 7] = [
    "@cline/core",
    "claude-code",
    "codex-mcp-client",
    "copilot-cli",
    "gemini-cli",
    "opencode",
    "Visual Studio Code",
];

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("no signals can be heard: {0}")]
    Signals(std::io::Error),
}

/// One connection of an agent's.
#[derive(Clone)]
pub struct Server {
    door: Arc<Door>,
    subscriptions: Arc<Subscriptions>,
}

/// Serves the agent at stdin and stdout until it goes. Its programs end with it.
pub async fn serve_stdio(setup: Setup) -> Result<(), ServeError> {
    let door = Door::new(setup);
    let ended = crate::protocol::http::told_to_end().map_err(ServeError::Signals)?;
    let (stdin, stdout) = rmcp::transport::io::stdio_pipes();
    let Watched { stdin, ended: gone, complaints } = Stdin::watch(stdin);
    let transport = Stdio::new(AsyncRwTransport::new_server(stdin, stdout), complaints);
    let serving = async {
        match Server::new(door.clone()).serve(transport).await {
            Ok(service) => drop(service.waiting().await),
            // Whoever was there has gone before it said anything, or speaks something else.
            Err(error) => tracing::info!("no agent: {error}"),
        }
    };
    tokio::pin!(serving);
    tokio::select! {
        () = &mut serving => {}
        () = ended => {}
        // Whoever only has nothing more to ask still gets its answers; with the sessions, nothing is waited for any more.
        () = gone.cancelled() => drop(tokio::join!(door.leave(), serving)),
    }
    door.leave().await;
    Ok(())
}

impl Server {
    pub fn new(door: Arc<Door>) -> Server {
        Server { door, subscriptions: Arc::default() }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .build();
        InitializeResult::new(capabilities)
            .with_server_info(
                Implementation::new("breakroom", env!("CARGO_PKG_VERSION")).with_title("Breakroom"),
            )
            .with_instructions(INSTRUCTIONS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut result = self.negotiate_initialize(&request)?;
        // Whoever shakes hands has no way to ask for it, and many clients list everything again whenever they are told.
        if let Some(resources) = &mut result.capabilities.resources {
            resources.list_changed = None;
        }
        Ok(result)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(listed(forms(&context)))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let forms = forms(&context);
        let caller =
            Caller { progress: progress(&context), given_up: context.ct.clone(), forms, until: None };
        let given = request.arguments.unwrap_or_default();
        match self.door.call(&request.name, given, caller).await {
            Some(rendered) => Ok(result(rendered, forms).into()),
            None => {
                let text = format!("there is no tool `{}`", request.name);
                Err(ErrorData::new(ErrorCode::INVALID_PARAMS, text, None))
            }
        }
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(prompts::list())
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&request)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(resources::list(&self.door))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::read(&self.door, &request.uri).await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        resources::subscribe(&self.door, &self.subscriptions, request.uri, context.peer)
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.end(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(resources::accepted(&self.door, requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        resources::listen(&self.door, context).await;
        Ok(())
    }
}

/// The tools as a client reads them. Whoever is told of data insists on them.
pub fn listed(forms: Forms) -> ListToolsResult {
    let output = (forms == Forms::TextAndData).then(|| Arc::new(output_schema()));
    let tool = |tool: &crate::tools::Tool| {
        let mut listed = Tool::new(tool.name, Cow::Borrowed(tool.about), Arc::new(tool.input_schema()));
        listed.output_schema = output.clone();
        if tool.only_reads {
            let mut annotations = ToolAnnotations::new();
            annotations.read_only_hint = Some(true);
            listed.annotations = Some(annotations);
        }
        listed
    };
    ListToolsResult::with_all_items(TOOLS.iter().map(tool).collect())
}

fn forms(context: &RequestContext<RoleServer>) -> Forms {
    let client = context.client_info();
    match client.is_some_and(|client| TEXT_ALONE.iter().any(|name| client.name.starts_with(name))) {
        true => Forms::TextAlone,
        false => Forms::TextAndData,
    }
}

fn result(rendered: Rendered, forms: Forms) -> CallToolResult {
    let Rendered { text, data, is_error } = rendered;
    let content = vec![ContentBlock::text(text)];
    let mut result = match is_error {
        true => CallToolResult::error(content),
        false => CallToolResult::success(content),
    };
    result.structured_content = (forms == Forms::TextAndData).then_some(Value::Object(data));
    result
}

/// How the caller hears how far a call is, if it asked for that.
fn progress(context: &RequestContext<RoleServer>) -> Option<Arc<dyn Fn(String) + Send + Sync>> {
    let token = context.meta.get_progress_token()?;
    let peer = context.peer.clone();
    let count = AtomicU64::new(0);
    Some(Arc::new(move |message| {
        let step = count.fetch_add(1, Ordering::Relaxed) + 1;
        let told = ProgressNotificationParam::new(token.clone(), step as f64).with_message(message);
        let peer = peer.clone();
        tokio::spawn(async move {
            // Whoever does not hear it hears the answer.
            let _ = peer.notify_progress(told).await;
        });
    }))
}
