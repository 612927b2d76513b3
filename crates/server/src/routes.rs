//! The routes and their handlers.

use crate::answer;
use crate::connection::ConnectionSlot;
use crate::guard::Client;
use crate::state::{App, Shared};
use crate::{api, metrics, pages};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Response, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::routing::{get, post};
use std::sync::Arc;

pub(crate) fn router(shared: &Arc<Shared>) -> Router {
    Router::new()
        .route("/", get(pages::shell))
        .route("/history", get(pages::shell))
        .route("/compare", get(pages::shell))
        .route("/machine", get(pages::shell))
        .route("/try", get(pages::shell))
        .route("/login", get(pages::login).post(api::sign_in))
        .route("/login.js", get(pages::login_script))
        .route("/app.js", get(pages::script))
        .route("/app.css", get(pages::style))
        .route("/favicon.ico", get(pages::icon))
        .route("/run/{id}", get(pages::report))
        .route("/reports", get(pages::report_of_several))
        .route("/metrics", get(metrics::metrics))
        .route("/api/now", get(api::now))
        .route("/api/runs", get(api::history).post(api::start))
        .route("/api/measurements", get(api::measurements))
        .route("/api/records", get(api::records))
        .route("/api/trends", get(api::trends))
        .route("/api/compare", get(api::compare))
        .route("/api/disks", get(api::disks))
        .route("/api/doctor", get(api::doctor))
        .route("/api/arrays", get(api::arrays))
        .route("/api/try", get(api::try_array))
        .route("/api/started", get(api::started))
        .route("/api/stop", post(api::stop))
        .route("/api/login", post(api::new_login))
        .fallback(missing)
        .layer(from_fn_with_state(Arc::clone(shared), guarded))
        .with_state(Arc::clone(shared))
}

async fn missing(request: Request) -> Response<Body> {
    refused(
        request.uri().path(),
        StatusCode::NOT_FOUND,
        "there is no such page",
    )
}

/// Scripts get the refusal in JSON, people as text.
fn refused(path: &str, status: StatusCode, words: &str) -> Response<Body> {
    match path.starts_with("/api/") {
        true => answer::failure(status, words, None),
        false => answer::words(status, words),
    }
}

/// Nothing else sees a request before the guard has checked it.
async fn guarded(State(shared): App, mut request: Request, next: Next) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let judged = shared.guard.judge(&parts);
    let client: Client = match judged {
        Ok(client) => client,
        Err(refusal) => return refused(parts.uri.path(), refusal.status, refusal.words),
    };
    if client != Client::Anonymous
        && let Some(seat) = parts.extensions.get::<Arc<ConnectionSlot>>()
    {
        seat.shows_token();
    }
    request = Request::from_parts(parts, body);
    request.extensions_mut().insert(client);
    next.run(request).await
}
