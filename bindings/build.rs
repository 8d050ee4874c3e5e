//! Tells the module which commit it was built from, with which profile, and for which instructions.

use std::process::Command;

fn main() {
    let commit = Command::new("git")
        .args(["rev-parse", "--short=12", "HEAD"])
        .output()
        .ok()
        .filter(|output| output.status.success())
        .map_or_else(
            || "unknown".to_owned(),
            |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        );
    println!("cargo::rustc-env=MEMWALK_COMMIT={commit}");
    let profile = std::env::var("PROFILE").unwrap_or_default();
    println!("cargo::rustc-env=MEMWALK_PROFILE={profile}");
    let features = std::env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    println!("cargo::rustc-env=MEMWALK_TARGET_FEATURES={features}");
    // Changes with every commit and checkout.
    println!("cargo::rerun-if-changed=../.git/logs/HEAD");
}
