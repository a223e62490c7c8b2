/** Bodies of uploads, byte by byte, and what an upload leaves behind. */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { librivoxClips } from '../../../scripts/bench/spoken-clips.ts';
import { bytesPerMs, samplesPerMs, wavHeader } from '../../../src/audio/samples.ts';
import { until } from '../until.ts';
import type { TestAccount } from '../service/accounts.ts';
import type { TestService } from '../service/service.ts';

export const boundary = 'X-TEST-BOUNDARY';
export const formType = `multipart/form-data; boundary=${boundary}`;

/** A WAV file of so many ms of a quiet square wave; different `pitch`, different bytes. */
export async function tone(ms: number, pitch = 20): Promise<Buffer<ArrayBuffer>> {
  const samples = Int16Array.from({ length: ms * samplesPerMs }, (_, i) => (i % pitch < pitch / 2 ? 500 : -500));
  return Buffer.concat([wavHeader(samples.byteLength), Buffer.from(samples.buffer)]);
}

/** A WAV file of the first so many ms of a human voice, seven seconds at most. */
export async function voice(ms: number): Promise<Buffer> {
  const [clip] = await librivoxClips();
  const bytes = bytesPerMs * ms;
  return Buffer.concat([wavHeader(bytes), (await readFile(clip!.file)).subarray(44, 44 + bytes)]);
}

/** One part, with its headers as they stand. */
export function part(headers: string | string[], content: string | Buffer): Buffer {
  const lines = [`--${boundary}`, ...[headers].flat(), '', ''].join('\r\n');
  return Buffer.concat([Buffer.from(lines), Buffer.from(content), Buffer.from('\r\n')]);
}

export const filePart = (content: string | Buffer, fileName = 'tone.wav', field = 'file'): Buffer =>
  part([`Content-Disposition: form-data; name="${field}"; filename="${fileName}"`, 'Content-Type: audio/wav'], content);

export const textPart = (name: string, value: string): Buffer =>
  part(`Content-Disposition: form-data; name="${name}"`, value);

export const closing = Buffer.from(`--${boundary}--\r\n`);

export const form = (...parts: Buffer[]): Buffer => Buffer.concat([...parts, closing]);

export interface Traces {
  sessions: number;
  jobs: number;
  records: number;
  reservedMs: number;
  balanceMs: number;
  stored: string[];
  incoming: string[];
}

/** Everything that an upload of this account could have left. */
export async function traces({ db, dataDir }: TestService, account: TestAccount): Promise<Traces> {
  const { rows } = await sql<Omit<Traces, 'stored' | 'incoming'>>`select
      (select count(*)::int from sessions where account_id = a.id) as sessions,
      (select count(*)::int from pgboss.job where data->>'accountId' = a.id::text) as jobs,
      (select count(*)::int from idempotency where account_id = a.id) as records,
      reserved_ms as "reservedMs", balance_ms as "balanceMs"
    from accounts a where id = ${account.id}`.execute(db);
  const stored = await readdir(join(dataDir, 'audio', account.id)).catch(() => []);
  return { ...rows[0]!, stored, incoming: await readdir(join(dataDir, 'audio', 'incoming')) };
}

/** Fails when anything but what `before` shows is there. Files go after the answer, so they get a moment. */
export async function expectNothingLeft(service: TestService, account: TestAccount, before: Traces): Promise<void> {
  const same = (left: Traces) => JSON.stringify(left) === JSON.stringify(before);
  await until(() => traces(service, account), same).catch(() => undefined);
  expect(await traces(service, account)).toEqual(before);
}
