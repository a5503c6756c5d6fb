//! Go for debuggers other than Delve, which builds itself.

use breakroom_engines::folder_with;

use super::{Arguments, Job, compile_into, program, steering};
use crate::failure::Failure;
use crate::workshop::Command;

pub async fn for_native(job: Job<'_>) -> Result<Option<Arguments>, Failure> {
    let folder = job.file.parent().unwrap_or(job.file);
    steering::check(&steering::GO, folder)?;
    // In a module the package is built; a lone file is one by itself.
    let what = match folder_with(job.file, "go.mod", job.workshop.context) {
        Some(_) => ".".to_owned(),
        None => job.file.to_string_lossy().into_owned(),
    };
    let built = compile_into(job, "go build", |place| {
        Command::new(folder, &["go", "build", "-gcflags=all=-N -l", "-o", place]).and([what])
    });
    Ok(Some(program(&built.await?)))
}
