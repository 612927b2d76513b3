//! Connections: limits on their duration and heads; [`slots`](crate::slots) limits their number.

use crate::connection_slots::ConnectionSlots;
use crate::system::UnixListener;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::task::AbortHandle;
use tokio::time::timeout;

/// Time limit for the head of a request, including the idle time before it.
const HEAD_LIMIT: Duration = Duration::from_secs(5);
/// After this time, a connection ends with its current response.
const LIFE: Duration = Duration::from_secs(60);
/// Time limit for that response.
const LAST: Duration = Duration::from_secs(15);
/// Maximum header lines of a request.
const HEADERS_MAX: usize = 64;
/// Maximum bytes of a request's head.
const HEAD_BYTES_MAX: usize = 16 << 10;
/// How often to check for a stop request.
const LOOK: Duration = Duration::from_millis(200);
/// Pause after a failure to accept: when no file descriptors are left, some will be freed.
const REST: Duration = Duration::from_millis(50);

/// A listening socket.
pub(crate) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listener {
    pub(crate) async fn tcp(address: SocketAddr) -> std::io::Result<Listener> {
        TcpListener::bind(address).await.map(Listener::Tcp)
    }

    /// The address; `None` for a Unix socket.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        match self {
            Listener::Tcp(listener) => listener.local_addr().ok(),
            Listener::Unix(_) => None,
        }
    }

    /// Removes the socket file, if any.
    pub(crate) fn forget(self) {
        if let Listener::Unix(listener) = self {
            listener.forget();
        }
    }
}

/// The open connections, and the handles to drop them.
#[derive(Default)]
struct ConnectionTable {
    slots: ConnectionSlots,
    ends: HashMap<u64, AbortHandle>,
}

impl ConnectionTable {
    fn end_oldest(&mut self) {
        let oldest = self.slots.drop_oldest();
        self.end(oldest);
    }

    fn end(&mut self, number: Option<u64>) {
        if let Some(end) = number.and_then(|number| self.ends.remove(&number)) {
            end.abort();
        }
    }
}

type SharedConnections = Arc<Mutex<ConnectionTable>>;

fn locked(hall: &SharedConnections) -> MutexGuard<'_, ConnectionTable> {
    hall.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A connection's seat; freed when the connection ends in any way.
pub(crate) struct ConnectionSlot {
    number: u64,
    hall: SharedConnections,
}

impl ConnectionSlot {
    /// The client has presented the token.
    pub(crate) fn shows_token(&self) {
        locked(&self.hall).slots.shows_token(self.number);
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut hall = locked(&self.hall);
        hall.slots.leave(self.number);
        hall.ends.remove(&self.number);
    }
}

/// Accepts connections until `is_over`.
pub(crate) async fn accept(listener: &Listener, router: &axum::Router, is_over: &dyn Fn() -> bool) {
    let hall = SharedConnections::default();
    while !is_over() {
        let taken = match listener {
            Listener::Tcp(listener) => timeout(LOOK, listener.accept())
                .await
                .map(|taken| taken.map(|(stream, _)| seat(stream, router, &hall))),
            Listener::Unix(listener) => timeout(LOOK, listener.accept())
                .await
                .map(|taken| taken.map(|stream| seat(stream, router, &hall))),
        };
        if let Ok(Err(_)) = taken {
            // No descriptors are left: drop a connection that has not presented the token.
            locked(&hall).end_oldest();
            tokio::time::sleep(REST).await;
        }
        // Let each be processed before the next one may take its place.
        tokio::task::yield_now().await;
    }
}

/// Takes a seat for a connection and serves it in a task of its own.
fn seat<S>(stream: S, router: &axum::Router, hall: &SharedConnections)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut there = locked(hall);
    let (number, dropped) = there.slots.take();
    there.end(dropped);
    let seat = Arc::new(ConnectionSlot {
        number,
        hall: Arc::clone(hall),
    });
    let router = router.clone().layer(axum::Extension(seat));
    let task = tokio::spawn(serve(stream, router));
    there.ends.insert(number, task.abort_handle());
}

async fn serve<S>(stream: S, router: axum::Router)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_LIMIT)
        .max_headers(HEADERS_MAX)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut connection = pin!(connection);
    if timeout(LIFE, connection.as_mut()).await.is_err() {
        connection.as_mut().graceful_shutdown();
        let _ = timeout(LAST, connection).await;
    }
}
