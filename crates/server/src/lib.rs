//! `stripewise serve`: pages on loopback that follow the store. Nothing is measured in
//! this process: runs, reports and comparisons are child processes, so that pages do not
//! disturb a measurement, and a child may fail without affecting the pages.
//!
//! Access control is in one place, [`guard`], which checks a request before anything
//! else sees it. See `docs/SERVE.md`.
#![forbid(unsafe_code)]

mod answer;
mod api;
mod child;
mod connection;
mod connection_slots;
mod guard;
mod metrics;
mod pages;
mod routes;
mod runs;
mod state;

#[cfg(unix)]
mod unix;
#[cfg(unix)]
use unix as system;

#[cfg(not(unix))]
mod socket_other;
#[cfg(not(unix))]
use socket_other as system;

use connection::Listener;
use guard::{Guard, Hosts};
use state::Shared;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use stripewise_campaign::live::{Announced, Serving, forget_token, keep_token};
use stripewise_campaign::{Context, Exit, Failure, Outcome};
use stripewise_units::NameText;
use tokio::runtime::Builder;

/// Files that a runtime opens: its poll, two wakers, two ends of the signal pipe, and a
/// reserve.
const FILES_OF_RUNTIME: usize = 8;
/// Threads for blocking work: reading the store. Each response uses one at a time.
const BLOCKING_MAX: usize = 4;

/// Fails if too few files may be opened for the runtime: it returns an error for some
/// of these, and panics on others.
fn files_to_spare() -> std::io::Result<()> {
    let probe = std::net::UdpSocket::bind((std::net::Ipv4Addr::LOCALHOST, 0))?;
    let more = (1..FILES_OF_RUNTIME).map(|_| probe.try_clone());
    more.collect::<std::io::Result<Vec<_>>>().map(drop)
}

/// Serves until a signal arrives, which is the normal end.
///
/// # Errors
/// If it cannot listen, or the address is not a loopback address.
pub fn serve(context: &Context, serving: &Serving<'_>) -> Outcome<Exit> {
    let allowed = runs::allowed(&serving.allow_runs)?;
    let runtime = files_to_spare()
        .and_then(|()| {
            Builder::new_current_thread()
                .enable_io()
                .enable_time()
                .max_blocking_threads(BLOCKING_MAX)
                .build()
        })
        .map_err(|error| {
            Failure::new(
                Exit::Target,
                format!("the server cannot be started: {error}"),
                "raise the limits of this shell: `ulimit -n` for open files, `ulimit -v` for memory",
            )
        })?;
    runtime.block_on(async {
        let listener = listen(serving).await?;
        let hosts = match listener.address() {
            Some(address) => Hosts::of(address),
            None => Hosts::of_socket(),
        };
        let guard = Guard::new(hosts).map_err(|error| {
            Failure::new(
                Exit::Target,
                format!("this system provides no random numbers: {error}"),
                "check that /dev/urandom can be read here",
            )
        })?;
        let token_file = token_file(serving, &listener);
        let stored = keep_token(&token_file, guard.bearer())?;
        let login = guard.new_login().unwrap_or_default();
        let (url, listens_on) = match listener.address() {
            Some(address) => (
                format!("http://{address}/login#{login}"),
                address.to_string(),
            ),
            None => (
                format!("http://localhost/login#{login}"),
                serving
                    .socket
                    .as_deref()
                    .unwrap_or_else(|| "".as_ref())
                    .as_text(),
            ),
        };
        (serving.announce)(&Announced {
            url: &url,
            listens_on: &listens_on,
            token_file: &token_file,
        });
        let shared = Arc::new(Shared::new(serving, guard, allowed));
        let router = routes::router(&shared);
        connection::accept(&listener, &router, &|| context.signal().is_some()).await;
        shared.runs.end().await;
        forget_token(&stored, &token_file);
        listener.forget();
        Ok(Exit::Done)
    })
}

/// Listens on this machine only.
async fn listen(serving: &Serving<'_>) -> Outcome<Listener> {
    if let Some(path) = &serving.socket {
        return system::listen(path);
    }
    if !serving.address.is_loopback() {
        return Err(Failure::usage(
            format!("{} is not this machine's own address", serving.address),
            "from another machine use `ssh -L 8080:127.0.0.1:8080 HOST`, with `serve --port 8080` \
             on this one; or use --socket PATH",
        ));
    }
    let address = SocketAddr::new(serving.address, serving.port);
    Listener::tcp(address).await.map_err(|error| {
        Failure::new(
            Exit::Target,
            format!("cannot listen on {address}: {error}"),
            "choose another --port; without it any free one is used",
        )
    })
}

/// Next to the store, one per server.
fn token_file(serving: &Serving<'_>, listener: &Listener) -> PathBuf {
    let name = match listener.address() {
        Some(address) => format!("serve-{}.token", address.port()),
        None => "serve-socket.token".to_owned(),
    };
    // Scripts may run in another directory.
    let store = std::path::absolute(&serving.view.store);
    let directory = store.as_deref().unwrap_or(&serving.view.store).parent();
    directory
        .map(|directory| directory.join(&name))
        .unwrap_or_else(|| name.into())
}
