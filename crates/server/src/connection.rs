//! Connections: limits on their duration and heads; [`seats`](crate::seats) limits their number.

use crate::seats::Seats;
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
struct Hall {
    seats: Seats,
    ends: HashMap<u64, AbortHandle>,
}

impl Hall {
    fn end_oldest(&mut self) {
        let oldest = self.seats.drop_oldest();
        self.end(oldest);
    }

    fn end(&mut self, number: Option<u64>) {
        if let Some(end) = number.and_then(|number| self.ends.remove(&number)) {
            end.abort();
        }
    }
}

type SharedHall = Arc<Mutex<Hall>>;

fn locked(hall: &SharedHall) -> MutexGuard<'_, Hall> {
    hall.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A connection's seat; freed when the connection ends in any way.
pub(crate) struct Seat {
    number: u64,
    hall: SharedHall,
}

impl Seat {
    /// The client has presented the token.
    pub(crate) fn shows_token(&self) {
        locked(&self.hall).seats.shows_token(self.number);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut hall = locked(&self.hall);
        hall.seats.leave(self.number);
        hall.ends.remove(&self.number);
    }
}

/// Accepts connections until `is_over`.
pub(crate) async fn accept(listener: &Listener, router: &axum::Router, is_over: &dyn Fn() -> bool) {
    let hall = SharedHall::default();
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
fn seat<S>(stream: S, router: &axum::Router, hall: &SharedHall)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut there = locked(hall);
    let (number, dropped) = there.seats.take();
    there.end(dropped);
    let seat = Arc::new(Seat {
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
