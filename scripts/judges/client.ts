/** What every generated client must get from the service, whatever its language. */
import { randomUUID } from 'node:crypto';
import { expect } from './judge.ts';
import type { Bench } from './judge.ts';

/** The one line that a driver prints, as JSON. */
interface Experience {
  /** Sessions in the list. */
  listed: number;
  segments: number;
  text: string;
  /** Words with times, over all segments. */
  words: number;
  /** The status of the session, when the driver reads it. */
  status?: string;
  /** WebVTT, when the driver asks for it. */
  captions?: string;
  /** The `code` of each typed error: for a wrong key, an unknown session, and an Idempotency-Key of another upload. */
  problems: string[];
}

const expectedProblems = ['unauthorized', 'session_not_found', 'idempotency_key_reused'];

/** @param command starts the driver */
export async function drive({ run, service }: Bench, command: readonly string[], cwd?: string): Promise<string> {
  const { url: API_URL, key: API_KEY, audio: AUDIO } = service;
  const env = { API_URL, API_KEY, AUDIO, RUN_ID: randomUUID() };
  const output = await run(command, { env, limitMs: 120_000, ...(cwd !== undefined && { cwd }) });
  const seen = JSON.parse(output.trim().split('\n').at(-1)!) as Experience;
  expect(seen.listed > 0, 'the list is empty');
  expect(seen.segments > 0 && seen.text.trim() !== '', 'the transcript has no text');
  expect(seen.words > 0, 'the transcript has no words');
  expect(seen.status === undefined || seen.status === 'completed', `the session is ${seen.status}`);
  expect(seen.captions === undefined || seen.captions.startsWith('WEBVTT\n'), 'the captions are no WebVTT');
  const problems = seen.problems.join(', ');
  expect(problems === expectedProblems.join(', '), `the typed errors are ${problems}`);
  const captions = seen.captions === undefined ? '' : ' and its captions';
  return `listed, uploaded, polled, read "${seen.text}"${captions}, met 401, 404 and 422 typed`;
}
