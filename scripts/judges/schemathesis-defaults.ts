import { createReadStream } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { CommandFailed } from './commands.ts';
import { installFromPyPI } from './pypi.ts';
import { expect } from './judge.ts';
import { version } from './schemathesis.ts';
import type { Bench, Judge } from './judge.ts';

/** Valid requests that are refused for what a schema can't say: the check and the `code` of the answer. */
const explained: Record<string, string> = {
  'positive_data_acceptance invalid_cursor': 'opaque cursors',
  'positive_data_acceptance no_audio_track': 'random bytes',
  'positive_data_acceptance unsupported_media': 'random bytes that no program can read',
  'positive_data_acceptance empty_file': 'empty files',
};

interface Report {
  complete: boolean;
  errors: unknown[];
  operations: { total: number; tested: number };
  test_cases: { generated: number };
}

/** A line of what it records: one event. */
interface Line {
  ScenarioFinished?: { recorder: Recorder };
}

interface Recorder {
  checks?: Record<string, { name: string; status: string }[]>;
  interactions?: Record<string, { response?: { content?: { $base64: string } } }>;
}

/** Schemathesis without hooks, knowing nothing but a key and how long an answer may take. */
export const schemathesisDefaults: Judge = {
  name: 'schemathesis-defaults',
  tool: 'Schemathesis, by its defaults',
  isQuick: false,
  async judge(bench) {
    await installFromPyPI(bench, [`schemathesis==${version}`]);
    await fuzz(bench);
    const report = JSON.parse(await readFile(join(bench.folder, 'report.json'), 'utf8')) as Report;
    const { tested, total } = report.operations;
    expect(report.complete && report.errors.length === 0, `it stopped: ${JSON.stringify(report.errors)}`);
    expect(tested === total, `${tested} of ${total} operations were tested`);
    const found = await failuresIn(join(bench.folder, 'events.ndjson'));
    const unexplained = [...found].filter(([failure]) => explained[failure] === undefined);
    expect(unexplained.length === 0, unexplained.map(([failure, count]) => `${failure} (${count})`).join('; '));
    const left = [...found].map(([failure, count]) => `${count} ${explained[failure]}`).join(', ');
    return { version, did: `${report.test_cases.generated} cases without hooks; refused, though valid: ${left}` };
  },
};

/** Longer than `wait` holds an answer, as the contract tells every client. */
const requestTimeout = ['--request-timeout', '40'];

/** Schemathesis ends with 1 after any failure. The reports tell which ones count. */
async function fuzz({ folder, run, contract, service }: Bench): Promise<void> {
  for (const stale of ['report.json', 'events.ndjson']) await rm(join(folder, stale), { force: true });
  const reports = ['--report-json-path', 'report.json', '--report-ndjson-path', 'events.ndjson'];
  const how = [
    '--url',
    service.url,
    '--header',
    `Authorization: Bearer ${service.fuzzed.key}`,
    '--no-color',
    ...requestTimeout,
  ];
  try {
    await run(['venv/bin/st', 'run', contract, ...how, ...reports], { limitMs: 30 * 60_000 });
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
  }
}

/** @returns how often each failure came */
async function failuresIn(events: string): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for await (const line of createInterface({ input: createReadStream(events) })) {
    const recorder = (JSON.parse(line) as Line).ScenarioFinished?.recorder;
    for (const [id, checks] of Object.entries(recorder?.checks ?? {})) {
      for (const check of checks.filter(({ status }) => status === 'failure')) {
        const failure = `${check.name} ${codeOf(recorder!, id)}`;
        found.set(failure, (found.get(failure) ?? 0) + 1);
      }
    }
  }
  return found;
}

function codeOf({ interactions }: Recorder, id: string): string {
  const content = interactions?.[id]?.response?.content?.$base64 ?? '';
  try {
    return (JSON.parse(Buffer.from(content, 'base64').toString()) as { code?: string }).code ?? 'no code';
  } catch {
    return 'no problem';
  }
}
