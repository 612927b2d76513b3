//! Memory needed for buffers, checked before anything is prepared.

use crate::Error;
use stripewise_io_engine::{EngineName, memory_needed};
use stripewise_units::format_bytes;
use stripewise_workload::Workload;

/// Largest share of the available memory for buffers: the rest of the machine has to keep running.
const SHARE_MAX: f64 = 0.8;

/// Checks whether the buffers of concurrent jobs fit. Each load comes with its number of targets;
/// `available_bytes` is what the machine and the control group leave.
///
/// # Errors
/// [`Error::Memory`] if they do not.
pub fn check_memory(
    engine: EngineName,
    loads: &[(&Workload, usize)],
    available_bytes: Option<u64>,
) -> Result<(), Error> {
    let needed_bytes = loads
        .iter()
        .map(|(workload, targets)| {
            let slots = u64::from(workload.outstanding) * (*targets as u64).max(1);
            let slots = u32::try_from(slots).unwrap_or(u32::MAX);
            let block = u32::try_from(workload.block_size_bytes).unwrap_or(u32::MAX);
            let each = memory_needed(engine, slots, block).total_bytes();
            each.saturating_mul(u64::from(workload.threads))
        })
        .fold(0, u64::saturating_add);
    match available_bytes {
        Some(available_bytes) if needed_bytes as f64 > available_bytes as f64 * SHARE_MAX => {
            Err(Error::Memory {
                needed: format_bytes(needed_bytes),
                available: format_bytes(available_bytes),
            })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_that_do_not_fit_are_refused_with_both_numbers() {
        let large = Workload {
            block_size_bytes: 64 << 20,
            outstanding: 1024,
            ..Workload::default()
        };
        let error =
            check_memory(EngineName::Uring, &[(&large, 1)], Some(8 << 30)).expect_err("64 GiB");
        assert!(error.to_string().contains("8 GiB"), "{error}");
        assert!(error.hint().is_some());
        assert!(
            check_memory(
                EngineName::Uring,
                &[(&Workload::default(), 1)],
                Some(1 << 30)
            )
            .is_ok()
        );
        assert!(check_memory(EngineName::Uring, &[(&large, 1)], None).is_ok());
    }
}
