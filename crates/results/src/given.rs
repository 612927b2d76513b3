//! Serialises what a source gives: the fields of a value without absent ones, in one pass.

use serde::ser::{Error, SerializeMap, SerializeStruct};
use serde::{Serialize, Serializer};
use serde_json::Value;

/// Paths of absent fields below one object, sorted.
#[derive(Clone, Copy)]
pub(crate) struct Paths<'a> {
    all: &'a [&'a str],
    /// Bytes at the start of each that lead to the object.
    lead: usize,
}

/// What becomes of a field.
#[derive(Clone, Copy)]
enum Field<'a> {
    Whole,
    Partly(Paths<'a>),
    Absent,
}

impl<'a> Paths<'a> {
    /// Paths of nothing but names, sorted.
    pub(crate) fn new(all: &'a [&'a str]) -> Paths<'a> {
        Paths { all, lead: 0 }
    }

    /// Those below the field, as paths from there.
    pub(crate) fn below(self, name: &str) -> Vec<&'a str> {
        match self.field(name) {
            Field::Partly(paths) => paths.all.iter().map(|path| &path[paths.lead..]).collect(),
            Field::Whole | Field::Absent => Vec::new(),
        }
    }

    fn field(self, name: &str) -> Field<'a> {
        let from = self
            .all
            .partition_point(|path| path.as_bytes()[self.lead..] < *name.as_bytes());
        let all = &self.all[from..];
        let is_of_it = |path: &&&str| {
            let rest = path[self.lead..].strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        // Names are of letters, digits and `_`, which all sort after the full stop.
        let count = all.iter().take_while(is_of_it).count();
        let lead = self.lead + name.len();
        match &all[..count] {
            [] => Field::Whole,
            [first, ..] if first.len() == lead => Field::Absent,
            all => Field::Partly(Paths {
                all,
                lead: lead + 1,
            }),
        }
    }
}

/// A value without these fields.
pub(crate) struct Without<'a, T: ?Sized> {
    pub(crate) value: &'a T,
    pub(crate) absent: Paths<'a>,
}

impl<T: Serialize + ?Sized> Serialize for Without<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(Given::new(serializer, self.absent))
    }
}

/// A serializer that skips absent fields.
pub(crate) struct Given<'a, S, I = ()> {
    serializer: S,
    absent: Paths<'a>,
    /// A field, and what is serialised in place of its value.
    instead: Option<(&'static str, &'a I)>,
}

impl<'a, S> Given<'a, S> {
    pub(crate) fn new(serializer: S, absent: Paths<'a>) -> Self {
        Given {
            serializer,
            absent,
            instead: None,
        }
    }
}

impl<'a, S, I: Serialize> Given<'a, S, I> {
    /// With another value of one field.
    pub(crate) fn with(
        serializer: S,
        absent: Paths<'a>,
        field: &'static str,
        instead: &'a I,
    ) -> Self {
        Given {
            serializer,
            absent,
            instead: Some((field, instead)),
        }
    }
}

/// The fields of an object.
pub(crate) struct Fields<'a, F, I> {
    fields: F,
    absent: Paths<'a>,
    instead: Option<(&'static str, &'a I)>,
    /// The last key of a map.
    key: Field<'a>,
}

impl<F: SerializeStruct, I: Serialize> SerializeStruct for Fields<'_, F, I> {
    type Ok = F::Ok;
    type Error = F::Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), F::Error> {
        match (self.absent.field(name), self.instead) {
            (Field::Absent, _) => self.fields.skip_field(name),
            (_, Some((field, other))) if field == name => self.fields.serialize_field(name, other),
            (Field::Whole, _) => self.fields.serialize_field(name, value),
            (Field::Partly(absent), _) => self
                .fields
                .serialize_field(name, &Without { value, absent }),
        }
    }

    fn skip_field(&mut self, name: &'static str) -> Result<(), F::Error> {
        self.fields.skip_field(name)
    }

    fn end(self) -> Result<F::Ok, F::Error> {
        self.fields.end()
    }
}

/// Structures with fields of another one in between are maps to a serializer.
impl<F: SerializeMap, I> SerializeMap for Fields<'_, F, I> {
    type Ok = F::Ok;
    type Error = F::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), F::Error> {
        let name = key.serialize(serde_json::value::Serializer);
        self.key = match name.map_err(F::Error::custom)? {
            Value::String(name) => self.absent.field(&name),
            _ => Field::Whole,
        };
        match self.key {
            Field::Absent => Ok(()),
            Field::Whole | Field::Partly(_) => self.fields.serialize_key(key),
        }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), F::Error> {
        match self.key {
            Field::Absent => Ok(()),
            Field::Whole => self.fields.serialize_value(value),
            Field::Partly(absent) => self.fields.serialize_value(&Without { value, absent }),
        }
    }

    fn end(self) -> Result<F::Ok, F::Error> {
        self.fields.end()
    }
}

/// What has no fields is passed on.
macro_rules! pass_on {
    ($($name:ident($($value:ident: $type:ty),*) -> $done:ident;)*) => {
        $(fn $name(self, $($value: $type),*) -> Result<S::$done, S::Error> {
            self.serializer.$name($($value),*)
        })*
    };
}

impl<'a, S: Serializer, I: Serialize> Serializer for Given<'a, S, I> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = S::SerializeSeq;
    type SerializeTuple = S::SerializeTuple;
    type SerializeTupleStruct = S::SerializeTupleStruct;
    type SerializeTupleVariant = S::SerializeTupleVariant;
    type SerializeMap = Fields<'a, S::SerializeMap, I>;
    type SerializeStruct = Fields<'a, S::SerializeStruct, I>;
    type SerializeStructVariant = S::SerializeStructVariant;

    pass_on! {
        serialize_bool(value: bool) -> Ok;
        serialize_i8(value: i8) -> Ok;
        serialize_i16(value: i16) -> Ok;
        serialize_i32(value: i32) -> Ok;
        serialize_i64(value: i64) -> Ok;
        serialize_u8(value: u8) -> Ok;
        serialize_u16(value: u16) -> Ok;
        serialize_u32(value: u32) -> Ok;
        serialize_u64(value: u64) -> Ok;
        serialize_f32(value: f32) -> Ok;
        serialize_f64(value: f64) -> Ok;
        serialize_char(value: char) -> Ok;
        serialize_str(value: &str) -> Ok;
        serialize_bytes(value: &[u8]) -> Ok;
        serialize_none() -> Ok;
        serialize_unit() -> Ok;
        serialize_unit_struct(name: &'static str) -> Ok;
        serialize_unit_variant(name: &'static str, index: u32, variant: &'static str) -> Ok;
        serialize_seq(len: Option<usize>) -> SerializeSeq;
        serialize_tuple(len: usize) -> SerializeTuple;
        serialize_tuple_struct(name: &'static str, len: usize) -> SerializeTupleStruct;
        serialize_tuple_variant(
            name: &'static str,
            index: u32,
            variant: &'static str,
            len: usize
        ) -> SerializeTupleVariant;
        serialize_struct_variant(
            name: &'static str,
            index: u32,
            variant: &'static str,
            len: usize
        ) -> SerializeStructVariant;
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.serializer
            .serialize_newtype_variant(name, index, variant, value)
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        Ok(Fields {
            fields: self.serializer.serialize_map(len)?,
            absent: self.absent,
            instead: self.instead,
            key: Field::Whole,
        })
    }

    fn serialize_struct(
        self,
        name: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStruct, S::Error> {
        Ok(Fields {
            fields: self.serializer.serialize_struct(name, len)?,
            absent: self.absent,
            instead: self.instead,
            key: Field::Whole,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Serialize)]
    struct Outer {
        name: &'static str,
        inner: Option<Box<Inner>>,
        items: Vec<u8>,
    }

    #[derive(Serialize)]
    struct Inner {
        first: u64,
        #[serde(flatten)]
        shape: Shape,
        #[serde(skip_serializing_if = "Option::is_none")]
        last: Option<f64>,
    }

    #[derive(Serialize)]
    #[serde(tag = "shape", rename_all = "lowercase")]
    enum Shape {
        Round { radius: u64, names: [u64; 2] },
    }

    fn without(absent: &[&str], items: &[u8]) -> (Value, String) {
        let outer = Outer {
            name: "outer",
            inner: Some(Box::new(Inner {
                first: 1,
                shape: Shape::Round {
                    radius: 2,
                    names: [3, 4],
                },
                last: Some(5.0),
            })),
            items: vec![0],
        };
        let absent = Paths::new(absent);
        let value = Given::with(serde_json::value::Serializer, absent, "items", &items);
        let mut text = Vec::new();
        let mut serializer = serde_json::Serializer::new(&mut text);
        let given = Given::with(&mut serializer, absent, "items", &items);
        outer.serialize(given).unwrap();
        let value = outer.serialize(value).unwrap();
        (value, String::from_utf8(text).unwrap())
    }

    #[test]
    fn absent_fields_are_left_out_of_structures_and_maps() {
        let (value, text) = without(
            &["inner.first", "inner.rad", "inner.radius", "nam"],
            &[7, 8],
        );
        let inner = json!({"shape": "round", "names": [3, 4], "last": 5.0});
        assert_eq!(
            value,
            json!({"name": "outer", "inner": inner, "items": [7, 8]})
        );
        assert_eq!(text, value.to_string());
        let all = ["inner.first", "inner.last", "inner.names", "inner.radius"];
        let (value, text) = without(
            &[&all[..], &["inner.shape", "items", "name"]].concat(),
            &[7],
        );
        assert_eq!(
            (value, text.as_str()),
            (json!({"inner": {}}), r#"{"inner":{}}"#)
        );
        assert_eq!(
            without(&["inner", "inner.first"], &[]).1,
            r#"{"name":"outer","items":[]}"#
        );
    }
}
