//! Maps values to pixels.

use super::Area;
use crate::chart::Scale;

/// A panel's inside with its two scales.
pub(crate) struct Frame<'a> {
    pub(crate) area: Area,
    x: Even<'a>,
    y: Even<'a>,
}

struct Even<'a> {
    scale: &'a Scale,
    low: f64,
    high: f64,
}

impl<'a> Even<'a> {
    fn new(scale: &'a Scale, range: [f64; 2]) -> Self {
        let (low, high) = (scale.place(range[0]), scale.place(range[1]));
        Even { scale, low, high }
    }

    /// 0 at the low end, 1 at the high one.
    fn share(&self, value: f64) -> f64 {
        (self.scale.place(value) - self.low) / (self.high - self.low)
    }
}

impl<'a> Frame<'a> {
    pub(crate) fn new(area: &Area, x: (&'a Scale, [f64; 2]), y: (&'a Scale, [f64; 2])) -> Self {
        Frame {
            area: *area,
            x: Even::new(x.0, x.1),
            y: Even::new(y.0, y.1),
        }
    }

    pub(crate) fn x(&self, value: f64) -> f64 {
        self.area.left + (self.area.right - self.area.left) * self.x.share(value)
    }

    /// Never far outside the panel: a limit far off is at its edge.
    pub(crate) fn y(&self, value: f64) -> f64 {
        let share = self.y.share(value).clamp(-0.02, 1.02);
        self.area.bottom - (self.area.bottom - self.area.top) * share
    }
}
