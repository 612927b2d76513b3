//! Parses values in documents: text in switch syntax, or a bare number with the same meaning as on
//! the command line.

use crate::ParseError;
use serde::de::{Deserializer, Error, Visitor};
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

/// Takes a string, an integer or a decimal number and parses its text.
pub(crate) fn deserialize<'de, T, D>(deserializer: D, expected: &'static str) -> Result<T, D::Error>
where
    T: FromStr<Err = ParseError>,
    D: Deserializer<'de>,
{
    deserializer.deserialize_any(TextVisitor {
        expected,
        value: PhantomData,
    })
}

struct TextVisitor<T> {
    expected: &'static str,
    value: PhantomData<T>,
}

impl<T: FromStr<Err = ParseError>> Visitor<'_> for TextVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse()
            .map_err(|error: ParseError| E::custom(format!("{error}; hint: {}", error.hint())))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }
}
