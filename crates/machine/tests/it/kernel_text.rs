//! Files of the kernel, damaged.

use crate::anything::kernel_text;
use crate::mutate::Random;
use std::path::Path;

#[test]
fn mutated_kernel_texts_never_crash() {
    let texts = [
        "27 1 254:0 / /mnt/a\\040b rw shared:5 - btrfs /dev/vda rw,compress=zstd:3\n",
        "cpu  100 1 50 1000 20 3 4 7 90 0\ncpu0 1 2\n",
        "  100 5 800 20 50 7 400 10 3 25 30 0 0 0 0 9 1",
        "0-3,8,10-11\nflags: 0100002\n",
        "Filename\tType\tSize\tUsed\tPriority\n/swap\\040file file\t1\t0\t-3\n",
    ];
    let name = format!("kernel-text-{}", std::process::id());
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut random = Random(7);
    for round in 0..1_000usize {
        kernel_text(&root, &random.text(texts[round % texts.len()]));
    }
    std::fs::remove_dir_all(&root).expect("its own folder");
}
