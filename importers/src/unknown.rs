//! What a file is that no importer knows, for a message that helps.

use memchr::memmem;

/// As a clause: `this is a PNG picture`.
pub(crate) fn looks_like(head: &[u8]) -> &'static str {
    let has = |text: &str| memmem::find(head, text.as_bytes()).is_some();
    match head {
        [] => "the archive holds an empty file",
        [0x89, b'P', b'N', b'G', ..] => "this is a PNG picture",
        [0xff, 0xd8, 0xff, ..] => "this is a JPEG picture",
        [b'%', b'P', b'D', b'F', ..] => "this is a PDF document",
        [0x7f, b'E', b'L', b'F', ..] => "this is a program",
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "this is UTF-16 text; save it as UTF-8 and open it again",
        [b'B', b'Z', b'h', ..] => "this is packed by bzip2; unpack it first",
        [0xfd, b'7', b'z', b'X', b'Z', ..] => "this is packed by xz; unpack it first",
        [b'7', b'z', 0xbc, 0xaf, ..] => "this is a 7z archive; unpack it first",
        [0x04, 0x22, 0x4d, 0x18, ..] => "this is packed by lz4; unpack it first",
        _ if head.get(257..262) == Some(b"ustar") => "this is a tar archive; unpack it first",
        // Protocols 2 to 5.
        [0x80, 2..=5, ..] if has("segments") || has("device_traces") => {
            "this is a PyTorch memory snapshot, not a trace of time; open it at pytorch.org/memory_viz"
        }
        [0x80, 2..=5, ..] => "this is a Python pickle, not a trace",
        // The planes of XLA's profiler.
        [0x0a, ..] if has("/host:") || has("/device:") => {
            "this is an XPlane file of JAX or TensorFlow; open the .trace.json.gz that lies beside it"
        }
        _ if head.iter().all(|b| *b == 0) => {
            "the file starts with zeros; the export or the copy was cut short"
        }
        _ if is_markup(head) && (has("Memory Timeline") || has("MemoryViz") || has("memory_viz")) => {
            "this is a page that shows PyTorch's memory, not a trace of time; open it in a browser"
        }
        _ if is_markup(head) => "this is an HTML or XML text",
        _ if is_json(head) => {
            "this is JSON without events (no \"traceEvents\", no \"ph\"); \
             if it is still being written, open it again when it is complete"
        }
        _ => "this is no profile that Tracecard knows",
    }
}

fn is_markup(head: &[u8]) -> bool {
    head.trim_ascii_start().starts_with(b"<")
}

fn is_json(head: &[u8]) -> bool {
    matches!(head.trim_ascii_start().first(), Some(b'{' | b'['))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_are_named() {
        let mut tar = vec![b'a'; 300];
        tar[257..262].copy_from_slice(b"ustar");
        for (head, word) in [
            (b"\x89PNG\r\n".as_slice(), "PNG"),
            (b"", "empty"),
            (b"\0\0\0\0\0", "zeros"),
            (b"\x80\x04\x95\x10\0\0\0\0\0\0\0}\x94(\x8c\x08segments\x94", "memory snapshot"),
            (b"\x80\x05K\x01.", "pickle"),
            (b"\x0a\x20\x08\x01\x12\x10/host:metadata", "XPlane"),
            (b"<html><head><title>GPU Memory Timeline HTML</title>", "PyTorch's memory"),
            (b"\n<!DOCTYPE html>", "HTML"),
            (b"\xff\xfe{\0", "UTF-16"),
            (b"BZh91AY", "bzip2"),
            (b" {\"a\": 1}", "JSON without events"),
            (&tar, "tar"),
            (b"hello", "no profile"),
        ] {
            assert!(looks_like(head).contains(word), "{word}: {}", looks_like(head));
        }
    }
}
