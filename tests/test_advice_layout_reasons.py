"""What `memwalk advise layout` says of why, of advice that is made up: nothing is simulated."""

from dataclasses import replace

from memwalk.analysis.advice.layouts.predict import Layout
from memwalk.analysis.advice.layouts.rank import Advice, reasons


def an_advice(layout: Layout, processor: float, iteration: float, tuples: float, lines: float) -> Advice:
    """In memory."""
    return Advice(layout, processor, 0.0, processor, iteration + tuples, 0.0, iteration, tuples, 0.0, 1.0, lines)


def test_what_the_model_says_is_a_reason_if_it_is_most_of_the_difference_and_no_more_than_that() -> None:
    best = an_advice("super-column", 0.6, 0.01, 2.5, 0.13)
    others = [
        an_advice("super-row", 1.3, 0.02, 1.2, 0.5),
        an_advice("pax", 1.4, 1.0, 1.2, 0.13),
        an_advice("nsm", 6.3, 5.2, 1.2, 0.76),
        an_advice("dsm", 1.3, 0.02, 1.2, 0.1),
    ]
    _, lines, models, steps, unknown, *_ = reasons([best, *others])
    # It fetches more lines, but is not said to wait for them.
    took = "the processor takes 1.3 s instead of 0.6 s, which the cost model does not explain"
    assert lines == f"super-row takes 2.17 times as long: {took}."
    # The model has 0.99 s more of iteration for it, where it takes 0.8 s more in all.
    assert models == "pax takes 2.33 times as long: the processor takes 1.4 s instead of 0.6 s, which the cost model does not explain."
    stepping = "as it steps the storage manager's iterator more often by the cost model"
    assert steps == f"nsm takes 10.50 times as long: the processor takes 6.3 s instead of 0.6 s, {stepping}."
    assert unknown == f"dsm takes 2.17 times as long: {took}."


def test_what_the_model_does_not_explain_is_told_by_cause() -> None:
    """DSM looks each record up in an index here, which the model does not know, and branches are mispredicted; lines are few."""
    best = replace(an_advice("super-column", 0.6, 0.0, 0.6, 0.13), seconds_by_cause={"busy": 0.4, "branch": 0.0, "dcache": 0.2})
    lookups = replace(
        an_advice("dsm", 6.0, 0.6, 0.6, 1.2), seconds_by_cause={"busy": 3.6, "branch": 1.8, "dcache": 0.6}, waiting_seconds=0.6
    )
    _, said, *_, unlike = reasons([best, lookups])
    cause = "(mostly instructions graduating, 3.6 s instead of 0.4 s)"
    assert (
        said == f"dsm takes 10.00 times as long: the processor takes 6 s instead of 0.6 s {cause}, which the cost model does not explain."
    )
    assert unlike == "The processor takes 5 times what the cost model predicts with dsm."
    several = reasons([replace(best, processor_seconds=0.3), lookups])[-1]
    assert several == "The processor takes 0.5 times what the cost model predicts with super-column, 5 times with dsm."


def test_times_that_are_alike_have_no_reason() -> None:
    best, near, far = (an_advice(layout, seconds, 0.0, 1.0, 0.1) for layout, seconds in (("pax", 1.0), ("nsm", 1.03), ("dsm", 1.05)))
    _, alike, other = reasons([best, near, far])
    assert alike == "nsm takes 1.03 times as long, hardly a difference."
    assert other.startswith("dsm takes 1.05 times as long: ")


def test_simulated_waits_are_a_reason_before_what_the_model_has() -> None:
    best = replace(an_advice("super-column", 0.6, 0.0, 0.3, 0.13), waiting_seconds=0.1)
    waits = replace(an_advice("nsm", 2.6, 1.5, 0.3, 1.2), waiting_seconds=1.1)  # 1.0 of 2.0; the model has 1.5 of iteration
    near = replace(an_advice("pax", 2.6, 1.5, 0.3, 0.13), waiting_seconds=1.2)
    works = replace(an_advice("dsm", 2.6, 1.5, 0.3, 1.2), waiting_seconds=1.0)  # 0.9 of 2.0
    _, far, by_line, steps, *_ = reasons([best, waits, near, works])
    waiting = "it waits for lines and translations for 1.1 s instead of 0.1 s, and fetches 1.20 lines per record instead of 0.13"
    assert far == f"nsm takes 4.33 times as long: {waiting}."
    assert by_line == "pax takes 4.33 times as long: it waits for lines and translations for 1.2 s instead of 0.1 s."
    stepping = "as it steps the storage manager's iterator more often by the cost model"
    assert steps == f"dsm takes 4.33 times as long: the processor takes 2.6 s instead of 0.6 s, {stepping}."


def test_what_the_best_layout_does_most_is_what_simulation_says() -> None:
    memory = an_advice("super-column", 1.0, 0.0, 1.5, 0.1)
    assert reasons([memory]) == ["super-column is best: most of its time goes to reconstructing tuples."]
    assert reasons([replace(memory, waiting_seconds=0.8)]) == [
        "super-column is best: most of its time goes to waiting for lines and translations."
    ]
    stored = replace(memory, waiting_seconds=0.5, io_seconds=0.6, simulated_seconds=1.6)
    assert reasons([stored]) == ["super-column is best: the largest part of its time goes to reading its pages."]


def test_pages_that_take_far_longer_than_predicted_are_told() -> None:
    best = an_advice("super-column", 1.0, 0.0, 1.5, 0.1)
    slow = replace(best, layout="dsm", io_seconds=1981.0, predicted_io_seconds=384.0, simulated_seconds=1982.0, predicted_seconds=386.0)
    *_, told = reasons([best, slow])
    assert told.startswith("The pages of dsm take 1,981 s, 5.16 times what the cost model predicts; the model has them come in runs")
    # Who asks for a page of each attribute in turn does not read any faster.
    for layout in ("pax", "dsm"):
        fast = replace(slow, layout=layout, io_seconds=100.0)
        assert reasons([best, fast])[-1] == f"The pages of {layout} take 100 s, 0.26 times what the cost model predicts."
    assert "times what" not in reasons([best, replace(slow, predicted_io_seconds=1500.0)])[-1]


def test_times_and_megabytes_have_three_digits() -> None:
    best, other = (
        replace(an_advice(layout, 0.0, 0.0, 0.0, 0.0), io_seconds=io, simulated_seconds=io, megabytes_read=read)
        for layout, io, read in (("super-column", 0.0128, 0.161), ("pax", 1234.5, 0.6432))
    )
    assert reasons([best, other])[1].endswith("its pages take 1,234 s instead of 0.0128 s (predicted: 0.643 MB instead of 0.161 MB).")


def test_a_sample_in_which_scans_have_hardly_begun_is_told_of() -> None:
    even = an_advice("super-column", 0.6, 0.0, 0.6, 0.1)
    (told, best, *_) = reasons([even, replace(even, layout="pax", unevenness=1.29), replace(even, layout="nsm", unevenness=1.2)])
    assert told.startswith("The sample is small: with pax its records take 1.29 times as long as those of its second half;")
    assert best.startswith("super-column is best")
    assert reasons([even, replace(even, unevenness=1.09)])[0] == best
