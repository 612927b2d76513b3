//! Whether a document holds to our JSON Schema. The tests of `app` use this file
//! as well.
//!
//! A published schema says that documents may have further fields, so that later
//! versions may add some. Here a field that it does not name is a fault, unless it
//! speaks of additional ones: every field of today's documents is described.

use serde_json::{Value, json};

/// The schema of one definition; `None` where there is no such definition.
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
/// If the document or the schema is not JSON, or the schema is not a JSON Schema.
pub fn faults_of(document: &str, schema: &str) -> Vec<String> {
    let mut schema: Value = serde_json::from_str(schema).expect("the schema is JSON");
    let value: Value = serde_json::from_str(document).expect("a document");
    jsonschema::meta::validate(&schema).expect("a JSON Schema");
    close(&mut schema);
    within(&mut schema);
    let validator = jsonschema::validator_for(&schema).expect("references that lead somewhere");
    let faults = validator.iter_errors(&value);
    faults
        .map(|fault| format!("{}: {fault}", fault.instance_path()))
        .collect()
}

/// Allows a value no fields but those that its schema names, itself or by one that it
/// refers to.
fn close(schema: &mut Value) {
    const SAY_FIELDS: [&str; 7] = [
        "properties",
        "$ref",
        "anyOf",
        "oneOf",
        "allOf",
        "if",
        "additionalProperties",
    ];
    if let Some(schema) = schema.as_object_mut()
        && SAY_FIELDS
            .iter()
            .any(|keyword| schema.contains_key(*keyword))
    {
        schema.insert("unevaluatedProperties".to_owned(), Value::Bool(false));
    }
}

/// Closes the schemas of all values inside of the one that this schema is of.
fn within(schema: &mut Value) {
    for (keyword, inner) in schema.as_object_mut().into_iter().flatten() {
        match keyword.as_str() {
            "properties" => {
                let fields = inner.as_object_mut().into_iter().flatten();
                for (_, field) in fields {
                    close(field);
                    within(field);
                }
            }
            "items" | "additionalProperties" => {
                close(inner);
                within(inner);
            }
            "prefixItems" => {
                for item in inner.as_array_mut().into_iter().flatten() {
                    close(item);
                    within(item);
                }
            }
            // Of the same value: what it names is known above.
            "$defs" => {
                let definitions = inner.as_object_mut().into_iter().flatten();
                definitions.for_each(|(_, one)| within(one));
            }
            "anyOf" | "oneOf" | "allOf" => {
                let cases = inner.as_array_mut().into_iter().flatten();
                cases.for_each(within);
            }
            "then" | "else" => within(inner),
            _ => {}
        }
    }
}
