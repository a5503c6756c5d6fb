//! What stands at the level of the file: imports, functions, types, variables.

mod declarations;

use super::statements::count_brackets;
use super::{Diagnostic, Mark, Parsed, Parser, Rc, Span, TokenKind, Told, Word};
use crate::source::FileId;
use crate::syntax::ast::{File, Import, ImportFrom, Item, ItemKind, Mutability, Name, TypeExpr, Visibility};

/// What stands before an item.
#[derive(Default)]
struct Attributes {
    suppress: Vec<Name>,
    base: Option<TypeExpr>,
    flags: Option<Span>,
    /// Of the first one.
    span: Option<Span>,
}

impl Attributes {
    fn any(&self) -> bool {
        !self.suppress.is_empty() || self.base.is_some() || self.flags.is_some()
    }
}

/// Words that begin something at the level of the file.
const ITEM_WORDS: &[Word] =
    &[Word::Do, Word::Private, Word::Import, Word::Using, Word::Const, Word::Temp, Word::Module];

impl Parser<'_> {
    pub(super) fn file(&mut self, id: FileId) -> File {
        let mut file = File {
            id,
            module: None,
            imports: Vec::new(),
            using: Vec::new(),
            items: Vec::new(),
            suppress: Vec::new(),
        };
        loop {
            self.skip_semicolons();
            if self.at_end() {
                return file;
            }
            let from = self.at;
            self.brace_told = false;
            self.translate();
            self.first = self.at;
            self.item_column = self.columns.of(self.span());
            if self.file_part(&mut file).is_err() {
                self.recover_item(from);
            }
        }
    }

    fn recover_item(&mut self, from: usize) {
        if self.at == from {
            self.advance();
        }
        let (mut braces, mut others) = self.open_since(from);
        while !self.at_end() && !self.missing_brace_shows() {
            let token = self.token();
            let item = match token.kind {
                TokenKind::Word(word) => ITEM_WORDS.contains(&word),
                TokenKind::Mark(Mark::Hash) => true,
                _ => self.at_foreign_item(),
            };
            if item && braces == 0 && token.begins_line {
                return;
            }
            count_brackets(&token.kind, &mut braces, &mut others);
            self.advance();
        }
    }

    /// An item that is somewhere it should not be. Its column is that of the item around it, or the end of the outer one
    /// would be taken for a missing brace.
    pub(super) fn skip_item(&mut self) {
        let from = self.at;
        let mut nowhere = File {
            id: self.span().file,
            module: None,
            imports: vec![],
            using: vec![],
            items: vec![],
            suppress: vec![],
        };
        if self.file_part(&mut nowhere).is_err() && self.at == from {
            self.advance();
        }
    }

    fn file_part(&mut self, file: &mut File) -> Parsed<()> {
        match *self.kind() {
            TokenKind::Word(Word::Module) => self.module_line(file),
            TokenKind::Word(Word::Import) => self.import(file),
            TokenKind::Word(Word::Using) => {
                let names = self.using()?;
                file.using.extend(names);
                Ok(())
            }
            TokenKind::Mark(Mark::Hash) => {
                let attributes = self.attributes()?;
                self.attributed(file, attributes)
            }
            TokenKind::Word(Word::Private | Word::Do | Word::Const | Word::Temp) => {
                self.item(file, Attributes::default())
            }
            TokenKind::Word(word @ (Word::Struct | Word::Enum)) => Err(self.misplaced_type(word)),
            TokenKind::Mark(mark @ (Mark::RightBrace | Mark::RightParenthesis | Mark::RightBracket)) => {
                let message = format!("nothing was opened that this `{}` closes", mark.text());
                self.tell(
                    Diagnostic::error("E2006", self.span(), message)
                        .help("leave it out, or look for it above"),
                );
                self.advance();
                Err(Told)
            }
            TokenKind::Wrong => Err(Told),
            _ => {
                let message = "only declarations can stand outside of functions";
                let help = "put statements into `do main() { ... }`";
                self.tell(Diagnostic::error("E2010", self.span(), message).help(help));
                Err(Told)
            }
        }
    }

    /// `struct Name {` in place of `const Name struct {`
    pub(super) fn misplaced_type(&mut self, word: Word) -> Told {
        let name = match &self.ahead(1).kind {
            TokenKind::Name(name) => Rc::clone(name),
            _ => Rc::from("Name"),
        };
        let message = format!("the name of a type stands before `{}`", word.text());
        let help = format!("write `const {name} {} {{` outside of functions", word.text());
        self.tell(Diagnostic::error("E2010", self.span(), message).help(help));
        Told
    }

    fn module_line(&mut self, file: &mut File) -> Parsed<()> {
        let span = self.span();
        self.advance();
        let name = self.name("the name of the module")?;
        let late = file.module.is_some() || !file.imports.is_empty() || !file.items.is_empty();
        if late {
            let message = "the `module` line comes first in its file, and once";
            self.tell(Diagnostic::error("E2024", span, message).help("move it to the top"));
        }
        file.module.get_or_insert(name);
        Ok(())
    }

    fn import(&mut self, file: &mut File) -> Parsed<()> {
        self.advance();
        let and_use = self.take_mark(Mark::Ampersand);
        if and_use && !self.take_word(Word::Use) {
            return Err(self.expected("E2024", "`use` behind `import &`", Some("write `import & use @std`")));
        }
        loop {
            let start = self.span();
            let alias =
                if matches!(self.kind(), TokenKind::Name(_)) { Some(self.name("a name")?) } else { None };
            let span = self.span();
            let from = match self.kind() {
                TokenKind::Mark(Mark::At) => {
                    self.advance();
                    ImportFrom::Library(self.name("the name of a module")?)
                }
                TokenKind::Text(path) => {
                    let path = Rc::clone(path);
                    self.advance();
                    ImportFrom::Path { path, span }
                }
                _ => return Err(self.no_import(alias)),
            };
            file.imports.push(Import { alias, from, and_use, span: start.to(self.last_span()) });
            if !self.take_mark(Mark::Comma) {
                return Ok(());
            }
        }
    }

    /// A name alone is most likely a standard module.
    fn no_import(&mut self, name: Option<Name>) -> Told {
        let Some(name) = name else {
            let help = "write `import @std`, or `import \"./path\"`";
            return self.expected("E2024", "`@` or a path in quotes", Some(help));
        };
        let message = format!("`{}` is neither a standard module nor a path", name.text);
        let help = format!("write `import @{0}`, or `import \"./{0}\"` for a file", name.text);
        self.tell(Diagnostic::error("E2024", name.span, message).help(help));
        Told
    }

    pub(super) fn using(&mut self) -> Parsed<Vec<Name>> {
        self.advance();
        if self.at_mark(Mark::At) {
            return Err(self.expected(
                "E2024",
                "the name of a module",
                Some("write `using std`, without `@`"),
            ));
        }
        let mut names = vec![self.name("the name of a module")?];
        while self.take_mark(Mark::Comma) {
            names.push(self.name("the name of a module")?);
        }
        Ok(names)
    }

    fn attributes(&mut self) -> Parsed<Attributes> {
        let mut attributes = Attributes::default();
        while self.at_mark(Mark::Hash) {
            let hash = self.span();
            self.advance();
            attributes.span.get_or_insert(hash.to(self.span()));
            let name: Rc<str> = match self.kind() {
                TokenKind::Name(name) => Rc::clone(name),
                TokenKind::Word(Word::Enum) => Rc::from("enum"),
                _ => return Err(self.wrong_attribute(hash)),
            };
            match &*name {
                "suppress" => {
                    self.advance();
                    self.expect_mark(Mark::LeftParenthesis, "behind `#suppress`")?;
                    attributes.suppress.push(self.name("the code of a warning")?);
                    while self.another(Mark::RightParenthesis)? {
                        attributes.suppress.push(self.name("the code of a warning")?);
                    }
                }
                "enum" => {
                    self.advance();
                    self.expect_mark(Mark::LeftParenthesis, "behind `#enum`")?;
                    attributes.base = Some(self.type_expr()?);
                    self.expect_mark(Mark::RightParenthesis, "behind the type")?;
                }
                "flags" => {
                    attributes.flags = Some(hash.to(self.span()));
                    self.advance();
                }
                _ => return Err(self.wrong_attribute(hash)),
            }
        }
        Ok(attributes)
    }

    /// Attributes stand before an item, except for those of the whole file.
    fn attributed(&mut self, file: &mut File, mut attributes: Attributes) -> Parsed<()> {
        let function = self.at_word(Word::Do)
            || self.at_word(Word::Private) && self.ahead(1).kind == TokenKind::Word(Word::Do);
        if !function && file.items.is_empty() {
            file.suppress.append(&mut attributes.suppress);
        }
        let item =
            matches!(self.kind(), TokenKind::Word(Word::Private | Word::Do | Word::Const | Word::Temp));
        if item {
            return self.item(file, attributes);
        }
        if attributes.any() {
            self.misplaced_attribute(attributes.span);
        }
        Ok(())
    }

    /// At the name of an attribute that does not belong here.
    pub(super) fn wrong_attribute(&mut self, hash: Span) -> Told {
        let span = hash.to(self.span());
        let message = match self.kind() {
            TokenKind::Name(name) => format!("`#{name}` means nothing here"),
            _ => "`#` means nothing here".to_owned(),
        };
        let help = "there are #strict before `when`, #suppress(W...) before a function or at the top of the file, \
                    #enum(type) and #flags before an enum";
        self.tell(Diagnostic::error("E2017", span, message).help(help));
        Told
    }

    fn misplaced_attribute(&mut self, span: Option<Span>) {
        let span = span.unwrap_or(self.span());
        let message = "this attribute does not belong to what follows";
        let help =
            "#suppress stands before a function or at the top of the file, #enum and #flags before an enum";
        self.tell(Diagnostic::error("E2017", span, message).help(help));
    }

    fn item(&mut self, file: &mut File, attributes: Attributes) -> Parsed<()> {
        let visibility = if self.take_word(Word::Private) { Visibility::Private } else { Visibility::Public };
        self.translate();
        let start = self.span();
        let wrong = match self.kind() {
            TokenKind::Word(Word::Do) => attributes.base.is_some() || attributes.flags.is_some(),
            _ if self.declares_enum() => !attributes.suppress.is_empty(),
            _ => attributes.any(),
        };
        if wrong {
            self.misplaced_attribute(attributes.span);
        }
        let kind = match self.kind() {
            TokenKind::Word(Word::Do) => ItemKind::Function(self.function(attributes.suppress)?),
            TokenKind::Word(Word::Const) if self.declares_enum() => {
                ItemKind::Enum(self.enumeration(attributes.base, attributes.flags.is_some())?)
            }
            TokenKind::Word(Word::Const) if self.declares_type() => ItemKind::Struct(self.structure()?),
            TokenKind::Word(Word::Const) => ItemKind::Variables(self.declaration(Mutability::Const)?),
            TokenKind::Word(Word::Temp) => ItemKind::Variables(self.declaration(Mutability::Temp)?),
            _ => return Err(self.expected("E2001", "`do`, `const` or `temp` behind `private`", None)),
        };
        file.items.push(Item { visibility, kind, span: start.to(self.last_span()) });
        Ok(())
    }
}
