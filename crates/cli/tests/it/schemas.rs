//! The published JSON Schemas match the types.

use std::path::Path;

#[test]
fn the_published_schemas_are_those_of_the_types() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    for (name, schema) in stripewise_cli::schema::schemas() {
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        let path = folder.join(name);
        if std::env::var_os("STRIPEWISE_WRITE_SCHEMAS").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let published = std::fs::read_to_string(&path).unwrap();
        assert!(published == text, "`cargo xtask schemas` writes {name}");
    }
}
