/** Runs the admin command. */
import { adminCommand } from '../../../scripts/admin/program.ts';
import { runCommand } from '../run-command.ts';
import { startScript } from '../run-script.ts';
import type { TestService } from '../../support/service/service.ts';
import type { ScriptEnd } from '../run-script.ts';

/** In the test's process. */
export const runAdmin = (args: string[], env: NodeJS.ProcessEnv, input = ''): Promise<ScriptEnd> =>
  runCommand(adminCommand, args, { env, stdin: input });

/** As `npm run admin -- …` does. */
export const runAdminProcess = (args: string[], env: NodeJS.ProcessEnv, input = ''): Promise<ScriptEnd> =>
  startScript(['scripts/admin/main.ts', ...args], env, [process.execPath], input).ended;

/** What a command answers about one thing. */
export type JsonObject = Record<string, unknown> & { id: string };

export interface Admin {
  run(...args: string[]): Promise<ScriptEnd>;
  runWithInput(input: string, ...args: string[]): Promise<ScriptEnd>;
  /** Runs with `--json`, fails the test unless it succeeds in silence, and answers what was printed. */
  json<T = JsonObject>(...args: string[]): Promise<T>;
}

type Place = Pick<TestService, 'databaseUrl' | 'dataDir'>;

/** What an operator sets for a command beside a running service. */
export const environmentOf = ({ databaseUrl, dataDir }: Place) => ({ DATABASE_URL: databaseUrl, DATA_DIR: dataDir });

/** The command beside a running service. */
export function adminOf(service: Place): Admin {
  const env = environmentOf(service);
  return {
    run: (...args) => runAdmin(args, env),
    runWithInput: (input, ...args) => runAdmin(args, env, input),
    async json<T>(...args: string[]) {
      const end = await runAdmin([...args, '--json'], env);
      expect({ args, ...end }).toEqual({ args, code: 0, stderr: '', stdout: expect.any(String) });
      return JSON.parse(end.stdout) as T;
    },
  };
}

export const refused = (sentence: RegExp | string): ScriptEnd => ended(1, sentence);
export const mistaken = (sentence: RegExp | string): ScriptEnd => ended(2, sentence);

function ended(code: number, sentence: RegExp | string): ScriptEnd {
  return { code, stdout: '', stderr: expect.stringMatching(sentence) };
}

/** The form of every id. */
export const anId = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/) as unknown as string;
/** RFC 3339 in UTC. */
export const aTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/) as unknown as string;
