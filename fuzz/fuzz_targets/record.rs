//! Any text as a document of records: refused, or a document that is the same when
//! it is printed and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stripewise_results::Document;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    match Document::from_json(text) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(document) => {
            let printed = document.to_json();
            let again = Document::from_json(&printed).expect("our own document");
            assert_eq!(again.to_json(), printed);
        }
    }
});
