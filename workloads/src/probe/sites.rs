//! Places in the code of probes.

crate::tracer::sites! {
    ProbeTuple = "load a probe tuple",
    Hash = "multiplicative hash",
    BucketPrefetch = "prefetch of a bucket",
    Next = "where is the next bucket?",
    Key = "key of a build tuple",
    KeysEqual = "are keys equal?",
    Payload = "payload of the build tuple",
    ChainEnds = "is there another bucket?",
    State = "state of a probe under way",
    StateChange = "change the state of a probe",
    IsUnderWay = "is the probe under way?",
    Resume = "where does the coroutine go on?",
    ResumeChange = "where the coroutine will go on",
    Registers = "registers of a coroutine that goes on",
    RegistersChange = "registers of a coroutine that is suspended",
    ProbesLeft = "is there another probe?",
    ResultPlace = "where does the result go?",
    ResultsFull = "is there no room for a result?",
    Result = "result: key and payload",
    ResultPlaceChange = "where the next result goes",
}
