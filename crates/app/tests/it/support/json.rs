//! Reading JSON in tests: paths that must exist, with words when they do not.

use serde_json::Value;

/// A part of a JSON document and where it was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Json {
    value: Value,
    path: String,
}

impl Json {
    /// The whole text is one document.
    pub fn parse(text: &str) -> serde_json::Result<Json> {
        Ok(Json {
            value: serde_json::from_str(text)?,
            path: String::new(),
        })
    }

    /// A field, or one further down: `outcome.read.operations`.
    #[track_caller]
    pub fn at(&self, path: &str) -> Json {
        self.maybe(path)
            .unwrap_or_else(|| panic!("no {}.{path} in {}", self.path, self.value))
    }

    /// As `at`, where a field may be left out.
    pub fn maybe(&self, path: &str) -> Option<Json> {
        let mut value = &self.value;
        for name in path.split('.') {
            value = match name.parse::<usize>() {
                Ok(index) => value.get(index)?,
                Err(_) => value.get(name)?,
            };
        }
        Some(Json {
            value: value.clone(),
            path: format!("{}.{path}", self.path),
        })
    }

    /// Whether the field is there and says nothing.
    /// The value as JSON text.
    pub fn json(&self) -> String {
        self.value.to_string()
    }

    pub fn is_null(&self) -> bool {
        self.value.is_null()
    }

    /// The fields of this name, wherever they are.
    pub fn all(&self, name: &str) -> Vec<Json> {
        let mut found = Vec::new();
        collect(&self.value, name, &mut found);
        found
    }

    #[track_caller]
    pub fn items(&self) -> Vec<Json> {
        let items = self.value.as_array();
        let items = items.unwrap_or_else(|| panic!("{} is no list", self.path));
        items
            .iter()
            .enumerate()
            .map(|(index, value)| Json {
                value: value.clone(),
                path: format!("{}.{index}", self.path),
            })
            .collect()
    }

    #[track_caller]
    pub fn text(&self) -> String {
        let text = self.value.as_str();
        text.unwrap_or_else(|| panic!("{} is no text: {}", self.path, self.value))
            .to_owned()
    }

    #[track_caller]
    pub fn count(&self) -> u64 {
        let count = self.value.as_u64();
        count.unwrap_or_else(|| panic!("{} is no count: {}", self.path, self.value))
    }

    #[track_caller]
    pub fn number(&self) -> f64 {
        let number = self.value.as_f64();
        number.unwrap_or_else(|| panic!("{} is no number: {}", self.path, self.value))
    }

    #[track_caller]
    pub fn truth(&self) -> bool {
        let truth = self.value.as_bool();
        truth.unwrap_or_else(|| panic!("{} is neither true nor false", self.path))
    }
}

fn collect(value: &Value, name: &str, found: &mut Vec<Json>) {
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                if key == name {
                    found.push(Json {
                        value: field.clone(),
                        path: name.to_owned(),
                    });
                } else {
                    collect(field, name, found);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, name, found)),
        _ => {}
    }
}
