//! Whether a document holds to our JSON Schema. The tests of `app` use this file
//! as well.
//!
//! A published schema says that documents may have further fields, so that later
//! versions may add some. Here a field that it does not name is a fault, unless it
//! speaks of additional ones: every field of today's documents is described.

use serde_json::Value;

/// How `commands-1.schema.json` names definitions of `document-1.schema.json`.
const IN_DOCUMENT: &str = "document-1.schema.json#";

/// The schema of one definition in the schema of commands, with what it names in
/// the schema of runs; `None` where there is no such definition.
///
/// # Panics
/// If one of them is not JSON.
pub fn definition(document: &str, commands: &str, name: &str) -> Option<String> {
    let parsed = |text: &str| -> Value {
        serde_json::from_str(&text.replace(IN_DOCUMENT, "#")).expect("the schema is JSON")
    };
    let mut definitions = parsed(document)["$defs"].clone();
    let commands = parsed(commands)["$defs"].clone();
    commands.get(name)?;
    for (name, definition) in commands.as_object().expect("definitions") {
        definitions[name] = definition.clone();
    }
    let both = serde_json::json!({"$ref": format!("#/$defs/{name}"), "$defs": definitions});
    Some(both.to_string())
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
    let validator = jsonschema::validator_for(&schema).expect("references that lead somewhere");
    let faults = validator.iter_errors(&value);
    faults
        .map(|fault| format!("{}: {fault}", fault.instance_path()))
        .collect()
}

/// Allows no fields but those that are named, in this schema and all within it.
fn close(schema: &mut Value) {
    let Some(schema) = schema.as_object_mut() else {
        return;
    };
    if schema.contains_key("properties") {
        schema
            .entry("additionalProperties")
            .or_insert(Value::Bool(false));
    }
    for (keyword, inner) in schema {
        match keyword.as_str() {
            "properties" | "$defs" => {
                let named = inner.as_object_mut().into_iter().flatten();
                named.for_each(|(_, one)| close(one));
            }
            "items" | "additionalProperties" => close(inner),
            "anyOf" | "oneOf" | "allOf" => {
                let all = inner.as_array_mut().into_iter().flatten();
                all.for_each(close);
            }
            _ => {}
        }
    }
}
