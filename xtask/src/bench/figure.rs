//! One figure: what was measured, what it should be, and what it was compared with.

use serde_json::{Map, Value, json};

pub struct Figure {
    pub id: String,
    value: f64,
    unit: &'static str,
    target: Target,
    compared: Map<String, Value>,
}

pub enum Target {
    AtMost(f64),
    AtLeast(f64),
    /// Printed so that a change is noticed.
    None,
}

impl Figure {
    pub fn new(id: impl Into<String>, value: f64, unit: &'static str, target: Target) -> Self {
        Figure { id: id.into(), value, unit, target, compared: Map::new() }
    }

    /// Adds what the figure was computed from or is to be seen beside.
    pub fn beside(mut self, name: &str, value: f64) -> Self {
        self.compared.insert(name.to_owned(), rounded(value).into());
        self
    }

    /// Adds how it was counted.
    pub fn counting(mut self, how: &str) -> Self {
        self.compared.insert("counting".to_owned(), how.into());
        self
    }

    fn met(&self) -> Option<bool> {
        match self.target {
            Target::AtMost(most) => Some(self.value <= most),
            Target::AtLeast(least) => Some(self.value >= least),
            Target::None => None,
        }
    }

    fn target(&self) -> Option<String> {
        match self.target {
            Target::AtMost(most) => Some(format!("<= {}", rounded(most))),
            Target::AtLeast(least) => Some(format!(">= {}", rounded(least))),
            Target::None => None,
        }
    }

    pub fn to_json(&self) -> Value {
        json!({
            "id": self.id,
            "value": rounded(self.value),
            "unit": self.unit,
            "target": self.target(),
            "met": self.met(),
            "compared": self.compared,
        })
    }
}

/// For people.
pub fn table(figures: &[Figure]) -> String {
    let mut lines = vec![format!("{:34} {:>12} {:10} {:>12}  compared", "figure", "value", "unit", "target")];
    for figure in figures {
        let mark = match figure.met() {
            Some(true) => "ok  ",
            Some(false) => "MISS",
            None => "    ",
        };
        let compared: Vec<String> = figure
            .compared
            .iter()
            .filter(|(_, value)| value.is_number())
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        lines.push(format!(
            "{:34} {:>12} {:10} {:>12}  {mark} {}",
            figure.id,
            rounded(figure.value),
            figure.unit,
            figure.target().unwrap_or_default(),
            compared.join(", ")
        ));
    }
    lines.join("\n")
}

/// Three digits behind the point for small values, none for large ones: more would pretend.
fn rounded(value: f64) -> f64 {
    let scale = if value.abs() < 100.0 { 1000.0 } else { 1.0 };
    (value * scale).round() / scale
}
