//! What to put into the configuration of each agent's client, ready to be copied.
//!
//! Every client has its own words for the same two facts: which program to start, or which address to ask and what to
//! bring. The token itself is never printed: what is printed may end up in a repository.

use std::net::SocketAddr;

use serde_json::{Value, json};

/// Whence clients take the token where they can.
const VARIABLE: &str = "BREAKROOM_TOKEN";
/// Where the server is, below its address.
const PATH: &str = crate::protocol::http::PATH;

/// Which client's configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    VsCode,
    Codex,
    Gemini,
    Zed,
    Windsurf,
    OpenCode,
    Copilot,
    Qwen,
    Cline,
}

/// How a client comes to the door.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// It starts this program, with these arguments.
    Program { path: String, args: Vec<String> },
    /// It asks at this address, where the program listens that was started with these.
    Http { address: SocketAddr, args: Vec<String> },
}

impl Client {
    pub const ALL: [Client; 12] = [
        Client::ClaudeCode,
        Client::ClaudeDesktop,
        Client::Cursor,
        Client::VsCode,
        Client::Codex,
        Client::Gemini,
        Client::Zed,
        Client::Windsurf,
        Client::OpenCode,
        Client::Copilot,
        Client::Qwen,
        Client::Cline,
    ];

    /// What it is called on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Client::ClaudeCode => "claude-code",
            Client::ClaudeDesktop => "claude-desktop",
            Client::Cursor => "cursor",
            Client::VsCode => "vscode",
            Client::Codex => "codex",
            Client::Gemini => "gemini",
            Client::Zed => "zed",
            Client::Windsurf => "windsurf",
            Client::OpenCode => "opencode",
            Client::Copilot => "copilot",
            Client::Qwen => "qwen",
            Client::Cline => "cline",
        }
    }

    pub fn of_word(word: &str) -> Option<Client> {
        Client::ALL.into_iter().find(|client| client.word() == word)
    }

    /// Its name, and where its configuration is.
    fn place(self) -> (&'static str, &'static str) {
        match self {
            Client::ClaudeCode => ("Claude Code", ".mcp.json in the project"),
            Client::ClaudeDesktop => ("Claude Desktop", "claude_desktop_config.json"),
            Client::Cursor => ("Cursor", "~/.cursor/mcp.json, or .cursor/mcp.json in the project"),
            Client::VsCode => ("VS Code", ".vscode/mcp.json in the project"),
            Client::Codex => ("Codex", "~/.codex/config.toml"),
            Client::Gemini => {
                ("Gemini CLI", "~/.gemini/settings.json, or .gemini/settings.json in the project")
            }
            Client::Zed => ("Zed", "settings.json"),
            Client::Windsurf => ("Windsurf", "~/.codeium/windsurf/mcp_config.json"),
            Client::OpenCode => {
                ("opencode", "opencode.json in the project, or ~/.config/opencode/opencode.json")
            }
            Client::Copilot => ("Copilot CLI", "~/.copilot/mcp-config.json"),
            Client::Qwen => ("Qwen Code", "~/.qwen/settings.json, or .qwen/settings.json in the project"),
            Client::Cline => ("Cline", "~/.cline/data/settings/cline_mcp_settings.json"),
        }
    }

    /// The command that writes the configuration, where the client has one. The variable stays one: what is written would
    /// have the token in it otherwise.
    fn command(self, way: &Way) -> Option<String> {
        let started =
            |path: &str, args: &[String]| words([path].into_iter().chain(args.iter().map(String::as_str)));
        let header = format!("--header 'Authorization: Bearer ${{{VARIABLE}}}'");
        Some(match (self, way) {
            (Client::ClaudeCode | Client::Codex | Client::Copilot, Way::Program { path, args }) => {
                format!("{} mcp add breakroom -- {}", self.program()?, started(path, args))
            }
            (Client::Gemini | Client::Qwen, Way::Program { path, args }) => {
                format!("{} mcp add breakroom {}", self.program()?, started(path, args))
            }
            (Client::Codex, Way::Http { address, .. }) => format!(
                "codex mcp add breakroom --url http://{address}{PATH} --bearer-token-env-var {VARIABLE}"
            ),
            (_, Way::Http { address, .. }) => format!(
                "{} mcp add --transport http breakroom http://{address}{PATH} {header}",
                self.program()?
            ),
            (_, Way::Program { .. }) => return None,
        })
    }

    /// The client itself, where it is a program with such a command.
    fn program(self) -> Option<&'static str> {
        match self {
            Client::ClaudeCode => Some("claude"),
            Client::Codex | Client::Gemini | Client::Copilot | Client::Qwen => Some(self.word()),
            _ => None,
        }
    }

    /// The content of its configuration. None: it cannot come this way.
    pub fn snippet(self, way: &Way) -> Option<String> {
        match way {
            Way::Program { path, args } => Some(self.started(path, args)),
            Way::Http { address, .. } => self.asking(&format!("http://{address}{PATH}")),
        }
    }

    fn started(self, program: &str, args: &[String]) -> String {
        let server = json!({"command": program, "args": args});
        let typed = json!({"type": "stdio", "command": program, "args": args});
        match self {
            Client::ClaudeCode => pretty(json!({"mcpServers": {"breakroom": typed}})),
            Client::ClaudeDesktop
            | Client::Cursor
            | Client::Gemini
            | Client::Windsurf
            | Client::Qwen
            | Client::Cline => pretty(json!({"mcpServers": {"breakroom": server}})),
            Client::Copilot => {
                let server = json!({"type": "local", "command": program, "args": args, "tools": ["*"]});
                pretty(json!({"mcpServers": {"breakroom": server}}))
            }
            Client::VsCode => pretty(json!({"servers": {"breakroom": typed}})),
            // Strings and lists of them are written in TOML as in JSON.
            Client::Codex => {
                format!("[mcp_servers.breakroom]\ncommand = {}\nargs = {}", json!(program), json!(args))
            }
            Client::Zed => pretty(json!({"context_servers": {"breakroom": server}})),
            Client::OpenCode => {
                let command: Vec<&str> =
                    [program].into_iter().chain(args.iter().map(String::as_str)).collect();
                let server = json!({"type": "local", "command": command, "enabled": true});
                pretty(json!({"$schema": "https://opencode.ai/config.json", "mcp": {"breakroom": server}}))
            }
        }
    }

    fn asking(self, url: &str) -> Option<String> {
        let with = |token: &str| json!({"Authorization": format!("Bearer {token}")});
        let variable = |prefix: &str| with(&format!("${{{prefix}{VARIABLE}}}"));
        Some(match self {
            Client::ClaudeCode => {
                let server = json!({"type": "http", "url": url, "headers": variable("")});
                pretty(json!({"mcpServers": {"breakroom": server}}))
            }
            // It only starts programs by itself.
            Client::ClaudeDesktop => return None,
            Client::Cursor => {
                pretty(json!({"mcpServers": {"breakroom": {"url": url, "headers": variable("env:")}}}))
            }
            Client::VsCode => {
                let asked = json!({"id": "breakroom-token", "type": "promptString", "password": true, "description": "Breakroom's token"});
                let server = json!({"type": "http", "url": url, "headers": with("${input:breakroom-token}")});
                pretty(json!({"inputs": [asked], "servers": {"breakroom": server}}))
            }
            Client::Codex => format!(
                "[mcp_servers.breakroom]\nurl = {}\nbearer_token_env_var = \"{VARIABLE}\"",
                json!(url)
            ),
            Client::Gemini | Client::Qwen => {
                pretty(json!({"mcpServers": {"breakroom": {"httpUrl": url, "headers": variable("")}}}))
            }
            Client::Copilot => {
                let server = json!({"type": "http", "url": url, "headers": variable(""), "tools": ["*"]});
                pretty(json!({"mcpServers": {"breakroom": server}}))
            }
            // These two take the words as they are.
            Client::Cline => {
                let server = json!({"type": "streamableHttp", "url": url, "headers": with("TOKEN")});
                pretty(json!({"mcpServers": {"breakroom": server}}))
            }
            Client::Zed => {
                pretty(json!({"context_servers": {"breakroom": {"url": url, "headers": with("TOKEN")}}}))
            }
            Client::Windsurf => {
                pretty(json!({"mcpServers": {"breakroom": {"serverUrl": url, "headers": variable("env:")}}}))
            }
            Client::OpenCode => {
                let headers = with(&format!("{{env:{VARIABLE}}}"));
                let server = json!({"type": "remote", "url": url, "headers": headers, "enabled": true});
                pretty(json!({"$schema": "https://opencode.ai/config.json", "mcp": {"breakroom": server}}))
            }
        })
    }
}

/// The snippets of all clients that can come this way. `token` is the file with the token.
pub fn print(way: &Way, token: &str) -> String {
    let mut text = String::new();
    if let Way::Http { args, .. } = way {
        let server = words(["breakroom"].into_iter().chain(args.iter().map(String::as_str)));
        let token = word(token);
        text.push_str(&format!(
            "# The server: {server}\n\
             # The token, which every request brings: export {VARIABLE}=\"$(cat {token})\"\n\n"
        ));
    }
    for client in Client::ALL {
        let (name, place) = client.place();
        let Some(snippet) = client.snippet(way) else { continue };
        text.push_str(&format!("# {name}: {place}\n"));
        if let Some(command) = client.command(way) {
            text.push_str(&format!("# or: {command}\n"));
        }
        text.push_str(&format!("{snippet}\n\n"));
    }
    if let Way::Program { .. } = way {
        text.push_str("# Over HTTP: breakroom mcp --print-config --http 127.0.0.1:8127\n");
    }
    text
}

fn pretty(value: Value) -> String {
    serde_json::to_string_pretty(&value).unwrap_or_default()
}

/// A line for a shell.
fn words<'a>(all: impl Iterator<Item = &'a str>) -> String {
    all.map(word).collect::<Vec<_>>().join(" ")
}

/// A word for a shell.
fn word(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+:".contains(letter);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ODD: &str = "/opt/my \"tools\"/it's\\here/breakroom";

    fn args(all: &[&str]) -> Vec<String> {
        all.iter().map(|arg| (*arg).to_owned()).collect()
    }

    fn ways() -> [Way; 2] {
        let address = SocketAddr::from(([127, 0, 0, 1], 8127));
        [
            Way::Program { path: ODD.to_owned(), args: args(&["mcp"]) },
            Way::Http { address, args: args(&["mcp", "--http", "127.0.0.1:8127"]) },
        ]
    }

    /// All texts in a value.
    fn texts(value: &Value) -> Vec<&str> {
        match value {
            Value::String(text) => vec![text],
            Value::Array(items) => items.iter().flat_map(texts).collect(),
            Value::Object(members) => members.values().flat_map(texts).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn every_snippet_can_be_read_and_names_the_program_or_the_address() {
        for (way, wanted) in ways().iter().zip([ODD, "http://127.0.0.1:8127/mcp"]) {
            for client in Client::ALL {
                let Some(snippet) = client.snippet(way) else { continue };
                let value: Value = match client {
                    Client::Codex => toml::from_str(&snippet).unwrap(),
                    _ => serde_json::from_str(&snippet).unwrap(),
                };
                assert!(texts(&value).contains(&wanted), "{}: {snippet}", client.word());
            }
        }
    }

    #[test]
    fn every_way_of_asking_brings_the_token() {
        let [_, http] = ways();
        let asking: Vec<_> = Client::ALL.into_iter().filter_map(|client| client.snippet(&http)).collect();
        assert_eq!(asking.len(), Client::ALL.len() - 1);
        for snippet in asking {
            assert!(snippet.contains("Bearer ") || snippet.contains("bearer_token_env_var"), "{snippet}");
        }
    }

    #[test]
    fn what_the_server_is_to_be_started_with_is_in_every_snippet_and_command() {
        let all = args(&["mcp", "--as", "the \"agent\"", "--show-secrets"]);
        let way = Way::Program { path: ODD.to_owned(), args: all.clone() };
        for client in Client::ALL {
            let snippet = client.snippet(&way).unwrap();
            let value: Value = match client {
                Client::Codex => toml::from_str(&snippet).unwrap(),
                _ => serde_json::from_str(&snippet).unwrap(),
            };
            let texts = texts(&value);
            assert!(texts.windows(all.len()).any(|part| part == all), "{}: {snippet}", client.word());
            let command = client.command(&way).unwrap_or_default();
            let ends = "mcp --as 'the \"agent\"' --show-secrets";
            assert!(command.is_empty() || command.ends_with(ends), "{command}");
        }
    }

    #[test]
    fn what_is_to_be_typed_is_quoted_for_a_shell() {
        let [_, http] = ways();
        let text = print(&http, "/run/my user/breakroom/token");
        assert!(text.starts_with("# The server: breakroom mcp --http 127.0.0.1:8127\n"), "{text}");
        assert!(text.contains("\"$(cat '/run/my user/breakroom/token')\""), "{text}");
    }

    #[test]
    fn clients_are_known_by_their_words() {
        for client in Client::ALL {
            assert_eq!(Client::of_word(client.word()), Some(client));
        }
        assert_eq!(Client::of_word("ed"), None);
    }

    #[test]
    fn a_command_has_the_program_as_one_word() {
        let [program, _] = ways();
        let command = Client::ClaudeCode.command(&program).unwrap();
        assert_eq!(command, "claude mcp add breakroom -- '/opt/my \"tools\"/it'\\''s\\here/breakroom' mcp");
        assert_eq!(word("/usr/bin/breakroom"), "/usr/bin/breakroom");
        let [_, http] = ways();
        for client in Client::ALL {
            let command = client.command(&http).unwrap_or_default();
            let names_it = command.contains("'Authorization: Bearer ${BREAKROOM_TOKEN}'");
            assert!(command.is_empty() || names_it || command.ends_with("BREAKROOM_TOKEN"), "{command}");
        }
    }
}
