//! Payloads of NVTX ranges, NCCL's above all.

use super::*;

/// Tables as NCCL 2.2x under nsys 2026.2 fills them; all rows twice, for two processes.
const SCHEMAS: &str = "
    ALTER TABLE NVTX_EVENTS ADD COLUMN uint64Value INTEGER;
    ALTER TABLE NVTX_EVENTS ADD COLUMN jsonText TEXT;
    ALTER TABLE NVTX_EVENTS ADD COLUMN binaryData TEXT;
    INSERT INTO NVTX_EVENTS (start, eventType, text, globalTid, domainId) VALUES (0, 75, 'NCCL', $TID, 1),
        (0, 75, 'NCCL', $TID + (1 << 24), 1);
    CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId INTEGER NOT NULL, schemaId INTEGER NOT NULL, idx INTEGER NOT NULL,
        flags INTEGER, type INTEGER, name TEXT, description TEXT, arrayOrUnionDetail INTEGER, offset INTEGER);
    WITH process(n) AS (VALUES (1), (2)), entry(schema, idx, type, name, offset) AS (VALUES
        (16777218, 0, 18, 'NCCL communicator ID', NULL), (16777218, 1, 5, 'No. of ranks', 8), (16777218, 2, 5, 'Rank', 12),
        (16777218, 3, 5, 'CUDA device', 16), (16777220, 0, 18, 'NCCL communicator ID', NULL),
        (16777220, 1, 22, 'Message size [bytes]', 8))
    INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId, schemaId, idx, type, name, offset)
        SELECT 1, schema, idx, type, name, offset FROM process, entry;
";

/// The bytes of a payload, as an SQL blob.
fn blob(schema: u64, payload: &[u8]) -> String {
    let n_bytes = payload.len() as u64;
    let header = [1, schema, n_bytes, n_bytes + 32].into_iter().flat_map(u64::to_le_bytes);
    let hex: String = header.chain(payload.iter().copied()).map(|byte| format!("{byte:02x}")).collect();
    format!("x'{hex}'")
}

/// `ncclCommInitRank`: communicator 0xabc.
fn joined(n_ranks: u32, rank: u32) -> String {
    let numbers = [n_ranks, rank, 0, 0].into_iter().flat_map(u32::to_le_bytes);
    blob(16_777_218, &0xabc_u64.to_le_bytes().into_iter().chain(numbers).collect::<Vec<_>>())
}

/// A call with a message of so many bytes.
fn message(bytes: u64) -> String {
    blob(16_777_220, &[0xabc, bytes].into_iter().flat_map(u64::to_le_bytes).collect::<Vec<_>>())
}

fn import_ranges(ranges: &[(i64, i64, &str, String)]) -> Trace {
    let rows: Vec<String> = ranges
        .iter()
        .map(|(process, start, name, data)| {
            format!("({start}, {start} + 5, 59, '{name}', $TID + ({process} << 24), 1, {data})")
        })
        .collect();
    import(&format!(
        "{BASE}{SCHEMAS}
         INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId, binaryData) VALUES {};",
        rows.join(", ")
    ))
}

/// Function, group, ranks and bytes of each collective.
fn collectives(trace: &Trace) -> Vec<String> {
    let text = |id: Option<tracecard_model::NameId>| id.map_or("-", |id| trace.names.text(id));
    let rows = trace.collectives.iter().map(|(_, row)| {
        format!("{} in {} of {:?}: {:?}", text(row.name), text(row.group), row.group_size, row.bytes)
    });
    rows.collect()
}

#[test]
fn nccl_says_how_many_ranks_moved_how_much() {
    // Sizes of all-gathers are those of one rank's part: 1000 × 2.
    let trace = import_ranges(&[
        (0, 10, "ncclCommInitRank", joined(2, 0)),
        (1, 10, "ncclCommInitRank", joined(2, 1)),
        (0, 20, "ncclAllReduce", message(4096)),
        (0, 30, "ncclAllGather", message(1000)),
        (0, 40, "ncclSomethingNew", message(7)),
    ]);
    assert_eq!(
        collectives(&trace),
        [
            "ncclAllReduce in communicator 0xabc of Some(2): Some(4096)",
            "ncclAllGather in communicator 0xabc of Some(2): Some(2000)",
            "- in communicator 0xabc of Some(2): None",
        ]
    );
    assert_eq!(count(&trace, "nvtx_payloads_not_shown"), 0);
    let ranks: Vec<_> = trace.processes.iter().map(|process| process.rank).collect();
    assert_eq!(ranks, [Some(0), Some(1)]);
}

#[test]
fn what_nccl_does_not_say_stays_unknown() {
    // Nobody made the communicator in this capture, or two calls disagree about its size.
    let trace = import_ranges(&[(0, 20, "ncclAllGather", message(1000)), (0, 30, "ncclSend", message(8))]);
    assert_eq!(
        collectives(&trace),
        [
            "ncclAllGather in communicator 0xabc of None: None",
            "ncclSend in communicator 0xabc of None: Some(8)"
        ]
    );
    let trace = import_ranges(&[
        (0, 10, "ncclCommInitRank", joined(2, 0)),
        (1, 10, "ncclCommInitRank", joined(4, 0)),
        (0, 20, "ncclAllGather", message(1000)),
    ]);
    assert_eq!(collectives(&trace), ["ncclAllGather in communicator 0xabc of None: None"]);
    assert_eq!(trace.processes[0].rank, None);
}

#[test]
fn two_processes_with_one_rank_have_no_rank() {
    let trace = import_ranges(&[
        (0, 10, "ncclCommInitRank", joined(2, 1)),
        (1, 10, "ncclCommInitRank", joined(2, 1)),
    ]);
    assert!(trace.processes.iter().all(|process| process.rank.is_none()));
}

#[test]
fn payloads_that_cannot_be_shown_are_counted() {
    // A number, JSON, bytes of an unknown layout, bytes that are too few.
    let sql = format!(
        "{BASE}{SCHEMAS}
         INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId, uint64Value, jsonText, binaryData)
            VALUES (1, 2, 59, 'a', $TID, 1, 7, NULL, NULL), (3, NULL, 34, 'b', $TID, 1, NULL, '{{}}', NULL),
            (5, 6, 60, 'c', $TID, 1, NULL, NULL, {}), (7, 8, 59, 'd', $TID, 1, NULL, NULL, x'00'),
            (9, 10, 59, 'e', $TID, 1, NULL, NULL, substr({}, 1, 40)), (11, 12, 59, 'f', $TID, 1, NULL, NULL, NULL);",
        blob(5, &[0; 8]),
        message(9)
    );
    let trace = import(&sql);
    assert_eq!(count(&trace, "nvtx_payloads_not_shown"), 5);
    assert_eq!((trace.slices.len(), trace.marks.len(), trace.collectives.len()), (5, 1, 0));
}

#[test]
fn layouts_that_differ_between_processes_are_not_used() {
    let trace = import(&format!(
        "{BASE}{SCHEMAS}
         UPDATE NVTX_PAYLOAD_SCHEMA_ENTRIES SET offset = 16 WHERE rowid =
            (SELECT max(rowid) FROM NVTX_PAYLOAD_SCHEMA_ENTRIES WHERE name = 'Message size [bytes]');
         INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId, binaryData) VALUES
            (1, 2, 59, 'ncclAllReduce', $TID, 1, {});",
        message(9)
    ));
    assert_eq!(count(&trace, "nvtx_payload_schemas_differ") + count(&trace, "nvtx_payloads_not_shown"), 2);
    assert!(trace.collectives.is_empty());
}
