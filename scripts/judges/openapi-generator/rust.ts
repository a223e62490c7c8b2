import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { driver } from './generator.ts';
import type { Language } from './generator.ts';

const manifest = `[package]
name = "driver"
version = "0.0.0"
edition = "2021"

[dependencies]
# Without TLS, which loopback has no need of.
generated = { path = "../made", default-features = false }
serde_json = "1.0.145"
tokio = { version = "1.48.0", features = ["macros", "rt"] }
`;

export const rust: Language = {
  ...{ name: 'openapi-generator-rust', generator: 'rust', label: 'Rust, reqwest' },
  properties: 'library=reqwest,supportAsync=true,useAsyncFileStream=true,packageName=generated',
  async build({ folder, cache, run, fetch }) {
    const cwd = join(folder, 'driver');
    await mkdir(join(cwd, 'src'), { recursive: true });
    await writeFile(join(cwd, 'Cargo.toml'), manifest);
    await copyFile(driver('openapi-generator.rs'), join(cwd, 'src/main.rs'));
    const env = { CARGO_HOME: join(cache, 'downloads/cargo') };
    await fetch(['cargo', 'fetch', '--quiet'], { cwd, env });
    await run(['cargo', 'build', '--quiet', '--offline'], { cwd, env: { ...env, RUSTFLAGS: '-D warnings' } });
    return [join(cwd, 'target/debug/driver')];
  },
};
