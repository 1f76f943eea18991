//! Windows as the user writes them: `500ms..1.2s`, `step:3`, `step:3..7`.

use std::str::FromStr;

use tracecard_analyzers::Analysis;
use tracecard_model::Span;

/// A part of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeWindow {
    /// Between two times of the trace.
    Time(Span),
    /// Between two steps, both inside.
    Steps(StepWindow),
}

/// Steps by their number in the table `step_list`, both inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepWindow {
    /// First.
    pub first: i64,
    /// Last.
    pub last: i64,
}

impl FromStr for TimeWindow {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(steps) = text.strip_prefix("step:") {
            let (first, last) = steps.split_once("..").unwrap_or((steps, steps));
            let number = |t: &str| t.trim().parse::<i64>().map_err(|_| format!("`{t}` is no step number"));
            let (first, last) = (number(first)?, number(last)?);
            if last < first {
                return Err(format!("step {last} lies before step {first}"));
            }
            return Ok(Self::Steps(StepWindow { first, last }));
        }
        let (from, to) = text.split_once("..").ok_or("expected A..B, e.g. 500ms..1.2s, or step:N")?;
        let (start_ns, end_ns) = (parse_time_ns(from)?, parse_time_ns(to)?);
        if end_ns <= start_ns {
            return Err(format!("the window ends at {to}, not after its start {from}"));
        }
        Ok(Self::Time(Span::new(start_ns, end_ns)))
    }
}

/// `1.2s`, `500ms`, `3us`, `3µs`, `40ns` or a bare number of ns.
fn parse_time_ns(text: &str) -> Result<i64, String> {
    let text = text.trim();
    let unit_at = text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let scale = match unit {
        "s" => 1e9,
        "ms" => 1e6,
        "us" | "µs" | "μs" => 1e3,
        "ns" | "" => 1.0,
        _ => return Err(format!("`{unit}` is no unit of time; use s, ms, us or ns")),
    };
    match number.trim().parse::<f64>() {
        Ok(value) if value.is_finite() && (value * scale).abs() < 9e18 => Ok((value * scale).round() as i64),
        _ => Err(format!("`{text}` is no time, e.g. 1.2s or 500ms")),
    }
}

impl StepWindow {
    fn text(self) -> String {
        if self.first == self.last {
            self.first.to_string()
        } else {
            format!("{}..{}", self.first, self.last)
        }
    }

    /// The time from the start of the first step to the end of the last, over all devices.
    ///
    /// # Errors
    /// A sentence when the trace has no such steps.
    pub(super) fn span(self, analysis: &Analysis) -> Result<Span, String> {
        let table = analysis.table("step_list").ok_or("the trace has no steps; name them with --steps")?;
        let rows = 0..table.n_rows();
        // `ProfilerStep#12` is step 12 to the user; steps whose names have no number count from 0.
        let named: Option<Vec<i64>> =
            rows.clone().map(|row| trailing_number(table.text(row, "name")?)).collect();
        let numbers =
            named.unwrap_or_else(|| rows.map(|row| table.int(row, "number").unwrap_or(-1)).collect());
        let mut window: Option<Span> = None;
        for (row, number) in numbers.into_iter().enumerate() {
            let (Some(start_ns), Some(dur_ns)) = (table.int(row, "start_ns"), table.int(row, "dur_ns"))
            else {
                continue;
            };
            if self.first <= number && number <= self.last {
                let span = Span::from_start_dur_ns(start_ns, dur_ns);
                window = Some(window.map_or(span, |w| w.hull(span)));
            }
        }
        window.ok_or_else(|| format!("the trace has no step {}", self.text()))
    }
}

fn trailing_number(name: &str) -> Option<i64> {
    let digits = name.chars().rev().take_while(char::is_ascii_digit).count();
    name.get(name.len() - digits..)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_read() {
        let time = |a, b| Ok(TimeWindow::Time(Span::new(a, b)));
        assert_eq!("500ms..1.2s".parse(), time(500_000_000, 1_200_000_000));
        assert_eq!("-3us..40".parse(), time(-3_000, 40));
        assert_eq!("step:3".parse(), Ok(TimeWindow::Steps(StepWindow { first: 3, last: 3 })));
        assert_eq!("step:3..7".parse(), Ok(TimeWindow::Steps(StepWindow { first: 3, last: 7 })));
        for wrong in ["", "5", "2s..1s", "1s..1s", "1h..2h", "step:x", "step:7..3", "nan..1s", "1e300s..2s"] {
            assert!(wrong.parse::<TimeWindow>().is_err(), "{wrong}");
        }
    }
}
