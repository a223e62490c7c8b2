import type { Bench } from '../judge.ts';

/** A generator of TypeScript clients, as data; its adapter to the main job is drivers/typescript/NAME.ts. */
export interface TypeScriptClient {
  name: string;
  tool: string;
  isQuick: boolean;
  /** Of the generator. */
  version: string;
  /** What is installed, with exact versions. */
  packages: Record<string, string>;
  /** The name of another client whose adapter fits. */
  adapter?: string;
  /** Where it can't be held to the usual ones. */
  compilerOptions?: Record<string, unknown>;
  /** Writes the client into the judge's folder. */
  generate(bench: Bench): Promise<unknown>;
  /** What starts the main job, where it is more than the job's own command. */
  command?(bench: Bench, mainJob: readonly string[]): Promise<string[]>;
}

/** For code whose files import each other without an extension, as CommonJS and bundlers find them. */
export const commonJs = { module: 'commonjs', moduleResolution: 'node10', esModuleInterop: true };
