//! Parts of a trace of two phases, in batches of several sizes.

use super::*;

/// Two phases of ten loads each, a load of two instructions after the one it needs.
fn trace() -> Vec<Event> {
    let load = |number| Event {
        instructions: 1,
        dep: 1,
        ..Event::new(Kind::Load, number)
    };
    let phase = |phase: u64| {
        let loads = (0..10).map(move |number| load(10 * phase + number));
        [Event::new(Kind::Mark, phase)].into_iter().chain(loads)
    };
    phase(0).chain(phase(1)).collect()
}

fn cut(from: Option<Position>, until: Option<Position>) -> Result<Vec<Event>, String> {
    cut_warm(from, until, None)
}

fn cut_warm(
    from: Option<Position>,
    until: Option<Position>,
    warm_up: Option<Position>,
) -> Result<Vec<Event>, String> {
    let window = Window {
        from,
        until,
        warm_up,
    };
    let mut results: Vec<_> = [1, 7, 1000]
        .map(|batch| {
            let mut cutter = Cutter::new(window);
            let mut part = Vec::new();
            for events in trace().chunks(batch) {
                part.extend_from_slice(cutter.cut(events));
            }
            cutter.problem().map_or(Ok(part), Err)
        })
        .to_vec();
    let first = results.remove(0);
    assert!(results.iter().all(|other| *other == first));
    first
}

#[test]
fn all_positions_name_the_same_part() {
    let trace = trace();
    // Event 11 opens the second phase, after 20 instructions.
    for from in [
        Position::Events(11),
        Position::Instructions(20),
        Position::Phase(1),
    ] {
        assert_eq!(cut(Some(from), None).unwrap(), trace[11..], "{from:?}");
        assert_eq!(cut(None, Some(from)).unwrap(), trace[..11], "{from:?}");
    }
    assert_eq!(cut(None, None).unwrap(), trace);
    for end in [Position::Events(22), Position::Instructions(40)] {
        assert_eq!(cut(None, Some(end)).unwrap(), trace, "{end:?}");
    }
}

#[test]
fn a_part_knows_its_phase_and_waits_for_nothing_before_it() {
    let part = cut(Some(Position::Events(15)), Some(Position::Events(17))).unwrap();
    let mut expected = vec![Event::new(Kind::Mark, 1)];
    expected.extend_from_slice(&trace()[15..17]);
    assert_eq!(part, expected);
    let part = cut(Some(Position::Events(3)), Some(Position::Events(5))).unwrap();
    assert_eq!((part[0].dep, part[1].dep), (0, 1));
}

#[test]
fn a_warm_up_ends_where_it_is_asked_to() {
    let mut changed = trace();
    changed[14].dep = 3;
    for warm_up in [
        Position::Events(8),
        Position::Instructions(16),
        Position::Phase(1),
    ] {
        let part = cut_warm(Some(Position::Events(3)), None, Some(warm_up)).unwrap();
        assert_eq!(part[8], Event::new(Kind::Measure, 0), "{warm_up:?}");
        assert_eq!(part[9..], trace()[11..]);
    }
    // What waits for an event before the mark is one event further from it.
    let mut cutter = Cutter::new(Window {
        warm_up: Some(Position::Events(12)),
        ..Window::default()
    });
    let part = cutter.cut(&changed);
    assert_eq!(part[12].kind, Kind::Measure);
    assert_eq!([13, 14, 15].map(|event| part[event].dep), [2, 1, 4]);
    for (warm_up, expected) in [
        (Position::Events(0), "its warm-up is empty"),
        (
            Position::Events(22),
            "its warm-up takes all of it: it ends behind 11 events and 20 instructions",
        ),
        (
            Position::Phase(1),
            "its warm-up takes all of it: it ends behind 11 events and 20 instructions",
        ),
    ] {
        let until = Some(Position::Events(11));
        let problem = cut_warm(None, until, Some(warm_up)).unwrap_err();
        assert!(problem.starts_with(expected), "{problem}");
    }
}

#[test]
fn a_warm_up_stands_for_the_marks_of_the_trace() {
    let mut events = trace();
    events[15] = Event::new(Kind::Measure, 0);
    let window = Window {
        warm_up: Some(Position::Events(5)),
        ..Window::default()
    };
    let mut cutter = Cutter::new(window);
    let part = cutter.cut(&events);
    let marks = part.iter().filter(|event| event.kind == Kind::Measure);
    assert_eq!(marks.count(), 1);
    assert_eq!(part[16], Event::new(Kind::Mark, 1));
}

#[test]
fn parts_that_are_not_there_are_told() {
    let events = Position::Events;
    for (from, until, expected) in [
        (
            Some(events(23)),
            None,
            "it never begins: the trace has 22 events and 40 instructions",
        ),
        (Some(Position::Phase(2)), None, "it never begins"),
        (None, Some(events(23)), "it never ends"),
        (Some(events(9)), Some(events(9)), "it ends where it begins"),
        (Some(events(9)), Some(events(3)), "it ends before it begins"),
        (None, Some(Position::Phase(0)), "it never ends"),
    ] {
        let problem = cut(from, until).unwrap_err();
        assert!(problem.starts_with(expected), "{problem}");
    }
}

#[test]
fn the_first_phase_opens_with_the_trace() {
    // As an imported trace: no mark opens its phase, and marks of it carry instructions.
    let load = |number| Event::new(Kind::Load, number);
    let carrier = Event {
        instructions: 9,
        ..Event::new(Kind::Mark, 0)
    };
    let events = [load(0), load(1), carrier, load(2), carrier];
    let cut = |from, until| {
        let mut cutter = Cutter::new(Window {
            from,
            until,
            warm_up: None,
        });
        let part = cutter.cut(&events).to_vec();
        cutter.problem().map_or(Ok(part), Err)
    };
    let phase = Some(Position::Phase(0));
    assert_eq!(cut(phase, None).unwrap(), events);
    assert_eq!(cut(phase, Some(Position::Events(2))).unwrap(), events[..2]);
    // It opens once only.
    let never = cut(None, phase).unwrap_err();
    assert!(never.starts_with("it never ends"), "{never}");
    let never = cut(Some(Position::Phase(1)), None).unwrap_err();
    assert!(never.starts_with("it never begins"), "{never}");
}
