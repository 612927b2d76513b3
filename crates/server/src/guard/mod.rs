//! Access control.
//!
//! | attack | defence |
//! |---|---|
//! | a page of another origin sends requests in the user's browser | cookie is `SameSite=Strict`; `Origin` and `Sec-Fetch-Site` |
//! | a name of the attacker that resolves to 127.0.0.1 (DNS rebinding) | `Host` must be one of few texts, exactly |
//! | another user of this machine | a token of 256 bits, in the printed address and in a 0600 file |
//! | the address is read from history or a log | its token is valid once, follows `#`, and is posted |
//! | a link or picture that makes the browser ask | GET changes nothing; POST needs this server's `Origin` |

use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode};
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use stripewise_campaign::steps::token;

/// Maximum number of signed-in browsers; the oldest is dropped first.
const SESSIONS_MAX: usize = 16;

/// The allowed values of `Host`.
#[derive(Clone, Debug)]
pub(crate) enum Hosts {
    /// Exactly these.
    Exact(Vec<String>),
    /// With a Unix socket, `ssh -L` chooses the port: names of this machine with any port.
    AnyPort,
}

impl Hosts {
    pub(crate) fn of(address: SocketAddr) -> Hosts {
        let port = address.port();
        let mut names = vec![address.to_string(), format!("localhost:{port}")];
        // Browsers omit HTTP's default port.
        if port == 80 {
            names.extend([address.ip().to_string(), "localhost".to_owned()]);
        }
        Hosts::Exact(names)
    }

    pub(crate) fn of_socket() -> Hosts {
        Hosts::AnyPort
    }

    fn allow(&self, host: &str) -> bool {
        match self {
            Hosts::Exact(names) => names.iter().any(|name| name == host),
            Hosts::AnyPort => {
                let (name, port) = host.split_once(':').unwrap_or((host, "80"));
                matches!(name, "localhost" | "127.0.0.1") && port.parse::<u16>().is_ok()
            }
        }
    }
}

/// The authenticated client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    /// Not authenticated: may only sign in.
    Anonymous,
    /// A browser that has signed in.
    Browser,
    /// A script with the token from the file.
    Script,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) words: &'static str,
}

const fn refusal(status: StatusCode, words: &'static str) -> Refusal {
    Refusal { status, words }
}

const FOREIGN_HOST: Refusal = refusal(
    StatusCode::MISDIRECTED_REQUEST,
    "this server answers to 127.0.0.1 and localhost with its own port only",
);
const FOREIGN_SITE: Refusal = refusal(
    StatusCode::FORBIDDEN,
    "requests from other sites are refused",
);
const NO_TOKEN: Refusal = refusal(
    StatusCode::UNAUTHORIZED,
    "open the address that `stripewise serve` printed; scripts send the token of its file",
);
const METHOD: Refusal = refusal(StatusCode::METHOD_NOT_ALLOWED, "only GET, HEAD and POST");
const NOT_JSON: Refusal = refusal(
    StatusCode::UNSUPPORTED_MEDIA_TYPE,
    "a request that changes something must be application/json",
);

/// Tokens and names.
pub(crate) struct Guard {
    hosts: Hosts,
    bearer: String,
    cookie: String,
    login: Mutex<Option<String>>,
    sessions: Mutex<Vec<String>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Guard {
    pub(crate) fn new(hosts: Hosts) -> Result<Guard, token::RandomSourceError> {
        // Cookies are shared by all ports of a host: use a name per server.
        let of = match &hosts {
            Hosts::Exact(names) => names[0].rsplit(':').next().unwrap_or_default().to_owned(),
            Hosts::AnyPort => "socket".to_owned(),
        };
        Ok(Guard {
            hosts,
            bearer: token::new()?,
            cookie: format!("stripewise-{of}"),
            login: Mutex::new(None),
            sessions: Mutex::new(Vec::new()),
        })
    }

    /// The token for scripts.
    pub(crate) fn bearer(&self) -> &str {
        &self.bearer
    }

    /// A single-use token for signing in one browser; invalidates an earlier one.
    pub(crate) fn new_login(&self) -> Option<String> {
        let token = token::new().ok()?;
        *locked(&self.login) = Some(token.clone());
        Some(token)
    }

    /// Signs a browser in and returns the value of `Set-Cookie`.
    pub(crate) fn sign_in(&self, token: &str) -> Option<String> {
        let mut login = locked(&self.login);
        if !login
            .as_deref()
            .is_some_and(|login| token::same(login, token))
        {
            return None;
        }
        let session = token::new().ok()?;
        *login = None;
        let mut sessions = locked(&self.sessions);
        if sessions.len() >= SESSIONS_MAX {
            sessions.remove(0);
        }
        sessions.push(session.clone());
        Some(format!(
            "{}={session}; Path=/; HttpOnly; SameSite=Strict",
            self.cookie
        ))
    }

    /// Checks a request by its head.
    pub(crate) fn judge(&self, parts: &Parts) -> Result<Client, Refusal> {
        let host = self.host(parts).ok_or(FOREIGN_HOST)?;
        let reads = matches!(parts.method, Method::GET | Method::HEAD);
        if !reads && parts.method != Method::POST {
            return Err(METHOD);
        }
        same_site(&parts.headers, &host, reads)?;
        let client = self.client(&parts.headers);
        if !reads {
            let json = only(&parts.headers, CONTENT_TYPE.as_str());
            let json = json.map(|kind| kind.split(';').next().unwrap_or_default().trim());
            if json != Some("application/json") {
                return Err(NOT_JSON);
            }
            // Browsers send an origin with every POST; clients without one must present the token.
            if client != Client::Script && only(&parts.headers, ORIGIN.as_str()).is_none() {
                return Err(FOREIGN_SITE);
            }
        }
        match client {
            Client::Anonymous if !is_open(parts) => Err(NO_TOKEN),
            client => Ok(client),
        }
    }

    /// The single `Host`, if allowed; the address in the request line must agree.
    fn host(&self, parts: &Parts) -> Option<String> {
        let host = only(&parts.headers, HOST.as_str())?;
        let in_line = parts.uri.authority();
        let agree = in_line.is_none_or(|authority| authority.as_str() == host);
        (agree && self.hosts.allow(host)).then(|| host.to_owned())
    }

    fn client(&self, headers: &HeaderMap) -> Client {
        let bearer = only(headers, AUTHORIZATION.as_str());
        let bearer = bearer.and_then(|value| value.strip_prefix("Bearer "));
        if bearer.is_some_and(|token| token::same(token.trim(), &self.bearer)) {
            return Client::Script;
        }
        let cookies = headers
            .get_all(COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok());
        let mut ours = cookies
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| {
                pair.trim()
                    .strip_prefix(self.cookie.as_str())?
                    .strip_prefix('=')
            });
        let sessions = locked(&self.sessions);
        let signed_in =
            ours.any(|value| sessions.iter().any(|session| token::same(session, value)));
        match signed_in {
            true => Client::Browser,
            false => Client::Anonymous,
        }
    }
}

/// A header that is present exactly once, as text.
fn only<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    match values.next() {
        None => value.to_str().ok(),
        Some(_) => None,
    }
}

/// Checks the browser's statement about the initiator of the request.
fn same_site(headers: &HeaderMap, host: &str, reads: bool) -> Result<(), Refusal> {
    if headers.contains_key(ORIGIN) {
        let ours = format!("http://{host}");
        if only(headers, ORIGIN.as_str()) != Some(ours.as_str()) {
            return Err(FOREIGN_SITE);
        }
    }
    if headers.contains_key("sec-fetch-site") {
        match only(headers, "sec-fetch-site") {
            Some("same-origin") => {}
            // Typed, or from a bookmark.
            Some("none") if reads => {}
            _ => return Err(FOREIGN_SITE),
        }
    }
    Ok(())
}

/// Whether it is available without signing in: the sign-in page.
fn is_open(parts: &Parts) -> bool {
    matches!(
        parts.uri.path(),
        "/login" | "/login.js" | "/app.css" | "/favicon.ico"
    )
}

#[cfg(test)]
mod tests;
