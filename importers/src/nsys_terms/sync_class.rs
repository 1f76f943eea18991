//! What a synchronisation record waited for.
//!
//! The class comes from the name of the API call that caused the record. Its own number, `syncType`, has
//! meant three different things, by the version that captured the run rather than the one that exported it,
//! and only schema 3.25.0 agrees with the label table in its own files (measured by joining records with API
//! names over public exports of 2021 to 2026). So a record without a call is a synchronisation of unknown class.

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
}
