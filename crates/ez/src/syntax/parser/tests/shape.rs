//! A tree as one line of text, for tables of tests. Checks on the way that every part lies inside of what holds it.

use crate::source::Span;
use crate::syntax::ast::*;

pub fn file(tree: &File, text: &str) -> String {
    let all = Span { file: tree.id, start: 0, end: text.len() as u32 };
    let module = tree.module.iter().map(|name| format!("module {}", name.text));
    let suppress = tree.suppress.iter().map(|name| format!("suppress {}", name.text));
    let imports = tree.imports.iter().map(|import| {
        inside(import.span, all);
        let alias = import.alias.as_ref().map_or(String::new(), |name| format!("{} = ", name.text));
        let and_use = if import.and_use { " & use" } else { "" };
        match &import.from {
            ImportFrom::Library(name) => format!("import{and_use} {alias}@{}", name.text),
            ImportFrom::Path { path, .. } => format!("import{and_use} {alias}{path:?}"),
        }
    });
    let using = tree.using.iter().map(|name| format!("using {}", name.text));
    let items = tree.items.iter().map(|entry| item(entry, all));
    let parts: Vec<String> = module.chain(suppress).chain(imports).chain(using).chain(items).collect();
    parts.join("; ")
}

fn item(item: &Item, outer: Span) -> String {
    inside(item.span, outer);
    let private = if item.visibility == Visibility::Private { "private " } else { "" };
    let text = match &item.kind {
        ItemKind::Function(function) => {
            let parameters: Vec<String> =
                function.parameters.iter().map(|it| parameter(it, item.span)).collect();
            let results = list(&function.results, kind);
            let suppress: Vec<&str> = function.suppress.iter().map(|name| &*name.text).collect();
            let suppress =
                if suppress.is_empty() { String::new() } else { format!("#{} ", suppress.join(",")) };
            let body = block(&function.body, item.span);
            format!("{suppress}do {}({}) -> ({results}) {body}", function.name.text, parameters.join(", "))
        }
        ItemKind::Struct(declared) => {
            let fields = list(&declared.fields, |field| {
                let tag = field.tag.as_ref().map_or(String::new(), |tag| format!(" `{tag}`"));
                format!("{} {}{tag}", field.name.text, kind(&field.kind))
            });
            format!("struct {} {{{fields}}}", declared.name.text)
        }
        ItemKind::Enum(declared) => {
            let members = list(&declared.members, |(name, value)| match value {
                Some(value) => format!("{} = {}", name.text, expr(value, item.span)),
                None => name.text.to_string(),
            });
            let base = declared.base.as_ref().map_or(String::new(), |base| format!(": {} ", kind(base)));
            let flags = if declared.flags { "#flags " } else { "" };
            format!("{flags}enum {} {base}{{{members}}}", declared.name.text)
        }
        ItemKind::Variables(declared) => declaration(declared, item.span),
    };
    format!("{private}{text}")
}

fn parameter(parameter: &Parameter, outer: Span) -> String {
    let reference = if parameter.passing == Passing::Reference { "&" } else { "" };
    let default =
        parameter.default.as_ref().map_or(String::new(), |value| format!(" = {}", expr(value, outer)));
    format!("{reference}{} {}{default}", parameter.name.text, kind(&parameter.kind))
}

fn declaration(declared: &Declaration, outer: Span) -> String {
    inside(declared.span, outer);
    let word = if declared.mutability == Mutability::Temp { "temp" } else { "const" };
    let bindings = list(&declared.bindings, |binding| {
        inside(binding.span, declared.span);
        let name = binding.name.as_ref().map_or("_", |name| &name.text);
        binding.kind.as_ref().map_or(name.to_owned(), |it| format!("{name} {}", kind(it)))
    });
    let value =
        declared.value.as_ref().map_or(String::new(), |value| format!(" = {}", expr(value, declared.span)));
    format!("{word} {bindings}{value}")
}

fn block(block: &Block, outer: Span) -> String {
    inside(block.span, outer);
    let statements: Vec<String> = block.statements.iter().map(|it| statement(it, block.span)).collect();
    format!("{{{}}}", statements.join("; "))
}

pub fn statement(statement: &Statement, outer: Span) -> String {
    let span = statement.span;
    inside(span, outer);
    let value = |value: &Expr| expr(value, span);
    match &statement.kind {
        StatementKind::Declare(declared) => declaration(declared, span),
        StatementKind::Assign { targets, operator, value: assigned } => {
            let targets = list(targets, |target| target.as_ref().map_or("_".to_owned(), value));
            let operator = operator.map_or("", BinaryOperator::symbol);
            format!("{targets} {operator}= {}", value(assigned))
        }
        StatementKind::Expr(expression) => value(expression),
        StatementKind::If { arms, otherwise } => {
            let arms: Vec<String> = arms
                .iter()
                .map(|arm| {
                    inside(arm.span, span);
                    format!("{} {}", expr(&arm.condition, arm.span), block(&arm.body, arm.span))
                })
                .collect();
            let otherwise =
                otherwise.as_ref().map_or(String::new(), |it| format!(" otherwise {}", block(it, span)));
            format!("if {}{otherwise}", arms.join(" or "))
        }
        StatementKind::When { subject, cases, default, strict } => {
            let cases: String = cases
                .iter()
                .map(|case| {
                    inside(case.span, span);
                    format!(" is {} {}", list(&case.values, value), block(&case.body, case.span))
                })
                .collect();
            let default =
                default.as_ref().map_or(String::new(), |it| format!(" default {}", block(it, span)));
            let strict = if *strict { "#strict " } else { "" };
            format!("{strict}when {}{cases}{default}", value(subject))
        }
        StatementKind::For { variable, kind: declared, range, body } => {
            let declared = declared.as_ref().map_or(String::new(), |it| format!(" {}", kind(it)));
            format!("for {}{declared} in {} {}", loopable(variable), value(range), block(body, span))
        }
        StatementKind::ForEach { variable, over, body } => {
            format!("for_each {} in {} {}", loopable(variable), value(over), block(body, span))
        }
        StatementKind::AsLongAs { condition, body } => {
            format!("as_long_as {} {}", value(condition), block(body, span))
        }
        StatementKind::Loop { body } => format!("loop {}", block(body, span)),
        StatementKind::Break => "break".to_owned(),
        StatementKind::Continue => "continue".to_owned(),
        StatementKind::Return(values) => format!("return {}", list(values, value)),
        StatementKind::Ensure(call) => format!("ensure {}", value(call)),
        StatementKind::Using(names) => format!("using {}", list(names, |name| name.text.to_string())),
    }
}

fn loopable(variable: &Loopable) -> &str {
    variable.as_ref().map_or("_", |name| &name.text)
}

pub fn kind(it: &TypeExpr) -> String {
    match &it.kind {
        TypeKind::Named { module: Some(module), name } => format!("{}.{}", module.text, name.text),
        TypeKind::Named { module: None, name } => name.text.to_string(),
        TypeKind::Array(element) => format!("[{}]", kind(element)),
        TypeKind::Fixed(element, length) => format!("[{}, {}]", kind(element), expr(length, it.span)),
        TypeKind::Map(key, value) => format!("map[{}:{}]", kind(key), kind(value)),
    }
}

fn expr(expression: &Expr, outer: Span) -> String {
    let span = expression.span;
    inside(span, outer);
    let sub = |part: &Expr| expr(part, span);
    match &expression.kind {
        ExprKind::Int(number) => number.to_string(),
        ExprKind::Float(number) => format!("{number:?}"),
        ExprKind::Text(text) => format!("{text:?}"),
        ExprKind::Template(parts) => {
            let parts = list(parts, |part| match part {
                TemplatePart::Text(text) => format!("{text:?}"),
                TemplatePart::Expr(part) => sub(part),
            });
            format!("template({parts})")
        }
        ExprKind::Char(character) => format!("{character:?}"),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Nil => "nil".to_owned(),
        ExprKind::Name(name) => name.text.to_string(),
        ExprKind::Member(base, name) => format!("{}.{}", sub(base), name.text),
        ExprKind::Index(base, index) => format!("{}[{}]", sub(base), sub(index)),
        ExprKind::Call(function, arguments) => format!("{}({})", sub(function), list(arguments, sub)),
        ExprKind::StructLiteral { module, name, fields } => {
            let module = module.as_ref().map_or(String::new(), |name| format!("{}.", name.text));
            let fields = list(fields, |(name, value)| format!("{}: {}", name.text, sub(value)));
            format!("{module}{}{{{fields}}}", name.text)
        }
        ExprKind::New(it) => format!("new({})", kind(it)),
        ExprKind::Array(elements) => format!("array({})", list(elements, sub)),
        ExprKind::Map(entries) => {
            format!("map({})", list(entries, |(key, value)| format!("{}: {}", sub(key), sub(value))))
        }
        ExprKind::EmptyBraces => "{}".to_owned(),
        ExprKind::Range(arguments) => format!("range({})", list(arguments, sub)),
        ExprKind::Cast(value, it) => format!("cast({}, {})", sub(value), kind(it)),
        ExprKind::Ref(target) => format!("ref({})", sub(target)),
        ExprKind::Not(operand) => format!("(! {})", sub(operand)),
        ExprKind::Negate(operand) => format!("(- {})", sub(operand)),
        ExprKind::Binary(operator, left, right) => {
            format!("({} {} {})", sub(left), operator.symbol(), sub(right))
        }
        ExprKind::Step(target, by) => {
            format!("({}{})", sub(target), if *by == StepBy::Up { "++" } else { "--" })
        }
    }
}

fn list<T>(all: &[T], shape: impl Fn(&T) -> String) -> String {
    all.iter().map(shape).collect::<Vec<_>>().join(", ")
}

fn inside(inner: Span, outer: Span) {
    let fits = outer.start <= inner.start && inner.start <= inner.end && inner.end <= outer.end;
    assert!(fits, "{inner:?} is not inside of {outer:?}");
}
