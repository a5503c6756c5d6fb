//! JSON read straight into a value of a given type: fields by their names or tags, missing ones zero, unknown ones ignored.

use std::fmt;
use std::rc::Rc;

use num_bigint::BigInt;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::tag;
use crate::library::given::{self, bad, good};
use crate::library::{Answer, Outside, Typing};
use crate::types::{IntKind, Shape, Type, Types};
use crate::value::{Key, Map, Struct, Value, int};

pub fn decode(outside: &mut Outside<'_>, arguments: &[Value], typing: &Typing<'_>) -> Answer {
    let kind = match typing.result {
        Type::Tuple(parts) => parts.first().unwrap_or(&Type::Unknown),
        other => other,
    };
    let wanted = Wanted { kind, types: outside.types };
    let mut reader = serde_json::Deserializer::from_str(given::text(arguments, 0)?);
    match wanted.deserialize(&mut reader).and_then(|value| reader.end().map(|()| value)) {
        Ok(value) => good(value),
        Err(why) => bad(outside.types, outside.types.zero(kind), why.to_string()),
    }
}

#[derive(Clone, Copy)]
struct Wanted<'a> {
    kind: &'a Type,
    types: &'a Types,
}

impl<'de> DeserializeSeed<'de> for Wanted<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        match self.kind {
            // A reader would make a float of what does not fit 64 bits.
            Type::Int(kind) if int::narrow_range(*kind).is_none() => {
                let raw = <&RawValue>::deserialize(reader)?.get();
                match raw.parse() {
                    Ok(number) => self.integer(number),
                    Err(_) if raw == "null" => Ok(Value::Int(0)),
                    Err(_) => Err(D::Error::custom(format!("{raw} is no {}", self.types.name(self.kind)))),
                }
            }
            _ => reader.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for Wanted<'_> {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.types.name(self.kind))
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(self.types.zero(self.kind))
    }

    fn visit_bool<E: Error>(self, yes: bool) -> Result<Value, E> {
        match self.kind {
            Type::Bool | Type::Unknown => Ok(Value::Bool(yes)),
            _ => Err(E::invalid_type(serde::de::Unexpected::Bool(yes), &self)),
        }
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        self.plain(|wanted| wanted.integer(BigInt::from(number)))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        self.plain(|wanted| wanted.integer(BigInt::from(number)))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        self.plain(|wanted| match wanted.kind {
            Type::Float(_) | Type::Unknown => Ok(Value::Float(number)),
            _ => Err(E::invalid_type(serde::de::Unexpected::Float(number), &wanted)),
        })
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        let mut letters = text.chars();
        self.plain(|wanted| match (wanted.kind, letters.next(), letters.next()) {
            (Type::Text | Type::Unknown, ..) => Ok(Value::text(text)),
            (Type::Char, Some(letter), None) => Ok(Value::Char(letter)),
            _ => Err(E::invalid_type(serde::de::Unexpected::Str(text), &wanted)),
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let (of, length) = match self.kind {
            Type::Array(of) => (&**of, None),
            Type::Fixed(of, length) => (&**of, usize::try_from(*length).ok()),
            Type::Unknown => (self.kind, None),
            _ => return Err(A::Error::invalid_type(serde::de::Unexpected::Seq, &self)),
        };
        let mut values = Vec::new();
        while let Some(value) = items.next_element_seed(Wanted { kind: of, ..self })? {
            values.push(value);
        }
        match length {
            Some(length) if values.len() > length => {
                return Err(A::Error::invalid_length(values.len(), &self));
            }
            Some(length) => values.resize(length, self.types.zero(of)),
            None => {}
        }
        Ok(Value::array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Value, A::Error> {
        match self.kind {
            Type::Struct(id) => self.fields(self.types.shape(*id), entries),
            Type::Map(key, value) => self.entries(key, value, entries),
            Type::Unknown => self.entries(&Type::Text, &Type::Unknown, entries),
            _ => Err(A::Error::invalid_type(serde::de::Unexpected::Map, &self)),
        }
    }
}

impl<'a> Wanted<'a> {
    /// What is no container: of an enum, the value of a member.
    fn plain<E: Error>(self, make: impl FnOnce(Wanted<'a>) -> Result<Value, E>) -> Result<Value, E> {
        let Type::Enum(id) = self.kind else { return make(self) };
        let shape = self.types.enumeration(*id);
        let value = make(Wanted { kind: &shape.base, ..self })?;
        match shape.members.iter().any(|(_, member)| *member == value) {
            true => Ok(value),
            false => {
                let value = crate::value::format::inside(&value);
                Err(E::custom(format!("{value} is no member of {}", shape.name)))
            }
        }
    }

    fn integer<E: Error>(self, number: BigInt) -> Result<Value, E> {
        let value = match self.kind {
            Type::Int(kind) => int::checked(*kind, number.clone()),
            Type::Unknown => int::checked(IntKind::Int, number.clone()),
            Type::Byte => u8::try_from(&number).ok().map(Value::Byte),
            Type::Float(_) => int::to_float(&Value::big(number.clone())).map(Value::Float),
            _ => None,
        };
        value.ok_or_else(|| E::custom(format!("{number} is no {}", self.types.name(self.kind))))
    }

    fn fields<'de, A: MapAccess<'de>>(self, shape: &Rc<Shape>, mut entries: A) -> Result<Value, A::Error> {
        let mut fields: Vec<Value> = shape.fields.iter().map(|field| self.types.zero(&field.kind)).collect();
        while let Some(name) = entries.next_key::<String>()? {
            let field = shape.fields.iter().position(|field| tag(field).is_some_and(|tag| tag.name == name));
            match field {
                Some(index) => {
                    let wanted = Wanted { kind: &shape.fields[index].kind, ..self };
                    fields[index] = entries.next_value_seed(wanted)?;
                }
                None => {
                    entries.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Value::Struct(Rc::new(Struct { shape: shape.clone(), fields })))
    }

    fn entries<'de, A: MapAccess<'de>>(
        self,
        key: &Type,
        value: &Type,
        mut entries: A,
    ) -> Result<Value, A::Error> {
        let mut map = Map::default();
        while let Some(name) = entries.next_key::<String>()? {
            let key = self.key(key, &name).ok_or_else(|| {
                A::Error::custom(format!("the key {name:?} is no {}", self.types.name(key)))
            })?;
            map.insert(key, entries.next_value_seed(Wanted { kind: value, ..self })?);
        }
        Ok(Value::Map(Rc::new(map)))
    }

    /// Keys are always text in JSON.
    fn key(self, kind: &Type, name: &str) -> Option<Key> {
        let value = match kind {
            Type::Text => Value::text(name),
            Type::Int(kind) => int::checked(*kind, name.parse().ok()?)?,
            Type::Byte => Value::Byte(name.parse().ok()?),
            Type::Bool => Value::Bool(name.parse().ok()?),
            Type::Char => Value::Char(name.parse().ok()?),
            Type::Enum(id) => {
                let shape = self.types.enumeration(*id);
                let key = self.key(&shape.base, name)?;
                return shape.members.iter().any(|(_, member)| *member == key.0).then_some(key);
            }
            _ => return None,
        };
        Some(Key(value))
    }
}
