//! Histograms as blobs in HdrHistogram's V2 encoding, as read by other tools.

use stripewise_stats::Histogram;

/// `None` for an absent or empty histogram: nothing is stored for it.
pub(crate) fn encode(histogram: Option<&Histogram>) -> Option<Vec<u8>> {
    let histogram = histogram.filter(|histogram| histogram.count() > 0)?;
    Some(histogram.to_v2())
}

/// The error is a text for [`crate::ErrorKind::Damaged`].
pub(crate) fn decode(blob: Option<&[u8]>) -> Result<Option<Histogram>, String> {
    blob.map(|blob| Histogram::from_v2(blob).map_err(|error| error.to_string()))
        .transpose()
}
