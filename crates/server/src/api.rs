//! `/api/...`: JSON lines. Reading uses GET, changing anything uses POST.

use crate::answer::{answer, failure, lines, made_lines, text_of};
use crate::child::{self, NoDocument};
use crate::guard::Client;
use crate::runs;
use crate::state::App;
use axum::Extension;
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderValue, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;
use stripewise_campaign::history::moment;
use stripewise_campaign::live::{self, Cursor, Done, LoginPath, PreviewRequest, Query, Wish};
use stripewise_campaign::{Exit, Failure, Outcome};
use stripewise_units::{ByteSize, nearest};
use tokio::time::timeout;

/// Maximum bytes of a body.
const BODY_MAX: usize = 8 << 10;
/// Time limit for a body to arrive.
const BODY_LIMIT: Duration = Duration::from_secs(5);
/// Maximum number of runs in one response.
const RUNS_MAX: u32 = 5_000;
const RUNS_USUAL: u32 = 500;

/// Parameters of what lists results of the store.
const OF_STORE: [&str; 5] = ["target", "label", "series", "since", "limit"];
/// Keys of a simulated array that may be tried.
const OVERRIDES: [&str; 4] = ["offset", "stripe_unit", "disks", "level"];
/// Parameters of a simulated array, and of what is done to it.
const OF_TRY: [&str; 7] = [
    "offset",
    "stripe_unit",
    "disks",
    "level",
    "array",
    "block",
    "reads",
];

/// Runs blocking work: reading the store, simulating.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Outcome<T> + Send + 'static,
) -> Outcome<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(Failure::of(Exit::Store, error.to_string())))
}

fn failed(error: &Failure) -> Response<Body> {
    let status = match error.exit {
        Exit::Usage => StatusCode::BAD_REQUEST,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    };
    failure(status, &error.chain(), error.hint.as_deref())
}

fn answered<T: Serialize>(outcome: Outcome<Vec<T>>) -> Response<Body> {
    match outcome {
        Ok(all) => lines(&all),
        Err(error) => failed(&error),
    }
}

/// Values of a query by their name, decoded.
pub(crate) fn query_values(query: Option<&str>, name: &str) -> Vec<String> {
    let pairs = query.unwrap_or_default().split('&');
    pairs
        .filter_map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (key == name).then(|| decoded(value))
        })
        .collect()
}

fn query_value(query: Option<&str>, name: &str) -> Option<String> {
    let value = query_values(query, name).into_iter().next()?;
    (!value.is_empty()).then_some(value)
}

/// The refusal of a query with a parameter that is none of these, which would have no effect.
fn unknown_parameter(query: Option<&str>, known: &[&str]) -> Option<Response<Body>> {
    let pairs = query.unwrap_or_default().split('&');
    let names = pairs.map(|pair| pair.split_once('=').map_or(pair, |(name, _)| name));
    let unknown = names
        .filter(|name| !name.is_empty())
        .find(|name| !known.contains(name))?;
    let shown: String = decoded(unknown).chars().take(40).collect();
    let hint = match nearest(&shown, known.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("the parameters are {}", known.join(", ")),
    };
    let error = format!("`{shown}` is not a parameter here");
    Some(failure(StatusCode::BAD_REQUEST, &error, Some(&hint)))
}

/// What a child printed on stderr: `error: ...`, and `hint: ...` on a line of its own.
fn refused_by_child(message: &str) -> Response<Body> {
    let (error, hint) = match message.split_once("\nhint: ") {
        Some((error, hint)) => (error, Some(hint)),
        None => (message, None),
    };
    let error = error.strip_prefix("error: ").unwrap_or(error);
    failure(StatusCode::NOT_FOUND, error, hint)
}

/// Decodes `%2F` and `+`; invalid UTF-8 becomes replacement characters.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let byte = match byte {
            b'+' => b' ',
            b'%' => {
                let digit = |byte: Option<u8>| (byte? as char).to_digit(16);
                match (digit(rest.next()), digit(rest.next())) {
                    (Some(high), Some(low)) => u8::try_from(high * 16 + low).unwrap_or(b'?'),
                    _ => b'?',
                }
            }
            byte => byte,
        };
        bytes.push(byte);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether it can be the id of a run, series or experiment, or the beginning of one; never a file.
pub(crate) fn is_id(text: &str) -> bool {
    let of_id = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let begins = text
        .bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_alphanumeric());
    begins && text.len() <= 64 && text.bytes().all(of_id)
}

/// A body parsed as JSON; limits its size and arrival time.
async fn body<T: DeserializeOwned>(body: Body) -> Result<T, Box<Response<Body>>> {
    let refused = |status: StatusCode, why: &str| Box::new(failure(status, why, None));
    let read = timeout(BODY_LIMIT, Limited::new(body, BODY_MAX).collect()).await;
    let read = read.map_err(|_| {
        refused(
            StatusCode::REQUEST_TIMEOUT,
            "the request body did not arrive",
        )
    })?;
    let read = read.map_err(|_| refused(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large"))?;
    serde_json::from_slice(&read.to_bytes())
        .map_err(|error| refused(StatusCode::BAD_REQUEST, &error.to_string()))
}

#[derive(Deserialize)]
struct Login {
    token: String,
}

/// Exchanges the token of the printed address for a cookie, once.
pub(crate) async fn sign_in(State(shared): App, sent: Body) -> Response<Body> {
    let login: Login = match body(sent).await {
        Ok(login) => login,
        Err(refused) => return *refused,
    };
    let cookie = shared.guard.sign_in(&login.token);
    let Some(cookie) = cookie.and_then(|cookie| HeaderValue::from_str(&cookie).ok()) else {
        let hint = "`stripewise serve` prints a new address when it starts; a script may ask \
                    for one with POST /api/login";
        return failure(
            StatusCode::FORBIDDEN,
            "this token has been used already, or is not from this server",
            Some(hint),
        );
    };
    let mut response = answer(StatusCode::NO_CONTENT, "text/plain", Body::empty());
    response.headers_mut().insert(SET_COOKIE, cookie);
    response
}

/// A new token for another browser, for clients with the token from the file.
pub(crate) async fn new_login(
    State(shared): App,
    Extension(client): Extension<Client>,
    _sent: Body,
) -> Response<Body> {
    if client != Client::Script {
        return failure(
            StatusCode::FORBIDDEN,
            "only with the token from the file",
            None,
        );
    }
    match shared.guard.new_login() {
        Some(token) => lines(&[LoginPath {
            path: format!("/login#{token}"),
        }]),
        None => failure(StatusCode::SERVICE_UNAVAILABLE, "no random numbers", None),
    }
}

pub(crate) async fn now(State(shared): App, RawQuery(query): RawQuery) -> Response<Body> {
    if let Some(refused) = unknown_parameter(query.as_deref(), &["cursor"]) {
        return refused;
    }
    let view = shared.view.clone();
    let seen = Cursor::of(&query_value(query.as_deref(), "cursor").unwrap_or_default());
    answered(blocking(move || Ok(vec![live::now(&view, &seen)?])).await)
}

/// `?target=...&label=...&series=...&since=...&limit=...`; an invalid value is an
/// error, not ignored.
fn what_of_store(query: Option<&str>) -> Result<Query, &'static str> {
    let value = |name: &str| query_value(query, name).filter(|value| !value.is_empty());
    let limit = match value("limit") {
        None => RUNS_USUAL,
        Some(limit) => (limit.parse().ok())
            .filter(|limit| (1..=RUNS_MAX).contains(limit))
            .ok_or("the limit is not a number from 1 to 5000")?,
    };
    let since = value("since").map(|since| {
        moment(&since)
            .ok_or("`since` is not a day (2026-11-20) or a time in UTC (2026-11-20T08:00)")
    });
    Ok(Query {
        label: value("label"),
        target: value("target"),
        series: value("series"),
        since: since.transpose()?,
        limit: Some(limit),
        ..Query::default()
    })
}

pub(crate) async fn history(State(shared): App, RawQuery(query): RawQuery) -> Response<Body> {
    if let Some(refused) = unknown_parameter(query.as_deref(), &OF_STORE) {
        return refused;
    }
    let view = shared.view.clone();
    match what_of_store(query.as_deref()) {
        Ok(query) => answered(blocking(move || live::history(&view, &query)).await),
        Err(words) => failure(StatusCode::BAD_REQUEST, words, None),
    }
}

/// Profiles, fills and verifications.
pub(crate) async fn measurements(State(shared): App, RawQuery(query): RawQuery) -> Response<Body> {
    if let Some(refused) = unknown_parameter(query.as_deref(), &OF_STORE) {
        return refused;
    }
    let view = shared.view.clone();
    match what_of_store(query.as_deref()) {
        Ok(query) => answered(blocking(move || live::measurements(&view, &query)).await),
        Err(words) => failure(StatusCode::BAD_REQUEST, words, None),
    }
}

pub(crate) async fn trends(State(shared): App, RawQuery(query): RawQuery) -> Response<Body> {
    if let Some(refused) = unknown_parameter(query.as_deref(), &["target"]) {
        return refused;
    }
    let view = shared.view.clone();
    let target = query_value(query.as_deref(), "target").unwrap_or_default();
    let make = move || {
        shared.trends.of(&view.store, &target, || {
            let text = text_of(&[live::trends(&view, &target)?]);
            let text = text.map_err(|error| Failure::of(Exit::Store, error.to_string()))?;
            Ok(text.into())
        })
    };
    match blocking(make).await {
        Ok(text) => made_lines(text),
        Err(error) => failed(&error),
    }
}

/// The output of a child process as one line of JSON.
async fn document(shared: &crate::state::Shared, words: &[&str]) -> Response<Body> {
    match child::document(shared, words).await {
        Ok(bytes) => match serde_json::from_slice::<Value>(&bytes) {
            Ok(document) => lines(&[document]),
            Err(error) => failure(StatusCode::BAD_GATEWAY, &error.to_string(), None),
        },
        Err(NoDocument::Refused(message)) => refused_by_child(&message),
        Err(NoDocument::Failed(why)) => failure(StatusCode::BAD_GATEWAY, &why, None),
    }
}

/// Records in full: `?id=...`.
pub(crate) async fn records(State(shared): App, RawQuery(query): RawQuery) -> Response<Body> {
    if let Some(refused) = unknown_parameter(query.as_deref(), &["id"]) {
        return refused;
    }
    let id = query_value(query.as_deref(), "id").unwrap_or_default();
    if !is_id(&id) {
        return failure(StatusCode::BAD_REQUEST, "name an id: ?id=...", None);
    }
    let words = ["export", "--format=jsonl", "--", id.as_str()];
    match child::document(&shared, &words).await {
        Ok(bytes) => answer(StatusCode::OK, "application/x-ndjson", bytes),
        Err(NoDocument::Refused(message)) => refused_by_child(&message),
        Err(NoDocument::Failed(why)) => failure(StatusCode::BAD_GATEWAY, &why, None),
    }
}

/// `?a=...&b=...&metric=...`.
pub(crate) async fn compare(State(shared): App, RawQuery(query): RawQuery) -> Response<Body> {
    if let Some(refused) = unknown_parameter(query.as_deref(), &["a", "b", "metric"]) {
        return refused;
    }
    let value = |name: &str| query_value(query.as_deref(), name).unwrap_or_default();
    let (a, b, metric) = (value("a"), value("b"), value("metric"));
    let is_metric = metric
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || b"_0123456789".contains(&byte));
    if !is_id(&a) || !is_id(&b) || !is_metric {
        return failure(StatusCode::BAD_REQUEST, "name two ids: ?a=...&b=...", None);
    }
    // Not every kind of result is compared by a metric.
    let switch = (!metric.is_empty()).then(|| format!("--metric={metric}"));
    let mut words = vec!["compare", "--json"];
    words.extend(switch.as_deref());
    words.extend(["--", a.as_str(), b.as_str()]);
    document(&shared, &words).await
}

pub(crate) async fn disks(State(shared): App) -> Response<Body> {
    document(&shared, &["disks", "--json"]).await
}

pub(crate) async fn doctor(State(shared): App) -> Response<Body> {
    document(&shared, &["doctor", "--json"]).await
}

pub(crate) async fn arrays() -> Response<Body> {
    answered(blocking(|| Ok(live::arrays())).await)
}

/// `?array=raid10-10k&offset=63s&stripe_unit=64K&disks=4&block=8K&reads=100`.
pub(crate) async fn try_array(State(shared): App, RawQuery(query): RawQuery) -> Response<Body> {
    if let Some(refused) = unknown_parameter(query.as_deref(), &OF_TRY) {
        return refused;
    }
    let preview_request = match preview_request(query.as_deref()) {
        Ok(preview_request) => preview_request,
        Err(why) => return failure(StatusCode::BAD_REQUEST, why, None),
    };
    // Simulating takes a processor for a moment: limit it like documents.
    let Ok(_permit) = shared.children.acquire().await else {
        return failure(
            StatusCode::SERVICE_UNAVAILABLE,
            "the server is shutting down",
            None,
        );
    };
    answered(blocking(move || Ok(vec![live::try_array(&preview_request)?])).await)
}

fn preview_request(query: Option<&str>) -> Result<PreviewRequest, &'static str> {
    let value = |name: &str| query_value(query, name);
    let array = value("array").ok_or("name an array: ?array=...")?;
    let plain = |text: &str| {
        text.len() <= 64
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    if !plain(&array) || array.contains('.') {
        return Err("this is not the name of an array");
    }
    let mut overrides = Vec::new();
    for key in OVERRIDES {
        if let Some(value) = value(key) {
            if !plain(&value) {
                return Err("a value of the layout is not valid");
            }
            overrides.push(format!("{key}={value}"));
        }
    }
    let block = value("block").unwrap_or_else(|| "8K".to_owned());
    let block: ByteSize = block.parse().map_err(|_| "the block size is not valid")?;
    if !(512..=4 << 20).contains(&block.0) {
        return Err("use a block of 512 bytes to 4 MiB");
    }
    let reads = value("reads").unwrap_or_else(|| "100".to_owned());
    let read_percent: u8 = reads.parse().map_err(|_| "use 0 or 100 % of reads")?;
    if !matches!(read_percent, 0 | 100) {
        return Err("use 0 or 100 % of reads");
    }
    Ok(PreviewRequest {
        array: match overrides.is_empty() {
            true => array,
            false => format!("{array}?{}", overrides.join("&")),
        },
        block_size_bytes: block.0,
        read_percent,
    })
}

/// What may be started here, and the last run started.
pub(crate) async fn started(State(shared): App) -> Response<Body> {
    lines(&[shared.runs.here()])
}

pub(crate) async fn start(State(shared): App, sent: Body) -> Response<Body> {
    let options: Wish = match body(sent).await {
        Ok(options) => options,
        Err(refused) => return *refused,
    };
    match runs::start(&shared.runs, &shared.program, &shared.view, &options) {
        Ok(()) => lines(&[Done { done: true }]),
        Err(why) => failure(StatusCode::CONFLICT, &why, None),
    }
}

pub(crate) async fn stop(State(shared): App, _sent: Body) -> Response<Body> {
    lines(&[Done {
        done: shared.runs.stop(),
    }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_decoded_and_ids_are_no_files() {
        let query = Some("target=%2Fdata+x%41&id=a&id=b&bad=%zz&end=%4");
        assert_eq!(query_value(query, "target").as_deref(), Some("/data xA"));
        assert_eq!(query_values(query, "id"), ["a", "b"]);
        assert_eq!(query_value(query, "bad").as_deref(), Some("?"));
        assert_eq!(query_value(None, "x"), None);
        for (id, is_one) in [
            ("20261122-194715-r7wm", true),
            ("last", true),
            ("", false),
            ("--help", false),
            ("../x", false),
            ("a/b", false),
            ("dataset:x", false),
        ] {
            assert_eq!(is_id(id), is_one, "{id}");
        }
    }

    #[test]
    fn a_parameter_that_would_have_no_effect_is_refused() {
        let is_refused = |query, known: &[&str]| unknown_parameter(query, known).is_some();
        for query in [None, Some(""), Some("limit=5&target=a&"), Some("since=")] {
            assert!(!is_refused(query, &OF_STORE), "{query:?}");
        }
        for query in ["limt=5", "limit=5&x", "target=a&Label=b", "cursor=1"] {
            assert!(is_refused(Some(query), &OF_STORE), "{query}");
        }
        assert!(OVERRIDES.iter().all(|key| OF_TRY.contains(key)));
        let none = refused_by_child("error: no run\nhint: list them");
        assert_eq!(none.status(), StatusCode::NOT_FOUND);
    }

    #[test]
    fn values_that_are_not_valid_are_errors() {
        let limit = |query| what_of_store(Some(query)).map(|query| query.limit);
        assert_eq!(limit("limit=7"), Ok(Some(7)));
        assert_eq!(limit("limit="), Ok(Some(RUNS_USUAL)));
        let since = |query| what_of_store(Some(query)).map(|query| query.since);
        let day = Some("2026-11-20".to_owned());
        assert_eq!(since("since=2026-11-20"), Ok(day));
        assert_eq!(since("since="), Ok(None));
        for query in [
            "limit=-1",
            "limit=0",
            "limit=99999999999999999999",
            "limit=ten",
            "since=9999-99-99",
            "since=yesterday",
            "since=2026-11-20T25:00",
        ] {
            assert!(what_of_store(Some(query)).is_err(), "{query}");
        }
    }

    #[test]
    fn what_is_tried_is_a_name_and_never_a_file() {
        let tried = preview_request(Some("array=raid10-10k&offset=63s&block=64K&disks=6")).unwrap();
        assert_eq!(tried.array, "raid10-10k?offset=63s&disks=6");
        assert_eq!(tried.block_size_bytes, 65_536);
        for query in [
            "",
            "array=/etc/x.toml",
            "array=x.toml",
            "array=nvme&block=0",
            "array=nvme&block=1G",
            "array=nvme&offset=1%26disks=9",
            "array=nvme&reads=50",
        ] {
            assert!(preview_request(Some(query)).is_err(), "{query}");
        }
    }
}
