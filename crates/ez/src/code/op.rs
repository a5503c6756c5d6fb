//! The instructions: eight bytes each, so that a loop of some dozen stays in the nearest cache.

use super::Register;
use super::rule::Rule;

/// One instruction. `to` is written; jumps name an instruction by number, or `by` how many they go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Op {
    Nothing,
    LoadInt {
        to: Register,
        value: i32,
    },
    LoadConstant {
        to: Register,
        constant: u32,
    },
    Copy {
        to: Register,
        from: Register,
    },
    /// Leaves nil behind.
    Move {
        to: Register,
        from: Register,
    },
    Clear {
        at: Register,
    },
    /// What the reference leads to.
    Follow {
        to: Register,
        from: Register,
    },
    LoadGlobal {
        to: Register,
        global: u32,
    },
    StoreGlobal {
        from: Register,
        global: u32,
    },

    AddInt {
        to: Register,
        left: Register,
        right: Register,
    },
    SubtractInt {
        to: Register,
        left: Register,
        right: Register,
    },
    MultiplyInt {
        to: Register,
        left: Register,
        right: Register,
    },
    DivideInt {
        to: Register,
        left: Register,
        right: Register,
    },
    RemainderInt {
        to: Register,
        left: Register,
        right: Register,
    },
    AddSmall {
        to: Register,
        left: Register,
        value: i16,
    },
    MultiplyConstant {
        to: Register,
        left: Register,
        constant: u16,
    },
    /// The constant is neither 0 nor -1.
    DivideConstant {
        to: Register,
        left: Register,
        constant: u16,
    },
    RemainderConstant {
        to: Register,
        left: Register,
        constant: u16,
    },
    AddFloat {
        to: Register,
        left: Register,
        right: Register,
    },
    SubtractFloat {
        to: Register,
        left: Register,
        right: Register,
    },
    MultiplyFloat {
        to: Register,
        left: Register,
        right: Register,
    },
    DivideFloat {
        to: Register,
        left: Register,
        right: Register,
    },
    /// Everything else that is arithmetic.
    Calculate {
        rule: Rule,
        to: Register,
        left: Register,
        right: Register,
    },
    NegateFloat {
        to: Register,
        from: Register,
    },
    Concatenate {
        to: Register,
        left: Register,
        right: Register,
    },
    /// Puts text behind the text of a variable.
    Append {
        to: Register,
        from: Register,
    },
    /// Puts a template behind the text of a variable.
    AppendTemplate {
        to: Register,
        template: u16,
    },
    Not {
        to: Register,
        from: Register,
    },
    Equal {
        to: Register,
        left: Register,
        right: Register,
    },
    NotEqual {
        to: Register,
        left: Register,
        right: Register,
    },
    Less {
        to: Register,
        left: Register,
        right: Register,
    },
    LessOrEqual {
        to: Register,
        left: Register,
        right: Register,
    },
    Contains {
        to: Register,
        item: Register,
        of: Register,
    },
    Convert {
        to: Register,
        from: Register,
        conversion: u16,
    },
    ToFloat {
        to: Register,
        from: Register,
    },
    Quote {
        to: Register,
        from: Register,
    },

    Jump {
        target: u32,
    },
    /// To an earlier instruction: where a program that never ends can be stopped.
    JumpBack {
        target: u32,
    },
    JumpIf {
        at: Register,
        target: u32,
    },
    JumpIfNot {
        at: Register,
        target: u32,
    },
    JumpLess {
        left: Register,
        right: Register,
        by: i16,
    },
    JumpLessOrEqual {
        left: Register,
        right: Register,
        by: i16,
    },
    JumpEqual {
        left: Register,
        right: Register,
        by: i16,
    },
    JumpNotEqual {
        left: Register,
        right: Register,
        by: i16,
    },
    JumpLessSmall {
        left: Register,
        value: i16,
        by: i16,
    },
    JumpGreaterSmall {
        left: Register,
        value: i16,
        by: i16,
    },
    JumpLessConstant {
        left: Register,
        constant: u16,
        by: i16,
    },
    JumpGreaterConstant {
        left: Register,
        constant: u16,
        by: i16,
    },
    JumpEqualSmall {
        left: Register,
        value: i16,
        by: i16,
    },
    JumpNotEqualSmall {
        left: Register,
        value: i16,
        by: i16,
    },

    NewArray {
        to: Register,
        first: Register,
        count: u16,
    },
    ExtendArray {
        to: Register,
        first: Register,
        count: u16,
    },
    /// Keys and values in turn; `count` of both together.
    NewMap {
        to: Register,
        first: Register,
        count: u16,
    },
    ExtendMap {
        to: Register,
        first: Register,
        count: u16,
    },
    NewStruct {
        to: Register,
        first: Register,
        shape: u16,
    },
    NewTuple {
        to: Register,
        first: Register,
        count: u16,
    },
    NewRange {
        to: Register,
        first: Register,
        count: u16,
    },
    Template {
        to: Register,
        template: u16,
    },
    TakePart {
        to: Register,
        tuple: Register,
        part: u16,
    },

    Element {
        to: Register,
        of: Register,
        index: Register,
    },
    Letter {
        to: Register,
        of: Register,
        index: Register,
    },
    Lookup {
        to: Register,
        of: Register,
        key: Register,
    },
    Field {
        to: Register,
        of: Register,
        field: u16,
    },
    SetElement {
        of: Register,
        index: Register,
        value: Register,
    },
    SetElementConstant {
        of: Register,
        index: Register,
        constant: u16,
    },
    SetKey {
        of: Register,
        key: Register,
        value: Register,
    },
    SetField {
        of: Register,
        field: u16,
        value: Register,
    },
    /// `of[key] += value`, where both are plain integers.
    AddToKey {
        of: Register,
        key: Register,
        value: Register,
    },
    LoadAt {
        to: Register,
        path: u16,
        first: Register,
    },
    StoreAt {
        from: Register,
        path: u16,
        first: Register,
    },
    AppendAt {
        from: Register,
        path: u16,
        first: Register,
    },
    Refer {
        to: Register,
        path: u16,
        first: Register,
    },

    /// Arguments stand in the window, which becomes the beginning of the callee's registers; the result comes to its first.
    Call {
        window: Register,
        function: u32,
    },
    CallNative {
        window: Register,
        site: u16,
        count: u16,
    },
    /// Calls a native that only looks at values, which stay where they are.
    Look {
        to: Register,
        site: u16,
    },
    Return {
        from: Register,
    },
    ReturnNothing,
    Ensure,
    /// Makes the next call that was ensured, or returns if there is none.
    Leave {
        from: Register,
    },

    /// Start, end and step (or nil) stand at `state`; goes to `target` if there is nothing to do.
    BeginFor {
        state: Register,
        target: u32,
    },
    NextFor {
        state: Register,
        variable: Register,
        by: i16,
    },
    /// An array or text stands at `state`, how far it got behind it.
    BeginEach {
        state: Register,
        target: u32,
    },
    NextEach {
        state: Register,
        variable: Register,
        by: i16,
    },
}

const _: () = assert!(size_of::<Op>() == 8);

impl Op {
    /// The register that is given a new value as a whole.
    pub fn destination(self) -> Option<Register> {
        match self {
            Op::LoadInt { to, .. }
            | Op::LoadConstant { to, .. }
            | Op::Copy { to, .. }
            | Op::Move { to, .. }
            | Op::Follow { to, .. }
            | Op::LoadGlobal { to, .. }
            | Op::AddInt { to, .. }
            | Op::SubtractInt { to, .. }
            | Op::MultiplyInt { to, .. }
            | Op::DivideInt { to, .. }
            | Op::RemainderInt { to, .. }
            | Op::AddSmall { to, .. }
            | Op::MultiplyConstant { to, .. }
            | Op::DivideConstant { to, .. }
            | Op::RemainderConstant { to, .. }
            | Op::AddFloat { to, .. }
            | Op::SubtractFloat { to, .. }
            | Op::MultiplyFloat { to, .. }
            | Op::DivideFloat { to, .. }
            | Op::Calculate { to, .. }
            | Op::NegateFloat { to, .. }
            | Op::Concatenate { to, .. }
            | Op::Not { to, .. }
            | Op::Equal { to, .. }
            | Op::NotEqual { to, .. }
            | Op::Less { to, .. }
            | Op::LessOrEqual { to, .. }
            | Op::Contains { to, .. }
            | Op::Convert { to, .. }
            | Op::ToFloat { to, .. }
            | Op::Quote { to, .. }
            | Op::NewArray { to, .. }
            | Op::NewMap { to, .. }
            | Op::NewStruct { to, .. }
            | Op::NewTuple { to, .. }
            | Op::NewRange { to, .. }
            | Op::Template { to, .. }
            | Op::TakePart { to, .. }
            | Op::Element { to, .. }
            | Op::Letter { to, .. }
            | Op::Lookup { to, .. }
            | Op::Field { to, .. }
            | Op::LoadAt { to, .. }
            | Op::Look { to, .. }
            | Op::Refer { to, .. } => Some(to),
            Op::NextFor { variable, .. } | Op::NextEach { variable, .. } => Some(variable),
            _ => None,
        }
    }
}
