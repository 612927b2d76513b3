//! JSON Schemas of documents, generated from the types that print them.
//!
//! A field is required if a document always has it, and null is allowed only if it can be null:
//! fields that are omitted when unknown are never null.

use crate::SCHEMA_VERSION;
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Value, json};

/// The definition of a run, measured or imported.
const RUN: &str = "run";
/// Types within a run that may have less if another tool made it.
const LACKING: [&str; 8] = [
    "RunRecord",
    "HostFacts",
    "JobRecord",
    "TargetFacts",
    "Workload",
    "EngineFacts",
    "JobOutcome",
    "KindOutcome",
];
/// The last of them: its values are known individually.
const LATENCIES: &str = "LatencySummary";

/// The generator for schemas of printed documents.
pub fn generator() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator()
}

/// A schema as published: `head` are its own keywords (`$id`, `title`...), `body` its content, plus
/// all definitions that the generator encountered.
pub fn published(mut generator: SchemaGenerator, head: Value, body: Value) -> Value {
    let mut definitions = generator.take_definitions(true);
    if let Some(Value::Object(more)) = body.get("$defs") {
        definitions.extend(more.clone());
    }
    let mut schema = head;
    if let (Value::Object(schema), Value::Object(body)) = (&mut schema, body) {
        schema.extend(body);
        schema.remove("$defs");
        schema.insert("$defs".to_owned(), Value::Object(definitions));
    }
    narrow(&mut schema);
    split_runs(&mut schema);
    schema
}

/// The schema of a type; its dependencies are added to the generator's definitions.
pub fn of<T: schemars::JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    T::json_schema(generator)
}

/// Measured runs have all fields; those of another tool lack what it does not give.
fn split_runs(schema: &mut Value) {
    let lacking = || LACKING.into_iter().chain([LATENCIES]);
    let stated: Vec<(&str, Value)> = lacking()
        .filter_map(|name| Some((name, schema["$defs"].get(name)?.clone())))
        .collect();
    if stated.is_empty() {
        return;
    }
    point(schema, LACKING[0], RUN);
    for (name, mut stated) in stated {
        loosen(&mut stated);
        for other in lacking() {
            point(&mut stated, other, &format!("Imported{other}"));
        }
        if name == LACKING[0] {
            stated["required"] = json!(["id", "imported", "jobs"]);
        }
        schema["$defs"][format!("Imported{name}")] = stated;
    }
    schema["$defs"][RUN] = json!({
        "description": "A run: one or more jobs at once. Another tool's lacks what its source does not say.",
        "if": {"required": ["imported"]},
        "then": {"$ref": format!("#/$defs/Imported{}", LACKING[0])},
        "else": {"$ref": format!("#/$defs/{}", LACKING[0])},
    });
}

/// Makes everything optional; any case of a field may have what one of them adds.
fn loosen(schema: &mut Value) {
    let Some(schema) = schema.as_object_mut() else {
        return;
    };
    schema.remove("required");
    let Some(Value::Array(cases)) = schema.remove("oneOf") else {
        return;
    };
    let names: Vec<Value> = cases
        .iter()
        .filter_map(|case| case.pointer("/properties/pattern/const").cloned())
        .collect();
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else {
        return;
    };
    for case in cases {
        for (name, field) in case["properties"].as_object().into_iter().flatten() {
            properties
                .entry(name.clone())
                .or_insert_with(|| field.clone());
        }
    }
    properties.insert("pattern".to_owned(), json!({"enum": names}));
}

/// Redirects references from one definition to another.
fn point(schema: &mut Value, from: &str, to: &str) {
    match schema {
        Value::Object(keywords) => {
            for (keyword, value) in keywords {
                match value {
                    Value::String(at) if keyword == "$ref" && *at == format!("#/$defs/{from}") => {
                        *at = format!("#/$defs/{to}");
                    }
                    inner => point(inner, from, to),
                }
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|one| point(one, from, to)),
        _ => {}
    }
}

/// Removes null from fields that are omitted when unknown, and fixes the version.
fn narrow(schema: &mut Value) {
    match schema {
        Value::Object(keywords) => {
            let required = keywords.get("required").cloned();
            let is_required = |name: &str| {
                let all = required.as_ref().and_then(Value::as_array);
                all.is_some_and(|all| all.iter().any(|one| one == name))
            };
            let properties = keywords
                .get_mut("properties")
                .and_then(Value::as_object_mut);
            for (name, field) in properties.into_iter().flatten() {
                if !is_required(name) {
                    never_null(field);
                }
                if name == "schema_version" {
                    *field = json!({
                        "description": "Version of the document: its fields mean the same in all of one version",
                        "const": SCHEMA_VERSION,
                    });
                }
            }
            keywords.values_mut().for_each(narrow);
        }
        Value::Array(all) => all.iter_mut().for_each(narrow),
        _ => {}
    }
}

fn never_null(field: &mut Value) {
    let Some(field) = field.as_object_mut() else {
        return;
    };
    let is_null = |schema: &Value| *schema == json!({"type": "null"});
    if let Some(Value::Array(types)) = field.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            field.insert("type".to_owned(), one);
        }
    }
    let Some(Value::Array(cases)) = field.get_mut("anyOf") else {
        return;
    };
    cases.retain(|case| !is_null(case));
    if let [Value::Object(one)] = cases.as_slice() {
        let one = one.clone();
        field.remove("anyOf");
        for (keyword, value) in one {
            field.entry(keyword).or_insert(value);
        }
    }
}
