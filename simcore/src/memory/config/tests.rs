use super::*;
use proptest::prelude::*;

const DDR4: &str = include_str!("../../../../configs/dram/ddr4-3200.ini");
const HBM2: &str = include_str!("../../../../configs/dram/hbm2-2000.ini");

fn facts(text: &str) -> DramFacts {
    DramConfig::parse("x.ini", text)
        .expect("our own file")
        .1
        .facts()
}

#[test]
fn presets_are_what_they_say() {
    let ddr4 = facts(DDR4);
    assert_eq!(
        ddr4,
        DramFacts {
            capacity_bytes: 16 << 30,
            request_bytes: 64,
            peak_bandwidth_bytes_per_second: 25_600_000_000,
            // A cycle in the controller, 13.75 + 13.75 ns, and a burst of 2.5 ns.
            unloaded_latency_ps: 625 + 13_750 + 13_750 + 2_500,
            row_cycle_ps: 46_250,
            refresh_interval_ps: 7_800_000,
        }
    );
    let hbm2 = facts(HBM2);
    assert_eq!(
        hbm2,
        DramFacts {
            capacity_bytes: 4 << 30,
            request_bytes: 64,
            peak_bandwidth_bytes_per_second: 256_000_000_000,
            unloaded_latency_ps: 1_000 + 14_000 + 14_000 + 2_000,
            row_cycle_ps: 48_000,
            refresh_interval_ps: 3_900_000,
        }
    );
}

#[cfg(feature = "dramsim3")]
#[test]
fn channels_are_told_by_the_address_mapping() {
    let (_, hbm2) = DramConfig::parse("x.ini", HBM2).expect("our own file");
    // The lowest bits above a request.
    assert_eq!(
        [0, 255, 256, 512, 2048].map(|address| hbm2.channel(address)),
        [0, 3, 4, 0, 0]
    );
}

/// The complaint about the DDR4 preset after a replacement.
fn complaint(from: &str, to: &str) -> String {
    assert!(DDR4.contains(from), "{from}");
    let text = DDR4.replace(from, to);
    DramConfig::parse("x.ini", &text).err().unwrap_or_default()
}

#[test]
fn every_mistake_names_the_line_and_the_remedy() {
    for (from, to, part) in [
        (
            "[timing]",
            "[timeing]",
            "unknown section [timeing]; did you mean `timing`?",
        ),
        (
            "\ntCCD_S",
            "\ntCCDS",
            "unknown key `tCCDS` in [timing]; did you mean `tCCD_S`?",
        ),
        ("tRTRS = 2", "", "[timing] lacks `tRTRS`"),
        ("protocol = DDR4", "protocol = DDR5", "did you mean `DDR3`"),
        ("protocol = DDR4", "protocol = HMC", "a known word"),
        ("CL = 22", "CL = 022", "`022` is not an integer"),
        ("CL = 22", "CL = -1", "`-1` is not an integer"),
        (
            "tCK = 0.625",
            "tCK = 625ps",
            "`625ps` is not a decimal number",
        ),
        ("tCK = 0.625", "tCK = 0", "no time from 0.01"),
        (
            "rows = 65536",
            "rows = 65000",
            "rows: 65000 is no power of two",
        ),
        (
            "channel_size = 16384",
            "channel_size = 4096",
            "4096 MB are no power of two of ranks of 8192 MB",
        ),
        ("BL = 8", "BL = 1", "shorter than a cycle"),
        ("bus_width = 64", "bus_width = 4", "less than one device"),
        ("tREFI = 12480", "tREFI = 1000", "no time beside tRFC"),
        ("CWL = 16", "CWL = 160", "too far from CL"),
        // A read of the other rank asks 16 + 4 + 4 + 2 - 49 = 23 cycles before the write, which comes 22 cycles after its activation.
        ("CL = 22", "CL = 45", "too far from CL"),
        ("CL = 22", "CL = 44", ""),
        // DDR4_8Gb_x8_3200.ini of DRAMSim3: a read of the other rank asks a cycle before the write.
        ("tRTRS = 2", "tRTRS = 1", ""),
        (
            "[system]",
            "[system]\nwrite_buf_size = 8",
            "write_buf_size changes nothing in DRAMSim3: as many writes wait as reads: `trans_queue_size`; leave the key out",
        ),
        ("rorabacobgch", "rorabacobgbg", "each once"),
        (
            "row_buf_policy = OPEN_PAGE",
            "row_buf_policy = OPEN_PAG",
            "did you mean `OPEN_PAGE`",
        ),
        (
            "cmd_queue_size = 8",
            "cmd_queue_size = 8000",
            "more than 1024",
        ),
    ] {
        let message = complaint(from, to);
        if part.is_empty() {
            assert_eq!(message, "", "{to}");
        } else {
            assert!(message.contains(part), "{to}: {message}");
            assert!(message.starts_with("x.ini:"), "{message}");
        }
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in "(\\[?[a-z_]{0,9}[]=;: ]?[A-Za-z0-9_. ;#-]{0,12}\n?){0,30}") {
        let _ = DramConfig::parse("x.ini", &text);
    }

    #[test]
    fn no_change_of_a_preset_makes_the_parser_panic(
        ddr4: bool,
        at in 0_usize..3000,
        length in 0_usize..20,
        patch in "[ -~\n]{0,12}",
    ) {
        let mut text = (if ddr4 { DDR4 } else { HBM2 }).to_owned();
        let start = at.min(text.len());
        let end = (start + length).min(text.len());
        text.replace_range(start..end, &patch);
        let _ = DramConfig::parse("x.ini", &text);
    }

    #[test]
    fn no_number_makes_the_parser_panic(key in 0_usize..60, value in any::<u64>()) {
        let mut lines: Vec<String> = DDR4.lines().map(str::to_owned).collect();
        let place = key % lines.len();
        if let Some((name, _)) = lines[place].clone().split_once(" = ") {
            lines[place] = format!("{name} = {value}");
        }
        let _ = DramConfig::parse("x.ini", &lines.join("\n"));
    }
}
