//! Fragments joined in any grouping give the same Trace as one builder.

use tracecard_model::{
    ArgsRow, Op, Progress, SliceFlags, SliceKind, SliceRow, TraceBuilder, TrackFamily, TrackKey, dump,
};

/// Slices `from..to` of a run with three threads in two processes.
fn fill(builder: &mut TraceBuilder, range: std::ops::Range<i64>) {
    for i in range {
        let process = builder.process(if i % 3 == 0 { "a" } else { "b" });
        builder.set_thread_name(process, "1", "main");
        let track = builder.track(TrackKey::thread(TrackFamily::Ops, process, (i % 2).to_string()));
        let name = builder.names.intern(&format!("op{}", i % 5));
        let row = builder.push_slice(SliceRow {
            track,
            kind: SliceKind::Op,
            flags: SliceFlags::NONE,
            name,
            start_ns: i * 10,
            dur_ns: 5,
            correlation: 0,
            source_table: 0,
            source_row: i,
        });
        let dims = Some(builder.args.intern_text(&format!("[[{}]]", i % 4)));
        let args = Some(builder.args.intern(ArgsRow { dims, ..ArgsRow::default() }));
        builder.push_op(row, Op { args, sequence: Some(i), forward_thread: None });
        builder.push_mark(track, i, name);
    }
}

#[test]
fn fragments_give_the_same_trace_as_one_builder() {
    let mut whole = TraceBuilder::new();
    fill(&mut whole, 0..60);
    let mut joined = TraceBuilder::new();
    for from in [0, 20, 40] {
        let mut fragment = TraceBuilder::new();
        fill(&mut fragment, from..from + 20);
        joined.absorb(fragment);
    }
    let (whole, joined) = (whole.finish(&Progress::new()).unwrap(), joined.finish(&Progress::new()).unwrap());
    assert_eq!(dump(&whole), dump(&joined));
    assert!(dump(&whole).contains("\"main\""));
    assert_eq!(joined.ops.len(), 60);
}

#[test]
fn cancelling_stops_the_finish() {
    let progress = Progress::new();
    progress.cancel();
    assert!(TraceBuilder::new().finish(&progress).is_err());
}
