//! Whether a document conforms to our JSON Schema. The tests of `app` use this file
//! as well.
//!
//! Supports the keywords that our schemas use, and panics at any other. A published
//! schema allows additional fields, so that later versions can add some. Here a field
//! that the schema does not name is a fault, unless the schema describes additional
//! ones: every field of today's documents is described.

use serde::de::{Deserialize, Deserializer, IgnoredAny};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The schema of one definition; `None` if there is no such definition.
///
/// # Panics
/// If the schema is not JSON.
pub fn definition(schema: &str, name: &str) -> Option<String> {
    let schema: Value = serde_json::from_str(schema).expect("the schema is JSON");
    schema["$defs"].get(name)?;
    let one = json!({"$ref": format!("#/$defs/{name}"), "$defs": schema["$defs"]});
    Some(one.to_string())
}

/// What is wrong with a document, one sentence each.
///
/// # Panics
/// If the document is not JSON, or the schema has an unknown keyword or a reference
/// to a definition that does not exist.
pub fn faults_of(document: &str, schema: &str) -> Vec<String> {
    let document: Value = serde_json::from_str(document).expect("a document");
    let raw: Value = serde_json::from_str(schema).expect("the schema is JSON");
    let schema: Schema = serde_json::from_str(schema).expect("known keywords only");
    check_references(&raw, &schema.definitions);
    schema.faults(&document, "", &schema.definitions)
}

fn check_references(schema: &Value, definitions: &Definitions) {
    match schema {
        Value::Object(keywords) => {
            if let Some(Value::String(reference)) = keywords.get("$ref") {
                resolve(reference, definitions);
            }
            let inner = keywords.values();
            inner.for_each(|inner| check_references(inner, definitions));
        }
        Value::Array(items) => items
            .iter()
            .for_each(|item| check_references(item, definitions)),
        _ => {}
    }
}

fn resolve<'a>(reference: &str, definitions: &'a Definitions) -> &'a Schema {
    let schema = reference
        .strip_prefix("#/$defs/")
        .and_then(|name| definitions.get(name));
    schema.unwrap_or_else(|| panic!("no definition of {reference}"))
}

type Definitions = BTreeMap<String, Schema>;

#[derive(Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Schema {
    #[serde(rename = "$defs")]
    definitions: Definitions,
    #[serde(rename = "$ref")]
    reference: Option<String>,
    #[serde(rename = "type")]
    types: Option<Types>,
    #[serde(deserialize_with = "even_null")]
    r#const: Option<Value>,
    r#enum: Option<Vec<Value>>,
    minimum: Option<f64>,
    maximum: Option<f64>,
    required: Vec<String>,
    properties: Option<Definitions>,
    additional_properties: Option<Additional>,
    items: Option<Box<Schema>>,
    prefix_items: Vec<Schema>,
    min_items: Option<usize>,
    max_items: Option<usize>,
    unique_items: bool,
    any_of: Option<Vec<Schema>>,
    one_of: Option<Vec<Schema>>,
    r#if: Option<Box<Schema>>,
    then: Option<Box<Schema>>,
    r#else: Option<Box<Schema>>,
    #[serde(rename = "$schema")]
    _dialect: IgnoredAny,
    #[serde(rename = "$id")]
    _identifier: IgnoredAny,
    #[serde(rename = "title")]
    _title: IgnoredAny,
    #[serde(rename = "description")]
    _description: IgnoredAny,
    #[serde(rename = "default")]
    _default: IgnoredAny,
    /// Range of a number type; its sign is in `minimum`.
    #[serde(rename = "format")]
    _format: IgnoredAny,
}

#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Types {
    One(Type),
    Any(Vec<Type>),
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
enum Type {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Additional {
    Allowed(bool),
    Described(Box<Schema>),
}

/// For `"const": null`, which is not the same as no `const`.
fn even_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Type {
    fn is_of(&self, value: &Value) -> bool {
        match self {
            Self::Null => value.is_null(),
            Self::Boolean => value.is_boolean(),
            Self::Integer => value.as_f64().is_some_and(|number| number.fract() == 0.0),
            Self::Number => value.is_number(),
            Self::String => value.is_string(),
            Self::Array => value.is_array(),
            Self::Object => value.is_object(),
        }
    }
}

/// Findings for one value.
#[derive(Default)]
struct Findings {
    faults: Vec<String>,
    /// The fields of the value that the schema describes.
    fields: BTreeSet<String>,
}

impl Findings {
    fn add(&mut self, other: Self) {
        self.faults.extend(other.faults);
        self.fields.extend(other.fields);
    }
}

impl Schema {
    /// Findings for a value, including fields that neither this schema nor a referenced one names.
    fn faults(&self, value: &Value, place: &str, definitions: &Definitions) -> Vec<String> {
        let Findings { mut faults, fields } = self.findings(value, place, definitions);
        let names = value.as_object().into_iter().flat_map(Map::keys);
        if self.describes_fields() {
            let unknown = names.filter(|name| !fields.contains(*name));
            faults.extend(unknown.map(|name| format!("{place}: the schema has no field `{name}`")));
        }
        faults
    }

    fn describes_fields(&self) -> bool {
        self.properties.is_some()
            || self.reference.is_some()
            || self.any_of.is_some()
            || self.one_of.is_some()
            || self.r#if.is_some()
            || self.additional_properties.is_some()
    }

    fn findings(&self, value: &Value, place: &str, definitions: &Definitions) -> Findings {
        let mut found = Findings::default();
        if !self.allows(value) {
            let fault = format!("{place}: {value} is not of the type or range of the schema");
            found.faults.push(fault);
        }
        if let Some(items) = value.as_array() {
            found.faults.extend(self.items(items, place, definitions));
        }
        if let Some(object) = value.as_object() {
            found.add(self.fields(object, place, definitions));
        }
        if let Some(reference) = &self.reference {
            found.add(resolve(reference, definitions).findings(value, place, definitions));
        }
        for (cases, is_one) in [(&self.any_of, false), (&self.one_of, true)] {
            let Some(cases) = cases else { continue };
            let matching: Vec<Findings> = cases
                .iter()
                .map(|case| case.findings(value, place, definitions))
                .filter(|case| case.faults.is_empty())
                .collect();
            if matching.is_empty() || is_one && matching.len() > 1 {
                let of = (matching.len(), cases.len());
                let fault = format!("{place}: {value} conforms to {} of {} cases", of.0, of.1);
                found.faults.push(fault);
            }
            matching.into_iter().for_each(|case| found.add(case));
        }
        if let Some(condition) = &self.r#if {
            let condition = condition.findings(value, place, definitions);
            let branch = if condition.faults.is_empty() {
                found.add(condition);
                &self.then
            } else {
                &self.r#else
            };
            if let Some(branch) = branch {
                found.add(branch.findings(value, place, definitions));
            }
        }
        found
    }

    fn allows(&self, value: &Value) -> bool {
        let is_of_type = match &self.types {
            None => true,
            Some(Types::One(one)) => one.is_of(value),
            Some(Types::Any(types)) => types.iter().any(|one| one.is_of(value)),
        };
        let number = value.as_f64();
        let is_within = |limit: Option<f64>, is_beyond: fn(f64, f64) -> bool| {
            !limit
                .zip(number)
                .is_some_and(|(limit, number)| is_beyond(number, limit))
        };
        is_of_type
            && is_within(self.minimum, |number, limit| number < limit)
            && is_within(self.maximum, |number, limit| number > limit)
            && self.r#const.as_ref().is_none_or(|one| one == value)
            && self.r#enum.as_ref().is_none_or(|all| all.contains(value))
    }

    fn items(&self, items: &[Value], place: &str, definitions: &Definitions) -> Vec<String> {
        let mut faults = Vec::new();
        let is_short = self.min_items.is_some_and(|least| items.len() < least);
        if is_short || self.max_items.is_some_and(|most| items.len() > most) {
            faults.push(format!("{place}: {} items", items.len()));
        }
        for (index, item) in items.iter().enumerate() {
            if self.unique_items && items[..index].contains(item) {
                faults.push(format!("{place}/{index}: {item} is there twice"));
            }
            let schema = self.prefix_items.get(index).or(self.items.as_deref());
            let schema = schema.into_iter();
            faults.extend(
                schema.flat_map(|one| one.faults(item, &format!("{place}/{index}"), definitions)),
            );
        }
        faults
    }

    fn fields(
        &self,
        object: &Map<String, Value>,
        place: &str,
        definitions: &Definitions,
    ) -> Findings {
        let mut found = Findings::default();
        for name in &self.required {
            if !object.contains_key(name) {
                found.faults.push(format!("{place}: no field `{name}`"));
            }
        }
        for (name, value) in object {
            let place = format!("{place}/{name}");
            let named = self.properties.as_ref().and_then(|all| all.get(name));
            let schema = match &self.additional_properties {
                Some(Additional::Described(schema)) => named.or(Some(schema)),
                _ => named,
            };
            if let Some(schema) = schema {
                found
                    .faults
                    .extend(schema.faults(value, &place, definitions));
            } else if let Some(Additional::Allowed(false)) = self.additional_properties {
                found
                    .faults
                    .push(format!("{place}: this field is not allowed"));
            } else if self.additional_properties.is_none() {
                continue;
            }
            found.fields.insert(name.clone());
        }
        found
    }
}
