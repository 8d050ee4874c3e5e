//! What operators call in the host DBMS.

/// Declares the calls: an enum whose numbers the events carry, and the names that a profile gives costs to.
macro_rules! calls {
    ($($call:ident = $name:literal,)+) => {
        /// A call into the host DBMS.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u16)]
        pub enum Call {
            $(#[doc = $name] $call,)+
        }

        impl Call {
            /// Names in the order of the numbers.
            pub const NAMES: &'static [&'static str] = &[$($name,)+];
        }
    };
}
calls! {
    NextRecord = "next-record",
    ReadAttribute = "read-attribute",
    Aggregate = "aggregate",
    NextPage = "next-page",
    FixPage = "fix-page",
    LockRecord = "lock-record",
    UpdateAttribute = "update-attribute",
    LogRecord = "log-record",
    InsertRecord = "insert-record",
    HashBuild = "hash-build",
    HashProbe = "hash-probe",
    OutputRecord = "output-record",
    DeleteRecord = "delete-record",
    LockFile = "lock-file",
    LockPage = "lock-page",
}
