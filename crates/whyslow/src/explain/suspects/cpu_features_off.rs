//! Instructions that the CPU has and that are not used.

use super::settings::Setting;
use super::{Suspect, Suspicion, evidence::hot_functions, settings, signs};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "cpu.features-off",
    title: "features of the CPU switched off",
    about: "A variable tells a library that the CPU lacks instructions (AES, AVX, ...), so that it takes a routine that works \
            everywhere and is slow.",
    shows: "User time in another routine for the same work; more instructions; the same system calls.",
    test: "The setting of the fast side on the slow side.",
    fix: "unset the variable (OPENSSL_ia32cap, glibc.cpu.hwcaps, OPENBLAS_CORETYPE, ...)",
    report: "OPENSSL_ia32cap(3ssl), the variable that masks AES-NI.",
    look,
};

const SETTINGS: [&str; 20] = [
    "OPENSSL_ia32cap",
    "OPENSSL_armcap",
    "OPENSSL_ppccap",
    "OPENSSL_s390xcap",
    "GNUTLS_CPUID_OVERRIDE",
    "OPENBLAS_CORETYPE",
    "MKL_DEBUG_CPU_TYPE",
    "MKL_ENABLE_INSTRUCTIONS",
    "MKL_CBWR",
    "NPY_DISABLE_CPU_FEATURES",
    "NPY_ENABLE_CPU_FEATURES",
    "ATEN_CPU_CAPABILITY",
    "DNNL_MAX_CPU_ISA",
    "ONEDNN_MAX_CPU_ISA",
    "BLIS_ARCH_TYPE",
    "SIMDJSON_FORCE_IMPLEMENTATION",
    "SIMDUTF_FORCE_IMPLEMENTATION",
    "ARROW_USER_SIMD_LEVEL",
    "VOLK_GENERIC",
    "ZLIB_COMPAT_DISABLE_SIMD",
];

fn is_mine(setting: &Setting) -> bool {
    let name = setting.name.as_str();
    let is_dotnet = (name.starts_with("DOTNET_Enable") || name.starts_with("COMPlus_Enable"))
        && ["AVX", "SSE", "BMI", "HW", "AES", "Arm"].iter().any(|part| name.contains(part));
    let is_java = name.contains("-XX:UseAVX") || name.contains("-XX:UseSSE") || name.contains("UseAES");
    SETTINGS.contains(&name)
        || name.starts_with("glibc.cpu.")
        || name.starts_with("GODEBUG:cpu.")
        || is_dotnet
        || is_java
}

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let mut found = settings::suspicion(case, is_mine)?;
    if let Some((name, more, fast)) =
        hot_functions(case).into_iter().next().filter(|(_, more, _)| *more > 0.0)
    {
        found.signs.push(format!(
            "{} more in {name}, {} on the fast side",
            signs::seconds(more),
            signs::seconds(fast)
        ));
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    #[test]
    fn the_variable_is_the_experiment() {
        let test = TestCase::new("openssl enc", "openssl enc")
            .seconds(0.042, 0.165)
            .slow_env("OPENSSL_ia32cap", "~0x200000200000000")
            .cpu(&[("libcrypto.so.3!aesni_ctr", 1.0)], &[("libcrypto.so.3!vpaes_ctr", 1.0)]);
        let found = test.look(&SUSPECT).unwrap();
        assert!(found.claims[0].is_experiment);
        assert!(found.signs[1].contains("vpaes_ctr"));
    }

    #[test]
    fn parts_of_lists_count() {
        for (name, value) in [
            ("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-AVX2_Usable"),
            ("GODEBUG", "cpu.avx2=off"),
            ("DOTNET_EnableAVX2", "0"),
            ("JAVA_TOOL_OPTIONS", "-XX:UseAVX=0"),
        ] {
            let test = TestCase::new("a", "a").slow_env(name, value);
            assert!(test.claim_on(&SUSPECT, name).unwrap().is_experiment, "{name}");
        }
    }

    #[test]
    fn other_variables_are_innocent() {
        assert!(TestCase::new("a", "a").slow_env("OPENSSL_CONF", "/x").look(&SUSPECT).is_none());
    }
}
