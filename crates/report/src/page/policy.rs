//! The Content-Security-Policy of the page: nothing is loaded from anywhere, and
//! only this program's own scripts and styles are allowed.
//!
//! The hashes are constants, so that writing a report computes none; when a file has
//! changed, the test below prints the new ones.

/// SHA-256 of `assets/echarts/echarts.min.js`.
const ECHARTS_HASH: &str = "eNhwGWZICuQuimgOBDVJv3uc4Rp2VKCrOikxMiCyYG0=";
/// SHA-256 of `page.js`.
const SCRIPT_HASH: &str = "E5SWJoYtHc40drZMExJMi5R6XtiF6atFgqAnSYWA1PM=";
/// SHA-256 of `page.css`.
const STYLE_HASH: &str = "8tSYQDeNDjlOr8ACQhtjkK68ayZ+R6Uo4Q3MtkYfRCE=";

/// The `Content-Security-Policy` that a page of [`crate::html`] contains,
/// for servers that also send it as a header.
pub fn page_policy() -> String {
    format!(
        "default-src 'none'; script-src 'sha256-{ECHARTS_HASH}' 'sha256-{SCRIPT_HASH}'; \
         style-src 'sha256-{STYLE_HASH}'; img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{ECHARTS, SCRIPT, STYLE};
    use base64::Engine;
    use sha2::Digest;

    fn hash(text: &str) -> String {
        base64::engine::general_purpose::STANDARD.encode(sha2::Sha256::digest(text.as_bytes()))
    }

    #[test]
    fn the_policy_names_the_scripts_and_the_style_that_are_in_the_page() {
        assert_eq!(hash(ECHARTS), ECHARTS_HASH, "echarts.min.js");
        assert_eq!(hash(SCRIPT), SCRIPT_HASH, "page.js");
        assert_eq!(hash(STYLE), STYLE_HASH, "page.css");
    }

    #[test]
    fn nothing_in_our_scripts_ends_their_element() {
        for script in [ECHARTS, SCRIPT] {
            assert!(!script.contains("</script") && !script.contains("<!--"));
        }
        assert!(!STYLE.contains("</style"));
    }

    #[test]
    fn nothing_inline_is_let_through() {
        assert!(!page_policy().contains("unsafe"));
        assert!(!page_policy().contains("http"));
    }
}
