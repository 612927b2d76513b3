//! gzip and zstd, detected by their first bytes and decompressed while reading.
//!
//! Memory is bounded: gzip's window is 32 KiB, and a zstd frame that needs a window above 128 MiB
//! (the default limit of `zstd` itself) is refused.

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, BufRead, BufReader, Read};

const WINDOW_BYTES_MAX: u64 = 128 << 20;
/// What ends a frame of zstd: an empty last block, and a checksum, which is not compared.
const END_OF_FRAME: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// Compression of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Uncompressed.
    None,
    /// gzip, including concatenated members.
    Gzip,
    /// Zstandard, including concatenated frames.
    Zstd,
}

/// The byte source: boxed, because files are compressed in several ways.
pub(crate) type Bytes<'a> = Box<dyn Read + 'a>;

impl Compression {
    /// By the first bytes of a file.
    pub(crate) fn of(head: &[u8]) -> Compression {
        match head {
            [0x1f, 0x8b, ..] => Compression::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Compression::Zstd,
            _ => Compression::None,
        }
    }
}

/// The decompressed bytes of a file.
///
/// # Errors
/// If its first bytes cannot be read.
pub(crate) fn unpacked<'a>(mut bytes: Bytes<'a>) -> io::Result<(Bytes<'a>, Compression)> {
    let mut start = Vec::new();
    bytes.by_ref().take(4).read_to_end(&mut start)?;
    let compression = Compression::of(&start);
    let whole = io::Cursor::new(start).chain(bytes);
    let unpacked: Bytes<'a> = match compression {
        Compression::Gzip => Box::new(MultiGzDecoder::new(whole)),
        Compression::Zstd => {
            let mut decoder = FrameDecoder::new();
            decoder.set_max_window_size(WINDOW_BYTES_MAX);
            Box::new(ZstdFrames {
                source: BufReader::new(Box::new(whole) as Bytes),
                decoder,
                is_inside: false,
                failure: None,
            })
        }
        Compression::None => Box::new(whole),
    };
    Ok((unpacked, compression))
}

/// Concatenated zstd frames; skippable frames are skipped.
struct ZstdFrames<'a> {
    source: BufReader<Bytes<'a>>,
    decoder: FrameDecoder,
    is_inside: bool,
    /// Why no more can be unpacked, to be returned behind what was.
    failure: Option<io::Error>,
}

impl ZstdFrames<'_> {
    /// Why a frame cannot be unpacked: at the end of the file, because it is cut.
    fn reason(&mut self, error: FrameDecoderError) -> io::Error {
        match self.source.fill_buf() {
            Ok([]) => io::ErrorKind::UnexpectedEof.into(),
            _ => io::Error::other(error),
        }
    }

    /// Begins the next frame; false at the end.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let mut skipped = self.source.by_ref().take(length.into());
                    io::copy(&mut skipped, &mut io::sink())?;
                }
                Err(error) => return Err(self.reason(error)),
            }
        }
        Ok(false)
    }
}

impl Read for ZstdFrames<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(buffer);
            }
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
            if !self.is_inside || self.decoder.is_finished() {
                self.is_inside = self.begin()?;
                if !self.is_inside {
                    return Ok(0);
                }
                continue;
            }
            let one = BlockDecodingStrategy::UptoBlocks(1);
            if let Err(error) = self.decoder.decode_blocks(&mut self.source, one) {
                self.failure = Some(self.reason(error));
                // A frame holds its last window back until it ends.
                let one = BlockDecodingStrategy::UptoBlocks(1);
                let ended = self.decoder.decode_blocks(&END_OF_FRAME[..], one);
                ended.map_err(io::Error::other)?;
            }
        }
    }
}
