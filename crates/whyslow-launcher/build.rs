//! Builds the launcher program and leaves its bytes in `OUT_DIR` for `include_bytes!`.
//!
//! The program is a separate executable without standard library, and a crate cannot depend on a
//! binary artifact in stable Cargo. It has no dependencies, so one call of the compiler is enough:
//! no nested cargo, no network, no lock. On targets that the program does not know an empty file is
//! left, and the library says so when asked to start.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/launcher.rs");
    println!("cargo::rerun-if-changed=src/launcher");
    println!("cargo::rerun-if-changed=src/wire.rs");
    println!("cargo::rustc-check-cfg=cfg(launcher_embedded)");

    let output = PathBuf::from(variable("OUT_DIR")).join("launcher");
    if is_supported() {
        compile(&output);
        println!("cargo::rustc-cfg=launcher_embedded");
    } else {
        std::fs::write(&output, []).expect("the output directory is writable");
    }
}

fn is_supported() -> bool {
    let architecture = variable("CARGO_CFG_TARGET_ARCH");
    variable("CARGO_CFG_TARGET_OS") == "linux"
        && variable("CARGO_CFG_TARGET_POINTER_WIDTH") == "64"
        && (architecture == "x86_64" || architecture == "aarch64")
}

fn compile(output: &Path) {
    let mut compiler = Command::new(variable("RUSTC"));
    compiler
        .args(["--crate-name", "whyslow_launcher_program", "--crate-type", "bin", "--edition", "2024"])
        .arg("--target")
        .arg(variable("TARGET"))
        .args(["-C", "panic=abort", "-C", "opt-level=s", "-C", "codegen-units=1"])
        .args(["-C", "debuginfo=0", "-C", "strip=symbols", "-C", "force-unwind-tables=no"])
        // A fixed address needs no relocation at start, which a program without runtime could not
        // do.
        .args(["-C", "relocation-model=static"])
        .args(["-C", "link-arg=-nostartfiles", "-C", "link-arg=-nostdlib", "-C", "link-arg=-static"])
        .args(["-C", "link-arg=-Wl,--gc-sections,--build-id=none,-z,noexecstack,-z,norelro"])
        .arg("-o")
        .arg(output)
        .arg("src/launcher.rs")
        // Flags meant for the host program (sanitizers, target-cpu, instrumentation) would need a
        // runtime.
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    if variable("CARGO_CFG_TARGET_ENV") == "musl" {
        // Otherwise rustc adds its own start files for this target.
        compiler.args(["-C", "link-self-contained=no"]);
    }
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        let mut flag = OsString::from("linker=");
        flag.push(linker);
        compiler.arg("-C").arg(flag);
    }
    let status = compiler.status().expect("the compiler can be run");
    assert!(status.success(), "the launcher program does not compile: {compiler:?}");
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name} for build scripts"))
}
