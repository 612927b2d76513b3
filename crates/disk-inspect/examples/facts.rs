//! Prints the known facts about the host and each path or device named.
//!
//! `cargo run -p stripewise-disk-inspect --example facts -- /home /dev/sda`

use std::path::Path;
use stripewise_disk_inspect::{Inspect, System, layout};
use stripewise_machine::content;

fn main() {
    let system = System::live();
    println!("{:#?}", system.host());
    for name in std::env::args().skip(1) {
        match system.storage_of_path(Path::new(&name)) {
            Ok(storage) => {
                let numbers: Vec<_> = storage.layers().iter().map(|one| one.number).collect();
                println!("{name}: {storage:#?}");
                for number in &numbers {
                    println!("{number}: {:?}", system.uses_of_device(*number));
                    println!("{number}: {:?}", system.in_flight(*number));
                }
                println!("limits: {:?}", system.throttles(&numbers));
            }
            Err(error) => println!("{name}: {error}\nhint: {}", error.hint()),
        }
        if let Ok(file) = std::fs::File::open(&name)
            && file.metadata().is_ok_and(|metadata| metadata.is_file())
        {
            println!("{:?}", layout(&file));
            println!("{:?}", system.uses_of_file(&file));
            let size = file.metadata().map_or(0, |metadata| metadata.len());
            println!("{:?}", content::sample(&file, 0, size, 64));
        }
    }
}
