//! What a synchronisation record waited for.
//!
//! The class comes from the name of the API call that caused the record. Its own number, `syncType`, has
//! meant three different things, and only schema 3.25.0 agrees with the label table in its own files
//! (measured by joining records with API names over public exports of 2021 to 2026).

/// What the caller waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SyncClass {
    /// All work of a context or device.
    Context,
    /// All work of a stream.
    Stream,
    /// An event; the host waits or asks.
    Event,
    /// An event; a stream waits, the host does not.
    StreamWaitEvent,
}

impl SyncClass {
    /// The class of the records of an API call; `None` for calls that only wait on the side
    /// (`cudaDeviceReset`, `cudaFree`).
    pub(crate) fn from_api(base_name: &str) -> Option<Self> {
        let ends = |ends: &[&str]| ends.iter().any(|end| base_name.ends_with(end));
        if ends(&["StreamWaitEvent"]) {
            Some(Self::StreamWaitEvent)
        } else if ends(&["EventSynchronize", "EventQuery"]) {
            Some(Self::Event)
        } else if ends(&["StreamSynchronize", "StreamQuery"]) {
            Some(Self::Stream)
        } else if ends(&["DeviceSynchronize", "CtxSynchronize", "ThreadSynchronize"]) {
            Some(Self::Context)
        } else {
            None
        }
    }

    /// The class by number alone, for records whose call is not in the file; `None` where the number
    /// could mean two things in that schema version (major, minor).
    pub(crate) fn from_code(code: i64, schema: Option<(u32, u32)>) -> Option<Self> {
        let schema = schema.unwrap_or((0, 0));
        Some(match code {
            4 if (3, 17) <= schema => Self::Context,
            0 if (3, 13) <= schema => Self::Context,
            1 if schema < (3, 13) => Self::Context,
            1 if (3, 17) <= schema => Self::Event,
            2 if schema < (3, 13) => Self::Event,
            2 if (3, 25) <= schema => Self::StreamWaitEvent,
            2 => Self::Stream,
            3 if (3, 25) <= schema => Self::Stream,
            _ => return None,
        })
    }

    /// The name of such a record.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Context => "Context sync",
            Self::Stream => "Stream sync",
            Self::Event => "Event sync",
            Self::StreamWaitEvent => "Stream wait event",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn api_names_decide() {
        assert_eq!(SyncClass::from_api("cudaDeviceSynchronize"), Some(SyncClass::Context));
        assert_eq!(SyncClass::from_api("cuCtxSynchronize"), Some(SyncClass::Context));
        assert_eq!(SyncClass::from_api("cudaEventQuery"), Some(SyncClass::Event));
        assert_eq!(SyncClass::from_api("cudaStreamWaitEvent"), Some(SyncClass::StreamWaitEvent));
        assert_eq!(SyncClass::from_api("cudaDeviceReset"), None);
    }

    #[test]
    fn numbers_mean_what_their_version_meant() {
        let of = |code, minor| SyncClass::from_code(code, Some((3, minor)));
        assert_eq!(of(1, 7), Some(SyncClass::Context));
        assert_eq!(of(3, 7), None, "stream sync and stream wait shared a number");
        assert_eq!(of(2, 24), Some(SyncClass::Stream));
        assert_eq!(of(2, 25), Some(SyncClass::StreamWaitEvent));
        assert_eq!(of(1, 15), None, "an older driver wrote the older number");
    }
}
