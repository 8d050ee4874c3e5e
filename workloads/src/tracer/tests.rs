use super::*;
use traces::Counter;

#[test]
fn dependences_count_events_back() {
    let mut events: Vec<Event> = Vec::new();
    let mut tracer = Tracer::new(&mut events);
    let first = tracer.load(7_u16, 64, 4, 1, Dep::NONE);
    tracer.work(3);
    tracer.branch(8_u16, true, Dep::NONE);
    tracer.load(9_u16, 128, 8, 2, first.after(1).later(1));
    tracer.finish().unwrap();
    assert_eq!(events[0].dep, 0);
    assert_eq!(
        (events[1].instructions, events[1].address, events[1].site),
        (3, 1, 8)
    );
    assert_eq!(
        (
            events[2].dep,
            events[2].chain,
            events[2].size,
            events[2].words
        ),
        (2, 2, 8, 2)
    );
}

#[test]
fn calls_and_pages_carry_the_instructions_before_them() {
    let mut events: Vec<Event> = Vec::new();
    let mut tracer = Tracer::new(&mut events);
    tracer.work(2);
    tracer.call(3);
    tracer.page_prefetch(1 << 40);
    tracer.page_read(5, 8192..8192 + 4096);
    tracer.work(1);
    tracer.page_write(6);
    tracer.finish().unwrap();
    let told = events
        .iter()
        .map(|event| (event.kind, event.address, event.instructions));
    let expected = [
        (Kind::Call, 3, 2),
        (Kind::PagePrefetch, 1 << 40, 0),
        (Kind::PageRead, 5, 0),
        (Kind::PageArrival, 8192, 0),
        (Kind::PageWrite, 6, 1),
    ];
    assert!(told.eq(expected));
    assert_eq!(events[3].size, 4096);
}

#[test]
fn requests_for_frames_that_threads_share_name_the_fill() {
    let mut events: Vec<Event> = Vec::new();
    let mut tracer = Tracer::new(&mut events);
    tracer.work(2);
    tracer.page_prefetch_shared(1 << 40, u16::MAX);
    tracer.page_read_shared(1 << 40, u16::MAX, 8192..8192 + 4096);
    tracer.work(1);
    tracer.page_wait(5, 1, 0..4096);
    tracer.page_read(4, 0..4096);
    tracer.page_prefetch(4);
    tracer.finish().unwrap();
    let told = events
        .iter()
        .map(|event| (event.kind, event.address, event.instructions, event.fill()));
    let expected = [
        (Kind::PagePrefetch, 1 << 40, 2, u16::MAX),
        (Kind::PageRead, 1 << 40, 0, u16::MAX),
        (Kind::PageArrival, 8192, 0, 0),
        (Kind::PageWait, 5, 1, 1),
        (Kind::PageArrival, 0, 0, 0),
        (Kind::PageRead, 4, 0, 0),
        (Kind::PageArrival, 0, 0, 0),
        (Kind::PagePrefetch, 4, 0, 0),
    ];
    assert!(told.eq(expected));
    let arrivals = events
        .iter()
        .filter(|event| event.kind == Kind::PageArrival);
    let arrivals = arrivals.map(|event| (event.size, event.comes_for_another()));
    assert!(arrivals.eq([(4096, false), (4096, true), (4096, false)]));
    assert!(events.iter().all(|event| event.own_instructions() == 0));
}

#[test]
fn no_plain_instruction_is_lost() {
    for work in [0, 1, 65_535, 65_536, 65_537, 131_072, 1_000_000] {
        let mut counter = Counter::default();
        let mut tracer = Tracer::new(&mut counter);
        tracer.work(work);
        tracer.load(0_u16, 0, 4, 1, Dep::NONE);
        tracer.work(work);
        tracer.finish().unwrap();
        assert_eq!(counter.instructions, 2 * u64::from(work) + 1, "work {work}");
    }
}

/// What stands for them takes no longer than they do.
#[test]
fn plain_instructions_with_no_event_behind_them_end_with_one_of_a_cycle() {
    let mut events: Vec<Event> = Vec::new();
    let mut tracer = Tracer::new(&mut events);
    tracer.work(100_000);
    tracer.finish().unwrap();
    let told = events
        .iter()
        .map(|event| (event.kind, event.size, event.dep, event.instructions));
    let add = OpClass::Add as u16;
    assert!(told.eq([(Kind::Op, add, 0, 65_535), (Kind::Op, add, 0, 34_463)]));
}

#[test]
fn batches_do_not_lose_events() {
    let mut events: Vec<Event> = Vec::new();
    let mut tracer = Tracer::new(&mut events);
    for address in 0..3 * BATCH as u64 + 1 {
        tracer.load(0_u16, address, 4, 1, Dep::NONE);
    }
    tracer.finish().unwrap();
    assert!(
        events
            .iter()
            .map(|event| event.address)
            .eq(0..3 * BATCH as u64 + 1)
    );
}

#[test]
fn the_first_refusal_stops_the_kernel_and_is_kept() {
    struct Full;
    impl EventSink for Full {
        fn consume(&mut self, _events: &[Event]) -> Result<(), SinkError> {
            Err(SinkError::Unsupported("full".into()))
        }
    }
    let mut full = Full;
    let mut tracer = Tracer::new(&mut full);
    let endless = watch::stoppable(|| {
        loop {
            tracer.load(0_u16, 0, 4, 1, Dep::NONE);
        }
    });
    assert_eq!(endless, Err::<(), _>(watch::Stopped));
    assert!(tracer.failed());
    assert_eq!(tracer.finish().unwrap_err().to_string(), "full");
}
