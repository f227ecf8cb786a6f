//! Builds the libraries that are preloaded and leaves their bytes in `OUT_DIR` for `include_bytes!`.
//!
//! Each is a shared object without standard library and without anything that the loader would have to load with it, so
//! one file serves programs of every libc. A crate cannot depend on such an artifact in stable Cargo; they have no
//! dependencies, so one call of the compiler each is enough. Where they cannot work an empty file is left, and the library
//! says that there is none.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Each has a file of that name in `src/objects`.
const OBJECTS: [&str; 5] = ["agent", "no_sync", "populate", "no_delay", "few_files"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/objects");
    println!("cargo::rerun-if-changed=src/counters.rs");
    let directory = PathBuf::from(variable("OUT_DIR"));
    for name in OBJECTS {
        let output = directory.join(name);
        if is_supported() {
            compile(name, &output);
        } else {
            std::fs::write(&output, []).expect("the output directory is writable");
        }
    }
    mimalloc(&directory.join("mimalloc"));
}

fn is_supported() -> bool {
    let architecture = variable("CARGO_CFG_TARGET_ARCH");
    variable("CARGO_CFG_TARGET_OS") == "linux"
        && variable("CARGO_CFG_TARGET_POINTER_WIDTH") == "64"
        && (architecture == "x86_64" || architecture == "aarch64")
}

fn compile(name: &str, output: &Path) {
    let mut compiler = Command::new(variable("RUSTC"));
    compiler
        .args(["--crate-name", &format!("whyslow_{name}"), "--crate-type", "cdylib", "--edition", "2024"])
        .arg("--target")
        .arg(variable("TARGET"))
        .args(["-C", "panic=abort", "-C", "opt-level=3", "-C", "codegen-units=1"])
        .args(["-C", "debuginfo=0", "-C", "strip=symbols", "-C", "force-unwind-tables=no"])
        .args(["-C", "link-arg=-nostartfiles", "-C", "link-arg=-nostdlib"])
        .args(["-C", "link-arg=-Wl,--gc-sections,--build-id=none,-z,noexecstack"])
        .arg("-o")
        .arg(output)
        .arg(format!("src/objects/{name}.rs"))
        // Flags meant for the host program (sanitizers, target-cpu, instrumentation) would need a runtime.
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    if variable("CARGO_CFG_TARGET_ARCH") == "aarch64" {
        // Otherwise the choice of atomic instructions at start comes with it, which asks the libc.
        compiler.args(["-C", "target-feature=-outline-atomics"]);
    }
    if variable("CARGO_CFG_TARGET_ENV") == "musl" {
        // Otherwise rustc makes no shared objects for this target, or adds its own start files.
        compiler.args(["-C", "target-feature=-crt-static", "-C", "link-self-contained=no"]);
    }
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        let mut flag = OsString::from("linker=");
        flag.push(linker);
        compiler.arg("-C").arg(flag);
    }
    let status = compiler.status().expect("the compiler can be run");
    assert!(status.success(), "the library {name} does not compile: {compiler:?}");
}

/// The sources are those of `libmimalloc-sys`, which tells where they are and makes a static library only.
#[cfg(feature = "bundled-mimalloc")]
fn mimalloc(output: &Path) {
    println!("cargo::rerun-if-env-changed=DEP_MIMALLOC_INCLUDE_DIR");
    let include = PathBuf::from(variable("DEP_MIMALLOC_INCLUDE_DIR"));
    let sources = include.parent().expect("the include directory is beside the sources").join("src");
    let mut build = cc::Build::new();
    build.include(&include).include(&sources).opt_level(3).debug(false).pic(true).warnings(false);
    for name in ["NDEBUG", "MI_BUILD_RELEASE", "MI_MALLOC_OVERRIDE", "MI_SHARED_LIB", "MI_SHARED_LIB_EXPORT"]
    {
        build.define(name, None);
    }
    build.define("MI_DEBUG", "0");
    let flags =
        ["-std=gnu11", "-fvisibility=hidden", "-ftls-model=initial-exec", "-fno-builtin-malloc", "-pthread"];
    for flag in flags {
        build.flag(flag);
    }
    let mut linking = build.get_compiler().to_command();
    // Without the libc as a library that it needs: programs of another libc would not find that, and every program has one.
    linking.args([
        "-nodefaultlibs",
        "-shared",
        "-s",
        "-Wl,--build-id=none,-z,noexecstack,-soname,whyslow-mimalloc.so",
    ]);
    linking.arg("-o").arg(output).arg(sources.join("static.c")).arg("-lgcc");
    let status = linking.status().expect("the C compiler can be run");
    assert!(status.success(), "mimalloc does not compile: {linking:?}");
}

#[cfg(not(feature = "bundled-mimalloc"))]
fn mimalloc(output: &Path) {
    std::fs::write(output, []).expect("the output directory is writable");
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name} for build scripts"))
}
