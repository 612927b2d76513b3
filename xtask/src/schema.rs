//! Whether a document holds to our JSON Schema. The tests of `app` use this file
//! as well.
//!
//! It knows the keywords that our schema uses and stops at any other; a field that
//! the schema does not name is a fault, unless it speaks of additional ones.

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
/// If the document or the schema is not JSON, or the schema is not one that is
/// understood here.
pub fn faults_of(document: &str, schema: &str) -> Vec<String> {
    let schema: Value = serde_json::from_str(schema).expect("the schema is JSON");
    let value: Value = serde_json::from_str(document).expect("a document");
    let mut found = Vec::new();
    faults(&schema, &schema, &value, "", &mut found);
    found
}

/// Judges a value by a schema of the keywords that ours uses.
fn faults(schema: &Value, root: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
    let mut schema = schema;
    while let Some(reference) = schema["$ref"].as_str() {
        schema = root
            .pointer(reference.trim_start_matches('#'))
            .expect("a definition");
    }
    for (keyword, rule) in schema.as_object().expect("a schema") {
        let good = match keyword.as_str() {
            "description" | "title" | "$schema" | "$id" | "$defs" | "then" => true,
            "type" => match rule {
                Value::Array(types) => types.iter().any(|one| is_of(one, value)),
                one => is_of(one, value),
            },
            "const" => rule == value,
            "enum" => rule.as_array().expect("values").contains(value),
            "minimum" => value
                .as_f64()
                .is_none_or(|number| number >= rule.as_f64().expect("a number")),
            "maximum" => value
                .as_f64()
                .is_none_or(|number| number <= rule.as_f64().expect("a number")),
            "minItems" => value
                .as_array()
                .is_none_or(|items| items.len() as u64 >= rule.as_u64().expect("a number")),
            "maxItems" => value
                .as_array()
                .is_none_or(|items| items.len() as u64 <= rule.as_u64().expect("a number")),
            "required" => has_all(rule, value),
            "if" => {
                let lacks = !has_all(&rule["not"]["required"], value);
                !lacks || has_all(&schema["then"]["required"], value)
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    faults(rule, root, item, &format!("{path}/{index}"), found);
                }
                true
            }
            "additionalProperties" => {
                for (name, item) in value.as_object().into_iter().flatten() {
                    faults(rule, root, item, &format!("{path}/{name}"), found);
                }
                true
            }
            "properties" => {
                for (name, item) in value.as_object().into_iter().flatten() {
                    match rule.get(name) {
                        Some(rule) => faults(rule, root, item, &format!("{path}/{name}"), found),
                        None if schema.get("additionalProperties").is_some() => {}
                        None => found.push(format!("{path}/{name} is not in the schema")),
                    }
                }
                true
            }
            other => panic!("the schema uses `{other}`, which this checker does not know"),
        };
        if !good {
            found.push(format!(
                "{path}: {keyword} {rule} does not hold for {value}"
            ));
        }
    }
}

fn has_all(names: &Value, value: &Value) -> bool {
    let names = names.as_array().expect("names");
    !value.is_object()
        || names
            .iter()
            .all(|name| value.get(name.as_str().expect("a name")).is_some())
}

fn is_of(name: &Value, value: &Value) -> bool {
    match name.as_str().expect("a type") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        "null" => value.is_null(),
        other => panic!("{other}"),
    }
}
