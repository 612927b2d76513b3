//! HTTP responses, with the headers common to all.

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{Response, StatusCode};
use serde::Serialize;
use stripewise_campaign::live::Refused;

/// Policy of this server's pages: scripts and styles from here, nothing inline, nothing from
/// elsewhere, no framing.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(crate) fn answer(
    status: StatusCode,
    kind: &'static str,
    body: impl Into<Body>,
) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_TYPE, kind),
        (CONTENT_SECURITY_POLICY, POLICY),
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
        (HeaderName::from_static("x-frame-options"), "DENY"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Plain text for people.
pub(crate) fn words(status: StatusCode, words: impl Into<String>) -> Response<Body> {
    answer(
        status,
        "text/plain; charset=utf-8",
        format!("{}\n", words.into()),
    )
}

/// JSON documents, one per line.
pub(crate) fn lines<T: Serialize>(all: &[T]) -> Response<Body> {
    match text_of(all) {
        Ok(text) => made_lines(text),
        Err(error) => words(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    }
}

/// The same documents as text.
pub(crate) fn text_of<T: Serialize>(all: &[T]) -> serde_json::Result<String> {
    let mut text = String::new();
    for one in all {
        text.push_str(&serde_json::to_string(one)?);
        text.push('\n');
    }
    Ok(text)
}

/// A response of documents that are text already.
pub(crate) fn made_lines(text: impl Into<Body>) -> Response<Body> {
    answer(StatusCode::OK, "application/x-ndjson", text)
}

/// A failure as a line of JSON: `{"error": ..., "hint": ...}`.
pub(crate) fn failure(status: StatusCode, error: &str, hint: Option<&str>) -> Response<Body> {
    let mut response = lines(&[Refused {
        error: error.to_owned(),
        hint: hint.map(str::to_owned),
    }]);
    *response.status_mut() = status;
    response
}
