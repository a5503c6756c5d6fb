//! Several programs fit: the one that was asked for, the only one, or the list of what to type.

use crate::failure::Failure;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// What is typed to mean it.
    pub name: String,
    pub what: String,
}

/// Where the one that is meant stands. `whose` begins the sentence, such as `/x has`.
pub fn pick(choices: Vec<Choice>, wanted: Option<&str>, whose: &str) -> Result<usize, Failure> {
    let list = || {
        let widest = choices.iter().map(|choice| choice.name.len()).max().unwrap_or_default();
        let line = |choice: &Choice| format!("\n  {:widest$}  {}", choice.name, choice.what);
        choices.iter().map(line).collect::<String>()
    };
    match (wanted, choices.len()) {
        (None, 1) => Ok(0),
        (_, 0) => Err(Failure::said(format!("{whose} no program that could be started."))),
        (None, _) => Err(Failure::said(format!(
            "{whose} several programs; say which with --target NAME before the path (in a launch: \"breakroom\": {{\"target\": NAME}}):{}",
            list()
        ))),
        (Some(wanted), _) => choices
            .iter()
            .position(|choice| choice.name == wanted)
            .ok_or_else(|| Failure::said(format!("{whose} no program `{wanted}`; there are:{}", list()))),
    }
}
