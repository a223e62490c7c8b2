openapi_generator rust library=reqwest,supportAsync=true,useAsyncFileStream=true,packageName=generated
export CARGO_HOME="$CACHE/downloads/cargo"
fetch cargo fetch --quiet
RUSTFLAGS='-D warnings' cargo build --quiet --offline
target/debug/driver
