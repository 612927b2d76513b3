//! Tests that cannot run here are named and counted, never silent. Integration
//! tests of several crates include this file by its path.

/// Says that a test cannot run here. Fails instead where everything is required.
#[track_caller]
pub fn skip(test: &str, needs: &str) {
    assert!(
        std::env::var_os("STRIPEWISE_REQUIRE_TOOLS").is_none_or(|value| value != "1"),
        "{test} needs {needs}, and STRIPEWISE_REQUIRE_TOOLS=1 forbids skips"
    );
    eprintln!("skipped: {test}: needs {needs}");
}
