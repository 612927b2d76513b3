//! Pages: one shell filled by a script, and reports made by a child process.

use crate::answer::{answer, words};
use crate::api::{is_id, query_values};
use crate::child::{self, NoDocument};
use crate::state::{App, Shared};
use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::header::{CONTENT_SECURITY_POLICY, HeaderValue};
use axum::http::{Response, StatusCode};

const HTML: &str = "text/html; charset=utf-8";
const SHELL: &str = include_str!("../assets/shell.html");
const SCRIPT: &str = include_str!("../assets/app.js");
const STYLE: &str = include_str!("../assets/app.css");
const LOGIN: &str = include_str!("../assets/login.html");
const LOGIN_SCRIPT: &str = include_str!("../assets/login.js");
/// A square in the page's blue.
const ICON: &[u8] = include_bytes!("../assets/icon.png");
/// Maximum number of subjects of one report.
const SUBJECTS_MAX: usize = 8;

pub(crate) async fn shell() -> Response<Body> {
    answer(StatusCode::OK, HTML, SHELL)
}

pub(crate) async fn login() -> Response<Body> {
    answer(StatusCode::OK, HTML, LOGIN)
}

pub(crate) async fn login_script() -> Response<Body> {
    answer(
        StatusCode::OK,
        "text/javascript; charset=utf-8",
        LOGIN_SCRIPT,
    )
}

pub(crate) async fn script() -> Response<Body> {
    answer(StatusCode::OK, "text/javascript; charset=utf-8", SCRIPT)
}

pub(crate) async fn style() -> Response<Body> {
    answer(StatusCode::OK, "text/css; charset=utf-8", STYLE)
}

pub(crate) async fn icon() -> Response<Body> {
    answer(StatusCode::OK, "image/png", ICON)
}

/// The report of a run, series or experiment.
pub(crate) async fn report(State(shared): App, Path(id): Path<String>) -> Response<Body> {
    report_of(&shared, &[id]).await
}

/// One report of several: `?id=A&id=B`.
pub(crate) async fn report_of_several(
    State(shared): App,
    RawQuery(query): RawQuery,
) -> Response<Body> {
    let ids = query_values(query.as_deref(), "id");
    report_of(&shared, &ids).await
}

async fn report_of(shared: &Shared, ids: &[String]) -> Response<Body> {
    if ids.is_empty() || ids.len() > SUBJECTS_MAX || !ids.iter().all(|id| is_id(id)) {
        return words(
            StatusCode::BAD_REQUEST,
            "name up to eight ids of runs or series",
        );
    }
    let mut words_of_child = vec!["report", "--format=html", "--output=-", "--"];
    words_of_child.extend(ids.iter().map(String::as_str));
    match child::document(shared, &words_of_child).await {
        Ok(page) => {
            let mut response = answer(StatusCode::OK, HTML, page);
            let policy = format!(
                "{}; frame-ancestors 'none'",
                stripewise_report::page_policy()
            );
            if let Ok(policy) = HeaderValue::from_str(&policy) {
                response
                    .headers_mut()
                    .insert(CONTENT_SECURITY_POLICY, policy);
            }
            response
        }
        Err(NoDocument::Refused(message)) => words(StatusCode::NOT_FOUND, message),
        Err(NoDocument::Failed(why)) => words(StatusCode::BAD_GATEWAY, why),
    }
}
