//! The loop that does one instruction after the other.
//!
//! There is one source of it for all ways to run: what a plain run does not need is not compiled into it. Registers are a
//! window of the stack that is looked up once for each call. What is long, or rare, is done elsewhere.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::arithmetic::{float, int, small, whole};
use super::comparing::{compare, is_above, is_at_most, is_below, is_less, is_number, is_same};
use super::places::{self, Link, put};
use super::registers::{
    add_to_key, append, clear, concatenate, copy, copy_from, done, element, letter, look, own, part, set,
    set_bool, set_element, set_element_constant, set_int, set_key, set_nil,
};
use super::stopping::{GUARDED, LOGGED, Stopped, TRACED, attend, stopped_by};
use super::{Frame, Leaving, Machine, Tracer, convert, faults, making, templates, values};
use crate::code::{Function, Op};
use crate::hir::BinaryOperator::{Add, Divide, Multiply, Remainder, Subtract};
use crate::hir::FunctionId;
use crate::value::{self, Value};

macro_rules! attempt {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(fault) => break Stopped::Fault(fault),
        }
    };
}

impl Machine {
    /// `standing` if the tracer knows of the statement where the machine is.
    pub(super) fn execute<const MODE: u8>(
        &mut self,
        mut tracer: Option<&mut dyn Tracer>,
        mut standing: bool,
    ) -> Stopped {
        let program = Rc::clone(&self.program);
        let extra = self.evaluation.as_ref().map(|evaluation| Rc::clone(&evaluation.function));
        let functions = &program.functions[..];
        let find = |id: FunctionId| -> &Function {
            match (functions.get(id.0 as usize), &extra) {
                (Some(function), _) => function,
                (None, Some(extra)) => extra,
                (None, None) => &functions[program.main.0 as usize],
            }
        };
        let attention = Arc::clone(&self.attention.0);
        let floor = self.floor();
        let Some(frame) = self.frames.last() else { return Stopped::Returned };
        let mut function = find(frame.function);
        let (mut pc, mut base) = (frame.pc as usize, frame.base as usize);

        let stopped = 'frames: loop {
            let (code, variables) = (&function.code[..], function.variables);
            let top = base + function.registers as usize;
            if self.stack.len() < top {
                self.stack.resize(top + top / 2, Value::Nil);
            }
            let mut registers = &mut self.stack[base..top];
            break loop {
                if (MODE == TRACED || MODE == LOGGED) && function.begins(pc).is_some() {
                    if let Some(tracer) = &mut tracer
                        && self.is_statement::<MODE>(pc, standing, &mut **tracer)
                    {
                        break Stopped::Statement;
                    }
                    registers = &mut self.stack[base..top];
                }
                standing = false;
                let op = code[pc];
                if MODE == LOGGED || MODE == GUARDED {
                    attempt!(self.record(function, op, base, MODE == GUARDED));
                    registers = &mut self.stack[base..top];
                }
                macro_rules! at {
                    ($register:expr) => {
                        registers[$register as usize]
                    };
                }
                macro_rules! set {
                    ($register:expr, $value:expr) => {{
                        let value = $value;
                        set(&mut at!($register), value);
                    }};
                }
                macro_rules! jump {
                    ($target:expr, $condition:expr) => {
                        if $condition {
                            if attention.load(Relaxed) {
                                break attend();
                            }
                            pc = $target as usize;
                            continue;
                        }
                    };
                }
                macro_rules! branch {
                    ($by:expr, $condition:expr) => {
                        if $condition {
                            if $by < 0 && attention.load(Relaxed) {
                                break attend();
                            }
                            pc = pc.wrapping_add_signed($by as isize);
                            continue;
                        }
                    };
                }
                macro_rules! resume {
                    ($after:expr) => {{
                        if self.frames.len() == floor {
                            return Stopped::Returned;
                        }
                        let Some(frame) = self.frames.last() else { return Stopped::Returned };
                        function = find(frame.function);
                        (pc, base) = (frame.pc as usize + $after, frame.base as usize);
                        continue 'frames;
                    }};
                }
                macro_rules! left {
                    ($leave:expr) => {{
                        if MODE == LOGGED {
                            self.log_pop();
                            registers = &mut self.stack[base..top];
                        }
                        if function.holds_shared {
                            registers.iter_mut().for_each(clear);
                        }
                        $leave;
                        self.frames.pop();
                        resume!(1);
                    }};
                }
                macro_rules! returned {
                    ($from:expr) => {
                        match &mut at!($from) {
                            Value::Int(number) => {
                                let number = *number;
                                left!(set_int(&mut at!(0), number));
                            }
                            other => {
                                let value =
                                    if MODE == LOGGED { other.clone() } else { std::mem::take(other) };
                                left!(at!(0) = value);
                            }
                        }
                    };
                }
                match op {
                    Op::Nothing => {}
                    Op::LoadInt { to, value } => set_int(&mut at!(to), i64::from(value)),
                    Op::LoadConstant { to, constant } => {
                        copy_from(&mut at!(to), &function.constants[constant as usize])
                    }
                    Op::Copy { to, from } => copy(registers, to, from),
                    Op::Move { to, from } => set!(to, std::mem::take(&mut at!(from))),
                    Op::Clear { at } => clear(&mut at!(at)),
                    Op::Follow { to, from } => {
                        let value = attempt!(self.deref(&self.stack[base + from as usize])).clone();
                        registers = &mut self.stack[base..top];
                        set!(to, value);
                    }
                    Op::LoadGlobal { to, global } => copy_from(&mut at!(to), &self.globals[global as usize]),
                    Op::StoreGlobal { from, global } => {
                        self.globals[global as usize] = own(registers, from, variables)
                    }

                    Op::AddInt { to, left, right } => attempt!(int(registers, Add, [to, left, right])),
                    Op::SubtractInt { to, left, right } => {
                        attempt!(int(registers, Subtract, [to, left, right]))
                    }
                    Op::MultiplyInt { to, left, right } => {
                        attempt!(int(registers, Multiply, [to, left, right]))
                    }
                    Op::DivideInt { to, left, right } => attempt!(int(registers, Divide, [to, left, right])),
                    Op::RemainderInt { to, left, right } => {
                        attempt!(int(registers, Remainder, [to, left, right]))
                    }
                    Op::AddSmall { to, left, value } => {
                        attempt!(small(registers, Add, [to, left], i64::from(value)))
                    }
                    Op::MultiplyConstant { to, left, constant } => {
                        attempt!(small(registers, Multiply, [to, left], whole(function, constant)))
                    }
                    Op::DivideConstant { to, left, constant } => {
                        attempt!(small(registers, Divide, [to, left], whole(function, constant)))
                    }
                    Op::RemainderConstant { to, left, constant } => {
                        attempt!(small(registers, Remainder, [to, left], whole(function, constant)))
                    }
                    Op::AddFloat { to, left, right } => attempt!(float(registers, Add, [to, left, right])),
                    Op::SubtractFloat { to, left, right } => {
                        attempt!(float(registers, Subtract, [to, left, right]))
                    }
                    Op::MultiplyFloat { to, left, right } => {
                        attempt!(float(registers, Multiply, [to, left, right]))
                    }
                    Op::DivideFloat { to, left, right } => {
                        attempt!(float(registers, Divide, [to, left, right]))
                    }
                    Op::Calculate { rule, to, left, right } => {
                        set!(to, attempt!(values::calculate(rule, &at!(left), &at!(right))));
                    }
                    Op::NegateFloat { to, from } => match at!(from) {
                        Value::Float(number) => set!(to, Value::Float(-number)),
                        _ => break Stopped::Fault(places::no_such_part()),
                    },
                    Op::Concatenate { to, left, right } => {
                        attempt!(concatenate(registers, [to, left, right], variables));
                    }
                    Op::Append { to, from } => {
                        attempt!(append(registers, to, from));
                        done(registers, from, variables);
                    }
                    Op::AppendTemplate { to, template } => {
                        let pieces = &function.templates[template as usize];
                        attempt!(templates::append(registers, to, pieces, variables));
                    }
                    Op::Not { to, from } => {
                        let answer = !matches!(at!(from), Value::Bool(true));
                        set_bool(&mut at!(to), answer);
                    }
                    Op::Equal { to, left, right } => {
                        compare(registers, [to, left, right], variables, is_same)
                    }
                    Op::NotEqual { to, left, right } => {
                        compare(registers, [to, left, right], variables, |left, right| !is_same(left, right))
                    }
                    Op::Less { to, left, right } => compare(registers, [to, left, right], variables, is_less),
                    Op::LessOrEqual { to, left, right } => {
                        compare(registers, [to, left, right], variables, is_at_most)
                    }
                    Op::Contains { to, item, of } => {
                        let answer = attempt!(values::contains(&at!(of), &at!(item)));
                        done(registers, of, variables);
                        set_bool(&mut at!(to), answer);
                    }
                    Op::Convert { to, from, conversion } => {
                        let target = &function.conversions[conversion as usize].to;
                        let value = attempt!(convert::convert(&at!(from), target, &program.types));
                        done(registers, from, variables);
                        set!(to, value);
                    }
                    Op::ToFloat { to, from } => {
                        let float =
                            attempt!(value::int::to_float(&at!(from)).ok_or_else(places::no_such_part));
                        set!(to, Value::Float(float));
                    }
                    Op::Quote { to, from } => templates::quote(registers, to, from, variables),

                    Op::Jump { target } => {
                        pc = target as usize;
                        continue;
                    }
                    Op::JumpBack { target } => jump!(target, true),
                    Op::JumpIf { at, target } => jump!(target, matches!(at!(at), Value::Bool(true))),
                    Op::JumpIfNot { at, target } => jump!(target, !matches!(at!(at), Value::Bool(true))),
                    Op::JumpLess { left, right, by } => branch!(by, is_less(&at!(left), &at!(right))),
                    Op::JumpLessOrEqual { left, right, by } => {
                        branch!(by, is_at_most(&at!(left), &at!(right)))
                    }
                    Op::JumpEqual { left, right, by } => branch!(by, is_same(&at!(left), &at!(right))),
                    Op::JumpNotEqual { left, right, by } => branch!(by, !is_same(&at!(left), &at!(right))),
                    Op::JumpLessSmall { left, value, by } => {
                        branch!(by, is_below(&at!(left), i64::from(value)))
                    }
                    Op::JumpGreaterSmall { left, value, by } => {
                        branch!(by, is_above(&at!(left), i64::from(value)))
                    }
                    Op::JumpLessConstant { left, constant, by } => {
                        branch!(by, is_below(&at!(left), whole(function, constant)))
                    }
                    Op::JumpGreaterConstant { left, constant, by } => {
                        branch!(by, is_above(&at!(left), whole(function, constant)))
                    }
                    Op::JumpEqualSmall { left, value, by } => {
                        branch!(by, is_number(&at!(left), i64::from(value)))
                    }
                    Op::JumpNotEqualSmall { left, value, by } => {
                        branch!(by, !is_number(&at!(left), i64::from(value)))
                    }
                    Op::NewArray { to, first, count } => making::array(registers, to, first, count),
                    Op::ExtendArray { to, first, count } => making::extend_array(registers, to, first, count),
                    Op::NewMap { to, .. } => making::map(registers, to),
                    Op::ExtendMap { to, first, count } => making::extend_map(registers, to, first, count),
                    Op::NewStruct { to, first, shape } => {
                        making::structure(registers, to, first, &function.shapes[shape as usize]);
                    }
                    Op::NewTuple { to, first, count } => making::tuple(registers, to, first, count),
                    Op::NewRange { to, first, .. } => attempt!(making::range(registers, to, first)),
                    Op::Template { to, template } => {
                        templates::template(registers, to, &function.templates[template as usize], variables);
                    }
                    Op::TakePart { to, tuple, part } => {
                        let value = attempt!(values::take_part(&mut at!(tuple), usize::from(part)));
                        set!(to, value);
                    }

                    Op::Element { to, of, index } => attempt!(element(registers, [to, of, index], variables)),
                    Op::Letter { to, of, index } => {
                        attempt!(letter(registers, [to, of, index], variables));
                    }
                    Op::Lookup { to, of, key } => {
                        attempt!(part(registers, to, of, variables, |registers| Link::Key(
                            &registers[key as usize]
                        )));
                    }
                    Op::Field { to, of, field } => {
                        attempt!(part(registers, to, of, variables, |_| Link::Field(u32::from(field))));
                    }
                    Op::SetElement { of, index, value } => {
                        attempt!(set_element(registers, [of, index, value], variables));
                    }
                    Op::SetElementConstant { of, index, constant } => {
                        let value = &function.constants[constant as usize];
                        attempt!(set_element_constant(registers, of, index, value));
                    }
                    Op::SetKey { of, key, value } => {
                        attempt!(set_key(registers, [of, key, value], variables));
                    }
                    Op::SetField { of, field, value } => {
                        let value = own(registers, value, variables);
                        attempt!(put(&mut at!(of), Link::Field(u32::from(field)), value));
                    }
                    Op::AddToKey { of, key, value } => attempt!(add_to_key(registers, of, key, value)),
                    Op::LoadAt { to, path, first } => {
                        let path = &function.paths[path as usize];
                        let value = attempt!(self.load(path, base, base + first as usize));
                        registers = &mut self.stack[base..top];
                        set!(to, value);
                    }
                    Op::StoreAt { from, path, first } => {
                        let value = own(registers, from, variables);
                        let path = &function.paths[path as usize];
                        attempt!(self.store(path, base, base + first as usize, value));
                        registers = &mut self.stack[base..top];
                    }
                    Op::AppendAt { from, path, first } => {
                        let value = own(registers, from, variables);
                        let path = &function.paths[path as usize];
                        attempt!(self.append_at(path, base, base + first as usize, &value));
                        registers = &mut self.stack[base..top];
                    }
                    Op::Refer { to, path, first } => {
                        let reference =
                            self.refer(&function.paths[path as usize], base, base + first as usize);
                        registers = &mut self.stack[base..top];
                        set!(to, reference);
                    }

                    Op::Call { window, function: callee } => {
                        if attention.load(Relaxed) {
                            break attend();
                        }
                        let open = self.frames.len();
                        if open >= faults::DEEPEST {
                            break Stopped::Fault(faults::too_deep());
                        }
                        self.frames[open - 1].pc = pc as u32;
                        base += window as usize;
                        self.frames.push(Frame {
                            function: FunctionId(callee),
                            base: base as u32,
                            pc: 0,
                            ensured: 0,
                            leaving: Leaving::No,
                        });
                        if MODE == LOGGED {
                            self.log_push(pc as u32);
                        }
                        function = &functions[callee as usize];
                        pc = 0;
                        continue 'frames;
                    }
                    Op::CallNative { window, site, count } => {
                        let site = &function.natives[site as usize];
                        if let Some(frame) = self.frames.last_mut() {
                            frame.pc = pc as u32;
                        }
                        match self.call_native(site, base, base + window as usize, count as usize) {
                            Ok(()) => registers = &mut self.stack[base..top],
                            Err(trouble) => break stopped_by(trouble),
                        }
                    }
                    Op::Look { to, site } => {
                        let site = &function.natives[site as usize];
                        if let Err(trouble) = look(registers, to, site, variables) {
                            break stopped_by(trouble);
                        }
                    }
                    Op::Return { from } => returned!(from),
                    Op::ReturnNothing => left!(set_nil(&mut at!(0))),
                    Op::Ensure => {
                        if let Some(frame) = self.frames.last_mut() {
                            frame.ensured += 1;
                        }
                    }
                    Op::Leave { from } => {
                        let Some(frame) = self.frames.last_mut() else { return Stopped::Returned };
                        if frame.ensured > 0 {
                            frame.ensured -= 1;
                            if frame.leaving == Leaving::No {
                                frame.leaving = Leaving::Returning;
                            }
                            pc = function.ensures[frame.ensured as usize].code.start as usize;
                            continue;
                        }
                        if frame.leaving != Leaving::Unwinding {
                            returned!(from);
                        }
                        self.drop_frame(base, function.registers as usize);
                        self.unwind();
                        resume!(0);
                    }

                    Op::BeginFor { state, target } => {
                        if attempt!(making::begin_for(registers, state)) {
                            pc = target as usize;
                            continue;
                        }
                    }
                    Op::NextFor { state, variable, by } => {
                        if attention.load(Relaxed) {
                            break attend();
                        }
                        let Some([Value::Int(now), Value::Int(end), Value::Int(step)]) =
                            registers[state as usize..].first_chunk_mut()
                        else {
                            break Stopped::Fault(places::no_such_part());
                        };
                        // A bound near the largest number ends the loop by having no next one.
                        if let Some(next) = now.checked_add(*step)
                            && if *step > 0 { next < *end } else { next > *end }
                        {
                            *now = next;
                            set_int(&mut at!(variable), next);
                            pc = pc.wrapping_add_signed(by as isize);
                            continue;
                        }
                    }
                    Op::BeginEach { state, target } => {
                        if let Value::Nil = at!(state) {
                            break Stopped::Fault(faults::nil("cannot be gone over"));
                        }
                        set!(state + 1, Value::Int(0));
                        pc = target as usize;
                        continue;
                    }
                    Op::NextEach { state, variable, by } => {
                        if attention.load(Relaxed) {
                            break attend();
                        }
                        if let Some((value, next)) = values::next_item(&at!(state), &at!(state + 1)) {
                            set!(state + 1, next);
                            set!(variable, value);
                            pc = pc.wrapping_add_signed(by as isize);
                            continue;
                        }
                    }
                }
                pc += 1;
            };
        };
        if let Stopped::Attention = stopped {
            self.attention.take();
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.pc = pc as u32;
        }
        stopped
    }
}
