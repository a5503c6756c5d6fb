//! How an engine begins: with a stop on entry, with a core file, in a terminal, or not at all.

use serde::Deserialize;

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Starting {
    pub entry: EntryStop,
    pub attached: AttachStop,
    pub symbols: Symbols,
    /// The arguments of a launch or attach with which it opens a core file.
    pub core: Vec<CoreWord>,
    /// How outputs begin that say why a program does not start.
    pub explains: Vec<String>,
    /// What the environment of a program in a terminal says otherwise than the engine asks for.
    pub terminal_words: Vec<TerminalWord>,
}

/// How an engine is made to stop before the program's first line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EntryStop {
    /// `stopOnEntry` in the launch means what it says.
    #[default]
    Native,
    /// The engine knows it under another key.
    Key(String),
    /// A breakpoint of the hub's own on this function, which no client sees (delve). `{{launch.KEY}}` in it is that
    /// argument of the launch.
    Function(String),
    /// `stopOnEntry` would stop the engine in what loads the program (lldb). These commands in its own language, in front of
    /// whatever a client has under that key, make a breakpoint where the program itself begins.
    Commands { key: String, run: Vec<String> },
    /// The engine stops first if it is asked to `attach` and not to `launch` (rdbg).
    ByAttach,
    /// The engine stops first if it is asked to `pause` before it is let go (CMake).
    Pause,
    /// Something that the program's own runtime loads stops it (Node.js).
    Preload(Preload),
}

/// How a program that is attached to comes to stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttachStop {
    /// `attach` means what it says.
    #[default]
    Native,
    /// The engine stops it when somebody connects. Asked to `attach` as well, it says so twice, and stops it once more when
    /// it is let go (rdbg 1.4): that is asked only of one that stood before.
    ByConnecting,
}

/// What an engine says of a program that has no debug symbols.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Symbols {
    /// What there is to say, or it needs none.
    #[default]
    ItsBusiness,
    /// Nothing: breakpoints in its source wait for ever.
    MissedSilently,
}

/// A script that the program's own runtime loads before the program. What it does is its own business.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preload {
    /// The variable of the program's environment that has the runtime's options.
    pub variable: String,
    /// The option that loads the script, with `{{file}}` for its path in quotes; a session is told the path itself.
    pub option: String,
    /// The variable that names the program to the script.
    pub program: String,
    /// Launch arguments with which none of that reaches the program.
    #[serde(default)]
    pub unless: Vec<String>,
    /// The last part of the file's name.
    pub file: String,
    pub script: String,
}

/// An argument of a launch or attach that means a core file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoreWord {
    pub key: String,
    /// What has to be said in it; without this it is enough that it is there.
    #[serde(default)]
    pub says: Option<String>,
}

/// A part of a variable's value, and what is there in its place.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TerminalWord {
    pub variable: String,
    pub says: String,
    pub instead: String,
}
