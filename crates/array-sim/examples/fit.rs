//! Fits keys of an array file to a published table: the Nelder-Mead simplex on the mean absolute
//! error. It found the parameters of the bundled arrays; it is not needed to use them.
//!
//! ```text
//! cargo run --release --example fit -- TABLE NAME[?overrides] OPERATIONS EVALUATIONS \
//!     key=start:step[unit] ...
//! TABLE: oja, oja-train, oja-sequential, oja-sequential-train, eva-read,
//!     mssqltips-read, mssqltips-write, mssqltips-sequential,
//!     mssqltips-sequential-train
//! ```
//! A unit of `us` makes the number a time, `int` rounds it.

// Few targets use the published tables; all use the code that drives an array.
#[allow(dead_code, unused_imports)]
#[path = "../tests/accuracy/mod.rs"]
mod accuracy;

use accuracy::tables::{
    Cell, Scored, eva8100_2009, is_unexplained, largest_error, mean_absolute_error, mssqltips_2127,
    mssqltips_2127_sequential, oja_nisula_2007, oja_nisula_2007_sequential, run_cell,
};
use stripewise_array_sim::{ArraySpec, Kind};

struct Parameter {
    key: String,
    start: f64,
    step: f64,
    unit: String,
}

impl Parameter {
    /// `key=start:step[unit]`.
    fn parse(text: &str) -> Option<Parameter> {
        let (key, rest) = text.split_once('=')?;
        let (start, step) = rest.split_once(':')?;
        let digits = step.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        Some(Parameter {
            key: key.to_owned(),
            start: start.parse().ok()?,
            step: digits.parse().ok()?,
            unit: step[digits.len()..].to_owned(),
        })
    }

    fn text(&self, value: f64) -> String {
        match self.unit.as_str() {
            "us" => format!("{:.1}us", value.max(0.0)),
            "int" => format!("{}", value.round().max(1.0)),
            _ => format!("{value:.4}"),
        }
    }
}

struct Fit {
    base: ArraySpec,
    cells: Vec<Cell>,
    operations: u64,
    parameters: Vec<Parameter>,
    evaluations: u32,
}

impl Fit {
    /// With `moved`, the placement is that of the misaligned partition's file.
    fn spec(&self, point: &[f64], moved: bool) -> Option<ArraySpec> {
        let mut spec = self.base.clone();
        for (parameter, &value) in self.parameters.iter().zip(point) {
            spec.set(&parameter.key, &parameter.text(value)).ok()?;
        }
        if !moved {
            spec.placement = 1.0;
        }
        spec.check().ok()?;
        Some(spec)
    }

    /// All cells; a placement moves only the files at odd offsets.
    fn score(&self, point: &[f64], operations: u64) -> Option<Vec<Scored>> {
        let (aligned, moved) = (self.spec(point, false)?, self.spec(point, true)?);
        let run = |cell: &Cell| {
            let odd = !cell.offset_bytes.is_multiple_of(4_096);
            run_cell(if odd { &moved } else { &aligned }, cell, operations)
        };
        Some(self.cells.iter().map(run).collect())
    }

    /// The mean absolute error; very large outside the allowed ranges.
    fn cost(&mut self, point: &[f64]) -> f64 {
        self.evaluations += 1;
        let Some(scored) = self.score(point, self.operations) else {
            return 1e6;
        };
        let mean = mean_absolute_error(&scored);
        // A small weight on the worst cell, so that no single row is sacrificed.
        mean + 0.02 * largest_error(&scored)
    }

    fn print(&self, point: &[f64], cost: f64) {
        let text: Vec<_> = self
            .parameters
            .iter()
            .zip(point)
            .map(|(parameter, &value)| format!("{}={}", parameter.key, parameter.text(value)))
            .collect();
        println!("{:4} {cost:.4} {}", self.evaluations, text.join("&"));
    }

    /// Nelder and Mead (1965) with the usual coefficients.
    fn simplex(&mut self, evaluations_max: u32) -> Vec<f64> {
        let start: Vec<f64> = self.parameters.iter().map(|p| p.start).collect();
        let mut points = vec![start.clone()];
        for place in 0..start.len() {
            let mut point = start.clone();
            point[place] += self.parameters[place].step;
            points.push(point);
        }
        let mut simplex: Vec<(f64, Vec<f64>)> = points
            .into_iter()
            .map(|point| (self.cost(&point), point))
            .collect();
        while self.evaluations < evaluations_max {
            simplex.sort_by(|a, b| a.0.total_cmp(&b.0));
            self.print(&simplex[0].1, simplex[0].0);
            self.step(&mut simplex);
        }
        simplex.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.print(&simplex[0].1, simplex[0].0);
        simplex.swap_remove(0).1
    }

    fn step(&mut self, simplex: &mut [(f64, Vec<f64>)]) {
        let last = simplex.len() - 1;
        let dimensions = simplex[0].1.len();
        let centre: Vec<f64> = (0..dimensions)
            .map(|i| simplex[..last].iter().map(|(_, p)| p[i]).sum::<f64>() / last as f64)
            .collect();
        let worst = simplex[last].clone();
        let along = |factor: f64| -> Vec<f64> {
            centre
                .iter()
                .zip(&worst.1)
                .map(|(c, w)| c + factor * (c - w))
                .collect()
        };
        let reflected = along(1.0);
        let cost = self.cost(&reflected);
        if cost < simplex[0].0 {
            let expanded = along(2.0);
            let further = self.cost(&expanded);
            simplex[last] = if further < cost {
                (further, expanded)
            } else {
                (cost, reflected)
            };
            return;
        }
        if cost < simplex[last - 1].0 {
            simplex[last] = (cost, reflected);
            return;
        }
        let contracted = along(if cost < worst.0 { 0.5 } else { -0.5 });
        let nearer = self.cost(&contracted);
        if nearer < worst.0.min(cost) {
            simplex[last] = (nearer, contracted);
            return;
        }
        let best = simplex[0].1.clone();
        for entry in &mut simplex[1..] {
            let point: Vec<f64> = best
                .iter()
                .zip(&entry.1)
                .map(|(b, p)| b + 0.5 * (p - b))
                .collect();
            *entry = (self.cost(&point), point);
        }
    }
}

fn cells(table: &str) -> Vec<Cell> {
    let mut oja = oja_nisula_2007();
    oja.retain(|cell| !is_unexplained(cell));
    match table {
        "oja" => oja,
        "oja-train" => {
            oja.retain(|cell| [1, 4, 16, 64].contains(&cell.threads));
            oja
        }
        "eva-read" => {
            let mut cells = eva8100_2009(Kind::Read);
            cells.retain(|cell| cell.offset_bytes <= 65_536);
            cells
        }
        "mssqltips-read" => mssqltips_2127(Kind::Read),
        "oja-sequential" => oja_nisula_2007_sequential(),
        "oja-sequential-train" => only_trained(oja_nisula_2007_sequential()),
        "mssqltips-sequential" => mssqltips_sequential(),
        "mssqltips-sequential-train" => only_trained(mssqltips_sequential()),
        "mssqltips-write" => mssqltips_2127(Kind::Write),
        other => panic!("no table `{other}`"),
    }
}

/// The cells used to fit sequential parameters: 1, 4 and 16 threads.
fn only_trained(mut cells: Vec<Cell>) -> Vec<Cell> {
    cells.retain(|cell| [1, 4, 16].contains(&cell.threads));
    cells
}

fn mssqltips_sequential() -> Vec<Cell> {
    let mut cells = mssqltips_2127_sequential(Kind::Read);
    cells.extend(mssqltips_2127_sequential(Kind::Write));
    cells
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [table, target, operations, evaluations, parameters @ ..] = arguments.as_slice() else {
        eprintln!("fit TABLE NAME[?overrides] OPERATIONS EVALUATIONS key=start:step[unit] ...");
        return;
    };
    let base = ArraySpec::from_target(target, |path| std::fs::read_to_string(path))
        .unwrap_or_else(|error| panic!("{error}; {}", error.hint()));
    let mut fit = Fit {
        base,
        cells: cells(table),
        operations: operations.parse().expect("a number of operations"),
        parameters: parameters
            .iter()
            .map(|text| Parameter::parse(text).expect("key=start:step"))
            .collect(),
        evaluations: 0,
    };
    let best = if fit.parameters.is_empty() {
        Vec::new()
    } else {
        fit.simplex(evaluations.parse().expect("a number of evaluations"))
    };
    let scored = fit
        .score(&best, 30_000)
        .expect("the best point is permitted");
    for scored in &scored {
        let cell = &scored.cell;
        println!(
            "{:?} {:4} offset {:7}: published {:9.2} predicted {:9.2} {:+6.2} %",
            cell.kind,
            cell.threads,
            cell.offset_bytes,
            cell.published,
            scored.predicted,
            scored.error_percent()
        );
    }
    let (mean, max) = (mean_absolute_error(&scored), largest_error(&scored));
    println!("mean {mean:.3} % max {max:.3} %");
}
